# SPDX-License-Identifier: MIT
"""Stand-ins for ROCm's other libraries, and what asks for them."""

from __future__ import annotations

import ctypes
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hipadapt
from hipadapt._compiler import zig_program
from hipadapt._run import libraries, scan, standin
from hipadapt._run.elf import Elf, NotElfError, needs
from tests.conftest import ROOT

# What each library's own header says: the code by which it refuses.
CALLS = {
    "libhipblas.so.3": ("hipblasCreate", 7),
    "libhipblaslt.so.1": ("hipblasLtCreate", 7),
    "librocblas.so.5": ("rocblas_sgemm", 2),
    "libhipfft.so.0": ("hipfftPlan1d", 16),
    "librocfft.so.0": ("rocfft_setup", 1),
    "libhiprand.so.1": ("hiprandCreateGenerator", 1000),
    "librocrand.so.1": ("rocrand_create_generator", 108),
    "libhipsparse.so.4": ("hipsparseCreate", 10),
    "librocsparse.so.1": ("rocsparse_create_handle", 2),
    "libhipsolver.so.1": ("hipsolverDnCreate", 7),
    "librocsolver.so.0": ("rocsolver_sgetrf", 2),
    "libhiptensor.so.0": ("hiptensorCreate", 15),
    "librccl.so.1": ("ncclCommInitRank", 5),
    "libMIOpen.so.1": ("miopenCreate", 6),
    "librocm_smi64.so.7": ("rsmi_init", 2),
    "libamd_smi.so.26": ("amdsmi_init", 2),
}


@pytest.fixture(scope="module")
def zig() -> str:
    program = os.environ.get("HIPADAPT_COMPILER") or zig_program()
    assert program is not None
    return program


def make_library(zig: str, folder: Path, name: str, code: str, *needs: Path) -> Path:
    """A library of the code that needs the libraries."""
    target = folder / name
    subprocess.run(
        [zig, "clang", "-x", "c", "-O1", "-fPIC", "-c", "-o", f"{target}.o", "-"],
        input=code,
        text=True,
        check=True,
        env={},
    )
    subprocess.run(
        [
            *(zig, "ld.lld", "-shared", f"-soname={name}", "-o", str(target)),
            *(f"{target}.o", *map(str, needs)),
        ],
        check=True,
        env={},
    )
    return target


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory, zig: str) -> Path:
    """A library that calls one function of each library, and some roctx."""
    folder = tmp_path_factory.mktemp("caller")
    lines, needs = [], []
    for soname, (function, _) in CALLS.items():
        standin.build(zig, str(folder), soname, {function: ""})
        needs.append(folder / soname)
        lines.append(f"int {function}(void); int call_{function}(void)")
        lines.append(f"{{ return {function}(); }}")
    lines += [
        "int roctxRangePushA(const char *); int roctxRangePop(void);",
        "int call_push(void) { return roctxRangePushA(0); }",
        "int call_pop(void) { return roctxRangePop(); }",
    ]
    roctx = libraries.PROFILER["libroctx64.so.4"]
    library = make_library(zig, folder, "libcaller.so", "\n".join(lines), *needs, roctx)
    for path in needs:
        path.unlink()
    return library


def run(
    *words: str, cache: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HIPADAPT_CACHE_DIR": str(cache), "HIPADAPT_LOG": "1"}
    env.update({"PYTHONPATH": str(ROOT), **environment})
    return subprocess.run(
        [sys.executable, "-m", "hipadapt", "run", *words],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
    )


# ---- answers ----


def test_every_library_answers_its_own_code(caller: Path, tmp_path: Path) -> None:
    code = f"""
import ctypes, json
library = ctypes.CDLL({str(caller)!r})
print(json.dumps([getattr(library, "call_" + name)() for name in {[name for name, _ in CALLS.values()]!r}]))
"""

    done = run("--scan", str(caller), "--", "python", "-c", code, cache=tmp_path / "c")

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str([value for _, value in CALLS.values()])
    for soname, (function, _) in CALLS.items():
        assert f"{function}: there is no {soname} on the CPU device" in done.stderr
    assert "stand-in answers rocblas_status_not_implemented\n" in done.stderr
    assert "stand-in answers HIPBLAS_STATUS_NOT_SUPPORTED\n" in done.stderr


def test_ranges_of_roctx_count_their_levels(caller: Path, tmp_path: Path) -> None:
    code = f"""
import ctypes, threading
library = ctypes.CDLL({str(caller)!r})
roctx = ctypes.CDLL("libroctx64.so")
roctx.roctxRangeStartA.restype = ctypes.c_ulong
out = [library.call_push(), library.call_push(), library.call_pop(),
       library.call_pop(), library.call_pop()]
other = threading.Thread(target=lambda: out.append(library.call_push()))
other.start()
other.join()
first, second = roctx.roctxRangeStartA(b"a"), roctx.roctxRangeStartA(b"b")
roctx.roctxRangeStop(first)
roctx.roctxMarkA(b"here")
print(*out, first != second)
"""

    done = run("--scan", str(caller), "--", "python", "-c", code, cache=tmp_path / "c")

    assert (done.stdout, done.stderr) == ("0 1 1 0 -1 0 True\n", "")


def test_roctx_and_the_profiler_are_ours_under_all_names(tmp_path: Path) -> None:
    code = """
import ctypes, os
for name in ("libroctx64.so", "libroctx64.so.4", "librocprofiler-sdk-roctx.so",
             "librocprofiler-sdk-roctx.so.1"):
    library = ctypes.CDLL(name)
    print(library.roctx_version_major(), library.roctx_version_minor(),
          library.roctxRangePushA(b"one level deeper for each name"))
for name in ("librocprofiler-sdk.so", "librocprofiler-sdk.so.1"):
    parts = [ctypes.c_uint32() for _ in range(3)]
    status = ctypes.CDLL(name).rocprofiler_get_version(*map(ctypes.byref, parts))
    print(status, parts[0].value)
with open("/proc/self/maps") as file:
    rows = [row.split()[-1] for row in file if "roctx" in row or "rocprof" in row]
print(*sorted({os.path.realpath(row) for row in rows}), sep="\\n")
"""

    done = run("--", "python", "-c", code, cache=tmp_path / "c")

    assert done.returncode == 0, done.stderr
    ours = {str(path) for path in libraries.PROFILER.values()}
    files = sorted(path for path in ours if "roc" in Path(path).name)
    levels = [f"4 1 {level}" for level in range(4)]
    assert done.stdout.splitlines() == [*levels, "0 1", "0 1", *files]


def test_roctx_has_the_symbol_version_that_programs_are_linked_to(caller: Path) -> None:
    _, _, imports = needs(str(caller))

    versions = {i.name: (i.version, i.library) for i in imports}
    assert versions["roctxRangePushA"] == ("ROCTX_4.1", "libroctx64.so.4")


def test_messages_follow_the_log_level(caller: Path, tmp_path: Path) -> None:
    code = f"""
import ctypes
library = ctypes.CDLL({str(caller)!r})
for _ in range(2):
    library.call_rocblas_sgemm()
"""
    counts = {}

    for level in ("0", "1", "2"):
        done = run(
            *("--scan", str(caller), "--", "python", "-c", code),
            cache=tmp_path / "c",
            HIPADAPT_LOG=level,
        )
        counts[level] = done.stderr.count("rocblas_sgemm: there is no librocblas.so.5")

    assert counts == {"0": 0, "1": 1, "2": 2}


def test_text_numbers_and_versions_are_answered(tmp_path: Path, zig: str) -> None:
    symbols = dict.fromkeys(
        ("ncclGetErrorString", "ncclGetVersion", "ncclSend", "_ZN4rccl3fooEv"), ""
    )
    standin.build(zig, str(tmp_path), "librccl.so.1", symbols)
    library = ctypes.CDLL(str(tmp_path / "librccl.so.1"))
    version = ctypes.c_int(7)
    library.ncclGetErrorString.restype = ctypes.c_char_p

    text = library.ncclGetErrorString(5)

    assert text == b"not supported by the CPU device of hipadapt"
    assert library.ncclGetVersion(ctypes.byref(version)) == 0
    assert version.value == 0
    assert library.ncclGetVersion(None) != 0
    assert not hasattr(library, "_ZN4rccl3fooEv")


def test_symbol_versions_are_those_that_were_asked_for(
    tmp_path: Path, zig: str
) -> None:
    symbols = {"roctracer_start": "ROCTRACER_4.0", "roctracer_x": "ROCTRACER_4.1"}
    standin.build(zig, str(tmp_path), "libroctracer64.so.4", symbols)
    user = make_library(
        zig,
        tmp_path,
        "libuser.so",
        "void roctracer_start(void); int roctracer_x(void);"
        "int f(void) { roctracer_start(); return roctracer_x(); }",
        tmp_path / "libroctracer64.so.4",
    )

    _, _, imports = needs(str(user))

    assert {(i.name, i.version, i.library) for i in imports} == {
        ("roctracer_start", "ROCTRACER_4.0", "libroctracer64.so.4"),
        ("roctracer_x", "ROCTRACER_4.1", "libroctracer64.so.4"),
    }


@pytest.mark.parametrize(
    ("soname", "name"),
    [
        ("libhipblas.so", "hipblas"),
        ("libhipblas.so.3", "hipblas"),
        ("libhipblas.so.3.1.0", "hipblas"),
        ("libhipblaslt.so.1", "hipblaslt"),
        ("librocprofiler-sdk-roctx.so.1", None),
        ("libroctx64.so.4", None),
        ("libhipblas-1234.so.3", None),
        ("libc.so.6", None),
        ("hipblas.so", None),
        ("libhipblas.so.3/../x", None),
        ("libamdhip64.so.7", None),
    ],
)
def test_library_is_known_by_its_file_name(soname: str, name: str | None) -> None:
    library = standin.library_of(soname)

    assert (library.name if library else None) == name


def test_function_that_stands_elsewhere_joins_a_library_that_is_asked_for() -> None:
    found: scan.Standins = {}

    scan.add(found, [["librocsolver.so.0"], [["rocblas_create_handle", "", ""]]])

    assert found == {"librocsolver.so.0": {"rocblas_create_handle": ""}}


def test_function_with_a_version_stands_where_the_file_says() -> None:
    found: scan.Standins = {}

    scan.add(
        found,
        [["librccl.so.1", "libMIOpen.so.1"], [["odd", "V_1", "libMIOpen.so.1"]]],
    )

    assert found == {"librccl.so.1": {}, "libMIOpen.so.1": {"odd": "V_1"}}


# ---- reading files ----


def test_needs_are_those_that_the_file_has(caller: Path) -> None:
    names, _, imports = needs(str(caller))

    assert set(names) == {*CALLS, "libroctx64.so.4"}
    wanted = {name for name, _ in CALLS.values()}
    assert {i.name for i in imports} == {*wanted, "roctxRangePushA", "roctxRangePop"}


@pytest.mark.parametrize("section_headers", [True, False])
def test_needs_do_not_depend_on_section_headers(
    caller: Path, section_headers: bool
) -> None:
    data = bytearray(caller.read_bytes())
    if not section_headers:
        data[40:48] = bytes(8)
        data[60:62] = bytes(2)
    elf = Elf(bytes(data))

    names = {symbol.name for symbol in elf.imports()}

    assert {name for name, _ in CALLS.values()} <= names


def test_damaged_files_are_refused_and_nothing_else(caller: Path) -> None:
    whole = caller.read_bytes()
    chance = random.Random(5)

    def attempt(data: bytes) -> None:
        try:
            elf = Elf(data)
            for _ in zip(range(5000), elf.imports(), strict=False):
                pass
        except NotElfError:
            pass

    for size in [*range(0, 200), *range(200, len(whole), 97)]:
        attempt(whole[:size])
    for _ in range(1500):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 8)):
            data[chance.randrange(min(len(data), 4096))] = chance.randrange(256)
        attempt(bytes(data))


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF", b"MZ" * 100])
def test_other_files_need_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.so").write_bytes(content)

    assert scan.needs_of(str(tmp_path / "x.so")) is None
    with pytest.raises(NotElfError):
        needs(str(tmp_path / "x.so"))


# ---- what is looked at ----


def package(site: Path, library: Path) -> None:
    (site / "thing").mkdir(parents=True)
    shutil.copy(library, site / "thing" / "part.so")
    (site / "thing-1.dist-info").mkdir()
    (site / "thing-1.dist-info/RECORD").write_text(
        'thing/part.so,sha256=x,1\nthing/__init__.py,,\n"odd,name.so",,\n'
    )


def test_installed_packages_are_looked_at_once(caller: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    package(site, caller)
    kept = tmp_path / "packages.json"

    first: scan.Standins = {}
    packages = scan.Packages(str(kept))
    packages.add_folder(str(site), first)
    packages.save()
    (site / "thing/part.so").unlink()
    second: scan.Standins = {}
    scan.Packages(str(kept)).add_folder(str(site), second)
    os.utime(site / "thing-1.dist-info/RECORD", (1, 1))
    third: scan.Standins = {}
    scan.Packages(str(kept)).add_folder(str(site), third)

    assert first["librocblas.so.5"] == {"rocblas_sgemm": ""}
    assert second == first
    assert third == {}


def test_list_of_packages_by_other_code_is_made_anew(
    caller: Path, tmp_path: Path
) -> None:
    site, kept = tmp_path / "site", tmp_path / "packages.json"
    package(site, caller)
    packages = scan.Packages(str(kept))
    packages.add_folder(str(site), {})
    packages.save()
    loaded = json.loads(kept.read_text())
    (row,) = loaded["packages"].values()

    row[1] = []  # what other code may have found
    kept.write_text(json.dumps(loaded))
    same: scan.Standins = {}
    scan.Packages(str(kept)).add_folder(str(site), same)
    kept.write_text(json.dumps({**loaded, "version": 2}))
    other: scan.Standins = {}
    scan.Packages(str(kept)).add_folder(str(site), other)

    assert same == {}
    assert set(other) == set(CALLS)


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package's Python files, to be changed."""
    source = Path(hipadapt.__file__).parent
    copy = tmp_path_factory.mktemp("copied") / "hipadapt"
    shutil.copytree(
        source, copy, ignore=shutil.ignore_patterns("_lib", "include", "__pycache__")
    )
    (copy / "_lib").symlink_to(source / "_lib")
    return copy


def versions(package: Path) -> tuple[str, str]:
    """What the folder, and the list of packages, of this copy are known by."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", "from hipadapt._run import root, scan\n"
         "print(root._key({}, 'python', 'zig'), scan.Packages('nothing')._version)"],
        env={**os.environ, "PYTHONPATH": str(package.parent)},
        cwd="/", capture_output=True, text=True, check=True,
    )  # fmt: skip
    folder, packages = done.stdout.split()
    return folder, packages


@pytest.mark.parametrize(
    ("name", "before", "after", "changed"),
    [
        ("root", "hipadapt, CPU device", "hipadapt, a device", (True, False)),
        ("standin", "a stand-in ", "a dummy ", (True, True)),
        ("scan", "_DEPTH_MAX = 8", "_DEPTH_MAX = 9", (False, True)),
        ("elf", "_STB_GLOBAL = 1", "_STB_GLOBAL = 2", (False, True)),
        ("start", "needs {name}", "wants {name}", (False, False)),
    ],
)
def test_change_of_the_text_is_a_change_of_the_version(
    copied: Path, name: str, before: str, after: str, changed: tuple[bool, bool]
) -> None:
    file = copied / "_run" / f"{name}.py"
    text = file.read_text()
    assert before in text

    first = versions(copied)
    file.write_text(text.replace(before, after))
    second = versions(copied)
    file.write_text(text)

    assert tuple(a != b for a, b in zip(first, second, strict=True)) == changed
    assert versions(copied) == first


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2}', "\x00", '{"version": 1}'])
def test_damaged_list_of_packages_is_made_anew(
    caller: Path, tmp_path: Path, text: str
) -> None:
    package(tmp_path / "site", caller)
    (tmp_path / "packages.json").write_text(text)
    found: scan.Standins = {}

    packages = scan.Packages(str(tmp_path / "packages.json"))
    packages.add_folder(str(tmp_path / "site"), found)
    packages.save()

    assert set(found) == set(CALLS)


def test_libraries_that_a_program_brings_along_are_looked_at(
    caller: Path, tmp_path: Path, zig: str
) -> None:
    folder = tmp_path / "lib"
    folder.mkdir()
    shutil.copy(caller, folder / "libcaller.so")
    program = make_library(
        zig, tmp_path, "program", "int call_push(void); int x(void) { return call_push(); }",
        folder / "libcaller.so",
    )  # fmt: skip
    found: scan.Standins = {}

    scan.add_program(str(program), found, [])
    assert found == {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LD_LIBRARY_PATH", f":{folder}")
        scan.add_program(str(program), found, [])

    assert set(found) == set(CALLS)


def test_hip_of_another_version_is_named(tmp_path: Path, zig: str) -> None:
    old = make_library(
        zig, tmp_path, "libamdhip64.so.5", "int hipInit(int x) { return x; }"
    )
    user = make_library(
        zig,
        tmp_path,
        "user",
        "int hipInit(int); int x(void) { return hipInit(0); }",
        old,
    )
    missing: list[str] = []

    scan.add_program(str(user), {}, missing)

    assert missing == ["libamdhip64.so.5"]
