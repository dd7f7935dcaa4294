# SPDX-License-Identifier: MIT
"""The process around the calls: interrupts, forks, ends, threads."""

from __future__ import annotations

import pytest

from tests.conftest import Run

PRELUDE = """
import gc, os, signal, threading, time
import numpy as np
from hipadapt import _core, hip
kind = hip.hipMemcpyKind.hipMemcpyDefault
def sleep(seconds):
    assert hip.hipLaunchHostFunc(None, lambda _: time.sleep(seconds), None) == (0,)
"""


def test_interrupt_ends_a_wait(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
sleep(5)
timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
timer.start()
begin = time.monotonic()
try:
    hip.hipDeviceSynchronize()
except KeyboardInterrupt:
    assert time.monotonic() - begin < 2, time.monotonic() - begin
    os._exit(0)
raise AssertionError("not interrupted")
"""
    )


def test_host_functions_and_waits_of_many_threads(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
seen = []
def work(number):
    status, stream = hip.hipStreamCreate()
    for i in range(50):
        hip.hipLaunchHostFunc(stream, seen.append, (number, i))
        hip.hipStreamQuery(stream)
        if i % 7 == 0:
            assert hip.hipStreamSynchronize(stream) == (0,)
    assert hip.hipStreamSynchronize(stream) == (0,)
    assert hip.hipStreamDestroy(stream) == (0,)
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join(60)
assert not any(thread.is_alive() for thread in threads)
assert len(seen) == 400
for n in range(8):
    assert [i for m, i in seen if m == n] == list(range(50))
"""
    )


def test_host_function_that_calls_hip_is_refused_and_does_not_hang(
    run_python: Run,
) -> None:
    run_python(
        PRELUDE
        + """
seen = []
def call(user):
    seen.append(hip.hipGetDevice()[0])
    seen.append(hip.hipDeviceSynchronize()[0])
    seen.append(hip.hipMalloc(64))
assert hip.hipLaunchHostFunc(None, call, None) == (0,)
assert hip.hipDeviceSynchronize() == (0,)
assert seen[0] == 0 and seen[1] != 0 and seen[2][0] != 0 and seen[2][1] is None, seen
"""
    )


def test_async_copies_of_temporaries_are_right(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
status, stream = hip.hipStreamCreate()
size = 4096
arrays = [hip.hipMalloc(size)[1] for _ in range(16)]
bad = 0
for turn in range(100):
    sleep(0.0005)
    for i, array in enumerate(arrays):
        value = (turn * 16 + i) % 251
        copy = hip.hipMemcpyAsync
        assert copy(array, np.full(size, value, np.uint8), size, kind, stream) == (0,)
    junk = [np.full(size, 255, np.uint8) for _ in range(32)]
    targets = [bytearray(size) for _ in arrays]
    for target, array in zip(targets, arrays):
        assert hip.hipMemcpyAsync(target, array, size, kind, stream) == (0,)
    assert hip.hipStreamSynchronize(stream) == (0,)
    for i, target in enumerate(targets):
        bad += target != bytes([(turn * 16 + i) % 251]) * size
assert bad == 0, bad
assert _core.pending() == 0, _core.pending()
"""
    )


def test_forked_child_is_told_so_and_does_not_hang(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
status, array = hip.hipMalloc(64)
sleep(0.2)
hip.hipMemcpyAsync(array, bytearray(64), 64, kind, None)
child = os.fork()
if child == 0:
    status, = hip.hipMemcpyAsync(array, bytearray(64), 64, kind, None)
    os._exit(0 if status == hip.hipError_t.hipErrorNotInitialized else 1)
end = time.monotonic() + 10
while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
    assert time.monotonic() < end, "the child hangs"
    time.sleep(0.01)
assert ended[1] == 0, ended
assert hip.hipDeviceSynchronize() == (0,)
"""
    )


ENDS = {
    "plain": "",
    "exit": "raise SystemExit",
    "exception in a thread": "threading.Thread(target=lambda: 1/0).start()",
    "daemon": "threading.Thread(target=hip.hipDeviceSynchronize, daemon=True).start()",
    "atexit": "import atexit; atexit.register(hip.hipDeviceSynchronize)",
    "cycle": "a = [hip.hipMalloc(64)]; a.append(a)",
    "os._exit": "os._exit(0)",
}


@pytest.mark.parametrize("end", ENDS)
def test_interpreter_ends_cleanly_with_work_in_flight(
    run_python: Run, end: str
) -> None:
    run_python(
        PRELUDE
        + f"""
sleep(0.1)
status, array = hip.hipMalloc(64)
hip.hipMemcpyAsync(array, bytearray(64), 64, kind, None)
hip.hipLaunchHostFunc(None, lambda _: None, None)
{ENDS[end]}
"""
    )
