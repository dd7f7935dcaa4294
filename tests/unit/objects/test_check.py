# SPDX-License-Identifier: MIT
"""`hipadapt.check`, with kernels that are wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from types import ModuleType
from typing import Any

import pytest

import hipadapt
from hipadapt import _core, hip
from hipadapt._check.kinds import BITS, CHECKS, KINDS, OPTIONS
from tests.conftest import Run

pytestmark = pytest.mark.usefixtures("cpu")

SOURCE = """
template <typename T> __global__ void beyond(T *x, int n)
{
    if (threadIdx.x <= n)
        x[threadIdx.x] = 1;
}
__global__ void race(int *x)
{
    x[0] = threadIdx.x;
}
"""
BEYOND = "beyond<float>"


@pytest.fixture
def cpu() -> ModuleType:
    if hipadapt.provider().name != "cpu":
        pytest.skip("the provider is not the CPU device")
    return hip


def module() -> hipadapt.Module:
    """Compiled now, so for what is checked now."""
    program = hipadapt.Program(
        SOURCE, name="wrong.hip", name_expressions=[BEYOND, "race"]
    )
    return program.compile()


def overrun(made: hipadapt.Module | None = None, n: int = 8) -> None:
    x = hipadapt.zeros(8, "float32")
    (made or module()).kernel(BEYOND)[1, 32](x, n)


def data_race(made: hipadapt.Module | None = None) -> None:
    (made or module()).kernel("race")[1, 32](hipadapt.zeros(1, "int32"))


def checked() -> set[str]:
    bits = _core.check_summary()[0]
    return {word for word, bit in BITS.items() if bits & bit}


def test_block_lists_what_kernels_do_wrong() -> None:
    with hipadapt.check("memory") as found:
        overrun()

    (one,) = found
    assert one.kind == "out-of-bounds"
    assert one.kernel == "void beyond<float>(float*, int)"
    assert (one.file, one.line) == ("wrong.hip", 5)
    assert one.here.text == "        x[threadIdx.x] = 1;"
    assert one.here.text[one.here.column - 1 :].startswith("= 1")
    assert one.here.access == ("write",)
    assert one.here.thread == (8, 0, 0)
    assert one.memory is not None
    assert one.address == one.memory.base + one.memory.bytes
    assert one.memory.bytes == 32
    assert found.summary.launches >= 1
    assert found.summary.findings == found.summary.counted == 1


def test_right_kernel_has_no_findings(capfd: pytest.CaptureFixture[str]) -> None:
    with hipadapt.check() as found:
        overrun(n=7)

    assert not found
    assert found == []
    assert found.summary.kinds == tuple(CHECKS)
    assert found.summary.observed > 0
    assert capfd.readouterr().err == ""


def test_findings_are_printed_where_that_is_asked_for(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with hipadapt.check("memory"):
        overrun()
    quiet = capfd.readouterr().err
    with hipadapt.check("memory", show=True) as found:
        overrun()

    assert quiet == ""
    assert capfd.readouterr().err == f"{found[0]}\n"


def test_both_sides_of_a_race_are_known() -> None:
    with hipadapt.check("race") as found:
        data_race()

    (one,) = found
    assert one.kind == "race"
    assert one.other is not None
    assert {one.line, one.other.line} == {9}
    assert one.here.thread != one.other.thread
    assert found.summary.counted == one.count > 1


def test_each_block_has_its_own_findings() -> None:
    with hipadapt.check("memory") as first:
        made = module()
        overrun(made)
    with hipadapt.check("memory") as second:
        overrun(made)
        overrun(made)

    assert [one.count for one in first] == [1]
    assert [one.count for one in second] == [2]


def test_nested_blocks_have_findings_of_their_kinds() -> None:
    with hipadapt.check("memory") as outer:
        with hipadapt.check("race") as inner:
            assert checked() == {"memory", "race", "quiet"}
            made = module()
            overrun(made)
            data_race(made)
        assert checked() == {"memory", "quiet"}

    assert [one.kind for one in inner] == ["race"]
    assert [one.kind for one in outer] == ["out-of-bounds"]
    assert checked() == set()


def test_blocks_of_threads_overlap() -> None:
    begun, end = threading.Event(), threading.Event()
    results: list[Any] = []

    def other() -> None:
        with hipadapt.check("race") as found:
            begun.set()
            end.wait(20)
        results.append(found)

    thread = threading.Thread(target=other)
    with hipadapt.check("memory") as mine:
        thread.start()
        assert begun.wait(20)
        made = module()
        overrun(made)
    assert checked() == {"race", "quiet"}
    data_race(made)
    end.set()
    thread.join()

    assert [one.kind for one in mine] == ["out-of-bounds"]
    assert [one.kind for one in results[0]] == ["race"]
    assert checked() == set()


def test_findings_survive_an_exception() -> None:
    results: list[Any] = []

    def fail() -> None:
        with hipadapt.check("memory") as found:
            results.append(found)
            overrun()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert [one.kind for one in results[0]] == ["out-of-bounds"]
    assert checked() == set()


def test_kernels_of_before_are_not_called_right() -> None:
    made = module()

    def use() -> Any:
        with hipadapt.check("memory") as found:
            overrun(made, 7)
        return found

    with pytest.warns(RuntimeWarning, match="launches without checks: [1-9]"):
        found = use()

    assert found.summary.unchecked >= 1
    assert not found


def test_wrong_requests_are_refused() -> None:
    with pytest.raises(
        ValueError, match="'raze' is no kind of check; there are memory"
    ):
        hipadapt.check("memory,raze")
    block = hipadapt.check("memory")
    with pytest.raises(RuntimeError, match="was not entered"):
        block.__exit__(None, None, None)
    with block:
        pass
    with pytest.raises(RuntimeError, match="a block is entered once"):
        block.__enter__()
    with hipadapt.check("race"):
        with pytest.raises(RuntimeError, match="'relaxed-warps' otherwise"):
            hipadapt.check("race,relaxed-warps").__enter__()
        assert checked() == {"race", "quiet"}
    assert checked() == set()


def test_words_of_python_are_those_of_the_device() -> None:
    for word in [*CHECKS, *OPTIONS]:
        with hipadapt.check(word):
            assert checked() == {word, "quiet"}
    assert {kind.word for kind in KINDS.values()} <= {*CHECKS, *OPTIONS}


def test_results_of_calls_are_still_checked() -> None:
    assert hipadapt.check((hip.hipError_t.hipSuccess, 5)) == 5


def run(code: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"source = r'''{SOURCE}'''\n{code}"],
        env={**os.environ, "HIPADAPT_PROVIDER": "cpu", **settings},
        capture_output=True,
        text=True,
        check=False,
    )


WRONG = """
import os, hipadapt
def overrun():
    program = hipadapt.Program(source, name_expressions=["beyond<float>"])
    x = hipadapt.zeros(8, "float32")
    program.compile().kernel("beyond<float>")[1, 32](x, 8)
    x.get()
"""


def test_forked_child_lists_its_own_findings() -> None:
    done = run(
        WRONG
        + """
from hipadapt import hip
with hipadapt.check("memory") as found:
    overrun()
    child = os.fork()
    if child == 0:
        hip.hipInit(0)
        overrun()
if child == 0:
    print("child", [one.count for one in found], flush=True)
    os._exit(0)
os.waitpid(child, 0)
print("parent", [one.count for one in found])
"""
    )

    assert done.stdout.splitlines() == ["child [1]", "parent [1]"], done.stderr


def test_environment_stays_in_force_around_blocks() -> None:
    done = run(
        WRONG
        + """
with hipadapt.check("race") as found:
    overrun()
print(len(found))
overrun()
""",
        HIPADAPT_CHECK="memory",
    )

    assert done.stdout == "0\n"
    assert done.stderr.count("hipadapt check: out-of-bounds") == 1
    assert "hipadapt check: 1 finding, made 2 times; " in done.stderr
    assert "checked for memory\n" in done.stderr


def test_what_one_kind_knows_of_memory_is_not_what_another_one_asks(
    run_python: Run,
) -> None:
    # In a process of its own: the device keeps the error.
    run_python("""
        import hipadapt
        from hipadapt.errors import HipErrorIllegalAddress

        SOURCE = '''
        __constant__ int fixed[4] = {1, 2, 3, 4};
        extern "C" __global__ void look(const int *p, int *to) { *to = *p; }
        extern "C" __global__ void poke(int *p) { *p = 5; }
        '''
        to = hipadapt.zeros(1, dtype="int32")
        with hipadapt.check("memory,race"):
            made = hipadapt.Program(SOURCE).compile()
            fixed = made.get_global("fixed")
            look, poke = made.kernel("look"), made.kernel("poke")
        with hipadapt.check("race"):  # a thread of the device sees the constant
            look[1, 1](fixed, to)
            hipadapt.Device().synchronize()
        with hipadapt.check("memory") as found:
            poke[1, 1](fixed)
            try:
                hipadapt.Device().synchronize()
            except HipErrorIllegalAddress:
                pass
        assert [one.kind for one in found] == ["read-only"], list(found)
    """)
