# SPDX-License-Identifier: MIT
"""Textures of several images: layers, faces of cubes, levels of mipmaps, views."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hipadapt import hip

from . import texture_model as model
from .texture_model import BORDER, WRAP
from .textures import (
    HEAD,
    Kernels,
    array_texture,
    channel_of,
    fill,
    new_array,
    ok,
    outputs,
    paired,
    random_texels,
    resource_of,
    sampling,
    texture,
)

SAMPLE = """
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
"""


@pytest.fixture(scope="module")
def kernels(cpu: ModuleType) -> Iterator[Kernels]:
    made = Kernels(HEAD + SAMPLE)
    yield made
    made.close()


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


def test_gather_of_a_mirrored_image_turns_the_pairs_around(
    kernels: Kernels, rng: np.random.Generator
) -> None:
    def mirrored(number: np.ndarray, size: int) -> np.ndarray:
        number = number % (2 * size)
        return np.where(number < size, number, 2 * size - 1 - number)

    texels = random_texels(rng, (1, 5, 7, 4), np.float32)
    x = rng.integers(-14, 14, 200)  # the first texel of a pair, for all periods
    y = rng.integers(-10, 10, 200)
    x0, x1, y0, y1 = (
        *mirrored(np.stack([x, x + 1]), 7),
        *mirrored(np.stack([y, y + 1]), 5),
    )
    corners = [(x0, y1), (x1, y1), (x1, y0), (x0, y0)]
    want = np.stack([texels[0, j, i, 0] for i, j in corners], 1)
    at = ((x + 0.75) / 7).astype(np.float32), ((y + 0.75) / 5).astype(np.float32)
    out = outputs(200)

    modes = sampling([model.MIRROR] * 3, normalized=True)
    with array_texture(texels, 2, modes, flags=8) as handle:
        kernels.run("gather", len(out), handle, *at, out, 0)

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
