# SPDX-License-Identifier: MIT
"""Other users: what they ask for is refused.  Needs root, to become one of them."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import dynolog
from tests.unit.profile.test_attach import ON_DEMAND
from tests.unit.profile.test_daemon import QUICK, busy, folder, until

__all__ = ["folder"]  # a fixture

NOBODY = 65534

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="NOT TESTED: only root can become another user"
)


def as_nobody(action: Callable[[], bool]) -> bool:
    """What the action says in a process of another user."""
    child = os.fork()
    if child == 0:
        status = 2
        try:
            os.setuid(NOBODY)
            status = 0 if action() else 1
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_caller_of_another_user_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "log"
    # Given: a program that is nobody's caller, for root may call anyone.
    with busy(ON_DEMAND, log) as program:

        def ask() -> bool:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
                line.settimeout(30)
                line.connect(f"\0hipadapt-profile-{program.pid}")
                return line.recv(4096).startswith(b"refused\0the process belongs to")

        assert as_nobody(ask)
    assert f"of user {NOBODY} asked for a profile, and is refused" in log.read_text()


def test_datagram_of_another_user_is_thrown_away(folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    folder.chmod(0o711)
    text = f"ACTIVITIES_LOG_FILE={tmp_path}/t.json\n{QUICK}".encode()
    datagram = struct.pack("=Q32s", len(text), b"req") + text
    with dynolog.daemon(folder) as daemon:
        with busy(dynolog.settings(folder, tmp_path), log) as program:
            client = daemon.request_of(program.pid).client

            def send() -> bool:
                with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
                    return line.sendto(datagram, client) == len(datagram)

            assert as_nobody(send)
            until(lambda: f"user {NOBODY} sent it" in log.read_text())
            assert daemon.request_of(program.pid).kinds == 3

    assert not list(tmp_path.glob("t_*"))
