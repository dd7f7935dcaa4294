# SPDX-License-Identifier: MIT
"""What a test needs, it gets by fixture: a provider, or a new interpreter.

A process has one provider, so tests in this process run on the CPU device, and the
others in interpreters of their own:

    cpu   the module hipadapt.hip in this process, on the CPU device
    amd   run(code): a new interpreter on AMD's own runtime; needs no GPU
    fake  run(code): a new interpreter on the fault-injecting runtime of tests/fake
"""

from __future__ import annotations

import gc
import importlib
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent
AMD_NAMES = tuple(f"libamdhip64.so{suffix}" for suffix in (".7", ".6", ".5", ""))
RUN_LIMIT_S = 120
WORKERS_MAX = 8
# Free-threaded Pythons have none, unless they are told otherwise.
GIL = getattr(sys, "_is_gil_enabled", lambda: True)()

Run = Callable[..., "subprocess.CompletedProcess[str]"]

# Before anything imports hipadapt: results do not depend on the machine.
os.environ.setdefault("HIPADAPT_PROVIDER", "cpu")
# No test multiplies matrices with numpy; its threads would wait busily in every process.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Tests hold on a busy machine and under sanitizers: an example may take long.
hypothesis.settings.register_profile(
    "any machine",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("any machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`-m amd` and `-m interop` select by fixture and by folder."""
    for item in items:
        if "amd" in getattr(item, "fixturenames", ()):
            item.add_marker("amd")
        if "interop" in item.path.parts:
            item.add_marker("interop")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """`-n auto`: each process has a CPU device with threads of its own."""
    return min(len(os.sched_getaffinity(0)), WORKERS_MAX)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """`-n` gives each process a row of neighbours: they share fixtures and kernels."""
    if config.getoption("dist") != "load":
        return None  # another choice was made
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.fixture(scope="module", autouse=True)
def settled() -> None:
    """What is there before a module stays: `gc.collect` of a test need not look at it."""
    gc.collect()
    gc.freeze()


def shared_folder(factory: pytest.TempPathFactory, name: str) -> Path:
    """A folder of this session, one for all processes of `pytest -n`."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # of all workers
    folder = base / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@pytest.fixture(scope="session", autouse=True)
def kernel_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Compiled kernels of this session; the user's own cache is left alone."""
    folder = shared_folder(tmp_path_factory, "hipadapt-cache")
    with pytest.MonkeyPatch.context() as patch:
        if "HIPADAPT_CACHE_DIR" not in os.environ:
            patch.setenv("HIPADAPT_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(scope="session")
def cpu() -> ModuleType:
    """The module hipadapt.hip, in this process, on the CPU device."""
    if os.environ["HIPADAPT_PROVIDER"] != "cpu":
        pytest.skip("HIPADAPT_PROVIDER names another provider; run without it")
    return importlib.import_module("hipadapt.hip")


def environment() -> dict[str, str]:
    """A copy; pytest changes variables meanwhile, on another thread without a GIL."""
    while True:
        try:
            return dict(os.environ)
        except (KeyError, RuntimeError):
            continue


def interpreter(**settings: str) -> Run:
    """Returns run(code, *arguments, **environment), which checks the exit status."""

    def run(
        code: str, *arguments: str, status: int | None = 0, **more: str
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code), *arguments],
            cwd=ROOT,
            env={**environment(), **settings, **more},
            capture_output=True,
            text=True,
            timeout=RUN_LIMIT_S,
            check=False,
        )
        if status is not None:
            assert done.returncode == status, done.stdout + done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def run_python() -> Run:
    """run(code): a new interpreter on the CPU device."""
    return interpreter(HIPADAPT_PROVIDER="cpu")


@pytest.fixture(scope="session")
def amd() -> Run:
    """run(code): a new interpreter on AMD's own runtime."""
    if not any(loads(name) for name in AMD_NAMES):
        pytest.skip("AMD's runtime is not installed: apt-get install libamdhip64-5")
    return interpreter(HIPADAPT_PROVIDER="amd")


def in_threads(count: int, work: Callable[[], object]) -> None:
    """Calls it on so many threads at once; raises what one of them raised."""
    begin = threading.Barrier(count)

    def one() -> None:
        begin.wait()
        work()

    with ThreadPoolExecutor(count) as pool:
        for call in [pool.submit(one) for _ in range(count)]:
            call.result()


def loads(library: str) -> bool:
    """Whether the dynamic linker finds this library; asked in another process."""
    code = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    words = [sys.executable, "-c", code, library]
    done = subprocess.run(words, capture_output=True, timeout=RUN_LIMIT_S, check=False)
    return done.returncode == 0
