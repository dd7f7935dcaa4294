# SPDX-License-Identifier: MIT
"""Kernels made at random, without races: what a lane writes no other lane touches.

Each kernel takes three int arrays, a float array, counters, a read-only array and two
ints.  Arrays may be given under several names at once; places are spread in one of
several ways, so that lanes write neighbours, every second element, or backwards.
Floats are multiplied by powers of two only: fused or not, the result is the same.
"""

from __future__ import annotations

import random

ARRAY = 65536 + 128
TABLE = 4096
LANES_MAX = 8192

PLACES = [
    ["i"],
    ["i"],
    ["i + 5"],
    ["2 * i", "2 * i + 1"],
    ["4 * i", "4 * i + 1", "4 * i + 2", "4 * i + 3"],
    ["3 * i", "3 * i + 1", "3 * i + 2"],
    ["LANES - 1 - i"],
    ["2 * LANES - 2 * i", "2 * LANES - 2 * i + 1"],
]
VALUES = ["i", "t", "blk", "x", "y", "n", "m", "5", "-3", "v0", "v1", "(int)f0"]
TABLE_PLACES = [
    "i",
    "i + 1",
    "i - 1 + 8",
    "i * 7",
    "x",
    "y",
    "i >> 1",
    "i ^ 1",
    "2 * i",
    "t",
    "i / 3",
]
LEFT = [
    "i",
    "i",
    "i",
    "x",
    "y",
    "t",
    "i + 1",
    "i - 1",
    "2 * i",
    "(long)i * 3",
    "(unsigned)i",
    "(size_t)i",
    "i + (int)blk",
    "blk",
    "i * m",
    "i - 100",
    "gx + 1",
    "i & 7",
    "i % 3",
    "5 - i",
    "n - i",
    "(unsigned)i - 3u",
]
RIGHT = [
    "n",
    "n",
    "n - 1",
    "m",
    "0",
    "1",
    "100",
    "n / 2",
    "m * 3",
    "(unsigned)n",
    "(size_t)n",
    "-5",
    "n + m",
    "1 << (m & 31)",
]


class Writer:
    """The text of one kernel."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.places = self.random.choice(PLACES)

    def pick(self, choices: list[str]) -> str:
        return self.random.choice(choices)

    def own(self) -> str:
        """An element of this lane."""
        array = self.pick(["a", "b", "c"])
        return f"{array}[{self.pick(self.places)} + 64]"

    def value(self, depth: int) -> str:
        if depth == 0:
            table = f"r[({self.pick(TABLE_PLACES)}) & {TABLE - 1}]"
            return self.pick([*VALUES, table, table])
        a, b = self.value(depth - 1), self.value(depth - 1)
        return self.pick(
            [
                f"min((int)({a}), (int)({b}))",
                f"(({a}) > ({b}) ? ({a}) : ({b}))",
                f"(({a}) >> {self.random.randint(0, 5)})",
                f"(int)(({a}) < ({b}))",
                f"(({a}) / {self.pick(['2', '3', '7', '16', '-5'])})",
                *(f"(int)((unsigned)({a}) {op} (unsigned)({b}))" for op in "+-*&|^"),
            ]
        )

    def condition(self) -> str:
        compare = self.pick(["<", "<", "<=", ">", ">=", "==", "!="])
        return f"{self.pick(LEFT)} {compare} {self.pick(RIGHT)}"

    def statement(self, depth: int) -> str:
        kind = self.random.random()
        if kind < 0.35:
            return f"{self.own()} {self.pick(['=', '+=', '^='])} {self.value(2)};"
        if kind < 0.55:
            return f"{self.pick(['v0', 'v1'])} = {self.value(2)};"
        if kind < 0.62:
            return f"v0 += {self.own()};"
        if kind < 0.68:
            place = self.pick(self.places)
            f = f"g[{place} + 64]"
            return f"f0 = f0 * 0.5f + v1; {f} = f0 + 2.0f * {f};"
        if kind < 0.73 and depth > 0:
            count = self.pick(["3", "4", "(m & 7)", "(i & 3)"])
            inner = self.statement(depth - 1)
            return f"for (int q = 0; q < {count}; q++) {{ {inner} v1 += q; }}"
        if kind < 0.76:
            index = self.value(1)
            return f"{{ int four[4] = {{i, m, v0, v1}}; v0 = four[{index} & 3]; }}"
        if kind < 0.79:
            return f"atomicAdd(&h[({self.value(1)}) & 15], {self.pick(['1', '2'])});"
        if kind < 0.83:
            return f"if ({self.condition()}) return;"
        if depth == 0:
            return f"v1 ^= {self.value(1)};"
        both = self.pick(["", f" && {self.condition()}", f" || {self.condition()}"])
        then = " ".join(self.statement(depth - 1) for _ in range(2))
        other = self.pick(["", f" else {{ {self.statement(depth - 1)} }}"])
        return f"if ({self.condition()}{both}) {{ {then} }}{other}"

    def kernel(self, name: str) -> str:
        restrict = self.pick(["", "", "__restrict__"])
        plane = self.random.random() < 0.5
        index = "gy * (int)(gridDim.x * blockDim.x) + gx" if plane else "gx"
        row = "blockIdx.y * blockDim.y + threadIdx.y" if plane else "0"
        lines = [
            f'extern "C" __global__ void {name}(int *a, int *b, int *c,',
            f"    float *g, unsigned *h, const int *{restrict} r, int n, int m) {{",
            "    int gx = blockIdx.x * blockDim.x + threadIdx.x;",
            f"    int gy = {row}, i = {index}, x = gx, y = gy;",
            f"    int t = {self.pick(['threadIdx.x', 'gx & 31', '3'])};",
            f"    int blk = {self.pick(['blockIdx.x', 'gridDim.x', '7'])};",
            "    int v0 = i * 3, v1 = m; float f0 = i;",
            *(f"    {self.statement(2)}" for _ in range(self.random.randint(2, 6))),
            "}",
        ]
        return "\n".join(lines)


def source(seed: int, count: int) -> str:
    """A program with kernels k0, k1, ..."""
    kernels = [Writer(seed * 1000 + i).kernel(f"k{i}") for i in range(count)]
    return f"#define LANES {LANES_MAX}\n" + "\n".join(kernels)
