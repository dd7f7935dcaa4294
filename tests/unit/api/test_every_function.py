# SPDX-License-Identifier: MIT
"""Every wrapped function is called on the CPU device, and its answer is checked.

A function that the device has must succeed, give outputs of the described types, change
the memory that it writes, and take the same arguments by name; what ends something must
refuse to end it twice.  A function that the device lacks must say exactly that, with
empty outputs and a text.  tests/unit/api/calls.py makes the arguments from the
description; a newly wrapped function for which its rules don't fit needs a line there.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from tools.codegen import forms, model

from . import calls, graph_calls
from .world import API, LACKING, WRAPPED, World, module_of

PRESENT = [f for f in WRAPPED if f.name not in LACKING]
MISSING = [f for f in WRAPPED if f.name in LACKING]
ENDS = [
    "hipEventDestroy",
    "hipFree",
    "hipFreeHost",
    "hipHostFree",
    "hipHostUnregister",
    "hipLibraryUnload",
    "hipModuleUnload",
    "hipStreamDestroy",
    "hiprtcDestroyProgram",
]
FILLER = 0xA5


def name_of(function: model.Function) -> str:
    return function.name


@pytest.fixture
def world(cpu: ModuleType) -> Iterator[World]:
    made = World()
    yield made
    made.close()


def good(function: model.Function) -> str:
    return "HIPRTC_SUCCESS" if function.module == "hiprtc" else "hipSuccess"


def described(world: World, param: model.Param) -> tuple[type, ...]:
    """Types that the output of a call that worked may have."""
    from hipadapt import types

    adapter = param.adapter or ""
    if param.role == "out_text":
        return (types.CStr,)
    if param.role in ("out_list", "out_array"):
        return (list,)
    if adapter == "scalar":
        return (float,) if "float" in param.type else (int,)
    found = getattr(types, adapter, None)
    if adapter == "NDBuffer":
        found = types.Pointer
    for module in (world.hip, world.rtc):
        found = found or getattr(module, adapter, None)
    assert isinstance(found, type), f"no type {adapter!r}"
    return (found, type(None)) if param.name in graph_calls.NONE_IF_GOOD else (found,)


def complain(function: model.Function, arguments: tuple[Any, ...], result: Any) -> str:
    import hipadapt

    return (
        f"{function.name}{arguments!r} -> {result!r}: {hipadapt.error_text()}\n"
        "If the arguments are at fault, tests/unit/api/calls.py needs a line for it"
    )


def fill(memory: Any, world: World) -> bool:
    """Fills memory that a call is to change; whether it could."""
    from hipadapt import types

    if isinstance(memory, bytearray):
        memory[:] = bytes([FILLER]) * len(memory)
    elif isinstance(memory, types.Pointer):
        world.ok("hipMemset", memory, FILLER, 64)
        world.ok("hipDeviceSynchronize")
    else:
        return False
    return True


def content(memory: Any, world: World) -> bytes:
    if isinstance(memory, bytearray):
        return bytes(memory)
    target = bytearray(64)
    kind = world.hip.hipMemcpyKind.hipMemcpyDeviceToHost
    world.ok("hipMemcpy", target, memory, len(target), kind)
    return bytes(target)


@pytest.mark.parametrize("function", PRESENT, ids=name_of)
def test_function_of_the_device_works(world: World, function: model.Function) -> None:
    call = calls.callable_of(function)
    arguments = calls.arguments_of(world, function)

    result = call(*arguments)

    assert type(result) is tuple
    status, *outputs = result
    wanted = calls.ANSWERS.get(function.name, good(function))
    assert status.name == wanted, complain(function, arguments, result)
    if status != 0:
        assert not any(outputs), complain(function, arguments, result)
        return
    params = forms.form_results(function, 0)
    if not forms.status_type(function):
        outputs = outputs[1:]
    for param, value in zip(params, outputs, strict=True):
        assert isinstance(value, described(world, param)), (param.name, value)
    calls.undo(world, function, arguments, result[1:])


@pytest.mark.parametrize("function", PRESENT, ids=name_of)
def test_arguments_may_be_given_by_name(world: World, function: model.Function) -> None:
    call = calls.callable_of(function)
    for form, params in enumerate(forms.form_params(function)):
        if form in calls.USELESS_FORMS.get(function.name, ()):
            continue
        arguments = calls.arguments_of(world, function, form)
        names = [p.python_name for p in params]
        backwards = dict(reversed(list(zip(names, arguments, strict=True))))

        result = call(**backwards)

        wanted = calls.ANSWERS.get(function.name, good(function))
        if form > 0 and function.name in graph_calls.NEED_ALL:
            wanted = "hipErrorInvalidValue"
        assert result[0].name == wanted, complain(function, arguments, result)
        returned = forms.form_results(function, form)
        own = 1 if forms.status_type(function) else 2
        assert len(result) == own + len(returned), (form, result)
        if result[0] == 0:
            calls.undo(world, function, arguments, result[1:], form)


WRITING = [
    (f, p)
    for f in PRESENT
    for p in f.params
    if p.write
    and p.role == "pointer"
    and f.name not in calls.ANSWERS
    and f.name not in graph_calls.WRITE_LATER
]


@pytest.mark.parametrize(
    ("function", "param"), WRITING, ids=[f"{f.name}-{p.name}" for f, p in WRITING]
)
def test_function_changes_the_memory_it_writes(
    world: World, function: model.Function, param: model.Param
) -> None:
    names = [p.name for p in forms.form_params(function)[0]]
    arguments = list(calls.arguments_of(world, function))
    if "Peer" in function.name or "DtoD" in function.name:
        arguments[names.index("dst")] = world.new_array()
    memory = arguments[names.index(param.name)]
    assert fill(memory, world)
    before = content(memory, world)

    status, *_ = calls.callable_of(function)(*arguments)

    assert status == 0
    world.ok("hipDeviceSynchronize")
    assert content(memory, world) != before


@pytest.mark.parametrize(
    "function", [f for f in PRESENT if f.name in ENDS], ids=name_of
)
def test_nothing_ends_twice(world: World, function: model.Function) -> None:
    arguments = calls.arguments_of(world, function)
    call = calls.callable_of(function)
    assert call(*arguments)[0] == 0

    if "frees" in function.raw and "Mipmapped" not in function.name:
        with pytest.raises(ValueError, match=r"this (array|pointer) was freed"):
            call(*arguments)
        return
    status, *_ = call(*arguments)

    assert status != 0, function.name


@pytest.mark.parametrize("function", MISSING, ids=name_of)
def test_function_that_the_device_lacks_says_so(
    world: World, function: model.Function
) -> None:
    import hipadapt

    wanted = "hipErrorNotSupported"
    if function.module == "hiprtc":
        wanted = "HIPRTC_ERROR_INTERNAL_ERROR"
    for form in range(len(forms.form_params(function))):
        arguments = calls.arguments_of(world, function, form)

        result = calls.invoke(function, form, arguments)

        assert type(result) is tuple
        status, *outputs = result
        assert status.name == wanted, complain(function, arguments, result)
        changed = [p.role == "inout" for p in forms.form_results(function, form)]
        empty = [
            v
            for v, kept in zip(outputs[-len(changed) :], changed, strict=False)
            if not kept
        ]
        assert not any(empty), complain(function, arguments, result)
        text = hipadapt.error_text()
        assert function.name in text
        assert function.since in text
        assert not module_of(function.module).has_symbol(function.symbol)


def test_list_of_lacking_functions_is_that_of_the_library(cpu: ModuleType) -> None:
    symbols = {f.symbol for f in API.functions}

    lacking = {symbol for symbol in symbols if not cpu.has_symbol(symbol)}

    assert {f.symbol for f in API.functions if f.name in LACKING} == lacking


def test_tables_name_only_functions_that_need_them() -> None:
    known = {f.name for f in API.functions}
    for table in (calls.ARGUMENTS, calls.ANSWERS, calls.UNDO_OF_FUNCTION, ENDS):
        assert set(table) <= known
    assert not set(calls.ANSWERS) & LACKING
