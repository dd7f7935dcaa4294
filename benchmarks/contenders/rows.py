# SPDX-License-Identifier: MIT
"""The rows: data, launches, and what they are to reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from hipadapt._cli import demo

from . import in_numpy
from .row import (
    DEMO,
    INTEL,
    NUMPY,
    OPENMP,
    POCL,
    Data,
    Goal,
    Launch,
    Loop,
    Results,
    Row,
)

K, M = 1 << 10, 1 << 20
TILED = Goal({INTEL: 1.3, POCL: 1.0}, of_group=True)
DIVERGING = Goal({INTEL: 1.3})
BODIES = Goal({INTEL: 1.0})
STREAMING = Goal({OPENMP: 1.1})
GROUP_RATIO, GROUP_ROWS = 1.0, 7  # so many rows of the group in Intel's time


def random() -> np.random.Generator:
    """The same numbers each time."""
    return np.random.default_rng(15)


def i32(number: int) -> np.int32:
    """An int argument."""
    return np.int32(number)


def floats(*shape: int) -> np.ndarray:
    """Numbers from 0 to 1."""
    return random().random(shape, np.float32)


def zeros(*shape: int) -> np.ndarray:
    """Memory that is there already, as a program's second launch finds it."""
    return np.full(shape, 0, np.float32)


def blocks(count: int, lanes: int = 256) -> tuple[int]:
    """As many as cover the elements."""
    return (-(-count // lanes),)


def saxpy_data(n: int, told: int) -> Callable[[], Data]:
    """n floats; the kernel is told another number where it counts vectors."""
    return lambda: {
        "a": np.float32(0.5),
        "x": floats(n),
        "y": np.ones(n, np.float32),
        "n": i32(told),
        "count": i32(n),
    }


def saxpy(
    name: str,
    n: int,
    kernel: str,
    grid: tuple[int],
    told: int = 0,
    goal: Goal = STREAMING,
) -> Row:
    """A row of y = a x + y."""
    return Row(
        name,
        "stream",
        saxpy_data(n, told or n),
        (Launch(kernel, grid, (256,), ("a", "x", "y", "n")),),
        ("y",),
        Loop("stream", "saxpy", ("a", "x", "y", "count")),
        in_numpy.saxpy,
        goal=goal,
    )


def field_data(size: int) -> Callable[[], Data]:
    """A square field and its size, with the result as large."""
    return lambda: {
        "in": floats(size, size),
        "out": zeros(size, size),
        "n": i32(size),
    }


def fields(
    name: str, file: str, kernel: str, loop: str, block: tuple[int, int], **more: Any
) -> Row:
    """A row of a stencil; blocks are as large as the kernel's tiles."""
    size = 1024
    return Row(
        name,
        file,
        field_data(size),
        (
            Launch(
                kernel,
                (size // block[0], size // block[1]),
                block,
                ("in", "out", "n", "n"),
            ),
        ),
        ("out",),
        Loop(file, loop, ("in", "out", "n", "n")),
        in_numpy.stencil,
        **more,
    )


def matmul(name: str, kernel: str, tile: int) -> Row:
    """512 x 512, 256 threads for each tile."""
    size = 512

    def data() -> Data:
        two = floats(2, size, size)
        return {"a": two[0], "b": two[1], "c": zeros(size, size), "n": i32(size)}

    grid = (size // tile, size // tile)
    return Row(
        name,
        "matmul",
        data,
        (Launch(kernel, grid, (16, 16), ("a", "b", "c", "n")),),
        ("c",),
        Loop("matmul", "matmul", ("a", "b", "c", "n")),
        in_numpy.matmul,
        goal=TILED,
    )


def reduction(name: str, file: str, kernel: str, count: int, goal: Goal) -> Row:
    """The sum of 4 M floats, one part for each block."""
    n = 4 * M

    def data() -> Data:
        return {
            "in": floats(n),
            "parts": zeros(count),
            "total": zeros(1),
            "n": i32(n),
        }

    def expect(d: Any) -> Results:
        by_block = d["in"].astype(np.float64).reshape(-1, count, 256)
        parts = by_block.sum(axis=(0, 2))
        return {"parts": parts, "total": parts.sum(keepdims=True)}

    return Row(
        name,
        file,
        data,
        (Launch(kernel, (count,), (256,), ("in", "parts", "n")),),
        ("parts",),
        Loop("reduce", "sum", ("in", "total", "n"), ("total",)),
        in_numpy.total,
        expect,
        goal,
        hip_only=file == "warp",
    )


def softmax() -> Row:
    """A block a row."""
    return Row(
        "softmax 1024x1024",
        "reduce",
        lambda: {"in": 8 * floats(K, K), "out": zeros(K, K), "n": i32(K)},
        (Launch("softmax", (K,), (256,), ("in", "out", "n")),),
        ("out",),
        Loop("reduce", "softmax", ("in", "out", "n", "n")),
        in_numpy.softmax,
        goal=TILED,
    )


def scan_data() -> Data:
    """Small integers: sums fit into 32 bits."""
    return {
        "in": random().integers(0, 100, M, np.int32),
        "out": np.full(M, 0, np.int32),
        "sums": np.full(M // 256, 0, np.int32),
        "sums_count": i32(M // 256),
        "n": i32(M),
    }


def scan_exclusive() -> Row:
    """Three launches: blocks, the blocks' sums, the addition."""
    return Row(
        "scan excl 1M",
        "scan",
        scan_data,
        (
            Launch("scan_blocks", blocks(M), (256,), ("in", "out", "sums")),
            Launch("scan_sums", (1,), (256,), ("sums",)),
            Launch("scan_add", blocks(M), (256,), ("out", "sums")),
        ),
        ("out",),
        Loop("scan", "scan_exclusive", ("in", "out", "n")),
        in_numpy.scan_exclusive,
        goal=TILED,
    )


def warp_scan() -> Row:
    """The same by shuffles."""
    return Row(
        "warp scan 1M",
        "warp",
        scan_data,
        (
            Launch("warp_scan_blocks", blocks(M), (256,), ("in", "out", "sums")),
            Launch("warp_scan_sums", (1,), (32,), ("sums", "sums_count")),
            Launch("warp_scan_add", blocks(M), (256,), ("out", "sums")),
        ),
        ("out",),
        Loop("scan", "scan_inclusive", ("in", "out", "n")),
        in_numpy.scan_inclusive,
        goal=Goal({OPENMP: 3.0}),
        hip_only=True,
    )


def early_return() -> Row:
    """Eight blocks more than there are elements for."""
    n = 4 * M
    return Row(
        "early return+barrier 4M",
        "tile",
        lambda: {"in": floats(n), "out": zeros(n), "n": i32(n)},
        (Launch("early_return", (n // 256 + 8,), (256,), ("in", "out", "n")),),
        ("out",),
        Loop("tile", "mirror", ("in", "out", "n")),
        in_numpy.mirror,
        goal=TILED,
    )


def conv1d() -> Row:
    """16 taps."""
    n = 4 * M
    return Row(
        "conv1d 16 shared 4M",
        "tile",
        lambda: {"in": floats(n), "taps": floats(16), "out": zeros(n), "n": i32(n)},
        (Launch("conv1d", blocks(n), (256,), ("in", "taps", "out", "n")),),
        ("out",),
        Loop("tile", "conv1d", ("in", "taps", "out", "n")),
        in_numpy.conv1d,
        goal=TILED,
    )


def transpose(name: str, kernel: str, rows: int, goal: Goal) -> Row:
    """2048 x 2048; a block of 32 x 8 has this many rows."""
    size = 2048
    return Row(
        name,
        "transpose",
        field_data(size),
        (Launch(kernel, (size // 32, size // rows), (32, 8), ("in", "out", "n")),),
        ("out",),
        Loop("transpose", "transpose", ("in", "out", "n")),
        in_numpy.transpose,
        goal=goal,
        tolerance=0.0,
    )


def histogram(name: str, kernel: str, grid: tuple[int], loop: str, goal: Goal) -> Row:
    """4 M numbers below 256."""

    def data() -> Data:
        return {
            "in": random().integers(0, 256, 4 * M, np.int32),
            "bins": np.full(256, 0, np.int32),
            "n": i32(4 * M),
        }

    return Row(
        name,
        "atomics",
        data,
        (Launch(kernel, grid, (256,), ("in", "bins", "n")),),
        ("bins",),
        Loop("atomics", loop, ("in", "bins", "n")),
        in_numpy.histogram,
        goal=goal,
    )


def count_one() -> Row:
    """Every lane adds 1 to the same number."""
    return Row(
        "atomicAdd 1 int 4M",
        "atomics",
        lambda: {"counter": np.full(1, 0, np.int32), "n": i32(4 * M)},
        (Launch("count_one", blocks(4 * M), (256,), ("counter", "n")),),
        ("counter",),
        Loop("atomics", "count_one", ("counter", "n")),
        expect=lambda _: {"counter": np.array([4 * M], np.int32)},
        goal=Goal(most_ms=3.0),
    )


def add_floats() -> Row:
    """Spread over 1024 numbers."""
    n = 4 * M
    return Row(
        "atomicAdd float x1024 4M",
        "atomic_float",
        lambda: {"in": floats(n), "sums": zeros(1024), "n": i32(n)},
        (Launch("add_floats", blocks(n), (256,), ("in", "sums", "n")),),
        ("sums",),
        Loop("atomics", "add_floats", ("in", "sums", "n")),
        expect=lambda d: {"sums": d["in"].astype(np.float64).reshape(-1, 1024).sum(0)},
        hip_only=True,
    )


def bitonic() -> Row:
    """2048 blocks of 512."""
    return Row(
        "bitonic 1M in 512s",
        "sort",
        lambda: {
            "in": random().integers(-(2**31), 2**31, M, np.int32),
            "out": np.full(M, 0, np.int32),
            "n": i32(M),
        },
        (Launch("bitonic", (M // 512,), (512,), ("in", "out")),),
        ("out",),
        Loop("sort", "bitonic", ("in", "out", "n")),
        in_numpy.sort,
        goal=DIVERGING,
    )


def mandelbrot() -> Row:
    """Counts at the edge differ by how a * b + c is rounded: a few of a thousand."""
    return Row(
        "Mandelbrot 1K x256",
        "diverge",
        lambda: {"counts": np.full((K, K), 0, np.int32), "n": i32(K), "most": i32(256)},
        (
            Launch(
                "mandelbrot", (K // 32, K // 8), (32, 8), ("counts", "n", "n", "most")
            ),
        ),
        ("counts",),
        Loop("diverge", "mandelbrot", ("counts", "n", "n", "most")),
        goal=DIVERGING,
        odd=0.004,
    )


def collatz() -> Row:
    """A loop in a function of the device."""
    return Row(
        "Collatz 1M",
        "diverge",
        lambda: {"steps": np.full(M, 0, np.int32), "n": i32(M)},
        (Launch("collatz", blocks(M), (256,), ("steps", "n")),),
        ("steps",),
        Loop("diverge", "collatz", ("steps", "n")),
        goal=DIVERGING,
    )


def spmv() -> Row:
    """8 to 24 elements a row, 16 in the middle."""
    rows = 200_000

    def data() -> Data:
        lengths = random().integers(8, 25, rows)
        starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
        columns = random().integers(0, rows, int(starts[-1]), np.int32)
        return {
            "starts": starts,
            "columns": columns,
            "values": floats(len(columns)),
            "x": floats(rows),
            "y": zeros(rows),
            "rows": i32(rows),
        }

    names = ("starts", "columns", "values", "x", "y", "rows")
    return Row(
        "CSR spmv 200K x16",
        "diverge",
        data,
        (Launch("spmv", blocks(rows), (256,), names),),
        ("y",),
        Loop("diverge", "spmv", names),
        in_numpy.spmv,
        goal=STREAMING,
    )


def bodies(name: str, kernel: str) -> Row:
    """4096 bodies in a cube."""
    n = 4096
    return Row(
        name,
        "nbody",
        lambda: {"bodies": floats(n, 4), "pulls": zeros(n, 4), "n": i32(n)},
        (Launch(kernel, blocks(n), (256,), ("bodies", "pulls", "n")),),
        ("pulls",),
        Loop("nbody", "nbody", ("bodies", "pulls", "n")),
        goal=BODIES,
        tolerance=1e-3,
    )


def cooperative() -> Row:
    """20 sweeps of one launch."""

    def data() -> Data:
        a = floats(M)
        return {"a": a, "b": a.copy(), "n": i32(M), "count": i32(20)}

    names = ("a", "b", "n", "count")
    return Row(
        "coop 20 sweeps 1M",
        "cooperative",
        data,
        (Launch("sweeps", (8,), (256,), names),),
        ("a", "b"),
        Loop("cooperative", "sweeps", names),
        in_numpy.sweeps,
        hip_only=True,
        cooperative=True,
    )


def particles() -> Row:
    """Structures of three floats."""
    n = 256 * K
    return Row(
        "AoS 3 floats 256K",
        "stream",
        lambda: {"p": floats(3 * n), "dt": np.float32(0.01), "n": i32(n)},
        (Launch("move_particles", blocks(n), (256,), ("p", "dt", "n")),),
        ("p",),
        Loop("stream", "move_particles", ("p", "dt", "n")),
        in_numpy.move_particles,
        goal=STREAMING,
    )


def mapped(
    name: str, kernel: str, dtype: type, goal: Goal, tolerance: float = 2e-4
) -> Row:
    """A function of each of 4 M elements."""
    n = 4 * M
    form = getattr(in_numpy, kernel)
    return Row(
        name,
        "map",
        lambda: {
            "x": random().random(n).astype(dtype),
            "y": np.full(n, 0, dtype),
            "n": i32(n),
        },
        (Launch(kernel, blocks(n), (256,), ("x", "y", "n")),),
        ("y",),
        Loop("map", kernel, ("x", "y", "n")),
        form,
        goal=goal,
        tolerance=tolerance,
    )


def black_scholes() -> Row:
    """A million options."""

    def data() -> Data:
        price, strike, years = floats(3, M)
        return {
            "price": 5 + 25 * price,
            "strike": 1 + 99 * strike,
            "years": np.float32(0.25) + 10 * years,
            "call": zeros(M),
            "put": zeros(M),
            "n": i32(M),
        }

    names = ("price", "strike", "years", "call", "put", "n")
    return Row(
        "Black-Scholes 1M",
        "map",
        data,
        (Launch("black_scholes", blocks(M), (256,), names),),
        ("call", "put"),
        Loop("map", "black_scholes", names),
        in_numpy.black_scholes,
        goal=STREAMING,
        tolerance=1e-3,
    )


def empty(name: str, grid: int, repeat: int) -> Row:
    """Nothing but launches."""
    return Row(
        name,
        "stream",
        lambda: {"n": i32(0)},
        (Launch("empty", (grid,), (256,), ("n",)),),
        (),
        Loop("stream", "empty", ("n",)),
        repeat=repeat,
    )


def tiny(lanes: int, kernel: str) -> Row:
    """A million blocks of so few lanes; their cost is the blocks'."""
    count = 10**6
    what = ", barrier" if kernel == "tiny_barrier" else ""
    return Row(
        f"10^6 blocks x{lanes}{what}",
        "tiny",
        lambda: {
            "out": np.full(count, 0, np.int32),
            "blocks": i32(count),
            "lanes": i32(lanes),
        },
        (Launch(kernel, (count,), (lanes,), ("out",)),),
        ("out",),
        Loop("tiny", "tiny", ("out", "blocks", "lanes")),
        expect=lambda _: {"out": np.arange(count, dtype=np.int32) ^ lanes},
        goal=Goal({INTEL: 1.0}, most_ms=30.0),
    )


def few_of_many() -> Row:
    """All but one of 2048 lanes find that there is nothing for them."""
    row = saxpy("2^20 of 2^31 lanes", M, "saxpy", (8 * M,))
    return replace(row, goal=Goal(most_ms=50.0), without=(POCL,))


def demo_step(name: str, kernel: str) -> Row:
    """One step of `python -m hipadapt demo`, with its own kernels."""
    size = 512

    def data() -> Data:
        return {**field_data(size)(), "rate": np.float32(demo.RATE)}

    grid = (size // demo.TILE_X, size // demo.TILE_Y)
    names = ("in", "out", "n", "n", "rate")
    return Row(
        name,
        DEMO,
        data,
        (Launch(kernel, grid, (demo.TILE_X, demo.TILE_Y), names),),
        ("out",),
        numpy=in_numpy.demo_step,
        expect=in_numpy.demo_step,
        goal=Goal({NUMPY: 1.0}),
        hip_only=True,
    )


def demo_total() -> Row:
    """Its reduction; an atomic addition goes on adding, so the check is of one run."""
    n = 512 * 512
    return Row(
        "demo reduction",
        DEMO,
        lambda: {"in": floats(n), "sum": np.full(1, 0.0), "n": np.int64(n)},
        (Launch("total", (64,), (256,), ("in", "sum", "n"), 256 * 8),),
        ("sum",),
        numpy=in_numpy.demo_total,
        expect=in_numpy.demo_total,
        goal=Goal({NUMPY: 1.0}),
        hip_only=True,
        tolerance=1e-9,
    )


SECOND = 256 * K

ROWS: tuple[Row, ...] = (
    fields(
        "stencil tiled 1K 32x8",
        "stencil",
        "stencil_tiled",
        "stencil",
        (32, 8),
        goal=TILED,
    ),
    matmul("matmul tiled 512 16x16", "matmul_tiled", 16),
    matmul("matmul reg-blocked 512", "matmul_blocked", 64),
    reduction("reduce 4M 256 blk", "reduce", "reduce", 256, TILED),
    reduction("reduce 4M 16384 blk", "reduce", "reduce", 16384, TILED),
    scan_exclusive(),
    softmax(),
    early_return(),
    conv1d(),
    transpose("transpose tiled 2048", "transpose_tiled", 32, TILED),
    histogram(
        "histogram shared 4M", "histogram_shared", (256,), "histogram_private", TILED
    ),
    bitonic(),
    mandelbrot(),
    collatz(),
    bodies("nbody 4096", "nbody"),
    bodies("nbody tiled 4096", "nbody_tiled"),
    reduction(
        "warp reduce 4M 256 blk", "warp", "warp_reduce", 256, Goal({OPENMP: 1.5})
    ),
    warp_scan(),
    saxpy("saxpy 256K", SECOND, "saxpy", blocks(SECOND)),
    saxpy("saxpy 16M", 16 * M, "saxpy", blocks(16 * M)),
    saxpy("saxpy grid-stride 256K", SECOND, "saxpy_stride", (256,)),
    saxpy("saxpy grid-stride 16M", 16 * M, "saxpy_stride", (256,)),
    fields("stencil 1K 32x8", "stencil", "stencil", "stencil", (32, 8), goal=STREAMING),
    mapped("sin*exp+log 4M", "sin_exp_log", np.float32, STREAMING),
    spmv(),
    particles(),
    black_scholes(),
    mapped("double poly 4M", "double_polynomial", np.float64, STREAMING, 1e-12),
    count_one(),
    cooperative(),
    transpose("transpose naive 2048", "transpose_naive", 8, Goal()),
    mapped("double exp*sin 4M", "double_exp_sin", np.float64, Goal(), 1e-12),
    histogram(
        "histogram global 4M",
        "histogram_global",
        blocks(4 * M),
        "histogram_atomic",
        Goal(),
    ),
    add_floats(),
    saxpy(
        "float4 saxpy 256K, i < n",
        SECOND,
        "saxpy_float4",
        blocks(SECOND // 4),
        SECOND // 4,
        Goal(),
    ),
    saxpy(
        "float4 saxpy 256K, i < n/4",
        SECOND,
        "saxpy_float4_quarter",
        blocks(SECOND // 4),
        goal=Goal(row="float4 saxpy 256K, i < n", row_ratio=1.1),
    ),
    demo_step("demo stencil", "diffuse"),
    demo_step("demo stencil, shared memory", "diffuse_tiled"),
    demo_total(),
    few_of_many(),
    *(
        tiny(lanes, kernel)
        for kernel in ("tiny", "tiny_barrier")
        for lanes in (1, 8, 32)
    ),
    empty("empty 10^6 blocks x256", 10**6, 1),
    empty("empty 2^31-256 lanes", 8 * M - 1, 1),
    replace(
        empty("empty 2^31 lanes", 8 * M, 1),
        goal=Goal(row="empty 2^31-256 lanes", row_ratio=1.1),
    ),
    empty("empty launch x1000", 1, 1000),
)
