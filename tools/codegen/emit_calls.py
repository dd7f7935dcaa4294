# SPDX-License-Identifier: MIT
"""csrc/api/generated/calls.{h,c}: the call table and what is known about each call."""

from __future__ import annotations

from . import text
from .model import Api

SINCE_CHARS = 8


def texts(api: Api) -> list[str]:
    """All names, those of Python and those of the library, once each."""
    return list(dict.fromkeys(n for f in api.functions for n in (f.name, f.symbol)))


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
        "struct ha_call_entry {",
        "    uint16_t name;     /* places of the texts */",
        "    uint16_t symbol;",
        "    bool rtc;          /* in the hiprtc library */",
        f"    char since[{SINCE_CHARS}];     /* first HIP version known to have it */",
        "    int least_version; /* older runtimes mean something else by it */",
        "};",
        "",
        "extern struct ha_call_table ha_calls;",
        "extern const struct ha_call_entry ha_call_entries[HA_CALL_COUNT];",
        "",
        "/* Under which Python knows it, and what the library calls it. */",
        "const char *ha_call_name(enum ha_call call);",
        "const char *ha_call_symbol(enum ha_call call);",
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
        "#include <stddef.h>",
        "",
        "/* All names are in one object: pointers to them would be relocations at the",
        " * start of each process.  Each is a member, whose place the compiler finds:",
        " * another function changes no other line. */",
        "static const struct texts {",
        *(f"    char of_{name}[{len(name) + 1}];" for name in texts(api)),
        "} texts = {",
        *(f'    "{name}",' for name in texts(api)),
        "};",
        "",
        '_Static_assert(sizeof texts <= UINT16_MAX, "places have 16 bits");',
        "#define AT(name) offsetof(struct texts, of_##name)",
        "",
        "struct ha_call_table ha_calls;",
        "",
        "const struct ha_call_entry ha_call_entries[HA_CALL_COUNT] = {",
    ]
    for f in api.functions:
        rtc = "true" if f.module == "hiprtc" else "false"
        least = f.raw.get("least_version", 0)
        lines += [
            f"    [HA_CALL_{f.symbol}] =",
            f'        {{AT({f.name}), AT({f.symbol}), {rtc}, "{f.since}", {least}}},',
        ]
    lines += ["};", ""]
    for what in ("name", "symbol"):
        lines += [
            "const char *",
            f"ha_call_{what}(enum ha_call call)",
            "{",
            f"    return (const char *)&texts + ha_call_entries[call].{what};",
            "}",
            "",
        ]
    return "\n".join(lines)


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    return {
        "csrc/api/generated/calls.h": header(api),
        "csrc/api/generated/calls.c": source(api),
    }
