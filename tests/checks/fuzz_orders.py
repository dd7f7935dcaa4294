# SPDX-License-Identifier: MIT
"""Random programs of streams, events and graphs under HIPADAPT_CHECK=race.

`python -m tests.checks.fuzz_orders --seconds 60 --seed 1` looks for a program whose
findings are not the races that it has, or differ between counts of workers.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.kernels.worker import Worker

from .order_client import KERNELS, client
from .order_program import Program, complaints, program_of

THREADS = (1, 2, 16)


def check(program: Program, workers: Sequence[Worker]) -> tuple[list[str], int]:
    """What is wrong with the answers, and how many races were found."""
    answers = [worker.ask("program", program) for worker in workers]
    texts = complaints(program, answers[0])
    texts += [
        f"only with some counts of workers: {sorted(answer ^ answers[0])}"
        for answer in answers
        if answer != answers[0]
    ]
    return texts, len(answers[0])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.checks.fuzz_orders")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--one", action="store_true", help="only that program")
    given = parser.parse_args()
    end = time.monotonic() + given.seconds
    seed, failed, races = given.seed, 0, 0
    with tempfile.TemporaryDirectory(prefix="hipadapt-orders-") as cache:
        workers = [client(Path(cache), threads) for threads in THREADS]
        while time.monotonic() < end or seed == given.seed:
            program = program_of(seed, KERNELS)
            texts, found = check(program, workers)
            races += found
            failed += bool(texts)
            if texts or given.one:
                print(f"program {seed}", program, *texts, sep="\n    ", flush=True)
            seed += 1
            if given.one:
                break
        for worker in workers:
            worker.close()
    print(f"{seed - given.seed} programs, {races} races, {failed} with other answers")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
