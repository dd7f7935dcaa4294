# SPDX-License-Identifier: MIT
"""Jacobi's method for a system of equations, on the host and by two kernels."""

import ctypes

import numpy as np
from common import check, load, peer

SOURCE = rb"""
extern "C" __global__ void jacobi(float *next, const float *x, const float *a,
                                  const float *b, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int j = 0; j < n; j++) {
        if (j != row) sum += a[row * n + j] * x[j];
    }
    next[row] = (b[row] - sum) / a[row * n + row];
}

extern "C" __global__ void jacobi_tiled(float *next, const float *x, const float *a,
                                        const float *b, int n) {
    __shared__ float tile[64];
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int begin = 0; begin < n; begin += 64) {
        tile[threadIdx.x] = x[begin + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            if (begin + j != row) sum += a[row * n + begin + j] * tile[j];
        }
        __syncthreads();
    }
    next[row] = (b[row] - sum) / a[row * n + row];
}
"""
N = 256  # a multiple of the block
BLOCK = 64
ROUNDS = 100


def on_host(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The method in numpy."""
    diagonal = a.diagonal()
    rest = a - np.diag(diagonal)
    x = np.zeros_like(b)
    for _ in range(ROUNDS):
        x = (b - rest @ x) / diagonal
    return x


def main() -> None:
    """Runs all three, and compares solutions and residues."""
    p = peer()
    hip = p.hip
    random = np.random.default_rng(0)
    a = (random.random((N, N)) / N).astype(np.float32)
    np.fill_diagonal(a, 1)
    b = (random.random(N) / N).astype(np.float32)
    expected = on_host(a, b)
    module = load(p, SOURCE, b"jacobi")
    there = hip.hipMemcpyKind.hipMemcpyHostToDevice
    back = hip.hipMemcpyKind.hipMemcpyDeviceToHost
    a_d, b_d, x_d, next_d = (
        check(hip.hipMalloc(size)) for size in (a.nbytes, b.nbytes, b.nbytes, b.nbytes)
    )
    check(hip.hipMemcpy(a_d, a, a.nbytes, there))
    check(hip.hipMemcpy(b_d, b, b.nbytes, there))
    start, stop = check(hip.hipEventCreate()), check(hip.hipEventCreate())
    for name in ("jacobi", "jacobi_tiled"):
        kernel = check(hip.hipModuleGetFunction(module, name.encode()))
        check(hip.hipMemset(x_d, 0, b.nbytes))
        check(hip.hipEventRecord(start, None))
        for _ in range(ROUNDS):
            check(
                hip.hipModuleLaunchKernel(
                    kernel,
                    *hip.dim3(N // BLOCK),
                    *hip.dim3(BLOCK),
                    sharedMemBytes=0,
                    stream=None,
                    kernelParams=None,
                    extra=(next_d, x_d, a_d, b_d, ctypes.c_int(N)),
                )
            )
            x_d, next_d = next_d, x_d
        check(hip.hipEventRecord(stop, None))
        check(hip.hipEventSynchronize(stop))
        milliseconds = check(hip.hipEventElapsedTime(start, stop))
        x = np.empty_like(b)
        check(hip.hipMemcpy(x, x_d, x.nbytes, back))
        residue = float(np.linalg.norm(a @ x - b))
        print(f"{name}: residue {residue:.2e}, {milliseconds:.1f} ms")
        if not np.allclose(x, expected, atol=1e-5) or residue > 1e-4:
            raise SystemExit(f"{name}: not the host's solution")
    for event in (start, stop):
        check(hip.hipEventDestroy(event))
    for memory in (a_d, b_d, x_d, next_d):
        check(hip.hipFree(memory))
    check(hip.hipModuleUnload(module))
    print("ok")


if __name__ == "__main__":
    main()
