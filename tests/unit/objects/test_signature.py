# SPDX-License-Identifier: MIT
"""Arguments of kernels from code objects, mangled names and the user's types."""

from __future__ import annotations

import ctypes
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hipadapt import hip
from hipadapt._objects.signature import (
    Parameter,
    mangled_types,
    metadata,
    parse_types,
    signature,
)

# ---- code objects made here ----


def pack(value: Any) -> bytes:
    """MessagePack, in the forms that LLVM writes."""
    if isinstance(value, dict):
        head = struct.pack(">BH", 0xDE, len(value))
        return head + b"".join(pack(k) + pack(v) for k, v in value.items())
    if isinstance(value, list):
        head = bytes([0x90 | len(value)]) if len(value) < 16 else b""
        head = head or struct.pack(">BI", 0xDD, len(value))
        return head + b"".join(map(pack, value))
    if isinstance(value, bool) or value is None:
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        if 0 <= value < 128:
            return bytes([value])
        if value < 0:
            return struct.pack(">Bq", 0xD3, value)
        wide = value >= 2**32
        return struct.pack(">BQ" if wide else ">BI", 0xCF if wide else 0xCE, value)
    if isinstance(value, float):
        return struct.pack(">Bd", 0xCB, value)
    data = value.encode() if isinstance(value, str) else value
    if isinstance(value, bytes):
        return struct.pack(">BB", 0xC4, len(data)) + data
    if len(data) < 32:
        return bytes([0xA0 | len(data)]) + data
    return struct.pack(">BB", 0xD9, len(data)) + data


def elf(note: bytes, machine: int = 224) -> bytes:
    """An ELF file with one note, found by a program header."""
    body = struct.pack("<III", 7, len(note), 32) + b"AMDGPU\0\0" + note
    body += bytes(-len(body) % 4)
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHI", 3, machine, 1)
    header += struct.pack("<QQQIHHHHHH", 0, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 4, 4, 120, 0, 0, len(body), len(body), 4)
    return header + segment + body


def argument(offset: Any, size: Any, kind: Any = "by_value") -> dict[str, Any]:
    return {".offset": offset, ".size": size, ".value_kind": kind}


def code_object(*arguments: Any, name: Any = "k") -> bytes:
    kernel = {".name": name, ".args": list(arguments), ".sgpr_count": 96}
    return elf(pack({"amdhsa.kernels": [kernel], "amdhsa.version": [1, 2]}))


def test_arguments_of_a_code_object() -> None:
    code = code_object(
        argument(0, 4),
        argument(8, 8, "global_buffer"),
        argument(16, 8),
        argument(24, 4, "hidden_block_count_x"),
        argument(32, 200),
        name="a_long_name_of_a_kernel_with_more_than_31_letters",
    )

    found = metadata(code)

    assert list(found.values()) == [
        (
            Parameter(0, 4, "?"),
            Parameter(8, 8, "p"),
            Parameter(16, 8, "?"),
            Parameter(32, 200, "?"),
        )
    ]


def test_code_objects_in_a_bundle() -> None:
    first, second = code_object(argument(0, 4)), code_object(name="other")
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 3)
    entries = ((b"host", b""), (b"hip-amdgcn--gfx90a", first), (b"hip--gfx942", second))
    start = len(head) + sum(24 + len(name) for name, _ in entries)
    body = b""
    for name, data in entries:
        head += struct.pack("<QQQ", start + len(body), len(data), len(name)) + name
        body += data

    assert metadata(head + body) == {"k": (Parameter(0, 4, "?"),), "other": ()}


@pytest.mark.parametrize(
    "arguments",
    [
        [argument(0, 0)],
        [argument(-1, 4)],
        [argument("0", 4)],
        [argument(0, None)],
        [argument(2**40, 4)],
        [argument(0, 2**40)],
        [5],
        [{}],
        [None, argument(0, 4)],
    ],
)
def test_arguments_that_make_no_sense_are_not_known(arguments: list[Any]) -> None:
    assert metadata(code_object(*arguments)) == {}


@pytest.mark.parametrize(
    "code",
    [
        b"",
        b"\x7fELF",
        elf(b""),
        elf(b"\xc1"),
        elf(b"\xdd\xff\xff\xff\xff"),
        elf(b"\xdf\xff\xff\xff\xff"),
        elf(b"\x91" * 5000),
        elf(pack({"amdhsa.kernels": 5})),
        elf(pack({"amdhsa.kernels": [5, None, {}, {".name": 5}]})),
        elf(pack([1, 2.5, -5, True, None, b"x"])),
        elf(pack({"amdhsa.kernels": [{".name": "k", ".args": []}]}), machine=62),
        code_object(name=5),
        b"__CLANG_OFFLOAD_BUNDLE__",
        b"__CLANG_OFFLOAD_BUNDLE__" + b"\xff" * 100,
    ],
)
def test_broken_code_objects_have_no_kernels(code: bytes) -> None:
    assert metadata(code) == {}


GOOD = code_object(argument(0, 4), argument(8, 8, "global_buffer"))


@given(
    st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), max_size=8)
)
@settings(max_examples=300)
def test_damaged_code_objects_do_no_harm(changes: list[tuple[int, int]]) -> None:
    code = bytearray(GOOD)
    for place, value in changes:
        code[place] = value
    for found in metadata(bytes(code)).values():
        assert all(p.size > 0 and p.offset >= 0 for p in found)


@given(st.integers(0, len(GOOD)))
@settings(max_examples=100)
def test_cut_code_objects_do_no_harm(size: int) -> None:
    # The last bytes only fill up.
    assert size > len(GOOD) - 4 or metadata(GOOD[:size]) == {}


@given(st.binary(max_size=200))
@settings(max_examples=200)
def test_any_bytes_as_metadata_do_no_harm(note: bytes) -> None:
    metadata(elf(note))


def test_code_object_of_a_compiler(tmp_path: Path) -> None:
    ziglang = pytest.importorskip("ziglang", reason="the compiler is not installed")
    source = tmp_path / "k.c"
    source.write_text(
        "typedef struct { float a; int b; short c; } S;\n"
        "#define GLOBAL __attribute__((address_space(1)))\n"
        "__attribute__((amdgpu_kernel)) void k(float a, GLOBAL float *x, double d,"
        " char c, S s) { x[0] = a + d + c + s.a; }\n"
        "__attribute__((amdgpu_kernel)) void none(void) {}\n"
    )
    words = "clang -cc1 -triple amdgcn-amd-amdhsa -target-cpu gfx90a -emit-obj".split()
    zig = Path(ziglang.__file__).parent / "zig"
    done = subprocess.run(
        [str(zig), *words, str(source), "-o", str(tmp_path / "k.o")],
        capture_output=True,
        timeout=120,
        check=False,
    )
    if done.returncode != 0:
        pytest.skip("the compiler makes no AMD code here")

    assert metadata((tmp_path / "k.o").read_bytes()) == {
        "k": (
            Parameter(0, 4, "?"),
            Parameter(8, 8, "p"),
            Parameter(16, 8, "?"),
            Parameter(24, 1, "?"),
            Parameter(28, 12, "?"),
        ),
        "none": (),
    }


# ---- mangled names ----


@pytest.mark.parametrize(
    ("name", "want"),
    [
        ("_Z5saxpyfPKfPfi", [("f", 4), ("p", 8), ("p", 8), ("i", 4)]),
        ("_Z1kbachstijlmxy", None),
        ("_Z1kPPfS_S0_i", [("p", 8), ("p", 8), ("p", 8), ("i", 4)]),
        ("_Z1kPvPKvd", [("p", 8), ("p", 8), ("f", 8)]),
        ("_Z1kPVKjDF16_", [("p", 8), ("f", 2)]),
        ("_Z1kPU3AS1fi", [("p", 8), ("i", 4)]),
        ("_Z3rec1SPf", []),
        ("_Z1ki1SPf", [("i", 4)]),
        ("_Z1kP1Si", []),
        ("_Z1kv", None),
        ("_Z3putIfEvPT_S0_", None),
        ("_ZN5maths1kEf", None),
        ("k", None),
        ("_Z", None),
        ("_Z99k", None),
        ("_Z1kS5_", []),
        ("_Z1kP", []),
        ("_Z1kPK", []),
        ("_Z1kS", []),
    ],
)
def test_mangled_names(name: str, want: Any) -> None:
    if name == "_Z1kbachstijlmxy":
        kinds = "".join(kind for kind, _ in mangled_types(name) or [])
        sizes = [size for _, size in mangled_types(name) or []]
        assert kinds == "biiuiuiuiuiu"
        assert sizes == [1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 8, 8]
    else:
        assert mangled_types(name) == want


@given(st.text("_ZPKVRSfdijlmvxbN0123456789IELT", max_size=20))
@settings(max_examples=300)
def test_any_name_does_no_harm(text: str) -> None:
    mangled_types(text)
    mangled_types("_Z1k" + text)


def test_name_adds_kinds_where_sizes_agree() -> None:
    layout = (Parameter(0, 4), Parameter(8, 8), Parameter(16, 16))

    assert signature(layout, "_Z1kfP1S") == (Parameter(0, 4, "f"), *layout[1:])
    assert signature(layout, "_Z1kdPf") == layout
    assert signature(layout, "_Z1kfPfddd") == layout
    assert signature(layout, "k") == layout
    assert signature(None, "_Z1kf") is None
    assert signature((), "_Z1kv") == ()


# ---- types of the user ----


class Pair(ctypes.Structure):
    _fields_ = (("a", ctypes.c_char), ("b", ctypes.c_int))


@pytest.mark.parametrize(
    ("given_type", "want"),
    [
        ("float", ("f", 4)),
        ("double", ("f", 8)),
        ("half", ("f", 2)),
        ("int", ("i", 4)),
        ("int8", ("i", 1)),
        ("uint16_t", ("u", 2)),
        ("int64_t", ("i", 8)),
        ("size_t", ("u", 8)),
        ("bool", ("b", 1)),
        ("const float *", ("p", 8)),
        ("pointer", ("p", 8)),
        (ctypes.c_float, ("f", 4)),
        (ctypes.c_uint8, ("u", 1)),
        (ctypes.c_long, ("i", 8)),
        (ctypes.c_bool, ("b", 1)),
        (ctypes.c_void_p, ("p", 8)),
        (ctypes.POINTER(ctypes.c_int), ("p", 8)),
        (Pair, ("r", 8)),
        (np.float32, ("f", 4)),
        (np.dtype("u2"), ("u", 2)),
        (np.bool_, ("b", 1)),
        (np.dtype([("a", "f4"), ("b", "i4")]), ("r", 8)),
        (hip.dim3, ("r", 12)),
    ],
)
def test_types_of_the_user(given_type: Any, want: tuple[str, int]) -> None:
    (found,) = parse_types([given_type])
    assert (found.kind, found.size) == want
    assert str(found).endswith("byte" if want[1] == 1 else "bytes")


@pytest.mark.parametrize(
    "wrong", ["", "float8", "Float", 5, None, object(), np.object_]
)
def test_what_is_no_type_raises(wrong: Any) -> None:
    with pytest.raises(TypeError, match="no type"):
        parse_types([wrong])


def test_types_are_laid_out_as_c_does() -> None:
    found = parse_types(
        ["bool", "double", "int16", Pair, "uint8", Parameter(64, 4), "int8"]
    )
    assert [p.offset for p in found] == [0, 8, 16, 20, 28, 64, 68]


def test_python_of_this_machine() -> None:
    # The packer stores numbers as the processor has them.
    assert sys.byteorder == "little"
