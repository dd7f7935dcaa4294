# SPDX-License-Identifier: MIT
"""csrc/tool/generated/version.h: the version of the package for C."""

from __future__ import annotations

import re
from pathlib import Path

from . import text
from .model import Api

HEADER = "csrc/tool/generated/version.h"
PACKAGE = Path(__file__).resolve().parents[2] / "hipadapt" / "__init__.py"


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
    return {HEADER: "\n".join(lines)}
