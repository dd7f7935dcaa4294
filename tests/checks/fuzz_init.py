# SPDX-License-Identifier: MIT
"""Random kernels that read what nobody wrote, beside an oracle in Python.

`python -m tests.checks.fuzz_init --seconds 60 --seed 1` looks for a kernel whose
findings under HIPADAPT_CHECK=init, by line and number, are not those of the oracle, and
prints it.  `--kernels N` ends after so many.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from .init_oracle import Machine
from .random_init import (
    ARRAYS,
    BLOCKS,
    LANES,
    VARIABLES,
    WORDS,
    Expression,
    Program,
    Statement,
    program,
)

if TYPE_CHECKING:
    from tests.kernels.gpu import Gpu

COUNT = 12  # kernels a module
LAUNCHES = 2
HEAD = """\
#include <string.h>
__device__ unsigned rounds(unsigned x, unsigned y, int n)
{
    unsigned sum = x + y;
    return n > 0 ? rounds(sum, y, n - 1) : sum;
}
"""


class Text:
    """A module's source, and the line of each statement that decides something."""

    def __init__(self) -> None:
        self.lines = HEAD.split("\n")[:-1]
        self.places: dict[int, int] = {}
        self.loops = 0

    def term(self, term: Expression) -> str:
        kind = term[0]
        if kind == "const":
            return f"{term[1]}u"
        if kind == "lane":
            return "t"
        if kind == "binary":
            return f"({self.term(term[2])} {term[1]} {self.term(term[3])})"
        if kind == "times":
            return f"({self.term(term[1])} * {term[2]}u)"
        if kind == "shift":
            operator = "<<" if term[2] > 0 else ">>"
            return f"({self.term(term[1])} {operator} {abs(term[2])})"
        if kind == "cast":
            return f"(unsigned)({term[1]}){self.term(term[2])}"
        if kind == "call":
            return f"rounds({self.term(term[1])}, {self.term(term[2])}, {term[3]})"
        if kind == "choice":
            return f"((t & {term[1]}) ? {self.term(term[2])} : {self.term(term[3])})"
        return self.place(term)

    @staticmethod
    def place(place: Expression) -> str:
        kind = place[0]
        if kind == "var":
            return f"v{place[1]}"
        if kind == "local":
            return f"own[{'t & 3' if place[1] == 't' else place[1]}]"
        if kind == "shared":
            return f"s[t ^ {place[1]}]"
        return f"{place[1]}[i]"

    def put(self, depth: int, text: str, statement: Statement | None = None) -> None:
        self.lines.append("    " * depth + text)
        if statement is not None:
            self.places[id(statement)] = len(self.lines)

    def statement(self, depth: int, one: Statement) -> None:
        kind = one[0]
        if kind == "set":
            self.put(depth, f"{self.place(one[1])} = {self.term(one[2])};")
        elif kind == "part":
            word = "unsigned char" if one[2] == 1 else "unsigned short"
            self.put(
                depth,
                f"(({word} *)&{self.place(one[1])})[{one[3]}] = {self.term(one[4])};",
            )
        elif kind == "copy":
            to, source = self.place(one[1]), self.place(one[2])
            self.put(
                depth,
                f"memmove((char *)&{to} + {one[3]}, (char *)&{source} + {one[3]}, {one[4]});",
            )
        elif kind == "atomic":
            self.put(
                depth,
                f"v{one[2]} = atomic{one[1]}(&{self.place(one[3])}, {self.term(one[4])});",
            )
        elif kind == "if":
            self.put(
                depth,
                f"if ({self.term(one[2])} {one[1]} {self.term(one[3])}) sink ^= 1;",
                one,
            )
        elif kind == "index":
            self.put(depth, f"sink += c[{self.term(one[1])} & {WORDS - 1}];", one)
        elif kind == "float":
            self.put(
                depth,
                f"if ((float){self.term(one[1])} * 2.0f > (float){self.term(one[2])}) sink ^= 2;",
                one,
            )
        elif kind == "barrier":
            self.put(depth, "__syncthreads();")
        elif kind == "shuffle":
            self.put(depth, f"v{one[1]} = __shfl_xor({self.term(one[2])}, {one[3]});")
        else:
            self.compound(depth, one)

    def compound(self, depth: int, one: Statement) -> None:
        if one[0] == "branch":
            self.put(depth, f"if (t & {one[1]}) {{")
            self.block(depth + 1, one[2])
            self.put(depth, "} else {")
            self.block(depth + 1, one[3])
        else:
            self.loops += 1
            name = f"r{self.loops}"
            self.put(depth, f"for (int {name} = 0; {name} < {one[1]}; {name}++) {{")
            self.block(depth + 1, one[2])
        self.put(depth, "}")

    def block(self, depth: int, statements: list[Statement]) -> None:
        for one in statements:
            self.statement(depth, one)

    def kernel(self, made: Program) -> None:
        variables = ", ".join(f"v{k}" for k in range(VARIABLES))
        self.put(0, f'extern "C" __global__ void {made.name}(unsigned *a, unsigned *b,')
        self.put(1, "const unsigned *c, unsigned *out)")
        self.put(0, "{")
        self.put(1, f"__shared__ unsigned s[{LANES}];")
        self.put(1, f"unsigned own[4], {variables}, sink = 0;")
        self.put(1, "unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;")
        self.block(1, made.body)
        self.put(1, "out[i] = sink;")
        self.put(0, "}")


class Device:
    """The kernels of one module on the CPU device, whose findings are asked for."""

    def __init__(self, programs: list[Program], source: str) -> None:
        from tests.kernels.gpu import Gpu

        self.gpu: Gpu = Gpu()
        self.module = self.gpu.build(source, file="fuzz.hip")
        self.programs = programs

    def host(self, arrays: dict[str, int], step: Statement) -> None:
        from hipadapt import hip
        from tests.kernels.gpu import ok

        kind, array, first, size, last = step
        to = arrays[array] + first
        if kind == "fill":
            ok(hip.hipMemset(to, last, size))
        elif kind == "write":
            data = np.full(size, last, np.uint8)
            ok(hip.hipMemcpy(to, data, size, hip.hipMemcpyKind.hipMemcpyHostToDevice))
        else:
            source = arrays[next(name for name in ARRAYS if name != array)] + last
            ok(
                hip.hipMemcpy(
                    to, source, size, hip.hipMemcpyKind.hipMemcpyDeviceToDevice
                )
            )

    def run(self, made: Program) -> Counter[int]:
        """Findings by line."""
        from hipadapt import hip
        from tests.kernels.gpu import ok

        from . import finding

        finding.clear()
        arrays = {}
        for name in ARRAYS:
            arrays[name] = int(ok(hip.hipMalloc(4 * WORDS)))
            ctypes.memset(arrays[name], 0, 4 * WORDS)  # unseen: no call of HIP
        table = self.gpu.upload(np.arange(WORDS, dtype=np.uint32))
        out = self.gpu.upload(np.zeros(WORDS, np.uint32))
        for step in made.host:
            self.host(arrays, step)
        for _ in range(LAUNCHES):
            self.gpu.launch(
                self.module.function(made.name),
                BLOCKS,
                LANES,
                (arrays["a"], arrays["b"], table, out),
            )
        ok(hip.hipDeviceSynchronize())
        found: Counter[int] = Counter()
        for one in finding.findings():
            # Nothing else is wrong with these kernels.
            found[one.here.line if one.kind == "uninitialised" else 0] += one.count
        for address in arrays.values():
            ok(hip.hipFree(address))
        return found


def expected(made: Program, places: dict[int, int]) -> Counter[int]:
    machine = Machine(places)
    for step in made.host:
        machine.host(step)
    for _ in range(LAUNCHES):
        machine.launch(made)
    return machine.found


def check(seed: int) -> tuple[int, int, list[str]]:
    """Kernels of a module, findings in them, and a report for each that differs."""
    programs = [program(seed * COUNT + k, k) for k in range(COUNT)]
    text = Text()
    for made in programs:
        text.kernel(made)
    source = "\n".join(text.lines) + "\n"
    device = Device(programs, source)
    reports, total = [], 0
    for made in programs:
        got, want = device.run(made), expected(made, text.places)
        total += sum(want.values())
        for line in sorted(set(got) | set(want)):
            if got[line] != want[line]:
                reports.append(
                    f"{made.name} of seed {seed}, line {line}: found {got[line]} times, "
                    f"not {want[line]}: {text.lines[line - 1].strip() if line else ''}"
                )
        if any(report.startswith(made.name + " ") for report in reports):
            reports.append(f"host: {made.host}\n{source}")
    device.gpu.close()
    return len(programs), total, reports


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kernels", type=int, default=0)
    parser.add_argument("--kinds", default="init")
    chosen = parser.parse_args()
    if "HIPADAPT_CHECK" not in os.environ:  # it is read once, at the start
        os.environ["HIPADAPT_CHECK"] = f"{chosen.kinds},quiet"
        os.environ["HIPADAPT_PROVIDER"] = "cpu"
        os.environ["HIPADAPT_CACHE"] = "0"
        os.environ["HIPADAPT_COMPILE_TIMEOUT"] = "600"
        os.execv(
            sys.executable,
            [sys.executable, "-m", "tests.checks.fuzz_init", *sys.argv[1:]],
        )
    end, seed, kernels, findings, failed = (
        time.monotonic() + chosen.seconds,
        chosen.seed,
        0,
        0,
        0,
    )
    while kernels < chosen.kernels if chosen.kernels else time.monotonic() < end:
        count, found, reports = check(seed)
        for report in reports:
            print(report, flush=True)
        kernels, findings, failed, seed = (
            kernels + count,
            findings + found,
            failed + bool(reports),
            seed + 1,
        )
    print(f"{kernels} kernels, {findings} findings expected, {failed} modules differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
