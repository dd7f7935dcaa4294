# SPDX-License-Identifier: MIT
"""docs/adapters.md shows the table that the C code uses."""

from __future__ import annotations

import re
from pathlib import Path

from hipadapt import _core

ROOT = Path(__file__).resolve().parents[3]

ORDER = [
    "None",
    "Pointer",
    "int",
    "ctypes.c_void_p",
    "__dlpack_c_exchange_api__",
    "__cuda_array_interface__",
    "buffer",
    "as_c_void_p",
    "__dlpack__",
    "__index__",
]


def test_order_is_the_documented_one() -> None:
    assert [name for name, _ in _core.adapter_order] == ORDER


def test_docs_show_the_table() -> None:
    text = (ROOT / "docs" / "adapters.md").read_text()
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", text, re.MULTILINE)
    shown = [(name, accepts.replace("\\", "")) for name, accepts in rows]
    assert tuple(shown[: len(ORDER)]) == _core.adapter_order
