# SPDX-License-Identifier: MIT
"""What the tests of the kernel language's types share: formats, and kernels made of
expressions.

A format is described by its bits alone; `decode` and `nearest` follow from that
description by exact arithmetic and know no trick of the device headers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .kernel_image import Image, Load

BLOCK = 64


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy at an address that suits every type, as hipMalloc gives it."""
    memory = np.zeros(array.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


@dataclass(frozen=True)
class Expression:
    """A kernel r[i] = text, where a, b, c are elements of the arrays of ``types``."""

    name: str
    text: str
    types: tuple[str, ...]
    result: str

    def kernel(self) -> str:
        names = "abc"[: len(self.types)]
        parameters = "".join(
            f"const {kind} *{name}_, "
            for kind, name in zip(self.types, names, strict=True)
        )
        values = "".join(
            f"        {kind} {name} = {name}_[i];\n"
            for kind, name in zip(self.types, names, strict=True)
        )
        return (
            f'extern "C" __global__ void {self.name}({parameters}{self.result} *r_, '
            "int n) {\n"
            f"    for (int i = threadIdx.x; i < n; i += {BLOCK}) {{\n"
            f"{values}        r_[i] = {self.text};\n    }}\n}}\n"
        )


class Expressions:
    """Several expressions in one image; each call runs both executors.

    They must agree in every bit.  Only NaN of the 16-bit ``format`` may be any NaN in
    results of the types ``narrow``: which of two operands' NaN comes out is left open.
    """

    def __init__(
        self,
        load: Load,
        before: str,
        expressions: Sequence[Expression],
        format: Format | None = None,
        narrow: Sequence[str] = (),
    ) -> None:
        self.format, self.narrow, self.bitwise = format, narrow, True
        self.table = {expression.name: expression for expression in expressions}
        source = before + "".join(e.kernel() for e in expressions)
        self.image: Image = load(source)

    def __call__(
        self, name: str, *arrays: np.ndarray, result: np.dtype | type
    ) -> np.ndarray:
        """The reference form's result, after a comparison with the fast form's."""
        kernel = self.image.kernels[name]
        count = arrays[0].shape[0]
        outputs: list[np.ndarray] = []
        assert kernel.has_fast, f"{name} has no fast form"
        for run in (kernel.run_fast, kernel.run_reference):
            output = aligned(np.zeros(count, result))
            inputs = [aligned(array) for array in arrays]
            run((1, 1, 1), (BLOCK, 1, 1), [*inputs, output, np.int32(count)])
            outputs.append(output)
        fast, reference = (output.view(np.uint8) for output in outputs)
        if self.format is not None and self.table[name].result in self.narrow:
            fast, reference = (output.view(np.uint16) for output in outputs)
            nan = self.format.is_nan(fast) & self.format.is_nan(reference)
            fast = np.where(nan, reference, fast)
        same = np.array_equal(fast, reference)
        assert same or not self.bitwise, f"{name}: executors differ"
        return outputs[1]


@dataclass(frozen=True)
class Format:
    """A narrow floating point format of one sign bit, exponent and mantissa."""

    exponent: int
    mantissa: int
    bias: int
    infinities: bool = True
    fnuz: bool = False  # no -0, no infinity; NaN is the code of -0

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.mantissa

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def top(self) -> int:
        """The code of the largest number."""
        if self.fnuz:
            return self.sign - 1
        if self.infinities:
            return (((1 << self.exponent) - 1) << self.mantissa) - 1
        return self.sign - 2

    def magnitude(self, code: int) -> Fraction:
        """The number that a code without a sign stands for, were it a number."""
        field = code >> self.mantissa
        part = code & ((1 << self.mantissa) - 1)
        if field > 0:
            part += 1 << self.mantissa
        return part * Fraction(2) ** (max(field, 1) - self.bias - self.mantissa)

    def is_nan(self, codes: np.ndarray) -> np.ndarray:
        if self.fnuz:
            return codes == self.sign
        return (codes & (self.sign - 1)) > self.top + self.infinities

    def decode(self) -> np.ndarray:
        """The value of every code, as float64; exact."""
        values = np.full(1 << self.bits, np.nan)
        for code in range(self.top + 1):
            values[code] = float(self.magnitude(code))
        if self.infinities and not self.fnuz:
            values[self.top + 1] = np.inf
        positive = values[: self.sign].copy()
        values[self.sign :] = -positive
        if self.fnuz:
            values[self.sign] = np.nan
        return values

    def round(
        self, value: Fraction, direction: str = "rn", negative: bool = False
    ) -> int:
        """The code of a finite number; what is beyond the top is the code after it."""
        negative = value < 0 or (value == 0 and negative)
        size = abs(value)
        code = 0
        if size > 0:
            place = size.numerator.bit_length() - size.denominator.bit_length()
            place -= size < Fraction(2) ** place
            weight = Fraction(2) ** (max(place, 1 - self.bias) - self.mantissa)
            steps = size / weight
            below = math.floor(steps)
            rest = steps - below
            away = {
                "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and below & 1),
                "rz": False,
                "ru": rest > 0 and not negative,
                "rd": rest > 0 and negative,
            }[direction]
            exact = (below + bool(away)) * weight
            if exact > 0:
                place = max(
                    place + (exact >= Fraction(2) ** (place + 1)), 1 - self.bias
                )
                code = int(exact / Fraction(2) ** (place - self.mantissa))
                code += (place + self.bias - 1) << self.mantissa
        if code > self.top:
            keeps = direction == "rz" or (
                direction == "ru" if negative else direction == "rd"
            )
            code = self.top if keeps else self.top + 1
        return code | (self.sign if negative else 0)

    def nearest(self, values: np.ndarray, direction: str = "rn") -> np.ndarray:
        """Codes of finite float64 values, as `round` gives them, quickly."""
        with np.errstate(under="ignore"):
            _, place = np.frexp(np.abs(values))
        weight = np.maximum(place - 1, 1 - self.bias) - self.mantissa
        steps = np.ldexp(np.abs(values), -weight)
        negative = np.signbit(values)
        near, cut, up = np.rint(steps), np.floor(steps), np.ceil(steps)
        steps = {
            "rn": near,
            "rz": cut,
            "ru": np.where(negative, cut, up),
            "rd": np.where(negative, up, cut),
        }[direction]
        codes = (weight + self.mantissa + self.bias - 1).astype(np.int64)
        codes = (codes << self.mantissa) + steps.astype(np.int64)
        codes[values == 0] = 0
        keeps = np.full(values.shape, direction == "rz")
        keeps |= negative if direction == "ru" else False
        keeps |= ~negative if direction == "rd" else False
        codes = np.where(
            codes > self.top, np.where(keeps, self.top, self.top + 1), codes
        )
        return codes | np.where(negative, self.sign, 0)


HALF = Format(5, 10, 15)
BFLOAT = Format(8, 7, 127)
FP8 = {
    "e4m3": Format(4, 3, 7, infinities=False),
    "e5m2": Format(5, 2, 15),
    "e4m3_fnuz": Format(4, 3, 8, infinities=False, fnuz=True),
    "e5m2_fnuz": Format(5, 2, 16, infinities=False, fnuz=True),
}


def all_codes() -> np.ndarray:
    return np.arange(65536, dtype=np.uint16)


def near_ties(fmt: Format, rng: np.random.Generator) -> np.ndarray:
    """float64 values on codes, halfway between them, and a hair beside both."""
    values = fmt.decode()
    values = np.sort(values[np.isfinite(values)])
    middles = (values[1:] + values[:-1]) / 2
    top = float(fmt.magnitude(fmt.top))
    ulp = top - float(fmt.magnitude(fmt.top - 1))
    middles = np.concatenate([middles, [top + ulp / 2, -top - ulp / 2]])
    points = np.concatenate([values, middles])
    random = rng.standard_normal(20000) * 2.0 ** rng.integers(-30, 17, 20000)
    return np.concatenate(
        [
            points,
            np.nextafter(points, np.inf),
            np.nextafter(points, -np.inf),
            random,
            [0.0, -0.0, 2.0**-1060, -(2.0**-1060), 2.0**1000, -(2.0**1000)],
        ]
    )


def near_ties_float(fmt: Format, rng: np.random.Generator) -> np.ndarray:
    """The same in float32."""
    values = fmt.decode()
    values = np.sort(values[np.isfinite(values)]).astype(np.float32)
    middles = ((values[1:].astype(np.float64) + values[:-1]) / 2).astype(np.float32)
    points = np.concatenate([values, middles])
    up = np.nextafter(points, np.float32(np.inf))
    down = np.nextafter(points, np.float32(-np.inf))
    random = rng.integers(0, 2**32, 100000, dtype=np.uint32).view(np.float32)
    every = np.concatenate([points, up, down, random[np.isfinite(random)]])
    return every[np.isfinite(every)]


def same_bits(got: np.ndarray, want: np.ndarray, nan: np.ndarray) -> None:
    """Codes are equal; where `nan` says so of what is wanted, any NaN was allowed."""
    wrong = np.flatnonzero((got != want) & ~nan)
    assert wrong.size == 0, (
        f"{wrong.size} of {got.size} differ, first at {wrong[0]}: "
        f"got {int(got[wrong[0]]):#x}, want {int(want[wrong[0]]):#x}"
    )
