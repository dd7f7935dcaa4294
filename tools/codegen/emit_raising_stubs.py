# SPDX-License-Identifier: MIT
"""hipadapt/raising/hip.pyi and hiprtc.pyi: annotations of the functions that raise."""

from __future__ import annotations

import re

from . import text
from .emit_stubs import (
    IMPORTS,
    argument_type,
    public_names,
    result_types,
)
from .forms import form_params
from .model import Api, Function

# Their result is the status itself.
ANSWERS = frozenset({"hipExtGetLastError", "hipGetLastError", "hipPeekAtLastError"})


def result_type(function: Function, form: int) -> str:
    """What a form returns after success; its outputs are never None then."""
    status, *outputs = result_types(function, form)
    if function.name in ANSWERS:
        return status
    outputs = [kind.removesuffix(" | Any") for kind in outputs]
    if len(outputs) == 1:
        return outputs[0]
    return f"tuple[{', '.join(outputs)}]" if outputs else "None"


def function_lines(function: Function) -> list[str]:
    """The forms of a function."""
    forms = form_params(function)
    lines: list[str] = []
    for form, params in enumerate(forms):
        items = [f"{p.python_name}: {argument_type(p)}" for p in params]
        if len(forms) > 1:
            lines.append("@overload")
        lines += text.wrap_call(
            f"def {function.name}(",
            items or [""],
            f") -> {result_type(function, form)}: ...",
        )
    return lines


def stub(api: Api, module: str) -> str:
    """The stub of one module."""
    functions = sorted(
        (f for f in api.functions if f.module == module and f.wrapped),
        key=lambda f: f.name,
    )
    public = public_names(api, module)
    mine = {f.name for f in functions}
    body = ["__all__ = [", *(f'    "{name}",' for name in public), "]", ""]
    for function in functions:
        body += function_lines(function)
    used = set(re.findall(r"\w+", "\n".join(body[len(public) + 2 :])))
    lines = [text.banner("#", "")]
    for source, names in IMPORTS.items():
        needed = [name for name in names if name in used and name not in public]
        if needed:
            origin = source if source == "typing" else f".{source}"
            lines += text.wrap_names(f"from {origin} import ", needed)
            lines += [""] if source == "typing" else []
    again = [name for name in public if name not in mine and name != "has_symbol"]
    lines.append("from .._core import has_symbol as has_symbol")
    lines += text.wrap_names(
        f"from ..{module} import ", [f"{name} as {name}" for name in again]
    )
    return "\n".join([*lines, "", *body]) + "\n"


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    return {f"hipadapt/raising/{m}.pyi": stub(api, m) for m in ("hip", "hiprtc")}
