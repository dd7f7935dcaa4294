# SPDX-License-Identifier: MIT
"""Kernels from C++ templates: hiprtc makes the instances that are named."""

import sys
from typing import Any

import numpy as np

from hipadapt import hip, hiprtc

SOURCE = b"""
namespace maths {

template <class T> struct Square {
    __device__ T operator()(T value) const { return value * value; }
};

template <class T> struct Half {
    __device__ T operator()(T value) const { return value / 2; }
};

template <class T, template <class> class Function, int times>
__global__ void apply(T *x, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    T value = x[i];
    for (int n = 0; n < times; n++)
        value = Function<T>()(value);
    x[i] = value;
}

}
"""

# The instances, as an expression of C++ each; the type of x; the same in numpy.
INSTANCES = (
    (b"maths::apply<float, maths::Square, 2>", np.float32, lambda x: x**4),
    (b"maths::apply<double, maths::Half, 3>", np.float64, lambda x: x / 8),
    (b"maths::apply<long long, maths::Square, 1>", np.int64, lambda x: x**2),
)


def hip_check(result: tuple[Any, ...]) -> Any:
    """Take the status off the result of a call; raise if it is an error."""
    status, *values = result
    if int(status) != 0:
        raise RuntimeError(str(status))
    return values[0] if len(values) == 1 else tuple(values)


def main() -> int:
    """Exit status 0 if all instances have computed the same as numpy."""
    program = hip_check(hiprtc.hiprtcCreateProgram(SOURCE, b"maths", 0, None, None))
    # A template has no code of its own.  Each name expression asks for an instance, and
    # must be added before the program is compiled.
    for name, _, _ in INSTANCES:
        hip_check(hiprtc.hiprtcAddNameExpression(program, name))
    hip_check(hiprtc.hiprtcCompileProgram(program, 1, [b"-std=c++17"]))
    code = bytearray(hip_check(hiprtc.hiprtcGetCodeSize(program)))
    hip_check(hiprtc.hiprtcGetCode(program, code))
    module = hip_check(hip.hipModuleLoadData(code))

    right = True
    for name, dtype, reference in INSTANCES:
        # In the module an instance has its lowered (mangled) name.
        lowered = hip_check(hiprtc.hiprtcGetLoweredName(program, name))
        kernel = hip_check(hip.hipModuleGetFunction(module, lowered))

        x = np.arange(100).astype(dtype)
        memory = hip_check(hip.hipMalloc(x.nbytes))
        to_device = hip.hipMemcpyKind.hipMemcpyHostToDevice
        to_host = hip.hipMemcpyKind.hipMemcpyDeviceToHost
        hip_check(hip.hipMemcpy(memory, x, x.nbytes, to_device))
        hip_check(
            hip.hipModuleLaunchKernel(
                kernel,
                *hip.dim3(4),
                *hip.dim3(32),
                sharedMemBytes=0,
                stream=None,
                kernelParams=None,
                extra=(memory, np.int32(x.size)),
            )
        )
        result = np.empty_like(x)
        hip_check(hip.hipMemcpy(result, memory, x.nbytes, to_host))
        hip_check(hip.hipFree(memory))

        same = np.allclose(result, reference(x), rtol=1e-6)
        right = right and same
        print(f"{name.decode():<45}{'ok' if same else 'wrong'}")

    hip_check(hip.hipModuleUnload(module))
    hip_check(hiprtc.hiprtcDestroyProgram(program.createRef()))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
