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
    python: bool = False  # whether Python.h may be included


def room(may_include: str, *, python: bool = False) -> Room:
    """A room of words."""
    return Room(frozenset(may_include.split()), python)


ROOMS: dict[str, Room] = {
    "abi": room(""),
    "core": room(""),
    "rocprofiler": room("abi core"),
    "roctx": room("core"),
    "tool": room("abi core"),
    "adapters": room("abi core", python=True),
    "api": room("adapters abi core", python=True),
    "module": room("api adapters tool abi core", python=True),
}

# Folder of csrc -> its tests in Python, below tests/unit: folders, or how the paths of
# files begin; those that cover most of it come first.  The folder of tests/c with the
# same name has its tests in C.
TESTS: dict[str, str] = {
    "abi": "api",
    "core": "api/test_provider",
    "cpu": "cpu",
    "cpu/base": "cpu/test_failure cpu/test_visible cpu/test_device_attributes",
    "cpu/check": "cpu/test_guard",
    "cpu/compile": "cpu/test_rewrite cpu/test_hiprtc cpu/test_compile cpu/test_cache "
    "cpu/test_contraction cpu/test_damaged cpu/test_forwarding cpu/test_guard "
    "cpu/test_language cpu/test_link cpu/test_valid",
    "cpu/entry": "cpu/test_failure cpu/test_abi",
    "cpu/exec": "cpu/test_cooperative cpu/test_survival cpu/test_multi_device",
    "cpu/graph": "cpu/test_graphs",
    "cpu/headers": "cpu/test_language cpu/test_programs",
    "cpu/machine": "cpu/test_target_cpu cpu/test_survival",
    "cpu/memory": "cpu/test_memory cpu/test_check_memory cpu/test_arrays "
    "cpu/test_external cpu/test_surfaces cpu/test_texture",
    "cpu/module": "cpu/test_function_attributes cpu/test_link cpu/test_damaged",
    "cpu/queue": "cpu/test_runtime",
    "cpu/submit": "cpu/test_runtime cpu/test_graphs cpu/test_memory",
    "cpu/work": "cpu/test_runtime cpu/test_multi_device",
    "rocprofiler": "rocprofiler",
    "roctx": "rocprofiler",
    "tool": "tool profile rocprofiler_python/test_trace rocprofiler_python",
    "adapters": "adapters",
    "api": "api/test_functions api errors",
    "module": "objects/test_kernel api/test_callback objects rocprofiler_python "
    "profile",
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
    ("exec", "check", "compile"),
    ("machine",),
    ("base",),
)
for number, floor in enumerate(FLOORS):
    lower = [f"cpu/{name}" for below in FLOORS[number + 1 :] for name in below]
    for name in floor:
        ROOMS[f"cpu/{name}"] = room(" ".join([*lower, "abi core"]))

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


def tested(path: PurePath) -> str | None:
    """The innermost folder with tests that this path below csrc is in."""
    inside = [folder.as_posix() for folder in path.parents]
    return next((folder for folder in inside if folder in TESTS), None)
