# SPDX-License-Identifier: MIT
"""Block barriers and shared memory: the shapes that are easy to get wrong."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..case import Check, case, close, same
from ..gpu import Gpu, In, InOut, blocks
from .shapes import floats


@case()
def early_return_before_a_barrier(gpu: Gpu) -> Iterator[Check]:
    """Lanes of the ragged last block leave; the others still meet at the barrier."""
    source = """
    extern "C" __global__ void stage(const float *x, float *y, int n) {
        __shared__ float tile[256];
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        tile[threadIdx.x] = x[i];
        __syncthreads();
        y[i] = tile[threadIdx.x] * 2;
    }"""
    module = gpu.build(source)
    x = floats(1024, 20)
    for n in (1024, 1000, 769, 1):
        (got,) = gpu.call(
            module,
            "stage",
            4,
            256,
            In(x),
            InOut(np.full(1024, -1, np.float32)),
            np.int32(n),
        )
        yield same(f"n={n}", got[:n], x[:n] * 2)
        yield same(f"behind n={n}", got[n:], np.full(1024 - n, -1, np.float32))


@case()
def guards_around_a_barrier(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void mirror(const float *x, float *y, int n) {
        __shared__ float tile[128];
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        tile[threadIdx.x] = i < n ? x[i] : -5.0f;
        __syncthreads();
        if (i < n) y[i] = tile[blockDim.x - 1 - threadIdx.x];
    }"""
    x = floats(500, 21)
    (got,) = gpu.run(
        source, "mirror", 4, 128, In(x), InOut(np.zeros_like(x)), np.int32(500)
    )
    padded = np.concatenate([x, np.full(12, -5, np.float32)])
    yield same("y", got, padded.reshape(4, 128)[:, ::-1].ravel()[:500])


@case()
def whole_warps_leave_before_a_barrier(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void survivors(int *out) {
        __shared__ int count;
        if (threadIdx.x == 0) count = 0;
        __syncthreads();
        if (threadIdx.x >= 64 + 16 * blockIdx.x) return;
        atomicAdd(&count, 1);
        __syncthreads();
        out[blockIdx.x * blockDim.x + threadIdx.x] = count;
    }"""
    (got,) = gpu.run(source, "survivors", 3, 256, InOut(np.zeros((3, 256), np.int32)))
    want = np.zeros((3, 256), np.int32)
    for block, alive in enumerate((64, 80, 96)):
        want[block, :alive] = alive
    yield same("out", got, want)


@case()
def inclusive_scan_of_a_block(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void scan(const int *x, int *y) {
        extern __shared__ int tile[];
        int t = threadIdx.x, base = blockIdx.x * blockDim.x;
        tile[t] = x[base + t];
        __syncthreads();
        for (int d = 1; d < blockDim.x; d *= 2) {
            int add = t >= d ? tile[t - d] : 0;
            __syncthreads();
            tile[t] += add;
            __syncthreads();
        }
        y[base + t] = tile[t];
    }"""
    x = np.random.default_rng(22).integers(-9, 9, (3, 200)).astype(np.int32)
    (got,) = gpu.run(source, "scan", 3, 200, In(x), InOut(np.zeros_like(x)), shared=800)
    yield same("y", got, np.cumsum(x, axis=1))


@case()
def exclusive_scan_over_many_blocks(gpu: Gpu) -> Iterator[Check]:
    """Work-efficient scan: up-sweep and down-sweep, block totals scanned by a second
    launch and added by a third."""
    source = """
    extern "C" __global__ void sweep(int *x, int *totals) {
        __shared__ int tile[256];
        int t = threadIdx.x, base = blockIdx.x * 256;
        tile[2 * t] = x[base + 2 * t];
        tile[2 * t + 1] = x[base + 2 * t + 1];
        int offset = 1;
        for (int d = 128; d > 0; d >>= 1, offset *= 2) {
            __syncthreads();
            if (t < d) {
                int a = offset * (2 * t + 1) - 1, b = a + offset;
                tile[b] += tile[a];
            }
        }
        if (t == 0) {
            totals[blockIdx.x] = tile[255];
            tile[255] = 0;
        }
        for (int d = 1; d < 256; d *= 2) {
            offset >>= 1;
            __syncthreads();
            if (t < d) {
                int a = offset * (2 * t + 1) - 1, b = a + offset;
                int kept = tile[a];
                tile[a] = tile[b];
                tile[b] += kept;
            }
        }
        __syncthreads();
        x[base + 2 * t] = tile[2 * t];
        x[base + 2 * t + 1] = tile[2 * t + 1];
    }
    extern "C" __global__ void add(int *x, const int *totals) {
        x[blockIdx.x * 256 + threadIdx.x] += totals[blockIdx.x];
    }"""
    module = gpu.build(source)
    sweep = module.function("sweep")
    x = np.random.default_rng(23).integers(0, 100, 256 * 256).astype(np.int32)
    data = gpu.upload(x)
    totals = gpu.upload(np.zeros(256, np.int32))
    grand = gpu.upload(np.zeros(1, np.int32))
    gpu.launch(sweep, 256, 128, (data, totals))
    gpu.launch(sweep, 1, 128, (totals, grand))
    gpu.launch(module.function("add"), 256, 256, (data, totals))
    gpu.wait()
    yield same("scan", gpu.download(data, x), np.cumsum(x) - x)
    yield same("total", gpu.download(grand, x[:1]), [x.sum()])


@case()
def transpose_through_tiles(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void transpose(const float *in, float *out, int w, int h) {
        __shared__ float tile[16][17];
        int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
        if (x < w && y < h) tile[threadIdx.y][threadIdx.x] = in[y * w + x];
        __syncthreads();
        x = blockIdx.y * 16 + threadIdx.x;
        y = blockIdx.x * 16 + threadIdx.y;
        if (x < h && y < w) out[y * h + x] = tile[threadIdx.x][threadIdx.y];
    }"""
    width, height = 83, 45
    field = floats(width * height, 24).reshape(height, width)
    (got,) = gpu.run(
        source,
        "transpose",
        (blocks(width, 16), blocks(height, 16)),
        (16, 16),
        In(field),
        InOut(np.zeros((width, height), np.float32)),
        np.int32(width),
        np.int32(height),
    )
    yield same("out", got, field.T)


@case()
def matrix_product_through_tiles(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void product(const float *a, const float *b, float *c,
                                       int m, int n, int depth) {
        __shared__ float ta[16][16], tb[16][16];
        int tx = threadIdx.x, ty = threadIdx.y;
        int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
        float sum = 0;
        for (int k = 0; k < depth; k += 16) {
            ta[ty][tx] = row < m && k + tx < depth ? a[row * depth + k + tx] : 0;
            tb[ty][tx] = k + ty < depth && column < n ? b[(k + ty) * n + column] : 0;
            __syncthreads();
            for (int i = 0; i < 16; i++) sum += ta[ty][i] * tb[i][tx];
            __syncthreads();
        }
        if (row < m && column < n) c[row * n + column] = sum;
    }"""
    m, n, depth = 50, 37, 61
    a = floats(m * depth, 25).reshape(m, depth)
    b = floats(depth * n, 26).reshape(depth, n)
    (got,) = gpu.run(
        source,
        "product",
        (blocks(n, 16), blocks(m, 16)),
        (16, 16),
        In(a),
        In(b),
        InOut(np.zeros((m, n), np.float32)),
        *(np.int32(v) for v in (m, n, depth)),
    )
    want = a.astype(np.float64) @ b.astype(np.float64)
    yield close("c", got, want, rtol=1e-4, atol=1e-5)


@case()
def tree_reduction_with_grid_stride(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void reduce(const float *x, float *partial, int n) {
        extern __shared__ float tile[];
        int t = threadIdx.x;
        float sum = 0;
        for (int i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x)
            sum += x[i];
        tile[t] = sum;
        __syncthreads();
        for (int d = blockDim.x / 2; d > 0; d >>= 1) {
            if (t < d) tile[t] += tile[t + d];
            __syncthreads();
        }
        if (t == 0) partial[blockIdx.x] = tile[0];
    }"""
    x = floats(10_007, 27)
    (got,) = gpu.run(
        source,
        "reduce",
        6,
        256,
        In(x),
        InOut(np.zeros(6, np.float32)),
        np.int32(x.size),
        shared=1024,
    )
    yield close("sum", got.sum(dtype=np.float64), x.sum(dtype=np.float64), atol=1e-3)


@case()
def last_block_finishes_the_reduction(gpu: Gpu) -> Iterator[Check]:
    """A ticket tells which block comes last; it reads what the others have fenced."""
    source = """
    __device__ unsigned ticket = 0;
    extern "C" __global__ void total(const int *x, int *partial, int *out, int n) {
        __shared__ int tile[128];
        __shared__ bool last;
        int t = threadIdx.x, i = blockIdx.x * 128 + t;
        tile[t] = i < n ? x[i] : 0;
        __syncthreads();
        for (int d = 64; d > 0; d >>= 1) {
            if (t < d) tile[t] += tile[t + d];
            __syncthreads();
        }
        if (t == 0) {
            partial[blockIdx.x] = tile[0];
            __threadfence();
            last = atomicAdd(&ticket, 1u) == gridDim.x - 1;
        }
        __syncthreads();
        if (last && t == 0) {
            int sum = 0;
            for (int b = 0; b < gridDim.x; b++) sum += ((volatile int *)partial)[b];
            *out = sum;
            ticket = 0;
        }
    }"""
    module = gpu.build(source)
    for n in (5000, 128, 1):
        x = np.random.default_rng(n).integers(-1000, 1000, n).astype(np.int32)
        count = blocks(n, 128)
        _, got = gpu.call(
            module,
            "total",
            count,
            128,
            In(x),
            InOut(np.zeros(count, np.int32)),
            InOut(np.zeros(1, np.int32)),
            np.int32(n),
        )
        yield same(f"n={n}", got, [x.sum()])


@case()
def histogram_with_shared_atomics(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void histogram(const unsigned char *x, unsigned *bins,
                                         int n) {
        __shared__ unsigned local[256];
        local[threadIdx.x] = 0;
        __syncthreads();
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
             i += blockDim.x * gridDim.x)
            atomicAdd(&local[x[i]], 1u);
        __syncthreads();
        atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
    }"""
    x = np.random.default_rng(28).binomial(255, 0.3, 20_011).astype(np.uint8)
    (got,) = gpu.run(
        source,
        "histogram",
        8,
        256,
        In(x),
        InOut(np.zeros(256, np.uint32)),
        np.int32(x.size),
    )
    yield same("bins", got, np.bincount(x, minlength=256))


@case()
def bitonic_sort_of_a_block(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void sort(int *x) {
        __shared__ int tile[512];
        int t = threadIdx.x;
        tile[t] = x[blockIdx.x * 512 + t];
        __syncthreads();
        for (int k = 2; k <= 512; k *= 2)
            for (int j = k / 2; j > 0; j /= 2) {
                int other = t ^ j;
                if (other > t) {
                    bool up = (t & k) == 0;
                    int a = tile[t], b = tile[other];
                    if ((a > b) == up) { tile[t] = b; tile[other] = a; }
                }
                __syncthreads();
            }
        x[blockIdx.x * 512 + t] = tile[t];
    }"""
    x = np.random.default_rng(29).integers(-(2**31), 2**31, (2, 512)).astype(np.int32)
    (got,) = gpu.run(source, "sort", 2, 512, InOut(x))
    yield same("x", got, np.sort(x, axis=1))


@case()
def barrier_in_a_loop_whose_count_is_data(gpu: Gpu) -> Iterator[Check]:
    """The trip count differs between blocks and is one for all lanes of a block."""
    source = """
    extern "C" __global__ void rotate(const int *counts, int *out) {
        __shared__ int ring[2][64];
        int t = threadIdx.x, now = 0;
        ring[0][t] = t;
        __syncthreads();
        for (int i = 0; i < counts[blockIdx.x]; i++) {
            ring[1 - now][t] = ring[now][(t + 1) % 64];
            now = 1 - now;
            __syncthreads();
        }
        out[blockIdx.x * 64 + t] = ring[now][t];
    }"""
    counts = np.array([0, 1, 5, 70], np.int32)
    (got,) = gpu.run(
        source, "rotate", 4, 64, In(counts), InOut(np.zeros((4, 64), np.int32))
    )
    yield same("out", got, (np.arange(64) + counts[:, None]) % 64)


@case()
def barriers_in_nested_loops_with_break(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void grow(int *out, int limit) {
        __shared__ int sum;
        int steps = 0;
        if (threadIdx.x == 0) sum = 0;
        __syncthreads();
        for (int i = 0; i < 10; i++) {
            for (int j = 0; ; j++) {
                __syncthreads();
                if (j > i) break;
                atomicAdd(&sum, 1);
                __syncthreads();
                steps++;
            }
            __syncthreads();
            if (sum >= limit) break;
            if (i % 2) continue;
            __syncthreads();
            steps += 100;
        }
        out[threadIdx.x] = steps * 10000 + sum;
    }"""
    (got,) = gpu.run(
        source, "grow", 1, 50, InOut(np.zeros(50, np.int32)), np.int32(700)
    )
    total = steps = 0
    for i in range(10):
        total += 50 * (i + 1)
        steps += i + 1
        if total >= 700:
            break
        steps += 0 if i % 2 else 100
    yield same("out", got, np.full(50, steps * 10000 + total))


@case()
def barrier_under_a_block_uniform_condition(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void odd(int *out) {
        __shared__ int tile[40];
        int t = threadIdx.x;
        int value = t;
        if (blockIdx.x & 1) {
            tile[t] = t * t;
            __syncthreads();
            value = tile[39 - t];
        }
        out[blockIdx.x * 40 + t] = value;
    }"""
    (got,) = gpu.run(source, "odd", 4, 40, InOut(np.zeros((4, 40), np.int32)))
    t = np.arange(40)
    yield same("out", got, np.array([t, (39 - t) ** 2] * 2))


@case()
def barrier_inside_functions(gpu: Gpu) -> Iterator[Check]:
    """Barriers in a function that is not inlined, and in one that calls itself."""
    source = """
    __shared__ int tile[96];
    __device__ __noinline__ int exchange(int value, int partner) {
        tile[threadIdx.x] = value;
        __syncthreads();
        int other = tile[partner];
        __syncthreads();
        return other;
    }
    __device__ __noinline__ int descend(int value, int depth) {
        if (depth == 0) return value;
        int next = exchange(value, (threadIdx.x + 1) % 96);
        return descend(next, depth - 1) + 1;
    }
    extern "C" __global__ void call(int *out) {
        out[threadIdx.x] = descend(threadIdx.x, 5);
    }"""
    (got,) = gpu.run(source, "call", 1, 96, InOut(np.zeros(96, np.int32)))
    yield same("out", got, (np.arange(96) + 5) % 96 + 5)


@case()
def counting_barriers(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void votes(const int *x, int *out) {
        int t = threadIdx.x, v = x[blockIdx.x * blockDim.x + t];
        int count = __syncthreads_count(v > 0);
        int all = __syncthreads_and(v > -100);
        int any = __syncthreads_or(v > 90);
        out[blockIdx.x * blockDim.x + t] = count * 100 + (all != 0) * 10 + (any != 0);
    }"""
    x = np.random.default_rng(30).integers(-101, 95, (6, 70)).astype(np.int32)
    (got,) = gpu.run(source, "votes", 6, 70, In(x), InOut(np.zeros_like(x)))
    row = (x > 0).sum(1) * 100 + (x > -100).all(1) * 10 + (x > 90).any(1)
    yield same("out", got, np.repeat(row[:, None], 70, axis=1))


@case()
def dynamic_shared_memory_as_several_types(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void carve(const double *x, double *out, int n) {
        extern __shared__ double doubles[];
        float *singles = (float *)(doubles + n);
        short *shorts = (short *)(singles + n);
        char *chars = (char *)(shorts + n);
        __shared__ int fixed[64];
        int t = threadIdx.x;
        doubles[t] = x[t];
        singles[t] = t * 0.5f;
        shorts[t] = t * 3;
        chars[t] = t;
        fixed[t] = 1000 * t;
        __syncthreads();
        int o = n - 1 - t;
        out[t] = doubles[o] + singles[o] + shorts[o] + chars[o] + fixed[o];
    }"""
    n = 64
    x = np.random.default_rng(31).normal(size=n)
    (got,) = gpu.run(
        source, "carve", 1, n, In(x), InOut(np.zeros(n)), np.int32(n), shared=n * 15
    )
    t = np.arange(n)
    yield close("out", got, (x + t * 0.5 + t * 3 + t + 1000 * t)[::-1], rtol=1e-14)


@case()
def shared_memory_of_a_template(gpu: Gpu) -> Iterator[Check]:
    """Each instance has static shared memory of its own type and size."""
    source = """
    template <class T, int N> __global__ void reverse(T *x) {
        __shared__ T tile[N];
        tile[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        x[threadIdx.x] = tile[N - 1 - threadIdx.x];
    }"""
    names = ("reverse<double, 48>", "reverse<unsigned char, 100>")
    module = gpu.build(source, names=names)
    for name, dtype, n in zip(names, (np.float64, np.uint8), (48, 100), strict=True):
        x = np.arange(n).astype(dtype)
        (got,) = gpu.call(module, name, 1, n, InOut(x))
        yield same(name, got, x[::-1])


@case()
def jacobi_with_halo_over_many_launches(gpu: Gpu) -> Iterator[Check]:
    source = """
    #define TILE 16
    extern "C" __global__ void jacobi(const float *in, float *out, int w, int h) {
        __shared__ float tile[TILE + 2][TILE + 2];
        int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
        int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
        int cx = min(x, w - 1), cy = min(y, h - 1);
        tile[ty][tx] = in[cy * w + cx];
        if (threadIdx.x == 0) tile[ty][0] = in[cy * w + max(cx - 1, 0)];
        if (threadIdx.x == TILE - 1)
            tile[ty][TILE + 1] = in[cy * w + min(cx + 1, w - 1)];
        if (threadIdx.y == 0) tile[0][tx] = in[max(cy - 1, 0) * w + cx];
        if (threadIdx.y == TILE - 1)
            tile[TILE + 1][tx] = in[min(cy + 1, h - 1) * w + cx];
        __syncthreads();
        if (x >= w || y >= h) return;
        bool edge = x == 0 || y == 0 || x == w - 1 || y == h - 1;
        out[y * w + x] = edge ? tile[ty][tx]
            : 0.25f * (tile[ty][tx - 1] + tile[ty][tx + 1] +
                       tile[ty - 1][tx] + tile[ty + 1][tx]);
    }"""
    width, height, steps = 70, 41, 12
    field = floats(width * height, 32).reshape(height, width)
    module = gpu.build(source)
    function = module.function("jacobi")
    pair = [gpu.upload(field), gpu.upload(field)]
    grid = (blocks(width, 16), blocks(height, 16))
    for step in range(steps):
        args = (pair[step % 2], pair[1 - step % 2], np.int32(width), np.int32(height))
        gpu.launch(function, grid, (16, 16), args)
    gpu.wait()
    want = field.copy()
    for _ in range(steps):
        inner = want[1:-1, :-2] + want[1:-1, 2:] + want[:-2, 1:-1] + want[2:, 1:-1]
        want[1:-1, 1:-1] = np.float32(0.25) * inner
    yield close("field", gpu.download(pair[steps % 2], field), want, atol=1e-5)


@case()
def fourier_transform_in_shared_memory(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void fft(float2 *x) {
        __shared__ float2 tile[256];
        int t = threadIdx.x;
        float2 *mine = x + blockIdx.x * 256;
        tile[__brev(t) >> 24] = mine[t];
        tile[__brev(t + 128) >> 24] = mine[t + 128];
        __syncthreads();
        for (int half = 1; half < 256; half *= 2) {
            int k = t % half, a = (t / half) * 2 * half + k, b = a + half;
            float angle = -3.14159265358979f * k / half;
            float c = cosf(angle), s = sinf(angle);
            float2 u = tile[a], v = tile[b];
            float2 w = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
            __syncthreads();
            tile[a] = make_float2(u.x + w.x, u.y + w.y);
            tile[b] = make_float2(u.x - w.x, u.y - w.y);
            __syncthreads();
        }
        mine[t] = tile[t];
        mine[t + 128] = tile[t + 128];
    }"""
    signal = (
        (floats(512, 33) + 1j * floats(512, 34)).astype(np.complex64).reshape(2, 256)
    )
    (got,) = gpu.run(source, "fft", 2, 128, InOut(signal))
    yield close("x", got, np.fft.fft(signal), atol=2e-4, rtol=0, bitwise=False)


@case()
def edit_distance_by_diagonals(gpu: Gpu) -> Iterator[Check]:
    """One barrier a diagonal; the number of active lanes grows and shrinks."""
    source = """
    extern "C" __global__ void distance(const char *a, const char *b, int na, int nb,
                                        int *out) {
        extern __shared__ int rows[];
        int width = na + 1, t = threadIdx.x;
        int *before = rows, *last = rows + width, *now = rows + 2 * width;
        for (int d = 0; d <= na + nb; d++) {
            int i = t, j = d - t;
            if (i <= na && j >= 0 && j <= nb) {
                int best;
                if (i == 0) best = j;
                else if (j == 0) best = i;
                else {
                    best = before[i - 1] + (a[i - 1] != b[j - 1]);
                    best = min(best, last[i - 1] + 1);
                    best = min(best, last[i] + 1);
                }
                now[i] = best;
                if (i == na && j == nb) *out = best;
            }
            __syncthreads();
            int *kept = before;
            before = last;
            last = now;
            now = kept;
        }
    }"""
    rng = np.random.default_rng(35)
    a = rng.integers(97, 101, 60).astype(np.uint8)
    b = rng.integers(97, 101, 75).astype(np.uint8)
    (got,) = gpu.run(
        source,
        "distance",
        1,
        64,
        In(a),
        In(b),
        np.int32(a.size),
        np.int32(b.size),
        InOut(np.zeros(1, np.int32)),
        shared=3 * 61 * 4,
    )
    table = np.zeros((a.size + 1, b.size + 1), int)
    table[:, 0], table[0] = np.arange(a.size + 1), np.arange(b.size + 1)
    for i in range(1, a.size + 1):
        for j in range(1, b.size + 1):
            change = table[i - 1, j - 1] + (a[i - 1] != b[j - 1])
            table[i, j] = min(change, table[i - 1, j] + 1, table[i, j - 1] + 1)
    yield same("distance", got, [table[-1, -1]])


@case()
def game_of_life_on_a_torus(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void life(unsigned char *cells, int generations) {
        __shared__ unsigned char board[24][24];
        int x = threadIdx.x, y = threadIdx.y;
        board[y][x] = cells[y * 24 + x];
        for (int g = 0; g < generations; g++) {
            __syncthreads();
            int around = 0;
            for (int dy = 23; dy <= 25; dy++)
                for (int dx = 23; dx <= 25; dx++)
                    if (dx != 24 || dy != 24)
                        around += board[(y + dy) % 24][(x + dx) % 24];
            __syncthreads();
            board[y][x] = around == 3 || (around == 2 && board[y][x]);
        }
        cells[y * 24 + x] = board[y][x];
    }"""
    cells = np.random.default_rng(36).integers(0, 2, (24, 24)).astype(np.uint8)
    (got,) = gpu.run(source, "life", 1, (24, 24), InOut(cells), np.int32(9))
    for _ in range(9):
        around = sum(
            np.roll(cells, (dy, dx), (0, 1))
            for dy in (-1, 0, 1)
            for dx in (-1, 0, 1)
            if dx or dy
        )
        cells = ((around == 3) | ((around == 2) & (cells == 1))).astype(np.uint8)
    yield same("cells", got, cells)


@case()
def many_barriers_in_loops(gpu: Gpu) -> Iterator[Check]:
    """More stretches between barriers than the compiler takes together; values live
    across all of them, and some are left out in some rounds."""
    steps = "".join(
        f"""
            tile[(t + {i}) % 96] = own * {i + 3} + kept;
            __syncthreads();
            if (t % {i + 2} == 0) kept += tile[(t * {i + 5}) % 96];
            __syncthreads();"""
        for i in range(8)
    )
    source = f"""
    extern "C" __global__ void meet(int *x, int rounds) {{
        __shared__ int tile[96];
        int t = threadIdx.x, own = x[t], kept = t;
        for (int round = 0; round < rounds; round++) {{{steps}
            for (int inner = 0; inner < round % 3; inner++) {{{steps}
            }}
        }}
        x[t] = kept;
    }}"""
    t = np.arange(96)
    x = np.random.default_rng(23).integers(-99, 99, 96).astype(np.int32)
    (got,) = gpu.run(source, "meet", 1, 96, InOut(x.copy()), np.int32(5))
    kept = t.astype(np.int32)
    with np.errstate(over="ignore"):
        for repeats in (1, 2, 3, 1, 2):  # of the steps: one, and those of `inner`
            for i in list(range(8)) * repeats:
                tile = np.empty(96, np.int32)
                tile[(t + i) % 96] = x * np.int32(i + 3) + kept
                kept = np.where(t % (i + 2) == 0, kept + tile[t * (i + 5) % 96], kept)
    yield same("x", got, kept)
