# SPDX-License-Identifier: MIT
"""Debug streams beside resets, forks, freed memory, and more than fits."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import hipadapt
from hipadapt import DebugStream, debug_tensor
from tests.conftest import Run
from tests.unit.objects.test_debug_tensor import shrink

SOURCE = r"""
#include <hipadapt/debug_tensor.h>
extern "C" __global__ void send(const unsigned char *x, unsigned long bytes, int *code)
{
    *code = ha_debug_tensor_launch("x", 1, x, bytes);
}
extern "C" __global__ void twice(const int **x, int *codes)
{
    for (int i = 0; i < 2; i++)
        codes[i] = ha_debug_tensor("x", 1, x[i], 4);
}
"""


def test_kernels_tensor_larger_than_the_ring(monkeypatch: pytest.MonkeyPatch) -> None:
    send = hipadapt.Program(SOURCE).compile().kernel("send")
    x, code = hipadapt.full(64 << 10, 7, "uint8"), hipadapt.full(1, 9, "int32")
    monkeypatch.setenv("HIPADAPT_DEBUG_STREAM_BUFFER_BYTES", str(64 << 10))
    with DebugStream() as reader:
        before = reader.counts
        send[1, 1](x, 64 << 10, code)
        hipadapt.Device().synchronize()
        assert code.get().tolist() == [
            0
        ]  # dropped, which is no mistake of the kernel's
        assert reader.read_event() is None
        assert reader.counts.large - before.large == 1
        send[1, 1](x, 63 << 10, code)
        hipadapt.Device().synchronize()
        assert [event.array.nbytes for event in reader] == [63 << 10]


def test_tensor_that_is_freed_between_two_kernels() -> None:
    twice = hipadapt.Program(SOURCE).compile().kernel("twice")
    kept, gone = hipadapt.full(4, 5, "int32"), hipadapt.full(4, 6, "int32")
    addresses = hipadapt.array(np.array([int(kept), int(gone)], "uint64"))
    codes = hipadapt.zeros(2, "int32")
    with DebugStream() as reader:
        twice[1, 1](addresses, codes)
        hipadapt.Device().synchronize()
        assert [event.array[0] for event in reader] == [5, 6]
        gone.close()
        twice[1, 1](addresses, codes)
        hipadapt.Device().synchronize()
        assert codes.get().tolist() == [0, 1]
        assert [event.array[0] for event in reader] == [5]


def test_reset_keeps_stream_and_what_waits(run_python: Run) -> None:
    done = run_python(
        """
        import select, sys
        import hipadapt
        from hipadapt import hip

        def send(value):
            kernel = hipadapt.Program(sys.argv[1]).compile().kernel("send")
            x, code = hipadapt.full(4, value, "uint8"), hipadapt.zeros(1, "int32")
            kernel[1, 1](x, 4, code)
            hip.hipDeviceSynchronize()

        with hipadapt.DebugStream() as reader:
            send(1)
            hip.hipDeviceReset()
            print(len(select.select([reader], [], [], 0)[0]))
            send(2)
            print([event.array.tolist() for event in reader])
            print(len(select.select([reader], [], [], 0)[0]), reader.dropped)
        """,
        SOURCE,
    )

    assert done.stdout.splitlines() == ["1", "[[1, 1, 1, 1], [2, 2, 2, 2]]", "0 0"]


@pytest.mark.plain
def test_child_has_streams_of_its_own(run_python: Run) -> None:
    done = run_python(
        """
        import os, select, sys
        import hipadapt
        from hipadapt import hip

        def send():
            kernel = hipadapt.Program(sys.argv[1]).compile().kernel("send")
            x, code = hipadapt.full(4, 3, "uint8"), hipadapt.zeros(1, "int32")
            kernel[1, 1](x, 4, code)
            hip.hipDeviceSynchronize()

        reader = hipadapt.DebugStream()
        send()
        child = os.fork()
        if child == 0:
            hip.hipInit(0)
            send()  # to nobody
            try:
                reader.read_event()
            except ValueError as error:
                print(error)
            with hipadapt.DebugStream() as own:
                send()
                print("child", len(list(own)), flush=True)
            os._exit(0)
        print(os.waitpid(child, 0)[1])
        print("parent", len(select.select([reader], [], [], 0)[0]), len(list(reader)))
        """,
        SOURCE,
    )

    assert done.stdout.splitlines() == [
        "DebugStream.read_event: the stream is that of the parent process",
        "child 1",
        "0",
        "parent 1 1",
    ], done.stderr


def resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * 4096


def test_many_tensors_through_a_small_ring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIPADAPT_DEBUG_STREAM_BUFFER_BYTES", str(16 << 20))
    x, seen = hipadapt.full(1 << 20, 1, "uint8"), 0
    stream = hipadapt.Stream()
    with DebugStream() as reader:
        shrink(reader, monkeypatch, 16 << 20)
        before = reader.counts
        for number in range(400):
            x.fill(number % 251, stream=stream)
            debug_tensor(x, str(number), stream)
            if number % 10 < 9:
                continue
            stream.synchronize()
            for event in reader:
                assert event.array[0] == event.array[-1] == int(event.prefix) % 251
                seen += 1
            if number == 99:
                begin = resident_bytes()
        assert reader.counts.dropped == before.dropped
    assert seen == 400
    if "HIPADAPT_SANITIZER" not in os.environ:  # sanitizers keep what is freed
        assert resident_bytes() - begin < 48 << 20
