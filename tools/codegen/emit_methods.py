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
ESCAPES = {ord("\\"): "\\\\", ord('"'): '\\"', ord("\n"): "\\n"}


def prototype(function: Function) -> list[str]:
    name = wrapper_name(function)
    if not slots(function):
        return [f"PyObject *{name}(PyObject *module, PyObject *none);"]
    return text.wrap_call(f"PyObject *{name}(", FASTCALL, ");")


def methods_header(api: Api) -> str:
    lines = [
        text.banner("/*", " */"),
        "/* All wrappers, generated and hand-written, and the table that Python's",
        " * modules are filled from.  Its names and docstrings are in one text, since",
        " * pointers to them would be relocations at the start of each process.  In a",
        " * docstring, a byte of 128 + i stands for phrase number i. */",
        "#ifndef HA_API_GENERATED_METHODS_H",
        "#define HA_API_GENERATED_METHODS_H",
        "",
        "#include <stdint.h>",
        "",
        '#include "api/api.h"',
        "",
    ]
    wrapped = [f for f in api.functions if f.wrapped]
    for function in wrapped:
        lines += prototype(function)
    lines += [
        "",
        "struct ha_method {",
        "    PyCFunction call;",
        "    uint32_t name; /* where it begins in ha_method_text */",
        "    uint32_t doc;",
        "    bool rtc;      /* in module hiprtc, else in hip */",
        "    bool no_arguments;",
        "};",
        "",
        f"#define HA_METHOD_COUNT {len(wrapped)}",
        "/* In the order of their names. */",
        "extern const struct ha_method ha_methods[HA_METHOD_COUNT];",
        "extern const char ha_method_text[];",
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


def c_string(content: bytes) -> list[str]:
    """A string literal with its NUL."""
    pieces = [ESCAPES.get(byte, chr(byte)) for byte in content]
    # Octal escapes have three digits, so what follows is not taken for a part of them.
    pieces = [f"\\{ord(p):03o}" if ord(p[0]) > 0x7F else p for p in pieces]
    return text.wrap_string("    ", [*pieces, "\\000"], "")


def methods_source(api: Api) -> str:
    lines = [
        text.banner("/*", " */"),
        '#include "api/generated/methods.h"',
        "",
        "#define CALL(name) ((PyCFunction)(void (*)(void))(name))",
        "",
        "const struct ha_method ha_methods[HA_METHOD_COUNT] = {",
    ]
    wrapped = sorted((f for f in api.functions if f.wrapped), key=lambda f: f.name)
    texts: list[str] = []
    at = 0
    for function in wrapped:
        names = ", ".join(p.python_name for p in form_params(function)[0])
        head = f"{function.name}($module, /{', ' if names else ''}{names})"
        doc = shortened("\n".join([head, "--", "", *docstring(function)]))
        name = function.name.encode()
        rtc = "true" if function.module == "hiprtc" else "false"
        none = "false" if slots(function) else "true"
        lines += [
            f"    {{CALL({wrapper_name(function)}),",
            f"     {at}, {at + len(name) + 1}, {rtc}, {none}}},",
        ]
        for part in (name, doc):
            texts += c_string(part)
            at += len(part) + 1
    lines += ["};", "", "const char ha_method_text[] =", *texts]
    lines[-1] += ";"
    return "\n".join([*lines, "", *phrases_source()])


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
        lines += c_string(phrase.encode())
    lines[-1] += ";"
    return [*lines, ""]


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    return {
        "csrc/api/generated/methods.h": methods_header(api),
        "csrc/api/generated/methods.c": methods_source(api),
    }
