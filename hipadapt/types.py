# SPDX-License-Identifier: MIT
"""Adapter types: from Python objects to the pointers and arrays that HIP calls take."""

from __future__ import annotations

from ._core import (
    CStr,
    DeviceArray,
    FunctionPointer,
    Handle,
    HipModuleLaunchKernel_extra,
    ListOfBytes,
    ListOfInt,
    ListOfInt64,
    ListOfLong,
    ListOfPointer,
    ListOfUInt64,
    ListOfUnsigned,
    ListOfUnsignedLong,
    NDBuffer,
    Pointer,
    PointerToInt,
    PointerToInt64,
    PointerToLong,
    PointerToUInt64,
    PointerToUnsigned,
    PointerToUnsignedLong,
    Record,
)

__all__ = [
    "CStr",
    "DeviceArray",
    "FunctionPointer",
    "Handle",
    "HipModuleLaunchKernel_extra",
    "ListOfBytes",
    "ListOfInt",
    "ListOfInt64",
    "ListOfLong",
    "ListOfPointer",
    "ListOfUInt64",
    "ListOfUnsigned",
    "ListOfUnsignedLong",
    "NDBuffer",
    "Pointer",
    "PointerToInt",
    "PointerToInt64",
    "PointerToLong",
    "PointerToUInt64",
    "PointerToUnsigned",
    "PointerToUnsignedLong",
    "Record",
]
