# SPDX-License-Identifier: MIT
"""The table of docs/math_accuracy.md is the one that the tests hold; the exact numbers
that they are held against are right."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest

from . import exact
from .accuracy import TABLE, table_line, ulps_of

DOCUMENT = Path(__file__).parents[2] / "docs" / "math_accuracy.md"


def test_document_has_the_bounds_of_the_tests() -> None:
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| `")]

    assert rows == [table_line(row) for row in TABLE]


@pytest.mark.parametrize(
    ("got", "right", "ulps"),
    [
        (1.0, "1", 0.0),
        (1.0 + 2**-52, "1", 1.0),
        (1.0 - 2**-53, "1", 0.5),
        (3.0, "3.00000000000000044408920985006261616945266723632812", 1.0),
        (0.0, "4.9406564584124654e-324", 1.0),
        (math.inf, "1e400", 0.0),
        (math.inf, "1e300", math.inf),
        (math.nan, "1", math.inf),
    ],
)
def test_distance_in_ulp(got: float, right: str, ulps: float) -> None:
    found = ulps_of(np.array([got]), [Decimal(right)], 0.0)[0]

    assert found == pytest.approx(ulps, rel=1e-2)


# Digits from tables of functions, as printed in handbooks.
KNOWN = (
    ("sin", ("1",), "0.84147098480789650665250232163029899962256306079837"),
    ("cos", ("1e22",), "0.5232147853951389454975944"),
    ("tan", ("-0.5",), "-0.54630248984379051325517946578028538329755"),
    ("atan", ("1",), "0.78539816339744830961566084581987572104929"),
    ("asinh", ("1",), "0.88137358701954302523260932497979230902816"),
    ("expm1", ("1e-10",), "1.0000000000500000000016666666666708333e-10"),
    ("erf", ("1",), "0.84270079294971486934122063508260925929606699796630"),
    ("erfc", ("3",), "0.000022090496998585441372776129582320"),
    ("erfinv", ("0.5",), "0.476936276204469873381418353643130559808969749059470644703"),
    ("normcdf", ("-1",), "0.15865525393145705141476745436796207752209"),
    ("normcdfinv", ("0.975",), "1.959963984540054235524594430520551527956"),
    ("lgamma", ("0.5",), "0.57236494292470008707171367567652935582365"),
    ("tgamma", ("5",), "24"),
    ("tgamma", ("-1.5",), "2.3632718012073547030642233111215269103967"),
)
BESSEL = (
    ("jn", 0, "1", "0.76519768655796655144971752610266322090927"),
    ("jn", 1, "10", "0.043472746168861436669748768025859288306"),
    ("yn", 0, "1", "0.088256964215676957982926766023515162828"),
    ("yn", 1, "2", "-0.10703243154093754688837077227747"),
    ("i_order", 0, "1", "1.2660658777520083355982446252147175376076"),
    ("i_order", 1, "1", "0.56515910399248502720769602760986330732889"),
)


@pytest.mark.parametrize(("name", "arguments", "right"), KNOWN)
def test_exact_function_gives_the_digits_of_tables(
    name: str, arguments: tuple[str, ...], right: str
) -> None:
    with localcontext() as context:
        context.prec = 40
        got = getattr(exact, name)(*map(Decimal, arguments))

    assert abs(got / Decimal(right) - 1) < Decimal("1e-20")


@pytest.mark.parametrize(("name", "order", "argument", "right"), BESSEL)
def test_exact_bessel_function_gives_the_digits_of_tables(
    name: str, order: int, argument: str, right: str
) -> None:
    with localcontext() as context:
        context.prec = 40
        got = getattr(exact, name)(order, Decimal(argument))

    assert abs(got / Decimal(right) - 1) < Decimal("1e-20")
