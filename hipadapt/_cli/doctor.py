# SPDX-License-Identifier: MIT
"""``python -m hipadapt doctor``: is everything there that HIP needs?"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import resource
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

_COLORS = {"ok": "32", "warn": "33", "fail": "31"}
_PACKAGES = ("numpy", "torch", "jax", "ml_dtypes", "mpi4py", "ipython", "ziglang")
_ZIGLANG = "0.15.2"
_ROCM_VARIABLES = ("ROCM_PATH", "ROCM_HOME", "HIP_VISIBLE_DEVICES", "LD_LIBRARY_PATH")
_SLOW_COMPILE_S = 5.0
_LITTLE_MEMORY = 1 << 30  # bytes
_TIGHT_LIMIT = 8 << 30  # bytes of address space
_SOURCE = 'extern "C" __global__ void doctor(int *x) { *x = 42; }'


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: Literal["ok", "warn", "fail"]
    found: str
    advice: str = ""


def check_provider() -> Iterator[Finding]:
    """The library that HIP calls go to, and its devices."""
    from .. import Device, provider

    try:
        chosen = provider()
    except RuntimeError as error:
        yield Finding(
            "provider",
            "fail",
            str(error),
            "unset HIPADAPT_PROVIDER to use the CPU device",
        )
        return
    yield Finding(
        "provider", "ok", f"{chosen.name} {chosen.version}, {chosen.path}: {chosen.why}"
    )
    count = Device.count()
    if count == 0:
        yield Finding(
            "devices",
            "fail",
            "none",
            "see the rows about /dev/kfd; HIPADAPT_PROVIDER=cpu uses the CPU device",
        )
    for device in Device.all():
        memory = device.memory
        little = memory.free < _LITTLE_MEMORY
        yield Finding(
            f"device {device.ordinal}",
            "warn" if little else "ok",
            f"{device.name} ({device.arch}), {memory.free / 2**30:.1f} of "
            f"{memory.total / 2**30:.1f} GiB free",
            "little memory is free" if little else "",
        )


def check_kernel() -> Iterator[Finding]:
    """A kernel is compiled and run."""
    from .. import compile_kernel, empty

    start = time.monotonic()
    try:
        kernel = compile_kernel(_SOURCE, "doctor", options=[f"-DRUN={start}"])
        took = time.monotonic() - start
        memory = empty(1, "int32")
        kernel[1, 1](memory)
        answer = bytearray(4)
        memory.copy_to(answer)
        value = int.from_bytes(answer, sys.byteorder)
    except Exception as error:
        yield Finding(
            "kernel", "fail", f"{type(error).__name__}: {error}", _compiler_advice()
        )
        return
    right = value == 42
    slow = took > _SLOW_COMPILE_S
    yield Finding(
        "kernel",
        "ok" if right and not slow else "warn" if right else "fail",
        f"compiled in {took:.2f} s, ran" + ("" if right else f", but gave {value}"),
        "the compiler is slow on this machine" if slow else "",
    )


def _compiler_advice() -> str:
    from .._compiler import zig_program

    if os.environ.get("HIPADAPT_COMPILER"):
        return "HIPADAPT_COMPILER names the compiler: unset it, or correct its path"
    if zig_program() is None:
        return f"the compiler is missing: pip install ziglang=={_ZIGLANG}"
    version = _version("ziglang")
    if version != _ZIGLANG:
        return f"ziglang {version} is another compiler: pip install ziglang=={_ZIGLANG}"
    return "try with HIPADAPT_LOG=3 for more"


def check_gpu_files() -> Iterator[Finding]:
    """The files of an AMD GPU's driver."""
    kfd = Path("/dev/kfd")
    if not kfd.exists():
        yield Finding("/dev/kfd", "ok", "not there: no AMD GPU on this machine")
        return
    for path in (kfd, *sorted(Path("/dev/dri").glob("render*"))):
        usable = os.access(path, os.R_OK | os.W_OK)
        yield Finding(
            str(path),
            "ok" if usable else "warn",
            "may be used" if usable else "may not be used by this user",
            "" if usable else "add the user to the groups render and video",
        )


def check_environment() -> Iterator[Finding]:
    """Variables that change what happens, and those that were meant to."""
    from .._core import environment_faults

    faults = {name: f"{name} {text}" for name, text in environment_faults()}
    for name in sorted(os.environ):
        if name.startswith("HIPADAPT_") or name in _ROCM_VARIABLES:
            value = os.environ[name]
            fault = faults.get(name, "")
            if name in ("ROCM_PATH", "ROCM_HOME") and not Path(value).is_dir():
                fault = "there is no such folder"
            yield Finding(name, "warn" if fault else "ok", value, fault)


def cache_folder() -> Path:
    """Where compiled kernels are kept."""
    named = os.environ.get("HIPADAPT_CACHE_DIR")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "hipadapt"


def check_cache() -> Iterator[Finding]:
    """The folder of compiled kernels."""
    if os.environ.get("HIPADAPT_CACHE") == "0":
        yield Finding("cache", "warn", "switched off", "unset HIPADAPT_CACHE")
        return
    folder = cache_folder()
    if not folder.exists():
        yield Finding("cache", "ok", f"{folder}: not there yet")
        return
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        yield Finding(
            "cache",
            "warn",
            f"{folder} is no folder of this user, so it is not used",
            "remove it, or name another with HIPADAPT_CACHE_DIR",
        )
        return
    if found.st_mode & 0o077:
        yield Finding(
            "cache",
            "warn",
            f"{folder} can be read or written by others, so it is not used",
            f"chmod 700 {folder}",
        )
        return
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    yield Finding(
        "cache", "ok", f"{folder}: {len(files)} files, {size / 2**20:.1f} MiB"
    )


def check_folders() -> Iterator[Finding]:
    """Room for the compiler's temporary files."""
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    full = free < _LITTLE_MEMORY // 8
    yield Finding(
        "temporary files",
        "warn" if full else "ok",
        f"{folder}: {free / 2**30:.1f} GiB free",
        "the compiler needs some room there" if full else "",
    )


def check_limits() -> Iterator[Finding]:
    """Limits on the memory of this process, which its compiler inherits."""
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    if soft == resource.RLIM_INFINITY:
        yield Finding("memory limit", "ok", "none (ulimit -v)")
    else:
        tight = soft < _TIGHT_LIMIT
        yield Finding(
            "memory limit",
            "warn" if tight else "ok",
            f"{soft / 2**30:.1f} GiB (ulimit -v)",
            "runtime and compiler may not fit: ulimit -v unlimited" if tight else "",
        )
    locked = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    shown = (
        "unlimited" if locked == resource.RLIM_INFINITY else f"{locked / 2**20:.0f} MiB"
    )
    yield Finding("pinned memory limit", "ok", f"{shown} (ulimit -l)")


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def check_packages() -> Iterator[Finding]:
    """Packages that hipadapt works with, and those that it may meet."""
    for package in _PACKAGES:
        version = _version(package)
        if package == "ziglang" and version not in (None, _ZIGLANG):
            advice = f"kernels need this one: pip install ziglang=={_ZIGLANG}"
            yield Finding(package, "warn", version, advice)
        elif version is not None:
            yield Finding(package, "ok", version)
    version = _version("hip-python")
    if version is not None:
        yield Finding(
            "hip-python",
            "ok",
            f"{version}; hipadapt.install_as_hip() takes its place in a process",
        )
    cupys = sorted(
        {
            f"{dist.metadata['Name']} {dist.version}"
            for dist in importlib.metadata.distributions()
            if (dist.metadata["Name"] or "").lower().startswith("cupy")
        }
    )
    if len(cupys) > 1:
        yield Finding(
            "cupy", "warn", ", ".join(cupys), "they share one folder: keep one of them"
        )
    elif cupys:
        yield Finding("cupy", "ok", cupys[0])


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    check_provider,
    check_kernel,
    check_gpu_files,
    check_environment,
    check_cache,
    check_folders,
    check_limits,
    check_packages,
)


def examine() -> list[Finding]:
    """All findings; a check that breaks is a finding itself."""
    found: list[Finding] = []
    for check in CHECKS:
        try:
            found.extend(check())
        except Exception as error:
            name = check.__name__.removeprefix("check_")
            found.append(Finding(name, "fail", f"{type(error).__name__}: {error}"))
    return found


def _word(state: str) -> str:
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        return f"\x1b[{_COLORS[state]}m{state:<4}\x1b[0m"
    return f"{state:<4}"


def main(choices: argparse.Namespace) -> int:
    """Exit status 1 where something fails."""
    found = examine()
    failed = any(finding.state == "fail" for finding in found)
    if choices.json:
        rows: list[dict[str, Any]] = [asdict(finding) for finding in found]
        print(json.dumps({"ok": not failed, "findings": rows}))
        return int(failed)
    width = max(len(finding.what) for finding in found)
    for finding in found:
        print(f"{_word(finding.state)}  {finding.what:<{width}}  {finding.found}")
        if finding.advice:
            print(f"{'':6}{'':{width}}  -> {finding.advice}")
    return int(failed)
