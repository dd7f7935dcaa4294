# SPDX-License-Identifier: MIT
"""What a source has around its kernels: names, variables, headers, output, heap."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hipadapt import hip

from ..case import Check, case, same
from ..gpu import Gpu, InOut, Module, compile_source, ok


@case()
def templates_by_name_expression(gpu: Gpu) -> Iterator[Check]:
    source = """
    namespace math {
        template <class T> struct Square {
            __device__ T operator()(T v) { return v * v; }
        };
        template <class T> struct Plus { T c;
            __device__ Plus() : c(3) {}
            __device__ T operator()(T v) { return v + c; } };
        template <class T, int N, template <class> class F>
        __global__ void apply(T *x) {
            F<T> f;
            T v = x[threadIdx.x];
            #pragma unroll
            for (int i = 0; i < N; i++) v = f(v);
            x[threadIdx.x] = v;
        }
    }"""
    names = (
        "math::apply<float, 2, math::Square>",
        "math::apply<int, 5, math::Plus>",
        "math::apply<unsigned char, 1, math::Square>",
    )
    module = gpu.build(source, names=names)
    x = np.arange(30)
    for name, dtype, want in zip(
        names,
        (np.float32, np.int32, np.uint8),
        (x.astype(np.float32) ** 4, x + 15, (x * x).astype(np.uint8)),
        strict=True,
    ):
        (got,) = gpu.call(module, name, 1, 30, InOut(x.astype(dtype)))
        yield same(name, got, want)


@case()
def variables_of_the_module(gpu: Gpu) -> Iterator[Check]:
    """__device__ and __constant__ variables, read and written by the host by name, and
    kept from one launch to the next."""
    source = """
    __device__ int launches = 3;
    __constant__ float weights[4] = {1, 2, 3, 4};
    __device__ double table[16];
    extern "C" {
        __device__ float extra = 0.5f;
        __global__ void step(float *out) {
            int t = threadIdx.x;
            out[t] = weights[t & 3] + extra + launches;
            table[t & 15] = t * 0.5;
            __syncthreads();
            if (t == 0) launches++;
        }
    }"""
    module = gpu.build(source)
    address, size = module.variable("launches")
    yield same("size of int", size, 4)
    yield same("initial", gpu.download(address, np.zeros(1, np.int32)), [3])
    weights, size = module.variable("weights")
    yield same("size of weights", size, 16)
    yield same("weights", gpu.download(weights, np.zeros(4, np.float32)), [1, 2, 3, 4])

    (got,) = gpu.call(module, "step", 1, 16, InOut(np.zeros(16, np.float32)))
    t = np.arange(16)
    yield same("first", got, ((t & 3) + 1 + 3.5).astype(np.float32))
    gpu.write(weights, np.array([10, 20, 30, 40], np.float32))
    gpu.write(module.variable("extra")[0], np.array([0.25], np.float32))
    (got,) = gpu.call(module, "step", 1, 16, InOut(np.zeros(16, np.float32)))
    yield same("second", got, (((t & 3) + 1) * 10 + 4.25).astype(np.float32))
    yield same("counter", gpu.download(address, np.zeros(1, np.int32)), [5])
    table, _ = module.variable("table")
    yield same("table", gpu.download(table, np.zeros(16)), t * 0.5)


@case()
def two_modules_keep_their_own_variables(gpu: Gpu) -> Iterator[Check]:
    source = """
    __device__ int state = 1;
    extern "C" __global__ void add(int v) { atomicAdd(&state, v); }
    """
    code, lowered = compile_source(source)
    modules = [Module(code, lowered) for _ in range(2)]
    gpu.modules += modules
    for module, value in zip(modules, (10, 100), strict=True):
        gpu.launch(module.function("add"), 3, 5, (np.int32(value),))
    gpu.wait()
    got = [
        gpu.download(module.variable("state")[0], np.zeros(1, np.int32))[0]
        for module in modules
    ]
    yield same("states", np.array(got), [151, 1501])


@case()
def headers_and_macros(gpu: Gpu) -> Iterator[Check]:
    source = """
    #include "scale.h"
    #include <hip/hip_runtime.h>
    #ifndef OFFSET
    #error "the option -DOFFSET=... did not arrive"
    #endif
    extern "C" __global__ void run(int *x) {
        x[threadIdx.x] = scale(x[threadIdx.x]) + OFFSET;
    }
    """
    headers = {
        "scale.h": '#pragma once\n#include "detail/by.h"\n'
        "static __device__ int scale(int v) { return v * BY; }\n",
        "detail/by.h": "#define BY 6\n",
    }
    module = gpu.build(source, headers=headers, options=["-DOFFSET=40", "-O2"])
    x = np.arange(20, dtype=np.int32)
    (got,) = gpu.call(module, "run", 1, 20, InOut(x))
    yield same("x", got, x * 6 + 40)


@case()
def printf_formats(gpu: Gpu) -> Iterator[Check]:
    source = r"""
    extern "C" __global__ void speak(const char *word, long long big) {
        if (threadIdx.x == 3 && blockIdx.x == 1) {
            printf("plain 100%%\n");
            printf("%d|%5d|%-5d|%05d|%+d|%u|%x|%X|%o\n", -1, 42, 42, 42, 42, 7u, 255,
                   255, 8);
            printf("%f|%.2f|%8.3f|%e|%g|%c|%s|%10s|\n", 1.5, 2.345, 3.14159, 12345.678,
                   0.0001, 'z', "text", "right");
            printf("%lld|%llu|%ld|%hd|%hhd\n", big, 18446744073709551615ull, -5l,
                   (short)-3, (signed char)-2);
            printf("%*d|%.*f\n", 6, 12, 1, 0.25f);
            printf("no newline");
            printf(" at the end\n");
        }
    }"""
    gpu.run(source, "speak", 2, 32, None, np.int64(-(2**40)))
    lines = gpu.printed().splitlines()
    want = [
        "plain 100%",
        "-1|   42|42   |00042|+42|7|ff|FF|10",
        "1.500000|2.35|   3.142|1.234568e+04|0.0001|z|text|     right|",
        "-1099511627776|18446744073709551615|-5|-3|-2",
        "    12|0.2",
        "no newline at the end",
    ]
    yield same("lines", np.array(lines), np.array(want))


@case()
def printf_from_every_lane(gpu: Gpu) -> Iterator[Check]:
    source = r"""
    extern "C" __global__ void count() {
        printf("block %d lane %d\n", (int)blockIdx.x, (int)threadIdx.x);
    }"""
    gpu.run(source, "count", 4, 50)
    lines = gpu.printed().splitlines()
    want = [f"block {block} lane {lane}" for block in range(4) for lane in range(50)]
    yield same("lines", np.array(sorted(lines)), np.array(sorted(want)))


@case()
def assertions_that_hold(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void checked(int *x, int n) {
        int i = threadIdx.x;
        assert(n == 30 && "n is the size");
        if (i >= n) return;
        assert(x[i] == i);
        x[i] += 1;
    }"""
    x = np.arange(30, dtype=np.int32)
    (got,) = gpu.run(source, "checked", 1, 64, InOut(x), np.int32(30))
    yield same("x", got, x + 1)


@case()
def launch_bounds_and_many_kernels_in_one_source(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void __launch_bounds__(128) first(int *x) {
        x[threadIdx.x] = 1;
    }
    extern "C" __global__ void __launch_bounds__(64, 2) second(int *x) {
        x[threadIdx.x] += 2;
    }
    __device__ __forceinline__ int helper(int v) { return v * 3; }
    static __device__ inline int other(int v) { return v - 1; }
    extern "C" __global__ void third(int *x) {
        x[threadIdx.x] = other(helper(x[threadIdx.x]));
    }
    """
    module = gpu.build(source)
    memory = gpu.upload(np.zeros(64, np.int32))
    for name in ("first", "second", "third"):
        gpu.launch(module.function(name), 1, 64, (memory,))
    gpu.wait()
    yield same("x", gpu.download(memory, np.zeros(64, np.int32)), np.full(64, 8))


@case()
def objects_from_the_device_heap(gpu: Gpu) -> Iterator[Check]:
    """new and delete in all their forms; aligned ones are aligned."""
    source = """
    #include <new>
    struct Base { int v; __device__ Base(int x) : v(x) {}
        __device__ virtual int get() { return v; } __device__ virtual ~Base() {} };
    struct More : Base { int w; __device__ More(int x) : Base(x), w(2 * x) {}
        __device__ int get() override { return v + w; } };
    struct alignas(512) Wide { double x[3]; };
    extern "C" __global__ void objects(int *out) {
        int t = threadIdx.x;
        Base *a = t % 2 ? new Base(t) : new More(t);
        int *list = new int[t + 1];
        Wide *wide = new Wide[2];
        More *plain = new (std::nothrow) More(7);
        float *many = new (std::nothrow) float[3];
        alignas(More) char room[sizeof(More)];
        More *here = new (room) More(5);
        for (int i = 0; i <= t; i++) list[i] = i;
        wide[1].x[2] = 0.5;
        out[t] = a->get() + list[t] + plain->get() + here->get() + (many != nullptr) +
                 ((unsigned long)wide % 512 == 0) + (int)(2 * wide[1].x[2]);
        delete a; delete[] list; delete[] wide; delete plain; delete[] many;
        here->~More();
    }"""
    (got,) = gpu.run(source, "objects", 1, 64, InOut(np.zeros(64, np.int32)))
    t = np.arange(64)
    yield same("out", got, np.where(t % 2, t, 3 * t) + t + 21 + 15 + 3)


@case()
def device_heap_has_an_end(gpu: Gpu) -> Iterator[Check]:
    """Without room malloc and new give NULL; all of it can be had again afterwards."""
    source = """
    extern "C" __global__ void fill(int *out, unsigned long long limit) {
        out[0] = malloc(limit * 2) == nullptr;
        char *volatile much = new char[limit * 2]; // else it need not be asked for
        out[1] = much == nullptr;
        for (int round = 0; round < 3; round++) {
            void *first = nullptr;
            int count = 0;
            for (void **p; (p = (void **)malloc(limit / 16)) != nullptr; count++) {
                *p = first;
                first = p;
            }
            out[2 + round] = count;
            while (first) { void *next = *(void **)first; free(first); first = next; }
        }
        void *all = malloc(limit);
        out[5] = all != nullptr;
        free(all);
        free(nullptr);
        delete (int *)nullptr;
    }"""
    limit = ok(hip.hipDeviceGetLimit(hip.hipLimit_t.hipLimitMallocHeapSize))
    (got,) = gpu.run(
        source, "fill", 1, 1, InOut(np.zeros(6, np.int32)), np.uint64(limit)
    )
    yield same("out", got, [1, 1, 16, 16, 16, 1])


@case()
def memory_from_the_device_heap(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void heap(int *out) {
        int t = threadIdx.x, n = t + 1;
        int *list = (int *)malloc(n * sizeof(int));
        if (!list) { out[t] = -1; return; }
        for (int i = 0; i < n; i++) list[i] = i;
        int sum = 0;
        for (int i = 0; i < n; i++) sum += list[i];
        free(list);
        out[t] = sum;
    }"""
    (got,) = gpu.run(source, "heap", 1, 64, InOut(np.zeros(64, np.int32)))
    t = np.arange(64)
    yield same("out", got, t * (t + 1) // 2)
