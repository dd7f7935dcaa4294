# SPDX-License-Identifier: MIT
"""Tools are compiled here, and programs that they observe run in new interpreters.

tool     tool(source, *flags, cxx=False): the path of a shared object made of
         tests/c/rocprofiler/tools/<source>, as C11 or as C++17
observe  observe(code, *tools, **environment): runs the Python code with these tools
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ROOT / "tests" / "c" / "rocprofiler" / "tools"
LIMIT_S = 120
STRICT = ("-Wall", "-Wextra", "-Werror", "-O1", "-g", "-fPIC", "-shared", "-pthread")

Tool = Callable[..., Path]
Observe = Callable[..., "subprocess.CompletedProcess[str]"]


def headers() -> list[str]:
    """The folder that hipadapt.get_include() names."""
    import hipadapt

    return ["-I", hipadapt.get_include(), "-D__HIP_PLATFORM_AMD__=1"]


def compiler(cxx: bool) -> str:
    """A compiler for tools, or a skip."""
    names = ("g++", "clang++") if cxx else ("gcc", "clang", "cc")
    for name in names:
        if shutil.which(name):
            return name
    pytest.skip(f"no compiler for tools; install one of {', '.join(names)}")


@pytest.fixture(scope="session")
def tool(tmp_path_factory: pytest.TempPathFactory) -> Tool:
    folder = tmp_path_factory.mktemp("tools")

    def build(source: str, *flags: str, cxx: bool = False) -> Path:
        text = f"{source} {flags} {cxx}"
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        made = folder / f"lib{Path(source).stem}-{name}.so"
        if not made.exists():
            language = ["-x", "c++", "-std=c++17"] if cxx else ["-std=gnu11"]
            command = [compiler(cxx), *STRICT, *language, *headers(), f"-I{TOOLS}"]
            command += [*flags, str(TOOLS / source), "-o", str(made), "-ldl"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        return made

    return build


@pytest.fixture
def observe() -> Observe:
    def run(
        code: str, *tools: Path | str, limit_s: float = LIMIT_S, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        settings = {**os.environ, "HIPADAPT_PROVIDER": "cpu"}
        settings.pop("ROCP_TOOL_LIBRARIES", None)
        if tools:
            settings["ROCP_TOOL_LIBRARIES"] = ":".join(map(str, tools))
        settings.update(environment)
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            cwd=ROOT,
            env=settings,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )

    return run


def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What tools and the library said, without other lines."""
    assert "FAILED" not in done.stderr, done.stderr
    assert "Sanitizer" not in done.stderr, done.stderr
    return done.stderr.splitlines()
