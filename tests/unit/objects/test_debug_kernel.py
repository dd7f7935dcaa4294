# SPDX-License-Identifier: MIT
"""Events of kernels in a debug stream: what they print, their begin, end and errors."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import pytest

import hipadapt
from hipadapt import DebugStream, Stream
from hipadapt._objects.debug_kernel import KernelEvent
from tests.conftest import Run

ALL = ("kernel_print", "kernel_begin", "kernel_end", "kernel_error")
SOURCE = r"""
#include <hipadapt/debug_tensor.h>

extern "C" __global__ void say(int count, float *x)
{
    for (int i = 0; i < count; i++)
        printf("%d of block %d\n", i, (int)blockIdx.x);
    ha_debug_tensor_launch("x", 1, x, 2);
}

extern "C" __global__ void meet(int *out)
{
    __shared__ int part[4];
    part[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = part[3 - threadIdx.x];
    if (threadIdx.x == 2)
        printf("here");
}

extern "C" __global__ void busy(volatile int *x)
{
    for (int i = 0; i < 20000; i++)
        x[blockIdx.x] += i;
    printf("%d", (int)blockIdx.x);
}
"""


@pytest.fixture(scope="module")
def module() -> hipadapt.Module:
    return hipadapt.Program(SOURCE).compile()


@pytest.fixture
def reader() -> Iterator[DebugStream]:
    with DebugStream(events=ALL) as connected:
        yield connected


def kernel_events(reader: DebugStream) -> list[KernelEvent]:
    hipadapt.Device().synchronize()
    return [event for event in reader if isinstance(event, KernelEvent)]


def test_launch_tells_in_order(module: hipadapt.Module, reader: DebugStream) -> None:
    before = time.monotonic_ns()
    module.kernel("say")[(1, 1, 1), (1, 1, 1)](2, hipadapt.zeros(2, "float32"))
    hipadapt.Device().synchronize()
    after = time.monotonic_ns()
    events = list(reader)

    assert [event.kind for event in events] == [
        "kernel_begin",
        "kernel_print",
        "kernel_print",
        "tensor",
        "kernel_end",
    ]
    begin, first, second, tensor, end = events
    assert isinstance(begin, KernelEvent) and isinstance(end, KernelEvent)
    assert isinstance(first, KernelEvent) and isinstance(second, KernelEvent)
    assert (begin.prefix, begin.device, begin.pipe, begin.text) == ("say", 0, 0, "")
    assert (begin.grid, begin.block) == ((1, 1, 1), (1, 1, 1))
    assert (first.text, second.text) == ("0 of block 0\n", "1 of block 0\n")
    assert first.pipe == 1 and bytes(first.data) == b"0 of block 0\n"
    assert len({begin.launch, first.launch, end.launch}) == 1
    assert end.begin_ns == begin.begin_ns
    assert before < begin.begin_ns < first.begin_ns <= second.begin_ns < end.end_ns
    assert end.end_ns < after
    assert begin.end_ns == 0 and int(end.status) == 0
    assert tensor.array.tolist() == [0, 0]
    assert (
        repr(first)
        == rf"<KernelEvent kernel_print 'say' {first.launch} '0 of block 0\n'>"
    )
    with pytest.raises(TypeError, match="a kernel_end has no tensor"):
        _ = end.array


def test_prints_go_to_stdout_too(run_python: Run) -> None:
    done = run_python(
        """
        import hipadapt
        kernel = hipadapt.compile_kernel(
            '__global__ void k() { printf("text %s", "é"); }', "k")
        with hipadapt.DebugStream(events=["kernel_print"]) as reader:
            kernel[1, 1]()
            hipadapt.Device().synchronize()
            print("", [event.text for event in reader])
        """
    )

    assert done.stdout == "text é ['text é']\n"


def test_caller_of_printf(module: hipadapt.Module, reader: DebugStream) -> None:
    module.kernel("meet")[3, 4](hipadapt.zeros(4, "int32"))

    prints = [e for e in kernel_events(reader) if e.kind == "kernel_print"]
    assert sorted(e.at_block or () for e in prints) == [(b, 0, 0) for b in range(3)]
    assert {e.at_thread for e in prints} == {(2, 0, 0)}
    assert {e.text for e in prints} == {"here"}


def test_begin_is_first_and_end_last_on_many_threads(
    module: hipadapt.Module, reader: DebugStream
) -> None:
    x, streams = hipadapt.zeros(64, "int32"), [Stream() for _ in range(3)]
    for _ in range(5):
        for stream in streams:
            module.kernel("busy")[64, 1, 0, stream](x)
    by_launch: dict[int, list[KernelEvent]] = {}
    for event in kernel_events(reader):
        by_launch.setdefault(event.launch, []).append(event)

    assert len(by_launch) == 15 and 0 not in by_launch
    for events in by_launch.values():
        kinds = [event.kind for event in events]
        assert kinds == ["kernel_begin", *["kernel_print"] * 64, "kernel_end"]
        texts = Counter(event.text for event in events[1:-1])
        assert texts == Counter(str(block) for block in range(64))


def test_kinds_come_only_to_who_asks(module: hipadapt.Module) -> None:
    x = hipadapt.zeros(2, "float32")
    with DebugStream() as reader:
        before = reader.counts
        module.kernel("say")[1, 1](1, x)
        assert kernel_events(reader) == []
        assert reader.counts.dropped == before.dropped
    with DebugStream(events=["kernel_end"]) as reader:
        module.kernel("say")[1, 1](1, x)
        assert [event.kind for event in kernel_events(reader)] == ["kernel_end"]


def test_kernel_that_fails(run_python: Run) -> None:
    done = run_python(
        """
        import threading
        import hipadapt
        from hipadapt import hip

        module = hipadapt.Program('''
            extern "C" __global__ void bad(int *x) { x[1 << 30] = 1; }
            extern "C" __global__ void good(int *x) { x[0] = 1; }
        ''').compile()
        kinds = ("kernel_begin", "kernel_end", "kernel_error")
        with hipadapt.DebugStream(events=kinds) as reader:
            x, stream = hipadapt.zeros(4, "int32"), hipadapt.Stream()
            gate = threading.Event()
            stream.call(gate.wait, 20)
            module.kernel("bad")[1, 1, 0, stream](x)
            module.kernel("good")[1, 1, 0, stream](x)  # never runs
            gate.set()
            hip.hipDeviceSynchronize()
            for event in reader:
                print(event.kind, event.prefix, event.status.name, event.text)
                print(event.end_ns > event.begin_ns)
            hip.hipDeviceReset()
            module = hipadapt.Program('__global__ void k() {}', name_expressions=["k"])
            module.compile().kernel("k")[1, 1]()
            hip.hipDeviceSynchronize()
            print([event.kind for event in reader])
        """
    )

    lines = done.stdout.splitlines()
    assert lines[:2] == ["kernel_begin bad hipSuccess ", "False"], done.stderr
    assert lines[2].startswith("kernel_error bad hipErrorIllegalAddress kernel 'bad'")
    assert lines[3:] == ["True", "['kernel_begin', 'kernel_end']"]


def test_no_device_has_such_events(run_python: Run) -> None:
    done = run_python(
        """
        from hipadapt import _core
        try:
            _core.debug_stream_connect(0, (0x1000,))
        except NotImplementedError as error:
            print(error)
        print(_core.debug_stream_connect(0, ()) >= 0)
        """
    )

    assert done.stdout.splitlines() == [
        "DebugStream: argument 'events': no device that is loaded has events of kernels; "
        "only the CPU device does",
        "True",
    ]


def test_amds_library_has_no_such_events(amd: Run) -> None:
    done = amd(
        """
        from hipadapt import _core, hip
        hip.hipGetDeviceCount()
        try:
            _core.debug_stream_connect(0, (0x1001,))
        except NotImplementedError as error:
            print("refused")
        """
    )

    assert done.stdout == "refused\n"
