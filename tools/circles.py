# SPDX-License-Identifier: MIT
"""Circles of files of csrc that need each other.

A node is a `.c` file with its header.  It needs another one if it includes that one's
header, or names a function or a variable that is defined there.  A circle is a set of
files of which each needs each other, over however many steps: none of them can be read,
tested or moved alone.

`python -m tools.circles` prints each circle of each product, largest first.
`python -m tools.circles FROM TO` prints why files whose paths begin with FROM need
those whose paths begin with TO, such as `cpu/queue cpu/graph`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.check_layers import DEVICE_HEADERS, includes, without_comments
from tools.rooms import PRODUCTS

CSRC = Path(__file__).resolve().parent.parent / "csrc"
WORD = re.compile(r"\bha_\w+")
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')
# As clang-format lays them out: a function's name begins a line, a variable's ends one.
FUNCTION = re.compile(r"^(?!static|extern|typedef|#)\w[\w *]*\n(ha_\w+)\(", re.M)
VARIABLE = re.compile(
    r"^(?!static|extern|typedef|#|return)\w[\w *]* \*?(ha_\w+)(?:\[[^\]]*\])*(?: =|;)",
    re.M,
)

Graph = dict[str, dict[str, set[str]]]  # file -> needed file -> names


def files_of(product: str) -> list[Path]:
    """The C files and headers of a product."""
    found = [
        path.relative_to(CSRC)
        for room in PRODUCTS[product]
        for path in (CSRC / room).rglob("*.[ch]")
    ]
    return sorted(path for path in found if DEVICE_HEADERS not in path.parents)


def graph_of(product: str) -> Graph:
    """Who needs whom, and by which names."""
    texts = {
        path: TEXT.sub('""', without_comments((CSRC / path).read_text("utf-8")))
        for path in files_of(product)
    }
    home: dict[str, str] = {}
    for path, text in texts.items():
        if path.suffix == ".c":
            for name in (*FUNCTION.findall(text), *VARIABLE.findall(text)):
                home[name] = node(path)
    known = {node(path) for path in texts}
    graph: Graph = {name: {} for name in known}
    for path in texts:
        needs = graph[node(path)]
        for _, quoted, name in includes((CSRC / path).read_text("utf-8")):
            if quoted and node(Path(name)) in known:
                needs.setdefault(node(Path(name)), set()).add("#include")
        if path.suffix == ".c":
            for name in set(WORD.findall(texts[path])) & home.keys():
                needs.setdefault(home[name], set()).add(name)
        needs.pop(node(path), None)
    return graph


def node(path: Path) -> str:
    """The name of a `.c` file and its header."""
    return path.with_suffix("").as_posix()


def circles(graph: Graph) -> Iterator[list[str]]:
    """Files that reach each other, two or more at a time (Tarjan)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    for start in sorted(graph):
        if start in number:
            continue
        walk = [(start, iter(sorted(graph[start])))]
        number[start] = low[start] = len(number)
        stack.append(start)
        while walk:
            here, rest = walk[-1]
            for other in rest:
                if other not in number:
                    number[other] = low[other] = len(number)
                    stack.append(other)
                    walk.append((other, iter(sorted(graph[other]))))
                    break
                if other in stack:
                    low[here] = min(low[here], number[other])
            else:
                walk.pop()
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[here])
                if low[here] == number[here]:
                    circle = stack[stack.index(here) :]
                    del stack[stack.index(here) :]
                    if len(circle) > 1:
                        yield sorted(circle)


def print_circles() -> None:
    """All circles, largest first."""
    for product in PRODUCTS:
        found = sorted(circles(graph_of(product)), key=len, reverse=True)
        sizes = ", ".join(str(len(circle)) for circle in found)
        print(f"{product}: {sizes or 'none'}")
        for circle in found:
            print(f"  {len(circle)}: {' '.join(circle)}")


def print_arrows(source: str, target: str) -> None:
    """Why files of one place need those of another."""
    for product in PRODUCTS:
        for name, needs in sorted(graph_of(product).items()):
            for other, why in sorted(needs.items()):
                if name.startswith(source) and other.startswith(target):
                    print(f"{name} -> {other}: {' '.join(sorted(why))}")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print_arrows(sys.argv[1], sys.argv[2])
    elif len(sys.argv) == 1:
        print_circles()
    else:
        sys.exit(__doc__)
