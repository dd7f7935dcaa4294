# SPDX-License-Identifier: MIT
"""What verbose lines cost a program, and how fast they are written.

Programs with and without HIPADAPT_VERBOSE=profile_exec run by turns; a row's time is
the median program's, and what is more the median of the pairs.  Run in a process of its
own, `python -m benchmarks.verbose FOLDER ROUNDS`, with HIPADAPT_PROVIDER=cpu.  Prints
one JSON object.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from hipadapt._trace.verbose import Reader
from hipadapt._trace.verbose_summary import summarize

SETTING = "profile_exec"
KERNEL_S = 20e-6
AT_WORK_S = 500e-6  # of the device, while it is given 200 launches
ROUNDS = 1000  # of them
KERNELS, REPEATS = 500, 20  # of a program, and how often it runs in a process
RATE = 200_000
WRITTEN = 2_000_000


def program(folder: Path, setting: str, *words: object) -> Any:
    """What a program of its own answers; its lines go to a file."""
    (folder / "lines").unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.verbose_program", folder, *map(str, words)],
        env={
            **os.environ,
            "HIPADAPT_VERBOSE": setting,
            "HIPADAPT_VERBOSE_FILE": str(folder / "lines"),
            "OPENBLAS_NUM_THREADS": "1",  # those of numpy wait busily
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def lines(folder: Path) -> dict[str, Any]:
    """What the last program's lines come to."""
    with open(folder / "lines", "rb") as file:
        return summarize(Reader(file, "lines"))


def pairs(without: list[float], on: list[float]) -> dict[str, float]:
    """Medians: of what is with lines, of what is more, and of the ratio."""
    both = list(zip(without, on, strict=True))
    return {
        "without": statistics.median(without),
        "with": statistics.median(on),
        "more": statistics.median(b - a for a, b in both),
        "ratio": statistics.median(b / a for a, b in both),
    }


def launch_rows(folder: Path, count: int) -> dict[str, dict[str, float]]:
    """A launch, on the thread that does it."""
    words = ("launches", ROUNDS, program(folder, "", "steps", AT_WORK_S))
    seen = [
        [program(folder, setting, *words) for setting in ("", SETTING)]
        for _ in range(count)
    ]
    return {
        f"a launch from {name}": pairs(
            [without[name] for without, _ in seen], [on[name] for _, on in seen]
        )
        for name in ("C", "Python")
    }


def program_row(folder: Path, count: int) -> dict[str, float]:
    """A program whose kernels last 20 us."""
    steps = program(folder, "", "steps", KERNEL_S)
    words = ("program", KERNELS, steps, REPEATS)
    seen = [
        [program(folder, setting, *words) for setting in ("", SETTING)]
        for _ in range(count)
    ]
    found = lines(folder)
    made = found["exec"][0]["count"]
    if made + found["lost"] != KERNELS * (REPEATS + 1):
        raise RuntimeError(f"{made} lines and {found['lost']} lost ones")
    return pairs([a for a, _ in seen], [b for _, b in seen])


def rate_row(folder: Path, seconds: float) -> dict[str, float]:
    """Launches at a fixed rate: whether each one has a line."""
    count = int(RATE * seconds)
    took = program(folder, SETTING, "rate", count, RATE)
    found = lines(folder)
    made = sum(row["count"] for row in found["exec"])
    if made + found["lost"] != count or found["damaged"]:
        raise RuntimeError(f"{count} launches have {made} lines; {found['lost']} lost")
    return {"rate": count / took, "lost": found["lost"]}


def written_row(folder: Path, rounds: int) -> dict[str, float]:
    """Lines a second, from events that wait to a file; the best of some rounds."""
    best = 0.0
    for _ in range(rounds):
        path = folder / "written"
        words = [str(folder / "verbose_writer"), str(path), str(WRITTEN)]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
        size = path.stat().st_size
        with open(path, "rb") as file:
            made = sum(b",exec," in line for line in file)
        path.unlink()
        if made != WRITTEN:
            raise RuntimeError(f"{made} of {WRITTEN} lines were written")
        best = max(best, WRITTEN / float(done.stdout))
    return {"rate": best, "bytes": size / WRITTEN}


def main() -> None:
    """Prints the rows."""
    folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
    rows: dict[str, dict[str, float]] = launch_rows(folder, rounds)
    rows["a program of kernels of 20 us"] = program_row(folder, rounds)
    rows["lines written"] = written_row(folder, max(1, rounds // 3))
    seconds = 10 if rounds > 3 else 2
    rows["200,000 launches a second"] = rate_row(folder, seconds)
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
