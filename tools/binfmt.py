# SPDX-License-Identifier: MIT
"""Programs for another machine, started as any other by the processes that come after.

The kernel runs them by way of qemu-user, which it is told in binfmt_misc.  That is one
table for the whole machine, but since Linux 6.7 a user namespace may have its own; this
process goes into one.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
MS_REC_PRIVATE = 0x4000 | 0x40000
TABLE = Path("/proc/sys/fs/binfmt_misc")
# The first bytes of an ELF file of 64 bits, little-endian: a program or a library; the
# mask leaves out the system that it was made for, and which of the two it is.
MAGIC = b"\x7fELF\2\1\1" + bytes(9) + b"\2\0"
MASK = b"\xff" * 7 + b"\0" + b"\xff" * 8 + b"\xfe\xff\xff\xff"
MACHINES = {"aarch64": 183}  # e_machine


class RefusedError(Exception):
    """Why this process cannot have such a namespace."""


def starts(program: Path, settings: dict[str, str]) -> bool:
    """Whether the kernel starts this program, which takes `--version`."""
    command = [str(program), "--version"]
    try:
        return not subprocess.run(command, env=settings, capture_output=True).returncode
    except OSError:
        return False


def escaped(text: bytes) -> bytes:
    """As binfmt_misc takes bytes."""
    return b"".join(b"\\x%02x" % byte for byte in text)


def rule(machine: str, interpreter: str) -> bytes:
    """The line that binfmt_misc takes; P keeps a program's own name."""
    magic = MAGIC + MACHINES[machine].to_bytes(2, "little")
    fields = (machine.encode(), b"M", b"", escaped(magic), escaped(MASK))
    return b":" + b":".join((*fields, os.fsencode(interpreter), b"PF"))


def check(result: int, what: str) -> None:
    """Raises if a call of the C library has failed."""
    if result != 0:
        raise RefusedError(f"{what}: {os.strerror(ctypes.get_errno())}")


def map_users(process: int) -> None:
    """Root may keep all users and groups; anybody else becomes root there.

    binfmt_misc takes rules from the namespace's root alone.
    """
    for kind, own in (("uid", os.getuid()), ("gid", os.getgid())):
        everyone = os.getuid() == 0
        if not everyone and kind == "gid":
            Path(f"/proc/{process}/setgroups").write_text("deny")
        line = "0 0 4294967295" if everyone else f"0 {own} 1"
        Path(f"/proc/{process}/{kind}_map").write_text(line)


def mapped_by_child(process: int, ready: int) -> int:
    """A process outside the namespace that maps users as soon as `ready` ends."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.read(ready, 1)
            map_users(process)
            status = 0
        finally:
            os._exit(status)
    return child


def enter(machine: str, program: Path, settings: dict[str, str]) -> None:
    """Needs: one thread.  Afterwards the kernel starts `program`, or it has raised."""
    if starts(program, settings):
        return
    interpreter = shutil.which(f"qemu-{machine}")
    if interpreter is None:
        raise RefusedError(f"qemu-{machine} is not installed")
    library = ctypes.CDLL(None, use_errno=True)
    sys.stdout.flush()
    ready, begun = os.pipe()
    child = mapped_by_child(os.getpid(), ready)
    os.close(ready)
    entered = library.unshare(CLONE_NEWUSER | CLONE_NEWNS)
    os.write(begun, b"x")
    os.close(begun)
    _, status = os.waitpid(child, 0)
    check(entered, "no namespace for users")
    if status != 0:
        raise RefusedError("users cannot be mapped into a namespace")
    check(library.mount(b"none", b"/", None, MS_REC_PRIVATE, None), "no mounts")
    mounted = library.mount(b"none", os.fsencode(TABLE), b"binfmt_misc", 0, None)
    check(mounted, "no binfmt_misc for a namespace (Linux 6.7 has it)")
    try:
        (TABLE / "register").write_bytes(rule(machine, interpreter))
    except OSError as error:
        raise RefusedError(f"binfmt_misc takes no rule: {error}") from error
    if not starts(program, settings):
        raise RefusedError(f"{program} does not start under {interpreter}")
