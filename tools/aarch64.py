# SPDX-License-Identifier: MIT
"""Builds for aarch64 and runs chosen tests there, emulated by qemu.

    python -m tools.aarch64                   builds, and runs all of CHOSEN
    python -m tools.aarch64 COMMAND [WORD ...]     builds, and runs this command

Needs qemu-aarch64 (Debian: qemu-user), apt-get, dpkg-deb and ziglang; installs nothing.
In build/aarch64 are: root, packages of Debian for aarch64; site, packages of Python;
tree, a copy of the sources, in which all is built and run.  Python is emulated.  The
compiler is the machine's own ziglang, which compiles for aarch64 as well.

Programs for aarch64 are started by the kernel, by way of qemu, in a namespace of this
command alone (tools/binfmt.py).

The exit status is 77 if something that it needs is not to be had; the last line says
what.  Times that are measured here mean nothing.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from tests.c import run as c_tests
from tools import binfmt
from tools.native import ROOT

SKIPPED = 77
HERE = ROOT / "build" / "aarch64"
TREE = HERE / "tree"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SUITE = "bookworm"
PYTHON = "3.11"  # of that suite
GLIBC = "2.36"  # of that suite
DEBIAN = (f"python{PYTHON}", f"libpython{PYTHON}-dev", "libstdc++6")
PYPI = ("hypothesis>=6", "numpy>=1.24", "pytest>=8")

# C tests that fail by the emulator or the linker, not by what they test.
LEFT_OUT = {
    "core/env": "programs with rights of their own are not emulated",
    "cpu/compile/process": "a child shares no memory with its parent until it executes",
    "cpu/entry/table": "measures time",
    "cpu/memory/pool": "/proc/self/exe gets no arguments",
    "cpu/memory/virtual": "mincore does not see memory without access",
    "cpu/no_memory": "zig's linker has no --wrap",
    "cpu/process": "a forked child of many threads cannot start one",
    "rocprofiler/no_memory": "zig's linker has no --wrap",
    "tool/watch": "a forked child of many threads cannot start one",
}

# Of tests/kernels: what depends on the machine.
KERNELS = (
    "not lockstep and (atomic_of_every_type or barriers_in_nested or conversions or "
    "counting_barriers or division_of_integers or function_pointers or half_sums or "
    "integer_functions or lock_held or mathematics_in or message_passes or "
    "printf_formats or shuffles_of or special_values or structs_by_value or "
    "swap_of_every or twenty_arguments or virtual_functions)"
)
FUZZ_SECONDS = 45


class LackingError(Exception):
    """What is not to be had here."""


def run(*command: str | Path, env: dict[str, str] | None = None) -> None:
    """Runs a command of the preparations."""
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LackingError(
            f"exit status {done.returncode} of {shlex.join(map(str, command))}: "
            f"{(done.stderr or done.stdout).strip()[-500:]}"
        )


def zig() -> Path:
    """The compiler of the ziglang package."""
    try:
        return Path(str(distribution("ziglang").locate_file("ziglang/zig")))
    except PackageNotFoundError:
        raise LackingError("the package ziglang is not installed") from None


# ---- what the tests need ----


def make_once(folder: Path, wanted: str) -> bool:
    """Empties the folder, unless it was made whole from the same."""
    stamp = folder / "made_from.txt"
    if stamp.is_file() and stamp.read_text() == wanted:
        return False
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return True


def apt_settings(folder: Path) -> dict[str, str]:
    """An environment in which apt knows nothing of this machine."""
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "state" / "status").touch()
    (folder / "sources.list").write_text(
        f"deb [signed-by={KEYRING}] http://deb.debian.org/debian {SUITE} main\n"
    )
    settings = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "APT::Sandbox::User": "",
        "Debug::NoLocking": "1",
        "Dir::State": f"{folder}/state",
        "Dir::State::status": f"{folder}/state/status",
        "Dir::Cache": f"{folder}/cache",
        "Dir::Etc::SourceList": f"{folder}/sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::Etc::PreferencesParts": "/dev/null",
    }
    config = folder / "apt.conf"
    config.write_text("".join(f'{key} "{value}";\n' for key, value in settings.items()))
    return {**os.environ, "APT_CONFIG": str(config), "LC_ALL": "C"}


def make_root() -> Path:
    """Packages of Debian, unpacked."""
    root, wanted = HERE / "root", f"{SUITE} {' '.join(DEBIAN)}"
    if not KEYRING.is_file():
        raise LackingError(f"{KEYRING} is not there: this system is no Debian")
    if make_once(root, wanted):
        folder = HERE / "apt"
        settings = apt_settings(folder)
        run("apt-get", "-q", "update", env=settings)
        get = (
            "apt-get",
            "-qy",
            "install",
            "--download-only",
            "--no-install-recommends",
        )
        run(*get, *DEBIAN, env=settings)
        for package in sorted((folder / "cache" / "archives").glob("*.deb")):
            run("dpkg-deb", "-x", package, root)
        (root / "made_from.txt").write_text(wanted)
    return root


def make_site() -> Path:
    """Packages of Python, unpacked."""
    site, wanted = HERE / "site", f"{PYTHON} {' '.join(PYPI)}"
    if make_once(site, wanted):
        pip = (sys.executable, "-m", "pip", "install", "-q", "--target", site)
        kinds = ("manylinux2014_aarch64", "manylinux_2_28_aarch64")
        platforms = [word for kind in kinds for word in ("--platform", kind)]
        only = ("--only-binary=:all:", "--python-version", PYTHON)
        run(*pip, *platforms, *only, *PYPI)
        (site / "made_from.txt").write_text(wanted)
    return site


def copy_sources() -> None:
    """Makes the tree like this one, without what git ignores."""
    listed = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout
    files = {name for name in os.fsdecode(names).split("\0") if (ROOT / name).is_file()}
    known = TREE / "build" / "copied.txt"
    for name in set(known.read_text().splitlines() if known.is_file() else ()) - files:
        (TREE / name).unlink(missing_ok=True)
    for name in files:
        source, copy = ROOT / name, TREE / name
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)
    known.parent.mkdir(exist_ok=True)
    known.write_text("\n".join(sorted(files)))


def settings_for(root: Path, site: Path) -> dict[str, str]:
    """The environment of emulated commands; `python3` is that of the root."""
    programs = HERE / "bin"
    programs.mkdir(exist_ok=True)
    python = programs / "python3"
    if not python.is_symlink():
        python.symlink_to(root / "usr" / "bin" / f"python{PYTHON}")
    # pyconfig.h of the machine lies beside the headers of Python.
    target = (
        "-target",
        f"aarch64-linux-gnu.{GLIBC}",
        "-idirafter",
        root / "usr/include",
    )
    compiler = (zig(), "cc", *target, "-fno-sanitize=undefined")
    kept = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    return {
        **kept,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "CC": shlex.join(map(str, compiler)),
        "HIPADAPT_COMPILER": str(zig()),
        "HIPADAPT_COMPILE_TIMEOUT": "600",
        "HIPADAPT_PROVIDER": "cpu",
        "HIPADAPT_WERROR": "1",
        "PYTHONPATH": str(site),
        "QEMU_LD_PREFIX": str(root),
    }


# ---- the tests ----


def chosen() -> dict[str, list[str]]:
    """The commands that run here, by what they are."""
    names = [name for name in c_tests.names() if name not in LEFT_OUT]
    fuzz = ["--seconds", str(FUZZ_SECONDS), "--seed", str(int(time.time()) % 10**6)]
    pytest = ["python3", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    return {
        "demo": ["python3", "-m", "hipadapt", "demo"],
        "C tests": ["python3", "-m", "tests.c.run", *names],
        "levels": [*pytest, "tests/unit/cpu/test_target_cpu.py"],
        "kernels": [*pytest, "tests/kernels/test_kernels.py", "-k", KERNELS],
        "faults": [*pytest, "tests/kernels/test_faults.py"],
        "random statements": ["python3", "-m", "tests.kernels.fuzz_c", *fuzz],
        "random blocks": ["python3", "-m", "tests.kernels.fuzz_blocks", *fuzz],
    }


def run_all(commands: dict[str, list[str]], settings: dict[str, str]) -> list[str]:
    """Runs commands in the tree; those that fail come back."""
    failed = []
    for name, command in commands.items():
        begin_s = time.monotonic()
        print(f"--- aarch64: {name}", flush=True)
        done = subprocess.run(command, cwd=TREE, env=settings, check=False)
        print(f"--- aarch64: {name}: {time.monotonic() - begin_s:.0f} s", flush=True)
        if done.returncode != 0:
            failed.append(name)
    return failed


def prepare() -> dict[str, str]:
    """All that a command needs; its environment comes back."""
    for program in ("qemu-aarch64", "apt-get", "dpkg-deb"):
        if platform.machine() != "aarch64" and shutil.which(program) is None:
            raise LackingError(f"{program} is not installed")
    copy_sources()
    return settings_for(make_root(), make_site())


def main(arguments: list[str]) -> int:
    """Runs the chosen commands, or that of the arguments."""
    HERE.mkdir(parents=True, exist_ok=True)
    try:
        settings = prepare()
        binfmt.enter("aarch64", HERE / "bin" / "python3", settings)
    except (LackingError, binfmt.RefusedError) as lacks:
        print(lacks)
        return SKIPPED
    for name, reason in {} if arguments else LEFT_OUT.items():
        print(f"left out: {name}: {reason}", flush=True)
    build = {"build": ["python3", "-m", "tools.native"]}
    commands = {shlex.join(arguments): arguments} if arguments else chosen()
    failed = run_all(build, settings) or run_all(commands, settings)
    print(f"aarch64: failed: {', '.join(failed)}" if failed else "aarch64: all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
