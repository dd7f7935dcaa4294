# SPDX-License-Identifier: MIT
"""What the documents say about the code is true of the code."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest

import hipadapt
import hipadapt.errors
import hipadapt.rocprofiler
import hipadapt.types
from tests.conftest import Run
from tools.codegen import __main__ as codegen
from tools.rooms import FLOORS, ROOMS

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = [*ROOT.glob("*.md"), ROOT / "csrc" / "README.md", *ROOT.glob("docs/*.md")]
ENTRY = re.compile(
    r'\[HA_ENV_\w+\] =\s+\{\s*"(\w+)",\s*(NULL|"[^"]*"),\s*((?:"[^"]*"\s*)+)\}'
)
ROW = re.compile(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)[^)]*\)")
# A path in the text, in backquotes, such as `csrc/core/env.c` or `tests/c/run.py`.
SITE = {ROOT / name for name in codegen.generated()[1]}  # made with the site
PATH = re.compile(r"`((?:csrc|docs|examples|hipadapt|tests|tools)/[\w./-]*\w)`")


def variables_of_code() -> dict[str, tuple[str, str]]:
    """Name -> (default, documentation) of the table in csrc/core/env.c."""
    text = (ROOT / "csrc" / "core" / "env.c").read_text()
    found = {}
    for name, fallback, doc in ENTRY.findall(text):
        whole = "".join(re.findall(r'"([^"]*)"', doc))
        found[name] = ("" if fallback == "NULL" else fallback.strip('"'), whole)
    return found


def test_environment_table_is_that_of_the_code() -> None:
    text = (ROOT / "docs" / "environment.md").read_text()
    rows = {name: (value.strip("`"), doc) for name, value, doc in ROW.findall(text)}
    enum = (ROOT / "csrc" / "core" / "env.h").read_text()
    assert len(variables_of_code()) == len(re.findall(r"^ +HA_ENV_\w+,", enum, re.M))

    documented = {name: rows.get(name) for name in variables_of_code()}

    assert documented == variables_of_code()


def test_build_switches_are_documented() -> None:
    text = (ROOT / "docs" / "environment.md").read_text()
    used = {
        name
        for file in ("native.py", "target.py")
        for name in re.findall(
            r'"(HIPADAPT_[A-Z]+)"', (ROOT / "tools" / file).read_text()
        )
    }
    assert "HIPADAPT_TARGET" in used
    assert {name for name in used if f"`{name}`" not in text} == set()


def test_room_table_is_that_of_the_layer_check() -> None:
    text = (ROOT / "csrc" / "README.md").read_text()
    rows = re.findall(r"^\| `(\w+)/` \| .* \| ([\w, -]+) \|$", text, re.MULTILINE)
    documented = {room: frozenset(re.findall(r"\w+", below)) for room, below in rows}
    cpu = documented.pop("cpu")

    of_cpu = {name for name in ROOMS if name.startswith("cpu/")}
    above = {name: ROOMS[name].may_include for name in ROOMS.keys() - of_cpu}
    assert documented == above
    assert {cpu} == {ROOMS[name].may_include - of_cpu for name in of_cpu}


@pytest.mark.parametrize(
    ("page", "row"),
    [
        ("csrc/README.md", r"^\| `cpu/(\w+)/` \|"),
        ("docs/design.md", r"^\| (\w+) \| .* \| .* \|$"),
    ],
)
def test_rooms_of_the_device_are_listed_from_the_top(page: str, row: str) -> None:
    text = (ROOT / page).read_text()

    listed = re.findall(row, text, re.MULTILINE)

    floors = [name for floor in FLOORS for name in floor]
    assert [name for name in listed if name in floors] == floors


def test_every_function_that_a_document_names_exists() -> None:
    sources = [path for path in (ROOT / "csrc").rglob("*.[ch]") if path.is_file()]
    code = "\n".join(path.read_text() for path in sources)
    known = set(re.findall(r"\bha_\w+", code))
    named = {
        name
        for path in DOCUMENTS
        for name in re.findall(r"`(?:struct )?(ha_\w+)`", path.read_text())
    }
    assert named
    assert named - known == set()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_file_that_a_document_names_exists(path: Path) -> None:
    text = path.read_text()
    links = LINK.findall(CODE.sub("", text))
    named = [path.parent / name for name in links]
    named += [ROOT / name for name in PATH.findall(text)]
    assert [name for name in named if not name.exists() and name not in SITE] == []


def test_readme_examples_run(run_python: Run, tmp_path: Path) -> None:
    kernel, trace = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )

    assert float(run_python(kernel).stdout) < 1e-6
    run_python(trace.replace("/tmp/", f"{tmp_path}/"))
    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    copies = [event for event in events if event.get("cat") == "gpu_memcpy"]
    assert [event["args"]["bytes"] for event in copies] == [24, 24]


def public_members() -> list[tuple[str, str | None]]:
    """Methods and properties of the classes that people see, and their docstrings."""
    modules = (hipadapt, hipadapt.types, hipadapt.errors, hipadapt.rocprofiler)
    classes = {
        found
        for module in modules
        for found in (getattr(module, name) for name in module.__all__)
        if inspect.isclass(found) and found.__module__.startswith("hipadapt")
    }
    return [
        (f"{found.__name__}.{name}", member.__doc__)
        for found in classes
        for name, member in vars(found).items()
        if not name.startswith("_")
        and (callable(member) or inspect.isdatadescriptor(member))
    ]


def test_every_public_method_and_property_has_a_docstring() -> None:
    members = public_members()

    assert len(members) > 150
    assert [name for name, doc in members if not doc] == []
