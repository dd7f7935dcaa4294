# SPDX-License-Identifier: MIT
"""A process that runs cases on request, and the client that talks to it.

The executor and the warp size are read once per process, so each combination has a
worker of its own; it lives for the whole test session.  A case that kills its worker
fails with the worker's exit status and its last words; the next case gets a new one.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import socket
import subprocess
import sys
import tempfile
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from .case import CASES, Check

ANSWER_LIMIT_s = 120


def load_cases() -> None:
    """Import every module of the package `cases`; that fills the table."""
    from . import cases

    for module in pkgutil.iter_modules(cases.__path__):
        importlib.import_module(f"{cases.__name__}.{module.name}")


def environment(
    executor: str, warp_size: int, cache: Path, **more: str
) -> dict[str, str]:
    """The variables that choose the CPU device and one of its executors."""
    return {
        **os.environ,
        "HIPADAPT_PROVIDER": "cpu",
        "HIPADAPT_CPU_EXEC": executor,
        "HIPADAPT_CPU_WARP_SIZE": str(warp_size),
        "HIPADAPT_CACHE_DIR": str(cache),
        **more,
    }


class CaseFailure(AssertionError):
    """The case raised, or its worker died; the text says what happened there."""


class Worker:
    """Client side: starts the process when it is first needed."""

    def __init__(self, environment: dict[str, str], module: str = "") -> None:
        self.environment = environment
        self.module = module or f"{__package__}.worker"  # what the process runs
        self.results: dict[str, list[Check] | str] = {}
        self.process: subprocess.Popen[bytes] | None = None
        self.connection: Connection | None = None
        self.directory = tempfile.TemporaryDirectory(prefix="hipadapt-kernels-")
        self.output = Path(self.directory.name) / "output.txt"
        self.log = Path(self.directory.name) / "log.txt"

    def run(self, name: str) -> list[Check]:
        """Checks of the case; the second request for a case is answered from memory."""
        if name not in self.results:
            self.results[name] = self._ask(name)
        return self._checks(self.results[name])

    def ask(self, name: str, *arguments: Any) -> Any:
        """Checks of a case that takes arguments besides the device.

        A process that runs another module answers as that module says.
        """
        return self._checks(self._ask(name, *arguments))

    @staticmethod
    def _checks(answer: list[Check] | str) -> list[Check]:
        if isinstance(answer, str):
            raise CaseFailure(answer)
        return answer

    def _ask(self, name: str, *arguments: Any) -> list[Check] | str:
        connection = self._connect()
        try:
            connection.send((name, arguments))
            if connection.poll(ANSWER_LIMIT_s):
                return connection.recv()
            ending = f"gave no answer within {ANSWER_LIMIT_s} s"
        except (EOFError, OSError):
            ending = "died"
        assert self.process is not None
        self.process.kill()
        code = self.process.wait()
        words = self.log.read_text(errors="replace")[-2000:]
        self._forget()
        return f"the worker that ran {name} {ending} (exit status {code})\n{words}"

    def _connect(self) -> Connection:
        if self.connection is not None:
            return self.connection
        ours, theirs = socket.socketpair()
        package = __package__ or ""
        root = Path(__file__).parents[package.count(".") + 1]
        path = os.pathsep.join(
            [str(root), *filter(None, [self.environment.get("PYTHONPATH")])]
        )
        with self.output.open("wb") as output, self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-m", self.module),
                    *(str(theirs.fileno()), str(self.output), str(self.log)),
                ],
                env={**self.environment, "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=log,
                pass_fds=[theirs.fileno()],
            )
        theirs.close()
        self.connection = Connection(ours.detach())
        return self.connection

    def _forget(self) -> None:
        if self.connection is not None:
            self.connection.close()
        self.connection = self.process = None

    def close(self) -> None:
        """End the process: it leaves its loop when the connection is closed."""
        process = self.process
        self._forget()
        if process is not None:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.directory.cleanup()


def answer(
    name: str, arguments: tuple[Any, ...], output: Path, log: Path
) -> list[Check] | str:
    """Run one case here; its checks, or the traceback as text."""
    from .gpu import Gpu

    gpu = Gpu(output, log)
    gpu.printed()  # what earlier cases left behind is not this one's
    gpu.logged()
    try:
        return list(CASES[name].function(gpu, *arguments))
    except Exception:
        text = traceback.format_exc()
        gpu.reset()  # a sticky error must not reach the next case
        return text
    finally:
        gpu.close()


def serve(descriptor: int, output: Path, log: Path) -> None:
    """Answer requests until the client closes the connection."""
    load_cases()
    connection = Connection(descriptor)
    while True:
        try:
            name, arguments = connection.recv()
        except EOFError:
            return
        connection.send(answer(name, arguments, output, log))


if __name__ == "__main__":
    serve(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
