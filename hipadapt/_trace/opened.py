# SPDX-License-Identifier: MIT
"""A trace's file: its first bytes say which format it has, not its name."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from .chrome import Chrome
from .pftrace import Perfetto
from .slices import WORK, Progress, Slice, TraceError

_GZIP = b"\x1f\x8b"


class _Counted:
    """A file that tells how far it was read."""

    def __init__(self, file: BinaryIO, progress: Progress | None) -> None:
        self._file = file
        self._progress = progress
        self._all = os.fstat(file.fileno()).st_size

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        if self._progress is not None:
            self._progress(self._file.tell(), self._all)
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class OpenTrace:
    """A context manager that has a file open.

    Raises
    ------
    OSError
        The file can't be read.
    TraceError
        It is no trace.
    """

    def __init__(
        self, path: str | os.PathLike[str], progress: Progress | None = None
    ) -> None:
        self.name = os.fspath(path)
        self._file = open(path, "rb")  # noqa: SIM115
        counted = cast(BinaryIO, _Counted(self._file, progress))
        start = self._file.read(2)
        self._file.seek(0)
        data = counted
        self.reader: Chrome | Perfetto
        if start == _GZIP:
            data = cast(BinaryIO, gzip.GzipFile(fileobj=counted))
            start = self._first(data)
        if start[:1] == b"\x0a" and start[1:] not in (b"{", b"[", b" ", b"\n"):
            self.format = "perfetto"
            self.reader = Perfetto(data, self.name)
        elif start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[", b""):
            if not start:
                self._file.close()
                raise TraceError(f"{self.name}: is no trace: it is empty")
            self.format = "chrome"
            self.reader = Chrome(data, self.name)
        else:
            self._file.close()
            raise TraceError(f"{self.name}: is no trace: neither JSON nor Perfetto's")

    def _first(self, data: BinaryIO) -> bytes:
        try:
            start = data.read(2)
            data.seek(0)
        except (OSError, EOFError, zlib.error) as error:
            self._file.close()
            raise TraceError(f"{self.name}: is no trace: {error}") from None
        return start

    def __enter__(self) -> OpenTrace:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def slices(self) -> Iterator[Slice]:
        """All slices; a file that was cut is read as far as it goes."""
        return self._guarded(self.reader.slices())

    def has_work(self) -> bool:
        """Whether a device did something; reads no further than it needs to."""
        if isinstance(self.reader, Chrome):
            return any(event.get("cat") in WORK for event in self.events())
        return any(self._guarded(self.reader.work()))

    def events(self) -> Iterator[dict[str, Any]]:
        """All events of Chrome's format."""
        if not isinstance(self.reader, Chrome):
            raise TraceError(
                f"{self.name}: is Perfetto's format; this needs .json or .json.gz"
            )
        return self._guarded(self.reader.events())

    def _guarded(self, found: Iterator[Any]) -> Iterator[Any]:
        try:
            yield from found
        except EOFError:  # gzip without its end
            self.reader.complete = False
        except (zlib.error, gzip.BadGzipFile) as error:
            raise TraceError(f"{self.name}: is damaged: {error}") from None


def has_work(path: str | os.PathLike[str]) -> bool:
    """Whether a trace shows a kernel, a copy or a fill."""
    with OpenTrace(path) as trace:
        return trace.has_work()
