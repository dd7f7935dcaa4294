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
from .forms import (
    FORM_OUTPUTS,
    OUTPUTS,
    form_params,
    form_results,
    left_out,
    slots,
    status_type,
)
from .model import Api, Function, Param
from .roles import LAUNCHES, LISTS, NODE, OUT_SCALARS, VIEWS, Names, target

__all__ = [
    "FASTCALL",
    "FORM_OUTPUTS",
    "OUTPUTS",
    "emit",
    "form_params",
    "form_results",
    "status_type",
    "wrapper_name",
]

# Where a large family goes on in another file.  Named, and not counted, so that another
# function moves none; a file is best kept below 1,500 lines.
NEXT_FILE = {
    "hipMemcpy3D",
    "hipCtxGetDevice",
    "hipDeviceSetLimit",
    "hipGraphAddNode",
    "hipGraphExecMemsetNodeSetParams",
    "hipGraphKernelNodeCopyAttributes",
    "hipFreeHost",
    "hipMemsetD2D8Async",
    "hipTexRefSetFlags",
}
FASTCALL = [
    "PyObject *module",
    "PyObject *const *args",
    "Py_ssize_t count",
    "PyObject *keywords",
]
# Roles whose views an asynchronous call keeps until its stream has passed.
HELD = ("pointer", "record", "record_value", "list", "record_list")


def wrapper_name(function: Function) -> str:
    return f"ha_wrap_{function.name}"


class Writer:
    """Lines of one wrapper."""

    def __init__(self, function: Function, names: Names) -> None:
        self.f = function
        self.names = names
        self.forms = form_params(function)
        self.several = len(self.forms) > 1
        self.usual = self.forms[0]
        self.slots = slots(function)
        self.params = {p.name: p for p in function.params}
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
        return f"&where[{self.slots.index(param)}]"

    def argument(self, param: Param) -> str:
        return f"args[{self.slots.index(param)}]"

    def given(self, param: Param) -> str | None:
        """C that is true where the caller brought this output; None: nobody may."""
        if param not in self.slots or param in self.usual:
            return None
        return f"(given & {hex(1 << self.slots.index(param))}) != 0"

    def outputs(self) -> list[Param]:
        return [p for p in self.f.params if p.role in OUTPUTS]

    # ---- before the call -------------------------------------------------------------

    def head(self) -> None:
        name = wrapper_name(self.f)
        if self.slots:
            head = text.wrap_call(f"{name}(", FASTCALL, ")")
        else:
            head = [f"{name}(PyObject *module, PyObject *Py_UNUSED(none))"]
        self.add("PyObject *", *head, "{")

    def signature(self) -> None:
        if not self.slots:
            return
        self.add(f"    static struct ha_where where[{len(self.slots)}];")
        if self.several:
            items = [str(len(self.slots)), str(len(self.forms))]
            items += [self.slot_kind(p) for p in self.slots]
            for form in self.forms:
                items += [str(len(form)), *(str(self.slots.index(p)) for p in form)]
            self.add("    static const unsigned char forms[] = {")
            self.add(*text.wrap_call("        ", items, "};"))

    def slot_kind(self, param: Param) -> str:
        if param.role in OUTPUTS:
            return "'o'"
        return "'n'" if param.role in ("value", "enum", "inout") else "'i'"

    def view_names(self) -> list[str]:
        params = self.f.params
        return [
            p.name
            for p in params
            if p.role in (*VIEWS, *FORM_OUTPUTS) or self.given(p) is not None
        ]

    def launch_names(self) -> list[str]:
        return [p.name for p in self.f.params if p.role in LAUNCHES]

    def declarations(self) -> None:
        self.add("    struct ha_api *api = ha_api_of(module);")
        bound = f"*bound[{len(self.slots)}], " if self.slots else ""
        self.add(f"    PyObject {bound}*result = NULL;")
        if self.several:
            self.add(f"    int given = {hex((1 << len(self.usual)) - 1)};")
        for param in self.f.params:
            given = self.given(param) is not None
            for line in self.names.declarations(param, given):
                self.add(f"    {line}")
        self.add(f"    {self.status} status = {self.missing};")
        if not status_type(self.f):
            if self.f.returns in self.names.records:
                self.add(f"    {self.f.returns} answer;")
            else:
                zero = "NULL" if "*" in self.f.returns else "0"
                self.add(f"    {declare(self.f.returns, 'answer')} = {zero};")
        self.add("")

    def bind(self) -> None:
        if self.f.returns in self.names.records:
            self.add("    memset(&answer, 0, sizeof answer);")
        if not self.slots:
            return
        names = [self.f.name, *(p.python_name for p in self.slots)]
        quoted = text.wrap_string("        ", [f"{n}\\0" for n in names], ");")
        self.add(f"    ha_where_names(where, {len(self.slots)},", *quoted)
        self.add(f"    if (keywords != NULL || count != {len(self.usual)}) {{")
        if self.several:
            self.add(
                "        given ="
                " ha_bind_forms(where, forms, args, count, keywords, bound);",
                "        if (given < 0) {",
            )
        else:
            size = len(self.slots)
            self.add(
                f"        if (ha_bind(where, {size}, args, count, keywords, bound)"
                " < 0) {",
            )
        self.add(
            "            return NULL;", "        }", "        args = bound;", "    }"
        )

    def start(self) -> None:
        for view in self.view_names():
            self.add(f"    ha_view_idle(&v_{view});")
        for launch in self.launch_names():
            self.add(f"    ha_launch_init(&v_{launch});")

    def conversions(self) -> Iterator[str]:
        for param in self.usual:
            read = (self.f.stream or "").startswith(f"{param.name}->")
            yield self.names.conversion(
                param, self.argument(param), self.where(param), read
            )

    def guard(self, conditions: list[str]) -> None:
        """`if (a < 0 || b < 0) goto done;` one condition a line."""
        if not conditions:
            return
        for i, condition in enumerate(conditions):
            opening = "    if (" if i == 0 else "        "
            closing = ") {" if i + 1 == len(conditions) else " ||"
            self.add(*wrap_condition(opening, condition + " < 0" + closing))
        self.add("        goto done;", "    }")

    def need_entries(self, param: Param) -> str:
        """Check of a list: of the number that C is told, or that a count holds."""
        size = (param.size or "").removesuffix("?")
        count = self.params.get(size)
        if count is not None and count.role == "out":
            amount = f"ha_count_in(&v_{size}, sizeof o_{size})"
        else:
            amount = size if size.isdigit() else f"(long long)v_{size}"
        if size != param.size:  # NULL will do
            amount = f"v_{param.name}.ptr != NULL ? {amount} : 0"
        args = f"&v_{param.name}, {self.where(param)}, {amount}"
        if param.role == "text_list":
            return f'ha_need_texts(&api->types, {args}, "{size}")'
        return f'ha_need_entries({args}, sizeof *({param.type})0, "{size}")'

    def need_bytes(self, param: Param, expression: str, label: str) -> str:
        args = f'&v_{param.name}, {self.where(param)}, {expression}, "{label}"'
        return f"ha_need_bytes({args})"

    def sizes(self) -> None:
        checks = []
        for param in self.usual:
            if param.size is None:
                continue
            if param.role in LISTS:
                checks.append(self.need_entries(param))
            else:
                expression = self.size_expression(param.size)
                checks.append(
                    self.need_bytes(param, expression, size_label(param.size))
                )
        self.guard(checks)

    def size_expression(self, size: str) -> str:
        """C for `8`, `n*4`, `rows(pitch, width*2, height)`, `pick(a, 8, B=4)`."""

        def term(part: str) -> str:
            name, _, factor = part.strip().partition("*")
            name = name.strip()
            value = name if name.isdigit() else f"v_{name}"
            return f"ha_size_items({value}, {factor.strip()})" if factor else value

        if size.startswith("rows("):
            terms = [term(p) for p in size[5:-1].split(",")]
            return "ha_size_rows(" + ", ".join(terms) + ")"
        if size.startswith("pick("):
            chosen, other, *cases = (p.strip() for p in size[5:-1].split(","))
            tests = [f"v_{chosen} == {c.replace('=', ' ? ')} : " for c in cases]
            return "(size_t)(" + "".join(tests) + other + ")"
        return term(size)

    def output_length(self, param: Param) -> str:
        """Number of entries of a list, or characters of a text, that C writes."""
        size = param.size or "0"
        return size if size.isdigit() else f"v_{size}"

    def is_counted(self, param: Param) -> bool:
        """Whether C says how long a list is."""
        count = self.params.get(param.size or "")
        return param.role == "out_list" and count is not None and count.role == "out"

    def make_outputs(self) -> None:
        """Records, text and slots that this call gives back, or the caller brought."""
        # Counts first: lists are checked against them, whatever C's order is.
        counts = {p.size for p in self.outputs() if self.is_counted(p)}
        for param in sorted(self.outputs(), key=lambda p: p.name not in counts):
            given = self.given(param)
            if given is not None:
                self.add(f"    if ({given}) {{")
                for condition in self.given_checks(param):
                    self.add(*wrap_condition("        if (", condition + " < 0) {"))
                    self.add("            goto done;", "        }")
                self.add("    }")
            making = self.making(param)
            if not making:
                continue
            if given is None:
                self.add(*(f"    {line}" for line in making))
            else:
                self.add("    else {", *(f"        {line}" for line in making), "    }")

    def given_checks(self, param: Param) -> Iterator[str]:
        arg, where = self.argument(param), self.where(param)
        yield self.names.given_conversion(param, arg, where)
        if param.role == "out_list" and param.size:
            yield self.need_entries(param)
        elif param.role == "out_text":
            length = self.output_length(param)
            expression = f"{length} > 0 ? (size_t){length} : 0"
            yield self.need_bytes(param, expression, param.size or "")
            yield f"ha_need_memory(&v_{param.name}, {where}, {expression}, 1)"

    def making(self, param: Param) -> list[str]:
        """C that makes the memory of an output."""
        name = param.name
        if param.role == "out_list" and not self.is_counted(param):
            entries = f"(long long){self.output_length(param)}"
            count = self.params.get(param.size or "")
            where = self.where(count) if count in self.slots else "NULL"
            return [
                f"if (ha_slots_make(&s_{name}, {entries}, {where}) < 0) {{",
                "    goto done;",
                "}",
            ]
        if param.role not in FORM_OUTPUTS:
            return []
        if param.role == "out_record":
            index = f"HA_RECORD_{param.adapter}"
            made = f"ha_record_new(&api->types, {index}, NULL, 1)"
        else:
            length = self.output_length(param)
            size = f"{length} > 0 ? (size_t){length} : 0"
            made = f"ha_cstr_alloc(&api->types, {size})"
        return [
            *wrap_condition(f"o_{name} = ", made + ";"),
            f"if (o_{name} == NULL) {{",
            "    goto done;",
            "}",
            f"v_{name}.ptr = ha_pointer_of(o_{name});",
        ]

    # ---- the call --------------------------------------------------------------------

    def stream_expression(self) -> str:
        """The stream of an asynchronous call: a parameter, or a member of a record."""
        name, _, member = (self.f.stream or "").partition("->")
        if not member:
            return f"v_{name}.ptr"
        record = f"(({self.params[name].type})v_{name}.ptr)"
        return f"v_{name}.ptr != NULL ? {record}->{member} : NULL"

    def before(self) -> None:
        if self.f.raw.get("destroys"):
            self.add(
                "    /* Not after the call: the handle may be another's by then. */",
                f"    ha_pending_forget_stream(api, v_{self.f.raw['destroys']}.ptr);",
            )
        if self.f.stream or self.f.raw.get("streams"):
            self.add(
                "    if (ha_pending_any(&api->pending)) {",
                "        ha_pending_reap(api, true);",
                "    }",
            )

    def call(self) -> None:
        f = self.f
        counted = [p for p in f.params if self.is_counted(p)]
        pad = "        "
        self.add(
            f"    int ready = HA_READY({f.symbol});",
            "    if (ready < 0) {",
            "        goto done;",
            "    }",
            "    if (ready) {",
        )
        if counted:
            pad = "            "
            self.add("        for (int more = 1; more > 0;) {")
        keep = f.gil == "keep"
        sides = self.copied_sides()
        if sides:
            self.add(f"{pad}ha_hold_begin({sides});")
        image = f.raw.get("image")
        if image:
            self.add(f"{pad}ha_hold_image(&v_{image});")
        if not keep:
            self.add(f"{pad}PyThreadState *thread = ha_let_go();")
        result = "status" if status_type(f) else "answer"
        arguments = [self.names.c_argument(p, self.given(p)) for p in f.params] or [""]
        self.add(
            *text.wrap_call(f"{pad}{result} = ha_calls.{f.symbol}(", arguments, ");")
        )
        if not keep:
            self.add(f"{pad}ha_take_back(thread);")
        if sides:
            self.add(f"{pad}ha_hold_end();")
        if image:
            self.add(f"{pad}ha_hold_image_end();")
        if not status_type(f):
            self.add(f"        status = {self.good};")
        if counted:
            self.again(counted)
        self.add("    }")
        if not keep:
            self.add(
                f"    if (status != {self.good} && PyErr_Occurred()) {{",
                "        goto done;",
                "    }",
            )

    def again(self, counted: list[Param]) -> None:
        """The end of a loop that calls until all entries had room."""
        count = self.params[counted[0].size or ""]
        given = self.given(counted[0])
        stop = f"status != {self.good}" + (f" || ({given})" if given else "")
        lists = ", ".join(f"&s_{p.name}" for p in counted)
        self.add(
            f"            size_t entries = o_{count.name};",
            *wrap_condition("            if (", stop + ") {"),
            "                break;",
            "            }",
            f"            more = ha_slots_more((struct ha_slots *[]){{{lists}}},"
            f" {len(counted)}, &entries);",
            "            if (more < 0) {",
            "                goto done;",
            "            }",
            f"            o_{count.name} = ({target(count)})entries;",
            "        }",
        )

    # ---- after the call --------------------------------------------------------------

    def on_success(self, call: str) -> None:
        """A call that may fail, made where HIP's call did not."""
        self.add(f"    if (status == {self.good} &&")
        self.add(*wrap_condition("        ", call + " < 0) {"))
        self.add("        goto done;", "    }")

    def on_success_do(self, call: str) -> None:
        self.add(f"    if (status == {self.good}) {{", f"        {call};", "    }")

    def after(self) -> None:
        f = self.f
        if f.raw.get("resets"):
            self.on_success_do("ha_host_calls_reset()")
        captures = f.raw.get("captures")
        if captures == "begin":
            self.on_success_do("ha_pending_capture(api, v_stream.ptr, true)")
        elif captures == "end":
            self.add("    ha_pending_capture(api, v_stream.ptr, false);")
        if f.raw.get("reaps"):
            self.add(
                "    if (ha_pending_any(&api->pending)) {",
                "        ha_pending_reap(api, false);",
                "    }",
            )
        if f.stream:
            self.hold_for_stream()
        streams = f.raw.get("streams")
        if streams:
            by, member, count = streams["in"], streams["member"], streams["count"]
            record = self.params[by].type.removesuffix("*").strip()
            place = f"offsetof({record}, {member}), sizeof({record})"
            self.on_success(f"ha_hold_on_each(api, {place}, v_{count}, &v_{by})")
        self.keeps()

    def copied_sides(self) -> str:
        """Both sides of an asynchronous copy that is told them as arguments."""
        memory = [p.name for p in self.f.params if p.role in HELD]
        named = {"dst", "src"} <= {name[:3] for name in memory}
        copies = self.f.stream and self.f.symbol.startswith("hipMemcpy")
        if not copies or not named or len(memory) != 2:
            return ""
        return ", ".join(f"&v_{name}" for name in sorted(memory))

    def hold_for_stream(self) -> None:
        memory = [p for p in self.f.params if p.role in HELD]
        stream = self.stream_expression()
        views = ", ".join(f"&v_{p.name}" for p in memory)
        if memory:
            self.add(
                f"    if (status == {self.good} &&",
                f"        ha_hold_views(api, {stream},",
                *text.wrap_call(
                    "                      (struct ha_view *[]){",
                    views.split(", "),
                    f"}}, {len(memory)}) < 0) {{",
                ),
                "        goto done;",
                "    }",
            )
        for name in self.launch_names():
            self.on_success(f"ha_hold_launch(api, {stream}, &v_{name})")
        launches = self.f.raw.get("launches")
        if launches:
            self.on_success(f"ha_hold_kept(api, {stream}, {self.address(launches)})")

    def address(self, name: str) -> str:
        """Where things of a parameter are kept."""
        param = self.params[name]
        if param.role == "out":
            return f"o_{name}"
        if param.adapter == NODE:
            return f"ha_keep_home(&v_{name})"
        return f"v_{name}.ptr"

    def place(self, name: str) -> str:
        return f"o_{name}" if self.params[name].role == "out" else f"v_{name}.ptr"

    def keeps(self) -> None:
        raw = self.f.raw
        hold = raw.get("hold")
        if hold and "at" in hold:
            by, at = self.address(hold["by"]), self.place(hold["at"])
            views = ", ".join(f"&v_{name}" for name in hold["params"])
            views = f"(struct ha_view *[]){{{views}}}, {len(hold['params'])}"
            self.on_success(f"ha_keep_at(api, {by}, {at}, {views})")
        elif hold:
            by = self.address(hold["by"])
            if self.params[hold["by"]].role == "out":  # what had this address is gone
                self.on_success_do(f"ha_keep_drop(api, {by})")
            for name in hold["params"]:
                call = f"ha_keep_view(api, {by}, &v_{name})"
                if hold.get("always"):
                    self.guard([call])
                else:
                    self.on_success(call)
        share = raw.get("share")
        if share:
            ends = f"api, v_{share['from']}.ptr, {self.address(share['to'])}"
            if "at" in share:
                self.on_success(f"ha_keep_share_at({ends}, {self.place(share['at'])})")
            else:
                self.on_success(f"ha_keep_share({ends})")
        if raw.get("forget"):
            node = raw["forget"]
            self.on_success_do(
                f"ha_keep_forget(api, {self.address(node)}, v_{node}.ptr)"
            )
        if raw.get("frees"):
            freed = self.params[raw["frees"]]
            self.on_success_do(
                f"ha_pointer_freed(&api->types, {self.argument(freed)},"
                f" v_{freed.name}.ptr)"
            )
        if raw.get("drop"):
            self.on_success_do(f"ha_keep_drop(api, v_{raw['drop']}.ptr)")

    # ---- the result ------------------------------------------------------------------

    def entries(self, param: Param) -> str:
        """Length of an output, as far as another parameter has it."""
        size = param.size
        if size is None:
            return ""
        if size.startswith("out:"):
            return f"(Py_ssize_t)o_{size[4:]}"
        count = self.params.get(size)
        if count is not None and count.role == "out":
            return f"o_{size}"
        if size.isdigit():
            return size
        return f"(size_t)v_{size}" if param.role == "out_list" else f"v_{size}"

    def home(self, param: Param) -> str:
        return self.address(param.of) if param.of else "NULL"

    def answer(self) -> str:
        if self.f.returns in self.names.records:
            index = f"HA_RECORD_{self.f.returns}"
            made = f"ha_record_new(&api->types, {index}, &answer, 1)"
            return f"good ? {made} : Py_NewRef(Py_None)"
        if "*" in self.f.returns:
            return "ha_out_cstr(api, good, answer)"
        return OUT_SCALARS[self.f.returns].format("(good ? answer : 0)")

    def value(self, param: Param) -> str:
        """One item of the result."""
        if param.role not in (*OUTPUTS, "inout"):
            bit = hex(1 << self.slots.index(param))
            return f"given & {bit} ? HA_TAKEN : Py_NewRef(Py_None)"
        value = self.names.output(param, self.home(param), self.entries(param))
        given = self.given(param)
        return f"{given} ? HA_TAKEN : {value}" if given else value

    def result(self) -> None:
        status = f"ha_{self.short}_status(&api->enums, (int)status)"
        values = [] if status_type(self.f) else [self.answer()]
        params = left_out(self.f)
        values += [self.value(p) for p in params]
        if not values:
            self.add(f"    result = ha_{self.short}_result(&api->enums, (int)status);")
            return
        if any("good" in value for value in values):
            self.add(f"    bool good = status == {self.good};")
        if len(values) > 3 or any("HA_TAKEN" in value for value in values):
            self.add("    PyObject *items[] = {", f"        {status},")
            for value in values:
                self.add(*wrap_condition("        ", value + ","))
            count = len(values) + 1
            self.add("    };", f"    result = ha_result_left(items, {count});")
        else:
            self.add(
                *text.wrap_call(
                    f"    result = ha_result{len(values) + 1}(", [status, *values], ");"
                )
            )
        for param in params:
            if param.role in FORM_OUTPUTS:
                self.add(f"    o_{param.name} = NULL; /* stolen */")

    def end(self) -> None:
        if "goto done" in "\n".join(self.lines):
            self.add("done:")
        for param in self.outputs():
            if param.role in FORM_OUTPUTS:
                self.add(f"    Py_XDECREF(o_{param.name});")
            elif param.role == "out_list":
                self.add(f"    ha_slots_free(&s_{param.name});")
        for launch in reversed(self.launch_names()):
            self.add(f"    ha_launch_release(&v_{launch});")
        for view in reversed(self.view_names()):
            self.add(f"    ha_view_end(&v_{view});")
        self.add("    return result;", "}", "")

    def write(self) -> list[str]:
        self.head()
        self.signature()
        self.declarations()
        self.bind()
        self.start()
        self.guard(list(self.conversions()))
        self.sizes()
        self.make_outputs()
        self.before()
        self.call()
        self.after()
        self.result()
        self.end()
        return self.lines


def size_label(size: str) -> str:
    """What a message calls the size."""
    if size.startswith("rows("):
        _, width, rows = (part.strip() for part in size[5:-1].split(","))
        return f"{rows} rows of {width}"
    if size.startswith("pick("):
        return size[5:].partition(",")[0].strip()
    return "HIP" if size.isdigit() else size


def wrap_condition(opening: str, condition: str) -> list[str]:
    """One condition, broken after a comma where it is too long."""
    line = opening + condition
    lines = []
    at = line.find("(", len(opening)) + 1
    indent = " " * at
    while len(line) > text.WIDTH:
        cut = line.rfind(", ", 0, text.WIDTH)
        if cut <= at:
            cut = line.find(", ", text.WIDTH)
        if cut <= at:
            break
        lines.append(line[: cut + 1])
        line = indent + line[cut + 2 :]
    return [*lines, line]


def files(api: Api) -> Iterator[tuple[str, list[Function]]]:
    """File name and functions of each generated C file."""
    families: dict[str, list[list[Function]]] = {}
    for function in api.functions:
        if function.wrapped and not function.manual:
            parts = families.setdefault(function.family, [[]])
            if function.name in NEXT_FILE:
                parts.append([])
            parts[-1].append(function)
    for family, parts in families.items():
        for number, functions in enumerate(parts, 1):
            yield f"call_{family}" + (f"_{number}" if len(parts) > 1 else ""), functions


INCLUDES = """\
#include "api/generated/wrappers.h"

#include <string.h>

#include "adapters/adapter.h"
#include "adapters/cstr.h"
#include "adapters/freed.h"
#include "adapters/handle.h"
#include "adapters/kind.h"
#include "adapters/launch.h"
#include "adapters/launch_data.h"
#include "adapters/list_from.h"
#include "adapters/message.h"
#include "adapters/pointer.h"
#include "adapters/record_from.h"
#include "adapters/record_list.h"
#include "adapters/view.h"
#include "api/api.h"
#include "api/call.h"
#include "api/generated/tables.h"
#include "api/hold.h"
#include "api/keep.h"
#include "api/let_go.h"
#include "api/lists.h"
#include "api/manual/host_call.h"
#include "api/manual/host_node.h"
#include "api/provider.h"
#include "api/result.h"
"""


def source(functions: list[Function], names: Names) -> str:
    lines = [text.banner("/*", " */"), INCLUDES]
    for function in functions:
        lines += Writer(function, names).write()
    return "\n".join(lines)


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    names = Names({e.name for e in api.enums}, {r.name for r in api.all_records()})
    return {
        f"csrc/api/generated/{name}.c": source(functions, names)
        for name, functions in files(api)
    }
