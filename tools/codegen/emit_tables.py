# SPDX-License-Identifier: MIT
"""csrc/api/generated/tables.{h,c}: records, handles, function pointers."""

from __future__ import annotations

from collections.abc import Iterator

from . import text
from .emit_abi import record_body
from .model import Api, Member, Record

KINDS = {
    "bool": "HA_BOOL",
    "char": "HA_CHAR",
    "signed char": "HA_I8",
    "unsigned char": "HA_U8",
    "short": "HA_I16",
    "unsigned short": "HA_U16",
    "int": "HA_I32",
    "hipDevice_t": "HA_I32",
    "unsigned int": "HA_U32",
    "uint32_t": "HA_U32",
    "uint64_t": "HA_U64",
    "long": "HA_LONG",
    "unsigned long": "HA_ULONG",
    "long long": "HA_I64",
    "unsigned long long": "HA_U64",
    "size_t": "HA_SIZE",
    "float": "HA_F32",
    "double": "HA_F64",
}
FUNCTIONS = {
    "hipHostFn_t": (
        "vP",
        "Host function of hipLaunchHostFunc: takes the user's address.",
    ),
    "hipStreamCallback_t": (
        "vPiP",
        "Stream callback: takes stream, status and the user's address.",
    ),
}
INITIAL = {"dim3": "(const dim3[]){{1, 1, 1}}"}
# C types that are pointers without saying so; the Python alias of the last three is the
# record that they point to.
POINTERS = {
    "hipDeviceptr_t",
    "hipExternalMemory_t",
    "hipExternalSemaphore_t",
    "hipMipmappedArray_t",
    "hipMipmappedArray_const_t",
    "hipmipmappedArray",
}
STREAM_HANDLES = {"ihipStream_t"}
# Of the char arrays in records only these are text; the others are data (UUIDs, IPC
# handles) and read as bytes.
TEXT_MEMBERS = {"name", "gcnArchName"}


class Names:
    """Which table a type name belongs to."""

    def __init__(self, api: Api) -> None:
        self.aliases = {a.name: a.target for a in api.aliases}
        self.enums = {e.name for e in api.enums}
        self.records = [r.name for r in api.all_records()]
        self.handles = {n: h.name for h in api.handles for n, _ in h.pointers}
        self.handle_names = [h.name for h in api.handles]

    def kind(self, ctype: str) -> tuple[str, str]:
        """`(kind, index)` as C text for one value of the type."""
        plain = ctype.replace("const ", "").strip()
        target = self.aliases.get(plain, plain)
        if plain in self.handles:
            return "HA_HANDLE", f"HA_HANDLE_{self.handles[plain]}"
        if plain in FUNCTIONS:
            return "HA_FUNCTION", f"HA_FUNCTION_{plain}"
        if target in self.enums:
            return "HA_ENUM", f"HA_ENUM_{target}"
        if plain in POINTERS:
            return "HA_POINTER", "0"
        if target in self.records:
            return "HA_RECORD", f"HA_RECORD_{target}"
        if plain in KINDS:
            return KINDS[plain], "0"
        if ctype == "const char *":
            return "HA_CSTR", "0"
        if "*" in ctype:
            return "HA_POINTER", "0"
        raise ValueError(f"no kind for C type {ctype!r}")


def nested(api: Api) -> Iterator[tuple[Record, str | None, str]]:
    """`(record, root, path)`; path leads from the root to a record without a C name."""

    def walk(record: Record, root: str, path: str) -> Iterator[tuple[Record, str, str]]:
        for member in record.members:
            if member.record is None:
                continue
            # A member without a name is reached through its first member.
            inner = f"{path}.{member.name}" if member.name else path
            yield from walk(member.record, root, inner)
            yield member.record, root, inner if member.name else ""

    for record in api.records:
        yield from walk(record, record.name, "")
        yield record, None, ""


def fields(record: Record, prefix: str) -> Iterator[tuple[Member, str, int]]:
    """Members with those of nameless ones in their place: member, path, bit offset."""
    bits = 0
    for member in record.members:
        if member.record is not None and not member.name:
            yield from fields(member.record, prefix)
            continue
        yield member, f"{prefix}{member.name}", bits
        bits += member.bits or 0


def field_row(names: Names, root: str, base: str, member: Member, bits: int) -> str:
    path = f"{base}.{member.name}".lstrip(".")
    if member.record is not None:
        kind, index = "HA_RECORD", f"HA_RECORD_{member.record.name}"
    else:
        assert member.type is not None
        kind, index = names.kind(member.type)
    count = 1
    for extent in member.dim:
        count *= extent
    count = count if member.dim else 0
    if member.bits:
        # Bit fields fill one unsigned int from its lowest bit.
        offset = "0"
    elif base:
        offset = f"offsetof({root}, {path}) - offsetof({root}, {base.lstrip('.')})"
    else:
        offset = f"offsetof({root}, {path})"
    data = kind == "HA_CHAR" and count and member.name not in TEXT_MEMBERS
    flags = "HA_FIELD_BYTES" if data else "0"
    return (
        f'    {{"{member.name}", NULL, {offset}, {count}, {index}, {kind}, {flags},'
        f" {bits if member.bits else 0}, {member.bits or 0}}},"
    )


def wrapped(row: str) -> list[str]:
    if len(row) <= text.WIDTH:
        return [row]
    cut = row.rfind(", ", 0, text.WIDTH - 1) + 1
    return [row[:cut], "     " + row[cut + 1 :]]


def header(api: Api) -> str:
    names = Names(api)
    lines = [
        text.banner("/*", " */"),
        "/* Positions in the tables that api/state.c gives to the adapters. */",
        "#ifndef HA_API_GENERATED_TABLES_H",
        "#define HA_API_GENERATED_TABLES_H",
        "",
        "#include <stddef.h>",
        "",
        '#include "abi/hip.h"',
        '#include "adapters/description.h"',
        "",
        "enum {",
        *[f"    HA_RECORD_{name}," for name in names.records],
        "    HA_RECORD_COUNT",
        "};",
        "",
        "enum {",
        *[f"    HA_HANDLE_{name}," for name in names.handle_names],
        "    HA_HANDLE_COUNT",
        "};",
        "",
        "enum {",
        *[f"    HA_FUNCTION_{name}," for name in FUNCTIONS],
        "    HA_FUNCTION_COUNT",
        "};",
        "",
        "extern const struct ha_record_info ha_record_infos[HA_RECORD_COUNT];",
        "extern const struct ha_handle_info ha_handle_infos[HA_HANDLE_COUNT];",
        "extern const struct ha_function_info ha_function_infos[HA_FUNCTION_COUNT];",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def source(api: Api) -> str:
    names = Names(api)
    lines = [
        text.banner("/*", " */"),
        '#include "api/generated/tables.h"',
        "",
        '#include "api/generated/enums.h"',
        "",
    ]
    lines.append("/* Sizes that HIP's own headers give on a 64-bit machine. */")
    for record in api.records:
        if record.size is not None:
            lines += [
                f"_Static_assert(sizeof({record.name}) == {record.size},",
                f'               "{record.name}");',
            ]
    lines.append("")
    infos: list[str] = []
    for record, root, path in nested(api):
        top = root or record.name
        if root is not None and not path:
            # Members of a nameless member lie in the record around it; the record of
            # its own that Python shows for it is laid out by itself.
            lines += typedef_copy(record)
            top, path = f"struct_{record.name}", ""
        base = path.lstrip(".")
        rows = [
            field_row(names, top, base, member, bits)
            for member, _, bits in fields(record, "")
        ]
        lines.append(f"static const struct ha_field {record.name}_fields[] = {{")
        for row in rows:
            lines += wrapped(row)
        lines += ["};", ""]
        value = f"(({top} *)0)->{base}" if base else top
        align = f"_Alignof(__typeof__({value}))" if base else f"_Alignof({top})"
        infos += [
            f"    [HA_RECORD_{record.name}] =",
            f'        {{"hipadapt.hip.{record.name}", NULL, {record.name}_fields,',
            f"         {INITIAL.get(record.name, 'NULL')}, {len(rows)},",
            f"         sizeof({value}), {align}}},",
        ]
    lines.append("const struct ha_record_info ha_record_infos[HA_RECORD_COUNT] = {")
    lines += [*infos, "};", ""]
    lines.append("const struct ha_handle_info ha_handle_infos[HA_HANDLE_COUNT] = {")
    for handle in api.handles:
        flags = "HA_HANDLE_STREAM" if handle.name in STREAM_HANDLES else "0"
        lines += [
            f"    [HA_HANDLE_{handle.name}] =",
            f'        {{"hipadapt.{handle.module}.{handle.name}", NULL, {flags}}},',
        ]
    lines += ["};", ""]
    lines.append(
        "const struct ha_function_info ha_function_infos[HA_FUNCTION_COUNT] = {"
    )
    for name, (signature, doc) in FUNCTIONS.items():
        lines += [
            f"    [HA_FUNCTION_{name}] =",
            f'        {{"hipadapt.hip.{name}",',
            f'         "{doc}",',
            f'         "{signature}"}},',
        ]
    lines += ["};", ""]
    return "\n".join(lines)


def typedef_copy(record: Record) -> list[str]:
    return [
        f"typedef {record.kind} {{",
        *record_body(record, "    "),
        f"}} struct_{record.name};",
        "",
    ]


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    return {
        "csrc/api/generated/tables.h": header(api),
        "csrc/api/generated/tables.c": source(api),
    }
