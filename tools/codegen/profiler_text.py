# SPDX-License-Identifier: MIT
"""Signatures and docstrings of rocprofiler-sdk's functions."""

from __future__ import annotations

from .profiler_model import TRIPLET, Call, Param


def optional(call: Call) -> int:
    """How many of the last arguments may be left out: data of callbacks, and others."""
    count = 0
    for param in reversed(call.inputs()):
        if param.role != "data" and param.name not in call.raw.get("optional", ()):
            break
        count += 1
    return count


def default(param: Param) -> str:
    """What C gets for an argument that is left out."""
    return "None" if param.role == "data" else "0"


def result_types(call: Call) -> list[str]:
    """Types of Python of what is behind the status."""
    found: list[str] = []
    for param in call.outputs():
        match param.role:
            case "out_text":
                found.append("str | None")
            case "out_list":
                found.append(f"list[{call.raw['collect']['item']}]")
            case "out_record":
                found.append(call.raw["record"]["item"])
            case "out_samples":
                found.append(f"list[{call.raw['samples']['item']}]")
            case _ if param.target == TRIPLET:
                found.append("tuple[int, int, int]")
            case _:
                found.append("int")
    return found


def result_words(call: Call) -> str:
    """The result, as a docstring has it."""
    if call.is_text:
        return "str | None"
    parts = ["rocprofiler_status_t"]
    for param, kind in zip(call.outputs(), result_types(call), strict=True):
        name = {"out_list": "found", "out_samples": "values"}.get(
            param.role, param.name
        )
        parts.append(f"{name}: {kind}")
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def docstring(call: Call) -> str:
    params = call.inputs()
    left = optional(call)
    shown = [
        param.name + (f"={default(param)}" if i >= len(params) - left else "")
        for i, param in enumerate(params)
    ]
    head = f"{call.name}({', '.join(['$module', '/', *shown])})\n--\n\n"
    return (
        f"{head}{call.doc}\n\nReturns ``{result_words(call)}``.\n\n"
        f"rocprofiler: ``{call.declaration()}``."
    )
