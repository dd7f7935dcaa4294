# SPDX-License-Identifier: MIT
"""What several Python threads launch, beside one.

    python -m benchmarks.threads [THREADS ...]      # 2 and 8, without numbers
    PYTHON_GIL=0 python3.14t -m benchmarks.threads

The library's functions only return (stub.c), so nothing but the way is measured.  All
threads launch the same kernel; each has a stream and arguments of its own, or, in the
second row, all have the same.  A ratio is of launches a second, of all threads
together, to those of one thread in the round before.  With a GIL it cannot be above 1;
without, a thread more is a processor more, where the machine has one that is free.

On a busy machine a thread more is also a larger share of it. So a second ratio is
printed: launches of a second of *processor* time, times the number of threads. It does
not see threads that sleep in a lock, which the first one does. The third is that of the
best rounds of either: what chance has put into one line of the caches is not in it. The
first row launches nothing: what is the machine's is in it too.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .layers import SIGNATURE
from .native import build_stub

ROUNDS, ROUND_S, BATCH = 15, 0.2, 100
Launch = Callable[[], None]


def launcher(names: dict[str, Any]) -> Launch:
    """A batch of launches as programs make them: no call but the launches."""

    def batch() -> None:
        # Names of the loop's own: each look at another's counts a reference.
        launch, function = names["launch"], names["function"]
        stream, arguments = names["stream"], names["arguments"]
        for _ in range(BATCH):
            launch(function, 4, 1, 1, 256, 1, 1, 0, stream, None, arguments)

    return batch


def bracket_launcher(names: dict[str, Any]) -> Launch:
    """The same by kernel[...](...)."""

    def batch() -> None:
        kernel, stream, memory = names["kernel"], names["stream"], names["memory"]
        number = names["number"]
        for _ in range(BATCH):
            kernel[4, 256, 0, stream](memory, memory, memory, 7, number)

    return batch


def config_launcher(names: dict[str, Any]) -> Launch:
    """What kernel[...] gives is the thread's own."""

    def batch() -> None:
        config = names["kernel"][4, 256, 0, names["stream"]]
        memory, number = names["memory"], names["number"]
        for _ in range(BATCH):
            config(memory, memory, memory, 7, number)

    return batch


def nothing_launched() -> Launch:
    """What the machine gives to threads that share nothing at all."""

    def batch() -> None:
        for _ in range(BATCH):
            sum(range(20))

    return batch


def together(make: Callable[[], Launch], count: int) -> tuple[float, float]:
    """Launches a second, of all threads, and of a second of one's processor time.

    Each thread makes what it launches with: what one thread has made for several may
    lie in one line of the processors' caches.
    """
    barrier, stop = threading.Barrier(count + 1), threading.Event()
    done: list[tuple[int, float]] = []

    def work() -> None:
        count, batch = 0, make()
        batch()
        barrier.wait()
        begin = time.thread_time()
        while not stop.is_set():
            batch()
            count += BATCH
        done.append((count, time.thread_time() - begin))

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    barrier.wait()
    begin = time.perf_counter()
    time.sleep(ROUND_S)
    stop.set()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - begin
    launched = sum(n for n, _ in done)
    return launched / elapsed, launched / sum(seconds for _, seconds in done)


def measure(make: Callable[[], Launch], threads: int) -> dict[str, float]:
    """One thread and all of them, by turns: medians of the rounds' ratios."""
    wall, processor, one, each = [], [], [], []
    for _ in range(ROUNDS):
        alone, alone_cpu = together(make, 1)
        all_of_them, all_cpu = together(make, threads)
        wall.append(all_of_them / alone)
        processor.append(threads * all_cpu / alone_cpu)
        one.append(1e9 / alone_cpu)
        each.append(1e9 / all_cpu)
    return {
        "wall": statistics.median(wall),
        "processor": statistics.median(processor),
        "best": threads * min(one) / min(each),
        "one": min(one),
        "each": min(each),
    }


def main() -> int:
    """Measure in this process; the library is named by the environment."""
    import ctypes

    from hipadapt import _core, hip

    memory = [hip.hipMalloc(4096)[1] for _ in range(3)]
    loaded = hip.hipModuleLoadData(b"x")[1]
    function = hip.hipModuleGetFunction(loaded, b"kernel")[1]
    kernel = _core.Kernel(0x7770, "saxpy", SIGNATURE, None)

    def names() -> dict[str, Any]:
        return {
            "launch": hip.hipModuleLaunchKernel,
            "function": function,
            "kernel": kernel,
            "memory": hip.hipMalloc(4096)[1],
            "stream": hip.hipStreamCreate()[1],
            # Not a constant: one of the code's is all threads', and so is its count.
            "number": float("1.5"),
            "arguments": (*memory, ctypes.c_int(7), ctypes.c_float(1.5)),
        }

    def own() -> dict[str, Any]:
        found = names()
        own_memory = [hip.hipMalloc(4096)[1] for _ in range(3)]
        numbers = (ctypes.c_int(7), ctypes.c_float(1.5))
        return {**found, "arguments": (*own_memory, *numbers)}

    same = names()
    rows: dict[str, Callable[[], Launch]] = {
        "none: arithmetic instead": nothing_launched,
        "hipModuleLaunchKernel, own arguments": lambda: launcher(own()),
        "hipModuleLaunchKernel, same arguments": lambda: launcher(same),
        "config(...), own arguments": lambda: config_launcher(own()),
        "kernel[...](...), own arguments": lambda: bracket_launcher(own()),
    }
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"CPython {sys.version.split()[0]}, {'with' if gil else 'without'} a GIL,")
    print(f"{len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.0f}")
    print(
        "| launches | threads | ratio | by processor time | of the best rounds "
        "| ns, one | ns, of each |"
    )
    print("|---|---|---|---|---|---|---|")
    for label, make in rows.items():
        for threads in [int(word) for word in sys.argv[2:]] or [2, 8]:
            n = measure(make, threads)
            print(
                f"| {label} | {threads} | {n['wall']:.2f} | {n['processor']:.2f} "
                f"| {n['best']:.2f} | {n['one']:.0f} | {n['each']:.0f} |",
                flush=True,
            )
    return 0


def start() -> int:
    """Build the library and measure in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        stub = build_stub(Path(folder))
        environment = {"HIPADAPT_PROVIDER": str(stub), "ROCM_PATH": folder}
        words = [sys.executable, "-m", "benchmarks.threads", "inside", *sys.argv[1:]]
        return subprocess.run(
            words, env={**os.environ, **environment}, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main() if sys.argv[1:2] == ["inside"] else start())
