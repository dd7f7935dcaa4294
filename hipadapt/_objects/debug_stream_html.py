# SPDX-License-Identifier: MIT
"""How a tensor of a debug stream looks in a notebook: statistics and a heat map."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, NamedTuple

from .html import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from .debug_stream import DebugEvent

_EDGE = 32  # cells of a row, and of a column
_ELEMENTS_MAX = 1 << 24  # of a tensor that is looked at
_CELL, _BAR, _GAP = 16, 10, 6  # pixels
# From small to large, as people with any eyes can tell them apart (viridis).
_COLOURS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))
_NAN, _INFINITE = "#d62728", "#ff7f0e"


class _Numbers(NamedTuple):
    """A tensor's elements in two dimensions; complex ones as their magnitudes."""

    shape: tuple[int, ...]  # the tensor's own
    exact: NDArray[Any]
    real: NDArray[np.float64]
    nan: NDArray[np.bool_]
    infinite: NDArray[np.bool_]

    def place(self, number: int) -> str:
        """The index in the tensor of an element in C order."""
        index: list[str] = []
        for size in reversed(self.shape):
            number, one = divmod(number, size)
            index.insert(0, str(one))
        return f"[{', '.join(index)}]"


class _Cells(NamedTuple):
    """A tensor as it is drawn: each cell is a block of elements."""

    rows: int  # elements of a block
    columns: int
    mean: NDArray[np.float64]  # of the finite ones
    nan: NDArray[np.intp]
    infinite: NDArray[np.intp]


def event_html(event: DebugEvent) -> str:
    """A caption and, where numpy can read the elements, a picture."""
    shape = " x ".join(map(str, event.shape))
    rows: list[tuple[str, object]] = [
        ("type", event.dtype),
        ("device", event.device),
        ("pipe", event.pipe),
    ]
    title = html.escape(f"{event.prefix or 'tensor'}: {shape}")
    numbers = _numbers(event)
    picture = ""
    if numbers is not None:
        rows += _statistics(numbers)
        cells = _cells(numbers)
        if cells.rows * cells.columns > 1:
            rows.append(("a cell", f"mean of {cells.rows} x {cells.columns} elements"))
        picture = _svg(numbers, cells)
    return f"<b>{title}</b>{table(rows)}{picture}"


def _numbers(event: DebugEvent) -> _Numbers | None:
    """None where there is no numpy, or not this dtype, or too much."""
    try:
        import numpy as np

        array = event.array
    except (ImportError, TypeError):
        return None
    if not 0 < array.size <= _ELEMENTS_MAX:
        return None
    exact = array.reshape(-1, array.shape[-1])
    if exact.shape[0] == 1 and exact.shape[1] > _EDGE * 4:
        exact = _wrapped(exact)
    if exact.dtype.kind == "c":
        real = np.abs(exact).astype("float64")
        nan = np.isnan(exact)  # the magnitude of inf + nan j is infinite for numpy
    else:
        real = exact.astype("float64")
        nan = np.isnan(real)
    return _Numbers(event.shape, exact, real, nan, np.isinf(real) & ~nan)


def _wrapped(row: NDArray[Any]) -> NDArray[Any]:
    """A long row as several, where they come out even."""
    size = row.shape[1]
    edge = int(size**0.5)
    width = next((n for n in range(edge, size + 1) if size % n == 0), size)
    return row.reshape(-1, width) if width <= 8 * edge else row


def _statistics(numbers: _Numbers) -> Iterator[tuple[str, object]]:
    """Of the finite elements, as `hipadapt watch` prints them."""
    finite = ~(numbers.nan | numbers.infinite)
    if finite.any():
        chosen = numbers.exact[finite]
        if chosen.dtype.kind == "c":
            ends: Any = numbers.real[finite]
            mean: Any = chosen.astype("complex128").mean()
        else:
            ends = chosen
            added = chosen if chosen.dtype.kind in "iu" else numbers.real[finite]
            mean = added.mean(dtype="longdouble")
        yield "min", ends.min()
        yield "max", ends.max()
        yield "mean", f"{mean:.6g}"
    for word, marked in (("NaN", numbers.nan), ("infinite", numbers.infinite)):
        count = int(marked.sum())
        first = numbers.place(int(marked.argmax())) if count else ""
        yield word, f"{count}, the first at {first}" if count else 0


def _cells(numbers: _Numbers) -> _Cells:
    import numpy as np

    height, width = numbers.real.shape
    rows, columns = -(-height // _EDGE), -(-width // _EDGE)
    down, across = list(range(0, height, rows)), list(range(0, width, columns))

    def add(values: NDArray[Any]) -> NDArray[Any]:
        return np.add.reduceat(np.add.reduceat(values, down, 0), across, 1)

    bad = numbers.nan | numbers.infinite
    count = add((~bad).astype("intp"))
    # Divided first, so that no sum of large elements becomes infinite.
    most = rows * columns
    mean = add(np.where(bad, 0.0, numbers.real) / most)
    mean *= np.where(count > 0, most / np.maximum(count, 1), np.nan)
    return _Cells(
        rows,
        columns,
        mean,
        add(numbers.nan.astype("intp")),
        add(numbers.infinite.astype("intp")),
    )


class _Scale(NamedTuple):
    low: float
    high: float

    def share(self, value: float) -> float:
        """0 to 1 from low to high; halves, because the whole may be infinite."""
        spread = self.high / 2 - self.low / 2
        return (value / 2 - self.low / 2) / spread if spread > 0 else 0.5


def _colour(share: float) -> str:
    place = min(max(share, 0.0), 1.0) * (len(_COLOURS) - 1)
    first = min(int(place), len(_COLOURS) - 2)
    pair = zip(_COLOURS[first], _COLOURS[first + 1], strict=True)
    red, green, blue = (round(a + (b - a) * (place - first)) for a, b in pair)
    return f"#{red:02x}{green:02x}{blue:02x}"


def _svg(numbers: _Numbers, cells: _Cells) -> str:
    import numpy as np

    means = cells.mean[~np.isnan(cells.mean)]
    low, high = (float(means.min()), float(means.max())) if means.size else (0.0, 0.0)
    scale = _Scale(low, high)
    height, width = cells.mean.shape
    wide, tall = max(width * _CELL, 160), height * _CELL + _GAP + _BAR + 20
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {wide} {tall}' "
        f"width='{wide}' style='max-width:100%' font-family='sans-serif' "
        "font-size='11' fill='currentColor'>"
    ]
    for row in range(height):
        for column in range(width):
            parts += _cell(numbers, cells, row, column, scale)
    if means.size:
        parts += _legend(height * _CELL + _GAP, wide, scale)
    parts.append("</svg>")
    return "".join(parts)


def _cell(
    numbers: _Numbers, cells: _Cells, row: int, column: int, scale: _Scale
) -> Iterator[str]:
    """Of a block with NaN or infinite elements the mark is seen, and not the mean."""
    nan, infinite = cells.nan[row, column], cells.infinite[row, column]
    mean = float(cells.mean[row, column])
    x, y = column * _CELL, row * _CELL
    if nan or infinite:
        colour, mark = (_NAN, "&#215;") if nan else (_INFINITE, "&#8734;")
    else:
        colour, mark = _colour(scale.share(mean)), ""
    if cells.rows * cells.columns == 1:
        value = f"{numbers.exact[row, column]}"
    else:
        value = f"mean {mean:.6g}, {nan} NaN, {infinite} infinite"
    width = numbers.real.shape[1]
    place = numbers.place(row * cells.rows * width + column * cells.columns)
    yield (
        f"<rect x='{x}' y='{y}' width='{_CELL}' height='{_CELL}' fill='{colour}'>"
        f"<title>{place} {html.escape(value)}</title></rect>"
    )
    if mark:
        yield (
            f"<text x='{x + _CELL / 2}' y='{y + _CELL - 4}' text-anchor='middle' "
            f"fill='white' pointer-events='none'>{mark}</text>"
        )


def _legend(y: int, width: int, scale: _Scale) -> Iterator[str]:
    steps = 32
    for step in range(steps):
        yield (
            f"<rect x='{step * width / steps:.1f}' y='{y}' "
            f"width='{width / steps + 0.5:.1f}' height='{_BAR}' "
            f"fill='{_colour(step / (steps - 1))}'/>"
        )
    below = y + _BAR + 14
    yield f"<text x='0' y='{below}'>{scale.low:.4g}</text>"
    yield f"<text x='{width}' y='{below}' text-anchor='end'>{scale.high:.4g}</text>"
