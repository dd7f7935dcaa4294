# SPDX-License-Identifier: MIT
"""The life of textures: getters, references, refusals and misuse in kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hipadapt import hip
from tests.conftest import Run

from .texture_model import BORDER
from .textures import (
    HEAD,
    Kernels,
    channel_of,
    code,
    linear_resource,
    new_array,
    ok,
    outputs,
    pitched_resource,
    resource_of,
    sampling,
    texture,
)

SAMPLE = """
KERNEL f1(hipTextureObject_t t, const float *x, float4 *out, int n)
    { LANE; out[i] = tex1D<float4>(t, x[i]); }
KERNEL f2(hipTextureObject_t t, const float *x, const float *y, float4 *out, int n)
    { LANE; out[i] = tex2D<float4>(t, x[i], y[i]); }
"""


@pytest.fixture(scope="module")
def kernels(cpu: ModuleType) -> Iterator[Kernels]:
    made = Kernels(HEAD + SAMPLE)
    yield made
    made.close()


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
        assert code(hip.hipFreeArray(array)) == "hipErrorContextIsDestroyed"
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
    assert code(hip.hipDestroyTextureObject(None)) == "hipSuccess"
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
    stale = ["hipErrorInvalidHandle"] * 2 + ["hipErrorContextIsDestroyed"] * 3
    assert result.stdout.split() == [*stale, "True"], result


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
