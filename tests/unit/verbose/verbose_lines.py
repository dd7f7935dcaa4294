# SPDX-License-Identifier: MIT
"""Verbose lines as plain text gives them: split at commas, named by the header."""

from __future__ import annotations

import re
from urllib.parse import unquote

HEAD = "hipadapt_verbose,v1,"
COLUMNS = (
    "operation,engine,primitive,implementation,prop_kind,memory_descriptors,"
    "attributes,auxiliary,problem_desc,exec_time"
).split(",")


def results(text: str) -> list[dict[str, str]]:
    """The columns of each line but headers, which are checked; `line` is all of it."""
    found = []
    columns: list[str] = []
    for line in text.splitlines():
        if not line.startswith(HEAD):
            continue
        fields = line.removeprefix(HEAD).split(",")
        if "info" in fields[:2]:
            template = re.search("template:(.*)", line)
            columns = template[1].split(",") if template else columns
            continue
        if columns[0] == "timestamp":
            fields[:2] = fields[1::-1]
        assert len(fields) == 1 + len(columns), line
        row = dict(zip(["component", *columns], map(unquote, fields), strict=True))
        found.append(row | {"line": line})
    return found


def number(row: dict[str, str], key: str) -> int:
    """`key:123` of any column."""
    found = re.search(rf"\b{key}:(\d+)", row["line"])
    assert found, (key, row)
    return int(found[1])
