# SPDX-License-Identifier: MIT
"""A process that runs twins on request, and tells what was found in them.

HIPADAPT_CHECK and HIPADAPT_CPU_THREADS are read once per process, so each combination
has a process of its own (tests/kernels/worker.py).
"""

from __future__ import annotations

import os
import sys
import traceback
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from hipadapt._check.kinds import CHECKS, OPTIONS
from tests.kernels.case import Check
from tests.kernels.worker import Worker, environment

from .pair import PAIRS, load_pairs

if TYPE_CHECKING:
    from .finding import Finding

KERNEL_LIMIT_s = 10
OFFERED = {"all", *CHECKS, *OPTIONS}


@dataclass
class Report:
    """What came of one twin."""

    checks: list[Check] = field(default_factory=list)
    failure: str = ""  # of a HIP call: what it answered
    findings: list[Finding] = field(default_factory=list)


def client(cache: Path, check: str, threads: int) -> Worker:
    """A process that checks kernels for `check`; an empty text: without checks.

    Words that the device does not offer yet are left out.
    """
    check = ",".join(word for word in check.split(",") if word in OFFERED)
    settings = {
        "HIPADAPT_CPU_THREADS": str(threads),
        "HIPADAPT_KERNEL_TIMEOUT": str(KERNEL_LIMIT_s),
        "HIPADAPT_CHECK": f"{check},quiet" if check else "",
    }
    return Worker(environment("fast", 32, cache, **settings), __name__)


def report(name: str, wrong: bool) -> Report:
    """Run one twin here."""
    from tests.kernels.gpu import HipFailure

    from .twin import Twin

    checked = bool(os.environ["HIPADAPT_CHECK"])
    result = Report()
    if checked:
        from . import finding

        finding.clear()
    twin = Twin(PAIRS[name], wrong)
    try:
        for check in PAIRS[name].function(twin) or ():
            result.checks.append(check)
        twin.wait()
    except HipFailure as failure:
        result.failure = str(failure)
    if checked:
        result.findings = finding.findings()
    if result.failure:
        twin.reset()  # a sticky error must not reach the next one
    twin.close()
    return result


def serve(descriptor: int) -> None:
    """Answer requests until the client closes the connection."""
    load_pairs()
    connection = Connection(descriptor)
    while True:
        try:
            name, (wrong,) = connection.recv()
        except EOFError:
            return
        try:
            answer: Report | str = report(name, wrong)
        except Exception:
            answer = traceback.format_exc()
        connection.send(answer)


if __name__ == "__main__":
    # Pickled reports name this module as others import it.
    from tests.checks.client import serve as serve_imported

    serve_imported(int(sys.argv[1]))
