# SPDX-License-Identifier: MIT
"""Fixtures of the CPU device's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from .rtc_library import Rtc, library_path


@pytest.fixture(scope="session")
def library() -> Path:
    """The file of the CPU device."""
    path = library_path()
    if path is None:
        pytest.skip("libhipadapt_cpu.so was not built")
    return path


@pytest.fixture(scope="session")
def rtc(library: Path) -> Rtc:
    """The hiprtc C ABI of the CPU device."""
    return Rtc(library)


@pytest.fixture
def cache_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel cache of its own, not made yet."""
    path = tmp_path / "cache"
    monkeypatch.setenv("HIPADAPT_CACHE_DIR", str(path))
    monkeypatch.delenv("HIPADAPT_CACHE", raising=False)
    return path


@pytest.fixture
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIPADAPT_CACHE", "0")


@pytest.fixture
def work_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder and the folder for temporary files, both empty before."""
    work, temporary = tmp_path / "work", tmp_path / "temporary"
    work.mkdir()
    temporary.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("TMPDIR", str(temporary))
    yield work
    assert not list(temporary.iterdir()), "a temporary folder was left behind"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)
