# SPDX-License-Identifier: MIT
"""Kernels of the speed table under check, and small launches for Oclgrind."""

from __future__ import annotations

import numpy as np

from benchmarks.contenders.row import Data, Launch, Row
from benchmarks.contenders.rows import ROWS, blocks, floats, i32, zeros

# Rows of the speed table (docs/kernel_speed.md).
TEN = (
    "saxpy 16M",
    "stencil 1K 32x8",
    "stencil tiled 1K 32x8",
    "matmul tiled 512 16x16",
    "reduce 4M 256 blk",
    "scan excl 1M",
    "softmax 1024x1024",
    "conv1d 16 shared 4M",
    "transpose tiled 2048",
    "Black-Scholes 1M",
)
# Their indices come from memory, so that nothing is proved.
FROM_MEMORY = ("histogram shared 4M", "CSR spmv 200K x16")


def row_of(name: str) -> Row:
    """A row of the speed table, or a small one."""
    return next(row for row in (*ROWS, *SMALL) if row.name == name)


def small(name: str, file: str, data: Data, launch: Launch, output: str) -> Row:
    """A row that Oclgrind ends in seconds."""
    return Row(name, file, lambda: data, (launch,), (output,))


def field(name: str, kernel: str) -> Row:
    """A stencil on 256 x 256."""
    size = 256
    data: Data = {"in": floats(size, size), "out": zeros(size, size), "n": i32(size)}
    launch = Launch(kernel, (size // 32, size // 8), (32, 8), ("in", "out", "n", "n"))
    return small(name, "stencil", data, launch, "out")


COUNT = 1 << 16
SMALL = (
    small(
        "saxpy 64K",
        "stream",
        {"a": np.float32(2), "x": floats(COUNT), "y": floats(COUNT), "n": i32(COUNT)},
        Launch("saxpy", blocks(COUNT), (256,), ("a", "x", "y", "n")),
        "y",
    ),
    field("stencil 256", "stencil"),
    field("stencil tiled 256", "stencil_tiled"),
    small(
        "matmul tiled 96",
        "matmul",
        {"a": floats(96, 96), "b": floats(96, 96), "c": zeros(96, 96), "n": i32(96)},
        Launch("matmul_tiled", (6, 6), (16, 16), ("a", "b", "c", "n")),
        "c",
    ),
    small(
        "reduce 64K 64 blk",
        "reduce",
        {"in": floats(COUNT), "parts": zeros(64), "n": i32(COUNT)},
        Launch("reduce", (64,), (256,), ("in", "parts", "n")),
        "parts",
    ),
)
