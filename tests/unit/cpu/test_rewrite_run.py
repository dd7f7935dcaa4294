# SPDX-License-Identifier: MIT
"""What the rewriter adds to kernels, seen from outside: steps of a warp, loops that wait."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest

from ...kernels.gpu import Gpu, HipFailure, In, InOut, compile_source


@pytest.fixture
def gpu(cpu: ModuleType) -> Iterator[Gpu]:
    gpu = Gpu()
    yield gpu
    gpu.close()


def test_reduction_by_volatile_shared_memory_is_in_step(gpu: Gpu) -> None:
    source = """
        extern "C" __global__ void sums(const float *x, float *out) {
            __shared__ float s[64];
            int t = threadIdx.x;
            s[t] = x[blockIdx.x * 64 + t];
            __syncthreads();
            if (t < 32) {
                volatile float *v = s;
                v[t] += v[t + 32];
                v[t] += v[t + 16];
                v[t] += v[t + 8];
                v[t] += v[t + 4];
                v[t] += v[t + 2];
                v[t] += v[t + 1];
            }
            if (t == 0) out[blockIdx.x] = s[0];
        }
    """
    x = np.arange(5 * 64, dtype=np.float32)

    (out,) = gpu.run(source, "sums", 5, 64, In(x), InOut(np.zeros(5, np.float32)))

    assert out.tolist() == x.reshape(5, 64).sum(axis=1).tolist()


WAITS = {
    "volatile": ("", "p[1] = 5; *(volatile int *)&p[2] = 1;", "*(volatile int *)&p[2]"),
    "shared": ("__shared__ volatile int flag;", "p[1] = 5; flag = 1;", "flag"),
    "atomic": (
        "",
        "p[1] = 5; __hip_atomic_store(&p[2], 1, __ATOMIC_RELEASE, "
        "__HIP_MEMORY_SCOPE_WORKGROUP);",
        "__hip_atomic_load(&p[2], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP)",
    ),
    "empty assembly": (
        "",
        'p[1] = 5; asm volatile("" ::: "memory"); p[2] = 1;',
        '({ asm volatile("" ::: "memory"); p[2]; })',
    ),
    "add of nothing": ("", "p[1] = 5; atomicExch(&p[2], 1);", "atomicAdd(&p[2], 0)"),
    "exchange": ("", "p[1] = 5; atomicExch(&p[2], 1);", "atomicExch(&p[2], 0)"),
    "compare and swap": (
        "",
        "p[1] = 5; atomicExch(&p[2], 1);",
        "atomicCAS(&p[2], 1, 2)",
    ),
    "bits": ("", "p[1] = 5; atomicExch(&p[2], 1);", "atomicAnd(&p[2], 1)"),
    "larger": ("", "p[1] = 5; atomicExch(&p[2], 1);", "atomicMax(&p[2], 0)"),
}


@pytest.mark.parametrize("kind", WAITS)
def test_lane_can_wait_for_a_later_lane_of_its_block(gpu: Gpu, kind: str) -> None:
    declare, tell, ask = WAITS[kind]
    clear = "if (threadIdx.x == 0) flag = 0; __syncthreads();" if declare else ""
    source = f"""
        extern "C" __global__ void wait(int *p) {{
            {declare} {clear}
            if (threadIdx.x == 70) {{ {tell} }}
            if (threadIdx.x == 3) {{ while ({ask} == 0) {{}} p[0] = p[1] + 1; }}
        }}
    """

    (out,) = gpu.run(source, "wait", 1, 96, InOut(np.zeros(3, np.int32)))

    assert out[0] == 6


def test_loop_by_compare_and_swap_takes_few_rounds(gpu: Gpu) -> None:
    source = """
        extern "C" __global__ void most(int *p, unsigned *rounds) {
            int mine = (int)(threadIdx.x * 7919 % 1024), old = p[0], seen;
            do {
                atomicAdd(rounds, 1u);
                seen = old;
                old = atomicCAS(p, seen, max(seen, mine));
            } while (old != seen);
            __syncthreads();
        }
    """
    args = InOut(np.zeros(1, np.int32)), InOut(np.zeros(1, np.uint32))

    most, rounds = gpu.run(source, "most", 1, 1024, *args)

    assert most[0] == 1023
    assert rounds[0] < 1024 * 8


def test_warp_calls_in_loops_of_different_lengths(gpu: Gpu) -> None:
    source = """
        extern "C" __global__ void k(int *out) {
            int t = threadIdx.x, total = 0;
            for (int i = 0; i <= t % 5; i++) {
                for (int j = 0; j < (t & 3); j++) {
                    total += __popcll(__ballot(1));
                    if (j == i) break;
                }
                total += 100 * __popcll(__activemask());
            }
            out[t] = total;
        }
    """

    def at_inner(i: int, j: int) -> int:
        """Lanes at the ballot in round i of the outer and j of the inner loop."""
        return sum(i <= t % 5 and j < (t & 3) and j <= i for t in range(32))

    def at_outer(i: int) -> int:
        return sum(i <= t % 5 for t in range(32))

    want = [
        sum(
            sum(at_inner(i, j) for j in range(min(t & 3, i + 1))) + 100 * at_outer(i)
            for i in range(t % 5 + 1)
        )
        for t in range(32)
    ]

    (out,) = gpu.run(source, "k", 1, 32, InOut(np.zeros(32, np.int32)))

    assert out.tolist() == want


def test_address_of_a_kernel_can_be_held_and_compared(gpu: Gpu) -> None:
    source = """
        extern "C" __global__ void other(int *p) { *p = 1; }
        extern "C" __global__ void third(int *p) { *p = 2; }
        __device__ void (*const table[])(int *) = {&other, &third, &other};
        extern "C" __global__ void k(int *p) {
            p[0] = table[p[0]] == table[0];
            p[1] = table[p[1]] == table[0];
            p[2] = table[p[2]] == nullptr;
        }
    """

    (out,) = gpu.run(source, "k", 1, 1, InOut(np.array([1, 2, 1], np.int32)))

    assert out.tolist() == [0, 1, 0]


@pytest.mark.parametrize("options", [[], ["-ffast-math"]], ids=["exact", "fast math"])
def test_powers_of_integers(gpu: Gpu, options: list[str]) -> None:
    source = """
        extern "C" __global__ void k(const int *n, float *f, double *d, double *e) {
            int i = threadIdx.x;
            f[i] = powf(1.5f, (float)n[i]);
            d[i] = pow(2.0 + n[0], (double)n[i]);
            e[i] = __builtin_powi(0.5 + n[0], n[i]);
        }
    """
    n = np.array([0, 1, 2, 5, 7, -1, -3, 31], np.int32)
    module = gpu.build(source, options=options)
    floats, doubles = np.zeros(8, np.float32), np.zeros(8)

    f, d, e = gpu.call(
        module, "k", 1, 8, In(n), InOut(floats), InOut(doubles), InOut(doubles)
    )

    np.testing.assert_allclose(f, np.float64(1.5) ** n, rtol=2e-6)
    assert d.tolist() == (np.float64(2) ** n).tolist()
    assert e.tolist() == (np.float64(0.5) ** n).tolist()


def test_shared_memory_of_a_function_that_stays(gpu: Gpu) -> None:
    source = """
        __device__ __attribute__((noinline)) int turn(int v) {
            __shared__ int tile[64];
            tile[threadIdx.x] = v;
            __syncthreads();
            int r = tile[63 - threadIdx.x];
            __syncthreads();
            return r;
        }
        extern "C" __global__ void one(int *p) {
            __shared__ int mine[64];
            int t = threadIdx.x;
            mine[t] = p[t] * 2;
            __syncthreads();
            p[t] = turn(turn(p[t]) + 1) + mine[(t + 1) & 63];
        }
        extern "C" __global__ void two(int *p) { p[threadIdx.x] = turn(p[threadIdx.x]); }
    """
    p = np.arange(64, dtype=np.int32) * 3
    module = gpu.build(source)

    (one,) = gpu.call(module, "one", 1, 64, InOut(p))
    (two,) = gpu.call(module, "two", 1, 64, InOut(p))

    assert one.tolist() == (p + 1 + np.roll(p * 2, -1)).tolist()
    assert two.tolist() == p[::-1].tolist()


def test_refusal_is_a_compilation_error_with_a_log(cpu: ModuleType) -> None:
    source = 'extern "C" __global__ void k() { asm volatile("nop"); }'

    with pytest.raises(HipFailure, match="@k contains inline assembly"):
        compile_source(source)


def test_lanes_wait_for_time_together(gpu: Gpu) -> None:
    source = """
    extern "C" __global__ void nap(long long *begin, long long *end) {
        long long start = clock64();
        begin[threadIdx.x] = start;
        while (clock64() - start < 20000000) ;
        end[threadIdx.x] = clock64();
    }"""
    times = [InOut(np.zeros(64, np.int64)) for _ in range(2)]
    begin, end = gpu.run(source, "nap", 1, 64, *times)
    assert (end - begin).min() >= 20000000
    assert end.max() - begin.min() < 64 * 20000000 // 2


def test_short_names_of_unsigned_types(gpu: Gpu) -> None:
    source = """
    extern "C" __global__ void sizes(int *out) {
        out[0] = sizeof(uchar); out[1] = sizeof(ushort); out[2] = sizeof(uint);
        out[3] = sizeof(ulong); out[4] = sizeof(ullong); out[5] = (uchar)-1;
    }"""
    (out,) = gpu.run(source, "sizes", 1, 1, InOut(np.zeros(6, np.int32)))
    assert list(out) == [1, 2, 4, 8, 8, 255]
