# SPDX-License-Identifier: MIT
"""What programs have found under check, from the file that they write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def settings(output: Path, kinds: str = "all,quiet") -> dict[str, str]:
    """The environment of a program whose findings go to this file."""
    return {"HIPADAPT_CHECK": kinds, "HIPADAPT_CHECK_OUTPUT": str(output)}


def lines(output: Path, kind: str) -> list[dict[str, Any]]:
    """Of one type, in order; a program that loads no HIP leaves no file."""
    if not output.exists():
        return []
    every = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
    return [line for line in every if line["type"] == kind]


def findings(output: Path) -> list[dict[str, Any]]:
    """One for each mistake."""
    return lines(output, "finding")


def launches(output: Path) -> tuple[int, int]:
    """How many were checked, and how many were not."""
    summaries = lines(output, "summary")
    checked = sum(one["launches"] for one in summaries)
    return checked, sum(one["unchecked"] for one in summaries)


def kinds(output: Path) -> list[str]:
    return [one["kind"] for one in findings(output)]
