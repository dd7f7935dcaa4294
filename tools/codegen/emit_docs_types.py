# SPDX-License-Identifier: MIT
"""docs/api: pages for enums, records, handles, constants, and the index of names."""

from __future__ import annotations

import re

from .docs_text import FAMILIES, Links, head, table
from .emit_stubs import member_type
from .emit_tables import FUNCTIONS, STREAM_HANDLES, Names, fields
from .model import Api, Enum, Handle, Record

NAMES = ("enums", "records", "vectors", "handles", "constants", "names")
PAGES = [
    ("[Enums](enums.md)", "members and values"),
    ("[Records](records.md)", "structs and unions: members, types and sizes"),
    ("[Vector types](vectors.md)", "`char1` to `double4`"),
    ("[Handles and functions](handles.md)", "opaque types, function pointers, aliases"),
    ("[Constants](constants.md)", "macros"),
    ("[All names](names.md)", "every name, and where it stands"),
]
VECTOR = re.compile(r"u?(char|short|int|long|longlong)[1-4]|(float|double)[1-4]")

ENUMS = """\
Every enum is an `enum.IntEnum`: a member equals its number, and where a function takes
an enum, the number does as well. A status that the enum does not have becomes a member
whose name is `unknown(number)`. `ctypes_type()` gives the ctypes type of the C enum.
"""
RECORDS = """\
Structs and unions of C. A record is made from values, by position or by name: `dim3(2,
y=3)`; what is not given is zero (in a `dim3` one). `allocate(count)` makes an array,
and the methods `get_<member>(i)` and `set_<member>(i, value)` reach its elements.
`len`, iteration and `==` work on the members; the buffer protocol gives the bytes.
Where a function takes a record it takes a tuple or list of values, too.
"""
VECTORS = """\
The vector types of HIP, with the members `x`, `y`, `z` and `w`. They are
[records](records.md): `float4(1, 2, 3, 4)`.
"""
HANDLES = """\
A handle holds an address that only HIP can use. `int(handle)` is the address, `==`
compares addresses, and `bool(handle)` is false for the NULL handle. Nothing is
destroyed when the Python object goes. See [ownership](../ownership.md).
"""
CONSTANTS = "Macros of HIP's headers. Text is `bytes`, as in C.\n"


def since(entry: Enum | Record) -> str:
    return f"Since HIP {entry.since}. " if entry.since else ""


def enums(api: Api) -> str:
    lines = [*head("Enums"), ENUMS]
    for module in ("hip", "hiprtc"):
        found = [e for e in api.enums if e.module == module]
        if not found:
            continue
        lines += [
            f"## {module}",
            "",
            f"```{{py:currentmodule}} hipadapt.{module}",
            "```",
        ]
        for entry in found:
            lines += ["", f":::{{py:class}} {entry.name}"]
            lines += [f"{since(entry)}In C: `{entry.underlying}`.", ""]
            rows = [[f"`{name}`", str(n)] for name, n in entry.constants.items()]
            lines += [*table(["member", "value"], rows), ":::"]
    return "\n".join([*lines, ""])


def extent(dim: tuple[int, ...]) -> str:
    return "".join(f"[{count}]" for count in dim)


def record(entry: Record, names: Names, links: Links) -> list[str]:
    size = f", {entry.size} bytes" if entry.size else ""
    lines = [f":::{{py:class}} {entry.name}"]
    lines += [f"{since(entry)}In C: `{entry.kind}`{size}.", ""]
    rows = []
    for member, _, _ in fields(entry, ""):
        kind = member_type(member, names).replace("builtins.", "")
        inner = kind.removeprefix("list[").rstrip("]")
        shown = links.type(inner)
        if kind.startswith("list["):
            shown = f"list of {shown}"
        ctype = member.record.kind if member.record else (member.type or "")
        bits = f" : {member.bits}" if member.bits else ""
        rows.append([f"`{member.name}`", shown, f"`{ctype}{extent(member.dim)}{bits}`"])
    if rows:
        lines += table(["member", "Python", "C"], rows)
    return [*lines, ":::", ""]


def records(api: Api) -> str:
    names, links = Names(api), Links(api)
    lines = [*head("Records"), RECORDS, "```{py:currentmodule} hipadapt.hip", "```", ""]
    found = [r for r in api.all_records() if not VECTOR.fullmatch(r.name)]
    for entry in sorted(found, key=lambda r: r.name.lower()):
        lines += record(entry, names, links)
    return "\n".join(lines)


def vectors(api: Api) -> str:
    lines = [*head("Vector types"), VECTORS]
    lines += ["```{py:currentmodule} hipadapt.hip", "```", ""]
    for entry in api.records:
        if not VECTOR.fullmatch(entry.name):
            continue
        members = [m for m, _, _ in fields(entry, "")]
        shown = ", ".join(f"`{m.name}`" for m in members)
        lines += [
            f":::{{py:class}} {entry.name}",
            f"{entry.size} bytes; {shown}: `{members[0].type}`.",
            ":::",
            "",
        ]
    return "\n".join(lines)


def handle(entry: Handle) -> list[str]:
    pointers = ", ".join(f"`{name}`" for name, _ in entry.pointers)
    line = f"In C: {pointers}." if pointers else "An opaque type."
    if entry.name in STREAM_HANDLES:
        line += " Has `__cuda_stream__()`; arguments take objects that have it, too."
    return [f":::{{py:class}} {entry.name}", line, ":::", ""]


def handles(api: Api) -> str:
    links = Links(api)
    lines = [*head("Handles and functions"), HANDLES]
    for module in ("hip", "hiprtc"):
        found = [h for h in api.handles if h.module == module]
        other = [a for a in api.aliases if a.module == module]
        if not found and not other:
            continue
        lines += [f"## {module}", ""]
        lines += [f"```{{py:currentmodule}} hipadapt.{module}", "```", ""]
        for entry in found:
            lines += handle(entry)
        if module == "hip":
            lines += ["### Function pointers", ""]
            for name, (_, doc) in FUNCTIONS.items():
                lines += [f":::{{py:class}} {name}", doc, ":::", ""]
        if other:
            lines += ["### Second names", ""]
        for alias in other:
            lines += [f":::{{py:data}} {alias.name}"]
            lines += [f"The same as {links.type(alias.target)}.", ":::", ""]
    return "\n".join(lines)


def constants(api: Api) -> str:
    lines = [*head("Constants"), CONSTANTS]
    for module in ("hip", "hiprtc"):
        found = [c for c in api.constants if c.module == module]
        if not found:
            continue
        rows = []
        for entry in found:
            # The build's own date and revision say nothing to a reader.
            value = f"{entry.value.encode()!r}" if isinstance(entry.value, str) else ""
            rows.append([f"`{module}.{entry.name}`", f"`{value or entry.value}`"])
        lines += [*table(["name", "value"], rows), ""]
    return "\n".join(lines)


def names(api: Api) -> str:
    links = Links(api)
    rows: list[tuple[str, str, str]] = []
    for function in api.functions:
        place = f"{{py:func}}`~hipadapt.{function.module}.{function.name}`"
        title = FAMILIES[function.family][0]
        rows.append(
            (function.name, place, f"function, [{title}]({function.family}.md)")
        )
    for enum in api.enums:
        rows.append((enum.name, links.type(enum.name), "enum"))
        rows += [
            (name, f"`{name}`", f"member of {links.type(enum.name)}")
            for name in enum.constants
        ]
    for entry in api.all_records():
        rows.append((entry.name, links.type(entry.name), entry.kind))
    rows += [(h.name, links.type(h.name), "handle") for h in api.handles]
    rows += [(a.name, links.type(a.name), f"is `{a.target}`") for a in api.aliases]
    rows += [(f, links.type(f), "function pointer") for f in FUNCTIONS]
    rows += [(c.name, f"`{c.name}`", "[constant](constants.md)") for c in api.constants]
    rows.sort(key=lambda row: (row[0].lower().lstrip("_"), row[2]))
    lines = [*head("All names"), f"{len(rows)} names of HIP and hiprtc.", ""]
    lines += table(["name", ""], [[place, what] for _, place, what in rows])
    return "\n".join([*lines, ""])


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    return {
        "docs/api/enums.md": enums(api),
        "docs/api/records.md": records(api),
        "docs/api/vectors.md": vectors(api),
        "docs/api/handles.md": handles(api),
        "docs/api/constants.md": constants(api),
        "docs/api/names.md": names(api),
    }
