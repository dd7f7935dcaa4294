# SPDX-License-Identifier: MIT
"""Kernel arguments: structs by value, many of them, small types."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np

from ..case import Check, case, same
from ..gpu import Gpu, In, InOut, ok


@case()
def structs_by_value_of_8_12_and_56_bytes(gpu: Gpu) -> Iterator[Check]:
    source = """
    struct Two { float x, y; };
    struct Three { int a, b, c; };
    struct Big { double d; int n[7]; short s; char c; };
    extern "C" __global__ void records(char tag, Two two, char more, Three three,
                                       Big big, double *out) {
        out[0] = two.x; out[1] = two.y;
        out[2] = three.a; out[3] = three.b; out[4] = three.c;
        out[5] = big.d;
        for (int i = 0; i < 7; i++) out[6 + i] = big.n[i];
        out[13] = big.s; out[14] = big.c; out[15] = tag * 100 + more;
        out[16] = sizeof(Two) * 10000 + sizeof(Three) * 100 + sizeof(Big);
    }"""

    class Two(ctypes.Structure):
        _fields_ = [("x", ctypes.c_float), ("y", ctypes.c_float)]

    class Three(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_int), ("c", ctypes.c_int)]

    big_layout = np.dtype(
        [("d", "f8"), ("n", "i4", 7), ("s", "i2"), ("c", "i1")], align=True
    )
    # A numpy structured scalar and ctypes structures go by value alike.
    big = np.zeros(1, big_layout)
    big["d"], big["n"], big["s"], big["c"] = 2.25, np.arange(7) * 11, -3, -4
    (got,) = gpu.run(
        source,
        "records",
        1,
        1,
        ctypes.c_byte(-1),
        Two(1.5, -2.5),
        ctypes.c_byte(7),
        Three(10, -20, 30),
        big[0],
        InOut(np.zeros(17)),
    )
    want = [1.5, -2.5, 10, -20, 30, 2.25, *(np.arange(7) * 11), -3, -4, -93, 81240]
    yield same("out", got[:16], want[:16])
    yield same("sizes", got[16], 8 * 10000 + 12 * 100 + big_layout.itemsize)


@case()
def twenty_arguments_of_mixed_sizes(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void mixed(
        char a, double b, short c, int d, bool e, long long f, unsigned char g, float h,
        unsigned short i, unsigned j, char k, unsigned long long l, bool m, char n,
        short o, signed char p, double q, char r, float s, double *out) {
        double v[] = {(double)a, b, (double)c, (double)d, (double)e, (double)f,
                      (double)g, h, (double)i, (double)j, (double)k, (double)l,
                      (double)m, (double)n, (double)o, (double)p, q, (double)r, s};
        for (int t = 0; t < 19; t++) out[t] = v[t];
    }"""
    values = (
        *(
            np.int8(-7),
            np.float64(0.1),
            np.int16(-300),
            np.int32(-70000),
            np.bool_(True),
        ),
        *(np.int64(-(2**40)), np.uint8(200), np.float32(0.25), np.uint16(60000)),
        *(np.uint32(2**32 - 1), np.int8(5), np.uint64(2**50), ctypes.c_bool(False)),
        *(ctypes.c_byte(-1), ctypes.c_short(-2), ctypes.c_int8(-3)),
        *(ctypes.c_double(-0.5), ctypes.c_char(b"A"), ctypes.c_float(1.5)),
    )
    (got,) = gpu.run(source, "mixed", 1, 1, *values, InOut(np.zeros(19)))
    want = [getattr(v, "value", v) for v in values]
    want[17] = 65
    yield same("out", got, np.array([float(v) for v in want]))


@case()
def arguments_through_kernel_params(gpu: Gpu) -> Iterator[Check]:
    from hipadapt import hip

    source = """
    extern "C" __global__ void fill(int *out, char base, double scale) {
        out[threadIdx.x] = (int)(scale * threadIdx.x) + base;
    }"""
    module = gpu.build(source)
    memory = gpu.upload(np.zeros(40, np.int32))
    cells = (ctypes.c_void_p(memory), ctypes.c_byte(-3), ctypes.c_double(2.5))
    ok(
        hip.hipModuleLaunchKernel(
            module.function("fill"),
            *(1, 1, 1),
            *(40, 1, 1),
            sharedMemBytes=0,
            stream=None,
            kernelParams=[ctypes.addressof(cell) for cell in cells],
            extra=None,
        )
    )
    gpu.wait()
    got = gpu.download(memory, np.zeros(40, np.int32))
    yield same("out", got, (2.5 * np.arange(40)).astype(int) - 3)


@case()
def truth_values(gpu: Gpu) -> Iterator[Check]:
    source = """
    extern "C" __global__ void logic(bool flip, const bool *a, const bool *b,
                                     bool *out) {
        int i = threadIdx.x;
        bool both = a[i] && b[i], either = a[i] || b[i];
        out[i] = flip ? !(both ^ either) : both;
    }"""
    rng = np.random.default_rng(60)
    a, b = rng.integers(0, 2, 50).astype(bool), rng.integers(0, 2, 50).astype(bool)
    module = gpu.build(source)
    for flip in (np.True_, np.False_):
        (got,) = gpu.call(
            module, "logic", 1, 50, flip, In(a), In(b), InOut(np.zeros(50, bool))
        )
        yield same(f"flip {flip}", got, ~((a & b) ^ (a | b)) if flip else a & b)
