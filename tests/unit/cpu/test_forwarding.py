# SPDX-License-Identifier: MIT
"""Values that stay in memory from one round of a loop to the next, and LLVM's pass for them.

LLVM 20's loop load elimination takes a word that the round before wrote, though a byte of
it was written since.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .kernel_image import Image
from .rtc_library import Rtc, zig_path

pytestmark = pytest.mark.usefixtures("no_cache")

ROUNDS, LANES = 9, 40
LOOP = """
    for (int j = 0; j < n; j++) {
        ((unsigned char *)p)[4 * j + 3] = h;
        p[j + 1] = h * 31u;
        h = h * 33u ^ p[j];
    }
"""
HEAD = "(unsigned *p, unsigned *out, int n, int lanes) {{"
PLACE = """
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lanes) return;
    p += i * (n + 1);
    unsigned h = i * 40503u + 7;
"""
KERNEL = 'extern "C" __global__ void k' + HEAD.format() + PLACE
SOURCES = {
    "in the kernel": KERNEL + LOOP + "out[i] = h; }",
    "by a function": """
        __device__ unsigned step(unsigned *p, unsigned h) {
            ((unsigned char *)p)[3] = h;
            p[1] = h * 31u;
            return h * 33u ^ p[0];
        }
        __device__ unsigned other(unsigned *p, unsigned h) { return h; }
    """
    + KERNEL
    + """
        unsigned (*f)(unsigned *, unsigned) = lanes > 0 ? step : other;
        for (int j = 0; j < n; j++) h = f(p + j, h);
        out[i] = h; }""",
    "by recursion": """
        __device__ unsigned walk(unsigned *p, int j, int n, unsigned h) {
            if (j == n) return h;
            ((unsigned char *)p)[4 * j + 3] = h;
            p[j + 1] = h * 31u;
            return walk(p, j + 1, n, h * 33u ^ p[j]);
        }
    """
    + KERNEL
    + "out[i] = walk(p, 0, n, h); }",
    "in two loops": KERNEL
    + """
        for (int j = 0; j < n; j++) {
            for (int c = 0; c < 3; c++) ((unsigned char *)p)[4 * j + 1 + c] = h >> c;
            p[j + 1] = h * 31u;
            h = h * 33u ^ p[j];
        }
        out[i] = h; }""",
    "by memcpy": KERNEL
    + """
        for (int j = 0; j < n; j++) {
            unsigned short two = h;
            __builtin_memcpy((char *)(p + j) + 1, &two, 2);
            p[j + 1] = h * 31u;
            h = h * 33u ^ p[j];
        }
        out[i] = h; }""",
}
PARTS = {
    "in two loops": lambda h: [(h & 255, 8), (h >> 1 & 255, 16), (h >> 2 & 255, 24)],
    "by memcpy": lambda h: [(h & 255, 8), (h >> 8 & 255, 16)],
}


def right(name: str) -> tuple[np.ndarray, np.ndarray]:
    """What the loop leaves in memory, and its last value."""
    p = np.zeros((LANES, ROUNDS + 1), np.uint32)
    out = np.zeros(LANES, np.uint32)
    parts: Any = PARTS.get(name, lambda h: [(h & 255, 24)])
    for i in range(LANES):
        h, words = (i * 40503 + 7) % 2**32, [0] * (ROUNDS + 1)
        for j in range(ROUNDS):
            for byte, at in parts(h):
                words[j] = words[j] & ~(255 << at) | byte << at
            words[j + 1] = h * 31 % 2**32
            h = (h * 33 ^ words[j]) % 2**32
        p[i], out[i] = words, h
    return p, out


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3"])
@pytest.mark.parametrize("name", SOURCES)
def test_byte_written_between_word_and_its_load_is_seen(
    rtc: Rtc, tmp_path: Path, name: str, level: str
) -> None:
    kernel = Image(rtc, tmp_path, SOURCES[name], [level]).kernels["k"]
    want = right(name)

    for run in (kernel.run_reference, kernel.run_fast if kernel.has_fast else None):
        if run is not None:
            got = np.zeros_like(want[0]), np.zeros_like(want[1])
            run((2, 1, 1), (32, 1, 1), [*got, np.int32(ROUNDS), np.int32(LANES)])
            np.testing.assert_array_equal(got[0], want[0])
            np.testing.assert_array_equal(got[1], want[1])


def host_ir(options: list[str], folder: Path) -> str:
    """The loop as the compiler alone optimises it."""
    source = folder / "loop.c"
    source.write_text(f"void f(unsigned *p, int n, unsigned h) {{{LOOP}}}")
    command = [
        zig_path(),
        "clang",
        "-cc1",
        "-triple",
        "x86_64-unknown-linux-gnu",
        "-O1",
    ]
    command += [*options, "-emit-llvm", "-o", "-", str(source)]
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=True
    ).stdout


def test_switch_that_we_use_turns_the_pass_off(tmp_path: Path) -> None:
    assert "store_forwarded" not in host_ir(["-mllvm", "-max-dependences=1"], tmp_path)


@pytest.mark.xfail(
    strict=True,
    reason="LLVM 20; where this passes HA_NO_FORWARDING and rewrite_forward.c can go",
)
def test_compiler_alone_keeps_the_byte(tmp_path: Path) -> None:
    assert "store_forwarded" not in host_ir([], tmp_path)
