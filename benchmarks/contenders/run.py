# SPDX-License-Identifier: MIT
"""One whole run in this process: `python -m benchmarks.contenders.run FOLDER`.

Every line of standard input is a JSON object and is answered by one: first what there
is to run, {"contenders": [...], "march": ...}, then {"open": name of a row}, which
checks it, {"turns": number}, which times it, and {"close": true}.
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
from .turns import Timed, seconds_of


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


def check_once(row: Row, ready: Ready, right: Results) -> tuple[Timed, str]:
    """Run once; the time, and what is wrong."""
    timed = Timed(ready, seconds_of(ready))
    return timed, wrong_results(row, ready.results(), right)


def right_results(row: Row, data: Data, oracle: OpenMP) -> Results:
    """From the row itself, or of the OpenMP loop."""
    if row.expect is not None:
        return row.expect(data)
    loop = oracle.ready(row, data)
    assert loop is not None
    loop.run()
    results = {key: array.copy() for key, array in loop.results().items()}
    loop.close()
    return results


class OpenRow:
    """A row that was checked; who failed is told, and not timed."""

    def __init__(
        self, row: Row, contenders: Sequence[Contender], oracle: OpenMP
    ) -> None:
        data = row.data()
        right = right_results(row, data, oracle)
        self.timed: dict[str, Timed] = {}
        self.wrong: dict[str, str] = {}
        for one in contenders:
            if one.name not in row.without:
                self.take(one, row, data, right)

    def take(self, one: Contender, row: Row, data: Data, right: Results) -> None:
        """Let a contender do it once."""
        try:
            ready = one.ready(row, data)
            if ready is None:
                return
            timed, text = check_once(row, ready, right)
        except Exception as error:  # of any contender's own kind
            text = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        if text:
            self.wrong[one.name] = text
        else:
            self.timed[one.name] = timed

    def turns(self, count: int) -> None:
        """Time so many turns more."""
        for _ in range(count):
            for timed in self.timed.values():
                timed.turn()

    def close(self) -> None:
        """Give memory back."""
        for timed in self.timed.values():
            timed.contender.close()


def makers(
    wanted: Mapping[str, Any], oracle: OpenMP
) -> dict[str, Callable[[], Contender]]:
    """Those that are asked for."""
    every: dict[str, Callable[[], Contender]] = {
        OURS: CpuDevice,
        INTEL: lambda: OpenCL(INTEL),
        POCL: lambda: OpenCL(POCL),
        OPENMP: lambda: oracle,
        NUMPY: Numpy,
    }
    return {name: make for name, make in every.items() if name in wanted["contenders"]}


def answer(found: Mapping[str, Any]) -> None:
    """One line."""
    print(json.dumps(found), flush=True)


def main() -> int:
    """Do what the lines say."""
    wanted = json.loads(sys.stdin.readline())
    oracle = OpenMP(Path(sys.argv[1]), wanted["march"])
    contenders, missing = available(makers(wanted, oracle))
    answer({"missing": missing})
    by_name = {row.name: row for row in ROWS}
    for line in sys.stdin:
        command = json.loads(line)
        if "open" in command:
            row = OpenRow(by_name[command["open"]], contenders, oracle)
        if "turns" in command:
            row.turns(command["turns"])
        if "close" in command:
            row.close()
        seconds = {name: timed.best for name, timed in row.timed.items()}
        answer({"seconds": seconds, "wrong": row.wrong})
    return 0


if __name__ == "__main__":
    sys.exit(main())
