# SPDX-License-Identifier: MIT
"""Two traces compared, kernel by kernel."""

from __future__ import annotations

from typing import Any


def compare(
    before: dict[str, Any], after: dict[str, Any], percent: float
) -> dict[str, Any]:
    """Two summaries; a kernel has *changed* where its count has, or its mean by more
    than `percent`."""
    first = {entry["name"]: entry for entry in before["kernels"]}
    second = {entry["name"]: entry for entry in after["kernels"]}
    kernels = [
        _kernel(name, first.get(name), second.get(name), percent)
        for name in first.keys() | second.keys()
    ]
    order = ("appeared", "vanished", "changed", "same")
    kernels.sort(
        key=lambda entry: (
            order.index(entry["status"]),
            -abs(_total(entry, "after") - _total(entry, "before")),
            entry["name"],
        )
    )
    totals = [sum(entry["total_ns"] for entry in side["kernels"])
              for side in (before, after)]  # fmt: skip
    return {
        "before": before["file"],
        "after": after["file"],
        "before_total_ns": totals[0],
        "after_total_ns": totals[1],
        "ratio": totals[1] / totals[0] if totals[0] else None,
        "kernels": kernels,
    }


def _total(entry: dict[str, Any], side: str) -> int:
    return entry[side]["total_ns"] if entry[side] is not None else 0


def _kernel(
    name: str, before: dict[str, Any] | None, after: dict[str, Any] | None, limit: float
) -> dict[str, Any]:
    ratio = None
    if before is None or after is None:
        status = "appeared" if before is None else "vanished"
    else:
        if before["mean_ns"]:
            ratio = after["mean_ns"] / before["mean_ns"]
        moved = abs(after["mean_ns"] - before["mean_ns"])
        far = moved * 100 > limit * before["mean_ns"]
        status = "changed" if far or before["count"] != after["count"] else "same"
    return {
        "name": name,
        "status": status,
        "ratio": ratio,
        "before": _short(before),
        "after": _short(after),
    }


def _short(entry: dict[str, Any] | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    return {key: entry[key] for key in ("count", "total_ns", "mean_ns", "p95_ns")}
