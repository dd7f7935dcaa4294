# SPDX-License-Identifier: MIT
"""A process that runs the cases of tests/kernels under check, and tells what is found."""

from __future__ import annotations

import sys
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.kernels.case import CASES
from tests.kernels.worker import Worker, environment, load_cases


def client(cache: Path, warp_size: int) -> Worker:
    settings = {"HIPADAPT_CHECK": "all,quiet", "HIPADAPT_KERNEL_TIMEOUT": "60"}
    return Worker(environment("fast", warp_size, cache, **settings), __name__)


def found_in(name: str, arguments: tuple[Any, ...]) -> list[str]:
    """What is found while one case runs."""
    from tests.kernels.gpu import Gpu

    from . import finding

    gpu = Gpu(Path("/dev/null"), Path("/dev/null"))
    finding.clear()
    try:
        list(CASES[name].function(gpu, *arguments))
        gpu.wait()
        return [str(found) for found in finding.findings()]
    except Exception:
        gpu.reset()  # a sticky error must not reach the next case
        raise
    finally:
        gpu.close()


def serve(descriptor: int) -> None:
    """Answer requests until the client closes the connection."""
    load_cases()
    connection = Connection(descriptor)
    while True:
        try:
            name, arguments = connection.recv()
        except EOFError:
            return
        try:
            answer: Any = found_in(name, arguments)
        except Exception:
            answer = traceback.format_exc()
        connection.send(answer)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
