# SPDX-License-Identifier: MIT
"""`python -m tests.proofs --seconds 60 --seed 1` looks for launches proved wrongly."""

from __future__ import annotations

import argparse
import time

from .fuzz import Result, program


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.proofs", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", default="1")
    arguments = parser.parse_args()
    end = time.monotonic() + arguments.seconds
    all_of, number = Result(), 0
    while time.monotonic() < end:
        one = program(f"{arguments.seed}.{number}")
        all_of.add(one)
        number += 1
        for text in one.wrong:
            print(text, flush=True)
    print(
        f"{number} programs, {all_of.launches} launches, {all_of.right} of them right, "
        f"{all_of.proved} proved, {len(all_of.wrong)} wrong"
    )
    return 1 if all_of.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
