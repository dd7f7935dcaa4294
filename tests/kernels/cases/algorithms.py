# SPDX-License-Identifier: MIT
"""Small programs as people write them: simulation, images, random numbers, graphs."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np

from ..case import Check, case, close, same
from ..gpu import Gpu, In, InOut, blocks
from .shapes import floats


@case()
def attraction_of_many_bodies(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void forces(const float4 *p, float4 *f, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        float4 me = p[i];
        float ax = 0, ay = 0, az = 0;
        for (int j = 0; j < n; j++) {
            float dx = p[j].x - me.x, dy = p[j].y - me.y, dz = p[j].z - me.z;
            float r2 = dx * dx + dy * dy + dz * dz + 1e-2f;
            float inverse = rsqrtf(r2);
            float s = p[j].w * inverse * inverse * inverse;
            ax += dx * s; ay += dy * s; az += dz * s;
        }
        f[i] = make_float4(ax, ay, az, 0);
    }"""
    n = 203
    p = floats(4 * n, 80).reshape(n, 4)
    (got,) = gpu.run(
        source, "forces", 4, 64, In(p), InOut(np.zeros_like(p)), np.int32(n)
    )
    wide = p.astype(np.float64)
    d = wide[None, :, :3] - wide[:, None, :3]
    s = wide[:, 3] * ((d**2).sum(axis=2) + 1e-2) ** -1.5
    want = (d * s[:, :, None]).sum(axis=1)
    yield close("f", got[:, :3], want, rtol=1e-4, atol=1e-2, bitwise=False)


@case()
def mandelbrot_set(gpu: Gpu) -> Iterator[Check]:
    """Lanes leave the loop at different times.  Coordinates are small binary fractions,
    and the kernel fuses nothing, so counts are exact."""
    source = """
    extern "C" __global__ void mandelbrot(int *out, int w, int h, int limit) {
        int x = blockIdx.x * blockDim.x + threadIdx.x;
        int y = blockIdx.y * blockDim.y + threadIdx.y;
        if (x >= w || y >= h) return;
        double cr = x * 0.0625 - 2.0, ci = y * 0.0625 - 1.0, zr = 0, zi = 0;
        int n = 0;
        while (n < limit) {
            double rr = __dmul_rn(zr, zr), ii = __dmul_rn(zi, zi);
            if (__dadd_rn(rr, ii) > 4.0) break;
            double ri = __dmul_rn(zr, zi);
            zr = __dadd_rn(__dadd_rn(rr, -ii), cr);
            zi = __dadd_rn(__dadd_rn(ri, ri), ci);
            n++;
        }
        out[y * w + x] = n;
    }"""
    w, h, limit = 45, 33, 60
    (got,) = gpu.run(
        source,
        "mandelbrot",
        (blocks(w, 16), blocks(h, 8)),
        (16, 8),
        InOut(np.zeros((h, w), np.int32)),
        *(np.int32(v) for v in (w, h, limit)),
    )
    ci, cr = np.indices((h, w)) * 0.0625 - np.array([1.0, 2.0])[:, None, None]
    want = np.zeros((h, w), np.int32)
    for row, column in np.ndindex(h, w):
        zr = zi = 0.0
        n = 0
        while n < limit and zr * zr + zi * zi <= 4:
            ri = zr * zi
            zr, zi = zr * zr - zi * zi + cr[row, column], ri + ri + ci[row, column]
            n += 1
        want[row, column] = n
    yield same("out", got, want)


@case()
def random_numbers_by_xorshift(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void draw(unsigned *state, float *mean, int rounds) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        unsigned s = state[i];
        double sum = 0;
        for (int r = 0; r < rounds; r++) {
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
            sum += s / 4294967296.0;
        }
        state[i] = s;
        mean[i] = (float)(sum / rounds);
    }"""
    state = np.random.default_rng(81).integers(1, 2**32, 256).astype(np.uint32)
    got, mean = gpu.run(
        source,
        "draw",
        4,
        64,
        InOut(state),
        InOut(np.zeros(256, np.float32)),
        np.int32(100),
    )
    s, total = state.copy(), np.zeros(256)
    for _ in range(100):
        s ^= s << np.uint32(13)
        s ^= s >> np.uint32(17)
        s ^= s << np.uint32(5)
        total += s / 2.0**32
    yield same("state", got, s)
    yield close("mean", mean, total / 100, rtol=1e-6)


@case()
def pi_by_counting_points(gpu: Gpu) -> Iterator[Check]:
    """Linear congruential points; the count is a whole number and exact."""
    source = """
    extern "C" __global__ void throw_darts(unsigned long long *hits, int rounds) {
        unsigned long long s = blockIdx.x * blockDim.x + threadIdx.x + 1;
        int mine = 0;
        for (int r = 0; r < rounds; r++) {
            s = s * 6364136223846793005ull + 1442695040888963407ull;
            unsigned long long x = s >> 44;
            s = s * 6364136223846793005ull + 1442695040888963407ull;
            unsigned long long y = s >> 44;
            mine += x * x + y * y < (1ull << 40);
        }
        atomicAdd(hits, (unsigned long long)mine);
    }"""
    (got,) = gpu.run(
        source, "throw_darts", 10, 100, InOut(np.zeros(1, np.uint64)), np.int32(50)
    )
    s = np.arange(1, 1001, dtype=np.uint64)
    factor, step = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
    hits = 0
    for _ in range(50):
        s = s * factor + step
        x = s >> np.uint64(44)
        s = s * factor + step
        y = s >> np.uint64(44)
        hits += int((x * x + y * y < np.uint64(2**40)).sum())
    yield same("hits", got, [hits])


@case()
def sparse_matrix_times_vector(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void multiply(const int *first, const int *column,
                                        const double *value, const double *x, double *y,
                                        int rows) {
        int row = blockIdx.x * blockDim.x + threadIdx.x;
        if (row >= rows) return;
        double sum = 0;
        for (int k = first[row]; k < first[row + 1]; k++)
            sum += value[k] * x[column[k]];
        y[row] = sum;
    }"""
    rows = 150
    rng = np.random.default_rng(82)
    dense = np.where(rng.random((rows, rows)) < 0.05, rng.normal(size=(rows, rows)), 0)
    row, column = np.nonzero(dense)
    first = np.searchsorted(row, np.arange(rows + 1)).astype(np.int32)
    x = rng.normal(size=rows)
    (got,) = gpu.run(
        source,
        "multiply",
        3,
        64,
        In(first),
        In(column.astype(np.int32)),
        In(dense[row, column]),
        In(x),
        InOut(np.zeros(rows)),
        np.int32(rows),
    )
    yield close("y", got, dense @ x, rtol=1e-12, atol=1e-12)


@case()
def shortest_paths_between_all_nodes(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void relax(int *d, int n, int k) {
        int j = blockIdx.x * blockDim.x + threadIdx.x;
        int i = blockIdx.y * blockDim.y + threadIdx.y;
        if (i >= n || j >= n) return;
        int through = d[i * n + k] + d[k * n + j];
        if (through < d[i * n + j]) d[i * n + j] = through; // never in row or column k
    }"""
    n = 37
    rng = np.random.default_rng(83)
    d = np.where(rng.random((n, n)) < 0.15, rng.integers(1, 50, (n, n)), 10**6)
    d = d.astype(np.int32)
    np.fill_diagonal(d, 0)
    function = gpu.build(source).function("relax")
    memory = gpu.upload(d)
    for k in range(n):
        gpu.launch(function, (3, 5), (16, 8), (memory, np.int32(n), np.int32(k)))
    gpu.wait()
    want = d.copy()
    for k in range(n):
        want = np.minimum(want, want[:, k : k + 1] + want[k : k + 1])
    yield same("d", gpu.download(memory, d), want)


@case()
def edges_of_an_image(gpu: Gpu) -> Iterator[Check]:
    source = """
    __device__ int at(const unsigned char *p, int x, int y, int w, int h) {
        x = x < 0 ? 0 : x >= w ? w - 1 : x;
        y = y < 0 ? 0 : y >= h ? h - 1 : y;
        return p[y * w + x];
    }
    extern "C" __global__ void sobel(const unsigned char *p, unsigned char *out, int w,
                                     int h) {
        int x = blockIdx.x * blockDim.x + threadIdx.x;
        int y = blockIdx.y * blockDim.y + threadIdx.y;
        if (x >= w || y >= h) return;
        int gx = 0, gy = 0;
        for (int k = -1; k <= 1; k++) {
            int weight = 2 - abs(k);
            gx += weight * (at(p, x + 1, y + k, w, h) - at(p, x - 1, y + k, w, h));
            gy += weight * (at(p, x + k, y + 1, w, h) - at(p, x + k, y - 1, w, h));
        }
        int size = abs(gx) + abs(gy);
        out[y * w + x] = size > 255 ? 255 : size;
    }"""
    h, w = 29, 53
    image = np.random.default_rng(84).integers(0, 90, (h, w)).astype(np.uint8)
    (got,) = gpu.run(
        source,
        "sobel",
        (blocks(w, 16), blocks(h, 16)),
        (16, 16),
        In(image),
        InOut(np.zeros_like(image)),
        np.int32(w),
        np.int32(h),
    )
    p = np.pad(image.astype(int), 1, mode="edge")
    gx = gy = 0
    for k, weight in ((0, 1), (1, 2), (2, 1)):
        gx = gx + weight * (p[k : k + h, 2:] - p[k : k + h, :-2])
        gy = gy + weight * (p[2:, k : k + w] - p[:-2, k : k + w])
    yield same("out", got, np.minimum(np.abs(gx) + np.abs(gy), 255))


@case()
def convolution_with_constant_weights(gpu: Gpu) -> Iterator[Check]:
    source = """
    #define R 4
    __constant__ float weight[2 * R + 1];
    extern "C" __global__ void blur(const float *x, float *y, int n) {
        __shared__ float tile[128 + 2 * R];
        int t = threadIdx.x, i = blockIdx.x * 128 + t;
        for (int k = t; k < 128 + 2 * R; k += 128) {
            int from = blockIdx.x * 128 + k - R;
            tile[k] = from >= 0 && from < n ? x[from] : 0;
        }
        __syncthreads();
        if (i >= n) return;
        float sum = 0;
        #pragma unroll
        for (int k = -R; k <= R; k++) sum += weight[k + R] * tile[t + R + k];
        y[i] = sum;
    }"""
    n = 700
    x = floats(n, 85)
    weight = np.exp(-((np.arange(9) - 4.0) ** 2) / 8).astype(np.float32)
    module = gpu.build(source)
    gpu.write(module.variable("weight")[0], weight)
    (got,) = gpu.call(
        module, "blur", blocks(n, 128), 128, In(x), InOut(np.zeros_like(x)), np.int32(n)
    )
    yield close("y", got, np.convolve(x, weight, mode="same"), rtol=1e-5, atol=1e-5)


@case()
def checksum_of_each_row(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void crc32(const unsigned char *data, int length,
                                     unsigned *out) {
        const unsigned char *row = data + (size_t)threadIdx.x * length;
        unsigned crc = 0xffffffffu;
        for (int i = 0; i < length; i++) {
            crc ^= row[i];
            for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
        }
        out[threadIdx.x] = ~crc;
    }"""
    data = np.random.default_rng(86).integers(0, 256, (33, 71)).astype(np.uint8)
    (got,) = gpu.run(
        source, "crc32", 1, 33, In(data), np.int32(71), InOut(np.zeros(33, np.uint32))
    )
    yield same("out", got, np.array([zlib.crc32(row.tobytes()) for row in data]))


@case()
def option_prices(gpu: Gpu) -> Iterator[Check]:
    source = """
    __device__ double normal(double x) { return 0.5 * erfc(-x * sqrt(0.5)); }
    extern "C" __global__ void prices(const double *spot, const double *strike,
                                      const double *years, double *call, double *put,
                                      double rate, double sigma, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        double root = sqrt(years[i]);
        double d1 = (log(spot[i] / strike[i]) + (rate + sigma * sigma / 2) * years[i]) /
                    (sigma * root);
        double d2 = d1 - sigma * root, discount = exp(-rate * years[i]);
        call[i] = spot[i] * normal(d1) - strike[i] * discount * normal(d2);
        put[i] = strike[i] * discount * normal(-d2) - spot[i] * normal(-d1);
    }"""
    n = 300
    rng = np.random.default_rng(87)
    spot, strike = rng.uniform(10, 100, (2, n))
    years = rng.uniform(0.1, 5, n)
    call, put = gpu.run(
        source,
        "prices",
        3,
        128,
        *(In(spot), In(strike), In(years), InOut(np.zeros(n)), InOut(np.zeros(n))),
        *(np.float64(0.02), np.float64(0.3), np.int32(n)),
    )
    # Put-call parity needs no other implementation of the normal distribution.
    parity = spot - strike * np.exp(-0.02 * years)
    yield close("parity", call - put, parity, rtol=1e-9, atol=1e-9, bitwise=False)
    yield same("bounds", (call >= parity - 1e-9) & (call <= spot), np.ones(n, bool))


@case()
def nearest_neighbours(gpu: Gpu) -> Iterator[Check]:
    """Tiles of points in shared memory; each lane keeps a sorted list of three."""
    source = """
    extern "C" __global__ void nearest(const int2 *p, int *out, int n) {
        __shared__ int2 tile[64];
        int i = blockIdx.x * 64 + threadIdx.x;
        int2 me = i < n ? p[i] : make_int2(0, 0);
        long long best[3] = {1LL << 60, 1LL << 60, 1LL << 60};
        for (int base = 0; base < n; base += 64) {
            __syncthreads();
            if (base + threadIdx.x < n) tile[threadIdx.x] = p[base + threadIdx.x];
            __syncthreads();
            for (int k = 0; k < 64 && base + k < n; k++) {
                if (base + k == i) continue;
                long long dx = tile[k].x - me.x, dy = tile[k].y - me.y;
                long long key = (dx * dx + dy * dy) * 1024 + base + k;
                for (int s = 0; s < 3; s++)
                    if (key < best[s]) {
                        long long old = best[s];
                        best[s] = key;
                        key = old;
                    }
            }
        }
        if (i < n)
            for (int s = 0; s < 3; s++) out[3 * i + s] = (int)(best[s] & 1023);
    }"""
    n = 170
    p = np.random.default_rng(88).integers(-1000, 1000, (n, 2)).astype(np.int32)
    (got,) = gpu.run(
        source, "nearest", 3, 64, In(p), InOut(np.zeros((n, 3), np.int32)), np.int32(n)
    )
    d = ((p[:, None].astype(np.int64) - p) ** 2).sum(axis=2) * 1024 + np.arange(n)
    np.fill_diagonal(d, 2**60)
    yield same("out", got, np.argsort(d, axis=1)[:, :3])


@case()
def sieve_of_primes(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void sieve(unsigned char *composite, int n) {
        int p = blockIdx.x * blockDim.x + threadIdx.x + 2;
        if (p * p >= n) return;
        for (int q = 2; q * q <= p; q++)
            if (p % q == 0) return;
        for (int m = p * p; m < n; m += p) composite[m] = 1;
    }"""
    n = 5000
    (got,) = gpu.run(source, "sieve", 2, 64, InOut(np.zeros(n, np.uint8)), np.int32(n))
    primes = [v for v in range(2, n) if all(v % q for q in range(2, int(v**0.5) + 1))]
    yield same("primes", np.flatnonzero(got[2:] == 0) + 2, primes)


@case()
def heat_in_three_dimensions(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void heat(const double *in, double *out, int nx, int ny,
                                    int nz, double k) {
        int x = blockIdx.x * blockDim.x + threadIdx.x;
        int y = blockIdx.y * blockDim.y + threadIdx.y;
        int z = blockIdx.z * blockDim.z + threadIdx.z;
        if (x < 1 || y < 1 || z < 1) return;
        if (x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
        size_t i = ((size_t)z * ny + y) * nx + x, row = nx, plane = (size_t)nx * ny;
        out[i] = in[i] + k * (in[i - 1] + in[i + 1] + in[i - row] + in[i + row] +
                              in[i - plane] + in[i + plane] - 6 * in[i]);
    }"""
    shape = (9, 14, 21)
    field = np.random.default_rng(89).normal(size=shape)
    (got,) = gpu.run(
        source,
        "heat",
        (3, 4, 5),
        (8, 4, 2),
        In(field),
        InOut(field),
        *(np.int32(v) for v in shape[::-1]),
        np.float64(0.1),
    )
    want = field.copy()
    inner = field[1:-1, 1:-1, 1:-1]
    around = field[1:-1, 1:-1, :-2] + field[1:-1, 1:-1, 2:]
    around = around + field[1:-1, :-2, 1:-1] + field[1:-1, 2:, 1:-1]
    around = around + field[:-2, 1:-1, 1:-1] + field[2:, 1:-1, 1:-1]
    want[1:-1, 1:-1, 1:-1] = inner + 0.1 * (around - 6 * inner)
    yield close("out", got, want, rtol=1e-12, atol=1e-12)


@case()
def radix_sort_by_one_bit_passes(gpu: Gpu) -> Iterator[Check]:
    """Each pass splits a block's keys by ballot and a scan of warp totals; stable."""
    source = """
    extern "C" __global__ void sort(unsigned *keys, int bits) {
        __shared__ unsigned tile[256];
        __shared__ int zeros[8];
        int t = threadIdx.x, lane = t % 32, warp = t / 32;
        unsigned key = keys[blockIdx.x * 256 + t];
        for (int b = 0; b < bits; b++) {
            bool one = key >> b & 1;
            unsigned low = (unsigned)__ballot(!one);
            if (lane == 0) zeros[warp] = __popc(low);
            __syncthreads();
            int before = 0, all = 0;
            for (int w = 0; w < 8; w++) {
                if (w < warp) before += zeros[w];
                all += zeros[w];
            }
            int rank = before + __popc(low & ((1u << lane) - 1));
            int place = one ? all + t - rank : rank;
            tile[place] = key;
            __syncthreads();
            key = tile[t];
            __syncthreads();
        }
        keys[blockIdx.x * 256 + t] = key;
    }"""
    keys = np.random.default_rng(90).integers(0, 4096, (2, 256)).astype(np.uint32)
    (got,) = gpu.run(source, "sort", 2, 256, InOut(keys), np.int32(12))
    yield same("keys", got, np.sort(keys, axis=1))
