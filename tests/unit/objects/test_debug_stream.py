# SPDX-License-Identifier: MIT
"""The debug stream: tensors that kernels send while they run."""

from __future__ import annotations

import asyncio
import os
import select
import selectors
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import hipadapt
from hipadapt import DebugStream, Stream
from tests.conftest import Run

SOURCE = r"""
#include <hipadapt/debug_tensor.h>

extern "C" __global__ void launch(const float *x, unsigned long rows, unsigned long columns)
{
    ha_debug_tensor_launch("x", 2, x, rows, columns);
}

extern "C" __global__ void tiles(int *out)
{
    __shared__ int tile[2][4];
    tile[threadIdx.x / 4][threadIdx.x % 4] = 10 * blockIdx.x + threadIdx.x;
    __syncthreads();
    ha_debug_tensor_block("tile", 1, &tile[0][0], 2, 4);
    out[blockIdx.x * blockDim.x + threadIdx.x] = tile[0][0];
}

extern "C" __global__ void lanes(double *x)
{
    double value = 1.5 * threadIdx.x;
    ha_debug_tensor("lane", 1, &value);
    x[threadIdx.x] = value;
}

extern "C" __global__ void dtypes(const void *data, const char *unused, int *codes)
{
    const char *const names[] = {
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "float32", "float64", "complex64", "complex128"};
    for (int i = 0; i < 14; i++)
        codes[i] = ha_debug_tensor("named", 1, data, names[i], 4);
}

extern "C" __global__ void many(const float *x, int count)
{
    for (int i = 0; i < count; i++)
        ha_debug_tensor_launch("many", 1, x, 16);
}

extern "C" __global__ void refused(float *x, float *freed, int *codes)
{
    codes[0] = ha_debug_tensor("null", 1, (const float *)nullptr, 3);
    codes[1] = ha_debug_tensor("beyond", 1, x, 5);
    codes[2] = ha_debug_tensor("name", 1, x, "float9", 4);
    codes[3] = ha_debug_tensor("zero", 1, x, 2, 0);
    codes[4] = ha_debug_tensor("huge", 1, x, 1ul << 40, 1ul << 40);
    codes[5] = ha_debug_tensor("freed", 1, freed, 4);
    codes[6] = ha_debug_tensor((const char *)16, 1, x, 4);
    codes[7] = ha_debug_tensor("inside", 1, x + 1, 3);
}
"""


@pytest.fixture(scope="module")
def module() -> hipadapt.Module:
    return hipadapt.Program(SOURCE).compile()


@pytest.fixture
def stream() -> Iterator[DebugStream]:
    with DebugStream() as connected:
        yield connected


def next_event(stream: DebugStream) -> hipadapt._objects.debug_stream.DebugEvent:
    event = stream.read_event(timeout=20)
    assert event is not None
    return event


def test_value_of_a_tensor(module: hipadapt.Module, stream: DebugStream) -> None:
    x = hipadapt.array(np.arange(6, dtype="float32").reshape(2, 3))

    module.kernel("launch")[3, 8](x, 2, 3)
    event = next_event(stream)
    hipadapt.Device().synchronize()

    assert (event.prefix, event.pipe, event.device) == ("x", 2, 0)
    assert (event.dtype, event.shape) == ("float32", (2, 3))
    assert event.array.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert event.array is event.array
    assert np.shares_memory(event.array, np.frombuffer(event.data, "uint8"))
    assert repr(event) == "<DebugEvent 'x' float32 2x3 of device 0>"
    assert stream.read_event() is None


def test_a_tensor_of_each_block_and_each_lane(
    module: hipadapt.Module, stream: DebugStream
) -> None:
    module.kernel("tiles")[3, 8](hipadapt.zeros(24, "int32"))
    module.kernel("lanes")[1, 40](hipadapt.zeros(40, "float64"))
    hipadapt.Device().synchronize()
    events = list(stream)

    tiles = sorted(e.array.tolist() for e in events if e.prefix == "tile")
    lanes = sorted(float(e.array[0]) for e in events if e.prefix == "lane")
    assert tiles == [
        [[10 * b + i for i in range(4)], [10 * b + i for i in range(4, 8)]]
        for b in range(3)
    ]
    assert lanes == [1.5 * i for i in range(40)]
    assert {e.shape for e in events if e.prefix == "lane"} == {(1,)}


def test_dtypes_by_name(module: hipadapt.Module, stream: DebugStream) -> None:
    data = np.arange(64, dtype="uint8")
    codes = hipadapt.full(14, 7, "int32")

    module.kernel("dtypes")[1, 1](hipadapt.array(data), None, codes)
    hipadapt.Device().synchronize()
    events = list(stream)

    assert codes.get().tolist() == [0] * 14
    assert len(events) == 14
    for event in events:
        size = np.dtype(event.dtype).itemsize
        assert event.array.shape == (4,)
        assert event.array.tobytes() == data[: 4 * size].tobytes()


def test_bfloat16_needs_ml_dtypes(stream: DebugStream) -> None:
    send = hipadapt.compile_kernel(
        """
        #include <hipadapt/debug_tensor.h>
        __global__ void send(const void *x) { ha_debug_tensor("b", 1, x, "bfloat16", 2); }
        """,
        "send",
    )
    send[1, 1](hipadapt.array(np.array([0x3F80, 0xC000], "uint16")))
    event = next_event(stream)

    assert (event.dtype, event.shape) == ("bfloat16", (2,))
    try:
        import ml_dtypes  # noqa: F401
    except ImportError:
        with pytest.raises(
            TypeError, match="no dtype 'bfloat16': pip install ml_dtypes"
        ):
            _ = event.array
    else:
        assert event.array.astype("float32").tolist() == [1.0, -2.0]


def test_bad_tensors_are_refused(module: hipadapt.Module, stream: DebugStream) -> None:
    x, freed = (
        hipadapt.array(np.arange(4, dtype="float32")),
        hipadapt.zeros(4, "float32"),
    )
    codes, address = hipadapt.full(8, 7, "int32"), int(freed)
    del freed

    module.kernel("refused")[1, 1](x, address, codes)
    hipadapt.Device().synchronize()

    assert codes.get().tolist() == [1] * 7 + [0]
    assert [(e.prefix, e.array.tolist()) for e in stream] == [("inside", [1, 2, 3])]


def test_a_refusal_says_why(run_python: Run) -> None:
    done = run_python(
        """
        import sys
        import hipadapt
        module = hipadapt.Program(sys.argv[1]).compile()
        with hipadapt.DebugStream():
            x = hipadapt.zeros(4, "float32")
            module.kernel("launch")[1, 1](x, 3, 2)
            module.kernel("launch")[1, 1](0, 3, 2)
            hipadapt.Device().synchronize()
    """,
        SOURCE,
    )

    lines = done.stderr.splitlines()
    assert len(lines) == 2
    assert (
        "ha_debug_tensor 'x' of a kernel on device 0: 24 bytes of shape run" in lines[0]
    )
    assert lines[1].endswith("(nil) is no memory of a kernel's")


def test_nine_dimensions_are_refused_by_the_compiler() -> None:
    source = """
    #include <hipadapt/debug_tensor.h>
    __global__ void k(float *x) { ha_debug_tensor("x", 1, x, 1, 1, 1, 1, 1, 1, 1, 1, 1); }
    """
    with pytest.raises(hipadapt.errors.HiprtcError, match="at most 8 dimensions"):
        hipadapt.compile_kernel(source, "k")


# ---- the descriptor ----


def test_selectors_see_events(module: hipadapt.Module, stream: DebugStream) -> None:
    x, kernel = hipadapt.zeros(16, "float32"), module.kernel("many")
    ways: list[Any] = [selectors.SelectSelector, selectors.PollSelector]
    ways.append(selectors.EpollSelector)

    for way in ways:
        with way() as selector:
            selector.register(stream, selectors.EVENT_READ)
            assert selector.select(0) == []
            kernel[1, 1](x, 2)
            assert len(selector.select(20)) == 1
            hipadapt.Device().synchronize()
            assert len(selector.select(0)) == 1
            assert len(list(stream)) == 2
            assert selector.select(0) == []


def test_epoll_at_edges(module: hipadapt.Module, stream: DebugStream) -> None:
    x, kernel = hipadapt.zeros(16, "float32"), module.kernel("many")
    seen = 0
    with select.epoll() as epoll:
        epoll.register(stream, select.EPOLLIN | select.EPOLLET)
        kernel[1, 1](x, 1000)
        while seen < 1000:
            assert epoll.poll(20) != []
            seen += len(list(stream))
        assert epoll.poll(0) == [] or stream.read_event() is None
    assert seen == 1000


def test_asyncio_reads_as_they_come(module: hipadapt.Module) -> None:
    x, kernel = hipadapt.zeros(16, "float32"), module.kernel("many")

    async def read() -> tuple[int, float]:
        with DebugStream() as stream:
            loop = asyncio.get_running_loop()
            loop.call_later(0.3, lambda: kernel[1, 1](x, 500))
            loop.call_later(0.6, lambda: kernel[1, 1](x, 500))
            busy, seen = time.process_time(), 0
            async for _ in stream:
                seen += 1
                if seen == 500:
                    busy = time.process_time()
                if seen == 501:
                    busy = time.process_time() - busy
                if seen == 1000:
                    break
            return seen, busy

    seen, busy = asyncio.run(read())
    assert seen == 1000
    assert busy < 0.15  # it slept between the launches


@pytest.mark.parametrize("closer", ["task", "thread"])
def test_close_ends_asyncio_loops(closer: str) -> None:
    """Of several readers, which share what comes."""
    kernel = hipadapt.Program(SOURCE).compile().kernel("many")

    async def count(stream: DebugStream) -> int:
        return len([event async for event in stream])

    async def read() -> list[int]:
        stream = DebugStream()
        tasks = [asyncio.create_task(count(stream)) for _ in range(2)]
        await asyncio.sleep(0.05)
        kernel[1, 1](hipadapt.zeros(16, "float32"), 300)
        hipadapt.Device().synchronize()
        while stream.counts.queued > 0:
            await asyncio.sleep(0.01)
        if closer == "task":
            stream.close()
        else:
            threading.Timer(0.05, stream.close).start()
        return await asyncio.wait_for(asyncio.gather(*tasks), 20)

    DebugStream().close()  # the first one leaves a descriptor of the library's
    before = len(os.listdir("/proc/self/fd"))
    assert sum(asyncio.run(read())) == 300
    assert len(os.listdir("/proc/self/fd")) == before


def test_close_ends_who_waits(stream: DebugStream) -> None:
    threading.Timer(0.2, stream.close).start()

    with pytest.raises(ValueError, match="DebugStream"):
        stream.read_event(timeout=20)
    assert stream.closed and repr(stream) == "<DebugStream of device 0, closed>"
    with pytest.raises(ValueError, match="the stream is closed"):
        stream.fileno()


def test_clients_that_are_refused(stream: DebugStream) -> None:
    with pytest.raises(ValueError, match="the device has a client already"):
        DebugStream()
    with pytest.raises(ValueError, match="'device' must be below 1, not 1"):
        DebugStream(1)
    with pytest.raises(ValueError, match="'events' must be of kernel_print"):
        DebugStream(events=["kernels"])
    number = stream.fileno()
    stream.close()
    with DebugStream(events=["kernel_print"]) as again:
        assert again.fileno() >= 0
        assert number >= 0


def test_events_before_and_after_are_dropped(module: hipadapt.Module) -> None:
    x, kernel = hipadapt.zeros(16, "float32"), module.kernel("many")
    with DebugStream() as stream:
        before = stream.counts
    kernel[1, 1](x, 5)
    hipadapt.Device().synchronize()
    with DebugStream() as stream:
        assert list(stream) == []
        kernel[1, 1](x, 3)
        hipadapt.Device().synchronize()
        assert len(list(stream)) == 3
        kernel[1, 1](x, 2)
        hipadapt.Device().synchronize()
        assert stream.counts.queued == 2
    with DebugStream() as stream:
        now = stream.counts
    assert now.closed - before.closed == 7
    assert now.read - before.read == 3
    assert now.dropped - before.dropped == 7


def test_what_a_full_queue_drops_is_counted(
    module: hipadapt.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPADAPT_DEBUG_STREAM_BUFFER_SIZE", "100")
    with DebugStream() as stream:
        before = stream.counts
        module.kernel("many")[1, 1](hipadapt.zeros(16, "float32"), 1000)
        hipadapt.Device().synchronize()
        assert stream.counts.queued == 100
        assert len(list(stream)) == 100
        assert stream.counts.full - before.full == 900


def test_nothing_is_lost_without_a_count(module: hipadapt.Module) -> None:
    x, kernel = hipadapt.zeros(16, "float32"), module.kernel("many")
    streams = [Stream() for _ in range(4)]
    with DebugStream() as stream:
        before = stream.counts
        for one in streams:
            kernel[1, 1, 0, one](x, 50_000)
        while any(not one.query() for one in streams):
            for _ in range(100):
                stream.read_event()
            time.sleep(0.001)
        hipadapt.Device().synchronize()
        for _ in stream:
            pass
        now = stream.counts
    assert now.read - before.read + now.dropped - before.dropped == 200_000
    assert now.closed == before.closed


@pytest.mark.plain
def test_a_forked_child_has_no_stream(run_python: Run) -> None:
    done = run_python(
        """
        import os, sys
        import hipadapt
        module = hipadapt.Program(sys.argv[1]).compile()
        stream = hipadapt.DebugStream()
        x = hipadapt.zeros(16, "float32")
        module.kernel("many")[1, 1](x, 1)
        hipadapt.Device().synchronize()
        child = os.fork()
        if child == 0:
            try:
                stream.read_event()
            except ValueError as error:
                print(error, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        print(len(list(stream)))
    """,
        SOURCE,
    )

    assert done.stdout.splitlines() == [
        "DebugStream.read_event: the stream is that of the parent process",
        "1",
    ], done.stderr


def test_descriptors_are_given_back(module: hipadapt.Module) -> None:
    DebugStream().close()  # the first one leaves a descriptor of the library's
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        with DebugStream() as stream:
            module.kernel("many")[1, 1](hipadapt.zeros(16, "float32"), 3)
            assert stream.read_event(timeout=20) is not None
    assert len(os.listdir("/proc/self/fd")) == before
