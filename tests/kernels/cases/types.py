# SPDX-License-Identifier: MIT
"""Narrow floats and vectors across lanes: shuffles, shared memory, atomics."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..case import Check, case, same
from ..gpu import Gpu, In, InOut


@case(warp_sizes=(32, 64))
def narrow_floats_travel_between_lanes(gpu: Gpu) -> Iterator[Check]:
    source = """
    #include <hip/hip_fp16.h>
    #include <hip/hip_bf16.h>
    extern "C" __global__ void travel(__half *h, __half2 *p, __hip_bfloat16 *b, float4 *v) {
        __shared__ __half mirror[256];
        int t = threadIdx.x;
        mirror[t] = h[t];
        __syncthreads();
        h[t] = __shfl_xor(mirror[255 - t], 1);
        p[t] = __shfl_down(p[t], 2, 16);
        b[t] = __shfl_sync(~0ull, b[t], 5);
        v[t] = __shfl_up(v[t], 1, 8);
    }"""
    rng = np.random.default_rng(71)
    h, b = rng.integers(0, 2**16, (2, 256)).astype(np.uint16)
    p = rng.integers(0, 2**32, 256).astype(np.uint32)
    v = rng.standard_normal((256, 4)).astype(np.float32)
    got = gpu.run(source, "travel", 1, 256, *(InOut(x) for x in (h, p, b, v)))
    t = np.arange(256)
    down = np.where(t % 16 + 2 < 16, t + 2, t)
    yield same("half", got[0], h[255 - (t ^ 1)])
    yield same("pair", got[1], p[np.minimum(down, 255)])
    yield same("bfloat16", got[2], b[t // gpu.warp_size * gpu.warp_size + 5])
    yield same("vector", got[3], v[np.where(t % 8 == 0, t, t - 1)])


@case()
def half_sums_by_tree_and_by_atomics(gpu: Gpu) -> Iterator[Check]:
    source = """
    #include <hip/hip_fp16.h>
    extern "C" __global__ void sum(const __half2 *x, __half2 *total, __half *tree) {
        __shared__ __half2 part[128];
        int t = threadIdx.x;
        part[t] = x[blockIdx.x * 128 + t];
        atomicAdd(total, part[t]);
        for (int step = 64; step > 0; step /= 2) {
            __syncthreads();
            if (t < step) part[t] += part[t + step];
        }
        if (t == 0) tree[blockIdx.x] = part[0].x + part[0].y;
    }"""
    x = np.random.default_rng(72).integers(-1, 2, (4, 128, 2)).astype(np.float16)
    total, tree = gpu.run(
        source,
        "sum",
        4,
        128,
        In(x),
        InOut(np.zeros(2, np.float16)),
        InOut(np.zeros(4, np.float16)),
    )
    yield same("total", total, x.sum(axis=(0, 1)))
    yield same("tree", tree, x.sum(axis=(1, 2)))


@case(warp_sizes=(32, 64))
def tile_larger_than_a_coalesced_group_is_all_of_it(gpu: Gpu) -> Iterator[Check]:
    source = """
    #include <hip/hip_cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void tiles(unsigned *out) {
        unsigned t = threadIdx.x;
        if (t % 3 == 0) {
            cg::coalesced_group part = cg::tiled_partition(cg::coalesced_threads(), 128);
            out[2 * t] = part.size();
            out[2 * t + 1] = part.thread_rank();
        }
    }"""
    size = gpu.warp_size
    (got,) = gpu.run(source, "tiles", 1, size, InOut(np.zeros((size, 2), np.uint32)))
    lanes = np.arange(0, size, 3)
    want = np.zeros((size, 2), np.uint32)
    want[lanes] = np.stack([np.full(lanes.size, lanes.size), np.arange(lanes.size)], 1)
    yield same("size and rank", got, want)
