# SPDX-License-Identifier: MIT
"""Races of lanes of one block in shared memory: in a warp and between warps.

Shared memory is written and met at a barrier before each race, so that no read is one
of memory that nobody wrote.  The order in which lanes run decides which side comes
second, so marks of a race name both and neither is the first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.kernels.case import Check, same

from ..pair import pair
from ..twin import Twin

f32, i32 = np.float32, np.int32


@pair(
    "Each lane reads what a lane of the other warp writes, and no barrier is between.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    tile[t] = x[t]; // FIND race write shared bytes=4
    if (!WRONG)
        __syncthreads();
    y[t] = tile[63 - t]; // OTHER read bytes=4
}
""",
)
def reversal_without_a_barrier(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(64, dtype=i32)), t.zeros(64)
    t.go(1, 64, x, y)
    yield same("y", t.get(y, 64), np.arange(64)[::-1])


@pair(
    "Lanes of one warp are not in step by promise: between them __syncwarp is needed.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    tile[t] = x[t]; // FIND race write shared
    if (!WRONG)
        __syncwarp();
    y[t] = tile[t ^ 1]; // OTHER read
}
""",
)
def neighbours_in_a_warp_without_syncwarp(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(32, dtype=i32)), t.zeros(32)
    t.go(1, 32, x, y)
    yield same("y", t.get(y, 32), np.arange(32) ^ 1)


@pair(
    "The same exchange in a warp is not looked for with relaxed-warps.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    tile[t] = x[t]; // FIND race write shared
    y[t] = x[t] + 0 * tile[t ^ 1]; // OTHER read
}
""",
    twin_check="all,relaxed-warps",
)
def relaxed_warps_do_not_race(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(32, dtype=i32)), t.zeros(32)
    t.go(1, 32, x, y)
    yield same("y", t.get(y, 32), np.arange(32))


@pair(
    "With relaxed-warps, lanes of two warps race as before.",
    """
extern "C" __global__ void k(int *y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    tile[t] = t; // FIND race write shared
    if (!WRONG)
        __syncthreads();
    y[t] = tile[(t + 32) % 64]; // OTHER read
}
""",
    check="all,relaxed-warps",
)
def relaxed_warps_race_with_others(t: Twin) -> Iterator[Check]:
    y = t.zeros(64)
    t.go(1, 64, y)
    yield same("y", t.get(y, 64), (np.arange(64) + 32) % 64)


@pair(
    "__syncwarp orders one warp, and the reader is of another one.",
    """
extern "C" __global__ void k(int *y)
{
    __shared__ int value[2];
    int t = threadIdx.x;
    if (t < 2)
        value[t] = 0;
    __syncthreads();
    if (t == 0)
        value[1] = 8; // FIND race write shared block=0 thread=0
    if (WRONG)
        __syncwarp();
    else
        __syncthreads();
    if (t == 40)
        y[0] = value[1]; // OTHER read block=0 thread=40
}
""",
)
def syncwarp_between_two_warps(t: Twin) -> Iterator[Check]:
    y = t.zeros(1)
    t.go(1, 64, y)
    yield same("y", t.get(y, 1), [8])


@pair(
    "All lanes write their number to one place.",
    """
extern "C" __global__ void k(int *y)
{
    __shared__ int last;
    int t = threadIdx.x;
    if (t == 5 || WRONG)
        last = t; // FIND race write shared OTHER write
    __syncthreads();
    y[t] = last;
}
""",
)
def all_lanes_write_one_place(t: Twin) -> Iterator[Check]:
    y = t.zeros(64)
    t.go(1, 64, y)
    yield same("y", t.get(y, 64), np.full(64, 5))


@pair(
    "All lanes write the same value to one place: its own kind, which is asked for.",
    """
extern "C" __global__ void k(int *y)
{
    __shared__ int found;
    int t = threadIdx.x;
    found = 3; // FIND equal-race write shared OTHER write
    __syncthreads();
    y[t] = found;
}
""",
    check="all,equal",
    twin_check="all",
)
def all_lanes_write_an_equal_value(t: Twin) -> Iterator[Check]:
    y = t.zeros(64)
    t.go(1, 64, y)
    yield same("y", t.get(y, 64), np.full(64, 3))


@pair(
    "A reduction without a barrier between its steps.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    __shared__ int sum[128];
    int t = threadIdx.x;
    sum[t] = x[t];
    __syncthreads();
    for (int o = 64; o > 0; o >>= 1) {
        if (t < o)
            sum[t] += sum[t + o]; // FIND race write shared OTHER read
        if (!WRONG)
            __syncthreads();
    }
    if (t == 0)
        y[0] = sum[0];
}
""",
)
def reduction_without_barriers(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(128, dtype=i32)), t.zeros(1)
    t.go(1, 128, x, y)
    yield same("y", t.get(y, 1), [128 * 127 // 2])


@pair(
    "The last warp adds up without __syncwarp, as code for older GPUs did.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    __shared__ int sum[64];
    int t = threadIdx.x;
    sum[t] = x[t];
    __syncthreads();
    if (t < 32) {
        int v = sum[t];
        for (int o = 32; o > 0; o >>= 1) {
            v += sum[t + o]; // FIND race read shared
            if (!WRONG)
                __syncwarp();
            sum[t] = v; // OTHER write
            if (!WRONG)
                __syncwarp();
        }
        if (t == 0)
            y[0] = v;
    }
}
""",
)
def last_warp_without_syncwarp(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(64, dtype=i32)), t.zeros(1)
    t.go(1, 64, x, y)
    yield same("y", t.get(y, 1), [64 * 63 // 2])


@pair(
    "The tile is filled again in the next round while others still read it.",
    """
extern "C" __global__ void k(const int *x, int *y, int rounds)
{
    __shared__ int tile[64];
    int t = threadIdx.x, total = 0;
    for (int r = 0; r < rounds; r++) {
        tile[t] = x[r * 64 + t]; // FIND race write shared
        __syncthreads();
        total += tile[(t + 33) % 64]; // OTHER read
        if (!WRONG)
            __syncthreads();
    }
    y[t] = total;
}
""",
)
def reuse_without_the_second_barrier(t: Twin) -> Iterator[Check]:
    values = np.arange(256, dtype=i32)
    x, y = t.upload(values), t.zeros(64)
    t.go(1, 64, x, y, i32(4))
    want = np.roll(values.reshape(4, 64), -33, axis=1).sum(axis=0)
    yield same("y", t.get(y, 64), want)


@pair(
    "Two buffers need one barrier a round; with one buffer, one is too few.",
    """
extern "C" __global__ void k(const int *x, int *y, int rounds)
{
    __shared__ int tile[2][64];
    int t = threadIdx.x, total = 0;
    for (int r = 0; r < rounds; r++) {
        int now = WRONG ? 0 : r & 1;
        tile[now][t] = x[r * 64 + t]; // FIND race write shared
        __syncthreads();
        total += tile[now][63 - t]; // OTHER read
    }
    y[t] = total;
}
""",
)
def two_buffers_with_one_barrier(t: Twin) -> Iterator[Check]:
    values = np.arange(320, dtype=i32)
    x, y = t.upload(values), t.zeros(64)
    t.go(1, 64, x, y, i32(5))
    yield same("y", t.get(y, 64), values.reshape(5, 64).sum(axis=0)[::-1])


@pair(
    "A ring of three slots is written two rounds ahead with one barrier a round: slot"
    " r + 2 must not be the one that is read.",
    """
extern "C" __global__ void k(int *y, int rounds)
{
    const int slots = 3 - WRONG;
    __shared__ int ring[3][64];
    int t = threadIdx.x, total = 0;
    for (int s = 0; s < 3; s++)
        ring[s][t] = s;
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        ring[(r + 2) % slots][t] = r + 2; // FIND race write shared
        total += ring[r % slots][t ^ 32]; // OTHER read
        __syncthreads();
    }
    y[t] = total;
}
""",
)
def ring_with_too_few_slots(t: Twin) -> Iterator[Check]:
    y = t.zeros(64)
    t.go(1, 64, y, i32(6))
    yield same("y", t.get(y, 64), np.full(64, 15))


@pair(
    "A sum over prefixes in place, one barrier a step where two are needed.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    __shared__ int sum[64];
    int t = threadIdx.x;
    sum[t] = x[t];
    __syncthreads();
    for (int o = 1; o < 64; o <<= 1) {
        int v = t >= o ? sum[t - o] : 0; // FIND race read shared
        if (!WRONG)
            __syncthreads();
        sum[t] += v; // OTHER write
        __syncthreads();
    }
    y[t] = sum[t];
}
""",
)
def prefix_sum_in_place(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.ones(64, i32)), t.zeros(64)
    t.go(1, 64, x, y)
    yield same("y", t.get(y, 64), np.arange(64) + 1)


@pair(
    "Bytes side by side are places of their own; a byte of a neighbour is not.",
    """
extern "C" __global__ void k(char *y)
{
    __shared__ char bytes[64];
    int t = threadIdx.x;
    bytes[t] = 0;
    __syncthreads();
    bytes[t] = (char)t; // FIND race write shared bytes=1 thread=3
    if (WRONG && t == 50)
        bytes[3] = 9; // OTHER write bytes=1 thread=50
    __syncthreads();
    y[t] = bytes[t];
}
""",
)
def bytes_of_one_word(t: Twin) -> Iterator[Check]:
    y = t.zeros(64, np.int8)
    t.go(1, 64, y)
    yield same("y", t.get(y, 64, np.int8), np.arange(64))


@pair(
    "Bit fields of one word are one place: writing one writes back the other.",
    """
struct Flags { unsigned low : 4, high : 4; };
extern "C" __global__ void k(int *y)
{
    __shared__ Flags flags;
    int t = threadIdx.x;
    if (t == 0)
        *(unsigned *)&flags = 0;
    __syncthreads();
    if (t == 0)
        flags.low = 5; // FIND race shared thread=0
    if (!WRONG)
        __syncthreads();
    if (t == 33)
        flags.high = 6; // OTHER thread=33
    __syncthreads();
    if (t == 0)
        y[0] = flags.low * 16 + flags.high;
}
""",
)
def bit_fields_of_one_word(t: Twin) -> Iterator[Check]:
    y = t.zeros(1)
    t.go(1, 64, y)
    yield same("y", t.get(y, 1), [0x56])


@pair(
    "A lane reads a word while another writes one byte of it.",
    """
extern "C" __global__ void k(unsigned *y)
{
    __shared__ unsigned words[2];
    int t = threadIdx.x;
    if (t < 2)
        words[t] = 0;
    __syncthreads();
    if (t == 0)
        ((unsigned char *)words)[6 - 4 * (1 - WRONG)] = 1; // FIND race write shared bytes=1 thread=0
    if (t == 32)
        y[0] = words[1]; // OTHER read bytes=4 thread=32
}
""",
)
def byte_of_a_word(t: Twin) -> Iterator[Check]:
    y = t.zeros(1)
    t.go(1, 64, y)
    yield same("y", t.get(y, 1), [0])


@pair(
    "A count is kept by ++, which is a read and a write; atomicAdd counts.",
    """
extern "C" __global__ void k(int *y)
{
    __shared__ int count;
    int t = threadIdx.x;
    if (t == 0)
        count = 0;
    __syncthreads();
#if WRONG
    count++; // FIND race shared OTHER
#else
    atomicAdd(&count, 1);
#endif
    __syncthreads();
    if (t == 63)
        y[0] = count;
}
""",
)
def count_without_atomics(t: Twin) -> Iterator[Check]:
    y = t.zeros(1)
    t.go(1, 64, y)
    yield same("y", t.get(y, 1), [64])


@pair(
    "What others count by atomics is read plainly before they are done.",
    """
extern "C" __global__ void k(int *y)
{
    __shared__ int count;
    int t = threadIdx.x;
    if (t == 0)
        count = 0;
    __syncthreads();
    if (t != 7)
        atomicAdd(&count, 1); // FIND race read write atomic shared
    if (!WRONG)
        __syncthreads();
    if (t == 7)
        y[0] = count; // OTHER read thread=7
}
""",
)
def plain_read_of_a_count(t: Twin) -> Iterator[Check]:
    y = t.zeros(1)
    t.go(1, 64, y)
    yield same("y", t.get(y, 1), [63])


@pair(
    "The count is set to zero by lane 0, and others add before a barrier.",
    """
extern "C" __global__ void k(int *y)
{
    __shared__ int count;
    int t = threadIdx.x;
    if (t == 0)
        count = 0; // FIND race write shared thread=0
    if (!WRONG)
        __syncthreads();
    if (t != 0)
        atomicAdd(&count, 1); // OTHER read write atomic
    __syncthreads();
    if (t == 1)
        y[0] = count;
}
""",
    check="memory,race,sync,nan",
)
def start_of_a_count_without_a_barrier(t: Twin) -> Iterator[Check]:
    y = t.zeros(1)
    t.go(1, 64, y)
    yield same("y", t.get(y, 1), [63])


@pair(
    "__syncthreads_count is a barrier, as its sisters are; __any of a warp is none.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = 0;
    int zeros = __syncthreads_and(1);
    tile[t] = x[t]; // FIND race write shared
    int odd = WRONG ? 32 : __syncthreads_count(x[t] & 1);
    int v = tile[t ^ 63]; // OTHER read
    y[t] = v + odd * zeros + __syncthreads_or(0);
}
""",
)
def barrier_that_counts(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(64, dtype=i32)), t.zeros(64)
    t.go(1, 64, x, y)
    yield same("y", t.get(y, 64), 63 - np.arange(64) + 32)


@pair(
    "Lanes that leave early have no part in a barrier; those that stay still need it.",
    """
extern "C" __global__ void k(int *y, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t >= n)
        return;
    tile[t] = 0;
    __syncthreads();
    tile[t] = t; // FIND race write shared
    if (!WRONG)
        __syncthreads();
    y[t] = tile[n - 1 - t]; // OTHER read
}
""",
)
def lanes_that_leave_early(t: Twin) -> Iterator[Check]:
    y = t.zeros(48)
    t.go(1, 64, y, i32(48))
    yield same("y", t.get(y, 48), np.arange(48)[::-1])


@pair(
    "Dynamic shared memory is shared as well: its two halves overlap by one float.",
    """
extern "C" __global__ void k(float *y, int n)
{
    extern __shared__ float both[];
    float *first = both, *second = both + n - WRONG;
    int t = threadIdx.x;
    first[t] = t; // FIND race write shared thread=31
    second[t] = 2 * t + 1; // OTHER write thread=0
    __syncthreads();
    y[t] = first[(t + 1) % 31] + second[t];
}
""",
)
def halves_of_dynamic_memory(t: Twin) -> Iterator[Check]:
    y = t.zeros(32, f32)
    t.go(1, 32, y, i32(32), shared=256)
    lane = np.arange(32)
    yield same("y", t.get(y, 32, f32), (lane + 1) % 31 + 2 * lane + 1)


@pair(
    "The write is in a function that is not inlined; the lines are those of accesses.",
    """
__device__ __noinline__ void put(int *tile, int t)
{
    tile[t] = t; // FIND race write shared function=put
}
__device__ __noinline__ int get(const int *tile, int t)
{
    return tile[63 - t]; // OTHER read function=get
}
extern "C" __global__ void k(int *y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    put(tile, t);
    if (!WRONG)
        __syncthreads();
    y[t] = get(tile, t);
}
""",
)
def race_in_functions(t: Twin) -> Iterator[Check]:
    y = t.zeros(64)
    t.go(1, 64, y)
    yield same("y", t.get(y, 64), np.arange(64)[::-1])


@pair(
    "A tile of two dimensions is transposed without a barrier.",
    """
template <int N> __global__ void transpose(const int *x, int *y)
{
    __shared__ int tile[N][N + 1];
    int c = threadIdx.x, r = threadIdx.y;
    tile[r][c] = 0;
    __syncthreads();
    tile[r][c] = x[r * N + c]; // FIND race write shared kernel=transpose
    if (!WRONG)
        __syncthreads();
    y[r * N + c] = tile[c][r]; // OTHER read
}
""",
    names=("transpose<8>",),
)
def transposed_tile_without_a_barrier(t: Twin) -> Iterator[Check]:
    values = np.arange(64, dtype=i32).reshape(8, 8)
    x, y = t.upload(values), t.zeros(64)
    t.go(1, (8, 8), x, y, kernel="transpose<8>")
    yield same("y", t.get(y, 64), values.T.reshape(-1))


@pair(
    "A volatile access is a relaxed atomic one, so a volatile flag is no race, but it"
    " does not bring the data along.",
    """
extern "C" __global__ void k(int *y)
{
    __shared__ int data, flag;
    int t = threadIdx.x;
    volatile int *own = &flag;
    if (t == 0)
        data = flag = 0;
    __syncthreads();
    if (t == 0) {
        data = 7; // FIND race write shared thread=0
        if (!WRONG)
            __threadfence_block();
        *own = 1;
    }
    if (t == 32) {
        int ready = *own;
        if (!WRONG)
            __threadfence_block();
        if (ready || WRONG)
            y[0] = data; // OTHER read thread=32
    }
}
""",
)
def flag_by_volatile(t: Twin) -> Iterator[Check]:
    y = t.upload(np.full(1, 7, i32))
    t.go(1, 64, y)
    yield same("y", t.get(y, 1), [7])


@pair(
    "A flag in shared memory is atomic but relaxed, so it does not bring the data along.",
    """
extern "C" __global__ void k(int *y)
{
    const int in_block = __HIP_MEMORY_SCOPE_WORKGROUP;
    __shared__ int data, flag;
    int t = threadIdx.x;
    if (t == 0)
        data = flag = 0;
    __syncthreads();
    if (t == 0) {
        data = 7; // FIND race write shared thread=0
        if (!WRONG)
            __threadfence_block();
        __hip_atomic_store(&flag, 1, __ATOMIC_RELAXED, in_block);
    }
    if (t == 32) {
        int ready = __hip_atomic_load(&flag, __ATOMIC_RELAXED, in_block);
        if (!WRONG)
            __threadfence_block();
        if (ready || WRONG)
            y[0] = data; // OTHER read thread=32
    }
}
""",
)
def flag_that_is_relaxed(t: Twin) -> Iterator[Check]:
    y = t.upload(np.full(1, 7, i32))
    t.go(1, 64, y)
    yield same("y", t.get(y, 1), [7])


@pair(
    "Votes of a warp do not order memory; __syncwarp does.",
    """
extern "C" __global__ void k(int *y)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    tile[t] = t; // FIND race write shared
#if WRONG
    int all = __all(t >= 0);
#else
    int all = 1;
    __syncwarp();
#endif
    y[t] = tile[31 - t] * all; // OTHER read
}
""",
)
def vote_in_place_of_syncwarp(t: Twin) -> Iterator[Check]:
    y = t.zeros(32)
    t.go(1, 32, y)
    yield same("y", t.get(y, 32), np.arange(32)[::-1])


@pair(
    "Values that travel by shuffles need no memory; those that stay in it do.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    __shared__ int part[2];
    int t = threadIdx.x, v = x[t];
    for (int o = 16; o > 0; o >>= 1)
        v += __shfl_down(v, o);
    if (t < 2)
        part[t] = 0;
    __syncthreads();
    if (t % 32 == 0)
        part[t / 32] = v; // FIND race write shared thread=32
    if (!WRONG)
        __syncthreads();
    if (t == 0)
        y[0] = v + part[1]; // OTHER read thread=0
}
""",
)
def sum_by_shuffles(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(64, dtype=i32)), t.zeros(1)
    t.go(1, 64, x, y)
    yield same("y", t.get(y, 1), [64 * 63 // 2])
