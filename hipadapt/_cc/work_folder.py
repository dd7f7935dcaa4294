# SPDX-License-Identifier: MIT
"""Folders for the time of one build, and what dead processes left of theirs.

As csrc/cpu/compile/workdir.h says: a process holds a lock on the folder that it made
until it ends.  A folder of this user whose lock is free belongs to nobody.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Generator
from functools import cache
from pathlib import Path

PREFIX = "hipadapt-work-"  # HA_WORKDIR_PREFIX
_TRIES = 16
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def _is_ours(folder: int) -> bool:
    found = os.fstat(folder)
    return found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == 0o700


@cache
def sweep(base: str) -> None:
    """Removes the folders below `base` that dead processes of this user left; once."""
    with contextlib.suppress(OSError), os.scandir(base) as entries:
        for entry in entries:
            if not entry.name.startswith(PREFIX):
                continue
            try:
                folder = os.open(entry.path, _OPEN)
            except OSError:
                continue
            try:
                if _is_ours(folder):
                    fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(entry.path, ignore_errors=True)
            except OSError:
                pass  # in use
            finally:
                os.close(folder)


def _make() -> tuple[str, int]:
    """A new folder and its lock."""
    for _ in range(_TRIES):
        path = tempfile.mkdtemp(prefix=PREFIX)
        # A sweep may come first and remove it: then another one is made.
        with contextlib.suppress(FileNotFoundError):
            folder = os.open(path, _OPEN)
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(folder)
                continue
            except OSError:
                pass  # no locks on this file system, so nothing is swept either
            if os.fstat(folder).st_nlink > 0:
                return path, folder
            os.close(folder)
    raise OSError("no folder for temporary files could be made")


@contextlib.contextmanager
def work_folder() -> Generator[Path]:
    """A private folder for temporary files, gone at the end."""
    sweep(tempfile.gettempdir())
    path, folder = _make()
    try:
        yield Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(folder)


_ZIG_CACHE = "ZIG_GLOBAL_CACHE_DIR"


def zig_cache_place() -> str | None:
    """A folder that is there, in or below which ziglang keeps what it makes."""
    named, home = os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME")
    if not named and home:
        cache = os.path.join(home, ".cache")
        named = cache if os.path.exists(cache) else home
    return os.environ.get(_ZIG_CACHE) or named or None


def _cache_beside() -> str | None:
    """A folder of this user's for temporary files that stays; None: it is not ours."""
    path = os.path.join(tempfile.gettempdir(), f"hipadapt-zig-{os.geteuid()}")
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o700)
    try:
        folder = os.open(path, _OPEN)
    except OSError:
        return None
    ours = _is_ours(folder)
    os.close(folder)
    return path if ours else None


@contextlib.contextmanager
def zig_cache(folder: Path) -> Generator[None]:
    """Where the user has no place for what ziglang makes, such as a C++ library.

    It takes a minute to make, so it stays with the temporary files; else in `folder`.
    """
    place = zig_cache_place()
    if os.environ.get(_ZIG_CACHE) or (place and os.access(place, os.W_OK | os.X_OK)):
        yield
        return
    os.environ[_ZIG_CACHE] = _cache_beside() or str(folder / "zig")
    try:
        yield
    finally:
        del os.environ[_ZIG_CACHE]
