# SPDX-License-Identifier: MIT
"""Calls every function on the recording library and compares what C was given.

    python -m tests.unit.api.record_calls LIBRARY

runs with HIPADAPT_PROVIDER naming the library (tests/fake/recorder.py) and prints JSON:
{function: [what was wrong]}.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import struct
import sys
import traceback
from typing import Any

from tests.fake import recorder
from tools.codegen import forms
from tools.codegen.model import Function, Param

from . import calls
from .world import ENUMS, WRAPPED, World

ENTRIES = 2  # of every list whose length a number says
LIST_CODES = {
    "ListOfPointer": "P",
    "ListOfInt": "i",
    "ListOfUnsigned": "I",
    "ListOfLong": "l",
    "ListOfUnsignedLong": "L",
    "ListOfInt64": "q",
    "ListOfUInt64": "Q",
    "ListOfFloat": "f",
}
STEP = 0x10000
# Addresses that lead to memory, one for each parameter.
MEMORY = mmap.mmap(-1, STEP * recorder.ARGUMENTS_MAX)
MEMORY_BASE = ctypes.addressof(ctypes.c_char.from_buffer(MEMORY))
FAILED = 1  # hipErrorInvalidValue, HIPRTC_ERROR_OUT_OF_MEMORY


class Recorded(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("bytes", ctypes.c_char * recorder.BYTES_MAX),
    ]


class Library:
    """The variables of the recording library."""

    def __init__(self, path: str) -> None:
        library = ctypes.CDLL(path)
        self.wanted = ctypes.c_char_p.in_dll(library, "recorder_wanted")
        self.answer = ctypes.c_int.in_dll(library, "recorder_answer")
        self.calls = ctypes.c_int.in_dll(library, "recorded_calls")
        table = Recorded * recorder.ARGUMENTS_MAX
        self.recorded = table.in_dll(library, "recorded")

    def argument(self, index: int, text: bool) -> bytes:
        """Bytes of an argument; of a text, what it says."""
        entry = self.recorded[index]
        raw = ctypes.string_at(
            ctypes.addressof(entry) + Recorded.bytes.offset, recorder.BYTES_MAX
        )
        return raw[: raw.index(0)] if text else raw[: entry.size]


class Arguments:
    """One distinct argument for each parameter, and the bytes that C must get."""

    def __init__(self, function: Function, form: int) -> None:
        self.values: list[Any] = []
        self.bytes: dict[str, bytes] = {}
        self.world = World()
        self.function = function
        params = forms.form_params(function)[form]
        lists = [
            p for p in function.params if p.role in calls.LISTS or "text_list" in p.role
        ]
        self.listed = {recorder.entries(p) for p in lists}
        # What a form leaves out is empty.
        self.empty = {recorder.entries(p) for p in lists if p not in params}
        for param in params:
            value, expected = self.make(function.params.index(param), param)
            self.values.append(value)
            if expected is not None:
                self.bytes[param.name] = expected

    def make(self, index: int, param: Param) -> tuple[Any, bytes | None]:
        number = 3 + index
        address = MEMORY_BASE + STEP * index
        adapter = param.adapter or ""
        if param.name in self.listed:
            count = 0 if param.name in self.empty else ENTRIES
            return count, count.to_bytes(8, "little")
        if param.role == "value" and param.type == "float":
            return number / 2, struct.pack("f", number / 2)
        if param.role == "value":
            return number, number.to_bytes(8, "little")
        if param.role == "enum":
            member = last_member(adapter, self.world)
            return member, int(member).to_bytes(4, "little", signed=int(member) < 0)
        if param.role == "handle":
            return self.handle(adapter, address), address.to_bytes(8, "little")
        if param.role == "text":
            return f"text {index}", f"text {index}".encode()
        if param.role in ("record", "record_value", "out_record"):
            made = self.world.record(adapter)
            with memoryview(made).cast("B") as memory:
                memory[:] = bytes([number]) * len(memory)
                content = bytes(memory)
            if param.role == "record_value":
                return made, content
            return made, int(made.as_c_void_p().value).to_bytes(8, "little")
        if param.role in ("out", "out_text", "out_list", "out_array", "inout"):
            memory = bytearray(1024)
            place = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            return memory, place.to_bytes(8, "little")
        if recorder.is_listed(self.function, param):
            return self.make_list(param, number)
        if param.role == "text_list":
            return [b"a", b"b"], None
        if param.role in ("pointer", "list", "record_list", "callback"):
            return address, address.to_bytes(8, "little")
        if param.role == "handle_ref":
            return self.handle(adapter, address), None
        return None, None

    def make_list(self, param: Param, number: int) -> tuple[list[Any], bytes]:
        """Entries of a list, and what they are in C."""
        adapter = param.adapter or ""
        size = recorder.entries(param)
        count = int(size) if size.isdigit() else ENTRIES
        if size in self.empty:
            return [], b""
        if param.role == "record_list":
            records = []
            for at in range(count):
                records.append(self.world.record(adapter))
                with memoryview(records[-1]).cast("B") as memory:
                    memory[:] = bytes([number + at]) * len(memory)
            content = b"".join(bytes(memoryview(r).cast("B")) for r in records)
            return records, content
        if adapter in ENUMS:
            member = last_member(adapter, self.world)
            return [member] * count, struct.pack("i", member) * count
        if adapter.startswith("ListOf"):
            numbers = [number + at for at in range(count)]
            code = LIST_CODES[adapter]
            return list(numbers), struct.pack(f"{count}{code}", *numbers)
        handles = [self.handle(adapter, 16 * (number + at)) for at in range(count)]
        return handles, struct.pack(f"{count}P", *map(int, handles))

    def handle(self, adapter: str, address: int) -> Any:
        for module in (self.world.hip, self.world.rtc):
            if hasattr(module, adapter):
                return getattr(module, adapter)(address)
        raise AttributeError(adapter)


def last_member(adapter: str, world: World) -> Any:
    enum = ENUMS[adapter]
    module = world.rtc if enum.module == "hiprtc" else world.hip
    values = [v for v in enum.constants.values() if v <= 0x7FFFFFFF]
    return getattr(module, adapter)(values[-1])


def output_problem(function: Function, param: Param, value: Any) -> str:
    """What is wrong with an output, or nothing."""
    index = function.params.index(param)
    expected: Any = recorder.output_value(function, index)
    found: Any = value
    if param.role not in (*forms.OUTPUTS, "inout"):
        expected = None  # an input that the form leaves out
    elif param.name in recorder.counted(function):
        expected = recorder.LISTED
    elif param.role == "out_text" or param.adapter == "CStr":
        expected, found = recorder.TEXT[: len(str(value))], str(value)
        if not found:
            expected = "text"
    elif param.role in ("out_list", "out_array"):
        expected = [expected] * len(value)
        found = [plain(entry) for entry in value]
        if param.adapter in recorder.RECORDS:
            expected = [{recorder.FILLER}] * len(value)
            found = [set(bytes(memoryview(entry).cast("B"))) for entry in value]
        if not value:
            return f"output {param.name} is empty"
    elif param.adapter == "NDBuffer" and param.role == "out":
        expected, found = {recorder.FILLER}, set(bytes(value))
    elif param.role == "out_record":
        expected = {recorder.FILLER}
        found = set(bytes(memoryview(value).cast("B")))
    elif param.role == "out" and param.adapter != "scalar":
        found = plain(value)
    return "" if found == expected else f"output {param.name}: {value!r}"


def plain(value: Any) -> int:
    """The number, member or address that an output holds."""
    if hasattr(value, "as_c_void_p"):
        return value.as_c_void_p().value or 0
    return value  # type: ignore[no-any-return]


def check(library: Library, function: Function, form: int) -> list[str]:
    """Problems with one form of one function."""
    problems = []
    params = function.params
    made = Arguments(function, form)

    def call(*arguments: Any) -> tuple[Any, ...]:
        return calls.invoke(function, form, arguments)

    library.wanted.value = function.symbol.encode()
    library.calls.value = 0
    library.answer.value = 0
    result = call(*made.values)
    library.wanted.value = b""
    if not library.calls.value:
        return ["C was not called"]
    for index, param in enumerate(params):
        if param.name not in made.bytes:
            continue
        expected, found = (
            made.bytes[param.name],
            library.argument(index, param.role == "text"),
        )
        if param.role == "value":
            expected = expected[: len(found)]
        if found != expected:
            problems.append(f"argument {param.name}: {found!r} and not {expected!r}")
    status, *outputs = result
    if status != 0:
        problems.append(f"status {status!r}")
    if not forms.status_type(function):
        outputs = outputs[1:]
    returned = forms.form_results(function, form)
    if len(returned) != len(outputs):
        return [*problems, f"{len(outputs)} outputs: {result!r}"]
    for param, value in zip(returned, outputs, strict=True):
        problem = output_problem(function, param, value)
        if problem:
            problems.append(problem)
    if forms.status_type(function):
        library.answer.value = FAILED
        status, *outputs = call(*made.values)
        library.answer.value = 0
        after = list(zip(returned, outputs, strict=True))
        kept = [v for p, v in after if p.role != "inout" and not p.on_failure]
        if status != FAILED or any(kept):
            problems.append(f"a call that fails gives {(status, *outputs)}")
        for param, value in after:
            problem = param.on_failure and output_problem(function, param, value)
            if problem:
                problems.append(f"after a failure: {problem}")
    return problems


def main() -> int:
    """Prints the problems of all functions."""
    library = Library(sys.argv[1])
    found: dict[str, list[str]] = {}
    for function in WRAPPED:
        problems: list[str] = []
        for form in range(len(forms.form_params(function))):
            try:
                problems += check(library, function, form)
            except Exception:
                problems.append(traceback.format_exc(limit=-2))
        if problems:
            found[function.name] = problems
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
