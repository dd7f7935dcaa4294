# SPDX-License-Identifier: MIT
"""``python -m hipadapt run``: starts a ROCm program on the CPU device.

The program takes the place of this process, so its exit status, its signals and its
standard streams are its own.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import stat
import sys
from collections.abc import Sequence

from .._compiler import zig_program
from .elf import NotElfError, needs
from .root import RootError, base_folder
from .root import make as make_root
from .scan import Packages, find

FAILED, NOT_RUNNABLE, NOT_FOUND = 125, 126, 127  # as env(1) has them


class RunError(Exception):
    """Why the program is not started, and the exit status that says so."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def _python() -> str:
    if not sys.executable:
        raise RunError(FAILED, "this Python does not know its own path")
    return sys.executable


def _is_python(name: str) -> bool:
    major, minor = sys.version_info[:2]
    return name in ("python", f"python{major}", f"python{major}.{minor}")


def _is_script(path: str) -> bool:
    if os.path.isdir(path):
        return os.path.isfile(os.path.join(path, "__main__.py"))
    return path.endswith((".py", ".pyz")) and os.path.isfile(path)


def command_of(choices: argparse.Namespace) -> list[str]:
    """The words to execute; Python programs run with this interpreter."""
    if choices.module:
        return [_python(), "-m", *choices.module]
    words: list[str] = list(choices.program)
    if words and words[0] == "--":
        words = words[1:]
    if not words:
        return []
    if _is_python(words[0]):
        return [_python(), *words[1:]]
    if _is_script(words[0]):
        return [_python(), *words]
    return words


def find_program(name: str, path: str) -> str:
    """The file that `name` means, looked up in the folders of `path` like a shell."""
    if not name:
        raise RunError(NOT_FOUND, "the program's name is empty")
    if "/" in name:
        places = [name]
    else:
        places = [
            os.path.join(folder or ".", name) for folder in path.split(os.pathsep)
        ]
    found = [place for place in places if os.path.exists(place)]
    for place in found:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    if not found:
        raise RunError(NOT_FOUND, f"{name}: no such program")
    why = "is a folder" if os.path.isdir(found[0]) else "may not be executed"
    raise RunError(NOT_RUNNABLE, f"{found[0]}: {why}")


def check_trusted(path: str) -> None:
    """Refuses programs for which the dynamic linker ignores LD_LIBRARY_PATH."""
    found = os.stat(path)
    raised = (found.st_mode & stat.S_ISUID and found.st_uid != os.getuid()) or (
        found.st_mode & stat.S_ISGID and found.st_gid != os.getgid()
    )
    if not raised:
        try:
            raised = bool(os.getxattr(path, "security.capability")) and os.getuid() != 0
        except OSError:
            raised = False
    if raised:
        raise RunError(
            NOT_RUNNABLE,
            f"{path} runs with raised privileges, so the dynamic linker would ignore "
            "the CPU device; run a copy without them",
        )


def _first(folder: str, before: str | None) -> str:
    rest = [
        part for part in (before or "").split(os.pathsep) if part and part != folder
    ]
    return os.pathsep.join([folder, *rest])


def has_kernels(path: str) -> bool:
    """Whether a program was built with kernels in it, so for one size of warps."""
    try:
        _, _, imports = needs(path)
    except (OSError, NotElfError):
        return False
    return any(symbol.name == "__hipRegisterFatBinary" for symbol in imports)


def environment(root: str, zig: str, warp_size: str | None) -> dict[str, str]:
    """What changes in the program's environment."""
    changed = {
        "LD_LIBRARY_PATH": _first(
            os.path.join(root, "lib"), os.environ.get("LD_LIBRARY_PATH")
        ),
        "PATH": _first(os.path.join(root, "bin"), os.environ.get("PATH", os.defpath)),
        "ROCM_PATH": root,
        "ROCM_HOME": root,
        "HIP_PATH": root,
        "HIP_PLATFORM": "amd",
        "HIPADAPT_PROVIDER": "cpu",
    }
    for name, value in (
        ("HIPADAPT_COMPILER", zig),
        ("HIPADAPT_CPU_WARP_SIZE", warp_size),
    ):
        if value is not None:
            changed[name] = os.environ.get(name) or value
    return changed


def note(text: str) -> None:
    """Prints a line for the user, unless HIPADAPT_LOG=0 asks for silence."""
    if os.environ.get("HIPADAPT_LOG") != "0":
        print(f"hipadapt run: {text}", file=sys.stderr)


def prepare(words: Sequence[str], scan: Sequence[str]) -> dict[str, str]:
    """Makes everything ready; returns the changes of the environment."""
    if (os.getuid(), os.getgid()) != (os.geteuid(), os.getegid()):
        raise RunError(FAILED, "refused to a process with raised privileges")
    zig = os.environ.get("HIPADAPT_COMPILER") or zig_program()
    if zig is None:
        raise RunError(FAILED, "no compiler for kernels: pip install ziglang==0.15.2")
    for path in scan:
        if not os.path.exists(path):
            raise RunError(2, f"--scan {path}: no such file or folder")
    program = None
    if words:
        program = find_program(words[0], os.environ.get("PATH", os.defpath))
        check_trusted(program)
    base = base_folder()
    packages = Packages(str(base / "packages.json"))
    standins, missing = find(packages, sys.path, scan, program)
    for name in missing:
        note(f"{program} needs {name}; the CPU device has the ABI of HIP 6 and 7")
    root = make_root(base, standins, _python(), os.path.abspath(zig))
    # Programs that do not ask, CuPy among them, assume wavefronts of 64 lanes.
    warp_size = None if program is not None and has_kernels(program) else "64"
    return environment(str(root), zig, warp_size)


def start(words: Sequence[str], changed: dict[str, str]) -> None:
    """Becomes the program, or raises RunError; never returns."""
    program = find_program(words[0], changed["PATH"])
    # Python ignores these two, and the new program would go on ignoring them.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # it is None where the descriptor is closed
            stream.flush()
    try:
        os.execve(program, list(words), {**os.environ, **changed})
    except OSError as error:
        raise RunError(NOT_RUNNABLE, f"{program}: {error.strerror}") from None


def main(choices: argparse.Namespace) -> int:
    """Exit status 2 to 127 where the program could not be started."""
    try:
        words = command_of(choices)
        if not words and not choices.env:
            raise RunError(2, "which program? hipadapt run -- PROGRAM ARGS")
        # These two are in the new PATH only, and are looked up there.
        own = bool(words) and words[0] in ("hipcc", "hipconfig")
        changed = prepare([] if own else words, choices.scan)
        if choices.env:
            for name, value in sorted(changed.items()):
                print(f"export {name}={shlex.quote(value)}")
            return 0
        start(words, changed)
    except RunError as error:
        print(f"hipadapt run: {error}", file=sys.stderr)
        return error.status
    except RootError as error:
        print(f"hipadapt run: {error}", file=sys.stderr)
    return FAILED
