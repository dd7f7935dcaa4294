# SPDX-License-Identifier: MIT
"""``-fopenmp`` of ``hipadapt-cc``: threads of the host side.

clang's code calls LLVM's runtime, libomp, which ziglang does not have.  Where the
system has it, it is used.  Without it the pragmas are ignored, since OpenMP allows one
thread, and a warning says so; there is no `omp.h` then.
"""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .host import machine

ON = ("-fopenmp", "-fopenmp=libomp", "-fopenmp=libiomp5", "-fopenmp=libgomp")
NOT_FOUND = (
    "warning: -fopenmp: libomp is not installed (Debian: libomp-dev), so there is no "
    "omp.h, and pragmas of OpenMP are ignored"
)


@dataclass
class OpenMP:
    """What -fopenmp means on this machine."""

    threads: bool  # whether pragmas mean something
    folder: str | None = None  # of omp.h
    link: list[str] = field(default_factory=list)


def wanted(flags: list[str]) -> bool:
    """Whether the flags ask for OpenMP; the last one decides."""
    said = [flag for flag in flags if flag in (*ON, "-fno-openmp")]
    return bool(said) and said[-1] in ON


def version_of(folder: str) -> list[int]:
    """The numbers in a folder's name, to find the newest."""
    return [int(number) for number in re.findall(r"\d+", folder)]


def library_folders(flags: list[str]) -> Iterator[str]:
    """Where libomp may be: the program's own folders, then the system's."""
    yield from (flag[2:] for flag in flags if flag.startswith("-L"))
    yield from sorted(glob.glob("/usr/lib/llvm-*/lib"), key=version_of, reverse=True)
    yield from (f"/usr/lib/{machine()}-linux-gnu", "/usr/lib64", "/usr/lib")
    yield from ("/usr/local/lib", "/opt/rocm/llvm/lib")


def header_folder(library: str) -> str | None:
    """Where the omp.h of a libomp is."""
    root = os.path.dirname(library)
    patterns = [f"{root}/omp.h", f"{root}/clang/*/include/omp.h"]
    patterns += [f"{root}/../include/omp.h", "/usr/lib/clang/*/include/omp.h"]
    found = [path for pattern in patterns for path in glob.glob(pattern)]
    return os.path.dirname(found[0]) if found else None


def find(flags: list[str]) -> OpenMP:
    """The runtime for a command line; says if there is none."""
    for folder in library_folders(flags):
        library = os.path.abspath(os.path.join(folder, "libomp.so"))
        if os.path.exists(library):
            run_path = f"-Wl,-rpath,{Path(library).parent}"
            return OpenMP(True, header_folder(library), [library, run_path])
    print(f"hipadapt-cc: {NOT_FOUND}", file=sys.stderr)
    return OpenMP(False)
