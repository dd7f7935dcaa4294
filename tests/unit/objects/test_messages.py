# SPDX-License-Identifier: MIT
"""Errors name the function and the argument that the user wrote."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import hipadapt
from hipadapt import Event, Stream

# What a call says, by the call; inner functions are nobody's business.
CASES: dict[str, Callable[[], Any]] = {
    "empty: argument 'dtype'": lambda: hipadapt.empty(3, "flaot32"),
    "empty: argument 'shape'": lambda: hipadapt.empty("x"),
    "empty: argument 'stream'": lambda: hipadapt.empty(3, stream="x"),  # type: ignore[arg-type]
    "empty: argument 'pool'": lambda: hipadapt.empty(3, pool="x"),  # type: ignore[arg-type]
    "empty: argument 'device'": lambda: hipadapt.empty(3, device="x"),  # type: ignore[arg-type]
    "zeros: argument 'dtype'": lambda: hipadapt.zeros(3, "flaot32"),
    "zeros: argument 'shape'": lambda: hipadapt.zeros((1, "a")),
    "full: argument 'dtype'": lambda: hipadapt.full(3, 1, "flaot32"),
    "full: 1.5 is no int32": lambda: hipadapt.full(3, 1.5, "int32"),
    "empty_like: argument 'dtype'": lambda: hipadapt.empty_like(np.ones(3), 5),
    "empty_like: argument 'prototype'": lambda: hipadapt.empty_like("x"),
    "array: argument 'dtype'": lambda: hipadapt.array([1], "flaot32"),
    "array: argument 'obj'": lambda: hipadapt.array("x"),
    "asarray: argument 'dtype'": lambda: hipadapt.asarray([1], "flaot32"),
    "asarray: argument 'obj'": lambda: hipadapt.asarray(object()),
    "arange: argument 'dtype'": lambda: hipadapt.arange(3, dtype="flaot32"),
    "pinned_empty: argument 'dtype'": lambda: hipadapt.pinned_empty(3, "flaot32"),
    "managed_empty: argument 'dtype'": lambda: hipadapt.managed_empty(3, "flaot32"),
    "managed_empty: argument 'shape'": lambda: hipadapt.managed_empty(-1),
    "get: argument 'out'": lambda: hipadapt.zeros(3).get("x"),
    "copy_to: argument 'target'": lambda: hipadapt.zeros(3).copy_to("x"),
    "copy_from: argument 'source'": lambda: hipadapt.zeros(3).copy_from("x"),
    "fill: argument 'stream'": lambda: hipadapt.zeros(3).fill(1, stream="x"),
    "Device: argument 'ordinal'": lambda: hipadapt.Device("x"),  # type: ignore[arg-type]
    "argument 'device'": lambda: Stream(device="x"),  # type: ignore[arg-type]
    "Program: argument 'source'": lambda: hipadapt.Program(5),  # type: ignore[arg-type]
    "compile_kernel: argument 'name'": lambda: hipadapt.compile_kernel("", 5),  # type: ignore[arg-type]
    "Stream.wait: argument 'other'": lambda: Stream().wait("x"),  # type: ignore[arg-type]
    "Stream.record: argument 'event'": lambda: Stream().record("x"),  # type: ignore[arg-type]
    "Event.elapsed: argument 'stop'": lambda: Event().elapsed("x"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("wanted", CASES)
def test_message_names_what_was_called(cpu: ModuleType, wanted: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        CASES[wanted]()

    assert str(caught.value).startswith(wanted), caught.value


@pytest.mark.parametrize("way", ["copy_to", "copy_from", "get", "array"])
def test_closed_array_on_the_other_side_is_named(cpu: ModuleType, way: str) -> None:
    array, closed = hipadapt.zeros(3), hipadapt.zeros(3)
    closed.close()
    calls: dict[str, Callable[[], Any]] = {
        "copy_to": lambda: array.copy_to(closed),
        "copy_from": lambda: array.copy_from(closed),
        "get": lambda: array.get(closed),
        "array": lambda: hipadapt.array(closed),
    }

    with pytest.raises(ValueError, match=rf"^{way}: .*this array is closed"):
        calls[way]()
