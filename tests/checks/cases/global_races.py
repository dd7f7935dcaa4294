# SPDX-License-Identifier: MIT
"""Races in global memory within one launch, and what orders accesses there.

Where a block waits for another, it waits for one with a lower number, and once only:
blocks may run one after another.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.kernels.case import Check, same

from ..pair import pair
from ..twin import Twin

f32, i32 = np.float32, np.int32


@pair(
    "Every block writes its number to one place.",
    """
extern "C" __global__ void k(int *x)
{
    if (threadIdx.x == 0)
        x[WRONG ? 0 : blockIdx.x] = blockIdx.x; // FIND race write global bytes=4 thread=0 OTHER write thread=0
}
""",
)
def blocks_write_one_place(t: Twin) -> Iterator[Check]:
    x = t.zeros(4)
    t.go(4, 32, x)
    yield same("x", t.get(x, 4), np.arange(4))


@pair(
    "Blocks write the same value to one place, which counts only where it is asked for.",
    """
extern "C" __global__ void k(const int *x, int *found)
{
    if (x[blockIdx.x * blockDim.x + threadIdx.x] > 50)
        *found = 1; // FIND equal-race write global OTHER write
}
""",
    check="all,equal",
    twin_check="all",
)
def blocks_write_an_equal_value(t: Twin) -> Iterator[Check]:
    x, found = t.upload(np.arange(128, dtype=i32)), t.zeros(1)
    t.go(4, 32, x, found)
    yield same("found", t.get(found, 1), [1])


@pair(
    "A block reads what the block before it writes, in the same launch.",
    """
extern "C" __global__ void k(int *x, int *y)
{
    int b = blockIdx.x;
    x[b] = b + 1; // FIND race write global bytes=4
    if (b > 0)
        y[b] = x[b - WRONG]; // OTHER read bytes=4
}
""",
)
def block_reads_its_neighbours_result(t: Twin) -> Iterator[Check]:
    x, y = t.zeros(8), t.zeros(8)
    t.go(8, 1, x, y)
    yield same("y", t.get(y, 8)[1:], np.arange(7) + 2)


@pair(
    "A barrier is for one block; blocks on both sides of an edge are not ordered by it.",
    """
extern "C" __global__ void k(const int *x, int *y, int *z)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i]; // FIND race write global
    __syncthreads();
    int left = threadIdx.x > 0 || WRONG ? max(i - 1, 0) : i;
    z[i] = y[left]; // OTHER read
}
""",
)
def barrier_across_blocks(t: Twin) -> Iterator[Check]:
    x, y, z = t.upload(np.arange(64, dtype=i32)), t.zeros(64), t.zeros(64)
    t.go(2, 32, x, y, z)
    i = np.arange(64)
    yield same("z", t.get(z, 64), i - (i % 32 > 0))


@pair(
    "A stencil in place reads neighbours that others write.",
    """
extern "C" __global__ void k(int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int *to = WRONG ? x : y;
    if (i > 0 && i < n - 1)
        to[i] = x[i - 1] + x[i + 1]; // FIND race write global OTHER read
}
""",
)
def stencil_in_place(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(64, dtype=i32)), t.zeros(64)
    t.go(2, 32, x, y, i32(64))
    yield same("y", t.get(y, 64)[1:-1], 2 * np.arange(1, 63))


@pair(
    "Lanes of one block exchange values by global memory without a barrier.",
    """
extern "C" __global__ void k(int *x, int *y)
{
    int t = threadIdx.x;
    x[t] = t; // FIND race write global
    if (!WRONG)
        __syncthreads();
    y[t] = x[63 - t]; // OTHER read
}
""",
)
def exchange_in_a_block_by_global_memory(t: Twin) -> Iterator[Check]:
    x, y = t.zeros(64), t.zeros(64)
    t.go(1, 64, x, y)
    yield same("y", t.get(y, 64), 63 - np.arange(64))


@pair(
    "Two indices of a scatter are equal.",
    """
extern "C" __global__ void k(const int *index, int *y)
{
    int t = threadIdx.x;
    y[index[t]] = t; // FIND race write global thread=9 OTHER write thread=17
}
""",
)
def scatter_with_equal_indices(t: Twin) -> Iterator[Check]:
    index = np.random.default_rng(16).permutation(64).astype(i32)
    index = np.concatenate([index, [64]]).astype(i32)
    if t.wrong:
        index[17] = index[9]
    y = t.zeros(65)
    t.go(1, 64, t.upload(index), y)
    yield same("y", t.get(y, 65)[index[:64]], np.arange(64))


@pair(
    "Chars side by side are places of their own; the lane that writes its neighbour's"
    " races.",
    """
extern "C" __global__ void k(char *x, int far)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = (char)i; // FIND race write global bytes=1 block=1 thread=0
    if (WRONG && i == 2)
        x[far] = 77; // OTHER write bytes=1 block=0 thread=2
}
""",
)
def chars_of_two_blocks_in_one_word(t: Twin) -> Iterator[Check]:
    x = t.zeros(20, np.int8)
    t.go(2, 10, x, i32(10))
    yield same("x", t.get(x, 20, np.int8), np.arange(20))


@pair(
    "Bit fields of one byte belong to two blocks.",
    """
struct Cell { unsigned char left : 4, right : 4; };
extern "C" __global__ void k(Cell *cells)
{
    int b = blockIdx.x;
    Cell *cell = cells + (WRONG ? 0 : b);
    if (b == 0)
        cell->left = 3; // FIND race global block=0
    else
        cell->right = 5; // OTHER block=1
}
""",
)
def bit_fields_of_two_blocks(t: Twin) -> Iterator[Check]:
    cells = t.zeros(2, np.uint8)
    t.go(2, 1, cells)
    yield same("cells", t.get(cells, 2, np.uint8), [3, 0x50])


@pair(
    "A sum of all blocks is kept by +=.",
    """
extern "C" __global__ void k(const float *x, float *sum)
{
    float v = x[blockIdx.x];
#if WRONG
    *sum += v; // FIND race global OTHER
#else
    atomicAdd(sum, v);
#endif
}
""",
)
def sum_of_blocks_without_atomics(t: Twin) -> Iterator[Check]:
    x, total = t.upload(np.arange(16, dtype=f32)), t.zeros(1, f32)
    t.go(16, 1, x, total)
    yield same("sum", t.get(total, 1, f32), [120])


@pair(
    "One block adds by an atomic, another one stores plainly.",
    """
extern "C" __global__ void k(int *x)
{
    if (blockIdx.x == 3)
        x[1 - WRONG] = 100; // FIND race write global block=3
    else
        atomicAdd(x, 1); // OTHER read write atomic
}
""",
)
def atomic_and_plain_of_two_blocks(t: Twin) -> Iterator[Check]:
    x = t.zeros(2)
    t.go(5, 1, x)
    yield same("x", t.get(x, 2), [4, 100])


@pair(
    "Atomics of a block's scope are not atomic for other blocks.",
    """
extern "C" __global__ void k(int *x)
{
#if WRONG
    __hip_atomic_fetch_add(x, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP); // FIND race read write atomic global OTHER read write atomic
#else
    __hip_atomic_fetch_add(x, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#endif
}
""",
)
def scope_of_a_block_between_blocks(t: Twin) -> Iterator[Check]:
    x = t.zeros(1)
    t.go(8, 1, x)
    yield same("x", t.get(x, 1), [8])


@pair(
    "atomicAdd_block counts for its own block only.",
    """
extern "C" __global__ void k(int *counts)
{
    int *own = counts + (WRONG ? 0 : blockIdx.x);
    atomicAdd_block(own, 1); // FIND race read write atomic global OTHER read write atomic
}
""",
)
def block_function_between_blocks(t: Twin) -> Iterator[Check]:
    counts = t.zeros(4)
    t.go(4, 32, counts)
    yield same("counts", t.get(counts, 4), np.full(4, 32))


@pair(
    "The last block adds up what others wrote; without a fence between their results and"
    " the ticket, the ticket says nothing of them.",
    """
#if WRONG
#define SEEN
#else
#define SEEN volatile // as the programming guide's sample has it
#endif
extern "C" __global__ void k(const int *x, SEEN int *part, unsigned *ticket, int *y)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = x[blockIdx.x] * 2; // FIND race write global thread=0
        if (!WRONG)
            __threadfence();
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1; // and 0 again
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int total = 0;
        for (int b = 0; b < gridDim.x; b++)
            total += part[b]; // OTHER read thread=0
        *y = total;
    }
}
""",
)
def last_block_without_a_fence(t: Twin) -> Iterator[Check]:
    x, part = t.upload(np.arange(16, dtype=i32)), t.zeros(16)
    ticket, y = t.zeros(1), t.zeros(1)
    t.go(16, 32, x, part, ticket, y)
    yield same("y", t.get(y, 1), [240])
    t.go(16, 32, x, part, ticket, y)
    yield same("y again", t.get(y, 1), [240])


@pair(
    "The last block may set the ticket back by a plain store, since fences hand it all"
    " other tickets; the first block may not.",
    """
extern "C" __global__ void k(unsigned *ticket, int *y)
{
    __threadfence();
    unsigned old = atomicAdd(ticket, 1u); // FIND race read write atomic global
    __threadfence();
    if (WRONG ? blockIdx.x == 0 : old == gridDim.x - 1) {
        *ticket = 0; // OTHER write block=0
        *y = 1;
    }
}
""",
)
def ticket_is_set_back(t: Twin) -> Iterator[Check]:
    ticket, y = t.zeros(1), t.zeros(1)
    t.go(4, 1, ticket, y)
    yield same("ticket", t.get(ticket, 1), [0])


@pair(
    "A barrier and the fence of one lane carry the results of all lanes; without the"
    " barrier they carry that lane's.",
    """
extern "C" __global__ void k(int *part, unsigned *ticket, int *y)
{
    __shared__ bool last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[i] = i; // FIND race write global
    if (!WRONG)
        __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(ticket, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        int other = threadIdx.x;
        y[other] = part[other]; // OTHER read block=3
    }
}
""",
)
def fence_for_all_lanes_of_a_block(t: Twin) -> Iterator[Check]:
    part, ticket, y = t.zeros(4 * 64), t.zeros(1), t.zeros(64)
    t.go(4, 64, part, ticket, y)
    yield same("y", t.get(y, 64), np.arange(64))


@pair(
    "The ticket's release and acquire order results; relaxed ones do not.",
    """
extern "C" __global__ void k(int *part, unsigned *ticket, int *y)
{
    const int order = WRONG ? __ATOMIC_RELAXED : __ATOMIC_ACQ_REL;
    part[blockIdx.x] = blockIdx.x; // FIND race write global
    unsigned old = __hip_atomic_fetch_add(ticket, 1u, order, __HIP_MEMORY_SCOPE_AGENT);
    if (old == gridDim.x - 1)
        for (int b = 0; b < gridDim.x; b++)
            y[b] = part[b]; // OTHER read
}
""",
)
def ticket_that_is_relaxed(t: Twin) -> Iterator[Check]:
    part, ticket, y = t.zeros(9), t.zeros(1), t.zeros(9)
    t.go(9, 1, part, ticket, y)
    yield same("y", t.get(y, 9), np.arange(9))


@pair(
    "A release of a block's scope orders nothing for another block.",
    """
extern "C" __global__ void k(int *data, int *flag, int *y)
{
    if (blockIdx.x == 0) {
        *data = 5; // FIND race write global block=0
#if WRONG
        __threadfence_block();
#else
        __threadfence();
#endif
        __hip_atomic_store(flag, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    } else {
        int ready = __hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        __threadfence();
        if (ready || WRONG)
            *y = *data; // OTHER read block=1
    }
}
""",
)
def fence_of_a_block_between_blocks(t: Twin) -> Iterator[Check]:
    data, flag, y = t.zeros(1), t.zeros(1), t.upload(np.full(1, 5, i32))
    t.go(2, 1, data, flag, y)
    yield same("y", t.get(y, 1), [5])


@pair(
    "The flag is stored with release and read with acquire; as relaxed it brings no data.",
    """
extern "C" __global__ void k(int *data, int *flag, int *y)
{
    const int scope = __HIP_MEMORY_SCOPE_AGENT;
    if (blockIdx.x == 0) {
        *data = 5; // FIND race write global block=0
        __hip_atomic_store(flag, 1, WRONG ? __ATOMIC_RELAXED : __ATOMIC_RELEASE, scope);
    } else {
        int ready = __hip_atomic_load(flag, __ATOMIC_ACQUIRE, scope);
        if (ready || WRONG)
            *y = *data; // OTHER read block=1
    }
}
""",
)
def flag_without_release(t: Twin) -> Iterator[Check]:
    data, flag, y = t.zeros(1), t.zeros(1), t.upload(np.full(1, 5, i32))
    t.go(2, 1, data, flag, y)
    yield same("y", t.get(y, 1), [5])


@pair(
    "The reader's load is relaxed and no fence follows, so it may see older data.",
    """
extern "C" __global__ void k(int *data, int *flag, int *y)
{
    const int scope = __HIP_MEMORY_SCOPE_AGENT;
    if (blockIdx.x == 0) {
        *data = 5; // FIND race write global block=0
        __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, scope);
    } else {
        int ready = __hip_atomic_load(flag, WRONG ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE,
                                      scope);
        if (ready || WRONG)
            *y = *data; // OTHER read block=1
    }
}
""",
)
def flag_without_acquire(t: Twin) -> Iterator[Check]:
    data, flag, y = t.zeros(1), t.zeros(1), t.upload(np.full(1, 5, i32))
    t.go(2, 1, data, flag, y)
    yield same("y", t.get(y, 1), [5])


@pair(
    "What is written after the release is not released.",
    """
extern "C" __global__ void k(int *data, int *flag, int *y)
{
    const int scope = __HIP_MEMORY_SCOPE_AGENT;
    if (blockIdx.x == 0) {
        if (!WRONG)
            *data = 5;
        __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, scope);
        if (WRONG)
            *data = 5; // FIND race write global block=0
    } else {
        int ready = __hip_atomic_load(flag, __ATOMIC_ACQUIRE, scope);
        if (ready || WRONG)
            *y = *data; // OTHER read block=1
    }
}
""",
)
def write_after_the_release(t: Twin) -> Iterator[Check]:
    data, flag, y = t.zeros(1), t.zeros(1), t.upload(np.full(1, 5, i32))
    t.go(2, 1, data, flag, y)
    yield same("y", t.get(y, 1), [5])


@pair(
    "The chain of releases has three blocks; the middle one must acquire as well.",
    """
extern "C" __global__ void k(int *data, int *flags, int *y)
{
    const int scope = __HIP_MEMORY_SCOPE_AGENT;
    int b = blockIdx.x;
    if (b == 0) {
        *data = 5; // FIND race write global block=0
        __hip_atomic_store(flags, 1, __ATOMIC_RELEASE, scope);
    } else if (b == 1) {
        int order = WRONG ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE;
        int seen = __hip_atomic_load(flags, order, scope);
        __hip_atomic_store(flags + 1, seen, __ATOMIC_RELEASE, scope);
    } else {
        int ready = __hip_atomic_load(flags + 1, __ATOMIC_ACQUIRE, scope);
        if (ready || WRONG)
            *y = *data; // OTHER read block=2
    }
}
""",
)
def chain_of_three_blocks(t: Twin) -> Iterator[Check]:
    data, flags, y = t.zeros(1), t.zeros(2), t.upload(np.full(1, 5, i32))
    t.go(3, 1, data, flags, y)
    yield same("y", t.get(y, 1), [5])


@pair(
    "A spin lock without fences keeps others out, but does not show them what was"
    " written.",
    """
extern "C" __global__ void k(int *lock, int *count)
{
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    if (!WRONG)
        __threadfence();
    *count += 2; // FIND race global OTHER
    if (!WRONG)
        __threadfence();
    atomicExch(lock, 0);
}
""",
)
def spin_lock_without_fences(t: Twin) -> Iterator[Check]:
    lock, count = t.zeros(1), t.zeros(1)
    t.go(12, 1, lock, count)
    yield same("count", t.get(count, 1), [24])


@pair(
    "A spin lock by acquire and release; a plain store is no release.",
    """
extern "C" __global__ void k(int *lock, int *count)
{
    const int scope = __HIP_MEMORY_SCOPE_AGENT;
    int expected = 0;
    while (!__hip_atomic_compare_exchange_strong(lock, &expected, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, scope)) // FIND race global
        expected = 0;
    atomicAdd(count, 2);
#if WRONG
    *lock = 0; // OTHER write FIND.2 race write global OTHER.2 write
#else
    __hip_atomic_store(lock, 0, __ATOMIC_RELEASE, scope);
#endif
}
""",
)
def spin_lock_released_by_a_plain_store(t: Twin) -> Iterator[Check]:
    lock, count = t.zeros(1), t.zeros(1)
    t.go(12, 1, lock, count)
    yield same("count", t.get(count, 1), [24])


@pair(
    "A lock for each bin; the wrong twin guards all bins with the lane's own lock.",
    """
extern "C" __global__ void k(int *locks, int *bins)
{
    int bin = blockIdx.x % 3;
    int *lock = locks + (WRONG ? blockIdx.x : bin);
    while (__hip_atomic_exchange(lock, 1, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT)) {
    }
    bins[bin] += 1; // FIND race global OTHER
    __hip_atomic_store(lock, 0, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}
""",
)
def locks_that_do_not_meet(t: Twin) -> Iterator[Check]:
    locks, bins = t.zeros(12), t.zeros(3)
    t.go(12, 1, locks, bins)
    yield same("bins", t.get(bins, 3), [4, 4, 4])


@pair(
    "A linked list's head is swapped in by relaxed atomics, and the node's content is"
    " read by others.",
    """
struct Node { int value; Node *next; };
extern "C" __global__ void k(Node *nodes, Node **head, int *y)
{
    const int scope = __HIP_MEMORY_SCOPE_AGENT;
    Node *own = nodes + blockIdx.x;
    own->value = blockIdx.x + 1; // FIND race write global
    auto at = (unsigned long long *)head;
    int order = WRONG ? __ATOMIC_RELAXED : __ATOMIC_ACQ_REL;
    auto old = __hip_atomic_exchange(at, (unsigned long long)own, order, scope);
    Node *before = (Node *)old;
    y[blockIdx.x] = before ? before->value > 0 : 1; // OTHER read
}
""",
)
def node_published_by_a_relaxed_exchange(t: Twin) -> Iterator[Check]:
    nodes, head, y = t.zeros(64), t.zeros(1, np.uint64), t.zeros(8)
    t.go(8, 1, nodes, head, y)
    yield same("y", t.get(y, 8), np.ones(8))


@pair(
    "What this launch counts by atomics is read in the same launch without order.",
    """
extern "C" __global__ void k(int *count, int *y)
{
    atomicAdd(count, 1); // FIND race read write atomic global
    if (WRONG)
        y[blockIdx.x] = *count; // OTHER read
}
extern "C" __global__ void after(int *count, int *y) { *y = *count; }
""",
)
def count_is_read_by_the_next_kernel(t: Twin) -> Iterator[Check]:
    count, y = t.zeros(1), t.zeros(8)
    t.go(8, 1, count, y)
    t.go(1, 1, count, y, kernel="after")
    yield same("y", t.get(y, 1), [8])


@pair(
    "An atomic read of what others add is no race; a plain one is.",
    """
extern "C" __global__ void k(int *count, int *y)
{
    if (blockIdx.x == 0)
        atomicAdd(count, 1); // FIND race read write atomic global block=0
#if WRONG
    else
        *y = *count > 1; // OTHER read block=1
#else
    else
        *y = __hip_atomic_load(count, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) > 1;
#endif
}
""",
)
def atomic_read_of_a_count(t: Twin) -> Iterator[Check]:
    count, y = t.zeros(1), t.zeros(1)
    t.go(2, 1, count, y)
    yield same("y", t.get(y, 1), [0])


@pair(
    "A variable of the device is global memory too.",
    """
__device__ int best;
extern "C" __global__ void k(const int *x)
{
    int v = x[blockIdx.x];
#if WRONG
    if (v > best) // FIND race read variable
        best = v; // OTHER write
#else
    atomicMax(&best, v);
#endif
}
""",
)
def device_variable_without_atomics(t: Twin) -> Iterator[Check]:
    values = np.array([9, 3, 4, 9, 1], i32)
    address, size = t.module.variable("best")
    t.write(address, np.zeros(1, i32))
    t.go(5, 1, t.upload(values))
    yield same("best", t.get(address, size // 4), [9])


@pair(
    "memcpy of a kernel writes a byte that another block reads.",
    """
extern "C" __global__ void k(const char *x, char *y, char *z)
{
    if (blockIdx.x == 0)
        memcpy(y, x, 8 + WRONG); // FIND race write global block=0
    else
        z[0] = y[8]; // OTHER read block=1
}
""",
)
def memcpy_into_a_neighbours_byte(t: Twin) -> Iterator[Check]:
    x, y, z = t.upload(np.ones(16, np.int8)), t.zeros(16, np.int8), t.zeros(1, np.int8)
    t.go(2, 1, x, y, z)
    yield same("z", t.get(z, 1, np.int8), [0])


@pair(
    "Two rows that were cut from one allocation overlap by one element.",
    """
struct Row { float *data; int n; };
extern "C" __global__ void k(Row *rows)
{
    Row row = rows[blockIdx.x];
    for (int i = threadIdx.x; i < row.n; i += blockDim.x)
        row.data[i] = i + 1; // FIND race write global OTHER write
}
""",
)
def rows_that_overlap(t: Twin) -> Iterator[Check]:
    x = t.zeros(64, f32)
    rows = np.zeros(2, np.dtype([("data", np.uint64), ("n", i32), ("pad", i32)]))
    rows["data"] = [x, x + 4 * (32 - t.wrong)]
    rows["n"] = 32
    t.go(2, 32, t.upload(rows.view(np.uint8)))
    yield same("x", t.get(x, 64, f32), np.tile(np.arange(32) + 1, 2))


@pair(
    "A float4 of one block covers a float of another.",
    """
extern "C" __global__ void k(float *x)
{
    if (blockIdx.x == 0)
        *(float4 *)x = make_float4(1, 2, 3, 4); // FIND race write global block=0
    else
        x[4 - WRONG] = 9; // OTHER write bytes=4 block=1
}
""",
)
def float4_over_a_float(t: Twin) -> Iterator[Check]:
    x = t.zeros(8, f32)
    t.go(2, 1, x)
    yield same("x", t.get(x, 8, f32)[:5], [1, 2, 3, 4, 9])


@pair(
    "In a cooperative launch, grid.sync orders blocks; without it they are not.",
    """
#include <hip/hip_cooperative_groups.h>
extern "C" __global__ void k(int *x, int *y)
{
    int b = blockIdx.x;
    if (threadIdx.x == 0)
        x[b] = b; // FIND race write global
    if (!WRONG)
        cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0)
        y[b] = x[gridDim.x - 1 - b]; // OTHER read
}
""",
)
def grid_without_sync(t: Twin) -> Iterator[Check]:
    x, y = t.zeros(4), t.zeros(4)
    t.go(4, 32, x, y, cooperative=True)
    yield same("y", t.get(y, 4), [3, 2, 1, 0])
