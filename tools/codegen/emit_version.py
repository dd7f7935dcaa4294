# SPDX-License-Identifier: MIT
"""The version of the package for C, and those of HIP that it speaks for Python."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from . import text
from .model import Api

HEADER = "csrc/tool/generated/version.h"
HIP_VERSIONS = "hipadapt/_cli/hip_versions.py"
PACKAGE = Path(__file__).resolve().parents[2] / "hipadapt" / "__init__.py"


def number(version: str) -> list[int]:
    """How versions are ordered."""
    return [int(part) for part in version.split(".")]


def hip_versions(api: Api) -> str:
    """How many functions each version of HIP has added."""
    counts = Counter(function.since for function in api.functions)
    order = sorted(counts, key=number)
    rows = [f'    "{version}": {counts[version]},' for version in order]
    lines = [
        text.banner("#", ""),
        '"""How many functions of HIP and hiprtc are there since each version."""',
        "",
        "FUNCTIONS = {",
        *rows,
        "}",
        "",
    ]
    return "\n".join(lines)


def emit(api: Api) -> dict[str, str]:
    found = re.search(r'^__version__ = "(.*)"$', PACKAGE.read_text(), re.MULTILINE)
    if found is None:
        raise ValueError(f"{PACKAGE}: there is no version")
    lines = [
        text.banner("/*", " */"),
        "#ifndef HA_TOOL_GENERATED_VERSION_H",
        "#define HA_TOOL_GENERATED_VERSION_H",
        "",
        f'#define HA_VERSION "{found[1]}"',
        "",
        "#endif",
        "",
    ]
    return {HEADER: "\n".join(lines), HIP_VERSIONS: hip_versions(api)}
