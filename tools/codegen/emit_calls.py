# SPDX-License-Identifier: MIT
"""csrc/api/generated/calls.{h,c}: the call table and what is known about each call."""

from __future__ import annotations

from . import text
from .model import Api

SINCE_CHARS = 8


def header(api: Api) -> str:
    lines = [
        text.banner("/*", " */"),
        "/* One number, one pointer and one row of facts for each entry point of HIP",
        " * and hiprtc.  api/provider.h says who fills the pointers. */",
        "#ifndef HA_API_GENERATED_CALLS_H",
        "#define HA_API_GENERATED_CALLS_H",
        "",
        "#include <stdbool.h>",
        "#include <stdint.h>",
        "",
        '#include "abi/hip.h"',
        '#include "abi/hiprtc.h"',
        "",
        "enum ha_call {",
    ]
    lines += [f"    HA_CALL_{f.symbol}," for f in api.functions]
    lines += [
        "    HA_CALL_COUNT",
        "};",
        "",
        "/* Members in the order of enum ha_call. */",
        "struct ha_call_table {",
    ]
    lines += [f"    __typeof__(&{f.symbol}) {f.symbol};" for f in api.functions]
    lines += [
        "};",
        "",
        "_Static_assert(",
        "    sizeof(struct ha_call_table) == HA_CALL_COUNT * sizeof(void *),",
        '    "the table is an array of pointers");',
        "",
        "/* Names are in one text: pointers to them would be relocations at the start",
        " * of each process. */",
        "struct ha_call_entry {",
        "    uint16_t name;     /* under which Python knows it; in ha_call_text */",
        "    uint16_t symbol;   /* in the library */",
        "    bool rtc;          /* in the hiprtc library */",
        f"    char since[{SINCE_CHARS}];     /* first HIP version known to have it */",
        "    int least_version; /* older runtimes mean something else by it */",
        "};",
        "",
        "extern struct ha_call_table ha_calls;",
        "extern const struct ha_call_entry ha_call_entries[HA_CALL_COUNT];",
        "extern const char ha_call_text[];",
        "",
        "static inline const char *",
        "ha_call_name(enum ha_call call)",
        "{",
        "    return ha_call_text + ha_call_entries[call].name;",
        "}",
        "",
        "static inline const char *",
        "ha_call_symbol(enum ha_call call)",
        "{",
        "    return ha_call_text + ha_call_entries[call].symbol;",
        "}",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def source(api: Api) -> str:
    lines = [
        text.banner("/*", " */"),
        '#include "api/generated/calls.h"',
        "",
        "struct ha_call_table ha_calls;",
        "",
        "const struct ha_call_entry ha_call_entries[HA_CALL_COUNT] = {",
    ]
    names = list(dict.fromkeys(n for f in api.functions for n in (f.name, f.symbol)))
    places: dict[str, int] = {}
    size = 0
    for name in names:
        places[name] = size
        size += len(name) + 1
    if size > 0xFFFF:
        raise ValueError("the names of all calls are longer than 64 KiB")
    for f in api.functions:
        rtc = "true" if f.module == "hiprtc" else "false"
        least = f.raw.get("least_version", 0)
        name, symbol = places[f.name], places[f.symbol]
        lines += [
            f"    [HA_CALL_{f.symbol}] =",
            f'        {{{name}, {symbol}, {rtc}, "{f.since}", {least}}},',
        ]
    pieces = [f"{name}\\0" for name in names]
    lines += ["};", "", "const char ha_call_text[] ="]
    lines += [*text.wrap_string("    ", pieces, ";"), ""]
    return "\n".join(lines)


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    return {
        "csrc/api/generated/calls.h": header(api),
        "csrc/api/generated/calls.c": source(api),
    }
