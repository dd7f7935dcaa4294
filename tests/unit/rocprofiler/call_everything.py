# SPDX-License-Identifier: MIT
"""Calls every function of HIP once, for a tool that writes what it sees.

Run as a program with two files: what the tool writes, and where the answers go, a JSON
object: name of a slot -> [what was written, status, arguments that are plain numbers].
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import Any

from tests.unit.api import calls
from tests.unit.api.world import API, LACKING, World
from tools.codegen import emit_profiler, forms

# They end the program, or wait for something that nobody does.
NOT_BLINDLY: frozenset[str] = frozenset()


def numbers(function: Any, arguments: tuple[Any, ...]) -> dict[str, int]:
    """Arguments that are given as plain integers, by the name of their parameter."""
    params = forms.form_params(function)[0]
    return {
        param.name: value
        for param, value in zip(params, arguments, strict=False)
        if type(value) is int and "*" not in param.type
    }


def by_python(name: str, function: Any) -> tuple[int, dict[str, int]]:
    """A call that works, through hipadapt."""
    world = World()
    arguments = calls.arguments_of(world, function)
    mark(name)
    result = calls.callable_of(function)(*arguments)
    if int(result[0]) == 0:
        outputs = result[1:]
        if not forms.status_type(function):
            outputs = outputs[1:]
        mark("")
        calls.undo(world, function, arguments, result[1:])
    return int(result[0]), numbers(function, arguments)


def by_c(library: ctypes.CDLL, name: str, function: Any) -> tuple[int, dict[str, int]]:
    """A call with nothing but zeros, which has to answer something."""
    call = getattr(library, function.symbol)
    mark(name)
    return int(call(*[ctypes.c_void_p(0)] * 14) or 0), {}


def mark(name: str) -> None:
    """Where the tool's lines of this call begin."""
    with open(sys.argv[1], "a") as file:
        file.write(f"call\t{name}\n")


def main() -> None:
    from hipadapt import hip

    hip.hipInit(0)
    library = ctypes.CDLL(sys.argv[3])
    answers: dict[str, Any] = {}
    for table, name, function in emit_profiler.operations(API):
        plain = function.wrapped and function.name not in LACKING
        if name in NOT_BLINDLY:
            continue
        print(name, flush=True)
        if plain and table == "hip":
            answers[name] = ["python", *by_python(name, function)]
        else:
            answers[name] = ["c", *by_c(library, name, function)]
    Path(sys.argv[2]).write_text(json.dumps(answers))


if __name__ == "__main__":
    main()
