# SPDX-License-Identifier: MIT
"""Kernels without barriers: grid and block shapes, addresses, early returns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..case import Check, case, close, same
from ..gpu import Gpu, In, InOut, blocks, ok


def floats(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, count).astype(np.float32)


SAXPY = """
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}"""


@case()
def saxpy_with_ragged_last_block(gpu: Gpu) -> Iterator[Check]:
    n = 1003
    x, y = floats(n, 1), floats(n + 50, 2)
    (got,) = gpu.run(
        SAXPY, "saxpy", 5, 256, np.float32(2.5), In(x), InOut(y), np.int32(n)
    )
    yield close("y", got[:n], 2.5 * x + y[:n], atol=1e-6)
    yield same("behind the end", got[n:], y[n:])


@case()
def saxpy_for_every_small_size(gpu: Gpu) -> Iterator[Check]:
    module = gpu.build(SAXPY)
    for n in (1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 129):
        x, y = floats(n, n), floats(n + 3, n + 1)
        (got,) = gpu.call(
            module,
            "saxpy",
            blocks(n, 32),
            32,
            np.float32(3),
            In(x),
            InOut(y),
            np.int32(n),
        )
        yield close(f"n={n}", got[:n], 3 * x + y[:n], atol=1e-6)
        yield same(f"behind n={n}", got[n:], y[n:])


@case()
def zero_size_work_touches_nothing(gpu: Gpu) -> Iterator[Check]:
    y = floats(64, 3)
    (got,) = gpu.run(SAXPY, "saxpy", 1, 64, np.float32(2), None, InOut(y), np.int32(0))
    yield same("y", got, y)


@case()
def daxpy_in_double(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void daxpy(double a, const double *x, double *y, long n) {
        long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) y[i] = a * x[i] + y[i];
    }"""
    x = np.random.default_rng(4).normal(size=777)
    y = np.random.default_rng(5).normal(size=777)
    (got,) = gpu.run(
        source, "daxpy", 7, 128, np.float64(0.1), In(x), InOut(y), np.int64(777)
    )
    yield close("y", got, 0.1 * x + y, rtol=1e-12, atol=1e-12)


@case()
def two_dimensional_stencil_on_odd_sizes(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void stencil(const float *__restrict__ in,
                                       float *__restrict__ out, int w, int h) {
        int x = blockIdx.x * blockDim.x + threadIdx.x;
        int y = blockIdx.y * blockDim.y + threadIdx.y;
        if (x > 0 && y > 0 && x < w - 1 && y < h - 1)
            out[y * w + x] = 0.2f * (in[y * w + x] + in[y * w + x - 1] +
                in[y * w + x + 1] + in[(y - 1) * w + x] + in[(y + 1) * w + x]);
    }"""
    module = gpu.build(source)
    for width, height, block in ((61, 37, (16, 16)), (130, 5, (32, 8)), (3, 3, (8, 4))):
        field = floats(width * height, 6).reshape(height, width)
        (got,) = gpu.call(
            module,
            "stencil",
            (blocks(width, block[0]), blocks(height, block[1])),
            block,
            In(field),
            InOut(np.full_like(field, -9)),
            np.int32(width),
            np.int32(height),
        )
        want = np.full_like(field, -9)
        want[1:-1, 1:-1] = np.float32(0.2) * (
            field[1:-1, 1:-1]
            + field[1:-1, :-2]
            + field[1:-1, 2:]
            + field[:-2, 1:-1]
            + field[2:, 1:-1]
        )
        yield close(f"{width}x{height}", got, want, atol=1e-6)


@case()
def three_dimensional_grid_and_block(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void where(int *out, int nx, int ny, int nz) {
        int x = blockIdx.x * blockDim.x + threadIdx.x;
        int y = blockIdx.y * blockDim.y + threadIdx.y;
        int z = blockIdx.z * blockDim.z + threadIdx.z;
        if (x >= nx || y >= ny || z >= nz) return;
        out[(z * ny + y) * nx + x] = x + 100 * y + 10000 * z +
            1000000 * (int)(gridDim.x * gridDim.y * gridDim.z);
    }"""
    nx, ny, nz = 11, 7, 5
    block = (4, 3, 2)
    grid = tuple(blocks(n, b) for n, b in zip((nx, ny, nz), block, strict=True))
    (got,) = gpu.run(
        source,
        "where",
        grid,
        block,
        InOut(np.zeros((nz, ny, nx), np.int32)),
        *(np.int32(n) for n in (nx, ny, nz)),
    )
    z, y, x = np.indices((nz, ny, nx))
    yield same("out", got, x + 100 * y + 10000 * z + 1000000 * int(np.prod(grid)))


@case()
def block_sizes_from_one_to_the_limit(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void count(int *out) {
        out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x * 10000 + blockIdx.x;
    }"""
    module = gpu.build(source)
    for block in (1, 3, 33, 100, 1000, 1024):
        (got,) = gpu.call(
            module, "count", 3, block, InOut(np.zeros((3, block), np.int32))
        )
        index, thread = np.indices((3, block))
        yield same(f"block {block}", got, thread * 10000 + index)


@case()
def grid_stride_loop(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void squares(const float *x, float *y, int n) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
             i += blockDim.x * gridDim.x)
            y[i] = x[i] * x[i];
    }"""
    x = floats(5003, 7)
    (got,) = gpu.run(
        source, "squares", 3, 64, In(x), InOut(np.zeros_like(x)), np.int32(x.size)
    )
    yield same("y", got, x * x)


@case()
def interior_and_misaligned_addresses(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void shift(const float *x, unsigned char *bytes, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        float v = x[i] + 1.0f;
        memcpy(bytes + 4 * i, &v, 4);
    }"""
    x = floats(100, 8)
    (got,) = gpu.run(
        source,
        "shift",
        4,
        32,
        In(x, offset=4),
        InOut(np.zeros(400, np.uint8), offset=3),
        np.int32(100),
    )
    yield same("bytes", got.view(np.float32), x + np.float32(1))


@case()
def gather_and_scatter(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void permute(const int *p, const float *x, float *gathered,
                                       float *scattered, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) {
            gathered[i] = x[p[i]];
            scattered[p[i]] = x[i];
        }
    }"""
    n = 500
    order = np.random.default_rng(9).permutation(n).astype(np.int32)
    x = floats(n, 10)
    gathered, scattered = gpu.run(
        source,
        "permute",
        blocks(n, 128),
        128,
        In(order),
        In(x),
        InOut(np.zeros_like(x)),
        InOut(np.zeros_like(x)),
        np.int32(n),
    )
    want = np.empty_like(x)
    want[order] = x
    yield same("gathered", gathered, x[order])
    yield same("scattered", scattered, want)


@case()
def neighbouring_lanes_read_and_write_one_array(gpu: Gpu) -> Iterator[Check]:
    """Input and output overlap at a distance: no lane may be reordered past another's
    element, and no lane order may be assumed either, so elements are disjoint."""
    source = """
    extern "C" __global__ void halves(float *x, int half) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < half) x[i + half] = x[i] * 2;
    }"""
    x = floats(402, 11)
    (got,) = gpu.run(source, "halves", 4, 64, InOut(x), np.int32(201))
    yield same("x", got, np.concatenate([x[:201], x[:201] * 2]))


@case()
def sixty_four_bit_indices(gpu: Gpu) -> Iterator[Check]:
    """Products that leave 32 bits, brought back into range before the access."""
    source = """
    extern "C" __global__ void wide(const long long *stride, long long *out, int n) {
        long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        long long far = i * stride[0];
        out[far / stride[0]] = far - 3000000000LL;
    }"""
    stride = np.array([5_000_000_019], np.int64)
    (got,) = gpu.run(
        source,
        "wide",
        3,
        100,
        In(stride),
        InOut(np.zeros(257, np.int64)),
        np.int32(257),
    )
    yield same("out", got, np.arange(257) * stride[0] - 3_000_000_000)


@case()
def table_of_pointers(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void rows(float **rows, float *sums, int count, int length) {
        int r = threadIdx.x;
        if (r >= count) return;
        float sum = 0;
        for (int i = 0; i < length; i++) sum += rows[r][i];
        sums[r] = sum;
        rows[r][0] = -sum;
    }"""
    data = floats(60, 12).reshape(6, 10)
    addresses = [gpu.upload(row) for row in data]
    (sums,) = gpu.run(
        source,
        "rows",
        1,
        32,
        In(np.array(addresses, np.uint64)),
        InOut(np.zeros(6, np.float32)),
        np.int32(6),
        np.int32(10),
    )
    want = np.zeros(6, np.float32)
    for column in data.T:
        want += column
    yield close("sums", sums, want, atol=1e-6)
    first = [gpu.download(address, data[0])[0] for address in addresses]
    yield same("first elements", np.array(first), -sums)


@case()
def narrow_integer_arrays(gpu: Gpu) -> Iterator[Check]:
    """8 and 16 bit elements wrap when stored and widen with their own sign."""
    source = """
    extern "C" __global__ void narrow(const signed char *a, const unsigned char *b,
                                      short *c, unsigned short *d, int *wide, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        c[i] = a[i] * 300;
        d[i] = b[i] * 300 - 1;
        wide[i] = a[i] - b[i];
    }"""
    n = 300
    rng = np.random.default_rng(13)
    a = rng.integers(-128, 128, n).astype(np.int8)
    b = rng.integers(0, 256, n).astype(np.uint8)
    c, d, wide = gpu.run(
        source,
        "narrow",
        3,
        128,
        In(a),
        In(b),
        InOut(np.zeros(n, np.int16)),
        InOut(np.zeros(n, np.uint16)),
        InOut(np.zeros(n, np.int32)),
        np.int32(n),
    )
    yield same("short", c, (a.astype(int) * 300).astype(np.int16))
    yield same("unsigned short", d, (b.astype(int) * 300 - 1).astype(np.uint16))
    yield same("int", wide, a.astype(int) - b.astype(int))


@case()
def records_in_an_array(gpu: Gpu) -> Iterator[Check]:
    source = """
    struct Particle { float x, y; double mass; int id; };
    extern "C" __global__ void step(Particle *p, float dt, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        Particle q = p[i];
        q.x += dt * q.id;
        q.y -= dt;
        q.mass *= 2;
        p[i] = q;
    }"""
    layout = np.dtype(
        [("x", "f4"), ("y", "f4"), ("mass", "f8"), ("id", "i4")], align=True
    )
    particles = np.zeros(70, layout)
    particles["id"] = np.arange(70)
    particles["mass"] = np.linspace(0, 1, 70)
    (got,) = gpu.run(
        source, "step", 3, 32, InOut(particles), np.float32(0.5), np.int32(70)
    )
    yield same("x", got["x"], np.arange(70, dtype=np.float32) * np.float32(0.5))
    yield same("y", got["y"], np.full(70, -0.5, np.float32))
    yield same("mass", got["mass"], particles["mass"] * 2)
    yield same("id", got["id"], particles["id"])


@case()
def many_early_returns(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void classify(const int *x, int *out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        int v = x[i];
        out[i] = 1;
        if (v < 0) return;
        out[i] = 2;
        if (v % 2) { out[i] = v; return; }
        for (int k = 0; k < 10; k++)
            if (k * k == v) { out[i] = -k; return; }
        out[i] = 3;
    }"""
    x = np.random.default_rng(14).integers(-50, 100, 400).astype(np.int32)
    (got,) = gpu.run(
        source, "classify", 4, 128, In(x), InOut(np.zeros_like(x)), np.int32(400)
    )
    root = np.round(np.sqrt(np.maximum(x, 0))).astype(int)
    square = (root * root == x) & (root < 10)
    want = np.select([x < 0, x % 2 == 1, square], [1, x, -root], 3)
    yield same("out", got, want)


@case()
def one_source_launched_on_two_streams(gpu: Gpu) -> Iterator[Check]:
    from hipadapt import hip

    module = gpu.build(SAXPY)
    function = module.function("saxpy")
    streams = [ok(hip.hipStreamCreate()) for _ in range(2)]
    x = floats(3000, 15)
    source = gpu.upload(x)
    targets = [gpu.upload(np.zeros_like(x)) for _ in streams]
    for _ in range(5):
        for stream, target, scale in zip(streams, targets, (1, 2), strict=True):
            args = (np.float32(scale), source, target, np.int32(x.size))
            gpu.launch(function, blocks(x.size, 256), 256, args, stream=stream)
    for stream in streams:
        ok(hip.hipStreamSynchronize(stream))
        ok(hip.hipStreamDestroy(stream))
    for target, scale in zip(targets, (1, 2), strict=True):
        got = gpu.download(target, x)
        yield close(f"stream {scale}", got, 5 * scale * x, rtol=1e-5, atol=1e-6)
