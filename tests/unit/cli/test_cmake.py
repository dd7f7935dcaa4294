# SPDX-License-Identifier: MIT
"""CMake's language HIP, find_package(hip) and pkg-config, by the files of the package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hipadapt import __version__
from tests.conftest import ROOT

pytestmark = pytest.mark.plain  # its time is the compiler's
BESIDE = str(Path(sys.executable).parent)  # of this Python: cmake, hipadapt-cc
PATH = os.pathsep.join([BESIDE, os.environ["PATH"]])
DRIVER = shutil.which("hipadapt-cc", path=PATH)
CMAKE = shutil.which("cmake", path=PATH)
needs_cmake = pytest.mark.skipif(
    not (CMAKE and DRIVER and shutil.which("make")),
    reason="needs cmake, make, and hipadapt installed with its scripts",
)


def run(*words: str, folder: Path, **more: str) -> str:
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, "PATH": PATH, **more},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def place(option: str) -> str:
    """What hipadapt-cc prints for --print-..."""
    words = [sys.executable, "-m", "hipadapt", "cc", option]
    found = subprocess.run(words, capture_output=True, text=True, check=True)
    assert os.path.exists(found.stdout.strip())
    return found.stdout.strip()


@needs_cmake
def test_ordinary_hip_project_is_built_and_tested(tmp_path: Path) -> None:
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={place('--print-cmake-toolchain')}"
    source = str(ROOT / "examples" / "cmake")

    run("cmake", "-S", source, "-B", "made", toolchain, folder=tmp_path)
    run("cmake", "--build", "made", folder=tmp_path)
    said = run("ctest", "--test-dir", "made", folder=tmp_path)

    assert "100% tests passed" in said
    assert "heat_of_nothing" in said


@needs_cmake
def test_project_is_built_without_compilers_and_binutils(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("cmake", "ctest", "env", "hipadapt-cc", "make", "sh"):
        (programs / name).symlink_to(str(shutil.which(name, path=PATH)))
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={place('--print-cmake-toolchain')}"
    only = {"PATH": str(programs), "CC": "", "CXX": ""}

    run("cmake", "-S", str(ROOT / "examples" / "cmake"), "-B", "made",
        "-GUnix Makefiles", toolchain, "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF",
        folder=tmp_path, **only)  # fmt: skip
    run("cmake", "--build", "made", folder=tmp_path, **only)
    said = run("ctest", "--test-dir", "made", folder=tmp_path, **only)

    assert "100% tests passed" in said
    used = (tmp_path / "made" / "CMakeCache.txt").read_text()
    assert "/usr/bin/ar" not in used


@needs_cmake
@pytest.mark.parametrize(("version", "found"), [("5.2", True), ("99", False)])
def test_package_has_the_version_of_its_headers(
    version: str, found: bool, tmp_path: Path
) -> None:
    wanted = f"find_package(hip {version} QUIET)\nfind_package(hiprtc REQUIRED)\n"
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\nproject(x LANGUAGES NONE)\n"
        f"{wanted}message(STATUS \"found: '${{hip_FOUND}}' '${{hip_LIBRARIES}}'\")\n"
    )
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={place('--print-cmake-toolchain')}"

    said = run("cmake", "-B", "made", toolchain, folder=tmp_path)

    assert f"found: '{int(found)}'" in said


@pytest.mark.skipif(
    not (shutil.which("pkg-config") and shutil.which("gcc")),
    reason="needs pkg-config and gcc",
)
def test_program_in_c_is_built_by_pkg_config(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(
        "#include <hip/hip_runtime_api.h>\n"
        "int main(void) { int n = 0; return hipGetDeviceCount(&n) != 0 || n != 1; }\n"
    )
    settings = {"PKG_CONFIG_PATH": place("--print-pkg-config-path")}
    asked = ["pkg-config", "--cflags", "--libs", "hipadapt"]

    flags = run(*asked, folder=tmp_path, **settings).split()
    version = run("pkg-config", "--modversion", "hipadapt", folder=tmp_path, **settings)
    run("gcc", "main.c", *flags, "-o", "main", folder=tmp_path)
    run("./main", folder=tmp_path)

    assert version.strip() == __version__
