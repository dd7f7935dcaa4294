# SPDX-License-Identifier: MIT
"""Accesses beyond shared memory, local arrays, constants, variables and arguments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.kernels.case import Check, same

from ..pair import pair
from ..twin import Twin

f32, i32 = np.float32, np.int32


@pair(
    "The tile has 64 floats, and lane 63 writes the 65th.",
    """
extern "C" __global__ void k(float *y)
{
    __shared__ float tile[64];
    int t = threadIdx.x;
    int at = t == 63 ? 63 + WRONG : t;
    tile[t] = 0.0f;
    tile[at] = 1.0f; // FIND out-of-bounds write shared bytes=4 block=0 thread=63
    y[t] = tile[t] + (WRONG && t == 63);
}
""",
    faults=True,
)
def static_tile_one_behind(t: Twin) -> Iterator[Check]:
    y = t.zeros(64, f32)
    t.go(1, 64, y)
    yield same("y", t.get(y, 64, f32), np.ones(64))


@pair(
    "Between two arrays of shared memory, the end of the first is not the second's start.",
    """
extern "C" __global__ void k(int *y)
{
    __shared__ int first[32];
    __shared__ int second[32];
    int t = threadIdx.x;
    first[t] = t;
    second[t] = -t;
    __syncthreads();
    int at = t == 0 ? 31 + WRONG : t;
    y[t] = first[at] + second[t]; // FIND out-of-bounds read shared bytes=4 thread=0
}
""",
    check="memory",
)
def from_one_shared_array_into_another(t: Twin) -> Iterator[Check]:
    y = t.zeros(32)
    t.go(1, 32, y)
    yield same("y", t.get(y, 32), 31 * (np.arange(32) == 0))


@pair(
    "Lane 0 reads the element left of its tile.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads();
    int left = t > 0 || WRONG ? t - 1 : 0;
    y[t] = tile[left]; // FIND out-of-bounds read shared bytes=4 thread=0
}
""",
    faults=True,
)
def left_of_a_tile(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(32, dtype=i32)), t.zeros(32)
    t.go(1, 32, x, y)
    yield same("y", t.get(y, 32), np.maximum(np.arange(32) - 1, 0))


@pair(
    "The launch gives 4 bytes less of dynamic shared memory than the block uses.",
    """
extern "C" __global__ void k(int *y)
{
    extern __shared__ int tile[];
    int t = threadIdx.x;
    tile[t] = t; // FIND out-of-bounds write shared bytes=4 block=0 thread=63
    __syncthreads();
    if (t < 32)
        y[t] = tile[t + 31];
}
""",
    faults=True,
)
def dynamic_memory_too_small(t: Twin) -> Iterator[Check]:
    y = t.zeros(32)
    t.go(1, 64, y, shared=256 - 4 * t.wrong)
    yield same("y", t.get(y, 32), np.arange(32) + 31)


@pair(
    "The launch gives no dynamic shared memory at all.",
    """
extern "C" __global__ void k(int *y)
{
    extern __shared__ char bytes[];
    bytes[0] = 1; // FIND out-of-bounds|unknown-memory write bytes=1 thread=0
    y[0] = 1;
}
""",
    faults=True,
)
def dynamic_memory_of_no_bytes(t: Twin) -> Iterator[Check]:
    y = t.zeros(1)
    t.go(1, 1, y, shared=0 if t.wrong else 1)
    yield same("y", t.get(y, 1), [1])


@pair(
    "Dynamic shared memory is cut into two parts; the second is counted in bytes where"
    " the launch counted halves.",
    """
extern "C" __global__ void k(float *y)
{
    extern __shared__ float both[];
    float *first = both;
    double *second = (double *)(both + blockDim.x);
    int t = threadIdx.x;
    first[t] = t;
    second[t] = 2 * t; // FIND out-of-bounds write shared bytes=8
    y[t] = first[t] + t;
}
""",
    faults=True,
)
def dynamic_memory_cut_in_two(t: Twin) -> Iterator[Check]:
    y = t.zeros(32, f32)
    t.go(1, 32, y, shared=32 * (4 + (4 if t.wrong else 8)))
    yield same("y", t.get(y, 32, f32), 2 * np.arange(32))


@pair(
    "A transposed tile is read at its last row with a column behind it.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    __shared__ int tile[8][9];
    int c = threadIdx.x, r = threadIdx.y;
    tile[r][c] = x[r * 8 + c];
    if (c == 0)
        tile[r][8] = 0;
    __syncthreads();
    int far = c == 7 && r == 7 ? 2 * WRONG : 0;
    y[r * 8 + c] = tile[c][r + far]; // FIND out-of-bounds read shared thread=7,7
}
""",
    faults=True,
)
def tile_of_two_dimensions(t: Twin) -> Iterator[Check]:
    values = np.arange(64, dtype=i32).reshape(8, 8)
    x, y = t.upload(values), t.zeros(64)
    t.go(1, (8, 8), x, y)
    yield same("y", t.get(y, 64), values.T.reshape(-1))


@pair(
    "A local array of 4 is filled up to and with index 4.",
    """
extern "C" __global__ void k(int *y, int n)
{
    int own[4] = {0, 0, 0, 0};
    for (int i = 0; i < n; i++)
        own[i] = i; // FIND out-of-bounds write local bytes=4 block=0 thread=0
    y[threadIdx.x] = own[1] + own[3];
}
""",
    faults=True,
)
def local_array_one_behind(t: Twin) -> Iterator[Check]:
    y = t.zeros(1)
    t.go(1, 1, y, i32(4 + t.wrong))
    yield same("y", t.get(y, 1), [4])


@pair(
    "The index of a local array comes from memory and is -1 for one lane.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    int own[8];
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++)
        own[i] = i * t;
    y[t] = own[x[t]]; // FIND out-of-bounds read local bytes=4 block=0 thread=20
}
""",
    faults=True,
)
def local_array_with_a_negative_index(t: Twin) -> Iterator[Check]:
    index = np.arange(32, dtype=i32) % 8
    index[20] = -1 if t.wrong else 2
    y = t.zeros(32)
    t.go(1, 32, t.upload(index), y)
    yield same("y", t.get(y, 32), index * np.arange(32))


@pair(
    "A function that is not inlined gets a local array and its length, one too long.",
    """
__device__ __noinline__ float sum(const float *x, int n)
{
    float total = 0;
    for (int i = 0; i < n; i++)
        total += x[i]; // FIND out-of-bounds read local bytes=4 function=sum
    return total;
}
extern "C" __global__ void k(float *y, int n)
{
    float own[6];
    for (int i = 0; i < 6; i++)
        own[i] = i + 1;
    y[0] = sum(own, n);
}
""",
    faults=True,
)
def local_array_in_a_function(t: Twin) -> Iterator[Check]:
    y = t.zeros(1, f32)
    t.go(1, 1, y, i32(6 + t.wrong))
    yield same("y", t.get(y, 1, f32), [21])


@pair(
    "A byte behind a local structure is written through a pointer to char.",
    """
struct Record { int id; char tag[3]; };
extern "C" __global__ void k(int *y, int n)
{
    Record r = {7, {1, 2, 3}};
    char *bytes = (char *)&r;
    bytes[n - 2] = 4;
    bytes[n - 1] = 5; // FIND out-of-bounds write local bytes=1
    y[0] = r.id + r.tag[2];
}
""",
    faults=True,
)
def local_structure_by_its_bytes(t: Twin) -> Iterator[Check]:
    y = t.zeros(1)
    t.go(1, 1, y, i32(8 + t.wrong))
    yield same("y", t.get(y, 1), [11])


@pair(
    "The table of constants has 10 entries; lane 10 reads an eleventh.",
    """
__constant__ int table[10] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81};
extern "C" __global__ void k(int *y)
{
    int t = threadIdx.x;
    if (t < 10 + WRONG)
        y[t] = table[t]; // FIND out-of-bounds read constant bytes=4 name=table thread=10
}
""",
    faults=True,
)
def constant_table_one_behind(t: Twin) -> Iterator[Check]:
    y = t.zeros(32)
    t.go(1, 32, y)
    yield same("y", t.get(y, 32)[:10], np.arange(10) ** 2)


@pair(
    "Constants are cast to a pointer that may write, and written.",
    """
__constant__ int limit = 5;
__device__ int free_to_write = 5;
extern "C" __global__ void k(int *y)
{
    int *p = WRONG ? (int *)&limit : &free_to_write;
    *p = 6; // FIND read-only write constant bytes=4 name=limit thread=0
    y[0] = 1;
}
""",
    faults=True,
)
def write_to_constants(t: Twin) -> Iterator[Check]:
    y = t.zeros(1)
    t.go(1, 1, y)
    yield same("y", t.get(y, 1), [1])


@pair(
    "The variable has 16 longs, and the last lane writes a seventeenth.",
    """
__device__ long long counts[16];
extern "C" __global__ void k(int *y)
{
    int t = threadIdx.x;
    counts[t] = t;
    int at = t == 15 ? 15 + WRONG : t;
    counts[at] = 2 * t; // FIND out-of-bounds write variable bytes=8 name=counts thread=15
    y[t] = (int)counts[t];
}
""",
    faults=True,
)
def device_variable_one_behind(t: Twin) -> Iterator[Check]:
    y = t.zeros(16)
    t.go(1, 16, y)
    yield same("y", t.get(y, 16), 2 * np.arange(16))


@pair(
    "The kernel's argument holds 4 weights; index 4 is read from it.",
    """
struct Weights { float w[4]; };
extern "C" __global__ void k(Weights weights, int n, float *y)
{
    float total = 0;
    for (int i = 0; i < n; i++)
        total += weights.w[i]; // FIND out-of-bounds read bytes=4
    y[0] = total;
}
""",
    faults=True,
)
def argument_one_behind(t: Twin) -> Iterator[Check]:
    y = t.zeros(1, f32)
    weights = np.array([1, 2, 3, 4], f32).view(np.complex128)[0]
    t.go(1, 1, weights, i32(4 + t.wrong), y)
    yield same("y", t.get(y, 1, f32), [10])


@pair(
    "A block takes 24 bytes of the device's heap and writes 28.",
    """
extern "C" __global__ void k(int *y, int n)
{
    int *own = (int *)malloc(24);
    for (int i = 0; i < n; i++)
        own[i] = i; // FIND out-of-bounds write heap bytes=4 thread=0
    y[0] = own[5];
    free(own);
}
""",
    faults=True,
)
def heap_of_kernels_one_behind(t: Twin) -> Iterator[Check]:
    y = t.zeros(1)
    t.go(1, 1, y, i32(6 + t.wrong))
    yield same("y", t.get(y, 1), [5])


@pair(
    "What the kernel gave back to its heap is read again.",
    """
extern "C" __global__ void k(int *y)
{
    int *own = new int[4];
    own[2] = 9;
    if (WRONG)
        delete[] own;
    y[0] = own[2]; // FIND use-after-free read heap bytes=4 thread=0
    if (!WRONG)
        delete[] own;
}
""",
    faults=True,
)
def heap_of_kernels_after_delete(t: Twin) -> Iterator[Check]:
    y = t.zeros(1)
    t.go(1, 1, y)
    yield same("y", t.get(y, 1), [9])


@pair(
    "A pointer to shared memory is kept in shared memory, and lane 1 counts one too far"
    " from it.",
    """
extern "C" __global__ void k(int *y)
{
    __shared__ int own[2][3];
    __shared__ int *mine[2];
    int t = threadIdx.x;
    for (int i = 0; i < 3; i++)
        own[t][i] = t + i;
    mine[t] = own[t];
    __syncthreads();
    y[t] = mine[1][2 + (t == 1 ? WRONG : 0)]; // FIND out-of-bounds read shared thread=1
}
""",
    faults=True,
)
def pointer_in_shared_memory(t: Twin) -> Iterator[Check]:
    y = t.zeros(2)
    t.go(1, 2, y)
    yield same("y", t.get(y, 2), [3, 3])
