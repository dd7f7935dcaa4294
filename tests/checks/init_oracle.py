# SPDX-License-Identifier: MIT
"""What kernels of random_init decide by memory that nobody wrote, in Python.

Each lane has its variables, each block its shared memory, all begin as zeros without a
value.  A sum, a difference and exclusive or lack the bits that either side lacks.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from .bits import (
    ALL,
    Bits,
    both,
    compared,
    logical_and,
    logical_or,
    shifted,
    signed_byte,
    summed,
    times,
)
from .random_init import (
    ARRAYS,
    BLOCKS,
    LANES,
    LOCALS,
    VARIABLES,
    WORDS,
    Expression,
    Program,
    Statement,
)

NOTHING = Bits(0, ALL)


class Lane:
    def __init__(self, machine: Machine, block: int, number: int) -> None:
        self.machine, self.block, self.number = machine, block, number
        self.variables = [NOTHING] * VARIABLES
        self.locals = [NOTHING] * LOCALS

    def store_of(self, place: Expression) -> tuple[list[Bits], int]:
        """The list and the index that a place means for the lane."""
        kind = place[0]
        if kind == "var":
            return self.variables, place[1]
        if kind == "local":
            return self.locals, self.number % LOCALS if place[1] == "t" else place[1]
        if kind == "shared":
            return self.machine.shared[self.block], self.number ^ place[1]
        return self.machine.arrays[place[1]], self.block * LANES + self.number

    def value(self, term: Expression) -> Bits:
        kind = term[0]
        if kind == "const":
            return Bits(term[1])
        if kind == "lane":
            return Bits(self.number)
        if kind == "binary":
            return self.binary(term[1], self.value(term[2]), self.value(term[3]))
        if kind == "times":
            return times(self.value(term[1]), term[2])
        if kind == "shift":
            return shifted(self.value(term[1]), term[2])
        if kind == "cast":
            return self.cast(term[1], self.value(term[2]))
        if kind == "call":
            # The function adds its second argument once for each round.
            result = self.value(term[1])
            for _ in range(term[3] + 1):
                result = self.binary("+", result, self.value(term[2]))
            return result
        if kind == "choice":
            return self.value(term[2] if self.number & term[1] else term[3])
        store, index = self.store_of(term)
        return store[index]

    @staticmethod
    def binary(operator: str, a: Bits, b: Bits) -> Bits:
        if operator == "&":
            return logical_and(a, b)
        if operator == "|":
            return logical_or(a, b)
        values = {
            "+": a.value + b.value,
            "-": a.value - b.value,
            "^": a.value ^ b.value,
        }
        return both(a, b, values[operator])

    @staticmethod
    def cast(word: str, a: Bits) -> Bits:
        if word == "signed char":
            return signed_byte(a)
        mask = 0xFF if word == "unsigned char" else 0xFFFF
        return Bits(a.value & mask, a.without & mask)

    def set_part(self, place: Expression, start: int, size: int, part: Bits) -> None:
        store, index = self.store_of(place)
        mask = (1 << 8 * size) - 1 << 8 * start
        value, without = (
            part.value << 8 * start & mask,
            part.without << 8 * start & mask,
        )
        old = store[index]
        store[index] = Bits(old.value & ~mask | value, old.without & ~mask | without)

    def decide(self, statement: Statement, decided: bool) -> None:
        if not decided:
            self.machine.found[self.machine.lines[id(statement)]] += 1

    def run(self, statements: list[Statement]) -> None:
        for statement in statements:
            self.step(statement)

    def step(self, statement: Statement) -> None:
        kind = statement[0]
        if kind == "set":
            result = self.value(statement[2])
            store, index = self.store_of(statement[1])
            store[index] = result
        elif kind == "part":
            _, place, size, part, term = statement
            self.set_part(place, part * size, size, self.value(term))
        elif kind == "copy":
            _, to, source, start, size = statement
            store, index = self.store_of(source)
            self.set_part(to, start, size, shifted(store[index], -8 * start))
        elif kind == "atomic":
            self.atomic(*statement[1:])
        elif kind == "if":
            sides = self.value(statement[2]), self.value(statement[3])
            self.decide(statement, compared(statement[1], *sides)[1])
        elif kind == "index":
            # Only the lowest bits are the index.
            self.decide(statement, self.value(statement[1]).without & (WORDS - 1) == 0)
        elif kind == "float":
            sides = self.value(statement[1]), self.value(statement[2])
            self.decide(statement, not any(side.without for side in sides))
        elif kind == "branch":
            self.run(statement[2] if self.number & statement[1] else statement[3])
        else:
            for _ in range(statement[1]):
                self.run(statement[2])

    def atomic(self, what: str, to: int, place: Expression, term: Expression) -> None:
        operand = self.value(term)
        store, index = self.store_of(place)
        old = store[index]
        new = {
            "Add": summed(old, operand),
            "Or": both(old, operand, old.value | operand.value),
            "Xor": both(old, operand, old.value ^ operand.value),
            "Exch": operand,
            "Max": Bits(
                max(old.value, operand.value),
                ALL if old.without | operand.without else 0,
            ),
        }
        store[index] = new[what]
        self.variables[to] = old


class Machine:
    """Device memory, and what was found so far by line."""

    def __init__(self, lines: dict[int, int]) -> None:
        self.lines = lines  # of statements by their id
        self.arrays = {name: [NOTHING] * WORDS for name in ARRAYS}
        self.shared: list[list[Bits]] = []
        self.found: Counter[int] = Counter()

    def bytes_of(self, array: str) -> list[tuple[int, int]]:
        words = self.arrays[array]
        return [
            (word.value >> 8 * i & 0xFF, word.without >> 8 * i & 0xFF)
            for word in words
            for i in range(4)
        ]

    def set_bytes(self, array: str, parts: list[tuple[int, int]]) -> None:
        for word in range(WORDS):
            four = parts[4 * word : 4 * word + 4]
            value = sum(part[0] << 8 * i for i, part in enumerate(four))
            without = sum(part[1] << 8 * i for i, part in enumerate(four))
            self.arrays[array][word] = Bits(value, without)

    def host(self, step: Statement) -> None:
        kind, array, first, size, last = step
        parts = self.bytes_of(array)
        if kind == "copy":
            other = self.bytes_of(next(name for name in ARRAYS if name != array))
            parts[first : first + size] = other[last : last + size]
        else:
            parts[first : first + size] = [(last, 0)] * size
        self.set_bytes(array, parts)

    def launch(self, program: Program) -> None:
        self.shared = [[NOTHING] * LANES for _ in range(BLOCKS)]
        for block in range(BLOCKS):
            lanes = [Lane(self, block, number) for number in range(LANES)]
            for statement in program.body:
                self.together(lanes, statement)

    @staticmethod
    def together(lanes: list[Lane], statement: Statement) -> None:
        if statement[0] == "barrier":
            return
        if statement[0] == "shuffle":
            values: list[Any] = [lane.value(statement[2]) for lane in lanes]
            for lane in lanes:
                lane.variables[statement[1]] = values[lane.number ^ statement[3]]
            return
        for lane in lanes:
            lane.step(statement)
