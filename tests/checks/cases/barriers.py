# SPDX-License-Identifier: MIT
"""Barriers that not all lanes meet, and warp calls whose lanes are not all there."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.kernels.case import Check, same

from ..pair import pair
from ..twin import Twin

i32 = np.int32


@pair(
    "Half of the block waits in the branch, and half at the barrier behind it.",
    """
extern "C" __global__ void k(int *y)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = t;
    if (t < 32 || !WRONG)
        __syncthreads(); // FIND diverged-barrier block=0
    tile[t] += 1;
    __syncthreads(); // OTHER block=0
    y[t] = tile[t];
}
""",
    faults=True,
)
def barrier_in_a_branch(t: Twin) -> Iterator[Check]:
    y = t.zeros(64)
    t.go(1, 64, y)
    yield same("y", t.get(y, 64), np.arange(64) + 1)


@pair(
    "Both branches have a barrier, but not the same one.",
    """
extern "C" __global__ void k(int *y)
{
    int t = threadIdx.x;
    if ((WRONG ? t : blockIdx.x) % 2 == 0) {
        __syncthreads(); // FIND diverged-barrier
        y[blockIdx.x * 64 + t] = 1;
    } else {
        __syncthreads(); // OTHER
        y[blockIdx.x * 64 + t] = 2;
    }
}
""",
    faults=True,
)
def barriers_in_both_branches(t: Twin) -> Iterator[Check]:
    y = t.zeros(128)
    t.go(2, 64, y)
    yield same("y", t.get(y, 128), np.repeat([1, 2], 64))


@pair(
    "Warps go through the loop differently often, and one is at the loop's barrier when"
    " another is behind the loop.",
    """
extern "C" __global__ void k(int *y)
{
    int t = threadIdx.x, rounds = WRONG ? 1 + t / 32 : 2;
    for (int i = 0; i < rounds; i++)
        __syncthreads(); // FIND diverged-barrier
    y[t] = rounds;
    __syncthreads(); // OTHER
    y[t] += 1;
}
""",
    faults=True,
)
def barrier_in_a_loop(t: Twin) -> Iterator[Check]:
    y = t.zeros(64)
    t.go(1, 64, y)
    yield same("y", t.get(y, 64), np.full(64, 3))


@pair(
    "A lane leaves the loop before its barrier while the others go on.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    int t = threadIdx.x, i = 0;
    for (;;) {
        if (i >= x[t])
            break;
        __syncthreads(); // FIND diverged-barrier
        i++;
    }
    __syncthreads(); // OTHER
    y[t] = i;
}
""",
    faults=True,
)
def loop_left_before_its_barrier(t: Twin) -> Iterator[Check]:
    values = np.full(64, 3, i32)
    values[10] -= t.wrong
    y = t.zeros(64)
    t.go(1, 64, t.upload(values), y)
    yield same("y", t.get(y, 64), np.full(64, 3))


@pair(
    "The function that holds the barrier is called by some lanes only.",
    """
__device__ __noinline__ int meet(int v)
{
    __syncthreads(); // FIND diverged-barrier function=meet
    return v + 1;
}
extern "C" __global__ void k(int *y)
{
    int t = threadIdx.x, v = t;
    if (t >= 16 * WRONG)
        v = meet(v);
    __syncthreads(); // OTHER
    y[t] = v;
}
""",
    faults=True,
)
def barrier_in_a_function(t: Twin) -> Iterator[Check]:
    y = t.zeros(64)
    t.go(1, 64, y)
    yield same("y", t.get(y, 64), np.arange(64) + 1)


@pair(
    "A barrier that counts is one as well, and only odd lanes reach it.",
    """
extern "C" __global__ void k(int *y)
{
    int t = threadIdx.x, count = 32;
    if (t % 2 == 1 || !WRONG)
        count = __syncthreads_count(t % 2); // FIND diverged-barrier
    __syncthreads(); // OTHER
    y[t] = count;
}
""",
    faults=True,
)
def barrier_that_counts_in_a_branch(t: Twin) -> Iterator[Check]:
    y = t.zeros(64)
    t.go(1, 64, y)
    yield same("y", t.get(y, 64), np.full(64, 32))


@pair(
    "The barrier of a cooperative group is the block's, and only one warp comes.",
    """
#include <hip/hip_cooperative_groups.h>
extern "C" __global__ void k(int *y)
{
    cooperative_groups::thread_block block = cooperative_groups::this_thread_block();
    int t = threadIdx.x;
    if (t < 32 || !WRONG)
        block.sync(); // FIND diverged-barrier
    y[t] = t;
    __syncthreads(); // OTHER
    y[t] += 1;
}
""",
    faults=True,
)
def barrier_of_a_group_in_a_branch(t: Twin) -> Iterator[Check]:
    y = t.zeros(64)
    t.go(1, 64, y)
    yield same("y", t.get(y, 64), np.arange(64) + 1)


@pair(
    "Lanes that have left the kernel do not count on AMD, but elsewhere they may: found"
    " only where that is asked for.",
    """
extern "C" __global__ void k(int *y, int n)
{
    int t = threadIdx.x;
    if (t >= n)
        return;
    y[t] = t;
    __syncthreads(); // FIND left-barrier
    y[t] += 1;
}
""",
    check="all,strict",
    twin_check="all",
)
def barrier_after_lanes_have_left(t: Twin) -> Iterator[Check]:
    y = t.zeros(40)
    t.go(1, 64, y, i32(40))
    yield same("y", t.get(y, 40), np.arange(40) + 1)


@pair(
    "With strict, lanes beyond the size must not leave before the barrier.",
    """
extern "C" __global__ void k(int *y, int n)
{
    int t = threadIdx.x;
    if (WRONG && t >= n)
        return;
    int v = t < n ? t : 0;
    __syncthreads(); // FIND left-barrier block=0
    if (t < n)
        y[t] = v;
}
""",
    check="all,strict",
)
def barrier_before_lanes_leave(t: Twin) -> Iterator[Check]:
    y = t.zeros(33)
    t.go(1, 64, y, i32(33))
    yield same("y", t.get(y, 33), np.arange(33))


@pair(
    "The mask names all 32 lanes, and half of them are in the other branch.",
    """
extern "C" __global__ void k(int *y)
{
    int t = threadIdx.x, v = t;
    if (t < 16)
        v = __shfl_sync(WRONG ? 0xffffffffull : 0xffffull, v, 3); // FIND absent-lanes
    y[t] = v;
}
""",
    faults=True,
)
def shuffle_with_lanes_that_are_elsewhere(t: Twin) -> Iterator[Check]:
    y = t.zeros(32)
    t.go(1, 32, y)
    lane = np.arange(32)
    yield same("y", t.get(y, 32), np.where(lane < 16, 3, lane))


@pair(
    "A vote for the whole warp is held by its odd lanes.",
    """
extern "C" __global__ void k(unsigned *y)
{
    int t = threadIdx.x;
    unsigned long long here = WRONG ? 0xffffffffull : 0xaaaaaaaaull;
    if (t % 2 == 1)
        y[t] = __ballot_sync(here, t > 15); // FIND absent-lanes
}
""",
    faults=True,
)
def vote_with_lanes_that_are_elsewhere(t: Twin) -> Iterator[Check]:
    y = t.zeros(32, np.uint32)
    t.go(1, 32, y)
    lane = np.arange(32)
    yield same("y", t.get(y, 32, np.uint32), np.where(lane % 2, 0xAAAA0000, 0))


@pair(
    "__syncwarp of a mask with lanes that took the other branch.",
    """
extern "C" __global__ void k(int *y)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    if (t < 8) {
        tile[t] = t;
        __syncwarp(WRONG ? 0xffffull : 0xffull); // FIND absent-lanes
        y[t] = tile[t];
    }
}
""",
    faults=True,
)
def syncwarp_with_lanes_that_are_elsewhere(t: Twin) -> Iterator[Check]:
    y = t.zeros(8)
    t.go(1, 32, y)
    yield same("y", t.get(y, 8), np.arange(8))


@pair(
    "A reduction over a mask in which a lane is named that skipped the call.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    int t = threadIdx.x, v = x[t];
    unsigned long long all = 0xffffffffull;
    if (v >= 0)
        y[t] = __any_sync(WRONG ? all : __activemask(), v == 5); // FIND absent-lanes
}
""",
    faults=True,
)
def vote_without_a_lane(t: Twin) -> Iterator[Check]:
    values = np.full(32, 5, i32)
    values[4] = -1
    y = t.zeros(32)
    t.go(1, 32, t.upload(values), y)
    yield same("y", t.get(y, 32), values == 5)


@pair(
    "The source of the shuffle is a lane in the other branch.",
    """
extern "C" __global__ void k(int *y)
{
    int t = threadIdx.x, v = t;
    if (t < 16)
        v = __shfl(v, WRONG ? 20 : 4); // FIND absent-source
    y[t] = v;
}
""",
    faults=True,
)
def shuffle_from_the_other_branch(t: Twin) -> Iterator[Check]:
    y = t.zeros(32)
    t.go(1, 32, y)
    lane = np.arange(32)
    yield same("y", t.get(y, 32), np.where(lane < 16, 4, lane))


@pair(
    "In a warp of 16 lanes, those behind do not exist, and their values are asked for.",
    """
extern "C" __global__ void k(int *y)
{
    int t = threadIdx.x, v = 1;
    for (int o = WRONG ? 16 : 8; o > 0; o >>= 1)
        v += __shfl_down(v, o, WRONG ? 32 : 16); // FIND absent-source
    if (t % 16 == 0)
        y[t / 16] = v;
}
""",
    faults=True,
)
def shuffle_beyond_a_short_warp(t: Twin) -> Iterator[Check]:
    y = t.zeros(3)
    t.go(1, 48, y)
    yield same("y", t.get(y, 3), [16, 16, 16])


@pair(
    "Lanes exchange with their neighbours, and the odd ones have left.",
    """
extern "C" __global__ void k(int *y)
{
    int t = threadIdx.x;
    if (WRONG && t % 2 == 1)
        return;
    y[t] = __shfl_xor(t, 1); // FIND absent-source
}
""",
    faults=True,
)
def shuffle_with_lanes_that_have_left(t: Twin) -> Iterator[Check]:
    y = t.zeros(32)
    t.go(1, 32, y)
    yield same("y", t.get(y, 32), np.arange(32) ^ 1)


@pair(
    "Shuffles up at the start of a segment keep the lane's own value; those of a lane"
    " whose source skipped the call do not.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    int t = threadIdx.x;
    if (x[t] >= 0)
        y[t] = __shfl_up(x[t], 1, 8); // FIND absent-source thread=13
}
""",
    faults=True,
)
def shuffle_up_from_a_lane_that_skipped(t: Twin) -> Iterator[Check]:
    values = np.arange(32, dtype=i32)
    if t.wrong:
        values[12] = -1
    y = t.zeros(32)
    t.go(1, 32, t.upload(values), y)
    lane = np.arange(32)
    yield same("y", t.get(y, 32), np.where(lane % 8, lane - 1, lane))


@pair(
    "grid.sync needs a cooperative launch.",
    """
#include <hip/hip_cooperative_groups.h>
extern "C" __global__ void k(int *x, int *y)
{
    x[blockIdx.x] = blockIdx.x;
    cooperative_groups::this_grid().sync(); // FIND not-cooperative
    y[blockIdx.x] = WRONG ? 0 : x[gridDim.x - 1 - blockIdx.x];
}
""",
    faults=True,
)
def grid_barrier_in_a_plain_launch(t: Twin) -> Iterator[Check]:
    x, y = t.zeros(2), t.zeros(2)
    t.go(2, 1, x, y, cooperative=not t.wrong)
    yield same("y", t.get(y, 2), [1, 0])
