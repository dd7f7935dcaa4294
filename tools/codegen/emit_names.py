# SPDX-License-Identifier: MIT
"""csrc/api/generated/names.{h,c}: constants and second names of types."""

from __future__ import annotations

from . import text
from .model import Api


def header() -> str:
    return "\n".join(
        [
            text.banner("/*", " */"),
            "/* Constants and second names of types, for attribute lookup. */",
            "#ifndef HA_API_GENERATED_NAMES_H",
            "#define HA_API_GENERATED_NAMES_H",
            "",
            "#include <stdint.h>",
            "",
            "struct ha_constant {",
            "    const char *name;",
            "    const char *module;",
            "    const char *text; /* NULL: the value is a number */",
            "    int64_t value;",
            "};",
            "",
            "struct ha_alias {",
            "    const char *name;",
            "    const char *module;",
            "    const char *target;",
            "};",
            "",
            "/* Both end with a row of NULLs. */",
            "extern const struct ha_constant ha_constants[];",
            "extern const struct ha_alias ha_aliases[];",
            "",
            "#endif",
            "",
        ]
    )


def source(api: Api) -> str:
    lines = [
        text.banner("/*", " */"),
        '#include "api/generated/names.h"',
        "",
        "#include <stddef.h>",
        "",
        "const struct ha_constant ha_constants[] = {",
    ]
    for constant in api.constants:
        value = constant.value
        row = f'"{value}", 0' if isinstance(value, str) else f"NULL, {value}"
        lines.append(f'    {{"{constant.name}", "{constant.module}", {row}}},')
    lines += ["    {NULL, NULL, NULL, 0},", "};", ""]
    lines.append("const struct ha_alias ha_aliases[] = {")
    for alias in api.aliases:
        row = f'    {{"{alias.name}", "{alias.module}", "{alias.target}"}},'
        if len(row) > text.WIDTH:
            lines += [
                f'    {{"{alias.name}", "{alias.module}",',
                f'     "{alias.target}"}},',
            ]
        else:
            lines.append(row)
    lines += ["    {NULL, NULL, NULL},", "};", ""]
    return "\n".join(lines)


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    return {
        "csrc/api/generated/names.h": header(),
        "csrc/api/generated/names.c": source(api),
    }
