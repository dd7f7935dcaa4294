# SPDX-License-Identifier: MIT
"""Our libraries under the names of AMD's."""

from __future__ import annotations

import os
from pathlib import Path

LIBRARY = Path(__file__).resolve().parent.parent / "_lib" / "libhipadapt_cpu.so"
TOOL = LIBRARY.with_name("libhipadapt_tool.so")
# One file serves HIP and hiprtc, in each version whose symbols it exports.
NAMES = (
    "libamdhip64.so",
    "libamdhip64.so.6",
    "libamdhip64.so.7",
    "libhiprtc.so",
    "libhiprtc.so.6",
    "libhiprtc.so.7",
)
# The profiler and roctx, by their names; those without a number are for dlopen.
PROFILER = {
    name: LIBRARY.parent / numbered
    for numbered in (
        "libroctx64.so.4",
        "librocprofiler-sdk.so.1",
        "librocprofiler-sdk-roctx.so.1",
    )
    for name in (numbered, numbered.rpartition(".")[0])
}
# What the profiler looks for beside itself.
PROFILER[TOOL.name] = TOOL


def make(directory: str | os.PathLike[str]) -> list[Path]:
    """Links each of NAMES in `directory`, which is made if need be, to the CPU device.

    Returns the links.  A link that is there already is renewed whole, so that processes
    may do this at the same time; anything else of that name raises FileExistsError.
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    links = [folder / name for name in NAMES]
    for link in links:
        if link.is_symlink() and link.readlink() == LIBRARY:
            continue
        if link.exists() and not link.is_symlink():
            raise FileExistsError(f"{link} is there and no link")
        fresh = folder / f".{link.name}.{os.getpid()}"
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(LIBRARY)
        fresh.replace(link)
    return links
