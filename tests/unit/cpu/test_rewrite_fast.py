# SPDX-License-Identifier: MIT
"""The fast form of a kernel does what its reference form does."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from . import random_kernels
from .kernel_image import Image, Kernel, Load, Shape
from .rtc_library import Rtc


@pytest.fixture
def load(rtc: Rtc, tmp_path: Path) -> Load:
    """load(source): the image of a source."""
    return lambda source: Image(rtc, tmp_path, source)


def both(
    kernel: Kernel, grid: Shape, block: Shape, args: list[Any], cut: int = 0
) -> tuple[list[Any], list[Any]]:
    """The arguments after the fast form and after the reference form.

    The fast form is called twice, for the blocks before ``cut`` and for the others.
    """
    fast, reference = copy.deepcopy(args), copy.deepcopy(args)
    blocks = grid[0] * grid[1] * grid[2]
    if cut > 0:
        kernel.run_fast(grid, block, fast, range(cut))
    kernel.run_fast(grid, block, fast, range(cut, blocks))
    kernel.run_reference(grid, block, reference)
    return fast, reference


def equal(pair: tuple[list[Any], list[Any]]) -> bool:
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(*pair, strict=True))


SHAPES: list[tuple[Shape, Shape]] = [
    ((1, 1, 1), (1, 1, 1)),
    ((4, 1, 1), (64, 1, 1)),
    ((13, 1, 1), (33, 1, 1)),
    ((3, 2, 1), (32, 4, 1)),
    ((2, 3, 2), (5, 3, 2)),
    ((9, 1, 1), (16, 1, 1)),
]

LIMITS = [0, 1, 8, 31, 32, 33, 60, 64, 100, 255, 256, 1000, -1, -100, 2**31 - 1]

# Places where a guard can change its mind, given n.
GUARDS = {
    "below": "i < n",
    "above": "i > n",
    "from n on": "i >= n",
    "first lane": "i == 0",
    "all but one": "i != n",
    "unsigned": "(unsigned)i < (unsigned)n",
    "unsigned that wraps": "(unsigned)i - 5u < (unsigned)n",
    "64 bits": "(size_t)i < (size_t)(long)n",
    "inside of a border": "i > 0 && i < n - 1",
    "product": "i * 3 < n",
    "product that overflows": "(int)((unsigned)i * 100000000u) < n",
    "falling": "n - i > 7",
    "with the block": "i + (int)blockIdx.x < n",
    "with the lane again": "i + (int)threadIdx.x < n",
    "twice the lane": "i * 2 - (int)threadIdx.x < n",
    "block of constant width": "(int)(blockIdx.x * 16 + threadIdx.x) < n",
    "of the block": "threadIdx.x < 7",
    "shift by too much": "n < 0 || i < (1 << (n & 31))",
    "nested": "i < n && (i > 3 ? i < n - 3 : i == 1)",
}


@pytest.mark.parametrize("guard", GUARDS)
def test_guard_is_answered_for_every_lane(load: Load, guard: str) -> None:
    kernel = load(
        f"""
        extern "C" __global__ void k(int *out, int n) {{
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            int j = (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.z * blockDim.y
                    + threadIdx.z * blockDim.y + threadIdx.y;
            int at = j * gridDim.x * blockDim.x + i;
            out[at] += 1;
            if ({GUARDS[guard]}) out[at] += 10 + i;
        }}
        """
    ).kernels["k"]

    for grid, block in SHAPES:
        lanes = int(np.prod(grid) * np.prod(block))
        for n in LIMITS:
            out = np.zeros(lanes, np.int32)
            cut = grid[0] // 2
            assert equal(both(kernel, grid, block, [out, np.int32(n)], cut)), (grid, n)


ALIASED = {
    "load after a store": (
        "a[2 * i] = 1; float s = b[2 * i] + b[2 * i + 1]; a[2 * i + 1] = s;"
    ),
    "store after a store": (
        "a[2 * i] = 1; b[2 * i] = 2; b[2 * i + 1] = 3; a[2 * i + 1] = 4;"
    ),
    "load between stores": (
        "float t = b[2 * i]; a[2 * i] = t + 1; a[2 * i + 1] = 7;"
        "float u = b[2 * i + 1]; a[2 * i] = u * 2;"
    ),
    "branches": (
        "if (i & 1) a[2 * i] = 5; else a[2 * i + 1] = 6;"
        "a[2 * i] += b[2 * i + 1] * 2 + b[2 * i];"
    ),
    "dense": "a[i] = b[i] + 1; float s = b[i]; a[i] = s * 2;",
}


@pytest.mark.parametrize("what", ALIASED)
def test_two_names_of_one_array_keep_their_order(load: Load, what: str) -> None:
    kernel = load(
        f"""
        extern "C" __global__ void k(float *a, float *b, int n) {{
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) {{ {ALIASED[what]} }}
        }}
        """
    ).kernels["k"]
    results = []

    for run in (kernel.run_fast, kernel.run_reference):
        array = np.arange(1024, dtype=np.float32) * 10
        run((2, 1, 1), (256, 1, 1), [array, array, np.int32(500)])
        results.append(array)

    assert np.array_equal(*results)


COLUMN_GUARDS = {
    "none": "true",
    "of x": "x < n",
    "of both": "x < n && y < m",
    "of the sum": "x + y < n",
    "of either": "x < n || y > m",
    "of y alone": "y < m",
    "from x on": "n <= x && (x & 3) != m",
    "another in each row": "x < n + y",
    "every other row": "x < n * (y & 1)",
}


@pytest.mark.parametrize("guard", COLUMN_GUARDS)
def test_lanes_run_column_by_column(load: Load, guard: str) -> None:
    """Neighbours in y write neighbouring elements."""
    kernel = load(
        f"""
        extern "C" __global__ void k(const int *in, int *out, int w, int h, int n, int m)
        {{
            int x = blockIdx.x * blockDim.x + threadIdx.x;
            int y = blockIdx.y * blockDim.y + threadIdx.y;
            int z = blockIdx.z * blockDim.z + threadIdx.z;
            if ({COLUMN_GUARDS[guard]})
                out[(z * w + x) * h + y] = in[(z * h + y) * w + x] * 2 + x;
        }}
        """
    ).kernels["k"]
    for grid, block in (
        ((4, 3, 1), (32, 8, 1)),
        ((5, 2, 2), (7, 4, 3)),
        ((3, 5, 1), (9, 3, 1)),
        ((1, 2, 1), (1, 64, 1)),
    ):
        w, h, d = (g * b for g, b in zip(grid, block, strict=True))
        numbers = np.arange(w * h * d, dtype=np.int32) * 7919
        for n, m in ((0, 0), (w, h), (w - 1, h - 2), (3, 1), (w // 2, h + 5), (-1, 3)):
            sizes = [np.int32(k) for k in (w, h, n, m)]
            args = [numbers, np.zeros_like(numbers), *sizes]
            for cut in (0, 2):
                assert equal(both(kernel, grid, block, args, cut)), (grid, n, m)


def test_lanes_on_both_sides_of_a_wrap(load: Load) -> None:
    kernel = load(
        """
        extern "C" __global__ void k(int *out, unsigned first) {
            unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
            if ((int)i < 0) out[i - first] = 1 + blockIdx.y * 10;
            else out[i - first] = 2;
        }
        """
    ).kernels["k"]
    grid, block = (2**22, 2, 1), (1024, 1, 1)
    edge = 2**31 // 1024

    for row in (0, 1):
        blocks = range(row * grid[0] + edge - 1, row * grid[0] + edge + 1)
        out = np.zeros(2048, np.int32)
        kernel.run_fast(grid, block, [out, np.uint32((edge - 1) * 1024)], blocks)
        assert out.tolist() == [2] * 1024 + [1 + row * 10] * 1024


def test_lanes_that_return_before_a_barrier_have_a_fast_form(load: Load) -> None:
    kernel = load(
        """
        extern "C" __global__ void k(const int *in, int *out, int n) {
            __shared__ int tile[64];
            int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
            if (i >= n) return;
            tile[t] = in[i];
            __syncthreads();
            out[i] = tile[t] + (t < 20 ? tile[t + 1] : 0);
        }
        """
    ).kernels["k"]
    assert kernel.has_fast

    numbers = np.arange(300, dtype=np.int32) * 3
    out, shared = np.zeros(300, np.int32), np.zeros(64, np.int32)
    kernel.run_fast((5, 1, 1), (60, 1, 1), [numbers, out, np.int32(262)], None, shared)
    i = np.arange(300)
    want = numbers + np.where(i % 60 < 20, np.roll(numbers, -1), 0)
    assert np.array_equal(out, np.where(i < 262, want, 0))


def test_index_in_unsigned_and_64_bits(load: Load) -> None:
    kernel = load(
        """
        extern "C" __global__ void k(int *out, unsigned n, size_t m, long offset) {
            size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
            unsigned j = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < m && j + offset < n) out[j] = (int)(i * 3 + offset);
        }
        """
    ).kernels["k"]
    for n, m, offset in ((100, 500, 3), (500, 100, -50), (2**32 - 1, 2**40, 0)):
        out = np.zeros(512, np.int32)
        args = [out, np.uint32(n), np.uint64(m), np.int64(offset)]
        assert equal(both(kernel, (8, 1, 1), (64, 1, 1), args, 3))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_kernels_made_at_random_agree(load: Load, seed: int) -> None:
    image = load(random_kernels.source(seed, 8))
    shapes: list[tuple[Shape, Shape]] = [
        ((7, 1, 1), (48, 1, 1)),
        ((3, 3, 1), (20, 2, 1)),
        ((40, 1, 1), (8, 1, 1)),
    ]
    table = np.arange(random_kernels.TABLE, dtype=np.int32) * 7919 % 4099 - 2000
    arrays = [
        (np.arange(random_kernels.ARRAY, dtype=np.int64) * 2654435761 * k >> 20).astype(
            np.int32
        )
        for k in (1, 2, 3)
    ]
    floats = np.arange(random_kernels.ARRAY, dtype=np.float32) * np.float32(0.25)

    for name, kernel in image.kernels.items():
        assert kernel.has_fast, name
        for grid, block in shapes:
            for n, m in ((200, 3), (0, 40), (100000, 2), (-3, 1), (37, 7)):
                # The second array may be the first one, the third one the second.
                for second, third in ((1, 2), (0, 2), (1, 1)):
                    results = []
                    for form in ("fast", "reference"):
                        memory = [array.copy() for array in [*arrays, floats]]
                        counters = np.zeros(16, np.uint32)
                        args = [
                            memory[0],
                            memory[second],
                            memory[third],
                            memory[3],
                            counters,
                            table,
                            np.int32(n),
                            np.int32(m),
                        ]
                        getattr(kernel, f"run_{form}")(grid, block, args)
                        results.append([*memory, counters])
                    case = (name, grid, block, n, m, second, third)
                    assert equal((results[0], results[1])), case
