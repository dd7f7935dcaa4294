# SPDX-License-Identifier: MIT
"""Lines of text about what a program does on the device, as it does it."""

from __future__ import annotations

import os
from contextlib import suppress
from types import EllipsisType
from typing import TYPE_CHECKING, NamedTuple

from .. import _core

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from typing_extensions import Self

    from .._trace.verbose import Line

_Output = tuple["str | bytes | os.PathLike[str] | None", bool]

_FLUSH = 1.0


class VerboseStatus(NamedTuple):
    """How verbose lines stand."""

    words: str
    """What there are lines about: words between commas, or ``none``."""
    lines: int
    """Made so far in this process."""
    lost: int
    """That nobody will see: nobody read the pipe, or the disk was full."""


def _environment() -> _Output:
    """Where lines go unless somebody has said otherwise."""
    named = os.environ.get("HIPADAPT_VERBOSE_TIMESTAMP", "0").lower()
    return (
        os.environ.get("HIPADAPT_VERBOSE_FILE") or None,
        named not in ("", "0", "false", "off", "no"),
    )


class verbose:
    """Writes a line for each kernel, copy and so on, within the ``with`` block.

    A line is written when the work has ended, within 50 ms, by a thread of its own: the
    program does not wait.  Times are the device's.  `HIPADAPT_VERBOSE` does the same
    for a whole program.  docs/verbose.md describes the columns; ``python -m hipadapt
    verbose FILE`` sums lines up.

    Parameters
    ----------
    words : str
        What there are lines about, oneDNN's words between commas: ``error``,
        ``check``, ``profile_create``, ``profile_exec``, ``profile``, ``all``, ``none``,
        or the numbers 0, 1, 2.
    file : path or None, optional
        Where lines are appended to, with the process's number for ``%p``; None is
        standard output.  Not given: as it is.
    timestamp : bool, optional
        The first column is the Unix time of the start, in ms.  Not given: as it is.

    Raises
    ------
    ValueError
        A word is none of those, or a path is empty.
    OSError
        The file cannot be opened.
    RuntimeError
        The profiler's library takes nobody any more, or this is a forked child.

    Examples
    --------
    >>> import hipadapt
    >>> with hipadapt.verbose("profile_exec", file="/dev/null"):
    ...     x = hipadapt.zeros(16)
    >>> hipadapt.verbose.status().words
    'none'
    """

    _output: _Output | None = None

    def __init__(
        self,
        words: str = "profile_exec",
        *,
        file: str | bytes | os.PathLike[str] | EllipsisType | None = ...,
        timestamp: bool | None = None,
    ) -> None:
        self._words = words
        self._file = file
        self._timestamp = timestamp
        self._before: list[tuple[str, _Output]] = []

    def __repr__(self) -> str:
        return f"hipadapt.verbose({self._words!r})"

    def __enter__(self) -> Self:
        before = _core.verbose_status()[0], verbose._output or _environment()
        verbose.set(self._words, file=self._file, timestamp=self._timestamp)
        self._before.append(before)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        words, (file, timestamp) = self._before.pop()
        _core.verbose_set(words)
        with suppress(TimeoutError):  # nobody reads the lines: the status counts them
            _core.verbose_flush(round(1000 * _FLUSH))
        if (file, timestamp) != (verbose._output or _environment()):
            verbose.set(words, file=file, timestamp=timestamp)

    @staticmethod
    def set(
        words: str,
        *,
        file: str | bytes | os.PathLike[str] | EllipsisType | None = ...,
        timestamp: bool | None = None,
    ) -> None:
        """The same from now on, without an end.

        Parameters and errors are those of the class.
        """
        now = verbose._output or _environment()
        wanted = (
            now[0] if isinstance(file, EllipsisType) else file,
            now[1] if timestamp is None else bool(timestamp),
        )
        if wanted != now:
            _core.verbose_output(*wanted)
            verbose._output = wanted
        _core.verbose_set(words)

    @staticmethod
    def flush(timeout: float = _FLUSH) -> None:
        """Waits until the lines of all work that has ended are written.

        Parameters
        ----------
        timeout : float
            Seconds.

        Raises
        ------
        TimeoutError
            Nobody reads the lines.
        ValueError
            The time is negative.
        """
        if not 0 <= timeout <= 4_000_000:
            raise ValueError(
                f"verbose.flush: argument 'timeout' must be 0 to 4000000 seconds, not "
                f"{timeout}"
            )
        _core.verbose_flush(round(1000 * timeout))

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Iterator[Line]:
        """The results of a file with verbose lines, ours or oneDNN's.

        Parameters
        ----------
        path : path
            The file.

        Yields
        ------
        Line
            ``line["implementation"]`` is the text of a column that the header names,
            ``line.duration_ns`` its time, and ``line.values("attributes")`` a dict of
            ``key:value`` pairs.

        Raises
        ------
        OSError
            The file cannot be opened.
        ValueError
            It has no verbose lines, or no header.
        """
        from .._trace.verbose import read

        return read(path)

    @staticmethod
    def status() -> VerboseStatus:
        """What there are lines about, and how many there were."""
        return VerboseStatus(*_core.verbose_status())
