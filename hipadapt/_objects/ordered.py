# SPDX-License-Identifier: MIT
"""Memory that is allocated and freed in the order of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .. import hip as _raw
from .._owner import Owner
from .calls import On, finalize, hip
from .device import Device, ordinal_of
from .stream import Stream, current_stream

if TYPE_CHECKING:
    from ..typing import StreamLike
    from .pool import MemoryPool

__all__ = ["Ordered", "allocate_ordered", "free_ordered", "stream_of"]


class Ordered(Owner):
    """Memory that is allocated and freed in the order of a stream.

    It is freed on the stream that it was allocated on, so work in that stream may still
    use it when it is let go.
    """

    __slots__ = ("_address", "stream")

    def __init__(self, address: int, stream: Stream) -> None:
        self._address: int | None = address
        self.stream = stream
        _core.own_memory(address)

    def close(self) -> None:
        """Frees it; nothing happens the second time."""
        address = _core.take(self, "_address")
        if address is not None:
            free_ordered(address, self.stream, hip)

    def _forget_memory(self) -> None:
        """Notes that HIP has freed it, in a call that got the array itself."""
        self._address = None

    def __del__(self, _late: Any = finalize) -> None:
        address, self._address = self._address, None
        if address is not None:
            _late(free_ordered, address, self.stream, _raw)


def free_ordered(address: int, stream: Stream, calls: Any) -> None:
    """Frees in the order of the stream; a closed one: after all work of the device."""
    if stream.is_closed:
        calls.hipFree(address)
        return
    with On(stream._device):
        calls.hipFreeAsync(address, stream.handle)


def stream_of(stream: StreamLike, device: Device | int | None) -> Stream:
    """A stream object for what was given; the current one for None."""
    if isinstance(stream, Stream):
        return stream
    if stream is not None:
        return Stream.from_handle(stream, device)
    if device is None:
        return current_stream()
    current = current_stream()
    number = ordinal_of(device)
    return current if current._device == number else Stream.default(number)


def allocate_ordered(
    nbytes: int, stream: Stream, pool: MemoryPool | None
) -> tuple[int, Ordered | None]:
    """Memory from a pool: the given one, or that of the stream's device."""
    if nbytes == 0:
        return 0, None
    with On(stream._device):
        if pool is not None:
            found = hip.hipMallocFromPoolAsync(nbytes, pool.handle, stream.handle)
        else:
            found = hip.hipMallocAsync(nbytes, stream.handle)
    address = int(found)
    return address, Ordered(address, stream)
