# SPDX-License-Identifier: MIT
"""``await stream`` and ``await event``: no thread waits.

A callback behind the work wakes the event loop from a thread of the device.  It runs in
a stream of our own that waits for the event, so by then the awaited stream has nothing
left to do.  Such streams are used again.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .. import _core, errors
from .calls import On, hip

if TYPE_CHECKING:
    from .event import Event
    from .stream import Stream

# Streams that wait for events: free ones, by device.
_free: dict[int, list[Stream]] = {}
_FREE_LIMIT = 16
_DESTROYED = 709  # hipErrorContextIsDestroyed


class _Waker:
    """The callback: sets the future of an event loop once, whatever happens."""

    __slots__ = ("_future", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop: asyncio.AbstractEventLoop | None = loop
        self._future: asyncio.Future[int] = loop.create_future()

    def __call__(self, stream: object, status: int, user: object) -> None:
        self._tell(int(status))

    def __del__(self) -> None:
        # A reset of the device drops callbacks without calling them.
        self._tell(None)

    def _tell(self, status: int | None, _take: Any = _core.take) -> None:
        loop: asyncio.AbstractEventLoop | None = _take(self, "_loop")
        if loop is None:
            return
        # A closed loop raises: nobody waits any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_resolve, self._future, status)


def _resolve(future: asyncio.Future[int], status: int | None) -> None:
    if future.done():  # cancelled
        return
    future.set_result(_DESTROYED if status is None else status)


def _raise(status: int) -> None:
    if status != 0:
        raise errors.HipError(status, "hipStreamAddCallback")


def _start(stream: Stream) -> asyncio.Future[int]:
    waker = _Waker(asyncio.get_running_loop())
    future = waker._future
    try:
        with On(stream._device):
            hip.hipStreamAddCallback(stream.handle, waker, None, 0)
    except BaseException:
        waker._loop = None
        raise
    return future


async def wait_for_stream(stream: Stream) -> None:
    """`Stream.__await__`."""
    asyncio.get_running_loop()
    if stream.query():
        await asyncio.sleep(0)
        return
    await wait_for_event(stream.record())


def _behind(event: Event) -> Stream:
    """A stream of ours that waits for the event."""
    from .stream import Stream

    free = _free.get(event._device, [])
    with suppress(IndexError):  # no more are free
        while True:
            stream = free.pop()
            try:
                stream.wait(event)
            except errors.HipError:
                continue  # it ended with a reset of the device
            return stream
    stream = Stream(event._device, nonblocking=True)
    stream.wait(event)
    return stream


def _give_back(stream: Stream) -> None:
    free = _free.setdefault(stream._device, [])
    if len(free) < _FREE_LIMIT:
        free.append(stream)


async def wait_for_event(event: Event) -> None:
    """`Event.__await__`."""
    asyncio.get_running_loop()
    if event.query():
        await asyncio.sleep(0)
        return
    helper = _behind(event)
    # After a cancellation or a failure the stream is not used again.
    status = await _start(helper)
    _give_back(helper)
    _raise(status)
    event.query()
