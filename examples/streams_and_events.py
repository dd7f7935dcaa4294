# SPDX-License-Identifier: MIT
"""Streams run work side by side and in order; events order and time it."""

import sys
from typing import Any

import numpy as np

from hipadapt import hip, hiprtc

SOURCE = b"""
extern "C" __global__ void advance(float *x, int count, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float value = x[i];
    for (int r = 0; r < rounds; r++)
        value = 0.5f * value + 1.0f;
    x[i] = value;
}

extern "C" __global__ void add(const float *a, const float *b, float *sum, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        sum[i] = a[i] + b[i];
}
"""
COUNT, ROUNDS = 1 << 18, 20


def hip_check(result: tuple[Any, ...]) -> Any:
    """Take the status off the result of a call; raise if it is an error."""
    status, *values = result
    if int(status) != 0:
        raise RuntimeError(str(status))
    return values[0] if len(values) == 1 else tuple(values)


def load_kernels() -> tuple[Any, Any, Any]:
    """Return the module and its two kernels."""
    program = hip_check(hiprtc.hiprtcCreateProgram(SOURCE, b"streams", 0, None, None))
    hip_check(hiprtc.hiprtcCompileProgram(program, 0, None))
    code = bytearray(hip_check(hiprtc.hiprtcGetCodeSize(program)))
    hip_check(hiprtc.hiprtcGetCode(program, code))
    hip_check(hiprtc.hiprtcDestroyProgram(program.createRef()))
    module = hip_check(hip.hipModuleLoadData(code))
    advance = hip_check(hip.hipModuleGetFunction(module, b"advance"))
    return module, advance, hip_check(hip.hipModuleGetFunction(module, b"add"))


def launch(kernel: Any, stream: Any, *arguments: Any) -> None:
    """Enqueue a kernel over COUNT elements and return at once."""
    hip_check(
        hip.hipModuleLaunchKernel(
            kernel,
            *hip.dim3(COUNT // 256),
            *hip.dim3(256),
            sharedMemBytes=0,
            stream=stream,
            kernelParams=None,
            extra=arguments,
        )
    )


def main() -> int:
    """Exit status 0 if the numbers and the times make sense."""
    module, advance, add = load_kernels()
    streams = [hip_check(hip.hipStreamCreate()) for _ in range(2)]
    begin, end, ready = (hip_check(hip.hipEventCreate()) for _ in range(3))
    host = [np.full(COUNT, start, np.float32) for start in (5, -3)]
    result = np.empty(COUNT, np.float32)
    device = [hip_check(hip.hipMalloc(result.nbytes)) for _ in range(3)]
    size = result.nbytes
    to_device = hip.hipMemcpyKind.hipMemcpyHostToDevice
    to_host = hip.hipMemcpyKind.hipMemcpyDeviceToHost

    # The streams fill and advance one array each, independently of each other.
    hip_check(hip.hipEventRecord(begin, streams[0]))
    for stream, memory, values in zip(streams, device, host, strict=False):
        hip_check(hip.hipMemcpyAsync(memory, values, size, to_device, stream))
        launch(advance, stream, memory, np.int32(COUNT), np.int32(ROUNDS))

    # The sum needs both: stream 0 waits until stream 1 has come as far as `ready`.
    hip_check(hip.hipEventRecord(ready, streams[1]))
    hip_check(hip.hipStreamWaitEvent(streams[0], ready, 0))
    launch(add, streams[0], *device, np.int32(COUNT))
    hip_check(hip.hipMemcpyAsync(result, device[2], size, to_host, streams[0]))
    hip_check(hip.hipEventRecord(end, streams[0]))

    # Nothing above has waited.  `result` may be read after this.
    (status,) = hip.hipStreamQuery(streams[0])
    print(f"stream 0 after the last call: {status.name}")
    hip_check(hip.hipEventSynchronize(end))
    elapsed_ms = hip_check(hip.hipEventElapsedTime(begin, end))
    print(f"copies and kernels took {elapsed_ms:.3f} ms")

    for memory in device:
        hip_check(hip.hipFree(memory))
    for event in (begin, end, ready):
        hip_check(hip.hipEventDestroy(event))
    for stream in streams:
        hip_check(hip.hipStreamDestroy(stream))
    hip_check(hip.hipModuleUnload(module))

    want = sum(2 + (values - 2) * np.float32(0.5**ROUNDS) for values in host)
    right = bool(np.allclose(result, want, atol=1e-5)) and elapsed_ms > 0
    print("ok" if right else "wrong")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
