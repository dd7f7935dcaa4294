# SPDX-License-Identifier: MIT
"""rocprofiler-sdk's functions in hipadapt/_core.pyi, and docs/api/rocprofiler.md."""

from __future__ import annotations

import re
from pathlib import Path

from .docs_text import head, table
from .model import Api
from .profiler_model import Call, Param, load
from .profiler_text import default, optional, result_types, result_words

ROOT = Path(__file__).resolve().parents[2]
STUB = "hipadapt/_core.pyi"
BEGIN = "# ---- rocprofiler-sdk's functions: written by python -m tools.codegen"
END = "# ---- end of rocprofiler-sdk's functions"
TYPES = {
    "handle": "int",
    "user": "int",
    "number": "int",
    "enum": "int",
    "text": "TextLike",
    "list": "Sequence[int] | None",
    "function": "Callable[..., Any] | int",
    "sink": "EventCollector | Callable[..., Any] | int",
    "data": "PointerLike",
    "record": "PointerLike",
}
WORDS = {
    "handle": "int, a handle",
    "user": "int",
    "number": "int",
    "text": "str or bytes",
    "list": "list of int, or None",
    "function": "callable, ctypes function or address",
    "data": "None, memory or an address",
    "record": "the record of the callback",
}


def stub_type(param: Param) -> str:
    kind = TYPES[param.role]
    return f"{kind} | None" if param.nullable and "None" not in kind else kind


def stub(call: Call) -> list[str]:
    """A function of the stub, in one line or one parameter a line."""
    params = call.inputs()
    first_optional = len(params) - optional(call)
    words = [
        f"{p.name}: {stub_type(p)}"
        + (f" = {default(p)}" if i >= first_optional else "")
        for i, p in enumerate(params)
    ]
    types = ["rocprofiler_status_t", *result_types(call)]
    answer = "str | None" if call.is_text else f"tuple[{', '.join(types)}]"
    line = f"def {call.name}({', '.join(words)}) -> {answer}: ..."
    if len(line) <= 88:
        return [line]
    if not words:
        opening = f"def {call.name}() -> tuple["
        return [opening, f"    {', '.join(types)}", "]: ..."]
    ending = f") -> {answer}: ..."
    lines = [f"def {call.name}(", *[f"    {word}," for word in words]]
    return [*lines, ending]


def core_stub(calls: list[Call]) -> str:
    whole = (ROOT / STUB).read_text(encoding="utf-8")
    before, begin, rest = whole.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{STUB} has not both of {BEGIN!r} and {END!r}")
    lines = [line for call in calls if not call.manual for line in stub(call)]
    return "\n".join([before + begin, "", *lines, "", end + after.rstrip("\n") + "\n"])


def entry(call: Call) -> list[str]:
    """One function on the page."""
    shown = [p.name for p in call.inputs()]
    left = optional(call)
    words = [
        n + ("=None" if i >= len(shown) - left else "") for i, n in enumerate(shown)
    ]
    rows = []
    for param in call.inputs():
        kind = f"int, a `{param.type}`" if param.role == "enum" else ""
        if param.role == "sink":
            kind = "callable, `EventCollector`, ctypes function or address"
        if call.manual:
            kind = "callable or None"
        rows.append([f"`{param.name}`", kind or WORDS[param.role], f"`{param.type}`"])
    lines = [f":::{{py:function}} {call.name}({', '.join(words)})", call.doc, ""]
    if rows:
        lines += [*table(["parameter", "Python", "C"], rows), ""]
    gil = "released" if call.releases else "kept"
    result = "(rocprofiler_status_t,)" if call.manual else result_words(call)
    lines += [f"- **Returns** `{result}`.", f"- **GIL** {gil}.", ":::", ""]
    return lines


INTRODUCTION = """\
The functions of rocprofiler-sdk 1.x under their C names. [Profiling](../profiler.md) is
the guide, [`hipadapt.rocprofiler`](../python/rocprofiler.md) has what stands above
them. Each returns a tuple that begins with a `rocprofiler_status_t`; what C writes
follows, 0, `None` or empty where the call failed. A function that the library of this
process lacks answers `ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED`.

Names of parameters are C's and may be used as keywords. Handles are ints. Where C gets
the length of a list or text, Python doesn't pass it.

A callable in the place of a C callback is called at once, on the thread where something
happens, and kept for good; `hipadapt/rocprofiler/_callbacks.py` has what it is passed.
`callback` of `rocprofiler_configure_callback_tracing_service` and
`rocprofiler_create_buffer` is called later instead, with events.
"""


# What a tool needs; the others follow in the order of the description.
FIRST = [
    "force_configure",
    "create_context",
    "configure_callback_tracing_service",
    "start_context",
    "stop_context",
    "create_buffer",
    "configure_buffer_tracing_service",
    "flush_buffer",
    "destroy_buffer",
    "query_available_agents",
]


def page(calls: list[Call]) -> str:
    rank = {name: number for number, name in enumerate(FIRST)}
    lines = [*head("rocprofiler-sdk"), INTRODUCTION]
    lines += ["```{py:currentmodule} hipadapt.rocprofiler", "```", ""]
    for call in sorted(calls, key=lambda call: rank.get(call.short, len(rank))):
        lines += entry(call)
    return re.sub(r"\n+\Z", "\n", "\n".join(lines))


def emit(_: Api) -> dict[str, str]:
    """Path below the root -> content."""
    calls = load().calls
    return {STUB: core_stub(calls), "docs/api/rocprofiler.md": page(calls)}
