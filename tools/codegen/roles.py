# SPDX-License-Identifier: MIT
"""How each role of a parameter looks in C: its variables, conversion and result.

`v_x` is what came from Python (a view, number or launch), `o_x` what C writes into,
`s_x` the slots of a list that C fills.
"""

from __future__ import annotations

from dataclasses import dataclass

from .emit_abi import declare
from .emit_tables import KINDS
from .model import Param

# C type of the variable and suffix of ha_arg_*.
NUMBERS = {
    "int": ("int", "int"),
    "hipDevice_t": ("int", "int"),
    "unsigned int": ("unsigned int", "uint"),
    "uint32_t": ("unsigned int", "uint"),
    "size_t": ("size_t", "size"),
    "uint64_t": ("uint64_t", "uint64"),
    "unsigned long long": ("uint64_t", "uint64"),
    "long long": ("int64_t", "int64"),
    "unsigned char": ("uint8_t", "uint8"),
    "unsigned short": ("uint16_t", "uint16"),
    "float": ("float", "float"),
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
    "ListOfFloat": "HA_F32",
}
# Roles whose argument becomes a view.
VIEWS = (
    "handle",
    "host_node",
    "inout",
    "list",
    "pointer",
    "record",
    "record_list",
    "record_value",
    "text",
    "text_list",
)
LISTS = ("list", "record_list", "text_list")
LAUNCHES = {"kernel_params": "ha_params_from", "extra": "ha_extra_from"}
NODE = "hipGraphNode"


def target(param: Param) -> str:
    """The type that a pointer parameter points to."""
    return param.type.removesuffix("*").strip()


@dataclass
class Names:
    """What adapters may be."""

    enums: set[str]
    records: set[str]

    def list_kind(self, param: Param) -> tuple[str, str]:
        """Kind and index of the entries of a list that C fills."""
        adapter = param.adapter or ""
        if adapter in self.enums:
            return "HA_ENUM", f"HA_ENUM_{adapter}"
        if adapter in self.records:
            return "HA_RECORD", f"HA_RECORD_{adapter}"
        if adapter == "scalar":
            return KINDS[target(param)], "0"
        return "HA_HANDLE", f"HA_HANDLE_{adapter}"

    def declarations(self, param: Param, given: bool) -> list[str]:
        """C variables; `given`: some form brings the memory of this output."""
        name, role = param.name, param.role
        view = [f"struct ha_view v_{name};"] if given or role in VIEWS else []
        if role == "value":
            return [f"{declare(NUMBERS[param.type][0], f'v_{name}')} = 0;"]
        if role == "enum":
            return [f"int v_{name} = 0;"]
        if role in LAUNCHES:
            return [f"struct ha_launch_arguments v_{name};"]
        if role in ("out", "out_array", "inout"):
            ctype = "int" if role == "inout" else target(param)
            if role == "inout" and param.adapter == "scalar":
                ctype = target(param)
            zero = "0" if self.is_number(param) else "NULL"
            return [*view, f"{declare(ctype, f'o_{name}')} = {zero};"]
        if role == "out_list":
            item = declare(target(param), "").strip()
            return [*view, f"struct ha_slots s_{name} = {{NULL, sizeof({item}), 0}};"]
        if role in ("out_record", "out_text"):
            return [f"struct ha_view v_{name};", f"PyObject *o_{name} = NULL;"]
        return view

    def is_number(self, param: Param) -> bool:
        """Whether what an output holds is a number, and no address."""
        return param.role != "out_array" and (
            param.adapter == "scalar" or param.adapter in self.enums
        )

    def conversion(self, param: Param, arg: str, where: str, read: bool) -> str:
        """Call of the adapter; below zero where it fails.

        `read`: the wrapper itself looks into the record.
        """
        types, view, index = "&api->types", f"&v_{param.name}", param.adapter
        write = "HA_WRITE" if param.write else "0"
        head = f"({types}, {arg}, {where}, "
        match param.role:
            case "value":
                return f"ha_arg_{NUMBERS[param.type][1]}{head}{view})"
            case "enum":
                enums = f"(&api->enums, HA_ENUM_{index}, {arg}, {where}, {view})"
                return f"ha_enum_arg{enums}"
            case "pointer" if index == "CStr":
                return f"ha_cstr_from{head}{write}, {view})"
            case "pointer":
                return f"ha_ptr_from{head}{write}, {view})"
            case "handle":
                return f"ha_handle_from{head}HA_HANDLE_{index}, {view})"
            case "host_node":
                return f"ha_host_node_from(api, {arg}, {where}, {view})"
            case "text":
                return f"ha_cstr_from{head}0, {view})"
            case "text_list":
                return f"ha_list_bytes_from{head}0, {view})"
            case "list":
                return self.list_conversion(param, arg, where)
            case "record" | "record_value":
                if param.role == "record_value":
                    write = "HA_BY_VALUE"
                elif read:
                    write = "HA_KNOWN"
                return f"ha_record_from{head}HA_RECORD_{index}, {write}, {view})"
            case "record_list":
                return f"ha_record_list_from{head}HA_RECORD_{index}, {write}, {view})"
            case "inout" if index in self.enums:
                rest = f"{types}, {arg}, {where}, {view}, &o_{param.name}"
                return f"ha_enum_inout(&api->enums, HA_ENUM_{index}, {rest})"
            case "kernel_params" | "extra":
                return f"{LAUNCHES[param.role]}{head}{view})"
        raise ValueError(f"no conversion for role {param.role!r} of {param.name}")

    def list_conversion(self, param: Param, arg: str, where: str) -> str:
        types, view, adapter = "&api->types", f"&v_{param.name}", param.adapter or ""
        write = "HA_WRITE" if param.write else "0"
        if adapter == "ListOfPointer":
            return f"ha_list_ptr_from({types}, {arg}, {where}, {write}, {view})"
        if adapter in LIST_KINDS:
            rest = f"{LIST_KINDS[adapter]}, {write}, {view}"
            return f"ha_list_number_from({types}, {arg}, {where}, {rest})"
        if adapter in self.enums:
            rest = f"HA_ENUM_{adapter}, {write}, {view}"
            return f"ha_list_enum_from(api, {arg}, {where}, {rest})"
        rest = f"HA_HANDLE_{adapter}, {write}, {view}"
        return f"ha_list_handle_from({types}, {arg}, {where}, {rest})"

    def given_conversion(self, param: Param, arg: str, where: str) -> str:
        """Conversion of the memory that the caller brings for an output."""
        types, view = "&api->types", f"&v_{param.name}"
        head = f"({types}, {arg}, {where}, "
        if param.role == "out_record":
            flags = "HA_WRITE | HA_NOT_NULL"
            return f"ha_record_from{head}HA_RECORD_{param.adapter}, {flags}, {view})"
        if param.role == "out_text":
            return f"ha_cstr_from{head}HA_WRITE, {view})"
        if param.role == "out_list":
            kind, index = self.list_kind(param)
            if kind == "HA_RECORD":
                return f"ha_record_list_from{head}{index}, HA_WRITE, {view})"
            if kind == "HA_HANDLE":
                return f"ha_list_ptr_from{head}HA_WRITE, {view})"
            kind = "HA_I32" if kind == "HA_ENUM" else kind
            return f"ha_list_number_from{head}{kind}, HA_WRITE, {view})"
        return f"ha_cell_from{head}sizeof o_{param.name}, {view})"

    def c_argument(self, param: Param, given: str | None) -> str:
        """What C is given; `given` is true in C where the caller brought the output."""
        ctype, name = param.type, param.name
        ours = ""
        match param.role:
            case "out" | "out_array":
                ours = f"&o_{name}"
            case "out_list":
                ours = f"s_{name}.memory"
            case "inout":
                ours = f"ha_inout_of(&v_{name}, &o_{name})"
                return ours if "enum" in ctype else f"({ctype}){ours}"
            case "value":
                return f"v_{name}"
            case "enum":
                return f"({ctype})v_{name}"
            case "record_value":
                return f"*({ctype} *)v_{name}.ptr"
            case "kernel_params" | "extra":
                return f"v_{name}.value"
        if ours and given:
            return f"{given} ? v_{name}.ptr : (void *){ours}"
        if ours:
            return ours
        void = "void" in ctype and ctype.count("*") == 1
        if void or ctype == "hipDeviceptr_t":
            return f"v_{name}.ptr"
        return f"({ctype})v_{name}.ptr"

    def output(self, param: Param, home: str, entries: str) -> str:
        """The Python object of an output that the caller did not bring."""
        name, adapter = f"o_{param.name}", param.adapter
        good = "ready > 0" if param.on_failure else "good"
        match param.role:
            case "out_record" | "out_text":
                return f"ha_out_object({good}, {name})"
            case "out_list" | "out_array":
                kind, index = self.list_kind(param)
                if param.role == "out_list":
                    slots = f"&s_{param.name}"
                else:
                    size = f"sizeof *{name}, {entries}"
                    slots = f"&(struct ha_slots){{(void *){name}, {size}}}"
                rest = f"{kind}, {index}, {slots}, {entries}, {home}"
                return f"ha_out_list(api, {good}, {rest})"
            case "inout":
                name = f"*({target(param)} *)ha_inout_of(&v_{param.name}, &{name})"
        if adapter == "scalar":
            return OUT_SCALARS[target(param)].format(f"({good} ? {name} : 0)")
        if adapter in self.enums:
            return f"ha_out_enum(api, {good}, HA_ENUM_{adapter}, (int){name})"
        if adapter in self.records:
            return f"ha_out_record(api, {good}, HA_RECORD_{adapter}, (void *){name})"
        if adapter == "DeviceArray":
            return f"ha_out_device_array(api, {good}, {name}, {entries})"
        if adapter == "NDBuffer":
            return f"ha_out_copy(api, {good}, {name}, {entries})"
        if adapter == "Pointer":
            return f"ha_out_pointer(api, {good}, {name}, {entries or '-1'})"
        if adapter == "CStr":
            return f"ha_out_cstr(api, {good}, {name})"
        index = f"HA_HANDLE_{adapter}"
        if home != "NULL":
            return f"ha_out_handle_of(api, {good}, {index}, {name}, {home})"
        return f"ha_out_handle(api, {good}, {index}, {name})"
