# SPDX-License-Identifier: MIT
"""A fault in a kernel names the block and the thread, whichever form ran it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from ...conftest import Run

BAD = 4096  # an address where nothing is
BLOCK, THREAD = (3, 1, 0), (21, 1, 0)
HERE = """blockIdx.x == 3 && blockIdx.y == 1 && threadIdx.x == 21 && threadIdx.y == 1"""


@dataclass
class Case:
    """A kernel whose thread (21,1,0) in block (3,1,0) touches `bad`."""

    body: str
    exact: bool  # the thread is known, and not only its gang


# The barrier makes gangs of the lanes.
CASES = {
    "one address, a store": Case(f"__syncthreads(); if ({HERE}) *bad = 1;", True),
    "one address, a load": Case(
        f"__syncthreads(); if ({HERE}) good[0] = *bad + good[1];", True
    ),
    "atomic lane by lane": Case(
        f"__syncthreads(); int *p = {HERE} ? bad : good + threadIdx.x;"
        "good[64] = atomicAdd(p, 1);",
        True,
    ),
    "scattered": Case(
        f"__syncthreads(); int *p = {HERE} ? bad : good + threadIdx.x; *p = 3;", False
    ),
    "side by side": Case(
        "int x = threadIdx.x; __syncthreads();"
        "int *p = blockIdx.x == 3 && blockIdx.y == 1 && threadIdx.y == 1 ? bad : good;"
        "if (x > 20 && x < 24) p[x] = x;",
        False,
    ),
    "after another lane's access": Case(
        "__syncthreads(); if (threadIdx.x == 2) good[5] = 1; int x = threadIdx.x;"
        f"if (x >= 21) {{ int *p = {HERE} ? bad : good; p[x & 1] = x; }}",
        False,
    ),
    "in a loop": Case(
        "__syncthreads(); for (int k = 0; k < (int)threadIdx.x; k++)"
        f" if ({HERE} && k == 20) *bad = k; else good[threadIdx.x] += k;",
        False,
    ),
}

SCRIPT = """
import sys
import numpy as np
import hipadapt
from hipadapt import hip
good = hipadapt.array(np.zeros(128, "i4"))
kernel = hipadapt.compile_kernel(sys.argv[1], "k")
kernel[(5, 3), (50, 2)](good, np.uint64(int(sys.argv[2])))
assert hip.hipDeviceSynchronize()[0].name == "hipErrorIllegalAddress"
print(hipadapt.error_text())
"""


def fault(run_python: Run, body: str, **environment: str) -> str:
    """The message of a kernel that ends with a fault."""
    source = f'extern "C" __global__ void k(int *good, int *bad) {{ {body} }}'
    return run_python(SCRIPT, source, str(BAD), **environment).stdout


def threads(text: str) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """The block of a message, and the first and the last thread."""
    match = re.search(r"in block (\(.*?\)) threads? (\(.*?\))(?: to (\(.*?\)))?", text)
    assert match, text
    places = [
        tuple(int(n) for n in re.findall(r"\d+", place))
        for place in match.groups()
        if place
    ]
    return places[0], places[1:]


@pytest.mark.parametrize("case", CASES)
def test_fault_in_a_gang_names_its_threads(run_python: Run, case: str) -> None:
    block, found = threads(fault(run_python, CASES[case].body))

    assert block == BLOCK
    if CASES[case].exact:
        assert found == [THREAD]
    else:
        first, last = found
        assert first[1:] == last[1:] == THREAD[1:]
        assert first[0] <= THREAD[0] <= last[0]
        assert last[0] - first[0] < 32


@pytest.mark.parametrize("case", CASES)
def test_reference_form_names_the_thread(run_python: Run, case: str) -> None:
    text = fault(run_python, CASES[case].body, HIPADAPT_CPU_EXEC="reference")

    assert threads(text) == (BLOCK, [THREAD])


def test_fault_in_a_row_names_its_block(run_python: Run) -> None:
    text = fault(
        run_python,
        "int *p = blockIdx.x == 3 && blockIdx.y == 1 ? bad : good; p[threadIdx.x] = 1;",
    )

    assert "in block (3,1,0);" in text + ";", text


def test_block_that_is_cut_names_its_lanes(run_python: Run) -> None:
    """The last gang of a row has fewer lanes than the others."""
    text = fault(
        run_python,
        "__syncthreads(); int x = threadIdx.x;"
        "int *p = blockIdx.x == 4 && blockIdx.y == 2 && x > 47 ? bad : good;"
        "p[(x * 7) % 64] = 1;",
    )

    block, found = threads(text)
    assert block == (4, 2, 0)
    assert found[-1] == (49, 0, 0)


def test_fault_names_the_check_unless_it_is_on(run_python: Run) -> None:
    command = "`python -m hipadapt check -- PROGRAM`"
    body = "good[0] = *bad;"

    assert command in fault(run_python, body)
    assert command not in fault(run_python, body, HIPADAPT_CHECK="nan")
