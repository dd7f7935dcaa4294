# SPDX-License-Identifier: MIT
"""Every function of HIP is traced, with its arguments by name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.unit.api.world import API
from tools.codegen import emit_profiler

from .conftest import ROOT, Tool, said

OPERATIONS = emit_profiler.operations(API)


@dataclass
class Seen:
    """One traced call."""

    name: str
    kind: int
    number: int
    arguments: list[tuple[str, str, str]] = field(default_factory=list)
    status: int | None = None


def read(path: Path) -> dict[str, list[Seen]]:
    """Traced calls by the call that was made."""
    found: dict[str, list[Seen]] = {}
    current: list[Seen] = []
    stack: list[Seen] = []
    for line in path.read_text(errors="replace").splitlines():
        word, *rest = line.split("\t")
        if word == "call":
            current = found.setdefault(rest[0], [])
        elif word == "begin":
            stack.append(Seen(rest[0], int(rest[1]), int(rest[2])))
            current.append(stack[-1])
        elif word == "argument":
            assert int(rest[0]) == len(stack[-1].arguments)
            stack[-1].arguments.append((rest[1], rest[2], rest[4]))
        elif word == "end":
            seen = stack.pop()
            assert seen.name == rest[0]
            seen.status = int(rest[1])
    return found


@pytest.fixture(scope="module")
def traced(
    tool: Tool, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict[str, list[Seen]], dict[str, Any]]:
    folder = tmp_path_factory.mktemp("traced")
    out, answers = folder / "out", folder / "answers"
    device = ROOT / "hipadapt" / "_lib" / "libhipadapt_cpu.so"
    command = [sys.executable, "-m", "tests.unit.rocprofiler.call_everything"]
    done = subprocess.run(
        [*command, str(out), str(answers), str(device)],
        cwd=ROOT,
        env={
            **os.environ,
            "ROCP_TOOL_LIBRARIES": str(tool("arguments.c")),
            "TOOL_OUT": str(out),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, f"ended in {last}: {done.stderr[-2000:]}"
    said(done)
    return read(out), json.loads(answers.read_text())


@pytest.mark.parametrize(
    ("table", "name", "function"), OPERATIONS, ids=[row[1] for row in OPERATIONS]
)
def test_call_is_traced_with_its_arguments(
    traced: Any, table: str, name: str, function: Any
) -> None:
    found, answers = traced
    _, status, numbers = answers[name]

    seen = [entry for entry in found[name] if entry.name == name]
    # hipadapt asks some functions for a length first.
    assert 1 <= len(seen) <= 2, [entry.name for entry in found[name]]
    call = seen[-1]

    members = emit_profiler.members(API, name, function)
    assert [row[0] for row in call.arguments] == [member for _, member in members]
    assert [row[1] for row in call.arguments] == [p.type for p, _ in members]
    assert call.kind == (5 if table == "hip" else 6)
    slots = [row[1] for row in OPERATIONS if row[0] == table]
    assert call.number == slots.index(name)
    if function.returns == "hipError_t":
        assert call.status == status
    texts = {
        param.name: text
        for (param, _), (_, _, text) in zip(members, call.arguments, strict=True)
    }
    for param, value in numbers.items():
        if param in texts and texts[param].lstrip("-").isdigit():
            assert int(texts[param]) == value, (param, call.arguments)
