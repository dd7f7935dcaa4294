# SPDX-License-Identifier: MIT
"""Cooperative launches as HIP's functions give them; kernels are in tests/kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.conftest import Run

SOURCE = b"""
#include <hip/hip_cooperative_groups.h>
extern "C" __global__ void rotate(int *x, int rounds) {
    auto grid = cooperative_groups::this_grid();
    int i = grid.thread_rank(), n = grid.size();
    for (int r = 0; r < rounds; r++) {
        int next = x[(i + 33) % n];
        grid.sync();
        x[i] = next;
        grid.sync();
    }
}
extern "C" __global__ void __launch_bounds__(32) narrow(int *x) {}
"""
N = 256


@pytest.fixture(scope="module")
def world(cpu: ModuleType) -> Iterator[SimpleNamespace]:
    from hipadapt import hiprtc

    def ok(result: tuple[Any, ...]) -> Any:
        import hipadapt

        assert int(result[0]) == 0, (result[0], hipadapt.error_text())
        return result[1] if len(result) == 2 else result[1:]

    program = ok(hiprtc.hiprtcCreateProgram(SOURCE, b"c.hip", 0, None, None))
    ok(hiprtc.hiprtcCompileProgram(program, 0, None))
    image = bytearray(ok(hiprtc.hiprtcGetCodeSize(program)))
    ok(hiprtc.hiprtcGetCode(program, image))
    module = ok(cpu.hipModuleLoadData(image))
    memory = ok(cpu.hipMalloc(4 * N))
    yield SimpleNamespace(
        hip=cpu,
        ok=ok,
        memory=memory,
        arguments=(ctypes.c_void_p(int(memory)), ctypes.c_int(3)),
        rotate=ok(cpu.hipModuleGetFunction(module, b"rotate")),
        narrow=ok(cpu.hipModuleGetFunction(module, b"narrow")),
    )
    ok(cpu.hipFree(memory))
    ok(cpu.hipModuleUnload(module))


def fill(world: SimpleNamespace) -> np.ndarray:
    x = np.arange(N, dtype=np.int32)
    kind = world.hip.hipMemcpyKind.hipMemcpyHostToDevice
    world.ok(world.hip.hipMemcpy(world.memory, x, x.nbytes, kind))
    return x


def result(world: SimpleNamespace) -> np.ndarray:
    world.ok(world.hip.hipDeviceSynchronize())
    x = np.zeros(N, np.int32)
    kind = world.hip.hipMemcpyKind.hipMemcpyDeviceToHost
    world.ok(world.hip.hipMemcpy(x, world.memory, x.nbytes, kind))
    return x


def test_device_says_that_it_launches_cooperatively(world: SimpleNamespace) -> None:
    hip = world.hip
    kind = hip.hipDeviceAttribute_t.hipDeviceAttributeCooperativeLaunch

    assert world.ok(hip.hipDeviceGetAttribute(kind, 0)) == 1


@pytest.mark.parametrize("blocks", [1, 4, 8])
def test_both_functions_run_all_blocks_together(
    world: SimpleNamespace, blocks: int
) -> None:
    hip = world.hip
    for call in ("module", "kernel"):
        x = fill(world)
        if call == "module":
            world.ok(
                hip.hipModuleLaunchCooperativeKernel(
                    world.rotate,
                    blocks,
                    1,
                    1,
                    N // blocks,
                    1,
                    1,
                    0,
                    None,
                    world.arguments,
                )
            )
        else:
            world.ok(
                hip.hipLaunchCooperativeKernel(
                    world.rotate, (blocks, 1, 1), (N // blocks, 1, 1), world.arguments,
                    0, None,
                )
            )  # fmt: skip
        np.testing.assert_array_equal(result(world), np.roll(x, -99))


def test_captured_launch_stays_cooperative(world: SimpleNamespace) -> None:
    hip, ok = world.hip, world.ok
    stream = ok(hip.hipStreamCreate())
    mode = hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal
    ok(hip.hipStreamBeginCapture(stream, mode))
    ok(
        hip.hipModuleLaunchCooperativeKernel(
            world.rotate, 4, 1, 1, 64, 1, 1, 0, stream, world.arguments
        )
    )
    graph = ok(hip.hipStreamEndCapture(stream))
    execution = ok(hip.hipGraphInstantiateWithFlags(graph, 0))
    x = fill(world)

    for _ in range(2):
        ok(hip.hipGraphLaunch(execution, stream))
    ok(hip.hipStreamSynchronize(stream))

    np.testing.assert_array_equal(result(world), np.roll(x, -198))
    ok(hip.hipGraphExecDestroy(execution))
    ok(hip.hipGraphDestroy(graph))
    ok(hip.hipStreamDestroy(stream))


@pytest.mark.parametrize(
    ("grid", "block", "shared", "answer"),
    [
        ((0, 1, 1), (64, 1, 1), 0, "hipErrorInvalidConfiguration"),
        ((1, 1, 1), (2000, 1, 1), 0, "hipErrorInvalidConfiguration"),
        ((1, 1, 1), (64, 1, 1), 1 << 20, "hipErrorInvalidValue"),
        ((100000, 1, 1), (64, 1, 1), 0, "hipErrorCooperativeLaunchTooLarge"),
        ((4096, 4096, 1), (64, 1, 1), 0, "hipErrorCooperativeLaunchTooLarge"),
    ],
)
def test_shape_that_cannot_be_is_refused(
    world: SimpleNamespace,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    shared: int,
    answer: str,
) -> None:
    (status,) = world.hip.hipModuleLaunchCooperativeKernel(
        world.rotate, *grid, *block, shared, None, world.arguments
    )

    assert status.name == answer


def test_room_is_that_of_the_occupancy(world: SimpleNamespace) -> None:
    hip, ok = world.hip, world.ok
    kind = hip.hipDeviceAttribute_t.hipDeviceAttributeMultiprocessorCount
    processors = ok(hip.hipDeviceGetAttribute(kind, 0))
    for block, shared in ((32, 0), (128, 0), (1024, 0), (32, 20000), (32, 65536)):
        each = ok(
            hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
                world.rotate, block, shared
            )
        )
        answers = []
        for grid in (each * processors, each * processors + 1):
            (status,) = hip.hipModuleLaunchCooperativeKernel(
                world.rotate, grid, 1, 1, block, 1, 1, shared, None,
                (ctypes.c_void_p(None), ctypes.c_int(0)),
            )  # fmt: skip
            answers.append(status.name)
        ok(hip.hipDeviceSynchronize())
        assert answers == ["hipSuccess", "hipErrorCooperativeLaunchTooLarge"]


def test_wrong_handles_and_arguments_are_refused(world: SimpleNamespace) -> None:
    hip = world.hip
    launch = hip.hipModuleLaunchCooperativeKernel

    error = hip.hipError_t.hipErrorInvalidResourceHandle
    assert launch(None, 1, 1, 1, 1, 1, 1, 0, None, ())[0] == error
    assert (
        hip.hipLaunchCooperativeKernel(0x5550, (1, 1, 1), (1, 1, 1), None, 0, None)[
            0
        ].name
        == "hipErrorInvalidDeviceFunction"
    )
    assert (
        launch(world.rotate, 1, 1, 1, 1, 1, 1, 0, None, None)[0].name
        == "hipErrorInvalidValue"
    )
    assert (
        launch(world.narrow, 1, 1, 1, 64, 1, 1, 0, None, (ctypes.c_void_p(None),))[
            0
        ].name
        == "hipErrorInvalidConfiguration"
    )


def test_many_launches_on_several_streams_leave_no_memory_behind(
    run_python: Run,
) -> None:
    run_python(
        """
import ctypes, threading
from hipadapt import hip, hiprtc

def ok(result):
    assert int(result[0]) == 0, result
    return result[1] if len(result) == 2 else result[1:]

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4

source = b'''
#include <hip/hip_cooperative_groups.h>
extern "C" __global__ void count(int *x) {
    atomicAdd(x, 1);
    cooperative_groups::this_grid().sync();
    if (*(volatile int *)x % (gridDim.x * blockDim.x) != 0) __trap();
    cooperative_groups::this_grid().sync();
}'''
program = ok(hiprtc.hiprtcCreateProgram(source, b"k", 0, None, None))
ok(hiprtc.hiprtcCompileProgram(program, 0, None))
image = bytearray(ok(hiprtc.hiprtcGetCodeSize(program)))
ok(hiprtc.hiprtcGetCode(program, image))
kernel = ok(hip.hipModuleGetFunction(ok(hip.hipModuleLoadData(image)), b"count"))

def work(launches):
    memory = ok(hip.hipMalloc(4))
    ok(hip.hipMemset(memory, 0, 4))
    stream = ok(hip.hipStreamCreate())
    for i in range(launches):
        ok(hip.hipModuleLaunchCooperativeKernel(
            kernel, 7, 1, 1, 40, 1, 1, 0, stream, (ctypes.c_void_p(int(memory)),)))
    ok(hip.hipStreamSynchronize(stream))
    x = (ctypes.c_int * 1)()
    ok(hip.hipMemcpy(x, memory, 4, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
    assert x[0] == 280 * launches, x[0]
    ok(hip.hipStreamDestroy(stream))
    ok(hip.hipFree(memory))

def round(launches):
    threads = [threading.Thread(target=work, args=(launches,)) for _ in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()

round(50)
before = resident()
round(300)
assert resident() < before + 8192, (before, resident())
"""
    )


def test_limits_are_each_devices_own(run_python: Run) -> None:
    done = run_python(
        """
import os
os.environ["HIPADAPT_CPU_DEVICES"] = "2"
import ctypes
from hipadapt import hip, hiprtc

def ok(result):
    assert int(result[0]) == 0, result
    return result[1] if len(result) == 2 else result[1:]

source = b'''
extern "C" __global__ void take(int *x, unsigned long long size) {
    void *p = malloc(size);
    *x = p != nullptr;
    free(p);
}
extern "C" __global__ void talk(int who) { printf("device %d says\\\\n", who); }'''
program = ok(hiprtc.hiprtcCreateProgram(source, b"k", 0, None, None))
ok(hiprtc.hiprtcCompileProgram(program, 0, None))
image = bytearray(ok(hiprtc.hiprtcGetCodeSize(program)))
ok(hiprtc.hiprtcGetCode(program, image))
heap, fifo = hip.hipLimit_t.hipLimitMallocHeapSize, hip.hipLimit_t.hipLimitPrintfFifoSize
usual = ok(hip.hipDeviceGetLimit(heap))

def takes(device, size):
    ok(hip.hipSetDevice(device))
    module = ok(hip.hipModuleLoadData(image))
    memory = ok(hip.hipMalloc(4))
    kernel = ok(hip.hipModuleGetFunction(module, b"take"))
    ok(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None,
        (ctypes.c_void_p(int(memory)), ctypes.c_ulonglong(size)), None))
    ok(hip.hipDeviceSynchronize())
    x = (ctypes.c_int * 1)()
    ok(hip.hipMemcpy(x, memory, 4, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
    return x[0]

ok(hip.hipSetDevice(1))
ok(hip.hipDeviceSetLimit(heap, 1 << 20))
ok(hip.hipDeviceSetLimit(fifo, 8192))
assert ok(hip.hipDeviceGetLimit(heap)) == 1 << 20
ok(hip.hipSetDevice(0))
assert ok(hip.hipDeviceGetLimit(heap)) == usual
assert takes(0, 1 << 22) == 1 and takes(1, 1 << 22) == 0 and takes(1, 1 << 20) == 1
assert hip.hipDeviceSetLimit(heap, 1 << 21)[0].name == "hipErrorInvalidValue"

def talk(device):
    ok(hip.hipSetDevice(device))
    kernel = ok(hip.hipModuleGetFunction(ok(hip.hipModuleLoadData(image)), b"talk"))
    ok(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 1024, 1, 1, 0, None,
                                 (ctypes.c_int(device),), None))
    ok(hip.hipDeviceSynchronize())

talk(0)
talk(1)
ok(hip.hipDeviceReset())
assert ok(hip.hipDeviceGetLimit(heap)) == usual
ok(hip.hipDeviceSetLimit(heap, 1 << 21))
assert takes(1, 1 << 21) == 1 and takes(1, 1 << 22) == 0
"""
    )
    assert done.stdout.count("device 0 says") == 1024
    assert 0 < done.stdout.count("device 1 says") < 1024
