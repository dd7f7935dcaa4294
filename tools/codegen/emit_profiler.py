# SPDX-License-Identifier: MIT
"""What the profiler knows of HIP's functions: identifiers, arguments and wrappers.

An operation is numbered as its slot in the dispatch table (emit_dispatch), and the
members of the arguments' union are called as upstream calls them, which is nearly
always as the parameters (`profiler` in description/abi.json has the others).
"""

from __future__ import annotations

import re

from . import text
from .emit_abi import declare
from .emit_dispatch import tables
from .model import Api, Function, Param

HEADERS = "csrc/rocprofiler/include/rocprofiler-sdk/hip"
Operations = list[tuple[str, str, Function]]  # table, slot name, function
RETVALS = {
    "hipError_t": "hipError_t_retval",
    "int": "int_retval",
    "const char *": "const_charp_retval",
    "hipChannelFormatDesc": "hipChannelFormatDesc_retval",
    "void **": "voidpp_retval",
}
# Types of members: dim3 has a constructor in C++, which no member of a union may have;
# the others are names that not every set of headers declares.
MEMBER_TYPES = {
    "dim3": "rocprofiler_dim3_t",
    "struct uint3 *": "void *",
    "struct hipDeviceProp_tR0000 *": "void *",
    "const struct hipDeviceProp_tR0000 *": "const void *",
}
SCALARS = {
    "char": "CHAR",
    "signed char": "I8",
    "unsigned char": "U8",
    "short": "I16",
    "unsigned short": "U16",
    "int": "I32",
    "hipDevice_t": "I32",
    "unsigned int": "U32",
    "uint32_t": "U32",
    "long": "I64",
    "long long": "I64",
    "unsigned long long": "U64",
    "unsigned long": "U64",
    "uint64_t": "U64",
    "size_t": "U64",
    "float": "F32",
    "double": "F64",
    "dim3": "DIM3",
    "void": "VOID",
}


def operations(api: Api) -> Operations:
    """The runtime's in order, then the compiler's."""
    slots = tables(api)
    return [
        (table, name, function)
        for table in ("hip", "compiler")
        for name, function in slots[table]
    ]


def members(api: Api, slot: str, function: Function) -> list[tuple[Param, str]]:
    """Parameter and name of the member that holds it."""
    names = api.abi.profiler.get(slot, {})
    return [(p, names.get(p.name, p.name)) for p in function.params]


def ids_header(api: Api, table: str, kind: str, guard: str) -> str:
    head = f"ROCPROFILER_HIP_{kind.upper()}_API_ID"
    lines = [
        text.banner("/*", " */"),
        f"/* Operations of the HIP_{kind.upper()}_API kinds: slots of the table. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        f"typedef enum rocprofiler_hip_{kind}_api_id_t {{",
        f"    {head}_NONE = -1,",
    ]
    for number, (name, _) in enumerate(tables(api)[table]):
        lines.append(f"    {head}_{name}{' = 0' if number == 0 else ''},")
    lines += [f"    {head}_LAST,", f"}} rocprofiler_hip_{kind}_api_id_t;", "", "#endif"]
    return "\n".join([*lines, ""])


def args_header(api: Api) -> str:
    lines = [
        text.banner("/*", " */"),
        "/* Arguments and results of HIP's functions. */",
        "#ifndef ROCPROFILER_SDK_HIP_API_ARGS_H",
        "#define ROCPROFILER_SDK_HIP_API_ARGS_H",
        "",
        "#include <rocprofiler-sdk/defines.h>",
        "#include <rocprofiler-sdk/fwd.h>",
        "",
        "#ifndef HA_ABI_HIP_H /* hipadapt's own sources have the types from there */",
        "#include <hip/hip_runtime_api.h>",
        "#endif",
        "",
        "ROCPROFILER_EXTERN_C_INIT",
        "",
        "/* C++ has no empty struct of size 0. */",
        "typedef struct rocprofiler_hip_api_no_args {",
        "    char empty;",
        "} rocprofiler_hip_api_no_args;",
        "",
        "typedef union rocprofiler_hip_api_retval_t {",
        "    uint64_t uint64_t_retval;",
        *(f"    {declare(t, name)};" for t, name in RETVALS.items()),
        "} rocprofiler_hip_api_retval_t;",
        "",
        "typedef union rocprofiler_hip_api_args_t {",
    ]
    for _, name, function in operations(api):
        lines.append("    struct {")
        for param, member in members(api, name, function):
            kind = MEMBER_TYPES.get(param.type, param.type)
            if "*" not in kind:
                kind = kind.removeprefix("const ")
            lines.append(f"        {declare(kind, member)};")
        if not function.params:
            lines.append("        rocprofiler_hip_api_no_args no_args;")
        lines.append(f"    }} {name};")
    lines += [
        "} rocprofiler_hip_api_args_t;",
        "",
        "ROCPROFILER_EXTERN_C_FINI",
        "",
        "#endif",
    ]
    return "\n".join([*lines, ""])


def base_kind(api: Api, name: str, enums: set[str], handles: set[str]) -> str:
    """What a type without its stars is."""
    if name in SCALARS:
        return SCALARS[name]
    if name in enums:
        return "I32"
    if name in handles or name in ("hipDeviceptr_t",) or name.endswith("_fn"):
        return "POINTER"
    return "RECORD"


def arg_kind(
    api: Api, param: Param, enums: set[str], handles: set[str]
) -> tuple[str, int]:
    """Kind of what is in the end, and how many pointers lead to it."""
    plain = re.sub(r"\b(const|enum|struct|union)\b", "", param.type)
    if param.type in ("const char *",) and param.role == "text":
        return "TEXT", 1
    if "(" in plain or param.role in ("callback", "host_call"):
        return "POINTER", 0
    stars = plain.count("*") + plain.count("[")
    base = re.sub(r"\[.*?\]|\*", "", plain).strip()
    return base_kind(api, base, enums, handles), stars


def place(word: str) -> str:
    """The member that holds a word."""
    return "of_" + "".join(
        c if c.isalnum() or c == "_" else f"_{ord(c):x}_" for c in word
    )


def bare_type(type_: str) -> str:
    """A type without qualifiers, stars and extents."""
    return re.sub(r"\b(const|enum|struct|union)\b|\*|\[.*?\]", "", type_).strip()


def argument_lines(api: Api, found: Operations) -> tuple[list[str], set[str]]:
    """What is said about each argument, and the words that stand in it."""
    enums = {e.name for e in api.enums} | {"hipGLDeviceList"}
    handles = {pointer for h in api.handles for pointer, _ in h.pointers}
    records = {r.name for r in api.all_records()}
    lines: list[str] = []
    words: set[str] = set()
    for _, name, function in found:
        pairs = members(api, name, function)
        words |= {name}
        lines.append("    {")
        for param, member in pairs:
            kind, stars = arg_kind(api, param, enums, handles)
            if kind == "RECORD" and bare_type(param.type) not in records:
                kind = "VOID" if stars else "POINTER"
            words |= {member, param.type}
            places = [place(member), place(param.type)]
            lines += text.wrap_call(
                "        HA_ARG(", [name, member, *places, kind, f"{stars}"], ")"
            )
        lines.append("    }," if pairs else "        {0}},")
    return lines, words


def operation_lines(api: Api, found: Operations) -> list[str]:
    """One row for each operation."""
    rows: list[str] = []
    for _, name, function in found:
        pairs = members(api, name, function)
        streams = [i for i, (p, _) in enumerate(pairs) if p.type == "hipStream_t"]
        stream = streams[0] + 1 if streams else 0
        rows.append(f"    HA_OP({name}, {place(name)}, {len(pairs)}, {stream})")
    return rows


def wrapper_lines(api: Api, name: str, function: Function) -> list[str]:
    """The function that goes into the slot of one operation."""
    params = [declare(p.type, p.name) for p in function.params] or ["void"]
    returns = RETVALS.get(function.returns)
    head = f"HA_WRAP({function.returns}, {returns}, " if returns else "HA_WRAP_VOID("
    lines = text.wrap_call(head, [name, function.symbol], ",")
    lines += text.wrap_call("    (", params, "),")
    lines += text.wrap_call("    (", [p.name for p in function.params] or [""], "),")
    for param, member in members(api, name, function):
        value = param.name
        if param.type == "dim3":
            value = f"HA_DIM3({value})"
        elif param.type in MEMBER_TYPES:
            value = f"(void *){value}"
        lines.append(f"    ha_args->{member} = {value};")
    lines[-1] += ")"
    return lines


def source(api: Api) -> str:
    found = operations(api)
    arguments, words = argument_lines(api, found)
    texts = sorted(words)
    lines = [
        text.banner("/*", " */"),
        '#include "rocprofiler/hip_op.h"',
        "",
        "/* All words are in one object, and so are all arguments: pointers to them",
        " * would be relocations.  Each is a member, whose place the compiler finds:",
        " * another function changes no other line. */",
        "/* clang-format off */",
        "static const struct texts {",
        *(f"    char {place(word)}[{len(word) + 1}];" for word in texts),
        "} texts = {",
        *(f'    "{word}",' for word in texts),
        "};",
        "",
        "static const struct arguments {",
        *(
            f"    struct ha_op_arg {name}[{len(function.params) or 1}];"
            for _, name, function in found
        ),
        "} arguments = {",
        *arguments,
        "};",
        "",
        "/* Where the name is, number of arguments, 1 + number of the stream. */",
        "const struct ha_api_op ha_ops[HA_OP_COUNT] = {",
        *operation_lines(api, found),
        "};",
        "",
        "const char *",
        "ha_op_text(uint16_t place)",
        "{",
        "    return (const char *)&texts + place;",
        "}",
        "",
        "const struct ha_op_arg *",
        "ha_op_args(const struct ha_api_op *op)",
        "{",
        "    return (const struct ha_op_arg *)&arguments + op->first;",
        "}",
        "",
    ]
    return "\n".join(lines)


def wrappers(api: Api) -> str:
    """Functions that go into slots."""
    found = operations(api)
    lines = [
        text.banner("/*", " */"),
        '#include "rocprofiler/hip_api.h"',
        "",
        "/* clang-format off */",
    ]
    for _, name, function in found:
        lines += wrapper_lines(api, name, function)
    lines.append("void *const ha_wrappers[HA_OP_COUNT] = {")
    lines += [f"    [HA_OP_{name}] = (void *)wrap_{name}," for _, name, _ in found]
    lines += ["};", ""]
    return "\n".join(lines)


def numbers(api: Api) -> str:
    found = operations(api)
    runtime = [name for table, name, _ in found if table == "hip"]
    first, *others = [name for table, name, _ in found if table != "hip"]
    lines = [
        text.banner("/*", " */"),
        "/* Operations in one row: the runtime's, each with the number of its slot,",
        " * then the compiler's. */",
        "#ifndef HA_ROCPROFILER_GENERATED_OP_NUMBERS_H",
        "#define HA_ROCPROFILER_GENERATED_OP_NUMBERS_H",
        "",
        "enum {",
        *(f"    HA_OP_{name}," for name in runtime),
        "    HA_OP_RUNTIME_COUNT,",
        f"    HA_OP_{first} = HA_OP_RUNTIME_COUNT,",
        *(f"    HA_OP_{name}," for name in others),
        "    HA_OP_COUNT,",
        "    HA_OP_COMPILER_COUNT = HA_OP_COUNT - HA_OP_RUNTIME_COUNT,",
        "};",
        "",
        "#endif",
    ]
    return "\n".join([*lines, ""])


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    guard = "ROCPROFILER_SDK_HIP_{}_API_ID_H"
    return {
        f"{HEADERS}/runtime_api_id.h": ids_header(
            api, "hip", "runtime", guard.format("RUNTIME")
        ),
        f"{HEADERS}/compiler_api_id.h": ids_header(
            api, "compiler", "compiler", guard.format("COMPILER")
        ),
        f"{HEADERS}/api_args.h": args_header(api),
        "csrc/rocprofiler/generated/op_numbers.h": numbers(api),
        "csrc/rocprofiler/generated/hip_ops.c": source(api),
        "csrc/rocprofiler/generated/hip_wrappers.c": wrappers(api),
    }
