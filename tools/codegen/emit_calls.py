# SPDX-License-Identifier: MIT
"""csrc/api/generated/calls.{h,c}: the call table and what is known about each call."""

from __future__ import annotations

from . import text
from .model import Api


def header(api: Api) -> str:
    lines = [
        text.banner("/*", " */"),
        "/* One number, one pointer and one row of facts for each entry point of HIP",
        " * and hiprtc.  api/provider.h says who fills the pointers. */",
        "#ifndef HA_API_GENERATED_CALLS_H",
        "#define HA_API_GENERATED_CALLS_H",
        "",
        "#include <stdbool.h>",
        "",
        '#include "abi/hip.h"',
        '#include "abi/hiprtc.h"',
        "",
        "enum ha_call {",
    ]
    lines += [f"    HA_CALL_{f.symbol}," for f in api.functions]
    lines += [
        "    HA_CALL_COUNT",
        "};",
        "",
        "/* Members in the order of enum ha_call. */",
        "struct ha_call_table {",
    ]
    lines += [f"    __typeof__(&{f.symbol}) {f.symbol};" for f in api.functions]
    lines += [
        "};",
        "",
        "_Static_assert(",
        "    sizeof(struct ha_call_table) == HA_CALL_COUNT * sizeof(void *),",
        '    "the table is an array of pointers");',
        "",
        "struct ha_call_entry {",
        "    const char *name;   /* under which Python knows it */",
        "    const char *symbol; /* in the library */",
        "    const char *since;  /* first HIP version known to have it */",
        "    int least_version;  /* older runtimes mean something else by it */",
        "    bool rtc;           /* in the hiprtc library */",
        "};",
        "",
        "extern struct ha_call_table ha_calls;",
        "extern const struct ha_call_entry ha_call_entries[HA_CALL_COUNT];",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def source(api: Api) -> str:
    lines = [
        text.banner("/*", " */"),
        '#include "api/generated/calls.h"',
        "",
        "struct ha_call_table ha_calls;",
        "",
        "const struct ha_call_entry ha_call_entries[HA_CALL_COUNT] = {",
    ]
    for f in api.functions:
        rtc = "true" if f.module == "hiprtc" else "false"
        least = f.raw.get("least_version", 0)
        lines += [
            f"    [HA_CALL_{f.symbol}] =",
            f'        {{"{f.name}",',
            f'         "{f.symbol}", "{f.since}", {least}, {rtc}}},',
        ]
    lines += ["};", ""]
    return "\n".join(lines)


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    return {
        "csrc/api/generated/calls.h": header(api),
        "csrc/api/generated/calls.c": source(api),
    }
