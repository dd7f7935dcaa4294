# SPDX-License-Identifier: MIT
"""A long recording, as a program has it: ranges of many names, to a file that grows.

Run in a process of its own, `python -m benchmarks.recorded FOLDER EVENTS NAMES`.  It
prints one JSON object: events a second from the start to the end of the file, its
bytes, how many events were lost, and how much memory was in use at most, in megabytes
beyond what was before.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

import hipadapt
from hipadapt import _core

KB = 1024
RATE = 1_000_000  # events a second that the program makes, as the writer keeps up with


def resident_MB() -> float:
    """Memory in use."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * KB / 1e6
    raise RuntimeError("/proc/self/status has no VmRSS")


class Peak:
    """The most memory in use within the block, beyond that at its beginning."""

    def __enter__(self) -> Peak:
        self.base = self.most = resident_MB()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self) -> None:
        while not self.over.wait(0.05):
            self.most = max(self.most, resident_MB())

    def __exit__(self, *error: object) -> None:
        self.over.set()
        self.thread.join()
        self.more = max(self.most, resident_MB()) - self.base


def main() -> None:
    """Prints the row."""
    path, events, count = (
        Path(sys.argv[1]) / "recorded.json",
        int(sys.argv[2]),
        int(sys.argv[3]),
    )
    names = [f"range_{i}_of_a_model_with_long_names" for i in range(count)]
    push, pop = _core.annotate_push, _core.annotate_pop
    for name in names:  # not a part of what a recording takes
        push(name)
        pop()
    with Peak() as peak:
        begin = time.perf_counter()
        with hipadapt.profile(path) as recorded:
            for turn in range(events // (2 * count)):
                for name in names:
                    push(name)
                    pop()
                due = begin + (turn + 1) * 2 * count / RATE
                time.sleep(max(0, due - time.perf_counter()))
        seconds = time.perf_counter() - begin
    status = recorded.status()
    size = os.path.getsize(path)
    path.unlink()
    print(
        json.dumps(
            {
                "slices": status.events / 2 / seconds,
                "events": status.events / seconds,
                "bytes": 2 * size / status.events,
                "memory_MB": peak.more,
                "lost": status.lost_events,
            }
        )
    )


if __name__ == "__main__":
    main()
