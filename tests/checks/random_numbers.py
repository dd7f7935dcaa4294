# SPDX-License-Identifier: MIT
"""Random kernels that compute, and which line makes the first NaN of which lane.

    python -m tests.checks.random_numbers --kernels 500 --seed 1

The oracle computes each operation of each lane with numpy and the C library, and looks
at its operands and its result.  Of operations that do not depend on each other, with no
branch and no call between them, any may be the first.
"""

from __future__ import annotations

import argparse
import ctypes
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.kernels.worker import Worker

from .finding import Finding
from .kernels import Outcome, Run, client

FILE = "random.hip"
LANES = 40
INPUTS = 4  # arrays of numbers
MATH = ctypes.CDLL("libm.so.6")
UNARY = ("sqrt", "log", "exp", "log2", "exp2", "acos", "sin", "cos", "tanh")
BINARY = ("pow", "fmod", "atan2")
CALLS = (*UNARY, *BINARY)


def number(value: Any, double: bool) -> Any:
    return np.float64(value) if double else np.float32(value)


# ---- expressions ----


@dataclass
class Value:
    """A value of one lane, and what was made on the way to it."""

    value: Any
    made: frozenset[str] = frozenset()  # by operations on what nothing was made of
    tainted: bool = False  # by what was made before


@dataclass
class Expression:
    text: str
    run: Callable[[dict[str, Value]], Value]

    @property
    def plain(self) -> bool:
        """Without a branch or a call."""
        return "?" not in self.text and not any(f in self.text for f in CALLS)


def judged(result: Any, operands: Sequence[Value]) -> Value:
    """The result of an operation; what its operands made comes before it."""
    made = frozenset().union(*(one.made for one in operands))
    tainted = bool(made) or any(one.tainted for one in operands)
    values = [one.value for one in operands]
    if not tainted and np.isnan(result) and not any(np.isnan(v) for v in values):
        made = frozenset({"nan"})
    if not tainted and np.isinf(result) and all(np.isfinite(v) for v in values):
        made = frozenset({"infinity"})
    return Value(result, made, tainted or bool(made))


def name(variable: str) -> Expression:
    return Expression(variable, lambda env: env[variable])


def literal(text: str, double: bool) -> Expression:
    value = number(float(text), double)
    return Expression(text if double else f"{text}f", lambda env: Value(value))


def operation(sign: str, left: Expression, right: Expression) -> Expression:
    compute = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
    }[sign]

    def run(env: dict[str, Value]) -> Value:
        a, b = left.run(env), right.run(env)
        return judged(compute(a.value, b.value), [a, b])

    return Expression(f"({left.text} {sign} {right.text})", run)


def call(function: str, double: bool, *given: Expression) -> Expression:
    symbol = function if double else f"{function}f"
    library = getattr(MATH, symbol)
    kind = ctypes.c_double if double else ctypes.c_float
    library.restype, library.argtypes = kind, [kind] * len(given)

    def run(env: dict[str, Value]) -> Value:
        values = [one.run(env) for one in given]
        result = library(*(float(one.value) for one in values))
        return judged(number(result, double), values)

    return Expression(f"{symbol}({', '.join(one.text for one in given)})", run)


def as_half(value: Any) -> Any:
    return np.float32(np.float16(value))


def converted(to: str, double: bool, given: Expression) -> Expression:
    """To another type and back."""
    text = f"(({'double' if double else 'float'})({to}){given.text})"

    def run(env: dict[str, Value]) -> Value:
        one = given.run(env)
        inner = as_half(one.value) if to == "_Float16" else np.float32(one.value)
        return judged(number(inner, double), [one])

    return Expression(text, run)


def chosen(left: str, right: str, yes: Expression, no: Expression) -> Expression:
    def run(env: dict[str, Value]) -> Value:
        return (yes if env[left].value > env[right].value else no).run(env)

    return Expression(f"({left} > {right} ? {yes.text} : {no.text})", run)


# ---- programs ----


@dataclass
class Statement:
    """One line: it gives a new variable its value."""

    variable: str
    kind: str  # plain, if, loop, function
    expression: Expression
    guard: tuple[str, str] = ("", "")  # if: the first is less than the second
    sign: str = ""  # loop: what is done in each round
    line: int = 0


@dataclass
class Program:
    name: str
    double: bool
    inputs: np.ndarray
    rounds: np.ndarray
    barriers: bool  # behind each statement: lanes take turns
    statements: list[Statement] = field(default_factory=list)


class Maker:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def inputs(self, double: bool) -> np.ndarray:
        """Mostly numbers that are easy; a few are not."""
        pick = self.random
        huge = 1e300 if double else 1e30
        odd = [0.0, -0.0, np.inf, -np.inf, np.nan, huge, -huge, 1 / huge, 7e4, 1e39]
        dtype = np.float64 if double else np.float32
        values = [
            pick.choice(odd) if pick.random() < 0.15 else pick.uniform(-3, 3)
            for _ in range(INPUTS * LANES)
        ]
        with np.errstate(all="ignore"):
            array = np.array(values, np.float64).astype(dtype)
        if pick.random() < 0.3:
            signalling = 0x7FF4000000000000 if double else 0x7FA00000
            bits = array.view(np.uint64 if double else np.uint32)
            bits[pick.randrange(bits.size)] = signalling
        return array

    def program(self, index: int) -> Program:
        pick = self.random
        double = pick.random() < 0.4
        program = Program(
            f"k{index}",
            double,
            self.inputs(double),
            np.array([pick.randrange(5) for _ in range(LANES)], np.int32),
            pick.random() < 0.5,
        )
        names = [f"x{i}" for i in range(INPUTS)]
        for at in range(pick.randrange(3, 9)):
            program.statements.append(self.statement(f"v{at}", names, double))
            names.append(f"v{at}")
        return program

    def statement(self, variable: str, names: list[str], double: bool) -> Statement:
        pick = self.random
        kind = pick.choice(["plain", "plain", "plain", "if", "loop", "function"])
        if kind == "loop":
            expression = name(pick.choice(names))
            sign = pick.choice("+-*/")
            return Statement(variable, kind, expression, sign=sign)
        guard = (pick.choice(names), pick.choice(names))
        return Statement(variable, kind, self.expression(names, double, 2), guard)

    def leaf(self, names: list[str], double: bool) -> Expression:
        pick = self.random
        if pick.random() < 0.15:
            texts = ["1.0", "0.0", "2.5", "-3.0", "1e20", "1e-20"]
            return literal(pick.choice(texts), double)
        return name(pick.choice(names))

    def expression(self, names: list[str], double: bool, depth: int) -> Expression:
        pick = self.random
        if depth == 0:
            return self.leaf(names, double)
        inner = lambda: self.expression(names, double, depth - pick.randrange(1, 3))  # noqa: E731
        choice = pick.random() if depth < 2 else pick.random() * 0.95
        depth = max(depth, 1)
        if choice < 0.55:
            left = self.expression(names, double, depth - 1)
            # A literal on both sides is computed before the kernel runs.
            return operation(pick.choice("+-*/"), left, name(pick.choice(names)))
        if choice < 0.7:
            return call(pick.choice(UNARY), double, name(pick.choice(names)))
        if choice < 0.78:
            given = (name(pick.choice(names)), name(pick.choice(names)))
            return call(pick.choice(BINARY), double, *given)
        if choice < 0.88:
            left, right = pick.choice(names), pick.choice(names)
            yes = self.expression(names, double, depth - 1)
            return chosen(left, right, yes, self.leaf(names, double))
        if choice < 0.95:
            to = pick.choice(["_Float16", "float"] if double else ["_Float16"])
            return converted(to, double, name(pick.choice(names)))
        return inner()


class Text:
    """Writes programs, and gives each statement its line."""

    def __init__(self) -> None:
        self.lines = ["#pragma clang fp contract(off)"]

    def add(self, line: str) -> int:
        self.lines.append(line)
        return len(self.lines)

    def program(self, program: Program) -> None:
        real = "double" if program.double else "float"
        names = [f"x{i}" for i in range(INPUTS)]
        for at, statement in enumerate(program.statements):
            if statement.kind == "function":
                given = ", ".join(f"{real} {one}" for one in [*names, *self.before(at)])
                self.add(
                    f"__device__ __noinline__ {real} {program.name}_{at}({given}) {{"
                )
                statement.line = self.add(f"    return {statement.expression.text};")
                self.add("}")
        self.add(f'extern "C" __global__ void {program.name}(')
        self.add(f"    const {real} *x, const int *n, {real} *y) {{")
        self.add("    int t = threadIdx.x;")
        for i, one in enumerate(names):
            self.add(f"    {real} {one} = x[{i * LANES} + t];")
        for at, statement in enumerate(program.statements):
            self.statement(program, statement, at, real)
            if program.barriers:
                self.add("    __syncthreads();")
        for at in range(len(program.statements)):
            self.add(f"    y[{at * LANES} + t] = v{at};")
        self.add("}")

    @staticmethod
    def before(at: int) -> list[str]:
        return [f"v{i}" for i in range(at)]

    def statement(
        self, program: Program, statement: Statement, at: int, real: str
    ) -> None:
        variable, text = statement.variable, statement.expression.text
        if statement.kind == "plain":
            statement.line = self.add(f"    {real} {variable} = {text};")
        elif statement.kind == "if":
            left, right = statement.guard
            self.add(f"    {real} {variable} = 4;")
            self.add(f"    if ({left} < {right})")
            statement.line = self.add(f"        {variable} = {text};")
        elif statement.kind == "loop":
            self.add(f"    {real} {variable} = 1;")
            self.add("    for (int i = 0; i < n[t]; i++)")
            line = f"        {variable} = {variable} {statement.sign} {text};"
            statement.line = self.add(line)
        else:
            names = [f"x{i}" for i in range(INPUTS)] + self.before(at)
            given = ", ".join(names)
            self.add(f"    {real} {variable} = {program.name}_{at}({given});")


# ---- the oracle ----


Event = tuple[int, str]  # line and kind


def regions(program: Program) -> list[tuple[int, int]]:
    """Of each statement the first and last piece of code without branches and calls."""
    pieces, at = [], 0
    for statement in program.statements:
        straight = (
            statement.kind in ("plain", "function") and statement.expression.plain
        )
        pieces.append((at, at if straight else at + 1))
        at = pieces[-1][1] + program.barriers
    return pieces


def run_lane(program: Program, lane: int) -> tuple[list[Any], set[Event]]:
    """The values of the variables; what may be the first that is made."""
    env = {f"x{i}": Value(program.inputs[i * LANES + lane]) for i in range(INPUTS)}
    events: set[Event] = set()
    last = 0

    pieces = zip(program.statements, regions(program), strict=True)
    for statement, (begin, end) in pieces:
        made = run_statement(program, statement, env, lane)
        if made and not events:
            last = end
        if begin <= last or not events:
            events |= {(statement.line, kind) for kind in made}
    return [env[one.variable].value for one in program.statements], events


def run_statement(
    program: Program, statement: Statement, env: dict[str, Value], lane: int
) -> frozenset[str]:
    """Gives the variable its value; what was made."""
    variable = statement.variable
    if statement.kind == "loop":
        value = Value(number(1, program.double))
        made: frozenset[str] = frozenset()
        step = operation(statement.sign, name(variable), statement.expression)
        for _ in range(program.rounds[lane]):
            env[variable] = Value(value.value, frozenset(), value.tainted)
            value = step.run(env)
            made = made or value.made
        env[variable] = Value(value.value, frozenset(), value.tainted)
        return made
    if statement.kind == "if":
        env[variable] = Value(number(4, program.double))
        left, right = (env[one].value for one in statement.guard)
        if not left < right:
            return frozenset()
    result = statement.expression.run(env)
    value = number(result.value, program.double)
    env[variable] = Value(value, frozenset(), result.tainted)
    return result.made


def difference(program: Program, outcome: Outcome) -> str:
    """What was found or computed otherwise than the oracle says; empty: nothing."""
    if outcome.failure:
        return outcome.failure
    values = np.empty((LANES, len(program.statements)), program.inputs.dtype)
    events: list[set[Event]] = []
    with np.errstate(all="ignore"):
        for lane in range(LANES):
            values[lane], made = run_lane(program, lane)
            events.append(made)
    if problem := wrong_findings(outcome.findings, events):
        return problem
    computed = outcome.arrays[2].reshape(-1, LANES).T
    if not np.array_equal(computed, values, equal_nan=True):
        bad = (computed != values) & ~(np.isnan(computed) & np.isnan(values))
        return f"computes {computed[bad]}, not {values[bad]}"
    return ""


def wrong_findings(findings: Sequence[Finding], events: list[set[Event]]) -> str:
    """Lanes are counted: each is in one finding, which is one of its events."""
    counts: Counter[Event] = Counter()
    first: dict[Event, int] = {}

    for found in findings:  # several of a line that has several operations
        event = (found.here.line, found.kind)
        if found.here.thread is None or not found.here.column:
            return f"{event} has no place"
        thread = found.here.thread[0]
        if event not in events[thread]:
            return f"{event} in lane {thread}, which makes {events[thread]}"
        counts[event] += found.count
        first[event] = min(thread, first.get(event, thread))
    for event, count in counts.items():
        lanes = [lane for lane, made in enumerate(events) if event in made]
        alone = [lane for lane in lanes if len(events[lane]) == 1]
        if not len(alone) <= count <= len(lanes):
            return f"{count} lanes have {event}, not those of {lanes}"
        if alone and first[event] > alone[0]:
            return f"{event} of lane {first[event]}, not of {alone[0]}"
    total = sum(counts.values())
    wanted = sum(bool(made) for made in events)
    if total != wanted:
        return (
            f"found in {total} lanes, not in {wanted}: {sorted(set().union(*events))}"
        )
    return ""


def differences(worker: Worker, seed: int, kernels: int) -> list[str]:
    """A report for each kernel that differs."""
    maker = Maker(seed)
    programs = [maker.program(number) for number in range(kernels)]
    text = Text()
    for program in programs:
        text.program(program)
    runs = [
        Run(
            p.name,
            1,
            LANES,
            [p.inputs, p.rounds, np.zeros(LANES * len(p.statements), p.inputs.dtype)],
        )
        for p in programs
    ]
    source = "\n".join(text.lines) + "\n"
    reports = []
    for program, outcome in zip(programs, worker.ask(FILE, source, runs), strict=True):
        if problem := difference(program, outcome):
            lines = [
                f"{s.line}: {s.kind} {s.expression.text}" for s in program.statements
            ]
            listing = "\n".join(lines)
            reports.append(f"{program.name} of seed {seed}: {problem}\n{listing}\n")
    return reports


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.checks.random_numbers")
    parser.add_argument("--kernels", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    count, at_once = 0, 20
    with tempfile.TemporaryDirectory() as folder:
        worker = client(Path(folder), "nan")
        for number_ in range(0, arguments.kernels, at_once):
            seed = 1000 * arguments.seed + number_
            for report in differences(worker, seed, at_once):
                count += 1
                sys.stdout.write(report)
        worker.close()
    sys.stdout.write(f"{arguments.kernels} kernels, {count} differences\n")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
