# SPDX-License-Identifier: MIT
"""Streams: work in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .. import hip as _raw
from .._owner import Owner
from .calls import On, finalize, hip
from .device import Device, ordinal_of
from .named import need, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from typing_extensions import Self

    from ..typing import StreamLike
    from .event import Event

__all__ = ["Stream", "current_stream"]

_NOT_READY = 600  # hipErrorNotReady
_LEGACY, _LEGACY_NAMED, _PER_THREAD = 0, 1, 2
_frames = _core.current_stream_frame


class Stream(Owner):
    """Work of a device that is done one after the other.

    Parameters
    ----------
    device : Device or int, optional
        The current device where it is left out.
    priority : int
        Smaller numbers go first; see `Device.stream_priorities`.
    nonblocking : bool
        The stream does not wait for the default stream, nor that for it.

    Notes
    -----
    ``with stream:`` makes it the *current stream*: kernels, copies and fills that are
    given no stream use it, and its device is the thread's current device.  Blocks may
    be nested.  The current stream belongs to the thread, and with asyncio to the task.

    ``await stream`` waits for the work that is in it, without holding up the event
    loop, and raises if that work has failed.

    Every function of `hipadapt.hip` takes the object where it takes a stream, and so
    do packages that know ``__cuda_stream__``.  Streams with the same handle are equal.
    The HIP stream is destroyed by `close` or with the object; work in it is done all
    the same.

    Examples
    --------
    >>> import hipadapt
    >>> with hipadapt.Stream(nonblocking=True) as stream:
    ...     ones = hipadapt.full(4, 1.0, "float32")
    >>> stream.synchronize()
    >>> stream.done
    True
    """

    __slots__ = ("__weakref__", "_address", "_device", "_handle", "_keeps", "_owned")

    _handle: int | None

    def __init__(
        self,
        device: Device | int | None = None,
        *,
        priority: int = 0,
        nonblocking: bool = False,
    ) -> None:
        self._handle = None
        self._owned = True
        self._keeps: object = None
        self._device = ordinal_of(device)
        flags = _raw.hipStreamNonBlocking if nonblocking else 0
        with On(self._device):
            self._handle = int(hip.hipStreamCreateWithPriority(flags, priority))
        self._address = self._handle

    @classmethod
    def _borrow(cls, handle: int, device: int, keeps: object = None) -> Self:
        self = cls.__new__(cls)
        self._owned = False
        self._keeps = keeps
        self._device = device
        self._handle = self._address = handle
        return self

    @classmethod
    def default(cls, device: Device | int | None = None) -> Self:
        """The (legacy) default stream of a device."""
        return cls._borrow(_LEGACY, ordinal_of(device))

    @classmethod
    def per_thread(cls, device: Device | int | None = None) -> Self:
        """The default stream of the thread that uses it."""
        return cls._borrow(_PER_THREAD, ordinal_of(device))

    @classmethod
    def from_handle(
        cls, stream: StreamLike, device: Device | int | None = None
    ) -> Self:
        """An object for a stream that somebody else made and destroys.

        Parameters
        ----------
        stream : int, hipStream_t or object with ``__cuda_stream__``
            What it is; objects are kept as long as this one.
        device : Device or int, optional
            Its device, where HIP can't say.
        """
        handle = int(hip.hipStream_t(stream))
        if handle == _LEGACY_NAMED:
            handle = _LEGACY
        number = None
        if device is None and handle > _PER_THREAD:
            result = _raw.hipStreamGetDevice(handle)
            number = result[1] if int(result[0]) == 0 else None
        if number is None:
            number = ordinal_of(device)
        return cls._borrow(handle, int(number), stream)

    # ---- what it is ----

    @property
    def handle(self) -> int:
        """The HIP stream as an int; 0 is the default stream.

        Raises
        ------
        ValueError
            The stream is closed.
        """
        if self._handle is None:
            raise ValueError("this stream is closed")
        return self._handle

    @property
    def device(self) -> Device:
        """Its device."""
        return Device(self._device)

    @property
    def priority(self) -> int:
        """Its priority, as HIP has it."""
        value: int = hip.hipStreamGetPriority(self.handle)
        return value

    @property
    def nonblocking(self) -> bool:
        """Whether it works beside the default stream."""
        flags: int = hip.hipStreamGetFlags(self.handle)
        return bool(flags & _raw.hipStreamNonBlocking)

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._handle is None

    def __cuda_stream__(self) -> tuple[int, int]:
        """(0, handle): the stream protocol of other packages."""
        return (0, self.handle)

    # ---- what it does ----

    def synchronize(self) -> None:
        """Waits for the work that is in it.

        Raises
        ------
        HipError
            Work has failed.
        """
        with On(self._device):
            hip.hipStreamSynchronize(self.handle)

    def query(self) -> bool:
        """Whether all of its work is done.

        Raises
        ------
        HipError
            Work has failed.
        """
        with On(self._device):
            result: tuple[Any, ...] = _raw.hipStreamQuery(self.handle)
            if int(result[0]) == _NOT_READY:
                return False
            if int(result[0]) != 0:
                hip.hipStreamQuery(self.handle)
        return True

    @property
    def done(self) -> bool:
        """What `query` answers."""
        return self.query()

    def record(self, event: Event | None = None, *, timing: bool = True) -> Event:
        """An event behind the work that is in the stream now.

        Parameters
        ----------
        event : Event, optional
            The one to record; a new one where it is left out.
        timing : bool
            Whether the new one has a time.
        """
        from .event import Event

        if event is not None:
            need(event, Event, "Stream.record", "event", "an Event")
        if event is None:
            event = Event(timing=timing, device=self._device)
        return event.record(self)

    def wait(self, other: Event | Stream) -> None:
        """Later work waits for an event, or for the work that is in another stream now.

        The calling thread does not wait.
        """
        if isinstance(other, Stream):
            with other.record(timing=False) as event:
                self.wait(event)
            return
        if not hasattr(other, "handle"):
            raise refusal("Stream.wait", "other", "an Event or a Stream", other)
        with On(self._device):
            hip.hipStreamWaitEvent(self.handle, other.handle, 0)

    def call(self, function: Callable[..., object], *args: object) -> None:
        """Calls a Python function when the stream comes to it.

        Parameters
        ----------
        function : callable
            It must not call HIP.  What it returns is dropped; an exception goes to
            ``sys.unraisablehook`` and the stream goes on.
        *args
            Its arguments.

        Examples
        --------
        >>> import hipadapt
        >>> stream, seen = hipadapt.Stream(), []
        >>> stream.call(seen.append, "work")
        >>> stream.synchronize()
        >>> seen
        ['work']
        """
        if not callable(function):
            raise TypeError(
                f"Stream.call: argument 'function' must be callable, not "
                f"'{type(function).__name__}'"
            )

        def run(_: object) -> None:
            function(*args)

        with On(self._device):
            hip.hipLaunchHostFunc(self.handle, run, None)

    def __await__(self) -> Generator[Any, None, None]:
        from .wait import wait_for_stream

        return wait_for_stream(self).__await__()

    # ---- life ----

    def close(self) -> None:
        """Destroys the HIP stream if it is ours; nothing happens the second time.

        Work that is in it is done all the same.
        """
        handle = _core.take(self, "_handle")
        self._keeps = None
        if handle is not None and self._owned:
            hip.hipStreamDestroy(handle)

    def __del__(
        self, _destroy: Any = _raw.hipStreamDestroy, _late: Any = finalize
    ) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None and self._owned:
            _late(_destroy, handle)

    def __enter__(self) -> Self:
        self.handle  # noqa: B018 - raises where it is closed
        before = hip.hipGetDevice()
        if before == self._device:
            before = None
        else:
            hip.hipSetDevice(self._device)
        _frames.set((self, _frames.get(), before))
        return self

    def __exit__(self, *exc: object) -> None:
        frame = _frames.get()
        if frame is None or frame[0] is not self:
            raise RuntimeError("this stream is not the current one: blocks must nest")
        _frames.set(frame[1])
        if frame[2] is not None:
            hip.hipSetDevice(frame[2])

    def _key(self) -> tuple[Any, ...]:
        # HIP's handles of default streams stand for another stream on each device.
        named = self._address <= _PER_THREAD
        return (self._address, self._device if named else None)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Stream):
            return self._key() == other._key()
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        names = {None: "closed", _LEGACY: "default", _PER_THREAD: "per thread"}
        state = names.get(self._handle) or f"0x{self._handle:x}"
        return f"<Stream {state} on device {self._device}>"


_core.set_stream_class(Stream)


def current_stream() -> Stream:
    """The stream that work uses where it is given none.

    Returns
    -------
    Stream
        That of the innermost ``with stream:``, else the default stream of the current
        device.

    Examples
    --------
    >>> import hipadapt
    >>> stream = hipadapt.Stream()
    >>> with stream:
    ...     hipadapt.current_stream() is stream
    True
    """
    frame = _frames.get()
    return Stream.default() if frame is None else frame[0]


def stream_argument(stream: StreamLike) -> Any:
    """What HIP calls take for an optional stream; the current one for None."""
    if stream is not None:
        return stream
    frame = _frames.get()
    return None if frame is None else frame[0].handle
