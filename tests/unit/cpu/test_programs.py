# SPDX-License-Identifier: MIT
"""Whole programs in tests/programs, built by hipadapt-cc and run.

A program says in comments how it is built and what it prints:

    expect: a line of its output; all of them, in order
    flags: for the compiler          with: another source file
    genco: a file for --genco        library: a file for -shared (names come as arguments)
    env: NAME=VALUE ...              stderr: text that is somewhere in there
    part of: it is no program itself
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hipadapt._compiler import zig_program

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.plain  # a sanitizer has to be loaded first
PROGRAMS = ROOT / "tests" / "programs"
FILES = sorted(p for p in PROGRAMS.iterdir() if p.suffix in (".hip", ".c"))


def notes(path: Path, key: str) -> list[str]:
    """What a program says about itself under a key."""
    found = re.findall(rf"^(?://| \*) {key}: (.*)$", path.read_text(), re.MULTILINE)
    return [text.rstrip() for text in found]


NAMES = [p.name for p in FILES if not notes(p, "part of")]


def compiler(*arguments: object, **more: object) -> subprocess.CompletedProcess[str]:
    """hipadapt-cc."""
    command = [sys.executable, "-m", "hipadapt", "cc", *map(str, arguments)]
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, capture_output=True, text=True, env=settings, timeout=300, **more
    )  # type: ignore[call-overload,no-any-return]


def build(name: str, folder: Path) -> list[str]:
    """Builds a program; returns the command that runs it."""
    source, out = PROGRAMS / name, folder / name.replace(".", "_")
    flags = " ".join(notes(source, "flags")).split()
    others = [PROGRAMS / other for other in notes(source, "with")]
    steps = [[source, *others, *flags, "-O2", "-Wall", "-Werror", "-o", out]]
    extra = []
    for kind, option, suffix in (
        ("genco", ["--genco"], ".hsaco"),
        ("library", ["-shared", "-fPIC"], ".so"),
    ):
        for other in notes(source, kind):
            made = folder / (other + suffix)
            steps.append([*option, PROGRAMS / other, "-o", made])
            extra.append(str(made))
    for step in steps:
        done = compiler(*step, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    return [str(out), *extra]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[str]]:
    """built(name): the command that runs a program, which is built once."""
    folder = tmp_path_factory.mktemp("programs")
    return functools.cache(lambda name: build(name, folder))


# Neighbours have one program, so that one process of `pytest -n` has both.
@pytest.mark.parametrize("executor", ["fast", "reference"])
@pytest.mark.parametrize("name", NAMES)
def test_program_prints_what_it_says(
    name: str, executor: str, built: Callable[[str], list[str]]
) -> None:
    source = PROGRAMS / name
    command = built(name)
    settings = dict(
        word.split("=", 1) for e in notes(source, "env") for word in e.split()
    )
    settings["HIPADAPT_CPU_EXEC"] = executor
    settings["HIPADAPT_COMPILER"] = str(zig_program())

    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **settings},
    )

    assert done.stdout.splitlines() == notes(source, "expect"), done.stderr
    assert done.returncode == 0
    for text in notes(source, "stderr"):
        assert text in done.stderr


WARPS = """
#include <cstdio>
#include <hip/hip_runtime.h>
__global__ void tell(int *out) { *out = warpSize; }
int main()
{
    int *out, lanes = 0, asked = 0;
    if (hipMalloc(&out, sizeof *out) != hipSuccess) return 1;
    tell<<<1, 1>>>(out);
    if (hipMemcpy(&lanes, out, sizeof lanes, hipMemcpyDefault) != hipSuccess) return 2;
    (void)hipDeviceGetAttribute(&asked, hipDeviceAttributeWarpSize, 0);
    printf("%d %d\\n", lanes, asked);
    return 0;
}
"""


@pytest.mark.parametrize("lanes", ["32", "64"])
def test_program_runs_with_the_warps_that_it_was_built_for(
    lanes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "warps.hip").write_text(WARPS)
    monkeypatch.setenv("HIPADAPT_CPU_WARP_SIZE", lanes)
    done = compiler("warps.hip", "-o", "warps", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    monkeypatch.delenv("HIPADAPT_CPU_WARP_SIZE")
    monkeypatch.setenv("HIPADAPT_COMPILER", str(zig_program()))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    for before in ([], [sys.executable, "-m", "hipadapt", "run", "--"]):
        done = subprocess.run(
            [*before, str(tmp_path / "warps")],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.stdout == f"{lanes} {lanes}\n", done.stderr


def test_programs_are_many() -> None:
    assert len(NAMES) >= 20
