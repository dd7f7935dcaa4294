# SPDX-License-Identifier: MIT
"""One process that runs rows when it is told to, under the HIPADAPT_CHECK it has.

Each line of standard input is {"row": name, "seconds": s} and is answered by
{"seconds": best call, "proved": accesses, "observed": accesses}.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from pathlib import Path

import hipadapt
from benchmarks.contenders.cpu_device import CpuDevice, ReadyOnDevice

from .rows import row_of

CALLS_MOST = 200


class Summary(ctypes.Structure):
    """struct ha_check_summary of csrc/abi/check.h."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("kinds", ctypes.c_uint32),
        ("findings", ctypes.c_uint32),
        ("counted", ctypes.c_uint64),
        ("dropped", ctypes.c_uint64),
        ("launches", ctypes.c_uint64),
        ("unchecked", ctypes.c_uint64),
        ("observed", ctypes.c_uint64),
        ("proved", ctypes.c_uint64),
    )


def best_call(ready: ReadyOnDevice, seconds: float) -> float:
    """The shortest of calls for so long, two at least where one is not longer."""
    best, end = float("inf"), time.perf_counter() + seconds
    for _ in range(CALLS_MOST):
        begin = time.perf_counter()
        ready.run()
        now = time.perf_counter()
        best = min(best, now - begin)
        if now > end:
            break
    return best


def main() -> None:
    """Answer until there is nothing more."""
    folder = Path(hipadapt.__file__).parent / "_lib"
    library = ctypes.CDLL(str(folder / "libhipadapt_cpu.so"))
    device = CpuDevice()
    for line in sys.stdin:
        request = json.loads(line)
        row = row_of(request["row"])
        ready = device.ready(row, row.data())
        library.hipadaptCheckClear()
        best = best_call(ready, request["seconds"])
        summary = Summary(size=ctypes.sizeof(Summary))
        library.hipadaptCheckSummary(ctypes.byref(summary))
        ready.close()
        answer = {
            "seconds": best,
            "proved": summary.proved,
            "observed": summary.observed,
            "findings": summary.findings,
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
