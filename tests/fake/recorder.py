# SPDX-License-Identifier: MIT
"""A HIP library, generated, in which every function only notes what it was given.

    python -m tests.fake.recorder FILE.c

writes its source.  Before a call the program sets `recorder_wanted` to the symbol that
is to be noted and `recorder_answer` to the status that every function returns.  After
it, `recorded_calls` says how often the function was called and `recorded` holds each
argument's bytes; of text it holds the text.  Nothing that a pointer leads to is read
otherwise, so made-up addresses are fine.  Outputs get values that differ by position:
`output_value` is the same rule for Python.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.codegen import forms, model
from tools.codegen.emit_abi import declare

VERSION = 71500000  # so that no function is too new
BYTES_MAX = 1024
ARGUMENTS_MAX = 24
TEXT = "noted"
ENUMS = {e.name: tuple(e.constants.values()) for e in model.load().enums}
LISTED = 2  # entries of lists that the library fills and counts itself
RECORDS = {r.name for r in model.load().all_records()}
FILLER = 0x21  # of records that are outputs

HEAD = f"""\
/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "abi/hip.h"
#include "abi/hiprtc.h"

#define EXPORT __attribute__((visibility("default")))

struct recorded {{
    size_t size;
    unsigned char bytes[{BYTES_MAX}];
}};

EXPORT const char *recorder_wanted = "";
EXPORT int recorder_answer;
EXPORT int recorded_calls;
EXPORT struct recorded recorded[{ARGUMENTS_MAX}];
static unsigned char image[{BYTES_MAX}];

static int
note(const char *function)
{{
    int wanted = strcmp(function, recorder_wanted) == 0;

    recorded_calls += wanted;
    return wanted;
}}

static void
keep(int index, const void *bytes, size_t size)
{{
    recorded[index].size = size;
    memcpy(recorded[index].bytes, bytes, size < {BYTES_MAX} ? size : {BYTES_MAX});
}}

/* What a list holds, not where it is. */
static void
keep_list(int index, const void *list, size_t bytes)
{{
    if (list != NULL) {{
        keep(index, list, bytes);
    }} else {{
        recorded[index].size = 0;
        recorded[index].bytes[0] = 0;
    }}
}}

static void
keep_text(int index, const char *text)
{{
    recorded[index].size = 0;
    snprintf((char *)recorded[index].bytes, {BYTES_MAX}, "%s", text != NULL ? text : "");
}}
"""


def output_value(function: model.Function, index: int) -> int:
    """What is written where parameter number `index` points to."""
    if function.name in ("hipRuntimeGetVersion", "hipDriverGetVersion"):
        return VERSION
    values = ENUMS.get(function.params[index].adapter or "")
    if values:
        return max(value for value in values if value < 1 << 31)
    return 16 * (index + 1)


def is_listed(function: model.Function, param: model.Param) -> bool:
    """Whether the content of an input is kept: a list of known length."""
    names = {p.name for p in function.params if p.role == "value"}
    if param.role not in ("list", "record_list"):
        return False
    return entries(param).isdigit() or entries(param) in names


def entries(param: model.Param) -> str:
    """The number of entries of a list: a number, or the name of a parameter."""
    return (param.size or "").removesuffix("?")


def fill_list(function: model.Function, index: int) -> str:
    """C statement that fills a list: LISTED entries, or as many as the caller says."""
    param = function.params[index]
    size = next((p for p in function.params if p.name == param.size), None)
    item, value = pointed(param), output_value(function, index)
    set_entry = f"{param.name}[n] = ({item})(uintptr_t){value};"
    if param.adapter in RECORDS:
        set_entry = f"memset(&{param.name}[n], {FILLER}, sizeof *{param.name});"
    if size is not None and size.role == "out":
        return (
            f"size_t room = {param.name} != NULL ? room_of_{size.name} : 0; "
            f"for (size_t n = 0; n < room && n < {LISTED}; n++) {{ {set_entry} }} "
            f"if ({size.name} != NULL) {{ *{size.name} = {LISTED}; }}"
        )
    count = param.size or "0"
    return (
        f"for (size_t n = 0; {param.name} != NULL && n < (size_t){count}; n++) "
        f"{{ {set_entry} }}"
    )


def counted(function: model.Function) -> set[str]:
    """Outputs that hold the number of entries of another one."""
    lists = [p for p in function.params if p.role in ("out_list", "out_array")]
    names = {p.name for p in function.params if p.role == "out"}
    return {p.size for p in lists if p.size in names}


def pointed(param: model.Param) -> str:
    """The type that an output parameter points to."""
    ctype = param.type.strip()
    if ctype.startswith("const ") and not ctype.endswith("**"):
        ctype = ctype[6:]
    return ctype.removesuffix("*").strip()


def write_output(function: model.Function, index: int) -> str | None:
    """C statement that fills the output, or None for an input."""
    param = function.params[index]
    name = param.name
    if param.role == "out_text":
        if param.size not in {p.name for p in function.params}:
            return None
        size = f"(size_t){param.size}"
        return f'if ({param.size} > 0) snprintf({name}, {size}, "{TEXT}");'
    if param.role == "out_record":
        return f"memset((void *){name}, {FILLER}, sizeof *{name});"
    if param.role == "inout":
        value = output_value(function, index)
        return f"*{name} = ({pointed(param)})(uintptr_t){value};"
    if param.role == "out_array":
        item = pointed(param).removesuffix("*").replace("const ", "").strip()
        size = (param.size or "").removeprefix("out:")
        value = output_value(function, index)
        return (
            f"static {item} list[{LISTED}]; "
            f"for (int n = 0; n < {LISTED}; n++) list[n] = ({item})(uintptr_t){value}; "
            f"*{name} = (void *)list; *{size} = {LISTED};"
        )
    if param.role != "out" or name in counted(function):
        return None
    if param.adapter == "CStr":
        return f'*{name} = "{TEXT}";'
    if param.adapter == "NDBuffer":  # the wrapper may copy what is there
        return f"*{name} = memset(image, {FILLER}, sizeof image);"
    value = output_value(function, index)
    return f"*{name} = ({pointed(param)})(uintptr_t){value};"


def body(function: model.Function) -> list[str]:
    """The definition of one function."""
    params = ", ".join(declare(p.type, p.name) for p in function.params) or "void"
    head = f"EXPORT {declare(function.returns, function.symbol)}({params})"
    lines = [head, "{", f'    if (note("{function.symbol}")) {{']
    for index, param in enumerate(function.params):
        if is_listed(function, param):
            size = f"(size_t){entries(param)} * sizeof *{param.name}"
            lines.append(f"        keep_list({index}, {param.name}, {size});")
        elif param.role == "text":
            lines.append(f"        keep_text({index}, {param.name});")
        else:
            lines.append(f"        keep({index}, &{param.name}, sizeof {param.name});")
    lines.append("    }")
    filled = {p.size for p in function.params if p.role == "out_list"}
    for name in sorted(filled & counted(function)):
        room = f"{name} != NULL ? (size_t)*{name} : 0"
        lines.append(f"    size_t room_of_{name} = {room};")
    for index, param in enumerate(function.params):
        if param.role == "out_list":
            lines.append(f"    {{ {fill_list(function, index)} }}")
            continue
        statement = write_output(function, index)
        if statement:
            lines.append(f"    if ({param.name} != NULL) {{ {statement} }}")
    if forms.status_type(function):
        lines.append(f"    return ({function.returns})recorder_answer;")
    elif "*" in function.returns:
        lines.append(f'    return "{TEXT}";')
    elif function.returns != "void":
        lines += [
            f"    {function.returns} answer;",
            f"    memset(&answer, {FILLER}, sizeof answer);",
            "    return answer;",
        ]
    return [*lines, "}", ""]


def source() -> str:
    """The whole library."""
    lines = [HEAD]
    for function in model.load().functions:
        lines += body(function)
    return "\n".join(lines)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(source(), encoding="utf-8")
