# SPDX-License-Identifier: MIT
"""Vectors, integer casts, alignment, atomics, and memory functions of kernels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.kernels.case import Check, same

from ..pair import pair
from ..twin import Twin

f32, i32, u8 = np.float32, np.int32, np.uint8


@pair(
    "30 floats are not a whole number of float4, so the eighth hangs over the end.",
    """
extern "C" __global__ void k(const float4 *x, float *y, int n)
{
    int t = threadIdx.x;
    if (t < n / 4 + WRONG) {
        float4 v = x[t]; // FIND out-of-bounds read global thread=7
        y[t] = v.x + v.y;
    }
}
""",
)
def float4_over_the_end(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(30, dtype=f32)), t.zeros(8, f32)
    t.go(1, 32, x, y, i32(30))
    yield same("y", t.get(y, 8, f32)[:7], 8 * np.arange(7) + 1)


@pair(
    "Whole float4 are stored up to and with the one behind the array.",
    """
extern "C" __global__ void k(float4 *x, int n)
{
    int t = threadIdx.x;
    if (t < n + WRONG)
        x[t] = make_float4(1, 2, 3, 4); // FIND out-of-bounds write global thread=5
}
""",
)
def float4_store_behind(t: Twin) -> Iterator[Check]:
    x = t.zeros(20, f32)
    t.go(1, 32, x, i32(5))
    yield same("x", t.get(x, 20, f32), np.tile([1, 2, 3, 4], 5))


@pair(
    "The rest of 7 bytes is read as a second char4, whose last byte is not there.",
    """
extern "C" __global__ void k(const char *x, int *y, int n)
{
    const char4 *v = (const char4 *)x;
    for (int i = 0; i < n; i++)
        y[i] = v[i].w; // FIND out-of-bounds read global bytes=1
}
""",
)
def char4_with_a_rest(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(7, dtype=np.int8)), t.zeros(2)
    t.go(1, 1, x, y, i32(1 + t.wrong))
    yield same("y", t.get(y, 2)[:1], [3])


@pair(
    "The address travels as an integer, is moved by 100 bytes and made a pointer again.",
    """
extern "C" __global__ void k(float *x, int bytes)
{
    unsigned long long at = (unsigned long long)x;
    at += bytes;
    *(float *)at = 3.0f; // FIND out-of-bounds write global bytes=4 thread=0
}
""",
)
def pointer_through_an_integer(t: Twin) -> Iterator[Check]:
    x = t.zeros(25, f32)
    t.go(1, 1, x, i32(96 + 4 * t.wrong))
    yield same("x", t.get(x, 25, f32)[24], 3)


@pair(
    "A float4 at an odd float is not aligned to 16 bytes, which GPUs need.",
    """
extern "C" __global__ void k(const float *x, float *y)
{
    const float4 *at = (const float4 *)(x + WRONG);
    float4 v = *at; // FIND misaligned read global thread=0
    y[0] = v.x;
    y[1] = v.w;
}
""",
    faults=True,
)
def float4_at_an_odd_float(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(8, dtype=f32)), t.zeros(2, f32)
    t.go(1, 1, x, y)
    yield same("y", t.get(y, 2, f32), [0, 3])


@pair(
    "An int at byte 3 is not aligned; memcpy of its bytes is the way to write it.",
    """
extern "C" __global__ void k(char *x, int v)
{
#if WRONG
    *(int *)(x + 3) = v; // FIND misaligned write global bytes=4 block=0 thread=0
#else
    memcpy(x + 3, &v, sizeof v);
#endif
}
""",
    faults=True,
)
def int_at_an_odd_byte(t: Twin) -> Iterator[Check]:
    x = t.zeros(8, u8)
    t.go(1, 1, x, i32(0x04030201))
    yield same("x", t.get(x, 8, u8), [0, 0, 0, 1, 2, 3, 4, 0])


@pair(
    "A double of shared memory begins at byte 4 of a pool of bytes.",
    """
extern "C" __global__ void k(double *y)
{
    __shared__ __align__(16) char pool[64];
    int t = threadIdx.x;
    double *d = (double *)(pool + 8 - 4 * WRONG);
    d[t] = t + 0.5; // FIND misaligned write shared bytes=8 block=0 thread=0
    y[t] = t + 0.5;
}
""",
    faults=True,
)
def double_in_a_pool_of_bytes(t: Twin) -> Iterator[Check]:
    y = t.zeros(4, np.float64)
    t.go(1, 4, y)
    yield same("y", t.get(y, 4, np.float64), np.arange(4) + 0.5)


@pair(
    "An atomic addition to 64 bits at an address that divides by 4 only.",
    """
extern "C" __global__ void k(unsigned *x)
{
    unsigned long long *sum = (unsigned long long *)(x + 2 - WRONG);
    atomicAdd(sum, 5ull); // FIND misaligned read write atomic global bytes=8
}
""",
    faults=True,
)
def atomic_of_64_bits_at_4(t: Twin) -> Iterator[Check]:
    x = t.zeros(4)
    t.go(1, 1, x)
    yield same("x", t.get(x, 4), [0, 0, 5, 0])


@pair(
    "A histogram of 256 bins meets the value 256.",
    """
extern "C" __global__ void k(const int *x, int *bins)
{
    int v = x[threadIdx.x];
    atomicAdd(bins + v, 1); // FIND out-of-bounds read write atomic global bytes=4 thread=3
}
""",
)
def atomic_addition_to_a_bin_that_is_not_there(t: Twin) -> Iterator[Check]:
    values = np.full(32, 255, i32)
    values[3] += t.wrong
    bins = t.zeros(256)
    t.go(1, 32, t.upload(values), bins)
    yield same("bins[255]", t.get(bins, 256)[255], 32)


@pair(
    "A histogram in shared memory meets the value 16.",
    """
extern "C" __global__ void k(const int *x, int *bins)
{
    __shared__ unsigned own[16];
    int t = threadIdx.x;
    if (t < 16)
        own[t] = 0;
    __syncthreads();
    atomicAdd(&own[x[t]], 1u); // FIND out-of-bounds read write atomic shared thread=40
    __syncthreads();
    if (t < 16)
        bins[t] = own[t];
}
""",
    faults=True,
)
def atomic_addition_behind_shared_bins(t: Twin) -> Iterator[Check]:
    values = np.arange(64, dtype=i32) % 16
    values[40] = 16 if t.wrong else 8
    bins = t.zeros(16)
    t.go(1, 64, t.upload(values), bins)
    yield same("bins", t.get(bins, 16), np.full(16, 4))


@pair(
    "Compare and swap of 8 bytes at the last 4 of the allocation.",
    """
extern "C" __global__ void k(unsigned long long *x, int at)
{
    atomicCAS(x + at, 0ull, 7ull); // FIND out-of-bounds read write atomic global bytes=8
}
""",
)
def compare_and_swap_over_the_end(t: Twin) -> Iterator[Check]:
    x = t.zeros(5)
    t.go(1, 1, x, i32(1 + t.wrong))
    yield same("x", t.get(x, 5), [0, 0, 7, 0, 0])


@pair(
    "An atomic load is an access as well, and stands before the array.",
    """
extern "C" __global__ void k(int *x, int *y, int at)
{
    y[0] = __hip_atomic_load(x + at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); // FIND out-of-bounds read atomic global
}
""",
    faults=True,
)
def atomic_load_before(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.array([4, 5], i32)), t.zeros(1)
    t.go(1, 1, x, y, i32(-int(t.wrong)))
    yield same("y", t.get(y, 1), [4])


@pair(
    "memcpy of a kernel copies 68 bytes into 64.",
    """
extern "C" __global__ void k(const char *from, char *to, int n)
{
    memcpy(to, from, n); // FIND out-of-bounds write global thread=0
}
""",
)
def memcpy_behind_its_target(t: Twin) -> Iterator[Check]:
    values = np.arange(80, dtype=u8)
    x, y = t.upload(values), t.zeros(64, u8)
    t.go(1, 1, x, y, i32(64 + 4 * t.wrong))
    yield same("y", t.get(y, 64, u8), values[:64])


@pair(
    "memcpy of a kernel reads 68 bytes from 64.",
    """
extern "C" __global__ void k(const char *from, char *to, int n)
{
    memcpy(to, from, n); // FIND out-of-bounds read global thread=0
}
""",
)
def memcpy_behind_its_source(t: Twin) -> Iterator[Check]:
    values = np.arange(64, dtype=u8)
    x, y = t.upload(values), t.zeros(80, u8)
    t.go(1, 1, x, y, i32(64 + 4 * t.wrong))
    yield same("y", t.get(y, 64, u8), values)


@pair(
    "memset of a kernel clears one byte more than the allocation has.",
    """
extern "C" __global__ void k(unsigned char *x, int n)
{
    memset(x, 0xEE, n); // FIND out-of-bounds write global thread=0
}
""",
)
def memset_behind_its_target(t: Twin) -> Iterator[Check]:
    x = t.zeros(99, u8)
    t.go(1, 1, x, i32(99 + t.wrong))
    yield same("x", t.get(x, 99, u8), np.full(99, 0xEE))


@pair(
    "memmove within shared memory moves one element too many.",
    """
extern "C" __global__ void k(int *y, int n)
{
    __shared__ int line[16];
    for (int i = 0; i < 16; i++)
        line[i] = i;
    memmove(line + 1, line, n); // FIND out-of-bounds write shared thread=0
    y[0] = line[15];
}
""",
    faults=True,
)
def memmove_within_shared_memory(t: Twin) -> Iterator[Check]:
    y = t.zeros(1)
    t.go(1, 1, y, i32(60 + 4 * t.wrong))
    yield same("y", t.get(y, 1), [14])


@pair(
    "Copying a structure of 24 bytes reads all of it, though only one member is used.",
    """
struct Item { double a, b; int c; };
extern "C" __global__ void k(const Item *items, int *y, int n)
{
    Item last = items[n - 1]; // FIND out-of-bounds read global thread=0
    y[0] = last.c >= 0;
}
""",
)
def copy_of_a_structure_over_the_end(t: Twin) -> Iterator[Check]:
    items = np.zeros(24 + 8, u8)
    y = t.zeros(1)
    t.go(1, 1, t.upload(items), y, i32(1 + t.wrong))
    yield same("y", t.get(y, 1), [1])


@pair(
    "Bytes are read as words, and the last word has one byte only.",
    """
extern "C" __global__ void k(const unsigned char *x, unsigned *y, int n)
{
    unsigned total = 0;
    for (int i = 0; i < n; i++) {
        unsigned word = ((const unsigned *)x)[i]; // FIND out-of-bounds read global bytes=4
        total += word & 255;
    }
    y[0] = total;
}
""",
)
def words_of_bytes_with_a_rest(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(9, dtype=u8)), t.zeros(1)
    t.go(1, 1, x, y, i32(2 + t.wrong))
    yield same("y", t.get(y, 1), [4])
