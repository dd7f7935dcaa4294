# SPDX-License-Identifier: MIT
"""Kernels that fail.  Each ends as a HIP error; the process goes on, and so does the
device after a reset.  A kernel may run for one second here.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hipadapt import hip

from ..case import Check, case, same
from ..gpu import Gpu, HipFailure, InOut, ok

GOOD = """
extern "C" __global__ void good(int *x) { x[threadIdx.x] = 3 * threadIdx.x; }
"""


def good_kernel(gpu: Gpu, when: str) -> Check:
    """A kernel that has nothing to do with the failure gives the right numbers."""
    (got,) = gpu.run(GOOD, "good", 1, 64, InOut(np.zeros(64, np.int32)))
    return same(f"good kernel {when}", got, 3 * np.arange(64))


def fails(
    gpu: Gpu,
    source: str,
    kernel: str,
    args: Sequence[Any],
    status: hip.hipError_t,
    *words: str,
    grid: int = 2,
    block: int = 64,
    cooperative: bool = False,
) -> Iterator[Check]:
    """Good kernel, failing kernel, sticky error, message, reset, good kernel."""
    yield good_kernel(gpu, "before")
    gpu.logged()
    function = gpu.build(source).function(kernel)
    gpu.launch(function, grid, block, args, cooperative=cooperative)
    (answer,) = hip.hipDeviceSynchronize()
    yield same("status of the wait", answer.name, status.name)
    sticky, _ = hip.hipMalloc(64)
    yield same("status of the next call", sticky.name, status.name)
    message = gpu.logged()
    if missing := [word for word in (kernel, *words) if word not in message]:
        raise AssertionError(f"{missing} not in the message {message!r}")
    gpu.reset()
    yield good_kernel(gpu, "after")


@case(group="faults")
def store_through_a_null_pointer(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void store_null(int *p) { p[threadIdx.x] = 1; }"""
    error = hip.hipError_t.hipErrorIllegalAddress
    yield from fails(gpu, source, "store_null", (None,), error)


@case(group="faults")
def store_to_a_wild_address(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void store_wild(double *p) {
        if (threadIdx.x == 17) p[blockIdx.x] = 1;
    }"""
    error = hip.hipError_t.hipErrorIllegalAddress
    yield from fails(gpu, source, "store_wild", (0x10_0000_0000,), error)


@case(group="faults")
def load_far_behind_an_allocation(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void load_far(int *p, long long offset) {
        p[threadIdx.x] = p[offset + threadIdx.x];
    }"""
    memory = gpu.upload(np.zeros(64, np.int32))
    error = hip.hipError_t.hipErrorIllegalAddress
    yield from fails(gpu, source, "load_far", (memory, np.int64(1 << 44)), error)


@case(group="faults")
def fault_between_barriers(gpu: Gpu) -> Iterator[Check]:
    """Other lanes wait at the barrier when one of them fails."""
    source = """
    extern "C" __global__ void store_between(int *p) {
        __shared__ int tile[64];
        tile[threadIdx.x] = threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 40) p[5] = tile[1];
        __syncthreads();
    }"""
    error = hip.hipError_t.hipErrorIllegalAddress
    yield from fails(gpu, source, "store_between", (None,), error)


@case(group="faults")
def recursion_without_an_end(gpu: Gpu) -> Iterator[Check]:
    source = """
    __device__ __noinline__ int down(volatile int *p, int n) {
        volatile int local[32];
        local[n & 31] = *p;
        return down(p, n + 1) + local[(n + 1) & 31];
    }
    extern "C" __global__ void overflow(int *p) { p[1] = down(p, 0); }"""
    memory = gpu.upload(np.zeros(2, np.int32))
    error = hip.hipError_t.hipErrorLaunchFailure
    yield from fails(gpu, source, "overflow", (memory,), error, "stack")


@case(group="faults")
def integer_division_by_zero(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void divide(int *p, int by) { p[threadIdx.x] = 7 / by; }"""
    memory = gpu.upload(np.zeros(64, np.int32))
    error = hip.hipError_t.hipErrorLaunchFailure
    if platform.machine() == "aarch64":  # there it is no fault
        values = InOut(np.ones(64, np.int32))
        (got,) = gpu.run(source, "divide", 1, 64, values, np.int32(0))
        yield same("quotient", got, np.zeros(64))
        return
    yield from fails(gpu, source, "divide", (memory, np.int32(0)), error)


@case(group="faults")
def trap(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void stop(int *p) { if (p[threadIdx.x] == 0) __trap(); }"""
    memory = gpu.upload(np.zeros(64, np.int32))
    error = hip.hipError_t.hipErrorLaunchFailure
    yield from fails(gpu, source, "stop", (memory,), error, "trap")


@case(group="faults")
def abort_in_a_kernel(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void give_up(int *p) { if (p[threadIdx.x] == 0) abort(); }"""
    memory = gpu.upload(np.zeros(64, np.int32))
    error = hip.hipError_t.hipErrorLaunchFailure
    yield from fails(gpu, source, "give_up", (memory,), error)


@case(group="faults")
def assertion_that_fails(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void checked(int *p) {
        assert(p[threadIdx.x] == 5 && "five is wanted");
    }"""
    memory = gpu.upload(np.zeros(64, np.int32))
    error = hip.hipError_t.hipErrorAssert
    words = ("five is wanted", "case.hip")
    yield from fails(gpu, source, "checked", (memory,), error, *words)


@case(group="faults")
def lanes_wait_at_different_barriers(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void diverge(int *p) {
        __shared__ int tile[64];
        tile[threadIdx.x] = threadIdx.x;
        if (threadIdx.x < 20) {
            __syncthreads();
            p[0] = tile[3];
        } else {
            p[1] = tile[5];
            __syncthreads();
            p[2] = tile[7];
        }
        __syncthreads();
    }"""
    memory = gpu.upload(np.zeros(64, np.int32))
    error = hip.hipError_t.hipErrorLaunchFailure
    yield from fails(gpu, source, "diverge", (memory,), error, "barrier")


@case(group="faults")
def loop_without_an_end(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void forever(volatile int *p) { while (p[0] == 0) { } }"""
    memory = gpu.upload(np.zeros(1, np.int32))
    error = hip.hipError_t.hipErrorLaunchTimeOut
    yield from fails(
        gpu, source, "forever", (memory,), error, "HIPADAPT_KERNEL_TIMEOUT"
    )


@case(group="faults")
def loop_of_barriers_without_an_end(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void forever_waiting(volatile int *p) {
        while (p[0] == 0) __syncthreads();
    }"""
    memory = gpu.upload(np.zeros(1, np.int32))
    error = hip.hipError_t.hipErrorLaunchTimeOut
    yield from fails(gpu, source, "forever_waiting", (memory,), error)


@case(group="faults")
def failure_on_one_stream_is_seen_by_all(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void store_null(int *p) { p[threadIdx.x] = 1; }"""
    yield good_kernel(gpu, "before")
    function = gpu.build(source).function("store_null")
    first, second = (ok(hip.hipStreamCreate()) for _ in range(2))
    gpu.launch(function, 1, 64, (None,), stream=first)
    (answer,) = hip.hipStreamSynchronize(first)
    yield same("its stream", answer.name, "hipErrorIllegalAddress")
    try:
        gpu.launch(function, 1, 64, (None,), stream=second)
        answer = hip.hipStreamSynchronize(second)[0]
    except HipFailure as failure:
        answer = failure.status
    yield same("another stream", answer.name, "hipErrorIllegalAddress")
    gpu.reset()
    yield good_kernel(gpu, "after")


@case(group="faults")
def many_failures_in_a_row(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void store_null(int *p) { p[threadIdx.x] = 1; }"""
    for _ in range(20):
        gpu.launch(gpu.build(source).function("store_null"), 4, 64, (None,))
        (answer,) = hip.hipDeviceSynchronize()
        yield same("status", answer.name, "hipErrorIllegalAddress")
        gpu.reset()
    yield good_kernel(gpu, "after")
