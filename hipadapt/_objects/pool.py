# SPDX-License-Identifier: MIT
"""Memory pools: device memory in the order of streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core, errors
from .. import hip as _raw
from .._owner import Owner
from .calls import finalize, hip
from .device import Device, ordinal_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from .._core import DeviceArray
    from ..typing import StreamLike

__all__ = ["MemoryPool", "current_pool"]

_NAMES = {
    "release_threshold": "hipMemPoolAttrReleaseThreshold",
    "reserved_current": "hipMemPoolAttrReservedMemCurrent",
    "reserved_high": "hipMemPoolAttrReservedMemHigh",
    "used_current": "hipMemPoolAttrUsedMemCurrent",
    "used_high": "hipMemPoolAttrUsedMemHigh",
    "reuse_follow_event_dependencies": "hipMemPoolReuseFollowEventDependencies",
    "reuse_allow_opportunistic": "hipMemPoolReuseAllowOpportunistic",
    "reuse_allow_internal_dependencies": "hipMemPoolReuseAllowInternalDependencies",
}


def _need(*names: str) -> None:
    """Raises where the runtime has no pools."""
    for name in names:
        if not _raw.has_symbol(name):
            raise errors.HipError(
                _NOT_SUPPORTED, name, detail="this runtime has no memory pools"
            )


_NOT_SUPPORTED = 801  # hipErrorNotSupported


class MemoryPool(Owner):
    """Device memory that is handed out and taken back in the order of streams.

    Parameters
    ----------
    device : Device or int, optional
        Its device; the current one where it is left out.
    release_threshold : int, optional
        Bytes that the pool keeps when all of its memory is free; 0 in HIP.

    Raises
    ------
    HipErrorNotSupported
        The runtime has no memory pools.

    Notes
    -----
    ``hipadapt.empty(shape, dtype, pool=pool)`` takes memory from it.  The pool is
    destroyed by `close`, at the end of a ``with`` block, or with the object; arrays
    from it stay valid.
    """

    __slots__ = ("__weakref__", "_device", "_handle", "_owned")

    _handle: int | None

    def __init__(
        self,
        device: Device | int | None = None,
        *,
        release_threshold: int | None = None,
    ) -> None:
        self._handle = None
        self._owned = True
        _need("hipMemPoolCreate", "hipMemPoolDestroy", "hipMallocFromPoolAsync")
        self._device = ordinal_of(device)
        wishes = hip.hipMemPoolProps()
        wishes.allocType = hip.hipMemAllocationType.hipMemAllocationTypePinned
        wishes.location.type = hip.hipMemLocationType.hipMemLocationTypeDevice
        wishes.location.id = self._device
        self._handle = int(hip.hipMemPoolCreate(wishes))
        if release_threshold is not None:
            self.release_threshold = release_threshold

    @classmethod
    def _borrow(cls, handle: int, device: int) -> Self:
        self = cls.__new__(cls)
        self._owned = False
        self._device = device
        self._handle = handle
        return self

    @property
    def handle(self) -> int:
        """The HIP pool as an int.

        Raises
        ------
        ValueError
            The pool is closed.
        """
        if self._handle is None:
            raise ValueError("this pool is closed")
        return self._handle

    @property
    def device(self) -> Device:
        """Its device."""
        return Device(self._device)

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._handle is None

    def allocate(self, nbytes: int, stream: StreamLike = None) -> DeviceArray:
        """Bytes of the pool, in the order of a stream.

        Parameters
        ----------
        nbytes : int
            How many.
        stream : Stream, handle or object with ``__cuda_stream__``, optional
            The current stream where it is left out.

        Returns
        -------
        DeviceArray
            Of ``uint8``; see `hipadapt.empty` for other types.
        """
        from .array import empty

        return empty(nbytes, "|u1", stream=stream, pool=self)

    def trim(self, keep: int = 0) -> None:
        """Gives free memory back until no more than `keep` bytes are left."""
        hip.hipMemPoolTrimTo(self.handle, keep)

    @property
    def attributes(self) -> dict[str, int]:
        """Attributes by name; sizes are in bytes, switches are 0 or 1."""
        return {name: self._get(name) for name in _NAMES}

    def _get(self, name: str) -> int:
        import ctypes

        # HIP writes 8 bytes for sizes and 4 for switches.
        value = ctypes.c_uint64(0)
        member = getattr(hip.hipMemPoolAttr, _NAMES[name])
        hip.hipMemPoolGetAttribute(self.handle, member, value)
        return value.value

    def set_attribute(self, name: str, value: int) -> None:
        """Sets ``"release_threshold"`` or a switch, or a high-water mark back to 0.

        Raises
        ------
        KeyError
            There is no such attribute.
        """
        import ctypes

        member = getattr(hip.hipMemPoolAttr, _NAMES[name])
        hip.hipMemPoolSetAttribute(self.handle, member, ctypes.c_uint64(value))

    @property
    def release_threshold(self) -> int:
        """Bytes that the pool keeps when all of its memory is free."""
        return self._get("release_threshold")

    @release_threshold.setter
    def release_threshold(self, value: int) -> None:
        self.set_attribute("release_threshold", value)

    @property
    def used(self) -> int:
        """Bytes that are handed out."""
        return self._get("used_current")

    @property
    def reserved(self) -> int:
        """Bytes that the pool has of the device."""
        return self._get("reserved_current")

    def use(self) -> None:
        """Makes it the pool that ``hipMallocAsync`` uses on its device."""
        hip.hipDeviceSetMemPool(self._device, self.handle)

    def close(self) -> None:
        """Destroys the pool if it is ours; nothing happens the second time."""
        handle = _core.take(self, "_handle")
        if handle is not None and self._owned:
            hip.hipMemPoolDestroy(handle)

    def __del__(
        self, _destroy: Any = _raw.hipMemPoolDestroy, _late: Any = finalize
    ) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None and self._owned:
            _late(_destroy, handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, MemoryPool):
            return self._handle == other._handle and self._handle is not None
        return NotImplemented

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __repr__(self) -> str:
        state = "closed" if self._handle is None else f"0x{self._handle:x}"
        return f"<MemoryPool {state} on device {self._device}>"


def current_pool(device: Device | int | None = None) -> MemoryPool:
    """The pool from which ``hipMallocAsync`` takes memory of a device.

    Raises
    ------
    HipErrorNotSupported
        The runtime has no memory pools.
    """
    _need("hipDeviceGetMemPool")
    number = ordinal_of(device)
    return MemoryPool._borrow(int(hip.hipDeviceGetMemPool(number)), number)
