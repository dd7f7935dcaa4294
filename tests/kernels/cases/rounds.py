# SPDX-License-Identifier: MIT
"""Lanes that leave a loop in different rounds, and go straight into the next loop."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..case import Check, case, same
from ..gpu import Gpu, In, InOut


def walk(number: int, step: int, most: int) -> tuple[int, int]:
    """How often a number above 1 can be divided, and what is left."""
    rounds = 0
    while number > 1 and rounds < most:
        number //= step
        rounds += 1
    return number, rounds


@case(warp_sizes=(32, 64))
def what_lanes_had_when_they_left_a_loop_inside_of_another(gpu: Gpu) -> Iterator[Check]:
    """Odd lanes never change `kept`; it goes through two loops that they leave early."""
    source = """
    extern "C" __global__ void keep(const short *x, int *out) {
        int lane = threadIdx.y * blockDim.x + threadIdx.x;
        int kept = lane & 7;
        __syncthreads();
        for (int round = 0; round < 2; round++) {
            int count = 0;
            unsigned left = threadIdx.y;
            while (left > 1u && count < 2) {
                left /= 3u;
                count++;
                if (lane & 1) continue;
                kept = x[lane];
            }
        }
        out[lane] = kept;
    }"""
    x = np.arange(310, dtype=np.int16) * 5 - 400
    (got,) = gpu.run(source, "keep", 1, (10, 31), In(x), InOut(np.zeros(310, np.int32)))
    lane = np.arange(310)
    changed = (lane % 2 == 0) & (lane // 10 > 1)
    yield same("out", got, np.where(changed, x, lane & 7).astype(np.int32))


@case(warp_sizes=(32, 64))
def rounds_of_a_loop_begin_the_next_loop(gpu: Gpu) -> Iterator[Check]:
    """`rounds` is one number in each round, and another for lanes that left before."""
    source = """
    extern "C" __global__ void rounds(const unsigned *x, int *out) {
        int lane = threadIdx.x, count = 0, again = x[lane] & 3;
        unsigned left = x[lane];
        __syncthreads();
        while (left > 1u && count < 9) {
            left /= 3u;
            count++;
        }
        do { count = count * 2 + x[count & 7]; } while (--again > 0);
        out[lane] = count;
    }"""
    x = np.random.default_rng(50).integers(0, 90000, 200).astype(np.uint32)
    (got,) = gpu.run(source, "rounds", 1, 200, In(x), InOut(np.zeros(200, np.int32)))
    want = []
    for number in x:
        count = walk(int(number), 3, 9)[1]
        for _ in range(max(int(number) & 3, 1)):
            count = (count * 2 + int(x[count & 7])) & 0xFFFFFFFF
        want.append(count)
    yield same("out", got, np.array(want, np.uint32).view(np.int32))


@case(warp_sizes=(32, 64))
def the_outer_loop_goes_on_out_of_the_inner(gpu: Gpu) -> Iterator[Check]:
    """`goto` goes back to the outer loop's head out of several rounds of the inner."""
    source = """
    extern "C" __global__ void back(const unsigned *x, int *out) {
        int lane = threadIdx.x, total = 0, found = 0;
        __syncthreads();
        int outer = 0;
    next:
        total = total * 3 + found;
        if (outer++ < 4) {
            for (int inner = 0; inner < 8; inner++) {
                if ((x[lane] >> (outer * 6 + inner)) & 1) {
                    found = inner;
                    goto next;
                }
                total += inner;
            }
            found = 100;
            goto next;
        }
        out[lane] = total;
    }"""
    x = np.random.default_rng(51).integers(0, 1 << 32, 160).astype(np.uint32)
    (got,) = gpu.run(source, "back", 1, 160, In(x), InOut(np.zeros(160, np.int32)))
    want = []
    for number in x.tolist():
        total = found = 0
        for outer in range(6):
            total = total * 3 + found
            if outer == 4:
                break
            found = 100
            for inner in range(8):
                if (number >> ((outer + 1) * 6 + inner)) & 1:
                    found = inner
                    break
                total += inner
        want.append(total)
    yield same("out", got, np.array(want, np.int32))
