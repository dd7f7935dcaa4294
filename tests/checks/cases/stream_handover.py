# SPDX-License-Identifier: MIT
"""Work that is handed over by other means than events: values, host functions, frees.

Streams are made with hipStreamNonBlocking, as in stream_races.py.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np

from hipadapt import hip
from tests.kernels.case import Check, same
from tests.kernels.gpu import ok

from ..pair import pair
from ..twin import Twin

i32 = np.int32
TO_HOST = hip.hipMemcpyKind.hipMemcpyDeviceToHost
SIZE = 128  # bytes of 32 ints
MASK = 0xFFFFFFFF


@pair(
    "The stream that makes the data says so by a value, too early.",
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
def value_is_written_too_early(t: Twin) -> Iterator[Check]:
    x, y, flag, first, second = *map(t.zeros, (32, 32, 1)), t.stream(), t.stream()
    if t.wrong:
        ok(hip.hipStreamWriteValue32(first, flag, 1, 0))
    t.go(1, 32, x, kernel="make", stream=first)
    if not t.wrong:
        ok(hip.hipStreamWriteValue32(first, flag, 1, 0))
    ok(hip.hipStreamWaitValue32(second, flag, 1, hip.hipStreamWaitValueEq, MASK))
    t.go(1, 32, x, y, kernel="use", stream=second)
    yield same("y", t.get(y, 32), np.full(32, 5))


@pair(
    "The wait comes before the write that ends it; what follows later is behind both.",
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
def value_is_waited_for_before_it_is_written(t: Twin) -> Iterator[Check]:
    x, y, flag, first, second = *map(t.zeros, (32, 32, 1)), t.stream(), t.stream()
    ok(hip.hipStreamWaitValue32(second, flag, 2, hip.hipStreamWaitValueGte, MASK))
    t.go(1, 32, x, y, kernel="use", stream=second)
    if t.wrong:
        ok(hip.hipStreamWriteValue32(first, flag, 2, 0))
    t.go(1, 32, x, kernel="make", stream=first)
    if not t.wrong:
        ok(hip.hipStreamWriteValue32(first, flag, 2, 0))
    t.go(1, 32, x, y, kernel="use", stream=second)
    yield same("y", t.get(y, 32), np.full(32, 6))


@pair(
    "A host function tells the host that the kernel is done; without it nobody does.",
    """
extern "C" __global__ void k(int *x)
{
    x[threadIdx.x] = 7; // FIND race write global
}
""",
)
def host_function_tells_the_host(t: Twin) -> Iterator[Check]:
    x, stream, got, done = t.zeros(32), t.stream(), np.zeros(32, i32), threading.Event()
    t.go(1, 32, x, stream=stream)
    if not t.wrong:
        ok(hip.hipLaunchHostFunc(stream, lambda data: done.set(), None))
        assert done.wait(60)
    # OTHER read call=hipMemcpy
    ok(hip.hipMemcpy(got, x, SIZE, TO_HOST))
    yield same("x", got, np.full(32, 7))


@pair(
    "hipFreeAsync in one stream, while another one still reads the memory.",
    """
extern "C" __global__ void make(int *x)
{
    x[threadIdx.x] = 3;
}
extern "C" __global__ void use(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x]; // FIND race read global kernel=use
}
""",
    check="race",
)
def free_while_another_stream_reads(t: Twin) -> Iterator[Check]:
    y, first, second = t.zeros(32), t.stream(), t.stream()
    x = int(ok(hip.hipMallocAsync(SIZE, first)))
    t.go(1, 32, x, kernel="make", stream=first)
    t.after(first, second)
    t.go(1, 32, x, y, kernel="use", stream=second)
    if not t.wrong:
        t.after(second, first)
    # OTHER free call=hipFreeAsync
    ok(hip.hipFreeAsync(x, first))
    yield same("y", t.get(y, 32), np.full(32, 3))


@pair(
    "The memory is freed before the work begins that was launched before it.",
    """
extern "C" __global__ void make(int *x)
{
    x[threadIdx.x] = 3;
}
extern "C" __global__ void use(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x]; // FIND race read global kernel=use
}
""",
)
def free_before_work_that_was_launched_before(t: Twin) -> Iterator[Check]:
    y, first, second, freed = t.zeros(32), t.stream(), t.stream(), threading.Event()
    x = int(ok(hip.hipMallocAsync(SIZE, first)))
    t.go(1, 32, x, kernel="make", stream=first)
    t.after(first, second)
    if t.wrong:
        ok(hip.hipLaunchHostFunc(second, lambda data: freed.wait(60), None))
    t.go(1, 32, x, y, kernel="use", stream=second)
    if not t.wrong:
        t.after(second, first)
    # OTHER free call=hipFreeAsync
    ok(hip.hipFreeAsync(x, first))
    ok(hip.hipStreamSynchronize(first))
    freed.set()
    yield same("y", t.get(y, 32), np.full(32, 3))


@pair(
    "The same where bounds are not asked for: nobody keeps the memory.",
    """
extern "C" __global__ void make(int *x)
{
    x[threadIdx.x] = 3;
}
extern "C" __global__ void use(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x]; // FIND race read global kernel=use
}
""",
    check="race",
    faults=True,
)
def free_before_work_without_bounds(t: Twin) -> Iterator[Check]:
    y, first, second, freed = t.zeros(32), t.stream(), t.stream(), threading.Event()
    x = int(ok(hip.hipMallocAsync(SIZE, first)))
    t.go(1, 32, x, kernel="make", stream=first)
    t.after(first, second)
    if t.wrong:
        ok(hip.hipLaunchHostFunc(second, lambda data: freed.wait(60), None))
    t.go(1, 32, x, y, kernel="use", stream=second)
    if not t.wrong:
        t.after(second, first)
    # OTHER free call=hipFreeAsync
    ok(hip.hipFreeAsync(x, first))
    ok(hip.hipStreamSynchronize(first))
    freed.set()
    yield same("y", t.get(y, 32), np.full(32, 3))


@pair(
    "Memory that a pool gives out again is other memory: who had it does not matter.",
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
    check="race",
)
def memory_of_a_pool_again(t: Twin) -> Iterator[Check]:
    first, second = t.stream(), t.stream()
    x = int(ok(hip.hipMallocAsync(SIZE, first)))
    t.go(1, 32, x, kernel="one", stream=first)
    if not t.wrong:
        ok(hip.hipFreeAsync(x, first))
        x = int(ok(hip.hipMallocAsync(SIZE, second)))
    t.go(1, 32, x, kernel="two", stream=second)
    yield same("x", t.get(x, 32), np.full(32, 2))
    ok(hip.hipFree(x))


@pair(
    "Three streams read, and the one that writes waits for two of them.",
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
def one_of_three_readers(t: Twin) -> Iterator[Check]:
    x, streams = t.upload(np.arange(32, dtype=i32)), [t.stream() for _ in range(4)]
    for stream in streams[1:]:
        t.go(1, 32, x, t.zeros(32), kernel="use", stream=stream)
    for stream in streams[1 : 3 if t.wrong else 4]:
        t.after(stream, streams[0])
    t.go(1, 32, x, kernel="change", stream=streams[0])
    yield same("x", t.get(x, 32), np.arange(32))
