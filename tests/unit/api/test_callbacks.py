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
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from tests.conftest import Run

from .callbacks import PRELUDE, WAIT_S, WATCHED, good

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
    seconds = os.environ.get("HIPADAPT_STRESS_SECONDS", "2")

    done = run_python(PRELUDE + STRESS, seconds)

    assert int(done.stdout) > 0
