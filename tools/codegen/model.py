# SPDX-License-Identifier: MIT
"""The API description as Python objects.

Nothing here decides how a thing looks in C or Python; the ``emit_*`` modules do.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DESCRIPTION = Path(__file__).parent / "description"


@dataclass(frozen=True)
class Param:
    """One C parameter and how Python sees it; see description/README.md."""

    name: str
    type: str
    role: str = "value"
    adapter: str | None = None
    size: str | None = None
    write: bool = False
    python: str | None = None
    of: str | None = None
    on_failure: bool = False

    @property
    def python_name(self) -> str:
        """The keyword under which Python passes it."""
        return self.python or self.name


@dataclass(frozen=True)
class Function:
    """One entry point of HIP or hiprtc."""

    name: str
    module: str
    family: str
    returns: str
    since: str
    params: tuple[Param, ...]
    symbol: str
    doc: str | None = None
    wrapped: bool = False
    manual: bool = False
    gil: str = "release"
    stream: str | None = None
    forms: tuple[tuple[str, ...], ...] = ()
    raw: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Enum:
    """One C enum; ``constants`` keeps the order of HIP's header."""

    name: str
    module: str
    underlying: str
    since: str
    constants: dict[str, int]


@dataclass(frozen=True)
class Member:
    """A member of a record; either ``type`` or ``record`` is set."""

    name: str
    type: str | None
    record: Record | None
    dim: tuple[int, ...]
    bits: int | None


@dataclass(frozen=True)
class Record:
    """A struct or union; nested records have names of their own."""

    kind: str
    name: str
    members: tuple[Member, ...]
    align: int | None = None
    since: str | None = None
    pointers: tuple[str, ...] = ()
    size: int | None = None


@dataclass(frozen=True)
class Handle:
    """An opaque struct and the pointer types that HIP declares for it."""

    name: str
    module: str
    pointers: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Constant:
    """A macro or nameless enumerator; ``value`` is an int or text."""

    name: str
    module: str
    value: int | str


@dataclass(frozen=True)
class Alias:
    """A second name of a type."""

    name: str
    module: str
    target: str


@dataclass(frozen=True)
class Abi:
    """What only the CPU device's library needs: symbols, versions, dispatch tables."""

    nodes: dict[str, tuple[str, ...]]
    runtime: tuple[tuple[str, ...], ...]
    compiler: tuple[str, ...]
    ids: tuple[str, ...]
    others: tuple[Function, ...]
    aliases: dict[str, str]
    profiler: dict[str, dict[str, str]]  # slot -> parameter -> name in rocprofiler-sdk


@dataclass(frozen=True)
class Api:
    """Everything described."""

    functions: tuple[Function, ...]
    enums: tuple[Enum, ...]
    records: tuple[Record, ...]
    handles: tuple[Handle, ...]
    constants: tuple[Constant, ...]
    aliases: tuple[Alias, ...]
    abi: Abi

    def all_records(self) -> list[Record]:
        """Records with the nested ones, inner before outer."""
        out: list[Record] = []

        def add(record: Record) -> None:
            for member in record.members:
                if member.record:
                    add(member.record)
            out.append(record)

        for record in self.records:
            add(record)
        return out


def _load(name: str) -> Any:
    return json.loads((DESCRIPTION / name).read_text(encoding="utf-8"))


def _record(entry: dict[str, Any]) -> Record:
    members = tuple(
        Member(
            name=m["name"],
            type=m.get("type"),
            record=_record(m["record"]) if "record" in m else None,
            dim=tuple(m.get("dim", ())),
            bits=m.get("bits"),
        )
        for m in entry["members"]
    )
    return Record(
        kind=entry["kind"],
        name=entry["name"],
        members=members,
        align=entry.get("align"),
        since=entry.get("since"),
        pointers=tuple(entry.get("pointers", ())),
        size=entry.get("size"),
    )


def _function(family: str, entry: dict[str, Any]) -> Function:
    return Function(
        name=entry["name"],
        module=entry["module"],
        family=family,
        returns=entry["returns"],
        since=entry["since"],
        params=tuple(Param(**p) for p in entry["params"]),
        symbol=entry.get("symbol", entry["name"]),
        doc=entry.get("doc"),
        wrapped=entry.get("wrapped", False),
        manual=entry.get("manual", False),
        gil=entry.get("gil", "release"),
        stream=entry.get("stream"),
        forms=tuple(tuple(names) for names in entry.get("forms", ())),
        raw=entry,
    )


def _abi(entry: dict[str, Any]) -> Abi:
    others = [
        {**other, "module": "hip", "since": "5.2"}
        for other in entry["others"]  # not for Python
    ]
    return Abi(
        nodes={name: tuple(symbols) for name, symbols in entry["nodes"].items()},
        runtime=tuple(tuple(names) for names in entry["runtime"]),
        compiler=tuple(entry["compiler"]),
        ids=tuple(entry["ids"]),
        others=tuple(_function("abi", other) for other in others),
        aliases=entry["aliases"],
        profiler=entry["profiler"],
    )


def load() -> Api:
    """Reads and returns the whole description."""
    functions: list[Function] = []
    for path in sorted((DESCRIPTION / "functions").glob("*.json")):
        entries = json.loads(path.read_text(encoding="utf-8"))
        functions += [_function(path.stem, entry) for entry in entries]
    return Api(
        functions=tuple(functions),
        enums=tuple(Enum(**e) for e in _load("enums.json")),
        records=tuple(_record(e) for e in _load("records.json")),
        handles=tuple(
            Handle(
                name=e["name"],
                module=e["module"],
                pointers=tuple((p["name"], p["const"]) for p in e["pointers"]),
            )
            for e in _load("handles.json")
        ),
        constants=tuple(Constant(**e) for e in _load("constants.json")),
        aliases=tuple(Alias(**e) for e in _load("aliases.json")),
        abi=_abi(_load("abi.json")),
    )
