# SPDX-License-Identifier: MIT
"""hipadapt-cc: what it takes, what it refuses, and what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCE = """
#include <hip/hip_runtime.h>
#ifndef VALUE
#define VALUE 1
#endif
__global__ void put(int *x) { *x = VALUE; }
int main() {
    int *d, x = 0;
    if (hipMalloc(&d, sizeof *d)) return 100;
    put<<<1, 1>>>(d);
    if (hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost)) return 101;
    return x;
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "put.hip").write_text(SOURCE)
    return tmp_path


def cc(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "hipadapt", "cc", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env=settings,
    )


def made(folder: Path, *words: str) -> int:
    """The exit status of the program that the words make."""
    done = cc(folder, *words)
    assert done.returncode == 0, done.stderr
    return subprocess.run([folder / "a.out"]).returncode


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["put.hip"], 1),
        (["-DVALUE=7", "-O1", "-g", "-std=c++20", "put.hip"], 7),
        (["-D", "VALUE=8", "-UOTHER", "-I", ".", "put.hip", "-lamdhip64"], 8),
        (["--offload-arch=gfx000:cpu", "--offload-arch", "native", "put.hip"], 1),
        (["-x", "hip", "put.hip", "-Wall", "-Werror", "-ffast-math"], 1),
        (["-fno-gpu-rdc", "--rocm-path=/nowhere", "-mcumode", "put.hip"], 1),
    ],
)
def test_program_from_options(folder: Path, words: list[str], status: int) -> None:
    assert made(folder, *words) == status


@pytest.mark.slow  # ziglang compiles its C++ library when a machine first needs it
def test_program_with_the_cpp_library_of_ziglang(folder: Path) -> None:
    text = SOURCE.replace("return x;", 'std::string s("123"); return x + s.size();')
    (folder / "put.hip").write_text("#include <string>\n" + text)

    assert made(folder, "-stdlib=libc++", "put.hip") == 4


def test_objects_are_linked_later(folder: Path) -> None:
    assert cc(folder, "-c", "put.hip", "-DVALUE=9").returncode == 0
    assert (folder / "put.o").is_file()

    assert made(folder, "put.o") == 9


def test_response_file_is_read(folder: Path) -> None:
    (folder / "words").write_text('-DVALUE=5 "put.hip"')

    assert made(folder, "@words") == 5


def test_include_beside_the_source_is_found(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "value.h").write_text("#define VALUE 6\n")
    (folder / "sub" / "with.hip").write_text('#include "value.h"\n' + SOURCE)

    assert made(folder, "sub/with.hip") == 6


def test_cpp_file_is_hip_and_c_file_is_c(folder: Path) -> None:
    (folder / "put.cpp").write_text(SOURCE.replace("int main", 'extern "C" int run'))
    (folder / "main.c").write_text("int run(void); int main(void) { return run(); }")

    assert made(folder, "-DVALUE=4", "put.cpp", "main.c") == 4


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], "no input files"),
        (["nothing.hip"], "nothing.hip: no such file"),
        (["put.hip", "-o"], "-o: a value is missing"),
        (["put.hip", "-fgpu-rdc"], "-fgpu-rdc: not supported"),
        (["put.hip", "--offload-arch=gfx942"], "compile --arch gfx942"),
        (["put.hip", "--what"], "--what"),
        (["put.hip", "what.txt"], "what.txt"),
        (["put.hip", "-x", "fortran"], "-x fortran"),
        (["put.hip", "-stdlib=none"], "-stdlib=none"),
        (["-c", "put.hip", "put.hip", "-o", "x"], "-o with several files"),
        (["put.hip", "-Xarch_device", "-mavx"], "-Xarch_device -mavx"),
        (["put.hip", "-parallel-jobs=0"], "-parallel-jobs=0"),
        (["put.hip", "-static"], "-static"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, words: list[str], text: str) -> None:
    done = cc(folder, *words)

    assert done.returncode == 1
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "a.out").exists()


def test_error_in_a_kernel_has_file_and_line(folder: Path) -> None:
    (folder / "bad.hip").write_text(SOURCE.replace("*x = VALUE", "*x = nobody"))

    done = cc(folder, "bad.hip")

    assert done.returncode == 1
    assert "bad.hip:6:" in done.stderr
    assert "nobody" in done.stderr
    assert "Traceback" not in done.stderr


def test_error_in_host_code_has_file_and_line(folder: Path) -> None:
    (folder / "bad.hip").write_text(SOURCE.replace("return x;", "return nobody;"))

    done = cc(folder, "bad.hip")

    assert done.returncode == 1
    assert "bad.hip:12:" in done.stderr


def test_host_function_in_a_kernel_is_refused(folder: Path) -> None:
    text = "int host();\n" + SOURCE.replace("*x = VALUE", "*x = host()")
    (folder / "bad.hip").write_text(text)

    done = cc(folder, "bad.hip")

    assert done.returncode == 1
    assert "host" in done.stderr
    assert "bad.hip:7:" in done.stderr


def test_warning_is_said_once(folder: Path) -> None:
    (folder / "warn.hip").write_text(SOURCE.replace("int *d,", "int unused; int *d,"))

    done = cc(folder, "-Wall", "warn.hip")

    assert done.returncode == 0
    assert done.stderr.count("unused variable") == 1


def test_show_commands_and_do_nothing(folder: Path) -> None:
    done = cc(folder, "-###", "put.hip")

    assert done.returncode == 0
    assert "-fcuda-is-device" in done.stderr
    assert "--cuda-host-only" in done.stderr
    assert not (folder / "a.out").exists()


def test_preprocessed_host_side_goes_to_standard_output(folder: Path) -> None:
    done = cc(folder, "-E", "-DVALUE=77", "put.hip")

    assert done.returncode == 0
    assert "*x = 77" in done.stdout


def test_version_and_help(folder: Path) -> None:
    assert "hipadapt-cc" in cc(folder, "--version").stdout
    assert "--genco" in cc(folder, "--help").stdout


def test_program_needs_nothing_but_the_device(folder: Path) -> None:
    assert made(folder, "put.hip") == 1

    needed = subprocess.run(
        ["readelf", "-d", "a.out"], cwd=folder, capture_output=True, text=True
    ).stdout
    assert "libhipadapt_cpu.so" in needed
