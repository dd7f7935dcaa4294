# SPDX-License-Identifier: MIT
"""Kernel images: their tables, and what the rewriter refuses."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from . import kernel_image
from .kernel_image import Image, Load
from .rtc_library import COMPILATION, Rtc


@pytest.fixture
def load(rtc: Rtc, tmp_path: Path) -> Load:
    """load(source): the image of a source."""
    return lambda source: Image(rtc, tmp_path, source)


def test_arguments_are_described_by_c_layout(load: Load) -> None:
    image = load(
        """
        struct Odd { char a[3]; };
        struct Mixed { double a; int b; };
        extern "C" __global__ void k(char c, const float *p, Odd odd, bool b, Mixed m,
                                     short s, float4 v, float3 w, double d) {}
        """
    )

    pointer, record = kernel_image.POINTER, kernel_image.RECORD
    integer, real = kernel_image.INTEGER, kernel_image.FLOAT
    assert image.kernels["k"].args == [
        (1, 1, 0, integer),
        (8, 8, 8, pointer),
        (3, 1, 16, record),
        (1, 1, 19, integer),
        (16, 8, 24, record),
        (2, 2, 40, integer),
        (16, 16, 48, record),
        (12, 4, 64, record),
        (8, 8, 80, real),
    ]


def test_kernel_table_has_flags_sizes_and_bounds(load: Load) -> None:
    image = load(
        """
        __device__ __attribute__((noinline)) unsigned place() { return threadIdx.x; }
        extern "C" __global__ void plain(int *p) { p[threadIdx.x] = 1; }
        extern "C" __global__ __launch_bounds__(96) void block(int *p) {
            __shared__ int tile[33];
            tile[threadIdx.x] = p[threadIdx.x];
            __syncthreads();
            p[threadIdx.x] = tile[0];
        }
        extern "C" __global__ void warp(int *p) { *p = __shfl(*p, 1); }
        extern "C" __global__ void lane(int *p) { p[place()] = 1; }
        extern "C" __global__ void dynamic(int *p) {
            extern __shared__ int memory[];
            memory[threadIdx.x] = p[0];
            __syncthreads();
            p[threadIdx.x] = memory[1];
        }
        """
    )
    rows = {
        name: (kernel.record.flags, kernel.record.shared_static, kernel.has_fast)
        for name, kernel in image.kernels.items()
    }

    assert rows == {
        "plain": (0, 0, True),
        "block": (kernel_image.BLOCK, 192, True),
        "warp": (kernel_image.WARP | kernel_image.WARPS, 0, True),
        "lane": (kernel_image.LANE, 0, False),
        "dynamic": (kernel_image.BLOCK | kernel_image.SHARED_DYNAMIC, 0, True),
    }
    assert image.kernels["block"].record.max_threads == 96
    assert image.kernels["plain"].record.max_threads == 1024


def test_inlined_function_leaves_no_trace_in_other_kernels(load: Load) -> None:
    image = load(
        """
        __device__ float sum(float v) {
            __shared__ float parts[1000];
            parts[threadIdx.x] = v;
            __syncthreads();
            for (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o);
            return v + parts[1];
        }
        extern "C" __global__ void reduce(float *p) { p[0] = sum(p[threadIdx.x]); }
        extern "C" __global__ void copy(float *p) {
            p[threadIdx.x] = p[threadIdx.x + 32];
        }
        """
    )

    assert image.kernels["copy"].record.shared_static == 0
    assert image.kernels["copy"].record.flags == 0
    assert image.kernels["copy"].has_fast
    assert image.kernels["reduce"].record.shared_static == 4032


def test_variables_are_listed_with_sizes_and_can_be_written(load: Load) -> None:
    image = load(
        """
        __device__ int counter = 3;
        __constant__ float weights[5] = {1, 2, 3, 4, 5};
        __device__ double *pointer;
        extern "C" __global__ void read(float *out) {
            out[threadIdx.x] = weights[threadIdx.x] + counter;
        }
        """
    )
    variables = image.variables
    sizes = {name: (row.size, row.constant) for name, row in variables.items()}
    out = np.zeros(5, np.float32)

    (ctypes.c_int * 1).from_address(variables["counter"].address)[0] = 10
    (ctypes.c_float * 5).from_address(variables["weights"].address)[4] = 100.0
    image.kernels["read"].run_fast((1, 1, 1), (5, 1, 1), [out])

    assert sizes == {"counter": (4, 0), "weights": (20, 1), "pointer": (8, 0)}
    assert out.tolist() == [11, 12, 13, 14, 110]


def test_record_that_a_kernel_changes_is_its_own_in_each_lane(load: Load) -> None:
    image = load(
        """
        struct Table { int a[4]; int n; };
        extern "C" __global__ void change(int *out, Table t) {
            int i = threadIdx.x;
            t.a[i & 3] += i;
            t.n++;
            out[i] = t.a[(i + 1) & 3] * 100 + t.a[i & 3] * 10 + t.n;
        }
        """
    )
    kernel = image.kernels["change"]
    table = np.array([(np.array([1, 2, 3, 4]), 5)], dtype=[("a", "i4", 4), ("n", "i4")])
    want = [
        (table["a"][0][(i + 1) & 3]) * 100 + (table["a"][0][i & 3] + i) * 10 + 6
        for i in range(8)
    ]
    results = []

    for run in (kernel.run_fast, kernel.run_reference):
        out = np.zeros(8, np.int32)
        run((1, 1, 1), (8, 1, 1), [out, table[0]])
        results.append(out.tolist())

    assert results == [want, want]


REFUSED = {
    "inline assembly": (
        'extern "C" __global__ void k() { asm volatile("nop"); }',
        "@k contains inline assembly",
    ),
    "inline assembly of one's own registers": (
        'extern "C" __global__ void k(float *p) { asm("" : "+f"(*p)); }',
        "@k contains inline assembly",
    ),
    "weak variable that is not there": (
        "extern __device__ __attribute__((weak)) int far;"
        'extern "C" __global__ void k(int *p) { *p = far; }',
        "variable @far is declared but not defined",
    ),
    "undefined function": (
        '__device__ int far(int);extern "C" __global__ void k(int *p) { *p = far(3); }',
        "function @_Z3fari is declared but not defined",
    ),
    "undefined variable": (
        'extern __device__ int far; extern "C" __global__ void k(int *p) { *p = far; }',
        "variable @far is declared but not defined",
    ),
    "function of the host": (
        'extern "C" __device__ int system(const char *);'
        'extern "C" __global__ void k() { system("true"); }',
        "function @system is declared but not defined",
    ),
    "warp call that stays in a function": (
        "__device__ __attribute__((noinline)) int f(int v) { return __shfl(v, 0); }"
        'extern "C" __global__ void k(int *p) { *p = f(*p); }',
        "function @_Z1fi has a warp call and cannot be inlined",
    ),
    "division of 128 bits": (
        'extern "C" __global__ void k(__int128 *p) { *p = p[1] / p[2]; }',
        "@k divides or converts integers of more than 64 bits",
    ),
    "division of 100 bits": (
        'extern "C" __global__ void k(_BitInt(100) *p) { *p = p[1] / p[2]; }',
        "@k divides or converts integers of more than 64 bits",
    ),
    "conversion of 65 bits": (
        'extern "C" __global__ void k(_BitInt(65) *p, float x) { *p = x; }',
        "@k divides or converts integers of more than 64 bits",
    ),
    "warp call in nine loops": (
        'extern "C" __global__ void k(int *p, const int *n) {'
        + "".join(f"for (int i{d} = 0; i{d} < n[{d}]; i{d}++) {{" for d in range(9))
        + "*p += __shfl(*p, 1);"
        + "}" * 10,
        "warp call inside of more than 8 loops",
    ),
    "variable arguments that are read": (
        "__device__ int f(int n, ...) { __builtin_va_list a; __builtin_va_start(a, n);"
        " return *(int *)&a; }"
        'extern "C" __global__ void k(int *p) { *p = f(1, *p); }',
        "function @_Z1fiz takes variable arguments",
    ),
    "variable arguments by an address": (
        "__device__ void g(int n, ...) {}"
        "__device__ void (*volatile place)(int, ...) = g;"
        'extern "C" __global__ void k(int *p) { place(1, *p); }',
        "a call by an address passes variable arguments",
    ),
    "intrinsic of another target": (
        'extern "C" __global__ void k(unsigned *p) { *p = __nvvm_prmt(p[1], p[2], 3); }',
        "@llvm.nvvm.prmt",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_with_a_message_that_names_it(rtc: Rtc, what: str) -> None:
    source, text = REFUSED[what]

    compiled = rtc.compile(source)

    assert compiled.result == COMPILATION
    assert text in compiled.log


def test_values_that_are_used_many_times_take_no_time(load: Load) -> None:
    step = "x ^= x << 13; x ^= x >> 17; x = x * x + x; x += x << 3;"

    image = load(
        f"""
        extern "C" __global__ void k(unsigned *p, unsigned n) {{
            unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
            {step * 40}
            if (x < n) p[x & 1023] = x;
        }}
        """
    )

    assert image.kernels["k"].has_fast
