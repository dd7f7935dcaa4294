# SPDX-License-Identifier: MIT
"""A kernel as HIP C++ and as Python that does the same, lane by lane.

Expressions have a type of C; `python` wraps as C does, and raises Undefined where C
leaves open what happens.  The Python tells of each access: buffer, element, what it
does, and how many barriers the lane has met before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

BITS = {
    "int": 32,
    "unsigned": 32,
    "long": 64,
    "unsigned long": 64,
    "short": 16,
    "unsigned char": 8,
}
SIGNED = ("int", "long", "short")
# Buffers: the type of an element, its bytes.
BUFFERS = {
    "a": ("int", 4),
    "b": ("float", 4),
    "c": ("char", 1),
    "e": ("double", 8),
    "q": ("float4", 16),
    "d": ("int", 4),
}
SHARED = {"s": ("int", 96), "t": ("float", 40)}
NOWHERE = "nowhere"  # a buffer without elements
TABLE = 23  # element i of `d` is i * 7 % TABLE


class Undefined(Exception):
    """C says nothing about what happens."""


def wrap(kind: str, value: int) -> int:
    """The value as that type has it."""
    bits = BITS[kind]
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind in SIGNED and value >> (bits - 1) else value


@dataclass(frozen=True)
class Expr:
    kind: str  # a type of BITS
    text: str  # of C++
    python: str


def number(kind: str, value: int) -> Expr:
    suffix = {"unsigned": "u", "long": "l", "unsigned long": "ul"}.get(kind, "")
    return Expr(kind, f"({value}{suffix})", f"({value})")


def cast(kind: str, of: Expr) -> Expr:
    if of.kind == kind:
        return of
    return Expr(kind, f"(({kind}){of.text})", f"wrap({kind!r}, {of.python})")


def arithmetic(op: str, kind: str, left: Expr, right: Expr) -> Expr:
    """Of two values of that type, which is int or larger."""
    a, b = cast(kind, left), cast(kind, right)
    return Expr(
        kind,
        f"({a.text} {op} {b.text})",
        f"math({kind!r}, {op!r}, {a.python}, {b.python})",
    )


def compare(op: str, kind: str, left: Expr, right: Expr) -> Expr:
    a, b = cast(kind, left), cast(kind, right)
    return Expr("int", f"({a.text} {op} {b.text})", f"int({a.python} {op} {b.python})")


def both(op: str, left: Expr, right: Expr) -> Expr:
    word = {"&&": "and", "||": "or"}[op]
    return Expr(
        "int",
        f"({left.text} {op} {right.text})",
        f"int(bool({left.python}) {word} bool({right.python}))",
    )


def choice(condition: Expr, left: Expr, right: Expr) -> Expr:
    a, b = left, cast(left.kind, right)
    return Expr(
        a.kind,
        f"({condition.text} ? {a.text} : {b.text})",
        f"({a.python} if {condition.python} else {b.python})",
    )


def looked_up(index: Expr) -> Expr:
    """What stands in the table."""
    return Expr("int", f"d[{index.text}]", f"look({index.python})")


def math_of(wraps: bool) -> Callable[[str, str, int, int], int]:
    """Arithmetic as the compiler's flags have it."""

    def math(kind: str, op: str, a: int, b: int) -> int:
        bits = BITS[kind]
        if op in ("/", "%") and (b == 0 or (b == -1 and a == -(1 << (bits - 1)))):
            raise Undefined
        if op in ("<<", ">>") and not 0 <= b < bits:
            raise Undefined
        value = {
            "+": lambda: a + b,
            "-": lambda: a - b,
            "*": lambda: a * b,
            "&": lambda: a & b,
            "|": lambda: a | b,
            "^": lambda: a ^ b,
            "<<": lambda: a << b,
            ">>": lambda: a >> b,
            "/": lambda: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
            "%": lambda: abs(a) % abs(b) * (-1 if a < 0 else 1),
        }[op]()
        result = wrap(kind, value)
        if result != value and kind in SIGNED and not wraps:
            raise Undefined
        return result

    return math


# ---- statements ----


@dataclass
class Code:
    """Lines of both languages."""

    text: list[str] = field(default_factory=list)
    python: list[str] = field(default_factory=list)
    depth: int = 1
    barriers: int = 0

    def add(self, text: str, python: str) -> None:
        self.text.append("    " * self.depth + text)
        self.python.append("    " * self.depth + python)

    def begin(self, text: str, python: str) -> None:
        self.add(text + " {", python + ":")
        self.depth += 1

    def end(self) -> None:
        self.add("", "pass")
        self.depth -= 1
        self.text.append("    " * self.depth + "}")

    def barrier(self) -> None:
        self.barriers += 1
        self.add("__syncthreads();", f"yield {self.barriers}")

    def declare(self, name: str, value: Expr) -> Expr:
        self.add(f"{value.kind} {name} = {value.text};", f"{name} = {value.python}")
        return Expr(value.kind, name, name)

    def access(self, buffer: str, index: Expr, what: str) -> None:
        place = f"{buffer}[{index.text}]"
        lane = "(int)(bx * 1024 + tx + 32 * ty + 512 * tz + 1)"
        value = f"make_float4({lane}, 0, 0, 0)" if buffer == "q" else lane
        if what == "atomic":
            self.add(
                f"atomicAdd(&{place}, 1);",
                f"tell({buffer!r}, {index.python}, 'atomic')",
            )
        elif what == "write":
            self.add(
                f"{place} = {value};", f"tell({buffer!r}, {index.python}, 'write')"
            )
        else:
            read = f"{place}.x" if buffer == "q" else place
            self.add(f"sum += {read};", f"tell({buffer!r}, {index.python}, 'read')")


@dataclass(frozen=True)
class Access:
    buffer: str
    element: int
    what: str
    block: int
    lane: int
    phase: int


@dataclass(frozen=True)
class Launch:
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    numbers: tuple[int, ...]  # n, m, p, u, w
    elements: tuple[tuple[str, int], ...] = ()  # of each buffer


PARAMETERS = ("int", "int", "long", "unsigned", "short")
NAMES = ("n", "m", "p", "u", "w")
COORDINATES = {
    "tx": "threadIdx.x",
    "ty": "threadIdx.y",
    "tz": "threadIdx.z",
    "bx": "blockIdx.x",
    "by": "blockIdx.y",
    "bz": "blockIdx.z",
    "dx": "blockDim.x",
    "dy": "blockDim.y",
    "dz": "blockDim.z",
    "gx": "gridDim.x",
    "gy": "gridDim.y",
    "gz": "gridDim.z",
}


@dataclass
class Kernel:
    name: str
    code: Code

    def source(self) -> str:
        buffers = ", ".join(
            f"{'const ' if name == 'd' else ''}{kind} *{name}"
            for name, (kind, _) in BUFFERS.items()
        )
        numbers = ", ".join(
            f"{kind} {name}" for kind, name in zip(PARAMETERS, NAMES, strict=True)
        )
        head = f'extern "C" __global__ void {self.name}({buffers}, {numbers}) {{\n'
        shared = "".join(
            f"    __shared__ {kind} {name}[{count}];\n"
            for name, (kind, count) in SHARED.items()
        )
        places = "".join(
            f"    unsigned {name} = {text};\n" for name, text in COORDINATES.items()
        )
        tail = "}\n"  # nobody needs `sum`: questions stay without
        body = "\n".join(self.code.text)
        return f"{head}{shared}{places}    float sum = 0;\n{body}\n{tail}"

    def lanes(self) -> Any:
        arguments = ", ".join((*COORDINATES, *NAMES))
        text = f"def lane({arguments}, tell, look):\n" + "\n".join(self.code.python)
        return text + "\n    return\n    yield\n"


class Log:
    """What one lane does."""

    def __init__(self, block: int, lane: int, told: list[Access]) -> None:
        self.block, self.lane, self.told = block, lane, told
        self.met: list[int] = []  # barriers, one after the other

    def tell(self, buffer: str, element: int, what: str) -> None:
        access = Access(buffer, element, what, self.block, self.lane, len(self.met))
        self.told.append(access)

    def look(self, element: int) -> int:
        """What the table has there."""
        self.tell("d", element, "read")
        return element * 7 % TABLE


def accesses_of(kernel: Kernel, launch: Launch, wraps: bool) -> Iterator[Access]:
    """All that its lanes do; ends by Undefined."""
    space: dict[str, Any] = {
        "wrap": wrap,
        "math": math_of(wraps),
        "TooLong": Undefined,
    }
    exec(kernel.lanes(), space)
    gx, gy, gz = launch.grid
    dx, dy, dz = launch.block
    told: list[Access] = []
    for block in range(gx * gy * gz):
        met: list[int] = []  # the most that a lane has met
        bx, by, bz = block % gx, block // gx % gy, block // gx // gy
        for number_of in range(dx * dy * dz):
            tx, ty, tz = (
                number_of % dx,
                number_of // dx % dy,
                number_of // dx // dy,
            )
            log = Log(block, number_of, told)
            lane = space["lane"](
                *(tx, ty, tz, bx, by, bz, dx, dy, dz, gx, gy, gz),
                *launch.numbers,
                log.tell,
                log.look,
            )
            for barrier in lane:
                log.met.append(barrier)
            common = min(len(met), len(log.met))
            if met[:common] != log.met[:common]:
                log.tell(NOWHERE, 0, "write")  # lanes wait at different barriers
            met = max(met, log.met, key=len)
            yield from told
            told.clear()


def is_right(accesses: list[Access], launch: Launch) -> bool:
    """Whether all are in bounds and none race."""
    sizes = dict(launch.elements) | {name: count for name, (_, count) in SHARED.items()}
    sizes[NOWHERE] = 0
    seen: dict[tuple[Any, ...], list[Access]] = {}
    for access in accesses:
        if not 0 <= access.element < sizes[access.buffer]:
            return False
        block = access.block if access.buffer in SHARED else -1
        seen.setdefault((access.buffer, access.element, block), []).append(access)
    return not any(has_race(group) for group in seen.values())


def has_race(group: list[Access]) -> bool:
    """Of accesses to one element."""
    writes = [access for access in group if access.what != "read"]
    if not writes:
        return False
    apart = {(x.block, x.lane, x.phase, x.what) for x in group}
    for w in {(x.block, x.lane, x.phase, x.what) for x in writes}:
        for x in apart:
            ordered = x[0] == w[0] and (x[1] == w[1] or x[2] != w[2])
            if not ordered and not (x[3] == "atomic" and w[3] == "atomic"):
                return True
    return False
