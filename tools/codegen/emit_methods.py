# SPDX-License-Identifier: MIT
"""csrc/api/generated/methods.{h,c}: the table of all wrappers, with docstrings."""

from __future__ import annotations

from collections.abc import Iterator

from . import text
from .emit_abi import declare
from .emit_wrappers import FASTCALL, form_params, status_type, wrapper_name
from .model import Api, Function


def prototype(function: Function) -> list[str]:
    name = wrapper_name(function)
    if not form_params(function)[-1]:
        return [f"PyObject *{name}(PyObject *module, PyObject *none);"]
    return text.wrap_call(f"PyObject *{name}(", FASTCALL, ");")


def methods_header(api: Api) -> str:
    lines = [
        text.banner("/*", " */"),
        "/* All wrappers, generated and hand-written, and the table that Python's",
        " * modules are filled from. */",
        "#ifndef HA_API_GENERATED_METHODS_H",
        "#define HA_API_GENERATED_METHODS_H",
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
        "    PyMethodDef method;",
        "    const char *module; /* hip or hiprtc */",
        "};",
        "",
        f"#define HA_METHOD_COUNT {len(wrapped)}",
        "extern struct ha_method ha_methods[HA_METHOD_COUNT];",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def result_names(function: Function) -> list[str]:
    """What the returned tuple holds, in words for the docstring."""
    own = "hiprtcResult" if function.module == "hiprtc" else "hipError_t"
    names = [status_type(function) or own]
    if not status_type(function):
        names.append("CStr" if "*" in function.returns else "int")
    for param in function.params:
        if param.role == "out_text":
            names.append(f"{param.name}: CStr")
        elif param.role == "out_record":
            names.append(f"{param.name}: {param.adapter}")
        elif param.role == "out":
            kind = param.adapter
            if kind == "scalar":
                kind = "float" if "float" in param.type else "int"
            names.append(f"{param.name}: {kind}")
    return names


def docstring(function: Function) -> list[str]:
    """Lines of the docstring without the signature line."""
    items = ", ".join(result_names(function))
    comma = "," if "," not in items else ""
    params = ", ".join(declare(p.type, p.name) for p in function.params) or "void"
    lines = [function.doc or "", ""]
    lines += [f"Returns ``({items}{comma})``.", ""]
    if len(form_params(function)) == 2:
        names = ", ".join(p.python_name for p in form_params(function)[1])
        call = f"``{function.name}({names})``"
        lines += [f"Also {call}, which returns the status alone.", ""]
    since = f"since {function.since} at the latest."
    lines.append(f"HIP: ``{function.symbol}({params})``, {since}")
    return lines


def c_string(lines: list[str]) -> Iterator[str]:
    for i, line in enumerate(lines):
        escaped = line.replace("\\", "\\\\").replace('"', '\\"')
        end = "\\n" if i + 1 < len(lines) else ""
        while len(escaped) > 76:
            cut = escaped.rfind(" ", 0, 74) + 1 or 74
            yield f'      "{escaped[:cut]}"'
            escaped = escaped[cut:]
        yield f'      "{escaped}{end}"'


def methods_source(api: Api) -> str:
    lines = [
        text.banner("/*", " */"),
        '#include "api/generated/methods.h"',
        "",
        "#define KEYWORDS (METH_FASTCALL | METH_KEYWORDS)",
        "#define CALL(name) ((PyCFunction)(void (*)(void))(name))",
        "",
        "struct ha_method ha_methods[HA_METHOD_COUNT] = {",
    ]
    wrapped = [f for f in api.functions if f.wrapped]
    for function in sorted(wrapped, key=lambda f: f.name):
        names = ", ".join(p.python_name for p in form_params(function)[0])
        flags = "KEYWORDS" if form_params(function)[-1] else "METH_NOARGS"
        head = f"{function.name}($module, /{', ' if names else ''}{names})"
        doc = list(c_string([head, "--", "", *docstring(function)]))
        lines += [
            f'    {{{{"{function.name}", CALL({wrapper_name(function)}), {flags},',
            *doc[:-1],
            doc[-1] + "},",
            f'     "{function.module}"}},',
        ]
    lines += ["};", ""]
    return "\n".join(lines)


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    return {
        "csrc/api/generated/methods.h": methods_header(api),
        "csrc/api/generated/methods.c": methods_source(api),
    }
