# SPDX-License-Identifier: MIT
"""Textures of one image against a numpy model (texture_model.py): modes and memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hipadapt import hip

from . import texture_model as model
from .texture_model import BORDER, CLAMP, MIRROR, WRAP
from .textures import (
    HEAD,
    Kernels,
    array_texture,
    channel_of,
    linear_resource,
    ok,
    outputs,
    paired,
    pitched_resource,
    random_texels,
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


def test_texel_at_a_mirrored_edge_is_mirrored_by_its_number(kernels: Kernels) -> None:
    texels = np.arange(4, dtype=np.float32).reshape(1, 1, 4, 1)
    x = np.array([-0.25, -0.5, -1, -1.25, 1, 1.25, 1.75, 2.25, -2.75], np.float32)
    out = outputs(len(x))

    with array_texture(texels, 1, sampling(mode=(2,) * 3, normalized=True)) as handle:
        kernels.run("f1", len(x), handle, x, out)

    assert list(out[:, 0]) == [0, 1, 3, 3, 3, 2, 0, 1, 2]


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


def test_linear_memory_is_sampled_like_a_row(kernels: Kernels) -> None:
    texels = np.arange(10, 15, dtype=np.float32)
    memory = ok(hip.hipMalloc(texels.nbytes))
    ok(hip.hipMemcpy(memory, texels, texels.nbytes, 1))
    x = np.array([-3, 0, 0.75, 1, 4.5, 9], np.float32)
    out = outputs(len(x))

    resource = linear_resource(memory, channel_of("float32", 1), texels.nbytes)
    with texture(resource, sampling(mode=(1,) * 3)) as handle:
        kernels.run("f1", len(x), handle, x, out)

    assert list(out[:, 0]) == [10, 10, 10, 11, 14, 14]
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
