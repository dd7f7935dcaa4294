# SPDX-License-Identifier: MIT
"""HIP's own headers of several versions, and what a C compiler sees in them.

Headers come from where a HIP is installed, from folders in HIPADAPT_HIP_HEADERS (parts
separated as in PATH), or from packages that carry them: Debian's libamdhip64-dev and
the wheels of triton.  A table has one line a fact: size and alignment of a record, the
offset of a member, the value of an enumerator or macro.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.interop import fetched
from tools.codegen import model

from .conftest import compiler

API = model.load()
INSTALLED = (
    Path("/opt/rocm/include"),
    Path("/usr/include"),
    Path(sysconfig.get_paths()["purelib"]) / "triton" / "backends" / "amd" / "include",
)
# HIP version -> the wheel of triton that has its headers.
WHEELS = {"6.2": "3.5.0", "7.1": "3.9.0"}
DEBIAN = "5.2"
DOWNLOAD_LIMIT_S = 600
OURS = '#include "abi/hip.h"\n#include "abi/hiprtc.h"'


def version_of(include: Path) -> str | None:
    """Major and minor version of the HIP headers in a folder, as "6.2"."""
    header = include / "hip" / "hip_version.h"
    if not header.is_file():
        return None
    text = header.read_text(encoding="utf-8")
    found = dict(re.findall(r"#define HIP_VERSION_(M\w+) +(\d+)", text))
    return f"{found['MAJOR']}.{found['MINOR']}"


def present() -> Iterator[tuple[str, Path]]:
    """Versions and folders of the headers on this machine."""
    named = os.environ.get("HIPADAPT_HIP_HEADERS", "")
    for folder in [*filter(None, named.split(os.pathsep)), *INSTALLED]:
        version = version_of(Path(folder))
        if version is not None:
            yield version, Path(folder)


def command(words: list[str], folder: Path) -> None:
    """Runs a download, or skips the test with its words."""
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=DOWNLOAD_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"HIP headers: {words[0]}: {error}")
    if done.returncode != 0:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        pytest.skip(f"HIP headers: {' '.join(words)}: {last}")


def fetch(version: str) -> Path:
    """Headers of this version, kept for the next time where packages are."""
    kept = fetched.base() / f"headers-{version}"
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent, prefix=".new-") as folder:
            found = unpack(version, Path(folder))
            with suppress(OSError):  # another run was first
                found.rename(kept)
    return kept


def unpack(version: str, folder: Path) -> Path:
    """Downloads headers of this version; their folder, below the given one."""
    if version == DEBIAN:
        command(["apt-get", "download", "libamdhip64-dev"], folder)
        package = next(folder.glob("*.deb"))
        command(["dpkg", "-x", str(package), str(folder)], folder)
        return folder / "usr" / "include"
    words = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", "."]
    words += ["--only-binary=:all:", "--implementation=cp", "--python-version=3.11"]
    words += ["--platform=manylinux_2_28_x86_64", "--platform=manylinux_2_27_x86_64"]
    command([*words, f"triton=={WHEELS[version]}"], folder)
    wheel = next(folder.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        inside = "triton/backends/amd/include/"
        names = [name for name in archive.namelist() if name.startswith(inside)]
        archive.extractall(folder, names)
    wheel.unlink()
    return folder / "triton" / "backends" / "amd" / "include"


# ---- tables ----------------------------------------------------------------------------


def rows(record: model.Record, prefix: str, top: str) -> Iterator[tuple[str, ...]]:
    for member in record.members:
        if member.bits:
            continue
        path = prefix + member.name
        if member.name:
            yield "offset", top, path
        if member.record and not member.dim:
            yield from rows(member.record, path + "." if member.name else prefix, top)


def facts() -> list[tuple[str, ...]]:
    """Everything to compare: every record, member, enumerator and number macro."""
    out: list[tuple[str, ...]] = []
    for record in API.records:
        if record.size is not None:
            out += [("size", record.name), *rows(record, "", record.name)]
    out += [("value", name) for enum in API.enums for name in enum.constants]
    out += [
        ("value", constant.name)
        for constant in API.constants
        if isinstance(constant.value, int) and "VERSION" not in constant.name
    ]
    return out


@cache
def spelled(record: str, text: str) -> str:
    """How C names the record in a header with this text."""
    if re.search(rf"[}}\w*] *\b{record} *;", text):
        return record
    kinds = {r.name: r.kind for r in API.records}
    return f"{kinds[record]} {record}"


def line(fact: tuple[str, ...], text: str) -> str:
    if fact[0] == "value":
        return f'printf("{fact[1]} %lld\\n", (long long)({fact[1]}));'
    name = spelled(fact[1], text)
    if fact[0] == "size":
        return f'printf("{fact[1]} %zu %zu\\n", sizeof({name}), _Alignof({name}));'
    return f'printf("{fact[1]}.{fact[2]} %zu\\n", offsetof({name}, {fact[2]}));'


def table(
    head: str, wanted: list[tuple[str, ...]], text: str, folder: Path, *flags: str
) -> tuple[dict[str, str], list[tuple[str, ...]]]:
    """The facts that these headers have, as text, and those that they lack.

    A fact that the compiler refuses is left out, and the rest is tried again.
    """
    source, program = folder / "table.c", folder / "table"
    opening = ["#include <stddef.h>", "#include <stdio.h>", *head.splitlines()]
    opening += ["int main(void) {"]
    words = [*compiler(), "-w", *flags, str(source), "-o", str(program)]
    if "clang" in words[0] or "ziglang" in words:
        words.append("-ferror-limit=0")
    lacking: list[tuple[str, ...]] = []
    while True:
        body = [line(fact, text) for fact in wanted]
        source.write_text("\n".join([*opening, *body, "return 0; }", ""]), "utf-8")
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
        found = re.findall(r"table\.c:(\d+):\d+: error", done.stderr)
        refused = {int(number) - len(opening) - 1 for number in found}
        assert refused, done.stderr
        assert min(refused) >= 0, done.stderr
        lacking += [fact for i, fact in enumerate(wanted) if i in refused]
        wanted = [fact for i, fact in enumerate(wanted) if i not in refused]
    out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return dict(row.split(" ", 1) for row in out.splitlines()), lacking


def their_table(include: Path, folder: Path) -> dict[str, str]:
    """What HIP's headers in this folder say."""
    text = "\n".join(
        path.read_text(encoding="utf-8", errors="replace")
        for path in (include / "hip").glob("*.h")
    )
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    head = ["#include <stdint.h>", "#include <stdbool.h>"]
    for name in ("hip_runtime_api.h", "library_types.h", "hiprtc.h"):
        if (include / "hip" / name).is_file():
            head.append(f"#include <hip/{name}>")
    found, _ = table(
        "\n".join(head),
        facts(),
        text,
        folder,
        "-D__HIP_PLATFORM_AMD__",
        f"-I{include}",
    )
    return found


def our_table(folder: Path) -> dict[str, str]:
    """What the description says, by way of our own declarations."""
    macros = {c.name: str(c.value) for c in API.constants if isinstance(c.value, int)}
    wanted = [fact for fact in facts() if fact[1] not in macros]
    text = "".join(f"}} {record.name};\n" for record in API.records)
    found, lacking = table(OURS, wanted, text, folder, f"-I{ROOT / 'csrc'}")
    assert lacking == []
    return {**found, **macros}
