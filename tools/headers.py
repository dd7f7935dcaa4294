# SPDX-License-Identifier: MIT
"""Headers of the package: which there are, and how they get there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

CSRC = Path(__file__).resolve().parent.parent / "csrc"
PROFILER = CSRC / "rocprofiler" / "include"
TOOL = CSRC / "tool" / "include"
DEVICE = CSRC / "cpu" / "headers"


def install(made: Path, target: Path) -> None:
    """Replaces `target` whole: a process that runs the old one keeps it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copy2(made, fresh)
    fresh.replace(target)


def headers() -> dict[Path, Path]:
    """Every header by its place in the package's folder `include`.

    `hipadapt/freestanding` has those with names of the C and C++ libraries, which
    kernels find, and programs must not.
    """
    standard = Path("hipadapt") / "freestanding"
    found = {standard / path.name: path for path in DEVICE.iterdir() if path.is_file()}
    for root in (PROFILER, TOOL, DEVICE):
        for folder in (path for path in root.iterdir() if path.is_dir()):
            files = (path for path in folder.rglob("*") if path.is_file())
            found.update((path.relative_to(root), path) for path in files)
    found[Path("hipadapt") / "check.h"] = CSRC / "abi" / "check.h"
    return found


def install_all(include: Path) -> list[Path]:
    """Copies the headers; removes what is no longer one. Returns the copies."""
    copies = {include / place: path for place, path in headers().items()}
    for copy, path in copies.items():
        if not copy.is_file() or copy.read_bytes() != path.read_bytes():
            install(path, copy)
    for path in list(include.rglob("*")):
        if path.is_file() and path not in copies:
            path.unlink()
    return list(copies)
