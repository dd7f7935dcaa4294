# SPDX-License-Identifier: MIT
"""What one function more means for the generated files."""

from __future__ import annotations

import dataclasses
import difflib

import pytest

from tools.codegen import __main__ as codegen
from tools.codegen import model

LINES_MAX = 160
API = model.load()


def generated(api: model.Api) -> dict[str, str]:
    """Path -> content of what is committed."""
    return codegen.generated(api)[0]


def with_another(like: str) -> model.Api:
    """The API with one function more: at the end of ROCm's table, as HIP adds them."""
    number = [f.name for f in API.functions].index(like)
    new = dataclasses.replace(
        API.functions[number], name=f"{like}More", symbol=f"{like}More"
    )
    functions = [*API.functions[: number + 1], new, *API.functions[number + 1 :]]
    steps = [*API.abi.runtime[:-1], [*API.abi.runtime[-1], new.symbol]]
    node = list(API.abi.nodes)[-1]
    nodes = {**API.abi.nodes, node: [*API.abi.nodes[node], new.symbol]}
    abi = dataclasses.replace(API.abi, runtime=steps, nodes=nodes)
    return dataclasses.replace(API, functions=functions, abi=abi)


def changed_lines(before: dict[str, str], after: dict[str, str]) -> dict[str, int]:
    """Path -> lines that a diff shows, for files that are not the same."""
    counts = {}
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path, ""), after.get(path, "")
        if old != new:
            shown = difflib.unified_diff(old.splitlines(), new.splitlines(), n=0)
            counts[path] = sum(line[:1] in "+-" for line in shown) - 2
    return counts


@pytest.mark.parametrize("like", ["hipMemcpyAsync", "hipStreamQuery"])
def test_function_more_changes_few_lines(like: str) -> None:
    """Two people can each add a function, and a third can read what they did."""
    before = generated(API)

    counts = changed_lines(before, generated(with_another(like)))

    assert sum(counts.values()) <= LINES_MAX, counts
    assert "csrc/api/generated/calls.c" in counts
