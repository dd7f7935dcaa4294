# SPDX-License-Identifier: MIT
"""The debug stream of a device: what kernels and programs send while they run."""

from __future__ import annotations

import asyncio
import os
import select
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._owner import Owner

if TYPE_CHECKING:
    from types import TracebackType

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

# The payload of a tensor: prefix, device, pipe, dtype, shape, bytes of data.
_HEAD = Struct("512s I I 16s 8Q Q")
_DATA = 1024
_TENSOR = 1
_TYPES = {
    "kernel_print": 0x1000,
    "kernel_begin": 0x1001,
    "kernel_end": 0x1002,
    "kernel_error": 0x1003,
}
_KINDS = {number: name for name, number in _TYPES.items()}


class DebugCounts(NamedTuple):
    """Events of a device's stream since the process began."""

    queued: int
    """That wait now."""
    bytes: int
    """Of their payload."""
    read: int
    """That a client took."""
    full: int
    """Dropped: the queue was full, or the memory for what is on its way."""
    large: int
    """Dropped: larger than the whole queue."""
    closed: int
    """Dropped: no client was there, or they waited when it closed."""
    failed: int
    """Dropped: no memory, or the device was reset before."""

    @property
    def dropped(self) -> int:
        """All that nobody got."""
        return self.full + self.large + self.closed + self.failed


class DebugEvent:
    """A tensor that somebody sent, with its value at that time.

    Attributes
    ----------
    kind : str
        ``tensor``; others are events of a `KernelEvent`.
    prefix : str
        The sender's text.
    pipe : int
        The sender's word for where it belongs: 1 stdout, 2 stderr.
    device : int
        HIP's number.
    dtype : str
        numpy's name, or one of ml_dtypes.
    shape : tuple of int
        ``(1,)`` for a single value.
    data : memoryview
        The bytes, in C order.
    """

    kind = "tensor"
    __slots__ = ("_array", "data", "device", "dtype", "pipe", "prefix", "shape")

    def __init__(self, payload: Buffer) -> None:
        view = memoryview(payload)
        prefix, self.device, self.pipe, dtype, *shape, size = _HEAD.unpack_from(view)
        self.prefix: str = _text(prefix)
        self.dtype: str = _text(dtype)
        self.shape: tuple[int, ...] = tuple(n for n in shape if n > 0)
        self.data = view[_DATA : _DATA + size]
        self._array: NDArray[Any] | None = None

    @property
    def array(self) -> NDArray[Any]:
        """The value as a numpy array on the event's own memory: nothing is copied.

        Raises
        ------
        TypeError
            numpy has no such dtype, and ml_dtypes is missing.
        """
        if self._array is None:
            import numpy as np

            dtype = _dtype(self.dtype)
            self._array = np.frombuffer(self.data, dtype).reshape(self.shape)
        return self._array

    def _repr_html_(self) -> str | None:
        from .debug_stream_html import event_html

        return event_html(self)

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        return (
            f"<DebugEvent {self.prefix!r} {self.dtype} {shape} of device {self.device}>"
        )


class DebugStream(Owner):
    """The debug stream of a device.

    Kernels send tensors with ``ha_debug_tensor`` of ``hipadapt/debug_tensor.h``.
    Events come from the connection on.  A device has one client at a time.

    Parameters
    ----------
    device : int
        HIP's number.
    events : iterable of str, optional
        Further kinds: ``kernel_print``, ``kernel_begin``, ``kernel_end``,
        ``kernel_error``, which come as `KernelEvent`.

    Raises
    ------
    ValueError
        The device has a client already; there is no such device, or kind.
    NotImplementedError
        No device sends such kinds: only those of the CPU device do.

    Examples
    --------
    >>> import hipadapt
    >>> send = hipadapt.compile_kernel('''
    ...     #include <hipadapt/debug_tensor.h>
    ...     __global__ void send(float *x) { ha_debug_tensor_launch("x", 1, x, 2, 2); }
    ... ''', "send")
    >>> with hipadapt.DebugStream() as stream:
    ...     send[1, 32](hipadapt.full(4, 1.5, "float32"))
    ...     event = stream.read_event(timeout=10)
    >>> event.prefix, event.shape, float(event.array.sum())
    ('x', (2, 2), 6.0)
    """

    def __init__(self, device: int = 0, *, events: Iterable[str] = ()) -> None:
        from .. import hip

        types: list[int] = []
        for name in events:
            if name not in _TYPES:
                raise ValueError(
                    f"DebugStream: argument 'events' must be of {', '.join(_TYPES)}, "
                    f"not {name!r}"
                )
            types.append(_TYPES[name])
        # The device's library has to be there, and tells how many there are.
        _, count = hip.hipGetDeviceCount()
        if not 0 <= device < count:
            raise ValueError(
                f"DebugStream: argument 'device' must be below {count}, not {device!r}"
            )
        self._device = device
        self._fd = -1
        self._fd = _core.debug_stream_connect(device, tuple(types))

    @property
    def device(self) -> int:
        """HIP's number."""
        return self._device

    @property
    def closed(self) -> bool:
        """`close` was called."""
        return self._fd < 0

    @property
    def counts(self) -> DebugCounts:
        """What was read and dropped on this device since the process began."""
        return DebugCounts(*_core.debug_stream_counts(self._device))

    @property
    def dropped(self) -> int:
        """Events that nobody got since the process began."""
        return self.counts.dropped

    def fileno(self) -> int:
        """A descriptor that is readable exactly while an event waits: for polling."""
        if self._fd < 0:
            raise ValueError("DebugStream.fileno: the stream is closed")
        return self._fd

    def read_event(self, timeout: float | None = 0) -> DebugEvent | None:
        """The oldest event.

        Parameters
        ----------
        timeout : float or None
            Seconds to wait for one; None waits for ever.

        Returns
        -------
        DebugEvent or None
            None if there is none.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            found = _core.debug_stream_read(self.fileno())
            if found is not None:
                if found[0] == _TENSOR:
                    return DebugEvent(found[1])
                from .debug_kernel import KernelEvent

                return KernelEvent(_KINDS[found[0]], found[1])
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                return None
            self._wait(left)

    def _wait(self, seconds: float | None) -> None:
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        poll.poll(None if seconds is None else seconds * 1000)

    def __iter__(self) -> Iterator[DebugEvent]:
        """The events that wait now."""
        while (event := self.read_event()) is not None:
            yield event

    async def __aiter__(self) -> AsyncIterator[DebugEvent]:
        """All events, as they come, until the stream is closed."""
        while True:
            try:
                event = self.read_event()
                if event is None:
                    await self._readable()
                    continue
            except ValueError:
                if self.closed:  # by another thread, or task
                    return
                raise
            yield event

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        # A loop has one reader a descriptor, and forgets one that is closed.
        fd = os.dup(self.fileno())
        try:
            loop.add_reader(fd, ready.set)
            await ready.wait()
        finally:
            loop.remove_reader(fd)
            os.close(fd)

    def close(self) -> None:
        """Ends the connection; events that wait are gone.  Who polls wakes up."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            _core.debug_stream_close(fd)

    def __enter__(self) -> DebugStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_fd", -1) >= 0:
            self.close()

    def __repr__(self) -> str:
        state = "closed" if self._fd < 0 else f"descriptor {self._fd}"
        return f"<DebugStream of device {self._device}, {state}>"


def _text(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode(errors="replace")


def _dtype(name: str) -> np.dtype[Any]:
    import numpy as np

    try:
        return np.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return found
    except (ImportError, AttributeError):
        raise TypeError(
            f"DebugEvent.array: numpy has no dtype {name!r}: pip install ml_dtypes"
        ) from None
