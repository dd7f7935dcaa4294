# SPDX-License-Identifier: MIT
"""Atomic operations on global and shared memory, and loops of compare-and-swap."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..case import Check, case, close, same
from ..gpu import Gpu, In, InOut, blocks
from .shapes import floats


@case()
def integer_atomics_of_every_kind(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void all(const int *x, int *r, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        atomicAdd(&r[0], x[i]);
        atomicSub(&r[1], x[i]);
        atomicMin(&r[2], x[i]);
        atomicMax(&r[3], x[i]);
        atomicAnd(&r[4], x[i]);
        atomicOr(&r[5], x[i]);
        atomicXor(&r[6], x[i]);
        atomicMax((unsigned *)&r[7], (unsigned)x[i]);
        atomicMin((unsigned *)&r[8], (unsigned)x[i]);
    }"""
    x = np.random.default_rng(50).integers(-(10**5), 10**5, 2003).astype(np.int32)
    (got,) = gpu.run(
        source,
        "all",
        blocks(x.size, 256),
        256,
        In(x),
        InOut(np.array([0, 0, 2**31 - 1, -(2**31), -1, 0, 0, 0, -1], np.int32)),
        np.int32(x.size),
    )
    unsigned = x.view(np.uint32)
    want = [
        x.sum(dtype=np.int32),
        -x.sum(dtype=np.int32),
        x.min(),
        x.max(),
        np.bitwise_and.reduce(x),
        np.bitwise_or.reduce(x),
        np.bitwise_xor.reduce(x),
        unsigned.max().view(np.int32),
        unsigned.min().view(np.int32),
    ]
    yield same("r", got, want)


@case()
def sixty_four_bit_atomics(gpu: Gpu) -> Iterator[Check]:
    source = """
    typedef unsigned long long u64;
    extern "C" __global__ void wide(const u64 *x, u64 *r, long long *s, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        atomicAdd(&r[0], x[i]);
        atomicMin(&r[1], x[i]);
        atomicMax(&r[2], x[i]);
        atomicXor(&r[3], x[i]);
        atomicOr(&r[4], x[i]);
        atomicAnd(&r[5], x[i]);
        atomicMin(&s[0], (long long)x[i]);
        atomicMax(&s[1], (long long)x[i]);
    }"""
    x = np.random.default_rng(51).integers(0, 2**64, 1500, dtype=np.uint64)
    everything = np.uint64(2**64 - 1)
    r, s = gpu.run(
        source,
        "wide",
        12,
        128,
        In(x),
        InOut(np.array([0, everything, 0, 0, 0, everything], np.uint64)),
        InOut(np.array([2**63 - 1, -(2**63)], np.int64)),
        np.int32(x.size),
    )
    want = [
        x.sum(dtype=np.uint64),
        x.min(),
        x.max(),
        np.bitwise_xor.reduce(x),
        np.bitwise_or.reduce(x),
        np.bitwise_and.reduce(x),
    ]
    yield same("unsigned", r, np.array(want, np.uint64))
    yield same("signed", s, [x.view(np.int64).min(), x.view(np.int64).max()])


@case()
def floating_point_atomic_sums(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void sums(const float *x, float *f, double *d, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        atomicAdd(f, x[i]);
        atomicAdd(d, (double)x[i]);
        unsafeAtomicAdd(f + 1, 1.0f);
    }"""
    x = floats(3000, 52)
    f, d = gpu.run(
        source,
        "sums",
        blocks(x.size, 128),
        128,
        In(x),
        InOut(np.zeros(2, np.float32)),
        InOut(np.zeros(1)),
        np.int32(x.size),
    )
    exact = x.sum(dtype=np.float64)
    yield close("float", f[0], exact, rtol=0, atol=2e-3, bitwise=False)
    yield same("count", f[1], np.float32(3000))
    yield close("double", d, [exact], rtol=1e-11, bitwise=False)


@case()
def atomics_return_the_old_value(gpu: Gpu) -> Iterator[Check]:
    """Every lane gets a ticket of its own."""
    source = """
    extern "C" __global__ void tickets(int *next, int *out, unsigned *ring,
                                       int *owner) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = atomicAdd(next, 1);
        atomicInc(&ring[0], 6u);
        atomicDec(&ring[1], 4u);
        atomicExch(owner, i);
    }"""
    n = 1000
    _, out, ring, owner = gpu.run(
        source,
        "tickets",
        10,
        100,
        InOut(np.zeros(1, np.int32)),
        InOut(np.zeros(n, np.int32)),
        InOut(np.zeros(2, np.uint32)),
        InOut(np.full(1, -1, np.int32)),
    )
    down = 0
    for _ in range(n):
        down = 4 if down == 0 or down > 4 else down - 1
    yield same("tickets", np.sort(out), np.arange(n))
    yield same("ring", ring, [n % 7, down])
    yield same("owner is a lane", (owner >= 0) & (owner < n), [True])


@case()
def maximum_of_floats_by_compare_and_swap(gpu: Gpu) -> Iterator[Check]:
    source = """
    __device__ void atomic_max(float *address, float value) {
        int *cell = (int *)address, seen = *(volatile int *)cell;
        while (__int_as_float(seen) < value) {
            int before = atomicCAS(cell, seen, __float_as_int(value));
            if (before == seen) break;
            seen = before;
        }
    }
    extern "C" __global__ void top(const float *x, float *out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) atomic_max(out, x[i]);
    }"""
    x = floats(4000, 53)
    (got,) = gpu.run(
        source,
        "top",
        blocks(x.size, 256),
        256,
        In(x),
        InOut(np.full(1, -np.inf, np.float32)),
        np.int32(x.size),
    )
    yield same("out", got, [x.max()])


@case()
def product_modulo_a_prime_by_compare_and_swap(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void product(const unsigned long long *x,
                                       unsigned long long *out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        unsigned long long old = *(volatile unsigned long long *)out, assumed;
        do {
            assumed = old;
            old = atomicCAS(out, assumed, assumed * x[i] % 1000000007ull);
        } while (old != assumed);
    }"""
    x = np.random.default_rng(54).integers(1, 10**9, 600).astype(np.uint64)
    (got,) = gpu.run(
        source, "product", 5, 128, In(x), InOut(np.ones(1, np.uint64)), np.int32(x.size)
    )
    want = 1
    for value in x.tolist():
        want = want * value % 1000000007
    yield same("out", got, [want])


@case()
def lock_held_by_one_lane_of_a_block(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void locked(int *lock, volatile int *account) {
        if (threadIdx.x != 0) return;
        while (atomicCAS(lock, 0, 1) != 0) { }
        __threadfence();
        account[0] = account[0] + 1;
        account[1] = account[1] + account[0];
        __threadfence();
        atomicExch(lock, 0);
    }"""
    _, account = gpu.run(
        source,
        "locked",
        200,
        32,
        InOut(np.zeros(1, np.int32)),
        InOut(np.zeros(2, np.int32)),
    )
    yield same("account", account, [200, 200 * 201 // 2])


@case()
def atomics_on_shared_memory(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void shared(const int *x, double *out) {
        __shared__ float f;
        __shared__ double d;
        __shared__ unsigned long long u;
        __shared__ int lowest;
        int t = threadIdx.x, v = x[blockIdx.x * blockDim.x + t];
        if (t == 0) { f = 0; d = 0; u = 0; lowest = 1 << 30; }
        __syncthreads();
        atomicAdd(&f, (float)v);
        atomicAdd(&d, v * 0.5);
        atomicAdd(&u, (unsigned long long)v * 1000000007ull);
        atomicMin(&lowest, v);
        __syncthreads();
        if (t == 0) {
            double *row = out + 4 * blockIdx.x;
            row[0] = f; row[1] = d; row[2] = (double)(u % 1000003); row[3] = lowest;
        }
    }"""
    x = np.random.default_rng(55).integers(0, 1000, (4, 192)).astype(np.int32)
    (got,) = gpu.run(source, "shared", 4, 192, In(x), InOut(np.zeros((4, 4))))
    sums = x.sum(axis=1)
    wrapped = [int(s) * 1000000007 % 2**64 % 1000003 for s in sums]
    # Small whole numbers: exact in any order of addition.
    yield same("out", got, np.stack([sums, sums / 2, wrapped, x.min(axis=1)], axis=1))


@case()
def histogram_in_global_memory(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void count(const unsigned short *x, int *bins, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) atomicAdd(&bins[x[i] & 63], 1);
    }"""
    x = np.random.default_rng(56).integers(0, 65536, 9001).astype(np.uint16)
    (got,) = gpu.run(
        source,
        "count",
        blocks(x.size, 256),
        256,
        In(x),
        InOut(np.zeros(64, np.int32)),
        np.int32(x.size),
    )
    yield same("bins", got, np.bincount(x & 63, minlength=64))


@case()
def breadth_first_search_by_levels(gpu: Gpu) -> Iterator[Check]:
    """One launch a level; the frontier claims nodes by compare-and-swap."""
    source = """
    extern "C" __global__ void level(const int *first, const int *edges, int *depth,
                                     int now, int *changed, int n) {
        int v = blockIdx.x * blockDim.x + threadIdx.x;
        if (v >= n || depth[v] != now) return;
        for (int e = first[v]; e < first[v + 1]; e++)
            if (atomicCAS(&depth[edges[e]], -1, now + 1) == -1) *changed = 1;
    }"""
    n = 300
    rng = np.random.default_rng(57)
    degree = rng.integers(0, 4, n)
    first = np.concatenate([[0], np.cumsum(degree)]).astype(np.int32)
    edges = rng.integers(0, n, first[-1]).astype(np.int32)
    depth = np.full(n, -1, np.int32)
    depth[0] = 0
    module = gpu.build(source)
    function = module.function("level")
    graph = (gpu.upload(first), gpu.upload(edges))
    cells, changed = gpu.upload(depth), gpu.upload(np.zeros(1, np.int32))
    for now in range(n):
        gpu.write(changed, np.zeros(1, np.int32))
        args = (*graph, cells, np.int32(now), changed, np.int32(n))
        gpu.launch(function, blocks(n, 64), 64, args)
        gpu.wait()
        if gpu.download(changed, depth[:1])[0] == 0:
            break
    frontier, now = [0], 0
    while frontier:
        following = []
        for v in frontier:
            for w in edges[first[v] : first[v + 1]]:
                if depth[w] == -1:
                    depth[w] = now + 1
                    following.append(w)
        frontier, now = following, now + 1
    yield same("depth", gpu.download(cells, depth), depth)


# ---- every function of every type --------------------------------------------------

Number = int | float
WHOLE = {
    "int": np.int32,
    "unsigned": np.uint32,
    "unsigned long": np.uint64,
    "unsigned long long": np.uint64,
}
REAL = {"float": np.float32, "double": np.float64}
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Min": min,
    "Max": max,
    "Exch": lambda a, b: b,
}
BITWISE: dict[str, Callable[[Any, Any], Any]] = {
    "And": lambda a, b: a & b,
    "Or": lambda a, b: a | b,
    "Xor": lambda a, b: a ^ b,
}


def atomic_calls() -> list[tuple[str, str, type, Callable[[Any, Any], Any]]]:
    """(function, type in C, type of numpy, what it does) of all that take one value."""
    calls = []
    for suffix in ("", "_system", "_block"):
        for kinds, functions in (
            (WHOLE, ARITHMETIC | BITWISE),
            (REAL, ARITHMETIC),
        ):
            for name, dtype in kinds.items():
                for word, function in functions.items():
                    calls.append((f"atomic{word}{suffix}", name, dtype, function))
    for prefix in ("unsafeAtomic", "safeAtomic"):
        for name, dtype in REAL.items():
            for word in ("Add", "Min", "Max"):
                calls.append((prefix + word, name, dtype, ARITHMETIC[word]))
    return calls


@case()
def every_atomic_of_every_type(gpu: Gpu) -> Iterator[Check]:
    """The old value comes back, the new one stays; in global and in shared memory."""
    calls = atomic_calls()
    source = "".join(
        f"""
    extern "C" __global__ void k{i}({name} *x, {name} b, {name} *out) {{
        __shared__ {name} s;
        s = x[0];
        out[0] = {function}(x, b); out[1] = x[0];
        out[2] = {function}(&s, b); out[3] = s;
    }}"""
        for i, (function, name, *_) in enumerate(calls)
    )
    module = gpu.build(source)
    for i, (function, name, dtype, what) in enumerate(calls):
        for a, b in ((7, 3), (3, 7), (0, 0), (100, 2)):
            if dtype is np.int32:
                a, b = a - 50, b - 5
            with np.errstate(over="ignore"):
                new = what(dtype(a), dtype(b))
            _, got = gpu.call(
                module, f"k{i}", 1, 1, InOut(np.array([a], dtype)), dtype(b),
                InOut(np.zeros(4, dtype)),
            )  # fmt: skip
            want = np.array([a, new, a, new], dtype)
            yield same(f"{function} of {name}: {a}, {b}", got, want)


@case()
def compare_and_swap_of_every_width(gpu: Gpu) -> Iterator[Check]:
    kinds = WHOLE | REAL | {"unsigned short": np.uint16}
    source = "".join(
        f"""
    extern "C" __global__ void k{i}({name} *x, {name} a, {name} b, {name} *out) {{
        out[0] = atomicCAS(&x[1], a, b); out[1] = x[1];
        out[2] = atomicCAS_system(&x[1], a, b); out[3] = x[1];
        out[4] = x[0]; out[5] = x[2];
    }}"""
        for i, name in enumerate(kinds)
    )
    module = gpu.build(source)
    for i, (name, dtype) in enumerate(kinds.items()):
        for a, b in ((5, 9), (6, 9)):
            x = np.array([1, 5, 3], dtype)
            _, got = gpu.call(
                module, f"k{i}", 1, 1, InOut(x), dtype(a), dtype(b),
                InOut(np.zeros(6, dtype)),
            )  # fmt: skip
            new = b if a == 5 else 5
            yield same(f"{name}: {a}", got, np.array([5, new, new, new, 1, 3], dtype))
    source = """
    extern "C" __global__ void zeros(float *x, unsigned *out) {
        out[0] = __float_as_uint(atomicCAS(x, 0.0f, 1.0f));
        out[1] = __float_as_uint(x[0]);
    }
    extern "C" __global__ void halves(unsigned short *x, int n) {
        for (int k = 0; k < n; k++) {
            unsigned short *p = x + k % 2, old = *(volatile unsigned short *)p, seen;
            while ((seen = atomicCAS(p, old, (unsigned short)(old + 1))) != old) old = seen;
        }
    }"""
    module = gpu.build(source)
    _, got = gpu.call(
        module, "zeros", 1, 1, InOut(np.array([-0.0], np.float32)),
        InOut(np.zeros(2, np.uint32)),
    )  # fmt: skip
    yield same("by bits: -0 is not 0", got, np.array([2**31, 2**31], np.uint32))
    (got,) = gpu.call(
        module, "halves", 16, 64, InOut(np.zeros(2, np.uint16)), np.int32(20)
    )
    yield same("two halves of a word", got, np.array([10240, 10240], np.uint16))


@case()
def counters_that_wrap(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void wrap(unsigned *x, unsigned *out, int n) {
        for (int i = 0; i < n; i++) {
            out[i] = atomicInc(&x[0], 3);
            out[n + i] = atomicDec(&x[1], 3);
        }
    }
    extern "C" __global__ void race(unsigned *x) {
        atomicInc(&x[0], 99);
        atomicDec(&x[1], 99);
    }"""
    module = gpu.build(source)
    start = np.array([2, 9], np.uint32)
    _, got = gpu.call(
        module, "wrap", 1, 1, InOut(start), InOut(np.zeros((2, 9), np.uint32)),
        np.int32(9),
    )  # fmt: skip
    yield same("up", got[0], np.array([2, 3, 0, 1, 2, 3, 0, 1, 2], np.uint32))
    yield same("down", got[1], np.array([9, 3, 2, 1, 0, 3, 2, 1, 0], np.uint32))
    (got,) = gpu.call(module, "race", 10, 77, InOut(np.zeros(2, np.uint32)))
    yield same("together", got, np.array([770 % 100, -770 % 100], np.uint32))


@case()
def builtins_with_every_scope_and_order(gpu: Gpu) -> Iterator[Check]:
    scopes = ("SINGLETHREAD", "WAVEFRONT", "WORKGROUP", "AGENT", "SYSTEM")
    orders = ("RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL", "SEQ_CST")
    lines = "".join(
        f"""
        __hip_atomic_fetch_add(&x[0], 3, __ATOMIC_{o}, __HIP_MEMORY_SCOPE_{s});
        __hip_atomic_fetch_xor(&x[1], i, __ATOMIC_{o}, __HIP_MEMORY_SCOPE_{s});
        __hip_atomic_fetch_max(&x[2], i, __ATOMIC_{o}, __HIP_MEMORY_SCOPE_{s});
        __hip_atomic_fetch_add(&f[0], 0.5, __ATOMIC_{o}, __HIP_MEMORY_SCOPE_{s});"""
        for s in scopes
        for o in orders
    )
    lines += "".join(
        f"""
        if (i == 0) {{
            __hip_atomic_store(&x[3], __hip_atomic_load(&x[3], __ATOMIC_ACQUIRE,
                               __HIP_MEMORY_SCOPE_{s}) + 1, __ATOMIC_RELEASE,
                               __HIP_MEMORY_SCOPE_{s});
            int five = x[4];
            while (!__hip_atomic_compare_exchange_weak(&x[4], &five, five + 2,
                       __ATOMIC_SEQ_CST, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_{s})) ;
            __hip_atomic_exchange(&x[5], k++, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_{s});
        }}"""
        for s in scopes
    )
    source = f"""
    extern "C" __global__ void scopes(int *x, double *f) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x, k = 1;
        {lines}
        __threadfence(); __threadfence_block(); __threadfence_system();
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }}"""
    n = 12 * 64  # in one block, for those of its scope
    got, real = gpu.run(
        source, "scopes", 1, n, InOut(np.zeros(6, np.int32)), InOut(np.zeros(1))
    )
    every = np.bitwise_xor.reduce(np.arange(n))  # 25 times: an odd number
    yield same("integers", got, [75 * n, every, n - 1, 5, 10, 5])
    yield same("double", real, [25 * 0.5 * n])


@case()
def message_passes_behind_a_fence(gpu: Gpu) -> Iterator[Check]:
    """What was written before a fence is there for who sees the flag behind it."""
    source = """
    extern "C" __global__ void message(volatile int *data, unsigned *ready, int *out) {
        int b = blockIdx.x, n = gridDim.x;
        if (b > 0) {
            while (atomicAdd(&ready[b - 1], 0) == 0) ;
            __threadfence();
            for (int k = 0; k < 8; k++) out[8 * b + k] = data[8 * (b - 1) + k];
        }
        for (int k = 0; k < 8; k++) data[8 * b + k] = b * 10 + k;
        __threadfence();
        atomicExch(&ready[b], 1u);
    }"""
    _, _, got = gpu.run(
        source, "message", 200, 1, InOut(np.zeros((200, 8), np.int32)),
        InOut(np.zeros(200, np.uint32)), InOut(np.zeros((200, 8), np.int32)),
    )  # fmt: skip
    want = (np.arange(200)[:, None] - 1) * 10 + np.arange(8)
    want[0] = 0
    yield same("out", got, want)
