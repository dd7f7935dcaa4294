# SPDX-License-Identifier: MIT
"""Whatever is done to a view, its known length is within what the producer exported."""

from __future__ import annotations

import array
import contextlib
import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hipadapt import hip, types

from .conftest import CudaArray

TYPES = ["u1", "<i2", ">i4", "f8", "c16", "V3", "S5", "U2", "M8[s]", "bfloat16"]
TYPES += [[("x", "<f4"), ("y", "u1")]]
SMALL = st.integers(0, 40)
COUNTS = st.one_of(SMALL, SMALL, SMALL, st.integers(-3, 2**66))


class Memory:
    """An object that the adapters take, and what it exports: begin and bytes."""

    def __init__(self, source: Any, address: int, size: int) -> None:
        self.source, self.address, self.size = source, address, size


def of_buffer(source: Any) -> Memory:
    """The range of a writable buffer."""
    size = memoryview(source).nbytes
    begin = ctypes.addressof(ctypes.c_char.from_buffer(source)) if size else 0
    return Memory(source, begin, size)


def of_interface(size: int) -> Memory:
    """An interface over bytes that live as long as the test."""
    memory = of_buffer(bytearray(size + 1))
    source = CudaArray(memory.address, (size,), typestr="|u1")
    source.memory = memory  # type: ignore[attr-defined]
    return Memory(source, memory.address, size)


SOURCES: list[Callable[[int], Memory]] = [
    lambda size: of_buffer(bytearray(size + 1)),
    lambda size: of_buffer(array.array("h", range(size + 1))),
    lambda size: of_buffer((ctypes.c_double * (size + 1))()),
    lambda size: of_buffer(np.zeros((size + 1, 2), "f4")),
    lambda size: of_buffer(memoryview(bytearray(size + 8))[3:]),
    of_interface,
]

shapes = st.lists(COUNTS, max_size=3).map(tuple)
changes = st.fixed_dictionaries(
    {"_force": st.booleans()},
    optional={
        "shape": shapes,
        "typestr": st.sampled_from(TYPES),
        "itemsize": COUNTS,
        "read_only": st.booleans(),
    },
)
keys = st.one_of(st.integers(-4, 4), st.slices(8), st.just(Ellipsis))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("configure"), changes),
        st.tuples(st.just("configure"), changes),
        st.tuples(st.just("index"), keys),
        st.tuples(st.just("offset"), COUNTS),
        st.tuples(
            st.just("wrap"),
            st.sampled_from(
                [types.NDBuffer, types.DeviceArray, types.Pointer, types.NDBuffer]
            ),
        ),
        st.tuples(st.just("init"), st.none()),
    ),
    max_size=8,
)


def changed(view: Any, what: str, value: Any) -> Any:
    """One step; what is refused changes nothing."""
    before = repr(view)
    try:
        if what == "configure":
            return view.configure(**value)
        if what == "index":
            return view[value]
        if what == "offset":
            return types.Pointer(view)[value]
        if what == "wrap":
            return value(view)
        view.__init__(view)
    except (
        AttributeError,
        BufferError,
        IndexError,
        OverflowError,
        TypeError,
        ValueError,
    ):
        assert repr(view) == before
    return view


def known_lengths(view: Any) -> list[int]:
    """Every length that somebody can learn of a view, also by trying."""
    found = []
    if isinstance(view, types.NDBuffer):
        interface = view.__cuda_array_interface__
        count = int(np.prod(interface["shape"], dtype=object))
        found += [view.nbytes, count * view.itemsize]
        with contextlib.suppress(BufferError):
            found.append(len(bytes(view)))
    for size in (2**20, 2**40):
        with contextlib.suppress(IndexError, OverflowError):
            types.Pointer(view)[size]
            found.append(size)
    return found


@given(st.sampled_from(SOURCES), st.integers(0, 6), steps)
def test_known_length_is_never_more_than_was_exported(
    source: Callable[[int], Memory], size: int, steps: list[tuple[str, Any]]
) -> None:
    memory = source(size)
    view: Any = types.NDBuffer(memory.source)

    for what, value in steps:
        view = changed(view, what, value)

        offset = int(view) - memory.address
        for length in known_lengths(view):
            assert length == 0 or (0 <= offset and offset + length <= memory.size)


@given(st.sampled_from(SOURCES), st.integers(0, 6), steps)
def test_calls_refuse_more_bytes_than_were_exported(
    source: Callable[[int], Memory], size: int, steps: list[tuple[str, Any]]
) -> None:
    memory = source(size)
    view: Any = types.NDBuffer(memory.source)
    for what, value in steps:
        view = changed(view, what, value)

    more = memory.size + 1
    try:
        hip.hipMemcpy(view, bytes(more), more, hip.hipMemcpyKind.hipMemcpyHostToHost)
    except (BufferError, ValueError):
        return
    raise AssertionError(f"{view!r} was taken for {more} bytes of {memory.size}")
