# SPDX-License-Identifier: MIT
"""How fast traces are written (`profile_writer.c`), beside fprintf and torch.profiler.

Run in a process of its own, `python -m benchmarks.traces FOLDER ROUNDS`.  Prints one
JSON object: slices and events a second, bytes of an event, and megabytes of memory.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path

SLICES, NAMES = 1_000_000, 100
MANY_SLICES, MANY_NAMES = 10_000_000, 10_000
TORCH_OPERATIONS = 100_000
KB = 1024


def run(folder: Path, slices: int, names: int) -> dict[str, dict[str, float]]:
    """One run of the program: a row for each writer."""
    words = [str(folder / "profile_writer"), str(folder), str(slices), str(names)]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    rows = {}
    for line in done.stdout.splitlines():
        name, seconds, size, events, resident = line.split()
        rows[name] = {
            "slices": slices / float(seconds),
            "events": int(events) / float(seconds),
            "bytes": int(size) / int(events),
            "memory_MB": float(resident) * KB / 1e6,
        }
    return rows


def torch_row(folder: Path) -> dict[str, float]:
    """The export of torch.profiler, of operations on the CPU."""
    import torch

    torch.set_num_threads(1)
    one = torch.ones(1)
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities) as profile:
        for _ in range(TORCH_OPERATIONS):
            one.neg_()
    path = folder / "torch.json"
    begin = time.process_time()
    profile.export_chrome_trace(str(path))
    seconds = time.process_time() - begin
    with path.open(encoding="utf-8") as file:
        events = len(json.load(file)["traceEvents"])
    return {
        "slices": events / seconds,
        "events": events / seconds,
        "bytes": path.stat().st_size / events,
    }


def recorded_row(folder: Path, events: int) -> dict[str, float]:
    """A recording from its start to its file, by a process of its own."""
    words = ["-m", "benchmarks.recorded", str(folder), str(events), str(MANY_NAMES)]
    done = subprocess.run(
        [sys.executable, *words], stdout=subprocess.PIPE, text=True, check=True
    )
    row: dict[str, float] = json.loads(done.stdout)
    if row.pop("lost"):
        raise RuntimeError("a recording lost events")
    return row


def main() -> None:
    """Prints the rows."""
    folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
    best: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for name, row in run(folder, SLICES, NAMES).items():
            if name not in best or row["slices"] > best[name]["slices"]:
                best[name] = row
    many = run(folder, MANY_SLICES if rounds > 1 else SLICES, MANY_NAMES)
    for name, row in best.items():
        row["memory_MB"] = many[name]["memory_MB"]
    best["fprintf"].pop("memory_MB")
    best["recorded"] = recorded_row(folder, MANY_SLICES if rounds > 1 else SLICES)
    if importlib.util.find_spec("torch") is not None:
        best["torch.profiler"] = torch_row(folder)
    print(json.dumps(best))


if __name__ == "__main__":
    main()
