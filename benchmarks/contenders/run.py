# SPDX-License-Identifier: MIT
"""One whole run in this process: `python -m benchmarks.contenders.run FOLDER`.

Standard input is a JSON object: names of rows, turns, the processor for gcc.  Prints a
JSON object a line: first the contenders that can't be had, then each row.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .cpu_device import CpuDevice
from .in_numpy import Numpy
from .opencl import OpenCL
from .openmp import OpenMP
from .row import (
    INTEL,
    NUMPY,
    OPENMP,
    OURS,
    POCL,
    Array,
    Contender,
    Data,
    MissingError,
    Ready,
    Results,
    Row,
)
from .rows import ROWS
from .turns import best_of_turns, seconds_of


def difference(row: Row, name: str, found: Array, right: Array) -> str:
    """What is wrong with an array, or nothing."""
    got, want = found.reshape(-1), right.reshape(-1)
    if got.shape != want.shape:
        return f"{name} has {got.size} elements, not {want.size}"
    if want.dtype.kind == "i":
        bad = got != want
    else:
        a, b = got.astype(np.float64), want.astype(np.float64)
        scale = np.maximum(np.abs(b), np.abs(b).mean())
        bad = ~(np.abs(a - b) <= row.tolerance * scale)  # a NaN is bad, too
    if np.count_nonzero(bad) <= row.odd * want.size:
        return ""
    at = int(np.argmax(bad))
    count = int(np.count_nonzero(bad))
    return f"{count} of {want.size} differ; {name}[{at}] is {got[at]}, not {want[at]}"


def wrong_results(row: Row, found: Results, right: Results) -> str:
    """The first difference."""
    for name, array in found.items():
        text = difference(row, name, array, right[name])
        if text:
            return text
    return ""


def available(
    makers: Mapping[str, Callable[[], Contender]],
) -> tuple[list[Contender], dict[str, str]]:
    """Those that can be had, and what to install for the others."""
    found, missing = [], {}
    for name, make in makers.items():
        try:
            found.append(make())
        except MissingError as error:
            missing[name] = str(error)
    return found, missing


def check_once(
    row: Row, ready: Mapping[str, Ready], right: Results
) -> tuple[dict[str, float], dict[str, str]]:
    """Run each once from equal data; the seconds, and what is wrong, by contender."""
    seconds, wrong = {}, {}
    for name, one in ready.items():
        seconds[name] = seconds_of(one)
        text = wrong_results(row, one.results(), right)
        if text:
            wrong[name] = text
    return seconds, wrong


def right_results(row: Row, data: Data, contenders: Sequence[Contender]) -> Results:
    """From the row itself, or of the OpenMP loop."""
    if row.expect is not None:
        return row.expect(data)
    loop = next(one for one in contenders if one.name == OPENMP).ready(row, data)
    assert loop is not None
    loop.run()
    results = {key: array.copy() for key, array in loop.results().items()}
    loop.close()
    return results


def measure(row: Row, contenders: Sequence[Contender], turns: int) -> dict[str, Any]:
    """Check and time one row."""
    data = row.data()
    right = right_results(row, data, contenders)
    asked = [one for one in contenders if one.name not in row.without]
    taken = {one.name: one.ready(row, data) for one in asked}
    ready = {name: one for name, one in taken.items() if one is not None}
    first, wrong = check_once(row, ready, right)
    timed = {name: one for name, one in ready.items() if name not in wrong}
    seconds = best_of_turns(timed, first, turns)
    for one in ready.values():
        one.close()
    return {"row": row.name, "seconds": seconds, "wrong": wrong}


def main() -> int:
    """Measure the rows and print them."""
    folder, wanted = Path(sys.argv[1]), json.load(sys.stdin)
    makers: dict[str, Callable[[], Contender]] = {
        OURS: CpuDevice,
        INTEL: lambda: OpenCL(INTEL),
        POCL: lambda: OpenCL(POCL),
        OPENMP: lambda: OpenMP(folder, wanted["march"]),
        NUMPY: Numpy,
    }
    contenders, missing = available(
        {name: make for name, make in makers.items() if name in wanted["contenders"]}
    )
    print(json.dumps({"missing": missing}), flush=True)
    by_name = {row.name: row for row in ROWS}
    for name in wanted["rows"]:
        print(
            json.dumps(measure(by_name[name], contenders, wanted["turns"])), flush=True
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
