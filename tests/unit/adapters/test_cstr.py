# SPDX-License-Identifier: MIT
"""CStr: text of C, and Python text as char *."""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipadapt import types

from .conftest import read


@pytest.mark.parametrize(
    "value",
    [
        "hello",
        b"hello",
        bytearray(b"hello"),
        memoryview(b"hello!")[:5],
        np.frombuffer(b"hello", np.uint8),
        np.bytes_(b"hello"),
        types.CStr("hello"),
        ctypes.create_string_buffer(b"hello"),
        ctypes.c_char_p(b"hello"),
    ],
    ids=lambda v: type(v).__name__,
)
def test_text_from_everything(value: Any) -> None:
    made = types.CStr(value)
    assert read(made, 6) == b"hello\0"
    assert str(made) == "hello"
    assert bytes(made) == b"hello"
    assert made.decode() == "hello"
    assert made.encode() == b"hello"
    assert made == "hello"
    assert made == b"hello"
    assert made == types.CStr("hello")
    assert "hello" == made
    assert made != "hell"
    assert made != 5
    assert hash(made) == hash("hello") == hash(b"hello")
    assert {"hello": 1}[made] == 1  # type: ignore[index]
    assert "ell" in made
    assert b"ell" in made
    assert "x" not in made
    assert len(made) == 5
    assert (made[0], made[-1], made[1:3]) == ("h", "o", "el")
    assert list(made) == list("hello")
    assert repr(made) == "CStr('hello')"
    assert f"{made:>7}" == "  hello"
    assert f"{made}" == "hello"


def test_memory_is_not_copied_where_it_ends_in_nul() -> None:
    memory = bytearray(b"hello\0rest")
    made = types.CStr(memory)
    assert int(made) == int(types.Pointer(memory))
    memory[0] = ord("j")
    assert made == "jello"


def test_text_beyond_ascii() -> None:
    made = types.CStr("zwölf ✓")
    assert made == "zwölf ✓"
    assert made == "zwölf ✓".encode()
    assert hash(made) == hash("zwölf ✓")
    assert len(made) == 7
    assert made[2] == "ö"
    assert made.decode("latin-1") == "zwölf ✓".encode().decode("latin-1")
    broken = types.CStr(b"a\xffb")
    assert str(broken) == "a\ufffdb"
    assert broken == b"a\xffb"
    assert hash(broken) == hash(b"a\xffb")
    with pytest.raises(UnicodeDecodeError):
        broken.decode()
    assert broken.decode(errors="ignore") == "ab"
    assert made != "\ud800"
    with pytest.raises(UnicodeEncodeError):
        types.CStr("\ud800")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_every_text_comes_back(text: str) -> None:
    made = types.CStr(text)
    assert str(made) == text
    assert made == text
    assert hash(made) == hash(text)
    assert len(made) == len(text)


def test_nul_inside_is_refused() -> None:
    for value in ("a\0b", b"a\0b", "\0a"):
        with pytest.raises(ValueError, match="NUL inside"):
            types.CStr(value)
    assert types.CStr(b"abc\0\0") == "abc"


def test_null() -> None:
    null = types.CStr()
    assert not null
    assert str(null) == ""
    assert repr(null) == "<CStr NULL>"
    assert null == types.CStr(None)
    assert null != types.CStr("")
    assert null != ""
    hash(null)
    for use in (len, lambda c: c[0], lambda c: c.decode(), lambda c: "x" in c):
        with pytest.raises(ValueError, match="NULL"):
            use(null)
    with pytest.raises(BufferError):
        bytes(memoryview(null))


def test_nothing_is_interned() -> None:
    text = "".join(["not", "kept"])
    before = sys.getrefcount(text)
    made = types.CStr(text)
    assert sys.getrefcount(text) == before + 1
    copy = types.Pointer(made)
    del made
    assert sys.getrefcount(text) == before + 1
    assert read(copy, 7) == b"notkept"
    del copy
    assert sys.getrefcount(text) == before
    assert not hasattr(types.CStr, "_retained_inputs")


def test_malloc_and_free() -> None:
    made = types.CStr()
    made.malloc(5)
    assert read(made, 6) == bytes(6)
    ctypes.memmove(int(made), b"12345", 5)
    assert made == "12345"
    with pytest.raises(RuntimeError, match="already"):
        made.malloc(5)
    made.free()
    assert made.is_ptr_null
    made.free()
    with pytest.raises(RuntimeError, match="somebody else"):
        types.CStr("abc").free()
    for length, error in ((-1, OverflowError), ("x", TypeError)):
        with pytest.raises(error):
            made.malloc(length)
    with pytest.raises(MemoryError):
        made.malloc(2**62)


def test_view_of_freed_text() -> None:
    made = types.CStr()
    made.malloc(4)
    ctypes.memmove(int(made), b"abcd", 4)
    view = memoryview(made)
    made.free()
    gc.collect()
    assert bytes(view) == b"abcd"
    assert view.readonly


def test_wrong_types() -> None:
    for value in (1.5, object(), ["x"]):
        with pytest.raises(TypeError, match="str, bytes, a buffer"):
            types.CStr(value)
    with pytest.raises(TypeError):
        types.CStr("x") + "y"  # type: ignore[operator]
