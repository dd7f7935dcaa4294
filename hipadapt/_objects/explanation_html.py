# SPDX-License-Identifier: MIT
"""How an explanation looks in a notebook: its source, with remarks below the lines."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .explanation import Explanation, Remark

_FORMS = {"gang": "#1a7f37", "rows": "#0969da", "reference": "#bc4c00"}
_CELL = "style='text-align:left;vertical-align:top;background:none'"
_CODE = "style='text-align:left;background:none;font-family:monospace;white-space:pre'"


def _row(first: str, kind: str, text: str) -> str:
    return (
        f"<tr style='background:none'><td {_CODE}>{html.escape(first)}</td>"
        f"<td {_CELL}>{html.escape(kind)}</td><td {_CELL}>{html.escape(text)}</td></tr>"
    )


def _where(told: Explanation, remark: Remark) -> str:
    if remark.line is None:
        return ""
    file = "" if remark.file == told.file else f"{remark.file}:"
    text = told.source_line(remark)
    return f"{file}{remark.line}{'  ' if text else ''}{text}"


def explanation_html(told: Explanation) -> str:
    """A heading with the form, and a table of the remarks by line."""
    width = f" of {told.width} lanes" if told.width else ""
    place = f" &nbsp; {html.escape(told.file)}:{told.line}" if told.line else ""
    badge = (
        f"<span style='color:white;background:{_FORMS.get(told.form, '#57606a')};"
        f"border-radius:4px;padding:1px 6px'>{html.escape(told.form + width)}</span>"
    )
    rows: list[str] = []
    last = ""
    for remark in told.remarks:
        where = _where(told, remark)
        rows.append(_row("" if where == last else where, remark.kind, remark.text))
        last = where
    return (
        f"<b>Kernel {html.escape(told.kernel)}</b> {badge}{place}"
        f"<table style='color:inherit'>{''.join(rows)}</table>"
    )
