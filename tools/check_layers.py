# SPDX-License-Identifier: MIT
"""Which room of csrc may include which: arrows point downwards only.

The table is that of tools/rooms.py.  `python -m tools.check_layers` prints one line for
each include that breaks it, as file:line, and exits with 1 if there is any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.rooms import ROOMS, room_of

ROOT = Path(__file__).resolve().parent.parent
PYTHON_HEADERS = frozenset({"Python.h", "structmember.h", "frameobject.h"})
# Code that runs in kernels: compiled by the device, with include rules of its own.
DEVICE_HEADERS = Path("cpu", "device")

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(text: str) -> Iterator[tuple[int, bool, str]]:
    """Yields (line number, in quotes, name) of each include; comments don't count."""
    bare = re.sub(
        r"/\*.*?\*/", lambda match: "\n" * match.group().count("\n"), text, flags=re.S
    )
    for number, line in enumerate(bare.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == '"', match.group(2)


def fault(room: str, quoted: bool, name: str) -> str | None:
    """What is wrong with this include in that room, or None."""
    if Path(name).name in PYTHON_HEADERS:
        if not ROOMS[room].python:
            return f"{room}/ may not include {name}: it is plain C"
        return None
    if not quoted:
        return None
    target = room_of(Path(name))
    if target is None:
        return f'"{name}" is not included by room path, such as "core/status.h"'
    if target != room and target not in ROOMS[room].may_include:
        lower = ", ".join(sorted(ROOMS[room].may_include)) or "nothing"
        return f'{room}/ may not include "{name}": below it is {lower}'
    return None


def check(csrc: Path) -> list[str]:
    """All faults under `csrc`, as "path:line: text"."""
    faults = []
    for path in sorted(csrc.rglob("*")):
        place = path.relative_to(csrc)
        if path.suffix not in (".c", ".h", ".S") or DEVICE_HEADERS in place.parents:
            continue
        room = room_of(place)
        if room is None:
            faults.append(f"csrc/{place}:1: its folder is no room of tools/rooms.py")
            continue
        for number, quoted, name in includes(path.read_text(encoding="utf-8")):
            text = fault(room, quoted, name)
            if text is not None:
                faults.append(f"csrc/{place}:{number}: {text}")
    return faults


def main() -> int:
    """Prints the faults of this tree."""
    faults = check(ROOT / "csrc")
    print("\n".join(faults), end="\n" if faults else "", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
