# SPDX-License-Identifier: MIT
"""The table of a measurement, and what became slower since an earlier one.

A measurement is {"about": {...}, "rows": {name: {"runs": [{contender: seconds}],
"wrong": {contender: text}}}, "missing": {contender: text}}.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.tables import time_text, verdict

from .row import CONTENDERS, INTEL, OURS, Row
from .rows import GROUP_RATIO, GROUP_ROWS, ROWS

SLOWER = 1.10  # of the earlier time


def ratio_of(runs: Sequence[Mapping[str, float]], contender: str) -> float | None:
    """Our time to a contender's: the median over the runs."""
    both = [run[OURS] / run[contender] for run in runs if {OURS, contender} <= {*run}]
    return statistics.median(both) if both else None


def best_of(runs: Sequence[Mapping[str, float]], contender: str) -> float | None:
    """Seconds of the fastest run."""
    times = [run[contender] for run in runs if contender in run]
    return min(times) if times else None


def goal_text(row: Row) -> str:
    """A row's goal for people."""
    goal = row.goal
    parts = [f"<= {ratio:g} x {name}" for name, ratio in goal.most.items()]
    if goal.row:
        parts.append(f"<= {goal.row_ratio:g} x `{goal.row}`")
    if goal.most_ms:
        parts.append(f"<= {goal.most_ms:g} ms")
    return ", ".join(parts)


def reached(row: Row, rows: Mapping[str, Any]) -> bool | None:
    """Whether the row's goal is; None where there is none, or its contender is not."""
    goal, measured = row.goal, rows[row.name]
    if OURS in measured["wrong"]:
        return False
    runs = measured["runs"]
    known = [
        None if (found := ratio_of(runs, name)) is None else found <= ratio
        for name, ratio in goal.most.items()
    ]
    best = best_of(runs, OURS)
    if goal.most_ms and best is not None:
        known.append(best * 1e3 <= goal.most_ms)
    if goal.row and best is not None:
        other = best_of(rows[goal.row]["runs"], OURS) if goal.row in rows else None
        known.append(None if other is None else best <= goal.row_ratio * other)
    if False in known:
        return False
    return None if None in known or not known else True


def cell(measured: Mapping[str, Any], contender: str) -> str:
    """A ratio, or why there is none."""
    if contender in measured["wrong"]:
        return "wrong"
    ratio = ratio_of(measured["runs"], contender)
    if ratio is None:
        theirs = best_of(measured["runs"], contender)
        return "-" if theirs is None else f"({time_text(theirs)})"
    return f"{ratio:.3g}" if ratio < 1000 else f"{ratio:.0f}"


def row_line(row: Row, rows: Mapping[str, Any], names: Sequence[str]) -> str:
    """A line of the table."""
    measured = rows[row.name]
    best = best_of(measured["runs"], OURS)
    ours = "**wrong**" if OURS in measured["wrong"] else time_text(best or 0.0)
    state = reached(row, rows)
    end = "" if state is None else verdict(state)
    cells = [row.name, ours, *(cell(measured, name) for name in names)]
    return f"| {' | '.join([*cells, goal_text(row), end])} |"


def group_line(rows: Mapping[str, Any]) -> list[str]:
    """How many of the group reach Intel's time."""
    group = [row for row in ROWS if row.goal.of_group and row.name in rows]
    ratios = [ratio_of(rows[row.name]["runs"], INTEL) for row in group]
    known = [ratio for ratio in ratios if ratio is not None]
    if len(group) < GROUP_ROWS or not known:
        return []
    count = sum(ratio <= GROUP_RATIO for ratio in known)
    return [
        "",
        f"Of the {len(group)} rows beside Intel and PoCL, {count} are at "
        f"<= {GROUP_RATIO:g} x Intel's time; the goal is {GROUP_ROWS}: "
        f"{verdict(count >= GROUP_ROWS)}.",
    ]


def wrong_lines(rows: Mapping[str, Any]) -> list[str]:
    """What was not timed, because it is wrong."""
    found = [
        f"- **wrong**: `{name}` by {contender}: {text}"
        for name, measured in rows.items()
        for contender, text in measured["wrong"].items()
    ]
    return ["", *found] if found else []


def table(measurement: Mapping[str, Any]) -> str:
    """All rows, in the order of the list."""
    rows, about = measurement["rows"], measurement["about"]
    names = [
        name
        for name in CONTENDERS[1:]
        if any(name in run for measured in rows.values() for run in measured["runs"])
    ]
    heads = ["kernel", OURS, *(f"/ {name}" for name in names), "goal", "reached"]
    lines = [
        f"{about['processor']}, {about['threads']} threads, kernels for "
        f"{about['cpu']}; commit {about['commit']}. "
        f"Our best time; our time to each contender's, median of {about['runs']} runs.",
        "",
        f"| {' | '.join(heads)} |",
        "|---" * len(heads) + "|",
        *(row_line(row, rows, names) for row in ROWS if row.name in rows),
    ]
    for name, how in measurement["missing"].items():
        lines += ["", f"**{name} is left out**: not installed; {how}."]
    return "\n".join([*lines, *group_line(rows), *wrong_lines(rows)])


def growth(new: Mapping[str, Any], old: Mapping[str, Any]) -> float | None:
    """How much slower a row became: the middle of the times and of the ratios.

    A machine that others use changes its speed between two measurements, for all
    contenders alike; and a contender may be unlucky in one of them.
    """
    ours, before = best_of(new["runs"], OURS), best_of(old["runs"], OURS)
    if ours is None or before is None:
        return None
    found = [ours / before]
    for contender in CONTENDERS[1:]:
        now, then = (ratio_of(one["runs"], contender) for one in (new, old))
        if now is not None and then is not None:
            found.append(now / then)
    return statistics.median_low(found)


def slower_rows(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[str]:
    """Names of rows that became slower by more than a tenth."""
    both = [name for name in new["rows"] if name in old["rows"]]
    factors = {name: growth(new["rows"][name], old["rows"][name]) for name in both}
    return [name for name, factor in factors.items() if factor and factor > SLOWER]


def against(new: Mapping[str, Any], old: Mapping[str, Any]) -> tuple[str, int]:
    """Rows that became slower by more than a tenth, faster, or wrong; how many bad."""
    slower, faster, wrong = [], [], []
    for name, measured in new["rows"].items():
        if name not in old["rows"]:
            continue
        before = old["rows"][name]
        if OURS in measured["wrong"] and OURS not in before["wrong"]:
            wrong.append(f"- **wrong**: `{name}`: {measured['wrong'][OURS]}")
        factor = growth(measured, before)
        if factor is not None and factor > SLOWER:
            slower.append(f"- slower: `{name}`, {factor:.2f} x the time")
        if factor is not None and factor < 1 / SLOWER:
            faster.append(f"- faster: `{name}`, {1 / factor:.3g} x the speed")
    head = f"Against commit {old['about']['commit']}, beyond 10 %:"
    lines = [*wrong, *slower, *faster] or ["- nothing"]
    return "\n".join([head, "", *lines]), len(wrong) + len(slower)
