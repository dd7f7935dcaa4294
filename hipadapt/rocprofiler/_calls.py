# SPDX-License-Identifier: MIT
"""The calls that take callables, under their C names; `_core` has the others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from .._core import (
    Event,
    EventBatch,
    EventCollector,
    profiler_finalize_client,
    profiler_force_configure,
)
from .._core import (
    rocprofiler_configure_callback_tracing_service as _configure_callbacks,
)
from .._core import (
    rocprofiler_create_buffer as _create_buffer,
)
from . import _pump
from ._context import INTERVAL_S, LIMIT, WATERMARK
from ._enums import rocprofiler_status_t

Finalizer = Callable[["rocprofiler_client_id_t | None"], None]
Initialize = Callable[[Finalizer, Any], "int | None"]
Finalize = Callable[[Any], object]


class rocprofiler_client_id_t:
    """The identity of a tool; `name` is the tool's to set.

    Attributes
    ----------
    name : str
        What the tool calls itself.
    handle : int
        Its number.
    """

    def __init__(self, handle: int) -> None:
        self.name = ""
        self.handle = handle

    def __repr__(self) -> str:
        return f"rocprofiler_client_id_t(name={self.name!r}, handle={self.handle})"


class rocprofiler_tool_configure_result_t:
    """What a configure function returns.

    Parameters
    ----------
    initialize : callable
        Called with a function that ends the tool, and with `tool_data`.
    finalize : callable
        Called with `tool_data` at the end.
    tool_data : object
        Anything.
    """

    def __init__(
        self,
        initialize: Initialize | None = None,
        finalize: Finalize | None = None,
        tool_data: Any = None,
    ) -> None:
        self.initialize = initialize
        self.finalize = finalize
        self.tool_data = tool_data


Configure = Callable[
    [int, str, int, rocprofiler_client_id_t],
    "rocprofiler_tool_configure_result_t | None",
]


def rocprofiler_force_configure(
    configure_func: Configure | None,
) -> tuple[rocprofiler_status_t]:
    """Configures and initializes a tool now.

    None means the tools that are found now: those that ``ROCP_TOOL_LIBRARIES`` names,
    and those that the process has loaded.  It succeeds without any, too.

    `configure_func` gets the version, the version's text, the number of tools before
    this one and a `rocprofiler_client_id_t`; it returns a
    `rocprofiler_tool_configure_result_t`, or None to decline.  What it or
    `initialize` raises is raised here.  A process has 64 tools of Python at most,
    without those that declined: then the status is ``OUT_OF_RESOURCES``.
    """
    if configure_func is None:
        status, _ = profiler_force_configure(None)
        return (status,)
    if not callable(configure_func):
        kind = type(configure_func).__name__
        raise TypeError(
            "rocprofiler_force_configure: argument 'configure_func' must be callable "
            f"or None, not {kind!r}"
        )
    number = -1

    def configure(version: int, text: str, priority: int, handle: int) -> Any:
        client = rocprofiler_client_id_t(handle)
        result: Any = configure_func(version, text, priority, client)
        if result is None:
            return None
        if not isinstance(result, rocprofiler_tool_configure_result_t):
            kind = type(result).__name__
            raise TypeError(
                "rocprofiler_force_configure: configure_func must return a "
                f"rocprofiler_tool_configure_result_t or None, not {kind!r}"
            )
        start, end, data = result.initialize, result.finalize, result.tool_data

        def finalizer(client_id: rocprofiler_client_id_t | None = None) -> None:
            if number >= 0:
                _pump.settle()
                profiler_finalize_client(number)

        def initialize() -> int | None:
            return start(finalizer, data) if start is not None else 0

        def finalize() -> None:
            _pump.deliver()
            if end is not None:
                end(data)

        return client.name or "Python", initialize, finalize

    status, number = profiler_force_configure(configure)
    return (status,)


def rocprofiler_configure_callback_tracing_service(
    context_id: int,
    kind: int,
    operations: Sequence[int] | None,
    callback: Callable[[Event, Any], object] | EventCollector,
    callback_args: Any = None,
) -> tuple[rocprofiler_status_t]:
    """Has the events of a kind given to `callback`, with `callback_args`.

    The callable runs later, on a thread of hipadapt, and once a call, not twice.
    An `EventCollector` in its place gathers the events in batches; a function of ctypes
    or an address is called as C does it, at once.
    """
    if is_c(callback):
        return _configure_callbacks(
            context_id, kind, operations, callback, callback_args
        )
    if not isinstance(callback, EventCollector):
        check_callable("rocprofiler_configure_callback_tracing_service", callback)
        collector = EventCollector(WATERMARK, LIMIT)
        collector.on_event = lambda event: callback(event, callback_args)
    else:
        collector = callback
    result = _configure_callbacks(context_id, kind, operations, collector)
    _serve(result[0], collector)
    return result


def rocprofiler_create_buffer(
    context: int,
    size: int,
    watermark: int,
    policy: int,
    callback: Callable[[EventBatch, Any], object] | EventCollector,
    callback_data: Any = None,
) -> tuple[rocprofiler_status_t, int]:
    """Makes a buffer whose records are given to `callback`, with `callback_data`.

    The callable gets an `EventBatch` and runs later, on a thread of hipadapt.  An
    `EventCollector`, a function of ctypes or an address may stand in its place.
    """
    if is_c(callback):
        return _create_buffer(context, size, watermark, policy, callback, callback_data)
    if not isinstance(callback, EventCollector):
        check_callable("rocprofiler_create_buffer", callback)
        collector = EventCollector(WATERMARK, LIMIT)
        collector.on_batch = lambda batch: callback(batch, callback_data)
    else:
        collector = callback
    result = _create_buffer(context, size, watermark, policy, collector)
    _serve(result[0], collector)
    return result


def is_c(callback: Any) -> bool:
    """Whether it is a C function: of ctypes, or an address."""
    if isinstance(callback, int) and not isinstance(callback, bool):
        return True
    ctypes = sys.modules.get("_ctypes")  # loaded, if there is such a function
    return ctypes is not None and isinstance(callback, ctypes.CFuncPtr)


def check_callable(name: str, callback: Any) -> None:
    """Raises where the argument isn't callable."""
    if not callable(callback):
        kind = type(callback).__name__
        raise TypeError(
            f"{name}: argument 'callback' must be callable, an EventCollector or a C "
            f"function, not {kind!r}"
        )


def _serve(status: rocprofiler_status_t, collector: EventCollector) -> None:
    called = collector.on_batch is not None or collector.on_event is not None
    if status == 0 and called:
        _pump.add(collector, INTERVAL_S)
