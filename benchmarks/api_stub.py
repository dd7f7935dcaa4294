# SPDX-License-Identifier: MIT
"""The source of a HIP library that has all functions, which only return."""

from __future__ import annotations

from tools.codegen import forms, model
from tools.codegen.emit_abi import declare

HEAD = """\
#include <stddef.h>
#include <stdint.h>
#include "abi/hip.h"
#include "abi/hiprtc.h"
"""
VERSION = 71500000  # so that no function is too new


def statements(function: model.Function) -> list[str]:
    """What a function does: it fills its simple outputs and succeeds."""
    lines = []
    for param in function.params:
        if param.role != "out":
            continue
        target = param.type.removesuffix("*").strip()
        value = "1" if "char" not in target else '"text"'
        if "Version" in function.name:
            value = str(VERSION)
        cast = "" if "char" in target else f"({target})(uintptr_t)"
        lines.append(f"if ({param.name} != NULL) *{param.name} = {cast}{value};")
    if forms.status_type(function):
        lines.append("return 0;")
    elif "*" in function.returns:
        lines.append('return "text";')
    elif function.returns != "void":
        lines.append(f"return ({function.returns}){{0}};")
    return lines


def source() -> str:
    """The whole library, in C."""
    lines = [HEAD]
    for function in model.load().functions:
        params = ", ".join(declare(p.type, p.name) for p in function.params) or "void"
        head = declare(function.returns, f"{function.symbol}({params})")
        lines.append(f"{head} {{ {' '.join(statements(function))} }}")
    return "\n".join(lines) + "\n"
