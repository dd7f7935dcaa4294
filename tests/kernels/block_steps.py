# SPDX-License-Identifier: MIT
"""Lanes of a warp that exchange through shared memory with no barrier between, in kernels
that are declared as HIPADAPT_LOCKSTEP.

A *step* is one statement that reads cells of the warp's part of an array, and then
writes one.  gcc's lanes meet before it, and between its reads and its write; the device
has to do the same unasked.  No two lanes write one cell in a step.  Lanes that take the
other side of a branch have cells of their own, since nobody says which side is first.
"""

from __future__ import annotations

from collections.abc import Callable

from .block_patterns import SYNC, TYPES, BlockPatterns, line, loop
from .c_tree import Block, Statement, arith, cast, number, statement

STEP = "STEP(@0@);"


class BlockSteps(BlockPatterns):
    """Statements of lanes in step."""

    lockstep = False

    def pattern(self, depth: int) -> list[Statement]:
        if not self.lockstep or self.rounds > 8 or self.chance(0.3):
            return super().pattern(depth)
        self.mark("pattern lanes in step")
        return [Statement([Block([line(SYNC), *self.steps(), line(SYNC)])])]

    # ---- cells of the warp ----

    def step_cell(self, lane: str) -> str:
        return f"(t & ~{self.warp - 1}) | ({lane} & {self.warp - 1})"

    def written_cell(self, bits: int) -> str:
        """Another one for each lane; the lanes whose place differs from its own in
        `bits` alone can be there."""
        if bits != self.warp - 1:
            return f"t ^ {self.random.randrange(self.warp) & bits}"
        by, odd = self.random.randrange(self.warp), self.pick(1, 3, 5, 11)
        return self.pick(
            "t",
            "t",
            f"t ^ {by}",
            self.step_cell(f"(t * {odd} + {by})"),
            self.step_cell(f"({self.warp - 1} - t)"),
        )

    def read_cell(self, v: str, bits: int) -> str:
        if bits != self.warp - 1:
            return f"t ^ {self.random.randrange(self.warp) & bits}"
        by = self.random.randrange(self.warp)
        known = cast(arith("&", cast(self.integer(1), "unsigned"), number(63)), "int")
        return self.pick(
            f"t ^ {by}",
            self.step_cell(f"(t + {by})"),
            self.step_cell(f"({by} - t)"),
            self.step_cell(str(by)),
            self.step_cell(f"(int)((unsigned long){v})"),
            self.step_cell(known.text()),
        )

    # ---- steps ----

    def steps(self) -> list[Statement]:
        type = self.pick("int", "unsigned", "unsigned long", "short", "unsigned char")
        assert set(TYPES) >= {"int", "unsigned", "unsigned long"}
        s = self.fresh_array(type, -(-self.most // self.warp) * self.warp)
        v = self.fresh("v")
        first = statement(f"{type} {v} = ({type})", self.of("unsigned", 1), ";")
        made = [first]
        for _ in range(self.pick(2, 3, 5, 8)):
            made += self.any_step(s, v, type, self.warp - 1, 0)
        return [*made, line(SYNC), self.taken_from(self.pick(v, f"{s}[t]"), type)]

    def any_step(
        self, s: str, v: str, type: str, bits: int, depth: int
    ) -> list[Statement]:
        kinds: list[Callable[[str, str, str, int, int], list[Statement]]] = [
            self.step_read,
            self.step_write,
            self.step_both,
            self.step_both,
        ]
        if depth < 2:
            kinds += [
                self.steps_of_some,
                self.steps_of_sides,
                self.steps_of_tree,
                self.steps_in_rounds,
            ]
        if bits == self.warp - 1:
            kinds += [self.step_swap]
        made = self.random.choice(kinds)
        self.mark("in step: " + made.__name__.replace("_", " "))
        return made(s, v, type, bits, depth)

    def step_value(self, a: str, b: str, type: str) -> str:
        text = self.pick(f"{a} + {b}", f"{a} * 3 ^ {b}", f"({a} < {b} ? {b} : {a})")
        wide = text.replace(a, f"(unsigned long){a}", 1)
        return f"({type})({wide if '<' not in text else text})"

    def step_read(
        self, s: str, v: str, type: str, bits: int, depth: int
    ) -> list[Statement]:
        cell = self.read_cell(v, bits)
        return [line(STEP), line(f"{v} = {self.step_value(v, f'{s}[{cell}]', type)};")]

    def step_write(
        self, s: str, v: str, type: str, bits: int, depth: int
    ) -> list[Statement]:
        return [line(STEP), line(f"{s}[{self.written_cell(bits)}] = {v};")]

    def step_both(
        self, s: str, v: str, type: str, bits: int, depth: int
    ) -> list[Statement]:
        """One statement of the program, and two steps for gcc."""
        a, b = self.read_cell(v, bits), self.pick("t", self.read_cell(v, bits))
        u = self.fresh("u")
        value = self.step_value(f"{s}[{b}]", f"{s}[{a}]", type)
        return [
            line(STEP),
            line(f"{type} {u} = {value};"),
            line(STEP),
            line(f"{s}[{self.written_cell(bits)}] = {u};"),
        ]

    def step_swap(
        self, s: str, v: str, type: str, bits: int, depth: int
    ) -> list[Statement]:
        """A swap, as in a sort."""
        by = 1 << self.random.randrange(self.warp.bit_length() - 1)
        a, b = self.fresh("a"), self.fresh("b")
        swap = Block([line(STEP), line(f"{s}[t] = {b}; {s}[t ^ {by}] = {a};")])
        test = f"if ((t & {by}) == 0 && {a} {self.pick('<', '>')} {b}) "
        return [
            line(STEP),
            line(f"{type} {a} = {s}[t], {b} = {s}[t ^ {by}];"),
            Statement([test, swap]),
        ]

    def steps_inside(
        self, s: str, v: str, type: str, bits: int, depth: int, most: int = 3
    ) -> Block:
        block = Block()
        for _ in range(self.pick(*range(1, most + 1))):
            block.parts += self.any_step(s, v, type, bits, depth + 1)
        return block

    def steps_of_some(
        self, s: str, v: str, type: str, bits: int, depth: int
    ) -> list[Statement]:
        inside = self.steps_inside(s, v, type, bits, depth)
        if bits == self.warp - 1:
            return [Statement(["if (", self.condition(1), ") ", inside])]
        bit = 1 << self.random.randrange(self.warp.bit_length() - 1)
        return [Statement([f"if (t & {bit}) ", inside])]

    def steps_of_sides(
        self, s: str, v: str, type: str, bits: int, depth: int
    ) -> list[Statement]:
        """Lanes of each side exchange with lanes of their side."""
        bit = 1 << self.random.randrange(self.warp.bit_length() - 1)
        two = [self.steps_inside(s, v, type, bits & ~bit, depth) for _ in range(2)]
        return [Statement([f"if (t & {bit}) ", two[0], " else ", two[1]])]

    def steps_of_tree(
        self, s: str, v: str, type: str, bits: int, depth: int
    ) -> list[Statement]:
        if bits != self.warp - 1 or self.rounds > 4 or len(self.loops) > 1:
            return self.step_read(s, v, type, bits, depth)
        w, u = self.fresh("w"), self.fresh("u")
        value = self.step_value(f"{s}[t]", f"{s}[t ^ {w}]", type)
        inside = Block(
            [
                line(STEP),
                line(f"{type} {u} = {value};"),
                line(STEP),
                line(f"{s}[t] = {u};"),
            ]
        )
        head = f"ENTER(@own@); for (int {w} = {self.warp // 2}; TRIP(@own@) {w} > 0; {w} >>= 1) "
        return [loop(head, inside)]

    def steps_in_rounds(
        self, s: str, v: str, type: str, bits: int, depth: int
    ) -> list[Statement]:
        """Lanes leave the loop one by one, and wait behind it."""
        if self.rounds > 4 or len(self.loops) > 1:
            return self.step_read(s, v, type, bits, depth)
        j = self.fresh("j")
        kept = self.rounds, self.loops
        self.rounds, self.loops = self.rounds * 4, [*self.loops, False]
        inside = self.steps_inside(s, v, type, bits, depth, 2)
        self.rounds, self.loops = kept
        last = self.pick("t % 5", f"(int)((unsigned long){v} & 3)", "(trips & 3)", "3")
        if self.chance(0.3):
            inside.parts.append(line(f"if ((unsigned long){v} % 7 == 3) break;"))
        head = f"ENTER(@own@); for (int {j} = 0; TRIP(@own@) {j} < {last}; {j}++) "
        return [loop(head, inside)]
