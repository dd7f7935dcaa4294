# SPDX-License-Identifier: MIT
"""Kernels that the tests of the objects share, on the CPU device."""

from __future__ import annotations

from types import ModuleType

import pytest

import hipadapt

SOURCE = """
struct Pair { float a; int b; };

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
extern "C" __global__ void nothing() {}
extern "C" __global__ void wait(volatile int *flag, int *seen)
{
    while (*flag == 0)
        ;
    *seen = 1;
}
extern "C" __global__ void crash(int *x) { *(volatile int *)16 = *x; }
extern "C" __global__ void widths(signed char c, short s, long long l, double d, bool b,
                                  double *out)
{
    out[0] = c;
    out[1] = s;
    out[2] = l;
    out[3] = d;
    out[4] = b;
}
extern "C" __global__ void shared(int *out)
{
    extern __shared__ int part[];
    part[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void where(unsigned *out)
{
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned size = blockDim.x * blockDim.y * blockDim.z;
    unsigned lane = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[block * size + lane] = block * 1000 + lane;
}
__global__ void pair(Pair p, double *out) { out[0] = p.a + p.b; }
__global__ void count(unsigned long n, unsigned char c, double *out) { out[0] = n + c; }
template <class T> __global__ void put(T *x, T value) { *x = value; }
__device__ int answer = 42;
__constant__ double table[3] = {1, 2, 3};
"""
NAMES = ("put<float>", "put<unsigned char>", "pair", "count", "&answer")


@pytest.fixture(scope="session")
def module(cpu: ModuleType) -> hipadapt.Module:
    """The kernels above, compiled and loaded."""
    return hipadapt.Program(SOURCE, name_expressions=NAMES).compile()
