# SPDX-License-Identifier: MIT
"""What is made on first use, when all threads want it at once: in new interpreters."""

from __future__ import annotations

import sys

import pytest

from tests.conftest import GIL, Run

pytestmark = pytest.mark.thread_unsafe(reason="starts interpreters")

PRELUDE = """
import sys, threading
COUNT = 8
def at_once(work, count=COUNT):
    begin, results, errors = threading.Barrier(count), [None] * count, []
    def one(i):
        begin.wait()
        try:
            results[i] = work(i)
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=one, args=(i,)) for i in range(count)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert not errors, errors
    return results
"""


def test_provider_when_threads_load_it_is_one(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
from hipadapt import hip
import hipadapt
found = at_once(lambda i: (hip.hipGetDeviceCount(), hipadapt.provider().path))
assert all(f == found[0] for f in found), found
assert len({id(f[0][0]) for f in found}) == 1, "one member of the enum"
"""
    )


def test_names_when_threads_look_them_up_mean_one_thing(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
from hipadapt import hip, hiprtc
import itertools
names = [n for n in dir(hip) if not n.startswith("__")]
def look(i):
    # Half of them from the front, half from the back: all meet in the middle.
    return {n: getattr(hip, n) for n in (names if i % 2 else reversed(names))}
found = at_once(look)
for name in names:
    values = [f[name] for f in found]
    if isinstance(values[0], type):
        assert len({id(v) for v in values}) == 1, name
        if issubclass(values[0], hip.dim3.__mro__[1]) and values[0].PROPERTIES:
            record = values[0]()
            assert len(record) == len(values[0].PROPERTIES()), name
    else:
        assert len({repr(type(v)) for v in values}) == 1, name
assert sorted(dir(hip)) == sorted(set(dir(hip)))
"""
    )


def test_first_calls_of_functions_when_threads_make_them_name_arguments(
    run_python: Run,
) -> None:
    run_python(
        PRELUDE
        + """
from hipadapt import hip
def call(i):
    for name in ("hipMemcpy", "hipMemset", "hipMemcpyAsync", "hipEventElapsedTime"):
        try:
            getattr(hip, name)(object(), object(), object())
        except TypeError as error:
            assert str(error).startswith(name), error
at_once(call)
"""
    )


def test_ctypes_when_threads_bring_it_is_known_by_all(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
from hipadapt.types import Pointer
def work(i):
    import ctypes
    return int(Pointer(ctypes.c_void_p(4096 + i))), Pointer(16).as_c_void_p().value
assert at_once(work) == [(4096 + i, 16) for i in range(COUNT)]
"""
    )


def test_profiler_when_threads_begin_with_it_is_one(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
from hipadapt import rocprofiler
import hipadapt
found = at_once(lambda i: (rocprofiler.rocprofiler_get_version()[0],
                           hipadapt.annotate(f"range {i}").__enter__()))
assert len({id(f[0]) for f in found}) == 1, found
"""
    )


def test_process_when_it_is_forked_while_threads_work_goes_on(run_python: Run) -> None:
    if sys.version_info >= (3, 12):
        pytest.skip("Python warns of forks with threads, and filterwarnings raise")
    run_python(
        PRELUDE
        + """
import os
from hipadapt import hip
stop = threading.Event()
def work():
    while not stop.is_set():
        memory = hip.hipMalloc(64)[1]
        hip.hipMemcpyAsync(memory, b"x" * 64, 64, hip.hipMemcpyKind(1), None)
        hip.hipFree(memory)
threads = [threading.Thread(target=work) for _ in range(3)]
for t in threads: t.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        os._exit(0 if int(hip.hipGetDevice()[0]) in (0, 3) else 1)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
for t in threads: t.join()
"""
    )


def test_module_when_it_is_loaded_needs_no_gil(run_python: Run) -> None:
    if GIL:
        pytest.skip(
            "this Python has a GIL; `python -m tests.threads` looks for another"
        )
    run_python(
        """
import sys, warnings
warnings.simplefilter("error")
import hipadapt, hipadapt._core
assert not sys._is_gil_enabled()
""",
        PYTHON_GIL="",
    )
