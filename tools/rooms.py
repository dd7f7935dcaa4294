# SPDX-License-Identifier: MIT
"""The rooms of csrc: what each may include, and where its tests are.

This is the only list.  The build, the layer check, `make t`, the sanitizers and a test
of the documents read it; the layer check refuses a folder of csrc that is not in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True)
class Room:
    """A folder of csrc."""

    may_include: frozenset[str]  # rooms besides itself
    tests: tuple[str, ...]  # folders below tests/unit
    c_tests: tuple[str, ...] = ()  # how the names of its tests in C begin: a folder
    python: bool = False  # whether Python.h may be included


def room(
    may_include: str, tests: str, c_tests: str = "", *, python: bool = False
) -> Room:
    """A room of words."""
    below = frozenset(may_include.split())
    return Room(below, tuple(tests.split()), tuple(c_tests.split()), python)


ROOMS: dict[str, Room] = {
    "abi": room("", "api", "cpu/entry/"),
    "core": room("", "", "core/"),
    "cpu": room("abi core", "cpu", "cpu/"),
    "rocprofiler": room("abi core", "rocprofiler", "rocprofiler/"),
    "roctx": room("core", "rocprofiler", "roctx/"),
    "tool": room("abi core", "rocprofiler_python", "tool/"),
    "adapters": room("abi core", "adapters", python=True),
    "api": room("adapters abi core", "api", python=True),
    "module": room(
        "api adapters tool abi core", "objects rocprofiler_python", python=True
    ),
}

# Product -> its rooms.
PRODUCTS: dict[str, tuple[str, ...]] = {
    "hipadapt._core": ("core", "adapters", "api", "module"),
    "libhipadapt_cpu.so": ("core", "cpu"),
    "librocprofiler-sdk.so.1": ("core", "rocprofiler"),
    "libroctx64.so.4": ("core", "roctx"),
    "libhipadapt_tool.so": ("core", "tool"),
}


def room_of(path: PurePath) -> str | None:
    """The room of a path below csrc; None if there is none."""
    name = path.parts[0] if len(path.parts) > 1 else ""
    return name if name in ROOMS else None
