# SPDX-License-Identifier: MIT
"""hipadapt/hip.pyi and hipadapt/hiprtc.pyi: annotations of what is wrapped."""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import text
from .emit_tables import STREAM_HANDLES, TEXT_MEMBERS, Names, fields
from .forms import OUTPUTS, form_params, form_results, status_type
from .model import (
    Alias,
    Api,
    Constant,
    Enum,
    Function,
    Handle,
    Member,
    Param,
    Record,
)

INTEGERS = {
    "HA_BOOL",
    "HA_CHAR",
    "HA_I8",
    "HA_U8",
    "HA_I16",
    "HA_U16",
    "HA_I32",
    "HA_U32",
    "HA_I64",
    "HA_U64",
    "HA_LONG",
    "HA_ULONG",
    "HA_SIZE",
}


def argument_type(param: Param) -> str:
    """What a parameter accepts."""
    if param.role == "value":
        return "float" if param.type == "float" else "SupportsIndex"
    if param.role == "enum":
        return f"{param.adapter} | int"
    if param.role == "inout":
        number = "SupportsIndex" if param.adapter == "scalar" else param.adapter
        return f"{number} | PointerLike"
    if param.role in ("text", "out_text"):
        return "TextLike" if param.role == "text" else "PointerLike"
    if param.role == "text_list":
        return "TextListLike"
    if param.role == "list":
        return (
            "PointerListLike" if param.adapter == "ListOfPointer" else "NumberListLike"
        )
    if param.role in ("extra", "kernel_params"):
        return "LaunchExtraLike"
    if param.role == "record_list":
        return "RecordListLike"
    if param.role == "out_list":
        return "PointerListLike"
    if param.role == "host_node":
        return f"{param.adapter} | HostNodeLike"
    if param.role == "callback":
        return "CallbackLike"
    if param.role in ("record", "record_value", "out_record"):
        return f"{param.adapter} | RecordLike"
    if param.role == "handle_ref":
        return f"{param.adapter} | PointerLike"
    return "PointerLike"


def output_type(param: Param) -> str:
    """What a parameter gives back.

    Objects are None where the call failed.  Nobody looks at them then, so the
    annotation says Any instead of None, which type checkers let pass unchecked.
    """
    if param.role == "out_text":
        return "CStr | Any"
    if param.role == "out_record":
        return f"{param.adapter} | Any"
    kind = param.adapter
    if kind == "scalar":
        kind = "float" if "float" in param.type else "int"
    if param.role in ("out_array", "out_list"):
        return f"list[{kind}]"
    if param.adapter == "scalar":
        return str(kind)
    if param.adapter == "NDBuffer":
        return "Pointer | Any"
    return f"{param.adapter} | Any"


def result_types(function: Function, form: int) -> list[str]:
    """What the tuple that a form returns holds."""
    own = "hiprtcResult" if function.module == "hiprtc" else "hipError_t"
    results = [status_type(function) or own]
    if not status_type(function):
        if "*" in function.returns:
            results.append("CStr | Any")
        elif function.returns == "int":
            results.append("int")
        else:
            results.append(f"{function.returns} | Any")
    for param in form_results(function, form):
        is_output = param.role in (*OUTPUTS, "inout")
        results.append(output_type(param) if is_output else "None")
    return results


def function_lines(function: Function) -> list[str]:
    forms = form_params(function)
    lines: list[str] = []
    for form, params in enumerate(forms):
        items = [f"{p.python_name}: {argument_type(p)}" for p in params]
        given = ", ".join(result_types(function, form))
        if len(forms) > 1:
            lines.append("@overload")
        lines += text.wrap_call(
            f"def {function.name}(", items or [""], f") -> tuple[{given}]: ..."
        )
    return lines


def member_type(member: Member, names: Names) -> str:
    if member.record is not None:
        kind = member.record.name
    else:
        assert member.type is not None
        row, index = names.kind(member.type)
        if row == "HA_CHAR" and member.dim:
            return "str" if member.name in TEXT_MEMBERS else "builtins.bytes"
        if row in INTEGERS:
            kind = "int"
        elif row in ("HA_F32", "HA_F64"):
            kind = "float"
        elif row == "HA_CSTR":
            kind = "CStr"
        elif row == "HA_POINTER":
            kind = "Pointer"
        else:
            kind = index.split("_", 2)[2]
    return f"list[{kind}]" if member.dim else kind


def record_lines(record: Record, names: Names) -> list[str]:
    members = [m for m, _, _ in fields(record, "")]
    lines = [f"class {record.name}(Record):"]
    arguments = [f"{m.name}: Any = ..." for m in members]
    lines += text.wrap_call("    def __init__(", ["self", *arguments], ") -> None: ...")
    for member in members:
        # Annotations, because a property named `type` or `list` would hide the builtin.
        lines.append(f"    {member.name}: {member_type(member, names)}")
    for member in members:
        kind = member_type(member, names)
        lines += [
            f"    def get_{member.name}(self, i: SupportsIndex, /) -> {kind}: ...",
            f"    def set_{member.name}(self, i: SupportsIndex, v: Any, /)"
            " -> None: ...",
        ]
    return [*lines, ""]


def enum_lines(enum: Enum) -> list[str]:
    lines = [f"class {enum.name}(HipEnum):"]
    lines += [f"    {name} = {value}" for name, value in enum.constants.items()]
    return [*lines, ""]


def handle_lines(handle: Handle) -> list[str]:
    if handle.name in STREAM_HANDLES:
        method = "    def __cuda_stream__(self) -> tuple[int, int]: ..."
        return [f"class {handle.name}(Handle):", method, ""]
    return [f"class {handle.name}(Handle): ...", ""]


def public_names(api: Api, module: str) -> list[str]:
    """What `__all__` holds; the native module makes the same list."""
    groups: list[Sequence[Function | Enum | Handle | Constant | Alias]] = [
        [f for f in api.functions if f.wrapped],
        api.enums,
        api.handles,
        api.constants,
        api.aliases,
    ]
    found = [x.name for group in groups for x in group if x.module == module]
    if module == "hip":
        found += [r.name for r in api.all_records()]
        found += ["hipHostFn_t", "hipStreamCallback_t"]
    return sorted([*found, "has_symbol"])


def stub(api: Api, module: str) -> str:
    names = Names(api)
    lines = ["__all__ = ["]
    lines += [f'    "{name}",' for name in public_names(api, module)]
    lines += ["]", ""]
    for constant in api.constants:
        if constant.module == module:
            kind = "bytes" if isinstance(constant.value, str) else "int"
            lines.append(f"{constant.name}: Final[{kind}]")
    lines.append("")
    for enum in api.enums:
        if enum.module == module:
            lines += enum_lines(enum)
    for handle in api.handles:
        if handle.module == module:
            lines += handle_lines(handle)
    if module == "hip":
        lines += [
            "class hipHostFn_t(FunctionPointer): ...",
            "class hipStreamCallback_t(FunctionPointer): ...",
        ]
        lines.append("")
        for record in api.all_records():
            lines += record_lines(record, names)
    lines += [f"{a.name} = {a.target}" for a in api.aliases if a.module == module]
    lines.append("")
    for function in sorted(api.functions, key=lambda f: f.name):
        if function.module == module and function.wrapped:
            lines += function_lines(function)
    return "\n".join([*imports(module, lines), *lines]) + "\n"


IMPORTS = {
    "typing": ["Any", "Final", "SupportsIndex", "overload"],
    "._core": ["CStr", "DeviceArray", "FunctionPointer", "Handle", "Pointer", "Record"],
    "._enum": ["HipEnum"],
    ".hip": ["hipError_t", "hipJitInputType", "hipJitOption"],
    ".typing": [
        "CallbackLike",
        "HostNodeLike",
        "LaunchExtraLike",
        "NumberListLike",
        "PointerLike",
        "PointerListLike",
        "RecordLike",
        "RecordListLike",
        "TextLike",
        "TextListLike",
    ],
}


def imports(module: str, body: list[str]) -> list[str]:
    """The head of a stub, with the names that its body uses."""
    used = set(re.findall(r"\w+", "\n".join(body)))
    lines = [text.banner("#", "")]
    if "builtins" in used:
        # A member named like its type hides the type in the class body.
        lines += ["import builtins"]
    for source, names in IMPORTS.items():
        needed = [name for name in names if name in used]
        if not needed or source == f".{module}":
            continue
        lines += text.wrap_names(f"from {source} import ", needed)
        if source == "typing":
            lines.append("")
        if source == "._core":
            lines.append("from ._core import has_symbol as has_symbol")
    return [*lines, ""]


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    return {f"hipadapt/{m}.pyi": stub(api, m) for m in ("hip", "hiprtc")}
