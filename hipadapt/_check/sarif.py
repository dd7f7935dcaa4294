# SPDX-License-Identifier: MIT
"""Findings as SARIF 2.1.0: what GitHub's code scanning and editors read."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .finding import Finding, Side
from .kinds import KINDS, Kind

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
    "sarif-schema-2.1.0.json"
)
_ROOT = "%SRCROOT%"  # the folder that relative paths start from
_FRAME = re.compile(r"\s*(?P<file>[^:]+):(?P<line>[1-9]\d*)\b")  # "train.py:12 in main"
_NOTES = ("leak", "equal-race", "left-barrier")


def _rule(kind: Kind) -> dict[str, Any]:
    text = kind.text[0].upper() + kind.text[1:] + "."
    return {
        "id": kind.name,
        "name": "".join(part.capitalize() for part in kind.name.split("-")),
        "shortDescription": {"text": text},
        "fullDescription": {"text": f"{text} {kind.advice}".strip()},
        "help": {"text": kind.advice or text},
        "defaultConfiguration": {
            "level": "warning" if kind.name in _NOTES else "error"
        },
        "properties": {"tags": ["hip", kind.word], "precision": "very-high"},
    }


def _artifact(file: str, root: str) -> dict[str, Any]:
    """Relative to `root` where it lies there."""
    path = os.path.normpath(os.path.join(root, file))
    inside = os.path.relpath(path, root)
    if inside == ".." or inside.startswith("../"):
        return {"uri": "file://" + quote(path)}
    return {"uri": quote(inside), "uriBaseId": _ROOT}


def _column(side: Side) -> int:
    """In characters; the device counts bytes."""
    before = side.text.encode()[: side.column - 1]
    return len(before.decode(errors="ignore")) + 1


def _place(side: Side) -> tuple[str, dict[str, Any]] | None:
    """File and region; of the host, the innermost frame that has one."""
    if side.file:
        region: dict[str, Any] = {"startLine": max(side.line, 1)}
        if side.line and side.column:
            region["startColumn"] = _column(side)
        if side.line and side.text:
            region["snippet"] = {"text": side.text}
        return side.file, region
    for frame in side.stack:
        found = _FRAME.match(frame)
        if found:
            return found["file"], {"startLine": int(found["line"])}
    return None


def _location(side: Side, root: str, fallback: str | None) -> dict[str, Any] | None:
    place = _place(side)
    if place is None:
        if fallback is None:
            return None
        place = fallback, {"startLine": 1}
    made: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": _artifact(place[0], root),
            "region": place[1],
        }
    }
    name = side.kernel or side.call
    if name:
        made["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "function"}]
    return made


def _fingerprint(finding: Finding) -> str:
    """The same after lines were put in above."""
    parts = [finding.kind]
    for side in (finding.here, finding.other):
        if side is not None:
            parts += [side.file, side.text.strip(), side.kernel, side.call]
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:32]


def _result(
    finding: Finding, rules: list[str], root: str, program: str
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "ruleId": finding.kind,
        "ruleIndex": rules.index(finding.kind),
        "level": "warning" if finding.kind in _NOTES else "error",
        "message": {"text": finding.report or finding.message},
        "locations": [_location(finding.here, root, program)],
        "occurrenceCount": max(finding.count, 1),
        "partialFingerprints": {"hipadaptFinding/v1": _fingerprint(finding)},
    }
    other = finding.other and _location(finding.other, root, None)
    if other:
        made["relatedLocations"] = [
            {**other, "id": 1, "message": {"text": "the other side"}}
        ]
    return made


def sarif_of(findings: Iterable[Finding], program: str) -> dict[str, Any]:
    """The whole log, of one run."""
    found = list(findings)
    kinds = dict(KINDS)
    for finding in found:
        kinds.setdefault(finding.kind, finding.about)
    rules, root = list(kinds), os.getcwd()
    driver = {
        "name": "hipadapt check",
        "version": version("hipadapt"),
        "rules": [_rule(kind) for kind in kinds.values()],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": Path(root).as_uri() + "/"}},
        "results": [_result(finding, rules, root, program) for finding in found],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
