# SPDX-License-Identifier: MIT
"""Random statements of one lane, and what the lanes of a warp exchange."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .block_arrays import BlockArrays
from .block_program import Loop
from .block_values import FLOATS, INTEGERS
from .c_tree import (
    Block,
    Expr,
    Statement,
    Tree,
    arith,
    cast,
    compare,
    limits,
    name,
    number,
    statement,
)

DEPTH = 4
LOOPS = 3
ROUNDS_MOST = 256  # of all loops around together
EXCHANGED = ("int", "unsigned", "long", "unsigned long", "float", "double")


class BlockStatements(BlockArrays):
    """Statements of one program."""

    def __init__(self, seed: int, name: str) -> None:
        super().__init__(seed, name)
        self.budget = 8
        self.uniform = True  # all lanes of the block that are left come here together
        self.loops: list[bool] = []  # of the loops around: may a lane leave it alone
        self.rounds = 1
        self.result = ""  # what `return` must give
        self.warps = True
        self.weights: dict[str, int] = {}
        self.labels: list[str] = []  # behind loops of lanes around
        self.gone: set[str] = set()  # labels that some lane goes to

    def block(self, depth: int, most: int = 4) -> Block:
        """Statements; what they declare is known inside of them only."""
        made = Block()
        mark = self.scope.mark()
        for _ in range(self.random.randrange(1, most + 1)):
            if self.budget <= 0:
                break
            self.budget -= 1
            made.parts += self.statements(depth)
        if not made.parts:
            made.parts += self.assign(depth)
        made.parts += self.kept_values(mark)
        self.scope.back(mark)
        return made

    def kept_values(self, mark: Sequence[int]) -> list[Statement]:
        """What was declared since a mark goes into older variables, or compilers would
        drop it."""
        new, arrays = self.scope.targets[mark[2] :], self.scope.private[mark[5] :]
        texts = self.random.sample(new, min(len(new), 2))
        if arrays:
            array, type, length = self.random.choice(arrays)
            texts.append((f"{array}[{self.random.randrange(length)}]", type))
        if mark[2] == 0:
            return []
        made = []
        for text, type in texts:
            target, into = self.random.choice(self.scope.targets[: mark[2]])
            made.append(self.given(target, into, Expr([text], *self.kind(type))))
        return made

    def weighed(self, word: str, usual: int) -> int:
        """How often a kind of statement is there: programs differ in what they have."""
        if word not in self.weights:
            self.weights[word] = usual * self.pick(0, 1, 1, 2, 3)
        return self.weights[word]

    def kinds(self, depth: int) -> list[Callable[[int], list[Statement]]]:
        """Each as often as its weight."""
        table: list[tuple[Callable[[int], list[Statement]], int, bool]] = [
            (self.assign, 2, True),
            (self.new_variable, 1, True),
            (self.private_array, 1, True),
            (self.new_flag, 1, True),
            (self.walk, 2, bool(self.scope.private)),
            (self.private_write, 3, bool(self.scope.private)),
            (self.register_tile, 1, self.rounds <= 16),
            (self.touch, 4, bool(self.arrays)),
            (self.exchange, 4, self.warps),
            (self.branch, 3, depth < DEPTH),
            (self.switch, 1, depth < DEPTH),
            (self.loop, 3, depth < DEPTH and len(self.loops) < LOOPS),
            (self.leave, 3, bool(self.loops) and self.loops[-1]),
            (self.early_return, 1, True),
            *self.more_kinds(depth),
        ]
        found = [
            f
            for f, usual, there in table
            if there
            for _ in range(self.weighed(f.__name__, usual))
        ]
        return found or [self.assign]

    def more_kinds(
        self, depth: int
    ) -> list[tuple[Callable[[int], list[Statement]], int, bool]]:
        return []

    def touch(self, depth: int) -> list[Statement]:
        return self.access()

    def statements(self, depth: int) -> list[Statement]:
        return self.random.choice(self.kinds(depth))(depth)

    # ---- simple ones ----

    def assign(self, depth: int) -> list[Statement]:
        target, type = self.random.choice(self.scope.targets)
        if self.chance(0.3):
            return [statement(f"{target} = ", self.of(type), ";")]
        return [self.given(target, type, self.of(type))]

    def new_flag(self, depth: int) -> list[Statement]:
        """A condition with a name."""
        new = self.fresh("c")
        made = statement(f"flag {new} = ", self.condition(), ";")
        self.scope.integers += [Expr([new], "int", 0, 1)] * 2
        self.scope.targets.append((new, "flag"))
        self.mark("bool")
        return [made]

    def walk(self, depth: int) -> list[Statement]:
        """A pointer goes through a private array, and back."""
        known = [p for p in self.scope.private if p[1] not in FLOATS]
        if not known or self.rounds > 32:
            return []
        array, type, length = self.random.choice(known)
        p, j = self.fresh("p"), self.fresh("j")
        self.mark("pointer that goes on")
        inside: list[str | Tree] = [f"*{p} = ({type})(*{p} ^ ", self.integer(2)]
        inside += [f"); {p} = ", self.condition(2)]
        inside += [f" && {p} < {array} + {length - 1} ? {p} + 1 : {array};"]
        rounds = self.pick("5", "trips", "(t & 7)")
        loop = f"for (int {j} = 0; {j} < {rounds}; {j}++) "
        body = Block([Statement(inside)])
        return [Statement([f"{{ {type} *{p} = {array}; {loop}", body, " }"])]

    def new_variable(self, depth: int) -> list[Statement]:
        type = self.pick(*INTEGERS, *FLOATS)
        new = self.fresh("v")
        made = statement(f"{type} {new} = ", self.of(type), ";")
        self.declared(new, type)
        return [made]

    def declared(self, new: str, type: str) -> None:
        self.scope.targets.append((new, type))
        if type in FLOATS:
            self.scope.floats.append(Expr([new], type, 0, 0))
        else:
            self.scope.integers.append(name(new, type))

    def private_array(self, depth: int) -> list[Statement]:
        type, length = (
            self.pick("int", "unsigned", "unsigned char", "long"),
            self.pick(2, 4, 8, 16, 64),
        )
        new, q = self.fresh("a"), self.fresh("q")
        self.mark("private array")
        value = cast(arith("*", self.variable(), name(q, "int", 0, 16)), type)
        made = statement(
            f"{type} {new}[{length}]; for (int {q} = 0; {q} < {length}; {q}++) {new}[{q}] = ",
            value,
            ";",
        )
        self.scope.private.append((new, type, length))
        return [made]

    def private_write(self, depth: int) -> list[Statement]:
        array, type, length = self.random.choice(self.scope.private)
        where = arith("&", self.integer(2), number(length - 1, "unsigned"))
        return [statement(f"{array}[", where, "] = ", self.of(type, 1), ";")]

    def register_tile(self, depth: int) -> list[Statement]:
        """A small array whose indices are known when it is compiled, if loops unroll."""
        type, r, i, j = (
            self.pick("float", "unsigned", "double"),
            self.fresh("r"),
            self.fresh("i"),
            self.fresh("j"),
        )
        size, rounds = self.pick(2, 3, 4, 8), self.pick("4", "trips", "(t & 7)")
        start, factor = self.of(type, 2), self.of(type, 2)
        u = self.fresh("u")
        self.mark("register tile")
        inner = f"for (int {i} = 0; {i} < {size}; {i}++) "
        return [
            Statement(
                [
                    f"{{ {type} {r}[{size}], {u} = ",
                    factor,
                    f"; {inner}{r}[{i}] = ",
                    start,
                    f" + {i}; for (int {j} = 0; {j} < {rounds}; {j}++) {inner}"
                    f"{r}[{i}] = {r}[{i}] * {self.pick(u, '3', f'{r}[{i} ^ 0]')} + {j}; ",
                    self.taken_back(f"{r}[{self.random.randrange(size)}]", type),
                    " }",
                ]
            )
        ]

    def taken_back(self, text: str, type: str) -> Statement:
        if type in FLOATS:
            return self.taken(Expr([text], type, 0, 0))
        return self.taken(Expr([text], type, *limits(type)))

    def early_return(self, depth: int) -> list[Statement]:
        if self.chance(0.7):
            return []
        self.mark("early return")
        few = arith("&", self.variable(), number(7))
        condition = compare("==", few, number(self.random.randrange(8)))
        if self.chance(0.3):
            condition = self.condition()
        return [statement("if (", condition, f") return{self.result};")]

    def leave(self, depth: int) -> list[Statement]:
        word = self.pick("break", "continue")
        if len(self.labels) > 1 and self.chance(0.4):
            # Out of several loops; lanes meet again behind the outer one.
            word = f"goto {self.random.choice(self.labels)}"
            self.gone.add(word.split()[1])
        self.mark(word.split()[0])
        return [statement("if (", self.condition(), f") {word};")]

    # ---- control flow in which lanes part ----

    def apart(self, make: Callable[[], Tree]) -> Tree:
        """What only some of the lanes do."""
        before, self.uniform = self.uniform, False
        made = make()
        self.uniform = before
        return made

    def branch(self, depth: int) -> list[Statement]:
        self.mark("if of lanes")
        if self.warps and self.chance(0.15):
            condition = Expr(
                ["(", self.condition(1), self.pick(" && ", " || "), self.vote(), ")"],
                "int",
                0,
                1,
            )
        else:
            condition = self.condition()
        parts: list[str | Tree] = ["if (", condition, ") "]
        parts.append(self.apart(lambda: self.block(depth + 1)))
        if self.chance(0.4):
            parts += [" else ", self.apart(lambda: self.block(depth + 1))]
        return [Statement(parts)]

    def switch(self, depth: int) -> list[Statement]:
        self.mark("switch")
        e = arith("&", self.integer(1), number(3))
        inside, self.loops = self.loops, [*self.loops, False]
        parts: list[str | Tree] = ["switch (", e, ") { case 0: "]
        # A warp call in a part that lanes come to by two ways would have no clear group.
        through = self.chance(0.3)
        warps, self.warps = self.warps, self.warps and not through
        parts += [
            self.apart(lambda: self.block(depth + 1)),
            "" if through else " break;",
        ]
        parts += [
            " case 2: ",
            self.apart(lambda: self.block(depth + 1)),
            " break; default: ",
        ]
        self.warps = warps
        parts += [self.apart(lambda: self.block(depth + 1)), " }"]
        self.loops = inside
        return [Statement(parts)]

    def limit(self) -> tuple[Expr, int]:
        """How many rounds lanes go, and at most."""
        most = self.pick(3, 7, 15)
        kind = self.random.randrange(3)
        if kind == 0:
            return arith("%", self.lane(), number(most)), most
        if kind == 1:
            return name("trips", "int", 0, 20), 20
        return cast(arith("&", self.integer(1), number(most, "unsigned")), "int"), most

    def loop(self, depth: int) -> list[Statement]:
        limit, most = self.limit()
        if self.rounds * most > ROUNDS_MOST:
            limit, most = number(2), 2
        if self.rounds * most > ROUNDS_MOST:
            return []
        self.mark("loop of lanes")
        kind = self.pick("for", "for", "while", "do", "shrink")
        j, e = self.fresh("j"), self.fresh("e")
        mark = self.scope.mark()
        type = self.pick("int", "int", "unsigned", "long")
        self.scope.integers.append(name(j, type, 0, 64))
        rounds, self.rounds = self.rounds, self.rounds * most
        self.loops.append(True)
        self.labels.append(self.fresh("behind"))
        body = self.apart(lambda: self.block(depth + 1, 5))
        label = self.labels.pop()
        end = f" {label}:; }}" if label in self.gone else " }"
        self.loops.pop()
        self.rounds = rounds
        self.scope.back(mark)
        before: list[str | Tree] = [f"{{ int {e} = ", limit, f"; {type} {j} = 0; "]
        before[2] += "ENTER(@own@); "
        if kind == "for":
            head = f"for (; TRIP(@own@) {j} < ({type}){e}; {j}++) "
            return [Loop([*before, head, body, end])]
        uniform, self.uniform = self.uniform, False
        whole = self.while_loop(kind, j, f"{j} < ({type}){e}", body)
        self.uniform = uniform
        return [Loop([*before, *whole, end])]

    def while_loop(self, kind: str, j: str, test: str, body: Tree) -> list[str | Tree]:
        """The counter goes on first, so that `continue` does no harm."""
        if kind == "do":
            return [f"do {{ TRIP(@own@) {j}++; ", body, f" }} while ({test});"]
        body.parts.insert(0, statement(f"{j}++;", kept=True))
        if kind == "while":
            if self.warps and not self.uniform and self.chance(0.2):
                test += " && "
                return [f"while (TRIP(@own@) {test}", self.vote(), ") ", body]
            return [f"while (TRIP(@own@) {test}) ", body]
        z = self.fresh("z")
        change = self.pick(
            f"{z} = {z} & 1u ? {z} * 3u + 1u : {z} >> 1;", f"{z} >>= 2;", f"{z} /= 3u;"
        )
        body.parts.insert(0, statement(change, kept=True))
        self.mark("loop until a value is small")
        start = cast(arith("&", self.integer(1), number(1023, "unsigned")), "unsigned")
        return [
            f"unsigned {z} = ",
            start,
            f"; while (TRIP(@own@) {z} > 1u && {test}) ",
            body,
        ]

    # ---- warps ----

    def vote(self) -> Expr:
        call = self.pick("__any", "__all", "__ballot")
        self.mark(call, "vote in a condition")
        test = self.condition(2)
        return Expr([f"(AT(@0@, {call}(", test, ")) != 0)"], "int", 0, 1)

    def distance(self) -> Expr:
        if self.chance(0.6):
            return number(self.pick(0, 1, 2, 4, 8, 16, 3, 31, self.warp // 2))
        return cast(
            arith("&", self.integer(2), number(self.warp - 1, "unsigned")), "int"
        )

    def exchange(self, depth: int) -> list[Statement]:
        kind = self.random.randrange(13)
        if not self.uniform:
            self.mark("warp call of some lanes")
        if kind < 5:
            return [self.shuffle("")]
        if kind < 8:
            return [self.taken(self.ballot())]
        if kind == 8:
            return [self.match_all() if self.chance(0.3) else self.taken(self.match())]
        if kind == 9:
            return self.pick(self.ranked, self.led, self.one_by_one, self.while_any)(
                depth
            )
        return self.masked(depth)

    def shuffle(self, mask: str) -> Statement:
        call = self.pick("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor")
        sync = f"_sync({mask}, " if mask else "("
        self.mark(call + sync.split("(")[0])
        type = self.pick(*EXCHANGED)
        value = self.of(type, 1) if self.chance(0.4) else self.of_lane(type)
        if type in FLOATS:
            value = Expr(
                ["clean(" if type == "float" else "clean_wide(", value, ")"], type, 0, 0
            )
        width = self.pick(
            "", "", ", warpSize", ", 2", ", 4", ", 8", ", 16", ", 32", f", {self.warp}"
        )
        parts: list[str | Tree] = [f"AT(@0@, {call}{sync}({type})", value, ", "]
        parts += [self.distance(), f"{width}))"]
        if type in FLOATS:
            return self.taken(Expr(parts, type, 0, 0))
        return self.taken(Expr(parts, type, *limits(type)))

    def of_lane(self, type: str) -> Expr:
        """A value that is another one in each lane."""
        factor = number(self.pick(1, 3, 37, 1001))
        value = arith("+", arith("*", self.lane(), factor), self.variable())
        if type in FLOATS:
            return Expr([f"({type})", value], type, 0, 0)
        return cast(value, type)

    def ballot(self) -> Expr:
        call = self.pick("__ballot", "__any", "__all", "__activemask")
        self.mark(call)
        if call == "__activemask":
            return Expr(["AT(@0@, __activemask())"], "unsigned long", 0, 2**64 - 1)
        test = self.condition(1)
        if call == "__ballot":
            return Expr(
                ["AT(@0@, __ballot(", test, "))"], "unsigned long", 0, 2**64 - 1
            )
        return Expr([f"(AT(@0@, {call}(", test, ")) != 0)"], "int", 0, 1)

    def match(self) -> Expr:
        type = self.pick("int", "unsigned", "unsigned long")
        value = self.integer(1) if self.chance(0.5) else self.lane()
        value = cast(arith("&", value, number(self.pick(1, 3, 7))), type)
        self.mark("__match_any")
        return Expr(
            [f"AT(@0@, __match_any(({type})", value, "))"],
            "unsigned long",
            0,
            2**64 - 1,
        )

    def match_all(self) -> Statement:
        m = self.fresh("m")
        self.mark("__match_all")
        value = arith("&", self.same(1), number(self.pick(1, 3)))
        if self.chance(0.5):
            value = arith("/", self.lane(), number(32))
        taken = self.taken(name(m, "int", 0, 1))
        call = f"{{ int {m} = 0; {m} = (AT(@0@, __match_all((int)"
        return Statement([call, value, f", &{m})) != 0) * 2 + {m}; ", taken, " }"])

    def ranked(self, depth: int) -> list[Statement]:
        """A lane's number among those with some condition."""
        m = self.fresh("m")
        self.mark("rank in a ballot")
        below = f"((word64)1 << (t % {self.warp})) - 1"
        rank = Expr([f"__popcll({m} & ({below}))"], "int", 0, 64)
        first = f"{{ word64 {m} = AT(@0@, __ballot("
        return [Statement([first, self.condition(1), ")); ", self.taken(rank), " }"])]

    def led(self, depth: int) -> list[Statement]:
        """A value of the first lane that is here."""
        m, type = self.fresh("m"), self.pick("int", "unsigned", "long")
        self.mark("value of the first lane")
        mask = self.pick("__activemask()", "__ballot(1)")
        value, lead = self.variable(), f"(int)__ffsll({m}) - 1"
        parts: list[str | Tree] = [f"AT(@0@, __shfl(({type})", value, f", {lead}))"]
        taken = self.taken(Expr(parts, *self.kind(type)))
        return [Statement([f"{{ word64 {m} = AT(@0@, {mask}); ", taken, " }"])]

    def one_by_one(self, depth: int) -> list[Statement]:
        """All lanes that are here look at the value of each of some of them in turn."""
        if self.rounds > 8 or len(self.loops) >= LOOPS:
            return []
        m, v, type = self.fresh("m"), self.fresh("v"), self.pick("int", "unsigned")
        self.mark("lanes one by one")
        first: list[str | Tree] = [f"{{ word64 {m} = AT(@0@, __ballot("]
        first += [self.condition(1), f")); {type} {v} = ({type})", self.variable()]
        call = f"AT(@0@, __shfl({v}, (int)__ffsll({m}) - 1))"
        taken = self.taken(Expr([call], *self.kind(type)))
        body = Block([taken, statement(f"{m} &= {m} - 1;", kept=True)])
        inside = Loop([f"ENTER(@own@); while (TRIP(@own@) {m} != 0) ", body])
        return [Statement([*first, "; ", inside, " }"])]

    def while_any(self, depth: int) -> list[Statement]:
        """Lanes that have nothing to do go on with the others."""
        if self.rounds > 8 or len(self.loops) >= LOOPS or depth >= DEPTH:
            return []
        c = self.fresh("c")
        self.mark("loop while any lane")
        start = arith("&", self.integer(1), number(7, "unsigned"))
        test = self.pick(
            f"AT(@0@, __any({c} > 0)) != 0",
            f"AT(@0@, __ballot({c} > 0)) != 0",
            f"!AT(@0@, __all({c} <= 0))",
        )
        rounds, self.rounds = self.rounds, self.rounds * 7
        self.loops.append(False)
        inside = self.apart(lambda: self.block(depth + 1, 2))
        self.loops.pop()
        self.rounds = rounds
        body = Block(
            [statement(f"if ({c} > 0) ", inside), statement(f"{c}--;", kept=True)]
        )
        head: list[str | Tree] = [f"{{ int {c} = (int)", start, "; ENTER(@own@); "]
        return [Loop([*head, f"while (TRIP(@own@) {test}) ", body, " }"])]

    def masked(self, depth: int) -> list[Statement]:
        """Calls with a mask: of the lanes that are here, of those with a condition, of
        two sides, or of those with the same value."""
        m = self.fresh("m")
        kind = self.random.randrange(4)
        if kind == 0:
            call = self.pick("__activemask()", "__ballot(1)")
            first = statement(f"word64 {m} = AT(@0@, {call});", kept=True)
            return [Statement(["{ ", first, " ", self.with_mask(m), " }"])]
        test = self.condition(1)
        c = self.fresh("c")
        set_c = Statement([f"int {c} = ", test, " ? 1 : 0;"], True)
        if kind == 1:
            self.mark("mask of a branch")
            first = statement(f"word64 {m} = AT(@0@, __ballot({c}));", kept=True)
            inside = Block([self.with_mask(m)])
            branch = statement(f"if ({c}) ", inside)
            return [Statement(["{ ", set_c, " ", first, " ", branch, " }"])]
        if kind == 2:
            self.mark("two masks")
            first = statement(
                f"word64 {m} = AT(@0@, __ballot({c})), {m}b = AT(@0@, __ballot(!{c}));"
                f" {m} = {c} ? {m} : {m}b;",
                kept=True,
            )
            return [Statement(["{ ", set_c, " ", first, " ", self.with_mask(m), " }"])]
        self.mark("mask of equal values")
        value = arith("&", self.integer(2), number(self.pick(1, 3)))
        first = Statement(
            [f"word64 {m} = AT(@0@, __match_any((int)", value, "));"], True
        )
        return [Statement(["{ ", first, " ", self.with_mask(m), " }"])]

    def with_mask(self, mask: str) -> Statement:
        kind = self.random.randrange(4)
        if kind < 2:
            return self.shuffle(mask)
        if kind == 2:
            call = self.pick("add", "min", "max", "and", "or", "xor")
            type = self.pick("unsigned", "unsigned long")
            if call in ("min", "max"):
                type = self.pick("int", "unsigned")
            self.mark(f"__reduce_{call}_sync")
            parts = [
                f"AT(@0@, __reduce_{call}_sync({mask}, ({type})",
                self.integer(1),
                "))",
            ]
            return self.taken(Expr(parts, type, *limits(type)))
        call = self.pick("__ballot", "__any", "__all")
        self.mark(f"{call}_sync")
        parts = [f"AT(@0@, {call}_sync({mask}, ", self.condition(1), "))"]
        if call == "__ballot":
            return self.taken(Expr(parts, "unsigned long", 0, 2**64 - 1))
        return self.taken(Expr(["(", *parts, " != 0)"], "int", 0, 1))
