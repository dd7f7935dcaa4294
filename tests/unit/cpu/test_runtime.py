# SPDX-License-Identifier: MIT
"""The runtime of the CPU device as Python sees it; its C tests are in tests/c/cpu."""

from __future__ import annotations

import ctypes
import random
import threading
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.conftest import Run

SOURCE = """
extern "C" __global__ void mix(int *data, int value, unsigned long long n) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < n) data[i] = data[i] * 31 + value;
}
"""
PRELUDE = """
import os, signal, sys, threading, time
import numpy as np
from hipadapt import hip, hiprtc

def ok(result):
    assert int(result[0]) == 0, result
    return result[1] if len(result) == 2 else result[1:]

def build(source, *names):
    program = ok(hiprtc.hiprtcCreateProgram(source, "k.hip", 0, None, None))
    ok(hiprtc.hiprtcCompileProgram(program, 0, []))
    code = bytearray(ok(hiprtc.hiprtcGetCodeSize(program)))
    ok(hiprtc.hiprtcGetCode(program, code))
    module = ok(hip.hipModuleLoadData(code))
    return [ok(hip.hipModuleGetFunction(module, name)) for name in names]

def launch(kernel, stream=None, extra=()):
    return hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, None, extra)

ENDLESS = 'extern "C" __global__ void endless(int *p) { while (*(volatile int *)p == 0) ; }'

def start_endless():
    # It runs until the int that is returned is not 0 any more.
    kernel, = build(ENDLESS, "endless")
    stop = ok(hip.hipHostMalloc(4, 0))
    ok(hip.hipMemset(stop, 0, 4))
    ok(launch(kernel, extra=(stop,)))
    return stop
"""


@pytest.fixture(scope="module")
def hip(cpu: ModuleType) -> Callable[..., Any]:
    """hip(name, ...): the outputs of a call that has to succeed."""
    import hipadapt

    def call(name: str, *arguments: Any) -> Any:
        status, *outputs = getattr(cpu, name)(*arguments)
        assert int(status) == 0, f"{name}: {status!r} {hipadapt.error_text()}"
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    return call


@pytest.fixture(scope="module")
def mix(hip: Callable[..., Any]) -> Iterator[Any]:
    from hipadapt import hiprtc

    status, program = hiprtc.hiprtcCreateProgram(SOURCE, "mix.hip", 0, None, None)
    assert int(status) == 0
    assert int(hiprtc.hiprtcCompileProgram(program, 0, [])[0]) == 0
    image = bytearray(hiprtc.hiprtcGetCodeSize(program)[1])
    assert int(hiprtc.hiprtcGetCode(program, image)[0]) == 0
    module = hip("hipModuleLoadData", image)
    yield hip("hipModuleGetFunction", module, "mix")
    hip("hipModuleUnload", module)


def code_of(cpu: ModuleType, name: str, *arguments: Any) -> str:
    """The name of the status of a call."""
    return str(getattr(cpu, name)(*arguments)[0].name)


# ---- the device ----


def test_device_properties_are_honest(cpu: ModuleType) -> None:
    status, properties = cpu.hipGetDeviceProperties(0)
    assert int(status) == 0
    assert properties.name.startswith("hipadapt CPU device (")
    assert properties.gcnArchName.startswith("gfx")
    assert properties.warpSize in (32, 64)
    assert properties.multiProcessorCount >= 1
    assert properties.maxThreadsPerBlock == 1024
    assert properties.sharedMemPerBlock == 64 * 1024
    assert properties.totalGlobalMem > 0


@pytest.mark.parametrize(
    ("attribute", "field"),
    [
        ("WarpSize", "warpSize"),
        ("MaxThreadsPerBlock", "maxThreadsPerBlock"),
        ("MultiprocessorCount", "multiProcessorCount"),
        ("MaxSharedMemoryPerBlock", "sharedMemPerBlock"),
        ("ClockRate", "clockRate"),
        ("Integrated", "integrated"),
        ("ManagedMemory", "managedMemory"),
    ],
)
def test_attribute_is_the_property(cpu: ModuleType, attribute: str, field: str) -> None:
    _, properties = cpu.hipGetDeviceProperties(0)
    wanted = getattr(cpu.hipDeviceAttribute_t, f"hipDeviceAttribute{attribute}")
    status, value = cpu.hipDeviceGetAttribute(wanted, 0)
    assert (int(status), value) == (0, getattr(properties, field))


def test_every_attribute_has_a_value_or_a_clear_error(cpu: ModuleType) -> None:
    for attribute in cpu.hipDeviceAttribute_t:
        status, value = cpu.hipDeviceGetAttribute(attribute, 0)
        assert status.name in ("hipSuccess", "hipErrorInvalidValue"), attribute
        assert status.name != "hipSuccess" or isinstance(value, int)


def test_devices_that_are_not_there_are_refused(cpu: ModuleType) -> None:
    for name in ("hipSetDevice", "hipGetDeviceProperties"):
        for device in (-1, 99):
            assert code_of(cpu, name, device) == "hipErrorInvalidDevice"


def test_errors_stay_until_they_are_taken(cpu: ModuleType) -> None:
    import hipadapt

    cpu.hipGetLastError()
    assert code_of(cpu, "hipSetDevice", 99) == "hipErrorInvalidDevice"
    assert "hipSetDevice" in hipadapt.error_text()
    assert "99" in hipadapt.error_text()
    assert int(cpu.hipGetDevice()[0]) == 0
    assert code_of(cpu, "hipPeekAtLastError") == "hipErrorInvalidDevice"
    assert code_of(cpu, "hipGetLastError") == "hipErrorInvalidDevice"
    assert code_of(cpu, "hipGetLastError") == "hipSuccess"


# ---- memory ----


def test_memory_is_accounted_for(hip: Callable[..., Any]) -> None:
    before, total = hip("hipMemGetInfo")
    pointer = hip("hipMalloc", 10 << 20)
    during, _ = hip("hipMemGetInfo")
    hip("hipFree", pointer)
    after, _ = hip("hipMemGetInfo")
    assert before == after <= total
    assert 10 << 20 <= before - during < 11 << 20


def test_more_memory_than_there_is_is_refused(cpu: ModuleType) -> None:
    _, _, total = cpu.hipMemGetInfo()
    for size in (total + 1, 2**62, 2**63, 2**64 - 1):
        status, pointer = cpu.hipMalloc(size)
        assert status.name == "hipErrorOutOfMemory"
        assert not pointer


def test_memory_kinds_are_told(hip: Callable[..., Any], cpu: ModuleType) -> None:
    plain = np.zeros(10)
    device = hip("hipMalloc", 80)
    pinned = hip("hipHostMalloc", 80, 0)
    managed = hip("hipMallocManaged", 80, 1)
    kinds = cpu.hipMemoryType
    for pointer, kind in (
        (plain, kinds.hipMemoryTypeUnregistered),
        (device, kinds.hipMemoryTypeDevice),
        (pinned, kinds.hipMemoryTypeHost),
        (managed, kinds.hipMemoryTypeManaged),
    ):
        assert hip("hipPointerGetAttributes", pointer).type == kind
    hip("hipFree", device)
    hip("hipHostFree", pinned)
    hip("hipFree", managed)


@pytest.mark.parametrize("size", [1, 255, 256, 4096, 262129, 1 << 20, (3 << 20) + 5])
def test_copies_and_their_limits(
    hip: Callable[..., Any], cpu: ModuleType, size: int
) -> None:
    kind = cpu.hipMemcpyKind.hipMemcpyDefault
    source = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    result = np.zeros_like(source)
    larger = np.zeros(size + 1, dtype=np.uint8)
    pointer = hip("hipMalloc", size)
    hip("hipMemcpy", pointer, source, size, kind)
    assert code_of(cpu, "hipMemcpy", int(pointer), larger, size + 1, kind) == (
        "hipErrorInvalidValue"
    )
    assert code_of(cpu, "hipMemset", int(pointer) + 1, 0, size) == (
        "hipErrorInvalidValue"
    )
    hip("hipMemcpy", result, pointer, size, kind)
    assert np.array_equal(source, result)
    address = int(pointer)
    hip("hipFree", pointer)
    assert code_of(cpu, "hipFree", address) == "hipErrorInvalidValue"


# ---- handles ----


def test_freed_and_made_up_handles_are_refused(
    hip: Callable[..., Any], cpu: ModuleType
) -> None:
    stream = hip("hipStreamCreate")
    event = hip("hipEventCreate")
    stale = int(stream)
    hip("hipStreamDestroy", stream)
    generator = random.Random(5)
    numbers = [stale, int(event), 3, 2**64 - 1]
    numbers += [generator.getrandbits(64) for _ in range(2000)]
    for number in numbers:
        if number in (0, 1, 2):
            continue
        assert code_of(cpu, "hipStreamQuery", number) == "hipErrorContextIsDestroyed"
        assert code_of(cpu, "hipModuleUnload", number) == "hipErrorInvalidHandle"
        if number != int(event):
            assert code_of(cpu, "hipEventQuery", number) == "hipErrorInvalidHandle"
    hip("hipEventDestroy", event)


# ---- streams ----


def test_streams_run_beside_the_caller(
    hip: Callable[..., Any], cpu: ModuleType
) -> None:
    kind = cpu.hipMemcpyKind.hipMemcpyDefault
    stream = hip("hipStreamCreateWithFlags", 1)
    event = hip("hipEventCreate")
    source = np.arange(1000, dtype=np.int32)
    result = np.zeros_like(source)
    pointer = hip("hipMalloc", source.nbytes)
    gate = threading.Event()
    hip("hipLaunchHostFunc", stream, lambda _: gate.wait(10), None)
    hip("hipMemcpyAsync", pointer, source, source.nbytes, kind, stream)
    hip("hipMemcpyAsync", result, pointer, source.nbytes, kind, stream)
    hip("hipEventRecord", event, stream)
    assert code_of(cpu, "hipStreamQuery", stream) == "hipErrorNotReady"
    assert code_of(cpu, "hipEventQuery", event) == "hipErrorNotReady"
    assert not result.any()
    gate.set()
    hip("hipEventSynchronize", event)
    assert np.array_equal(source, result)
    hip("hipStreamSynchronize", stream)
    hip("hipEventDestroy", event)
    hip("hipStreamDestroy", stream)
    hip("hipFree", pointer)


def test_random_work_of_threads_agrees_with_numpy(
    hip: Callable[..., Any], cpu: ModuleType, mix: Any
) -> None:
    count = 5000
    kind = cpu.hipMemcpyKind.hipMemcpyDefault
    failed: list[str] = []

    def work(seed: int) -> None:
        generator = random.Random(seed)
        streams = [hip("hipStreamCreateWithFlags", seed % 2) for _ in range(3)]
        event = hip("hipEventCreateWithFlags", 2)
        model = np.zeros(count, dtype=np.uint32)
        pointer = hip("hipMalloc", model.nbytes)
        hip("hipMemset", pointer, 0, model.nbytes)
        for _ in range(150):
            stream = generator.choice(streams)
            value = generator.randrange(1000)
            hip("hipStreamWaitEvent", stream, event, 0)
            choice = generator.randrange(3)
            if choice == 0:
                data = np.full(count, value, dtype=np.uint32)
                hip("hipMemcpyAsync", pointer, data, data.nbytes, kind, stream)
                model[:] = value
            else:
                params = (
                    pointer,
                    ctypes.c_int(value),
                    ctypes.c_ulonglong(count),
                )
                blocks = (count + 127) // 128
                shape = (blocks, 1, 1, 128, 1, 1, 0)
                hip("hipModuleLaunchKernel", mix, *shape, stream, None, params)
                model *= 31
                model += value
            hip("hipEventRecord", event, stream)
        result = np.zeros_like(model)
        hip("hipEventSynchronize", event)
        hip("hipMemcpy", result, pointer, result.nbytes, kind)
        if not np.array_equal(result, model):
            failed.append(f"thread {seed}")
        hip("hipFree", pointer)
        hip("hipEventDestroy", event)
        for stream in streams:
            hip("hipStreamDestroy", stream)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert not failed


# ---- launches ----


@pytest.mark.parametrize(
    ("grid", "block", "shared", "status"),
    [
        ((0, 1, 1), (1, 1, 1), 0, "hipErrorInvalidConfiguration"),
        ((1, 1, 1), (0, 1, 1), 0, "hipErrorInvalidConfiguration"),
        ((1, 1, 1), (1025, 1, 1), 0, "hipErrorInvalidConfiguration"),
        ((1, 1, 1), (32, 33, 1), 0, "hipErrorInvalidConfiguration"),
        ((1, 65536, 1), (1, 1, 1), 0, "hipErrorInvalidConfiguration"),
        ((2**31, 1, 1), (1, 1, 1), 0, "hipErrorInvalidConfiguration"),
        ((2**31 - 1, 1, 1), (4, 1, 1), 0, "hipErrorInvalidConfiguration"),
        ((1, 1, 1), (1, 1, 1), 65537, "hipErrorInvalidValue"),
    ],
)
def test_impossible_shapes_are_refused(
    cpu: ModuleType,
    mix: Any,
    grid: tuple[int, ...],
    block: tuple[int, ...],
    shared: int,
    status: str,
) -> None:
    import hipadapt

    params = (None, ctypes.c_int(0), ctypes.c_ulonglong(0))
    arguments = (mix, *grid, *block, shared, None, None, params)
    assert code_of(cpu, "hipModuleLaunchKernel", *arguments) == status
    assert hipadapt.error_text().startswith("hipModuleLaunchKernel: ")


# ---- processes of their own ----


def test_fault_is_sticky_on_its_device_until_reset(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
kernel, = build('extern "C" __global__ void crash() { *(volatile int *)8 = 1; }', "crash")
ok(launch(kernel))
assert hip.hipDeviceSynchronize()[0].name == "hipErrorIllegalAddress"
assert hip.hipMalloc(16)[0].name == "hipErrorIllegalAddress"
assert hip.hipMemGetInfo()[0].name == "hipErrorIllegalAddress"
ok(hip.hipSetDevice(1))
ok(hip.hipFree(ok(hip.hipMalloc(16))))
ok(hip.hipSetDevice(0))
ok(hip.hipDeviceReset())
ok(hip.hipFree(ok(hip.hipMalloc(16))))
assert launch(kernel)[0].name == "hipErrorInvalidHandle"
kernel, = build('extern "C" __global__ void fine() {}', "fine")
ok(launch(kernel))
ok(hip.hipDeviceSynchronize())
""",
        HIPADAPT_CPU_DEVICES="2",
        HIPADAPT_LOG="0",
    )


def test_endless_kernel_ends_by_time_out(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
stop = start_endless()
begin = time.monotonic()
assert hip.hipDeviceSynchronize()[0].name == "hipErrorLaunchTimeOut"
assert 0.8 < time.monotonic() - begin < 3
""",
        HIPADAPT_KERNEL_TIMEOUT="1",
        HIPADAPT_LOG="0",
    )


def test_interrupt_ends_a_wait_for_a_kernel(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
stop = start_endless()
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
begin = time.monotonic()
try:
    hip.hipDeviceSynchronize()
except KeyboardInterrupt:
    assert time.monotonic() - begin < 0.3 + 0.2 + 0.5
else:
    raise AssertionError("not interrupted")
begin = time.monotonic()
ok(hip.hipDeviceReset())
assert time.monotonic() - begin < 1
ok(hip.hipDeviceSynchronize())
"""
    )


def test_devices_are_separate(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
assert ok(hip.hipGetDeviceCount()) == 3
seen = []
def other():
    seen.append(ok(hip.hipGetDevice()))
    ok(hip.hipSetDevice(2))
    seen.append(ok(hip.hipGetDevice()))
ok(hip.hipSetDevice(1))
thread = threading.Thread(target=other)
thread.start(); thread.join()
assert seen == [0, 2] and ok(hip.hipGetDevice()) == 1
free, total = ok(hip.hipMemGetInfo())
pointer = ok(hip.hipMalloc(1 << 20))
assert ok(hip.hipPointerGetAttributes(pointer)).device == 1
ok(hip.hipSetDevice(0))
assert ok(hip.hipMemGetInfo())[0] == ok(hip.hipMemGetInfo())[1]
target = ok(hip.hipMalloc(1 << 20))
ok(hip.hipMemset(pointer, 7, 1 << 20))
ok(hip.hipMemcpyPeer(target, 0, pointer, 1, 1 << 20))
host = np.zeros(1 << 20, np.uint8)
ok(hip.hipMemcpy(host, target, 1 << 20, hip.hipMemcpyKind.hipMemcpyDefault))
assert (host == 7).all()
""",
        HIPADAPT_CPU_DEVICES="3",
    )


def test_exit_with_an_endless_kernel_ends(run_python: Run) -> None:
    done = run_python(
        PRELUDE
        + """
stop = start_endless()
sys.exit(3)
""",
        status=3,
        HIPADAPT_LOG="0",
    )
    assert done.stderr == ""


def test_threads_do_not_grow_with_streams(run_python: Run) -> None:
    run_python(
        PRELUDE
        + """
def threads():
    return len(os.listdir("/proc/self/task"))
kernel, = build('extern "C" __global__ void fine() {}', "fine")
for _ in range(3):
    ok(launch(kernel)); ok(hip.hipDeviceSynchronize())
before = threads()
for _ in range(300):
    stream = ok(hip.hipStreamCreateWithFlags(1))
    ok(launch(kernel, stream))
    ok(hip.hipStreamDestroy(stream))
ok(hip.hipDeviceSynchronize())
assert threads() <= before + 4, (before, threads())
"""
    )


def test_printf_limit_is_the_one_that_kernels_get(run_python: Run) -> None:
    code = """
    import sys
    from hipadapt import hip, hiprtc
    source = b'extern "C" __global__ void k() { printf("line %d of many\\\\n", threadIdx.x); }'
    if sys.argv[1] != "0":
        limit = hip.hipLimit_t.hipLimitPrintfFifoSize
        assert int(hip.hipDeviceSetLimit(limit, int(sys.argv[1]))[0]) == 0
        assert hip.hipDeviceGetLimit(limit)[1] == int(sys.argv[1])
    program = hiprtc.hiprtcCreateProgram(source, b"k", 0, None, None)[1]
    assert int(hiprtc.hiprtcCompileProgram(program, 0, None)[0]) == 0
    image = bytearray(hiprtc.hiprtcGetCodeSize(program)[1])
    hiprtc.hiprtcGetCode(program, image)
    module = hip.hipModuleLoadData(image)[1]
    kernel = hip.hipModuleGetFunction(module, b"k")[1]
    hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 1024, 1, 1, 0, None, None, ())
    assert int(hip.hipDeviceSynchronize()[0]) == 0
    """
    assert run_python(code, "0").stdout.count("of many") == 1024
    assert 0 < run_python(code, "4096").stdout.count("of many") < 1024
