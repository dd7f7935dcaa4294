# SPDX-License-Identifier: MIT
"""What the CPU device decided about a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .. import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .kernel import Kernel
    from .program import Program

__all__ = ["Explanation", "Remark"]

_RECORD = "-fhipadapt-explain"
_KINDS_OF_BACK_END = ("vector", "spill", "frame")


class Remark(NamedTuple):
    """One thing that was decided, or found out."""

    kind: str
    """form, refused, region, kept, barrier, loop, branch, access, atomic, call, hint,
    vector, spill or frame."""
    text: str
    line: int | None
    """Of the source; None where the remark is about the whole kernel."""
    file: str
    """The file that the line is in; ``""`` where there is no line."""


class Explanation:
    """What the CPU device decided about a kernel; `Kernel.explain` gives it.

    Printed, it is text with the lines of the source; in a notebook it is a table.

    Attributes
    ----------
    kernel : str
        Name of the kernel.
    form : str
        ``"gang"``, ``"rows"`` or ``"reference"``: what runs it, unless `remarks` of
        the kind ``form`` say otherwise of a launch.
    width : int
        Lanes of a gang, 0 for other forms.
    file : str
    line : int or None
        Where the kernel is; ``""`` and None where the code does not tell.
    remarks : tuple of Remark
        In the order in which they are shown.

    Examples
    --------
    >>> import hipadapt
    >>> kernel = hipadapt.compile_kernel('''
    ... extern "C" __global__ void third(float *x, int n) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) x[3 * i] = 1;
    ... }''', "third")
    >>> told = kernel.explain()
    >>> told.form
    'rows'
    >>> [(r.line, r.text) for r in told.of("access")]
    [(4, "stores 4 bytes a lane of 'x', 12 bytes apart")]
    """

    def __init__(self, kernel: str, report: str, source: str | None = None) -> None:
        """`report` is the text of csrc/cpu/compile/report.h."""
        rows = [line.split("\t", 2) for line in report.splitlines()]
        place, _, what = next(row for row in rows if row[1] == "kernel")
        words = what.split()
        self.kernel = kernel
        self.form = words[0]
        self.width = int(words[1]) if len(words) > 1 else 0
        self.file, self.line = _place(place, "")
        self.remarks = tuple(
            Remark(kind, text, line, file)
            for at, kind, text in rows
            if kind != "kernel"
            for file, line in [_place(at, self.file)]
        )
        self._source = source.splitlines() if source is not None else []

    def of(self, kind: str) -> tuple[Remark, ...]:
        """The remarks of a kind."""
        return tuple(remark for remark in self.remarks if remark.kind == kind)

    @property
    def is_complete(self) -> bool:
        """Whether it has what the back end told: vectors, spills, the stack."""
        return any(remark.kind in _KINDS_OF_BACK_END for remark in self.remarks)

    def source_line(self, remark: Remark) -> str:
        """The text of the remark's line; ``""`` where it is not known."""
        if remark.line is None or remark.file != self.file:
            return ""
        known = 0 < remark.line <= len(self._source)
        return self._source[remark.line - 1].strip() if known else ""

    def __str__(self) -> str:
        width = f" of {self.width} lanes" if self.width else ""
        place = f", {self.file}:{self.line}" if self.line else ""
        lines = [f"{self.kernel}: {self.form}{width}{place}"]
        last: tuple[str, int | None] = ("", None)
        for remark in self.remarks:
            at = (remark.file, remark.line)
            if remark.line is not None and at != last:
                file = "" if remark.file == self.file else f"{remark.file} "
                text = self.source_line(remark)
                lines.append(f"  {file}line {remark.line}{': ' if text else ''}{text}")
            last = at
            indent = "    " if remark.line is not None else "  "
            lines.append(f"{indent}{remark.kind}: {remark.text}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        width = f" {self.width}" if self.width else ""
        return (
            f"<Explanation {self.kernel}: {self.form}{width}, "
            f"{len(self.remarks)} remarks>"
        )

    def _repr_html_(self) -> str:
        from .explanation_html import explanation_html

        return explanation_html(self)


def _place(text: str, file: str) -> tuple[str, int | None]:
    """ "12", "other.h:12" or "": file and line."""
    name, _, line = text.rpartition(":")
    return (name or file, int(line)) if line else ("", None)


def explain(
    kernel: Kernel, made_by: tuple[Program, Sequence[str]] | None
) -> Explanation | None:
    """For `Kernel.explain`; `made_by` is what the kernel's module was compiled of."""
    report = _core.kernel_report(kernel.function)
    if report is None:
        return None
    source = made_by[0].source if made_by is not None else None
    told = Explanation(kernel.name, report, source)
    if told.is_complete or made_by is None:
        return told
    program, words = made_by
    with program._load([*words, _RECORD], kernel.module.device.ordinal) as again:
        report = _core.kernel_report(again.kernel(kernel.name).function)
    return Explanation(kernel.name, report or "", source)
