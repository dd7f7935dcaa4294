# SPDX-License-Identifier: MIT
"""The package's version for C and pkg-config, and those of HIP that it speaks."""

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


PKG_CONFIG = """\
prefix=${{pcfiledir}}/../..
includedir=${{prefix}}/include
libdir=${{prefix}}/_lib

Name: hipadapt
Description: HIP and hiprtc on the CPU device of hipadapt
Version: {version}
Cflags: -I${{includedir}} -D__HIP_PLATFORM_AMD__=1
Libs: -L${{libdir}} -Wl,-rpath,${{libdir}} -l:libhipadapt_cpu.so
"""


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
    pkg_config = text.banner("#", "") + "\n" + PKG_CONFIG.format(version=found[1])
    return {
        HEADER: "\n".join(lines),
        HIP_VERSIONS: hip_versions(api),
        "hipadapt/cmake/pkgconfig/hipadapt.pc": pkg_config,
    }
