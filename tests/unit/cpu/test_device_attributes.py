# SPDX-License-Identifier: MIT
"""Attributes of the device are those of docs/device_attributes.md, and they are true."""

from __future__ import annotations

import json
import mmap
import os
import re
from types import ModuleType
from typing import Any

import pytest

from tests.conftest import ROOT, Run

ROW = re.compile(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", re.MULTILINE)
# Members of the enum that mark a place in it; some share their number with an attribute.
MARKS = re.compile(r"Unused\d|\w*(Begin|End)$")
ASK = """
import json
from hipadapt import hip
kind = hip.hipDeviceAttribute_t
count = hip.hipGetDeviceCount()[1]
properties = [hip.hipGetDeviceProperties(i)[1] for i in range(count)]
fields = ["multiProcessorCount", "totalGlobalMem", "warpSize", "l2CacheSize",
          "pciBusID", "concurrentKernels", "asyncEngineCount"]
print(json.dumps([
    {
        "attributes": {
            name.removeprefix("hipDeviceAttribute"): (
                str(int(answer[1])) if int(answer[0]) == 0 else answer[0].name
            )
            for name in kind.__members__
            for answer in [hip.hipDeviceGetAttribute(kind[name], i)]
        },
        "properties": {f: int(getattr(properties[i], f)) for f in fields},
    }
    for i in range(count)
]))
"""


def documented() -> dict[str, str]:
    """Name -> what the page says that its value is."""
    text = (ROOT / "docs" / "device_attributes.md").read_text()
    return {name: value for name, value, _ in ROW.findall(text)}


def first_numa_node() -> int:
    try:
        with open("/sys/devices/system/node/online") as file:
            return int(re.match(r"\d+", file.read())[0])  # type: ignore[index]
    except OSError:
        return -1


@pytest.mark.parametrize(
    "settings",
    [
        {"HIPADAPT_CPU_THREADS": "1"},
        {"HIPADAPT_CPU_THREADS": "2", "HIPADAPT_CPU_WARP_SIZE": "64"},
        {
            "HIPADAPT_CPU_THREADS": "5",
            "HIPADAPT_CPU_DEVICES": "3",
            "HIP_VISIBLE_DEVICES": "2,0",
            "HIPADAPT_KERNEL_TIMEOUT": "0",
            "HIPADAPT_CPU_GUARD": "1",
        },
    ],
)
def test_attributes_are_the_documented_ones(
    cpu: ModuleType, run_python: Run, settings: dict[str, str]
) -> None:
    page = documented()
    threads = int(settings["HIPADAPT_CPU_THREADS"])
    ordinals = settings.get("HIP_VISIBLE_DEVICES", "0").split(",")

    devices: list[dict[str, Any]] = json.loads(run_python(ASK, **settings).stdout)

    assert len(devices) == len(ordinals)
    for ordinal, device in zip(ordinals, devices, strict=True):
        told, fields = device["attributes"], device["properties"]
        quantities = {
            "`threads`": threads,
            "`threads > 1`": int(threads > 1),
            "`threads - 1`, 2 at most": min(threads - 1, 2),
            "`memory`": min(fields["totalGlobalMem"], 2**31 - 1),
            "`cache`": fields["l2CacheSize"],
            "`numa`": first_numa_node(),
            "`timeout > 0`": int(settings.get("HIPADAPT_KERNEL_TIMEOUT") != "0"),
            "`no guard`": int("HIPADAPT_CPU_GUARD" not in settings),
            "`ordinal`": int(ordinal),
            "`warp`": int(settings.get("HIPADAPT_CPU_WARP_SIZE", "32")),
            "none": "hipErrorInvalidValue",
        }
        wanted = {name: str(quantities.get(v, v)) for name, v in page.items()}
        real = {
            name: value
            for name, value in told.items()
            if name in page or not MARKS.match(name)
        }
        # Two names of one number.
        real.pop("PciDomainID", None)
        assert real == wanted
        assert fields["multiProcessorCount"] == threads
        assert fields["concurrentKernels"] == (threads > 1)
        assert fields["pciBusID"] == int(ordinal)


def test_places_of_the_enum_are_no_attributes(cpu: ModuleType) -> None:
    numbers = {
        int(m)
        for n, m in cpu.hipDeviceAttribute_t.__members__.items()
        if n.removeprefix("hipDeviceAttribute") in documented()
    }
    for member in cpu.hipDeviceAttribute_t:
        if int(member) not in numbers:
            status, _ = cpu.hipDeviceGetAttribute(member, 0)
            assert status.name == "hipErrorInvalidValue", member


def test_properties_without_attribute_are_the_documented_ones(cpu: ModuleType) -> None:
    text = (ROOT / "docs" / "device_attributes.md").read_text()
    ones, zeros = re.search(  # type: ignore[union-attr]
        r"no attribute: (.*?)\s+are 1; (.*?)\s+are 0\.", text, re.DOTALL
    ).groups()
    properties = cpu.hipGetDeviceProperties(0)[1]
    arch = properties.arch

    for wanted, names in ((1, ones), (0, zeros)):
        for name in re.findall(r"`(\w+)`", names):
            assert getattr(properties, name) == wanted, name
    flags = [n for n in dir(arch) if n.startswith("has")]
    lacking = [name for name in flags if not getattr(arch, name)]
    assert len(flags) == 17 and lacking == ["hasDynamicParallelism"]


def test_memory_that_is_only_readable_can_be_registered(cpu: ModuleType) -> None:
    descriptor = os.memfd_create("read only")
    os.truncate(descriptor, mmap.PAGESIZE)
    memory = mmap.mmap(descriptor, mmap.PAGESIZE, prot=mmap.PROT_READ)
    os.close(descriptor)
    import numpy as np

    address = np.frombuffer(memory, np.uint8).ctypes.data

    status = cpu.hipHostRegister(address, mmap.PAGESIZE, 8)  # hipHostRegisterReadOnly

    assert int(status[0]) == 0
    assert int(cpu.hipHostUnregister(address)[0]) == 0
