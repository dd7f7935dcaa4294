# SPDX-License-Identifier: MIT
"""A process that runs random kernels under check: what they logged, what was found."""

from __future__ import annotations

import os
import sys
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.kernels.worker import Worker, environment

from .race_program import BYTES, FLAGS, LOGS, Kernel, kernel_of, source_of

if TYPE_CHECKING:
    from .finding import Finding

COUNT = 12  # kernels a module
FILE = "races.hip"


def client(cache: Path, option: str, warp_size: int) -> Worker:
    settings = {
        "HIPADAPT_CHECK": ",".join(filter(None, ("race,quiet", option))),
        "HIPADAPT_KERNEL_TIMEOUT": "20",
        "RACE_OPTION": option,
    }
    return Worker(environment("fast", warp_size, cache, **settings), __name__)


def kernels_of(seed: int, warp_size: int, option: str) -> list[Kernel]:
    """The kernels of a seed."""
    return [
        kernel_of(seed * COUNT + number, f"k{number}", warp_size, option)
        for number in range(COUNT)
    ]


def results_of(seed: int, warp_size: int) -> list[tuple[Any, list[Finding]]]:
    """Of each kernel: what its lanes logged, and what was found."""
    from tests.kernels.gpu import Gpu

    from . import finding

    gpu = Gpu()
    kernels = kernels_of(seed, warp_size, os.environ["RACE_OPTION"])
    module = gpu.build(source_of(kernels), file=FILE)
    answers: list[tuple[Any, list[Finding]]] = []
    for kernel in kernels:
        lanes = kernel.blocks * kernel.lanes
        memory = [np.zeros(BYTES, np.uint8), np.zeros(FLAGS, np.uint32)]
        memory.append(np.zeros((lanes, LOGS), np.uint32))
        places = [gpu.upload(array) for array in memory]
        finding.clear()
        gpu.launch(
            *(module.function(kernel.name), kernel.blocks, kernel.lanes, places),
            shared=BYTES,
            cooperative=kernel.cooperative,
        )
        gpu.wait()
        notes = gpu.download(places[2], memory[2])
        answers.append((notes, finding.findings()))
    gpu.close()
    return answers


def serve(descriptor: int) -> None:
    """Answer requests until the client closes the connection."""
    connection = Connection(descriptor)
    while True:
        try:
            _, (seed, warp_size) = connection.recv()
        except EOFError:
            return
        try:
            answer: Any = results_of(seed, warp_size)
        except Exception:
            answer = traceback.format_exc()
        connection.send(answer)


if __name__ == "__main__":
    from tests.checks.race_client import serve as serve_imported

    serve_imported(int(sys.argv[1]))
