# SPDX-License-Identifier: MIT
"""What the CPU device does reaches tools: kernels, copies, memory, code objects."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import ROOT, STRICT, Observe, Tool, compiler, headers, said

PROGRAM = """
from hipadapt import compile_kernel, hip
import hipadapt
kernel = compile_kernel('''
extern "C" __global__ void add_one(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1.0f;
}''', "add_one")
status, stream = hip.hipStreamCreate()
status, memory = hip.hipMalloc(4096)
host = bytearray(4096)
to, back = hip.hipMemcpyKind.hipMemcpyHostToDevice, hip.hipMemcpyKind.hipMemcpyDeviceToHost
hip.hipMemcpy(memory, host, 4096, to)
for _ in range(1000):
    kernel[4, 256](memory, 1024)
hip.hipDeviceSynchronize()
hip.hipMemcpy(host, memory, 4096, back)
import struct
print("result", struct.unpack_from("f", host)[0])
"""


def numbers(lines: list[str]) -> dict[str, int]:
    pairs = (
        line.removeprefix("tool: ").split(" = ") for line in lines if " = " in line
    )
    return {name: int(number) for name, number in pairs}


def test_all_events_of_a_program(tool: Tool, observe: Observe) -> None:
    code = PROGRAM + "hip.hipFree(memory)\nhip.hipStreamDestroy(stream)\n"

    done = observe(code, tool("events.cpp", cxx=True))

    assert done.stdout == "result 1000.0\n", done.stderr
    found = numbers(said(done))
    assert found["kernel add_one"] == 1000
    assert found["KERNEL_DISPATCH"] == 1000
    assert found["KERNEL_DISPATCH_ENQUEUE/1"] == 1000
    assert found["KERNEL_DISPATCH_ENQUEUE/2"] == 1000
    assert found["KERNEL_DISPATCH_COMPLETE/0"] == 1000
    assert found["MEMORY_COPY_HOST_TO_DEVICE/1"] == 1
    assert found["MEMORY_COPY_HOST_TO_DEVICE/2"] == 1
    assert found["MEMORY_COPY_DEVICE_TO_HOST/2"] == 1
    assert found["MEMORY_COPY"] == 2
    assert found["MEMORY_ALLOCATION_ALLOCATE/1"] >= 1
    assert found["MEMORY_ALLOCATION_FREE/1"] >= 1
    assert found["HIP_STREAM_CREATE/0"] == 1
    assert found["HIP_STREAM_DESTROY/0"] == 1
    # Around each launch, and around other calls that name a stream.
    assert found["HIP_STREAM_SET/1"] == found["HIP_STREAM_SET/2"] >= 1000
    assert found["CODE_OBJECT_LOAD/1"] == 1
    assert found["CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER/1"] == 1
    assert found["RUNTIME_INITIALIZATION_HIP/0"] == 1
    assert found["CORRELATION_ID_RETIREMENT"] >= found["HIP_RUNTIME_API"]


THREE_KERNELS = """
from hipadapt import compile_kernel, hip
kernel = compile_kernel('extern "C" __global__ void none(int n) { }', "none")
for _ in range(3):
    kernel[1, 1](5)
hip.hipDeviceSynchronize()
"""
THREE_ENDS = [f"tool: kernel ended {number}" for number in (1, 2, 3)]


def test_ends_of_kernels_come_before_the_kernel_goes(
    tool: Tool, observe: Observe
) -> None:
    done = observe(THREE_KERNELS + "hip.hipDeviceReset()\n", tool("late.c"))

    assert done.returncode == 0, done.stderr
    told = [line for line in said(done) if "kernel" in line]
    # Workers tell of ends side by side: which comes first says nothing.
    assert sorted(told[:3]) == THREE_ENDS
    assert told[3:] == ["tool: kernel goes"]


def test_ends_of_kernels_come_before_the_end(tool: Tool, observe: Observe) -> None:
    done = observe(THREE_KERNELS, tool("late.c"))

    assert done.returncode == 0, done.stderr
    assert sorted(line for line in said(done) if line in THREE_ENDS) == THREE_ENDS
    assert said(done)[-1] == "tool: 3 ended, 3 recorded"


MEMORY = """
from hipadapt import hip
import hipadapt
def good(result):
    assert int(result[0]) == 0, result
    return result[1] if len(result) == 2 else None
hip.hipInit(0)
for _ in range(3):
    good(hip.hipFree(good(hip.hipMalloc(4096))))
    good(hip.hipHostFree(good(hip.hipHostMalloc(4096, 0))))
    good(hip.hipFree(good(hip.hipMallocManaged(4096, 1))))
extent = hip.hipExtent(width=64, height=4, depth=2)
place = good(hip.hipMalloc3D(extent))
good(hip.hipFree(place.ptr))
prop = hip.hipMemAllocationProp()
prop.type = hip.hipMemAllocationType.hipMemAllocationTypePinned
prop.location.type = hip.hipMemLocationType.hipMemLocationTypeDevice
handle = good(hip.hipMemCreate(2 << 20, prop, 0))
good(hip.hipMemRelease(handle))
print("result")
"""


def test_memory_of_all_kinds_comes_and_goes(tool: Tool, observe: Observe) -> None:
    done = observe(MEMORY, tool("events.cpp", cxx=True))

    assert done.stdout == "result\n", done.stderr
    found = numbers(said(done))
    for phase in (1, 2):
        assert found[f"MEMORY_ALLOCATION_ALLOCATE/{phase}"] == 10
        assert found[f"MEMORY_ALLOCATION_FREE/{phase}"] == 10
        assert found[f"MEMORY_ALLOCATION_VMEM_ALLOCATE/{phase}"] == 1
        assert found[f"MEMORY_ALLOCATION_VMEM_FREE/{phase}"] == 1
    assert found["MEMORY_ALLOCATION"] == 22


RESET = """
from hipadapt import hip
def good(result):
    assert int(result[0]) == 0, result
    return result[1] if len(result) == 2 else None
stream = good(hip.hipStreamCreate())
good(hip.hipMalloc(4096))
good(hip.hipMallocManaged(4096, 1))
good(hip.hipMallocAsync(4096, stream))
wanted = hip.hipCreateChannelDesc(32, 0, 0, 0, 2)[-1]
good(hip.hipMallocArray(wanted, 64, 2, 0))
extent = hip.hipExtent(width=64, height=4, depth=0)
good(hip.hipFreeMipmappedArray(good(hip.hipMallocMipmappedArray(wanted, extent, 2, 0))))
good(hip.hipDeviceReset())
"""


def test_what_a_reset_frees_is_told(tool: Tool, observe: Observe) -> None:
    done = observe(RESET, tool("events.cpp", cxx=True))

    assert done.returncode == 0, done.stderr
    found = numbers(said(done))
    assert found["MEMORY_ALLOCATION_ALLOCATE/1"] == 6
    assert found["MEMORY_ALLOCATION_FREE/1"] == 6


def test_exit_with_work_queued(tool: Tool, observe: Observe) -> None:
    code = PROGRAM.replace("hip.hipDeviceSynchronize()\n", "").replace(
        "hip.hipMemcpy(host, memory, 4096, back)\n", ""
    )

    done = observe(code, tool("events.cpp", cxx=True))

    assert (done.returncode, done.stdout) == (0, "result 0.0\n"), done.stderr
    found = numbers(said(done))
    assert found["KERNEL_DISPATCH_ENQUEUE/1"] == 1000
    assert found["KERNEL_DISPATCH_COMPLETE/0"] == 1000
    assert found["KERNEL_DISPATCH"] == 1000


def test_results_are_the_same_without_a_tool(observe: Observe) -> None:
    done = observe(PROGRAM)

    assert (done.stdout, done.stderr) == ("result 1000.0\n", "")


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tool of examples/, made as its first comment says."""
    made = tmp_path_factory.mktemp("example") / "libtool.so"
    source = ROOT / "examples" / "tool_library" / "tool.c"
    command = [compiler(False), *STRICT, *headers(), "-o", str(made), str(source)]
    subprocess.run(command, check=True, timeout=60)
    return made


def test_example_tool_prints_what_the_demo_does(example: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hipadapt", "demo"],
        cwd=ROOT,
        env={**os.environ, "ROCP_TOOL_LIBRARIES": str(example)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    lines = [
        line.removeprefix("[tool] ")
        for line in done.stdout.splitlines()
        if line.startswith("[tool] ")
    ]
    assert lines[0] == "ExampleTool with rocprofiler-sdk 1.2.1"
    assert any(line.startswith("agent 0: CPU ") for line in lines)
    assert any(line.startswith("agent 1: GPU ") for line in lines)
    assert any(line.startswith("code object load: id ") for line in lines)
    assert any(line.startswith("kernel load: id ") for line in lines)
    end = [line for line in lines if line.startswith("ExampleTool: ")]
    assert len(end) == 1
    words = end[0].split()
    assert all(int(words[place]) > 0 for place in (1, 4, 6)), end


def test_example_tool_declines_after_another_one(example: Path, tool: Tool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from hipadapt import hip; print(hip.hipGetDevice())"],
        cwd=ROOT,
        env={
            **os.environ,
            "ROCP_TOOL_LIBRARIES": f"{tool('calls.c')}:{example}",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0
    assert "[tool]" not in done.stdout
