# SPDX-License-Identifier: MIT
"""Races of kernels, copies and the host on several streams, and in graphs.

Streams are made with hipStreamNonBlocking unless a pair says otherwise, so the null
stream does not order them.  What the host does with memory, it does by HIP calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hipadapt import hip
from tests.kernels.case import Check, same
from tests.kernels.gpu import ok

from ..pair import pair
from ..twin import Twin

i32 = np.int32
TO_HOST = hip.hipMemcpyKind.hipMemcpyDeviceToHost
TO_DEVICE = hip.hipMemcpyKind.hipMemcpyHostToDevice
WITHIN = hip.hipMemcpyKind.hipMemcpyDeviceToDevice
ON_HOST = hip.hipMemcpyKind.hipMemcpyHostToHost
SIZE = 128  # bytes of 32 ints


def pinned(t: Twin) -> int:
    """Pinned memory of 32 zeros."""
    memory = int(ok(hip.hipHostMalloc(SIZE, 0)))
    ok(hip.hipMemset(memory, 0, SIZE))
    ok(hip.hipDeviceSynchronize())
    return memory


def managed(t: Twin) -> int:
    """Managed memory of 32 zeros."""
    memory = int(ok(hip.hipMallocManaged(SIZE, hip.hipMemAttachGlobal)))
    ok(hip.hipMemset(memory, 0, SIZE))
    ok(hip.hipDeviceSynchronize())
    return memory


@pair(
    "Kernels of two streams write the same memory, and no event orders them.",
    """
extern "C" __global__ void one(int *x)
{
    x[threadIdx.x] = 1; // FIND race write global kernel=one
}
extern "C" __global__ void two(int *x)
{
    x[threadIdx.x] = 2; // OTHER write kernel=two
}
""",
)
def two_streams_write(t: Twin) -> Iterator[Check]:
    x, first, second = t.zeros(32), t.stream(), t.stream()
    t.go(1, 32, x, kernel="one", stream=first)
    if not t.wrong:
        t.after(first, second)
    t.go(1, 32, x, kernel="two", stream=second)
    yield same("x", t.get(x, 32), np.full(32, 2))


@pair(
    "The kernel that reads waits for an event that was recorded before the writer.",
    """
extern "C" __global__ void make(int *x)
{
    x[threadIdx.x] = threadIdx.x; // FIND race write global kernel=make
}
extern "C" __global__ void use(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x] * 3; // OTHER read kernel=use
}
""",
)
def event_recorded_too_early(t: Twin) -> Iterator[Check]:
    x, y, first, second = t.zeros(32), t.zeros(32), t.stream(), t.stream()
    if t.wrong:
        t.after(first, second)
    t.go(1, 32, x, kernel="make", stream=first)
    if not t.wrong:
        t.after(first, second)
    t.go(1, 32, x, y, kernel="use", stream=second)
    yield same("y", t.get(y, 32), 3 * np.arange(32))


@pair(
    "An event that was never recorded orders nothing.",
    """
extern "C" __global__ void make(int *x)
{
    x[threadIdx.x] = 4; // FIND race write global kernel=make
}
extern "C" __global__ void use(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x]; // OTHER read kernel=use
}
""",
)
def event_that_was_never_recorded(t: Twin) -> Iterator[Check]:
    x, y, first, second = t.zeros(32), t.zeros(32), t.stream(), t.stream()
    t.events.append(ok(hip.hipEventCreateWithFlags(hip.hipEventDisableTiming)))
    t.go(1, 32, x, kernel="make", stream=first)
    if not t.wrong:
        ok(hip.hipEventRecord(t.events[0], first))
    ok(hip.hipStreamWaitEvent(second, t.events[0], 0))
    t.go(1, 32, x, y, kernel="use", stream=second)
    yield same("y", t.get(y, 32), np.full(32, 4))


@pair(
    "The third stream waits for the second, which had not yet waited for the first.",
    """
extern "C" __global__ void make(int *x)
{
    x[threadIdx.x] = 6; // FIND race write global kernel=make
}
extern "C" __global__ void use(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x]; // OTHER read kernel=use
}
""",
)
def chain_of_events(t: Twin) -> Iterator[Check]:
    x, y = t.zeros(32), t.zeros(32)
    first, second, third = t.stream(), t.stream(), t.stream()
    t.go(1, 32, x, kernel="make", stream=first)
    if t.wrong:
        t.after(second, third)
        t.after(first, second)
    else:
        t.after(first, second)
        t.after(second, third)
    t.go(1, 32, x, y, kernel="use", stream=third)
    yield same("y", t.get(y, 32), np.full(32, 6))


@pair(
    "The null stream waits for streams that block, and not for those that do not.",
    """
extern "C" __global__ void make(int *x)
{
    x[threadIdx.x] = 5; // FIND race write global kernel=make
}
extern "C" __global__ void use(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x]; // OTHER read kernel=use
}
""",
)
def null_stream_and_another(t: Twin) -> Iterator[Check]:
    x, y, stream = t.zeros(32), t.zeros(32), t.stream(blocking=not t.wrong)
    t.go(1, 32, x, kernel="make", stream=stream)
    t.go(1, 32, x, y, kernel="use")
    yield same("y", t.get(y, 32), np.full(32, 5))


@pair(
    "A blocking stream's kernel begins after what the null stream had to do before it.",
    """
extern "C" __global__ void make(int *x)
{
    x[threadIdx.x] = 5; // FIND race write global kernel=make
}
extern "C" __global__ void use(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x]; // OTHER read kernel=use
}
""",
)
def another_stream_and_the_null_stream(t: Twin) -> Iterator[Check]:
    x, y, stream = t.zeros(32), t.zeros(32), t.stream(blocking=not t.wrong)
    t.go(1, 32, x, kernel="make")
    t.go(1, 32, x, y, kernel="use", stream=stream)
    yield same("y", t.get(y, 32), np.full(32, 5))


@pair(
    "Two blocking streams with work of the null stream between them are ordered by it;"
    " without such work they are not.",
    """
extern "C" __global__ void make(int *x)
{
    x[threadIdx.x] = 9; // FIND race write global kernel=make
}
extern "C" __global__ void nothing() {}
extern "C" __global__ void use(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x]; // OTHER read kernel=use
}
""",
)
def null_stream_between_two(t: Twin) -> Iterator[Check]:
    x, y = t.zeros(32), t.zeros(32)
    first, second = t.stream(blocking=True), t.stream(blocking=True)
    t.go(1, 32, x, kernel="make", stream=first)
    if not t.wrong:
        t.go(1, 1, kernel="nothing")
    t.go(1, 32, x, y, kernel="use", stream=second)
    yield same("y", t.get(y, 32), np.full(32, 9))


@pair(
    "Streams that only read need no order; the one that writes does.",
    """
extern "C" __global__ void use(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x]; // FIND race read global kernel=use
}
extern "C" __global__ void change(int *x)
{
    x[threadIdx.x] += 0; // OTHER write kernel=change
}
""",
)
def readers_and_a_writer(t: Twin) -> Iterator[Check]:
    x, y, z = t.upload(np.arange(32, dtype=i32)), t.zeros(32), t.zeros(32)
    first, second = t.stream(), t.stream()
    t.go(1, 32, x, y, kernel="use", stream=first)
    if t.wrong:
        t.go(1, 32, x, kernel="change", stream=second)
    else:
        t.go(1, 32, x, z, kernel="use", stream=second)
    yield same("y", t.get(y, 32), np.arange(32))


@pair(
    "Two streams fill two halves; with an overlap of one int they meet.",
    """
extern "C" __global__ void one(int *x, int n)
{
    if (threadIdx.x < n)
        x[threadIdx.x] = 1; // FIND race write global kernel=one thread=16
}
extern "C" __global__ void two(int *x)
{
    x[threadIdx.x] = 2; // OTHER write kernel=two thread=0
}
""",
)
def halves_of_one_allocation(t: Twin) -> Iterator[Check]:
    x, first, second = t.zeros(32), t.stream(), t.stream()
    t.go(1, 32, x, i32(16 + t.wrong), kernel="one", stream=first)
    t.go(1, 16, x + 64, kernel="two", stream=second)
    yield same("x", t.get(x, 32), np.repeat([1, 2], 16))


@pair(
    "Atomics of two streams may meet; an atomic and a plain addition may not.",
    """
extern "C" __global__ void one(int *x)
{
    atomicAdd(x, 1); // FIND race read write atomic global kernel=one
}
extern "C" __global__ void two(int *x, int plain)
{
    if (plain)
        *x += 1; // OTHER kernel=two
    else
        atomicAdd(x, 1);
}
""",
)
def atomics_of_two_streams(t: Twin) -> Iterator[Check]:
    x, first, second = t.zeros(1), t.stream(), t.stream()
    t.go(2, 32, x, kernel="one", stream=first)
    t.go(1, 1, x, i32(t.wrong), kernel="two", stream=second)
    yield same("x", t.get(x, 1), [65])


@pair(
    "The kernel on one stream reads what a copy on another is still bringing.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x] + 1; // FIND race read global
}
""",
)
def copy_in_flight_and_a_reader(t: Twin) -> Iterator[Check]:
    x, y, z = t.upload(np.arange(32, dtype=i32)), t.zeros(32), t.zeros(32)
    first, second = t.stream(), t.stream()
    # OTHER write call=hipMemcpyAsync
    ok(hip.hipMemcpyAsync(y, x, SIZE, WITHIN, first))
    if not t.wrong:
        t.after(first, second)
    t.go(1, 32, y, z, stream=second)
    yield same("z", t.get(z, 32), np.arange(32) + 1)


@pair(
    "The kernel changes the source of a copy to pinned memory that is in flight.",
    """
extern "C" __global__ void k(int *x)
{
    x[threadIdx.x] = 9; // FIND race write global
}
""",
)
def copy_in_flight_and_a_writer(t: Twin) -> Iterator[Check]:
    x, host = t.upload(np.arange(32, dtype=i32)), pinned(t)
    first, second, got = t.stream(), t.stream(), np.zeros(32, i32)
    # OTHER read call=hipMemcpyAsync
    ok(hip.hipMemcpyAsync(host, x, SIZE, TO_HOST, first))
    if not t.wrong:
        t.after(first, second)
    t.go(1, 32, x, stream=second)
    t.wait()
    ok(hip.hipMemcpy(got, host, SIZE, ON_HOST))
    ok(hip.hipHostFree(host))
    yield same("pinned", got, np.arange(32))


@pair(
    "A fill on one stream meets a kernel on another.",
    """
extern "C" __global__ void k(int *x)
{
    x[threadIdx.x] += 2; // FIND race global
}
""",
)
def fill_in_flight(t: Twin) -> Iterator[Check]:
    x, first, second = t.zeros(32), t.stream(), t.stream()
    # OTHER write call=hipMemsetAsync
    ok(hip.hipMemsetAsync(x, 0, SIZE, first))
    if not t.wrong:
        ok(hip.hipStreamSynchronize(first))
    t.go(1, 32, x, stream=second)
    yield same("x", t.get(x, 32), np.full(32, 2))


@pair(
    "Two copies into one buffer are in flight on two streams.",
    """
extern "C" __global__ void k(int *x) { x[threadIdx.x] += 1; } // after both
""",
)
def two_copies_in_flight(t: Twin) -> Iterator[Check]:
    ones, twos = t.upload(np.ones(32, i32)), t.upload(np.full(32, 2, i32))
    x, first, second = t.zeros(32), t.stream(), t.stream()
    # FIND race write global call=hipMemcpyAsync
    ok(hip.hipMemcpyAsync(x, ones, SIZE, WITHIN, first))
    if not t.wrong:
        t.after(first, second)
    # OTHER write call=hipMemcpyDtoDAsync
    ok(hip.hipMemcpyDtoDAsync(x, twos, SIZE, second))
    t.after(first, second)
    t.go(1, 32, x, stream=second)
    yield same("x", t.get(x, 32), np.full(32, 3))


@pair(
    "hipMemcpy waits for the null stream, and the writer runs on another.",
    """
extern "C" __global__ void k(int *x)
{
    x[threadIdx.x] = 7; // FIND race write global
}
""",
)
def result_is_fetched_too_early(t: Twin) -> Iterator[Check]:
    x, stream, got = t.zeros(32), t.stream(), np.zeros(32, i32)
    t.go(1, 32, x, stream=stream)
    if not t.wrong:
        ok(hip.hipStreamSynchronize(stream))
    # OTHER read call=hipMemcpy
    ok(hip.hipMemcpy(got, x, SIZE, TO_HOST))
    yield same("x", got, np.full(32, 7))


@pair(
    "The host waits for the wrong one of two streams.",
    """
extern "C" __global__ void k(int *x)
{
    x[threadIdx.x] = 7; // FIND race write global
}
""",
)
def wait_for_another_stream(t: Twin) -> Iterator[Check]:
    x, y, first, second = t.zeros(32), t.zeros(32), t.stream(), t.stream()
    got = np.zeros(32, i32)
    t.go(1, 32, y, stream=second)
    ok(hip.hipStreamSynchronize(second))
    t.go(1, 32, x, stream=first)
    ok(hip.hipStreamSynchronize(second if t.wrong else first))
    # OTHER read call=hipMemcpy
    ok(hip.hipMemcpy(got, x, SIZE, TO_HOST))
    yield same("x", got, np.full(32, 7))


@pair(
    "The host asks an event until it is done, which orders; a single question whose"
    " answer nobody reads does not.",
    """
extern "C" __global__ void k(int *x)
{
    for (int i = 0; i < 1000; i++)
        x[threadIdx.x] = i; // FIND race write global
}
""",
)
def event_that_is_asked(t: Twin) -> Iterator[Check]:
    x, stream, got = t.zeros(32), t.stream(), np.zeros(32, i32)
    t.events.append(ok(hip.hipEventCreateWithFlags(hip.hipEventDisableTiming)))
    t.go(1, 32, x, stream=stream)
    ok(hip.hipEventRecord(t.events[0], stream))
    while not t.wrong and int(hip.hipEventQuery(t.events[0])[0]) != 0:
        pass
    # OTHER read call=hipMemcpy
    ok(hip.hipMemcpy(got, x, SIZE, TO_HOST))
    yield same("x", got, np.full(32, 999))


@pair(
    "The kernel writes pinned memory, and the host copies from it without waiting.",
    """
extern "C" __global__ void k(int *x)
{
    x[threadIdx.x] = threadIdx.x; // FIND race write pinned
}
""",
)
def pinned_memory_is_read_too_early(t: Twin) -> Iterator[Check]:
    host, stream, got = pinned(t), t.stream(), np.zeros(32, i32)
    t.go(1, 32, host, stream=stream)
    if not t.wrong:
        ok(hip.hipStreamSynchronize(stream))
    # OTHER read call=hipMemcpy
    ok(hip.hipMemcpy(got, host, SIZE, ON_HOST))
    t.wait()
    ok(hip.hipHostFree(host))
    yield same("pinned", got, np.arange(32))


@pair(
    "The host fills pinned memory again while a kernel still reads it.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x]; // FIND race read pinned
}
""",
)
def pinned_memory_is_reused_too_early(t: Twin) -> Iterator[Check]:
    host, y, stream = pinned(t), t.zeros(32), t.stream()
    t.go(1, 32, host, y, stream=stream)
    if not t.wrong:
        ok(hip.hipStreamSynchronize(stream))
    # OTHER write call=hipMemcpy
    ok(hip.hipMemcpy(host, np.ones(32, i32), SIZE, ON_HOST))
    got = t.get(y, 32)
    ok(hip.hipHostFree(host))
    yield same("y", got, np.zeros(32))


@pair(
    "A copy from pinned memory is in flight when a second copy writes that memory.",
    """
extern "C" __global__ void k(int *x) { x[threadIdx.x] += 1; } // after the copies
""",
)
def pinned_memory_between_two_copies(t: Twin) -> Iterator[Check]:
    host, x, y = pinned(t), t.zeros(32), t.upload(np.full(32, 3, i32))
    first, second = t.stream(), t.stream()
    # FIND race read pinned call=hipMemcpyAsync
    ok(hip.hipMemcpyAsync(x, host, SIZE, TO_DEVICE, first))
    if not t.wrong:
        t.after(first, second)
    # OTHER write call=hipMemcpyDtoHAsync
    ok(hip.hipMemcpyDtoHAsync(host, y, SIZE, second))
    t.go(1, 32, x, stream=first)
    got = t.get(x, 32)
    ok(hip.hipHostFree(host))
    yield same("x", got, np.ones(32))


@pair(
    "Managed memory is filled by the host's call while a kernel writes it.",
    """
extern "C" __global__ void k(int *x)
{
    x[threadIdx.x] = 1; // FIND race write managed
}
""",
)
def managed_memory_is_filled_too_early(t: Twin) -> Iterator[Check]:
    x, stream = managed(t), t.stream()
    t.go(1, 32, x, stream=stream)
    if not t.wrong:
        ok(hip.hipStreamSynchronize(stream))
    # OTHER write call=hipMemset
    ok(hip.hipMemset(x, 2, SIZE))
    got = t.get(x, 32)
    ok(hip.hipFree(x))
    yield same("x", got, np.full(32, 0x02020202))


@pair(
    "hipFree waits for the whole device, so what comes after is ordered; hipFreeAsync"
    " does not.",
    """
extern "C" __global__ void make(int *x)
{
    x[threadIdx.x] = 5; // FIND race write global kernel=make
}
extern "C" __global__ void use(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x]; // OTHER read kernel=use
}
""",
)
def free_as_a_wait(t: Twin) -> Iterator[Check]:
    x, y, first, second = t.zeros(32), t.zeros(32), t.stream(), t.stream()
    if t.wrong:
        spare = ok(hip.hipMallocAsync(64, second))
    else:
        spare = ok(hip.hipMalloc(64))
    t.go(1, 32, x, kernel="make", stream=first)
    if t.wrong:
        ok(hip.hipFreeAsync(spare, second))
    else:
        ok(hip.hipFree(spare))
    t.go(1, 32, x, y, kernel="use", stream=second)
    yield same("y", t.get(y, 32), np.full(32, 5))


@pair(
    "A pipeline of two buffers: the maker must wait until the user is done with the"
    " buffer of two rounds before.",
    """
extern "C" __global__ void make(int *x, int round)
{
    x[threadIdx.x] = round; // FIND race write global kernel=make
}
extern "C" __global__ void use(const int *x, int *y)
{
    y[threadIdx.x] += x[threadIdx.x]; // OTHER read kernel=use
}
""",
)
def pipeline_of_two_buffers(t: Twin) -> Iterator[Check]:
    buffers, y = [t.zeros(32), t.zeros(32)], t.zeros(32)
    maker, user = t.stream(), t.stream()
    done: list[Any] = []
    for number in range(4):
        if number >= 2 and not t.wrong:
            ok(hip.hipStreamWaitEvent(maker, done[number - 2], 0))
        buffer = buffers[number % 2]
        t.go(1, 32, buffer, i32(number), kernel="make", stream=maker)
        t.after(maker, user)
        t.go(1, 32, buffer, y, kernel="use", stream=user)
        done.append(ok(hip.hipEventCreateWithFlags(hip.hipEventDisableTiming)))
        t.events.append(done[-1])
        ok(hip.hipEventRecord(done[-1], user))
    yield same("y", t.get(y, 32), np.full(32, 6))


def captured(stream: Any, enqueue: Any) -> Any:
    """A graph of what is enqueued into the stream, ready to launch."""
    mode = hip.hipStreamCaptureMode.hipStreamCaptureModeRelaxed
    ok(hip.hipStreamBeginCapture(stream, mode))
    enqueue()
    graph = ok(hip.hipStreamEndCapture(stream))
    executable = ok(hip.hipGraphInstantiate(graph, 0))[0]
    ok(hip.hipGraphDestroy(graph))
    return executable


@pair(
    "Two branches of a captured graph write one buffer; one after the other they may.",
    """
extern "C" __global__ void one(int *x)
{
    x[threadIdx.x] = 1; // FIND race write global kernel=one
}
extern "C" __global__ void two(int *x)
{
    x[threadIdx.x] = 2; // OTHER write kernel=two
}
""",
)
def branches_of_a_captured_graph(t: Twin) -> Iterator[Check]:
    x, first, second = t.zeros(32), t.stream(), t.stream()
    t.module.function("one")

    def enqueue() -> None:
        if t.wrong:
            t.after(first, second)
        t.go(1, 32, x, kernel="one", stream=first)
        if not t.wrong:
            t.after(first, second)
        t.go(1, 32, x, kernel="two", stream=second)
        t.after(second, first)

    graph = captured(first, enqueue)
    ok(hip.hipGraphLaunch(graph, first))
    yield same("x", t.get(x, 32), np.full(32, 2))
    ok(hip.hipGraphExecDestroy(graph))


@pair(
    "Nodes of a graph without an edge between them have no order.",
    """
extern "C" __global__ void make(int *x)
{
    x[threadIdx.x] = 3; // FIND race write global kernel=make
}
extern "C" __global__ void use(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x]; // OTHER read kernel=use
}
""",
)
def nodes_without_an_edge(t: Twin) -> Iterator[Check]:
    x, y = t.zeros(32), t.zeros(32)
    graph = ok(hip.hipGraphCreate(0))
    nodes: list[Any] = []
    for kernel, addresses in (("make", (x,)), ("use", (x, y))):
        values = np.array(addresses, np.uint64)
        at = np.array([values.ctypes.data + 8 * i for i in range(len(addresses))])
        parameters = hip.hipKernelNodeParams(
            func=t.module.function(kernel),
            gridDim=hip.dim3(1, 1, 1),
            blockDim=hip.dim3(32, 1, 1),
            sharedMemBytes=0,
            kernelParams=at.ctypes.data,
            extra=None,
        )
        before = [] if t.wrong else nodes
        added = hip.hipGraphAddKernelNode(graph, before, len(before), parameters)
        nodes = [ok(added)]
    executable = ok(hip.hipGraphInstantiate(graph, 0))[0]
    ok(hip.hipGraphLaunch(executable, t.stream()))
    yield same("y", t.get(y, 32), np.full(32, 3))
    ok(hip.hipGraphExecDestroy(executable))
    ok(hip.hipGraphDestroy(graph))


@pair(
    "A graph runs in its stream's order, and another stream's kernel does not wait.",
    """
extern "C" __global__ void make(int *x)
{
    x[threadIdx.x] = 3; // FIND race write global kernel=make
}
extern "C" __global__ void use(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x]; // OTHER read kernel=use
}
""",
)
def graph_and_another_stream(t: Twin) -> Iterator[Check]:
    x, y, first, second = t.zeros(32), t.zeros(32), t.stream(), t.stream()
    t.module.function("make")
    graph = captured(first, lambda: t.go(1, 32, x, kernel="make", stream=first))
    ok(hip.hipGraphLaunch(graph, first))
    t.go(1, 32, x, y, kernel="use", stream=second if t.wrong else first)
    yield same("y", t.get(y, 32), np.full(32, 3))
    ok(hip.hipGraphExecDestroy(graph))


@pair(
    "Two graphs that write one buffer are launched into two streams.",
    """
extern "C" __global__ void k(int *x, int v)
{
    x[threadIdx.x] += v; // FIND race global OTHER
}
""",
)
def two_graphs_in_two_streams(t: Twin) -> Iterator[Check]:
    x, first, second = t.zeros(32), t.stream(), t.stream()
    t.module.function("k")
    graphs = [
        captured(first, lambda v=v: t.go(1, 32, x, i32(v), stream=first))
        for v in (1, 2)
    ]
    ok(hip.hipGraphLaunch(graphs[0], first))
    if not t.wrong:
        t.after(first, second)
    ok(hip.hipGraphLaunch(graphs[1], second))
    yield same("x", t.get(x, 32), np.full(32, 3))
    for graph in graphs:
        ok(hip.hipGraphExecDestroy(graph))


@pair(
    "The rows of a copy with pitch are in flight while a kernel writes into one of them.",
    """
extern "C" __global__ void k(int *x, int at)
{
    x[at] = 9; // FIND race write global thread=0
}
""",
)
def rows_in_flight(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(32, dtype=i32)), t.zeros(64)
    first, second = t.stream(), t.stream()
    # OTHER write call=hipMemcpy2DAsync
    ok(hip.hipMemcpy2DAsync(y, 64, x, 32, 32, 4, WITHIN, first))
    # Bytes 32 to 63 of a row of 64 are not copied.
    t.go(1, 1, y, i32(7 if t.wrong else 8), stream=second)
    yield same("y", t.get(y, 64)[8], 9)
