# SPDX-License-Identifier: MIT
"""csrc/api/generated/enums.{h,c}: names and values of every enum."""

from __future__ import annotations

from . import text
from .model import Api


def header(api: Api) -> str:
    lines = [
        text.banner("/*", " */"),
        "/* Names and values of the enums; api/enums.h makes classes of them. */",
        "#ifndef HA_API_GENERATED_ENUMS_H",
        "#define HA_API_GENERATED_ENUMS_H",
        "",
        "#include <stdint.h>",
        "",
        "enum ha_enum {",
    ]
    lines += [f"    HA_ENUM_{e.name}," for e in api.enums]
    lines += [
        "    HA_ENUM_COUNT",
        "};",
        "",
        "struct ha_enum_member {",
        "    const char *name;",
        "    int64_t value;",
        "};",
        "",
        "struct ha_enum_entry {",
        "    const char *name;",
        "    const char *module; /* hip or hiprtc */",
        "    const struct ha_enum_member *members;",
        "    int count;",
        "};",
        "",
        "extern const struct ha_enum_entry ha_enum_entries[HA_ENUM_COUNT];",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def source(api: Api) -> str:
    lines = [
        text.banner("/*", " */"),
        '#include "api/generated/enums.h"',
        "",
    ]
    for enum in api.enums:
        lines.append(f"static const struct ha_enum_member {enum.name}_members[] = {{")
        for name, value in enum.constants.items():
            row = f'    {{"{name}", {value}}},'
            if len(row) > text.WIDTH:
                lines += [f'    {{"{name}",', f"     {value}}},"]
            else:
                lines.append(row)
        lines += ["};", ""]
    lines.append("const struct ha_enum_entry ha_enum_entries[HA_ENUM_COUNT] = {")
    for enum in api.enums:
        lines += [
            f"    [HA_ENUM_{enum.name}] =",
            f'        {{"{enum.name}", "{enum.module}", {enum.name}_members,',
            f"         {len(enum.constants)}}},",
        ]
    lines += ["};", ""]
    return "\n".join(lines)


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    return {
        "csrc/api/generated/enums.h": header(api),
        "csrc/api/generated/enums.c": source(api),
    }
