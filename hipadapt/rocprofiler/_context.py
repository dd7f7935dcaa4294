# SPDX-License-Identifier: MIT
"""Contexts of tools, and what these trace and count."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from .._core import (
    Event,
    EventBatch,
    EventCollector,
    rocprofiler_configure_buffer_tracing_service,
    rocprofiler_configure_callback_tracing_service,
    rocprofiler_configure_device_counting_service,
    rocprofiler_context_is_active,
    rocprofiler_context_is_valid,
    rocprofiler_create_buffer,
    rocprofiler_create_context,
    rocprofiler_create_counter_config,
    rocprofiler_flush_buffer,
    rocprofiler_pop_external_correlation_id,
    rocprofiler_push_external_correlation_id,
    rocprofiler_query_record_counter_id,
    rocprofiler_sample_device_counting_service,
    rocprofiler_start_context,
    rocprofiler_stop_context,
)
from .._owner import Owner
from . import _pump
from ._enums import rocprofiler_buffer_policy_t, rocprofiler_buffer_tracing_kind_t
from ._info import Agent, Counter, check, choose
from ._tool import Tool, window

WATERMARK = 4096
INTERVAL_S = 0.1
LIMIT = 1 << 22  # events: 512 MiB

OnBatch = Callable[[EventBatch], object]
OnEvent = Callable[[Event], object]


def check_options(
    on_batch: OnBatch | None,
    on_event: OnEvent | None,
    watermark: int,
    interval: float,
    limit: int,
    arguments: bool,
    function: str,
) -> None:
    """Raises if the options of a collector are wrong."""
    for name, value in (("on_batch", on_batch), ("on_event", on_event)):
        if value is not None and not callable(value):
            kind = type(value).__name__
            raise TypeError(
                f"{function}: argument {name!r} must be callable, not {kind!r}"
            )
    _check_number(watermark, function, "watermark", int, "number of events")
    _check_number(limit, function, "limit", int, "number of events")
    _check_number(interval, function, "interval", float, "number of seconds")
    if arguments and on_batch is not None:
        raise ValueError(f"{function}: 'arguments' goes with 'on_event' only")


def _check_number(
    value: Any, function: str, name: str, kind: type[int | float], meaning: str
) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, kind)):
        raise TypeError(
            f"{function}: argument {name!r} must be {kind.__name__}, "
            f"not {type(value).__name__!r}"
        )
    if not value > 0:
        raise ValueError(
            f"{function}: argument {name!r} must be a positive {meaning}, not {value!r}"
        )


def make_collector(
    on_batch: OnBatch | None,
    on_event: OnEvent | None,
    watermark: int,
    interval: float,
    limit: int,
    arguments: bool,
    function: str,
) -> EventCollector:
    """Checks the options; a collector with these callables."""
    check_options(on_batch, on_event, watermark, interval, limit, arguments, function)
    made = EventCollector(min(watermark, 1 << 31), limit, arguments)
    made.on_batch = on_batch
    made.on_event = on_event
    return made


class Context(Owner):
    """Services that start and stop together; made within a tool's `initialize`.

    ``with context:`` starts it and stops it again.
    """

    def __init__(self) -> None:
        self.handle: int = check(
            "rocprofiler_create_context", rocprofiler_create_context()
        )
        self._tool: Tool | None = getattr(window, "tool", None)
        self._counters: dict[int, str] = {}
        if self._tool is not None:
            self._tool.contexts.append(self)

    def _keep(self, collector: EventCollector, interval: float) -> None:
        if self._tool is not None:
            self._tool.collectors.append(collector)
        if collector.on_batch is not None or collector.on_event is not None:
            _pump.add(collector, interval)

    def trace(
        self,
        kinds: Iterable[int | str],
        operations: Iterable[int | str] | None = None,
        *,
        on_batch: OnBatch | None = None,
        on_event: OnEvent | None = None,
        watermark: int = WATERMARK,
        interval: float = INTERVAL_S,
        limit: int = LIMIT,
        arguments: bool = False,
    ) -> EventCollector:
        """Asks for the events of kinds; see `hipadapt.rocprofiler.trace`.

        Without callables, events wait for `EventCollector.take`.
        """
        chosen = choose(kinds, operations, "Context.trace")
        collector = make_collector(
            on_batch, on_event, watermark, interval, limit, arguments, "Context.trace"
        )
        for kind, numbers in chosen:
            self.configure(kind, numbers, collector)
        self._keep(collector, interval)
        return collector

    def configure(
        self, kind: int, operations: Iterable[int], collector: EventCollector
    ) -> None:
        """Has the events of one kind go to a collector; no operations: all of them."""
        check(
            "rocprofiler_configure_callback_tracing_service",
            rocprofiler_configure_callback_tracing_service(
                self.handle, kind, tuple(operations) or None, collector
            ),
        )

    def buffer(
        self,
        kinds: Iterable[int],
        *,
        size: int = 1 << 20,
        watermark: int | None = None,
        lossless: bool = True,
        on_batch: OnBatch | None = None,
        on_event: OnEvent | None = None,
        interval: float = INTERVAL_S,
        limit: int = LIMIT,
    ) -> Buffer:
        """The same by a buffer of the profiler's library.

        Parameters
        ----------
        kinds : iterable of rocprofiler_buffer_tracing_kind_t
            The field ``kind`` of the events is one of these.
        size, watermark : int
            Bytes of the buffer, and bytes that make it give its records.
        lossless : bool
            A full buffer makes calls wait; else records are dropped and counted.
        """
        numbers = [int(rocprofiler_buffer_tracing_kind_t(kind)) for kind in kinds]
        collector = make_collector(
            on_batch, on_event, WATERMARK, interval, limit, False, "Context.buffer"
        )
        policy = rocprofiler_buffer_policy_t
        handle = check(
            "rocprofiler_create_buffer",
            rocprofiler_create_buffer(
                self.handle,
                size,
                size // 2 if watermark is None else watermark,
                policy.ROCPROFILER_BUFFER_POLICY_LOSSLESS
                if lossless
                else policy.ROCPROFILER_BUFFER_POLICY_DISCARD,
                collector,
            ),
        )
        for number in numbers:
            check(
                "rocprofiler_configure_buffer_tracing_service",
                rocprofiler_configure_buffer_tracing_service(
                    self.handle, number, None, handle
                ),
            )
        self._keep(collector, interval)
        return Buffer(handle, collector)

    def count(self, agent: Agent, counters: Iterable[Counter]) -> None:
        """Counts while the context is started; `sample` reads."""
        chosen = list(counters)
        config: int = check(
            "rocprofiler_create_counter_config",
            rocprofiler_create_counter_config(agent.id, [c.id for c in chosen]),
        )

        def choose_counters(
            context: int, _: int, set_config: Callable[[int, int], int], __: object
        ) -> None:
            set_config(context, config)

        buffer = self.buffer([]).handle
        check(
            "rocprofiler_configure_device_counting_service",
            rocprofiler_configure_device_counting_service(
                self.handle, buffer, agent.id, choose_counters
            ),
        )
        self._counters = {counter.id: counter.name for counter in chosen}

    def sample(self) -> dict[str, float]:
        """Values of the counters, by name."""
        records = check(
            "rocprofiler_sample_device_counting_service",
            rocprofiler_sample_device_counting_service(self.handle),
        )
        found: dict[str, float] = {}
        for record, value in records:
            counter = check(
                "rocprofiler_query_record_counter_id",
                rocprofiler_query_record_counter_id(record),
            )
            found[self._counters.get(counter, f"counter {counter}")] = value
        return found

    def start(self) -> None:
        """Starts the services; a context that is started stays so."""
        check("rocprofiler_start_context", rocprofiler_start_context(self.handle))

    def stop(self) -> None:
        """Stops the services.  Work that was enqueued before is still reported."""
        check("rocprofiler_stop_context", rocprofiler_stop_context(self.handle))

    @property
    def active(self) -> bool:
        """Whether the context is started."""
        return bool(rocprofiler_context_is_active(self.handle)[1])

    @property
    def valid(self) -> bool:
        """Whether the context can be used."""
        return bool(rocprofiler_context_is_valid(self.handle)[1])

    @contextmanager
    def external(self, identifier: int) -> Generator[None]:
        """Events that this thread causes meanwhile have this ``external``."""
        thread = threading.get_native_id()
        check(
            "rocprofiler_push_external_correlation_id",
            rocprofiler_push_external_correlation_id(self.handle, thread, identifier),
        )
        try:
            yield
        finally:
            rocprofiler_pop_external_correlation_id(self.handle, thread)

    def __enter__(self) -> Context:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Context {self.handle:#x}, {'started' if self.active else 'stopped'}>"


class Buffer(Owner):
    """A buffer of the profiler's library, whose records come as events."""

    def __init__(self, handle: int, collector: EventCollector) -> None:
        self.handle = handle
        self.collector = collector

    def flush(self) -> int:
        """Gives all events that are there; returns their number."""
        check("rocprofiler_flush_buffer", rocprofiler_flush_buffer(self.handle))
        return self.collector.deliver()
