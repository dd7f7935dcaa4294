# SPDX-License-Identifier: MIT
"""Memory beyond hipMalloc as Python sees it: managed memory with what was said about it,
pools, mapped memory, and memory of other processes; tests/c/cpu/memory has the rest."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.conftest import Run

PAGE = 4096
PAGES = 16
NOWHERE, HOST = -2, -1
Hip = Callable[..., Any]


@pytest.fixture(scope="module")
def hip(cpu: ModuleType) -> Hip:
    """hip(name, ...): the outputs of a call that has to succeed."""
    import hipadapt

    def call(name: str, *arguments: Any) -> Any:
        status, *outputs = getattr(cpu, name)(*arguments)
        assert int(status) == 0, f"{name}: {status!r} {hipadapt.error_text()}"
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    return call


@pytest.fixture
def managed(hip: Hip) -> Iterator[int]:
    """PAGES pages of managed memory; it begins with a page."""
    memory = hip("hipMallocManaged", PAGES * PAGE + (1 << 20), 1)
    yield int(memory)
    hip("hipFree", memory)


def place(cpu: ModuleType, number: int) -> Any:
    kinds = cpu.hipMemLocationType
    if number == HOST:
        return cpu.hipMemLocation(type=kinds.hipMemLocationTypeHost, id=0)
    return cpu.hipMemLocation(type=kinds.hipMemLocationTypeDevice, id=number)


def read(
    cpu: ModuleType, hip: Hip, what: str, address: int, size: int, count: int = 1
) -> list[int]:
    """The numbers of one attribute of a range."""
    attribute = getattr(cpu.hipMemRangeAttribute, f"hipMemRangeAttribute{what}")
    data = (ctypes.c_int * count)(*[77] * count)
    hip("hipMemRangeGetAttribute", data, 4 * count, attribute, address, size)
    return list(data)


# ---- managed memory ------------------------------------------------------------------


def test_advice_is_told_again(cpu: ModuleType, hip: Hip, managed: int) -> None:
    advice = cpu.hipMemoryAdvise
    whole = (managed, PAGES * PAGE)
    half = (managed, PAGES // 2 * PAGE)

    assert read(cpu, hip, "ReadMostly", *whole) == [0]
    assert read(cpu, hip, "PreferredLocation", *whole) == [NOWHERE]
    assert read(cpu, hip, "AccessedBy", *whole, 2) == [NOWHERE] * 2
    assert read(cpu, hip, "LastPrefetchLocation", *whole) == [NOWHERE]
    assert read(cpu, hip, "CoherencyMode", *whole) == [0]

    hip("hipMemAdvise", *half, advice.hipMemAdviseSetReadMostly, 0)
    hip("hipMemAdvise", *whole, advice.hipMemAdviseSetPreferredLocation, HOST)
    for number in (0, HOST):
        where = place(cpu, number)
        hip("hipMemAdvise_v2", *whole, advice.hipMemAdviseSetAccessedBy, where)
    hip("hipMemAdvise", *half, advice.hipMemAdviseSetCoarseGrain, 0)
    hip("hipMemPrefetchAsync", *half, 0, None)

    assert read(cpu, hip, "ReadMostly", *whole) == [0]
    assert read(cpu, hip, "ReadMostly", *half) == [1]
    assert read(cpu, hip, "PreferredLocation", *whole) == [HOST]
    assert sorted(read(cpu, hip, "AccessedBy", *whole, 3)) == [NOWHERE, HOST, 0]
    assert read(cpu, hip, "LastPrefetchLocation", *half) == [0]
    assert read(cpu, hip, "LastPrefetchLocation", *whole) == [NOWHERE]
    assert read(cpu, hip, "CoherencyMode", *half) == [1]
    assert read(cpu, hip, "CoherencyMode", *whole) == [2]

    hip("hipMemAdvise", *half, advice.hipMemAdviseUnsetReadMostly, 0)
    hip("hipMemAdvise", *whole, advice.hipMemAdviseUnsetPreferredLocation, 0)
    hip("hipMemAdvise", *whole, advice.hipMemAdviseUnsetAccessedBy, 0)
    hip("hipMemAdvise", *whole, advice.hipMemAdviseUnsetCoarseGrain, 0)
    assert read(cpu, hip, "ReadMostly", *half) == [0]
    assert read(cpu, hip, "PreferredLocation", *whole) == [NOWHERE]
    assert read(cpu, hip, "AccessedBy", *whole, 2) == [HOST, NOWHERE]
    assert read(cpu, hip, "CoherencyMode", *whole) == [0]


def test_several_attributes_at_once(cpu: ModuleType, hip: Hip, managed: int) -> None:
    attribute = cpu.hipMemRangeAttribute
    hip("hipMemAdvise", managed, PAGE, 1, 0)
    hip("hipMemPrefetchAsync_v2", managed, PAGE, place(cpu, HOST), 0, None)
    data = [bytearray(4), bytearray(4)]
    wanted = [
        attribute.hipMemRangeAttributeReadMostly,
        attribute.hipMemRangeAttributeLastPrefetchLocation,
    ]

    hip("hipMemRangeGetAttributes", data, [4, 4], wanted, 2, managed, PAGE)

    numbers = [int.from_bytes(each, "little", signed=True) for each in data]
    assert numbers == [1, HOST]


def test_random_advice_agrees_with_a_model(
    cpu: ModuleType, hip: Hip, managed: int
) -> None:
    rng = random.Random(5)
    advice = cpu.hipMemoryAdvise
    read_mostly = [0] * PAGES
    preferred = [NOWHERE] * PAGES
    prefetched = [NOWHERE] * PAGES
    for _ in range(600):
        first = rng.randrange(PAGES)
        last = rng.randrange(first, PAGES)
        # Parts of pages count as pages.
        begin = managed + first * PAGE + rng.randrange(100)
        size = (last - first) * PAGE + 1 + rng.randrange(PAGE - 100)
        pages = range(first, last + 1)
        choice = rng.randrange(5)
        if choice == 0:
            value = rng.randrange(2)
            hip("hipMemAdvise", begin, size, 1 if value else 2, 0)
            target = read_mostly
        elif choice == 1:
            value = rng.choice([0, HOST])
            what = advice.hipMemAdviseSetPreferredLocation
            hip("hipMemAdvise", begin, size, what, value)
            target = preferred
        elif choice == 2:
            value = NOWHERE
            what = advice.hipMemAdviseUnsetPreferredLocation
            hip("hipMemAdvise", begin, size, what, 0)
            target = preferred
        else:
            value = rng.choice([0, HOST])
            hip("hipMemPrefetchAsync", begin, size, value, None)
            target = prefetched
        for page in pages:
            target[page] = value

        first = rng.randrange(PAGES)
        last = rng.randrange(first, PAGES)
        asked = (managed + first * PAGE, (last - first + 1) * PAGE)
        part = slice(first, last + 1)
        assert read(cpu, hip, "ReadMostly", *asked) == [min(read_mostly[part])]
        for name, model in (
            ("PreferredLocation", preferred),
            ("LastPrefetchLocation", prefetched),
        ):
            said = set(model[part])
            wanted = said.pop() if len(said) == 1 else NOWHERE
            assert read(cpu, hip, name, *asked) == [wanted]


def test_freed_memory_takes_its_advice_along(cpu: ModuleType, hip: Hip) -> None:
    seen = False
    before = None
    for _ in range(8):
        memory = hip("hipMallocManaged", 1000, 1)
        seen = seen or int(memory) == before
        assert read(cpu, hip, "ReadMostly", int(memory), 1000) == [0]
        hip("hipMemAdvise", memory, 1000, 1, 0)
        assert read(cpu, hip, "ReadMostly", int(memory), 1000) == [1]
        before = int(memory)
        hip("hipFree", memory)
    assert seen, "no address came twice, so nothing was tested"


def test_batches_prefetch_and_discard(cpu: ModuleType, hip: Hip, managed: int) -> None:
    size = PAGES * PAGE
    words = np.arange(size // 4, dtype=np.int32)
    hip("hipMemcpy", managed, words, size, 4)
    ranges = [managed, managed + 4 * PAGE, managed + 8 * PAGE]
    sizes = [PAGE, 2 * PAGE, PAGE]
    places = [place(cpu, 0), place(cpu, HOST)]

    hip("hipMemPrefetchBatchAsync", ranges, sizes, 3, places, [0, 2], 2, 0, None)
    assert read(cpu, hip, "LastPrefetchLocation", ranges[0], PAGE) == [0]
    assert read(cpu, hip, "LastPrefetchLocation", ranges[1], PAGE) == [0]
    assert read(cpu, hip, "LastPrefetchLocation", ranges[2], PAGE) == [HOST]
    assert read(cpu, hip, "LastPrefetchLocation", managed + PAGE, PAGE) == [NOWHERE]

    # What is discarded may be anything; what is not stays.
    hip("hipMemDiscardBatchAsync", [managed + 100], [2 * PAGE], 1, 0, None)
    hip("hipStreamSynchronize", None)
    result = np.zeros_like(words)
    hip("hipMemcpy", result, managed, size, 4)
    assert (result[:25] == words[:25]).all()
    assert (result[2 * PAGE // 4 + 25 :] == words[2 * PAGE // 4 + 25 :]).all()
    assert not result[PAGE // 4 : 2 * PAGE // 4].any(), "the page was not given back"
    batch = (ranges, sizes, 3, [place(cpu, HOST)], [0], 1, 0, None)
    hip("hipMemDiscardAndPrefetchBatchAsync", *batch)
    assert read(cpu, hip, "LastPrefetchLocation", ranges[0], PAGE) == [HOST]


def test_discard_comes_in_stream_order(hip: Hip, managed: int) -> None:
    stream = hip("hipStreamCreate")
    words = np.full(PAGE, 7, dtype=np.int32)
    copy = np.zeros_like(words)
    for _ in range(50):
        hip("hipMemcpyAsync", managed, words, words.nbytes, 4, stream)
        hip("hipMemcpyAsync", copy, managed, words.nbytes, 4, stream)
        hip("hipMemDiscardBatchAsync", [managed], [words.nbytes], 1, 0, stream)
        hip("hipMemsetAsync", managed, 1, 16, stream)
        hip("hipStreamSynchronize", stream)
        assert (copy == 7).all()
        copy[:] = 0
    hip("hipStreamDestroy", stream)


def test_bad_hints_are_refused(cpu: ModuleType, hip: Hip, managed: int) -> None:
    plain = hip("hipMalloc", 100)
    error = cpu.hipError_t
    data = bytearray(8)
    attribute = cpu.hipMemRangeAttribute.hipMemRangeAttributeReadMostly
    here = place(cpu, 0)
    wrong = [
        ("hipMemAdvise", (plain, 100, 1, 0), error.hipErrorInvalidValue),
        ("hipMemAdvise", (managed, 0, 1, 0), error.hipErrorInvalidValue),
        ("hipMemAdvise", (managed, 1 << 40, 1, 0), error.hipErrorInvalidValue),
        ("hipMemAdvise", (managed, 10, 3, 50), error.hipErrorInvalidDevice),
        ("hipMemPrefetchAsync", (plain, 10, 0, None), error.hipErrorInvalidValue),
        ("hipMemPrefetchAsync", (managed, 10, 50, None), error.hipErrorInvalidDevice),
        (
            "hipMemPrefetchAsync_v2",
            (managed, 10, here, 1, None),
            error.hipErrorInvalidValue,
        ),
        (
            "hipMemPrefetchAsync_v2",
            (managed, 10, cpu.hipMemLocation(), 0, None),
            error.hipErrorInvalidValue,
        ),
        (
            "hipMemRangeGetAttribute",
            (data, 8, attribute, managed, 10),
            error.hipErrorInvalidValue,
        ),
        (
            "hipMemDiscardBatchAsync",
            ([managed, int(plain)], [8, 8], 2, 0, None),
            error.hipErrorInvalidValue,
        ),
        (
            "hipMemPrefetchBatchAsync",
            ([managed], [8], 1, [here], [1], 1, 0, None),
            error.hipErrorInvalidValue,
        ),
        (
            "hipStreamAttachMemAsync",
            (None, managed, 0, 4),
            error.hipErrorInvalidValue,
        ),
        ("hipStreamAttachMemAsync", (None, plain, 0, 1), error.hipErrorInvalidValue),
        ("hipStreamAttachMemAsync", (None, managed, 5, 1), error.hipErrorInvalidValue),
        ("hipStreamAttachMemAsync", (None, managed, 0, 3), error.hipErrorInvalidValue),
    ]
    for name, arguments, code in wrong:
        assert getattr(cpu, name)(*arguments)[0] == code, (name, arguments)
    hip("hipFree", plain)


# ---- pointers ------------------------------------------------------------------------


def test_pointer_attribute_can_be_set(cpu: ModuleType, hip: Hip) -> None:
    attribute = cpu.hipPointer_attribute
    memory = hip("hipMalloc", 100)
    flag = bytearray(1)
    sync = attribute.HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS
    hip("hipPointerGetAttribute", flag, sync, memory)
    assert flag == b"\0"

    hip("hipPointerSetAttribute", b"\1", sync, memory)

    hip("hipPointerGetAttribute", flag, sync, int(memory) + 50)
    assert flag == b"\1"
    other = attribute.HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    wrong = cpu.hipError_t.hipErrorInvalidValue
    assert cpu.hipPointerSetAttribute(bytes(4), other, memory)[0] == wrong
    assert cpu.hipPointerSetAttribute(b"\1", sync, flag)[0] == wrong
    hip("hipFree", memory)
    # The next one at that address begins anew.
    again = hip("hipMalloc", 100)
    hip("hipPointerGetAttribute", flag, sync, again)
    assert flag == b"\0"
    hip("hipFree", again)


def test_unknown_pointer_has_attributes_that_say_so(cpu: ModuleType, hip: Hip) -> None:
    names = cpu.hipPointer_attribute
    wanted = [
        names.HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        names.HIP_POINTER_ATTRIBUTE_RANGE_SIZE,
        names.HIP_POINTER_ATTRIBUTE_MAPPED,
    ]
    memory = hip("hipMalloc", 100)
    for address, number, size in ((memory, 0, 100), (bytearray(10), NOWHERE, 0)):
        data = [bytearray(b"\7" * 8) for _ in wanted]
        hip("hipDrvPointerGetAttributes", len(wanted), wanted, data, address)
        assert int.from_bytes(data[0][:4], "little", signed=True) == number
        assert int.from_bytes(data[1], "little") == size
        assert data[2][0] == (size != 0)
    hip("hipFree", memory)


def test_registering_what_is_no_memory_is_refused(cpu: ModuleType) -> None:
    wrong = cpu.hipError_t.hipErrorInvalidValue
    assert cpu.hipHostRegister(0x1000, 4096, 0)[0] == wrong


# ---- pools ---------------------------------------------------------------------------


def test_pool_gives_the_same_memory_again(cpu: ModuleType, hip: Hip) -> None:
    kinds = cpu.hipMemAllocationType
    props = cpu.hipMemPoolProps(
        allocType=kinds.hipMemAllocationTypePinned, location=place(cpu, 0)
    )
    pool = hip("hipMemPoolCreate", props)
    names = cpu.hipMemPoolAttr
    threshold = names.hipMemPoolAttrReleaseThreshold
    hip("hipMemPoolSetAttribute", pool, threshold, (1 << 40).to_bytes(8, "little"))
    stream = hip("hipStreamCreate")
    number = bytearray(8)

    first = hip("hipMallocFromPoolAsync", 1 << 20, pool, stream)
    hip("hipFreeAsync", first, stream)
    second = hip("hipMallocFromPoolAsync", 1 << 20, pool, stream)

    assert int(first) == int(second)
    for name, value in (("UsedMemCurrent", 1 << 20), ("UsedMemHigh", 1 << 20)):
        attribute = getattr(names, f"hipMemPoolAttr{name}")
        hip("hipMemPoolGetAttribute", pool, attribute, number)
        assert int.from_bytes(number, "little") == value
    hip("hipFreeAsync", second, stream)
    hip("hipStreamSynchronize", stream)
    hip("hipMemPoolDestroy", pool)
    hip("hipStreamDestroy", stream)


# ---- several processes ---------------------------------------------------------------

PEER = """
import sys
import numpy as np
from hipadapt import hip

memory, event = hip.hipIpcMemHandle_st(), hip.hipIpcEventHandle_st()
memory.reserved = bytes.fromhex(sys.argv[1])
event.reserved = bytes.fromhex(sys.argv[2])
status, pointer = hip.hipIpcOpenMemHandle(memory, 1)
assert status == 0, status
status, passed = hip.hipIpcOpenEventHandle(event)
assert status == 0, status
assert hip.hipEventSynchronize(passed)[0] == 0
words = np.zeros(1000, np.int32)
assert hip.hipMemcpy(words, pointer, words.nbytes, 2)[0] == 0
assert (words == np.arange(1000)).all()
words *= 2
assert hip.hipMemcpy(pointer, words, words.nbytes, 1)[0] == 0
assert hip.hipEventRecord(passed, None)[0] == 0
assert hip.hipIpcCloseMemHandle(pointer)[0] == 0
assert hip.hipEventDestroy(passed)[0] == 0
print("done")
"""


def test_memory_and_event_of_another_process(
    cpu: ModuleType, hip: Hip, run_python: Run
) -> None:
    words = np.arange(1000, dtype=np.int32)
    memory = hip("hipMalloc", words.nbytes)
    flags = cpu.hipEventInterprocess | cpu.hipEventDisableTiming
    event = hip("hipEventCreateWithFlags", flags)
    hip("hipMemcpyAsync", memory, words, words.nbytes, 1, None)
    hip("hipEventRecord", event, None)
    handles = (hip("hipIpcGetMemHandle", memory), hip("hipIpcGetEventHandle", event))
    arguments = [bytes(handle.reserved).hex() for handle in handles]

    prelude = f"import sys; sys.argv[1:] = {arguments!r}\n"
    assert run_python(prelude + PEER).stdout.split()[-1] == "done"

    hip("hipEventSynchronize", event)
    result = np.zeros_like(words)
    hip("hipMemcpy", result, memory, result.nbytes, 2)
    assert (result == 2 * words).all()
    hip("hipEventDestroy", event)
    hip("hipFree", memory)


STALE = """
import sys
from hipadapt import hip

answers = []
for kind, text in zip("mme", sys.argv[1:]):
    if kind == "m":
        handle = hip.hipIpcMemHandle_st()
        handle.reserved = bytes.fromhex(text)
        answers.append(int(hip.hipIpcOpenMemHandle(handle, 1)[0]))
    else:
        event = hip.hipIpcEventHandle_st()
        event.reserved = bytes.fromhex(text)
        answers.append(int(hip.hipIpcOpenEventHandle(event)[0]))
print(*answers)
"""


def test_handles_of_what_was_freed_open_nothing(
    cpu: ModuleType, hip: Hip, run_python: Run
) -> None:
    keep, first = hip("hipMalloc", 3000), hip("hipMalloc", 3000)
    flags = cpu.hipEventInterprocess | cpu.hipEventDisableTiming
    event = hip("hipEventCreateWithFlags", flags)
    old = hip("hipIpcGetMemHandle", first)
    passed = hip("hipIpcGetEventHandle", event)
    place = int(first)
    hip("hipFree", first)
    hip("hipEventDestroy", event)
    second = hip("hipMalloc", 3000)
    assert int(second) == place
    new = hip("hipIpcGetMemHandle", second)

    arguments = [bytes(handle.reserved).hex() for handle in (old, new, passed)]
    prelude = f"import sys; sys.argv[1:] = {arguments!r}\n"
    answers = run_python(prelude + STALE).stdout.split()

    codes = cpu.hipError_t
    wanted = [codes.hipErrorInvalidDevicePointer, 0, codes.hipErrorInvalidValue]
    assert [int(word) for word in answers] == [int(code) for code in wanted]
    hip("hipFree", second)
    hip("hipFree", keep)
