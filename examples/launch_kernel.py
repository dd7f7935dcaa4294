# SPDX-License-Identifier: MIT
"""Compile a kernel from source text with hiprtc and launch it."""

import sys
from typing import Any

from hipadapt import hip, hiprtc

SOURCE = rb"""
extern "C" __global__ void tell()
{
    // Each of the threads runs this once.
    printf("thread (%d, %d) of block %d\n", (int)threadIdx.x, (int)threadIdx.y,
           (int)blockIdx.x);
}
"""


def hip_check(result: tuple[Any, ...]) -> Any:
    """Take the status off the result of a call; raise if it is an error."""
    status, *values = result
    if int(status) != 0:  # hipSuccess and HIPRTC_SUCCESS are both 0
        raise RuntimeError(str(status))
    return values[0] if len(values) == 1 else tuple(values)


def compile_source(source: bytes, name: bytes) -> bytearray:
    """Return the code object; raise with the compiler's words if there is an error."""
    program = hip_check(hiprtc.hiprtcCreateProgram(source, name, 0, None, None))
    (status,) = hiprtc.hiprtcCompileProgram(program, 0, None)
    if int(status) != 0:
        log = bytearray(hip_check(hiprtc.hiprtcGetProgramLogSize(program)))
        hip_check(hiprtc.hiprtcGetProgramLog(program, log))
        raise RuntimeError(log.decode())
    code = bytearray(hip_check(hiprtc.hiprtcGetCodeSize(program)))
    hip_check(hiprtc.hiprtcGetCode(program, code))
    # hiprtcDestroyProgram takes a pointer to the handle: createRef makes one.
    hip_check(hiprtc.hiprtcDestroyProgram(program.createRef()))
    return code


def main() -> int:
    """Exit status 0 if nothing failed."""
    # A mistake in the source gives an error that names the file, line and column.
    try:
        compile_source(b"\n__global__ void broken() { undeclared = 1; }", b"broken.hip")
    except RuntimeError as error:
        print(f"the compiler says:\n{str(error).splitlines()[0]}\n")
    else:
        raise RuntimeError("a broken source was compiled")

    module = hip_check(hip.hipModuleLoadData(compile_source(SOURCE, b"tell.hip")))
    kernel = hip_check(hip.hipModuleGetFunction(module, b"tell"))

    # Two blocks of 3 x 2 threads; no shared memory, the default stream, no arguments.
    hip_check(
        hip.hipModuleLaunchKernel(
            kernel,
            gridDimX=2,
            gridDimY=1,
            gridDimZ=1,
            blockDimX=3,
            blockDimY=2,
            blockDimZ=1,
            sharedMemBytes=0,
            stream=None,
            kernelParams=None,
            extra=None,
        )
    )
    # The launch has returned at once.  After this call the kernel has run, and what it
    # printed is out; the order of threads is not defined.
    sys.stdout.flush()
    hip_check(hip.hipDeviceSynchronize())

    hip_check(hip.hipModuleUnload(module))
    print("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
