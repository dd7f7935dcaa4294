# SPDX-License-Identifier: MIT
"""Values of other packages as kernel arguments, by value and with C alignment."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

SOURCE = b"""
struct Record { char c; float v[3]; short s; double d; };
extern "C" __global__ void spread(char tag, Record record, unsigned short half,
                                  float single, bool flag, double *out) {
    out[0] = tag;
    out[1] = record.c;
    for (int i = 0; i < 3; i++) out[2 + i] = record.v[i];
    out[5] = record.s;
    out[6] = record.d;
    out[7] = half;
    out[8] = single;
    out[9] = flag;
}
"""
LAYOUT = np.dtype([("c", "i1"), ("v", "f4", 3), ("s", "i2"), ("d", "f8")], align=True)


def ok(result: tuple[Any, ...]) -> Any:
    status, *values = result
    assert int(status) == 0, status
    return values[0] if len(values) == 1 else tuple(values)


@pytest.fixture(scope="module")
def spread(cpu: ModuleType) -> Callable[..., np.ndarray]:
    """spread(*args): what the kernel was given, as doubles."""
    from hipadapt import hiprtc

    program = ok(hiprtc.hiprtcCreateProgram(SOURCE, b"spread.hip", 0, None, None))
    ok(hiprtc.hiprtcCompileProgram(program, 0, None))
    code = bytearray(ok(hiprtc.hiprtcGetCodeSize(program)))
    ok(hiprtc.hiprtcGetCode(program, code))
    ok(hiprtc.hiprtcDestroyProgram(program.createRef()))
    module = ok(cpu.hipModuleLoadData(code))
    function = ok(cpu.hipModuleGetFunction(module, b"spread"))

    def call(*args: Any) -> np.ndarray:
        out = np.zeros(10)
        memory = ok(cpu.hipMalloc(out.nbytes))
        extra = (*args, memory)
        ok(cpu.hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, None, extra))
        kind = cpu.hipMemcpyKind.hipMemcpyDeviceToHost
        ok(cpu.hipMemcpy(out, memory, out.nbytes, kind))
        ok(cpu.hipFree(memory))
        return out

    return call


def record() -> Any:
    values = np.zeros(1, LAYOUT)
    values[0] = (-5, (1.5, 2.5, 3.5), -300, 0.125)
    return values[0]


WANT = [-1, -5, 1.5, 2.5, 3.5, -300, 0.125, 1000, 0.75, 1]


def test_numpy_scalars_go_by_value(spread: Callable[..., np.ndarray]) -> None:
    got = spread(
        np.int8(-1), record(), np.uint16(1000), np.float32(0.75), np.bool_(True)
    )

    assert got.tolist() == WANT


def test_numpy_and_ctypes_values_can_be_mixed(
    spread: Callable[..., np.ndarray],
) -> None:
    class Record(ctypes.Structure):
        _fields_ = (
            ("c", ctypes.c_byte),
            ("v", ctypes.c_float * 3),
            ("s", ctypes.c_short),
            ("d", ctypes.c_double),
        )

    value = Record(-5, (ctypes.c_float * 3)(1.5, 2.5, 3.5), -300, 0.125)

    got = spread(
        ctypes.c_byte(-1), value, np.uint16(1000), ctypes.c_float(0.75), np.True_
    )

    assert got.tolist() == WANT


def test_values_survive_when_the_caller_drops_them(
    spread: Callable[..., np.ndarray],
) -> None:
    for _ in range(50):
        got = spread(*map(np.int8, (-1,)), record(), *(np.uint16(1000),), *last_two())

        assert got.tolist() == WANT


def last_two() -> tuple[Any, Any]:
    return np.float32(0.75), np.bool_(True)


def test_half_precision_numbers_go_by_value(
    spread: Callable[..., np.ndarray],
) -> None:
    half = np.float16(0.75)

    got = spread(np.int8(-1), record(), half, np.float32(0.75), np.True_)

    assert got[7] == half.view(np.uint16)


def test_bfloat16_numbers_go_by_value(spread: Callable[..., np.ndarray]) -> None:
    try:
        ml_dtypes = importlib.import_module("ml_dtypes")
    except ModuleNotFoundError:
        pytest.skip("ml_dtypes is not installed: pip install hipadapt[interop]")
    brain = ml_dtypes.bfloat16(1.5)

    got = spread(np.int8(-1), record(), brain, np.float32(0.75), np.True_)

    assert got[7] == np.asarray(brain).view(np.uint16)
