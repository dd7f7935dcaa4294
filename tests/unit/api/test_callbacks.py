# SPDX-License-Identifier: MIT
"""Python callables that a stream calls: hipLaunchHostFunc and hipStreamAddCallback.

HIPADAPT_STRESS_SECONDS makes the watchdog test run longer than its few seconds.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from tests.conftest import Run

WAIT_S = 10.0

PRELUDE = """
import ctypes, gc, os, signal, sys, threading, time, weakref
from hipadapt import _core, hip
def check(result):
    assert result[0] == 0, result
    return result[1] if len(result) == 2 else result[1:]
def sleep(seconds, stream=None):
    check(hip.hipLaunchHostFunc(stream, lambda _: time.sleep(seconds), None))
"""

# Where threads hang, it says where. Not where a child is forked: faulthandler's own
# thread is missing there, and the end of the child would wait for it.
WATCHED = (
    """
import faulthandler
faulthandler.dump_traceback_later(60, exit=True)
"""
    + PRELUDE
)


class Thing:
    """Something that can be referred to weakly."""


def until(condition: Callable[[], bool]) -> bool:
    """Waits for it to come true; runs bytecode meanwhile, as programs do."""
    end = time.monotonic() + WAIT_S
    while not condition() and time.monotonic() < end:
        time.sleep(0.001)
    return condition()


def good(result: tuple[Any, ...]) -> Any:
    assert result[0] == 0, result
    return result[1] if len(result) == 2 else result[1:]


@pytest.fixture(params=["hipLaunchHostFunc", "hipStreamAddCallback"])
def enqueue(request: pytest.FixtureRequest, cpu: ModuleType) -> Callable[..., Any]:
    """Has f(user) called by the stream, one way or the other."""

    def launch(stream: Any, function: Any, user: Any) -> Any:
        return good(cpu.hipLaunchHostFunc(stream, function, user))

    def add(stream: Any, function: Any, user: Any) -> Any:
        wrapped = function
        if callable(function):

            def wrapped(_stream: Any, _status: Any, data: Any) -> Any:
                return function(data)

        return good(cpu.hipStreamAddCallback(stream, wrapped, user, 0))

    return launch if request.param == "hipLaunchHostFunc" else add


@pytest.fixture
def stream(cpu: ModuleType) -> Iterator[Any]:
    made = good(cpu.hipStreamCreate())
    yield made
    assert cpu.hipStreamDestroy(made) == (0,)


# ---- what is called, with what ----


@pytest.mark.parametrize("user", [None, 0, -1, "text", (1, 2), object(), print, [[]]])
def test_user_data_is_the_object_that_was_given(
    cpu: ModuleType, stream: Any, enqueue: Callable[..., Any], user: object
) -> None:
    seen: list[object] = []

    enqueue(stream, seen.append, user)
    good(cpu.hipStreamSynchronize(stream))

    assert len(seen) == 1
    assert seen[0] is user


def test_callback_gets_stream_and_status(cpu: ModuleType, stream: Any) -> None:
    seen: list[tuple[Any, ...]] = []

    good(cpu.hipStreamAddCallback(stream, lambda *a: seen.append(a), "user", 0))
    good(cpu.hipStreamSynchronize(stream))

    assert len(seen) == 1
    assert seen[0][0] is stream
    assert seen[0][1] is cpu.hipError_t.hipSuccess
    assert seen[0][2] == "user"


def test_calls_come_in_the_order_of_the_stream(cpu: ModuleType, stream: Any) -> None:
    seen: list[int] = []

    for i in range(200):
        if i % 3 == 0:
            good(cpu.hipStreamAddCallback(stream, lambda *a: seen.append(a[2]), i, 0))
        else:
            good(cpu.hipLaunchHostFunc(stream, seen.append, i))
    good(cpu.hipStreamSynchronize(stream))

    assert seen == list(range(200))


def test_function_runs_on_a_thread_of_the_device(cpu: ModuleType, stream: Any) -> None:
    seen: list[int] = []

    good(cpu.hipLaunchHostFunc(stream, lambda _: seen.append(threading.get_ident()), 0))
    good(cpu.hipStreamSynchronize(stream))

    assert seen != [threading.get_ident()]


HOST = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


@pytest.mark.parametrize("form", ["ctypes", "pointer type", "int", "c_void_p"])
def test_c_functions_get_the_address_of_user_data(
    cpu: ModuleType, stream: Any, form: str
) -> None:
    seen: list[int] = []
    cell = ctypes.c_int(5)
    made = HOST(seen.append)
    address = ctypes.cast(made, ctypes.c_void_p)
    function = {
        "ctypes": made,
        "pointer type": cpu.hipHostFn_t(seen.append),
        "int": address.value,
        "c_void_p": address,
    }[form]

    good(cpu.hipLaunchHostFunc(stream, function, cell))
    good(cpu.hipStreamSynchronize(stream))

    assert seen == [ctypes.addressof(cell)]


@pytest.mark.parametrize("form", ["ctypes", "pointer type"])
def test_c_callbacks_get_stream_status_and_address(
    cpu: ModuleType, stream: Any, form: str
) -> None:
    seen: list[tuple[int, ...]] = []

    def note(*values: int) -> None:
        seen.append(values)

    cell = ctypes.c_int(5)
    function = CALLBACK(note) if form == "ctypes" else cpu.hipStreamCallback_t(note)

    good(cpu.hipStreamAddCallback(stream, function, cell, 0))
    good(cpu.hipStreamSynchronize(stream))

    assert seen == [(int(stream), 0, ctypes.addressof(cell))]


def test_c_function_and_its_memory_are_kept_until_it_ran(
    cpu: ModuleType, stream: Any
) -> None:
    seen: list[bytes] = []
    gate = threading.Event()

    def read(address: int) -> None:
        seen.append(ctypes.string_at(address, 4))

    good(cpu.hipLaunchHostFunc(stream, lambda _: gate.wait(WAIT_S), None))
    good(cpu.hipLaunchHostFunc(stream, HOST(read), bytearray(b"kept")))
    gc.collect()
    junk = [bytearray(b"junk") for _ in range(1000)]
    gate.set()
    good(cpu.hipStreamSynchronize(stream))

    assert seen == [b"kept"]
    del junk


def test_what_is_no_function_is_refused(cpu: ModuleType, stream: Any) -> None:
    for bad in ("text", 1.5, b"bytes", [], object()):
        with pytest.raises(TypeError, match="hipLaunchHostFunc: argument 'fn'"):
            cpu.hipLaunchHostFunc(stream, bad, None)
        with pytest.raises(TypeError, match=r"hipStreamAddCallback: .*'callback'"):
            cpu.hipStreamAddCallback(stream, bad, None, 0)
    assert cpu.hipLaunchHostFunc(stream, None, None) == (
        cpu.hipError_t.hipErrorInvalidValue,
    )


# ---- exceptions ----


class Own(BaseException):
    """Not even an Exception."""


def deep(_user: object) -> None:
    deep(_user)


def raising(kind: type[BaseException]) -> Callable[[object], None]:
    def function(_user: object) -> None:
        raise kind("of a host function")

    return function


@pytest.mark.parametrize(
    "kind",
    [ValueError, SystemExit, KeyboardInterrupt, GeneratorExit, RecursionError, Own],
)
def test_exception_is_reported_and_the_stream_goes_on(
    cpu: ModuleType,
    stream: Any,
    monkeypatch: pytest.MonkeyPatch,
    kind: type[BaseException],
) -> None:
    caught: list[tuple[Any, Any]] = []
    after: list[int] = []
    monkeypatch.setattr(
        sys, "unraisablehook", lambda a: caught.append((a.exc_type, a.object))
    )
    function = deep if kind is RecursionError else raising(kind)
    cpu.hipGetLastError()

    def callback(_stream: object, _status: object, _user: object) -> None:
        function(None)

    good(cpu.hipLaunchHostFunc(stream, function, None))
    good(cpu.hipStreamAddCallback(stream, callback, None, 0))
    good(cpu.hipLaunchHostFunc(stream, after.append, 1))
    good(cpu.hipStreamSynchronize(stream))

    assert caught == [(kind, function), (kind, callback)]
    assert after == [1]
    assert cpu.hipGetLastError() == (0,)


def test_report_names_the_function(run_python: Run) -> None:
    done = run_python(
        PRELUDE
        + """
def my_host_function(user):
    raise SystemExit(3)
check(hip.hipLaunchHostFunc(None, my_host_function, None))
check(hip.hipDeviceSynchronize())
"""
    )
    assert "my_host_function" in done.stderr
    assert "SystemExit: 3" in done.stderr


def test_hook_that_raises_does_no_harm(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
def hook(arguments):
    raise RuntimeError("in the hook")
sys.unraisablehook = hook
seen = []
check(hip.hipLaunchHostFunc(None, lambda _: 1 / 0, None))
check(hip.hipLaunchHostFunc(None, seen.append, 1))
check(hip.hipDeviceSynchronize())
assert seen == [1]
"""
    )


# ---- HIP inside a host function ----


def calls_of_hip(hip: ModuleType, stream: Any, event: Any, memory: Any) -> list[Any]:
    """Calls that would wait for the stream they are in, or change the device."""
    kind = hip.hipMemcpyKind.hipMemcpyDefault
    return [
        lambda: hip.hipDeviceSynchronize(),
        lambda: hip.hipStreamSynchronize(stream),
        lambda: hip.hipStreamSynchronize(None),
        lambda: hip.hipEventSynchronize(event),
        lambda: hip.hipEventRecord(event, stream),
        lambda: hip.hipStreamWaitEvent(stream, event, 0),
        lambda: hip.hipStreamQuery(stream),
        lambda: hip.hipStreamDestroy(stream),
        lambda: hip.hipStreamCreate(),
        lambda: hip.hipEventCreate(),
        lambda: hip.hipEventDestroy(event),
        lambda: hip.hipMalloc(64),
        lambda: hip.hipFree(memory),
        lambda: hip.hipHostMalloc(64, 0),
        lambda: hip.hipMemcpy(memory, bytes(4), 4, kind),
        lambda: hip.hipMemcpyAsync(memory, bytes(4), 4, kind, stream),
        lambda: hip.hipMemset(memory, 0, 4),
        lambda: hip.hipLaunchHostFunc(stream, print, None),
        lambda: hip.hipStreamAddCallback(stream, print, None, 0),
        lambda: hip.hipDeviceReset(),
        lambda: hip.hipModuleLoadData(b"\x7fELF" + bytes(60)),
    ]


def test_hip_inside_a_host_function_answers_an_error(
    cpu: ModuleType, stream: Any, enqueue: Callable[..., Any]
) -> None:
    event = good(cpu.hipEventCreate())
    memory = good(cpu.hipMalloc(64))
    seen: list[Any] = []

    def inside(_user: object) -> None:
        for call in calls_of_hip(cpu, stream, event, memory):
            seen.append(call()[0])
        seen.append(cpu.hipGetDevice())

    enqueue(stream, inside, None)
    good(cpu.hipStreamSynchronize(stream))

    assert seen[-1] == (0, 0)
    refused = cpu.hipError_t.hipErrorIllegalState
    assert seen[:-1] == [refused] * (len(seen) - 1)
    assert len(seen) == len(calls_of_hip(cpu, stream, event, memory)) + 1
    good(cpu.hipEventDestroy(event))
    good(cpu.hipFree(memory))


BLOCKING = {
    "device": "hip.hipDeviceSynchronize()",
    "stream": "hip.hipStreamSynchronize(stream)",
    "default stream": "hip.hipStreamSynchronize(None)",
    "event": "hip.hipEventSynchronize(event)",
    "copy": "hip.hipMemcpy(memory, bytes(64), 64, kind)",
    "copy to host": "hip.hipMemcpyDtoH(bytearray(64), memory, 64)",
    "set": "hip.hipMemset(memory, 0, 64)",
    "free": "hip.hipFree(memory)",
    "free host": "hip.hipHostFree(pinned)",
    "destroy": "hip.hipStreamDestroy(stream)",
    "reset": "hip.hipDeviceReset()",
}


@pytest.mark.parametrize("call", BLOCKING)
def test_call_that_waits_for_a_host_function_lets_it_run(
    run_python: Run, call: str
) -> None:
    """It would hang if the call kept the GIL, or if the callable held a lock."""
    run_python(
        WATCHED
        + f"""
kind = hip.hipMemcpyKind.hipMemcpyDefault
stream = check(hip.hipStreamCreate())
event = check(hip.hipEventCreate())
memory, pinned = check(hip.hipMalloc(64)), check(hip.hipHostMalloc(64, 0))
seen = []
def function(user):
    for _ in range(20):
        time.sleep(0.002)
    seen.append(user)
check(hip.hipLaunchHostFunc(stream, function, 1))
check(hip.hipEventRecord(event, stream))
while not seen and time.monotonic() < 0: pass
check({BLOCKING[call]})
check(hip.hipDeviceSynchronize())
assert seen in ([1], []) if {call == "reset"} else seen == [1], seen
"""
    )


# ---- references ----


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


# ---- graphs and odd devices (tests/fake) ----


def test_captured_function_is_called_each_time_until_the_end(fake: Run) -> None:
    done = fake("""
        import gc, sys, weakref
        class Thing:
            def __del__(self): os.write(1, b"released")
        thing, seen = Thing(), []
        gone = weakref.ref(thing)
        status, stream = hip.hipStreamCreate()
        fake.fake_capture(1)
        def function(user): seen.append(user is gone())
        assert hip.hipLaunchHostFunc(stream, function, thing) == (0,)
        del thing
        for _ in range(3): fake.fake_finish()
        assert seen == [True] * 3, seen
        assert gone() is not None
        fake.fake_capture(0)
        fake.fake_finish()
    """)
    assert done.stdout == "released"


def test_host_node_of_a_graph_is_called_until_the_graph_ends(fake: Run) -> None:
    fake("""
        import gc, weakref
        class Thing: pass
        thing, seen = Thing(), []
        gone = weakref.ref(thing)
        def function(user): seen.append(user is gone())
        kept = weakref.ref(function)
        status, graph = hip.hipGraphCreate(0)
        fake.fake_capture(1)
        made = hip.hipGraphAddHostNode(graph, [], 0, (function, thing))
        assert made[0] == 0, made
        del thing, function
        gc.collect()
        for _ in range(3): fake.fake_finish()
        assert seen == [True] * 3, seen
        assert gone() is not None
        assert hip.hipGraphDestroy(graph) == (0,)
        del made, graph
        gc.collect()
        assert gone() is None and kept() is None
        fake.fake_finish()
        assert seen == [True] * 3, seen
        fake.fake_capture(0)
        fake.fake_finish()
    """)


def test_device_that_calls_too_often_is_ignored(fake: Run) -> None:
    fake("""
        seen = []
        assert hip.hipLaunchHostFunc(None, seen.append, 1) == (0,)
        fake.fake_capture(1)
        for _ in range(5): fake.fake_finish()
        assert seen == [1], seen
        fake.fake_capture(0)
        assert hip.hipLaunchHostFunc(None, seen.append, 2) == (0,)
        fake.fake_finish()
        assert seen == [1, 2], seen
    """)


# ---- exit, fork, interpreters ----

EXITS = {
    "queued": "sleep(0.1); call()",
    "many queued": "[call() for _ in range(2000)]",
    "raising": "hip.hipLaunchHostFunc(None, lambda _: 1 / 0, None)",
    "exit inside": "hip.hipLaunchHostFunc(None, lambda _: sys.exit(5), None)",
    "exit while it runs": "sleep(0.3); sys.exit(0)",
    "long": "sleep(30)",
    "long in C": "hip.hipLaunchHostFunc(None, HOST(libc.sleep), 30)",
    "long on two streams": "sleep(30); sleep(30, check(hip.hipStreamCreate()))",
    "busy": "hip.hipLaunchHostFunc(None, spin, None)",
    "waits for a lock": "hip.hipLaunchHostFunc(None, lambda _: lock.acquire(), None)",
    "imports": "hip.hipLaunchHostFunc(None, lambda _: __import__('decimal'), None)",
    "thread": "hip.hipLaunchHostFunc(None, start_thread, None)",
    "daemon": "threading.Thread(target=enqueue_on, daemon=True).start(); wait(0.1)",
    "threads": "[threading.Thread(target=call).start() for _ in range(8)]",
    "atexit": "import atexit; atexit.register(call)",
    "atexit sync": "import atexit; call(); atexit.register(hip.hipDeviceSynchronize)",
    "callback": "sleep(0.1); hip.hipStreamAddCallback(None, print, 'a', 0)",
    "destroyed stream": "destroyed()",
    "user data with a finalizer": "hip.hipLaunchHostFunc(None, print, Finalizer())",
    "cycle": "a = []; a.append(a); hip.hipLaunchHostFunc(None, a.append, a)",
    "generator": "g = (call() for _ in range(3)); next(g)",
    "module globals": "hip.hipLaunchHostFunc(None, lambda _: (wait(0.2), PRELUDE), 0)",
    "os._exit": "sleep(0.1); call(); os._exit(0)",
    "os._exit inside": "hip.hipLaunchHostFunc(None, lambda _: os._exit(0), None)",
    "gc off": "gc.disable(); sleep(0.05); call(gc)",
    "unimported": "sleep(0.1); del sys.modules['hipadapt']",
    "inside another": "hip.hipLaunchHostFunc(None, lambda _: call(), None)",
    "later": "hip.hipLaunchHostFunc(None, lambda _: _core.call_later(call), None)",
    "endless later": "again()",
}
EXIT_PRELUDE = """
PRELUDE = "still there"
lock = threading.Lock(); lock.acquire()
libc = ctypes.CDLL(None)
HOST = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint)
def HOST(function): return ctypes.cast(function, ctypes.c_void_p)
wait = time.sleep
def call(user=None): return hip.hipLaunchHostFunc(None, lambda u: u, user)
def spin(user):
    while True: pass
def start_thread(user): threading.Thread(target=time.sleep, args=(0.2,)).start()
def enqueue_on():
    while True: call()
def destroyed():
    stream = check(hip.hipStreamCreate())
    sleep(0.1, stream)
    hip.hipLaunchHostFunc(stream, print, 1)
    hip.hipStreamDestroy(stream)
class Finalizer:
    def __del__(self): hip.hipDeviceSynchronize()
def again():
    hip.hipLaunchHostFunc(None, lambda _: _core.call_later(again), None)
def at_end(begin=time.monotonic()): pass
"""
EXIT_LIMIT_S = 8.0


@pytest.mark.parametrize("shape", EXITS)
def test_interpreter_ends_with_callbacks_queued(run_python: Run, shape: str) -> None:
    begin = time.monotonic()
    done = run_python(WATCHED + EXIT_PRELUDE + EXITS[shape])

    assert time.monotonic() - begin < EXIT_LIMIT_S
    assert "Fatal" not in done.stderr


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_signal_ends_the_process_with_callbacks_queued(
    run_python: Run, name: str
) -> None:
    import signal

    number = int(getattr(signal, name))
    done = run_python(
        PRELUDE
        + EXIT_PRELUDE
        + f"sleep(0.5); call(); os.kill(os.getpid(), {number}); wait(30)",
        status=None,
    )
    assert done.returncode == -number, done.stderr


def test_queued_callables_are_called_before_the_interpreter_ends(
    run_python: Run,
) -> None:
    done = run_python(
        PRELUDE
        + """
sleep(0.3)
for i in range(3):
    hip.hipLaunchHostFunc(None, lambda i: os.write(1, b"%d " % i), i)
"""
    )
    assert done.stdout == "0 1 2 "


def test_forked_child_forgets_callables_and_the_parent_does_not(
    run_python: Run,
) -> None:
    run_python(
        PRELUDE
        + """
class Thing: pass
thing, seen = Thing(), []
gone = weakref.ref(thing)
gate = threading.Event()
check(hip.hipLaunchHostFunc(None, lambda _: gate.wait(10), None))
check(hip.hipLaunchHostFunc(None, lambda u: seen.append(u is gone()), thing))
del thing
child = os.fork()
if child == 0:
    assert hip.hipLaunchHostFunc(None, print, None)[0] != 0
    assert gone() is None
    check(hip.hipInit(0))
    check(hip.hipLaunchHostFunc(None, seen.append, "child"))
    check(hip.hipDeviceSynchronize())
    sys.exit(0 if seen == ["child"] else 1)
assert os.waitpid(child, 0)[1] == 0
gate.set()
check(hip.hipDeviceSynchronize())
assert seen == [True], seen
end = time.monotonic() + 10
while gone() is not None and time.monotonic() < end: time.sleep(0.001)
assert gone() is None
"""
    )


def test_fork_inside_a_host_function_leaves_the_parent_alone(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
children = []
def function(user):
    child = os.fork()
    if child == 0:
        os._exit(7)
    children.append(child)
check(hip.hipLaunchHostFunc(None, function, None))
check(hip.hipDeviceSynchronize())
assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 7
seen = []
check(hip.hipLaunchHostFunc(None, seen.append, 1))
check(hip.hipDeviceSynchronize())
assert seen == [1]
"""
    )


def test_child_that_returns_from_a_host_function_ends(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
children = []
check(hip.hipLaunchHostFunc(None, lambda _: children.append(os.fork()), None))
check(hip.hipDeviceSynchronize())
end = time.monotonic() + 10
while (ended := os.waitpid(children[0], os.WNOHANG)) == (0, 0):
    assert time.monotonic() < end, "the child hangs"
    time.sleep(0.01)
assert ended[1] == 0, ended
"""
    )


def test_multiprocessing_by_fork_works_beside_callbacks(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
import multiprocessing
seen = []
sleep(0.2)
check(hip.hipLaunchHostFunc(None, seen.append, 1))
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(abs, [-1, -2]) == [1, 2]
check(hip.hipDeviceSynchronize())
assert seen == [1]
"""
    )


# ---- many threads ----

STRESS = """
import faulthandler
seconds = float(sys.argv[1])
end = time.monotonic() + seconds
faulthandler.dump_traceback_later(seconds + 60, exit=True)
kind = hip.hipMemcpyKind.hipMemcpyDefault
beats, errors = [time.monotonic()] * 8, []
calls, raised = [0] * 8, []
sys.unraisablehook = lambda a: raised.append(a.exc_type)
sys.setswitchinterval(1e-5)
def work(number):
    stream = check(hip.hipStreamCreate())
    event = check(hip.hipEventCreate())
    memory = check(hip.hipMalloc(256))
    made, failing = 0, 0
    def count(user): calls[number] += user
    def broken(user): raise KeyError(user)
    turn = 0
    while time.monotonic() < end:
        turn += 1
        beats[number] = time.monotonic()
        user = turn % 5
        check(hip.hipLaunchHostFunc(stream, count, user)); made += user
        check(hip.hipMemcpyAsync(memory, bytes([turn % 256]) * 256, 256, kind, stream))
        check(hip.hipStreamAddCallback(stream, lambda s, e, u: count(u), user, 0))
        made += user
        check(hip.hipEventRecord(event, stream))
        if turn % 7 == 0: check(hip.hipStreamSynchronize(stream))
        if turn % 11 == 0: check(hip.hipEventSynchronize(event))
        if turn % 13 == 0: check(hip.hipDeviceSynchronize())
        if turn % 17 == 0: check(hip.hipMemcpy(bytearray(256), memory, 256, kind))
        if turn % 19 == 0:
            check(hip.hipLaunchHostFunc(stream, broken, turn)); failing += 1
        if turn % 23 == 0:
            check(hip.hipFree(memory)); memory = check(hip.hipMalloc(256))
        if turn % 29 == 0:
            check(hip.hipStreamDestroy(stream)); stream = check(hip.hipStreamCreate())
        if turn % 31 == 0: gc.collect(0)
    check(hip.hipDeviceSynchronize())
    expected[number] = made, failing
def guarded(number):
    try: work(number)
    except BaseException as error: errors.append(repr(error)); raise
expected = [None] * 8
threads = [threading.Thread(target=guarded, args=(n,)) for n in range(8)]
for thread in threads: thread.start()
while time.monotonic() < end:
    time.sleep(0.05)
    late = [n for n in range(8) if time.monotonic() - beats[n] > 5]
    assert not late or errors, f"threads {late} stand still"
for thread in threads: thread.join(30)
assert not errors, errors
assert not any(thread.is_alive() for thread in threads), "threads hang"
check(hip.hipDeviceSynchronize())
assert calls == [made for made, _ in expected], (calls, expected)
assert raised == [KeyError] * sum(failing for _, failing in expected)
print(sum(calls))
"""


def test_many_threads_with_callbacks_and_waits_never_stand_still(
    run_python: Run,
) -> None:
    seconds = os.environ.get("HIPADAPT_STRESS_SECONDS", "4")

    done = run_python(PRELUDE + STRESS, seconds)

    assert int(done.stdout) > 0
