# SPDX-License-Identifier: MIT
"""hipadapt-cc: what it takes, what it refuses, and what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ..cpu.test_contraction import host_fuses

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.plain  # its time is the compiler's
MAIN = """\
int main() {
    int *d, x = 0;
    if (hipMalloc(&d, sizeof *d)) return 100;
    put<<<1, 1>>>(d);
    if (hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost)) return 101;
    return x;
}
"""
SOURCE = (
    """
#include <hip/hip_runtime.h>
#ifndef VALUE
#define VALUE 1
#endif
__global__ void put(int *x) { *x = VALUE; }
"""
    + MAIN
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "put.hip").write_text(SOURCE)
    return tmp_path


def cc(
    folder: Path, *words: str, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "hipadapt", "cc", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env=settings,
        preexec_fn=before,
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
        (["-save-temps=obj", "put.hip"], 1),
        (["-std=c++11", "put.hip"], 1),
    ],
)
def test_program_from_options(folder: Path, words: list[str], status: int) -> None:
    assert made(folder, *words) == status


MARKS = """
#include <hip/hip_runtime.h>
#include <rocprofiler-sdk-roctx/roctx.h>
int main() { return roctxRangePush("a") + roctxRangePush("b") + roctxRangePop(); }
"""


@pytest.mark.parametrize("library", ["-lroctx64", "-lrocprofiler-sdk-roctx"])
def test_marks_are_linked_by_their_names(folder: Path, library: str) -> None:
    (folder / "marks.hip").write_text(MARKS)

    assert made(folder, "marks.hip", library) == 2


@pytest.mark.slow  # ziglang compiles its C++ library when a machine first needs it
def test_program_with_the_cpp_library_of_ziglang(folder: Path) -> None:
    text = SOURCE.replace("return x;", 'std::string s("123"); return x + s.size();')
    (folder / "put.hip").write_text("#include <string>\n" + text)

    assert made(folder, "-stdlib=libc++", "put.hip") == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["std_complex.hip", "std_order.hip"])
def test_kernels_with_std_from_the_cpp_library_of_ziglang(
    folder: Path, name: str
) -> None:
    source = ROOT / "tests" / "programs" / name
    done = cc(folder, "-stdlib=libc++", "-O2", str(source))
    assert done.returncode == 0, done.stderr

    ran = subprocess.run([folder / "a.out"], capture_output=True, text=True)

    expected = re.findall("^// expect: (.*)$", source.read_text(), re.MULTILINE)
    assert ran.stdout.splitlines() == expected


# The status has a bit for each sum that is one operation with its product.
FUSED = """
#include <hip/hip_runtime.h>
#define PUT(name, bit, pragma)                                                        \\
    __global__ void name(int *d, float x, float z) {                                  \\
        pragma                                                                        \\
        float product = x * x;                                                        \\
        *d |= (x * x + z != 0) << bit | (product + z != 0) << (bit + 1);              \\
    }
PUT(put, 0, )
PUT(put_off, 2, _Pragma("STDC FP_CONTRACT OFF"))
PUT(put_on, 4, _Pragma("clang fp contract(on)"))
PUT(put_fast, 6, _Pragma("clang fp contract(fast)"))
int main() {
    int *d, status = 0;
    if (hipMalloc(&d, sizeof *d) || hipMemset(d, 0, sizeof *d)) return 100;
    for (auto k : {put, put_off, put_on, put_fast})
        k<<<1, 1>>>(d, 1 + 0x1p-12f, -1 - 0x1p-11f);
    if (hipMemcpy(&status, d, sizeof status, hipMemcpyDeviceToHost)) return 101;
    return status;
}
"""
BY_PRAGMA = 3 << 6 | 1 << 4


@pytest.mark.parametrize(
    ("words", "by_option"),
    [
        ([], 3),
        (["-ffp-contract=fast-honor-pragmas"], 3),
        (["-ffp-contract=fast"], 3),
        (["-ffp-contract=on"], 1),
        (["-ffp-contract=off"], 0),
    ],
    ids=["default", "honor", "fast", "on", "off"],
)
def test_contraction_of_kernels_is_what_the_option_says(
    folder: Path, words: list[str], by_option: int
) -> None:
    (folder / "fused.hip").write_text(FUSED)

    status = made(folder, *words, "fused.hip")

    assert status == (by_option | BY_PRAGMA if host_fuses() else 0)


ELEMENT = """
#include <array>
#include <hip/hip_runtime.h>
__global__ void put(int *x, unsigned i) { *x = std::array<int, 3>{4, 5, 6}[i]; }
int main() {
    int *d, x = 0;
    if (hipMalloc(&d, sizeof *d)) return 100;
    put<<<1, 1>>>(d, 1);
    if (hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost)) return 101;
    put<<<1, 1>>>(d, 3);
    return x + (hipDeviceSynchronize() == hipErrorAssert ? 10 : 20);
}
"""


def test_assertions_of_libstdcxx_work_in_kernels(folder: Path) -> None:
    (folder / "element.hip").write_text(ELEMENT)

    words = ["-stdlib=libstdc++", "-D_GLIBCXX_ASSERTIONS", "element.hip"]
    done = cc(folder, *words)
    if "g++ is not installed" in done.stderr:
        pytest.skip("no g++ on this machine")

    assert made(folder, *words) == 15


def test_objects_are_linked_later(folder: Path) -> None:
    assert cc(folder, "-c", "put.hip", "-DVALUE=9").returncode == 0
    assert (folder / "put.o").is_file()

    assert made(folder, "put.o") == 9


def test_static_library_is_linked_later(folder: Path) -> None:
    (folder / "put.hip").write_text(SOURCE.replace("int main", "int run"))
    (folder / "main.hip").write_text("int run(); int main() { return run(); }")
    (folder / "libput.a").write_text("an older one")

    done = cc(folder, "--emit-static-lib", "-DVALUE=3", "put.hip", "-o", "libput.a")

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert made(folder, "main.hip", "-L.", "-lput") == 3


CALLS_ACROSS_FILES = (
    """
#include <hip/hip_runtime.h>
__device__ int elsewhere();
__global__ void put(int *x) { *x = elsewhere(); }
"""
    + MAIN
)


def test_device_code_of_a_static_library_is_linked(folder: Path) -> None:
    (folder / "call.hip").write_text(CALLS_ACROSS_FILES)
    (folder / "part.hip").write_text("__device__ int elsewhere() { return 6; }")
    words = ["-fgpu-rdc", "--emit-static-lib", "part.hip", "-o", "libpart.a"]
    assert cc(folder, *words).returncode == 0
    assert cc(folder, "-fgpu-rdc", "-c", "call.hip").returncode == 0

    assert made(folder, "-fgpu-rdc", "--hip-link", "call.o", "-L.", "-lpart") == 6
    assert made(folder, "-fgpu-rdc", "call.hip", "libpart.a") == 6


def test_device_function_that_no_file_has_is_named(folder: Path) -> None:
    (folder / "call.hip").write_text(CALLS_ACROSS_FILES)

    done = cc(folder, "-fgpu-rdc", "call.hip")

    assert done.returncode == 1
    assert "elsewhere" in done.stderr
    assert "Traceback" not in done.stderr


def test_device_code_that_is_cut_off_is_refused(folder: Path) -> None:
    assert cc(folder, "-fgpu-rdc", "-c", "put.hip").returncode == 0
    whole = (folder / "put.o").read_bytes()
    at = whole.index(b"HARDC\0\0\1") + 8
    (folder / "put.o").write_bytes(whole[:at] + b"\xff" * 8 + whole[at + 8 :])

    done = cc(folder, "put.o")

    assert done.returncode == 1
    assert "cut off" in done.stderr
    assert "Traceback" not in done.stderr


def test_source_without_headers_of_hip_has_its_own_names(folder: Path) -> None:
    text = "struct dim3 { int x; }; int add(int a) { return dim3{a}.x + 1; }"
    (folder / "own.cpp").write_text(text)
    (folder / "main.cpp").write_text("int add(int); int main() { return add(4); }")

    assert made(folder, "own.cpp", "main.cpp") == 5
    assert made(folder, "-fgpu-rdc", "own.cpp", "main.cpp") == 5


def test_headers_leave_capital_letters_to_the_program(folder: Path) -> None:
    headers = ["fp16", "bf16", "fp8", "complex", "cooperative_groups", "ext"]
    (folder / "letters.hip").write_text(
        "#define Z 26\n"
        + "".join(f"#include <hip/hip_{name}.h>\n" for name in headers)
        + SOURCE.replace("*x = VALUE", "*x = A + N + T + Z")
    )

    letters = "ABCDEFGHIJKLMNOPQRSTUVWXY"
    words = [f"-D{letter}={value}" for value, letter in enumerate(letters, 1)]
    assert made(folder, "letters.hip", *words) == 1 + 14 + 20 + 26


def test_keywords_need_no_header(folder: Path) -> None:
    text = "__host__ __device__ int half(int a) { return a / 2; }\n"
    (folder / "half.cpp").write_text(text + "int main() { return half(8); }")

    assert made(folder, "half.cpp") == 4


DEEP = """
template <int N> struct Deep { static constexpr int value = Deep<N - 1>::value; };
template <> struct Deep<0> { static constexpr int value = 1; };
static_assert(Deep<1500>::value == 1);
"""


def test_depth_of_templates_is_for_both_sides(folder: Path) -> None:
    (folder / "deep.hip").write_text(SOURCE + DEEP)

    assert cc(folder, "-c", "deep.hip").returncode == 1
    assert made(folder, "-ftemplate-depth=2000", "deep.hip") == 1


PRAGMA = """
#include <hip/hip_runtime.h>
int main() {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 10; i++) sum += i;
    return sum;
}
"""


def test_pragmas_of_openmp_do_no_harm(folder: Path) -> None:
    (folder / "sum.hip").write_text(PRAGMA)

    assert made(folder, "-fopenmp", "sum.hip") == 45


def test_openmp_is_that_of_the_folders_for_libraries(folder: Path) -> None:
    (folder / "libomp.so").write_text("")

    done = cc(folder, "-###", "-fopenmp", "-L.", "put.hip")

    assert str(folder / "libomp.so") in done.stderr
    assert "-fopenmp" in done.stderr
    assert "ignored" not in done.stderr


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
        (["put.hip", "--offload-arch=sm_80"], "--offload-arch=sm_80"),
        (["put.hip", "--check", "-o", "put"], "--check keeps nothing"),
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
