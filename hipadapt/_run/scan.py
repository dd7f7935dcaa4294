# SPDX-License-Identifier: MIT
"""Which libraries of ROCm a program asks for that need a stand-in.

The files are the program's own, the libraries that it brings along, those of every
installed Python package (by its list of files), and what ``--scan`` names.  What was
found in a package is kept, since packages seldom change.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Iterator
from typing import Any

from . import elf, standin
from .version import version_of

# Library file -> symbol -> its version ("" = any).
Standins = dict[str, dict[str, str]]

_DEPTH_MAX = 8  # libraries that need libraries


def is_library(name: str) -> bool:
    """Whether a file may be a shared library, by its name."""
    base = os.path.basename(name)
    return base.endswith(".so") or ".so." in base


def needs_of(path: str) -> list[Any] | None:
    """[file names, [symbol, version, library] ...] of what has stand-ins, or None.

    JSON can hold this form.
    """
    try:
        names = elf.needed_names(path)
        wanted = [name for name in names if standin.library_of(name)]
        if not wanted:
            return None
        _, _, imports = elf.needs(path)
    except (OSError, elf.NotElfError):
        return None
    rows = [
        [symbol.name, symbol.version, symbol.library]
        for symbol in imports
        if symbol.library in wanted
        or (not symbol.library and standin.library_of_symbol(symbol.name))
    ]
    return [wanted, rows]


def add(found: Standins, need: list[Any]) -> None:
    """Adds what one file needs."""
    names: list[str] = need[0]
    homes = {standin.library_of(name): name for name in names}
    for name in names:
        found.setdefault(name, {})
    for symbol, version, library in need[1]:
        home = library if library in names else None
        if home is None:
            # The process has one space of names, so a function of a library that is not
            # asked for by name may stand in another.
            home = homes.get(standin.library_of_symbol(symbol)) or names[0]
        found[home].setdefault(symbol, version)
        if version:
            found[home][symbol] = version


def _files(record: str) -> Iterator[str]:
    """Libraries that a package's list of files (RECORD) has."""
    import csv

    site = os.path.dirname(os.path.dirname(record))
    with open(record, newline="", encoding="utf-8", errors="surrogateescape") as file:
        for row in csv.reader(file):
            if row and is_library(row[0]):
                yield os.path.join(site, row[0])


def _package(record: str) -> list[Any]:
    try:
        needs = (needs_of(path) for path in _files(record))
        return [need for need in needs if need is not None]
    except (OSError, ValueError):
        return []


class Packages:
    """Needs of installed packages, kept in one file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._known: dict[str, Any] = {}
        self._changed = False
        self._version = version_of("scan", "elf", "standin")
        try:
            with open(path, encoding="utf-8") as file:
                loaded: Any = json.load(file)
            if loaded["version"] == self._version:
                self._known = dict(loaded["packages"])
        except (OSError, ValueError, KeyError, TypeError):
            pass  # made anew

    def add_folder(self, folder: str, found: Standins) -> None:
        """Adds what the packages of one entry of ``sys.path`` need."""
        try:
            names = [n for n in os.listdir(folder or ".") if n.endswith(".dist-info")]
        except OSError:
            return
        for name in names:
            record = os.path.abspath(os.path.join(folder, name, "RECORD"))
            try:
                status = os.stat(record)
            except OSError:
                continue
            stamp = [status.st_mtime_ns, status.st_size, status.st_ino]
            row: Any = self._known.get(record)
            if row is None or row[0] != stamp:
                row = [stamp, _package(record)]
                self._known[record] = row
                self._changed = True
            for need in row[1]:
                add(found, need)

    def save(self) -> None:
        """Writes what is new; if that fails, the next start only takes longer."""
        if not self._changed:
            return
        kept = {path: row for path, row in self._known.items() if os.path.exists(path)}
        fresh = f"{self._path}.{os.getpid()}"
        try:
            with open(fresh, "x", encoding="utf-8") as file:
                json.dump({"version": self._version, "packages": kept}, file)
            os.replace(fresh, self._path)
        except OSError:
            if os.path.exists(fresh):
                os.unlink(fresh)


def add_program(path: str, found: Standins, missing: list[str]) -> None:
    """Adds what a program needs, and the libraries that it brings along.

    `missing` gets the names of HIP libraries of other versions than ours.
    """
    from .libraries import NAMES

    seen: set[str] = set()
    waiting = [(path, 0)]
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    while waiting:
        file, depth = waiting.pop()
        real = os.path.realpath(file)
        if real in seen or depth > _DEPTH_MAX:
            continue
        seen.add(real)
        try:
            names, search, _ = elf.needs(real)
        except (OSError, elf.NotElfError):
            continue
        need = needs_of(real)
        if need is not None:
            add(found, need)
        origin = os.path.dirname(real)
        places = [
            place.replace("${ORIGIN}", origin).replace("$ORIGIN", origin)
            for place in (*search, *folders)
            if place
        ]
        for name in names:
            if name.startswith(("libamdhip64.so", "libhiprtc.so")):
                if name not in NAMES and name not in missing:
                    missing.append(name)
            elif "/" not in name:
                waiting += [
                    (os.path.join(place, name), depth + 1)
                    for place in places
                    if os.path.isfile(os.path.join(place, name))
                ]


def add_path(path: str, found: Standins) -> None:
    """Adds what a file needs, or every library and program below a folder."""
    if os.path.isdir(path):
        for folder, _, names in os.walk(path):
            for name in names:
                file = os.path.join(folder, name)
                if is_library(name) or _runnable(file):
                    add_file(file, found)
    else:
        add_file(path, found)


def add_file(path: str, found: Standins) -> None:
    """Adds what one file needs; other files than ELF need nothing."""
    need = needs_of(path)
    if need is not None:
        add(found, need)


def _runnable(path: str) -> bool:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and bool(mode & 0o111)


def find(
    packages: Packages,
    folders: Iterable[str],
    paths: Iterable[str],
    program: str | None,
) -> tuple[Standins, list[str]]:
    """All stand-ins that are needed, and HIP libraries of versions other than ours."""
    found: Standins = {}
    missing: list[str] = []
    for folder in folders:
        packages.add_folder(folder, found)
    packages.save()
    for path in paths:
        add_path(path, found)
    if program is not None:
        add_program(program, found, missing)
    return found, missing
