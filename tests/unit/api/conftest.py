# SPDX-License-Identifier: MIT
"""The fixture fake: programs on the fault-injecting runtime of tests/fake."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run, interpreter
from tests.fake import recorder

PRELUDE = """
import ctypes, os
from hipadapt import hip, hiprtc
import hipadapt
fake = ctypes.CDLL(os.environ["HIPADAPT_PROVIDER"])
"""


def compiler() -> list[str]:
    """The command of a C compiler: gcc, clang, or that of the ziglang package."""
    for name in ("gcc", "clang", "cc"):
        if shutil.which(name):
            return [name]
    return [sys.executable, "-m", "ziglang", "cc"]


@pytest.fixture(scope="session")
def fake_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fake runtime, built for this session."""
    target = tmp_path_factory.mktemp("fake") / "libfake_hip.so"
    words = [*compiler(), "-std=gnu11", "-O1", "-g", "-shared", "-fPIC"]
    words += [f"-I{ROOT / 'csrc'}", "-o", str(target)]
    words += [str(ROOT / "tests" / "fake" / "fake_hip.c"), "-lpthread"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="session")
def fake(fake_library: Path) -> Run:
    """run(code): a new interpreter; code sees hip, hiprtc, hipadapt and fake."""
    run = interpreter(HIPADAPT_PROVIDER=str(fake_library))

    def with_prelude(code: str, *arguments: str, **more: object) -> object:
        import textwrap

        return run(PRELUDE + textwrap.dedent(code), *arguments, **more)

    return with_prelude  # type: ignore[return-value]


@pytest.fixture(scope="session")
def recording_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that notes its arguments, built for this session."""
    folder = tmp_path_factory.mktemp("recorder")
    code, target = folder / "recorder.c", folder / "librecorder.so"
    code.write_text(recorder.source(), encoding="utf-8")
    words = [*compiler(), "-std=gnu11", "-O0", "-shared", "-fPIC"]
    words += [f"-I{ROOT / 'csrc'}", "-o", str(target), str(code)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target
