# SPDX-License-Identifier: MIT
"""Shuffles, votes and ballots, converged and diverged, in warps of 32 and 64 lanes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..case import Check, case, close, same
from ..gpu import Gpu, In, InOut, blocks
from .shapes import floats

BOTH = (32, 64)


def warps_of(values: np.ndarray, size: int) -> list[np.ndarray]:
    """The values of a block, cut into warps; the last one may be shorter."""
    return [values[start : start + size] for start in range(0, values.size, size)]


@case(warp_sizes=BOTH)
def warp_reduction_with_a_divergent_second_stage(gpu: Gpu) -> Iterator[Check]:
    """The second stage shuffles under a condition that only the first warp meets."""
    source = """
    extern "C" __global__ void reduce(const float *x, float *out) {
        __shared__ float partial[32];
        int t = threadIdx.x;
        float v = x[blockIdx.x * blockDim.x + t];
        for (int o = warpSize / 2; o > 0; o >>= 1) v += __shfl_down(v, o);
        if (t % warpSize == 0) partial[t / warpSize] = v;
        __syncthreads();
        if (t < 32) {
            v = t < blockDim.x / warpSize ? partial[t] : 0;
            for (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o, 32);
            if (t == 0) out[blockIdx.x] = v;
        }
    }"""
    x = np.arange(1024, dtype=np.float32)
    (got,) = gpu.run(source, "reduce", 4, 256, In(x), InOut(np.zeros(4, np.float32)))
    yield same("out", got, x.reshape(4, 256).sum(axis=1))


@case(warp_sizes=BOTH)
def warp_size_is_what_the_device_says(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void size(int *out) {
        out[threadIdx.x] = warpSize * 1000 + __lane_id();
    }"""
    (got,) = gpu.run(source, "size", 1, 100, InOut(np.zeros(100, np.int32)))
    size = gpu.warp_size
    yield same("out", got, size * 1000 + np.arange(100) % size)


def shuffled(x: np.ndarray, lane_of: np.ndarray, width: int) -> np.ndarray:
    """Each lane's value from another lane of its segment, or its own if outside."""
    lane = np.arange(x.size)
    inside = (lane_of >= 0) & (lane_of < x.size) & (lane_of // width == lane // width)
    return x[np.where(inside, lane_of, lane)]


@case(warp_sizes=BOTH)
def shuffles_of_every_kind_and_width(gpu: Gpu) -> Iterator[Check]:
    source = """
    template <int W> __device__ void all(const int *x, int *out) {
        int t = threadIdx.x, v = x[t];
        out[t] = __shfl(v, t * 7 + 3, W);
        out[t + 128] = __shfl_up(v, 3, W);
        out[t + 256] = __shfl_down(v, 5, W);
        out[t + 384] = __shfl_xor(v, 2, W);
    }
    extern "C" __global__ void shuffle(const int *x, int *out) {
        all<4>(x, out);
        all<8>(x, out + 512);
        all<16>(x, out + 1024);
        all<32>(x, out + 1536);
    }"""
    x = np.random.default_rng(40).integers(0, 10**6, 128).astype(np.int32)
    (got,) = gpu.run(
        source, "shuffle", 1, 128, In(x), InOut(np.zeros((4, 4, 128), np.int32))
    )
    lane = np.arange(128)
    for width, kinds in zip((4, 8, 16, 32), got, strict=True):
        base = lane - lane % width
        indexed = base + (lane * 7 + 3) % width
        yield same(f"shfl {width}", kinds[0], x[indexed])
        yield same(f"up {width}", kinds[1], shuffled(x, lane - 3, width))
        yield same(f"down {width}", kinds[2], shuffled(x, lane + 5, width))
        yield same(f"xor {width}", kinds[3], shuffled(x, lane ^ 2, width))


@case(warp_sizes=BOTH)
def shuffles_of_wide_types(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void wide(const double *d, const long long *l, const float *f,
                                    double *od, long long *ol, float *of) {
        int t = threadIdx.x;
        od[t] = __shfl_xor(d[t], 1);
        ol[t] = __shfl_down(l[t], 2);
        of[t] = __shfl_up(f[t], 4);
    }"""
    n = 64
    rng = np.random.default_rng(41)
    d, f = rng.normal(size=n), floats(n, 42)
    wide = rng.integers(-(2**62), 2**62, n)
    od, ol, of = gpu.run(
        source,
        "wide",
        1,
        n,
        In(d),
        In(wide),
        In(f),
        InOut(np.zeros_like(d)),
        InOut(np.zeros_like(wide)),
        InOut(np.zeros_like(f)),
    )
    lane, size = np.arange(n), gpu.warp_size
    yield same("double", od, shuffled(d, lane ^ 1, size))
    yield same("long long", ol, shuffled(wide, lane + 2, size))
    yield same("float", of, shuffled(f, lane - 4, size))


@case()
def shuffle_in_both_arms_of_a_branch(gpu: Gpu) -> Iterator[Check]:
    """Both halves of a warp shuffle among themselves; neither may see the other."""
    source = """
    extern "C" __global__ void arms(const int *x, int *out) {
        int t = threadIdx.x, v = x[t];
        if (t % 32 < 16) {
            for (int o = 8; o > 0; o >>= 1) v += __shfl_xor(v, o, 16);
            v *= 2;
        } else {
            for (int o = 8; o > 0; o >>= 1) v = max(v, __shfl_xor(v, o, 16));
            v = -v;
        }
        out[t] = v;
    }"""
    x = np.random.default_rng(43).integers(0, 1000, 96).astype(np.int32)
    (got,) = gpu.run(source, "arms", 1, 96, In(x), InOut(np.zeros_like(x)))
    halves = x.reshape(3, 2, 16)
    want = np.empty_like(halves)
    want[:, 0] = 2 * halves[:, 0].sum(axis=1, keepdims=True)
    want[:, 1] = -halves[:, 1].max(axis=1, keepdims=True)
    yield same("out", got, want.ravel())


@case()
def shuffle_in_a_loop_with_continue(gpu: Gpu) -> Iterator[Check]:
    """Odd rounds are skipped by the upper half of the warp; the lower half goes on
    alone, and both meet again in the next round."""
    source = """
    extern "C" __global__ void rounds(int *out) {
        int lane = threadIdx.x, v = lane;
        for (int i = 0; i < 6; i++) {
            if ((i & 1) && lane >= 16) continue;
            v += __shfl_xor(v, 1, 16);
        }
        out[lane] = v;
    }"""
    (got,) = gpu.run(source, "rounds", 1, 32, InOut(np.zeros(32, np.int32)))
    v = np.arange(32)
    for i in range(6):
        added = v + v[np.arange(32) ^ 1]
        v = np.where((i % 2 == 1) & (np.arange(32) >= 16), v, added)
    yield same("out", got, v)


@case()
def lanes_leave_a_loop_of_shuffles_one_by_one(gpu: Gpu) -> Iterator[Check]:
    """Pairs of lanes stay together, each pair for its own number of rounds."""
    source = """
    extern "C" __global__ void leave(int *out) {
        int lane = threadIdx.x % 32, v = threadIdx.x;
        for (int i = 0; i < lane / 2; i++) v = __shfl_xor(v, 1) + 1;
        out[threadIdx.x] = v;
    }"""
    (got,) = gpu.run(source, "leave", 2, 64, InOut(np.zeros(64, np.int32)))
    t = np.arange(64)
    rounds = t % 32 // 2
    yield same("out", got, np.where(rounds % 2 == 1, t ^ 1, t) + rounds)


@case(warp_sizes=BOTH)
def scan_of_a_warp_by_shuffle_up(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void scan(const int *x, int *y) {
        int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize;
        int v = x[i];
        for (int d = 1; d < warpSize; d *= 2) {
            int add = __shfl_up(v, d);
            if (lane >= d) v += add;
        }
        y[i] = v;
    }"""
    x = np.random.default_rng(44).integers(-50, 50, 256).astype(np.int32)
    (got,) = gpu.run(source, "scan", 2, 128, In(x), InOut(np.zeros_like(x)))
    yield same("y", got, np.cumsum(x.reshape(-1, gpu.warp_size), axis=1).ravel())


@case(warp_sizes=BOTH)
def votes_in_full_and_partial_warps(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void vote(const int *x, unsigned long long *masks,
                                    int *flags) {
        int t = threadIdx.x, v = x[t];
        masks[t] = __ballot(v > 0);
        flags[t] = (__any(v > 90) != 0) * 2 + (__all(v > -60) != 0);
    }"""
    n = 150
    x = np.random.default_rng(45).integers(-100, 100, n).astype(np.int32)
    x[64:96] = 91
    masks, flags = gpu.run(
        source,
        "vote",
        1,
        n,
        In(x),
        InOut(np.zeros(n, np.uint64)),
        InOut(np.zeros(n, np.int32)),
    )
    want_masks, want_flags = [], []
    for warp in warps_of(x, gpu.warp_size):
        mask = sum(1 << lane for lane, v in enumerate(warp) if v > 0)
        flag = 2 * bool((warp > 90).any()) + bool((warp > -60).all())
        want_masks += [mask] * warp.size
        want_flags += [flag] * warp.size
    yield same("masks", masks, np.array(want_masks, np.uint64))
    yield same("flags", flags, want_flags)


@case()
def ballot_in_divergent_branches(gpu: Gpu) -> Iterator[Check]:
    """A ballot has a bit only for lanes that take part in it."""
    source = """
    extern "C" __global__ void branches(unsigned long long *out) {
        int lane = threadIdx.x;
        unsigned long long mask;
        if (lane % 3 == 0) mask = __ballot(1);
        else if (lane % 3 == 1) mask = __ballot(lane & 1);
        else mask = 7;
        out[lane] = mask;
    }"""
    (got,) = gpu.run(source, "branches", 1, 32, InOut(np.zeros(32, np.uint64)))
    third = sum(1 << lane for lane in range(0, 32, 3))
    odd = sum(1 << lane for lane in range(1, 32, 3) if lane & 1)
    yield same("out", got, [(third, odd, 7)[lane % 3] for lane in range(32)])


@case(warp_sizes=BOTH)
def compaction_by_ballot(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void compact(const int *x, int *out, int *count, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        int lane = threadIdx.x % warpSize;
        bool keep = i < n && x[i] % 3 == 0;
        unsigned long long mask = __ballot(keep);
        int base = 0;
        if (lane == 0) base = atomicAdd(count, __popcll(mask));
        base = __shfl(base, 0);
        int before = __popcll(mask & ((1ull << lane) - 1));
        if (keep) out[base + before] = x[i];
    }"""
    x = np.random.default_rng(46).integers(0, 10_000, 3001).astype(np.int32)
    out, count = gpu.run(
        source,
        "compact",
        blocks(x.size, 256),
        256,
        In(x),
        InOut(np.full(x.size, -1, np.int32)),
        InOut(np.zeros(1, np.int32)),
        np.int32(x.size),
    )
    want = np.sort(x[x % 3 == 0])
    yield same("count", count, [want.size])
    # Warps arrive in any order, so the result is a set.
    yield same("kept", np.sort(out[: want.size]), want)


@case()
def synchronised_forms_with_masks(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void masked(int *out, unsigned long long *ballots) {
        int lane = threadIdx.x;
        unsigned long long low = 0x0000ffffull, all = 0xffffffffull;
        int v = lane * 10;
        if (lane < 16) {
            v = __shfl_xor_sync(low, v, 3);
            ballots[lane] = __ballot_sync(low, lane > 7);
        } else {
            ballots[lane] = __ballot_sync(all & ~low, lane & 1);
        }
        v += __shfl_sync(all, v, 31);
        v += __any_sync(all, lane == 5) ? 1000000 : 0;
        v += __all_sync(all, lane < 32) ? 2000000 : 0;
        out[lane] = v;
    }"""
    out, ballots = gpu.run(
        source,
        "masked",
        1,
        32,
        InOut(np.zeros(32, np.int32)),
        InOut(np.zeros(32, np.uint64)),
    )
    lane = np.arange(32)
    v = np.where(lane < 16, (lane ^ 3) * 10, lane * 10)
    yield same("out", out, v + v[31] + 3000000)
    low = sum(1 << i for i in range(8, 16))
    high = sum(1 << i for i in range(17, 32, 2))
    yield same("ballots", ballots, np.where(lane < 16, low, high).astype(np.uint64))


@case(warp_sizes=BOTH)
def warps_of_a_two_dimensional_block(gpu: Gpu) -> Iterator[Check]:
    """Lanes are counted with x fastest, also where a row is shorter than a warp."""
    source = """
    extern "C" __global__ void rows(int *out) {
        int linear = threadIdx.y * blockDim.x + threadIdx.x;
        int first = __shfl(linear, 0);
        int sum = linear;
        for (int o = 1; o < warpSize; o *= 2) sum += __shfl_xor(sum, o);
        out[linear] = first * 100000 + sum;
    }"""
    n = 12 * 16
    (got,) = gpu.run(source, "rows", 1, (12, 16), InOut(np.zeros(n, np.int32)))
    size = gpu.warp_size
    linear = np.arange(n).reshape(-1, size)
    want = linear[:, :1] * 100000 + linear.sum(axis=1, keepdims=True)
    yield same("out", got, np.repeat(want, size, axis=1).ravel())


@case(warp_sizes=BOTH)
def softmax_with_one_warp_a_row(gpu: Gpu) -> Iterator[Check]:
    source = """
    #include <math.h>
    extern "C" __global__ void softmax(const float *x, float *y, int rows,
                                       int columns) {
        int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
        if (row >= rows) return;
        float top = -INFINITY;
        for (int c = lane; c < columns; c += warpSize)
            top = fmaxf(top, x[row * columns + c]);
        for (int o = warpSize / 2; o > 0; o >>= 1) top = fmaxf(top, __shfl_xor(top, o));
        float sum = 0;
        for (int c = lane; c < columns; c += warpSize)
            sum += expf(x[row * columns + c] - top);
        for (int o = warpSize / 2; o > 0; o >>= 1) sum += __shfl_xor(sum, o);
        for (int c = lane; c < columns; c += warpSize)
            y[row * columns + c] = expf(x[row * columns + c] - top) / sum;
    }"""
    rows, columns = 13, 203
    x = 5 * floats(rows * columns, 47).reshape(rows, columns)
    (got,) = gpu.run(
        source,
        "softmax",
        blocks(rows, 4),
        (gpu.warp_size, 4),
        In(x),
        InOut(np.zeros_like(x)),
        np.int32(rows),
        np.int32(columns),
    )
    power = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    want = power / power.sum(axis=1, keepdims=True)
    yield close("y", got, want, rtol=2e-5, bitwise=False)


@case()
def leader_of_each_group_of_equal_keys(gpu: Gpu) -> Iterator[Check]:
    """Lanes with one key find each other by ballots, in rounds that lanes leave."""
    source = """
    extern "C" __global__ void groups(const int *keys, int *out) {
        int lane = threadIdx.x, key = keys[lane], size = 0;
        bool done = false;
        while (!done) {
            unsigned long long open = __ballot(1);
            int leader = __ffsll(open) - 1;
            int chosen = __shfl(key, leader);
            bool mine = chosen == key;
            unsigned long long members = __ballot(mine);
            if (mine) {
                size = __popcll(members);
                done = true;
            }
        }
        out[lane] = size;
    }"""
    keys = np.random.default_rng(48).integers(0, 6, 32).astype(np.int32)
    (got,) = gpu.run(source, "groups", 1, 32, In(keys), InOut(np.zeros_like(keys)))
    yield same("out", got, np.bincount(keys)[keys])


@case()
def warp_sums_feed_a_block_barrier_in_a_loop(gpu: Gpu) -> Iterator[Check]:
    """Warp calls and block barriers alternate inside one loop."""
    source = """
    extern "C" __global__ void rounds(const int *x, int *out, int count) {
        __shared__ int sums[4];
        int t = threadIdx.x, total = 0;
        for (int r = 0; r < count; r++) {
            int v = x[r * 128 + t];
            for (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o);
            if (t % 32 == 0) sums[t / 32] = v;
            __syncthreads();
            total += sums[0] + sums[1] + sums[2] + sums[3];
            __syncthreads();
        }
        out[t] = total;
    }"""
    x = np.random.default_rng(49).integers(-99, 99, (7, 128)).astype(np.int32)
    (got,) = gpu.run(
        source, "rounds", 1, 128, In(x), InOut(np.zeros(128, np.int32)), np.int32(7)
    )
    yield same("out", got, np.full(128, x.sum()))


@case(warp_sizes=BOTH)
def ballots_have_a_bit_for_every_lane(gpu: Gpu) -> Iterator[Check]:
    source = """
    typedef unsigned long long u64;
    extern "C" __global__ void bits(const int *x, u64 *out) {
        int t = threadIdx.x;
        u64 *o = out + 8 * t, all = __activemask();
        o[0] = __ballot(x[t]);
        o[1] = __ballot_sync(all, !x[t]);
        o[2] = all;
        o[3] = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 5));
        o[4] = __lanemask_lt() | __lanemask_ge();
        o[5] = __mbcnt_hi((unsigned)(o[0] >> 32), __mbcnt_lo((unsigned)o[0], 0));
        o[6] = x[t] ? __ballot(1) : __ballot(2);
        o[7] = __any_sync(all, x[t] > 1) * 2 + __all_sync(all, x[t] < 2);
    }"""
    n, size = 150, gpu.warp_size
    x = np.random.default_rng(4).integers(0, 2, n).astype(np.int32)
    (got,) = gpu.run(source, "bits", 1, n, In(x), InOut(np.zeros((n, 8), np.uint64)))
    want = np.zeros_like(got)
    for begin in range(0, n, size):
        values = x[begin : begin + size]
        bit = np.uint64(1) << np.arange(values.size, dtype=np.uint64)
        for lane, value in enumerate(values):
            want[begin + lane] = [
                bit[values == 1].sum(),
                bit[values == 0].sum(),
                bit.sum(),
                lane + 5,
                2**size - 1,
                (values[:lane] == 1).sum(),
                bit[values == value].sum(),
                1,
            ]
    yield same("out", got, want)


@case(warp_sizes=BOTH)
def reductions_over_masks(gpu: Gpu) -> Iterator[Check]:
    source = """
    template <class T> __device__ void all(T v, unsigned long long mask, T *o) {
        o[0] = __reduce_add_sync(mask, v);
        o[1] = __reduce_min_sync(mask, v);
        o[2] = __reduce_max_sync(mask, v);
        if constexpr (__is_integral(T)) {
            o[3] = __reduce_and_sync(mask, v);
            o[4] = __reduce_or_sync(mask, v);
            o[5] = __reduce_xor_sync(mask, v);
        }
    }
    #define KERNEL(name, T) extern "C" __global__ void name(const T *x, T *out, int k) { \\
        int t = threadIdx.x;                                                             \\
        unsigned long long mask = __ballot(t % k == 0);                                  \\
        if (t % k != 0) mask = __activemask() & ~mask;                                   \\
        all(x[t], mask, out + 6 * t); }
    KERNEL(ints, int)
    KERNEL(longs, unsigned long long)
    KERNEL(doubles, double)
    """.replace("\\\\", "\\")
    module = gpu.build(source)
    size = gpu.warp_size
    for name, dtype in (
        ("ints", np.int32),
        ("longs", np.uint64),
        ("doubles", np.float64),
    ):
        for k, n in ((1, 64), (3, 100), (7, 128)):
            x = np.random.default_rng(k).integers(0, 1000, n).astype(dtype)
            (got,) = gpu.call(
                module, name, 1, n, In(x), InOut(np.zeros((n, 6), dtype)), np.int32(k)
            )
            want = np.zeros_like(got)
            for begin in range(0, n, size):
                lanes = np.arange(begin, min(begin + size, n))
                # Lanes that are no multiples reach the mask from their own branch.
                for part in (lanes % k == 0, lanes % k != 0):
                    v = x[lanes[part]]
                    if v.size == 0:
                        continue
                    row = [v.sum(), v.min(), v.max()]
                    if dtype is not np.float64:
                        row += [f.reduce(v) for f in (
                            np.bitwise_and, np.bitwise_or, np.bitwise_xor)]  # fmt: skip
                    want[lanes[part], : len(row)] = row
            yield same(f"{name} {k}", got, want)


@case(warp_sizes=BOTH)
def lanes_that_match(gpu: Gpu) -> Iterator[Check]:
    """Numbers are compared, so that the two zeros are one."""
    source = """
    typedef unsigned long long u64;
    extern "C" __global__ void match(const float *x, const long long *y, u64 *out) {
        int t = threadIdx.x, same;
        u64 *o = out + 5 * t;
        o[0] = __match_any(x[t]);
        o[1] = __match_any_sync(__activemask(), y[t]);
        o[2] = __match_all(y[t] >> 60, &same);
        o[3] = same;
        o[4] = __match_all_sync(__activemask(), x[t], &same) + same;
    }"""
    n, size = 128, gpu.warp_size
    rng = np.random.default_rng(6)
    x = rng.choice(np.array([0.0, -0.0, 1.5, -2.0], np.float32), n)
    y = rng.integers(0, 4, n) << 40
    (got,) = gpu.run(
        source, "match", 1, n, In(x), In(y), InOut(np.zeros((n, 5), np.uint64))
    )
    want = np.zeros_like(got)
    bit = np.uint64(1) << np.arange(size, dtype=np.uint64)
    for t in range(n):
        warp = slice(t // size * size, t // size * size + size)
        want[t] = [
            bit[x[warp] == x[t]].sum(),
            bit[y[warp] == y[t]].sum(),
            bit.sum(),
            1,
            0,
        ]
    yield same("out", got, want)


@case(warp_sizes=BOTH)
def permutations_by_their_old_names(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void permute(const int *x, const int *to, int *out) {
        int t = threadIdx.x, *o = out + 7 * t;
        o[0] = __hip_ds_bpermute(to[t] * 4, (unsigned)x[t]);
        o[1] = __hip_ds_permute(to[t] * 4, (unsigned)x[t]);
        o[2] = __builtin_amdgcn_readfirstlane(x[t]);
        o[3] = __builtin_amdgcn_readlane(x[t], 3);
        o[4] = (int)__hip_ds_bpermutef(to[t] * 4, (float)x[t]);
        o[5] = __builtin_amdgcn_ds_bpermute(to[t] << 2, x[t]);
        o[6] = 0;
        if (t % 4 == 2) o[6] = __hip_readfirstlane(x[t]);
    }"""
    n, size = 128, gpu.warp_size
    rng = np.random.default_rng(7)
    x = rng.integers(1, 1000, n).astype(np.int32)
    to = rng.integers(0, size, n).astype(np.int32)
    (got,) = gpu.run(
        source, "permute", 1, n, In(x), In(to), InOut(np.zeros((n, 7), np.int32))
    )
    want = np.zeros_like(got)
    for begin in range(0, n, size):
        v, target = x[begin : begin + size], to[begin : begin + size]
        sent = np.zeros(size, np.int32)
        for lane in range(size):  # the highest lane's value stays
            sent[target[lane]] = v[lane]
        for lane in range(size):
            pulled = v[target[lane]]
            first = v[2] if lane % 4 == 2 else 0
            want[begin + lane] = [
                pulled, sent[lane], v[0], v[3], pulled, pulled, first,
            ]  # fmt: skip
    yield same("out", got, want)


@case()
def clocks_count_nanoseconds(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void clocks(long long *out) {
        long long a[6], b[6];
        a[0] = clock64(); a[1] = wall_clock64(); a[2] = clock(); a[3] = __clock64();
        a[4] = __builtin_readcyclecounter(); a[5] = __builtin_amdgcn_s_memtime();
        while (clock64() - a[0] < 3000000) ;
        b[0] = clock64(); b[1] = wall_clock64(); b[2] = clock(); b[3] = __clock64();
        b[4] = __builtin_readcyclecounter(); b[5] = __builtin_amdgcn_s_memtime();
        for (int i = 0; i < 6; i++) out[i] = b[i] - a[i];
    }"""
    (got,) = gpu.run(source, "clocks", 1, 1, InOut(np.zeros(6, np.int64)))
    yield same("at least 2.9 ms", got > 2900000, np.ones(6, bool))
    yield same("less than 10 s", got < 10**10, np.ones(6, bool))
