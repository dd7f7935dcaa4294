# SPDX-License-Identifier: MIT
"""Programs on the fault-injecting runtime of tests/fake; streams and what they call."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.conftest import ROOT, Run, interpreter
from tests.fake import recorder

from .callbacks import good

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


@pytest.fixture(params=["hipLaunchHostFunc", "hipStreamAddCallback"])
def enqueue(request: pytest.FixtureRequest, cpu: ModuleType) -> Callable[..., Any]:
    """Has f(user) called by the stream, one way or the other."""

    def launch(stream: Any, function: Any, user: Any) -> Any:
        return good(cpu.hipLaunchHostFunc(stream, function, user))

    def add(stream: Any, function: Any, user: Any) -> Any:
        wrapped = function
        if callable(function):

            def wrapped(_stream: Any, _status: Any, data: Any) -> Any:
                return function(data)

        return good(cpu.hipStreamAddCallback(stream, wrapped, user, 0))

    return launch if request.param == "hipLaunchHostFunc" else add


@pytest.fixture
def stream(cpu: ModuleType) -> Iterator[Any]:
    made = good(cpu.hipStreamCreate())
    yield made
    assert cpu.hipStreamDestroy(made) == (0,)
