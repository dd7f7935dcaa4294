# SPDX-License-Identifier: MIT
"""A stand-in of dynolog's daemon: its datagrams, as libkineto and hipadapt take them."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ABSTRACT = "\0dynolog\0"
LIMIT_S = 60.0


class Request(NamedTuple):
    """What a process asks; `client` is its address."""

    kinds: int
    job: int
    pids: tuple[int, ...]
    client: str | bytes


class Daemon:
    """Answers one message after the other, when a test asks it to."""

    def __init__(self, name: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(name)
        self.contexts: list[tuple[int, int, int]] = []

    def send(self, client: str | bytes, kind: str, payload: bytes) -> None:
        self.raw(client, struct.pack("=Q32s", len(payload), kind.encode()) + payload)

    def raw(self, client: str | bytes, datagram: bytes) -> None:
        with contextlib.suppress(ConnectionRefusedError, FileNotFoundError):
            self.socket.sendto(datagram, client)  # it may have ended

    def next_request(self, limit: float = LIMIT_S) -> Request:
        """The next "req"; registrations are answered on the way."""
        end = time.monotonic() + limit
        while True:
            self.socket.settimeout(max(0.01, end - time.monotonic()))
            data, client = self.socket.recvfrom(1 << 16)
            size, kind = struct.unpack_from("=Q32s", data)
            assert size == len(data) - 40
            if kind.rstrip(b"\0") == b"ctxt":
                self.contexts.append(struct.unpack_from("=iiq", data, 40))
                self.send(client, "ctxt", struct.pack("=i", len(self.contexts)))
                continue
            assert kind.rstrip(b"\0") == b"req"
            kinds, count, job = struct.unpack_from("=iiq", data, 40)
            assert size == 16 + 4 * count
            return Request(
                kinds, job, struct.unpack_from(f"={count}i", data, 56), client
            )

    def request_of(self, pid: int) -> Request:
        """The next one of this process; the others get an empty answer."""
        while (asked := self.next_request()).pids[0] != pid:
            self.send(asked.client, "req", b"")
        return asked

    def deliver(self, pid: int, text: str, trace: int = 4711) -> None:
        """Hands the configuration text out as the daemon does, to who can trace."""
        while not (asked := self.request_of(pid)).kinds & 2:
            self.send(asked.client, "req", b"")
        config = f"\n    {text}\n    REQUEST_TRACE_ID={trace}\n"
        self.send(asked.client, "req", config.encode())


@contextmanager
def daemon(folder: Path | None) -> Iterator[Daemon]:
    """One that listens in this folder, or by the abstract name."""
    running = Daemon(ABSTRACT if folder is None else str(folder / "dynolog"))
    try:
        yield running
    finally:
        running.socket.close()
        if folder is not None:
            (folder / "dynolog").unlink()


def settings(folder: Path | None, traces: Path, poll_ms: int = 20) -> dict[str, str]:
    """The environment of a program that listens to it."""
    base = traces / "base.conf"
    base.write_text(
        f"ON_DEMAND_CONFIG_UPDATE_INTERVAL_MSECS={poll_ms}\n" if poll_ms else ""
    )
    return {
        **os.environ,
        "KINETO_USE_DAEMON": "1",
        "KINETO_CONFIG": str(base),
        "KINETO_ONDEMAND_TRACE_DIR": str(traces),
        "KINETO_IPC_SOCKET_DIR": "" if folder is None else str(folder),
    }
