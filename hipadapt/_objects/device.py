# SPDX-License-Identifier: MIT
"""Devices: what they are, and which one a thread works on."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import errors
from .calls import On, hip
from .named import refusal

if TYPE_CHECKING:
    from typing_extensions import Self

    from .event import Event
    from .stream import Stream

__all__ = ["Device", "DeviceAttributes", "DeviceLimits", "MemoryInfo"]

_TEXT_BYTES = 64


class _Stack(threading.local):
    """The devices to go back to, of each thread."""

    def __init__(self) -> None:
        self.before: list[int] = []


_stack = _Stack()


class MemoryInfo(NamedTuple):
    """Memory of a device, in bytes."""

    free: int
    total: int


def _snake(name: str) -> str:
    """``MaxThreadsPerBlock`` as ``max_threads_per_block``."""
    parts = re.findall(r"L[12]|[0-9]+D|[A-Z]+(?![a-z])|[A-Z][a-z]*|[a-z]+|[0-9]+", name)
    return "_".join(parts).lower()


def _members(enum: Any, prefix: str, skip: str) -> dict[str, Any]:
    """Members of an enum by short names."""
    return {
        _snake(name.removeprefix(prefix)): member
        for name, member in enum.__members__.items()
        if not re.search(skip, name)
    }


def _find(members: Mapping[str, Any], enum: Any, key: object) -> Any:
    """The member that a short name, HIP's own name or the member itself stands for."""
    if isinstance(key, enum):
        return key
    if isinstance(key, str):
        found = members.get(key, enum.__members__.get(key))
        if found is not None:
            return found
    raise KeyError(key)


class DeviceAttributes(Mapping[str, int]):
    """Attributes of a device by name.

    Names are those of ``hipDeviceAttribute_t`` in small letters without the prefix:
    ``"max_threads_per_block"``; HIP's own names and the enum's members work, too.
    Iteration gives the attributes that the runtime knows.
    """

    __slots__ = ("_ordinal",)

    def __init__(self, ordinal: int) -> None:
        self._ordinal = ordinal

    @staticmethod
    def _all() -> dict[str, Any]:
        return _members(hip.hipDeviceAttribute_t, "hipDeviceAttribute", "Begin$|End$")

    def __getitem__(self, key: object) -> int:
        member = _find(self._all(), hip.hipDeviceAttribute_t, key)
        value: int = hip.hipDeviceGetAttribute(member, self._ordinal)
        return value

    def __iter__(self) -> Iterator[str]:
        for name, member in self._all().items():
            try:
                hip.hipDeviceGetAttribute(member, self._ordinal)
            except errors.HipError:
                continue
            yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<attributes of device {self._ordinal}>"


class DeviceLimits(MutableMapping[str, int]):
    """Limits of a device, in bytes, that can be read and set.

    ``"stack_size"``, ``"printf_fifo_size"``, ``"malloc_heap_size"`` and whatever else
    ``hipLimit_t`` has.
    """

    __slots__ = ("_ordinal",)

    def __init__(self, ordinal: int) -> None:
        self._ordinal = ordinal

    @staticmethod
    def _all() -> dict[str, Any]:
        return _members(hip.hipLimit_t, "hipLimit", "Range$")

    def __getitem__(self, key: object) -> int:
        with On(self._ordinal):
            value: int = hip.hipDeviceGetLimit(_find(self._all(), hip.hipLimit_t, key))
        return value

    def __setitem__(self, key: object, value: int) -> None:
        member = _find(self._all(), hip.hipLimit_t, key)
        with On(self._ordinal):
            hip.hipDeviceSetLimit(member, value)

    def __delitem__(self, key: object) -> None:
        raise TypeError("limits can be set, but not deleted")

    def __iter__(self) -> Iterator[str]:
        for name, member in self._all().items():
            try:
                self[member]
            except errors.HipError:
                continue
            yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<limits of device {self._ordinal}>"


class _Use:
    """What `Device.use` returns: the way back."""

    __slots__ = ("_before", "device")

    def __init__(self, device: Device) -> None:
        self.device = device
        self._before: int = hip.hipGetDevice()
        hip.hipSetDevice(device.ordinal)

    def __enter__(self) -> Device:
        return self.device

    def __exit__(self, *exc: object) -> None:
        hip.hipSetDevice(self._before)


class Device:
    """A device of this machine.

    Parameters
    ----------
    ordinal : int, optional
        Its number, from 0; the thread's current device where it is left out.

    Raises
    ------
    HipErrorInvalidDevice
        There is no such device.

    Notes
    -----
    ``with device:`` makes it the current device of the thread, and the previous one
    again afterwards.  Devices are equal if their numbers are.

    Examples
    --------
    >>> from hipadapt import Device
    >>> device = Device(0)
    >>> device.attributes["warp_size"] == device.warp_size
    True
    >>> with device:
    ...     Device() == device
    True
    """

    __slots__ = ("__weakref__", "_ordinal")

    def __init__(self, ordinal: int | None = None) -> None:
        if ordinal is None:
            self._ordinal: int = hip.hipGetDevice()
        else:
            if not hasattr(ordinal, "__index__"):
                raise refusal("Device", "ordinal", "an int", ordinal)
            self._ordinal = hip.hipDeviceGet(ordinal)

    @staticmethod
    def count() -> int:
        """Number of devices; 0 where there is none."""
        try:
            number: int = hip.hipGetDeviceCount()
        except errors.HipError as error:
            if error.name == "hipErrorNoDevice":
                return 0
            raise
        return number

    @classmethod
    def all(cls) -> tuple[Self, ...]:
        """All devices, in the order of their numbers."""
        return tuple(cls(ordinal) for ordinal in range(cls.count()))

    # ---- what it is ----

    @property
    def ordinal(self) -> int:
        """Number of the device, from 0."""
        return self._ordinal

    @property
    def properties(self) -> Any:
        """A new ``hipDeviceProp_t`` with everything that HIP says about it."""
        return hip.hipGetDeviceProperties(self._ordinal)

    @property
    def name(self) -> str:
        """Name, for people to read."""
        return str(self.properties.name)

    @property
    def arch(self) -> str:
        """Architecture and features, as compilers take it: ``"gfx90a:sramecc+"``."""
        return str(self.properties.gcnArchName)

    @property
    def compute_units(self) -> int:
        """Number of compute units (multiprocessors)."""
        return self.attributes["hipDeviceAttributeMultiprocessorCount"]

    @property
    def warp_size(self) -> int:
        """Lanes of a wavefront."""
        return self.attributes["hipDeviceAttributeWarpSize"]

    @property
    def memory(self) -> MemoryInfo:
        """Free and total memory, in bytes."""
        with On(self._ordinal):
            return MemoryInfo(*hip.hipMemGetInfo())

    @property
    def free_memory(self) -> int:
        """Memory that is free now, in bytes."""
        return self.memory.free

    @property
    def total_memory(self) -> int:
        """Memory of the device, in bytes."""
        return self.memory.total

    @property
    def pci_bus_id(self) -> str:
        """Address on the bus: ``"0000:0c:00.0"``."""
        return str(hip.hipDeviceGetPCIBusId(_TEXT_BYTES, self._ordinal))

    @property
    def attributes(self) -> DeviceAttributes:
        """Attributes by name."""
        return DeviceAttributes(self._ordinal)

    @property
    def limits(self) -> DeviceLimits:
        """Limits by name; they can be set."""
        return DeviceLimits(self._ordinal)

    @property
    def stream_priorities(self) -> range:
        """Priorities that streams may have, from the least to the greatest.

        HIP's smaller number is the greater priority.
        """
        with On(self._ordinal):
            least, greatest = hip.hipDeviceGetStreamPriorityRange()
        return range(least, greatest - 1, -1)

    def can_access_peer(self, other: Device | int) -> bool:
        """Whether kernels of this device can be allowed to use the other's memory."""
        number = other.ordinal if isinstance(other, Device) else other
        return bool(hip.hipDeviceCanAccessPeer(self._ordinal, number))

    # ---- what it does ----

    @property
    def is_current(self) -> bool:
        """Whether it is the thread's current device."""
        return bool(hip.hipGetDevice() == self._ordinal)

    def use(self) -> _Use:
        """Makes it the thread's current device.

        Returns
        -------
        context manager
            ``with device.use():`` goes back to the previous device at its end; without
            ``with`` the device stays.
        """
        return _Use(self)

    def __enter__(self) -> Self:
        before: int = hip.hipGetDevice()
        if before != self._ordinal:
            hip.hipSetDevice(self._ordinal)
        _stack.before.append(before)
        return self

    def __exit__(self, *exc: object) -> None:
        before = _stack.before.pop()
        if hip.hipGetDevice() != before:
            hip.hipSetDevice(before)

    def synchronize(self) -> None:
        """Waits for all work of the device.

        Raises
        ------
        HipError
            A kernel has failed since the last look.
        """
        with On(self._ordinal):
            hip.hipDeviceSynchronize()

    def create_stream(self, *, priority: int = 0, nonblocking: bool = False) -> Stream:
        """A new stream of this device; see `Stream`."""
        from .stream import Stream

        return Stream(self, priority=priority, nonblocking=nonblocking)

    def create_event(self, *, timing: bool = True, blocking: bool = False) -> Event:
        """A new event of this device; see `Event`."""
        from .event import Event

        return Event(timing=timing, blocking=blocking, device=self)

    def reset(self) -> None:
        """Ends all work of the device and frees everything on it (``hipDeviceReset``).

        Streams, events, arrays and modules of the device are of no use afterwards.
        """
        with On(self._ordinal):
            hip.hipDeviceReset()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Device):
            return self._ordinal == other._ordinal
        return NotImplemented

    def __hash__(self) -> int:
        return hash((Device, self._ordinal))

    def __index__(self) -> int:
        return self._ordinal

    def __reduce__(self) -> tuple[type[Device], tuple[int]]:
        """A pickled device is the one of the same number."""
        return (type(self), (self._ordinal,))

    def _repr_html_(self) -> str:
        from .html import device_html

        return device_html(self)

    def __repr__(self) -> str:
        return f"<Device {self._ordinal}: {self.name} ({self.arch})>"


def ordinal_of(device: Device | int | None) -> int:
    """Number of what was given as a device; None is the current one."""
    if isinstance(device, Device):
        return device.ordinal
    if device is not None and not hasattr(device, "__index__"):
        raise refusal("", "device", "a Device or an int", device)
    return Device(device).ordinal
