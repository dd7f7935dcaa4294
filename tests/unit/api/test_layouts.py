# SPDX-License-Identifier: MIT
"""Records, enumerators and macros against HIP's own headers, version by version."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from . import header_sets
from .header_sets import API

# Facts that HIP has changed on its way to the described version.  These count members
# or are places kept for later ones, and change whenever something is added:
COUNTS = {
    "HIPRTC_JIT_NUM_INPUT_TYPES",
    "HIPRTC_JIT_NUM_OPTIONS",
    "HIP_FUNC_ATTRIBUTE_MAX",
    "hipErrorTbd",
    "hipFuncAttributeMax",
    "hipGraphNodeTypeCount",
    "hipJitOptionNumOptions",
    "hipLaunchAttributeMax",
    "hipLimitRange",
}
# Flags that had another value before HIP 6; no 5.2 runtime looks at them.
OLD_FLAGS = {"hipIpcMemLazyEnablePeerAccess", "hipDeviceLmemResizeToMax"}
# Records and enums that mean something else before HIP 6 ...
OLD_RECORDS = {
    "hipDeviceProp_t",
    "HIP_MEMCPY3D",
    "hipExternalSemaphoreSignalParams_st",
    "hipExternalSemaphoreWaitParams_st",
    "hipMemAllocationProp",
}
OLD_ENUMS = {"hipMemoryType", "hipGraphNodeType"}
# ... and records that have grown at their end, or of which only reserved parts moved.
GROWN_RECORDS = {
    "5.2": {
        "hipExternalMemoryBufferDesc_st",
        "hipExternalMemoryHandleDesc_st",
        "hipExternalSemaphoreHandleDesc_st",
        "hipMemPoolProps",
    },
    "6.2": {"hipLaunchAttributeValue"},
}
# Number of facts that headers of a version share with the description, at least.
LEAST = {"5.2": 930, "6.2": 1180, "7.1": 1330}
Headers = Callable[[str], Path]
pytestmark = pytest.mark.plain  # nothing of ours runs but the compiler


@pytest.fixture(scope="session")
def headers() -> Headers:
    """headers(version): the folder with HIP's headers of that version."""
    known = dict(header_sets.present())

    def find(version: str) -> Path:
        if version == "installed":
            if not known:
                pytest.skip(
                    "no HIP headers are installed: apt-get install libamdhip64-dev, or "
                    "name folders in HIPADAPT_HIP_HEADERS"
                )
            return next(iter(known.values()))
        if version not in known:
            known[version] = header_sets.fetch(version)
        return known[version]

    return find


@pytest.fixture(scope="session")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the description says, as a compiler sees it."""
    return header_sets.our_table(tmp_path_factory.mktemp("ours"))


def enumerators(names: set[str]) -> set[str]:
    return {c for enum in API.enums if enum.name in names for c in enum.constants}


def expected_differences(version: str) -> tuple[set[str], set[str]]:
    """Records, and single facts, in which these headers may differ."""
    if version.startswith("5."):
        flags = OLD_FLAGS | enumerators(OLD_ENUMS)
        return OLD_RECORDS | GROWN_RECORDS["5.2"], COUNTS | flags
    return GROWN_RECORDS["6.2"] if version.startswith("6.") else set(), COUNTS


@pytest.mark.parametrize(
    "version",
    [
        "installed",
        *(
            pytest.param(v, marks=[pytest.mark.interop, pytest.mark.fetched])
            for v in ("5.2", "6.2", "7.1")
        ),
    ],
)
def test_layouts_and_values_are_those_of_the_headers(
    headers: Headers, ours: dict[str, str], tmp_path: Path, version: str
) -> None:
    include = headers(version)
    real = header_sets.version_of(include)
    assert real is not None
    records, single = expected_differences(real)

    theirs = header_sets.their_table(include, tmp_path)

    different = {fact for fact, value in theirs.items() if ours[fact] != value}
    assert {
        f"{fact}: HIP {theirs[fact]}, ours {ours[fact]}"
        for fact in different
        if fact not in single and fact.partition(".")[0] not in records
    } == set()
    assert len(theirs) >= LEAST.get(real, min(LEAST.values()))
    if real == "5.2":
        # The tables above claim no difference that is none.
        touched = {fact.partition(".")[0] for fact in different}
        assert records <= touched
        assert all(touched & enumerators({name}) for name in OLD_ENUMS)


OLD_PROPERTIES = "hipDeviceProp_tR0000"


@pytest.mark.interop
@pytest.mark.fetched
@pytest.mark.parametrize("version", ["5.2", "6.2", "7.1"])
def test_properties_of_hip_5_are_laid_out_as_in_its_headers(
    headers: Headers, tmp_path: Path, version: str
) -> None:
    include = headers(version)
    text = (header_sets.ROOT / "csrc/cpu/base/device_properties_old.h").read_text(
        "utf-8"
    )
    body = text[text.index(f"struct {OLD_PROPERTIES} {{") :]
    members = re.findall(r"^    [\w ]+?[ *](\w+)(?:\[\d+\])?;", body, re.MULTILINE)
    facts: list[tuple[str, ...]] = [("size", OLD_PROPERTIES)]
    facts += [("offset", OLD_PROPERTIES, member) for member in members]
    spelling = f"}} {OLD_PROPERTIES};"
    head = (
        "#include <stdint.h>\n#include <stdbool.h>\n#include <hip/hip_runtime_api.h>\n"
    )
    if version == "5.2":
        head += f"typedef hipDeviceProp_t {OLD_PROPERTIES};"
    else:
        head += "#include <hip/hip_deprecated.h>"

    flags = ("-D__HIP_PLATFORM_AMD__", f"-I{include}")
    theirs, lacking = header_sets.table(head, facts, spelling, tmp_path, *flags)
    own = '#include "cpu/base/device_properties_old.h"\n'
    own += f"typedef struct {OLD_PROPERTIES} {OLD_PROPERTIES};"
    flags = (f"-I{header_sets.ROOT / 'csrc'}",)
    ours, _ = header_sets.table(own, facts, spelling, tmp_path, *flags)

    assert (lacking, len(members)) == ([], 55)
    assert ours == theirs


def uses_old(function: header_sets.model.Function) -> bool:
    """Whether C passes something that HIP before 6 lays out or numbers differently."""
    by_member = {
        record.name
        for record in API.records
        if any(m.type in OLD_ENUMS | OLD_RECORDS for m in record.members)
    }
    names = OLD_RECORDS | OLD_ENUMS | by_member
    return any(param.adapter in names for param in function.params)


def test_functions_of_other_meaning_are_not_called_on_old_runtimes() -> None:
    """`least_version`, or a symbol of its own, where HIP 5.2 would read other bytes."""
    unguarded = [
        function.name
        for function in API.functions
        if function.wrapped
        and function.since == "5.2"
        and uses_old(function)
        and function.symbol == function.name
        and function.raw.get("least_version", 0) < 60_000_000
    ]

    assert unguarded == []


def test_record_classes_have_the_size_of_c(cpu: ModuleType) -> None:
    for record in API.records:
        if record.size is not None:
            assert getattr(cpu, record.name).c_sizeof() == record.size, record.name


def test_record_members_are_where_c_has_them(
    cpu: ModuleType, ours: dict[str, str]
) -> None:
    properties = cpu.hipDeviceProp_t(warpSize=77, name="abc", maxGridSize=[1, 2, 3])
    memory = bytes(properties)

    begin = int(ours["hipDeviceProp_t.warpSize"])
    assert memory[begin : begin + 4] == (77).to_bytes(4, "little")
    assert memory[:4] == b"abc\0"
    begin = int(ours["hipDeviceProp_t.maxGridSize"])
    assert list(memoryview(memory[begin : begin + 12]).cast("i")) == [1, 2, 3]
