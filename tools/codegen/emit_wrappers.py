# SPDX-License-Identifier: MIT
"""csrc/api/generated/call_*.c: one wrapper for each function.

A wrapper matches arguments, converts them on the C stack, checks sizes, calls through
the table without the GIL, and makes the result.  What it can't say is written by hand
in csrc/api/manual; such functions are marked in the description.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import text
from .emit_abi import declare
from .model import Api, Function, Param

PER_FILE = 30

NUMBERS = {
    "int": ("int", "int"),
    "hipDevice_t": ("int", "int"),
    "unsigned int": ("unsigned int", "uint"),
    "uint32_t": ("unsigned int", "uint"),
    "size_t": ("size_t", "size"),
    "uint64_t": ("uint64_t", "uint64"),
    "unsigned long long": ("unsigned long long", "unsigned_long_long"),
    "long long": ("long long", "long_long"),
    "unsigned char": ("uint8_t", "uint8"),
    "unsigned short": ("uint16_t", "uint16"),
}
OUT_SCALARS = {
    "int": "PyLong_FromLong({})",
    "hipDevice_t": "PyLong_FromLong({})",
    "unsigned int": "PyLong_FromUnsignedLong({})",
    "uint32_t": "PyLong_FromUnsignedLong({})",
    "uint64_t": "PyLong_FromUnsignedLongLong({})",
    "unsigned long long": "PyLong_FromUnsignedLongLong({})",
    "size_t": "PyLong_FromSize_t({})",
    "float": "PyFloat_FromDouble((double){})",
}
LIST_KINDS = {
    "ListOfInt": "HA_I32",
    "ListOfUnsigned": "HA_U32",
    "ListOfLong": "HA_LONG",
    "ListOfUnsignedLong": "HA_ULONG",
    "ListOfInt64": "HA_I64",
    "ListOfUInt64": "HA_U64",
}
FORM_OUTPUTS = ("out_record", "out_text")
OUTPUTS = ("out", *FORM_OUTPUTS)
FASTCALL = [
    "PyObject *module",
    "PyObject *const *args",
    "Py_ssize_t count",
    "PyObject *keywords",
]
VIEWS = (
    "pointer",
    "handle",
    "text",
    "text_list",
    "list",
    "record",
    "record_value",
)


def wrapper_name(function: Function) -> str:
    return f"ha_wrap_{function.name}"


def form_params(function: Function) -> list[list[Param]]:
    """Parameter lists that Python accepts; see csrc/api/call.h for what forms are."""
    usual = [p for p in function.params if p.role not in OUTPUTS]
    forms = [usual]
    if any(p.role in FORM_OUTPUTS for p in function.params):
        forms.append([p for p in function.params if p.role != "out"])
    return forms


def status_type(function: Function) -> str | None:
    """The enum that the C function returns as its status, if it does."""
    return (
        function.returns if function.returns in ("hipError_t", "hiprtcResult") else None
    )


class Writer:
    """Lines of one wrapper."""

    def __init__(self, function: Function, enums: set[str]) -> None:
        self.f = function
        self.enums = enums
        self.forms = form_params(function)
        self.two = len(self.forms) == 2
        self.named = self.forms[-1]  # every parameter that Python may pass, in C order
        self.lines: list[str] = []
        self.rtc = function.module == "hiprtc"
        self.short = "rtc" if self.rtc else "hip"
        self.good = "HIPRTC_SUCCESS" if self.rtc else "hipSuccess"
        self.missing = (
            "HIPRTC_ERROR_INTERNAL_ERROR" if self.rtc else "hipErrorNotSupported"
        )
        self.status = "hiprtcResult" if self.rtc else "hipError_t"

    def add(self, *lines: str) -> None:
        self.lines += lines

    def where(self, param: Param) -> str:
        return f"&where[{self.named.index(param)}]"

    def argument(self, param: Param) -> str:
        last = self.named.index(param)
        if not self.two or param not in self.forms[0]:
            return f"args[{last}]"
        first = self.forms[0].index(param)
        return (
            f"args[{first}]" if first == last else f"args[form == 0 ? {first} : {last}]"
        )

    # ---- parts -----------------------------------------------------------------------

    def head(self) -> None:
        name = wrapper_name(self.f)
        if self.named:
            head = text.wrap_call(f"{name}(", FASTCALL, ")")
        else:
            head = [f"{name}(PyObject *module, PyObject *Py_UNUSED(none))"]
        self.add("PyObject *", *head, "{")

    def signature(self) -> None:
        if not self.named:
            return
        self.add("    static const struct ha_where where[] = {")
        for param in self.named:
            self.add(f'        {{"{self.f.name}", "{param.python_name}"}},')
        self.add("    };")
        if self.two:
            self.add("    static const struct ha_where usual[] = {")
            for param in self.forms[0]:
                self.add(f'        {{"{self.f.name}", "{param.python_name}"}},')
            self.add("    };")
            usual = f"{{{len(self.forms[0])}, usual}}"
            self.add(
                "    static const struct ha_signature signature = {",
                f"        2, {{{usual}, {{{len(self.named)}, where}}}}}};",
            )
        else:
            self.add(
                "    static const struct ha_signature signature = {",
                f"        1, {{{{{len(self.named)}, where}}, {{0, NULL}}}}}};",
            )

    def views(self) -> list[str]:
        return [
            f"v_{p.name}" for p in self.f.params if p.role in (*VIEWS, *FORM_OUTPUTS)
        ]

    def declarations(self) -> None:
        self.add("    struct ha_api *api = ha_api_of(module);")
        bound = f"*bound[{len(self.named)}], " if self.named else ""
        self.add(f"    PyObject {bound}*result = NULL;")
        if self.two:
            self.add("    int form = 0;")
        for view in self.views():
            self.add(f"    struct ha_view {view};")
        for param in self.f.params:
            if param.role == "value":
                if param.type == "float":
                    self.add(f"    float v_{param.name} = 0;")
                else:
                    self.add(
                        f"    {declare(NUMBERS[param.type][0], f'v_{param.name}')} = 0;"
                    )
            elif param.role == "enum":
                self.add(f"    int v_{param.name} = 0;")
            elif param.role == "out":
                ctype = param.type.removesuffix("*").strip()
                zero = "NULL" if self.is_pointer(param) else "0"
                self.add(f"    {declare(ctype, f'o_{param.name}')} = {zero};")
            elif param.role in FORM_OUTPUTS:
                self.add(f"    PyObject *o_{param.name} = NULL;")
        self.add(f"    {self.status} status = {self.missing};")
        if not status_type(self.f):
            zero = "NULL" if "*" in self.f.returns else "0"
            self.add(f"    {declare(self.f.returns, 'answer')} = {zero};")
        self.add("")

    def is_pointer(self, param: Param) -> bool:
        return param.adapter != "scalar" and param.adapter not in self.enums

    def bind(self) -> None:
        if not self.named:
            return
        usual = len(self.forms[0])
        self.add(f"    if (keywords != NULL || count != {usual}) {{")
        if self.two:
            self.add(
                "        form = ha_bind(&signature, args, count, keywords, bound);",
                "        if (form < 0) {",
            )
        else:
            self.add(
                "        if (ha_bind(&signature, args, count, keywords, bound) < 0) {"
            )
        self.add(
            "            return NULL;", "        }", "        args = bound;", "    }"
        )
        for view in self.views():
            self.add(f"    ha_view_init(&{view});")

    def conversion(self, param: Param) -> str:
        arg, where, view = self.argument(param), self.where(param), f"&v_{param.name}"
        types = "&api->types"
        write = "HA_WRITE" if param.write else "0"
        if param.role == "value":
            suffix = "float" if param.type == "float" else NUMBERS[param.type][1]
            return f"ha_arg_{suffix}({types}, {arg}, {where}, {view})"
        if param.role == "enum":
            index = f"HA_ENUM_{param.adapter}"
            return f"ha_enum_arg(&api->enums, {index}, {arg}, {where}, {view})"
        if param.role == "pointer" and param.adapter == "CStr":
            return f"ha_cstr_from({types}, {arg}, {where}, {write}, {view})"
        if param.role == "pointer":
            return f"ha_ptr_from({types}, {arg}, {where}, {write}, {view})"
        if param.role == "handle":
            index = f"HA_HANDLE_{param.adapter}"
            return f"ha_handle_from({types}, {arg}, {where}, {index}, {view})"
        if param.role == "text":
            return f"ha_cstr_from({types}, {arg}, {where}, 0, {view})"
        if param.role == "text_list":
            return f"ha_list_bytes_from({types}, {arg}, {where}, 0, {view})"
        if param.role == "list" and param.adapter == "ListOfPointer":
            return f"ha_list_ptr_from({types}, {arg}, {where}, 0, {view})"
        if param.role == "list":
            kind = LIST_KINDS[param.adapter or ""]
            return f"ha_list_number_from({types}, {arg}, {where}, {kind}, 0, {view})"
        if param.role in ("record", "record_value"):
            flags = "HA_NOT_NULL" if param.role == "record_value" else write
            index = f"HA_RECORD_{param.adapter}"
            return f"ha_record_from({types}, {arg}, {where}, {index}, {flags}, {view})"
        raise ValueError(f"{self.f.name}: no conversion for role {param.role!r}")

    def conversions(self) -> Iterator[str]:
        for param in self.f.params:
            if param.role not in OUTPUTS:
                yield self.conversion(param)

    def guard(self, conditions: list[str]) -> None:
        """`if (a < 0 || b < 0) goto done;` one condition a line."""
        if not conditions:
            return
        for i, condition in enumerate(conditions):
            opening = "    if (" if i == 0 else "        "
            closing = ") {" if i + 1 == len(conditions) else " ||"
            self.add(*wrap_condition(opening, condition + " < 0" + closing))
        self.add("        goto done;", "    }")

    def sizes(self) -> None:
        checks = []
        for param in self.f.params:
            if param.size is None or param.role in OUTPUTS:
                continue
            if param.role in ("text_list", "list"):
                call = "ha_need_entries"
                amount = f"(long long)v_{param.size}"
            else:
                call, amount = "ha_need_bytes", size_expression(param.size)
            checks.append(
                f"{call}(&v_{param.name}, {self.where(param)}, {amount},"
                f' "{size_label(param.size)}")'
            )
        self.guard(checks)

    def outputs(self) -> None:
        """Records and text that this call gives back, or that the caller brought."""
        for param in self.f.params:
            if param.role not in FORM_OUTPUTS:
                continue
            index = f"HA_RECORD_{param.adapter}"
            if param.role == "out_record":
                given = (
                    f"ha_record_from(&api->types, args[{self.named.index(param)}],"
                    f" {self.where(param)}, {index},"
                    f" HA_WRITE | HA_NOT_NULL, &v_{param.name})"
                )
                made = f"ha_record_new(&api->types, {index}, NULL, 1)"
                check = None
            else:
                length = f"v_{param.size}"
                given = (
                    f"ha_cstr_from(&api->types, args[{self.named.index(param)}],"
                    f" {self.where(param)}, HA_WRITE, &v_{param.name})"
                )
                made = (
                    f"ha_cstr_alloc(&api->types, {length} > 0 ? (size_t){length} : 0)"
                )
                check = (
                    f"ha_need_bytes(&v_{param.name}, {self.where(param)},"
                    f' {length} > 0 ? (size_t){length} : 0, "{param.size}")'
                )
            self.add("    if (form == 1) {")
            for condition in filter(None, (given, check)):
                self.add(*wrap_condition("        if (", condition + " < 0) {"))
                self.add("            goto done;", "        }")
            self.add("    }", "    else {")
            self.add(*wrap_condition(f"        o_{param.name} = ", made + ";"))
            self.add(
                f"        if (o_{param.name} == NULL) {{",
                "            goto done;",
                "        }",
                f"        v_{param.name}.ptr = ha_pointer_of(o_{param.name});",
                "    }",
            )

    def c_argument(self, param: Param) -> str:
        ctype = param.type
        if param.role == "out":
            return f"&o_{param.name}"
        if param.role == "value":
            return f"v_{param.name}"
        if param.role == "enum":
            return f"({ctype})v_{param.name}"
        if param.role == "record_value":
            return f"*({ctype} *)v_{param.name}.ptr"
        void = "void" in ctype and ctype.count("*") == 1
        if void or ctype == "hipDeviceptr_t":
            return f"v_{param.name}.ptr"
        return f"({ctype})v_{param.name}.ptr"

    def call(self) -> None:
        f = self.f
        if f.raw.get("destroys"):
            self.add(
                "    /* Not after the call: the handle may be another's by then. */",
                f"    ha_pending_forget_stream(api, v_{f.raw['destroys']}.ptr);",
            )
        if f.stream:
            self.add(
                "    if (api->pending.count > 0) {",
                "        ha_pending_reap(api, true);",
                "    }",
            )
        arguments = [self.c_argument(p) for p in f.params] or [""]
        keep = f.gil == "keep"
        self.add(
            f"    int ready = HA_READY({f.symbol});",
            "    if (ready < 0) {",
            "        goto done;",
            "    }",
            "    if (ready) {",
        )
        if not keep:
            self.add("        PyThreadState *thread = PyEval_SaveThread();")
        target = "status" if status_type(f) else "answer"
        self.add(
            *text.wrap_call(f"        {target} = ha_calls.{f.symbol}(", arguments, ");")
        )
        if not keep:
            self.add("        PyEval_RestoreThread(thread);")
        if not status_type(f):
            self.add(f"        status = {self.good};")
        self.add("    }")
        if not keep:
            self.add(
                f"    if (status != {self.good} && PyErr_Occurred()) {{",
                "        goto done;",
                "    }",
            )

    def after(self) -> None:
        f = self.f
        if f.raw.get("reaps"):
            self.add(
                "    if (api->pending.count > 0) {",
                "        ha_pending_reap(api, false);",
                "    }",
            )
        if f.stream:
            memory = [p for p in f.params if p.role in ("pointer", "record")]
            views = ", ".join(f"&v_{p.name}" for p in memory)
            self.add(
                f"    if (status == {self.good} &&",
                f"        ha_hold_views(api, v_{f.stream}.ptr,",
                f"                      (struct ha_view *[]){{{views}}},"
                f" {len(memory)}) < 0) {{",
                "        goto done;",
                "    }",
            )
        hold = f.raw.get("hold")
        if hold:
            by = next(p for p in f.params if p.name == hold["by"])
            address = f"o_{by.name}" if by.role == "out" else f"v_{by.name}.ptr"
            for name in hold["params"]:
                keep = f"ha_keep_view(api, {address}, &v_{name}) < 0) {{"
                if hold.get("always"):
                    self.add(f"    if ({keep}")
                else:
                    self.add(f"    if (status == {self.good} &&", f"        {keep}")
                self.add(
                    "        goto done;",
                    "    }",
                )
        drop = f.raw.get("drop")
        if drop:
            self.add(
                f"    if (status == {self.good}) {{",
                f"        ha_keep_drop(api, v_{drop}.ptr);",
                "    }",
            )

    def output(self, param: Param, good: str) -> str:
        name = f"o_{param.name}"
        if param.adapter == "scalar":
            ctype = param.type.removesuffix("*").strip()
            return OUT_SCALARS[ctype].format(f"{good} ? {name} : 0")
        if param.adapter in self.enums:
            return f"ha_out_enum(api, {good}, HA_ENUM_{param.adapter}, (int){name})"
        if param.adapter == "DeviceArray":
            return f"ha_out_device_array(api, {good}, {name}, v_{param.size})"
        if param.adapter in ("Pointer", "NDBuffer"):
            return f"ha_out_pointer(api, {good}, {name})"
        if param.adapter == "CStr":
            return f"ha_out_cstr(api, {good}, {name})"
        return f"ha_out_handle(api, {good}, HA_HANDLE_{param.adapter}, {name})"

    def result(self) -> None:
        outs = [p for p in self.f.params if p.role in OUTPUTS]
        status = f"ha_{self.short}_status(&api->enums, (int)status)"
        only = f"ha_{self.short}_result(&api->enums, (int)status)"
        values: list[str] = []
        if not status_type(self.f):
            if "*" in self.f.returns:
                values.append("ha_out_cstr(api, good, answer)")
            else:
                values.append(OUT_SCALARS[self.f.returns].format("good ? answer : 0"))
        for param in outs:
            if param.role == "out":
                values.append(self.output(param, "good"))
            else:
                values.append(f"ha_out_object(good, o_{param.name})")
        if not values:
            self.add(f"    result = {only};")
            return
        self.add(f"    bool good = status == {self.good};")
        if self.two:
            self.add(
                "    if (form == 1) {",
                f"        result = {only};",
                "        goto done;",
            )
            self.add("    }")
        self.add(
            *text.wrap_call(
                f"    result = ha_result{len(values) + 1}(", [status, *values], ");"
            )
        )
        for param in outs:
            if param.role in FORM_OUTPUTS:
                self.add(f"    o_{param.name} = NULL; /* stolen */")

    def end(self) -> None:
        views = self.views()
        objects = [p for p in self.f.params if p.role in FORM_OUTPUTS]
        body = "\n".join(self.lines)
        if "goto done" in body:
            self.add("done:")
        for param in objects:
            self.add(f"    Py_XDECREF(o_{param.name});")
        for view in reversed(views):
            self.add(f"    ha_view_release(&{view});")
        self.add("    return result;", "}", "")

    def write(self) -> list[str]:
        self.head()
        self.signature()
        self.declarations()
        self.bind()
        conversions = list(self.conversions())
        self.guard(conversions)
        self.sizes()
        self.outputs()
        self.call()
        self.after()
        self.result()
        self.end()
        return self.lines


def size_expression(size: str) -> str:
    """C for `n`, `n*4` and `rows(pitch, width*2, height)` of the description."""

    def term(part: str) -> str:
        name, _, factor = part.strip().partition("*")
        value = f"v_{name.strip()}"
        return f"ha_size_items({value}, {factor.strip()})" if factor else value

    if size.startswith("rows("):
        return "ha_size_rows(" + ", ".join(term(p) for p in size[5:-1].split(",")) + ")"
    return term(size)


def size_label(size: str) -> str:
    """What a message calls the size."""
    if size.startswith("rows("):
        _, width, rows = (part.strip() for part in size[5:-1].split(","))
        return f"{rows} rows of {width}"
    return size


def wrap_condition(opening: str, condition: str) -> list[str]:
    """One condition, broken after a comma where it is too long."""
    line = opening + condition
    lines = []
    at = line.find("(", len(opening)) + 1
    indent = " " * at
    while len(line) > text.WIDTH:
        cut = line.rfind(", ", 0, text.WIDTH)
        if cut <= at:
            break
        lines.append(line[: cut + 1])
        line = indent + line[cut + 2 :]
    return [*lines, line]


def files(api: Api) -> Iterator[tuple[str, list[Function]]]:
    """File name and functions of each generated C file."""
    families: dict[str, list[Function]] = {}
    for function in api.functions:
        if function.wrapped and not function.manual:
            families.setdefault(function.family, []).append(function)
    for family, functions in families.items():
        parts = -(-len(functions) // PER_FILE)
        per_part = -(-len(functions) // parts)
        for part in range(parts):
            name = f"call_{family}" + (f"_{part + 1}" if parts > 1 else "")
            yield name, functions[part * per_part : (part + 1) * per_part]


def source(name: str, functions: list[Function], enums: set[str]) -> str:
    lines = [
        text.banner("/*", " */"),
        '#include "api/generated/methods.h"',
        "",
        '#include "api/call.h"',
        '#include "api/generated/tables.h"',
        '#include "api/hold.h"',
        '#include "api/keep.h"',
        '#include "api/provider.h"',
        '#include "api/result.h"',
        "",
    ]
    for function in functions:
        lines += Writer(function, enums).write()
    return "\n".join(lines)


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    enums = {e.name for e in api.enums}
    return {
        f"csrc/api/generated/{name}.c": source(name, functions, enums)
        for name, functions in files(api)
    }
