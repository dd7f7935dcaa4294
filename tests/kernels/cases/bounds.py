# SPDX-License-Identifier: MIT
"""Comparisons of a lane's index with bounds, in every form and at every edge.

A fast executor may decide such a comparison once for a row of lanes.  It must notice
where the index does not grow steadily, wraps, is narrowed, or differs between lanes in
another way; each predicate here is true for another set of lanes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..case import Check, case, same
from ..gpu import Gpu, In, InOut

# In C and in numpy.  i, k, n are int; u, v are i and n as unsigned; w is 64 bits wide.
# Python's i, k and n are int64 arrays or numbers, so nothing wraps by itself.
PREDICATES: tuple[tuple[str, str], ...] = (
    ("i < n", "i < n"),
    ("n > i", "n > i"),
    ("i <= n - 1", "i <= n - 1"),
    ("i != n", "i != n"),
    ("i == n - 1", "i == n - 1"),
    ("n - i > 3", "n - i > 3"),
    ("-i > -n", "-i > -n"),
    ("i >= 5 && i < n - 5", "(i >= 5) & (i < n - 5)"),
    ("(unsigned)(i - 5) < 7u", "(i - 5) % 2**32 < 7"),
    ("u - 1u < v", "(i - 1) % 2**32 < n % 2**32"),
    ("u + 4294967290u < v", "(i + 4294967290) % 2**32 < n % 2**32"),
    ("2 * i < n", "2 * i < n"),
    ("i * k < n", "i * k < n"),
    ("i * -3 + 50 < n", "i * -3 + 50 < n"),
    ("(i ^ 5) < n", "(i ^ 5) < n"),
    ("(i & 7) < 3", "(i & 7) < 3"),
    ("i % 3 == 1", "i % 3 == 1"),
    ("i / 3 < n / 4", "i // 3 < abs(n) // 4 * (1 if n >= 0 else -1)"),
    ("i >> 2 < n >> 2", "i >> 2 < n >> 2"),
    ("(signed char)i < n", "(i + 128) % 256 - 128 < n"),
    ("(unsigned char)i < 9", "i % 256 < 9"),
    ("(short)(i * 1000) < 0", "(i * 1000 + 32768) % 65536 - 32768 < 0"),
    ("(i - 20) * (i - 20) < 50", "(i - 20) ** 2 < 50"),
    ("abs(i - 20) < 4", "abs(i - 20) < 4"),
    ("min(i, 30) < n", "numpy.minimum(i, 30) < n"),
    ("max(i, 9) < n", "numpy.maximum(i, 9) < n"),
    ("w < (long long)n", "i < n"),
    ("w * 5000000000LL < (long long)n * 4000000000LL", "i * 5 < n * 4"),
    ("(unsigned long long)w - 3ull < 10ull", "(i >= 3) & (i < 13)"),
    ("t < n", "t < n"),
    ("b < k", "b < k"),
    ("t < d - 1", "t < d - 1"),
    ("i < g * d - 2", "i < g * d - 2"),
    ("t + b < n", "t + b < n"),
    ("t * b < n", "t * b < n"),
    ("i < x[0]", "i < x[0]"),
    ("i < x[i]", "i < x[i]"),
    ("x[i] < n", "x[i] < n"),
)

SOURCE = """
extern "C" __global__ void evaluate(const int *x, unsigned char *out, int n, int k) {
    int t = threadIdx.x, b = blockIdx.x, d = blockDim.x, g = gridDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = g * d;
    unsigned u = i, v = n;
    long long w = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    PREDICATES
}""".replace(
    "PREDICATES",
    "\n    ".join(
        f"if ({predicate}) out[{row} * all + i] = 1;"
        for row, (predicate, _) in enumerate(PREDICATES)
    ),
)


@case()
def bounds_in_every_form(gpu: Gpu) -> Iterator[Check]:
    module = gpu.build(SOURCE)
    for grid, block in ((3, 32), (1, 100), (7, 9), (40, 1)):
        count = grid * block
        x = np.random.default_rng(count).integers(-5, 45, count)
        i = np.arange(count)
        for n in (0, 1, 31, 33, count - 1, count, count + 7, -4, 2**31 - 1, -(2**31)):
            k = n % 11 - 3
            names = {"i": i, "t": i % block, "b": i // block, "d": block, "g": grid}
            names |= {"n": n, "k": k, "x": x, "abs": abs, "numpy": np}
            want = [
                np.broadcast_to(eval(form, {"__builtins__": {}}, names), i.shape)
                for _, form in PREDICATES
            ]
            (got,) = gpu.call(
                module,
                "evaluate",
                grid,
                block,
                In(x.astype(np.int32)),
                InOut(np.zeros((len(PREDICATES), count), np.uint8)),
                np.int32(n),
                np.int32(k),
            )
            for row, (predicate, _) in enumerate(PREDICATES):
                if defined(predicate, n):
                    label = f"{predicate}, {grid} x {block}, n={n}, k={k}"
                    yield same(label, got[row], want[row])


def defined(predicate: str, n: int) -> bool:
    """Signed arithmetic that leaves 32 bits has no meaning in C++."""
    if n == -(2**31):
        return not any(part in predicate for part in ("n -", "-n", "n - 5"))
    return True


# A guard, and a comparison under it whose form the compiler derives from the guard: where
# a bit is known to be clear, i + 64 and i ^ 64 are both i | 64.
GUARDED: tuple[tuple[str, str], ...] = (
    ("(i & 64) == 0", "i + 64 < n"),
    ("(i & 64) == 0", "(i ^ 64) < n"),
    ("(i & 16) == 0", "(i ^ 16) < n"),
    ("(i & 16) == 0", "(i | 16) + 5 < n"),
    ("(i & s) == 0", "(i ^ s) < n"),
    ("(i & 1) == 0", "2 * (i + 1) < n"),
    ("(i & 3) == 1", "i + 2 < n"),
    ("(i & 32) != 0", "i - 32 < n - 64"),
    ("(t & 32) == 0", "t + 32 < n"),
    ("(t & 8) == 0", "b * d + (t ^ 8) < n"),
    ("i < 32", "i + 32 < n - 20"),
    ("i < 32", "i + 64 < n"),
    ("t < 64", "64 * b + t < n"),
    ("t < 16", "16 * b + t < n - 50"),
    ("i >= 40", "i - 40 < n - 60"),
    ("i >= 40 and n >= 0", "2 * i < n + 60"),
    ("i < n", "i + s < n"),
    ("i >= s", "i - s < 50"),
    ("(i & 64) == 0 and (i & 8) == 0", "i + 72 < n"),
    ("i % 8 == 0", "i + 7 < n"),
)


@case()
def bounds_under_a_guard(gpu: Gpu) -> Iterator[Check]:
    """Facts that hold for lanes inside of a guard only, in blocks that cross it."""
    module = gpu.build(
        "".join(
            f"""
    extern "C" __global__ void guarded{row}(unsigned char *out, int n, int s) {{
        int t = threadIdx.x, b = blockIdx.x, d = blockDim.x, i = b * d + t;
        if ({guard}) {{ if ({inner}) out[i] = 1; }}
    }}"""
            for row, (guard, inner) in enumerate(GUARDED)
        )
    )
    for grid, block in ((1, 96), (3, 40), (2, 65), (30, 4)):
        i = np.arange(grid * block)
        for n, s in ((100, 16), (70, 1), (40, 32), (-3, 4)):
            names = {"i": i, "t": i % block, "b": i // block, "d": block}
            names |= {"n": n, "s": s}
            for row, forms in enumerate(GUARDED):
                (got,) = gpu.call(
                    module,
                    f"guarded{row}",
                    grid,
                    block,
                    InOut(np.zeros(i.size, np.uint8)),
                    np.int32(n),
                    np.int32(s),
                )
                want = np.ones(i.shape, bool)
                for form in " and ".join(forms).split(" and "):
                    want &= eval(form, {"__builtins__": {}}, names)
                yield same(f"{forms}, {grid} x {block}, n={n}, s={s}", got, want)


@case()
def two_dimensional_bounds(gpu: Gpu) -> Iterator[Check]:
    """Rows that are shorter and longer than the block, columns outside, corners."""
    source = """
    extern "C" __global__ void frame(int *out, int w, int h, int inset) {
        int x = blockIdx.x * blockDim.x + threadIdx.x;
        int y = blockIdx.y * blockDim.y + threadIdx.y;
        if (x >= w || y >= h) return;
        int edge = x < inset || y < inset || x >= w - inset || y >= h - inset;
        out[y * w + x] = edge ? x + y : -(x * y);
    }"""
    module = gpu.build(source)
    for w, h, block in (
        (1, 1, (8, 8)),
        (31, 9, (8, 4)),
        (33, 17, (32, 2)),
        (5, 70, (1, 64)),
    ):
        grid = tuple(-(-size // side) for size, side in zip((w, h), block, strict=True))
        y, x = np.indices((h, w))
        for inset in (0, 1, 4):
            (got,) = gpu.call(
                module,
                "frame",
                grid,
                block,
                InOut(np.zeros((h, w), np.int32)),
                *(np.int32(v) for v in (w, h, inset)),
            )
            edge = (x < inset) | (y < inset) | (x >= w - inset) | (y >= h - inset)
            yield same(f"{w}x{h} inset {inset}", got, np.where(edge, x + y, -x * y))


@case(group="slow")
def index_beyond_thirty_bits(gpu: Gpu) -> Iterator[Check]:
    """More than 2**30 lanes, of which a few at both ends do something."""
    source = """
    extern "C" __global__ void ends(unsigned *out, unsigned count) {
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < 3) out[i] = i;
        if (i >= count - 3) out[3 + (i - (count - 3))] = i;
    }"""
    grid = (1 << 20) + 7
    count = grid * 1024
    (got,) = gpu.run(
        source, "ends", grid, 1024, InOut(np.zeros(6, np.uint32)), np.uint32(count)
    )
    yield same("out", got, [0, 1, 2, count - 3, count - 2, count - 1])


@case()
def loops_whose_bounds_differ_between_lanes(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void ragged(const int *first, const int *x, int *out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        int sum = 0;
        for (int j = i; j < n; j += 7) sum += x[j];
        for (int j = n - 1; j > i; j -= 5) sum -= 3 * x[j];
        for (int j = 0; j < i; j++) {
            if (x[j] < 0) continue;
            if (x[j] > 40) break;
            sum += j;
        }
        for (int j = first[i]; j-- > 0;) sum ^= j;
        int k = i;
        while (k > 2) { k = k & 1 ? 3 * k - 1 : k / 2; sum++; if (sum > 5000) break; }
        out[i] = sum;
    }"""
    n = 130
    rng = np.random.default_rng(95)
    first = rng.integers(0, 20, n).astype(np.int32)
    x = rng.integers(-5, 44, n).astype(np.int32)
    (got,) = gpu.run(
        source, "ragged", 13, 10, In(first), In(x), InOut(np.zeros_like(x)), np.int32(n)
    )
    want = []
    for i in range(n):
        total = int(x[i:n:7].sum()) - 3 * int(x[n - 1 : i : -5].sum())
        for j in range(i):
            if x[j] < 0:
                continue
            if x[j] > 40:
                break
            total += j
        for j in range(first[i]):
            total ^= j
        k = i
        while k > 2:
            k = 3 * k - 1 if k & 1 else k // 2
            total += 1
            if total > 5000:
                break
        want.append(total)
    yield same("out", got, want)
