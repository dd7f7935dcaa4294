# SPDX-License-Identifier: MIT
"""Checked kernels: what they do wrong within a ``with`` block."""

from __future__ import annotations

import os
import threading
import warnings
from typing import TYPE_CHECKING, Any, overload

from .. import _core, errors
from .._check.finding import Finding
from .._check.findings import Findings, Summary
from .._check.here import HERE, refusal
from .._check.kinds import BITS
from .._check.pools import pause
from .._check.read import Reader

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

__all__ = ["CheckBlock", "check"]

_Counters = tuple[int, ...]

_QUIET, _RELAXED = "quiet", "relaxed-warps"

_lock = threading.Lock()
_open: list[CheckBlock] = []  # blocks of this process; guarded by the lock
_before: frozenset[str] = frozenset()  # what was checked before the first of them
_resume: Callable[[], None] | None = None  # gives CuPy's pool back, after the last


def _forked() -> None:
    """Nobody has the lock in a child.  Blocks that are open end there, too."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forked)


def _expanded(words: str) -> frozenset[str]:
    """Words between commas; `all` is what there is on this machine."""
    given = {word.strip(" \t") for word in words.split(",")} - {""}
    for why in filter(None, map(refusal, sorted(given))):
        raise ValueError(f"hipadapt.check: argument 'kinds': {why}")
    return frozenset([*(given - {"all"}), *(HERE if "all" in given else ())])


def _current() -> frozenset[str]:
    bits = _core.check_summary()[0]
    return frozenset(word for word, bit in BITS.items() if bits & bit)


def _wanted() -> str:
    """What is checked while these blocks are open."""
    asked = [block._words for block in _open]
    if _before:
        asked.append(_before)
    words = frozenset[str]().union(*asked)
    if not all(_QUIET in one for one in asked):
        words -= {_QUIET}
    return ",".join(word for word in BITS if word in words)


def _findings() -> dict[int, Finding]:
    reader = Reader()
    reader.feed("".join(f"{line}\n" for line in _core.check_findings()).encode())
    return {finding.number: finding for finding in reader.result()}


def _synchronize() -> None:
    """Waits for all devices; a device that has failed is done, too."""
    from .. import hip

    status, count = hip.hipGetDeviceCount()
    if int(status) != 0:
        return  # a forked child that has not used HIP
    _core.profile_mute(True)
    try:
        current = hip.hipGetDevice()[1]
        for device in range(count):
            hip.hipSetDevice(device)
            hip.hipDeviceSynchronize()
        hip.hipSetDevice(current)
    finally:
        _core.profile_mute(False)


class CheckBlock:
    """What `hipadapt.check` gives; ``with`` begins and ends it, once."""

    def __init__(self, kinds: str, show: bool) -> None:
        self._given = kinds
        words = kinds if show else f"{kinds},{_QUIET}"
        self._words: frozenset[str] = _expanded(words)
        self._result: Findings | None = None
        self._counts: dict[int, int] = {}
        self._counters: _Counters = ()
        self._process = 0

    def __repr__(self) -> str:
        return f"hipadapt.check({self._given!r})"

    def __enter__(self) -> Findings:
        global _before, _resume
        with _lock:
            if self._result is not None:
                raise RuntimeError("hipadapt.check: a block is entered once")
            if not _open:
                _before = _current()
                if not _before:
                    _core.check_clear()  # nobody reads what is there: it takes room
            self._refuse_contradiction()
            self._process = os.getpid()
            _open.append(self)
            try:
                _core.check_start(_wanted())
                found = _findings()
                self._counts = {n: finding.count for n, finding in found.items()}
                self._counters = _core.check_summary()[2:]
            except BaseException:
                _open.remove(self)
                raise
            if _resume is None and "memory" in self._words:
                _resume = pause()
            self._result = Findings(summary=Summary(self._asked))
            return self._result

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        global _resume
        if self._result is None:
            raise RuntimeError("hipadapt.check: the block was not entered")
        _synchronize()
        with _lock:
            if self._process != os.getpid():  # a forked child begins with nothing
                self._counts, self._counters = {}, (0,) * len(self._counters)
            self._collect(self._result)
            if self in _open:
                _open.remove(self)
            _core.check_start(_wanted())
            if not _open and _resume is not None:
                _resume()
                _resume = None
        summary = self._result.summary
        if summary.unchecked and kind is None:
            self._warn(
                f"launches without checks: {summary.unchecked}; their kernels were "
                "compiled before the block"
            )
        if summary.dropped and kind is None:
            self._warn(f"findings without room in the list: {summary.dropped}")

    @property
    def _asked(self) -> tuple[str, ...]:
        return tuple(word for word in BITS if word in self._words - {_QUIET})

    def _refuse_contradiction(self) -> None:
        """Lanes of a warp can't race for one block and be ordered for another."""
        others = [block._words for block in _open] + ([_before] if _before else [])
        for words in others:
            if "race" in words & self._words and (_RELAXED in words) != (
                _RELAXED in self._words
            ):
                raise RuntimeError(
                    "hipadapt.check: argument 'kinds': another block that is open, or "
                    f"HIPADAPT_CHECK, has {_RELAXED!r} otherwise"
                )

    def _collect(self, result: Findings) -> None:
        """What was found since the block began, of the kinds that it asks for."""
        from dataclasses import replace

        for number, finding in _findings().items():
            count = finding.count - self._counts.get(number, 0)
            if count > 0 and finding.word in self._words:
                result.append(replace(finding, count=count))
        now = _core.check_summary()[2:]
        since = [
            end - begin if end >= begin else end
            for begin, end in zip(self._counters, now, strict=True)
        ]
        counted = sum(finding.count for finding in result)
        result.summary = Summary(self._asked, len(result), counted, *since[1:])

    @staticmethod
    def _warn(text: str) -> None:
        warnings.warn(f"hipadapt.check: {text}", RuntimeWarning, stacklevel=3)


@overload
def check(kinds: str = "all", *, show: bool = False) -> CheckBlock: ...
@overload
def check(kinds: tuple[Any, ...]) -> Any: ...
def check(kinds: Any = "all", *, show: bool = False) -> Any:
    """Checks kernels within a ``with`` block, or the result of one call.

    With words, or without arguments, it is a context manager: kernels that are compiled
    within the block are checked, and so are calls of HIP.  Its value is a list of
    findings, which is complete when the block has ended; the end waits for all devices.
    docs/checking.md describes what is found.  With a tuple, what a function of
    `hipadapt.hip` or `hipadapt.hiprtc` returned, it is `hipadapt.errors.check`.

    Parameters
    ----------
    kinds : str or tuple
        Words of HIPADAPT_CHECK between commas: ``memory``, ``race``, ``sync``,
        ``nan``, ``all`` for all of them; besides them ``leaks``, ``strict``, ``equal``
        and ``relaxed-warps``.  Or the result of a call.
    show : bool
        Findings are printed to stderr as well, when they are made.

    Returns
    -------
    CheckBlock
        ``with`` gives the list: a `Findings`.

    Raises
    ------
    ValueError
        A word is none of those.
    RuntimeError
        HIP is not the CPU device; or the block contradicts one that is open.

    Notes
    -----
    Checks are of the process: a block lists what the work of any thread does while it
    is open, for its own kinds.  Blocks may be nested and may overlap on several
    threads; while several are open, kernels are checked for the kinds of all.

    Examples
    --------
    >>> import hipadapt
    >>> with hipadapt.check("memory") as found:
    ...     x = hipadapt.zeros(16)
    >>> found
    []
    >>> found.summary.kinds
    ('memory',)
    """
    if not isinstance(kinds, str):
        return errors.check(kinds)
    return CheckBlock(kinds, show)
