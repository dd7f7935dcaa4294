# SPDX-License-Identifier: MIT
"""Cooperative groups: the grid, the block, tiles, and the threads that stand together."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hipadapt import hip

from ..case import Check, case, same
from ..gpu import Gpu, HipFailure, In, InOut
from .faults import fails

BOTH = (32, 64)
HEAD = """
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
"""
TYPES = {"int": np.int32, "unsigned long long": np.uint64, "double": np.float64}


# ---- the grid ----------------------------------------------------------------------


@case(warp_sizes=BOTH)
def grid_barrier_orders_all_blocks(gpu: Gpu) -> Iterator[Check]:
    """Each thread reads what another block wrote in the round before."""
    source = (
        HEAD
        + """
    extern "C" __global__ void rounds(unsigned *x, unsigned *y, int count, int shift) {
        cg::grid_group grid = cg::this_grid();
        unsigned n = grid.size(), i = grid.thread_rank();
        for (int r = 0; r < count; r++) {
            unsigned from = (i + shift) % n;
            y[i] = x[from] * 31 + r;
            grid.sync();
            x[i] = y[(i + shift) % n] + 7;
            grid.sync();
        }
    }"""
    )
    module = gpu.build(source)
    most = gpu.most_blocks(module.function("rounds"), 64)
    for blocks, block in ((1, 64), (2, 1), (3, 50), (5, 256), (most, 64)):
        n, count, shift = blocks * block, 5, 77
        x = np.arange(n, dtype=np.uint32)
        got, _ = gpu.call(
            module,
            "rounds",
            blocks,
            block,
            InOut(x),
            InOut(np.zeros(n, np.uint32)),
            np.int32(count),
            np.int32(shift),
            cooperative=True,
        )
        want = x
        for r in range(count):
            y = np.roll(want, -shift % n) * np.uint32(31) + np.uint32(r)
            y = want[(np.arange(n) + shift) % n] * np.uint32(31) + np.uint32(r)
            want = y[(np.arange(n) + shift) % n] + np.uint32(7)
        yield same(f"{blocks} blocks of {block}", got, want)


@case()
def grid_barrier_keeps_locals_and_shared_memory(gpu: Gpu) -> Iterator[Check]:
    """What lanes hold, and their block's shared memory, is theirs across the barrier."""
    source = (
        HEAD
        + """
    extern "C" __global__ void keep(int *sums, int *out, int rounds) {
        __shared__ int mine[128];
        cg::grid_group grid = cg::this_grid();
        int t = threadIdx.x, total = 0;
        mine[t] = blockIdx.x * 1000 + t;
        for (int r = 0; r < rounds; r++) {
            __syncthreads();
            if (t == 0) {
                int s = 0;
                for (int k = 0; k < blockDim.x; k++) s += mine[k];
                sums[blockIdx.x] = s;
            }
            grid.sync();
            int next = sums[(blockIdx.x + r + 1) % gridDim.x];
            total += next;
            mine[t] += next % 97;
            cg::sync(grid);
        }
        out[blockIdx.x * blockDim.x + t] = total + mine[t];
    }"""
    )
    blocks, block, rounds = 6, 128, 4
    _, got = gpu.run(
        source,
        "keep",
        blocks,
        block,
        InOut(np.zeros(blocks, np.int32)),
        InOut(np.zeros((blocks, block), np.int32)),
        np.int32(rounds),
        cooperative=True,
    )
    mine = np.arange(blocks)[:, None] * 1000 + np.arange(block)
    total = np.zeros_like(mine)
    for r in range(rounds):
        following = np.roll(mine.sum(axis=1), -(r + 1))[:, None]
        total += following
        mine = mine + following % 97
    yield same("out", got, total + mine)


@case(warp_sizes=BOTH)
def grid_barrier_among_loops_and_branches(gpu: Gpu) -> Iterator[Check]:
    """Loops that differ by lane, arrays, a barrier in a branch, rounds without one."""
    source = (
        HEAD
        + """
    extern "C" __global__ void mixed(unsigned *x, unsigned *out, int rounds, int every)
    {
        __shared__ unsigned sums[64];
        cg::grid_group grid = cg::this_grid();
        unsigned n = grid.size(), i = grid.thread_rank(), t = threadIdx.x;
        unsigned kept[4] = {i, i * 3, i * 5, i * 7};
        for (int r = 0; r < rounds; r++) {
            for (unsigned k = 0; k < i % 5 + r; k++) kept[k & 3] += x[(i + k) % n] >> 2;
            sums[t] = kept[r & 3];
            __syncthreads();
            if (t % 3 == 0) kept[1] ^= sums[(t + 9) % blockDim.x];
            if (r % every == 0) {
                grid.sync();
                x[i] = kept[0] + kept[1] * 2 + kept[2] * 3 + kept[3] * 4;
                grid.sync();
            } else __syncthreads();
        }
        out[i] = kept[0] ^ kept[1] ^ kept[2] ^ kept[3];
    }"""
    )
    module = gpu.build(source)
    for blocks, block, rounds, every in ((3, 50, 4, 1), (5, 64, 6, 2), (1, 1, 3, 3)):
        n = blocks * block
        x = np.arange(n, dtype=np.uint32) * np.uint32(2654435761)
        got = gpu.call(
            module,
            "mixed",
            blocks,
            block,
            InOut(x),
            InOut(np.zeros(n, np.uint32)),
            np.int32(rounds),
            np.int32(every),
            cooperative=True,
        )
        i = np.arange(n, dtype=np.uint32)
        kept = [i * np.uint32(f) for f in (1, 3, 5, 7)]
        start = i - i % np.uint32(block)
        for r in range(rounds):
            for k in range(4 + r):
                on = k < i % 5 + r
                kept[k & 3] = kept[k & 3] + np.where(on, x[(i + k) % n] >> 2, 0).astype(
                    "u4"
                )
            sums = kept[r & 3]
            other = sums[start + (i - start + 9) % block]
            kept[1] = np.where((i - start) % 3 == 0, kept[1] ^ other, kept[1])
            if r % every == 0:
                x = (kept[0] + kept[1] * 2 + kept[2] * 3 + kept[3] * 4).astype("u4")
        want = kept[0] ^ kept[1] ^ kept[2] ^ kept[3]
        yield same(f"x of {blocks} blocks of {block}", got[0], x)
        yield same(f"out of {blocks} blocks of {block}", got[1], want)


@case()
def grid_barrier_where_an_index_wraps(gpu: Gpu) -> Iterator[Check]:
    """Some blocks run another form than the others, and all meet."""
    source = (
        HEAD
        + """
    extern "C" __global__ void wraps(int *x, int *out, unsigned base) {
        cg::grid_group grid = cg::this_grid();
        unsigned u = blockIdx.x * blockDim.x + threadIdx.x, n = grid.size();
        unsigned far = base + u;
        x[(long)far - base + (far < base ? 0x100000000 : 0)] = (int)far;
        grid.sync();
        out[u] = x[(u + 70) % n] + (int)((size_t)far >> 31);
    }"""
    )
    blocks, block = 6, 64
    n = blocks * block
    for base in (0, 2**31 - 100, 2**32 - 200):
        x, out = gpu.run(
            source,
            "wraps",
            blocks,
            block,
            InOut(np.zeros(n, np.int32)),
            InOut(np.zeros(n, np.int32)),
            np.uint32(base),
            cooperative=True,
        )
        far = ((base + np.arange(n, dtype=np.uint64)) & 0xFFFFFFFF).astype(np.uint32)
        want = far.astype(np.int32)
        yield same(f"x from {base}", x, want)
        want = np.roll(want, -70) + (far >> 31).astype(np.int32)
        yield same(f"out from {base}", out, want)


@case()
def barrier_of_the_programs_own_between_all_blocks(gpu: Gpu) -> Iterator[Check]:
    """All blocks are alive, so that they may wait for each other by atomics alone."""
    source = """
    extern "C" __global__ void own(unsigned *count, int *x, int *out) {
        __shared__ int seen;
        int b = blockIdx.x, n = gridDim.x;
        for (int r = 1; r <= 3; r++) {
            if (threadIdx.x == 0) {
                x[b] = x[b] * 3 + b + r;
                __threadfence();
                atomicAdd(count, 1);
                if (r == 1) while (atomicAdd(count, 0) < n * (2 * r - 1)) ;
                else if (r == 2) while (atomicCAS(count, n * 3, n * 3) < n * 3) ;
                else while (*(volatile unsigned *)count < n * (2 * r - 1)) ;
                __threadfence();
                seen = x[(b + 1) % n];
                __threadfence();
                atomicAdd(count, 1);
                while (*(volatile unsigned *)count < n * 2 * r) ;
            }
            __syncthreads();
            if (threadIdx.x == 0) x[b] += seen;
            __syncthreads();
        }
        out[b * blockDim.x + threadIdx.x] = x[b] + seen;
    }"""
    module = gpu.build(source)
    blocks, block = gpu.most_blocks(module.function("own"), 128), 128
    x = np.arange(blocks, dtype=np.int32)
    _, _, got = gpu.call(
        module,
        "own",
        blocks,
        block,
        InOut(np.zeros(1, np.uint32)),
        InOut(x),
        InOut(np.zeros((blocks, block), np.int32)),
        cooperative=True,
    )
    seen = x
    for r in range(1, 4):
        x = x * 3 + np.arange(blocks, dtype=np.int32) + r
        seen = np.roll(x, -1)
        x = x + seen
    yield same("out", got, np.repeat((x + seen)[:, None], block, axis=1))


@case()
def lanes_that_returned_are_not_waited_for(gpu: Gpu) -> Iterator[Check]:
    source = (
        HEAD
        + """
    extern "C" __global__ void early(int *x, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (threadIdx.x >= n) return;
        x[i] = i;
        cg::this_grid().sync();
        int other = x[(blockIdx.x + 1) % gridDim.x * blockDim.x + threadIdx.x];
        cg::this_grid().sync();
        x[i] += other;
    }"""
    )
    (got,) = gpu.run(
        source, "early", 4, 64, InOut(np.zeros((4, 64), np.int32)), np.int32(40),
        cooperative=True,
    )  # fmt: skip
    x = np.arange(256).reshape(4, 64)
    x[:, 40:] = 0
    yield same("x", got, x + np.roll(x, -1, axis=0))


@case(warp_sizes=BOTH)
def kernels_without_barriers_launch_cooperatively(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void plain(int *x) {
        x[blockIdx.x * blockDim.x + threadIdx.x] += blockIdx.x;
    }
    extern "C" __global__ void warps(int *x) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        x[i] = __shfl_xor(x[i], 1);
    }"""
    module = gpu.build(source)
    x = np.arange(20 * 64, dtype=np.int32)
    (got,) = gpu.call(module, "plain", 20, 64, InOut(x), cooperative=True)
    yield same("plain", got, x + x // 64)
    (got,) = gpu.call(module, "warps", 20, 64, InOut(x), cooperative=True)
    yield same("warps", got, x ^ 1)


@case()
def grid_group_says_what_it_is(gpu: Gpu) -> Iterator[Check]:
    source = (
        HEAD
        + """
    extern "C" __global__ void facts(int *out) {
        cg::grid_group grid = cg::this_grid();
        cg::thread_block block = cg::this_thread_block();
        int *o = out + 10 * grid.thread_rank();
        o[0] = grid.size();
        o[1] = grid.is_valid();
        o[2] = grid.block_rank();
        o[3] = grid.num_blocks();
        o[4] = block.size();
        o[5] = block.thread_rank();
        o[6] = block.group_index().y;
        o[7] = block.thread_index().z;
        o[8] = cg::thread_rank(grid) - cg::group_size(block) * grid.block_rank();
        o[9] = block.is_valid() + block.group_dim().x;
    }"""
    )
    module = gpu.build(source)
    grid, block = (2, 3, 1), (4, 2, 3)
    for cooperative in (False, True):
        (got,) = gpu.call(
            module,
            "facts",
            grid,
            block,
            InOut(np.zeros((6, 3, 2, 4, 10), np.int32)),
            cooperative=cooperative,
        )
        b, z, y, x = np.indices((6, 3, 2, 4))
        rank = (z * 2 + y) * 4 + x
        want = [144, int(cooperative), b, 6, 24, rank, b // 2, z, rank, 5]
        want = np.stack([np.broadcast_to(w, b.shape) for w in want], axis=-1)
        yield same(f"cooperative {cooperative}", got, want)


@case(group="faults")
def grid_barrier_in_an_ordinary_launch(gpu: Gpu) -> Iterator[Check]:
    source = (
        HEAD
        + """
    extern "C" __global__ void ordinary(int *x) { cg::this_grid().sync(); }"""
    )
    error = hip.hipError_t.hipErrorLaunchFailure
    yield from fails(gpu, source, "ordinary", (None,), error, "not cooperative")


@case(group="faults")
def block_that_ends_before_a_grid_barrier(gpu: Gpu) -> Iterator[Check]:
    source = (
        HEAD
        + """
    extern "C" __global__ void leaves(int *x) {
        if (blockIdx.x == 1) return;
        cg::this_grid().sync();
    }"""
    )
    yield from fails(
        gpu,
        source,
        "leaves",
        (None,),
        hip.hipError_t.hipErrorLaunchFailure,
        "grid barrier (line 7)",
        "block (1,0,0) has ended",
        cooperative=True,
        grid=7,
    )


@case(group="faults")
def lanes_at_a_block_barrier_and_at_a_grid_barrier(gpu: Gpu) -> Iterator[Check]:
    source = (
        HEAD
        + """
    extern "C" __global__ void split(int *x) {
        if (threadIdx.x % 2 == 0) cg::this_grid().sync();
        else __syncthreads();
    }"""
    )
    yield from fails(
        gpu,
        source,
        "split",
        (None,),
        hip.hipError_t.hipErrorLaunchFailure,
        "different barriers",
        "line 6",
        "line 7",
        cooperative=True,
    )


@case(group="faults")
def fault_while_other_blocks_wait(gpu: Gpu) -> Iterator[Check]:
    source = (
        HEAD
        + """
    extern "C" __global__ void waits(int *x) {
        cg::this_grid().sync();
        if (blockIdx.x == 5 && threadIdx.x == 3) x[0] = 1;
        cg::this_grid().sync();
    }"""
    )
    error = hip.hipError_t.hipErrorIllegalAddress
    yield from fails(
        gpu, source, "waits", (None,), error, "block (5,0,0)", grid=9, cooperative=True
    )


@case(group="faults")
def cooperative_kernel_that_never_ends(gpu: Gpu) -> Iterator[Check]:
    source = (
        HEAD
        + """
    extern "C" __global__ void endless(volatile int *x) {
        if (blockIdx.x > 0) cg::this_grid().sync();
        else while (x[0] == 0) ;
    }"""
    )
    error = hip.hipError_t.hipErrorLaunchTimeOut
    address = gpu.upload(np.zeros(1, np.int32))
    yield from fails(
        gpu, source, "endless", (address,), error, grid=4, cooperative=True
    )


@case()
def grid_that_is_too_large_is_refused(gpu: Gpu) -> Iterator[Check]:
    source = (
        HEAD
        + """
    extern "C" __global__ void big(int *x) {
        __shared__ int room[4000];
        room[threadIdx.x] = x[0];
        cg::this_grid().sync();
        if (threadIdx.x == 0) atomicAdd(x, room[0] + 1);
    }"""
    )
    module = gpu.build(source)
    function = module.function("big")
    most = gpu.most_blocks(function, 64)
    (got,) = gpu.call(
        module, "big", most, 64, InOut(np.zeros(1, np.int32)), cooperative=True
    )
    yield same("as many as there is room for", got, [most])
    for grid in (most + 1, (1, most + 1), (60000, 1, 16)):
        try:
            gpu.launch(function, grid, 64, (None,), cooperative=True)
            answer = "hipSuccess"
        except HipFailure as failure:
            answer = failure.status.name
        yield same(f"{grid}", answer, "hipErrorCooperativeLaunchTooLarge")


# ---- tiles -------------------------------------------------------------------------


def tiles_of(count: int, warp: int, size: int) -> list[np.ndarray]:
    """Linear thread numbers of each tile of a block of `count` threads."""
    del warp  # tiles divide warps, so that they are runs of the block
    return [np.arange(b, min(b + size, count)) for b in range(0, count, size)]


@case(warp_sizes=BOTH)
def tiles_of_every_size(gpu: Gpu) -> Iterator[Check]:
    """All calls of a tile, also of one that the block ends in."""
    source = (
        HEAD
        + """
    template <unsigned N> __device__ void calls(const int *x, unsigned long long *o) {
        auto tile = cg::tiled_partition<N>(cg::this_thread_block());
        int t = threadIdx.x, v = x[t], same;
        o += t * 16;
        o[0] = tile.thread_rank();
        o[1] = tile.size() + tile.num_threads();
        o[2] = tile.meta_group_rank();
        o[3] = tile.meta_group_size();
        o[4] = (unsigned)tile.shfl(v, 0);
        o[5] = (unsigned)tile.shfl_down(v, 1);
        o[6] = (unsigned)tile.shfl_up(v, 2);
        o[7] = (unsigned)tile.shfl_xor(v, 1);
        o[8] = tile.ballot(v & 1);
        o[9] = tile.any(v == 3);
        o[10] = tile.all(v < 6);
        o[11] = tile.match_any(v);
        o[12] = tile.match_all(v / 8, same);
        o[13] = same;
        tile.sync();
        o[14] = (unsigned)cg::reduce(tile, v, cg::plus<int>());
        o[15] = (unsigned)cg::inclusive_scan(tile, v, cg::greater<int>());
    }
    extern "C" __global__ void kernel(const int *x, unsigned long long *o) {
        unsigned n = blockDim.x * 16;
        calls<1>(x, o); calls<2>(x, o + n); calls<4>(x, o + 2 * n);
        calls<8>(x, o + 3 * n); calls<16>(x, o + 4 * n); calls<32>(x, o + 5 * n);
        if constexpr (warpSize == 64) calls<warpSize>(x, o + 6 * n);
    }"""
    )
    sizes = [1, 2, 4, 8, 16, 32, *([64] if gpu.warp_size == 64 else [])]
    for count in (1, 32, 100, 256):
        x = np.random.default_rng(count).integers(0, 7, count).astype(np.int32)
        out = np.zeros((len(sizes), count, 16), np.uint64)
        (got,) = gpu.run(source, "kernel", 1, count, In(x), InOut(out))
        want = np.zeros_like(got)
        for s, size in enumerate(sizes):
            for number, members in enumerate(tiles_of(count, gpu.warp_size, size)):
                v = x[members]
                bits = np.uint64(1) << np.arange(len(v), dtype=np.uint64)
                for rank, t in enumerate(members):
                    down, up, other = rank + 1, rank - 2, rank ^ 1
                    row = [
                        rank,
                        2 * size,
                        number,
                        -(-count // size),
                        v[0],
                        v[down] if down < len(v) else v[rank],
                        v[up] if up >= 0 else v[rank],
                        v[other] if other < len(v) else v[rank],
                        bits[v & 1 == 1].sum(),
                        (v == 3).any(),
                        (v < 6).all(),
                        bits[v == v[rank]].sum(),
                        bits.sum(),
                        1,
                        v.sum(),
                        v[: rank + 1].max(),
                    ]
                    want[s, t] = np.array(row, np.uint64)
        yield same(f"block of {count}", got, want)


@case(warp_sizes=BOTH)
def tiles_whose_size_is_known_when_they_run(gpu: Gpu) -> Iterator[Check]:
    source = (
        HEAD
        + """
    extern "C" __global__ void sums(const int *x, int *out, int *facts, unsigned n) {
        extern __shared__ int memory[];
        cg::thread_group tile = cg::tiled_partition(cg::this_thread_block(), n);
        cg::thread_group half = cg::tiled_partition(tile, n > 1 ? n / 2 : 1);
        unsigned t = threadIdx.x, rank = tile.thread_rank();
        int *own = memory + (t - rank);
        own[rank] = x[t];
        for (unsigned step = 1; step < n; step *= 2) {
            tile.sync();
            int more = rank + step < tile.size() ? own[rank + step] : 0;
            cg::sync(tile);
            own[rank] += more;
        }
        tile.sync();
        out[t] = own[0];
        facts[t] = tile.size() * 10000 + rank * 100 + half.size() + half.thread_rank();
    }"""
    )
    module = gpu.build(source)
    for count, size in ((64, 1), (64, 8), (100, 16), (50, 32), (256, 4)):
        x = np.random.default_rng(size).integers(0, 1000, count).astype(np.int32)
        got, facts = gpu.call(
            module,
            "sums",
            1,
            count,
            In(x),
            InOut(np.zeros(count, np.int32)),
            InOut(np.zeros(count, np.int32)),
            np.uint32(size),
            shared=4 * count,
        )
        want, want_facts = np.zeros_like(x), np.zeros_like(x)
        part = max(1, size // 2)
        for members in tiles_of(count, gpu.warp_size, size):
            want[members] = x[members].sum()
            rank = np.arange(len(members))
            half = np.minimum(part, len(members) - rank // part * part)
            if len(members) <= part:
                half[:] = len(members)
            want_facts[members] = len(members) * 10000 + rank * 100 + half + rank % part
        yield same(f"{count} threads, tiles of {size}", got, want)
        yield same(f"facts of {count} threads, tiles of {size}", facts, want_facts)


@case(warp_sizes=BOTH)
def tiles_that_work_apart(gpu: Gpu) -> Iterator[Check]:
    """Each tile has its own flow: its calls meet among its lanes only."""
    source = (
        HEAD
        + """
    extern "C" __global__ void apart(const int *x, int *out) {
        auto tile = cg::tiled_partition<8>(cg::this_thread_block());
        int v = x[threadIdx.x];
        if (tile.meta_group_rank() % 3 == 0) {
            for (int r = tile.meta_group_rank(); r >= 0; r--) v += tile.shfl_xor(v, 1);
        } else if (tile.meta_group_rank() % 3 == 1) {
            v = cg::reduce(tile, v, cg::less<int>());
        } else {
            v = tile.shfl(v, 5) - tile.ballot(v > 50);
        }
        out[threadIdx.x] = v;
    }"""
    )
    x = np.random.default_rng(8).integers(0, 100, 192).astype(np.int32)
    (got,) = gpu.run(source, "apart", 1, 192, In(x), InOut(np.zeros_like(x)))
    want = np.zeros_like(x).reshape(24, 8)
    for number, v in enumerate(x.reshape(24, 8)):
        if number % 3 == 0:
            for _ in range(number + 1):
                v = v + v[np.arange(8) ^ 1]
            want[number] = v
        elif number % 3 == 1:
            want[number] = v.min()
        else:
            want[number] = v[5] - ((v > 50) << np.arange(8)).sum()
    yield same("out", got, want.ravel())


# ---- threads that stand together ---------------------------------------------------


@case(warp_sizes=BOTH)
def coalesced_threads_are_those_of_the_branch(gpu: Gpu) -> Iterator[Check]:
    source = (
        HEAD
        + """
    extern "C" __global__ void together(const int *x, int *out) {
        int t = threadIdx.x, v = x[t], *o = out + 12 * t, same;
        if (v % 3 == 0) {
            cg::coalesced_group g = cg::coalesced_threads();
            o[0] = g.size();
            o[1] = g.thread_rank();
            o[2] = g.shfl(v, 1);
            o[3] = g.shfl_down(v, 2);
            o[4] = g.shfl_up(v, 1);
            o[5] = g.ballot(v % 2);
            o[6] = g.any(v > 95) * 2 + g.all(v < 90);
            o[7] = g.match_any(v % 4);
            o[8] = cg::reduce(g, v, cg::plus<int>());
            o[9] = cg::exclusive_scan(g, v);
            o[10] = cg::exclusive_scan(g, v, cg::less<int>());
            o[11] = g.match_all(v / 100, same) != 0 && same;
            g.sync();
        }
    }"""
    )
    x = np.random.default_rng(3).integers(0, 100, 160).astype(np.int32)
    (got,) = gpu.run(
        source, "together", 1, 160, In(x), InOut(np.zeros((160, 12), np.int32))
    )
    want = np.zeros_like(got)
    for begin in range(0, 160, gpu.warp_size):
        lanes = np.arange(begin, min(begin + gpu.warp_size, 160))
        lanes = lanes[x[lanes] % 3 == 0]
        v = x[lanes]
        bit = np.left_shift(1, np.arange(v.size)) if v.size < 32 else None
        assert bit is not None
        for rank, lane in enumerate(lanes):
            want[lane] = [
                v.size,
                rank,
                v[1 % v.size],
                v[rank + 2] if rank + 2 < v.size else v[rank],
                v[rank - 1] if rank else v[rank],
                bit[v % 2 == 1].sum(),
                (v > 95).any() * 2 + (v < 90).all(),
                bit[v % 4 == v[rank] % 4].sum(),
                v.sum(),
                v[:rank].sum(),
                v[:rank].min() if rank else 2**31 - 1,
                1,
            ]
    yield same("out", got, want)


@case(warp_sizes=BOTH)
def groups_divided_in_two_and_in_tiles(gpu: Gpu) -> Iterator[Check]:
    source = (
        HEAD
        + """
    extern "C" __global__ void divide(const int *x, int *out) {
        int t = threadIdx.x, v = x[t], *o = out + 6 * t;
        auto warp = cg::tiled_partition<32>(cg::this_thread_block());
        cg::coalesced_group half = cg::binary_partition(warp, v % 2);
        o[0] = half.size();
        o[1] = half.thread_rank();
        cg::coalesced_group quarter = cg::binary_partition(half, v % 4 > 1);
        o[2] = cg::reduce(quarter, v, cg::plus<int>());
        cg::coalesced_group four = cg::tiled_partition(half, 4);
        o[3] = four.size() * 100 + four.thread_rank() * 10 + four.meta_group_rank();
        o[4] = four.meta_group_size();
        cg::thread_group any = cg::this_thread();
        any.sync();
        o[5] = any.size() + any.thread_rank();
    }"""
    )
    x = np.random.default_rng(5).integers(0, 100, 128).astype(np.int32)
    (got,) = gpu.run(
        source, "divide", 1, 128, In(x), InOut(np.zeros((128, 6), np.int32))
    )
    want = np.zeros_like(got)
    for begin in range(0, 128, 32):
        for odd in (0, 1):
            lanes = np.arange(begin, begin + 32)
            lanes = lanes[x[lanes] % 2 == odd]
            for rank, lane in enumerate(lanes):
                part = lanes[(x[lanes] % 4 > 1) == (x[lane] % 4 > 1)]
                four = lanes[rank // 4 * 4 : rank // 4 * 4 + 4]
                want[lane] = [
                    lanes.size,
                    rank,
                    x[part].sum(),
                    four.size * 100 + rank % 4 * 10 + rank // 4,
                    -(-lanes.size // 4),
                    1,
                ]
    yield same("out", got, want)


@case(warp_sizes=BOTH)
def reductions_and_scans_of_every_kind(gpu: Gpu) -> Iterator[Check]:
    """Values are combined in the order of ranks, also by what does not commute."""
    kernels = "".join(
        f"""
    extern "C" __global__ void k{i}(const {name} *x, {name} *out) {{
        auto tile = cg::tiled_partition<16>(cg::this_thread_block());
        {name} v = x[threadIdx.x], *o = out + 5 * threadIdx.x;
        o[0] = cg::reduce(tile, v, cg::plus<{name}>());
        o[1] = cg::reduce(tile, v, cg::less<{name}>());
        o[2] = cg::inclusive_scan(tile, v);
        o[3] = cg::exclusive_scan(tile, v, cg::greater<{name}>());
        o[4] = cg::reduce(tile, v, [] __device__ ({name} a, {name} b) {{
            return a * 2 + b * 3; }});
    }}"""
        for i, name in enumerate(TYPES)
    )
    bits = """
    extern "C" __global__ void bits(const unsigned *x, unsigned *out) {
        auto tile = cg::tiled_partition<8>(cg::this_thread_block());
        unsigned v = x[threadIdx.x], *o = out + 4 * threadIdx.x;
        o[0] = cg::reduce(tile, v, cg::bit_and<unsigned>());
        o[1] = cg::reduce(tile, v, cg::bit_or<unsigned>());
        o[2] = cg::reduce(tile, v, cg::bit_xor<unsigned>());
        o[3] = cg::exclusive_scan(tile, v, cg::bit_and<unsigned>());
    }"""
    module = gpu.build(HEAD + kernels + bits)
    for i, dtype in enumerate(TYPES.values()):
        x = np.random.default_rng(i).integers(0, 50, 64).astype(dtype)
        (got,) = gpu.call(
            module, f"k{i}", 1, 64, In(x), InOut(np.zeros((64, 5), dtype))
        )
        info = np.finfo(dtype) if dtype is np.float64 else np.iinfo(dtype)
        want = np.zeros_like(got)
        for tile in range(0, 64, 16):
            v = x[tile : tile + 16]
            folded = scan_in_steps(v)
            for rank in range(16):
                most = v[:rank].max() if rank else info.min
                want[tile + rank] = [
                    v.sum(),
                    v.min(),
                    v[: rank + 1].sum(),
                    most,
                    folded,
                ]
        yield same(f"type {i}", got, want)
    x = np.random.default_rng(9).integers(0, 2**32, 64, np.uint32)
    (got,) = gpu.call(module, "bits", 1, 64, In(x), InOut(np.zeros((64, 4), np.uint32)))
    want = np.zeros_like(got)
    for tile in range(0, 64, 8):
        v = x[tile : tile + 8]
        for rank in range(8):
            before = np.bitwise_and.reduce(v[:rank]) if rank else np.uint32(2**32 - 1)
            want[tile + rank] = [
                np.bitwise_and.reduce(v),
                np.bitwise_or.reduce(v),
                np.bitwise_xor.reduce(v),
                before,
            ]
    yield same("bits", got, want)


def scan_in_steps(values: np.ndarray) -> object:
    """The last member of a scan by a * 2 + b * 3, in steps that double."""
    row = list(values)
    step = 1
    while step < len(row):
        row = [
            row[i] if i < step else type(row[i])(row[i - step] * 2 + row[i] * 3)
            for i in range(len(row))
        ]
        step *= 2
    return row[-1]
