# SPDX-License-Identifier: MIT
"""Accesses of global memory before, behind and across the ends of allocations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.kernels.case import Check, same

from ..pair import pair
from ..twin import Twin

f32, i32 = np.float32, np.int32


@pair(
    "The 128th lane writes, but x has 127 floats.",
    """
extern "C" __global__ void k(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n + WRONG)
        x[i] = 2.0f; // FIND out-of-bounds write global bytes=4 block=3 thread=31
}
""",
)
def one_float_behind(t: Twin) -> Iterator[Check]:
    x = t.zeros(127, f32)
    t.go(4, 32, x, i32(127))
    yield same("x", t.get(x, 127, f32), np.full(127, 2, f32))


@pair(
    "Lane 0 reads x[-1], which stands before the allocation.",
    """
extern "C" __global__ void k(const float *x, float *y)
{
    int i = threadIdx.x;
    if (i >= 1 - WRONG)
        y[i] = x[i - 1]; // FIND out-of-bounds read global bytes=4 block=0 thread=0
}
""",
    faults=True,
)
def one_float_before(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(64, dtype=f32)), t.zeros(64, f32)
    t.go(1, 64, x, y)
    yield same("y", t.get(y, 64, f32), np.maximum(np.arange(64, dtype=f32) - 1, 0))


@pair(
    "An index of type size_t wraps at 0 - 1, so the address is one int before x.",
    """
extern "C" __global__ void k(int *x, size_t n)
{
    if (threadIdx.x == 0 && (n > 0 || WRONG)) {
        size_t last = n - 1;
        x[last] = 7; // FIND out-of-bounds write global bytes=4 thread=0
    }
}
""",
    faults=True,
)
def size_t_wraps(t: Twin) -> Iterator[Check]:
    x = t.zeros(4)
    t.go(1, 32, x, np.uint64(0))
    yield same("x", t.get(x, 4), np.zeros(4))


@pair(
    "A 32 bit unsigned index wraps at 0 - 1 and is then 16 GiB behind x.",
    """
extern "C" __global__ void k(const int *x, int *y)
{
    unsigned i = threadIdx.x;
    if (i > 0 || WRONG)
        y[i] = x[i - 1u]; // FIND out-of-bounds|unknown-memory read bytes=4 thread=0
}
""",
    faults=True,
)
def unsigned_index_wraps(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(32, dtype=i32)), t.zeros(32)
    t.go(1, 32, x, y)
    yield same("y", t.get(y, 32), np.maximum(np.arange(32) - 1, 0))


@pair(
    "The address lies in y's neighbourhood, but the pointer is x's and x ends before.",
    """
extern "C" __global__ void k(int *x, int *y, int at)
{
    (WRONG ? x : y)[at] = 5; // FIND out-of-bounds write global bytes=4 thread=0
}
""",
)
def into_a_neighbouring_allocation(t: Twin) -> Iterator[Check]:
    x, y = t.zeros(64), t.zeros(256)
    t.go(1, 1, x, y, i32(64))
    yield same("y[64]", t.get(y, 256)[64], 5)


@pair(
    "A double at byte 504 of 508 reaches four bytes over the end.",
    """
extern "C" __global__ void k(double *x, int n)
{
    int i = threadIdx.x;
    if (i < n + WRONG)
        x[i] = 1.0; // FIND out-of-bounds write global bytes=8 thread=63
}
""",
)
def double_straddles_the_end(t: Twin) -> Iterator[Check]:
    x = t.zeros(127, f32)
    t.go(1, 64, x, i32(63))
    yield same("x", t.get(x, 63, np.float64), np.ones(63))


@pair(
    "Byte 100 of 100 does not exist; byte 99 does.",
    """
extern "C" __global__ void k(char *x)
{
    int i = threadIdx.x + WRONG;
    x[i] = (char)i; // FIND out-of-bounds write global bytes=1 thread=99
}
""",
)
def one_byte_behind(t: Twin) -> Iterator[Check]:
    x = t.zeros(100, np.int8)
    t.go(1, 100, x)
    yield same("x", t.get(x, 100, np.int8), np.arange(100))


@pair(
    "The kernel gets the address of element 40, and counts from there as if it were 0.",
    """
extern "C" __global__ void k(int *middle, int n)
{
    int i = threadIdx.x;
    if (i < n - 40 + WRONG)
        middle[i] = 1; // FIND out-of-bounds write global bytes=4 thread=60
}
""",
)
def offset_into_the_middle(t: Twin) -> Iterator[Check]:
    x = t.zeros(100)
    t.go(1, 64, x + 160, i32(100))
    yield same("x", t.get(x, 100), np.arange(100) >= 40)


@pair(
    "The guard lets row 5 of 5 be read.",
    """
extern "C" __global__ void k(const int *in, int *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h + WRONG)
        return;
    int v = in[y * w + x]; // FIND out-of-bounds read global block=0,1
    if (y < h)
        out[y * w + x] = v + 1;
}
""",
)
def row_behind_an_image(t: Twin) -> Iterator[Check]:
    image = np.arange(35, dtype=i32)
    x, y = t.upload(image), t.zeros(35)
    t.go((2, 2), (4, 4), x, y, i32(7), i32(5))
    yield same("out", t.get(y, 35), image + 1)


@pair(
    "In a block of three dimensions the last lane's plane index is one too high.",
    """
extern "C" __global__ void k(float *x)
{
    int z = threadIdx.z;
    if (threadIdx.x == 3 && threadIdx.y == 2 && z == 1)
        z += WRONG;
    int i = (z * 3 + threadIdx.y) * 4 + threadIdx.x;
    x[i] = (float)i; // FIND out-of-bounds write global thread=3,2,1
}
""",
)
def plane_behind_a_volume(t: Twin) -> Iterator[Check]:
    x = t.zeros(24, f32)
    t.go(1, (4, 3, 2), x)
    yield same("x", t.get(x, 24, f32), np.arange(24))


@pair(
    "The last block is ragged and has no guard, so 28 lanes write behind x.",
    """
extern "C" __global__ void k(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!WRONG && i >= n)
        return;
    x[i] = i; // FIND out-of-bounds write global block=1
}
""",
)
def ragged_block_without_a_guard(t: Twin) -> Iterator[Check]:
    x = t.zeros(100)
    t.go(2, 64, x, i32(100))
    yield same("x", t.get(x, 100), np.arange(100))


@pair(
    "One lane a block; the block's number reaches the size.",
    """
extern "C" __global__ void k(short *x)
{
    x[blockIdx.x + WRONG] = 3; // FIND out-of-bounds write global bytes=2 block=9 thread=0
}
""",
)
def block_of_one_lane(t: Twin) -> Iterator[Check]:
    x = t.zeros(10, np.int16)
    t.go(10, 1, x)
    yield same("x", t.get(x, 10, np.int16), np.full(10, 3))


@pair(
    "A function that is not inlined writes where its caller told it; the line is its own.",
    """
__device__ __noinline__ void put(int *to, int value)
{
    *to = value; // FIND out-of-bounds write global function=put thread=15
}
extern "C" __global__ void k(int *x)
{
    put(x + threadIdx.x + WRONG, 9);
}
""",
)
def in_a_function_that_is_not_inlined(t: Twin) -> Iterator[Check]:
    x = t.zeros(16)
    t.go(1, 16, x)
    yield same("x", t.get(x, 16), np.full(16, 9))


@pair(
    "The template's parameter is one too large for the array.",
    """
template <typename T, int N> __global__ void fill(T *x, T value)
{
    for (int i = threadIdx.x; i < N + WRONG; i += blockDim.x)
        x[i] = value; // FIND out-of-bounds write global kernel=fill bytes=8 thread=18
}
""",
    names=("fill<double, 50>",),
)
def in_a_template(t: Twin) -> Iterator[Check]:
    x = t.zeros(50, np.float64)
    t.go(1, 32, x, np.float64(1.5), kernel="fill<double, 50>")
    yield same("x", t.get(x, 50, np.float64), np.full(50, 1.5))


@pair(
    "A lambda captures the pointer and reads one behind the end.",
    """
template <typename F> __device__ void each(int n, F f)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        f(i);
}
extern "C" __global__ void k(const int *x, int *y, int n)
{
    each(n, [=](int i) {
        y[i] = x[i + WRONG]; // FIND out-of-bounds read global thread=7
    });
}
""",
)
def in_a_lambda(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(40, dtype=i32)), t.zeros(40)
    t.go(1, 32, x, y, i32(40))
    yield same("y", t.get(y, 40), np.arange(40))


@pair(
    "The structure is passed by value, and its count includes one too many.",
    """
struct View { float *data; int count; };
extern "C" __global__ void k(float *data, int count)
{
    View v = {data, count + WRONG};
    auto last = [](View view) { return view.data + view.count - 1; };
    *last(v) = 4.0f; // FIND out-of-bounds write global thread=0
}
""",
)
def structure_by_value(t: Twin) -> Iterator[Check]:
    x = t.zeros(20, f32)
    t.go(1, 1, x, i32(20))
    yield same("x", t.get(x, 20, f32), 4 * (np.arange(20) == 19))


@pair(
    "The pointer comes from memory; row 1 has 8 ints, and its ninth is written.",
    """
extern "C" __global__ void k(int **rows)
{
    int row = blockIdx.x;
    int n = row == 1 ? 8 + WRONG : 16;
    if (threadIdx.x < n)
        rows[row][threadIdx.x] = row; // FIND out-of-bounds write global block=1 thread=8
}
""",
)
def pointer_kept_in_memory(t: Twin) -> Iterator[Check]:
    rows = [t.zeros(16), t.upload(np.full(8, 5, i32)), t.zeros(16)]
    t.go(3, 16, t.upload(np.array(rows, np.uint64)))
    yield same("row 1", t.get(rows[1], 8), np.ones(8))
    yield same("row 2", t.get(rows[2], 16), np.full(16, 2))


@pair(
    "The last structure of the array is asked for its successor's member.",
    """
struct Body { float at[3]; float mass; };
extern "C" __global__ void k(const Body *bodies, float *y, int n)
{
    int i = threadIdx.x;
    if (i < n - 1 + WRONG)
        y[i] = bodies[i + 1].mass; // FIND out-of-bounds read global bytes=4 thread=9
}
""",
)
def array_of_structures(t: Twin) -> Iterator[Check]:
    bodies = np.arange(40, dtype=f32)
    x, y = t.upload(bodies), t.zeros(10, f32)
    t.go(1, 32, x, y, i32(10))
    yield same("y", t.get(y, 10, f32)[:9], bodies[7::4])


@pair(
    "A gather takes its index from memory, and one index is the size.",
    """
extern "C" __global__ void k(const float *x, const int *index, float *y)
{
    int i = threadIdx.x;
    y[i] = x[index[i] - (1 - WRONG)]; // FIND out-of-bounds read global bytes=4 thread=21
}
""",
)
def gather_with_a_bad_index(t: Twin) -> Iterator[Check]:
    index = np.ones(32, i32)
    index[21] = 32
    x, y = t.upload(np.arange(32, dtype=f32)), t.zeros(32, f32)
    t.go(1, 32, x, t.upload(index), y)
    yield same("y", t.get(y, 32, f32), (index == 32) * 31)


@pair(
    "A loop over strides of the grid runs while i <= n.",
    """
extern "C" __global__ void k(int *x, long n)
{
    long step = (long)gridDim.x * blockDim.x;
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < n + WRONG; i += step)
        x[i] = (int)i; // FIND out-of-bounds write global block=0 thread=4
}
""",
)
def loop_over_strides_of_the_grid(t: Twin) -> Iterator[Check]:
    x = t.zeros(1000)
    t.go(3, 83, x, np.int64(1000))
    yield same("x", t.get(x, 1000), np.arange(1000))


@pair(
    "The pointer is null, and a lane writes through it.",
    """
extern "C" __global__ void k(int *x)
{
    if (x != nullptr || WRONG)
        x[threadIdx.x] = 1; // FIND unknown-memory write bytes=4 block=0 thread=0
}
""",
    faults=True,
)
def null_pointer(t: Twin) -> None:
    t.go(1, 1, None)


@pair(
    "An integer that is no address is made a pointer.",
    """
extern "C" __global__ void k(unsigned long long at, int *x)
{
    int *p = WRONG ? (int *)at : x;
    x[0] = *p + 1; // FIND unknown-memory read bytes=4 thread=0
}
""",
    faults=True,
)
def wild_pointer(t: Twin) -> Iterator[Check]:
    x = t.zeros(1)
    t.go(1, 1, np.uint64(0x5_0000_0000_0000 >> 8), x)
    yield same("x", t.get(x, 1), [1])


@pair(
    "A volatile access counts as any other.",
    """
extern "C" __global__ void k(volatile int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x + WRONG]; // FIND out-of-bounds read global thread=31
}
""",
)
def volatile_read(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(32, dtype=i32)), t.zeros(32)
    t.go(1, 32, x, y)
    yield same("y", t.get(y, 32), np.arange(32))


@pair(
    "The kernel is right for the first array and is then launched with the same count"
    " for a smaller one.",
    """
extern "C" __global__ void k(int *x, int n)
{
    int i = threadIdx.x;
    if (i < n)
        x[i] = n; // FIND out-of-bounds write global thread=31
}
""",
)
def second_launch_with_a_smaller_array(t: Twin) -> Iterator[Check]:
    large, small = t.zeros(32), t.zeros(31)
    t.go(1, 32, large, i32(32))
    t.go(1, 32, small, i32(31 + t.wrong))
    yield same("large", t.get(large, 32), np.full(32, 32))
    yield same("small", t.get(small, 31), np.full(31, 31))


@pair(
    "The access is made in one branch only, by one lane of the grid.",
    """
extern "C" __global__ void k(const int *x, int *y, int limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = 0;
    if (x[i] > limit)
        v = x[x[i]]; // FIND out-of-bounds read global block=1 thread=13
    y[i] = v;
}
""",
)
def in_a_rare_branch(t: Twin) -> Iterator[Check]:
    values = np.zeros(64, i32)
    values[45] = 63 + t.wrong
    x, y = t.upload(values), t.zeros(64)
    t.go(2, 32, x, y, i32(50))
    yield same("y", t.get(y, 64), np.zeros(64))
