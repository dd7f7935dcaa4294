# SPDX-License-Identifier: MIT
"""What blocks and warps do in code for AMD's GPUs (csrc/cpu/headers/hipadapt/amdgcn.h).

There is no such GPU here, so the header's functions are compiled for this device under
other names, with the GPU's instructions made of this device's own.  Lanes that have
returned, and blocks that end within a warp, are what these cases are about.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..case import Check, case, same
from ..gpu import Gpu, InOut

BOTH = (32, 64)
# The functions of the header, and the instructions that this device lacks.
HEADER = """
#define __ha_thread_x gpu_thread_x
#define __ha_thread_y gpu_thread_y
#define __ha_thread_z gpu_thread_z
#define __ha_block_x gpu_block_x
#define __ha_block_y gpu_block_y
#define __ha_block_z gpu_block_z
#define __ha_grid_dim_x gpu_grid_dim_x
#define __ha_grid_dim_y gpu_grid_dim_y
#define __ha_grid_dim_z gpu_grid_dim_z
#define __ha_block_dim_x gpu_block_dim_x
#define __ha_block_dim_y gpu_block_dim_y
#define __ha_block_dim_z gpu_block_dim_z
#define __ha_block gpu_block
#define __ha_warp gpu_warp
#define __ha_clock gpu_clock
#define __ha_query gpu_query
#define __ha_pause gpu_pause
#define __ha_assert_fail gpu_assert_fail
#define __ha_shared_dynamic gpu_shared_dynamic
#define __builtin_amdgcn_workitem_id_x() threadIdx.x
#define __builtin_amdgcn_workitem_id_y() threadIdx.y
#define __builtin_amdgcn_workitem_id_z() threadIdx.z
#define __builtin_amdgcn_workgroup_id_x() blockIdx.x
#define __builtin_amdgcn_workgroup_id_y() blockIdx.y
#define __builtin_amdgcn_workgroup_id_z() blockIdx.z
#define __builtin_amdgcn_implicitarg_ptr() ((const unsigned *)nullptr)
#include "hipadapt/amdgcn.h"
"""


@case(warp_sizes=BOTH)
def amdgcn_block_counts_who_is_here(gpu: Gpu) -> Iterator[Check]:
    """Whoever has returned, thread 0 and whole warps too, nobody waits for it."""
    source = (
        HEADER
        + """
    extern "C" __global__ void k(int gone, unsigned *o) {
        unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
        if (t < gone) return;
        for (int round = 0; round < 3; round++) {
            unsigned *r = o + (t * 3 + round) * 4;
            r[0] = gpu_block(1, t % 3 == round, 0);
            r[1] = gpu_block(2, 1, 0);
            r[2] = gpu_block(2, t != gone + round, 0);
            r[3] = gpu_block(3, t == gone + round, 0) * 2 + gpu_block(3, 0, 0);
        }
    }"""
    )
    module = gpu.build(source)
    for gone in (0, 1, 40, 64, 70):
        n = 96
        want = np.zeros((n, 3, 4), np.uint32)
        alive = np.arange(gone, n)
        for turn in range(3):
            want[gone:, turn] = ((alive % 3 == turn).sum(), 1, 0, 2)
        (got,) = gpu.call(
            module, "k", 1, (8, 4, 3), np.int32(gone), InOut(np.zeros_like(want))
        )
        yield same(f"{gone} have returned", got, want)


VOTES = (
    HEADER
    + """
extern "C" __global__ void k(int gone, const unsigned long *mask, unsigned long *o) {
    unsigned t = threadIdx.x;
    if (t % 7 == gone) return;
    unsigned long m = mask[t], v = t / 5, w = warpSize;
    unsigned long *r = o + t * 8;
    r[0] = gpu_warp(4, m, t % 3 == 0, 0, w);
    r[1] = gpu_warp(5, m, t % 16 == 3, 0, w);
    r[2] = gpu_warp(6, m, t % 16 != 3, 0, w);
    r[3] = gpu_warp(8, 0, 0, 0, w);
    r[4] = gpu_warp(9, m, v, 0, w);
    r[5] = gpu_warp(10, m, v, 0, w);
    r[6] = gpu_warp(10, m, t / 32, 0, w);
    r[7] = gpu_warp(0, m, t + 100, t + 1, w);
}"""
)


@case(warp_sizes=BOTH)
def amdgcn_votes_are_those_of_the_mask(gpu: Gpu) -> Iterator[Check]:
    """Tiles of a warp vote in one call, each for itself, and without who has returned."""
    module = gpu.build(VOTES)
    size, n = gpu.warp_size, 80  # the last warp is not full
    for gone, tile in ((99, 0), (99, 8), (0, 8), (3, 16), (0, 0)):
        run = (1 << tile) - 1
        masks = [run << (t % size // tile * tile) if tile else 0 for t in range(n)]
        want = np.zeros((n, 8), np.uint64)
        alive = [t for t in range(n) if t % 7 != gone]
        for t in alive:
            begin = t // size * size
            here = [u for u in alive if u // size == t // size]
            group = [u for u in here if not tile or masks[t] >> (u - begin) & 1]

            def bits(members: list[int], begin: int = begin) -> int:
                return sum(1 << (u - begin) for u in members)

            equal = bits([u for u in group if u // 5 == t // 5])
            half = bits([u for u in group if u // 32 == t // 32])
            other = begin + (t + 1) % size
            want[t] = (
                bits([u for u in group if u % 3 == 0]),
                any(u % 16 == 3 for u in group),
                all(u % 16 != 3 for u in group),
                bits(here),
                equal,
                equal if equal == bits(group) else 0,
                half if half == bits(group) else 0,
                100 + (other if other in here else t),
            )
        (got,) = gpu.call(
            module,
            "k",
            1,
            n,
            np.int32(gone),
            InOut(np.array(masks, np.uint64)),
            InOut(np.zeros_like(want)),
        )[1:]
        yield same(f"tiles of {tile}, {gone} has returned", got, want)
