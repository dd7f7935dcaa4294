# SPDX-License-Identifier: MIT
"""What is released: its files, what is said of it, and what it is built for."""

from __future__ import annotations

import re
import stat
import sys
import zipfile
from pathlib import Path

import pytest

from hipadapt import __version__
from tests.conftest import ROOT
from tools import build_backend, long_description, native, target
from tools.release import examine, make, pythons

REPOSITORY = "https://example.org/x"
BUILD_ID = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"  # of a note; 20 bytes follow


def wheel(path: Path, **files: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in examine.WANTED:
            archive.writestr(name, name)
        for name, data in files.items():
            archive.writestr(name.replace("__", "/"), data)
    return path


def wrong(path: Path) -> list[str]:
    return list(examine.wrong_contents(path, examine.contents(path)))


def test_good_wheel_has_nothing_wrong(tmp_path: Path) -> None:
    made = wheel(tmp_path / "a.whl", **{"hipadapt__hip.py": b"HIP"})

    assert wrong(made) == []


@pytest.mark.parametrize(
    ("name", "data", "complaint"),
    [
        ("hipadapt__hip.c", b"int x;", "not meant to be in it"),
        ("tests__hip.py", b"", "not meant to be in it"),
        ("hipadapt__a.py", b"x" * 300, "again"),
        ("hipadapt__a.py", str(ROOT).encode(), "of this machine"),
    ],
)
def test_wheel_with_a_wrong_file_is_refused(
    name: str, data: bytes, complaint: str, tmp_path: Path
) -> None:
    more = {"hipadapt__b.py": b"x" * 300, name: data}

    found = wrong(wheel(tmp_path / "a.whl", **more))

    assert len(found) == 1
    assert complaint in found[0]


def test_wheel_that_is_too_large_or_lacks_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hipadapt/a.py", bytes(examine.WHEEL_MAX_BYTES))

    found = wrong(path)

    assert len(found) == 1 + len(examine.WANTED)
    assert str(examine.WHEEL_MAX_BYTES) in found[0]


def test_list_has_a_digest_for_each_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")

    shown = examine.list_all([tmp_path / "a"], tmp_path)

    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (tmp_path / "SHA256SUMS").read_text() == f"{digest}  a\n"
    assert shown.split() == ["3", digest, "a"]


def test_needed_glibc_is_read_from_the_name() -> None:
    both = "hipadapt-1-cp311-cp311-manylinux_2_28_x86_64.manylinux_2_27_x86_64.whl"

    assert make.needed_glibc(both, "x86_64") == (2, 27)
    with pytest.raises(make.Failed, match="no glibc"):
        make.needed_glibc("hipadapt-1-cp311-cp311-linux_x86_64.whl", "x86_64")


def program(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_this_python_can_be_built_for() -> None:
    found = pythons.examine(sys.executable)

    assert found.version == f"3.{sys.version_info.minor}"


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ("pyenv: not installed", "does not run"),
        ('{"version": "3.11", "headers": false}', "python3.11-dev"),
        ('{"version": "3.15", "headers": true, "release": false}', "no final release"),
    ],
)
def test_python_that_is_of_no_use_says_why(
    answer: str, complaint: str, tmp_path: Path
) -> None:
    path = program(tmp_path / "python", f"#!/bin/sh\necho '{answer}'\n")

    with pytest.raises(pythons.NotUsable, match=complaint):
        pythons.examine(path)


def test_missing_pythons_are_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given: of 3.10 a program that fails, as pyenv's does, and none of 3.99.
    program(tmp_path / "python3.10", "#!/bin/sh\nexit 127\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))

    # When
    found, missing = pythons.find(["3.10", "3.99"])

    # Then
    assert found == []
    assert "3.10" in missing[0]
    assert "does not run" in missing[0]
    assert missing[1] == "CPython 3.99: not installed"


def test_all_supported_pythons_are_built_for() -> None:
    text = (ROOT / "pyproject.toml").read_text()

    assert pythons.versions()[0] in re.findall(r'requires-python = ">=(.*)"', text)
    assert f"3.{sys.version_info.minor}" in pythons.versions()


@pytest.mark.parametrize("text", ["x86_64", "mips-linux-gnu.2.28", "x86_64-linux-musl"])
def test_target_that_is_none_is_refused(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIPADAPT_TARGET", text)

    with pytest.raises(SystemExit, match=re.escape(repr(text))):
        target.wanted()


def test_target_decides_compiler_and_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIPADAPT_TARGET", "aarch64-linux-gnu.2.28")
    monkeypatch.delenv("CC", raising=False)

    command = native.compiler()

    assert "ziglang" in command[0]
    assert "aarch64-linux-gnu.2.28" in command
    assert "aarch64" in native.extension().name
    assert build_backend.compiler_requirements() == [build_backend.ZIGLANG]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_debians_header_of_the_machine_is_found(
    machine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given: headers as Debian lays them.
    include = tmp_path / "usr" / "include"
    own = include / "x86_64-linux-gnu" / "python3.9"
    own.mkdir(parents=True)
    (own / "pyconfig.h").write_text("/* here */")
    monkeypatch.setattr("sysconfig.get_config_var", lambda name: "x86_64-linux-gnu")
    monkeypatch.setenv("HIPADAPT_TARGET", f"{machine}-linux-gnu.2.28")

    # When: twice, as builds do.
    for _ in range(2):
        flags = target.python_headers(str(include / "python3.9"), tmp_path / "kept")

    # Then
    found = Path(flags[-1]) / f"{machine}-linux-gnu" / "python3.9" / "pyconfig.h"
    assert found.read_text() == "/* here */"


@pytest.mark.parametrize(
    ("platform", "abi", "sentence"),
    [
        ("linux", "cpython-311-x86_64-linux-musl", "needs glibc"),
        ("darwin", "cpython-311-darwin", "runs on Linux only, not on darwin"),
    ],
)
def test_system_that_cannot_be_built_for_is_refused_in_a_sentence(
    platform: str, abi: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr("sysconfig.get_config_var", lambda name: abi)

    with pytest.raises(SystemExit, match=sentence):
        native.build_package(ROOT / "nowhere")


def test_debug_data_is_apart_and_found_by_its_number(tmp_path: Path) -> None:
    made = native.build(native.roctx(), native.compiler())

    lean = native.without_debug_data(made, tmp_path)

    (apart,) = tmp_path.rglob("*.debug")
    data = lean.read_bytes()
    at = data.index(BUILD_ID) + len(BUILD_ID)
    number = data[at : at + 20].hex()
    assert apart == tmp_path / ".build-id" / number[:2] / f"{number[2:]}.debug"
    assert bytes.fromhex(number) in apart.read_bytes()
    assert b".debug_info" in apart.read_bytes()
    assert b".debug_info" not in data
    assert b".symtab" not in data


def test_readme_has_no_link_that_needs_the_tree() -> None:
    text = (ROOT / "README.md").read_text()

    shown = long_description.outside(text, REPOSITORY, "v1")

    links = [found[2] for found in long_description.LINK.findall(shown)]
    assert all(link.startswith("https:") for link in links)
    inside = [link for link in links if link.startswith(REPOSITORY)]
    for link in inside:
        place = re.sub(rf"{REPOSITORY}/(raw|blob)/v1/", "", link).split("#")[0]
        assert (ROOT / place).exists(), place
    assert len(inside) > 20


def test_compiler_of_kernels_has_one_version_everywhere() -> None:
    named = {
        file: set(re.findall(r"ziglang==([\d.]+\d)", (ROOT / file).read_text()))
        for file in ("pyproject.toml", "tools/build_backend.py", "tools/native.py")
    }
    header = (ROOT / "csrc/cpu/compile/toolchain.h").read_text()
    (version,) = re.findall(r'HA_ZIG_VERSION "(.*)"', header)

    assert set(map(frozenset, named.values())) == {frozenset({version})}


def test_changes_of_this_version_are_told() -> None:
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()
