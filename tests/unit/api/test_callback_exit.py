# SPDX-License-Identifier: MIT
"""Ends of interpreters and processes, and forks, while callables are queued."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.conftest import Run

from .callbacks import PRELUDE, WATCHED

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
AT_ONCE = 4  # most of them sleep


@pytest.fixture(scope="module")
def ends(run_python: Run) -> Iterator[dict[str, Future[tuple[float, str]]]]:
    """Seconds that each takes to its end, and what it says."""

    def run(code: str) -> tuple[float, str]:
        begin = time.monotonic()
        done = run_python(WATCHED + EXIT_PRELUDE + code)
        return time.monotonic() - begin, done.stderr

    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {shape: pool.submit(run, code) for shape, code in EXITS.items()}


@pytest.mark.parametrize("shape", EXITS)
def test_interpreter_ends_with_callbacks_queued(
    ends: dict[str, Future[tuple[float, str]]], shape: str
) -> None:
    seconds, errors = ends[shape].result()

    assert seconds < EXIT_LIMIT_S
    assert "Fatal" not in errors


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
began, gate = threading.Event(), threading.Event()
check(hip.hipLaunchHostFunc(None, lambda _: began.set() or gate.wait(10), None))
check(hip.hipLaunchHostFunc(None, lambda u: seen.append(u is gone()), thing))
del thing
began.wait()
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
