# SPDX-License-Identifier: MIT
"""Events: points in the work of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .. import hip as _raw
from .._owner import Owner
from .calls import On, finalize, hip
from .device import Device, ordinal_of
from .named import need

if TYPE_CHECKING:
    from collections.abc import Generator

    from typing_extensions import Self

    from ..typing import StreamLike

__all__ = ["Event"]

_NOT_READY = 600  # hipErrorNotReady


class Event(Owner):
    """A point in the work of a stream, for waiting and for measuring.

    Parameters
    ----------
    timing : bool
        Whether `elapsed` may be asked; events without it are cheaper.
    blocking : bool
        `synchronize` puts the thread to sleep instead of spinning.
    device : Device or int, optional
        Its device; the current one where it is left out.

    Notes
    -----
    ``await event`` waits without holding up the event loop of asyncio.  Every function
    of `hipadapt.hip` takes the object where it takes an event.  The HIP event is
    destroyed by `close`, at the end of a ``with`` block, or with the object.

    Examples
    --------
    >>> import hipadapt
    >>> stream = hipadapt.Stream()
    >>> start = stream.record()
    >>> memory = hipadapt.zeros(1000, "float32", stream=stream)
    >>> stop = stream.record()
    >>> stop.synchronize()
    >>> start.elapsed(stop) >= 0
    True
    """

    __slots__ = ("__weakref__", "_address", "_device", "_handle", "_timing")

    _handle: int | None

    def __init__(
        self,
        timing: bool = True,
        blocking: bool = False,
        *,
        device: Device | int | None = None,
    ) -> None:
        self._handle = None
        self._device = ordinal_of(device)
        self._timing = timing
        flags = 0 if timing else _raw.hipEventDisableTiming
        flags |= _raw.hipEventBlockingSync if blocking else 0
        with On(self._device):
            self._handle = int(hip.hipEventCreateWithFlags(flags))
        self._address = self._handle

    @property
    def handle(self) -> int:
        """The HIP event as an int.

        Raises
        ------
        ValueError
            The event is closed.
        """
        if self._handle is None:
            raise ValueError("this event is closed")
        return self._handle

    @property
    def device(self) -> Device:
        """Its device."""
        return Device(self._device)

    @property
    def timing(self) -> bool:
        """Whether `elapsed` may be asked."""
        return self._timing

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._handle is None

    def record(self, stream: StreamLike = None) -> Self:
        """Puts the event behind the work that is in the stream now.

        Parameters
        ----------
        stream : Stream, handle or object with ``__cuda_stream__``, optional
            The current stream where it is left out; see `Stream`.

        Returns
        -------
        Event
            Itself.
        """
        from .stream import stream_argument

        with On(self._device):
            hip.hipEventRecord(self.handle, stream_argument(stream))
        return self

    def synchronize(self) -> None:
        """Waits until the event has happened; at once if it was never recorded."""
        hip.hipEventSynchronize(self.handle)

    def query(self) -> bool:
        """Whether it has happened; True if it was never recorded.

        Raises
        ------
        HipError
            The work before it has failed.
        """
        result: tuple[Any, ...] = _raw.hipEventQuery(self.handle)
        if int(result[0]) == _NOT_READY:
            return False
        if int(result[0]) != 0:
            hip.hipEventQuery(self.handle)
        return True

    @property
    def done(self) -> bool:
        """What `query` answers."""
        return self.query()

    def elapsed(self, stop: Event) -> float:
        """Milliseconds from this event to `stop`.

        Raises
        ------
        HipErrorNotReady
            One of them has not happened.
        HipErrorInvalidHandle
            One of them was not recorded, or was made without timing.
        """
        need(stop, Event, "Event.elapsed", "stop", "an Event")
        milliseconds: float = hip.hipEventElapsedTime(self.handle, stop.handle)
        return milliseconds

    def __await__(self) -> Generator[Any, None, None]:
        from .wait import wait_for_event

        return wait_for_event(self).__await__()

    def as_c_void_p(self) -> Any:
        """The handle, for `hipadapt.hip` and other packages."""
        import ctypes

        return ctypes.c_void_p(self.handle)

    def close(self) -> None:
        """Destroys the HIP event; nothing happens the second time."""
        handle = _core.take(self, "_handle")
        if handle is not None:
            hip.hipEventDestroy(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(
        self, _destroy: Any = _raw.hipEventDestroy, _late: Any = finalize
    ) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None:
            _late(_destroy, handle)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Event):
            return self._address == other._address
        return NotImplemented

    def __hash__(self) -> int:
        return hash((Event, self._address))

    def __repr__(self) -> str:
        state = "closed" if self._handle is None else f"0x{self._handle:x}"
        return f"<Event {state} on device {self._device}>"
