# SPDX-License-Identifier: MIT
"""Tracing in one line: a tool, a context and a collector behind one object."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from functools import partial
from types import TracebackType

from .._core import EventBatch, EventCollector
from .._owner import Owner
from . import _pump
from ._context import (
    INTERVAL_S,
    LIMIT,
    WATERMARK,
    Context,
    OnBatch,
    OnEvent,
    check_options,
)
from ._info import choose
from ._tool import Tool

KINDS = ("HIP_RUNTIME_API", "KERNEL_DISPATCH", "MEMORY_COPY", "MEMORY_ALLOCATION")

_Key = tuple[tuple[tuple[int, tuple[int, ...]], ...], bool, int, int]
_Parts = tuple[Context, EventCollector]
_Later = Callable[[Callable[[], None]], None]

_lock = threading.Lock()
# What closed traces leave, to be used again: a process can't have many contexts.
_free: dict[_Key, list[_Parts]] = {}
_started: set[Trace] = set()


class Trace(Owner):
    """Events of some kinds while it is started; made by `trace`.

    ``with`` starts it, and at the end stops it and gives what is there.  A started
    trace lives on by itself.
    """

    def __init__(self, key: _Key, parts: _Parts, interval: float) -> None:
        self._key = key
        self._context, self._collector = parts
        self._interval = interval
        self._lost = self._collector.lost
        self._closed = False

    @property
    def context(self) -> Context:
        """The context behind it."""
        return self._context

    @property
    def active(self) -> bool:
        """Whether it is started."""
        return self in _started

    @property
    def lost(self) -> int:
        """Number of events that were lost so far, for lack of room."""
        return self._collector.lost - self._lost

    def start(self) -> Trace:
        """Starts tracing."""
        if self._closed:
            raise RuntimeError("Trace.start: the trace is closed")
        collector = self._collector
        if collector.on_batch is not None or collector.on_event is not None:
            _pump.add(collector, self._interval)
        self._context.start()
        _started.add(self)
        return self

    def stop(self) -> None:
        """Stops tracing; kernels and copies on their way are still reported."""
        if self in _started:
            _started.discard(self)
            self._context.stop()

    def flush(self, wait: float = 0.0) -> int:
        """Gives all events that are there, on this thread; returns their number.

        Parameters
        ----------
        wait : float
            Seconds at most to wait for kernels and copies that have not ended.  Those
            that have ended are there in any case.
        """
        self._collector.settle(wait)
        return self._collector.deliver()

    def poll(self) -> EventBatch | None:
        """All events that are there, or None: for a trace without callables."""
        return self._collector.take()

    def close(self) -> None:
        """Stops, gives what is there, and forgets the callables."""
        if self._closed:
            return
        self._closed = True
        self.stop()
        self.flush(_pump.SETTLE_S)
        _leave(self._key, self._context, self._collector)

    def __enter__(self) -> Trace:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self.flush(_pump.SETTLE_S)

    def __del__(
        self, later: Callable[[Callable[[], None]], None] = _pump.later
    ) -> None:
        if not getattr(self, "_closed", True):
            later(partial(_leave, self._key, self._context, self._collector))

    def __repr__(self) -> str:
        state = "closed" if self._closed else "started" if self.active else "stopped"
        return f"<Trace {state}, {self.lost} events lost>"


def _leave(key: _Key, context: Context, collector: EventCollector) -> None:
    _pump.remove(collector)
    collector.on_batch = None
    collector.on_event = None
    with _lock:
        _free.setdefault(key, []).append((context, collector))


def trace(
    on_batch: OnBatch | None = None,
    *,
    on_event: OnEvent | None = None,
    kinds: Iterable[int | str] = KINDS,
    operations: Iterable[int | str] | None = None,
    watermark: int = WATERMARK,
    interval: float = INTERVAL_S,
    limit: int = LIMIT,
    arguments: bool = False,
) -> Trace:
    """A trace of HIP in this process, to be started by ``with`` or `Trace.start`.

    Callables run on a thread of hipadapt, never within a call of HIP.  What they raise
    goes to `sys.unraisablehook`; what they call of HIP isn't traced.

    Parameters
    ----------
    on_batch : callable
        Gets an `EventBatch`: a sequence of events that ``numpy.asarray`` takes.
    on_event : callable
        Gets each `Event`.  Slow; choose few operations.
    kinds : iterable of str or rocprofiler_callback_tracing_kind_t
        Kinds, see `kinds`.
    operations : iterable of str
        Names or patterns (``hipMemcpy*``) of operations; a kind in which none is named
        has all of them.
    watermark : int
        Number of events that makes a batch due at once.
    interval : float
        Seconds after which events are given in any case.
    limit : int
        Events that are kept where callables are slow; more are lost and counted.
    arguments : bool
        Calls have their arguments, as text; with `on_event` only.

    Raises
    ------
    RocprofilerError
        No tool can be registered: too many, after the end, or in a forked child.

    Examples
    --------
    >>> from hipadapt import hip, rocprofiler
    >>> kinds = ["HIP_RUNTIME_API"]
    >>> with rocprofiler.trace(kinds=kinds, operations=["hipGetDevice"]) as trace:
    ...     status, device = hip.hipGetDevice()
    >>> [rocprofiler.operation_name(e.kind, e.operation) for e in trace.poll()]
    ['hipGetDevice']
    """
    check_options(on_batch, on_event, watermark, interval, limit, arguments, "trace")
    chosen = tuple(choose(kinds, operations, "trace"))
    key: _Key = (chosen, arguments, min(watermark, 1 << 31), limit)
    _pump.tidy()
    with _lock:
        left = _free.get(key)
        parts = left.pop() if left else None
    if parts is None:
        parts = _new_parts(key)
    collector = parts[1]
    collector.take()
    collector.on_batch = on_batch
    collector.on_event = on_event
    return Trace(key, parts, interval)


def _new_parts(key: _Key) -> _Parts:
    chosen, arguments, watermark, limit = key
    collector = EventCollector(min(watermark, 1 << 31), limit, arguments)
    made: list[Context] = []

    def initialize(tool: Tool) -> None:
        context = Context()
        for kind, operations in chosen:
            context.configure(kind, operations, collector)
        tool.collectors.append(collector)
        made.append(context)

    Tool("hipadapt.rocprofiler.trace", initialize=initialize).register()
    return made[0], collector


def _forked() -> None:
    """In the child: nothing is traced, and no context is left."""
    global _lock
    _lock = threading.Lock()
    _free.clear()
    _started.clear()


os.register_at_fork(after_in_child=_forked)
