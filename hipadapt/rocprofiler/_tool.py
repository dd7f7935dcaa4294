# SPDX-License-Identifier: MIT
"""Tools: of Python, and from libraries."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from .._core import (
    EventCollector,
    profiler_finalize_client,
    profiler_force_configure,
    profiler_load_tool,
)
from .._owner import Owner
from . import _pump
from ._info import check

if TYPE_CHECKING:
    from ._context import Context

window = threading.local()  # `tool`: the one whose initialize runs on this thread


class ClientInfo(NamedTuple):
    """What a tool learns when it is asked to take part."""

    version: int
    runtime_version: str
    priority: int
    handle: int


class Tool(Owner):
    """A tool: contexts are made in `initialize`, results are shown in `finalize`.

    Parameters
    ----------
    name : str
        What the tool is called.
    initialize : callable
        Called with the tool, once, while contexts can be made.  A number that is not 0,
        or an exception, drops the tool.
    finalize : callable
        Called with the tool, once: at exit or by `close`, when all events were given.
    configure : callable
        Called first, with a `ClientInfo`; False declines.

    Examples
    --------
    >>> from hipadapt import rocprofiler
    >>> def initialize(tool):
    ...     tool.context = rocprofiler.Context()
    >>> tool = rocprofiler.Tool("example", initialize=initialize).register()
    >>> tool.registered
    True
    >>> tool.close()
    """

    def __init__(
        self,
        name: str,
        *,
        initialize: Callable[[Tool], int | None] | None = None,
        finalize: Callable[[Tool], object] | None = None,
        configure: Callable[[ClientInfo], bool | None] | None = None,
    ) -> None:
        self.name = name
        self.info: ClientInfo | None = None
        self.contexts: list[Context] = []
        self.context: Context | None = None
        self.collectors: list[EventCollector] = []
        self._number = -1
        self._ended = False
        self._callables = (configure, initialize, finalize)

    @property
    def registered(self) -> bool:
        """Whether the tool takes part: neither declined nor ended."""
        return self.info is not None and self._number >= 0 and not self._ended

    def register(self) -> Tool:
        """Configures and initializes the tool now; HIP may have been used before.

        Raises
        ------
        RocprofilerError
            The library takes no tools now, or has as many as it can: 64 of Python.
        Exception
            What `configure` or `initialize` raised.
        """
        if self._number >= 0:
            raise RuntimeError(f"Tool.register: {self.name!r} is registered already")
        self._number = check(
            "rocprofiler_force_configure",
            profiler_force_configure(self._configure),
        )
        return self

    def close(self) -> None:
        """Ends the tool: stops its contexts, gives the last events, finalizes."""
        if self.registered:
            for collector in self.collectors:
                collector.settle(_pump.SETTLE_S)
            profiler_finalize_client(self._number)

    def _configure(
        self, version: int, runtime_version: str, priority: int, handle: int
    ) -> tuple[str, Callable[[], int | None], Callable[[], None]] | None:
        info = ClientInfo(version, runtime_version, priority, handle)
        configure = self._callables[0]
        if configure is not None and configure(info) is False:
            return None
        self.info = info
        return self.name, self._initialize, self._finalize

    def _initialize(self) -> int | None:
        initialize = self._callables[1]
        before = getattr(window, "tool", None)
        window.tool = self
        try:
            answer = initialize(self) if initialize is not None else 0
        except BaseException:
            self._ended = True
            raise
        finally:
            window.tool = before
        self._ended = answer not in (0, None)
        return answer

    def _finalize(self) -> None:
        self._ended = True
        for collector in self.collectors:
            collector.deliver()
            _pump.remove(collector)
        finalize = self._callables[2]
        if finalize is not None:
            finalize(self)

    def __repr__(self) -> str:
        state = "registered" if self.registered else "not registered"
        return f"<Tool {self.name!r}, {state}, {len(self.contexts)} contexts>"


def load_tool(path: str | os.PathLike[str]) -> None:
    """Loads a tool library and has it configured and initialized.

    It is what `ROCP_TOOL_LIBRARIES` does, at any time.

    Raises
    ------
    OSError
        The file isn't there or can't be loaded.
    ValueError
        It has no ``rocprofiler_configure``.
    RocprofilerError
        The library takes no tools now, or knows this one.
    """
    check("rocprofiler_force_configure", profiler_load_tool(path))
