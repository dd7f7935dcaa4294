# SPDX-License-Identifier: MIT
"""Types and constants of hip-python 10.0: the same names, members and values here.

``peer_types.json`` holds the names of its modules: enums with their values, records
with their properties, handles, macros and second names.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hipadapt import hiprtc, types

FACTS: dict[str, list[dict[str, Any]]] = json.loads(
    Path(__file__).with_suffix("").with_name("peer_types.json").read_text("utf-8")
)
RECORDS = FACTS["records"]
# Macros above INT_MAX are negative in hip-python, so that its own functions refuse
# them as flags; here they have the value that HIP's headers give.
UNSIGNED = {"hipEventReleaseToSystem", "hipHostMallocNonCoherent"}


@pytest.fixture(scope="session")
def modules(cpu: ModuleType) -> dict[str, ModuleType]:
    return {"hip": cpu, "hiprtc": hiprtc}


def named(entry: dict[str, Any]) -> str:
    return str(entry["name"])


def test_facts_are_whole() -> None:
    assert len(FACTS["enums"]) == 79
    assert sum(len(e["constants"]) for e in FACTS["enums"]) == 698
    assert len(FACTS["enums"]) + len(RECORDS) + len(FACTS["pointers"]) == 270
    assert sum(len(r["writable"]) + len(r["readonly"]) for r in RECORDS) == 731
    assert sum(len(r["writable"]) for r in RECORDS) == 588
    assert (len(FACTS["constants"]), len(FACTS["aliases"])) == (79, 56)


@pytest.mark.parametrize("entry", FACTS["enums"], ids=named)
def test_enum_has_every_member(modules: dict[str, ModuleType], entry: Any) -> None:
    enum = getattr(modules[entry["module"]], entry["name"])

    ours = {name: int(value) for name, value in enum.__members__.items()}

    assert {name: ours.get(name) for name in entry["constants"]} == entry["constants"]
    assert entry["name"] in dir(modules[entry["module"]])


@pytest.mark.parametrize("entry", RECORDS, ids=named)
def test_record_has_every_member(modules: dict[str, ModuleType], entry: Any) -> None:
    cls = getattr(modules[entry["module"]], entry["name"])
    record, several = cls(), cls.allocate(2)

    assert issubclass(cls, types.Record)
    assert entry["name"] in dir(modules[entry["module"]])
    listed = cls.PROPERTIES()
    for name in (*entry["writable"], *entry["readonly"]):
        assert name in listed
        assert name in record
        getattr(record, name)
        getattr(several, "get_" + name)(1)
    for name in entry["writable"]:
        value = getattr(record, name)
        setattr(record, name, value)
        getattr(several, "set_" + name)(1, value)


@pytest.mark.parametrize("entry", RECORDS, ids=named)
def test_record_elements_and_null_are_checked(
    modules: dict[str, ModuleType], entry: Any
) -> None:
    cls = getattr(modules[entry["module"]], entry["name"])
    several, null = cls.allocate(2), cls.fromObj(None)

    assert len(bytes(several)) == 2 * cls.c_sizeof()
    assert cls.fromObj(several) is several
    assert several.as_c_void_p().value == int(several)
    assert null.as_c_void_p().value is None
    for name in cls.PROPERTIES():
        getter = getattr(several, "get_" + name)
        for index in (2, -1, 10**9):
            with pytest.raises(IndexError):
                getter(index)
        with pytest.raises(ValueError, match="NULL"):
            getattr(null, name)
        with pytest.raises(ValueError, match="NULL"):
            getattr(null, "get_" + name)(0)


@pytest.mark.parametrize("entry", FACTS["pointers"], ids=named)
def test_handle_and_function_types(modules: dict[str, ModuleType], entry: Any) -> None:
    cls = getattr(modules[entry["module"]], entry["name"])
    base = types.Handle if entry["kind"] == "handle" else types.FunctionPointer

    assert issubclass(cls, base)
    assert int(cls(0x1234)) == 0x1234
    assert not cls()
    assert entry["name"] in dir(modules[entry["module"]])


@pytest.mark.parametrize("entry", FACTS["constants"], ids=named)
def test_constant_has_its_value(modules: dict[str, ModuleType], entry: Any) -> None:
    ours, value = getattr(modules[entry["module"]], entry["name"]), entry["value"]

    if isinstance(value, dict):
        assert ours == value["bytes"].encode()
    elif entry["name"] in UNSIGNED:
        assert value < 0
        assert ours == value + 2**32
    else:
        assert ours == value


@pytest.mark.parametrize("entry", FACTS["aliases"], ids=named)
def test_alias_is_its_target(modules: dict[str, ModuleType], entry: Any) -> None:
    module = modules[entry["module"]]
    target = getattr(module, entry["target"], None)
    if target is None:
        target = getattr(modules["hip"], entry["target"])

    assert getattr(module, entry["name"]) is target


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("HIPRTC_JIT_INPUT_LLVM_BITCODE", "hipJitInputLLVMBitcode"),
        ("HIPRTC_JIT_INPUT_LLVM_BUNDLED_BITCODE", "hipJitInputLLVMBundledBitcode"),
        ("HIPRTC_JIT_INPUT_SPIRV", "hipJitInputSpirv"),
    ],
)
def test_old_input_names_of_hiprtc_are_kept(old: str, new: str) -> None:
    enum = hiprtc.hiprtcJITInputType

    assert enum[old] is enum[new]


def test_every_link_option_has_its_old_name(cpu: ModuleType) -> None:
    options = hiprtc.hiprtcJIT_option

    old = {o.value for n, o in options.__members__.items() if n.startswith("HIPRTC_")}

    assert options is cpu.hipJitOption is hiprtc.hipJitOption
    assert old == {option.value for option in options}
    assert options.HIPRTC_JIT_MAX_REGISTERS is options.hipJitOptionMaxRegisters


@pytest.mark.parametrize(
    "name", ["hipDeviceptr_t", "hipExternalMemory_t", "hipExternalSemaphore_t"]
)
def test_names_of_plain_addresses_are_pointers(cpu: ModuleType, name: str) -> None:
    assert getattr(cpu, name) is types.Pointer
    assert name in dir(cpu)
