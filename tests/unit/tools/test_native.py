# SPDX-License-Identifier: MIT
"""The key of the kernel cache knows the sources of this library by their text."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from tools import native

FILES = ("cache_key.c", "buffer.c", "image_file.c")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sources, to be changed; what follows builds it."""
    shutil.copytree(native.CSRC, tmp_path / "first" / "csrc")
    move_to(tmp_path / "first", monkeypatch)
    return tmp_path / "first" / "csrc"


def move_to(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, path in {
        "ROOT": root,
        "CSRC": root / "csrc",
        "OBJECTS": root / "build",
    }.items():
        monkeypatch.setattr(native, name, path)


def build() -> dict[str, bytes]:
    """The objects that a build makes anew."""
    command = native.compile_command(native.device(), native.compiler())
    folder = native.folder_of("test", command)
    sources = [native.CSRC / "cpu" / "compile" / name for name in FILES]
    objects = [native.object_of(source, folder) for source in sources]
    before = [p.stat().st_mtime_ns if p.is_file() else 0 for p in objects]
    native.compile_all(sources, folder, command)
    return {
        name: path.read_bytes()
        for name, path, age in zip(FILES, objects, before, strict=True)
        if path.stat().st_mtime_ns != age
    }


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def test_change_of_a_source_makes_another_key_and_one_object_more(tree: Path) -> None:
    first = native.image_sources()

    everything = build()
    nothing = build()
    append(tree / "cpu" / "compile" / "image_file.c", "/* changed */\n")
    changed = build()
    second = native.image_sources()

    assert set(everything) == set(FILES)
    assert nothing == {}
    assert set(changed) == {"image_file.c", "cache_key.c"}
    assert first.encode() in everything["cache_key.c"]
    assert second.encode() in changed["cache_key.c"]
    assert first != second


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("cpu/compile/rewrite_fast.c", True),
        ("cpu/compile/toolchain_flags.h", True),
        ("cpu/base/image.h", True),
        ("cpu/exec/exec.c", False),
        ("cpu/headers/hip/hip_runtime.h", False),  # hashed where it is installed
    ],
)
def test_sources_that_decide_about_code_count(
    tree: Path, name: str, counts: bool
) -> None:
    before = native.image_sources()
    append(tree / name, "\n")

    assert (native.image_sources() != before) == counts


def test_place_of_the_tree_does_not_count(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = native.image_sources()
    shutil.copytree(tree, tree.parent.parent / "second" / "csrc")
    move_to(tree.parent.parent / "second", monkeypatch)

    assert native.image_sources() == first


@pytest.mark.skipif(platform.machine() != "x86_64", reason="a flag of x86-64 compilers")
def test_no_file_is_marked_for_shadow_stacks_by_a_compiler_that_would(
    tmp_path: Path,
) -> None:
    source = tmp_path / "empty.c"
    source.write_text("")
    marking = [*native.compiler(), "-fcf-protection=full"]

    ours = native.compile_command(native.device(), marking)
    shown = subprocess.run(
        [*ours, "-dM", "-E", str(source)], capture_output=True, text=True, check=True
    )

    assert "__linux__" in shown.stdout
    assert "__CET__" not in shown.stdout
