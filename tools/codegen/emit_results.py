# SPDX-License-Identifier: MIT
"""csrc/tool/generated/hip_results.h: what calls of HIP answer, for verbose lines."""

from __future__ import annotations

from . import text
from .emit_profiler import operations
from .model import Api

HEADER = "csrc/tool/generated/hip_results.h"
# They answer what an earlier call did.
TELLERS = ("hipExtGetLastError", "hipGetLastError", "hipPeekAtLastError")


def emit(api: Api) -> dict[str, str]:
    constants = next(enum for enum in api.enums if enum.name == "hipError_t").constants
    names: dict[int, str] = {}
    for name, value in constants.items():
        names.setdefault(value, name)
    silent = sorted(
        name
        for table, name, function in operations(api)
        if table == "hip" and (function.returns != "hipError_t" or name in TELLERS)
    )
    lines = [
        text.banner("/*", " */"),
        "/* What calls of HIP answer. */",
        "#ifndef HA_TOOL_GENERATED_HIP_RESULTS_H",
        "#define HA_TOOL_GENERATED_HIP_RESULTS_H",
        "",
        "/* Each value of hipError_t with its first name. */",
        "#define HA_HIP_RESULTS(X)"
        + "".join(
            f" \\\n    X({value}, {name})" for value, name in sorted(names.items())
        ),
        "",
        "/* Functions that don't answer how they went themselves. */",
        "#define HA_CALLS_WITHOUT_RESULT(X)"
        + "".join(f" \\\n    X({name})" for name in silent),
        "",
        "#endif",
        "",
    ]
    return {HEADER: "\n".join(lines)}
