# SPDX-License-Identifier: MIT
"""AMD's own hip-python, both generations, on the CPU device by ``run``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interop import fetched

pytestmark = pytest.mark.fetched
START = """
import array, ctypes
from hip import hip, hiprtc
kind = hip.hipMemcpyKind

def check(result):
    status, *values = result
    assert int(status) == 0, status
    return values[0] if len(values) == 1 else values

def compiled(source, name, *options):
    program = check(hiprtc.hiprtcCreateProgram(source, b"x.hip", 0, None, None))
    check(hiprtc.hiprtcCompileProgram(program, len(options), list(options)))
    code = bytearray(check(hiprtc.hiprtcGetCodeSize(program)))
    check(hiprtc.hiprtcGetCode(program, code))
    check(hiprtc.hiprtcDestroyProgram(program.createRef()))
    module = check(hip.hipModuleLoadData(code))
    return module, check(hip.hipModuleGetFunction(module, name))
"""


@pytest.fixture(scope="module", params=["hip-python-10", "hip-python-7"])
def peer(request: pytest.FixtureRequest) -> Path:
    return fetched.fetch(request.param)


def run(peer: Path, code: str) -> str:
    done = fetched.run(peer, START + code)
    assert done.stderr == ""
    return done.stdout


def test_device_is_described(peer: Path) -> None:
    code = """
try:
    found = check(hip.hipGetDeviceProperties(0))
except TypeError:  # 7.2: the caller's record is filled
    found = hip.hipDeviceProp_t()
    check(hip.hipGetDeviceProperties(found, 0))
name = found.name if isinstance(found.name, str) else found.name.decode()
print(check(hip.hipGetDeviceCount()), found.warpSize, name, hip.__file__)
"""

    words = run(peer, code).split()

    assert words[:4] == ["1", "64", "hipadapt", "CPU"]
    assert words[-1].startswith(str(peer))


def test_memory_is_copied_both_ways(peer: Path) -> None:
    code = """
data, back = array.array("i", range(1000)), array.array("i", [0] * 1000)
first, second = check(hip.hipMalloc(4000)), check(hip.hipMalloc(4000))
check(hip.hipMemcpy(first, data, 4000, kind.hipMemcpyHostToDevice))
check(hip.hipMemcpy(second, first, 4000, kind.hipMemcpyDeviceToDevice))
check(hip.hipMemset(first, 1, 4000))
check(hip.hipMemcpy(back, second, 4000, kind.hipMemcpyDeviceToHost))
assert back == data
check(hip.hipMemcpy(back, first, 4000, kind.hipMemcpyDeviceToHost))
assert set(back) == {0x01010101}
check(hip.hipFree(first)); check(hip.hipFree(second))
print(int(hip.hipFree(second)[0]) != 0)
"""

    assert run(peer, code) == "True\n"


def test_streams_and_events_keep_the_order(peer: Path) -> None:
    code = """
stream, other = check(hip.hipStreamCreate()), check(hip.hipStreamCreate())
start, stop = check(hip.hipEventCreate()), check(hip.hipEventCreate())
memory, back = check(hip.hipMalloc(4096)), bytearray(4096)
check(hip.hipEventRecord(start, stream))
check(hip.hipMemsetAsync(memory, 7, 4096, stream))
check(hip.hipEventRecord(stop, stream))
check(hip.hipStreamWaitEvent(other, stop, 0))
check(hip.hipMemcpyAsync(back, memory, 4096, kind.hipMemcpyDeviceToHost, other))
check(hip.hipStreamSynchronize(other))
check(hip.hipEventSynchronize(stop))
print(set(back), check(hip.hipEventElapsedTime(start, stop)) >= 0)
check(hip.hipEventDestroy(start)); check(hip.hipEventDestroy(stop))
check(hip.hipStreamDestroy(stream)); check(hip.hipStreamDestroy(other))
"""

    assert run(peer, code) == "{7} True\n"


def test_kernel_is_compiled_and_launched(peer: Path) -> None:
    code = """
module, kernel = compiled(b'''
extern "C" __global__ void axpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i] + N;
}''', b"axpy", b"-DN=1", b"-O3")
n = 1000
x, y = array.array("f", range(n)), array.array("f", [2] * n)
dx, dy = check(hip.hipMalloc(4 * n)), check(hip.hipMalloc(4 * n))
check(hip.hipMemcpy(dx, x, 4 * n, kind.hipMemcpyHostToDevice))
check(hip.hipMemcpy(dy, y, 4 * n, kind.hipMemcpyHostToDevice))
check(hip.hipModuleLaunchKernel(
    kernel, *hip.dim3(x=8), *hip.dim3(x=128), sharedMemBytes=0, stream=None,
    kernelParams=None, extra=(ctypes.c_float(3), dx, dy, ctypes.c_int(n))))
check(hip.hipDeviceSynchronize())
check(hip.hipMemcpy(y, dy, 4 * n, kind.hipMemcpyDeviceToHost))
check(hip.hipModuleUnload(module))
print(y.tolist() == [3.0 * i + 3 for i in range(n)])
"""

    assert run(peer, code) == "True\n"


def test_errors_of_the_compiler_are_shown(peer: Path) -> None:
    code = """
program = check(hiprtc.hiprtcCreateProgram(b"__global__ void k() { y; }", b"bad.hip",
                                           0, None, None))
status, = hiprtc.hiprtcCompileProgram(program, 0, [])
log = bytearray(check(hiprtc.hiprtcGetProgramLogSize(program)))
check(hiprtc.hiprtcGetProgramLog(program, log))
print(status.name, "bad.hip:1:23: error" in log.decode())
"""

    assert run(peer, code) == "HIPRTC_ERROR_COMPILATION True\n"


def test_both_bindings_work_on_one_device(peer: Path) -> None:
    code = """
from hipadapt import hip as ours, provider
memory = check(hip.hipMalloc(64))
check(ours.hipMemset(int(memory), 5, 64))
back = bytearray(64)
check(ours.hipMemcpy(back, int(memory), 64, ours.hipMemcpyKind.hipMemcpyDeviceToHost))
check(ours.hipFree(int(memory)))
print(provider().name, set(back), int(hip.hipFree(memory)[0]) != 0)
"""

    assert run(peer, code) == "cpu {5} True\n"
