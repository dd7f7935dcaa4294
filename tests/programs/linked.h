/* SPDX-License-Identifier: MIT */
#pragma once
#include "check.h"

extern __device__ int shared_sum;
extern __constant__ int shared_factor;
extern __managed__ int shared_calls;

__device__ int elsewhere(int x);
__global__ void kernel_elsewhere(int *x);
template <class T> __global__ void common(T *x, T value) { *x = value + elsewhere(0); }

int other_put(int *d);
int other_common(int *d);
