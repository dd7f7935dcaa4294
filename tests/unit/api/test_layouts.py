# SPDX-License-Identifier: MIT
"""Records against HIP's own headers, where a HIP of version 6 or later is installed."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT
from tools.codegen import model

from .conftest import compiler

INCLUDES = (
    Path("/opt/rocm/include"),
    Path("/usr/include"),
    Path(sysconfig.get_paths()["purelib"]) / "triton" / "backends" / "amd" / "include",
)
API = model.load()


def headers() -> tuple[Path, int]:
    """Include folder and version times 100 of an installed HIP."""
    for folder in INCLUDES:
        version = folder / "hip" / "hip_version.h"
        if version.is_file():
            text = version.read_text(encoding="utf-8")
            found = dict(re.findall(r"#define HIP_VERSION_(M\w+) +(\d+)", text))
            return folder, 100 * int(found["MAJOR"]) + int(found["MINOR"])
    return Path(), 0


def rows(record: model.Record, prefix: str, top: str, known: set[str]) -> Iterator[str]:
    for member in record.members:
        if member.bits or (known and member.name and member.name not in known):
            continue
        path = prefix + member.name
        if member.name:
            yield f"O({top}, {path})"
        if member.record and not member.dim:
            dotted = path + "." if member.name else prefix
            yield from rows(member.record, dotted, top, known)


def table(
    head: str,
    records: list[model.Record],
    tmp_path: Path,
    *flags: str,
    known: set[str] | None = None,
) -> str:
    lines = ["#include <stddef.h>", "#include <stdio.h>", head]
    lines += [
        '#define S(t) printf("%s %zu %zu\\n", #t, sizeof(t), _Alignof(t));',
        '#define O(t, m) printf("%s.%s %zu\\n", #t, #m, offsetof(t, m));',
        "int main(void) {",
    ]
    for record in records:
        lines += [f"S({record.name})", *rows(record, "", record.name, known or set())]
    source = tmp_path / "table.c"
    source.write_text("\n".join([*lines, "return 0; }", ""]), encoding="utf-8")
    program = tmp_path / "table"
    words = [*compiler(), *flags, str(source), "-o", str(program)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def test_records_are_laid_out_as_in_the_installed_headers(tmp_path: Path) -> None:
    folder, version = headers()
    if version < 600:
        pytest.skip("no HIP headers of version 6 or later are installed")
    text = "\n".join(
        path.read_text(encoding="utf-8", errors="replace")
        for path in (folder / "hip").glob("*.h")
    )
    records = [
        r
        for r in API.records
        if r.size is not None
        and float(r.since or 0) <= version / 100 + 0.05
        and re.search(rf"}} {r.name};", text)
    ]
    assert len(records) >= 40

    known = set(re.findall(r"\w+", text))  # members that this HIP has
    folders = f"-I{ROOT / 'csrc'}"
    ours = table('#include "abi/hip.h"', records, tmp_path, folders, known=known)
    theirs = table(
        "#include <stdint.h>\n#include <hip/hip_runtime_api.h>",
        records,
        tmp_path,
        "-D__HIP_PLATFORM_AMD__",
        f"-I{folder}",
        known=known,
    )

    assert ours == theirs


def test_record_classes_have_the_size_of_c(cpu: ModuleType) -> None:
    for record in API.records:
        if record.size is not None:
            assert getattr(cpu, record.name).c_sizeof() == record.size, record.name


def test_record_members_are_where_c_has_them(cpu: ModuleType, tmp_path: Path) -> None:
    properties = cpu.hipDeviceProp_t(warpSize=77, name="abc", maxGridSize=[1, 2, 3])
    memory = bytes(properties)
    records = [r for r in API.records if r.name == "hipDeviceProp_t"]
    text = table('#include "abi/hip.h"', records, tmp_path, f"-I{ROOT / 'csrc'}")
    offset = {line.split()[0]: int(line.split()[1]) for line in text.splitlines()[1:]}

    begin = offset["hipDeviceProp_t.warpSize"]
    assert memory[begin : begin + 4] == (77).to_bytes(4, "little")
    assert memory[:4] == b"abc\0"
    begin = offset["hipDeviceProp_t.maxGridSize"]
    assert list(memoryview(memory[begin : begin + 12]).cast("i")) == [1, 2, 3]
