# SPDX-License-Identifier: MIT
"""What readers of all formats give: the slices of a trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

# Categories of what a device does, and of calls of HIP.
KERNEL, COPY, FILL = "kernel", "gpu_memcpy", "gpu_memset"
WORK = (KERNEL, COPY, FILL)
CALLS = ("cuda_runtime", "cuda_driver", "runtime")

Progress = Callable[[int, int], None]
"""Called with bytes that were read, and all bytes of the file."""


class TraceError(ValueError):
    """A file that is no trace, or is damaged; the text names it."""


class Slice(NamedTuple):
    """Something with a start and a duration; times in ns."""

    category: str
    name: str
    start: int
    duration: int
    row: object
    """Of the CPU: the thread; of a device: the stream."""
    device: object
    """-1 for the CPU."""
    correlation: int
    """Joins a call and its work; 0: none."""
    bytes: int


def members(value: Any) -> dict[str, Any]:
    """Of a JSON object; none of anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def make(
    category: str, name: str, start: int, duration: int, row: object, args: Any
) -> Slice:
    """A slice of a category, by what its arguments say."""
    args = members(args)
    work = category in WORK or category == "gpu_user_annotation"
    if work:
        row = args.get("stream", row)
    return Slice(
        category,
        name,
        start,
        duration,
        row if isinstance(row, int) else str(row),
        _plain(args.get("device", 0)) if work else -1,
        _count(args.get("correlation")),
        _count(args.get("bytes")),
    )


def _plain(value: object) -> object:
    return value if isinstance(value, int) else str(value)


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
