# SPDX-License-Identifier: MIT
"""Launch a kernel with arguments of mixed sizes: arrays, numbers and a struct."""

import ctypes
import math
import sys
from typing import Any

import numpy as np

from hipadapt import hip, hiprtc

SOURCE = b"""
struct Window { float low, high; int clip; };

extern "C" __global__ void scale(char step, const float *in, double factor, float *out,
                                 Window window, short shift, int count)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * step;
    if (i >= count)
        return;
    float value = (float)(in[i] * factor) + shift;
    if (window.clip)
        value = fminf(fmaxf(value, window.low), window.high);
    out[i] = value;
}
"""


class Window(ctypes.Structure):
    """The kernel's struct: same members, same order."""

    _fields_ = (
        ("low", ctypes.c_float),
        ("high", ctypes.c_float),
        ("clip", ctypes.c_int),
    )


def hip_check(result: tuple[Any, ...]) -> Any:
    """Take the status off the result of a call; raise if it is an error."""
    status, *values = result
    if int(status) != 0:
        raise RuntimeError(str(status))
    return values[0] if len(values) == 1 else tuple(values)


def main() -> int:
    """Exit status 0 if the device has computed the same as numpy."""
    program = hip_check(hiprtc.hiprtcCreateProgram(SOURCE, b"scale.hip", 0, None, None))
    hip_check(hiprtc.hiprtcCompileProgram(program, 1, [b"-O3"]))
    code = bytearray(hip_check(hiprtc.hiprtcGetCodeSize(program)))
    hip_check(hiprtc.hiprtcGetCode(program, code))
    hip_check(hiprtc.hiprtcDestroyProgram(program.createRef()))
    module = hip_check(hip.hipModuleLoadData(code))
    kernel = hip_check(hip.hipModuleGetFunction(module, b"scale"))

    count = 1000
    values = np.linspace(-10, 10, count, dtype=np.float32)
    result = np.zeros_like(values)
    source = hip_check(hip.hipMalloc(values.nbytes))
    target = hip_check(hip.hipMalloc(values.nbytes))
    to_device = hip.hipMemcpyKind.hipMemcpyHostToDevice
    to_host = hip.hipMemcpyKind.hipMemcpyDeviceToHost
    hip_check(hip.hipMemcpy(source, values, values.nbytes, to_device))
    hip_check(hip.hipMemcpy(target, result, result.nbytes, to_device))

    # dim3 unpacks into three numbers; members that are left out are 1.
    block = hip.dim3(x=64)
    grid = hip.dim3(math.ceil(count / block.x))
    hip_check(
        hip.hipModuleLaunchKernel(
            kernel,
            *grid,
            *block,
            sharedMemBytes=0,
            stream=None,
            kernelParams=None,
            # In the kernel's order.  Device memory goes as it is; a number needs a type
            # of the same size as the parameter's, from ctypes or from numpy; a struct
            # is a ctypes.Structure or an element of a numpy structured array.
            extra=(
                ctypes.c_byte(1),
                source,
                np.float64(1.5),
                target,
                Window(low=-12, high=12, clip=1),
                ctypes.c_short(3),
                np.int32(count),
            ),
        )
    )
    # A copy to the host waits for the kernel: both are in the default stream.
    hip_check(hip.hipMemcpy(result, target, result.nbytes, to_host))

    for memory in (source, target):
        hip_check(hip.hipFree(memory))
    hip_check(hip.hipModuleUnload(module))

    want = np.clip(values * 1.5 + 3, -12, 12)
    error = float(np.abs(result - want).max())
    print(f"largest error {error:.2g}")
    print("ok" if error <= 1e-5 else "wrong")
    return 0 if error <= 1e-5 else 1


if __name__ == "__main__":
    sys.exit(main())
