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
# Declarations of csrc/abi that programs include, too, by folder.
PUBLIC_ABI = {"hipadapt": [CSRC / "abi" / "check.h"]}


def install(made: Path, target: Path) -> None:
    """Replaces `target` whole: a process that runs the old one keeps it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copy2(made, fresh)
    fresh.replace(target)


def install_headers(target: Path, *sources: Path) -> list[Path]:
    """Copies the headers of folders, and files; removes what is no longer one."""
    copies = {
        target / path.relative_to(source if source.is_dir() else source.parent): path
        for source in sources
        for path in (source.rglob("*") if source.is_dir() else [source])
        if path.is_file()
    }
    for copy, path in copies.items():
        if not copy.is_file() or copy.read_bytes() != path.read_bytes():
            install(path, copy)
    for path in list(target.rglob("*")):
        if path.is_file() and path not in copies:
            path.unlink()
    return list(copies)


def install_headers_for_programs(target: Path) -> list[Path]:
    """Copies those that programs include, and none in place of the C library's."""
    copies: list[Path] = []
    for folder in ("hip", "hipadapt"):
        more = [TOOL / folder, *PUBLIC_ABI.get(folder, ())]
        copies += install_headers(target / folder, DEVICE / folder, *more)
    return copies


def install_all(package: Path) -> list[Path]:
    """Every header into the folder of the package; returns the files there."""
    copies = install_headers(package / "_lib" / "device", DEVICE)
    copies += install_headers_for_programs(package / "include")
    for folder in PROFILER.iterdir():
        copies += install_headers(package / "include" / folder.name, folder)
    return copies
