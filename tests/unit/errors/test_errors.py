# SPDX-License-Identifier: MIT
"""Exceptions of statuses, `check`, and the raising functions."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import hipadapt
from hipadapt import errors, hip, hiprtc, raising
from hipadapt._core import RaisingFunction

FAMILIES = [
    (hip.hipError_t, errors.HipError),
    (hiprtc.hiprtcResult, errors.HiprtcError),
]
TOO_MUCH = 1 << 60


@pytest.mark.parametrize(
    ("member", "family"),
    [(m, f) for e, f in FAMILIES for m in e if int(m) != 0],
    ids=lambda value: getattr(value, "name", ""),
)
def test_each_status_has_a_class_that_names_it(member: Any, family: type) -> None:
    error = family(int(member))

    assert type(error) is not family
    assert isinstance(error, family)
    assert getattr(errors, type(error).__name__) is type(error)
    assert (error.code, error.name) == (member, member.name)
    assert member.name in str(error)
    assert type(error).__name__ in dir(errors)


def test_classes_are_named_like_their_statuses() -> None:
    assert errors.HipErrorInvalidValue(1).code == hip.hipError_t.hipErrorInvalidValue
    assert errors.HiprtcErrorCompilation(6).name == "HIPRTC_ERROR_COMPILATION"
    with pytest.raises(AttributeError, match="HipErrorNoSuchThing"):
        errors.HipErrorNoSuchThing  # noqa: B018
    with pytest.raises(AttributeError, match="HipSuccess"):
        errors.HipSuccess  # noqa: B018


def test_unknown_code_is_a_plain_hip_error_with_that_code() -> None:
    error = errors.HipError(98765)

    assert type(error) is errors.HipError
    assert int(error.code) == 98765
    assert "98765" in str(error)


def test_relations_to_exceptions_of_python() -> None:
    memory = errors.HipError(hip.hipError_t.hipErrorOutOfMemory)
    missing = errors.HipError(hip.hipError_t.hipErrorNotSupported)

    assert isinstance(memory, MemoryError)
    assert isinstance(missing, NotImplementedError)
    assert isinstance(memory, RuntimeError)
    assert not isinstance(errors.HipError(1), (MemoryError, NotImplementedError))


@pytest.mark.parametrize("code", [1, 2, 801, 98765])
def test_errors_can_be_pickled_and_copied(code: int) -> None:
    error = errors.HipError(code, "hipMalloc", {"size": "5"}, "why")

    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.arguments == {"size": "5"}
        assert again.function == "hipMalloc"


def test_check_gives_outputs_or_raises(cpu: Any) -> None:
    status = hip.hipError_t.hipSuccess

    assert hipadapt.check((status,)) is None
    assert hipadapt.check((status, 5)) == 5
    assert hipadapt.check((status, 5, 6)) == (5, 6)
    with pytest.raises(errors.HipErrorOutOfMemory, match="no room for"):
        hipadapt.check(cpu.hipMalloc(TOO_MUCH))
    with pytest.raises(errors.HiprtcErrorInvalidProgram):
        hipadapt.check((hiprtc.hiprtcResult.HIPRTC_ERROR_INVALID_PROGRAM,))


@pytest.mark.parametrize("result", [5, (), (5,), None, [0], ("hipSuccess",)])
def test_check_refuses_what_is_no_result(result: Any) -> None:
    with pytest.raises(TypeError, match="check: a tuple that begins with"):
        hipadapt.check(result)


def test_raising_functions_return_outputs_alone(cpu: Any) -> None:
    memory = raising.hip.hipMalloc(64)

    assert isinstance(memory, hipadapt.DeviceArray)
    assert raising.hip.hipFree(memory) is None
    assert raising.hip.hipGetDeviceCount() >= 1
    free, total = raising.hip.hipMemGetInfo()
    assert 0 <= free <= total
    assert str(raising.hip.hipGetErrorString(hip.hipError_t(1))) == "invalid argument"


def test_raising_error_tells_function_arguments_and_detail(cpu: Any) -> None:
    with pytest.raises(errors.HipErrorOutOfMemory) as caught:
        raising.hip.hipMalloc(size=TOO_MUCH)

    error = caught.value
    assert error.function == "hipMalloc"
    assert error.arguments == {"size": str(TOO_MUCH)}
    assert "no room for" in error.text
    assert str(error).startswith(f"hipMalloc(size={TOO_MUCH}): hipErrorOutOfMemory (2)")


def test_bad_arguments_raise_as_they_do_without(cpu: Any) -> None:
    with pytest.raises(TypeError, match="hipMalloc"):
        raising.hip.hipMalloc("much")


def test_last_error_is_an_answer(cpu: Any) -> None:
    with pytest.raises(errors.HipErrorInvalidDevice):
        raising.hip.hipSetDevice(99)

    assert raising.hip.hipGetLastError() == hip.hipError_t.hipErrorInvalidDevice
    assert raising.hip.hipGetLastError() == hip.hipError_t.hipSuccess


def test_query_of_a_busy_stream_raises_not_ready() -> None:
    query = RaisingFunction(lambda: (hip.hipError_t.hipErrorNotReady,), fail_as(600))

    with pytest.raises(errors.HipErrorNotReady):
        query()


def fail_as(code: int) -> Any:
    def fail(function: Any, result: Any, args: Any, kwargs: Any) -> None:
        raise errors.HipError(code)

    return fail


def test_names_of_both_modules_are_the_same() -> None:
    for raw, ours in ((hip, raising.hip), (hiprtc, raising.hiprtc)):
        assert dir(ours) == dir(raw)
    assert raising.hip.hipError_t is hip.hipError_t
    assert raising.hip.dim3 is hip.dim3
    assert raising.hip.HIP_VERSION_MAJOR == hip.HIP_VERSION_MAJOR
    with pytest.raises(AttributeError):
        raising.hip.hipNoSuchFunction  # noqa: B018


def test_stub_and_module_agree_on_functions_that_answer_with_a_status() -> None:
    from hipadapt.raising import _make
    from tools.codegen.emit_raising_stubs import ANSWERS

    assert _make._ANSWERS == ANSWERS


@pytest.mark.parametrize("module", [raising.hip, raising.hiprtc])
def test_stub_names_every_function(module: Any) -> None:
    stub = Path(module.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    functions = {
        name
        for name in dir(module)
        if isinstance(getattr(module, name), RaisingFunction)
    }

    assert functions
    assert functions <= set(re.findall(r"^def (\w+)\(", stub, re.M))


def test_raising_function_looks_like_the_function_behind() -> None:
    function = raising.hip.hipMemcpy

    assert function.__name__ == "hipMemcpy"
    assert function.__doc__ == hip.hipMemcpy.__doc__
    assert function.__wrapped__ is hip.hipMemcpy
    assert inspect.signature(function) == inspect.signature(hip.hipMemcpy)
    assert repr(function) == "<raising function hipMemcpy>"
    assert raising.hip.hipMemcpy is function


@pytest.mark.parametrize("result", [None, 5, (), ("text",), [0]])
def test_raising_function_refuses_other_results(result: Any) -> None:
    with pytest.raises(TypeError, match="begins with a status"):
        RaisingFunction(lambda: result, fail_as(1))()


def test_failure_that_is_not_raised_is_an_error() -> None:
    silent = RaisingFunction(lambda: (1,), lambda *_: None)

    with pytest.raises(SystemError, match="was not raised"):
        silent()


@pytest.mark.parametrize("arguments", [(), (len,), (5, len), (len, 5)])
def test_raising_function_needs_two_callables(arguments: Any) -> None:
    with pytest.raises(TypeError):
        RaisingFunction(*arguments)


def test_raising_calls_leave_nothing_behind(cpu: Any) -> None:
    def turn() -> None:
        for _ in range(50):
            raising.hip.hipGetDevice()
            try:
                raising.hip.hipMalloc(TOO_MUCH)
            except errors.HipError:
                pass

    turn()
    gc.collect()
    before = sys.getallocatedblocks()
    turn()
    gc.collect()
    assert sys.getallocatedblocks() - before < 10


def compile_error(source: bytes) -> errors.HiprtcError:
    program = raising.hiprtc.hiprtcCreateProgram(source, b"k.hip", 0, None, None)
    with pytest.raises(errors.HiprtcErrorCompilation) as caught:
        raising.hiprtc.hiprtcCompileProgram(program, 0, [])
    hiprtc.hiprtcDestroyProgram(program.createRef())
    return caught.value


def test_compile_error_shows_the_line_of_source(cpu: Any) -> None:
    error = compile_error(b"__global__ void k(int *a)\n{\n    *a = x;\n    y;\n}\n")

    assert "k.hip:3:10: error" in str(error)
    assert "*a = x;" in str(error)
    assert "and 1 more" in str(error)
    assert "k.hip:4:5: error" in error.log
    assert "k.hip:4:5" not in str(error)
    assert pickle.loads(pickle.dumps(error)).log == error.log
