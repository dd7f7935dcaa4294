# SPDX-License-Identifier: MIT
"""The walls of csrc: which room may include which, and where names are at home.

The table is that of tools/rooms.py: arrows point downwards only.  A `.c` file includes
its own header first.  A header named `*_state.h` is for its own room.  A tag of a
struct, a union or an enum that other files can see, and a function that is not static,
is defined once in each product, but for the files of cpu/machine, which all define the
same; a function is declared in a header of the room that defines it, so that nobody
reaches it past the walls.

`python -m tools.check_layers` prints one line for each fault, as file:line, and exits
with 1 if there is any.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.rooms import PRODUCTS, ROOMS, room_of

ROOT = Path(__file__).resolve().parent.parent
PYTHON_HEADERS = frozenset({"Python.h", "structmember.h", "frameobject.h"})
# Code that runs in kernels: compiled by the device, with include rules of its own.
DEVICE_HEADERS = Path("cpu", "headers")
PUBLIC_HEADERS = Path("tool", "include", "hipadapt")
MACHINES = Path("cpu", "machine")

# A tag with its body; a function as clang-format lays it out, its name in a new line.
TAG = re.compile(
    r"^(?:typedef )?(?:struct|union|enum) (?:__attribute__\(\(.*\)\) )?(\w+) \{", re.M
)
FUNCTION = re.compile(r"^(?!static|extern|typedef|#)[\w][\w *]*\n(ha_\w+)\(", re.M)
DECLARATION = re.compile(r"^(?!static|typedef|#|return)\w[^;{}=()]*?\b(ha_\w+)\(", re.M)
BARE = re.compile(r"/\*.*?\*/", re.S)

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def without_comments(text: str) -> str:
    """The text with as many lines."""
    return BARE.sub(lambda match: "\n" * match.group().count("\n"), text)


def includes(text: str) -> Iterator[tuple[int, bool, str]]:
    """Yields (line number, in quotes, name) of each include; comments don't count."""
    for number, line in enumerate(without_comments(text).splitlines(), 1):
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
    if room.startswith("cpu/") and DEVICE_HEADERS in Path(name).parents:
        return None  # a layout that kernels and the device share
    if room == "tool" and (ROOT / "csrc" / PUBLIC_HEADERS / name).is_file():
        return None  # programs have the folder, and not the rooms
    target = room_of(Path(name))
    if target is None:
        return f'"{name}" is not included by room path, such as "core/status.h"'
    if target != room and target not in ROOMS[room].may_include:
        lower = ", ".join(sorted(ROOMS[room].may_include)) or "nothing"
        return f'{room}/ may not include "{name}": below it is {lower}'
    if target != room and name.endswith("_state.h"):
        return f'"{name}" is for {target}/ only'
    return None


def own_header_late(path: Path, csrc: Path) -> str | None:
    """What is wrong if a `.c` file has a header of its own but another one first."""
    own = path.with_suffix(".h")
    if path.suffix != ".c" or not own.is_file():
        return None
    wanted = own.relative_to(csrc).as_posix()
    names = [name for _, _, name in includes(path.read_text(encoding="utf-8"))]
    before = [name for name in names if Path(name).name not in PYTHON_HEADERS]
    if wanted in before and before[0] != wanted:
        return f'"{wanted}" is its own header and comes first, not "{before[0]}"'
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
        text = own_header_late(path, csrc)
        if text is not None:
            faults.append(f"csrc/{place}:1: {text}")
    return faults


def definitions(path: Path) -> Iterator[tuple[str, str]]:
    """Each name that a file defines for others too: what it is, the name."""
    text = without_comments(path.read_text(encoding="utf-8"))
    for name in TAG.findall(text):
        # A tag of a .c file without our prefix is its own affair.
        if path.suffix == ".h" or name.startswith("ha_"):
            yield "tag", name
    if path.suffix == ".c":
        yield from (("function", name) for name in FUNCTION.findall(text))


def for_machines(csrc: Path, *paths: Path) -> bool:
    """Whether these are C files for one machine each: only one is not empty."""
    return all(path.parent == csrc / MACHINES and path.suffix == ".c" for path in paths)


def check_machines(csrc: Path) -> list[str]:
    """Functions that one machine's file lacks, as "path:line: text"."""
    names = {path: set(definitions(path)) for path in (csrc / MACHINES).glob("*.c")}
    every = set().union(*names.values())
    return sorted(
        f"{path.relative_to(csrc.parent)}:1: lacks {' '.join(missing)}, which another "
        "machine has"
        for path, has in names.items()
        for missing in every - has
    )


def check_names(csrc: Path) -> list[str]:
    """Names that two files of one product define, as "path:line: text"."""
    faults = set()
    for product, rooms in PRODUCTS.items():
        seen: dict[tuple[str, str], Path] = {}
        for room in rooms:
            for path in sorted((csrc / room).rglob("*.[ch]")):
                if csrc / DEVICE_HEADERS in path.parents:
                    continue
                for definition in definitions(path):
                    first = seen.setdefault(definition, path)
                    if first != path and not for_machines(csrc, first, path):
                        place = path.relative_to(csrc.parent)
                        other = first.relative_to(csrc.parent)
                        faults.add(
                            f"{place}:1: {' '.join(definition)} is defined in {other} "
                            f"too; both are in {product}"
                        )
    return sorted(faults)


def check_declarations(csrc: Path) -> list[str]:
    """Functions that a header of another room declares, as "path:line: text"."""
    home: dict[str, set[str]] = {}  # several products may have the name
    headers = []
    for path in sorted(csrc.rglob("*.[ch]")):
        place = path.relative_to(csrc)
        room = room_of(place)
        if room is None or DEVICE_HEADERS in place.parents:
            continue
        if path.suffix == ".h":
            headers.append((place, room))
            continue
        text = without_comments(path.read_text(encoding="utf-8"))
        for name in FUNCTION.findall(text):
            home.setdefault(name, set()).add(room)
    faults = []
    for place, room in headers:
        text = without_comments((csrc / place).read_text(encoding="utf-8"))
        for match in DECLARATION.finditer(text):
            rooms = home.get(match.group(1))
            if rooms is not None and room not in rooms:
                number = text.count("\n", 0, match.start(1)) + 1
                faults.append(
                    f"csrc/{place}:{number}: {match.group(1)} is a function of "
                    f"{' and '.join(sorted(rooms))}/, whose header declares it"
                )
    return faults


def main() -> int:
    """Prints the faults of this tree."""
    csrc = ROOT / "csrc"
    faults = check(csrc) + check_names(csrc) + check_declarations(csrc)
    faults += check_machines(csrc)
    print("\n".join(faults), end="\n" if faults else "", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
