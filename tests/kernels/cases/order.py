# SPDX-License-Identifier: MIT
"""Accesses of one lane that meet in memory, in loops that the compiler unrolls.

A fast executor gathers the accesses of neighbouring lanes into wide ones.  It must not
move a load or a store past another one of the same lane, whatever its width, which may
stand in another round of the same loop.  Each lane owns the bytes that it touches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..case import Check, case, same
from ..gpu import Gpu, InOut

LANES = 390
WORDS = 4  # of a lane
# How often a round mixes its value.  With more work in it, the front end leaves the loop
# as it is, and the back end unrolls it.
MIXES = (4, 14, 22)


@dataclass(frozen=True)
class Loop:
    """A round reads the word at ``reads[j]`` and writes ``size`` bytes to ``writes[j]``."""

    label: str
    statements: str  # MIX stands for the arithmetic on v
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    size: int


LOOPS = (
    Loop(
        "a byte behind the word that was read",
        "for (int j = 0; j < 2; j++) { unsigned *r = p + j, v = *r; MIX"
        " *(unsigned char *)(r + 1) = v; }",
        (0, 4),
        (4, 8),
        1,
    ),
    Loop(
        "half of the next word",
        "for (int j = 0; j < 3; j++) { unsigned *r = p + j, v = *r; MIX"
        " memcpy((char *)(r + 1) + 2, &v, 2); }",
        (0, 4, 8),
        (6, 10, 14),
        2,
    ),
    Loop(
        "backwards",
        "for (int j = 2; j >= 0; j--) { unsigned *r = p + j, v = r[1]; MIX"
        " *(unsigned char *)r = v; }",
        (12, 8, 4),
        (8, 4, 0),
        1,
    ),
    Loop(
        "words that overlap by half",
        "for (int j = 0; j < 6; j++) { unsigned v = *p; MIX"
        " memcpy((char *)p + 2 * j + 2, &v, 4); }",
        (0,) * 6,
        (2, 4, 6, 8, 10, 12),
        4,
    ),
    Loop(
        "the same word in two rounds of three",
        "for (int j = 0; j < 3; j++) { unsigned v = p[3 - j]; MIX p[j == 2] = v; }",
        (12, 8, 4),
        (0, 0, 4),
        4,
    ),
    Loop(
        "two loops",
        "for (int j = 0; j < 2; j++) for (int k = 0; k < 2; k++) {"
        " unsigned *r = p + 2 * j + k, v = *r; MIX"
        " if (j + k < 2) *(unsigned char *)(r + 1) = v; else p[0] = v; }",
        (0, 4, 8, 12),
        (4, 8, 12, 0),
        0,
    ),
)


def kernel(name: str, loop: Loop, mixes: int) -> str:
    mix = "v = v * 33u ^ v >> 3; v += v << 5; " * mixes
    return f"""
extern "C" __global__ void {name}(unsigned *words, int lanes) {{
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= lanes) return;
    unsigned *p = words + (long)g * {WORDS};
    {loop.statements.replace("MIX", mix)}
}}"""


def expected(before: np.ndarray, loop: Loop, mixes: int) -> np.ndarray:
    own = before.reshape(LANES, WORDS).copy().view(np.uint8)
    for source, target in zip(loop.reads, loop.writes, strict=True):
        value = own[:, source : source + 4].copy().view(np.uint32)
        for _ in range(mixes):
            value = (value * np.uint32(33)) ^ (value >> np.uint32(3))
            value = value + (value << np.uint32(5))
        size = loop.size or (4 if target == 0 else 1)
        own[:, target : target + size] = value.view(np.uint8)[:, :size]
    return own.view(np.uint32).reshape(-1)


@case()
def accesses_that_meet_in_other_rounds(gpu: Gpu) -> Iterator[Check]:
    table = [(loop, mixes) for loop in LOOPS for mixes in MIXES]
    module = gpu.build(
        "".join(
            kernel(f"touch{row}", loop, mixes)
            for row, (loop, mixes) in enumerate(table)
        )
    )
    words = np.random.default_rng(7).integers(0, 2**32, LANES * WORDS, np.uint32)
    for row, (loop, mixes) in enumerate(table):
        (got,) = gpu.call(
            module, f"touch{row}", 2, LANES // 2, InOut(words), np.int32(LANES)
        )
        yield same(f"{loop.label}, {mixes}", got, expected(words, loop, mixes))
