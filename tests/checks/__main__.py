# SPDX-License-Identifier: MIT
"""python -m tests.checks: all pairs, many times and with several counts of workers.

    python -m tests.checks --repeat 50 --workers 1,2,16
    python -m tests.checks --show one_float_behind

Ends with 1 if a finding is missing, is too much, or differs between two runs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tests.kernels.worker import CaseFailure, Worker

from .client import Report, client
from .pair import PAIRS, Pair, load_pairs
from .verdict import Verdict, describe, differences


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.checks")
    parser.add_argument("pairs", nargs="*", help="parts of names or themes")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each twin")
    parser.add_argument("--workers", default="1,2,16", help="counts, with commas")
    parser.add_argument("--kinds", default="", help="only pairs with these kinds")
    parser.add_argument("--plain", action="store_true", help="without checks")
    parser.add_argument(
        "--any-memory", action="store_true", help="in whatever memory it is found"
    )
    parser.add_argument("--list", action="store_true", help="what must be found")
    parser.add_argument("--show", action="store_true", help="print what is found")
    return parser.parse_args()


def chosen(given: argparse.Namespace) -> list[Pair]:
    kinds = set(filter(None, given.kinds.split(",")))
    return [
        pair
        for pair in PAIRS.values()
        if (not kinds or kinds & pair.kinds)
        and (
            not given.pairs
            or any(word in f"{pair.theme}.{pair.name}" for word in given.pairs)
        )
    ]


class Driver:
    """Runs twins in processes; one for each text of HIPADAPT_CHECK and worker count."""

    def __init__(self, given: argparse.Namespace, cache: Path) -> None:
        self.given = given
        self.cache = cache
        self.workers = [int(count) for count in given.workers.split(",")]
        self.clients: dict[tuple[str, int], Worker] = {}

    def reports(self, pair: Pair, wrong: bool) -> Iterator[Report]:
        check = pair.check if wrong else pair.twin_check
        for count in self.workers:
            key = ("" if self.given.plain else check, count)
            if key not in self.clients:
                self.clients[key] = client(self.cache, *key)
            for _ in range(self.given.repeat):
                yield self.clients[key].ask(pair.name, wrong)

    def complaints(self, pair: Pair, wrong: bool) -> list[str]:
        """What is wrong with the answers of one twin."""
        try:
            reports = list(self.reports(pair, wrong))
        except CaseFailure as failure:
            plain_fault = self.given.plain and wrong and pair.faults
            return [] if plain_fault else [str(failure)]
        texts = [
            report.failure
            for report in reports
            if report.failure and not (wrong and pair.faults)
        ]
        if self.given.show:
            print(*reports[0].findings, sep="\n")
        if not wrong:
            texts += [f"not expected: {found}" for found in reports[0].findings]
            texts += [text for report in reports for text in wrong_numbers(report)]
        elif not self.given.plain:
            memory = not self.given.any_memory
            texts += Verdict(pair, memory).complaints(reports[0].findings)
        texts += differences(*(report.findings for report in reports))
        return list(dict.fromkeys(texts))  # what every run says, once

    def close(self) -> None:
        for one in self.clients.values():
            one.close()


def wrong_numbers(report: Report) -> list[str]:
    """Results of the right twin that are not numpy's."""
    return [
        f"{check.label}: got {check.got}, want {check.want}"
        for check in report.checks
        if not np.allclose(
            check.got, check.want, check.rtol, check.atol, equal_nan=True
        )
    ]


def show(pairs: Sequence[Pair]) -> None:
    for pair in pairs:
        print(f"{pair.theme}.{pair.name} ({pair.check}): {pair.why}")
        for expected in pair.expectations:
            print(f"    {describe(expected)}")


def main() -> int:
    load_pairs()
    given = arguments()
    pairs = chosen(given)
    if given.list:
        show(pairs)
        return 0
    failed = 0
    with tempfile.TemporaryDirectory(prefix="hipadapt-checks-") as cache:
        driver = Driver(given, Path(cache))
        for pair in pairs:
            for wrong in (False, True):
                texts = driver.complaints(pair, wrong)
                failed += bool(texts)
                if texts:
                    twin = "wrong" if wrong else "right"
                    print(f"{pair.theme}.{pair.name}, {twin} twin")
                    print(*(f"    {text}" for text in texts), sep="\n", flush=True)
        driver.close()
    print(f"{len(pairs)} pairs, {failed} twins with other answers")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
