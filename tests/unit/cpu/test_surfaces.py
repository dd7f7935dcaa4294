# SPDX-License-Identifier: MIT
"""Surfaces of the CPU device."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest

from hipadapt import hip

from .textures import (
    HEAD,
    Kernels,
    channel_of,
    code,
    linear_resource,
    new_array,
    ok,
    random_texels,
    read,
    resource_of,
)

SURFACE = """
#define MODE(m) (m == 0 ? hipBoundaryModeZero : hipBoundaryModeClamp)
KERNEL r1(hipSurfaceObject_t s, const int *x, float *out, int m, int n)
    { LANE; if (m) surf1Dread(&out[i], s, x[i] * 4, MODE(m));
      else surf1Dread(&out[i], s, x[i] * 4); }
KERNEL r2(hipSurfaceObject_t s, const int *x, const int *y, float *out, int m, int n)
    { LANE; surf2Dread(&out[i], s, x[i] * 4, y[i], MODE(m)); }
KERNEL r3(hipSurfaceObject_t s, const int *x, const int *y, const int *z, float *out,
          int m, int n)
    { LANE; surf3Dread(&out[i], s, x[i] * 4, y[i], z[i], MODE(m)); }
KERNEL w1(hipSurfaceObject_t s, const int *x, const float *in, int n)
    { LANE; surf1Dwrite(in[i], s, x[i] * 4); }
KERNEL w2(hipSurfaceObject_t s, const int *x, const int *y, const float *in, int n)
    { LANE; surf2Dwrite(in[i], s, x[i] * 4, y[i]); }
KERNEL w3(hipSurfaceObject_t s, const int *x, const int *y, const int *z,
          const float *in, int n)
    { LANE; surf3Dwrite(in[i], s, x[i] * 4, y[i], z[i]); }
KERNEL l1(hipSurfaceObject_t s, const int *x, const int *l, float *out, int n)
    { LANE; surf1DLayeredread(&out[i], s, x[i] * 4, l[i]);
      surf1DLayeredwrite(-out[i], s, x[i] * 4, l[i]); }
KERNEL l2(hipSurfaceObject_t s, const int *x, const int *y, const int *l, float *out,
          int n)
    { LANE; surf2DLayeredread(&out[i], s, x[i] * 4, y[i], l[i]);
      surf2DLayeredwrite(-out[i], s, x[i] * 4, y[i], l[i]); }
KERNEL cube(hipSurfaceObject_t s, const int *x, const int *y, const int *f, float *out,
            int n)
    { LANE; surfCubemapread(&out[i], s, x[i] * 4, y[i], f[i]);
      surfCubemapwrite(-out[i], s, x[i] * 4, y[i], f[i]); }
KERNEL cubel(hipSurfaceObject_t s, const int *x, const int *y, const int *f, float *out,
             int n)
    { LANE; surfCubemapLayeredread(&out[i], s, x[i] * 4, y[i], f[i] % 6, f[i] / 6);
      float v = -out[i];
      surfCubemapLayeredwrite(&v, s, x[i] * 4, y[i], f[i] % 6, f[i] / 6); }
KERNEL bytes(hipSurfaceObject_t s, const int *x, float *out, int n)
    { LANE; surf1Dread(&out[i], s, x[i]); }
KERNEL half4(hipSurfaceObject_t s, float4 *data, int n)
    { LANE; surf1Dwrite(data[i], s, i * 8); data[i] = surf1Dread<float4>(s, i * 8); }
KERNEL wide(hipSurfaceObject_t s, int4 *data, int n)
    { LANE; surf1Dwrite(data[i], s, i * 2); data[i] = surf1Dread<int4>(s, i * 2); }
KERNEL same(hipSurfaceObject_t s, uchar4 *data, int n)
    { LANE; surf1Dwrite(data[i], s, i * 4); data[i] = surf1Dread<uchar4>(s, i * 4); }
"""


@pytest.fixture(scope="module")
def surface_kernels(cpu: ModuleType) -> Iterator[Kernels]:
    made = Kernels(HEAD + SURFACE)
    yield made
    made.close()


class Surface:
    """A surface on a new array."""

    def __init__(self, texels: np.ndarray, dimensions: int, flags: int = 0) -> None:
        self.texels = texels
        self.array = new_array(texels, dimensions, 2 | flags)
        self.handle = ok(hip.hipCreateSurfaceObject(resource_of(self.array)))

    def close(self) -> np.ndarray:
        """What the array holds in the end."""
        content = read(self.array, self.texels)
        ok(hip.hipDestroySurfaceObject(self.handle))
        ok(hip.hipFreeArray(self.array))
        return content


def numbers_around(
    rng: np.random.Generator, sizes: tuple[int, ...]
) -> list[np.ndarray]:
    return [rng.integers(-2, size + 2, 300, dtype=np.int32) for size in sizes]


@pytest.mark.parametrize("mode", [0, 1], ids=["zero", "clamp"])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_surface_reads_by_position(
    surface_kernels: Kernels, rng: np.random.Generator, dimensions: int, mode: int
) -> None:
    sizes = (7, 5, 3)[:dimensions]
    texels = random_texels(rng, (*((1, 1, *sizes[::-1])[-3:]), 1), np.float32)
    at = numbers_around(rng, sizes)
    clamped = [a.clip(0, size - 1) for a, size in zip(at, sizes, strict=True)]
    places = tuple((*clamped, 0, 0)[:3][::-1])
    want = texels[(*places, 0)].copy()
    if mode == 0:
        for a, c in zip(at, clamped, strict=True):
            want[a != c] = 0
    out = np.full(300, 77, np.float32)
    surface = Surface(texels, dimensions)

    surface_kernels.run(f"r{dimensions}", 300, surface.handle, *at, out, mode)

    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(surface.close(), texels)


@pytest.mark.parametrize("kernel", ["l1", "l2", "cube", "cubel"])
def test_array_without_layers_is_the_first_one(
    surface_kernels: Kernels, kernel: str
) -> None:
    flat = kernel == "l1"
    texels = np.arange(1, 4, dtype=np.float32).reshape((1, 1, 3, 1))
    x = np.arange(3, dtype=np.int32)
    zeros = np.zeros(3, np.int32)
    at = [x, zeros] if flat else [x, zeros, zeros]
    out = np.zeros(3, np.float32)
    surface = Surface(texels, 1 if flat else 2)

    surface_kernels.run(kernel, 3, surface.handle, *at, out)

    assert list(out) == [1, 2, 3]
    assert list(surface.close().ravel()) == [-1, -2, -3]


def test_surface_counts_columns_in_bytes(surface_kernels: Kernels) -> None:
    texels = np.array([5, 6, 7], np.float32).reshape(1, 1, 3, 1)
    x = np.array([-4, -1, 0, 3, 4, 11, 12], np.int32)
    out = np.full(len(x), 77, np.float32)
    surface = Surface(texels, 1)

    surface_kernels.run("bytes", len(x), surface.handle, x, out)

    assert list(out) == [0, 0, 5, 5, 6, 7, 0]
    surface.close()


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_surface_writes_inside_only(
    surface_kernels: Kernels, rng: np.random.Generator, dimensions: int
) -> None:
    sizes = (7, 5, 3)[:dimensions]
    texels = random_texels(rng, (*((1, 1, *sizes[::-1])[-3:]), 1), np.float32)
    count = int(np.prod([size + 4 for size in sizes]))
    at = [
        np.ascontiguousarray(axis.ravel() - 2, dtype=np.int32)
        for axis in np.indices([size + 4 for size in sizes])
    ]
    new = rng.uniform(-1, 1, count).astype(np.float32)
    want = texels.copy()
    inside = np.all(
        [(a >= 0) & (a < size) for a, size in zip(at, sizes, strict=True)], axis=0
    )
    zero = np.zeros(count, int)
    x, y, z = (*at, zero, zero)[:3]
    want[z[inside], y[inside], x[inside], 0] = new[inside]
    surface = Surface(texels, dimensions)

    surface_kernels.run(f"w{dimensions}", count, surface.handle, *at, new)

    np.testing.assert_array_equal(surface.close(), want)


@pytest.mark.parametrize(
    ("kernel", "shape", "dimensions", "flags"),
    [
        ("l1", (4, 1, 6), 1, 1),
        ("l2", (4, 3, 6), 2, 1),
        ("cube", (6, 5, 5), 2, 4),
        ("cubel", (12, 5, 5), 2, 5),
    ],
)
def test_surface_reaches_layers_and_faces(
    surface_kernels: Kernels,
    rng: np.random.Generator,
    kernel: str,
    shape: tuple[int, int, int],
    dimensions: int,
    flags: int,
) -> None:
    texels = random_texels(rng, (*shape, 1), np.float32)
    z, y, x = (np.ascontiguousarray(a.ravel(), np.int32) for a in np.indices(shape))
    out = np.zeros(texels.size, np.float32)
    surface = Surface(texels, dimensions, flags)

    at = (x, z) if dimensions == 1 else (x, y, z)
    surface_kernels.run(kernel, texels.size, surface.handle, *at, out)

    np.testing.assert_array_equal(out, texels.ravel())
    np.testing.assert_array_equal(surface.close(), -texels)


def test_surface_of_halves_takes_floats(
    surface_kernels: Kernels, rng: np.random.Generator
) -> None:
    spread = rng.uniform(-1, 1, 4000) * 10.0 ** rng.uniform(-12, 7, 4000)
    ties = np.arange(2048, 2148) + np.repeat([0, 0.5, 1, 1.5], 25)
    edges = [0, -0.0, 65504, 65519.996, 65520, 1e9, -1e9, np.inf, -np.inf, 2**-24]
    edges += [2**-25, 2**-25 * 1.001, 3 * 2**-25, 2**-14, 2**-14 * 0.9999, np.nan]
    data = np.concatenate([spread, ties, edges]).astype(np.float32)
    data = data[: len(data) // 4 * 4].reshape(-1, 4)
    with np.errstate(over="ignore"):
        want = data.astype(np.float16)
    surface = Surface(np.zeros((1, 1, len(data), 4), np.float16), 1)

    surface_kernels.run("half4", len(data), surface.handle, data)

    np.testing.assert_array_equal(surface.close()[0, 0], want)
    np.testing.assert_array_equal(data, want.astype(np.float32))


def test_surface_cuts_integers_to_its_channels(surface_kernels: Kernels) -> None:
    data = np.array([[300, -5, 7, 8], [-129, 127, 0, 0]], np.int32)
    surface = Surface(np.zeros((1, 1, 2, 2), np.int8), 1)

    surface_kernels.run("wide", 2, surface.handle, data)

    np.testing.assert_array_equal(surface.close()[0, 0], [[44, -5], [127, 127]])
    np.testing.assert_array_equal(data, [[44, -5, 0, 1], [127, 127, 0, 1]])


def test_surface_takes_texels_as_their_bytes(surface_kernels: Kernels) -> None:
    data = np.arange(16, dtype=np.uint8).reshape(4, 4)
    surface = Surface(np.zeros((1, 1, 4, 1), np.float32), 1)

    surface_kernels.run("same", 4, surface.handle, data)

    np.testing.assert_array_equal(surface.close().view(np.uint8).ravel(), np.arange(16))


def test_surface_needs_an_array(cpu: ModuleType) -> None:
    memory = ok(hip.hipMalloc(4096))
    resource = linear_resource(memory, channel_of("float32", 1), 64)
    assert code(hip.hipCreateSurfaceObject(resource)) == "hipErrorInvalidValue"
    assert code(hip.hipCreateSurfaceObject(resource_of(None))) == "hipErrorInvalidValue"
    assert code(hip.hipCreateSurfaceObject(resource_of(77))) == "hipErrorInvalidHandle"
    assert code(hip.hipDestroySurfaceObject(None)) == "hipSuccess"
    ok(hip.hipFree(memory))
