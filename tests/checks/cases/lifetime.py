# SPDX-License-Identifier: MIT
"""Copies and fills of the host API beyond allocations, and memory after its end."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np

from hipadapt import hip
from tests.kernels.case import Check, same
from tests.kernels.gpu import ok

from ..pair import pair
from ..twin import Twin

i32, u8 = np.int32, np.uint8
TO_DEVICE = hip.hipMemcpyKind.hipMemcpyHostToDevice
TO_HOST = hip.hipMemcpyKind.hipMemcpyDeviceToHost
WITHIN = hip.hipMemcpyKind.hipMemcpyDeviceToDevice


def new(size: int, stream: object = None) -> int:
    """Memory of the stream's order, with zeros."""
    memory = int(ok(hip.hipMallocAsync(size, stream)))
    ok(hip.hipMemsetAsync(memory, 0, size, stream))
    return memory


@pair(
    "The copy to the device is 4 bytes longer than its target.",
    """
extern "C" __global__ void k(int *x) { x[0] += x[15]; } // to the device
""",
    faults=True,
)
def copy_to_the_device_over_the_end(t: Twin) -> Iterator[Check]:
    x, size = t.zeros(16), 64 + 4 * t.wrong
    values = np.arange(20, dtype=i32)
    # FIND out-of-bounds write global call=hipMemcpy
    hip.hipMemcpy(x, values, size, TO_DEVICE)
    t.go(1, 1, x)
    yield same("x[0]", t.get(x, 16)[0], 15)


@pair(
    "The copy to the host reads 4 bytes behind its source.",
    """
extern "C" __global__ void k(int *x) { x[threadIdx.x] = 3; } // to the host
""",
    faults=True,
)
def copy_to_the_host_over_the_end(t: Twin) -> Iterator[Check]:
    x, size = t.zeros(16), 64 + 4 * t.wrong
    t.go(1, 16, x)
    values = np.zeros(20, i32)
    # FIND out-of-bounds read global call=hipMemcpy
    hip.hipMemcpy(values, x, size, TO_HOST)
    yield same("x", values[:16], np.full(16, 3))


@pair(
    "A copy within the device begins in the middle of its source and is as long as all"
    " of it.",
    """
extern "C" __global__ void k(int *x) { x[threadIdx.x] = threadIdx.x; } // within
""",
    faults=True,
)
def copy_within_the_device_from_the_middle(t: Twin) -> Iterator[Check]:
    x, y = t.zeros(32), t.zeros(32)
    t.go(1, 32, x)
    size = 128 if t.wrong else 64
    # FIND out-of-bounds read global call=hipMemcpy
    hip.hipMemcpy(y, x + 64, size, WITHIN)
    yield same("y", t.get(y, 32)[:16], np.arange(16) + 16)


@pair(
    "A fill of 65 words meets 64.",
    """
extern "C" __global__ void k(int *x) { x[0] = 1; } // fill
""",
    faults=True,
)
def fill_over_the_end(t: Twin) -> Iterator[Check]:
    x, stream = t.zeros(64), t.stream()
    count = 64 + t.wrong
    # FIND out-of-bounds write global call=hipMemsetD32Async
    hip.hipMemsetD32Async(x, 7, count, stream)
    t.go(1, 1, x, stream=stream)
    yield same("x", t.get(x, 64)[:3], [1, 7, 7])


@pair(
    "With a pitch of 40 bytes, the fourth row of 32 bytes ends behind 150 bytes.",
    """
extern "C" __global__ void k(unsigned char *x) { x[0] = 1; } // rows
""",
    faults=True,
)
def rows_over_the_end(t: Twin) -> Iterator[Check]:
    x = t.zeros(150, u8)
    rows = np.arange(128, dtype=u8)
    height = 3 + t.wrong
    # FIND out-of-bounds write global call=hipMemcpy2D
    hip.hipMemcpy2D(x, 40, rows, 32, 32, height, TO_DEVICE)
    t.go(1, 1, x)
    yield same("x", t.get(x, 150, u8)[40:72], rows[32:64])


@pair(
    "A kernel is launched with memory that was freed.",
    """
extern "C" __global__ void k(int *x)
{
    x[threadIdx.x] = 3; // FIND use-after-free write global bytes=4 block=0 thread=0
}
""",
    faults=True,
)
def kernel_after_free(t: Twin) -> Iterator[Check]:
    x, y = t.loose(128), t.zeros(32)
    if t.wrong:
        ok(hip.hipFree(x))
    t.go(1, 32, x if t.wrong else y)
    if not t.wrong:
        ok(hip.hipFree(x))  # waits for what runs
    yield same("y", t.get(y, 32), np.full(32, 3))


@pair(
    "The freed memory's place may be another allocation's by then; the old pointer is"
    " still none to it.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x]; // FIND use-after-free read global bytes=4
}
""",
    faults=True,
)
def kernel_after_free_and_a_new_allocation(t: Twin) -> Iterator[Check]:
    x, y = t.loose(128), t.zeros(32)
    ok(hip.hipFree(x))
    new = t.upload(np.full(32, 6, i32))
    t.go(1, 32, x if t.wrong else new, y)
    yield same("y", t.get(y, 32), np.full(32, 6))


@pair(
    "A kernel keeps a pointer in memory to an allocation that is freed before the next"
    " kernel follows it.",
    """
extern "C" __global__ void keep(int *x, int **kept) { *kept = x; }
extern "C" __global__ void k(int **kept, int *y)
{
    y[0] = **kept; // FIND use-after-free read global bytes=4 kernel=k
}
""",
    faults=True,
)
def pointer_kept_over_a_free(t: Twin) -> Iterator[Check]:
    x, kept, y = t.loose(4), t.zeros(1, np.uint64), t.zeros(1)
    t.go(1, 1, x, kept, kernel="keep")
    if t.wrong:
        ok(hip.hipFree(x))
    t.go(1, 1, kept, y)
    if not t.wrong:
        ok(hip.hipFree(x))
    yield same("y", t.get(y, 1), [0])


@pair(
    "In the stream's order the kernel comes after hipFreeAsync.",
    """
extern "C" __global__ void k(int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x] + 1; // FIND use-after-free read global bytes=4
}
""",
    faults=True,
)
def kernel_after_free_in_stream_order(t: Twin) -> Iterator[Check]:
    stream, y = t.stream(), t.zeros(32)
    x = new(128, stream)
    if t.wrong:
        ok(hip.hipFreeAsync(x, stream))
    t.go(1, 32, x, y, stream=stream)
    if not t.wrong:
        ok(hip.hipFreeAsync(x, stream))
    yield same("y", t.get(y, 32), np.ones(32))


@pair(
    "The other stream's kernel is launched after hipFreeAsync, and no event says that it"
    " may run before.",
    """
extern "C" __global__ void k(int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x] + 1; // FIND use-after-free read
}
""",
    faults=True,
)
def kernel_of_another_stream_after_free(t: Twin) -> Iterator[Check]:
    first, second, y = t.stream(), t.stream(), t.zeros(32)
    x = new(128, first)
    t.after(first, second)
    if t.wrong:
        ok(hip.hipFreeAsync(x, first))
    t.go(1, 32, x, y, stream=second)
    if not t.wrong:
        t.after(second, first)
        ok(hip.hipFreeAsync(x, first))
    yield same("y", t.get(y, 32), np.ones(32))


@pair(
    "A copy reads memory that was freed before.",
    """
extern "C" __global__ void k(int *x) { x[0] = 4; } // copy after free
""",
    faults=True,
)
def copy_after_free(t: Twin) -> Iterator[Check]:
    x, values = t.loose(64), np.zeros(16, i32)
    t.go(1, 1, x)
    t.wait()
    if t.wrong:
        ok(hip.hipFree(x))
    # FIND use-after-free read global call=hipMemcpy
    hip.hipMemcpy(values, x, 64, TO_HOST)
    if not t.wrong:
        ok(hip.hipFree(x))
    yield same("x[0]", values[0], 4)


@pair(
    "A fill comes after hipFreeAsync in the same stream.",
    """
extern "C" __global__ void k(int *x) { x[0] = 4; } // fill after free
""",
    faults=True,
)
def fill_after_free_in_stream_order(t: Twin) -> None:
    stream = t.stream()
    x = new(64, stream)
    t.go(1, 1, x, stream=stream)
    if t.wrong:
        ok(hip.hipFreeAsync(x, stream))
    # FIND use-after-free write global call=hipMemsetAsync
    hip.hipMemsetAsync(x, 0, 64, stream)
    if not t.wrong:
        ok(hip.hipFreeAsync(x, stream))


@pair(
    "The same memory is freed twice.",
    """
extern "C" __global__ void k(int *x) { x[0] = 1; } // free twice
""",
    faults=True,
)
def free_twice(t: Twin) -> None:
    x = t.loose(64)
    t.go(1, 1, x)
    ok(hip.hipFree(x))
    if t.wrong:
        # FIND double-free free call=hipFree
        hip.hipFree(x)


@pair(
    "Memory of a stream's order is freed twice in that order.",
    """
extern "C" __global__ void k(int *x) { x[0] = 1; } // free twice in order
""",
    faults=True,
)
def free_twice_in_stream_order(t: Twin) -> None:
    stream = t.stream()
    x = new(64, stream)
    t.go(1, 1, x, stream=stream)
    ok(hip.hipFreeAsync(x, stream))
    if t.wrong:
        # FIND double-free free call=hipFreeAsync
        hip.hipFreeAsync(x, stream)


@pair(
    "What is freed is an address in the middle of an allocation.",
    """
extern "C" __global__ void k(int *x) { x[0] = 1; } // free the middle
""",
    faults=True,
)
def free_from_the_middle(t: Twin) -> None:
    x = t.zeros(64)
    t.go(1, 1, x)
    if t.wrong:
        # FIND invalid-free free call=hipFree
        hip.hipFree(x + 16)


@pair(
    "Memory of hipMalloc is given to hipHostFree, which is for the host's.",
    """
extern "C" __global__ void k(int *x) { x[0] = 1; } // free as the host's
""",
    faults=True,
)
def free_as_if_it_were_the_hosts(t: Twin) -> None:
    device, host = t.loose(64), int(ok(hip.hipHostMalloc(64, 0)))
    t.go(1, 1, device)
    t.wait()
    if t.wrong:
        # FIND invalid-free free call=hipHostFree
        hip.hipHostFree(device)
    hip.hipHostFree(host)
    if not t.wrong:
        hip.hipFree(device)


@pair(
    "Memory of the C library is the host's alone: a GPU cannot reach it.",
    """
extern "C" __global__ void k(int *x)
{
    x[threadIdx.x] += 1; // FIND unknown-memory bytes=4
}
""",
    faults=True,
)
def memory_of_the_host_in_a_kernel(t: Twin) -> Iterator[Check]:
    own = (ctypes.c_int * 32)()
    pinned = int(ok(hip.hipHostMalloc(128, 0)))
    theirs = (ctypes.c_int * 32).from_address(pinned)
    theirs[:] = [0] * 32
    t.go(1, 32, ctypes.addressof(own) if t.wrong else pinned)
    t.wait()
    got = list(theirs)
    ok(hip.hipHostFree(pinned))
    yield same("pinned", got, np.ones(32))


@pair(
    "Pinned memory has 100 bytes, and the kernel writes the 101st.",
    """
extern "C" __global__ void k(char *x)
{
    x[threadIdx.x + WRONG] = 1; // FIND out-of-bounds write pinned bytes=1 thread=99
}
""",
    faults=True,
)
def pinned_memory_one_behind(t: Twin) -> None:
    pinned = int(ok(hip.hipHostMalloc(100, 0)))
    t.go(1, 100, pinned)
    t.wait()
    ok(hip.hipHostFree(pinned))


@pair(
    "Managed memory has 32 ints, and lane 0 reads the one before.",
    """
extern "C" __global__ void k(int *x, int *y)
{
    int i = threadIdx.x - WRONG;
    y[threadIdx.x] = x[i]; // FIND out-of-bounds read managed bytes=4 thread=0
}
""",
    faults=True,
)
def managed_memory_one_before(t: Twin) -> Iterator[Check]:
    managed = int(ok(hip.hipMallocManaged(128, hip.hipMemAttachGlobal)))
    ok(hip.hipMemset(managed, 0, 128))
    y = t.zeros(32)
    t.go(1, 32, managed, y)
    yield same("y", t.get(y, 32), np.zeros(32))
    ok(hip.hipFree(managed))


@pair(
    "hipMallocAsync takes from a pool, where an overrun hits a neighbour and not a hole.",
    """
extern "C" __global__ void k(int *x)
{
    x[threadIdx.x + WRONG] = 1; // FIND out-of-bounds write global bytes=4 thread=63
}
""",
    faults=True,
)
def memory_of_a_pool_one_behind(t: Twin) -> Iterator[Check]:
    stream = t.stream()
    x, y = new(256, stream), new(256, stream)
    t.go(1, 64, x, stream=stream)
    t.wait()
    yield same("x", t.get(x, 64), np.ones(64))
    ok(hip.hipFreeAsync(x, stream))
    ok(hip.hipFreeAsync(y, stream))


@pair(
    "A copy of no bytes is no access, wherever it points; one of 1 byte is.",
    """
extern "C" __global__ void k(char *x, const char *y, int n)
{
    memcpy(x + 64, y, n); // FIND out-of-bounds write global
    x[63] = 5; // the last byte
}
""",
)
def copies_of_no_bytes(t: Twin) -> Iterator[Check]:
    x, y = t.zeros(64, u8), t.zeros(64, u8)
    ok(hip.hipMemcpy(x + 64, y, 0, WITHIN))
    ok(hip.hipMemset(x + 64, 0, 0))
    ok(hip.hipMemcpyAsync(x, y + 64, 0, WITHIN, None))
    t.go(1, 1, x, y, i32(t.wrong))
    yield same("x", t.get(x, 64, u8)[62:], [0, 5])


@pair(
    "A graph keeps the address of memory that is freed before it is launched again.",
    """
extern "C" __global__ void k(int *x)
{
    x[threadIdx.x] = 8; // FIND use-after-free write global bytes=4
}
""",
    faults=True,
)
def graph_after_free(t: Twin) -> Iterator[Check]:
    x, stream, got = t.loose(128), t.stream(), np.zeros(32, i32)
    t.module.function("k")
    mode = hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal
    ok(hip.hipStreamBeginCapture(stream, mode))
    t.go(1, 32, x, stream=stream)
    graph = ok(hip.hipStreamEndCapture(stream))
    executable = ok(hip.hipGraphInstantiate(graph, 0))[0]
    ok(hip.hipGraphLaunch(executable, stream))
    ok(hip.hipStreamSynchronize(stream))
    ok(hip.hipMemcpy(got, x, 128, TO_HOST))
    if t.wrong:
        ok(hip.hipFree(x))
    hip.hipGraphLaunch(executable, stream)
    hip.hipStreamSynchronize(stream)
    if not t.wrong:
        ok(hip.hipFree(x))
    ok(hip.hipGraphExecDestroy(executable))
    ok(hip.hipGraphDestroy(graph))
    yield same("x", got, np.full(32, 8))
