# SPDX-License-Identifier: MIT
"""Random device functions, which some or all lanes of a warp call."""

from __future__ import annotations

from .block_program import Function
from .block_statements import BlockStatements
from .block_values import FLOATS, PLAIN, Scope
from .c_tree import Block, Expr, Statement, Tree, arith, limits, name, number, statement


class BlockFunctions(BlockStatements):
    """Functions of one program."""

    def __init__(self, seed: int, name: str) -> None:
        super().__init__(seed, name)
        self.functions: list[Function] = []
        self.known: list[tuple[str, str, list[str], str]] = []  # and what p points to

    def new_function(self) -> None:
        """With loops, returns and perhaps warp calls of its own."""
        f, type = self.fresh("f"), self.pick(*PLAIN, "float", "double", "short")
        given = [
            self.pick(*PLAIN, "float", "unsigned char")
            for _ in range(self.pick(1, 2, 3))
        ]
        pointed = self.pick("", "", "unsigned", "int", "long")
        self.mark("device function")
        kept = (
            self.scope,
            self.arrays,
            self.loops,
            self.uniform,
            self.result,
            self.budget,
            self.rounds,
        )
        self.scope, self.arrays, self.loops, self.uniform = Scope(), [], [], False
        labels, self.labels = self.labels, []
        self.result, self.budget, self.rounds = " r", self.pick(2, 4, 6), 8
        self.scope.integers += [
            name("t", "int", 0, self.most - 1),
            name("trips", "int", 0, 20),
        ]
        parameters = ["int t", "int trips"]
        for place, one in enumerate(given):
            parameters.append(f"{one} p{place}")
            self.declared(f"p{place}", one)
        if pointed:
            self.mark("function with a pointer")
            parameters.append(f"{pointed} *to")
            self.declared("(*to)", pointed)
        first = Statement([f"{type} r = ", self.of(type, 1), ";"], True)
        self.declared("r", type)
        body = Block([first])
        while self.budget > 0:
            self.budget -= 1
            body.parts += self.statements(1)
        body.parts.append(statement("return r;", kept=True))
        self.labels = labels
        (
            self.scope,
            self.arrays,
            self.loops,
            self.uniform,
            self.result,
            self.budget,
            self.rounds,
        ) = kept
        head = f"FUNCTION {self.pick('', '', 'NOINLINE ')}{type} {self.name}{f}"
        self.functions.append(
            Function([f"{head}({', '.join(parameters)}) ", body], True, f)
        )
        self.known.append((f, type, given, pointed))

    def call(self, depth: int) -> list[Statement]:
        """A call, whose result and whose last argument's target are used."""
        if not self.known or self.rounds > 32:
            return []
        f, type, given, pointed = self.random.choice(self.known)
        parts: list[str | Tree] = [f"CALL(@0@, {self.name}{f}(t, trips"]
        for one in given:
            parts += [", ", self.of(one, 2)]
        if not pointed:
            return [self.result_used([*parts, "))"], type)]
        at, before = self.target_of(pointed)
        used = self.result_used([*parts, ", ", *at, "))"], type)
        return [
            Statement(["{ ", *before, used, " ", self.taken(name("w", pointed)), " }"])
            if before
            else used
        ]

    def target_of(self, pointed: str) -> tuple[list[str | Tree], list[str | Tree]]:
        """What the pointer points to, and what declares it."""
        cells = [a for a in self.arrays if a.element == pointed and a.mode == "own"]
        if cells and self.chance(0.6):
            array = self.random.choice(cells)
            self.mark("function with a pointer to shared memory")
            return [f"&{array.text}[", self.random.choice(array.cells), "]"], []
        private = [a for a in self.scope.private if a[1] == pointed]
        if private and self.chance(0.7):
            array, _, length = self.random.choice(private)
            self.mark("function with a pointer to a private array")
            where = arith("&", self.integer(2), number(length - 1, "unsigned"))
            return [f"&{array}[", where, "]"], []
        return ["&w"], [f"{pointed} w = ", self.of(pointed, 2), "; "]

    def result_used(self, parts: list[str | Tree], type: str) -> Statement:
        if type in FLOATS:
            return self.taken(Expr(parts, type, 0, 0))
        promoted, low, high = self.kind(type)
        return self.taken(Expr(parts, promoted, low, high))

    def new_recursion(self) -> None:
        """A function that calls itself a few times."""
        f = self.fresh("f")
        self.mark("recursion")
        text = self.pick(
            "n <= 0 ? v : SELF(n - 1, v * 3u + n) ^ v",
            "n <= 0 || v % 7 == 3 ? v + n : SELF(n - 1, v >> 1) + SELF(n - 2, v * 5u)",
        ).replace("SELF", f"{self.name}{f}")
        whole = (
            f"FUNCTION unsigned {self.name}{f}(int n, unsigned v) {{ return {text}; }}"
        )
        self.functions.append(Function([whole], True, f))
        self.recursions = [*self.recursions, f]

    recursions: list[str] = []

    def recursion(self, depth: int) -> list[Statement]:
        if not self.recursions or self.rounds > 16:
            return []
        f = self.random.choice(self.recursions)
        parts: list[str | Tree] = [
            f"{self.name}{f}(",
            self.pick("t % 5", "trips & 3", "6"),
        ]
        parts += [", ", self.of("unsigned", 2), ")"]
        return [self.taken(Expr(parts, "unsigned", *limits("unsigned")))]
