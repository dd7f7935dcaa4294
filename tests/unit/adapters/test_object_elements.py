# SPDX-License-Identifier: MIT
"""Arrays of Python objects: bytes written over references would crash the interpreter."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

OBJECTS = {
    "objects": np.array([[], "text"], object),
    "field": np.zeros(2, [("number", "i8"), ("thing", object)]),
    "nested": np.zeros(2, [("inner", [("x", "f4"), ("thing", object)])]),
    "memoryview": memoryview(np.array([{}, ()], object)),
}


@pytest.mark.parametrize("memory", OBJECTS.values(), ids=OBJECTS)
def test_objects_are_no_destination(cpu: ModuleType, memory: Any) -> None:
    before = [repr(element) for element in np.asarray(memory)]
    source = bytes(16)
    for call in (
        lambda: cpu.hipMemcpy(memory, source, 16, cpu.hipMemcpyKind(0)),
        lambda: cpu.hipMemcpyAsync(memory, source, 16, cpu.hipMemcpyKind(0), None),
        lambda: cpu.hipMemset(memory, 0, 16),
    ):
        with pytest.raises(BufferError, match=r"argument 'dst' must be .* objects"):
            call()
    assert [repr(element) for element in np.asarray(memory)] == before


PLAIN = {
    "named O": np.zeros(2, [("O", "i8"), ("Oops", "f8")]),
    "dates": np.zeros(2, "M8[s]"),
    "text": np.zeros(4, "U1"),
    "numbers": np.zeros(2, "c8"),
}


@pytest.mark.parametrize("memory", PLAIN.values(), ids=PLAIN)
def test_other_elements_are_written(cpu: ModuleType, memory: Any) -> None:
    source = bytes(range(16))

    assert cpu.hipMemcpy(memory, source, 16, cpu.hipMemcpyKind(0))[0] == 0

    assert memory.tobytes()[:16] == source
