# SPDX-License-Identifier: MIT
"""Random accesses of cells."""

from __future__ import annotations

from .c_program import SIZES, TWIN, Place, Region
from .c_tree import (
    Expr,
    Statement,
    Tree,
    arith,
    cast,
    number,
    statement,
)
from .c_values import Values


class Cells(Values):
    """Accesses of a lane's cells, in any width that the type rules allow."""

    def place_index(self, region: Region, size: int) -> Expr:
        """The number of a cell, counted in elements of some size."""
        cell = region.cell()
        if self.chance(0.3):
            cell = cast(cell, self.pick("long", "unsigned", "unsigned long", "int"))
        scale = region.size // size
        return cell if scale == 1 else arith("*", cell, number(scale))

    def offset(self, place: Place, region: Region, size: int) -> Expr | None:
        """A multiple of `size` bytes that keeps an access inside of the cell, counted in
        elements of that size from the place."""
        last = (region.size - size) // size
        low, high = place.low // size, place.high // size
        if place.low % size or place.step % size or high - low > last:
            return None
        room = last - (high - low)
        total: Expr | None = None
        moving = place.low != place.high
        counters = self.counters if not moving or self.chance(0.2) else []
        for counter in self.random.sample(counters, len(counters)):
            factor = self.pick(1, 1, 1, 2, 4, -1)
            if self.pace and counter is self.counters[-1]:
                # Accesses of all widths go on by the same distance in each round.
                factor = max(self.pace // size, 1)
            reach = abs(factor) * (counter.high - counter.low)
            if reach <= room and self.chance(0.75):
                if counter.type.startswith("unsigned"):
                    # Mixed with what is negative it would wrap.
                    if factor < 0 or (total is not None and total.low < 0):
                        counter = cast(counter, "long")
                term = counter if factor == 1 else arith("*", counter, number(factor))
                if total is not None and term.low < 0:
                    total = cast(total, "long")
                total = term if total is None else arith("+", total, term)
                room -= reach
        if total is None and self.chance(0.1):
            masks = [c for c in (1, 3, 7, 15) if c <= room]
            if masks:
                mask = number(self.pick(*masks), "unsigned")
                total = arith("&", self.variable(), mask)
                room -= mask.high
        start = min(self.random.randrange(room + 1), self.pick(0, 1, 2, room))
        if self.pace:
            start = min(room, self.random.randrange(2 * max(self.pace // size, 1)))
        if total is None:
            return number(start - low)
        add = start - low - total.low
        if total.type.startswith("unsigned") and add < 0:
            total = cast(total, "long")
        return arith("+", total, number(add)) if add else total

    def access(self, region: Region, element: str) -> Expr | None:
        """An lvalue of some type inside of a cell."""
        size = SIZES[element]
        if region.size % size or region.buffer.shift % size:
            return None
        place = self.pick(*region.places)
        offset = self.offset(place, region, size)
        if offset is None:
            return None
        own = element == place.element
        if isinstance(place.text, str):
            if own or self.chance(0.5):
                text = place.text if own else f"(({element} *){place.text})"
                return self.at(text, offset)
            return self.by_bytes(place.text, offset, element)
        index = self.place_index(region, size)
        shift = region.buffer.shift // size
        if shift:
            index = arith("-", cast(index, "long"), number(shift))
        if not own and self.chance(0.3):
            whole = arith("+", cast(index, "long"), offset)
            return self.by_bytes(region.buffer.name, whole, element)
        base = region.buffer.name if own else f"(({element} *){region.buffer.name})"
        if index.type.startswith("unsigned") and offset.low < 0:
            offset = cast(offset, "long")
        return self.at(base, arith("+", index, offset))

    def at(self, base: str, index: Expr) -> Expr:
        kind = self.random.randrange(6)
        if kind == 0:
            return Expr([f"*({base} + ", index, ")"], "int", 0, 0)
        if kind == 1 and not index.type.startswith("unsigned"):
            moved = arith("-", index, number(1))
            return Expr([f"({base} + 1)[", moved, "]"], "int", 0, 0)
        return Expr([f"{base}[", index, "]"], "int", 0, 0)

    def by_bytes(self, base: str, index: Expr, element: str) -> Expr:
        scaled = index
        if SIZES[element] > 1:
            scaled = arith("*", index, number(SIZES[element], "long"))
        return Expr([f"*({element} *)((byte *){base} + ", scaled, ")"], "int", 0, 0)

    def element_of(self, region: Region) -> str:
        """A type that a cell may be accessed by."""
        own = region.buffer.element
        if self.chance(0.55):
            return own if self.chance(0.8) else TWIN[own]
        sizes = {1: ("byte", "signed char"), 2: ("any16",), 4: ("any32",)}
        sizes |= {8: ("any64",), 16: ("any128",)}
        size = self.pick(*(s for s in sizes if s <= region.size))
        return self.pick(*sizes[size])

    def touch(self, region: Region | None = None, kind: int = -1) -> list[Statement]:
        """Read a cell (kind 0 to 3), write it (4 to 7) or both (8 and 9)."""
        region = region or self.pick(*self.regions)
        kind = self.random.randrange(10) if kind < 0 else kind
        element = self.element_of(region)
        if self.pace and self.chance(0.5):
            # Reads of what a narrower store has changed in part.
            own = region.buffer.element
            parts = [e for e in ("byte", "any16", "any32") if SIZES[e] < SIZES[own]]
            element = self.pick(*parts) if kind >= 4 and parts else own
        target = self.access(region, element)
        if target is None:
            return []
        if element == "any128":
            return self.touch_vector(target, kind)
        wide = SIZES[element] == 8 and self.chance(0.5)
        if kind < 4:
            if wide:
                return [statement("w", self.pick(" = ", " ^= ", " += "), target, ";")]
            op = self.pick(" = ", " ^= ", " += ")
            return [statement(self.variable(), op, "(unsigned)", target, ";")]
        value = self.data(self.pick(1, 2, 3)) if self.chance(0.5) else self.variable()
        given: list[str | Tree] = [f"({element})", value]
        if SIZES[element] == 8:
            given = ["w ^ ", value] if wide else [value]
        if kind < 8:
            return [statement(target, " = ", *given, ";")]
        signed = element in ("signed char", "short", "int", "long")
        op = self.pick(" ^= ", " |= ") if signed else self.pick(" ^= ", " += ", " -= ")
        return [statement(target, op, *given, ";")]

    def touch_vector(self, target: Expr, kind: int) -> list[Statement]:
        if kind < 4:
            q = self.fresh("q")
            return [
                statement(f"any128 {q} = ", target, ";"),
                statement(self.variable(), f" ^= {q}[{self.random.randrange(4)}];"),
                statement(self.variable(), f" += {q}[{self.random.randrange(4)}];"),
            ]
        return [statement(target, " = (any128){v0, v1, v2, v3};")]

    def pointer_to(
        self, region: Region, element: str, *, fixed: bool = False
    ) -> list[Statement]:
        """Declares a pointer into the cell, which may go on with a loop's counter."""
        size = SIZES[element]
        if region.size % size or region.buffer.shift % size:
            return []
        last = region.size // size - 1
        start = self.pick(0, 0, 0, self.random.randrange(last + 1))
        index = cast(self.place_index(region, size), "long")
        index = arith("+", index, number(start - region.buffer.shift // size))
        place = Place(self.fresh("r"), element, start * size, start * size)
        if self.counters and not fixed and self.chance(0.9):
            counter = self.counters[-1]
            factor = max(self.pace // size, 1)
            if start + factor * counter.high <= last:
                term = counter if factor == 1 else arith("*", counter, number(factor))
                index = arith("+", index, term)
                place.high += factor * counter.high * size
                place.step = factor * size
        base = region.buffer.name
        if element != region.buffer.element:
            base = f"(({element} *){base})"
        region.places.append(place)
        return [statement(f"{element} *{place.text} = {base} + ", index, ";")]
