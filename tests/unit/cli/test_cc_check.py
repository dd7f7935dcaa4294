# SPDX-License-Identifier: MIT
"""hipadapt-cc --check and --offload-arch: names of AMD's GPUs."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_cc import MAIN, cc, made

pytestmark = pytest.mark.plain  # its time is the compiler's
SOURCE = (
    """
#include <hip/hip_runtime.h>
#include <cmath>
#include <vector>
__global__ void put(int *x) {
    __shared__ float part[64];
    part[threadIdx.x] = std::sin(threadIdx.x * 1.0f) + sqrtf(2.0f);
    __syncthreads();
    *x = 1 + ONLY_HERE + (part[0] < 0) + std::vector<int>::size_type(0);
}
"""
    + MAIN
)
EVERYWHERE = "#define ONLY_HERE 0\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "put.hip").write_text(EVERYWHERE + SOURCE)
    return tmp_path


def test_gpus_name_is_taken_with_a_note(folder: Path) -> None:
    done = cc(folder, "--offload-arch=gfx942,gfx90a:xnack-", "put.hip", "-c")

    assert done.returncode == 0
    assert "note: --offload-arch=gfx942, gfx90a:xnack-: " in done.stderr
    assert (folder / "put.o").is_file()


def test_program_made_with_a_gpus_name_runs_here(folder: Path) -> None:
    assert made(folder, "--offload-arch=gfx1100", "put.hip") == 1


def test_check_compiles_for_both_and_keeps_nothing(folder: Path) -> None:
    done = cc(folder, "--check", "put.hip")

    assert done.returncode == 0, done.stderr
    assert "put.hip: compiles for gfx000:cpu\n" in done.stdout
    assert "put.hip: compiles for gfx942 (not linked, not run)\n" in done.stdout
    assert [path.name for path in folder.iterdir()] == ["put.hip"]


def test_check_takes_the_gpus_that_are_named(folder: Path) -> None:
    done = cc(folder, "--check", "put.hip", "--offload-arch=gfx90a,gfx1100")

    assert "compiles for gfx90a" in done.stdout
    assert "compiles for gfx1100" in done.stdout
    assert "gfx942" not in done.stdout


@pytest.mark.parametrize(
    ("where", "fails", "compiles"),
    [
        ("defined(__gfx942__)", "gfx942", "gfx000:cpu"),
        ("!defined(__gfx942__)", "gfx000:cpu", "gfx942"),
    ],
)
def test_check_finds_what_fails_on_one_side_only(
    folder: Path, where: str, fails: str, compiles: str
) -> None:
    text = f"#if {where}\n#define ONLY_HERE nobody\n#else\n{EVERYWHERE}#endif\n"
    (folder / "put.hip").write_text(text + SOURCE)

    done = cc(folder, "--check", "put.hip")

    assert done.returncode == 1
    assert "nobody" in done.stderr
    assert f"compiles for {compiles}" in done.stdout
    assert f"compiles for {fails}" not in done.stdout
    assert "1 of 1 files do not compile" in done.stderr


def test_every_file_is_checked_after_one_that_fails(folder: Path) -> None:
    (folder / "bad.hip").write_text("__global__ void k() { nobody(); }\n")

    done = cc(folder, "--check", "bad.hip", "put.hip")

    assert done.returncode == 1
    assert "put.hip: compiles for gfx942" in done.stdout
    assert "1 of 2 files do not compile" in done.stderr


def test_without_arguments_the_options_are_shown(folder: Path) -> None:
    done = cc(folder)

    assert done.returncode == 1
    assert "--check" in done.stdout
    assert "no input files" in done.stderr
