# SPDX-License-Identifier: MIT
"""The functions of rocprofiler-sdk: what its headers and description say of them.

Names, parameters and types stand in the headers in csrc/rocprofiler/include;
description/rocprofiler.json says what they can't: a sentence, whether the GIL is
released, and how callbacks are used.  A parameter's role follows from its type.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ROOT / "csrc/rocprofiler/include/rocprofiler-sdk"
DESCRIPTION = Path(__file__).parent / "description" / "rocprofiler.json"

FUNCTION = re.compile(
    r"^(const char \*|rocprofiler_status_t)\s*(rocprofiler_\w+)\(([^;{}()]*)\)"
    r"\s*ROCPROFILER_API",
    re.MULTILINE,
)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
HANDLE = re.compile(r"typedef struct (\w+) \{\s*uint64_t handle;\s*\} \1;")
ENUM = re.compile(r"typedef enum (\w+) \{")
NUMBERS = {
    "int": "int",
    "int32_t": "int",
    "uint32_t": "uint",
    "uint64_t": "uint64",
    "size_t": "size",
    "rocprofiler_tracing_operation_t": "int",
    "rocprofiler_timestamp_t": "uint64",
    "rocprofiler_thread_id_t": "uint64",
    "rocprofiler_counter_instance_id_t": "uint64",
    "rocprofiler_counter_dimension_id_t": "uint64",
}
RECORDS = ("rocprofiler_callback_tracing_record_t", "rocprofiler_record_header_t")
TRIPLET = "rocprofiler_version_triplet_t"
USER = "rocprofiler_user_data_t"
OUTPUTS = ("out", "out_text", "out_list", "out_record", "out_samples")


@dataclass
class Param:
    """One parameter of C.

    Roles of inputs: number, enum, handle, user (an int in a union), text, list,
    function, sink (a function or a collector), data (of a function), record (by value).
    Outputs: see OUTPUTS.  `with` (the length of the one before, or the data of a
    callback) and `fixed` have no part in Python.
    """

    name: str
    type: str
    role: str = ""
    target: str = ""  # of lists and outputs: the type of an item
    nullable: bool = False

    @property
    def is_input(self) -> bool:
        return self.role not in (*OUTPUTS, "with", "fixed")


@dataclass
class Call:
    """One function."""

    name: str
    returns: str
    params: list[Param]
    raw: dict[str, Any] = field(default_factory=dict)

    @property
    def short(self) -> str:
        return self.name.removeprefix("rocprofiler_")

    @property
    def doc(self) -> str:
        return str(self.raw["doc"])

    @property
    def is_text(self) -> bool:
        """True for the two that return text and no status."""
        return "*" in self.returns

    @property
    def manual(self) -> bool:
        """True for the one that is written by hand, in profiler_client.c."""
        return self.short == "force_configure"

    @property
    def releases(self) -> bool:
        return self.raw.get("gil") == "release"

    def inputs(self) -> list[Param]:
        return [p for p in self.params if p.is_input]

    def outputs(self) -> list[Param]:
        return [p for p in self.params if p.role in OUTPUTS]

    def declaration(self) -> str:
        """The C declaration, in one line."""
        words = [
            f"{p.type}{'' if p.type.endswith('*') else ' '}{p.name}"
            for p in self.params
        ]
        return f"{self.name}({', '.join(words) or 'void'})"


@dataclass
class Sdk:
    """All functions, and what types are."""

    calls: list[Call]
    handles: set[str]
    enums: set[str]


def split(text: str) -> list[Param]:
    """Parameters of a declaration."""
    found: list[Param] = []
    for part in text.split(","):
        match = re.fullmatch(r"(.+?)(\w+)", " ".join(part.split()))
        if match and part.strip() != "void":
            found.append(Param(match.group(2), match.group(1).strip()))
    return found


class Roles:
    """Gives the parameters of one function their roles."""

    def __init__(self, sdk: Sdk, call: Call) -> None:
        self.sdk = sdk
        self.call = call

    def set_all(self) -> None:
        raw = self.call.raw
        params = self.call.params
        for at, param in enumerate(params):
            if param.role:
                continue
            param.nullable = param.name in raw.get("nullable", ())
            following = params[at + 1] if at + 1 < len(params) else None
            param.role = self.special(param) or self.by_type(param, following)
            if param.role in ("text", "list", "out_text") and following:
                following.role = "with"
            if param.role == "out_samples" and following:
                following.role = "with"

    def special(self, param: Param) -> str | None:
        raw = self.call.raw
        if param.name in raw.get("fixed", {}):
            return "fixed"
        if collect := raw.get("collect"):
            if param.name == collect["param"]:
                return "out_list"
            if param.name == collect["data"]:
                return "with"
        if param.name == raw.get("record", {}).get("param"):
            return "out_record"
        if param.name == raw.get("samples", {}).get("records"):
            return "out_samples"
        if "sink" in raw and param.name == "callback":
            return "sink"
        return None

    def by_type(self, param: Param, following: Param | None) -> str:
        kind = param.type.removeprefix("const ")
        if kind in self.sdk.handles:
            return "handle"
        if kind in self.sdk.enums:
            return "enum"
        if kind in NUMBERS:
            return "number"
        if kind in RECORDS:
            return "record"
        if kind == USER:
            return "user"
        if kind.endswith(("_cb_t", "_func_t")):
            return "function"
        if kind == "void *":
            return "data"
        if kind == "char **":
            return "out_text"
        if kind == "char *":
            return "text"
        param.target = kind.removesuffix("*").strip()
        counted = following is not None and following.name.endswith("_count")
        return "list" if counted else "out"


def load() -> Sdk:
    """Reads headers and description; raises where one lacks what the other has."""
    texts = {
        path.name: COMMENT.sub("", path.read_text(encoding="utf-8"))
        for path in sorted(HEADERS.glob("*.h"))
    }
    everything = "\n".join(texts.values())
    described: dict[str, Any] = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
    found = {
        match.group(2): Call(match.group(2), match.group(1), split(match.group(3)))
        for match in FUNCTION.finditer(everything)
    }
    if missing := found.keys() ^ described.keys():
        raise ValueError(f"in headers or description only: {sorted(missing)}")
    sdk = Sdk(
        [found[name] for name in described],
        set(HANDLE.findall(everything)),
        set(ENUM.findall(everything)),
    )
    for call in sdk.calls:
        call.raw = described[call.name]
        Roles(sdk, call).set_all()
    return sdk
