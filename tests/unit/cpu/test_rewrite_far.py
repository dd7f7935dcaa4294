# SPDX-License-Identifier: MIT
"""Rows of lanes whose index is about to wrap, or has wrapped, in the fast form."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hipadapt

from .kernel_image import Image, Load, Shape
from .rtc_library import Rtc

# Lanes of a grid at which something about 32 bits changes.
EDGES = [2**30, 2**31, 2**31 + 2**30, 2**32 - 8192]

# u is the index of the lane, i the same as an int; nothing here is undefined.
LEFT = [
    "u",
    "i",
    "(int)(u + 1)",
    "(int)(u - 100)",
    "(int)(2 * u)",
    "u * 3",
    "(int)(u << 2)",
    "(size_t)u",
    "(size_t)u + 7",
    "(size_t)(u + 5) * 3",
    "(long)i",
    "(long)i * 3 - 1",
    "(size_t)(long)i",
    "(long)(int)(u * 2) + 1",
    "w",
    "w * 4 + 1",
    "(int)w",
    "(int)((unsigned)n - u)",
    "(short)u",
    "(i >> 3)",
    "u / 5",
]
RIGHT = [
    "n",
    "n / 3",
    "(unsigned)n",
    "(unsigned)n / 7",
    "(size_t)(unsigned)n",
    "(long)n",
    "(long)n * 2",
    "m",
    "0",
    "-5",
    "0x7ffffff0u",
    "0x80000005u",
    "(1 << (m & 31))",
]
INDICES = {
    "32 bits": "blockIdx.x * blockDim.x + threadIdx.x",
    "constant blocks": "blockIdx.x * 96 + threadIdx.x",
    "blocks by shifts": "(blockIdx.x << 7) + threadIdx.x",
}


@pytest.fixture
def load(rtc: Rtc, tmp_path: Path) -> Load:
    """load(source): the image of a source."""
    return lambda source: Image(rtc, tmp_path, source)


def condition(choice: random.Random) -> str:
    compare = choice.choice(["<", "<=", ">", ">=", "==", "!="])
    return f"({choice.choice(LEFT)}) {compare} ({choice.choice(RIGHT)})"


def source(choice: random.Random, index: str, count: int) -> str:
    """Kernels that do one thing or another for each lane; a slot is one lane's own."""
    kernels = []
    for number in range(count):
        a, b, c = (condition(choice) for _ in range(3))
        kernels.append(
            f"""
            extern "C" __global__ void k{number}(int *out, unsigned first, int n, int m)
            {{
                unsigned u = {index};
                int i = (int)u;
                size_t w = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
                unsigned slot = u - first;
                if ({a}) out[slot] = (int)(u * 2);
                else if ({b}) out[slot] += 3;
                if ({a} && {c}) out[slot] ^= (int)(w >> 3);
            }}
            // The loop makes gangs of the lanes.
            extern "C" __global__ void g{number}(int *out, unsigned first, int n, int m)
            {{
                unsigned u = {index};
                int i = (int)u;
                size_t w = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
                if ({a}) return;
                unsigned sum = m;
                for (unsigned k = 0; k < (u & 7); k++) sum = sum * 3 + (u ^ k);
                out[u - first] = ({b}) ? (int)sum : (int)(w >> 5);
            }}"""
        )
    return "".join(kernels)


def shapes(index: str) -> list[tuple[int, int, int]]:
    """Lanes of a block, lanes from one block to the next, blocks of the grid."""
    if index == "constant blocks":
        return [(96, 96, (2**32 - 1) // 96), (40, 96, (2**32 - 1) // 96)]
    if index == "blocks by shifts":
        return [(128, 128, (2**32 - 1) // 128)]
    return [(n, n, (2**32 - 1) // n) for n in (64, 96, 100)]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("index", INDICES)
def test_index_that_wraps(load: Load, index: str, seed: int) -> None:
    choice = random.Random(f"{index} {seed}")
    image = load(source(choice, INDICES[index], 4))
    for edge in EDGES:
        for lanes, step, grid_x in shapes(index):
            grid: Shape = (grid_x, 1, 1)
            begin = min(edge // step, grid_x - 6) - 5
            blocks = range(begin, begin + 11)
            first = begin * step
            near = (edge + choice.randint(-2 * step, 2 * step)) % 2**32
            for n in (near, near * 2, choice.getrandbits(32), 5):
                n_signed = np.uint32(n % 2**32).astype(np.int32)
                m = np.int32(choice.randint(-3, 40))
                memory = np.arange(11 * step + 64, dtype=np.int32)
                args: list[Any] = [memory, np.uint32(first % 2**32), n_signed, m]
                for name, kernel in image.kernels.items():
                    assert kernel.has_fast, name
                    fast, reference = copy.deepcopy(args), copy.deepcopy(args)
                    kernel.run_fast(grid, (lanes, 1, 1), fast, blocks)
                    kernel.run_reference(grid, (lanes, 1, 1), reference, blocks)
                    case = (name, edge, lanes, int(n_signed), int(m))
                    assert np.array_equal(fast[0], reference[0]), case


def test_rows_of_a_far_grid_in_two_dimensions(load: Load) -> None:
    kernel = load(
        """
        extern "C" __global__ void k(int *out, unsigned first, unsigned n) {
            unsigned u = blockIdx.x * blockDim.x + threadIdx.x;
            if (u < n && blockIdx.y * blockDim.y + threadIdx.y > 1)
                out[(u - first) * 8 + threadIdx.y] += (int)(u ^ blockIdx.y);
        }
        """
    ).kernels["k"]
    first = (2**31 - 100) // 50 * 50
    memory = np.zeros(400 * 8, np.int32)
    args: list[Any] = [memory, np.uint32(first), np.uint32(2**31 + 50)]
    for blocks_y in (2, 2**29):
        fast, reference = copy.deepcopy(args), copy.deepcopy(args)
        grid = (2**32 // 50 - 1, blocks_y, 1)
        for row in (0, 1):
            begin = row * grid[0] + first // 50
            blocks = range(begin, begin + 6)
            kernel.run_fast(grid, (50, 4, 1), fast, blocks)
            kernel.run_reference(grid, (50, 4, 1), reference, blocks)
        assert np.array_equal(fast[0], reference[0])
        assert fast[0].any()


@pytest.mark.usefixtures("cpu")
@pytest.mark.parametrize("lanes", [2**31 - 1024, 2**31, 2**31 + 1024, 2**32 - 1024])
def test_whole_grids_around_the_limits(lanes: int) -> None:
    kernel = hipadapt.compile_kernel(
        r"""
        extern "C" __global__ void k(unsigned *out, unsigned first, unsigned last) {
            unsigned u = blockIdx.x * blockDim.x + threadIdx.x;
            if (u >= first && u < last) out[u - first] += u ^ 5;
        }
        """,
        "k",
    )
    for first in (0, 2**30 - 17, min(2**31 - 500, lanes - 700), lanes - 300):
        last = min(first + 1000, lanes)
        out = hipadapt.array(np.zeros(1000, np.uint32))
        kernel[lanes // 1024, 1024](out, np.uint32(first), np.uint32(last))
        expected = np.zeros(1000, np.uint32)
        expected[: last - first] = np.arange(first, last, dtype=np.uint64) ^ 5
        assert np.array_equal(out.numpy(), expected)
