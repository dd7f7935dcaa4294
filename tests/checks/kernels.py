# SPDX-License-Identifier: MIT
"""A process that runs kernels of a source under check, and tells what was found.

For random tests: kernels that are not in a file, each with arrays of its own.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tests.kernels.worker import Worker, environment

if TYPE_CHECKING:
    from .finding import Finding

KERNEL_LIMIT_s = 10


@dataclass
class Run:
    """One launch: blocks of so many lanes; the kernel takes arrays alone."""

    kernel: str
    blocks: int
    lanes: int
    arrays: Sequence[np.ndarray]


@dataclass
class Outcome:
    """What came of it; `arrays` are as the kernel left them, unless it failed."""

    failure: str = ""
    findings: list[Finding] = field(default_factory=list)
    arrays: list[np.ndarray] = field(default_factory=list)


def client(cache: Path, check: str, executor: str = "fast") -> Worker:
    """A process whose answers are a list of outcomes for each request.

    It takes ask(name of the file, source, runs).
    """
    settings = {
        "HIPADAPT_CPU_THREADS": "2",
        "HIPADAPT_KERNEL_TIMEOUT": str(KERNEL_LIMIT_s),
        "HIPADAPT_CHECK": f"{check},quiet" if check else "",
    }
    return Worker(environment(executor, 32, cache, **settings), __name__)


def outcomes(name: str, source: str, runs: Sequence[Run]) -> list[Outcome]:
    """All the runs, one after the other, here."""
    from tests.kernels.gpu import Gpu, HipFailure

    from . import finding

    gpu = Gpu()
    module = None
    results = []
    for run in runs:
        result = Outcome()
        finding.clear()
        try:
            if module is None:
                module = gpu.build(source, file=name)
            memory = [gpu.upload(array) for array in run.arrays]
            gpu.launch(module.function(run.kernel), run.blocks, run.lanes, memory)
            gpu.wait()
            pairs = zip(memory, run.arrays, strict=True)
            result.arrays = [gpu.download(at, like) for at, like in pairs]
        except HipFailure as failure:
            result.failure = str(failure)
            gpu.reset()  # the error is sticky; compiled code comes from the cache
            module = None
        result.findings = finding.findings()
        results.append(result)
    gpu.close()
    return results


def serve(descriptor: int) -> None:
    """Answer requests until the client closes the connection."""
    connection = Connection(descriptor)
    while True:
        try:
            name, (source, runs) = connection.recv()
        except EOFError:
            return
        try:
            answer: list[Outcome] | str = outcomes(name, source, runs)
        except Exception:
            answer = traceback.format_exc()
        connection.send(answer)


if __name__ == "__main__":
    # Pickled outcomes name this module as others import it.
    from tests.checks.kernels import serve as serve_imported

    serve_imported(int(sys.argv[1]))
