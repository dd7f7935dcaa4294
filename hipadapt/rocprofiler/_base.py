# SPDX-License-Identifier: MIT
"""Base of the profiler's enums, and the exception for status codes."""

from __future__ import annotations

from typing import Any

from .._enum import HipEnum, unknown


class RocprofilerEnum(HipEnum):
    """An enum of rocprofiler-sdk: members equal their C values."""

    @classmethod
    def _missing_(cls, value: object) -> HipEnum | None:
        return unknown(cls, value) if isinstance(value, int) else None


class RocprofilerError(RuntimeError):
    """A call of the profiler's library failed.

    Attributes
    ----------
    status : rocprofiler_status_t
        What it answered.
    function : str
        The C name of the call.
    """

    def __init__(self, function: str, status: RocprofilerEnum, text: str = "") -> None:
        self.function = function
        self.status = status
        super().__init__(f"{function}: {status.name}" + (f": {text}" if text else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.function, self.status, str(self))


def _rebuild(function: str, status: RocprofilerEnum, text: str) -> RocprofilerError:
    made = RocprofilerError(function, status)
    made.args = (text,)
    return made
