# SPDX-License-Identifier: MIT
"""What functions of kernels say about themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

SOURCE = """
__constant__ int table[10];
__constant__ char one;
__device__ int plain[100];
extern "C" __global__ __launch_bounds__(192) void uses(int *out) {
    __shared__ int own[64];
    own[threadIdx.x % 64] = plain[1] + one;
    out[threadIdx.x] = table[threadIdx.x % 10] + own[0];
}
"""


@pytest.fixture
def hip(cpu: ModuleType) -> Callable[..., Any]:
    """hip(name, ...): the output of a call that has to succeed."""
    import hipadapt

    def call(name: str, *arguments: Any) -> Any:
        status, *outputs = getattr(cpu, name)(*arguments)
        assert int(status) == 0, f"{name}: {status!r} {hipadapt.error_text()}"
        return outputs[0] if outputs else None

    return call


@pytest.fixture
def function(hip: Callable[..., Any]) -> Iterator[Any]:
    from hipadapt import hiprtc

    program = hiprtc.hiprtcCreateProgram(SOURCE, "uses.hip", 0, None, None)[1]
    assert int(hiprtc.hiprtcCompileProgram(program, 0, [])[0]) == 0
    image = bytearray(hiprtc.hiprtcGetCodeSize(program)[1])
    assert int(hiprtc.hiprtcGetCode(program, image)[0]) == 0
    module = hip("hipModuleLoadData", image)
    yield hip("hipModuleGetFunction", module, "uses")
    hip("hipModuleUnload", module)


def test_function_attributes_are_honest(
    cpu: ModuleType, hip: Callable[..., Any], function: Any
) -> None:
    properties = hip("hipGetDeviceProperties", 0)

    told = hip("hipFuncGetAttributes", function)

    assert told.constSizeBytes == 41
    assert told.sharedSizeBytes == 256
    assert told.maxThreadsPerBlock == 192
    assert told.maxDynamicSharedSizeBytes == properties.sharedMemPerBlock - 256
    assert told.localSizeBytes == hip(
        "hipDeviceGetLimit", cpu.hipLimit_t.hipLimitStackSize
    )
    version = properties.major * 10 + properties.minor
    assert (told.binaryVersion, told.ptxVersion) == (version, version)
    most = properties.maxThreadsPerMultiProcessor
    assert told.numRegs * most == properties.regsPerMultiprocessor
    assert (told.cacheModeCA, told.preferredShmemCarveout) == (0, 0)
    names = cpu.hipFunction_attribute
    for name, value in {
        "CONST_SIZE_BYTES": told.constSizeBytes,
        "SHARED_SIZE_BYTES": told.sharedSizeBytes,
        "LOCAL_SIZE_BYTES": told.localSizeBytes,
        "MAX_THREADS_PER_BLOCK": told.maxThreadsPerBlock,
        "MAX_DYNAMIC_SHARED_SIZE_BYTES": told.maxDynamicSharedSizeBytes,
        "PREFERRED_SHARED_MEMORY_CARVEOUT": told.preferredShmemCarveout,
        "NUM_REGS": told.numRegs,
        "PTX_VERSION": told.ptxVersion,
        "BINARY_VERSION": told.binaryVersion,
        "CACHE_MODE_CA": told.cacheModeCA,
    }.items():
        attribute = getattr(names, f"HIP_FUNC_ATTRIBUTE_{name}")
        assert hip("hipFuncGetAttribute", attribute, function) == value, name


def test_wishes_for_shared_memory_are_told_again(
    cpu: ModuleType, hip: Callable[..., Any], function: Any
) -> None:
    room = hip("hipFuncGetAttributes", function).maxDynamicSharedSizeBytes
    dynamic = cpu.hipFuncAttribute.hipFuncAttributeMaxDynamicSharedMemorySize
    carveout = cpu.hipFuncAttribute.hipFuncAttributePreferredSharedMemoryCarveout

    hip("hipFuncSetAttribute", function, dynamic, 1024)
    hip("hipFuncSetAttribute", function, carveout, 50)
    for attribute, value in ((dynamic, room + 1), (dynamic, -1), (carveout, 101)):
        status = cpu.hipFuncSetAttribute(function, attribute, value)[0]
        assert status.name == "hipErrorInvalidValue"

    told = hip("hipFuncGetAttributes", function)
    assert told.maxDynamicSharedSizeBytes == 1024
    assert told.preferredShmemCarveout == 50
