# SPDX-License-Identifier: MIT
"""Frameworks and other devices take part in recordings of the profiler."""

from __future__ import annotations

import atexit
import contextlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .. import _core

__all__ = ["ProfileChild", "ProfileClient", "ProfileSetup"]

DETAILS = ("input_shapes", "stacks", "memory", "flops", "modules")
_CLOCKS = ("boottime", "monotonic", "realtime")
_KINDS = ("call", "operation", "kernel", "copy", "fill", "annotation")

_handles: set[int] = set()


class ProfileSetup(NamedTuple):
    """What a recording would like to know of operations."""

    request: int
    """Number of the request; 0 for the program's own recording."""
    detail: frozenset[str]
    """Of input_shapes, stacks, memory, flops, modules."""
    operations: bool
    """Operations of clients are shown."""


class ProfileClient:
    """A registered client: it hands operations over."""

    __slots__ = ("_handle",)

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def hand_over(
        self,
        name: str,
        start: int,
        end: int,
        *,
        thread: int = 0,
        external: int = 0,
        args: Mapping[str, Any] | None = None,
    ) -> None:
        """An operation, from ``prepare`` until ``stop`` has returned.

        Parameters
        ----------
        name : str
            Of its bar in the trace.
        start, end : int
            Nanoseconds of the clock of the registration.
        thread : int
            As threading.get_native_id says; 0 is the calling one.
        external : int
            The id under which it ran (`profile.operation`): arrows lead to the work
            that was launched meanwhile.
        args : dict, optional
            Further facts, of what JSON can have; 64 KiB at most.

        Raises
        ------
        ValueError
            It ends before it starts, or `args` is too long.
        RuntimeError
            Nothing is recorded with this client.
        """
        text = _members(args)
        _core.profile_hand_over(self._handle, name, start, end, thread, external, text)

    def unregister(self) -> None:
        """It takes part no more.

        It waits for a method that runs, one second, but not within that method.
        RuntimeError: the method still runs, and is the last one.
        """
        _unregister(self._handle)


class ProfileChild:
    """A registered child: within its ``collect`` it hands over what it saw."""

    __slots__ = ("_handle",)

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def device(
        self, device: int, name: str, properties: Mapping[str, Any] | None = None
    ) -> None:
        """A device, 0 to 63, with its name and what JSON can have of properties."""
        text = None if properties is None else json.dumps(dict(properties))
        _core.profile_child_device(self._handle, device, name, text)

    def stream(self, device: int, stream: int, name: str) -> None:
        """The name of a stream's row."""
        _core.profile_child_stream(self._handle, device, stream, name)

    def slice(
        self,
        kind: str,
        name: str,
        start: int,
        end: int,
        *,
        thread: int = 0,
        device: int = 0,
        stream: int = 0,
        correlation: int = 0,
        external: int = 0,
        args: Mapping[str, Any] | None = None,
    ) -> None:
        """Something that took time.

        Parameters
        ----------
        kind : str
            ``call`` and ``operation`` are on the row of `thread`; ``kernel``,
            ``copy``, ``fill`` and ``annotation`` on that of `device` and `stream`.
        name : str
            Of its bar.
        start, end : int
            Nanoseconds of the clock of the registration.
        thread, device, stream : int
            The row.
        correlation : int
            An arrow leads from a call to work with the same one.
        external : int
            "External id".
        args : dict, optional
            Further facts, of what JSON can have.
        """
        if kind not in _KINDS:
            raise ValueError(
                f"ProfileChild.slice: argument 'kind' must be one of "
                f"{', '.join(_KINDS)}, not {kind!r}"
            )
        _core.profile_child_slice(
            self._handle,
            _KINDS.index(kind),
            name,
            start,
            end,
            thread,
            device,
            stream,
            correlation,
            external,
            _members(args),
        )

    def metadata(self, key: str, value: Any) -> None:
        """An entry of the trace's metadata; `value` is what JSON can have."""
        _core.profile_child_metadata(self._handle, key, json.dumps(value))

    def unregister(self) -> None:
        """It takes part no more; as `ProfileClient.unregister`."""
        _unregister(self._handle)


def bits_of(
    function: str, argument: str, chosen: Iterable[str], names: tuple[str, ...]
) -> int:
    """The set as bits, in the order of `names`."""
    bits = 0
    for name in [chosen] if isinstance(chosen, str) else chosen:
        if name not in names:
            raise ValueError(
                f"{function}: argument {argument!r} must be of {', '.join(names)}, "
                f"not {name!r}"
            )
        bits |= 1 << names.index(name)
    return bits


def register(client: object, name: str | None, clock: str, *, child: bool) -> int:
    """The handle of a client or child, whose methods are called from now on."""
    if clock not in _CLOCKS:
        raise ValueError(
            f"profile.register_{'child' if child else 'client'}: argument 'clock' must "
            f"be one of {', '.join(_CLOCKS)}, not {clock!r}"
        )
    if name is None:
        name = type(client).__name__
    handle = _core.profile_register(
        client, _setup, ProfileChild, name, _CLOCKS.index(clock), child
    )
    _handles.add(handle)
    return handle


def _setup(request: int, detail: int, operations: int) -> ProfileSetup:
    names = (name for i, name in enumerate(DETAILS) if detail & 1 << i)
    return ProfileSetup(request, frozenset(names), bool(operations))


def _members(args: Mapping[str, Any] | None) -> str | None:
    return json.dumps(dict(args))[1:-1] if args else None


def _unregister(handle: int) -> None:
    _core.profile_unregister(handle)
    _handles.discard(handle)


@atexit.register
def _unregister_all() -> None:
    """No thread may call a client while the interpreter ends.

    Before that a recording of HIPADAPT_PROFILE ends: it stops its clients.
    """
    if _handles:
        with contextlib.suppress(Exception):
            _core.profile_end()
    for handle in list(_handles):
        with contextlib.suppress(Exception):
            _unregister(handle)
