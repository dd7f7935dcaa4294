# SPDX-License-Identifier: MIT
"""csrc/module/generated/profiler_* and the table of csrc/tool: the SDK for Python.

One entry of the description (profiler_model.py) gives a slot in the table, a wrapper
and its docstring here, and a stub and a place in the documents (emit_profiler_docs.py).
Wrappers match and convert arguments with the adapters that HIP's wrappers use.
"""

from __future__ import annotations

from . import text
from .model import Api
from .profiler_model import NUMBERS, TRIPLET, USER, Call, Param, Sdk, load
from .profiler_text import docstring, optional

FOLDER = "csrc/module/generated"
TABLE = "csrc/tool/generated/sdk_table.h"
FILES = 2  # that the wrappers are spread over
VIEWS = ("text", "list", "function", "sink", "data", "record")
FASTCALL = [
    "PyObject *module",
    "PyObject *const *args",
    "Py_ssize_t count",
    "PyObject *keywords",
]
SAMPLES = 256
INCLUDES = """\
#include <Python.h>

#include "module/generated/profiler_calls.h"
"""
PARTS = """\
#include "adapters/adapter.h"
#include "adapters/cstr.h"
#include "adapters/view.h"
#include "module/profiler_lists.h"
#include "module/profiler_text.h"
#include "module/profiler_wrap.h"
"""


def wrapper(call: Call) -> str:
    return f"ha_wrap_{call.name}"


class Writer:
    """One wrapper."""

    def __init__(self, call: Call, sdk: Sdk) -> None:
        self.call = call
        self.sdk = sdk
        self.slots = call.inputs()
        self.lines: list[str] = []
        self.views = [p for p in self.slots if p.role in VIEWS]
        self.fails = False

    def add(self, *lines: str) -> None:
        self.lines += lines

    def fail_if(self, condition: str) -> None:
        self.fails = True
        lines = text.wrap_call("    if (", condition.split(", "), " < 0) {")
        self.add(*lines, "        goto done;", "    }")

    # ---- variables

    def variable(self, param: Param) -> list[str]:
        name = param.name
        kind = param.type.removeprefix("const ")
        match param.role:
            case "handle":
                return [f"{kind} v_{name} = {{0}};"]
            case "user":
                return [f"{kind} v_{name} = {{.value = 0}};"]
            case "number":
                ctype = {"int": "int", "uint": "unsigned int"}.get(
                    NUMBERS[kind], f"{NUMBERS[kind]}_t"
                )
                return [f"{ctype} v_{name} = 0;"]
            case "enum":
                return [f"int v_{name} = 0;"]
            case "out" if param.target in self.sdk.handles:
                return [f"{param.target} o_{name} = {{0}};"]
            case "out" if param.target == TRIPLET:
                return [f"{param.target} o_{name} = {{0, 0, 0}};"]
            case "out" if param.target == USER:
                return [f"{param.target} o_{name} = {{.value = 0}};"]
            case "out":
                return [f"{param.target} o_{name} = 0;"]
            case "out_text":
                return [f"const char *o_{name} = NULL;", f"uint64_t n_{name} = 0;"]
            case "out_list":
                return [f"PyObject *o_{name} = NULL;"]
            case "out_record":
                return [f"{self.call.raw['record']['type']} o_{name} = {{0}};"]
            case "out_samples":
                return [
                    f"rocprofiler_counter_record_t o_{name}[{SAMPLES}];",
                    f"size_t n_{name} = {SAMPLES};",
                ]
            case role if role in VIEWS:
                return [f"struct ha_view v_{name};"]
            case _:
                return []

    def head(self) -> None:
        call, slots = self.call, self.slots
        if not slots:
            self.add(
                "PyObject *",
                f"{wrapper(call)}(PyObject *module, PyObject *Py_UNUSED(none))",
                "{",
            )
        else:
            self.add(
                "PyObject *", *text.wrap_call(f"{wrapper(call)}(", FASTCALL, ")"), "{"
            )
            self.add(f"    static struct ha_where where[{len(slots)}];")
            if any(p.role not in ("enum",) for p in slots):
                self.add("    struct ha_types *types = ha_types_of(module);")
            self.add(f"    PyObject *bound[{len(slots)}];")
        self.add("    PyObject *result = NULL;")
        for param in call.params:
            self.add(*(f"    {line}" for line in self.variable(param)))
        if "sink" in call.raw:
            self.add("    struct ha_collector *sink = NULL;")
        if call.is_text:
            self.add("    const char *answer = NULL;")
        else:
            missing = "ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED"
            self.add(f"    rocprofiler_status_t status = {missing};")
        self.add("")

    # ---- arguments

    def bind(self) -> None:
        slots = self.slots
        if not slots:
            return
        names = "".join(
            f"{name}\\0" for name in (self.call.name, *(p.name for p in slots))
        )
        total = len(slots)
        self.add(
            f"    ha_where_names(where, {total},",
            *text.wrap_string(
                "        ", [p + "\\0" for p in names.split("\\0")[:-1]], ");"
            ),
        )
        left = optional(self.call)
        if left:
            kinds = ["i" if p.role == "data" else "n" for p in slots]
            rows = []
            for size in range(total, total - left - 1, -1):
                rows += [str(size), *map(str, range(size))]
            items = [str(total), str(left + 1), *(f"'{k}'" for k in kinds), *rows]
            self.add(
                "    static const unsigned char forms[] = {",
                *text.wrap_call("        ", items, "};"),
                f"    if (keywords != NULL || count != {total}) {{",
                *text.wrap_call(
                    "        if (ha_bind_forms(",
                    ["where", "forms", "args", "count", "keywords", "bound"],
                    ") < 0) {",
                ),
            )
        else:
            self.add(
                f"    if (keywords != NULL || count != {total}) {{",
                *text.wrap_call(
                    "        if (ha_bind(",
                    ["where", str(total), "args", "count", "keywords", "bound"],
                    ") < 0) {",
                ),
            )
        self.add(
            "            return NULL;", "        }", "        args = bound;", "    }"
        )
        for param in self.views:
            self.add(f"    ha_view_idle(&v_{param.name});")

    def convert(self, at: int, param: Param) -> str:
        name = param.name
        ends = f"args[{at}], &where[{at}], "
        match param.role:
            case "handle":
                return f"ha_profiler_handle_from(types, {ends}&v_{name}.handle)"
            case "user":
                return f"ha_arg_uint64(types, {ends}&v_{name}.value)"
            case "number":
                return f"ha_arg_{NUMBERS[param.type]}(types, {ends}&v_{name})"
            case "enum":
                return f'ha_profiler_enum_from(module, "{param.type}", {ends}&v_{name})'
            case "text":
                flags = "0" if param.nullable else "HA_NOT_NULL"
                return f"ha_cstr_from(types, {ends}{flags}, &v_{name})"
            case "list":
                kind = "HA_U64" if param.target in self.sdk.handles else "HA_I32"
                return f"ha_profiler_list_from(types, {ends}{kind}, &v_{name})"
            case "function":
                null = "true" if param.nullable else "false"
                kind = f'"{param.type}"'
                ends += f"{kind}, {null}, "
                return f"ha_profiler_function_from(module, {ends}&v_{name})"
            case "sink":
                callback = self.call.raw["sink"]["callback"]
                return (
                    f'ha_profiler_sink_from(module, {ends}"{param.type}", '
                    f"{callback}, &v_{name}, &sink)"
                )
            case "data":
                return f"ha_ptr_from(types, {ends}0, &v_{name})"
            case _:
                ends += f"sizeof({param.type}), "
                return f"ha_profiler_record_from(types, {ends}&v_{name})"

    # ---- the call

    def argument(self, param: Param) -> list[str]:
        """C arguments of one parameter and of the length that belongs to it."""
        name, raw = param.name, self.call.raw
        match param.role:
            case "handle" | "user" | "number":
                return [f"v_{name}"]
            case "enum":
                return [f"({param.type})v_{name}"]
            case "text":
                return [f"v_{name}.ptr", f"ha_profiler_length(&v_{name})"]
            case "list":
                return [f"v_{name}.ptr", f"(size_t)v_{name}.count"]
            case "function" | "sink":
                return [f"({param.type})(uintptr_t)v_{name}.ptr"]
            case "data" if raw.get("sink", {}).get("data") == name:
                return [f"sink != NULL ? (void *)sink : v_{name}.ptr"]
            case "data":
                return [f"v_{name}.ptr"]
            case "record":
                return [f"*(const {param.type} *)v_{name}.ptr"]
            case "out" | "out_record":
                return [f"&o_{name}"]
            case "out_text":
                return [f"&o_{name}", f"&n_{name}"]
            case "out_samples":
                return [f"o_{name}", f"&n_{name}"]
            case "out_list":
                return [raw["collect"]["callback"]]
            case "fixed":
                return [str(raw["fixed"][name])]
            case _:
                if raw.get("collect", {}).get("data") == name:
                    return [f"o_{raw['collect']['param']}"]
                return []

    def make_call(self) -> None:
        call = self.call
        self.fails = True
        self.add("    if (!ha_profiler_need()) {", "        goto done;", "    }")
        for param in call.outputs():
            if param.role == "out_list":
                self.add(
                    f"    o_{param.name} = PyList_New(0);",
                    f"    if (o_{param.name} == NULL) {{",
                    "        goto done;",
                    "    }",
                )
        self.add(f"    if (ha_tool->sdk->{call.short} != NULL) {{")
        if call.releases:
            self.add("        PyThreadState *thread = PyEval_SaveThread();")
        to = "answer" if call.is_text else "status"
        items = [a for p in call.params for a in self.argument(p)] or [""]
        self.add(
            *text.wrap_call(f"        {to} = ha_tool->sdk->{call.short}(", items, ");")
        )
        if call.releases:
            self.add("        PyEval_RestoreThread(thread);")
        self.add("    }")
        if "sink" in call.raw:
            self.add("    ha_profiler_keep_sink((int)status, sink);")
        if not call.raw.get("at_once"):
            for param in self.views:
                if param.role in ("function", "sink"):
                    self.add(f"    ha_profiler_keep((int)status, &v_{param.name});")

    # ---- the result

    def value(self, param: Param) -> str:
        name = f"o_{param.name}"
        match param.role:
            case "out_text":
                return f"ha_profiler_text(good ? {name} : NULL)"
            case "out_list":
                return f"ha_profiler_list(good, {name})"
            case "out_record":
                make = self.call.raw["record"]["make"]
                return f"good ? {make}(&{name}) : Py_NewRef(Py_None)"
            case "out_samples":
                return f"ha_profiler_samples({name}, good ? n_{param.name} : 0)"
        if param.target == TRIPLET:
            return f'Py_BuildValue("III", {name}.major, {name}.minor, {name}.patch)'
        if param.target in self.sdk.handles:
            name += ".handle"
        elif param.target == USER:
            name += ".value"
        elif NUMBERS[param.target] == "int":
            return f"PyLong_FromLong(good ? {name} : 0)"
        return f"PyLong_FromUnsignedLongLong(good ? {name} : 0)"

    def result(self) -> None:
        call = self.call
        if call.is_text:
            self.add("    result = ha_profiler_text(answer);")
            return
        if call.raw.get("at_once") or "collect" in call.raw:
            # A callback may have raised.
            self.add("    if (PyErr_Occurred()) {", "        goto done;", "    }")
        outputs = call.outputs()
        if not outputs:
            self.add("    result = ha_profiler_status(module, (int)status);")
            return
        values = [self.value(p) for p in outputs]
        if any("good" in value for value in values):
            self.add("    bool good = status == ROCPROFILER_STATUS_SUCCESS;")
        items = ["ha_profiler_member(module, (int)status)", *values]
        self.add(*text.wrap_call(f"    result = ha_result{len(items)}(", items, ");"))

    def end(self) -> None:
        if self.fails:
            self.add("done:")
        for param in self.call.outputs():
            if param.role == "out_list":
                self.add(f"    Py_XDECREF(o_{param.name});")
        for param in reversed(self.views):
            self.add(f"    ha_view_end(&v_{param.name});")
        self.add("    return result;", "}", "")

    def write(self) -> list[str]:
        self.head()
        self.bind()
        for at, param in enumerate(self.slots):
            self.fail_if(self.convert(at, param))
        self.make_call()
        self.result()
        self.end()
        return self.lines


def table(sdk: Sdk) -> str:
    width = 78
    lines = [
        text.banner("/*", " */"),
        "/* The functions of rocprofiler-sdk, in the order of the description. */",
        "#ifndef HA_TOOL_GENERATED_SDK_TABLE_H",
        "#define HA_TOOL_GENERATED_SDK_TABLE_H",
        "",
        f"{'#define HA_SDK_FUNCTIONS(X)':<{width}} \\",
        *(f"{f'    X({call.short})':<{width}} \\" for call in sdk.calls[:-1]),
        f"    X({sdk.calls[-1].short})",
        "",
        "#endif",
    ]
    return "\n".join([*lines, ""])


def methods(sdk: Sdk) -> str:
    lines = [text.banner("/*", " */"), INCLUDES]
    wrapped = [call for call in sdk.calls if not call.manual]
    lines += [
        "#define CALL(name) \\",
        "    (PyCFunction)(void (*)(void)) name, METH_FASTCALL | METH_KEYWORDS",
        "",
        "static PyMethodDef methods[] = {",
    ]
    for call in wrapped:
        how = (
            f"CALL({wrapper(call)})"
            if call.inputs()
            else f"{wrapper(call)}, METH_NOARGS"
        )
        words = docstring(call).replace("\n", "\\n").split(" ")
        pieces = [word + " " for word in words[:-1]] + [words[-1]]
        lines += [
            f'    {{"{call.name}",',
            f"     {how},",
            *text.wrap_string("     ", pieces, "},"),
        ]
    lines += [
        "    {NULL, NULL, 0, NULL},",
        "};",
        "",
        "int",
        "ha_profiler_calls_init(PyObject *module)",
        "{",
        "    return PyModule_AddFunctions(module, methods);",
        "}",
    ]
    return "\n".join([*lines, ""])


def prototypes(sdk: Sdk) -> str:
    lines = [
        text.banner("/*", " */"),
        "#ifndef HA_MODULE_GENERATED_PROFILER_CALLS_H",
        "#define HA_MODULE_GENERATED_PROFILER_CALLS_H",
        "",
        "#include <Python.h>",
        "",
        "/* Adds all of them to the module; 0, or -1 with an exception. */",
        "int ha_profiler_calls_init(PyObject *module);",
        "",
    ]
    for call in sdk.calls:
        if call.manual:
            continue
        params = FASTCALL if call.inputs() else ["PyObject *module", "PyObject *none"]
        lines += text.wrap_call(f"PyObject *{wrapper(call)}(", params, ");")
    return "\n".join([*lines, "", "#endif", ""])


def source(calls: list[Call], sdk: Sdk) -> str:
    lines = [text.banner("/*", " */"), INCLUDES, PARTS]
    for call in calls:
        lines += Writer(call, sdk).write()
    return "\n".join(lines)


def emit(_: Api) -> dict[str, str]:
    """Path below the root -> content."""
    sdk = load()
    files = {
        TABLE: table(sdk),
        f"{FOLDER}/profiler_methods.c": methods(sdk),
        f"{FOLDER}/profiler_calls.h": prototypes(sdk),
    }
    wrapped = [call for call in sdk.calls if not call.manual]
    size = -(-len(wrapped) // FILES)
    for part in range(FILES):
        some = wrapped[part * size : (part + 1) * size]
        files[f"{FOLDER}/profiler_call_{part + 1}.c"] = source(some, sdk)
    return files
