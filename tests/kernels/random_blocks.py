# SPDX-License-Identifier: MIT
"""Random kernels with barriers and warp calls, with exactly one result each.

A statement is written where all lanes of a block come together (*uniform* places) or
where only some do.  Barriers stand in uniform places: conditions around them, and the
rounds of loops around them, are the same in the whole block.  At a barrier each array
of the block gets a new mode (block_arrays.py), so no two lanes race.  Lanes may return
anywhere.
"""

from __future__ import annotations

from collections.abc import Callable

from .block_arrays import ATOMIC_TYPES, ATOMICS, Array, signature
from .block_program import BlockProgram, Loop, whole
from .block_statements import LOOPS
from .block_steps import BlockSteps
from .block_values import FLOATS, INTEGERS
from .c_program import SCALARS, SIZES, Buffer, Launch
from .c_tree import Block, Expr, Statement, Tree, arith, cast, name, number, statement

ITEMS = 4096  # lanes of a launch at most
COMMON = 64  # cells of the array that all lanes read
SUMS = 8  # cells of the array that all lanes add to
ROWS = (1, 2, 3, 8, 10, 16, 17, 32, 33)
LINES = (1, 7, 31, 32, 33, 48, 63, 64, 65, 96, 100, 127, 128, 160, 200, 256)
WIDE = (257, 500, 512, 768, 1000, 1023, 1024)
ELEMENTS = (
    "int",
    "unsigned",
    "unsigned",
    "long",
    "unsigned long",
    "short",
    "unsigned char",
)


class Writer(BlockSteps):
    """Makes one random program."""

    def __init__(self, seed: int, name: str, warp: int, lockstep: bool = False) -> None:
        super().__init__(seed, name)
        self.warp = warp
        self.lockstep = lockstep
        self.buffers: list[Buffer] = []
        self.together: list[
            tuple[object, ...]
        ] = []  # modes that loops around go back to
        self.barriers = self.chance(0.85) or lockstep
        self.warps = self.chance(0.7)
        if self.warps and self.chance(0.4):
            self.weights["exchange"] = 14
        self.budget = self.pick(4, 8, 12, 16, 24, 40)

    # ---- places where all lanes are together ----

    def more_kinds(
        self, depth: int
    ) -> list[tuple[Callable[[int], list[Statement]], int, bool]]:
        inner = self.uniform and depth < 3
        barriers = self.uniform and self.barriers
        return [
            (self.call, 2, bool(self.known)),
            (self.recursion, 1, bool(self.recursions)),
            (self.grid_stride, 1, bool(self.arrays) and not self.loops and depth < 3),
            (self.look, 1, not self.result),
            (self.uniform_assign, 2, self.uniform),
            (self.uniform_branch, 2, inner),
            (self.uniform_switch, 1, inner),
            (self.uniform_loop, 4, inner and len(self.loops) < LOOPS),
            (self.barrier, 4, barriers and bool(self.arrays)),
            (self.pattern, 9 if self.lockstep else 3, barriers and depth < 3),
        ]

    def barrier(self, depth: int = 0) -> list[Statement]:
        """After it, each array has a new mode."""
        kind = self.random.randrange(6)
        made = statement("__syncthreads();")
        self.mark("barrier in a loop" if self.loops else "barrier")
        if kind == 0 and self.scope.uniform_targets:
            call = self.pick("count", "and", "or")
            target, type = self.random.choice(self.scope.uniform_targets)
            self.mark(f"__syncthreads_{call}")
            test = self.condition(1)
            made = Statement([f"{target} += ({type})(__syncthreads_{call}(", test, ")"])
            made.parts.append(");" if call == "count" else " != 0);")
        for array in self.arrays:
            self.enter_mode(array)
        return [made]

    def uniform_assign(self, depth: int) -> list[Statement]:
        if not self.scope.uniform_targets:
            return []
        target, type = self.random.choice(self.scope.uniform_targets)
        readable = [
            a for a in self.arrays if a.mode == "read" and a.element not in FLOATS
        ]
        if readable and self.chance(0.4):
            array = self.random.choice(readable)
            # The first cell is there in each block.
            self.mark("uniform value from an array")
            element = self.element(array, number(0))
            return [statement(f"{target} = {target} * 3 + ({type})", element, ";")]
        return [statement(f"{target} = {target} ^ ({type})", self.same(), ";")]

    def closed(self, body: Callable[[], Block]) -> Block:
        """A block after which the arrays have the modes that they had before it."""
        before = [
            (a.mode, a.cells, a.operation, a.group, a.leader) for a in self.arrays
        ]
        old = [signature(a) for a in self.arrays]
        self.together.append(tuple(old))
        made = body()
        self.together.pop()
        if [signature(a) for a in self.arrays] != old:
            made.parts.append(statement("__syncthreads();"))
        for array, modes in zip(self.arrays, before, strict=True):
            array.mode, array.cells, array.operation, array.group, array.leader = modes
        return made

    def uniform_branch(self, depth: int) -> list[Statement]:
        self.mark("if of the block")
        parts: list[str | Tree] = ["if (", self.same_condition(), ") "]
        parts.append(self.closed(lambda: self.block(depth + 1)))
        if self.chance(0.4):
            parts += [" else ", self.closed(lambda: self.block(depth + 1))]
        return [Statement(parts)]

    def uniform_switch(self, depth: int) -> list[Statement]:
        self.mark("switch of the block")
        which = arith("&", self.same(), number(3))
        loops, self.loops = self.loops, [*self.loops, False]
        parts: list[str | Tree] = ["switch (", which, ") { case 0: case 1: "]
        parts += [self.closed(lambda: self.block(depth + 1)), " break; case 2: "]
        parts += [self.closed(lambda: self.block(depth + 1)), " break; default: "]
        parts += [self.closed(lambda: self.block(depth + 1)), " }"]
        self.loops = loops
        return [Statement(parts)]

    def grid_stride(self, depth: int) -> list[Statement]:
        """Each lane has every so-many-th cell of an array of the grid."""
        i, e = self.fresh("i"), self.fresh("e")
        self.mark("grid-stride loop")
        mark = self.scope.mark()
        self.scope.integers.append(name(i, "int", 0, 3 * ITEMS))
        self.loops.append(True)
        rounds, self.rounds = self.rounds, self.rounds * 3
        body = self.apart(lambda: self.block(depth + 1, 3))
        value = self.integer(1)
        self.rounds = rounds
        self.loops.pop()
        self.scope.back(mark)
        assert isinstance(body, Block)
        body.parts.append(
            statement(f"w[{i}] {self.pick('=', '+=', '^=')} (unsigned)", value, ";")
        )
        limit = self.pick("items * 2", "items", "(n < items * 3 ? n : items * 3)")
        step = self.pick("items", "(int)(gridDim.x * gridDim.y * gridDim.z) * lanes")
        head = f"for (int {i} = g; TRIP(@own@) {i} < {e}; {i} += {step}) "
        return [Loop([f"{{ int {e} = {limit}; ENTER(@own@); ", head, body, " }"])]

    def uniform_loop(self, depth: int) -> list[Statement]:
        most = self.pick(2, 3, 5, 9)
        if self.rounds * most > 64:
            return []
        kind = self.random.randrange(3)
        limit: Expr = number(most)
        if kind == 1:
            limit, most = arith("&", name("trips", "int", 0, 20), number(7)), 7
        elif kind == 2:
            limit = cast(
                arith("&", cast(self.same(), "unsigned"), number(most, "unsigned")),
                "int",
            )
        self.mark("loop of the block")
        j, e = self.fresh("j"), self.fresh("e")
        mark = self.scope.mark()
        counter = name(j, "int", 0, 10)
        self.scope.integers.append(counter)
        self.scope.uniform.append(counter)
        rounds, self.rounds = self.rounds, self.rounds * most
        self.loops.append(False)
        body = self.closed(lambda: self.uniform_body(depth))
        self.loops.pop()
        self.rounds = rounds
        self.scope.back(mark)
        before: list[str | Tree] = [
            f"{{ int {e} = ",
            limit,
            f"; int {j} = 0; ENTER(@own@); ",
        ]
        if self.chance(0.7):
            return [
                Loop([*before, f"for (; TRIP(@own@) {j} < {e}; {j}++) ", body, " }"])
            ]
        test = f"{j} < {e}"
        return [
            Loop(
                [
                    *before,
                    *self.while_loop(self.pick("while", "do"), j, test, body),
                    " }",
                ]
            )
        ]

    def uniform_body(self, depth: int) -> Block:
        made = self.block(depth + 1, 5)
        if self.chance(0.25):
            made.parts.append(self.uniform_leave())
        return made

    def uniform_leave(self) -> Statement:
        """The whole block leaves the loop."""
        self.mark("break of the block")
        inside = Block()
        if tuple(signature(a) for a in self.arrays) != self.together[-1]:
            inside.parts.append(statement("__syncthreads();"))
        word = self.pick("break", "continue")
        inside.parts.append(statement(f"{word};"))
        return Statement(["if (", self.same_condition(), ") ", inside])

    # ---- the beginning and the end ----

    def shapes(self) -> list[Launch]:
        self.dimensions = self.pick(1, 1, 1, 2, 2, 3)
        roof = self.pick(64, 64, 128, 256, 256, 1024)
        made: list[Launch] = []
        while len(made) < 3:
            block, grid = [1, 1, 1], [self.pick(1, 1, 2, 3, 5), 1, 1]
            if self.dimensions == 1:
                block[0] = self.pick(*LINES, *(WIDE if roof > 256 else ()))
            else:
                block[:2] = [self.pick(*ROWS), self.pick(1, 2, 3, 4, 8, 16, 31)]
                grid[1] = self.pick(1, 1, 2)
            if self.dimensions == 3:
                block[2], grid[2] = self.pick(1, 2, 3), self.pick(1, 1, 2)
            launch = Launch(tuple(grid), tuple(block), {}, self.random.randrange(256))
            items = launch.lanes * grid[0] * grid[1] * grid[2]
            if launch.lanes > roof or items > ITEMS:
                continue
            launch.scalars = self.arguments(items)
            made.append(launch)
        self.most = max(launch.lanes for launch in made)
        self.shapes_made = made
        return made

    def arguments(self, items: int) -> dict[str, int]:
        n = self.pick(items, items - 1, items * 2 // 3, items + 5, 7)
        return {
            "n": n,
            "m": self.random.randrange(2**32),
            "k": self.pick(n, 0, -1, 2**32, -(2**63), 2**63 - 1),
            "h": self.pick(0, -1, 32767, -32768, 5),
            "e": self.pick(2**31 - 1, -(2**31), n, -1, 3),
            "trips": self.pick(0, 1, 2, 3, 5, 9, 17),
            "items": items,
        }

    def place(self) -> list[str]:
        """Lines that say where the lane is."""
        lane = {
            1: ("threadIdx.x", "blockDim.x", "blockIdx.x"),
            2: (
                "threadIdx.y * blockDim.x + threadIdx.x",
                "blockDim.x * blockDim.y",
                "blockIdx.y * gridDim.x + blockIdx.x",
            ),
            3: (
                "(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x",
                "blockDim.x * blockDim.y * blockDim.z",
                "(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x",
            ),
        }[self.dimensions]
        lines = [f"int t = {lane[0]}, lanes = {lane[1]}, b = {lane[2]};"]
        whole = "b * lanes + t"
        if self.dimensions == 1:
            whole = self.pick(whole, "blockIdx.x * blockDim.x + threadIdx.x")
        lines.append(f"int g = {whole};")
        if self.chance(0.2):
            self.mark("return before everything")
            lines.append("if (g >= n) return;")
            lines.append("int on = n - b * lanes < lanes ? n - b * lanes : lanes;")
            self.stride = "on"
        return lines

    def scope_of_kernel(self) -> None:
        scope = self.scope
        scope.integers += [name("t", "int", 0, self.most - 1)] * 3
        scope.integers.append(Expr(["(int)threadIdx.x"], "int", 0, self.most - 1))
        if self.dimensions > 1:
            scope.integers.append(Expr(["(int)threadIdx.y"], "int", 0, self.most - 1))
        for text in ("blockIdx.x", "blockDim.x", "gridDim.x"):
            scope.uniform.append(Expr([text], "unsigned", 0, ITEMS))
        scope.integers += [name("g", "int", 0, ITEMS - 1)] * 2
        scope.uniform += [
            name("b", "int", 0, ITEMS - 1),
            name("lanes", "int", 1, self.most),
        ]
        for s, (type, _, _) in SCALARS.items():
            low, high = {"trips": (0, 20), "items": (1, ITEMS)}.get(s, (None, None))
            scope.uniform.append(name(s, type, low, high))

    def variables(self) -> list[Statement]:
        """Variables of the lane and of the block."""
        made = []
        for place in range(self.pick(2, 3, 4)):
            type = self.pick(*INTEGERS, "int", "unsigned")
            made.append(self.variable_of(f"x{place}", type))
        for place in range(self.pick(0, 0, 1, 2)):
            made.append(
                self.variable_of(f"f{place}", self.pick("float", "float", "double"))
            )
        for place in range(self.pick(1, 2)):
            type = self.pick("unsigned", "unsigned long")
            made.append(Statement([f"{type} u{place} = ({type})", self.same(), ";"]))
            self.scope.uniform_targets.append((f"u{place}", type))
            self.scope.uniform.append(name(f"u{place}", type))
        return made

    def variable_of(self, new: str, type: str) -> Statement:
        value = self.of_lane(type) if self.chance(0.6) else self.of(type, 1)
        made = Statement([f"{type} {new} = ", value, ";"])
        self.declared(new, type)
        return made

    def shared_arrays(self) -> list[Statement]:
        """Their declarations, their first values and a barrier."""
        made: list[Statement] = []
        if not self.barriers:
            return made
        for _ in range(self.pick(1, 1, 2, 3)):
            self.shared_array(made)
        if self.chance(0.4):
            element = self.pick(*ELEMENTS, "float")
            made.append(statement(f"DYNAMIC_SHARED({element}, dyn);"))
            made.append(self.filled("dyn", element, "lanes"))
            self.arrays.append(Array("dyn", element, 0))
            self.mark("dynamic shared array")
        return made

    def shared_array(self, made: list[Statement]) -> None:
        element = self.pick(*ELEMENTS, "int", "float", "double")
        extra = self.pick(0, 8, self.most // 32, self.most)
        length = self.most + extra
        if self.chance(0.5):
            length = 1 << (length - 1).bit_length()
        if length * (8 if element == "double" else SIZES.get(element, 4)) > 12000:
            length = self.most
        text = self.fresh("s")
        self.shared_bytes += length * SIZES.get(element, 8)
        made.append(statement(f"SHARED {element} {text}[{length}];"))
        made.append(self.filled(text, element, str(length)))
        self.arrays.append(Array(text, element, length))
        self.mark("static shared array")

    def filled(self, text: str, element: str, length: str) -> Statement:
        q = self.fresh("q")
        value = f"({element})({q} * {self.pick(1, 3, 37, 1001)} - b)"
        if element in FLOATS:
            value += " * 0.25f"
        return statement(
            f"for (int {q} = t; {q} < {length}; {q} += {self.stride}) {text}[{q}] = {value};"
        )

    def parameters(self) -> None:
        common = Buffer("x", self.pick(*ELEMENTS), 0, lambda items: max(items, COMMON))
        common.cell = SIZES.get(common.element, 1)
        out = Buffer("out", "unsigned long", 8, lambda items: 2 * items)
        sums = Buffer("sums", self.pick(*ATOMIC_TYPES), 0, lambda items: SUMS)
        sums.cell = SIZES[sums.element]
        whole = Buffer("y", self.pick(*ATOMIC_TYPES), 0, lambda items: items)
        whole.cell = SIZES[whole.element]
        strided = Buffer("w", "unsigned", 4, lambda items: 3 * items)
        self.buffers = [common, out, sums, whole, strided]
        self.sums = Array("sums", sums.element, SUMS, "atomic", [], self.pick(*ATOMICS))
        if self.sums.operation == "Sub" and sums.element == "unsigned long":
            self.sums.operation = "Add"
        self.common = Array("x", common.element, COMMON, "read")

    def access(self) -> list[Statement]:
        kind = self.random.randrange(8)
        if kind == 0:
            self.mark("global atomic")
            cell: list[str | Expr] = ["&sums[", self.bounded(SUMS), "]"]
            return [self.atomic(self.sums, self.sums.operation, cell)]
        if kind == 1:
            far = self.pick(3, 5, 16, 33)
            text = self.pick(
                "g", "g", "items - 1 - g", f"(g + {far}) % items", f"g * {far} % items"
            )
            self.mark("array that all read")
            where = (
                name(text, "int", 0, ITEMS)
                if self.chance(0.5)
                else self.bounded(COMMON)
            )
            return [self.taken(self.element(self.common, where))]
        return super().access()

    def early_return(self, depth: int) -> list[Statement]:
        """Often with a value that the lane leaves behind."""
        made = super().early_return(depth)
        if made and not self.result and self.chance(0.7):
            condition = made[0].parts[1]
            left = self.written("=")
            return [Statement(["if (", condition, ") { ", left, " return; }"])]
        return made

    def written(self, op: str) -> Statement:
        """A value of the lane goes into its own memory."""
        target, type = self.random.choice(self.scope.targets)
        call = {"float": "bits", "double": "bits_wide"}.get(type, "")
        return statement(f"out[2 * g + 1] {op} (unsigned long){call}({target});")

    def look(self, depth: int) -> list[Statement]:
        return [self.written(self.pick("=", "+=", "^="))]

    def result_of(self) -> list[Statement]:
        """What the lane has at the end goes into memory."""
        made = []
        for place, (target, type) in enumerate(self.scope.targets):
            call = {"float": "bits", "double": "bits_wide"}.get(type, "")
            value = f"(unsigned long){call}({target}) * {2 * place + 1}"
            made.append(statement(f"out[2 * g] ^= {value};"))
        for u, _ in self.scope.uniform_targets:
            made.append(statement(f"out[2 * g] += (unsigned long){u} * 65537;"))
        return made

    def program(self) -> BlockProgram:
        launches = self.shapes()
        self.parameters()
        for _ in range(self.pick(0, 0, 1, 2)):
            self.new_function()
        if self.chance(0.1):
            self.new_recursion()
        self.scope_of_kernel()
        body = Block([statement(line) for line in self.place()])
        body.parts += self.variables()
        body.parts += self.shared_arrays()
        start = len(body.parts)
        if self.barriers:
            body.parts += self.barrier()
        if self.barriers and self.chance(0.5):
            # Memory of the grid, of which each block has its part.
            body.parts.append(
                statement(f"{self.buffers[3].element} *z = y + b * lanes;")
            )
            self.arrays.append(
                Array("z", self.buffers[3].element, 0, "own", [self.lane()])
            )
            self.mark("array of the block in global memory")
        while self.budget > 0:
            self.budget -= 1
            body.parts += self.statements(0)
        body.parts += self.result_of()
        body.parts[start:start] = self.top
        program = BlockProgram(self.name, self.buffers, Block(), launches, self.seed)
        bounds = self.pick("", "", "", f"LAUNCH_BOUNDS({max(self.most, 64)}) ")
        if self.lockstep:
            bounds = f"HIPADAPT_LOCKSTEP {bounds}"
        head = f"KERNEL {bounds}void {self.name}({program.parameters()}) "
        program.body = whole(self.functions, head, body)  # type: ignore[assignment]
        program.seen, program.warp = self.seen, self.warp
        for launch in launches:
            launch.shared = 8 * launch.lanes
        return program


def programs_of(
    seed: int, count: int, warp: int = 32, lockstep: bool = False
) -> list[BlockProgram]:
    """Programs of one seed for some size of warps, perhaps with lanes in step."""
    return [
        Writer(seed * 1000 + place, f"kernel{place}", warp, lockstep).program()
        for place in range(count)
    ]
