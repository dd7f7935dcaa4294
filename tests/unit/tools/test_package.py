# SPDX-License-Identifier: MIT
"""The package is laid out as docs/design.md says, and its names lead where they say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hipadapt

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "hipadapt"
SURFACE = PACKAGE / "__init__.py"  # imports what it is asked for, from everywhere
FILES = sorted(set(PACKAGE.rglob("*.py")) - {SURFACE})


def floors() -> list[list[str]]:
    """The rooms of the package, from the top; docs/design.md draws them."""
    text = (ROOT / "docs" / "design.md").read_text()
    drawn = re.search(r"^hipadapt/((?:.|\n)+?)^(?:\n|```)", text, re.MULTILINE)
    assert drawn is not None
    return [re.findall(r"\w+", floor) for floor in drawn[1].split(">")]


def room_of(path: Path) -> str:
    """The folder below the package, or the module that lies in the package itself."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def type_only(tree: ast.Module) -> set[ast.AST]:
    """What stands below `if TYPE_CHECKING`."""
    blocks = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )
    return {inner for block in blocks for inner in ast.walk(block)}


def imported(path: Path) -> Iterator[str]:
    """Rooms that a file imports from while it runs, its own left out."""
    tree = ast.parse(path.read_text())
    ignored = type_only(tree)
    depth = len(path.relative_to(PACKAGE).parts)
    rooms = {room for floor in floors() for room in floor}
    for node in ast.walk(tree):
        if node in ignored or not isinstance(node, ast.ImportFrom):
            continue
        if node.level != depth:  # from elsewhere, or from the room itself
            continue
        if node.module is not None:
            yield node.module.split(".")[0]
            continue
        for alias in node.names:
            yield alias.name if alias.name in rooms else "__init__"


def test_every_room_of_the_package_is_drawn() -> None:
    drawn = [room for floor in floors() for room in floor]

    assert sorted(drawn) == sorted(
        {room_of(path) for path in FILES} | {"__init__", "_core"}
    )


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_downwards(path: Path) -> None:
    floor_of = {room: i for i, floor in enumerate(floors()) for room in floor}
    own = room_of(path)

    up = {
        room
        for room in imported(path)
        if room != own and floor_of[room] <= floor_of[own]
    }

    assert up == set()


def test_import_of_the_package_imports_none_of_its_modules() -> None:
    body = ast.parse(SURFACE.read_text()).body

    assert [n.module for n in body if isinstance(n, ast.ImportFrom) and n.level] == []


def test_names_of_the_package_are_the_same_three_times() -> None:
    tree = ast.parse(SURFACE.read_text())
    shown = {  # to type checkers: name -> module
        alias.name: node.module
        for node in type_only(tree)
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    }
    found = (  # when they are used
        dict.fromkeys(hipadapt._MODULES, None)
        | dict.fromkeys(hipadapt._CORE, "_core")
        | hipadapt._PARTS
    )

    assert found == shown
    assert sorted([*found, "__version__", "get_include"]) == hipadapt.__all__
