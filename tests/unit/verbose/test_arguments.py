# SPDX-License-Identifier: MIT
"""The arguments of launches from Python, as their lines tell them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hipadapt._trace.verbose import read
from tests.conftest import Run

BEGIN = """
import ctypes, json, random, struct
import numpy as np
import hipadapt

SOURCE = '''
extern "C" __global__ void real(double x) {}
extern "C" __global__ void whole(long long n) {}
extern "C" __global__ void where(const void *p) {}
'''
module = hipadapt.Program(SOURCE).compile()
real, whole, where = map(module.kernel, ("real", "whole", "where"))
expected = []

def launch(kernel, value, text):
    kernel[1, 1](value)
    expected.append(text)
"""
END = "\nprint(json.dumps(expected))"


def told(run_python: Run, path: Path, code: str) -> tuple[list[str], list[str]]:
    """What lines tell, and what the program expects."""
    done = run_python(
        BEGIN + code + END,
        HIPADAPT_VERBOSE="profile_exec",
        HIPADAPT_VERBOSE_FILE=str(path),
    )
    lines = [one for one in read(path) if one["primitive"] == "kernel"]
    lines.sort(key=lambda one: int(one.values("attributes")["corr"]))
    expected: list[str] = json.loads(done.stdout)
    return [one["memory_descriptors"] for one in lines], expected


NUMBERS = """
chosen = random.Random(5)
values = [0.0, -0.0, 1.0, -1.0, 0.5, 0.001, 0.0005, -0.001, 1e12, 999999999999.999]
values += [1e11, 1e15, 1e16, 1e22, 1e-5, 5e-324, 1.7976931348623157e308, 0.1 + 0.2]
values += [float("inf"), float("-inf"), float("nan"), 123.456, 2.675, 1000000.001]
values += [struct.unpack("d", chosen.randbytes(8))[0] for i in range(2000)]
values += [chosen.randrange(-10**9, 10**9) / 10 ** chosen.randrange(8) for i in range(2000)]
values += [np.nextafter(k / 1000, s).item() for k in range(50) for s in (-1, 1)]
for value in values:
    launch(real, value, f"arg0:float:{value!r}")
whole_values = [0, 1, -1, 9, 10, 2**63 - 1, -2**63, -2**63 + 1, 10**18, -10**18]
for value in whole_values + [chosen.randrange(-2**63, 2**63) for i in range(500)]:
    launch(whole, value, f"arg0:int:{value}")
"""


def test_numbers_are_as_python_writes_them(run_python: Run, tmp_path: Path) -> None:
    lines, expected = told(run_python, tmp_path / "lines", NUMBERS)

    assert len(lines) > 4500
    assert lines == expected


OTHERS = """
launch(whole, np.int64(-5), "arg0:numpy.int64:-5")
launch(real, np.float64(0.1), "arg0:numpy.float64:0.1")
launch(whole, ctypes.c_longlong(-7), "arg0:c_long:-7")
launch(real, ctypes.c_double(2.5), "arg0:c_double:2.5")
launch(whole, True, "arg0:bool:True")
"""


def test_other_numbers_are_as_they_say(run_python: Run, tmp_path: Path) -> None:
    lines, expected = told(run_python, tmp_path / "lines", OTHERS)

    assert lines == expected


ARRAYS = """
def expect(array, text):
    launch(where, array, f"arg0:ptr:{hex(int(array))}{text}")

expect(hipadapt.zeros(7, dtype="float32"), ":float32:7")
expect(hipadapt.zeros((2, 3, 4, 5, 6, 7), dtype="int8"), ":int8:2x3x4x5x6x7")
expect(hipadapt.zeros((64, 128), dtype="complex64"), ":complex64:64x128")
expect(hipadapt.zeros((3,), dtype="bool"), ":bool:3")
expect(hipadapt.empty((4, 4), dtype="bfloat16"), ":bfloat16:4x4")
expect(hipadapt.zeros((1,) * 32, dtype="uint16"), ":uint16:" + "x".join("1" * 32))
part = hipadapt.zeros((8, 8), dtype="float64")[2:4]
expect(part, ":float64:2x8")
expect(hipadapt.types.Pointer(int(part)), "")

class Theirs:
    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype
        face = {"shape": (1,), "typestr": "<f4", "data": (int(part), False), "version": 3}
        self.__cuda_array_interface__ = face

class Refuses:
    def __str__(self):
        raise ValueError("no")

def theirs(shape, dtype, text):
    launch(where, Theirs(shape, dtype), "arg0:Theirs" + text)

theirs((64, 128), np.dtype("float32"), ":float32:64x128")
theirs((64,), "a,b", ":a,b:64")
theirs([64], "float32", "")
theirs((), "float32", "")
theirs((2,) * 65, "float32", "")
theirs((2,), Refuses(), ":2")
theirs((2**70, "three"), "x" * 300, ":" + 100 * "x" + ":9223372036854775807x-1")

class Raises(Theirs):
    @property
    def dtype(self):
        raise RuntimeError("no")
    @dtype.setter
    def dtype(self, value):
        pass

launch(where, Raises((2,), None), "arg0:Raises")
"""


def test_arrays_have_address_type_and_extents(run_python: Run, tmp_path: Path) -> None:
    lines, expected = told(run_python, tmp_path / "lines", ARRAYS)

    assert lines == expected


MANY = """
count = 300
source = 'extern "C" __global__ void many(' + ", ".join(
    f"const float *p{i}" for i in range(count)) + ") {}"
many = hipadapt.Program(source).compile().kernel("many")
x = hipadapt.zeros((5, 6), dtype="float32")
many[1, 1](*[x] * count)
expected.append(" ".join(f"arg{i}:ptr:{hex(int(x))}:float32:5x6" for i in range(count)))
"""


def test_many_arguments_are_all_told(run_python: Run, tmp_path: Path) -> None:
    lines, expected = told(run_python, tmp_path / "lines", MANY)

    assert lines == expected


@pytest.mark.parametrize("call", ["whole[1, 1]('x')", "whole[1, 1](1, 2)"])
def test_arguments_of_a_refused_launch_stay_with_it(
    run_python: Run, tmp_path: Path, call: str
) -> None:
    code = f"""
from hipadapt import hip
x = hipadapt.zeros(1)
try:
    {call}
except (TypeError, ValueError):
    pass
else:
    raise SystemExit("was launched")
hip.hipMemset(x, 1, 4)
"""
    lines, _ = told(run_python, tmp_path / "lines", code)

    assert lines == []
    fills = [one for one in read(tmp_path / "lines") if one["primitive"] == "memset"]
    assert [one["memory_descriptors"] for one in fills] == ["", ""]
