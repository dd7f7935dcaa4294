# SPDX-License-Identifier: MIT
"""What huge pages do for big allocations of the CPU device.

    python -m benchmarks.huge_pages [MIB]      # 256, without a number

Two processes take turns: the device as it is, and one whose process has asked the
kernel for no huge pages (prctl PR_SET_THP_DISABLE).  Each allocates memory of the
device, fills it for the first time, gathers from it at random, and frees it.  Printed
are the medians, and how many times as long it takes without.  The very first fill of a
process stands apart: in a virtual machine the host may have to find the memory first.
"""

from __future__ import annotations

import ctypes
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

ROUNDS, GATHERS, BLOCK = 9, 1 << 24, 256
PR_SET_THP_DISABLE = 41
MARK = "hidden"
SOURCE = """
extern "C" __global__ void gather(const unsigned *x, unsigned *out, unsigned mask)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i & 1023] = x[(i * 2654435761u) & mask];
}
"""
STEPS = ("fill", "gather")


def measure(mebibytes: int) -> Iterator[dict[str, float]]:
    """Seconds of each step, round by round."""
    import hipadapt
    from hipadapt import hip
    from hipadapt.raising import hip as call

    gather = hipadapt.compile_kernel(SOURCE, "gather")
    out = hipadapt.zeros(1024, dtype="uint32")
    size = mebibytes << 20
    while True:
        memory = call.hipMalloc(size)
        begin = time.perf_counter()
        call.hipMemset(memory, 1, size)
        call.hipDeviceSynchronize()
        filled = time.perf_counter()
        gather[GATHERS // BLOCK, BLOCK](memory, out, size // 4 - 1)
        call.hipDeviceSynchronize()
        end = time.perf_counter()
        hip.hipFree(memory)
        yield {"fill": filled - begin, "gather": end - filled}


def serve(hidden: bool, mebibytes: int) -> None:
    """A round for each line that comes."""
    if hidden:
        ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
    rounds = measure(mebibytes)
    for _ in sys.stdin:
        print(json.dumps(next(rounds)), flush=True)


def main() -> int:
    """The table."""
    words = sys.argv[1:]
    mebibytes = int(words[0]) if words and words[0] != MARK else 256
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.huge_pages", MARK, mode, str(mebibytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for mode in ("0", "1")
    ]
    told: list[list[dict[str, float]]] = [[], []]
    for _ in range(1 + ROUNDS):
        for worker, rounds in zip(workers, told, strict=True):
            assert worker.stdin is not None
            assert worker.stdout is not None
            print("go", file=worker.stdin, flush=True)
            rounds.append(json.loads(worker.stdout.readline()))
    print(f"{mebibytes} MiB | huge pages | without | ratio")
    print("---|---|---|---")
    for label, of in [("first ", slice(0, 1)), ("", slice(1, None))]:
        for step in STEPS:
            there, gone = (
                statistics.median(one[step] for one in rounds[of]) for rounds in told
            )
            print(
                f"{label}{step} | {there * 1e3:.0f} ms | {gone * 1e3:.0f} ms "
                f"| {gone / there:.2f}"
            )
    for worker in workers:
        worker.communicate()
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == [MARK]:
        serve(sys.argv[2] == "1", int(sys.argv[3]))
    else:
        sys.exit(main())
