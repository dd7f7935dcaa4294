# SPDX-License-Identifier: MIT
"""The first NaN or infinity that arithmetic makes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.kernels.case import Check, close, same

from ..pair import pair
from ..twin import Twin

f32, f64, i32 = np.float32, np.float64, np.int32
LANES = 64


def lane_of(value: float, where: int = 37, rest: float = 2.0) -> np.ndarray:
    """An array that holds the value for one lane only."""
    values = np.full(LANES, rest, f32)
    values[where] = value
    return values


@pair(
    "0 divided by 0; the twin asks first.",
    """
extern "C" __global__ void k(const float *x, const float *d, float *y)
{
    int t = threadIdx.x;
    float v = -1;
    if (WRONG || d[t] != 0)
        v = x[t] / d[t]; // FIND nan block=0 thread=37
    y[t] = v;
}
""",
)
def zero_by_zero(t: Twin) -> Iterator[Check]:
    x, d, y = t.upload(lane_of(0)), t.upload(lane_of(0)), t.zeros(LANES, f32)
    t.go(1, LANES, x, d, y)
    yield same("y", t.get(y, LANES, f32), lane_of(-1, rest=1))


@pair(
    "1 divided by 0 is an infinity.",
    """
extern "C" __global__ void k(const float *d, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float by = WRONG ? d[i] : fmaxf(d[i], 0.5f);
    y[i] = 1.0f / by; // FIND infinity block=1 thread=5
}
""",
)
def one_by_zero(t: Twin) -> Iterator[Check]:
    d, y = t.upload(lane_of(0)), t.zeros(LANES, f32)
    t.go(2, 32, d, y)
    yield same("y", t.get(y, LANES, f32), lane_of(2, rest=0.5))


@pair(
    "A choice by ?: divides in the lanes that asked for it only.",
    """
extern "C" __global__ void k(const float *d, float *y)
{
    int t = threadIdx.x;
    float limit = WRONG ? -1.0f : 0.0f;
    y[t] = d[t] > limit ? 3.0f / d[t] : 0.0f; // FIND infinity thread=37
}
""",
)
def choice_that_guards_a_division(t: Twin) -> Iterator[Check]:
    d, y = t.upload(lane_of(0, rest=3)), t.zeros(LANES, f32)
    t.go(1, LANES, d, y)
    yield same("y", t.get(y, LANES, f32), lane_of(0, rest=1))


@pair(
    "The difference of two infinities, as in a row of a softmax that is masked wholly.",
    """
#include <hip/hip_math_constants.h>
extern "C" __global__ void k(const float *x, float *y)
{
    int row = threadIdx.x;
    float most = -HIP_INF_F, sum = 0;
    for (int i = 0; i < 4; i++)
        most = fmaxf(most, x[row * 4 + i]);
    if (!WRONG && most == -HIP_INF_F)
        most = 0;
    for (int i = 0; i < 4; i++)
        sum += expf(x[row * 4 + i] - most); // FIND nan thread=2
    y[row] = sum;
}
""",
)
def softmax_of_a_masked_row(t: Twin) -> Iterator[Check]:
    x = np.full((4, 4), -np.inf, f32)
    x[[0, 1, 3], 0] = 5
    y = t.zeros(4, f32)
    t.go(1, 4, t.upload(x), y)
    yield close("y", t.get(y, 4, f32), [1, 1, 0, 1])


@pair(
    "The square root of -1 is no real number.",
    """
extern "C" __global__ void k(const float *x, float *y)
{
    int t = threadIdx.x;
    float v = WRONG ? x[t] : fabsf(x[t]);
    y[t] = sqrtf(v); // FIND nan thread=37
}
""",
)
def root_of_minus_one(t: Twin) -> Iterator[Check]:
    x, y = t.upload(lane_of(-1, rest=4)), t.zeros(LANES, f32)
    t.go(1, LANES, x, y)
    yield same("y", t.get(y, LANES, f32), lane_of(1))


@pair(
    "A product beyond the largest float.",
    """
extern "C" __global__ void k(const float *x, float *y)
{
    int t = threadIdx.x;
    float scale = WRONG ? 1e20f : 1e-20f;
    y[t] = x[t] * scale; // FIND infinity thread=37
}
""",
)
def product_that_overflows(t: Twin) -> Iterator[Check]:
    x, y = t.upload(lane_of(1e20)), t.zeros(LANES, f32)
    t.go(1, LANES, x, y)
    yield close("y", t.get(y, LANES, f32), lane_of(1, rest=2e-20))


@pair(
    "A sum of doubles beyond the largest one, in a function that is not inlined.",
    """
__device__ __noinline__ double add(double a, double b)
{
    return a + b; // FIND infinity thread=3
}
extern "C" __global__ void k(const double *x, double *y)
{
    int t = threadIdx.x;
    y[t] = add(x[t], WRONG ? x[t] : -x[t]);
}
""",
)
def sum_that_overflows(t: Twin) -> Iterator[Check]:
    values = np.ones(8, f64)
    values[3] = 1.7e308
    x, y = t.upload(values), t.zeros(8, f64)
    t.go(1, 8, x, y)
    yield same("y", t.get(y, 8, f64), np.zeros(8))


@pair(
    "A double too large for a float becomes an infinity when it is made one.",
    """
extern "C" __global__ void k(const double *x, float *y)
{
    int t = threadIdx.x;
    double v = WRONG ? x[t] : fmin(x[t], 100.0);
    y[t] = (float)v; // FIND infinity thread=3
}
""",
)
def double_too_large_for_a_float(t: Twin) -> Iterator[Check]:
    values = np.ones(8, f64)
    values[3] = 1e300
    x, y = t.upload(values), t.zeros(8, f32)
    t.go(1, 8, x, y)
    yield same("y", t.get(y, 8, f32), np.minimum(values, 100))


@pair(
    "The logarithm of 0 is an infinity.",
    """
extern "C" __global__ void k(const float *x, float *y)
{
    int t = threadIdx.x;
    float v = WRONG ? x[t] : x[t] + 1.0f;
    y[t] = logf(v); // FIND infinity thread=37
}
""",
)
def logarithm_of_zero(t: Twin) -> Iterator[Check]:
    x, y = t.upload(lane_of(0)), t.zeros(LANES, f32)
    t.go(1, LANES, x, y)
    yield close("y", t.get(y, LANES, f32), lane_of(0, rest=np.log(f32(3))))


@pair(
    "The exponential of 1000; a softmax takes the largest value away first.",
    """
extern "C" __global__ void k(const float *x, float *y)
{
    int t = threadIdx.x;
    float v = WRONG ? x[t] : x[t] - 1000.0f;
    y[t] = expf(v); // FIND infinity thread=37
}
""",
)
def exponential_of_a_thousand(t: Twin) -> Iterator[Check]:
    x, y = t.upload(lane_of(1000)), t.zeros(LANES, f32)
    t.go(1, LANES, x, y)
    yield close("y", t.get(y, LANES, f32), lane_of(1, rest=0), atol=1e-30)


@pair(
    "A broken power of a negative number.",
    """
extern "C" __global__ void k(const float *x, float *y)
{
    int t = threadIdx.x;
    y[t] = powf(x[t], WRONG ? 0.5f : 2.0f); // FIND nan thread=37
}
""",
)
def power_of_a_negative_number(t: Twin) -> Iterator[Check]:
    x, y = t.upload(lane_of(-3)), t.zeros(LANES, f32)
    t.go(1, LANES, x, y)
    yield close("y", t.get(y, LANES, f32), lane_of(9, rest=4))


@pair(
    "The remainder of a division by 0.",
    """
extern "C" __global__ void k(const float *x, const float *d, float *y)
{
    int t = threadIdx.x;
    y[t] = fmodf(x[t], WRONG ? d[t] : d[t] + 1); // FIND nan thread=37
}
""",
)
def remainder_by_zero(t: Twin) -> Iterator[Check]:
    x, d, y = t.upload(lane_of(5)), t.upload(lane_of(0)), t.zeros(LANES, f32)
    t.go(1, LANES, x, d, y)
    yield same("y", t.get(y, LANES, f32), lane_of(0, rest=2))


@pair(
    "The arc cosine of a number that rounding made larger than 1.",
    """
extern "C" __global__ void k(const float *x, float *y)
{
    int t = threadIdx.x;
    float v = WRONG ? x[t] : fminf(x[t], 1.0f);
    y[t] = acosf(v); // FIND nan thread=37
}
""",
)
def arc_cosine_beyond_one(t: Twin) -> Iterator[Check]:
    x, y = t.upload(lane_of(np.nextafter(f32(1), f32(2)), rest=1)), t.zeros(LANES, f32)
    t.go(1, LANES, x, y)
    yield same("y", t.get(y, LANES, f32), np.zeros(LANES))


@pair(
    "The length of a zero vector, by which it is divided.",
    """
extern "C" __global__ void k(const float3 *x, float *y)
{
    int t = threadIdx.x;
    float3 v = x[t];
    float square = v.x * v.x + v.y * v.y + v.z * v.z;
    if (!WRONG)
        square += 1e-12f;
    y[t] = v.x * rsqrtf(square); // FIND infinity|nan thread=1
}
""",
)
def length_of_a_zero_vector(t: Twin) -> Iterator[Check]:
    vectors = np.array([[3, 0, 4], [0, 0, 0], [0, 2, 0]], f32)
    x, y = t.upload(vectors), t.zeros(3, f32)
    t.go(1, 3, x, y)
    yield close("y", t.get(y, 3, f32), [0.6, 0, 0], rtol=1e-5)


@pair(
    "NaN that came with the input is handed on and is nobody's mistake; one that is made"
    " from infinities is.",
    """
extern "C" __global__ void k(const float *x, float *y)
{
    int t = threadIdx.x;
    float v = x[t];
    y[t] = v - (WRONG ? v : 1.0f); // FIND nan thread=37
}
""",
)
def nan_in_the_input(t: Twin) -> Iterator[Check]:
    values = lane_of(np.inf)
    values[3] = np.nan
    x, y = t.upload(values), t.zeros(LANES, f32)
    t.go(1, LANES, x, y)
    yield same("y", t.get(y, LANES, f32), values - 1)


@pair(
    "Comparing with NaN, choosing by fmaxf and asking isnan make none.",
    """
extern "C" __global__ void k(const float *x, float *y)
{
    int t = threadIdx.x;
    float v = x[t];
    if (isnan(v) && !WRONG)
        v = 7;
    float low = fmaxf(x[t], 0.0f);
    if (x[t] > 1.0f)
        low += 1.0f;
    y[t] = v + low + (WRONG ? sqrtf(-low) : 0.0f); // FIND nan thread=0
}
""",
)
def comparison_with_nan(t: Twin) -> Iterator[Check]:
    x, y = t.upload(lane_of(np.nan)), t.zeros(LANES, f32)
    t.go(1, LANES, x, y)
    yield same("y", t.get(y, LANES, f32), lane_of(7, rest=5))


@pair(
    "An infinity as the start of a minimum is no result; a sum that begins with it and"
    " takes it away is none either.",
    """
#include <hip/hip_math_constants.h>
extern "C" __global__ void k(const float *x, float *y, int n)
{
    float least = HIP_INF_F;
    for (int i = 0; i < n; i++)
        least = fminf(least, x[i]);
    if (WRONG)
        least = HIP_INF_F * (least - least); // FIND nan thread=0
    y[0] = least;
}
""",
)
def infinity_as_a_start(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.arange(8, dtype=f32) + 4), t.zeros(1, f32)
    t.go(1, 1, x, y, i32(8))
    yield same("y", t.get(y, 1, f32), [4])


@pair(
    "A mean over no elements; the others have some.",
    """
extern "C" __global__ void k(const int *counts, const float *sums, float *y)
{
    int t = threadIdx.x;
    if (!WRONG && counts[t] == 0)
        return;
    y[t] = sums[t] / counts[t]; // FIND nan thread=37
}
""",
)
def mean_of_nothing(t: Twin) -> Iterator[Check]:
    counts = lane_of(0).astype(i32)
    y = t.zeros(LANES, f32)
    t.go(1, LANES, t.upload(counts), t.upload(lane_of(0, rest=6)), y)
    yield same("y", t.get(y, LANES, f32), lane_of(0, rest=3))


@pair(
    "Results so small that they become 0, and those that round, are no mistake; 0 times"
    " an infinity is.",
    """
#include <hip/hip_math_constants.h>
extern "C" __global__ void k(const float *x, float *y)
{
    int t = threadIdx.x;
    float tiny = x[t] * 1e-30f * 1e-30f;
    float third = x[t] / 3.0f;
    float much = WRONG ? HIP_INF_F : 1.0f;
    y[t] = tiny * much + third; // FIND nan thread=0
}
""",
)
def results_that_are_tiny(t: Twin) -> Iterator[Check]:
    x, y = t.upload(np.full(8, 3, f32)), t.zeros(8, f32)
    t.go(1, 8, x, y)
    yield same("y", t.get(y, 8, f32), np.ones(8))


@pair(
    "A number too large for int is no NaN; the logarithm of a negative one is.",
    """
extern "C" __global__ void k(const float *x, float *y, int *z)
{
    int t = threadIdx.x;
    z[t] = (int)x[t] > 0;
    y[t] = logf(WRONG ? -x[t] : x[t]); // FIND nan thread=0
}
""",
)
def number_too_large_for_int(t: Twin) -> Iterator[Check]:
    values = np.full(4, 1e20, f32)
    x, y, z = t.upload(values), t.zeros(4, f32), t.zeros(4)
    t.go(1, 4, x, y, z)
    yield close("y", t.get(y, 4, f32), np.log(values))
