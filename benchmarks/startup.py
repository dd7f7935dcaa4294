# SPDX-License-Identifier: MIT
"""What an import costs in time and in resident memory, beyond bare Python; code size.

Each sample is a new interpreter that imports one package, reads the clock around that
and its own memory after it.  The best of many is taken; contenders take turns.  All
have their bytecode, which pip makes when it installs them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GENERATED = ROOT / "csrc" / "api" / "generated"
BUILDS = 3

# VmHWM would count pages that were freed again, so this is the current VmRSS.
PROBE = """
import sys, time
begin = time.perf_counter()
{statement}
end = time.perf_counter()
import json
for line in open("/proc/self/status"):
    if line.startswith("VmRSS"):
        kilobytes = int(line.split()[1])
print(json.dumps([end - begin, kilobytes]))
"""
STATEMENTS = {
    "bare": "pass",
    "hipadapt": "import hipadapt",
    "hipadapt.hip": "from hipadapt import hip, hiprtc",
    "hip-python": "from hip import hip, hiprtc",
}


def measure(
    environment: Mapping[str, str], rounds: int
) -> dict[str, tuple[float, float]]:
    """{statement: (milliseconds, megabytes above bare Python)} of what is installed."""
    samples: dict[str, list[tuple[float, int]]] = {}
    labels = list(STATEMENTS)
    for _ in range(rounds):
        for label in list(labels):
            sample = probe(STATEMENTS[label], environment)
            if sample is None:
                labels.remove(label)
            else:
                samples.setdefault(label, []).append(sample)
    best = {
        label: (min(s for s, _ in taken) * 1e3, min(k for _, k in taken) / 1024)
        for label, taken in samples.items()
    }
    _, bare = best.pop("bare")
    return {label: (time_ms, size - bare) for label, (time_ms, size) in best.items()}


def probe(statement: str, environment: Mapping[str, str]) -> tuple[float, int] | None:
    """One sample; None if the import fails."""
    kept = {k: v for k, v in environment.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(statement=statement)],
        capture_output=True,
        text=True,
        env=kept,
        check=False,
    )
    if done.returncode != 0:
        return None
    seconds, kilobytes = json.loads(done.stdout)
    return seconds, kilobytes


def products() -> dict[str, float]:
    """Megabytes of code in `_core`, and seconds to build it after one file changed."""
    rows = {}
    (library,) = (ROOT / "hipadapt").glob("_core*.so")
    if shutil.which("size"):
        words = ["size", "--format=berkeley", str(library)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        head, row = (line.split() for line in done.stdout.splitlines())
        rows["code of `_core`"] = int(row[head.index("text")]) / 1e6
    build_s = float("inf")
    largest = max(GENERATED.glob("call_*.c"), key=lambda path: path.stat().st_size)
    before = largest.stat()
    rebuild()
    for _ in range(BUILDS):
        os.utime(largest)
        begin = time.perf_counter()
        rebuild()
        build_s = min(build_s, time.perf_counter() - begin)
    os.utime(largest, ns=(before.st_atime_ns, before.st_mtime_ns))
    return {**rows, "one generated file": build_s}


def rebuild() -> None:
    """Build in place what has changed."""
    words = [sys.executable, "-m", "tools.native"]
    subprocess.run(words, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
