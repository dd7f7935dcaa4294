# SPDX-License-Identifier: MIT
"""Arguments for the functions of memory pools, virtual memory, managed memory and memory
of other processes.

`Kinds` has a pool, an allocation without an address, and a mapping; they belong to a
world (tests/unit/api/world.py) and end with it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import Any

PAGE = 1 << 16  # a multiple of every granularity
FILE = 1  # hipMemHandleTypePosixFileDescriptor
PINNED = 1  # hipMemAllocationTypePinned


class Kinds:
    """Memory that is not hipMalloc's."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.hip = world.hip
        self.files: list[int] = []

    @property
    def here(self) -> Any:
        device = self.hip.hipMemLocationType.hipMemLocationTypeDevice
        return self.hip.hipMemLocation(type=device, id=0)

    @property
    def access(self) -> Any:
        flags = self.hip.hipMemAccessFlags.hipMemAccessFlagsProtReadWrite
        return self.hip.hipMemAccessDesc(location=self.here, flags=flags)

    # ---- pools ---------------------------------------------------------------------

    @property
    def pool_props(self) -> Any:
        return self.hip.hipMemPoolProps(
            allocType=self.hip.hipMemAllocationType.hipMemAllocationTypePinned,
            handleTypes=self.hip.hipMemAllocationHandleType(FILE),
            location=self.here,
        )

    def new_pool(self) -> Any:
        return self.world.ok("hipMemPoolCreate", self.pool_props)

    @cached_property
    def pool(self) -> Any:
        return self.new_pool()

    @cached_property
    def pooled(self) -> Any:
        """Memory of that pool."""
        world = self.world
        return world.ok("hipMallocFromPoolAsync", 64, self.pool, world.stream)

    @property
    def pool_file(self) -> int:
        return self.file_of("hipMemPoolExportToShareableHandle", self.pool)

    @cached_property
    def imported_pool(self) -> Any:
        file = self.pool_file
        return self.world.ok("hipMemPoolImportFromShareableHandle", file, FILE, 0)

    @property
    def exported(self) -> Any:
        return self.world.ok("hipMemPoolExportPointer", self.pooled)

    def file_of(self, export: str, handle: Any) -> int:
        number = bytearray(4)
        self.world.ok(export, number, handle, FILE, 0)
        file = exported_file(number)
        if file is None:  # by a library that does nothing
            file = os.open(os.devnull, os.O_RDONLY)
        self.files.append(file)
        return file

    # ---- virtual memory ------------------------------------------------------------

    @property
    def prop(self) -> Any:
        prop = self.hip.hipMemAllocationProp(
            type=self.hip.hipMemAllocationType.hipMemAllocationTypePinned,
            location=self.here,
        )
        prop.requestedHandleType = self.hip.hipMemAllocationHandleType(FILE)
        return prop

    def new_physical(self) -> Any:
        return self.world.ok("hipMemCreate", PAGE, self.prop, 0)

    @cached_property
    def physical(self) -> Any:
        return self.new_physical()

    def new_addresses(self) -> Any:
        return self.world.ok("hipMemAddressReserve", PAGE, 0, None, 0)

    @cached_property
    def addresses(self) -> Any:
        """Reserved, with nothing there."""
        return self.new_addresses()

    @cached_property
    def mapped(self) -> Any:
        addresses = self.new_addresses()
        self.world.ok("hipMemMap", addresses, PAGE, 0, self.physical, 0)
        self.world.ok("hipMemSetAccess", addresses, PAGE, [self.access], 1)
        return addresses

    def remapped(self) -> Any:
        """Something that can be unmapped, whatever happened before."""
        mapped = self.mapped
        self.hip.hipMemUnmap(mapped, PAGE)
        self.world.ok("hipMemMap", mapped, PAGE, 0, self.physical, 0)
        return mapped

    # ---- external memory -----------------------------------------------------------

    @cached_property
    def external_file(self) -> Any:
        """The description of a file that can be imported."""
        desc = self.hip.hipExternalMemoryHandleDesc_st(
            type=self.hip.hipExternalMemoryHandleType_enum(FILE), size=PAGE
        )
        desc.handle.fd = self.file_of("hipMemExportToShareableHandle", self.physical)
        return desc

    def new_external(self) -> Any:
        return self.world.ok("hipImportExternalMemory", self.external_file)

    @cached_property
    def external(self) -> Any:
        return self.new_external()

    # ---- several processes ----------------------------------------------------------

    @property
    def event_of_processes(self) -> Any:
        flags = self.hip.hipEventInterprocess | self.hip.hipEventDisableTiming
        return self.world.ok("hipEventCreateWithFlags", flags)

    @cached_property
    def shared_event(self) -> Any:
        return self.event_of_processes

    def close(self) -> None:
        made = self.__dict__
        if "mapped" in made:
            self.hip.hipMemUnmap(made["mapped"], PAGE)
        for name, destroy in (
            ("mapped", "hipMemAddressFree"),
            ("addresses", "hipMemAddressFree"),
            ("external", "hipDestroyExternalMemory"),
            ("physical", "hipMemRelease"),
            ("pooled", "hipFree"),
            ("imported_pool", "hipMemPoolDestroy"),
            ("pool", "hipMemPoolDestroy"),
            ("shared_event", "hipEventDestroy"),
        ):
            if name in made:
                size = (PAGE,) if destroy == "hipMemAddressFree" else ()
                getattr(self.hip, destroy)(made[name], *size)
        for file in self.files:
            os.close(file)


def exported_file(number: Any) -> int | None:
    """The descriptor that an export has written, if it is one."""
    file = int.from_bytes(bytes(number)[:4], "little")
    try:
        target = os.readlink(f"/proc/self/fd/{file}")
    except OSError:
        return None
    return file if target.startswith("/memfd:hipadapt") else None


def kinds(world: Any) -> Kinds:
    """The world's; it ends with the world."""
    found = world.__dict__.setdefault("kinds", Kinds(world))
    assert isinstance(found, Kinds)
    return found


def threshold(world: Any) -> Any:
    return world.hip.hipMemPoolAttr.hipMemPoolAttrReleaseThreshold


def prefetches(world: Any) -> tuple[Any, ...]:
    """The place of one prefetch."""
    return ([kinds(world).here], [0], 1, 0, world.stream)


def one(world: Any) -> tuple[Any, ...]:
    """One range of managed memory."""
    return ([world.managed], [64], 1)


def destroyable(world: Any) -> tuple[Any, ...]:
    return (kinds(world).new_pool(),)


def releasable(world: Any) -> tuple[Any, ...]:
    return (kinds(world).new_physical(),)


def fresh_addresses(world: Any) -> tuple[Any, ...]:
    return (kinds(world).new_addresses(), PAGE)


def empty_addresses(world: Any) -> tuple[Any, ...]:
    made = kinds(world)
    world.hip.hipMemUnmap(made.addresses, PAGE)
    world.hip.hipGetLastError()
    return (made.addresses, PAGE, 0, made.physical, 0)


def ordinal(world: Any) -> Any:
    return world.hip.hipPointer_attribute.HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL


def read_mostly(world: Any) -> Any:
    return world.hip.hipMemRangeAttribute.hipMemRangeAttributeReadMostly


ARGUMENTS: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "hipIpcOpenMemHandle": lambda w: (w.ok("hipIpcGetMemHandle", w.array), 0),
    "hipIpcGetEventHandle": lambda w: (kinds(w).shared_event,),
    "hipIpcOpenEventHandle": lambda w: (
        w.ok("hipIpcGetEventHandle", kinds(w).shared_event),
    ),
    "hipPointerSetAttribute": lambda w: (
        bytearray(8),
        w.hip.hipPointer_attribute.HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS,
        w.array,
    ),
    "hipDrvPointerGetAttributes": lambda w: (*(1, [ordinal(w)], [w.host], w.array),),
    "hipMemAdvise_v2": lambda w: (w.managed, 64, 1, kinds(w).here),
    "hipMemPrefetchAsync_v2": lambda w: (w.managed, 64, kinds(w).here, 0, w.stream),
    "hipMemPrefetchBatchAsync": lambda w: (*one(w), *prefetches(w)),
    "hipMemDiscardBatchAsync": lambda w: (*one(w), 0, w.stream),
    "hipDrvMemDiscardBatchAsync": lambda w: (*one(w), 0, w.stream),
    "hipMemDiscardAndPrefetchBatchAsync": lambda w: (*one(w), *prefetches(w)),
    "hipDrvMemDiscardAndPrefetchBatchAsync": lambda w: (*one(w), *prefetches(w)),
    "hipMemRangeGetAttribute": lambda w: (*(w.host, 4, read_mostly(w), w.managed, 64),),
    "hipMemRangeGetAttributes": lambda w: (
        *([w.host], [4], [read_mostly(w)], 1, w.managed, 64),
    ),
    "hipStreamAttachMemAsync": lambda w: (w.stream, w.managed, 0, 1),
    "hipDeviceSetMemPool": lambda w: (0, w.ok("hipDeviceGetDefaultMemPool", 0)),
    "hipMemPoolTrimTo": lambda w: (kinds(w).pool, 0),
    "hipMemPoolSetAttribute": lambda w: (kinds(w).pool, threshold(w), bytearray(8)),
    "hipMemPoolGetAttribute": lambda w: (kinds(w).pool, threshold(w), w.host),
    "hipMemPoolSetAccess": lambda w: (kinds(w).pool, [kinds(w).access], 1),
    "hipMemPoolGetAccess": lambda w: (kinds(w).pool, kinds(w).here),
    "hipMemPoolCreate": lambda w: (kinds(w).pool_props,),
    "hipMemPoolDestroy": destroyable,
    "hipMallocFromPoolAsync": lambda w: (64, kinds(w).pool, w.stream),
    "hipMemPoolExportToShareableHandle": lambda w: (w.host, kinds(w).pool, FILE, 0),
    "hipMemPoolImportFromShareableHandle": lambda w: (kinds(w).pool_file, FILE, 0),
    "hipMemPoolExportPointer": lambda w: (kinds(w).pooled,),
    "hipMemPoolImportPointer": lambda w: (kinds(w).imported_pool, kinds(w).exported),
    "hipMemSetMemPool": lambda w: (
        *(kinds(w).here, PINNED, w.ok("hipDeviceGetDefaultMemPool", 0)),
    ),
    "hipMemGetMemPool": lambda w: (kinds(w).here, PINNED),
    "hipMemGetDefaultMemPool": lambda w: (kinds(w).here, PINNED),
    "hipMemAddressReserve": lambda w: (PAGE, 0, None, 0),
    "hipMemAddressFree": fresh_addresses,
    "hipMemGetAllocationGranularity": lambda w: (kinds(w).prop, 0),
    "hipMemCreate": lambda w: (PAGE, kinds(w).prop, 0),
    "hipMemRelease": releasable,
    "hipMemGetAllocationPropertiesFromHandle": lambda w: (kinds(w).physical,),
    "hipMemRetainAllocationHandle": lambda w: (kinds(w).mapped,),
    "hipMemExportToShareableHandle": lambda w: (w.host, kinds(w).physical, FILE, 0),
    "hipMemImportFromShareableHandle": lambda w: (
        kinds(w).file_of("hipMemExportToShareableHandle", kinds(w).physical),
        FILE,
    ),
    "hipImportExternalMemory": lambda w: (kinds(w).external_file,),
    "hipDestroyExternalMemory": lambda w: (kinds(w).new_external(),),
    "hipExternalMemoryGetMappedBuffer": lambda w: (
        kinds(w).external,
        w.hip.hipExternalMemoryBufferDesc_st(size=64),
    ),
    "hipMemMap": empty_addresses,
    "hipMemUnmap": lambda w: (kinds(w).remapped(), PAGE),
    "hipMemSetAccess": lambda w: (kinds(w).mapped, PAGE, [kinds(w).access], 1),
    "hipMemGetAccess": lambda w: (kinds(w).here, kinds(w).mapped),
}

# A process can't open what is its own; without another one there is nothing to close.
ANSWERS = {
    "hipIpcOpenMemHandle": "hipErrorInvalidContext",
    "hipIpcOpenEventHandle": "hipErrorInvalidContext",
    "hipIpcCloseMemHandle": "hipErrorInvalidValue",
}

# Forms in which lists come back that only the caller can have filled.
USELESS_FORMS = {
    "hipDrvPointerGetAttributes": (1,),
    "hipMemPrefetchBatchAsync": (1,),
    "hipMemDiscardBatchAsync": (1,),
    "hipDrvMemDiscardBatchAsync": (1,),
    "hipMemDiscardAndPrefetchBatchAsync": (1,),
    "hipDrvMemDiscardAndPrefetchBatchAsync": (1,),
    "hipMemRangeGetAttributes": (1,),
}

UNDO_OF_OUTPUT = {
    "ihipMemPoolHandle_t": "hipMemPoolDestroy",
    "ihipMemGenericAllocationHandle": "hipMemRelease",
}
# Their output is memory.
FREED = (
    "hipMallocFromPoolAsync",
    "hipMemPoolImportPointer",
    "hipExternalMemoryGetMappedBuffer",
)
# Their output is not new.
GETTERS = (
    "hipDeviceGetDefaultMemPool",
    "hipDeviceGetMemPool",
    "hipMemGetMemPool",
    "hipMemGetDefaultMemPool",
)


def undo(
    world: Any, name: str, arguments: tuple[Any, ...], outputs: tuple[Any, ...]
) -> None:
    """Ends what a call has made that its output's type does not tell."""
    if name == "hipMemAddressReserve":
        world.ok("hipMemAddressFree", outputs[0], PAGE)
    elif name == "hipMemMap":
        world.ok("hipMemUnmap", arguments[0], PAGE)
    elif name == "hipMemUnmap":
        world.ok("hipMemAddressFree", arguments[0], PAGE)
        kinds(world).__dict__.pop("mapped", None)
    elif name in FREED:
        world.ok("hipFree", outputs[0])
    elif name == "hipImportExternalMemory":
        written = bytes(arguments[0])[:8] if not outputs else b""
        handle = outputs[0] if outputs else int.from_bytes(written, "little")
        world.ok("hipDestroyExternalMemory", handle)
    elif name.endswith("ExportToShareableHandle"):
        file = exported_file(arguments[0])
        if file is not None:
            os.close(file)
