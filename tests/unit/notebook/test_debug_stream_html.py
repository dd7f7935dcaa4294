# SPDX-License-Identifier: MIT
"""How tensors of a debug stream look in a notebook."""

from __future__ import annotations

import re
import struct
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest

from hipadapt import DebugStream, compile_kernel, full
from hipadapt._objects.debug_stream import DebugEvent

NAN, INFINITE = "#d62728", "#ff7f0e"


def event(array: Any, prefix: str = "x", dtype: str | None = None) -> Any:
    """As it comes from a stream."""
    array = np.ascontiguousarray(array)
    head = struct.pack(
        "512s I I 16s 8Q Q",
        prefix.encode(),
        0,
        1,
        (dtype or str(array.dtype)).encode(),
        *[*array.shape, *[0] * (8 - array.ndim)],
        array.nbytes,
    )
    payload: Any = head.ljust(1024, b"\0") + array.tobytes()
    return DebugEvent(payload)


def fields(shown: str) -> dict[str, str]:
    return dict(re.findall(r"<th [^>]*>(.*?)</th><td [^>]*>(.*?)</td>", shown))


def cells(shown: str) -> list[tuple[str, str]]:
    """Colour and text of each, of a picture that is well-formed."""
    found = re.search("<svg.*</svg>", shown)
    assert found
    picture = ET.fromstring(found[0])
    name = "{http://www.w3.org/2000/svg}"
    return [
        (cell.attrib["fill"], title.text or "")
        for cell in picture.iter(f"{name}rect")
        for title in cell.iter(f"{name}title")
    ]


def test_a_tensor_of_a_kernel_is_shown() -> None:
    source = """
    #include <hipadapt/debug_tensor.h>
    __global__ void send(float *x) { ha_debug_tensor_launch("loss", 2, x, 2, 3); }
    """
    kernel = compile_kernel(source, "send")
    with DebugStream() as stream:
        kernel[1, 1](full(6, 1.5, "float32"))
        sent: Any = stream.read_event(timeout=20)

    shown = sent._repr_html_()

    assert "<b>loss: 2 x 3</b>" in shown
    assert fields(shown) == {
        "type": "float32",
        "device": "0",
        "pipe": "2",
        "min": "1.5",
        "max": "1.5",
        "mean": "1.5",
        "NaN": "0",
        "infinite": "0",
    }
    assert [text for _, text in cells(shown)] == [
        f"[{row}, {column}] 1.5" for row in range(2) for column in range(3)
    ]


def test_nan_and_infinite_elements_are_marked() -> None:
    values = np.arange(24, dtype="float32").reshape(2, 3, 4)
    values[1, 0, 2] = np.nan
    values[1, 2, 3] = -np.inf

    shown = event(values)._repr_html_()

    found = cells(shown)
    assert [text for colour, text in found if colour == NAN] == ["[1, 0, 2] nan"]
    assert [text for colour, text in found if colour == INFINITE] == ["[1, 2, 3] -inf"]
    assert (found[0][0], found[-2][0]) == ("#440154", "#fde725")
    assert fields(shown)["NaN"] == "1, the first at [1, 0, 2]"
    assert fields(shown)["infinite"] == "1, the first at [1, 2, 3]"
    assert fields(shown)["max"] == "22.0"
    assert shown.count("&#215;") == shown.count("&#8734;") == 1


def test_a_cell_of_a_large_tensor_is_a_block() -> None:
    values = np.zeros((100, 70))
    values[4:8, 3:6] = 12
    values[99, 69] = np.nan

    shown = event(values)._repr_html_()

    found = dict(reversed(pair) for pair in cells(shown))  # type: ignore[misc]
    assert fields(shown)["a cell"] == "mean of 4 x 3 elements"
    assert len(found) == 25 * 24
    assert found["[4, 3] mean 12, 0 NaN, 0 infinite"] == "#fde725"
    assert found["[96, 69] mean 0, 1 NaN, 0 infinite"] == NAN
    assert "[99, 69]" in fields(shown)["NaN"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.array([3 + 4j, 0, complex(np.inf, np.nan)]), ("0.0", "5.0", "1.5+2j")),
        (np.array([True, False]), ("False", "True", "0.5")),
        (np.array([-(2**63), 2**63 - 1]), (str(-(2**63)), str(2**63 - 1), "-0.5")),
        (np.array([1.7e308, 1.7e308, -1.7e308]), ("-1.7e+308", "1.7e+308", "5.66667e+307")),
        (np.array([1e-310]), ("1e-310", "1e-310", "1e-310")),
    ],
    ids=str,
)  # fmt: skip
def test_statistics_of_all_kinds(values: Any, said: tuple[str, ...]) -> None:
    found = fields(event(values)._repr_html_())

    assert (found["min"], found["max"], found["mean"]) == said


def test_small_floats_are_shown() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = np.array([0.5, np.nan, 448], ml_dtypes.float8_e4m3fn)

    shown = event(values)._repr_html_()

    assert fields(shown)["max"] == "448"
    assert [colour == NAN for colour, _ in cells(shown)] == [False, True, False]


@pytest.mark.parametrize("size", [1, 997, 1000, 1 << 16])
def test_rows_of_all_sizes_have_a_small_picture(size: int) -> None:
    shown = event(np.arange(size))._repr_html_()

    assert 1 <= len(cells(shown)) <= 1024
    assert len(shown) < 200_000


def test_nothing_but_nan_has_no_scale() -> None:
    shown = event(np.full(3, np.nan))._repr_html_()

    assert [colour for colour, _ in cells(shown)] == [NAN] * 3
    assert "min" not in fields(shown)


def test_what_numpy_does_not_know_has_a_caption() -> None:
    shown = event(np.zeros(4, "uint8"), dtype="float9")._repr_html_()

    assert fields(shown) == {"type": "float9", "device": "0", "pipe": "1"}
    assert "<svg" not in shown


def test_text_is_escaped() -> None:
    shown = event(np.zeros(1), prefix="<script>")._repr_html_()

    assert "<b>&lt;script&gt;: 1</b>" in shown
    assert "<script>" not in shown
