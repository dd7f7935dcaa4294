# SPDX-License-Identifier: MIT
"""Branches, addresses and outputs that depend on what nobody wrote.

Reading it is no mistake, nor is copying it or computing with it: the line to be found
is the one where something is decided by it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np

from hipadapt import hip
from tests.kernels.case import Check, same
from tests.kernels.gpu import ok

from ..pair import pair
from ..twin import Twin

f32, i32 = np.float32, np.int32
TO_HOST = hip.hipMemcpyKind.hipMemcpyDeviceToHost
WITHIN = hip.hipMemcpyKind.hipMemcpyDeviceToDevice


@pair(
    "Nobody wrote the tile before the branch.",
    """
extern "C" __global__ void k(int *y)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    if (!WRONG)
        tile[t] = t;
    if (tile[t] > 10) // FIND uninitialised shared
        y[t] = 1;
}
""",
)
def shared_tile_never_written(t: Twin) -> Iterator[Check]:
    y = t.zeros(32)
    t.go(1, 32, y)
    yield same("y", t.get(y, 32), np.arange(32) > 10)


@pair(
    "In the ragged block only some lanes fill their element, and all are looked at.",
    """
extern "C" __global__ void k(const int *x, int *y, int n)
{
    __shared__ int tile[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (i < n)
        tile[t] = x[i];
    else if (!WRONG)
        tile[t] = 0;
    __syncthreads();
    if (tile[31 - t] > 5) // FIND uninitialised shared block=1
        atomicAdd(y, 1);
}
""",
)
def shared_tile_partly_filled(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.full(50, 7, i32)), t.zeros(1)
    t.go(2, 32, x, y, i32(50))
    yield same("y", t.get(y, 1), [50])


@pair(
    "Shared memory of block 1 does not hold what block 0 wrote into its own.",
    """
extern "C" __global__ void k(int *y)
{
    __shared__ int limit;
    if (threadIdx.x == 0 && (blockIdx.x == 0 || !WRONG))
        limit = 3;
    __syncthreads();
    if (threadIdx.x < limit) // FIND uninitialised shared block=1
        y[blockIdx.x * 32 + threadIdx.x] = 1;
}
""",
)
def shared_memory_of_the_block_before(t: Twin) -> Iterator[Check]:
    y = t.zeros(64)
    t.go(2, 32, y)
    yield same("y", t.get(y, 64), np.arange(64) % 32 < 3)


@pair(
    "Dynamic shared memory holds nothing when a block begins.",
    """
extern "C" __global__ void k(int *y)
{
    extern __shared__ int bins[];
    int t = threadIdx.x;
    if (!WRONG)
        bins[t] = 0;
    __syncthreads();
    atomicAdd(bins + t, 1); // OTHER
    __syncthreads();
    if (bins[t] == 1) // FIND uninitialised shared
        y[t] = 2;
}
""",
)
def dynamic_shared_bins_never_cleared(t: Twin) -> Iterator[Check]:
    y = t.zeros(32)
    t.go(1, 32, y, shared=128)
    yield same("y", t.get(y, 32), np.full(32, 2))


@pair(
    "One element of the local array is left out of the loop that fills it.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    int own[8];
    for (int i = WRONG; i < 8; i++)
        own[i] = i;
    if (own[x[threadIdx.x]] > 2) // FIND uninitialised local thread=6
        y[threadIdx.x] = 1;
}
""",
)
def local_array_partly_filled(t: Twin) -> Iterator[Check]:
    index = np.full(32, 5, i32)
    index[6] = 0
    y = t.zeros(32)
    t.go(1, 32, t.upload(index), y)
    yield same("y", t.get(y, 32), np.arange(32) != 6)


@pair(
    "One lane takes the path on which the variable gets no value.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    int t = threadIdx.x;
    int value;
    if (x[t] < 3 + !WRONG)
        value = x[t];
    if (value == 2) // FIND uninitialised local block=0 thread=3
        y[t] = 1;
}
""",
)
def local_variable_on_one_path(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.minimum(np.arange(4), 3).astype(i32)), t.zeros(4)
    t.go(1, 4, x, y)
    yield same("y", t.get(y, 4), [0, 0, 1, 0])


@pair(
    "Memory of hipMalloc is not zero by promise.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    if (x[threadIdx.x] == 0) // FIND uninitialised global
        y[threadIdx.x] = 1;
}
""",
)
def device_memory_never_written(t: Twin) -> Iterator[Check]:
    x, y = t.fresh(128), t.zeros(32)
    if not t.wrong:
        ok(hip.hipMemset(x, 0, 128))
    t.go(1, 32, x, y)
    yield same("y", t.get(y, 32), np.ones(32))


@pair(
    "The fill ends after half of the memory.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] == 0) // FIND uninitialised global block=1
        y[i] = 1;
}
""",
)
def fill_of_half(t: Twin) -> Iterator[Check]:
    x, y = t.fresh(256), t.zeros(64)
    ok(hip.hipMemsetAsync(x, 0, 128 if t.wrong else 256, None))
    t.go(2, 32, x, y)
    yield same("y", t.get(y, 64), np.ones(64))


@pair(
    "What an earlier allocation at the place held is not this one's content.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    if (x[threadIdx.x] == 0) // FIND uninitialised global
        y[threadIdx.x] = 1;
}
""",
)
def content_of_an_earlier_allocation(t: Twin) -> Iterator[Check]:
    y, before = t.zeros(32), t.loose(128)
    ok(hip.hipFree(before))
    x = t.fresh(128) if t.wrong else t.zeros(32)
    t.go(1, 32, x, y)
    yield same("y", t.get(y, 32), np.ones(32))


@pair(
    "The index comes from memory that nobody wrote.",
    """
extern "C" __global__ void k(const int *index, int *y)
{
    int t = threadIdx.x;
    y[index[t] & 31] = 5; // FIND uninitialised
}
""",
)
def address_from_nowhere(t: Twin) -> Iterator[Check]:
    index, y = t.fresh(128), t.zeros(32)
    if not t.wrong:
        t.write(index, np.arange(32, dtype=i32))
    t.go(1, 32, index, y)
    yield same("y", t.get(y, 32), np.full(32, 5))


@pair(
    "The loop's bound comes from memory that nobody wrote.",
    """
extern "C" __global__ void k(const int *n, int *y)
{
    int total = 0;
    for (int i = 0; i < (n[0] & 7); i++) // FIND uninitialised
        total += i;
    y[threadIdx.x] = total;
}
""",
)
def bound_from_nowhere(t: Twin) -> Iterator[Check]:
    n, y = t.fresh(4), t.zeros(1)
    if not t.wrong:
        t.write(n, np.full(1, 4, i32))
    t.go(1, 1, n, y)
    if not t.wrong:
        yield same("y", t.get(y, 1), [6])


@pair(
    "The result that goes to the host was computed from what nobody wrote.",
    """
extern "C" __global__ void k(const float *x, float *y)
{
    y[threadIdx.x] = x[threadIdx.x] * 2.0f + 1.0f;
}
""",
    check="init",
    twin_check="all",
)
def result_from_nowhere(t: Twin) -> Iterator[Check]:
    x, y, got = t.fresh(128), t.zeros(32, f32), np.zeros(32, f32)
    if not t.wrong:
        ok(hip.hipMemset(x, 0, 128))
    t.go(1, 32, x, y)
    t.wait()
    # FIND uninitialised read global call=hipMemcpy
    ok(hip.hipMemcpy(got, y, 128, TO_HOST))
    yield same("y", got, np.ones(32, f32))


@pair(
    "A kernel prints what nobody wrote.",
    """
#include <stdio.h>
extern "C" __global__ void k(const int *x)
{
    printf("%d;", x[0]); // FIND uninitialised
}
""",
)
def print_from_nowhere(t: Twin) -> None:
    x = t.fresh(4)
    if not t.wrong:
        ok(hip.hipMemset(x, 0, 4))
    t.go(1, 1, x)


@pair(
    "Copying is allowed; the kernel that looks at the copy is at fault.",
    """
extern "C" __global__ void copy(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x];
}
extern "C" __global__ void look(const int *y, int *found)
{
    if (y[threadIdx.x] == 9) // FIND uninitialised global kernel=look
        found[threadIdx.x] = 1;
}
""",
)
def copy_is_looked_at(t: Twin) -> Iterator[Check]:
    x, y, found = t.fresh(128), t.fresh(128), t.zeros(32)
    t.go(1, 32, x, y, kernel="copy")
    if not t.wrong:
        t.write(y, np.full(32, 9, i32))
    t.go(1, 32, y, found, kernel="look")
    yield same("found", t.get(found, 32), np.ones(32))


@pair(
    "A copy by the host API brings the lack of content along.",
    """
extern "C" __global__ void k(const int *y, int *found)
{
    if (y[threadIdx.x] == 0) // FIND uninitialised global
        found[threadIdx.x] = 1;
}
""",
)
def copy_by_the_host_is_looked_at(t: Twin) -> Iterator[Check]:
    x, y, found = t.fresh(128), t.zeros(32), t.zeros(32)
    if not t.wrong:
        ok(hip.hipMemset(x, 0, 128))
    ok(hip.hipMemcpyAsync(y, x, 128, WITHIN, None))
    t.go(1, 32, y, found)
    yield same("found", t.get(found, 32), np.ones(32))


@pair(
    "Padding of structures is copied with them; the member beside it counts.",
    """
struct Cell { char tag; int value; };
extern "C" __global__ void make(Cell *cells)
{
    cells[threadIdx.x].tag = 1;
    if (!WRONG)
        cells[threadIdx.x].value = threadIdx.x;
}
extern "C" __global__ void k(const Cell *cells, Cell *to, int *y)
{
    int t = threadIdx.x;
    to[t] = cells[t];
    Cell own = to[t];
    if (own.tag == 1)
        y[t] += 1;
    if (own.value > 15) // FIND uninitialised kernel=k
        y[t] += 2;
}
""",
)
def padding_of_structures(t: Twin) -> Iterator[Check]:
    cells, to, y = t.fresh(256), t.fresh(256), t.zeros(32)
    t.go(1, 32, cells, kernel="make")
    t.go(1, 32, cells, to, y)
    yield same("y", t.get(y, 32), 1 + 2 * (np.arange(32) > 15))


@pair(
    "Half of each word was written, and the whole is compared.",
    """
extern "C" __global__ void k(unsigned *x, int *y)
{
    int t = threadIdx.x;
    ((unsigned short *)x)[2 * t] = t;
    unsigned v = x[t];
    if (!WRONG)
        v &= 0xFFFF;
    if (v > 15) // FIND uninitialised
        y[t] = 1;
}
""",
)
def half_of_a_word(t: Twin) -> Iterator[Check]:
    x, y = t.fresh(128), t.zeros(32)
    t.go(1, 32, x, y)
    yield same("y", t.get(y, 32), np.arange(32) > 15)


@pair(
    "Of two bit fields in one word one was set, and the other is looked at.",
    """
struct Flags { unsigned kind : 3, level : 5; };
extern "C" __global__ void k(const int *x, int *y)
{
    int t = threadIdx.x;
    Flags flags;
    flags.kind = x[t] & 7;
    if (!WRONG)
        flags.level = x[t] & 31;
    if (flags.kind == 3)
        y[t] += 1;
    if (flags.level > 15) // FIND uninitialised local
        y[t] += 2;
}
""",
)
def bit_field_never_set(t: Twin) -> Iterator[Check]:
    lane = np.arange(32, dtype=i32)
    x, y = t.upload(lane), t.zeros(32)
    t.go(1, 32, x, y)
    yield same("y", t.get(y, 32), (lane % 8 == 3) + 2 * (lane > 15))


@pair(
    "Of a float4 only three parts were written.",
    """
extern "C" __global__ void k(float4 *x, int *y)
{
    int t = threadIdx.x;
    x[t].x = x[t].y = x[t].z = 1.0f;
    if (!WRONG)
        x[t].w = 1.0f;
    float4 v = x[t];
    if (v.x + v.y > 1.5f)
        y[t] += 1;
    if (v.w > 0.5f) // FIND uninitialised
        y[t] += 2;
}
""",
)
def part_of_a_float4(t: Twin) -> Iterator[Check]:
    x, y = t.fresh(512), t.zeros(32)
    t.go(1, 32, x, y)
    yield same("y", t.get(y, 32), np.full(32, 3))


@pair(
    "The sum of a value and of what nobody wrote is nothing that one can look at.",
    """
extern "C" __global__ void k(const int *x, const int *z, int *y)
{
    int t = threadIdx.x;
    int sum = x[t] + z[t];
    int unused = z[t] * 3;
    sum = sum * 2 - x[t];
    y[t] = unused * 0;
    if (sum > 20) // FIND uninitialised thread=11
        y[t] = 1;
    else
        y[t] = 0;
}
""",
)
def sum_with_nothing(t: Twin) -> Iterator[Check]:
    x, z, y = t.upload(np.arange(32, dtype=i32)), t.fresh(128), t.zeros(32)
    ok(hip.hipMemset(z, 0, 44))
    ok(hip.hipMemset(z + 48, 0, 80))
    if not t.wrong:
        ok(hip.hipMemset(z + 44, 0, 4))
    t.go(1, 32, x, z, y)
    yield same("y", t.get(y, 32), np.arange(32) > 20)


@pair(
    "A function that is not inlined returns what its caller left open.",
    """
__device__ __noinline__ int first(const int *x, int n)
{
    int result;
    for (int i = 0; i < n; i++)
        if (x[i] > 3) {
            result = i;
            break;
        }
    return result; // OTHER
}
extern "C" __global__ void k(const int *x, int *y, int n)
{
    int at = first(x, n);
    if (at == 4) // FIND uninitialised
        y[0] = 1;
}
""",
)
def result_of_a_function(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(8, dtype=i32)), t.zeros(1)
    t.go(1, 1, x, y, i32(3 if t.wrong else 8))
    yield same("y", t.get(y, 1), [1])


@pair(
    "A shuffle brings another lane's variable, which that lane never set.",
    """
extern "C" __global__ void k(int *y)
{
    int t = threadIdx.x;
    int value;
    if (t != 9 || !WRONG)
        value = t;
    int other = __shfl(value, t ^ 1); // OTHER thread=9
    if (other > 15) // FIND uninitialised thread=8
        y[t] = 1;
}
""",
)
def shuffle_from_a_lane_without_a_value(t: Twin) -> Iterator[Check]:
    y = t.zeros(32)
    t.go(1, 32, y)
    yield same("y", t.get(y, 32), (np.arange(32) ^ 1) > 15)


@pair(
    "A counter in new memory was never set to zero; the first to come is told by it.",
    """
extern "C" __global__ void k(int *count, int *y)
{
    int old = atomicAdd(count, 1);
    if (old == 0) // FIND uninitialised
        y[0] = 1;
}
""",
)
def counter_never_set(t: Twin) -> Iterator[Check]:
    count, y = t.fresh(4), t.zeros(1)
    if not t.wrong:
        ok(hip.hipMemset(count, 0, 4))
    t.go(1, 8, count, y)
    yield same("y", t.get(y, 1), [1])


@pair(
    "The heap of kernels gives memory without content; a variable of the device has one.",
    """
__device__ int zero[4];
extern "C" __global__ void k(int *y)
{
    int *own = (int *)malloc(16);
    if (!WRONG)
        memset(own, 0, 16);
    if (own[2] == zero[2]) // FIND uninitialised heap
        y[0] = 1;
    free(own);
}
""",
)
def heap_of_kernels_without_content(t: Twin) -> Iterator[Check]:
    y = t.zeros(1)
    t.go(1, 1, y)
    yield same("y", t.get(y, 1), [1])


@pair(
    "Managed memory is the host's too, who may write it without a call; memory of"
    " hipMalloc is not.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    if (x[threadIdx.x] == 0) // FIND uninitialised global
        y[threadIdx.x] = 1;
}
""",
)
def managed_memory_counts_as_written(t: Twin) -> Iterator[Check]:
    managed = ok(hip.hipMallocManaged(128, hip.hipMemAttachGlobal))
    ctypes.memset(int(managed), 0, 128)
    x, y = t.fresh(128), t.zeros(32)
    t.go(1, 32, x if t.wrong else int(managed), y)
    yield same("y", t.get(y, 32), np.ones(32))
    ok(hip.hipFree(managed))
