# SPDX-License-Identifier: MIT
"""csrc/api/generated/methods.{h,c}: the table of all wrappers, with docstrings."""

from __future__ import annotations

import re

from . import text
from .emit_abi import declare
from .emit_wrappers import FASTCALL, wrapper_name
from .forms import OUTPUTS, form_params, form_results, slots, status_type
from .model import Api, Function, Param
from .phrases import PHRASES

PHRASE = re.compile("|".join(map(re.escape, sorted(PHRASES, key=len, reverse=True))))
PHRASE_INDEX = {phrase: i for i, phrase in enumerate(PHRASES)}
ESCAPES = {0: "\\000", ord("\\"): "\\\\", ord('"'): '\\"', ord("\n"): "\\n"}


def prototype(function: Function) -> str:
    kind = "ha_wrapper" if slots(function) else "ha_wrapper_without_arguments"
    return f"{kind} {wrapper_name(function)};"


def wrappers_header(api: Api) -> str:
    wrapped = [f for f in api.functions if f.wrapped]
    lines = [
        text.banner("/*", " */"),
        "/* All wrappers, generated and hand-written. */",
        "#ifndef HA_API_GENERATED_WRAPPERS_H",
        "#define HA_API_GENERATED_WRAPPERS_H",
        "",
        "#include <Python.h>",
        "",
        *text.wrap_call("typedef PyObject *ha_wrapper(", FASTCALL, ");"),
        *text.wrap_call(
            "typedef PyObject *ha_wrapper_without_arguments(",
            ["PyObject *module", "PyObject *none"],
            ");",
        ),
        "",
        *(prototype(function) for function in wrapped),
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def methods_header(api: Api) -> str:
    count = sum(function.wrapped for function in api.functions)
    lines = [
        text.banner("/*", " */"),
        "/* The table that Python's modules are filled from.  In a docstring, a byte",
        " * of 128 + i stands for phrase number i. */",
        "#ifndef HA_API_GENERATED_METHODS_H",
        "#define HA_API_GENERATED_METHODS_H",
        "",
        "#include <Python.h>",
        "",
        "#include <stdbool.h>",
        "#include <stdint.h>",
        "",
        "struct ha_method {",
        "    PyCFunction call;",
        "    uint32_t name; /* places of the texts */",
        "    uint32_t doc;",
        "    bool rtc;      /* in module hiprtc, else in hip */",
        "    bool no_arguments;",
        "};",
        "",
        f"#define HA_METHOD_COUNT {count}",
        "/* In the order of their names. */",
        "extern const struct ha_method ha_methods[HA_METHOD_COUNT];",
        "const char *ha_method_name(const struct ha_method *method);",
        "const char *ha_method_doc(const struct ha_method *method);",
        "",
        f"#define HA_PHRASE_COUNT {len(PHRASES)}",
        "/* Where each phrase begins in ha_phrase_text. */",
        "extern const uint16_t ha_phrases[HA_PHRASE_COUNT];",
        "extern const char ha_phrase_text[];",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def output_name(param: Param) -> str:
    """What the tuple holds for a parameter, in words."""
    kind = param.adapter
    if param.role == "out_text":
        kind = "CStr"
    elif kind == "scalar":
        kind = "float" if "float" in param.type else "int"
    if param.role in ("out_array", "out_list"):
        kind = f"list[{kind}]"
    return f"{param.name}: {kind}"


def result_names(function: Function, form: int = 0) -> list[str]:
    """What the tuple that a form returns holds, in words for the docstring."""
    own = "hiprtcResult" if function.module == "hiprtc" else "hipError_t"
    names = [status_type(function) or own]
    if not status_type(function):
        if "*" in function.returns:
            names.append("CStr")
        else:
            names.append("int" if function.returns == "int" else function.returns)
    for param in form_results(function, form):
        is_output = param.role in (*OUTPUTS, "inout")
        names.append(output_name(param) if is_output else "None")
    return names


def tuple_text(items: list[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def docstring(function: Function) -> list[str]:
    """Lines of the docstring without the signature line."""
    params = ", ".join(declare(p.type, p.name) for p in function.params) or "void"
    lines = [function.doc or "", ""]
    lines += [f"Returns ``{tuple_text(result_names(function))}``.", ""]
    for form, names in enumerate(form_params(function)):
        if form > 0:
            call = f"{function.name}({', '.join(p.python_name for p in names)})"
            results = tuple_text(result_names(function, form))
            lines += [f"Also ``{call}``, which returns ``{results}``.", ""]
    since = f"since {function.since} at the latest."
    lines.append(f"HIP: ``{function.symbol}({params})``, {since}")
    return lines


def shortened(content: str) -> bytes:
    """A docstring with phrases as bytes above 127."""
    if not content.isascii():
        raise ValueError(f"not ASCII: {content!r}")
    return PHRASE.sub(lambda m: chr(0x80 + PHRASE_INDEX[m[0]]), content).encode(
        "latin1"
    )


def c_string(content: bytes, tail: str = "") -> list[str]:
    """A string literal."""
    pieces = [ESCAPES.get(byte, chr(byte)) for byte in content]
    # Octal escapes have three digits, so what follows is not taken for a part of them.
    pieces = [f"\\{ord(p):03o}" if ord(p[0]) > 0x7F else p for p in pieces]
    return text.wrap_string("    ", pieces, tail)


def methods_source(api: Api) -> str:
    rows: list[str] = []
    members: list[str] = []
    texts: list[str] = []
    for function in sorted((f for f in api.functions if f.wrapped), key=by_name):
        names = ", ".join(p.python_name for p in form_params(function)[0])
        head = f"{function.name}($module, /{', ' if names else ''}{names})"
        doc = shortened("\n".join([head, "--", "", *docstring(function)]))
        name = function.name
        rtc = "true" if function.module == "hiprtc" else "false"
        none = "false" if slots(function) else "true"
        rows += [
            f"    {{CALL({wrapper_name(function)}),",
            f"     AT({name}), AT({name}_doc), {rtc}, {none}}},",
        ]
        members += [
            f"    char {name}[{len(name) + 1}];",
            f"    char {name}_doc[{len(doc) + 1}];",
        ]
        texts += [f'    "{name}",', *c_string(doc, ",")]
    lines = [
        text.banner("/*", " */"),
        '#include "api/generated/methods.h"',
        "",
        "#include <stddef.h>",
        "",
        '#include "api/generated/wrappers.h"',
        "",
        "/* All texts are in one object: pointers to them would be relocations at the",
        " * start of each process.  Each is a member, whose place the compiler finds:",
        " * another function changes no other line. */",
        "static const struct texts {",
        *members,
        "} texts = {",
        *texts,
        "};",
        "",
        "#define AT(name) offsetof(struct texts, name)",
        "#define CALL(name) ((PyCFunction)(void (*)(void))(name))",
        "",
        "const struct ha_method ha_methods[HA_METHOD_COUNT] = {",
        *rows,
        "};",
        "",
    ]
    for what in ("name", "doc"):
        lines += [
            "const char *",
            f"ha_method_{what}(const struct ha_method *method)",
            "{",
            f"    return (const char *)&texts + method->{what};",
            "}",
            "",
        ]
    return "\n".join([*lines, *phrases_source()])


def by_name(function: Function) -> str:
    return function.name


def phrases_source() -> list[str]:
    places = []
    at = 0
    for phrase in PHRASES:
        places.append(str(at))
        at += len(phrase) + 1
    lines = ["const uint16_t ha_phrases[HA_PHRASE_COUNT] = {"]
    lines += [*text.wrap_call("    ", places, "};"), ""]
    lines.append("const char ha_phrase_text[] =")
    for phrase in PHRASES:
        lines += c_string(phrase.encode() + b"\0")
    lines[-1] += ";"
    return [*lines, ""]


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    return {
        "csrc/api/generated/methods.h": methods_header(api),
        "csrc/api/generated/wrappers.h": wrappers_header(api),
        "csrc/api/generated/methods.c": methods_source(api),
    }
