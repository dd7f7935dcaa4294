# SPDX-License-Identifier: MIT
"""Textures and surfaces of the CPU device against a numpy model (texture_model.py)."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hipadapt import hip
from tests.conftest import Run

from . import texture_model as model
from .texture_model import BORDER, CLAMP, MIRROR, WRAP
from .textures import (
    Kernels,
    array_texture,
    channel_of,
    code,
    fill,
    new_array,
    ok,
    read,
    resource_of,
    sampling,
    texture,
)

VECTORS = {
    "int8": "char",
    "uint8": "uchar",
    "int16": "short",
    "uint16": "ushort",
    "int32": "int",
    "uint32": "uint",
    "float32": "float",
}
SCALARS = {"uchar": "unsigned char"}  # char is signed
HEAD = """
#define LANE int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return
#define KERNEL extern "C" __global__ void
"""
SAMPLE = """
KERNEL f1(hipTextureObject_t t, const float *x, float4 *out, int n)
    { LANE; out[i] = tex1D<float4>(t, x[i]); }
KERNEL f2(hipTextureObject_t t, const float *x, const float *y, float4 *out, int n)
    { LANE; out[i] = tex2D<float4>(t, x[i], y[i]); }
KERNEL f3(hipTextureObject_t t, const float *x, const float *y, const float *z,
          float4 *out, int n)
    { LANE; tex3D(&out[i], t, x[i], y[i], z[i]); }
KERNEL i2(hipTextureObject_t t, const float *x, const float *y, int4 *out, int n)
    { LANE; out[i] = tex2D<int4>(t, x[i], y[i]); }
KERNEL f1l(hipTextureObject_t t, const float *x, const int *l, float4 *out, int n)
    { LANE; out[i] = tex1DLayered<float4>(t, x[i], l[i]); }
KERNEL f2l(hipTextureObject_t t, const float *x, const float *y, const int *l,
           float4 *out, int n)
    { LANE; out[i] = tex2DLayered<float4>(t, x[i], y[i], l[i]); }
KERNEL cube(hipTextureObject_t t, const float *x, const float *y, const float *z,
            float4 *out, int n)
    { LANE; out[i] = texCubemap<float4>(t, x[i], y[i], z[i]); }
KERNEL cubel(hipTextureObject_t t, const float *x, const float *y, const float *z,
             const int *l, float4 *out, int n)
    { LANE; out[i] = texCubemapLayered<float4>(t, x[i], y[i], z[i], l[i]); }
KERNEL lod1(hipTextureObject_t t, const float *x, const float *l, float4 *out, int n)
    { LANE; out[i] = tex1DLod<float4>(t, x[i], l[i]); }
KERNEL lod2(hipTextureObject_t t, const float *x, const float *y, const float *l,
            float4 *out, int n)
    { LANE; out[i] = tex2DLod<float4>(t, x[i], y[i], l[i]); }
KERNEL grad2(hipTextureObject_t t, const float *x, const float *y, const float *d,
             float4 *out, int n)
    { LANE; out[i] = tex2DGrad<float4>(t, x[i], y[i], make_float2(d[i], 0),
                                       make_float2(0, d[i] / 2)); }
KERNEL gather(hipTextureObject_t t, const float *x, const float *y, float4 *out, int c,
              int n)
    { LANE; out[i] = tex2Dgather<float4>(t, x[i], y[i], c); }
KERNEL fetch(hipTextureObject_t t, const int *x, float4 *out, int n)
    { LANE; out[i] = tex1Dfetch<float4>(t, x[i]); }
KERNEL fetchi(hipTextureObject_t t, const int *x, int *out, int n)
    { LANE; out[i] = tex1Dfetch<int>(t, x[i]); }
"""


@pytest.fixture(scope="module")
def kernels(cpu: ModuleType) -> Iterator[Kernels]:
    made = Kernels(HEAD + SAMPLE)
    yield made
    made.close()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def random_texels(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: Any
) -> np.ndarray:
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return rng.uniform(-100, 100, shape).astype(dtype)
    info = np.iinfo(dtype)
    texels = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    texels.flat[:2] = info.min, info.max
    return texels


def coordinates(rng: np.random.Generator, size: int, normalized: bool) -> np.ndarray:
    """Random ones far around the image, all edges and all centres, and what is next to
    them."""
    exact = np.arange(-3 * size, 4 * size + 1) / 2
    spread = rng.uniform(-2 * size, 3 * size, 400)
    texels = np.concatenate([exact, spread]).astype(np.float32)
    near = np.concatenate(
        [np.nextafter(texels, np.float32(side)) for side in (-1e9, 1e9)]
    )
    texels = np.concatenate([texels, near])
    return texels / np.float32(size) if normalized else texels


def paired(
    rng: np.random.Generator, sizes: tuple[int, ...], normalized: bool
) -> list[np.ndarray]:
    """Coordinates of all axes, as many of each, in random order."""
    axes = [coordinates(rng, size, normalized) for size in sizes]
    count = max(map(len, axes))
    return [rng.permutation(np.resize(axis, count)) for axis in axes]


def outputs(count: int, dtype: Any = np.float32) -> np.ndarray:
    return np.full((count, 4), 77, dtype)


# ---- modes ---------------------------------------------------------------------------


@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
@pytest.mark.parametrize("normalized", [False, True], ids=["texels", "normalized"])
@pytest.mark.parametrize("mode", range(4), ids=["wrap", "clamp", "mirror", "border"])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_sampling_in_each_mode_equals_the_model(
    kernels: Kernels,
    rng: np.random.Generator,
    dimensions: int,
    mode: int,
    normalized: bool,
    linear: bool,
) -> None:
    sizes = (7, 5, 3)[:dimensions]
    texels = random_texels(rng, (*((1, 1, *sizes[::-1])[-3:]), 2), np.float32)
    at = paired(rng, sizes, normalized)
    border = (0.25, -3.0, 9.0, 9.0)
    settings: dict[str, Any] = {
        "mode": (mode,) * 3,
        "linear": linear,
        "normalized": normalized,
        "border": border,
    }
    want = model.sample(
        model.Texture(texels, as_float=True, dimensions=dimensions, **settings), *at
    )
    out = outputs(len(at[0]))

    with array_texture(texels, dimensions, sampling(**settings)) as handle:
        kernels.run(f"f{dimensions}", len(out), handle, *at, out)

    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("modes", list(itertools.permutations(range(4), 2)), ids=str)
def test_each_axis_has_a_mode_of_its_own(
    kernels: Kernels, rng: np.random.Generator, modes: tuple[int, int]
) -> None:
    texels = random_texels(rng, (1, 6, 9, 1), np.float32)
    at = paired(rng, (9, 6), True)
    settings: dict[str, Any] = {
        "mode": (*modes, CLAMP),
        "linear": True,
        "normalized": True,
        "border": (5.0, 0, 0, 0),
    }
    want = model.sample(model.Texture(texels, as_float=True, **settings), *at)
    out = outputs(len(at[0]))

    with array_texture(texels, 2, sampling(**settings)) as handle:
        kernels.run("f2", len(out), handle, *at, out)

    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("mode", [WRAP, CLAMP, MIRROR, BORDER])
def test_coordinates_that_are_no_numbers_stay_inside(
    kernels: Kernels, mode: int, linear: bool
) -> None:
    texels = np.full((1, 3, 4, 1), 2, np.float32)
    x = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-40], np.float32)
    out = outputs(len(x))
    desc = sampling((mode,) * 3, linear, normalized=True, border=(8, 0, 0, 0))

    with array_texture(texels, 2, desc) as handle:
        kernels.run("f2", len(x), handle, x, np.full_like(x, 0.5), out)

    # A border coordinate of 1e-40 is half a texel inside; all others are far outside.
    assert set(out[:, 0]) <= ({2.0, 5.0, 8.0} if mode == BORDER else {2.0})
    assert mode != BORDER or list(out[:5, 0]) == [8.0] * 5


def test_a_texel_of_weight_zero_does_not_take_part(kernels: Kernels) -> None:
    texels = np.array([1, np.nan, np.inf, 4], np.float32).reshape(1, 1, 4, 1)
    x = np.array([0.5, 3.5], np.float32)
    out = outputs(2)

    with array_texture(texels, 1, sampling(linear=True)) as handle:
        kernels.run("f1", 2, handle, x, out)

    assert list(out[:, 0]) == [1, 4]


def test_weights_are_multiples_of_a_256th(kernels: Kernels) -> None:
    texels = np.array([0, 256], np.float32).reshape(1, 1, 2, 1)
    x = np.linspace(0.5, 1.5, 4097, dtype=np.float32)
    out = outputs(len(x))

    with array_texture(texels, 1, sampling(linear=True)) as handle:
        kernels.run("f1", len(x), handle, x, out)

    np.testing.assert_array_equal(out[:, 0], np.floor((x - 0.5) * 256 + 0.5))


# ---- elements ------------------------------------------------------------------------


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"]
)
def test_integers_are_read_as_they_are(
    kernels: Kernels, rng: np.random.Generator, dtype: str, channels: int
) -> None:
    texels = random_texels(rng, (1, 5, 7, channels), dtype)
    at = paired(rng, (7, 5), False)
    border = (-3.7, 70000.9, 1e20, -1e20)
    settings: dict[str, Any] = {"mode": (BORDER, CLAMP, CLAMP), "border": border}
    want = model.sample(model.Texture(texels, **settings), *at)
    out = outputs(len(at[0]), np.int32)

    with array_texture(texels, 2, sampling(**settings)) as handle:
        kernels.run("i2", len(out), handle, *at, out)

    np.testing.assert_array_equal(out, want.astype(np.uint32).view(np.int32))


@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "float16"])
def test_elements_are_read_as_floats(
    kernels: Kernels, rng: np.random.Generator, dtype: str, channels: int, linear: bool
) -> None:
    texels = random_texels(rng, (1, 6, 5, channels), dtype)
    at = paired(rng, (5, 6), True)
    settings: dict[str, Any] = {
        "mode": (MIRROR, BORDER, CLAMP),
        "linear": linear,
        "normalized": True,
        "as_float": True,
        "border": (0.5, 1, -1, 2),
    }
    want = model.sample(model.Texture(texels, **settings), *at)
    out = outputs(len(at[0]))

    with array_texture(texels, 2, sampling(**settings)) as handle:
        kernels.run("f2", len(out), handle, *at, out)

    np.testing.assert_array_equal(out, want)


def test_every_half_becomes_its_float(kernels: Kernels) -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    x = (np.arange(256) + 0.5).astype(np.float32)
    at = [np.tile(x, 256), np.repeat(x, 256)]
    out = outputs(1 << 16)

    with array_texture(halves.reshape(1, 256, 256, 1), 2, sampling()) as handle:
        kernels.run("f2", len(out), handle, *at, out)

    np.testing.assert_array_equal(out[:, 0], halves.astype(np.float32))


@pytest.mark.parametrize("dtype", list(VECTORS))
def test_kernels_get_the_type_that_they_ask_for(
    cpu: ModuleType, rng: np.random.Generator, dtype: str
) -> None:
    name = VECTORS[dtype]
    types = {"": SCALARS.get(name, name), **{n: name + n for n in "124"}}
    kernels = Kernels(
        HEAD
        + "".join(
            f"KERNEL k{n}(hipTextureObject_t t, {kind} *out, int n)"
            f"{{ LANE; out[i] = tex1D<{kind}>(t, i); }}"
            for n, kind in types.items()
        )
    )
    for suffix, channels in (("", 1), ("1", 1), ("2", 2), ("4", 4)):
        texels = random_texels(rng, (1, 1, 50, channels), dtype)
        out = np.zeros_like(texels)

        with array_texture(texels, 1, sampling()) as handle:
            kernels.run("k" + suffix, 50, handle, out)

        np.testing.assert_array_equal(out, texels)
    kernels.close()


def test_srgb_becomes_linear_but_for_the_fourth_channel(kernels: Kernels) -> None:
    texels = np.repeat(np.arange(256, dtype=np.uint8), 4).reshape(1, 1, 256, 4)
    x = (np.arange(256) + 0.5).astype(np.float32)
    out = outputs(256)
    c = np.arange(256) / 255.0
    linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)

    with array_texture(texels, 1, sampling(as_float=True, sRGB=1)) as handle:
        kernels.run("f1", 256, handle, x, out)

    np.testing.assert_allclose(out[:, :3], linear[:, None].repeat(3, 1), rtol=1e-6)
    np.testing.assert_array_equal(
        out[:, 3], (np.arange(256, dtype="f4")) / np.float32(255)
    )


# ---- memory --------------------------------------------------------------------------


def linear_resource(memory: Any, desc: Any, size: int) -> Any:
    resource = hip.hipResourceDesc(resType=hip.hipResourceType.hipResourceTypeLinear)
    resource.res.linear.devPtr = memory
    resource.res.linear.desc = desc
    resource.res.linear.sizeInBytes = size
    return resource


def pitched_resource(memory: Any, desc: Any, *shape: int) -> Any:
    resource = hip.hipResourceDesc(resType=hip.hipResourceType.hipResourceTypePitch2D)
    found = resource.res.pitch2D
    found.devPtr, found.desc = memory, desc
    found.width, found.height, found.pitchInBytes = shape
    return resource


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_linear_memory_is_fetched_by_number(
    kernels: Kernels, rng: np.random.Generator, dtype: str
) -> None:
    texels = random_texels(rng, (1000,), dtype)
    memory = ok(hip.hipMalloc(texels.nbytes))
    ok(hip.hipMemcpy(memory, texels, texels.nbytes, 1))
    numbers = rng.permutation(np.arange(-50, 1050, dtype=np.int32))
    want = np.zeros(len(numbers), np.int32)
    inside = (numbers >= 0) & (numbers < 1000)
    exact = texels.view(np.int32) if dtype == "float32" else texels.astype(np.int32)
    want[inside] = exact[numbers[inside]]
    out = np.zeros(len(numbers), np.int32)

    resource = linear_resource(memory, channel_of(dtype, 1), texels.nbytes)
    with texture(resource, sampling()) as handle:
        kernels.run("fetchi", len(out), handle, numbers, out)

    np.testing.assert_array_equal(out, want)
    ok(hip.hipFree(memory))


def test_pitched_memory_is_sampled_like_an_array(
    kernels: Kernels, rng: np.random.Generator
) -> None:
    texels = random_texels(rng, (1, 9, 11, 4), np.uint8)
    memory, pitch = ok(hip.hipMallocPitch(44, 9))
    ok(hip.hipMemcpy2D(memory, pitch, texels, 44, 44, 9, 1))
    at = paired(rng, (11, 9), True)
    settings: dict[str, Any] = {
        "mode": (WRAP, MIRROR, CLAMP),
        "linear": True,
        "normalized": True,
        "as_float": True,
    }
    want = model.sample(model.Texture(texels, **settings), *at)
    out = outputs(len(at[0]))

    resource = pitched_resource(memory, channel_of("uint8", 4), 11, 9, pitch)
    with texture(resource, sampling(**settings)) as handle:
        kernels.run("f2", len(out), handle, *at, out)

    np.testing.assert_array_equal(out, want)
    ok(hip.hipFree(memory))


# ---- layers, faces, levels -----------------------------------------------------------


@pytest.mark.parametrize("dimensions", [1, 2])
def test_layers_are_not_filtered_across(
    kernels: Kernels, rng: np.random.Generator, dimensions: int
) -> None:
    sizes = (7, 5)[:dimensions]
    texels = random_texels(rng, (4, *((1, *sizes[::-1])[-2:]), 2), np.float32)
    at = paired(rng, sizes, True)
    layers = rng.integers(-3, 8, len(at[0]), dtype=np.int32)
    settings: dict[str, Any] = {
        "mode": (WRAP, BORDER, WRAP),
        "linear": True,
        "normalized": True,
    }
    found = model.Texture(texels, as_float=True, dimensions=dimensions, **settings)
    want = model.sample(found, *at, slices=layers)
    out = outputs(len(layers))

    with array_texture(texels, dimensions, sampling(**settings), flags=1) as handle:
        kernels.run(f"f{dimensions}l", len(out), handle, *at, layers, out)

    np.testing.assert_array_equal(out, want)


def face_of(direction: np.ndarray) -> tuple[int, float, float]:
    """Face, and where on it; the table of HIP's documentation."""
    x, y, z = (np.float32(v) for v in direction)
    ax, ay, az = abs(x), abs(y), abs(z)
    if az >= ax and az >= ay:
        s, t, m, number = (-x if z < 0 else x), -y, az, 5 if z < 0 else 4
    elif ay >= ax:
        s, t, m, number = x, (-z if y < 0 else z), ay, 3 if y < 0 else 2
    else:
        s, t, m, number = (z if x < 0 else -z), -y, ax, 1 if x < 0 else 0
    half, one = np.float32(0.5), np.float32(1)
    return number, (s / m + one) * half, (t / m + one) * half


@pytest.mark.parametrize("layers", [0, 3])
def test_cube_maps_are_sampled_by_direction(
    kernels: Kernels, rng: np.random.Generator, layers: int
) -> None:
    texels = random_texels(rng, (6 * max(layers, 1), 8, 8, 1), np.float32)
    directions = rng.normal(size=(500, 3)).astype(np.float32)
    faces = [face_of(d) for d in directions]
    layer = rng.integers(-1, 4, 500, dtype=np.int32)
    slices = np.array([face[0] for face in faces])
    if layers:
        slices = slices + 6 * layer.clip(0, layers - 1)
    at = [np.array([face[i] for face in faces], np.float32) for i in (1, 2)]
    settings: dict[str, Any] = {"linear": True, "normalized": True}
    found = model.Texture(texels, as_float=True, **settings)
    want = model.sample(found, *at, slices=slices)
    out = outputs(500)
    xyz = [np.ascontiguousarray(directions[:, i]) for i in range(3)]

    flags = 4 | (1 if layers else 0)
    with array_texture(texels, 2, sampling(**settings), flags=flags) as handle:
        if layers:
            kernels.run("cubel", 500, handle, *xyz, layer, out)
        else:
            kernels.run("cube", 500, handle, *xyz, out)

    np.testing.assert_array_equal(out, want)


class Levels:
    """A mipmapped array of 13 x 6 texels with four levels of noise."""

    def __init__(self, rng: np.random.Generator) -> None:
        desc, extent = channel_of("float32", 1), hip.hipExtent(13, 6, 0)
        self.mipmap = ok(hip.hipMallocMipmappedArray(desc, extent, 9, 0))
        self.images = [
            random_texels(rng, (1, max(6 >> i, 1), 13 >> i, 1), np.float32)
            for i in range(4)
        ]
        for i, image in enumerate(self.images):
            fill(ok(hip.hipGetMipmappedArrayLevel(self.mipmap, i)), image)
        self.resource = hip.hipResourceDesc(
            resType=hip.hipResourceType.hipResourceTypeMipmappedArray
        )
        self.resource.res.mipmap.mipmap = self.mipmap


@pytest.fixture
def levels(cpu: ModuleType, rng: np.random.Generator) -> Iterator[Levels]:
    made = Levels(rng)
    yield made
    ok(hip.hipFreeMipmappedArray(made.mipmap))


@pytest.mark.parametrize("mip_linear", [False, True], ids=["nearest", "between"])
@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
def test_levels_are_chosen_by_number_bias_and_clamp(
    kernels: Kernels,
    rng: np.random.Generator,
    levels: Levels,
    linear: bool,
    mip_linear: bool,
) -> None:
    at = paired(rng, (13, 6), True)
    level = rng.choice(
        np.concatenate([np.arange(-8, 20) / 4, rng.uniform(-1, 5, 50)]), len(at[0])
    ).astype(np.float32)
    settings: dict[str, Any] = {"linear": linear, "normalized": True}
    desc = sampling(
        **settings,
        mipmapFilterMode=int(mip_linear),
        mipmapLevelBias=0.5,
        minMipmapLevelClamp=0.25,
        maxMipmapLevelClamp=2.75,
    )
    chosen = (level + np.float32(0.5)).clip(np.float32(0.25), np.float32(2.75))
    found = model.Texture(
        levels.images[0], as_float=True, levels=levels.images[1:], **settings
    )
    want = model.sample_levels(found, chosen, mip_linear, *at)
    out = outputs(len(level))

    with texture(levels.resource, desc) as handle:
        kernels.run("lod2", len(out), handle, *at, level, out)

    np.testing.assert_array_equal(out, want)


def test_gradients_choose_the_level_whose_texels_are_as_far_apart(
    kernels: Kernels, levels: Levels
) -> None:
    desc = sampling(normalized=True, maxMipmapLevelClamp=9)
    # In texels of level 0, neighbouring samples are 1.1, 2.2, 4.4, 8.8 and 99 apart.
    step = (np.array([1.1, 2.2, 4.4, 8.8, 99]) / 13).astype(np.float32)
    where = np.full(5, 0.51, np.float32)
    out = outputs(5)

    with texture(levels.resource, desc) as handle:
        kernels.run("grad2", 5, handle, where, where, step, out)

    want = [
        image[0, int(0.51 * image.shape[1]), int(0.51 * image.shape[2]), 0]
        for image in levels.images
    ]
    np.testing.assert_array_equal(out[:, 0], [*want, want[3]])


def test_view_shows_some_levels_and_another_format(
    cpu: ModuleType, rng: np.random.Generator, levels: Levels
) -> None:
    kernels = Kernels(
        HEAD + "KERNEL k(hipTextureObject_t t, int *out, int n)"
        "{ LANE; out[i] = tex2DLod<int>(t, (i % 6 + 0.5f) / 6, (i / 6 + 0.5f) / 3, 0); }"
    )
    view = hip.hipResourceViewDesc(
        format=hip.hipResourceViewFormat.hipResViewFormatSignedInt1,
        width=6,
        height=3,
        firstMipmapLevel=1,
        lastMipmapLevel=2,
    )
    out = np.zeros(18, np.int32)

    with texture(levels.resource, sampling(normalized=True), view) as handle:
        kernels.run("k", 18, handle, out)

    np.testing.assert_array_equal(out, levels.images[1].ravel().view(np.int32))
    kernels.close()


def test_view_takes_elements_for_others(
    cpu: ModuleType, rng: np.random.Generator
) -> None:
    kernels = Kernels(
        HEAD + "KERNEL k(hipTextureObject_t t, int4 *out, int n)"
        "{ LANE; out[i] = tex1D<int4>(t, i); }"
    )
    texels = random_texels(rng, (1, 1, 9, 4), np.uint8)
    array = new_array(texels, 1)
    formats = hip.hipResourceViewFormat
    view = hip.hipResourceViewDesc(format=formats.hipResViewFormatSignedShort2, width=9)
    out = np.zeros((9, 4), np.int32)

    with texture(resource_of(array), sampling(), view) as handle:
        kernels.run("k", 9, handle, out)

    np.testing.assert_array_equal(out[:, :2], texels.view(np.int16)[0, 0])
    np.testing.assert_array_equal(out[:, 2:], [[0, 1]] * 9)
    ok(hip.hipFreeArray(array))
    kernels.close()


def test_view_shows_some_layers(kernels: Kernels, rng: np.random.Generator) -> None:
    texels = random_texels(rng, (5, 3, 4, 1), np.float32)
    array = new_array(texels, 2, 1)
    view = hip.hipResourceViewDesc(width=4, height=3, firstLayer=2, lastLayer=3)
    layers = np.array([-1, 0, 1, 2], np.int32)
    at = np.full(4, 1.5, np.float32)
    out = outputs(4)

    with texture(resource_of(array), sampling(), view) as handle:
        kernels.run("f2l", 4, handle, at, at, layers, out)

    np.testing.assert_array_equal(out[:, 0], texels[[2, 2, 3, 3], 1, 1, 0])
    ok(hip.hipFreeArray(array))


@pytest.mark.parametrize("channel", range(4))
def test_gather_takes_the_four_texels_of_a_linear_filter(
    kernels: Kernels, rng: np.random.Generator, channel: int
) -> None:
    texels = random_texels(rng, (1, 5, 7, 4), np.float32)
    at = paired(rng, (7, 5), False)
    found = model.Texture(texels, linear=True, as_float=True)
    x = model.place(found, 0, at[0], 7)
    y = model.place(found, 1, at[1], 5)
    corners = [(x.low, y.high), (x.high, y.high), (x.high, y.low), (x.low, y.low)]
    want = np.stack([texels[0, j, i, channel] for i, j in corners], 1)
    out = outputs(len(at[0]))

    with array_texture(texels, 2, sampling(), flags=8) as handle:
        kernels.run("gather", len(out), handle, *at, out, channel)

    np.testing.assert_array_equal(out, want)


OTHERS = """
KERNEL k(hipTextureObject_t a, hipTextureObject_t b, hipTextureObject_t c,
         hipTextureObject_t al, hipTextureObject_t bl, hipTextureObject_t q,
         hipTextureObject_t ql, float *out, int n) {
    LANE;
    float x = i * 0.013f - 0.5f, y = 1 - x, z = x * 3;
    float2 g = make_float2(0.1f, 0);
    float4 h = make_float4(0.1f, 0, 0, 0);
    int bad = 0, l = i % 3;
    bad += tex1D<float>(a, x) != tex1DLod<float>(a, x, 5);
    bad += tex1D<float>(a, x) != tex1DGrad<float>(a, x, 0.1f, 0);
    bad += tex2D<float>(b, x, y) != tex2DLod<float>(b, x, y, 5);
    bad += tex3D<float>(c, x, y, z) != tex3DLod<float>(c, x, y, z, 5);
    bad += tex3D<float>(c, x, y, z) != tex3DGrad<float>(c, x, y, z, h, h);
    bad += tex1DLayered<float>(al, x, l) != tex1DLayeredLod<float>(al, x, l, 5);
    bad += tex1DLayered<float>(al, x, l) != tex1DLayeredGrad<float>(al, x, l, 0.1f, 0);
    bad += tex2DLayered<float>(bl, x, y, l) != tex2DLayeredLod<float>(bl, x, y, l, 5);
    bad += tex2DLayered<float>(bl, x, y, l) != tex2DLayeredGrad<float>(bl, x, y, l, g, g);
    bad += texCubemap<float>(q, x, y, z) != texCubemapLod<float>(q, x, y, z, 5);
    bad += texCubemapLayered<float>(ql, x, y, z, l) !=
           texCubemapLayeredLod<float>(ql, x, y, z, l, 5);
    float stored;
    texCubemap(&stored, q, x, y, z);
    bad += stored != texCubemap<float>(q, x, y, z);
    out[i] = bad;
}
"""


def test_functions_with_levels_agree_with_those_without(
    cpu: ModuleType, rng: np.random.Generator
) -> None:
    kernels = Kernels(HEAD + OTHERS)
    desc = sampling((WRAP,) * 3, linear=True, normalized=True)
    out = np.ones(300, np.float32)
    with ExitStack() as stack:
        handles = [
            stack.enter_context(
                array_texture(random_texels(rng, shape, "f4"), dimensions, desc, flags)
            )
            for shape, dimensions, flags in (
                ((1, 1, 9, 1), 1, 0),
                ((1, 5, 9, 1), 2, 0),
                ((4, 5, 9, 1), 3, 0),
                ((3, 1, 9, 1), 1, 1),
                ((3, 5, 9, 1), 2, 1),
                ((6, 5, 5, 1), 2, 4),
                ((18, 5, 5, 1), 2, 5),
            )
        ]
        kernels.run("k", 300, *handles, out)

    assert not out.any()
    kernels.close()


# ---- objects -------------------------------------------------------------------------


def test_getters_give_what_the_texture_was_made_of(cpu: ModuleType) -> None:
    texels = np.zeros((1, 2, 3, 2), np.uint8)
    array = new_array(texels, 2)
    desc = sampling((0, 1, 2), True, True, True, (1, 2, 3, 4), maxAnisotropy=4)
    view = hip.hipResourceViewDesc(width=3, height=2)
    with texture(resource_of(array), desc, view) as handle:
        assert int(
            ok(hip.hipGetTextureObjectResourceDesc(handle)).res.array.array
        ) == int(array)
        assert str(ok(hip.hipGetTextureObjectTextureDesc(handle))) == str(desc)
        assert str(ok(hip.hipGetTextureObjectResourceViewDesc(handle))) == str(view)
        driver = ok(hip.hipTexObjectGetTextureDesc(handle))
        assert driver.flags == 2 and list(driver.borderColor) == [1, 2, 3, 4]
        assert [int(m) for m in driver.addressMode] == [0, 1, 2]
        assert int(ok(hip.hipTexObjectGetResourceDesc(handle)).res.array.hArray) == int(
            array
        )
    with texture(resource_of(array), desc) as handle:
        assert code(hip.hipGetTextureObjectResourceViewDesc(handle)) == (
            "hipErrorInvalidValue"
        )
    ok(hip.hipFreeArray(array))


@pytest.mark.parametrize(
    ("flags", "want"), [(1, 200.0), (0, 200 / 255), (2, 200 / 255)], ids=str
)
def test_driver_flags_say_how_integers_are_read(
    cpu: ModuleType, flags: int, want: float
) -> None:
    kernels = Kernels(
        HEAD + "KERNEL f(hipTextureObject_t t, float *out, int n)"
        "{ LANE; out[i] = tex1D<float>(t, 0.5f); }"
        "KERNEL u(hipTextureObject_t t, float *out, int n)"
        "{ LANE; out[i] = tex1D<unsigned>(t, 0.5f); }"
    )
    array = new_array(np.full((1, 1, 1, 1), 200, np.uint8), 1)
    resource = hip.HIP_RESOURCE_DESC()
    resource.res.array.hArray = array
    handle = ok(
        hip.hipTexObjectCreate(resource, hip.HIP_TEXTURE_DESC(flags=flags), None)
    )
    out = np.zeros(1, np.float32)
    kernels.run("u" if flags & 1 else "f", 1, handle, out)
    assert out[0] == np.float32(want)
    ok(hip.hipTexObjectDestroy(handle))
    ok(hip.hipFreeArray(array))
    kernels.close()


def test_array_lives_as_long_as_its_texture(kernels: Kernels) -> None:
    texels = np.arange(64, dtype=np.float32).reshape(1, 8, 8, 1)
    array = new_array(texels, 2)
    x = (np.arange(8) + 0.5).astype(np.float32)
    out = outputs(8)
    with texture(resource_of(array), sampling()) as handle:
        ok(hip.hipFreeArray(array))
        assert code(hip.hipFreeArray(array)) == "hipErrorInvalidHandle"
        kernels.run("f2", 8, handle, x, x, out)
    np.testing.assert_array_equal(out[:, 0], texels[0].diagonal()[0])


def test_texture_reference_samples_what_is_bound(kernels: Kernels) -> None:
    texels = np.arange(6, dtype=np.float32).reshape(1, 1, 6, 1)
    array = new_array(texels, 1)
    reference = hip.textureReference(channelDesc=channel_of("float32", 1))
    assert code(hip.hipTexRefGetArray(reference)) == "hipErrorInvalidTexture"
    ok(hip.hipTexRefSetFilterMode(reference, 1))
    ok(hip.hipTexRefSetAddressMode(reference, 0, BORDER))
    ok(hip.hipTexRefSetFlags(reference, 3))
    ok(hip.hipTexRefSetArray(reference, array, 1))
    assert int(ok(hip.hipTexRefGetArray(reference))) == int(array)
    assert ok(hip.hipTexRefGetFlags(reference)) == 3
    out = outputs(3)
    x = np.array([0, 0.5, 1], np.float32)

    kernels.run("f1", 3, reference.textureObject, x, out)

    np.testing.assert_array_equal(out[:, 0], [0, 2.5, 2.5])
    old = int(reference.textureObject)
    ok(hip.hipBindTextureToArray(reference, array, None))
    assert int(reference.textureObject) != old
    assert code(hip.hipDestroyTextureObject(old)) == "hipErrorInvalidHandle"
    ok(hip.hipUnbindTexture(reference))
    assert not int(reference.textureObject)
    ok(hip.hipFreeArray(array))


REFUSED: dict[str, dict[str, Any]] = {
    "a filter of integers": {"linear": True},
    "normalized 32 bits": {"as_float": True, "dtype": np.int32},
    "sRGB of 16 bits": {"sRGB": 1, "as_float": True, "dtype": np.uint16},
    "sRGB of numbers": {"sRGB": 1},
    "a bias that is no number": {"mipmapLevelBias": float("nan")},
}


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_what_does_not_go_together_is_refused(cpu: ModuleType, case: str) -> None:
    settings = dict(REFUSED[case])
    array = new_array(np.zeros((1, 2, 2, 1), settings.pop("dtype", np.uint8)), 2)
    desc = sampling(**settings)
    answer = hip.hipCreateTextureObject(resource_of(array), desc, None)
    assert code(answer) == "hipErrorInvalidValue"
    ok(hip.hipFreeArray(array))


def test_bad_resources_and_views_are_refused(cpu: ModuleType) -> None:
    memory, desc = ok(hip.hipMalloc(4096)), channel_of("float32", 1)
    array = new_array(np.zeros((1, 2, 2, 1), np.float32), 2)
    create, plain, invalid = (
        hip.hipCreateTextureObject,
        sampling(),
        "hipErrorInvalidValue",
    )
    view = hip.hipResourceViewDesc
    offset = int(memory) + 4
    for resource in (
        linear_resource(None, desc, 64),
        linear_resource(offset, desc, 64),
        linear_resource(memory, desc, 0),
        linear_resource(memory, desc, 1 << 20),
        linear_resource(np.zeros(64, np.float32).ctypes.data & -256, desc, 64),
        pitched_resource(memory, desc, 8, 4, 100),
        pitched_resource(memory, desc, 80, 4, 256),
        pitched_resource(memory, desc, 8, 17, 256),
        pitched_resource(memory, desc, 0, 1, 256),
    ):
        assert code(create(resource, plain, None)) == invalid, resource
    bad_channels = linear_resource(memory, hip.hipChannelFormatDesc(8, 0, 8), 64)
    assert code(create(bad_channels, plain, None)) == "hipErrorInvalidChannelDescriptor"
    for bad in (
        view(format=1),
        view(width=3),
        view(lastMipmapLevel=1),
        view(lastLayer=1),
    ):
        assert code(create(resource_of(array), plain, bad)) == invalid, bad
    compressed = view(format=25)
    assert code(create(resource_of(array), plain, compressed)) == "hipErrorNotSupported"
    linear = linear_resource(memory, desc, 64)
    assert code(create(linear, plain, view())) == invalid
    assert code(create(resource_of(0x1234), plain, None)) == "hipErrorInvalidHandle"
    for handle in (0x1230, int(memory), (1 << 64) - 64):
        assert code(hip.hipDestroyTextureObject(handle)) == "hipErrorInvalidHandle"
        assert code(hip.hipDestroySurfaceObject(handle)) == "hipErrorInvalidHandle"
        assert code(hip.hipTexObjectGetTextureDesc(handle)) == "hipErrorInvalidHandle"
    assert code(hip.hipDestroyTextureObject(None)) == invalid
    ok(hip.hipFreeArray(array))
    ok(hip.hipFree(memory))


MISUSE = """
import numpy as np
from hipadapt import hip
from tests.unit.cpu.textures import *
kernels = Kernels('''
extern "C" __global__ void tex(hipTextureObject_t t, float *out, int n)
    {{ out[0] = tex2D<float>(t, 0, 0); }}
extern "C" __global__ void fetch(hipTextureObject_t t, float *out, int n)
    {{ out[0] = tex1Dfetch<float>(t, 0); }}
extern "C" __global__ void surf(hipSurfaceObject_t s, float *out, int n)
    {{ surf2Dwrite(out[0], s, 0, 0); }}
extern "C" __global__ void edge(hipSurfaceObject_t s, float *out, int n)
    {{ surf1Dwrite(out[0], s, 4, hipBoundaryModeTrap); }}
extern "C" __global__ void mixed(hipSurfaceObject_t s, float *out, int n)
    {{ out[0] = surf1Dread<float2>(s, 0).x; }}
''')
array = new_array(np.zeros((1, 1, 1, 1), np.float32), 1)
t = ok(hip.hipCreateTextureObject(resource_of(array), sampling(), None))
s = ok(hip.hipCreateSurfaceObject(resource_of(array)))
out = np.zeros(4, np.float32)
if {stale}:
    ok(hip.hipDestroyTextureObject(t))
    ok(hip.hipDestroySurfaceObject(s))
kernel = ok(hip.hipModuleGetFunction(kernels.module, "{kernel}"))
ok(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, None, ({handle}, out, 1)))
print(hip.hipDeviceSynchronize()[0].name)
"""


@pytest.mark.parametrize(
    ("kernel", "handle", "stale", "want"),
    [
        ("tex", "t", False, "hipErrorLaunchFailure"),
        ("tex", "t", True, "hipErrorLaunchFailure"),
        ("fetch", "t", True, "hipErrorLaunchFailure"),
        ("fetch", "s", False, "hipErrorLaunchFailure"),
        ("fetch", "None", False, "hipErrorIllegalAddress"),
        ("surf", "s", False, "hipErrorLaunchFailure"),
        ("surf", "s", True, "hipErrorLaunchFailure"),
        ("edge", "s", False, "hipErrorLaunchFailure"),
        ("mixed", "s", False, "hipErrorLaunchFailure"),
    ],
)
def test_misuse_in_a_kernel_ends_the_launch(
    run_python: Run, kernel: str, handle: str, stale: bool, want: str
) -> None:
    result = run_python(MISUSE.format(kernel=kernel, handle=handle, stale=stale))
    assert result.stdout.split() == [want], result


def test_textures_end_with_the_device(run_python: Run) -> None:
    result = run_python(
        """
import numpy as np
from hipadapt import hip
from tests.unit.cpu.textures import *
array = new_array(np.zeros((1, 2, 2, 1), np.float32), 2)
mipmap = ok(hip.hipMallocMipmappedArray(channel_of("float32", 1), hip.hipExtent(4, 4, 0), 2, 0))
level = ok(hip.hipGetMipmappedArrayLevel(mipmap, 1))
t = ok(hip.hipCreateTextureObject(resource_of(array), sampling(), None))
s = ok(hip.hipCreateSurfaceObject(resource_of(array)))
ok(hip.hipDeviceReset())
print(code(hip.hipDestroyTextureObject(t)), code(hip.hipDestroySurfaceObject(s)))
print(code(hip.hipFreeArray(array)), code(hip.hipFreeArray(level)))
print(code(hip.hipFreeMipmappedArray(mipmap)))
free, total = ok(hip.hipMemGetInfo())
print(free == total)
"""
    )
    assert result.stdout.split() == ["hipErrorInvalidHandle"] * 5 + ["True"], result


# ---- surfaces ------------------------------------------------------------------------


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
    assert code(hip.hipDestroySurfaceObject(None)) == "hipErrorInvalidValue"
    ok(hip.hipFree(memory))


def test_limits_are_those_that_arrays_have(cpu: ModuleType) -> None:
    properties = ok(hip.hipGetDeviceProperties(0))
    side, (_, _, depth) = properties.maxTexture1D, properties.maxTexture3D
    desc = channel_of("uint8", 1)
    ok(hip.hipFreeArray(ok(hip.hipMallocArray(desc, side, 0, 0))))
    ok(hip.hipFreeArray(ok(hip.hipMalloc3DArray(desc, hip.hipExtent(1, 1, depth), 0))))
    for extent in ((side + 1, 0, 0), (1, side + 1, 0), (1, 1, depth + 1)):
        answer = hip.hipMalloc3DArray(desc, hip.hipExtent(*extent), 0)
        assert code(answer) == "hipErrorInvalidValue"
    attribute = hip.hipDeviceAttribute_t.hipDeviceAttributeImageSupport
    assert ok(hip.hipDeviceGetAttribute(attribute, 0)) == 1
    width = ok(hip.hipDeviceGetTexture1DLinearMaxWidth(desc, 0))
    assert width == properties.maxTexture1DLinear
    assert ctypes.c_int(width).value == width
