# SPDX-License-Identifier: MIT
"""What the built libraries show to the dynamic linker."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hipadapt._compiler import zig_program
from tools import headers, native

ROOT = Path(__file__).resolve().parents[3]
# About what the dynamic linker keeps for libraries that are loaded late, for all of
# them together; more makes dlopen fail in programs that load many.
TLS_BYTES_MAX = 1024
SYSTEM_LIBRARIES = re.compile(r"(libc|libm|libdl|libpthread|librt|ld-linux.*)\.so\.\d")


def readelf(option: str, path: Path) -> str:
    program = shutil.which("readelf")
    if program is None:
        pytest.skip("no readelf; install binutils")
    words = [program, option, "--wide", str(path)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def package() -> Path:
    spec = importlib.util.find_spec("hipadapt")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@pytest.fixture(scope="module")
def device(package: Path) -> Path:
    return package / "_lib" / "libhipadapt_cpu.so"


@pytest.fixture(scope="module")
def tool(package: Path) -> Path:
    return package / "_lib" / "libhipadapt_tool.so"


@pytest.fixture(scope="module")
def core(package: Path) -> Path:
    (path,) = package.glob(f"_core*{importlib.machinery.EXTENSION_SUFFIXES[0]}")
    return path


def exported(path: Path) -> set[str]:
    rows = [line.split() for line in readelf("--dyn-syms", path).splitlines()]
    return {
        row[7].split("@")[0]
        for row in rows
        if len(row) > 7 and row[4] in ("GLOBAL", "WEAK") and row[6] != "UND"
    }


def test_device_exports_hip_and_nothing_else(device: Path) -> None:
    names = exported(device)
    assert {"hipMalloc", "hiprtcCompileProgram", "hipadaptGetErrorText"} <= names
    # Also C++ names of HIP, and the name of our own version of symbols.
    ours = r"hip|__hip|_Z\d+hip|HIPADAPT_1$"
    assert {name for name in names if not re.match(ours, name)} == set()


def test_extension_exports_its_init_function_only(core: Path) -> None:
    assert exported(core) == {"PyInit__core"}


def test_tool_exports_its_registration_its_table_and_its_headers(tool: Path) -> None:
    folder = ROOT / "csrc" / "tool" / "include" / "hipadapt"
    headers = "".join(path.read_text("utf-8") for path in folder.glob("*.h"))
    public = set(
        re.findall(r"\b(hipadapt_(?:profile|debug_stream|verbose)_\w+)\(", headers)
    )

    assert public
    ours = {"rocprofiler_configure", "hipadapt_tool_table"}
    assert exported(tool) == ours | public


def test_tool_needs_no_python(tool: Path) -> None:
    assert re.findall(r"UND (_?Py\w+)", readelf("--dyn-syms", tool)) == []


@pytest.mark.skipif(
    "LD_PRELOAD" in os.environ, reason="instrumented libraries need their runtime"
)
@pytest.mark.parametrize("which", ["device", "tool", "core"])
def test_only_system_libraries_are_needed(
    which: str, request: pytest.FixtureRequest
) -> None:
    path: Path = request.getfixturevalue(which)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("--dynamic", path))
    assert [name for name in needed if not SYSTEM_LIBRARIES.match(name)] == []


@pytest.mark.parametrize(
    "name", ["libhipadapt_cpu.so", "libroctx64.so.4", "librocprofiler-sdk.so.1"]
)
def test_linkers_are_asked_for_the_tool_of_a_program(package: Path, name: str) -> None:
    symbols = readelf("--dyn-syms", package / "_lib" / name)
    assert re.search(r" WEAK +DEFAULT +UND rocprofiler_configure\n", symbols)


@pytest.mark.parametrize("which", ["device", "tool"])
def test_library_has_its_soname(which: str, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue(which)
    assert f"[{path.name}]" in readelf("--dynamic", path)


@pytest.mark.parametrize("which", ["device", "tool", "core"])
def test_thread_local_data_is_small(which: str, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue(which)
    sizes = re.findall(
        r"^ +TLS +\S+ +\S+ +\S+ +\S+ +(0x[0-9a-f]+)", readelf("-l", path), re.M
    )
    assert sum(int(size, 16) for size in sizes) <= TLS_BYTES_MAX


@pytest.mark.parametrize("which", ["device", "tool", "core"])
def test_stack_is_not_executable(which: str, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue(which)
    (flags,) = re.findall(r"GNU_STACK +(?:0x\w+ +){5}(\w+)", readelf("-l", path))
    assert "E" not in flags


@pytest.mark.plain  # the compiler of ziglang has no sanitizers
def test_library_without_sources_links_where_no_linker_is_installed(
    package: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Given: neither a compiler nor binutils.
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    product = native.roctx_sdk(package / "_lib" / "libroctx64.so.4")

    # When
    made = native.build(product, native.compiler())

    # Then
    assert made.read_bytes().startswith(b"\x7fELF")


def test_headers_are_those_of_the_sources_and_there_once(package: Path) -> None:
    include = package / "include"
    there = {p.relative_to(include) for p in include.rglob("*") if p.is_file()}

    assert there == set(headers.headers())
    for place, source in headers.headers().items():
        same = (include / place).read_bytes() == source.read_bytes()
        assert same, f"build anew: {include / place}"


PROGRAM = """\
#include <hipadapt/check.h>
static int each(const struct ha_check_finding *found, void *context)
{
    *(unsigned long long *)context += found->count;
    return 0;
}
int main(void)
{
    struct ha_check_summary summary;
    unsigned long long count = 0;
    summary.size = sizeof summary;
    return hipadaptCheckStart("all,leaks") != 0 ||
           hipadaptCheckFindings(each, &count) != 0 || count != 0 ||
           hipadaptCheckSummary(&summary) != 0 ||
           (summary.kinds | HA_CHECK_ALL) != (HA_CHECK_ALL | HA_CHECK_LEAKS) ||
           (summary.kinds & HA_CHECK_MEMORY) == 0 ||
           hipadaptCheckStop() != 0 || hipadaptCheckClear() != 0 ||
           hipadaptCheckStart("none") != 1 || *hipadaptGetErrorText() == 0;
}
"""


@pytest.mark.parametrize("language", ["c", "c++"])
def test_header_of_checks_serves_programs_in(
    language: str, package: Path, device: Path, tmp_path: Path
) -> None:
    zig = zig_program()
    assert zig is not None
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    words = [zig, "c++" if language == "c++" else "cc", "-x", language, "-Wall"]
    words += ["-Wextra", "-Werror", "-pedantic", f"-I{package / 'include'}"]
    words += [str(source), "-o", str(tmp_path / "program"), "-x", "none", str(device)]

    subprocess.run(words, check=True)

    settings = {**os.environ, "LD_LIBRARY_PATH": str(device.parent)}
    subprocess.run([str(tmp_path / "program")], env=settings, check=True)
