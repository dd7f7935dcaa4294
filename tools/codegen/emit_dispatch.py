# SPDX-License-Identifier: MIT
"""The dispatch tables of the CPU device, and what its library exports.

A slot of a table has the number that tools know the function by, so tables only ever
grow at their end: `runtime` and `compiler` in description/abi.json are ROCm's order.
Functions for which that order is not known are in a table of our own.
"""

from __future__ import annotations

from . import text
from .emit_abi import declare
from .model import Api, Function

OWN_NODE = "HIPADAPT_1"
OWN_SYMBOLS = "hipadapt*"


def functions(api: Api) -> list[Function]:
    """Every function of HIP that the library exports through a table, by symbol."""
    found = [f for f in api.functions if f.module == "hip"] + list(api.abi.others)
    return sorted(found, key=lambda f: f.symbol)


def runtime_slots(api: Api) -> list[tuple[str, Function]]:
    """Slot name and function, in ROCm's order."""
    by_name = {f.symbol: f for f in functions(api)}
    # The newer of two layouts has the plain name where the table has only one slot.
    by_name |= {f.name: f for f in functions(api) if f.name not in by_name}
    return [(name, by_name[name]) for step in api.abi.runtime for name in step]


def tables(api: Api) -> dict[str, list[tuple[str, Function]]]:
    """Table name -> its slots."""
    every = {f.symbol: f for f in functions(api)}
    runtime = runtime_slots(api)
    compiler = [(name, every[name]) for name in api.abi.compiler]
    placed = {f.symbol for _, f in [*runtime, *compiler]}
    rest = [
        (f.symbol, f)
        for f in [*api.functions, *api.abi.others]
        if f.module == "hip" and f.symbol not in placed
    ]
    return {"hip": runtime, "compiler": compiler, "rest": rest}


STRUCTS = {
    "hip": "HipDispatchTable",
    "compiler": "HipCompilerDispatchTable",
    "rest": "ha_rest_table",
}


def header(api: Api) -> str:
    lines = [
        text.banner("/*", " */"),
        "/* The dispatch tables of HIP: `size` in bytes, then one pointer a function.",
        " * The order is ROCm's and part of its ABI; ha_rest_table is our own. */",
        "#ifndef HA_ABI_GENERATED_HIP_TABLE_H",
        "#define HA_ABI_GENERATED_HIP_TABLE_H",
        "",
        '#include "abi/hip.h"',
        "",
        f"#define HA_HIP_TABLE_STEP {len(api.abi.runtime) - 1}",
        "",
    ]
    for table, slots in tables(api).items():
        lines += [f"struct {STRUCTS[table]} {{", "    size_t size;"]
        for name, function in slots:
            lines += text.wrap_call(
                f"    __typeof__({function.symbol}) *", [name], "_fn;"
            )
        lines += ["};", ""]
    return "\n".join([*lines, "#endif", ""])


def trace_header(api: Api) -> str:
    """The tables that ROCm has too, for tools that put functions of theirs there."""
    slots = {t: rows for t, rows in tables(api).items() if t != "rest"}
    lines = [
        text.banner("/*", " */"),
        "/* HIP's dispatch tables: `size` in bytes, then one pointer a function. */",
        "#ifndef HIP_AMD_DETAIL_HIP_API_TRACE_HPP",
        "#define HIP_AMD_DETAIL_HIP_API_TRACE_HPP",
        "",
        "#include <stddef.h>",
        "",
        "#include <hip/hip_runtime_api.h>",
        "",
        "#define HIP_API_TABLE_STEP_VERSION 0",
        "#define HIP_COMPILER_API_TABLE_STEP_VERSION 0",
        f"#define HIP_RUNTIME_API_TABLE_STEP_VERSION {len(api.abi.runtime) - 1}",
        "#define HIP_API_TABLE_MAJOR_VERSION 0",
        "#define HIP_COMPILER_API_TABLE_MAJOR_VERSION 0",
        "#define HIP_RUNTIME_API_TABLE_MAJOR_VERSION 0",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        "struct hipDeviceProp_tR0000; /* of HIP 5 */",
        "struct uint3;",
        "",
    ]
    for rows in slots.values():
        for name, function in rows:
            params = [declare(p.type, p.name) for p in function.params] or ["void"]
            head = declare(function.returns, f"(*t_{name})(")
            lines += text.wrap_call(f"typedef {head}", params, ");")
        lines.append("")
    for table, rows in slots.items():
        lines += [f"struct {STRUCTS[table]} {{", "    size_t size;"]
        lines += [f"    t_{name} {name}_fn;" for name, _ in rows]
        lines += ["};", ""]
    lines += ["#ifdef __cplusplus", "}", "#endif", "", "#endif"]
    return "\n".join([*lines, ""])


def version_of(api: Api) -> dict[str, int]:
    """Symbol -> the HIP that brought it, 100 * major + minor."""
    numbers: dict[str, int] = {}
    for node, symbols in api.abi.nodes.items():
        major, minor = node.removeprefix("hip_").split(".")
        numbers |= dict.fromkeys(symbols, int(major) * 100 + int(minor))
    return numbers


def function_list(api: Api) -> str:
    """One macro call a function, by name: see csrc/cpu/entry/table.h."""
    since = version_of(api)
    place = {
        function.symbol: (table, name)
        for table, slots in tables(api).items()
        for name, function in slots
    }
    lines = [text.banner("/*", " */")]
    for function in functions(api):
        table, slot = place[function.symbol]
        params = [declare(p.type, p.name) for p in function.params] or ["void"]
        returns = {"hipError_t": "HA_CODE", "void": "HA_VOID"}.get(function.returns)
        head = f"{returns}(" if returns else f"HA_VALUE({function.returns}, "
        lines += text.wrap_call(head, [table, slot, function.symbol], ",")
        lines += text.wrap_call("    (", params, "),")
        arguments = [p.name for p in function.params] or [""]
        lines += text.wrap_call("    (", arguments, f"), {since[function.symbol]})")
    return "\n".join([*lines, ""])


def slot_list(api: Api) -> str:
    """The slots of all tables in order, HIP's activity ids, and second names."""
    lines = [text.banner("/*", " */")]
    for table, slots in tables(api).items():
        lines.append(f"#ifdef HA_SLOT_{table.upper()}")
        for name, function in slots:
            lines += text.wrap_call(
                f"HA_SLOT_{table.upper()}(", [name, function.symbol], ")"
            )
        lines.append("#endif")
    lines.append("#ifdef HA_ID")
    lines += [f"HA_ID({n}, {name})" for n, name in enumerate(api.abi.ids) if name]
    lines += ["#endif", "#ifdef HA_SAME"]
    for number, (symbol, name) in enumerate(api.abi.aliases.items()):
        lines += text.wrap_call("HA_SAME(", [str(number), symbol, name], ")")
    return "\n".join([*lines, "#endif", ""])


def version_script(api: Api) -> str:
    lines = [
        text.banner("/*", " */"),
        "/* What libhipadapt_cpu.so shows, under the versions of AMD's library. */",
        f"{OWN_NODE} {{",
        "    global:",
        f"        {OWN_SYMBOLS};",
        "    local:",
        "        *;",
        "};",
    ]
    before = ""
    for node, symbols in api.abi.nodes.items():
        lines += ["", f"{node} {{"]
        if symbols:
            lines += ["    global:", *(f"        {symbol};" for symbol in symbols)]
        lines.append(f"}} {before};" if before else "};")
        before = node
    return "\n".join([*lines, ""])


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    return {
        "csrc/abi/generated/hip_table.h": header(api),
        "csrc/cpu/headers/hip/amd_detail/hip_api_trace.hpp": trace_header(api),
        "csrc/cpu/entry/generated/functions.def": function_list(api),
        "csrc/cpu/entry/generated/slots.def": slot_list(api),
        "csrc/cpu/entry/generated/exports.map": version_script(api),
    }
