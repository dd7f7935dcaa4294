# SPDX-License-Identifier: MIT
"""The host side of ``hipadapt-cc``: where C and C++ come from, and how to link.

Code is always compiled by the clang of the ziglang package.  The C++ library is that of
gcc (libstdc++), with gcc's own linker, where g++ is installed; else, or with
``-stdlib=libc++``, it is the one in ziglang, which needs nothing else.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from .._child import dies_with_us
from . import stop
from .work_folder import zig_cache_place

PACKAGE = Path(__file__).resolve().parent.parent
INCLUDE = PACKAGE / "include"
STD = INCLUDE / "hipadapt" / "std"  # before the C++ library, for HIP
LIBRARY = PACKAGE / "_lib" / "libhipadapt_cpu.so"
ROOM = 1 << 20  # bytes that a small program and its traces in caches need


class Failed(Exception):
    """What the command line asked for did not work; the text is for the user.

    `quiet` is set where a tool has said what is wrong itself; `log` is what it said, if
    that was not shown yet.
    """

    def __init__(self, text: str, quiet: bool = False, log: str = "") -> None:
        super().__init__(text)
        self.quiet = quiet
        self.log = log


def machine() -> str:
    """x86_64 or aarch64."""
    name = platform.machine()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(name.lower(), name)


def zig() -> Path:
    """The compiler, by the same rules as the library's own."""
    from .._compiler import zig_program

    program = os.environ.get("HIPADAPT_COMPILER") or zig_program()
    if not program or not os.access(program, os.X_OK):
        raise Failed(
            "no compiler: install it with `pip install ziglang==0.15.2`, or set "
            "HIPADAPT_COMPILER to the zig program of that version"
        )
    return Path(program)


def output_of(command: list[str]) -> str:
    """Standard output and errors of a command that must succeed."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=dies_with_us(),
    )
    if done.returncode != 0:
        what = f"exit status {done.returncode} of {shlex.join(command)}"
        raise Failed(what, log=done.stdout)
    return done.stdout


def full_disks(output: str) -> str:
    """What of the places that are written to has no room left, for a message."""
    places = [os.path.dirname(os.path.abspath(output)), tempfile.gettempdir()]
    full: list[str] = []
    for place in dict.fromkeys([*places, zig_cache_place() or places[0]]):
        with contextlib.suppress(OSError):
            room = os.statvfs(place)
            if room.f_bavail * room.f_frsize < ROOM:
                full.append(place)
    return "".join(f"; no space is left in {place}" for place in full)


@dataclass
class Host:
    """A C++ library with its headers and linker."""

    library: str  # libstdc++ or libc++
    verbose: bool = False
    dry: bool = False
    more_folders: list[str] = field(default_factory=list)  # of headers, searched last

    @classmethod
    def choose(cls, wanted: str | None) -> Host:
        """The library that the user named, or the best that there is."""
        if wanted not in (None, "libstdc++", "libc++", "platform"):
            raise Failed(f"-stdlib={wanted}: must be libstdc++ or libc++")
        has_gcc = shutil.which("g++") is not None
        if wanted == "libstdc++" and not has_gcc:
            raise Failed("-stdlib=libstdc++: g++ is not installed")
        if wanted in (None, "platform"):
            wanted = "libstdc++" if has_gcc else "libc++"
        return cls(str(wanted))

    @cached_property
    def zig(self) -> str:
        """The compiler's path."""
        return str(zig())

    @property
    def clang(self) -> list[str]:
        """The driver of clang for this machine."""
        resources = str(Path(self.zig).parent / "lib")
        target = f"--target={machine()}-linux-gnu"
        return [self.zig, "clang", target, "-resource-dir", resources]

    @cached_property
    def system(self) -> tuple[list[str], list[str]]:
        """Folders of system headers in order, and macros that they need."""
        if self.library == "libc++":
            text = output_of([self.zig, "c++", "-###", "-x", "c++", "-c", os.devnull])
            line = next(line for line in text.splitlines() if '"-cc1"' in line)
            words = shlex.split(line)
            pairs = list(itertools.pairwise(words))
            folders = [value for word, value in pairs if word == "-isystem"]
            macros = [value for word, value in pairs if word == "-D"]
            return [*dict.fromkeys(folders), *self.more_folders], macros
        text = output_of([*self.clang, "-x", "c++", "-E", "-v", os.devnull])
        inside = text.split("<...> search starts here:", 1)[-1]
        listed = inside.split("End of search list", 1)[0].splitlines()
        folders = [line.strip() for line in listed if line.startswith(" ")]
        return [*folders, *self.more_folders], []

    def run(self, command: list[str]) -> None:
        """Runs one tool; its messages go to the user."""
        if self.verbose or self.dry:
            print(" " + shlex.join(command), file=sys.stderr, flush=True)
        if self.dry:
            return
        try:
            status = stop.run(command)
        except OSError as error:
            raise Failed(f"cannot run {command[0]}: {error}") from None
        if status < 0 and not stop.stopped.is_set():
            name = signal.Signals(-status).name
            raise Failed(f"{name} has ended {shlex.join(command[:3])}")
        if status != 0 or stop.stopped.is_set():
            raise Failed(f"exit status {status} of {command[0]}", quiet=True)

    def compile(
        self, source: str, language: str, flags: list[str], inside: list[str]
    ) -> None:
        """One file; `flags` say what is made of it and where it goes.

        `inside` are words about the device code, for HIP only.
        """
        folders, macros = self.system
        command = [*self.clang, "-nostdinc"]
        command += [f"-D{macro}" for macro in macros]
        if language == "hip":
            command += ["-x", "hip", "--cuda-host-only", "-nogpulib", "-nogpuinc"]
            command += ["-fdeclspec", "-D__HA_PROGRAM__=1"]
            command += ["-include", "hipadapt/keywords.h", *inside]
            folders = [str(STD), *folders]
        else:
            command += ["-x", language]
        command += flags
        # Behind the user's own folders, in their order.
        command += ["-isystem", str(INCLUDE)]
        command += [word for folder in folders for word in ("-idirafter", folder)]
        self.run([*command, source])

    def link(self, objects: list[str], flags: list[str]) -> None:
        """Links objects and libraries with the CPU device."""
        if self.library == "libc++":
            linker = [self.zig, "c++"]
        else:
            linker = [shutil.which("g++") or "g++"]
        run_path = f"-Wl,-rpath,{LIBRARY.parent}"
        try:
            self.run([*linker, *objects, *flags, str(LIBRARY), run_path, "-ldl"])
        except Failed as failure:
            if stop.stopped.is_set():
                raise
            # Ziglang's linker says nothing where it cannot write.
            raise Failed(f"linking: {failure}{full_disks(flags[-1])}") from None

    def archive(self, objects: list[str], output: str) -> None:
        """Makes a static library of objects, in place of an older one."""
        if not self.dry:
            Path(output).unlink(missing_ok=True)
        self.run([self.zig, "ar", "rcsD", output, *objects])
