# SPDX-License-Identifier: MIT
"""``python -m hipadapt trace attach``: records a process that runs already."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import socket
import struct
import sys
from pathlib import Path
from typing import NamedTuple

HELP = "record a process that runs, into a file"
TEXT = (
    "Asks a process of this user to record what it does on devices, for a while. The "
    "process must listen: it was started with HIPADAPT_PROFILE=on-demand and has "
    "used HIP, or it has called hipadapt.profile.listen(). The exit status is 1 if the "
    "trace was to have kernels and has none, and 2 if nothing could be recorded."
)
EXAMPLE = "example: python -m hipadapt trace attach 1234 --duration 300ms -o trace.json"

EMPTY, REFUSED = 1, 2
CONNECT_LIMIT_S = 10.0
FINISH_LIMIT_S = 600.0
PACKET_BYTES = 1 << 16
FORMATS = (".json", ".json.gz", ".pftrace")


class AttachError(Exception):
    """Nothing was recorded; the text is a sentence."""


class Result(NamedTuple):
    """What the process says at the end."""

    message: str
    url: str
    empty: str
    events: int
    kernels: int
    lost_events: int
    out_of_window_events: int
    bytes: int


UNITS_MS = {"ms": 1, "s": 1000, "m": 60000}


def length_ms(text: str) -> int:
    """Argument type: a time as 300ms, 1.5s or 2m, in milliseconds."""
    found = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)(ms|s|m)", text)
    value = float(found[1]) * UNITS_MS[found[2]] if found else 0.5
    if value != int(value) or value > 2**31 - 1:
        raise argparse.ArgumentTypeError(
            f"needs a time of whole milliseconds, as 300ms, 2s or 1m, not {text!r}"
        )
    return int(value)


def process(text: str) -> int:
    """Argument type: the number of a process."""
    if not re.fullmatch("[1-9][0-9]{0,9}", text):
        raise argparse.ArgumentTypeError(f"needs the number of a process, not {text!r}")
    return int(text)


def trace_file(text: str) -> Path:
    """Argument type: a file whose suffix says a format."""
    if not text.endswith(FORMATS):
        raise argparse.ArgumentTypeError(
            f"needs a name that ends in {', '.join(FORMATS)}, not {text!r}"
        )
    if set(text) & set("=#\n\0") or text != text.strip():
        raise argparse.ArgumentTypeError(
            f"needs a name without =, #, line ends and outer spaces, not {text!r}"
        )
    return Path(os.path.abspath(text))


def add(parser: argparse.ArgumentParser) -> None:
    """Arguments of the subcommand."""
    parser.add_argument("pid", type=process, metavar="PID")
    parser.add_argument(
        "-o", "--output", type=trace_file, required=True, metavar="FILE"
    )
    parser.add_argument(
        "--duration",
        type=length_ms,
        default=500,
        metavar="TIME",
        help="how long, as 300ms, 2s or 1m (default: 500ms)",
    )
    parser.add_argument(
        "--warmup",
        type=length_ms,
        default=0,
        metavar="TIME",
        help="how long to watch before, in whole seconds (default: 0s)",
    )
    parser.add_argument(
        "--activities",
        metavar="NAMES",
        help="what is recorded, as kernel,gpu_memcpy (default: all but memory)",
    )


def configuration(choices: argparse.Namespace) -> str:
    """The request, as libkineto's text."""
    if choices.warmup % 1000 != 0:
        raise AttachError(f"--warmup needs whole seconds, not {choices.warmup}ms")
    lines = [
        f"ACTIVITIES_LOG_FILE={choices.output}",
        f"ACTIVITIES_DURATION_MSECS={choices.duration}",
        f"ACTIVITIES_WARMUP_PERIOD_SECS={choices.warmup // 1000}",
        "ACTIVITIES_ITERATIONS=0",
        "PROFILE_START_TIME=0",
    ]
    if choices.activities is not None:
        if set(choices.activities) & set("=#\n\0"):
            raise AttachError("--activities needs names with commas between them")
        lines.append(f"ACTIVITY_TYPES={choices.activities}")
    return "\n".join(lines) + "\n"


def connect(pid: int) -> socket.socket:
    """The process's socket, which is really its own."""
    if not os.path.exists(f"/proc/{pid}"):
        raise AttachError(f"there is no process {pid}")
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.settimeout(CONNECT_LIMIT_S)
    try:
        line.connect(f"\0hipadapt-profile-{pid}")
        credentials = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        owner, user, _group = struct.unpack("=iII", credentials)
        if owner != pid or (os.geteuid() != 0 and user != os.geteuid()):
            raise AttachError(
                f"process {owner} of user {user} listens in the place of process {pid}"
            )
    except (ConnectionRefusedError, FileNotFoundError):
        line.close()
        raise AttachError(
            f"process {pid} does not listen: start it with HIPADAPT_PROFILE=on-demand "
            "(it listens from its first call of HIP on), or let it call "
            "hipadapt.profile.listen(); a forked child of a program that has used HIP "
            "cannot be recorded"
        ) from None
    except TimeoutError:
        line.close()
        raise AttachError(f"process {pid} does not answer") from None
    except BaseException:
        line.close()
        raise
    return line


def fields(line: socket.socket, pid: int) -> list[str]:
    """The next answer."""
    try:
        packet = line.recv(PACKET_BYTES)
    except TimeoutError:
        raise AttachError(f"process {pid} does not answer") from None
    except ConnectionResetError:
        packet = b""
    if not packet:
        raise AttachError(f"process {pid} has ended, or has forked and closed the line")
    words = packet.split(b"\0")[:-1]
    kind, *rest = [os.fsdecode(word) for word in words]
    if kind == "refused":
        raise AttachError(f"process {pid} refuses: {rest[0] if rest else 'no reason'}")
    return [kind, *rest]


def record(pid: int, text: str, seconds: float) -> Result:
    """Asks, and waits for the end of the recording."""
    with connect(pid) as line:
        # It may have refused before it was asked.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            line.send(os.fsencode(text))
        fields(line, pid)
        line.settimeout(seconds + FINISH_LIMIT_S)
        _over, message, url, empty, *numbers = fields(line, pid)
        return Result(message, url, empty, *map(int, numbers))


def tell(result: Result) -> int:
    """Prints the result; the exit status."""
    if result.message:
        raise AttachError(f"the recording failed: {result.message}")
    print(
        f"{result.url}: {result.kernels} kernels, {result.events} events, "
        f"{result.lost_events} lost, {result.out_of_window_events} out of the window, "
        f"{result.bytes} bytes"
    )
    if not result.empty:
        return 0
    print(f"hipadapt trace attach: {result.empty}", file=sys.stderr)
    return EMPTY


def main(choices: argparse.Namespace) -> int:
    """Record, and say what became of it."""
    try:
        text = configuration(choices)
        seconds = (choices.duration + choices.warmup) / 1000
        return tell(record(choices.pid, text, seconds))
    except AttachError as error:
        print(f"hipadapt trace attach: {error}", file=sys.stderr)
        return REFUSED
