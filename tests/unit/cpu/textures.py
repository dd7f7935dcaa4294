# SPDX-License-Identifier: MIT
"""Arrays, textures, surfaces and kernels that use them, for tests."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import hipadapt
from hipadapt import hip, hiprtc

HOST_TO_DEVICE = 1
DEVICE_TO_HOST = 2
HEAD = """
#define LANE int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return
#define KERNEL extern "C" __global__ void
"""


def ok(result: tuple[Any, ...]) -> Any:
    """The outputs of a call that has to succeed."""
    status, *outputs = result
    assert int(status) == 0, f"{status!r}: {hipadapt.error_text()}"
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def code(result: tuple[Any, ...]) -> str:
    """The name of the status of a call."""
    return str(result[0].name)


class Kernels:
    """A module of kernels that are run with one lane a sample."""

    def __init__(self, source: str, *options: str) -> None:
        program = ok(hiprtc.hiprtcCreateProgram(source, "t.hip", 0, None, None))
        status = hiprtc.hiprtcCompileProgram(program, len(options), list(options))
        log = bytearray(ok(hiprtc.hiprtcGetProgramLogSize(program)))
        ok(hiprtc.hiprtcGetProgramLog(program, log))
        assert int(status[0]) == 0, log.decode()
        image = bytearray(ok(hiprtc.hiprtcGetCodeSize(program)))
        ok(hiprtc.hiprtcGetCode(program, image))
        ok(hiprtc.hiprtcDestroyProgram(program))
        self.module = ok(hip.hipModuleLoadData(image))

    def run(self, name: str, count: int, *arguments: Any) -> None:
        kernel = ok(hip.hipModuleGetFunction(self.module, name))
        given = tuple(ctypes.c_int(a) if isinstance(a, int) else a for a in arguments)
        grid = (count + 63) // 64
        ok(
            hip.hipModuleLaunchKernel(
                kernel,
                grid,
                1,
                1,
                64,
                1,
                1,
                0,
                None,
                None,
                (*given, ctypes.c_int(count)),
            )
        )
        ok(hip.hipDeviceSynchronize())

    def close(self) -> None:
        ok(hip.hipModuleUnload(self.module))


def channel_of(dtype: Any, channels: int) -> Any:
    """A hipChannelFormatDesc."""
    kinds = hip.hipChannelFormatKind
    kind = {
        "i": kinds.hipChannelFormatKindSigned,
        "u": kinds.hipChannelFormatKindUnsigned,
        "f": kinds.hipChannelFormatKindFloat,
    }[np.dtype(dtype).kind]
    bits = np.dtype(dtype).itemsize * 8
    sizes = [bits if i < channels else 0 for i in range(4)]
    return hip.hipChannelFormatDesc(*sizes, kind)


def box(
    memory: np.ndarray, array: Any, to_array: bool, extent: tuple[int, int, int]
) -> Any:
    """A description of a copy between all of `array` and packed host memory."""
    row = memory.nbytes // (extent[1] * extent[2])
    pitched = hip.hipPitchedPtr(ptr=memory, pitch=row, xsize=row, ysize=extent[1])
    params = hip.hipMemcpy3DParms(extent=hip.hipExtent(*extent))
    if to_array:
        params.srcPtr, params.dstArray, params.kind = pitched, array, HOST_TO_DEVICE
    else:
        params.dstPtr, params.srcArray, params.kind = pitched, array, DEVICE_TO_HOST
    return params


def fill(array: Any, texels: np.ndarray) -> None:
    """Copies (slices, rows, columns, channels) to an array."""
    texels = np.ascontiguousarray(texels)
    extent = (texels.shape[2], texels.shape[1], texels.shape[0])
    ok(hip.hipMemcpy3D(box(texels, array, True, extent)))


def read(array: Any, like: np.ndarray) -> np.ndarray:
    """The content of an array of the shape of `like`."""
    out = np.zeros_like(like)
    extent = (like.shape[2], like.shape[1], like.shape[0])
    ok(hip.hipMemcpy3D(box(out, array, False, extent)))
    return out


def new_array(texels: np.ndarray, dimensions: int, flags: int = 0) -> Any:
    """An array with this content; slices are layers or faces if `flags` say so."""
    depth, height, width, channels = texels.shape
    extent = hip.hipExtent(
        width,
        height if dimensions > 1 else 0,
        depth if dimensions > 2 or flags & (1 | 4) else 0,
    )
    desc = channel_of(texels.dtype, channels)
    array = ok(hip.hipMalloc3DArray(desc, extent, flags))
    fill(array, texels)
    return array


def resource_of(array: Any) -> Any:
    resource = hip.hipResourceDesc(resType=hip.hipResourceType.hipResourceTypeArray)
    resource.res.array.array = array
    return resource


def sampling(
    mode: Sequence[int] = (1, 1, 1),
    linear: bool = False,
    normalized: bool = False,
    as_float: bool = False,
    border: Sequence[float] = (0, 0, 0, 0),
    **others: Any,
) -> Any:
    """A hipTextureDesc."""
    return hip.hipTextureDesc(
        addressMode=list(mode),
        filterMode=int(linear),
        readMode=int(as_float),
        borderColor=list(border),
        normalizedCoords=int(normalized),
        **others,
    )


@contextmanager
def texture(resource: Any, desc: Any, view: Any = None) -> Iterator[Any]:
    handle = ok(hip.hipCreateTextureObject(resource, desc, view))
    try:
        yield handle
    finally:
        ok(hip.hipDestroyTextureObject(handle))


@contextmanager
def array_texture(
    texels: np.ndarray, dimensions: int, desc: Any, flags: int = 0
) -> Iterator[Any]:
    array = new_array(texels, dimensions, flags)
    try:
        with texture(resource_of(array), desc) as handle:
            yield handle
    finally:
        ok(hip.hipFreeArray(array))


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
