# SPDX-License-Identifier: MIT
"""How long callables and their arguments live, and where their finalizers run."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from tests.conftest import Run

from .callbacks import PRELUDE, WAIT_S, Thing, good, until


def test_references_are_released_after_the_call(
    cpu: ModuleType, stream: Any, enqueue: Callable[..., Any]
) -> None:
    user, inside = Thing(), threading.Event()
    gone = weakref.ref(user)
    seen: list[bool] = []

    def function(thing: object) -> None:
        seen.append(thing is gone())
        del thing
        inside.set()

    kept = weakref.ref(function)
    enqueue(stream, function, user)
    del user, function
    good(cpu.hipStreamSynchronize(stream))

    assert seen == [True]
    assert until(lambda: gone() is None and kept() is None)


def test_references_are_released_when_the_call_is_refused(
    cpu: ModuleType, stream: Any
) -> None:
    user = Thing()
    before = sys.getrefcount(user), sys.getrefcount(print)

    assert cpu.hipLaunchHostFunc(0xABC0, print, user)[0] != 0
    assert cpu.hipStreamAddCallback(stream, print, user, 7)[0] != 0
    with pytest.raises(TypeError):
        cpu.hipStreamAddCallback(stream, print, user, "flags")
    with pytest.raises(TypeError):
        cpu.hipLaunchHostFunc("stream", print, user)

    assert (sys.getrefcount(user), sys.getrefcount(print)) == before


def test_stream_that_is_destroyed_still_calls_and_releases(cpu: ModuleType) -> None:
    stream = good(cpu.hipStreamCreate())
    gate = threading.Event()
    user = Thing()
    gone = weakref.ref(user)
    seen: list[bool] = []

    good(cpu.hipLaunchHostFunc(stream, lambda _: gate.wait(WAIT_S), None))
    good(cpu.hipLaunchHostFunc(stream, lambda u: seen.append(u is gone()), user))
    del user
    good(cpu.hipStreamDestroy(stream))
    gate.set()
    good(cpu.hipDeviceSynchronize())

    assert seen == [True]
    assert until(lambda: gone() is None)


def test_many_calls_leave_nothing_behind(
    cpu: ModuleType, stream: Any, enqueue: Callable[..., Any]
) -> None:
    def turn() -> int:
        for _ in range(300):
            enqueue(stream, lambda user: user, object())
        good(cpu.hipStreamSynchronize(stream))
        gc.collect()
        return sys.getallocatedblocks()

    turn()
    turn()
    before = turn()

    assert min(turn() for _ in range(3)) - before <= 10


FAULT = """
from hipadapt import hiprtc
program = check(hiprtc.hiprtcCreateProgram(
    b'extern "C" __global__ void bad(int *p) { *p = 1; }', b"bad", 0, [], []))
check(hiprtc.hiprtcCompileProgram(program, 0, []))
code = bytearray(check(hiprtc.hiprtcGetCodeSize(program)))
check(hiprtc.hiprtcGetCode(program, code))
module = check(hip.hipModuleLoadData(code))
bad = check(hip.hipModuleGetFunction(module, b"bad"))
gate = threading.Event()
class Thing:
    def __call__(self, *arguments): seen.append(arguments)
    def __del__(self): ends.append(_core.in_host_function())
seen, ends = [], []
check(hip.hipLaunchHostFunc(None, lambda _: gate.wait(10), None))
check(hip.hipModuleLaunchKernel(bad, 1, 1, 1, 1, 1, 1, 0, None,
                                (ctypes.c_void_p(8),), None))
check(hip.hipLaunchHostFunc(None, Thing(), Thing()))
gate.set()
assert hip.hipDeviceSynchronize()[0] != 0
"""


def test_callable_that_a_failed_device_never_calls_is_released_by_reset(
    run_python: Run,
) -> None:
    run_python(
        PRELUDE
        + FAULT
        + """
assert (seen, ends) == ([], []), (seen, ends)
check(hip.hipDeviceReset())
assert (seen, ends) == ([], [False] * 2), (seen, ends)
check(hip.hipLaunchHostFunc(None, seen.append, 1))
check(hip.hipDeviceSynchronize())
assert seen == [1]
"""
    )


def test_callable_that_a_failed_device_never_calls_does_not_delay_the_exit(
    run_python: Run,
) -> None:
    done = run_python(
        PRELUDE
        + FAULT
        + """
import atexit
print(len(ends), flush=True)
Thing.__del__ = lambda self: os.write(1, b"released ")
begin = time.monotonic()
def last(): print(f"{time.monotonic() - begin:.3f}", flush=True)
weakref.finalize(Thing, last).atexit = False
atexit.unregister(_core.shutdown)
def end():
    _core.shutdown()
    last()
atexit.register(end)
"""
    )
    first, second = done.stdout.splitlines()
    assert first == "0"
    assert second.startswith("released released ")
    assert float(second.split()[-1]) < 1


def test_callback_is_called_with_the_status_of_a_failed_device(
    run_python: Run,
) -> None:
    run_python(
        PRELUDE
        + FAULT.replace(
            "check(hip.hipLaunchHostFunc(None, Thing(), Thing()))",
            "check(hip.hipStreamAddCallback(None, Thing(), 5, 0))",
        )
        + """
end = time.monotonic() + 10
while not ends and time.monotonic() < end: time.sleep(0.001)
(stream, status, user), = seen
assert stream is None and user == 5
assert status is hip.hipError_t.hipErrorIllegalAddress, status
"""
    )


def test_finalizers_do_not_run_inside_a_host_function(
    cpu: ModuleType, stream: Any, enqueue: Callable[..., Any]
) -> None:
    from hipadapt import _core

    memory = good(cpu.hipMalloc(64))
    ends: list[Any] = []

    class Owner:
        def __call__(self, _user: object) -> None:
            ends.append(_core.in_host_function())

        def __del__(self) -> None:
            ends.append((_core.in_host_function(), cpu.hipFree(memory)))

    enqueue(stream, Owner(), None)
    good(cpu.hipStreamSynchronize(stream))

    assert until(lambda: len(ends) == 2)
    assert ends == [True, (False, (0,))]


def test_call_later_from_a_host_function_runs_outside(
    cpu: ModuleType, stream: Any, enqueue: Callable[..., Any]
) -> None:
    from hipadapt import _core

    seen: list[Any] = []

    def later() -> None:
        seen.append((_core.in_host_function(), cpu.hipStreamQuery(stream)[0]))

    assert not _core.in_host_function()
    enqueue(stream, lambda _: _core.call_later(later), None)
    good(cpu.hipStreamSynchronize(stream))

    assert until(lambda: len(seen) == 1)
    assert seen == [(False, 0)]
    with pytest.raises(TypeError, match="call_later: a callable, not 'int'"):
        _core.call_later(5)  # type: ignore[arg-type]


def test_call_later_reports_exceptions(
    cpu: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hipadapt import _core

    caught: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda a: caught.append(a.exc_type))

    _core.call_later(lambda: 1 // 0)

    assert until(lambda: caught == [ZeroDivisionError])
