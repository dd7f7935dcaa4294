# SPDX-License-Identifier: MIT
"""Which Pythons on this machine wheels can be built for.

`python -m tools.release.pythons` prints their paths, and on stderr what is missing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.native import ROOT

ASK = """
import json, os, sys, sysconfig
include = sysconfig.get_path("include")
print(json.dumps({
    "version": "%d.%d" % sys.version_info[:2],
    "path": sys.executable,
    "headers": os.path.isfile(os.path.join(include, "Python.h")),
    "release": sys.version_info.releaselevel == "final",
}))
"""


@dataclass(frozen=True)
class Python:
    """An interpreter with its headers."""

    version: str  # 3.11
    path: str


class NotUsable(Exception):
    """Why an interpreter cannot be built for."""


def versions() -> list[str]:
    """Those that pyproject.toml promises."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)


def examine(program: str) -> Python:
    """What a program says that it is."""
    try:
        done = subprocess.run(
            [program, "-c", ASK], capture_output=True, text=True, timeout=60
        )
        answer = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise NotUsable(f"{program} does not run: {error}") from None
    if not answer["headers"]:
        raise NotUsable(f"{program} has no headers: python{answer['version']}-dev")
    if not answer["release"]:
        raise NotUsable(f"{program} is no final release")
    return Python(answer["version"], answer["path"])


def candidates(version: str) -> Iterator[str]:
    """Programs that may be this version: on the path, then those of pyenv."""
    name = f"python{version}"
    for folder in os.get_exec_path():
        found = shutil.which(name, path=folder)
        if found is not None:
            yield found
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    yield from sorted(str(path) for path in pyenv.glob(f"{version}.*/bin/{name}"))


def find(wanted: Iterable[str]) -> tuple[list[Python], list[str]]:
    """The first usable interpreter of each version; why there is none of the others."""
    found: list[Python] = []
    missing: list[str] = []
    for version in wanted:
        reasons: list[str] = []
        for program in candidates(version):
            try:
                python = examine(program)
            except NotUsable as reason:
                reasons.append(str(reason))
                continue
            if python.version == version:
                found.append(python)
                break
        else:
            why = "; ".join(reasons) or "not installed"
            missing.append(f"CPython {version}: {why}")
    return found, missing


def main() -> int:
    """Prints one path a line."""
    found, missing = find(versions())
    for python in found:
        print(python.path)
    for line in missing:
        print(f"*** SKIPPED: {line} ***", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
