# SPDX-License-Identifier: MIT
"""Findings of a block, a process or a program, with what was looked at."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .finding import Finding


@dataclass(frozen=True)
class Summary:
    """What was checked, and what was not."""

    kinds: tuple[str, ...] = ()
    """Words of HIPADAPT_CHECK."""
    findings: int = 0
    """That differ."""
    counted: int = 0
    """With those that are equal."""
    dropped: int = 0
    """That are not in the list, because there were too many."""
    launches: int = 0
    """Launches with checks."""
    unchecked: int = 0
    """Launches without: their kernels were compiled before."""
    observed: int = 0
    """Accesses that were looked at when they were made."""
    proved: int = 0
    """Accesses that were proved right when their kernel was launched."""

    def __str__(self) -> str:
        """As the device prints it at the end of a process."""
        made = f", made {self.counted} times" if self.counted > self.findings else ""
        lost = f", {self.dropped} not kept" if self.dropped else ""
        return (
            f"{self.findings} finding{'' if self.findings == 1 else 's'}{made}{lost}; "
            f"{self.launches} launch{'' if self.launches == 1 else 'es'} checked, "
            f"{self.unchecked} not checked; {self.observed} accesses observed, "
            f"{self.proved} proved; checked for {','.join(self.kinds) or 'nothing'}"
        )


class Findings(list[Finding]):
    """A list of `Finding`, with a summary and texts for other programs.

    It is empty, and false, where nothing was found.
    """

    summary: Summary
    """What was checked, and what was not."""

    def __init__(
        self, findings: Iterable[Finding] = (), summary: Summary | None = None
    ) -> None:
        super().__init__(findings)
        self.summary = summary or Summary()

    def json(self) -> str:
        """One object of JSON: ``summary``, and ``findings`` as a list."""
        return json.dumps(
            {
                "summary": dataclasses.asdict(self.summary),
                "findings": [_plain(finding) for finding in self],
            },
            indent=2,
        )

    def sarif(self, program: str = "program") -> str:
        """SARIF 2.1.0, for code scanning.

        Parameters
        ----------
        program : str
            Where findings stand that have no place in a file.
        """
        from .sarif import sarif_of

        return json.dumps(sarif_of(self, program), indent=2)

    def __str__(self) -> str:
        """All reports, how often they were made, and the summary."""
        parts = [str(finding) for finding in self]
        parts += again_lines(self)
        return "\n".join([*parts, f"hipadapt check: {self.summary}"])

    def _repr_html_(self) -> str:
        from .html import findings_html

        return findings_html(self)


def again_lines(findings: Iterable[Finding]) -> list[str]:
    """How often findings were made, where that was more than once."""
    return [
        f"  {finding.count} times: {finding.headline()}"
        for finding in findings
        if finding.count > 1
    ]


def _plain(finding: Finding) -> dict[str, Any]:
    """As the device writes it: addresses are texts, since numbers have 53 bits."""
    made = dataclasses.asdict(finding)
    made["address"] = hex(finding.address)
    if finding.memory is not None:
        made["memory"]["base"] = hex(finding.memory.base)
    return made
