# SPDX-License-Identifier: MIT
"""How long hiprtc compiles on the CPU device: `python -m benchmarks.compile_time`.

Rows are programs of some shapes.  Each is compiled *cold*, with an empty cache folder;
*new*, never seen before, in a folder that other programs have used; and *edited*, after
one statement of one kernel has changed.  `--beside LIBRARY` compiles the same with the
libhipadapt_cpu.so of another build, turn by turn, and prints the ratio.  Times are the
least of all turns.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import hipadapt

from .runtime import SEVEN

SMALL = """extern "C" __global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = %d.0f * x[i] + 1.0f;
}
"""
NAMES = [f"k<{t}, {n}>" for t in ("float", "double") for n in range(1, 101)]


def deep(number: int) -> str:
    """540 lines: functions that call each other, each with a loop."""
    text = f"__device__ float f0(float x, int n) {{ return x * {number}.0f + n; }}\n"
    for i in range(1, 60):
        text += f"""__device__ float f{i}(float x, int n) {{
    float s = x;
    for (int i = 0; i < n; i++) {{
        s = s * 1.{i:03}f + x;
        if (s > 1e{i % 30}f)
            s -= {i}.5f;
    }}
    return f{i - 1}(s, n + {i});
}}
"""
    return text + (
        'extern "C" __global__ void deep(float *x, int n) {\n'
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) x[i] = f59(x[i], n);\n}\n"
    )


def barriers(number: int) -> str:
    """One kernel with 250 barriers."""
    steps = "".join(
        f"    s[t] = s[(t + {i + 1}) % 256] * 1.5f + {number % 97 + i}.0f;\n"
        "    __syncthreads();\n"
        for i in range(250)
    )
    return (
        'extern "C" __global__ void meet(float *x) {\n'
        "    __shared__ float s[256];\n    int t = threadIdx.x;\n    s[t] = x[t];\n"
        f"    __syncthreads();\n{steps}    x[t] = s[t];\n}}\n"
    )


def instances(number: int) -> str:
    """Three lines, of which name expressions make 200 kernels."""
    return (
        "template <typename T, int N> __global__ void k(T *x, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x; T s = x[i];\n"
        "    for (int j = 0; j < N; j++) s = s * x[i + j]"
        f" + T({number}); x[i] = s; }}\n"
    )


@dataclass
class Row:
    """A program; `make` takes a number that makes its text new or edited."""

    name: str
    make: Callable[[int], str]
    expressions: list[str]
    goal_ms: int | None = None


ROWS = [
    Row("1 small kernel", lambda number: SMALL % number, []),
    Row("7 small kernels", lambda number: SEVEN % number, [], 150),
    Row("1 kernel of 540 lines", deep, [], 1200),
    Row("1 kernel with 250 barriers", barriers, [], 1000),
    Row("200 template instances", instances, NAMES, 5000),
]


def compiler() -> str:
    """The compiler of kernels: a library that Python did not load does not find it."""
    package = importlib.util.find_spec("ziglang")
    assert package is not None
    assert package.origin is not None
    zig = Path(package.origin).parent / "zig"
    return os.environ.get("HIPADAPT_COMPILER", str(zig))


class Compiler:
    """hiprtc of one library, in a process of its own: two cannot be in one."""

    def __init__(self, library: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.compile_time", "--serve", library],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "HIPADAPT_COMPILER": compiler()},
        )

    def seconds(self, cache: str, text: str, names: list[str]) -> float:
        """From source to code object; a failure ends the program."""
        assert self.process.stdin
        assert self.process.stdout
        print(json.dumps([cache, text, names]), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit("benchmarks.compile_time: a compiler has ended")
        return float(answer)


def compile_one(rtc: ctypes.CDLL, text: str, names: list[str]) -> float:
    """Seconds from source to code object."""
    program = ctypes.c_void_p()
    begin = time.perf_counter()
    status = rtc.hiprtcCreateProgram(
        ctypes.byref(program), text.encode(), b"bench.hip", 0, None, None
    )
    for name in names:
        status = status or rtc.hiprtcAddNameExpression(program, name.encode())
    status = status or rtc.hiprtcCompileProgram(program, 0, None)
    taken = time.perf_counter() - begin
    if status != 0:
        sys.exit(f"benchmarks.compile_time: hiprtc code {status}")
    rtc.hiprtcDestroyProgram(ctypes.byref(program))
    return taken


def serve(library: str) -> None:
    """Compiles what arrives, line by line."""
    rtc = ctypes.CDLL(library)
    for line in sys.stdin:
        os.environ["HIPADAPT_CACHE_DIR"], text, names = json.loads(line)
        print(compile_one(rtc, text, names), flush=True)


def cold(compiler: Compiler, cache: str, row: Row, number: int) -> float:
    """Seconds with an empty cache."""
    return compiler.seconds(cache, row.make(number), row.expressions)


def new(compiler: Compiler, cache: str, row: Row, number: int) -> float:
    """Seconds of a program that is new in a used folder."""
    compiler.seconds(cache, "// Nothing.", [])
    return compiler.seconds(cache, row.make(number), row.expressions)


def edited(compiler: Compiler, cache: str, row: Row, number: int) -> float:
    """Seconds of the second compilation, of a text that differs by its number."""
    compiler.seconds(cache, row.make(number), row.expressions)
    return compiler.seconds(cache, row.make(number + 1), row.expressions)


HOW = {"cold": cold, "new": new, "edited": edited}


def measure(row: Row, compilers: list[Compiler], turns: int) -> None:
    """Prints one row: a column for each way of compiling."""
    cells = []
    for how in HOW.values():
        least = [float("inf")] * len(compilers)
        for number in range(turns):
            for i, compiler in enumerate(compilers):
                with tempfile.TemporaryDirectory(prefix="hipadapt-bench-") as cache:
                    taken = how(compiler, cache, row, 1 + 2 * number)
                least[i] = min(least[i], taken)
        other = f" ({least[0] / least[1]:4.2f}x)" if len(compilers) > 1 else ""
        cells.append(f"{least[0] * 1e3:9.1f}{other}")
    goal = "" if row.goal_ms is None else f"{row.goal_ms:8}"
    print(f"{row.name:28}" + "".join(cells) + goal, flush=True)


def main() -> int:
    """Prints the table, in milliseconds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compile_time")
    parser.add_argument("--beside", metavar="LIBRARY", help="of another build")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", default="", help="rows whose name has this in it")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return 0
    own = Path(hipadapt.__file__).parent / "_lib" / "libhipadapt_cpu.so"
    paths = [str(own)] + ([options.beside] if options.beside else [])
    compilers = [Compiler(path) for path in paths]
    width = 18 if options.beside else 9
    print(f"{'ms':28}" + "".join(f"{how:>{width}}" for how in HOW) + "    goal")
    for row in ROWS:
        if options.only in row.name:
            measure(row, compilers, options.turns)
    return 0


if __name__ == "__main__":
    sys.exit(main())
