# SPDX-License-Identifier: MIT
"""What an import costs in time and in resident memory, beyond bare Python.

Each sample is a new interpreter that imports one package, reads the clock around that
and its own memory after it.  The best of many is taken; contenders take turns.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping

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
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(statement=statement)],
        capture_output=True,
        text=True,
        env=dict(environment),
        check=False,
    )
    if done.returncode != 0:
        return None
    seconds, kilobytes = json.loads(done.stdout)
    return seconds, kilobytes
