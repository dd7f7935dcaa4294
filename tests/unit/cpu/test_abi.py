# SPDX-License-Identifier: MIT
"""The library as the dynamic linker and compiled programs see it."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hipadapt._run import libraries
from tests.conftest import ROOT, interpreter
from tests.unit.api import header_sets
from tests.unit.api.conftest import compiler
from tools.codegen import cpu_device, emit_dispatch, model

API = model.load()
SONAMES = ("libamdhip64.so.7", "libamdhip64.so.6", "libhiprtc.so.7", "libhiprtc.so.6")
# Facts that were read in programs built with ROCm, not in the description.
IMPORTED = {
    "__hipRegisterFatBinary": "hip_4.2",
    "hipMalloc": "hip_4.2",
    "hipCreateSurfaceObject": "hip_4.2",
    "hipGraphLaunch": "hip_4.3",
    "hipStreamGetCaptureInfo_v2": "hip_4.5",
    "hipLaunchHostFunc": "hip_5.3",
    "hipGetDevicePropertiesR0600": "hip_6.0",
}
RUN_LIMIT_S = 60


# ---- a reader of ELF -------------------------------------------------------------------


@dataclass
class Elf:
    """What a 64-bit shared object says to the dynamic linker."""

    soname: str = ""
    symbols: dict[str, str] = field(default_factory=dict)  # exported -> version
    nodes: list[tuple[str, ...]] = field(default_factory=list)  # name, parents


def text_at(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode()


def read_nodes(data: bytes, names: bytes) -> dict[int, tuple[str, ...]]:
    """Number of a version -> its name and the names that it follows."""
    nodes: dict[int, tuple[str, ...]] = {}
    at = 0
    while True:
        _, _, number, count, _, first, following = struct.unpack_from(
            "<HHHHIII", data, at
        )
        found = []
        where = at + first
        for _ in range(count):
            name, step = struct.unpack_from("<II", data, where)
            found.append(text_at(names, name))
            where += step
        nodes[number] = tuple(found)
        if following == 0:
            return nodes
        at += following


def read_elf(path: Path) -> Elf:
    data = path.read_bytes()
    assert data[:6] == b"\x7fELF\x02\x01"
    (start,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    parts: dict[int, tuple[bytes, int]] = {}
    sections = []
    for index in range(count):
        header = struct.unpack_from("<IIQQQQIIQQ", data, start + index * size)
        sections.append(
            data[header[4] : header[4] + header[5]] if header[1] != 8 else b""
        )
        parts[header[1]] = (sections[-1], header[6])
    symbols, link = parts[11]  # SHT_DYNSYM
    names = sections[link]
    elf = Elf()
    nodes = read_nodes(parts[0x6FFFFFFD][0], names)
    versions = struct.unpack(f"<{len(symbols) // 24}H", parts[0x6FFFFFFF][0])
    elf.nodes = [nodes[number] for number in sorted(nodes)]
    for index in range(1, len(symbols) // 24):
        name, info, _, section = struct.unpack_from("<IBBH", symbols, index * 24)
        if section != 0 and info >> 4 in (1, 2):
            elf.symbols[text_at(names, name)] = nodes[versions[index] & 0x7FFF][0]
    dynamic = parts[6][0]
    for tag, value in struct.iter_unpack("<QQ", dynamic):
        if tag == 14:
            elf.soname = text_at(names, value)
    return elf


@pytest.fixture(scope="module")
def elf(library: Path) -> Elf:
    return read_elf(library)


# ---- symbols and versions ------------------------------------------------------------


def test_soname_is_our_own(elf: Elf) -> None:
    assert elf.soname == "libhipadapt_cpu.so"


def test_nodes_of_versions_follow_each_other(elf: Elf) -> None:
    nodes = [node for node in elf.nodes[1:] if node[0] != emit_dispatch.OWN_NODE]
    names = list(API.abi.nodes)

    assert [node[0] for node in nodes] == names
    # Which one a version follows is for people to read; lld leaves it out.
    before = dict(zip(names[1:], names, strict=False))
    assert all(node[1:] in ((), (before.get(node[0]),)) for node in nodes)


def test_every_function_is_exported_under_its_version(elf: Elf) -> None:
    wanted = {s: node for node, symbols in API.abi.nodes.items() for s in symbols}
    own = {s for s in elf.symbols if s.startswith("hipadapt")}

    assert {s: elf.symbols.get(s) for s in wanted} == wanted
    assert {elf.symbols[s] for s in own} == {emit_dispatch.OWN_NODE}
    assert set(elf.symbols) - own - set(wanted) - set(API.abi.nodes) == {
        emit_dispatch.OWN_NODE
    } & set(elf.symbols)


def test_every_described_function_is_exported(elf: Elf) -> None:
    assert {f.symbol for f in API.functions} - set(elf.symbols) == set()


@pytest.mark.parametrize("symbol", IMPORTED)
def test_versions_are_those_that_programs_import(elf: Elf, symbol: str) -> None:
    assert elf.symbols[symbol] == IMPORTED[symbol]


def test_each_symbol_has_one_version() -> None:
    symbols = [s for names in API.abi.nodes.values() for s in names]

    assert len(symbols) == len(set(symbols))


# ---- the names of AMD's libraries ----------------------------------------------------


def test_links_stand_for_the_library(tmp_path: Path, library: Path) -> None:
    links = libraries.make(tmp_path / "lib")
    again = libraries.make(tmp_path / "lib")

    assert links == again
    assert {link.name for link in links} >= set(SONAMES)
    assert all(link.resolve() == libraries.LIBRARY for link in links)
    assert sorted(os.listdir(tmp_path / "lib")) == sorted(link.name for link in links)


def test_file_in_the_place_of_a_link_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "libhiprtc.so.7").write_text("mine")

    with pytest.raises(FileExistsError, match=r"libhiprtc\.so\.7"):
        libraries.make(tmp_path)

    assert (tmp_path / "libhiprtc.so.7").read_text() == "mine"


SHARED = """
import ctypes, os, sys
names = sys.argv[1:]
libraries = [ctypes.CDLL(name) for name in names]
count = ctypes.c_int()
assert libraries[0].hipSetDevice(1) == 0
for library in libraries:
    assert library.hipGetDevice(ctypes.byref(count)) == 0 and count.value == 1
handles = {library._handle for library in libraries}
assert len(handles) == 1, handles
"""


def test_all_names_are_one_library_in_a_process(tmp_path: Path, library: Path) -> None:
    libraries.make(tmp_path)
    run = interpreter(LD_LIBRARY_PATH=str(tmp_path), HIPADAPT_CPU_DEVICES="2")

    run(SHARED, *SONAMES, str(libraries.LIBRARY))


MEETS = """
import ctypes
runtime = ctypes.CDLL("libamdhip64.so.7")
assert runtime.hipSetDevice(1) == 0
import hipadapt
from hipadapt import hip
assert hipadapt.provider().name == "cpu", hipadapt.provider()
assert hip.hipGetDevice()[1] == 1
assert not hip.has_symbol("hipProfilerStart") and hip.has_symbol("hipMalloc")
assert hip.hipProfilerStart()[0] == hip.hipError_t.hipErrorNotSupported
"""


def test_python_meets_a_program_that_has_loaded_the_device(
    tmp_path: Path, library: Path
) -> None:
    """One runtime a process: memory and streams of both sides are the same."""
    libraries.make(tmp_path)
    run = interpreter(LD_LIBRARY_PATH=str(tmp_path), HIPADAPT_CPU_DEVICES="2")

    run(MEETS, HIPADAPT_PROVIDER="auto")


# A stand-in for AMD's library to link with, and a program that needs it.
STUB = """
int hipMalloc(void **p, unsigned long n) { (void)p; (void)n; return 99; }
int hipFree(void *p) { (void)p; return 99; }
int hipGraphLaunch(void *e, void *s) { (void)e; (void)s; return 99; }
int hipLaunchHostFunc(void *s, void (*f)(void *), void *u)
{ (void)s; (void)f; (void)u; return 99; }
"""
STUB_MAP = """
hip_4.2 { global: hipMalloc; hipFree; local: *; };
hip_4.3 { global: hipGraphLaunch; } hip_4.2;
hip_5.3 { global: hipLaunchHostFunc; } hip_4.3;
"""
RTC_STUB = "int hiprtcVersion(int *a, int *b) { (void)a; (void)b; return 99; }"
PROGRAM = """
int hipMalloc(void **, unsigned long);
int hipFree(void *);
int hipGraphLaunch(void *, void *);
int hipLaunchHostFunc(void *, void (*)(void *), void *);
int hiprtcVersion(int *, int *);
static void called(void *u) { *(int *)u = 1; }
int main(void)
{
    void *p = 0;
    int major = 0, minor = 0, flag = 0;
    if (hipMalloc(&p, 64) != 0 || hipFree(p) != 0) return 1;
    if (hiprtcVersion(&major, &minor) != 0 || major < 7) return 2;
    if (hipGraphLaunch((void *)0x5550, 0) == 99) return 3;
    if (hipLaunchHostFunc(0, called, &flag) != 0) return 4;
    return 0;
}
"""


@pytest.mark.parametrize("major", [6, 7])
def test_program_linked_against_versions_of_amd_runs(
    tmp_path: Path, library: Path, major: int
) -> None:
    """By soname and symbol version, as a program that ROCm's tools have linked."""
    if "ziglang" in compiler()[0] or not shutil.which(compiler()[0]):
        pytest.skip("no compiler that links with a version script")
    stubs, real = tmp_path / "stubs", tmp_path / "real"
    stubs.mkdir()
    for name, text in (("stub.c", STUB), ("rtc.c", RTC_STUB), ("program.c", PROGRAM)):
        (tmp_path / name).write_text(text)
    (tmp_path / "stub.map").write_text(STUB_MAP)
    shared = [*compiler(), "-shared", "-fPIC"]
    hip, rtc = f"libamdhip64.so.{major}", f"libhiprtc.so.{major}"
    versions = ["-Wl,--version-script=stub.map"]
    commands = [
        [*shared, *versions, "stub.c", "-o", f"stubs/{hip}", f"-Wl,-soname,{hip}"],
        [*shared, "rtc.c", "-o", f"stubs/{rtc}", f"-Wl,-soname,{rtc}"],
        [*compiler(), "program.c", "-o", "program", f"stubs/{hip}", f"stubs/{rtc}"],
    ]
    for command in commands:
        subprocess.run(command, cwd=tmp_path, check=True, timeout=RUN_LIMIT_S)
    libraries.make(real)

    status = {
        folder: subprocess.run(
            [str(tmp_path / "program")],
            env={**os.environ, "LD_LIBRARY_PATH": str(folder)},
            check=False,
            timeout=RUN_LIMIT_S,
        ).returncode
        for folder in (stubs, real)
    }

    assert status == {stubs: 1, real: 0}


# ---- what the device has -------------------------------------------------------------

LACKS = """
import ctypes, json, sys
library = ctypes.CDLL(sys.argv[1])
names = json.load(sys.stdin)
print(json.dumps([n for n in names if library.hipadaptLacks(n.encode()) == 1]))
"""


def test_library_lacks_what_the_documents_say(library: Path) -> None:
    names = [f.symbol for f in API.functions]

    done = subprocess.run(
        [sys.executable, "-c", LACKS, str(library)],
        input=json.dumps(names),
        capture_output=True,
        text=True,
        timeout=RUN_LIMIT_S,
        check=True,
    )

    assert set(json.loads(done.stdout)) == {f.symbol for f in cpu_device.lacking(API)}


# ---- tables --------------------------------------------------------------------------

OFFSETS = """
#include <stddef.h>
#include <stdio.h>
{head}
int main(void) {{
{rows}
    return 0;
}}
"""


def offsets(
    folder: Path, head: str, members: dict[str, list[str]], *flags: str
) -> dict[str, int]:
    """Where the compiler puts these members of these structs."""
    rows = [
        f'    printf("{s}.{m} %zu\\n", offsetof(struct {s}, {m}));'
        for s, names in members.items()
        for m in names
    ]
    (folder / "offsets.c").write_text(OFFSETS.format(head=head, rows="\n".join(rows)))
    subprocess.run(
        [*compiler(), "-w", *flags, "offsets.c", "-o", "offsets"],
        cwd=folder,
        check=True,
        timeout=RUN_LIMIT_S,
    )
    done = subprocess.run(
        [str(folder / "offsets")], capture_output=True, text=True, check=True
    )
    found = (row.split() for row in done.stdout.splitlines())
    return {name: int(value) for name, value in found}


def trace_header() -> tuple[Path, str]:
    """The include folder of the newest HIP here that has the tables, and their text."""
    for _, include in sorted(header_sets.present(), reverse=True):
        path = include / "hip" / "amd_detail" / "hip_api_trace.hpp"
        if path.is_file():
            return include, path.read_text(encoding="utf-8")
    pytest.skip(
        "no HIP headers with hip_api_trace.hpp; name one in HIPADAPT_HIP_HEADERS"
    )


def test_slots_are_where_the_header_has_them(tmp_path: Path) -> None:
    include, text = trace_header()
    members = {}
    for table in ("HipDispatchTable", "HipCompilerDispatchTable"):
        body = text[text.index(f"struct {table} {{") :]
        members[table] = re.findall(r"(\w+_fn);", body[: body.index("\n};")])
    head = "\n".join(
        [
            "#include <stdint.h>",
            "#include <stdbool.h>",
            "#include <hip/hip_runtime_api.h>",
            "#include <hip/hip_deprecated.h>",
            "#include <hip/amd_detail/amd_hip_gl_interop.h>",
        ]
    )
    known = "".join(h.read_text("utf-8") for h in (include / "hip").glob("*.h"))
    if "hipArrayMemoryRequirements" not in known:  # some releases forget it
        head += "\ntypedef struct memory_requirements hipArrayMemoryRequirements;"
    head += '\n#include "trace.h"'
    # The header says no more than this of C++.
    (tmp_path / "trace.h").write_text(re.sub(r"#include <(?!hip)\w+>", "", text))

    theirs = offsets(tmp_path, head, members, "-D__HIP_PLATFORM_AMD__", f"-I{include}")
    ours = offsets(
        tmp_path,
        '#include "abi/generated/hip_table.h"\n'
        "#undef hipGetDeviceProperties\n#undef hipChooseDevice",
        members,
        f"-I{ROOT / 'csrc'}",
    )

    assert len(theirs) >= 442 + 9
    assert ours == theirs


def test_each_function_has_one_slot() -> None:
    placed = [
        f.symbol for slots in emit_dispatch.tables(API).values() for _, f in slots
    ]

    assert len(placed) == len(set(placed))
    assert set(placed) == {f.symbol for f in emit_dispatch.functions(API)}
