# SPDX-License-Identifier: MIT
"""Adapter types over addresses where no memory is: looking at them harms nobody."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hipadapt import types

# The first page, one page further, and what handles of the CPU device look like.
DEAD = [5, 4096, 0x500000100000001]


class Claim:
    """Says that it has memory, by the CUDA array interface."""

    def __init__(self, address: int, typestr: str, count: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (count,),
            "typestr": typestr,
            "data": (address, False),
            "version": 3,
        }


@pytest.mark.parametrize("address", DEAD)
def test_text_at_a_dead_address_is_not_read(address: int) -> None:
    text = types.CStr(address)

    assert repr(text) == f"<CStr {address:#x}, cannot be read>"
    assert text != "a"
    assert text != types.CStr("a")
    assert types.CStr("") != text
    assert text == types.CStr(address)
    assert hash(text) == hash(types.CStr(address))
    assert int(text) == address
    reads: list[Callable[[], Any]] = [
        lambda: str(text),
        lambda: len(text),
        lambda: text[0],
        lambda: "a" in text,
        lambda: b"a" in text,
        lambda: text.decode(),
        lambda: text.encode(),
        lambda: f"{text}",
    ]
    for read in reads:
        with pytest.raises(ValueError, match=r"CStr: there is no text at 0x"):
            read()
    with pytest.raises(BufferError, match=r"CStr: there is no text at 0x"):
        memoryview(text)


def test_text_at_a_living_address_is_read() -> None:
    memory = bytearray(b"text\0more")
    owner = types.Pointer(memory)

    text = types.CStr(int(owner))

    assert str(text) == "text"
    assert repr(text) == "CStr('text')"


@pytest.mark.parametrize("address", DEAD)
def test_texts_of_a_list_at_dead_addresses_are_not_read(address: int) -> None:
    texts = types.ListOfBytes(np.array([address], np.uint64))

    assert repr(texts).endswith(", 1 elements, cannot be read>")
    assert texts != [b"a"]
    assert texts == texts
    assert texts != types.ListOfBytes([b"a"])
    assert types.ListOfBytes([b"a"]) != texts
    hash(texts)
    with pytest.raises(
        ValueError, match=r"element 0 is 0x.*, where no text can be read"
    ):
        texts[0]


@pytest.mark.parametrize("kind", ["ListOfBytes", "ListOfPointer", "ListOfUnsignedLong"])
@pytest.mark.parametrize("address", DEAD)
def test_list_in_dead_memory_is_not_read(kind: str, address: int) -> None:
    values = getattr(types, kind)(Claim(address, "<u8", 2))

    assert repr(values).endswith(", 2 elements, cannot be read>")
    assert values != [1, 2]
    assert values != getattr(types, kind)(np.zeros(2, np.uint64))
    hash(values)
    with pytest.raises(ValueError, match=r"element 1 at 0x.* that cannot be read"):
        values[1]
    with pytest.raises(ValueError, match=r"element 0 at 0x.* that cannot be read"):
        values.to_list()


@pytest.mark.parametrize("address", DEAD)
def test_number_at_a_dead_address_is_neither_read_nor_written(address: int) -> None:
    number = types.PointerToInt(address)

    with pytest.raises(ValueError, match=r"that cannot be read"):
        _ = number.value
    with pytest.raises(ValueError, match=r"where there is no memory"):
        number.value = 3


@pytest.mark.parametrize("address", DEAD)
def test_record_at_a_dead_address_is_neither_read_nor_written(
    cpu: ModuleType, address: int
) -> None:
    record = cpu.dim3.fromObj(address)

    assert repr(record) == f"<dim3 {address:#x}, cannot be read>"
    assert record != cpu.dim3()
    assert cpu.dim3() != record
    assert record == cpu.dim3.fromObj(address)
    with pytest.raises(ValueError, match=r"dim3: there is no memory at 0x"):
        _ = record.x
    with pytest.raises(ValueError, match=r"dim3: there is no memory at 0x"):
        record.x = 1
    with pytest.raises(ValueError, match=r"dim3: there is no memory at 0x"):
        record.get_x(0)


@pytest.mark.parametrize("address", DEAD)
def test_call_with_text_at_a_dead_address_is_refused(
    cpu: ModuleType, address: int
) -> None:
    for text in (address, types.CStr(address), types.Pointer(address)):
        with pytest.raises(
            ValueError,
            match="hipModuleLoad: argument 'fname' must be text, not an address",
        ):
            cpu.hipModuleLoad(text)


def test_text_in_a_pointer_without_a_nul_is_ended() -> None:
    memory = np.frombuffer(b"abcdef", np.uint8)

    text = types.CStr(types.Pointer(memory[:3]))

    assert bytes(text) == b"abc"
    assert types.CStr(text)[:] == "abc"
