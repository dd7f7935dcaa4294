# SPDX-License-Identifier: MIT
"""What functions do, family by family; test_every_function.py calls each of them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

N = 64
SOURCE = """
__device__ int counter = 7;
extern "C" __global__ void fill(float *x, int n, float value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = value + i;
}
"""


class Recorder:
    """A module whose calls are checked unless they begin with `raw`."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def raw(self, name: str, *arguments: Any) -> tuple[Any, ...]:
        result = getattr(self.module, name)(*arguments)
        assert isinstance(result, tuple)
        return result

    def __call__(self, name: str, *arguments: Any) -> Any:
        status, *outputs = self.raw(name, *arguments)
        import hipadapt

        assert status == 0, f"{name}: {status!r} {hipadapt.error_text()}"
        return outputs[0] if len(outputs) == 1 else outputs


@pytest.fixture(scope="module")
def hip(cpu: ModuleType) -> Recorder:
    return Recorder(cpu)


@pytest.fixture(scope="module")
def rtc() -> Recorder:
    from hipadapt import hiprtc

    return Recorder(hiprtc)


@pytest.fixture(scope="module")
def code(rtc: Recorder) -> bytearray:
    program = rtc("hiprtcCreateProgram", SOURCE, "fill.hip", 0, None, None)
    rtc("hiprtcAddNameExpression", program, "counter")
    rtc("hiprtcCompileProgram", program, 1, ["-O2"])
    lowered = rtc("hiprtcGetLoweredName", program, "counter")
    assert str(lowered) == "counter"
    log = bytearray(rtc("hiprtcGetProgramLogSize", program))
    rtc("hiprtcGetProgramLog", program, log)
    image = bytearray(rtc("hiprtcGetCodeSize", program))
    rtc("hiprtcGetCode", program, image)
    rtc("hiprtcDestroyProgram", program)
    return image


@pytest.fixture
def kernel(hip: Recorder, code: bytearray) -> Iterator[Any]:
    module = hip("hipModuleLoadData", code)
    yield hip("hipModuleGetFunction", module, "fill")
    hip("hipModuleUnload", module)


@pytest.fixture
def array(hip: Recorder) -> Iterator[Any]:
    made = hip("hipMalloc", 4 * N)
    yield made
    hip("hipFree", made)


@pytest.fixture
def stream(hip: Recorder) -> Iterator[Any]:
    made = hip("hipStreamCreate")
    yield made
    hip("hipStreamDestroy", made)


def optional(hip: Recorder, name: str, *arguments: Any) -> bool:
    """Calls what a device need not have; False where it says that it has not."""
    status, *_ = hip.raw(name, *arguments)
    assert status in (0, hip.module.hipError_t.hipErrorNotSupported), status
    return bool(status == 0)


def values(hip: Recorder, array: Any) -> list[float]:
    memory = (ctypes.c_float * N)()
    hip("hipMemcpy", memory, array, 4 * N, 2)
    return list(memory)


def test_start_and_versions(hip: Recorder, rtc: Recorder) -> None:
    hip("hipInit", 0)
    assert hip("hipDriverGetVersion") > 0
    assert hip("hipRuntimeGetVersion") > 0
    assert len(rtc("hiprtcVersion")) == 2


def test_device_queries(hip: Recorder, cpu: ModuleType) -> None:
    assert hip("hipGetDeviceCount") >= 1
    hip("hipSetDevice", 0)
    assert hip("hipGetDevice") == 0
    assert hip("hipDeviceGet", 0) == 0
    assert len(hip("hipDeviceComputeCapability", 0)) == 2
    assert len(str(hip("hipDeviceGetName", 64, 0))) > 0
    assert (
        str(hip("hipDeviceGetName", 4, 0))[:2]
        == str(hip("hipDeviceGetName", 64, 0))[:2]
    )
    hip("hipDeviceGetUuid", 0)
    address = hip("hipDeviceGetPCIBusId", 32, 0)
    assert hip("hipDeviceGetByPCIBusId", address) == 0
    assert hip("hipDeviceTotalMem", 0) > 0
    properties = hip("hipGetDeviceProperties", 0)
    assert properties.warpSize in (32, 64)
    assert properties.gcnArchName.startswith("gfx")
    attribute = cpu.hipDeviceAttribute_t.hipDeviceAttributeWarpSize
    assert hip("hipDeviceGetAttribute", attribute, 0) == properties.warpSize
    assert hip("hipChooseDevice", properties) == 0
    assert hip("hipDeviceGetStreamPriorityRange") is not None
    hip("hipDeviceGetLimit", cpu.hipLimit_t.hipLimitMallocHeapSize)
    for name in ("hipDeviceGetCacheConfig", "hipDeviceGetSharedMemConfig"):
        assert isinstance(hip(name), int)
    hip("hipGetDeviceFlags")


def test_device_settings_answer_a_status(hip: Recorder, cpu: ModuleType) -> None:
    """Devices differ in what they let change; none may crash."""
    for name, arguments in (
        ("hipDeviceSetCacheConfig", (0,)),
        ("hipDeviceSetSharedMemConfig", (0,)),
        ("hipSetDeviceFlags", (0,)),
        ("hipDeviceSetLimit", (2, 8 << 20)),
        ("hipDeviceGetP2PAttribute", (1, 0, 0)),
        ("hipDeviceCanAccessPeer", (0, 0)),
        ("hipDeviceEnablePeerAccess", (0, 0)),
        ("hipDeviceDisablePeerAccess", (0,)),
    ):
        status, *_ = hip.raw(name, *arguments)
        assert isinstance(status, cpu.hipError_t)
    hip.raw("hipGetLastError")


def test_error_state(hip: Recorder, cpu: ModuleType) -> None:
    codes = cpu.hipError_t
    assert hip.raw("hipSetDevice", 12345) == (codes.hipErrorInvalidDevice,)
    assert hip.raw("hipPeekAtLastError") == (codes.hipErrorInvalidDevice,)
    assert hip.raw("hipGetLastError") == (codes.hipErrorInvalidDevice,)
    assert hip.raw("hipGetLastError") == (codes.hipSuccess,)
    hip.raw("hipExtGetLastError")
    invalid = codes.hipErrorInvalidValue
    assert str(hip("hipGetErrorName", invalid)) == "hipErrorInvalidValue"
    assert str(hip("hipDrvGetErrorName", invalid)) == "hipErrorInvalidValue"
    assert len(str(hip("hipGetErrorString", invalid))) > 4
    assert len(str(hip("hipDrvGetErrorString", invalid))) > 4
    none = str(hip("hipGetErrorString", codes.hipErrorNoDevice))
    assert none == "no ROCm-capable device is detected"  # programs look for this text


ALLOCATIONS: list[tuple[str, tuple[int, ...], str]] = [
    ("hipMalloc", (256,), "hipFree"),
    ("hipExtMallocWithFlags", (256, 0), "hipFree"),
    ("hipMallocManaged", (256, 1), "hipFree"),
    ("hipMallocHost", (256,), "hipFreeHost"),
    ("hipMemAllocHost", (256,), "hipFreeHost"),
    ("hipHostMalloc", (256, 0), "hipHostFree"),
    ("hipHostAlloc", (256, 0), "hipHostFree"),
]


@pytest.mark.parametrize(("allocate", "arguments", "free"), ALLOCATIONS)
def test_allocations(
    hip: Recorder, allocate: str, arguments: tuple[int, ...], free: str
) -> None:
    made = hip(allocate, *arguments)
    attributes = hip("hipPointerGetAttributes", made)
    assert int(attributes.devicePointer or attributes.hostPointer) == int(made)
    assert hip("hipMemPtrGetInfo", made) >= 256
    base, size = hip("hipMemGetAddressRange", int(made) + 16)
    assert (int(base), size >= 256) == (int(made), True)
    cell = ctypes.c_int(-1)
    hip("hipPointerGetAttribute", cell, 9, made)
    assert cell.value == 0
    if "Host" in allocate:
        assert int(hip("hipHostGetDevicePointer", made, 0)) != 0
        hip("hipHostGetFlags", made)
    hip(free, made)


def test_managed_memory_hints(hip: Recorder, stream: Any) -> None:
    made = hip("hipMallocManaged", 256, 1)
    optional(hip, "hipMemAdvise", made, 256, 1, 0)
    optional(hip, "hipMemPrefetchAsync", made, 256, 0, stream)
    hip("hipStreamSynchronize", stream)
    hip("hipFree", made)


def test_pitched_allocations(hip: Recorder) -> None:
    array, pitch = hip("hipMallocPitch", 100, 4)
    assert pitch >= 100
    hip("hipFree", array)
    array, pitch = hip("hipMemAllocPitch", 100, 4, 4)
    assert pitch >= 100
    hip("hipFree", array)
    free, total = hip("hipMemGetInfo")
    assert 0 < free <= total


def test_stream_ordered_allocation(hip: Recorder, stream: Any) -> None:
    made = hip("hipMallocAsync", 256, stream)
    hip("hipMemsetAsync", made, 1, 256, stream)
    hip("hipFreeAsync", made, stream)
    hip("hipStreamSynchronize", stream)


def test_registered_memory_is_held(hip: Recorder) -> None:
    buffer = bytearray(4096)
    hip("hipHostRegister", buffer, len(buffer), 0)
    with pytest.raises(BufferError):
        buffer.append(1)
    hip("hipHostUnregister", buffer)
    buffer.append(1)


def test_copies(hip: Recorder, array: Any, stream: Any) -> None:
    size = 4 * N
    other = hip("hipMalloc", size)
    pattern = bytes(range(256))

    def check(copy: Callable[[], None]) -> None:
        hip("hipMemset", other, 0, size)
        copy()
        target = bytearray(size)
        hip("hipMemcpyDtoH", target, other, size)
        assert target == pattern

    hip("hipMemcpyHtoD", array, pattern, size)
    check(lambda: hip("hipMemcpyDtoD", other, array, size))
    check(lambda: hip("hipMemcpy", other, array, size, 3))
    check(lambda: hip("hipMemcpyPeer", other, 0, array, 0, size))
    check(lambda: hip("hipMemcpyWithStream", other, array, size, 3, stream))

    def waited(name: str, *arguments: Any) -> None:
        hip(name, *arguments)
        hip("hipStreamSynchronize", stream)

    check(lambda: waited("hipMemcpyAsync", other, array, size, 3, stream))
    check(lambda: waited("hipMemcpyHtoDAsync", other, pattern, size, stream))
    check(lambda: waited("hipMemcpyDtoDAsync", other, array, size, stream))
    check(lambda: waited("hipMemcpyPeerAsync", other, 0, array, 0, size, stream))
    target = bytearray(size)
    waited("hipMemcpyDtoHAsync", target, array, size, stream)
    assert target == pattern
    hip("hipFree", other)


def test_copies_of_rows(
    hip: Recorder, cpu: ModuleType, array: Any, stream: Any
) -> None:
    source = bytes(range(64))
    rows = (16, source, 16, 8, 4)

    def check() -> None:
        target = bytearray(64)
        hip("hipMemcpy2D", target, 16, array, 16, 8, 4, 2)
        for row in range(4):
            begin = 16 * row
            assert target[begin : begin + 8] == source[begin : begin + 8]
            assert target[begin + 8 : begin + 16] == bytes(8)
        hip("hipMemset", array, 0, 4 * N)

    hip("hipMemset", array, 0, 4 * N)
    hip("hipMemcpy2D", array, *rows, 1)
    check()
    hip("hipMemcpy2DAsync", array, *rows, 1, stream)
    hip("hipStreamSynchronize", stream)
    check()
    copy = cpu.hip_Memcpy2D(
        srcMemoryType=cpu.hipMemoryType.hipMemoryTypeHost,
        srcHost=source,
        srcPitch=16,
        dstMemoryType=cpu.hipMemoryType.hipMemoryTypeDevice,
        dstDevice=array,
        dstPitch=16,
        WidthInBytes=8,
        Height=4,
    )
    hip("hipMemcpyParam2D", copy)
    check()
    hip("hipDrvMemcpy2DUnaligned", copy)
    check()
    hip("hipMemcpyParam2DAsync", copy, stream)
    hip("hipStreamSynchronize", stream)
    check()


MEMSETS: list[tuple[str, tuple[int, ...], bytes]] = [
    ("hipMemset", (0x11, 8), b"\x11" * 8),
    ("hipMemsetD8", (0x12, 8), b"\x12" * 8),
    ("hipMemsetD16", (0x1314, 4), b"\x14\x13" * 4),
    ("hipMemsetD32", (0x15161718, 2), b"\x18\x17\x16\x15" * 2),
    ("hipMemset2D", (16, 0x19, 2, 2), b"\x19\x19" + bytes(14) + b"\x19\x19"),
    ("hipMemsetD2D8", (16, 0x1A, 2, 2), b"\x1a\x1a" + bytes(14) + b"\x1a\x1a"),
    ("hipMemsetD2D16", (16, 0x1B1C, 1, 2), b"\x1c\x1b" + bytes(14) + b"\x1c\x1b"),
    ("hipMemsetD2D32", (16, 1, 1, 2), b"\1\0\0\0" + bytes(12) + b"\1\0\0\0"),
]


@pytest.mark.parametrize("suffix", ["", "Async"])
@pytest.mark.parametrize(("name", "arguments", "expected"), MEMSETS)
def test_memsets(
    hip: Recorder,
    array: Any,
    stream: Any,
    name: str,
    arguments: tuple[int, ...],
    expected: bytes,
    suffix: str,
) -> None:
    hip("hipMemset", array, 0, 4 * N)
    hip(name + suffix, array, *arguments, *([stream] if suffix else []))
    hip("hipDeviceSynchronize")
    target = bytearray(32)
    hip("hipMemcpy", target, array, 32, 2)
    assert target == expected.ljust(32, b"\0")


def test_streams(hip: Recorder, cpu: ModuleType) -> None:
    for create in (
        ("hipStreamCreateWithFlags", 1),
        ("hipStreamCreateWithPriority", 1, 0),
    ):
        stream = hip(*create)
        assert hip("hipStreamGetFlags", stream) == 1
        hip("hipStreamGetPriority", stream)
        assert hip("hipStreamGetDevice", stream) == 0
        assert hip("hipGetStreamDeviceId", stream) == 0
        hip("hipStreamGetId", stream)
        optional(hip, "hipStreamIsCapturing", stream)
        hip("hipStreamQuery", stream)
        hip("hipStreamDestroy", stream)


def test_events(hip: Recorder, cpu: ModuleType, stream: Any) -> None:
    first, last = hip("hipEventCreate"), hip("hipEventCreateWithFlags", 0)
    hip("hipEventRecord", first, stream)
    hip("hipEventRecordWithFlags", last, stream, 0)
    hip("hipStreamWaitEvent", stream, last, 0)
    hip("hipEventSynchronize", last)
    hip("hipEventQuery", first)
    assert hip("hipEventElapsedTime", first, last) >= 0.0
    hip("hipEventDestroy", first)
    hip("hipEventDestroy", last)


def test_host_functions_and_callbacks(hip: Recorder, stream: Any) -> None:
    seen: list[Any] = []
    hip("hipLaunchHostFunc", stream, seen.append, "first")
    hip("hipStreamAddCallback", stream, lambda *a: seen.append(a), "second", 0)
    hip("hipStreamSynchronize", stream)
    assert seen[0] == "first"
    assert (seen[1][0], seen[1][1], seen[1][2]) == (stream, 0, "second")


def test_modules(hip: Recorder, code: bytearray, tmp_path: Any) -> None:
    path = tmp_path / "fill.image"
    path.write_bytes(code)
    module = hip("hipModuleLoad", str(path))
    assert hip("hipModuleGetFunctionCount", module) == 1
    address, size = hip("hipModuleGetGlobal", module, "counter")
    cell = ctypes.c_int()
    hip("hipMemcpy", cell, address, size, 2)
    assert (size, cell.value) == (4, 7)
    hip("hipModuleUnload", module)
    module = hip("hipModuleLoadDataEx", code, 0, None, None)
    hip("hipModuleUnload", module)


def test_image_is_held_by_its_module(hip: Recorder, code: bytearray) -> None:
    image = bytearray(code)
    module = hip("hipModuleLoadData", image)
    with pytest.raises(BufferError):
        image.append(1)
    hip("hipModuleUnload", module)
    image.append(1)


def test_kernel_attributes_and_occupancy(
    hip: Recorder, cpu: ModuleType, kernel: Any
) -> None:
    assert hip("hipFuncGetAttributes", kernel).maxThreadsPerBlock > 0
    attribute = cpu.hipFunction_attribute.HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
    assert hip("hipFuncGetAttribute", attribute, kernel) > 0
    for name, arguments in (
        ("hipFuncSetAttribute", (kernel, 8, 0)),
        ("hipFuncSetCacheConfig", (kernel, 0)),
        ("hipFuncSetSharedMemConfig", (kernel, 0)),
    ):
        status, *_ = hip.raw(name, *arguments)
        assert isinstance(status, cpu.hipError_t)
    grid, block = hip("hipModuleOccupancyMaxPotentialBlockSize", kernel, 0, 0)
    assert grid > 0
    assert block > 0
    hip("hipModuleOccupancyMaxPotentialBlockSizeWithFlags", kernel, 0, 0, 0)
    hip("hipOccupancyMaxPotentialBlockSize", kernel, 0, 0)
    active = "OccupancyMaxActiveBlocksPerMultiprocessor"
    assert hip(f"hipModule{active}", kernel, 64, 0) > 0
    assert hip(f"hipModule{active}WithFlags", kernel, 64, 0, 0) > 0
    assert hip(f"hip{active}", kernel, 64, 0) > 0
    assert hip(f"hip{active}WithFlags", kernel, 64, 0, 0) > 0


def test_launches(hip: Recorder, cpu: ModuleType, kernel: Any, array: Any) -> None:
    def check(value: float) -> None:
        assert values(hip, array) == [value + i for i in range(N)]

    cells = [ctypes.c_void_p(int(array)), ctypes.c_int(N), ctypes.c_float(1)]
    shape = (2, 1, 1, 32, 1, 1, 0, None)
    hip("hipModuleLaunchKernel", kernel, *shape, None, tuple(cells))
    check(1)
    cells[2].value = 2
    hip("hipModuleLaunchKernel", kernel, *shape, cells, None)
    check(2)
    cells[2].value = 3
    hip("hipLaunchKernel", kernel, cpu.dim3(2), (32, 1, 1), cells, 0, None)
    check(3)
    cells[2].value = 4
    if optional(hip, "hipModuleLaunchCooperativeKernel", kernel, *shape, cells):
        check(4)
    cells[2].value = 5
    launch = (kernel, (2, 1, 1), (32, 1, 1), cells, 0, None)
    if optional(hip, "hipLaunchCooperativeKernel", *launch):
        check(5)


def test_bitcode_and_linker_answer_a_status(rtc: Recorder, code: bytearray) -> None:
    """The CPU device has no linker yet; AMD's has one."""
    from hipadapt import hip, hiprtc

    good = hiprtc.hiprtcResult.HIPRTC_SUCCESS
    kind = hip.hipJitInputType.hipJitInputLLVMBitcode
    program = rtc("hiprtcCreateProgram", SOURCE, "fill.hip", 0, None, None)
    assert rtc.raw("hiprtcGetBitcodeSize", program)[0] != good
    assert rtc.raw("hiprtcGetBitcode", program, bytearray(16))[0] != good
    status, linker = rtc.raw("hiprtcLinkCreate", 0, None, None)
    none = (0, None, None)
    rtc.raw("hiprtcLinkAddData", linker, kind, code, len(code), "k", *none)
    rtc.raw("hiprtcLinkAddFile", linker, kind, "/no/such/file", *none)
    assert len(rtc.raw("hiprtcLinkComplete", linker)) == 3
    rtc.raw("hiprtcLinkDestroy", linker)
    assert (status == good) == (linker is not None)
    assert len(str(rtc("hiprtcGetErrorString", 6))) > 4
    rtc("hiprtcDestroyProgram", program)


def test_zz_device_reset(hip: Recorder) -> None:
    array = hip("hipMalloc", 64)
    hip("hipDeviceReset")
    assert hip.raw("hipMemset", array, 0, 64)[0] != 0
    hip.raw("hipGetLastError")
