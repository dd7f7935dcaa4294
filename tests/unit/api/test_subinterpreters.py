# SPDX-License-Identifier: MIT
"""Sub-interpreters are refused, and leave the main interpreter as it was."""

from __future__ import annotations

import pytest

from tests.conftest import Run

PRELUDE = """
import _testcapi
INSIDE = '''
import sys
refused = 0
for name in ("hipadapt._core", "hipadapt.hip", "hipadapt.hiprtc"):
    for turn in range(2):
        try:
            __import__(name, fromlist=["hipMalloc"]).hipMalloc
        except ImportError as error:
            assert "interpreter" in str(error), error
            refused += 1
assert refused == 6, refused
assert "hipadapt._core" not in sys.modules
'''

def inside():
    assert _testcapi.run_in_subinterp(INSIDE) == 0
"""
USE = """
from hipadapt import hip
status, memory = hip.hipMalloc(64)
assert status == 0, status
assert hip.hipMemset(memory, 7, 64)[0] == 0
got = bytearray(64)
assert hip.hipMemcpy(got, memory, 64, hip.hipMemcpyKind.hipMemcpyDeviceToHost)[0] == 0
assert got == b"\\7" * 64
assert hip.hipFree(memory)[0] == 0
"""


# Kinds of interpreters as CPython names them: one has a GIL of its own.
KINDS = """
import _interpreters
INSIDE = '''
import sys
for name in ("hipadapt._core", "hipadapt.hip"):
    try:
        __import__(name, fromlist=["hipMalloc"]).hipMalloc
    except ImportError as error:
        assert "interpreter" in str(error), error
    else:
        raise AssertionError(name)
assert "hipadapt._core" not in sys.modules
'''

def inside():
    for kind in ("isolated", "legacy"):
        made = _interpreters.create(kind)
        failed = _interpreters.run_string(made, INSIDE)
        _interpreters.destroy(made)
        assert failed is None, failed
"""


@pytest.fixture(autouse=True)
def testcapi(request: pytest.FixtureRequest) -> None:
    pytest.importorskip(
        "_interpreters" if "kinds" in request.node.name else "_testcapi",
        reason="this Python cannot make interpreters here",
    )


def test_kinds_of_interpreters_are_all_refused(run_python: Run) -> None:
    run_python(KINDS + "inside()\n" + USE + "inside()\n" + USE)


def test_subinterpreter_when_it_imports_and_ends_leaves_the_main_one_whole(
    run_python: Run,
) -> None:
    run_python(PRELUDE + USE + "inside()\n" + USE + "inside()\n" + USE)


def test_subinterpreter_when_it_is_first_leaves_the_main_one_whole(
    run_python: Run,
) -> None:
    run_python(PRELUDE + "inside()\n" + USE)


def test_subinterpreter_when_it_ends_during_work_leaves_the_work_whole(
    run_python: Run,
) -> None:
    run_python(
        PRELUDE
        + USE
        + """
import threading
stop = threading.Event()
errors = []
def work():
    while not stop.is_set():
        status, memory = hip.hipMalloc(1 << 16)
        errors.extend(s for s in (status, hip.hipMemset(memory, 1, 1 << 16)[0],
                                  hip.hipFree(memory)[0]) if s != 0)
thread = threading.Thread(target=work)
thread.start()
for _ in range(3):
    inside()
stop.set()
thread.join()
assert errors == []
"""
    )
