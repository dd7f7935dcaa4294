# SPDX-License-Identifier: MIT
"""csrc/cpu/headers/hipadapt: HIP and hiprtc as programs include them, in C and C++.

The same declarations as in csrc/abi, with the default arguments that HIP has in C++.
"""

from __future__ import annotations

import json
from pathlib import Path

from . import emit_abi, text
from .model import Api, Function

DEFAULTS = Path(__file__).parent / "description" / "defaults.json"
# Those that programs see as pointers.
POINTERS = {
    "HIP_LAUNCH_PARAM_BUFFER_POINTER": "((void *)0x01)",
    "HIP_LAUNCH_PARAM_BUFFER_SIZE": "((void *)0x02)",
    "HIP_LAUNCH_PARAM_END": "((void *)0x03)",
    "hipStreamLegacy": "((hipStream_t)1)",
    "hipStreamPerThread": "((hipStream_t)2)",
}
# Written by hand: in C++ they have constructors.
ELEMENTS = ("char", "short", "int", "long", "longlong", "float", "double")
VECTORS = {
    f"{sign}{element}{count}"
    for sign in ("", "u")
    for element in ELEMENTS
    for count in (1, 2, 3, 4)
}
BY_HAND = frozenset({"dim3", *VECTORS})
# Macros that programs use and Python does not have.
MACROS = {
    "hipDeviceMallocContiguous": "4",
    "hipDeviceMallocUncached": "3",
    "hipDrvLaunchAttribute": "hipLaunchAttribute",
    "hipDrvLaunchAttributeCooperative": "hipLaunchAttributeCooperative",
    "hipDrvLaunchAttributeID": "hipLaunchAttributeID",
    "hipDrvLaunchAttributeValue": "hipLaunchAttributeValue",
    "hipEnableDefault": "0",
    "hipEnableLegacyStream": "1",
    "hipEnablePerThreadDefaultStream": "2",
    "hipEventDisableSystemFence": "0x20000000",
    "hipEventRecordDefault": "0",
    "hipEventRecordExternal": "1",
    "hipEventWaitDefault": "0",
    "hipEventWaitExternal": "1",
    "hipExtHostRegisterUncached": "0x80000000",
    "hipExternalMemoryDedicated": "1",
    "hipGraphKernelNodePortDefault": "0",
    "hipGraphKernelNodePortLaunchCompletion": "2",
    "hipGraphKernelNodePortProgrammatic": "1",
    "hipHostAllocDefault": "0",
    "hipHostAllocMapped": "2",
    "hipHostAllocPortable": "1",
    "hipHostAllocUncached": "hipHostMallocUncached",
    "hipHostAllocWriteCombined": "4",
    "hipHostMallocUncached": "0x10000000",
    "hipHostRegisterReadOnly": "8",
    "hipKernelNodeAttrID": "hipLaunchAttributeID",
    "hipKernelNodeAttrValue": "hipLaunchAttributeValue",
    "hipKernelNodeAttributeAccessPolicyWindow": "hipLaunchAttributeAccessPolicyWindow",
    "hipKernelNodeAttributeCooperative": "hipLaunchAttributeCooperative",
    "hipKernelNodeAttributePriority": "hipLaunchAttributePriority",
    "hipOccupancyDisableCachingOverride": "1",
    "hipStreamAttrID": "hipLaunchAttributeID",
    "hipStreamAttrValue": "hipLaunchAttributeValue",
    "hipStreamAttributeAccessPolicyWindow": "hipLaunchAttributeAccessPolicyWindow",
    "hipStreamAttributeMemSyncDomain": "hipLaunchAttributeMemSyncDomain",
    "hipStreamAttributeMemSyncDomainMap": "hipLaunchAttributeMemSyncDomainMap",
    "hipStreamAttributePriority": "hipLaunchAttributePriority",
    "hipStreamAttributeSynchronizationPolicy": (
        "hipLaunchAttributeSynchronizationPolicy"
    ),
}
MACHINERY = frozenset({"__hipRegisterFunction"})  # its types are the compiler's own


def prototype(function: Function, defaults: list[str]) -> list[str]:
    """The declaration, with default arguments for the last parameters."""
    params = [emit_abi.declare(p.type, p.name) for p in function.params] or ["void"]
    first = len(params) - len(defaults)
    for i, value in enumerate(defaults):
        params[first + i] += f" __HA_OR__({value})"
    head = emit_abi.declare(function.returns, function.symbol) + "("
    return text.wrap_call(head, params, ");")


def opening(name: str, what: str) -> list[str]:
    """The first lines of a header."""
    return [
        text.banner("/*", " */"),
        f"/* {what}, for C11 and C++11. */",
        f"#ifndef {name}",
        f"#define {name}",
        "#if defined(__clang__) || defined(__GNUC__)",
        "#pragma GCC system_header",
        "#endif",
        "",
    ]


def hip_header(api: Api) -> str:
    """hipadapt/api.h."""
    defaults: dict[str, list[str]] = json.loads(DEFAULTS.read_text(encoding="utf-8"))
    lines = opening("HIPADAPT_API_H", "HIP's types and functions")
    lines += [
        "#include <stdbool.h>",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
        '#include "hipadapt/dim3.h"',
        "",
        "#ifndef __HIP_PLATFORM_AMD__",
        "#define __HIP_PLATFORM_AMD__ 1",
        "#endif",
        "#ifdef __cplusplus",
        "#define __HA_OR__(value) = value",
        "#else",
        "#define __HA_OR__(value)",
        "#endif",
        "",
    ]
    lines += emit_abi.type_lines(api, BY_HAND | frozenset(POINTERS) | frozenset(MACROS))
    macros = {**MACROS, **POINTERS}
    lines += [f"#define {name} {value}" for name, value in macros.items()]
    lines += ["", "/* Functions. */", "#ifdef __cplusplus", 'extern "C" {', "#endif"]
    functions = [f for f in api.functions if f.module == "hip"]
    functions += [f for f in api.abi.others if f.name not in MACHINERY]
    lines += [
        line
        for function in functions
        if "hipDeviceProp_tR0000" not in str(function.params)
        for line in prototype(function, defaults.get(function.name, []))
    ]
    lines += ["#ifdef __cplusplus", "}", "#endif", "#undef __HA_OR__", ""]
    lines += ["/* These have a new symbol with the new layout of a record. */"]
    lines += [
        f"#define {function.name} {function.symbol}"
        for function in api.functions
        if function.symbol != function.name
    ]
    return "\n".join([*lines, "", "#endif", ""])


def hiprtc_header(api: Api) -> str:
    """hipadapt/api_hiprtc.h."""
    lines = opening("HIPADAPT_API_HIPRTC_H", "hiprtc's types and functions")
    lines += ['#include "hipadapt/api.h"', ""]
    lines += emit_abi.hiprtc_types(api)
    lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif"]
    for function in api.functions:
        if function.module == "hiprtc":
            lines += prototype(function, [])
    lines += ["#ifdef __cplusplus", "}", "#endif", "", "#endif", ""]
    return "\n".join(lines)


def emit(api: Api) -> dict[str, str]:
    """Path below the root -> content."""
    folder = "csrc/cpu/headers/hipadapt"
    return {
        f"{folder}/api.h": hip_header(api),
        f"{folder}/api_hiprtc.h": hiprtc_header(api),
    }
