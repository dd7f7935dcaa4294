# SPDX-License-Identifier: MIT
"""hipadapt-cc where nothing more can be written: it says so, and leaves nothing."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .test_cc import SOURCE, cc

pytestmark = pytest.mark.plain  # its time is the compiler's


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A folder that is a disk of its own, of 64 KiB, full but for one page."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    words = [str(mount), "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if mount is None or subprocess.run(words, capture_output=True).returncode != 0:
        pytest.skip("mounting needs the rights of root: run this test with sudo")
    try:
        (folder / "fill").write_bytes(bytes(60 << 10))
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("library", ["libc++", "libstdc++"])
def test_full_disk_is_said_and_nothing_is_left_there(
    library: str, tmp_path: Path, disk: Path
) -> None:
    if library == "libstdc++" and shutil.which("g++") is None:
        pytest.skip("libstdc++ needs g++")
    (tmp_path / "put.hip").write_text(SOURCE)

    done = cc(tmp_path, f"-stdlib={library}", "put.hip", "-o", f"{disk}/put")

    assert done.returncode == 1
    assert "hipadapt-cc: error: linking: " in done.stderr
    assert f"no space is left in {disk}" in done.stderr
    assert [path.name for path in disk.iterdir()] == ["fill"]


def test_full_disk_is_said_where_an_object_goes(tmp_path: Path, disk: Path) -> None:
    (tmp_path / "put.hip").write_text(SOURCE)

    done = cc(tmp_path, "-c", "put.hip", "-o", f"{disk}/put.o")

    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert [path.name for path in disk.iterdir()] == ["fill"]


def small_files() -> None:
    """No file of the process exceeds 100 KiB: less than the headers of HIP together."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100 << 10, 100 << 10))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def test_signal_that_ends_a_compiler_is_said(tmp_path: Path) -> None:
    (tmp_path / "put.hip").write_text(SOURCE)

    done = cc(tmp_path, "put.hip", before=small_files)

    assert done.returncode == 1
    assert "hipadapt-cc: error: SIGXFSZ has ended" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["put.hip"]


@pytest.mark.parametrize("home", [None, "/nowhere", "file"])
@pytest.mark.parametrize("other", [False, True], ids=["ours", "somebody's"])
def test_home_is_not_needed(
    home: str | None, other: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "put.hip").write_text(SOURCE)
    (tmp_path / "file").touch()
    temporary = tmp_path / "temporary"
    kept = temporary / f"hipadapt-zig-{os.geteuid()}"
    kept.mkdir(parents=True, mode=0o777 if other else 0o700)
    kept.chmod(0o777 if other else 0o700)
    for name in ("HOME", "XDG_CACHE_HOME", "ZIG_GLOBAL_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    if home is not None:
        monkeypatch.setenv("HOME", str(tmp_path / "file") if home == "file" else home)
    monkeypatch.setenv("TMPDIR", str(temporary))

    done = cc(tmp_path, "-stdlib=libc++", "-c", "put.hip")

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "put.o").exists()
    assert bool(list(kept.iterdir())) != other
    assert [path.name for path in temporary.iterdir()] == [kept.name]
    assert not Path("/nowhere").exists()
