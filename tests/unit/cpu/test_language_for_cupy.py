# SPDX-License-Identifier: MIT
"""What the headers of CuPy ask of the kernel language under hiprtc."""

from __future__ import annotations

import pytest

import hipadapt


def result_of(body: str, head: str = "", kind: str = "int64") -> int:
    source = f'{head}\nextern "C" __global__ void k(long long *out) {{ {body} }}'
    out = hipadapt.array([0], kind)
    hipadapt.compile_kernel(source, "k")[1, 1](out)
    return int(out.get()[0])


def test_atomic_of_long_long_may_be_defined_by_the_program() -> None:
    head = """
__device__ long long atomicAdd(long long *address, long long value) {
    *address += value + 100;
    return 0;
}"""

    assert result_of("atomicAdd(out, 5LL);", head) == 105


def test_atomics_of_long_long_are_there_without() -> None:
    assert result_of("atomicAdd(out, 5LL); atomicMax(out, 3LL);") == 5
    assert result_of("atomicExch(out, 7LL); atomicCAS(out, 7LL, 9LL);") == 9
    assert result_of("atomicMin(out, -4LL);") == -4


def test_list_in_braces_is_an_initializer_list() -> None:
    head = """
#include <initializer_list>
struct Sum {
    long long value = 0;
    __device__ Sum(std::initializer_list<int> list) {
        for (int x : list) value += x;
        value = value * 10 + list.size();
    }
};"""

    assert result_of("*out = Sum{1, 2, 4}.value;", head) == 73


@pytest.mark.parametrize("name", ["HIP_VERSION", "HIP_VERSION_MAJOR"])
def test_version_is_known(name: str) -> None:
    head = "#include <hip/hip_version.h>"

    assert 7 <= result_of(f"*out = {name};", head) < 10**8
