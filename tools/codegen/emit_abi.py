# SPDX-License-Identifier: MIT
"""csrc/abi/generated: the C declarations of HIP and hiprtc."""

from __future__ import annotations

from . import text
from .model import Api, Enum, Function, Record

SCALARS = {
    "hipDevice_t": "int",
    "hipDeviceptr_t": "void *",
    "hipExternalMemory_t": "void *",
    "hipExternalSemaphore_t": "void *",
}
POINTER_ALIASES = {
    "hipmipmappedArray": "hipMipmappedArray_t",
    "hipMipmappedArray_const_t": "const hipMipmappedArray *",
}


def declare(ctype: str, name: str, dim: tuple[int, ...] = ()) -> str:
    """`ctype name[dim]`, with the star at the name."""
    gap = "" if ctype.endswith("*") else " "
    return f"{ctype}{gap}{name}" + "".join(f"[{n}]" for n in dim)


def enum_text(enum: Enum) -> list[str]:
    """A typedef'd enum; values above INT_MAX stay unsigned."""
    lines = [f"typedef enum {enum.name} {{"]
    for name, value in enum.constants.items():
        literal = f"0x{value:x}u" if value > 0x7FFFFFFF else str(value)
        lines.append(f"    {name} = {literal},")
    lines.append(f"}} {enum.name};")
    return [*lines, ""]


def record_body(record: Record, indent: str) -> list[str]:
    lines: list[str] = []
    for member in record.members:
        if member.record is not None:
            lines.append(f"{indent}{member.record.kind} {{")
            lines += record_body(member.record, indent + "    ")
            name = declare("", member.name, member.dim).strip()
            lines.append(f"{indent}}}{' ' + name if name else ''};")
        else:
            assert member.type is not None
            text_ = declare(member.type, member.name, member.dim)
            if member.bits:
                text_ += f" : {member.bits}"
            lines.append(f"{indent}{text_};")
    return lines


def record_text(record: Record) -> list[str]:
    """A typedef'd struct or union; its own pointers need the name first."""
    attribute = ""
    if record.align:
        first = record.members[0].type
        attribute = f" __attribute__((aligned({record.align} * sizeof({first}))))"
    lines = [f"typedef {record.kind} {record.name} {record.name};"]
    lines += [f"{record.kind}{attribute} {record.name} {{"]
    lines += record_body(record, "    ")
    lines.append("};")
    lines += [
        f"typedef {record.kind} {record.name} *{name};" for name in record.pointers
    ]
    return [*lines, ""]


def prototype(function: Function) -> list[str]:
    """The declaration under the symbol's name, wrapped at 88 columns."""
    params = [declare(p.type, p.name) for p in function.params] or ["void"]
    head = declare(function.returns, function.symbol) + "("
    if function.module != "hip":
        return text.wrap_call(head, params, ");")
    lines = text.wrap_call(head, params, ")")
    mark = f"HA_ENTRY({function.symbol});"
    if len(lines[-1]) + 1 + len(mark) <= text.WIDTH:
        return [*lines[:-1], f"{lines[-1]} {mark}"]
    return [*lines, f"    {mark}"]


def type_lines(api: Api, left_out: frozenset[str] = frozenset()) -> list[str]:
    """Constants and types of HIP in C; `left_out` names some that are not wanted."""
    lines = ["/* Constants. */"]
    for constant in api.constants:
        if constant.name in left_out:
            continue
        value = constant.value
        if isinstance(value, str):
            literal = '"' + value + '"'
        elif value > 0x7FFFFFFF:
            literal = f"0x{value:08x}u"
        else:
            literal = f"({value})" if value < 0 else str(value)
        lines.append(f"#define {constant.name} {literal}")
    lines += ["", "/* Scalars with names. */"]
    lines += [f"typedef {declare(c, n)};" for n, c in SCALARS.items()]
    lines += ["", "/* Handles. */"]
    for handle in api.handles:
        if handle.module != "hip":
            continue
        lines.append(f"typedef struct {handle.name} {handle.name};")
        for name, const in handle.pointers:
            lines.append(
                f"typedef {'const ' if const else ''}struct {handle.name} *{name};"
            )
    lines += ["", "/* Enums. */"]
    aliases = {a.target: [] for a in api.aliases}
    for alias in api.aliases:
        if alias.module == "hip":
            aliases[alias.target].append(alias.name)
    handle_names = {n for h in api.handles for n, _ in h.pointers}

    def alias_lines(target: str) -> list[str]:
        return [
            f"typedef {target} {name};"
            for name in aliases.get(target, [])
            if name not in handle_names and name not in POINTER_ALIASES
        ]

    for handle in api.handles:
        if handle.module == "hip":
            lines += alias_lines(handle.name)
    for enum in api.enums:
        if enum.module == "hip":
            lines += enum_text(enum)[:-1]
            lines += [*alias_lines(enum.name), ""]
    lines += [
        "/* Function pointers. */",
        "typedef void (*hipHostFn_t)(void *userData);",
        "typedef void (*hipStreamCallback_t)(hipStream_t stream, hipError_t status,",
        "                                    void *userData);",
        "",
        "/* Records. */",
    ]
    for record in api.records:
        if record.name in left_out:
            continue
        lines += record_text(record)[:-1]
        lines += [
            line
            for line in alias_lines(record.name)
            if line.rstrip(";").split()[-1] not in record.pointers
        ]
        lines.append("")
    lines += [f"typedef {declare(t, n)};" for n, t in POINTER_ALIASES.items()]
    return lines


def hip_header(api: Api) -> str:
    lines = [
        text.banner("/*", " */"),
        "/* HIP's types and functions under HIP's own names, for C11.  Declarations",
        " * only; see abi/hip.h for how to include them. */",
        "#ifndef HA_ABI_GENERATED_HIP_H",
        "#define HA_ABI_GENERATED_HIP_H",
        "",
        "#include <stdbool.h>",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
        *type_lines(api),
    ]
    lines += [
        "",
        "/* Functions.  Where HA_CPU_ENTRIES is defined, as it is in the CPU device, a",
        " * name stands for what the device does, and the symbol of that name is a",
        " * jump through the tables of abi/generated/hip_table.h. */",
        "#ifdef HA_CPU_ENTRIES",
        '#define HA_ENTRY(name) __asm__("ha_do_" #name)',
        "#else",
        "#define HA_ENTRY(name)",
        "#endif",
    ]
    for function in api.functions:
        if function.module == "hip":
            lines += prototype(function)
    lines += [
        "",
        "/* Functions that only the library has: Python doesn't know them. */",
        "struct uint3;",
        "struct hipDeviceProp_tR0000;",
    ]
    for function in api.abi.others:
        lines += prototype(function)
    lines += ["", "/* HIP 6 gave these a new symbol with the new record layout. */"]
    for function in api.functions:
        if function.symbol != function.name:
            lines.append(f"#define {function.name} {function.symbol}")
    lines += ["", "#endif", ""]
    return "\n".join(lines)


def hiprtc_types(api: Api) -> list[str]:
    """Handles and enums of hiprtc."""
    lines = []
    for handle in api.handles:
        if handle.module == "hiprtc":
            for name, _ in handle.pointers:
                lines.append(f"typedef struct {handle.name} *{name};")
    lines.append("")
    for enum in api.enums:
        if enum.module == "hiprtc":
            lines += enum_text(enum)
    return lines


def hiprtc_header(api: Api) -> str:
    lines = [
        text.banner("/*", " */"),
        "/* hiprtc's types and functions under hiprtc's own names, for C11. */",
        "#ifndef HA_ABI_GENERATED_HIPRTC_H",
        "#define HA_ABI_GENERATED_HIPRTC_H",
        "",
        '#include "abi/generated/hip.h"',
        "",
    ]
    lines += hiprtc_types(api)
    for function in api.functions:
        if function.module == "hiprtc":
            lines += prototype(function)
    lines += ["", "#endif", ""]
    return "\n".join(lines)


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    return {
        "csrc/abi/generated/hip.h": hip_header(api),
        "csrc/abi/generated/hiprtc.h": hiprtc_header(api),
    }
