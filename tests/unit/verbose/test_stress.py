# SPDX-License-Identifier: MIT
"""Lines beside the records that the profiler's library gives somebody else."""

from __future__ import annotations

import random
import threading
from pathlib import Path
from typing import Any

import numpy as np

import hipadapt
from hipadapt import hip, rocprofiler
from tests.unit.verbose.verbose_lines import number, results

STREAMS = 8
ROUNDS = 150
SOURCE = """
extern "C" __global__ void spin(int *x, int n) { for (int i = 0; i < n; i++) *x += i; }
extern "C" __global__ void touch(int *x) { x[threadIdx.x] = threadIdx.x; }
"""


def graph_of(stream: hipadapt.Stream, kernel: hipadapt.Kernel, x: Any) -> Any:
    """A kernel and a fill."""
    mode = hip.hipStreamCaptureMode.hipStreamCaptureModeThreadLocal
    hip.hipStreamBeginCapture(stream, mode)
    kernel[1, 64, 0, stream](x)
    hip.hipMemsetAsync(x, 1, 64, stream)
    graph = hip.hipStreamEndCapture(stream)[1]
    return hip.hipGraphInstantiateWithFlags(graph, 0)[1]


def work(
    number_: int,
    kernels: list[hipadapt.Kernel],
    stream: hipadapt.Stream,
    device: Any,
    executable: Any,
) -> None:
    """Kernels, copies, fills and a graph, by chance, on a stream of its own."""
    chance = random.Random(number_)
    host = np.zeros(256, np.int32)
    default = hip.hipMemcpyKind.hipMemcpyDefault
    for _ in range(ROUNDS):
        match chance.randrange(6):
            case 0 | 1:
                kernels[0][1, 1, 0, stream](device, chance.randrange(2000))
            case 2:
                kernels[1][4, 64, 0, stream](device)
            case 3:
                hip.hipMemcpyAsync(device, host, 4 * chance.randrange(1, 256), default,
                                   stream)  # fmt: skip
            case 4:
                hip.hipMemsetAsync(device, 0, 4 * chance.randrange(1, 256), stream)
            case 5:
                hip.hipGraphLaunch(executable, stream)
    stream.synchronize()


def test_every_line_is_the_record_of_its_correlation_id(tmp_path: Path) -> None:
    program = hipadapt.Program(SOURCE).compile()
    kernels = [program.kernel("spin"), program.kernel("touch")]
    streams = [hipadapt.Stream() for _ in range(STREAMS)]
    arrays = [hipadapt.zeros(256, dtype="int32") for _ in streams]
    graphs = [graph_of(s, kernels[1], x) for s, x in zip(streams, arrays, strict=True)]
    records: list[tuple[int, int, int, int, int]] = []

    def take(event: rocprofiler.Event) -> None:
        if event.start != 0:
            records.append(
                (event.correlation, event.start, event.end, event.stream, event.thread)
            )

    kinds = ["KERNEL_DISPATCH", "MEMORY_COPY"]
    with rocprofiler.trace(on_event=take, kinds=kinds, limit=1 << 20):
        with hipadapt.verbose("profile_exec", file=tmp_path / "lines"):
            threads = [
                threading.Thread(target=work, args=(n, kernels, *own))
                for n, own in enumerate(zip(streams, arrays, graphs, strict=True))
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            hip.hipDeviceSynchronize()
    rows = results((tmp_path / "lines").read_text())
    shown = [
        (
            number(row, "corr"),
            number(row, "start"),
            number(row, "end"),
            number(row, "stream"),
            number(row, "tid"),
        )
        for row in rows
    ]

    assert len(records) > STREAMS * ROUNDS
    assert len({record[3] for record in records}) >= STREAMS
    assert sorted(shown) == sorted(records)
    ends = [one[2] for one in shown]
    assert ends == sorted(ends)
    times = [round(float(row["exec_time"]) * 1e6) for row in rows]
    assert times == [end - start for _, start, end, _, _ in shown]


def test_switching_while_others_launch_breaks_nothing(tmp_path: Path) -> None:
    program = hipadapt.Program(SOURCE).compile()
    kernel, own = program.kernel("touch"), hipadapt.zeros(16, dtype="int32")
    stop = threading.Event()

    def launch(device: hipadapt.DeviceArray) -> None:
        stream = hipadapt.Stream()
        while not stop.is_set():
            kernel[1, 64, 0, stream](device)
            stream.synchronize()

    # Their fills are on stream 0, too: made before the first block.
    arrays = [hipadapt.zeros(64, dtype="int32") for _ in range(3)]
    threads = [threading.Thread(target=launch, args=(array,)) for array in arrays]
    for thread in threads:
        thread.start()
    for turn in range(60):
        file = tmp_path / f"{turn % 3}"
        words = ("all", "profile_exec", "error")[turn % 3]
        with hipadapt.verbose(words, file=file, timestamp=turn % 2 == 0):
            hip.hipMemset(own, turn, 64)
            hip.hipStreamSynchronize(None)
    stop.set()
    for thread in threads:
        thread.join()
    rows = [row for name in "01" for row in results((tmp_path / name).read_text())]

    # A record may come after the end of its block, where others launch on and on.
    assert 30 <= len([row for row in rows if row["prop_kind"] == "stream:0"]) <= 40
    assert hipadapt.verbose.status().words == "none"
