# SPDX-License-Identifier: MIT
"""How findings look in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .finding import Finding, Side
    from .findings import Findings

_SHOWN = 50  # findings of a list
# Colours are the page's, dark or light, but for marks.
_MARK = "background:#d62728;color:white"
_BOX = "border-left:3px solid #d62728;padding:0 0 0 0.8em;margin:0.5em 0"
_CODE = "margin:0.2em 0;background:none"


def _source(side: Side) -> str:
    """The line, with a mark at the column."""
    if not (side.line and side.text):
        return ""
    raw = side.text.encode()
    before, at = raw[: max(side.column - 1, 0)], raw[max(side.column - 1, 0) :]
    left, right = (part.decode(errors="replace") for part in (before, at))
    if side.column and right:
        shown = (
            f"{escape(left)}<span style='{_MARK}'>{escape(right[0])}</span>"
            f"{escape(right[1:])}"
        )
    else:
        shown = escape(side.text)
    return f"<pre style='{_CODE}'>{side.line:5} | {shown}</pre>"


def finding_html(finding: Finding) -> str:
    """Kind, message and place; the report can be unfolded."""
    times = f", {finding.count} times" if finding.count > 1 else ""
    sides = [finding.here, finding.other]
    return (
        f"<div style='{_BOX}'><b>{escape(finding.kind)}</b>: {escape(finding.message)}"
        f"<br><code style='background:none'>{escape(finding.here.place)}</code> "
        f"{escape(finding.here.kernel or finding.here.call)}{times}"
        + "".join(_source(side) for side in sides if side is not None)
        + f"<details><summary>report</summary><pre style='{_CODE}'>"
        f"{escape(finding.report)}</pre></details></div>"
    )


def findings_html(findings: Findings) -> str:
    """Each finding, and the summary."""
    shown = "".join(finding_html(finding) for finding in findings[:_SHOWN])
    more = len(findings) - _SHOWN
    if more > 0:
        shown += f"<p>and {more} more</p>"
    return f"{shown}<p>{escape(str(findings.summary))}</p>"
