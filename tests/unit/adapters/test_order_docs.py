# SPDX-License-Identifier: MIT
"""docs/adapters.md shows the table that the C code uses, which begins as specified."""

from __future__ import annotations

import re
from pathlib import Path

from hipadapt import _core, types

ROOT = Path(__file__).resolve().parents[3]

# "Type checks are performed in the above order": the document of the adapter types.
SPECIFICATION = [
    "None",
    "Pointer",
    "int",
    "ctypes.c_void_p",
    "__cuda_array_interface__",
    "buffer",
]
OURS = ["as_c_void_p", "__dlpack_c_exchange_api__", "__dlpack__", "__index__"]


def test_order_is_the_specified_one_and_then_ours() -> None:
    assert [name for name, _ in _core.adapter_order] == SPECIFICATION + OURS


def test_docs_show_the_table() -> None:
    text = (ROOT / "docs" / "adapters.md").read_text()
    section = text.split("## The order")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (.*) \|$", section, re.MULTILINE)
    shown = [(name, accepts.replace("\\", "")) for name, accepts in rows]
    assert tuple(shown) == _core.adapter_order


def test_docs_name_the_order_of_the_table_in_words() -> None:
    text = (ROOT / "docs" / "design.md").read_text()
    words = text.split("**Adapters.**")[1].split("An exact instance")[0]
    wanted = r"None|Pointer|int|ctypes\.c_void_p|__cuda_array_interface__"
    wanted += r"|buffer|as_c_void_p|DLPack's C interface|__dlpack__|__index__"
    found = re.findall(rf"(?<=[`\s])({wanted})\b", words)
    assert found == [
        name.replace("__dlpack_c_exchange_api__", "DLPack's C interface")
        for name, _ in _core.adapter_order
    ]


def test_docstring_of_pointer_names_the_order() -> None:
    text = types.Pointer.__doc__ or ""
    names = ["None", "a Pointer", "an int", "c_void_p", "__cuda_array", "buffer"]
    places = [text.index(name) for name in [*names, "as_c_void_p", "DLPack"]]
    assert places == sorted(places)
