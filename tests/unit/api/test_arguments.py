# SPDX-License-Identifier: MIT
"""Arguments: how they are matched, and what each kind refuses."""

from __future__ import annotations

from types import ModuleType

import pytest

from tools.codegen import emit_wrappers, model

WRAPPED = [f for f in model.load().functions if f.wrapped]
KIND = 1  # hipMemcpyHostToDevice


def test_arguments_by_position_and_by_name(cpu: ModuleType) -> None:
    source, target = bytearray(b"abcd"), bytearray(4)
    kind = cpu.hipMemcpyKind.hipMemcpyHostToHost

    assert cpu.hipMemcpy(target, source, 4, kind) == (0,)
    assert target == b"abcd"
    target[:] = bytes(4)
    assert cpu.hipMemcpy(kind=kind, sizeBytes=4, src=source, dst=target) == (0,)
    assert target == b"abcd"
    target[:] = bytes(4)
    assert cpu.hipMemcpy(target, source, kind=kind, sizeBytes=2) == (0,)
    assert target == b"ab\0\0"


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        (
            (1, 2, 3),
            {},
            r"takes 4 arguments \(dst, src, sizeBytes, kind\); 3 were given",
        ),
        ((1, 2, 3, 4, 5), {}, "5 were given"),
        ((1, 2, 3), {"size": 4}, "unexpected keyword argument 'size'"),
        ((1, 2, 3), {"dst": 4}, "multiple values for argument 'dst'"),
        ((), {}, "0 were given"),
    ],
)
def test_wrong_argument_lists(
    cpu: ModuleType,
    arguments: tuple[int, ...],
    keywords: dict[str, int],
    message: str,
) -> None:
    with pytest.raises(TypeError, match=r"hipMemcpy\(\).*" + message):
        cpu.hipMemcpy(*arguments, **keywords)


def test_two_forms_are_named_where_neither_fits(cpu: ModuleType) -> None:
    message = r"takes \(deviceId\) or \(prop, deviceId\); 3 arguments were given"
    with pytest.raises(TypeError, match=message):
        cpu.hipGetDeviceProperties(1, 2, 3)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("1", TypeError),
        (1.5, TypeError),
        (None, TypeError),
        (2**31, OverflowError),
        (-(2**31) - 1, OverflowError),
        (2**200, OverflowError),
    ],
)
def test_int_argument_refuses(
    cpu: ModuleType, value: object, error: type[Exception]
) -> None:
    with pytest.raises(error, match="hipSetDevice: argument 'deviceId'"):
        cpu.hipSetDevice(value)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("1", TypeError),
        (1.5, TypeError),
        (None, TypeError),
        (-1, OverflowError),
        (2**64, OverflowError),
    ],
)
def test_size_argument_refuses(
    cpu: ModuleType, value: object, error: type[Exception]
) -> None:
    with pytest.raises(error, match="hipMalloc: argument 'size'"):
        cpu.hipMalloc(value)


def test_int_arguments_take_index_objects(cpu: ModuleType) -> None:
    numpy = pytest.importorskip("numpy")

    assert cpu.hipSetDevice(numpy.int32(0)) == (0,)
    status, array = cpu.hipMalloc(numpy.uint64(64))
    assert status == 0
    assert cpu.hipFree(array) == (0,)


# What no argument of any role accepts.
REFUSED = {
    "value": ("text", 1.5j, [1], 10**39),
    "enum": ("text", 1.5, [1], 2**100, -77, 123456),
    "handle": ("text", 1.5, -1, 2**64, object()),
    "pointer": (1.5, -1, 2**64, object(), {}),
    "record": (1.5, -1, 2**64, object(), "text"),
    "record_list": (1.5, -1, object(), [1.5], "text"),
    "record_value": (1.5, -1, None, object(), "text"),
    "text": (1.5, -1, object(), [b"x"]),
    "text_list": (1.5, -1, object(), [1.5], [object()]),
    "list": (1.5, -1, object(), [1.5], [object()]),
    "inout": (1.5j, object(), [1]),
    "kernel_params": (1.5, -1, object(), [1.5], "text"),
    "host_node": (1.5, -1, object(), "text"),
    "extra": (1.5, -1, object(), [1.5], [object()], "text"),
    "callback": (1.5, -1, "text", b"bytes"),
    "handle_ref": (1.5, -1, object()),
}


FIRST_MEMBER: dict[str | None, int] = {
    enum.name: next(iter(enum.constants.values())) for enum in model.load().enums
}


def plain(param: model.Param) -> object:
    """A harmless value for a parameter: 0, None, or a member."""
    if param.role == "value":
        return 0
    if param.role == "enum":
        return FIRST_MEMBER[param.adapter]
    return () if param.role == "record_value" else None


CASES = [
    (function, number, param, value)
    for function in WRAPPED
    for number, param in enumerate(emit_wrappers.form_params(function)[0])
    for value in REFUSED[param.role]
    if (param.adapter, value) != ("ListOfFloat", [1.5])
]


def test_every_argument_of_every_function_refuses_wrong_kinds(cpu: ModuleType) -> None:
    import hipadapt.hiprtc

    for function, number, param, value in CASES:
        module = hipadapt.hiprtc if function.module == "hiprtc" else cpu
        arguments = [plain(p) for p in emit_wrappers.form_params(function)[0]]
        arguments[number] = value
        where = f"{function.name}({param.name}={value!r})"
        try:
            result = getattr(module, function.name)(*arguments)
        except (TypeError, ValueError, OverflowError, BufferError) as error:
            text = str(error)
            assert function.name in text, f"{where}: {text}"
            assert f"'{param.python_name}" in text, f"{where}: {text}"
        else:
            pytest.fail(f"{where} was accepted: {result}")
