# SPDX-License-Identifier: MIT
"""HIPADAPT_CHECK=memory: what calls of the host find, and which Python code made them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.checks import recorded
from tests.conftest import ROOT

PRELUDE = """\
import ctypes, os, sys, threading
import numpy as np, hipadapt
from hipadapt import hip
host = np.zeros(1 << 16, np.uint8)
def new(size):
    return int(hip.hipMalloc(size)[1])
"""

Finding = dict[str, Any]


class Checked:
    """Runs programs under check, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "program.py"
        self.source: list[str] = []

    def __call__(self, code: str, kinds: str = "memory", **more: str) -> list[Finding]:
        """The findings of one run, in order."""
        output = self.folder / "findings"
        text = PRELUDE + textwrap.dedent(code)
        self.source = text.splitlines()
        self.program.write_text(text, encoding="utf-8")
        output.unlink(missing_ok=True)
        settings = {
            **os.environ,
            **recorded.settings(output, kinds),
            "PYTHONPATH": str(ROOT),
            **more,
        }
        done = subprocess.run(
            [sys.executable, "program.py"],
            env=settings,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return recorded.findings(output)

    def line(self, text: str) -> int:
        """The number of the line with this comment."""
        numbers = [
            n for n, line in enumerate(self.source, 1) if line.endswith(f"# {text}")
        ]
        assert len(numbers) == 1, (text, numbers)
        return numbers[0]


@pytest.fixture
def checked(tmp_path: Path) -> Checked:
    return Checked(tmp_path)


def frames(text: str) -> list[str]:
    """The Python frames of a stack, without the folder."""
    return [Path(line).name for line in text.splitlines() if ".py:" in line]


def behind(one: Finding) -> int:
    """How far the address is behind the beginning of its memory."""
    return int(one["address"], 16) - int(one["memory"]["base"], 16)


def stack(checked: Checked, *places: tuple[str, str]) -> list[str]:
    """The frames of these comments and functions."""
    return [f"program.py:{checked.line(mark)} in {name}" for mark, name in places]


def test_finding_names_the_code_that_allocated_freed_and_used(checked: Checked) -> None:
    found = checked("""
        def make():
            return new(400)  # make
        def drop(p):
            hip.hipFree(p)  # drop
        def use(p):
            hip.hipMemcpy(p, host, 8, hip.hipMemcpyKind.hipMemcpyHostToDevice)  # use
        p = make()  # first
        drop(p)  # second
        use(p)  # third
    """)

    (one,) = found
    assert one["kind"] == "use-after-free"
    assert one["here"]["call"] == "hipMemcpy"
    assert frames(one["here"]["stack"]) == stack(
        checked, ("use", "use"), ("third", "<module>")
    )
    memory = one["memory"]
    assert (memory["allocated"], memory["freed"]) == ("hipMalloc", "hipFree")
    assert frames(memory["allocated_by"])[1:] == stack(
        checked, ("make", "make"), ("first", "<module>")
    )
    assert frames(memory["freed_by"]) == stack(
        checked, ("drop", "drop"), ("second", "<module>")
    )


def test_calls_of_other_modules_have_python_frames(checked: Checked) -> None:
    """PyDLL calls with the GIL, CDLL without it and without a wrapper of ours."""
    found = checked("""
        path = os.path.join(os.path.dirname(hipadapt.__file__), "_lib")
        path = os.path.join(path, "libhipadapt_cpu.so")
        hip.hipGetDeviceCount()
        def with_gil():
            ctypes.PyDLL(path).hipFree(ctypes.c_void_p(64))  # with
        def without():
            ctypes.CDLL(path).hipFree(ctypes.c_void_p(64))  # without
        with_gil()  # first
        without()  # second
    """)

    assert [one["kind"] for one in found] == ["invalid-free"] * 2
    assert frames(found[0]["here"]["stack"]) == stack(
        checked, ("with", "with_gil"), ("first", "<module>")
    )
    if sys.version_info[:2] in {(3, 11), (3, 12)}:  # others do not tell
        assert frames(found[1]["here"]["stack"]) == stack(
            checked, ("without", "without"), ("second", "<module>")
        )


def test_each_thread_has_its_own_frames(checked: Checked) -> None:
    found = checked("""
        start = threading.Barrier(8)
        def work(number):
            exec(f"def f{number}():\\n hip.hipFree(64)", globals())
            start.wait()
            for _ in range(200):
                globals()[f"f{number}"]()
        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    """)

    first = sorted(one["here"]["stack"].splitlines()[0] for one in found)
    assert first == [f"<string>:2 in f{n}" for n in range(8)]
    assert all(one["kind"] == "invalid-free" for one in found)


def test_equal_mistakes_at_two_lines_are_two_findings(checked: Checked) -> None:
    found = checked("""
        p = new(100)
        for _ in range(5):
            hip.hipMemset(p, 0, 101)  # one
        hip.hipMemset(p, 0, 101)  # two
        hip.hipFree(p)
    """)

    lines = [frames(one["here"]["stack"]) for one in found]
    assert lines == [
        stack(checked, ("one", "<module>")),
        stack(checked, ("two", "<module>")),
    ]
    assert [behind(one) for one in found] == [100, 100]


def test_pending_exception_and_error_state_survive(checked: Checked) -> None:
    found = checked("""
        class Owner:
            def __init__(self):
                self.p = new(64)
            def __del__(self):
                hip.hipFree(self.p)
                hip.hipFree(self.p)
        def fail():
            owner = Owner()
            raise KeyError("mine")
        try:
            fail()
        except KeyError as error:
            assert error.args == ("mine",)
            error.__traceback__ = None
        assert hip.hipGetLastError()[0].name == "hipErrorInvalidValue"
    """)

    assert [one["kind"] for one in found] == ["double-free"]


LEAVES = """
    kept = new(1000)  # kept
    ordered = int(hip.hipMallocAsync(2000, None)[1])  # ordered
    pinned = int(hip.hipHostMalloc(3000, 0)[1])  # pinned
    gone = new(4000)
    hip.hipFree(gone)
    late = int(hip.hipMallocAsync(5000, None)[1])
    hip.hipFreeAsync(late, None)
    kernel = hipadapt.compile_kernel(
        "__device__ int table[100];"
        'extern "C" __global__ void f(int *x) { x[0] = table[1]; }', "f")
"""


@pytest.mark.parametrize("kinds", ["memory,leaks", "leaks"])
def test_leaks_are_found_at_the_end(checked: Checked, kinds: str) -> None:
    found = checked(LEAVES, kinds=kinds)

    assert {one["kind"] for one in found} == {"leak"}
    sizes = sorted(one["memory"]["bytes"] for one in found)
    assert sizes == [1000, 2000, 3000]
    calls = {one["memory"]["bytes"]: one["memory"]["allocated"] for one in found}
    assert calls == {1000: "hipMalloc", 2000: "hipMallocAsync", 3000: "hipHostMalloc"}
    by = {
        one["memory"]["bytes"]: frames(one["memory"]["allocated_by"]) for one in found
    }
    assert by[2000] == stack(checked, ("ordered", "<module>"))


def test_leaks_alone_are_no_check_of_accesses(checked: Checked) -> None:
    code = """
        p = new(100)
        hip.hipMemset(p, 0, 101)
        hip.hipFree(p)
        hip.hipFree(p)
    """
    assert checked(code, kinds="leaks") == []


def test_leaks_are_not_asked_for(checked: Checked) -> None:
    assert checked(LEAVES) == []


def test_program_that_frees_all_leaks_nothing(checked: Checked) -> None:
    code = """
        a = hipadapt.empty(100, np.float32)
        b = hipadapt.empty(100, np.float32, stream=hipadapt.Stream())
        hip.hipFree(new(100))
        with hipadapt.Stream() as stream:
            hip.hipFreeAsync(int(hip.hipMallocAsync(100, stream)[1]), stream)
    """
    assert checked(code, kinds="memory,leaks") == []


def test_variable_of_a_module_is_named(checked: Checked) -> None:
    found = checked("""
        kernel = hipadapt.compile_kernel(
            "__device__ int table[100]; __constant__ int fixed[10];"
            'extern "C" __global__ void f(int *x) { x[0] = table[1] + fixed[2]; }', "f")
        place, size = hip.hipModuleGetGlobal(kernel.module.handle, "table")[1:]
        assert size == 400
        hip.hipMemset(int(place), 0, 404)
        place, size = hip.hipModuleGetGlobal(kernel.module.handle, "fixed")[1:]
        hip.hipMemset(int(place), 0, 41)
    """)

    assert [one["kind"] for one in found] == ["out-of-bounds"] * 2
    table, fixed = (one["memory"] for one in found)
    assert (table["name"], table["bytes"], table["space"]) == ("table", 400, "device")
    assert (fixed["name"], fixed["bytes"], fixed["space"]) == ("fixed", 40, "constant")


def test_host_writes_that_nobody_saw_are_found_at_the_end(checked: Checked) -> None:
    found = checked("""
        pinned = int(hip.hipHostMalloc(100, 0)[1])
        hip.hipHostFree(pinned)
        ctypes.memset(pinned + 10, 7, 4)
        managed = int(hip.hipMallocManaged(100, 1)[1])
        ctypes.memset(managed + 90, 7, 20)
    """)

    kinds = {one["kind"]: one for one in found}
    assert sorted(kinds) == ["out-of-bounds", "use-after-free"]
    assert behind(kinds["use-after-free"]) == 10
    assert behind(kinds["out-of-bounds"]) == 100


def test_right_program_is_clean(checked: Checked) -> None:
    found = checked(
        """
        stream = int(hip.hipStreamCreate()[1])
        for size in (1, 3, 255, 4096, 100_000, 3_000_001):
            p = new(size)
            q = int(hip.hipMallocAsync(size, stream)[1])
            hip.hipMemsetAsync(q, 3, size, stream)
            hip.hipMemcpyAsync(p, q, size, hip.hipMemcpyKind.hipMemcpyDefault, stream)
            hip.hipFreeAsync(q, stream)
            hip.hipMemset(p, 0, size)
            hip.hipFree(p)
        hip.hipStreamSynchronize(stream)
        """,
        kinds="memory,leaks",
    )
    assert found == []


def test_arguments_that_nobody_reads_are_no_obstacle(checked: Checked) -> None:
    """Functions for messages that other headers leave empty; nothing is inlined yet."""
    assert not checked(
        """
        k = hipadapt.compile_kernel('''
        inline __device__ void say(const char *, int, ...) {}
        extern "C" __global__ void k(int *x) {
            say("k", 1, 2.0, "three"); x[threadIdx.x] = 1; }''', "k")
        x = hipadapt.zeros(8, "int32")
        k[1, 8](x)
        assert x.get().all()
        """,
        kinds="all",
    )


def test_nothing_is_checked_without_being_asked(checked: Checked) -> None:
    found = checked(
        """
        p, q = new(100), new(100)
        assert abs(p - q) == 256
        hip.hipMemset(p, 0, 101)
        hip.hipFree(p)
        hip.hipFree(p)
        assert new(100) == p
        """,
        kinds="",
    )
    assert found == []


def test_quarantine_of_nothing_gives_memory_back_at_once(checked: Checked) -> None:
    found = checked(
        """
        p = new(100)
        hip.hipFree(p)
        assert new(100) == p
        """,
        HIPADAPT_CHECK_QUARANTINE="0",
    )
    assert found == []
