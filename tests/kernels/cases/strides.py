# SPDX-License-Identifier: MIT
"""Loops over strides: rounds that many blocks do in step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..case import Check, case, same
from ..gpu import Gpu, In, InOut

GRIDS = ((1, 256), (7, 96), (37, 100), (130, 64), (200, 33))


@case()
def strides_over_grids_of_many_sizes(gpu: Gpu) -> Iterator[Check]:
    """Each lane comes to its elements in order: an element hangs on the one before."""
    source = """
    extern "C" __global__ void chain(const int *x, int *y, int n) {
        int before = blockIdx.x * 31 + threadIdx.x;
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
             i += gridDim.x * blockDim.x) {
            before = before * 5 + x[i];
            y[i] = before;
        }
    }"""
    module = gpu.build(source)
    x = np.random.default_rng(60).integers(-1000, 1000, 20000).astype(np.int32)
    for grid, block in GRIDS:
        for n in (20000, 19999, grid * block, 5):
            (got,) = gpu.call(
                module, "chain", grid, block, In(x), InOut(x * 0 - 7), np.int32(n)
            )
            lanes = grid * block
            want = np.full(20000, -7, np.int64)
            lane = np.arange(lanes)
            before = lane // block * 31 + lane % block
            for first in range(0, n, lanes):
                count = min(lanes, n - first)
                before[:count] = before[:count] * 5 + x[first : first + count]
                before = before.astype(np.int32).astype(np.int64)
                want[first : first + count] = before[:count]
            yield same(f"{grid} x {block}, n={n}", got, want.astype(np.int32))


@case()
def strides_in_two_dimensions(gpu: Gpu) -> Iterator[Check]:
    """Rows of a grid of blocks: each has its own y, and ends where the grid's row does."""
    source = """
    extern "C" __global__ void rows(const float *x, float *y, int columns, int rows) {
        for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < rows;
             row += gridDim.y * blockDim.y)
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < columns;
                 i += gridDim.x * blockDim.x)
                y[row * columns + i] = x[row * columns + i] * 2.0f + blockIdx.x
                    + 100 * blockIdx.y + 10000 * blockIdx.z;
    }"""
    module = gpu.build(source)
    x = np.random.default_rng(61).integers(0, 99, (45, 333)).astype(np.float32)
    for grid, block in (((5, 3, 1), (32, 4, 1)), ((9, 2, 1), (24, 2, 1))):
        (got,) = gpu.call(
            module,
            "rows",
            grid,
            block,
            In(x),
            InOut(x * 0),
            np.int32(333),
            np.int32(45),
        )
        column = np.arange(333) // block[0] % grid[0]
        row = np.arange(45) // block[1] % grid[1]
        want = x * 2 + column + 100 * row[:, None]
        yield same(f"{grid} x {block}", got, want.astype(np.float32))


@case()
def strides_with_sums_and_arrays(gpu: Gpu) -> Iterator[Check]:
    """What lanes carry from round to round, and a private array, in step."""
    source = """
    extern "C" __global__ void sums(const int *x, int *parts, int *total, int n) {
        int kept[4] = {0, 0, 0, 0}, rounds = 0;
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
             i += gridDim.x * blockDim.x) {
            if (x[i] % 7 == 0) continue;
            kept[x[i] & 3] += x[i];
            if (++rounds == 20) break;
        }
        int lane = blockIdx.x * blockDim.x + threadIdx.x;
        parts[lane] = kept[0] + 3 * kept[1] + 5 * kept[2] + 7 * kept[3];
        atomicAdd(total, rounds);
    }"""
    module = gpu.build(source)
    x = np.random.default_rng(62).integers(0, 1000, 30000).astype(np.int32)
    for grid, block in GRIDS:
        lanes = grid * block
        got = gpu.call(
            module,
            "sums",
            grid,
            block,
            In(x),
            InOut(np.zeros(lanes, np.int32)),
            InOut(np.zeros(1, np.int32)),
            np.int32(30000),
        )
        parts, total = np.zeros(lanes, np.int32), 0
        for lane in range(lanes):
            own = x[lane::lanes]
            own = own[own % 7 != 0][:20]
            parts[lane] = (own * np.array([1, 3, 5, 7])[own & 3]).sum()
            total += own.size
        yield same(f"parts {grid} x {block}", got[0], parts)
        yield same(f"total {grid} x {block}", got[1], [total])
