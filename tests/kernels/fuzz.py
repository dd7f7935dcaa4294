# SPDX-License-Identifier: MIT
"""Random kernels beside an interpreter of the same program in numpy.

`python -m tests.kernels.fuzz --seconds 60 --seed 1` looks for a program whose numbers
differ and prints it.  A program is a tree of statements.  Each statement writes itself
as HIP C++, and runs itself on arrays with one element a lane, under a mask of active
lanes: the meaning that a kernel has on a GPU, whose lanes meet again after each branch
and loop.  Everything is unsigned and wraps, so a program has exactly one result.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

WARP = 32
INPUTS = 64  # elements of the array that programs read
SLOTS = 3  # results a lane
VARIABLES = 4
DEPTH = 3

Expression = Callable[["Machine"], np.ndarray]


@dataclass
class Machine:
    """State of all lanes of a launch while a program is interpreted."""

    grid: int
    block: int
    n: int
    k: int
    x: np.ndarray
    # For each open loop, innermost last: its counter, and the lanes that have left it
    # or this round of it.
    loops: list[np.ndarray] = field(default_factory=list)
    leaves: list[dict[str, np.ndarray]] = field(default_factory=list)

    def __post_init__(self) -> None:
        count = self.grid * self.block
        self.i = np.arange(count, dtype=np.uint32)
        self.t = self.i % np.uint32(self.block)
        self.b = self.i // np.uint32(self.block)
        self.warp = self.b * 1000 + self.t // WARP
        self.v = [np.full(count, s + 1, np.uint32) for s in range(VARIABLES)]
        self.out = np.zeros((count, SLOTS), np.uint32)
        self.tile = np.zeros((self.grid, self.block), np.uint32)
        self.alive = np.ones(count, bool)


def u32(value: int) -> np.uint32:
    return np.uint32(value & 0xFFFFFFFF)


@dataclass(frozen=True)
class Term:
    """An expression of type unsigned, as text and as a function of the machine."""

    text: str
    value: Expression


@dataclass
class Program:
    """Statements, and what the interpreter needs to run them."""

    lines: list[str]
    run: Callable[[Machine], None]

    def source(self, name: str) -> str:
        body = "\n    ".join(self.lines)
        names = ", ".join(f"v{s} = {s + 1}u" for s in range(VARIABLES))
        return f"""
extern "C" __global__ void {name}(const unsigned *x, unsigned *out, unsigned n,
                                int k) {{
    __shared__ unsigned tile[1024];
    unsigned t = threadIdx.x, b = blockIdx.x, i = b * blockDim.x + t;
    unsigned {names};
    {body}
}}"""


class Writer:
    """Makes a random program."""

    def __init__(self, seed: int, *, barriers: bool, votes: bool) -> None:
        self.random = random.Random(seed)
        self.barriers = barriers
        self.votes = votes
        self.loop_names: list[str] = []

    # ---- expressions ----

    def leaf(self) -> Term:
        choice = self.random.randrange(8)
        if choice == 0:
            number = self.random.choice((0, 1, 2, 7, 31, 255, 1 << 31, 0xFFFFFFFF))
            return Term(f"{number}u", lambda m: np.broadcast_to(u32(number), m.i.shape))
        if choice == 1:
            return Term("i", lambda m: m.i)
        if choice == 2:
            return Term("t", lambda m: m.t)
        if choice == 3:
            return Term("b", lambda m: m.b)
        if choice == 4:
            return Term("n", lambda m: np.broadcast_to(u32(m.n), m.i.shape))
        if choice == 5 and self.loop_names:
            depth = self.random.randrange(len(self.loop_names))
            return Term(self.loop_names[depth], lambda m: m.loops[depth])
        s = self.random.randrange(VARIABLES)
        return Term(f"v{s}", lambda m: m.v[s])

    def term(self, depth: int = 0) -> Term:
        if depth >= DEPTH or self.random.random() < 0.25:
            return self.leaf()
        a, b = self.term(depth + 1), self.term(depth + 1)
        x, y = a.value, b.value
        one, low = np.uint32(1), np.uint32(31)
        forms: tuple[tuple[str, Expression], ...] = (
            (f"({a.text} + {b.text})", lambda m: x(m) + y(m)),
            (f"({a.text} - {b.text})", lambda m: x(m) - y(m)),
            (f"({a.text} * {b.text})", lambda m: x(m) * y(m)),
            (f"({a.text} & {b.text})", lambda m: x(m) & y(m)),
            (f"({a.text} | {b.text})", lambda m: x(m) | y(m)),
            (f"({a.text} ^ {b.text})", lambda m: x(m) ^ y(m)),
            (f"({a.text} << ({b.text} & 31u))", lambda m: x(m) << (y(m) & low)),
            (f"({a.text} >> ({b.text} & 31u))", lambda m: x(m) >> (y(m) & low)),
            (f"({a.text} / ({b.text} | 1u))", lambda m: x(m) // (y(m) | one)),
            (f"({a.text} % ({b.text} | 1u))", lambda m: x(m) % (y(m) | one)),
            (
                f"(unsigned)((int){a.text} >> ({b.text} & 31u))",
                lambda m: (x(m).view(np.int32) >> (y(m) & low).astype(np.int32)).view(
                    np.uint32
                ),
            ),
            (
                f"(unsigned)(signed char){a.text}",
                lambda m: x(m).astype(np.int8).astype(np.uint32),
            ),
            (
                f"(unsigned)((unsigned long long){a.text} * {b.text} >> 32)",
                lambda m: ((x(m).astype(np.uint64) * y(m)) >> np.uint64(32)).astype(
                    np.uint32
                ),
            ),
            (f"x[{a.text} % {INPUTS}u]", lambda m: m.x[x(m) % np.uint32(INPUTS)]),
        )
        text, value = self.random.choice(forms)
        if self.random.random() < 0.15:
            condition = self.condition(depth + 1)
            inner, test = value, condition.value
            return Term(
                f"({condition.text} ? {text} : {b.text})",
                lambda m: np.where(test(m), inner(m), y(m)),
            )
        return Term(text, value)

    def condition(self, depth: int = 0) -> Term:
        """Often the kind of comparison that bounds an index."""
        if self.random.random() < 0.5:
            scale, shift = (
                self.random.choice((1, 1, 2, -1)),
                self.random.randrange(-9, 9),
            )
            sign = self.random.choice(("<", ">=", "<=", ">", "==", "!="))
            left = f"({scale} * (int)i + {shift})"
            right = self.random.choice(("(int)n", "k", "20", "(int)n - 3"))
            numbers = {
                "(int)n": lambda m: m.n,
                "k": lambda m: m.k,
                "20": lambda m: 20,
                "(int)n - 3": lambda m: m.n - 3,
            }[right]
            return Term(
                f"({left} {sign} {right})",
                lambda m: compare(
                    sign, scale * m.i.astype(np.int64) + shift, numbers(m)
                ),
            )
        a, b = self.term(depth + 1), self.term(depth + 1)
        sign = self.random.choice(("<", ">=", "==", "!="))
        if self.random.random() < 0.4:
            return Term(
                f"((int){a.text} {sign} (int){b.text})",
                lambda m: compare(
                    sign, a.value(m).view(np.int32), b.value(m).view(np.int32)
                ),
            )
        return Term(
            f"({a.text} {sign} {b.text})",
            lambda m: compare(sign, a.value(m), b.value(m)),
        )

    # ---- statements: lines of text, and a function (machine, active lanes) ----

    def block(self, depth: int, indent: str) -> tuple[list[str], list[Any]]:
        lines: list[str] = []
        runs: list[Any] = []
        for _ in range(self.random.randrange(1, 4)):
            text, run = self.statement(depth, indent)
            lines += text
            runs.append(run)
        return lines, runs

    def statement(self, depth: int, indent: str) -> tuple[list[str], Any]:
        kinds = [self.assign, self.assign, self.store]
        if depth < DEPTH:
            kinds += [self.branch, self.branch, self.loop]
        if self.votes:
            kinds += [self.vote, self.broadcast]
        if self.loop_names:
            kinds.append(self.leave)
        if depth == 0:
            kinds.append(self.early_return)
            if self.barriers:
                kinds += [self.exchange, self.exchange]
        return self.random.choice(kinds)(depth, indent)

    def assign(self, depth: int, indent: str) -> tuple[list[str], Any]:
        s, term = self.random.randrange(VARIABLES), self.term()

        def run(m: Machine, active: np.ndarray) -> np.ndarray:
            m.v[s] = np.where(active, term.value(m), m.v[s])
            return active

        return [f"{indent}v{s} = {term.text};"], run

    def store(self, depth: int, indent: str) -> tuple[list[str], Any]:
        slot, term = self.random.randrange(SLOTS), self.term()

        def run(m: Machine, active: np.ndarray) -> np.ndarray:
            m.out[:, slot] = np.where(
                active, term.value(m) + m.out[:, slot], m.out[:, slot]
            )
            return active

        return [f"{indent}out[i * {SLOTS}u + {slot}u] += {term.text};"], run

    def branch(self, depth: int, indent: str) -> tuple[list[str], Any]:
        condition = self.condition()
        then_lines, then_runs = self.block(depth + 1, indent + "    ")
        else_lines, else_runs = self.block(depth + 1, indent + "    ")

        def run(m: Machine, active: np.ndarray) -> np.ndarray:
            taken = condition.value(m).astype(bool)
            first = run_all(m, then_runs, active & taken)
            second = run_all(m, else_runs, active & ~taken)
            return first | second

        return [
            f"{indent}if ({condition.text}) {{",
            *then_lines,
            f"{indent}}} else {{",
            *else_lines,
            f"{indent}}}",
        ], run

    def loop(self, depth: int, indent: str) -> tuple[list[str], Any]:
        limit, mask = self.term(2), self.random.choice((3, 5, 7))
        level = len(self.loop_names)
        name = f"j{level}"
        self.loop_names.append(name)
        lines, runs = self.block(depth + 1, indent + "    ")
        self.loop_names.pop()
        bound = f"m{level}"

        def run(m: Machine, active: np.ndarray) -> np.ndarray:
            limits = limit.value(m) & np.uint32(mask)
            m.loops.append(np.zeros_like(m.i))
            inside = active
            while True:
                inside = inside & (m.loops[-1] < limits)
                if not inside.any():
                    break
                left = {
                    "break": np.zeros_like(active),
                    "continue": np.zeros_like(active),
                }
                m.leaves.append(left)
                rest = run_all(m, runs, inside)
                m.leaves.pop()
                inside = rest | left["continue"]
                m.loops[-1] = m.loops[-1] + np.uint32(1)
            m.loops.pop()
            return active

        return [
            f"{indent}for (unsigned {name} = 0, {bound} = {limit.text} & {mask}u; "
            f"{name} < {bound}; {name}++) {{",
            *lines,
            f"{indent}}}",
        ], run

    def leave(self, depth: int, indent: str) -> tuple[list[str], Any]:
        """break or continue of the innermost loop, for some lanes."""
        condition, word = self.condition(), self.random.choice(("break", "continue"))

        def run(m: Machine, active: np.ndarray) -> np.ndarray:
            going = active & condition.value(m).astype(bool)
            m.leaves[-1][word] |= going
            return active & ~going

        return [f"{indent}if ({condition.text}) {word};"], run

    def early_return(self, depth: int, indent: str) -> tuple[list[str], Any]:
        condition = self.condition()

        def run(m: Machine, active: np.ndarray) -> np.ndarray:
            return active & ~condition.value(m).astype(bool)

        return [f"{indent}if ({condition.text}) return;"], run

    def vote(self, depth: int, indent: str) -> tuple[list[str], Any]:
        """How many active lanes of the warp meet a condition."""
        s, condition = self.random.randrange(VARIABLES), self.condition()

        def run(m: Machine, active: np.ndarray) -> np.ndarray:
            yes = active & condition.value(m).astype(bool)
            _, place = np.unique(m.warp, return_inverse=True)
            counts = np.bincount(place, weights=yes)[place].astype(np.uint32)
            m.v[s] = np.where(active, counts, m.v[s])
            return active

        return [f"{indent}v{s} = __popcll(__ballot({condition.text}));"], run

    def broadcast(self, depth: int, indent: str) -> tuple[list[str], Any]:
        """The value of the first active lane of the warp."""
        s = self.random.randrange(VARIABLES)

        def run(m: Machine, active: np.ndarray) -> np.ndarray:
            for warp in np.unique(m.warp[active]):
                members = active & (m.warp == warp)
                m.v[s] = np.where(members, m.v[s][members][0], m.v[s])
            return active

        return [f"{indent}v{s} = __shfl((int)v{s}, __ffsll(__ballot(1)) - 1);"], run

    def exchange(self, depth: int, indent: str) -> tuple[list[str], Any]:
        """Give a value to another lane of the block through shared memory."""
        s, term = self.random.randrange(VARIABLES), self.term()
        shift = self.random.randrange(1, 30)

        def run(m: Machine, active: np.ndarray) -> np.ndarray:
            flat = m.tile.reshape(-1)
            flat[active] = term.value(m)[active]
            source = m.b * np.uint32(m.block) + (m.t + np.uint32(shift)) % np.uint32(
                m.block
            )
            m.v[s] = np.where(active, flat[source], m.v[s])
            return active

        return [
            f"{indent}tile[t] = {term.text};",
            f"{indent}__syncthreads();",
            f"{indent}v{s} = tile[(t + {shift}u) % blockDim.x];",
            f"{indent}__syncthreads();",
        ], run

    def program(self) -> Program:
        lines = ["tile[t] = 0;", "__syncthreads();"] if self.barriers else []
        runs: list[Any] = []
        for _ in range(self.random.randrange(4, 9)):
            text, run = self.statement(0, "")
            lines += text
            runs.append(run)
        for s in range(VARIABLES):
            lines.append(f"out[i * {SLOTS}u] ^= v{s} * {2 * s + 1}u;")

        def run_program(m: Machine) -> None:
            active = run_all(m, runs, m.alive)
            for s in range(VARIABLES):
                mixed = m.out[:, 0] ^ (m.v[s] * np.uint32(2 * s + 1))
                m.out[:, 0] = np.where(active, mixed, m.out[:, 0])

        return Program(lines, run_program)


def run_all(m: Machine, runs: list[Any], active: np.ndarray) -> np.ndarray:
    """Run statements in order; the lanes that come out at the end."""
    for run in runs:
        if not active.any():
            break
        active = run(m, active)
    return active


def compare(sign: str, a: Any, b: Any) -> np.ndarray:
    table = {
        "<": np.less,
        ">=": np.greater_equal,
        "<=": np.less_equal,
        ">": np.greater,
        "==": np.equal,
        "!=": np.not_equal,
    }
    return table[sign](a, b)


SHAPES = ((3, 40, 100, 17), (2, 64, 128, -3), (5, 7, 30, 40), (1, 100, 0, 55))


def programs_of(seed: int, count: int) -> tuple[str, dict[str, Program]]:
    """One source with several kernels: plain, with votes and with barriers in turn."""
    made = {}
    for number in range(count):
        style = number % 3
        writer = Writer(seed * 1000 + number, barriers=style == 2, votes=style == 1)
        made[f"kernel{number}"] = writer.program()
    return "\n".join(p.source(name) for name, p in made.items()), made


def check_seed(gpu: Any, seed: int, count: int = 9) -> list[tuple[str, Any, Any]]:
    """Label, result and the interpreter's result, of each kernel and shape."""
    from .gpu import In, InOut

    source, programs = programs_of(seed, count)
    module = gpu.build(source)
    x = np.random.default_rng(seed).integers(0, 2**32, INPUTS, dtype=np.uint32)
    checks = []
    for name, program in programs.items():
        for grid, block, n, k in SHAPES:
            machine = Machine(grid, block, n, k, x)
            with np.errstate(over="ignore"):
                program.run(machine)
            (got,) = gpu.call(
                module,
                name,
                grid,
                block,
                In(x),
                InOut(np.zeros_like(machine.out)),
                np.uint32(n),
                np.int32(k),
            )
            label = f"seed {seed} {name} grid {grid} block {block} n {n} k {k}"
            checks.append((label, got, machine.out))
    return checks


def main() -> int:
    """Exit status 1 with the program when one differs."""
    from .gpu import Gpu

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    gpu, seed = Gpu(), chosen.seed
    end = time.monotonic() + chosen.seconds
    while time.monotonic() < end:
        for label, got, want in check_seed(gpu, seed):
            if not np.array_equal(got, want):
                name = label.split()[2]
                print(programs_of(seed, 9)[1][name].source(name))
                bad = np.argwhere(got != want)[:5].tolist()
                print(f"{label}: differs at {bad}")
                return 1
        gpu.close()
        seed += 1
    print(f"seeds {chosen.seed} to {seed - 1}: no difference")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
