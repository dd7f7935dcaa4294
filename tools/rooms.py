# SPDX-License-Identifier: MIT
"""The rooms of csrc: what each may include, and where its tests are.

A room is a folder; those of the CPU device are folders of csrc/cpu, each of which may
include all that stand below it in FLOORS.  This is the only list.  The build, the layer
check, `make t`, the sanitizers and a test of the documents read it; the layer check
refuses a folder of csrc that is not in it.
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
    "rocprofiler": room("abi core", "rocprofiler", "rocprofiler/"),
    "roctx": room("core", "rocprofiler", "roctx/"),
    "tool": room("abi core", "rocprofiler_python", "tool/"),
    "adapters": room("abi core", "adapters", python=True),
    "api": room("adapters abi core", "api", python=True),
    "module": room(
        "api adapters tool abi core", "objects rocprofiler_python", python=True
    ),
}

# The CPU device, from the top; rooms of one floor know nothing of each other.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("entry",),
    ("submit",),
    ("graph",),
    ("work",),
    ("module",),
    ("memory",),
    ("queue",),
    ("exec", "compile"),
    ("base",),
)
# Rooms of the device whose tests in C are not those of their folder alone.
C_TESTS = {"base": "cpu/", "submit": "cpu/work/ cpu/graph/ cpu/queue/"}

for number, floor in enumerate(FLOORS):
    lower = [f"cpu/{name}" for below in FLOORS[number + 1 :] for name in below]
    for name in floor:
        tests = C_TESTS.get(name, f"cpu/{name}/")
        ROOMS[f"cpu/{name}"] = room(" ".join([*lower, "abi core"]), "cpu", tests)

# Product -> its rooms.
PRODUCTS: dict[str, tuple[str, ...]] = {
    "hipadapt._core": ("core", "adapters", "api", "module"),
    "libhipadapt_cpu.so": (
        "core",
        *(f"cpu/{name}" for floor in FLOORS for name in floor),
    ),
    "librocprofiler-sdk.so.1": ("core", "rocprofiler"),
    "libroctx64.so.4": ("core", "roctx"),
    "libhipadapt_tool.so": ("core", "tool"),
}


def room_of(path: PurePath) -> str | None:
    """The room of a path below csrc; None if there is none."""
    for depth in (2, 1):
        name = "/".join(path.parts[:depth])
        if len(path.parts) > depth and name in ROOMS:
            return name
    return None
