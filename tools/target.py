# SPDX-License-Identifier: MIT
"""What the native products are built for: this machine, or what HIPADAPT_TARGET names.

HIPADAPT_TARGET is a target of zig, as `x86_64-linux-gnu.2.28`: the machine, and the
oldest glibc on which the products run.  It needs the clang of ziglang, which has the
headers and the symbols of every glibc; that of CC, if it is set.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

MACHINES = ("x86_64", "aarch64")


@dataclass(frozen=True)
class Target:
    """A machine and its oldest glibc."""

    machine: str
    glibc: tuple[int, int]

    @property
    def triple(self) -> str:
        """As zig and HIPADAPT_TARGET name it."""
        return f"{self.machine}-linux-gnu.{self.glibc[0]}.{self.glibc[1]}"


def wanted() -> Target | None:
    """The target that HIPADAPT_TARGET names; None where it is not set."""
    text = os.environ.get("HIPADAPT_TARGET", "")
    if not text:
        return None
    found = re.fullmatch(r"(\w+)-linux-gnu\.(\d+)\.(\d+)", text)
    if found is None or found[1] not in MACHINES:
        sys.exit(
            f"hipadapt: HIPADAPT_TARGET must be MACHINE-linux-gnu.MAJOR.MINOR with one "
            f"of the machines {', '.join(MACHINES)}, not {text!r}"
        )
    return Target(found[1], (int(found[2]), int(found[3])))


def machine() -> str:
    """The machine that the products are for."""
    target = wanted()
    return platform.machine() if target is None else target.machine


def extension_suffix() -> str:
    """How the file names of extensions end; that of this Python, on the target."""
    suffix = str(sysconfig.get_config_var("EXT_SUFFIX"))
    return suffix.replace(platform.machine(), machine())


def flags() -> list[str]:
    """What the compiler is told about the target."""
    target = wanted()
    if target is None:
        return []
    # No path of the machine that builds gets into what others are given.
    return ["-target", target.triple, f"-ffile-prefix-map={os.getcwd()}=hipadapt"]


def python_headers(include: str, kept: Path) -> list[str]:
    """Flags for the headers of Python.

    Debian's pyconfig.h includes that of the machine, as <x86_64-linux-gnu/...>, from a
    folder that the clang of ziglang doesn't search.  A folder below `kept` leads there;
    for another machine, too: what the two say differs in nothing that we use.
    """
    flags = ["-isystem", include]
    folder = Path(include)
    own = folder.parent / str(sysconfig.get_config_var("MULTIARCH")) / folder.name
    if (own / "pyconfig.h").is_file():
        link = kept / f"{machine()}-linux-gnu" / folder.name
        link.parent.mkdir(parents=True, exist_ok=True)
        fresh = link.with_name(f"{link.name}.{os.getpid()}")
        fresh.symlink_to(own)
        fresh.replace(link)
        flags += ["-isystem", str(kept)]
    return flags
