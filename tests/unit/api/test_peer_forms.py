# SPDX-License-Identifier: MIT
"""Both parameter lists of the 68 functions that hip-python changed from 7.2 to 10.0.

``peer_forms.json`` holds what each version takes and how long its result tuple is.  A
function *binds* a list if it gets as far as converting the values: a wrong kind is then
refused by the name of an argument, not by the number or names of all of them.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from hipadapt import hiprtc

FORMS: dict[str, dict[str, dict[str, Any]]] = json.loads(
    Path(__file__).with_suffix("").with_name("peer_forms.json").read_text("utf-8")
)
CASES = [
    (name, version, form["takes"], form["gives"])
    for name, forms in FORMS.items()
    for version, form in forms.items()
]
# Values that some kind of parameter takes: NULL, a record, text, numbers.  Numbers come
# last, because a pointer would take them for addresses.
VALUES = (None, (), "x", 0, 1)
# As many as a form of hip-python 7.2 that can be used, in another order or with other
# names: these are told apart by keywords.
BY_KEYWORDS = {
    ("hip.hipGetChannelDesc", "10.0"): "given by position, the one argument is array",
    ("hip.hipMipmappedArrayGetLevel", "10.0"): "by position the first is the array",
}


def function(name: str, cpu: ModuleType) -> Any:
    module, _, tail = name.partition(".")
    return getattr({"hip": cpu, "hiprtc": hiprtc}[module], tail)


def refused_argument(error: Exception) -> str | None:
    """The argument that a message names, or None where binding itself has failed."""
    found = re.search(r"argument '(\w+)'", str(error))
    unbound = re.search(r"keyword argument|multiple values|were given", str(error))
    return found.group(1) if found and not unbound else None


def fitting_call(call: Any, names: list[str], keywords: bool) -> Any:
    """Calls with the first of VALUES that each argument takes; returns the result."""
    chosen = dict.fromkeys(names, 0)
    for _ in range(len(names) * len(VALUES) + 1):
        values = {name: VALUES[i] for name, i in chosen.items()}
        try:
            return call(**values) if keywords else call(*values.values())
        except (TypeError, ValueError) as error:
            name = refused_argument(error)
            # By position the names may be those of the usual form.
            at = name if name in chosen else names[0]
            chosen[at] += 1
            if name is None or chosen[at] == len(VALUES):
                raise
    raise AssertionError("no values fit")


def test_facts_are_whole() -> None:
    assert len(FORMS) == 68
    assert all(form["7.2"]["takes"] != form["10.0"]["takes"] for form in FORMS.values())


@pytest.mark.parametrize(
    ("name", "version", "takes", "gives"), CASES, ids=lambda x: str(x)[:60]
)
def test_list_is_bound_by_count_and_by_keywords(
    cpu: ModuleType, name: str, version: str, takes: list[str], gives: int
) -> None:
    call = function(name, cpu)

    if takes:
        with pytest.raises(TypeError) as by_count:
            call(*[object()] * len(takes))
        with pytest.raises(TypeError) as by_keywords:
            call(**dict.fromkeys(reversed(takes), object()))
        assert refused_argument(by_count.value) is not None, str(by_count.value)
        assert refused_argument(by_keywords.value) in takes, str(by_keywords.value)


@pytest.mark.parametrize(
    ("name", "version", "takes", "gives"), CASES, ids=lambda x: str(x)[:60]
)
def test_result_is_as_long_as_the_peers(
    cpu: ModuleType, name: str, version: str, takes: list[str], gives: int
) -> None:
    call = function(name, cpu)

    assert len(fitting_call(call, takes, keywords=True)) == gives
    if (name, version) not in BY_KEYWORDS:
        assert len(fitting_call(call, takes, keywords=False)) == gives


def peer_signatures() -> Iterator[tuple[str, list[str]]]:
    """Functions and parameters that the installed hip-python declares in its stubs."""
    for module in ("hip", "hiprtc"):
        spec = importlib.util.find_spec(f"rocm.bindings.{module}")
        assert spec is not None
        assert spec.origin is not None
        stub = Path(spec.origin).parent / f"{module}.pyi"
        for node in ast.parse(stub.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("hip"):
                yield f"{module}.{node.name}", [a.arg for a in node.args.args]


@pytest.mark.interop
def test_every_list_of_the_installed_peer_is_bound(cpu: ModuleType) -> None:
    if importlib.util.find_spec("rocm") is None:
        pytest.skip("hip-python is not installed: pip install hipadapt[interop]")
    found = dict(peer_signatures())
    assert len(found) == 552

    wrong = {}
    for name, takes in found.items():
        call = function(name, cpu)
        if not takes:
            continue
        for arguments, keywords in (
            ([object()] * len(takes), {}),
            ([], dict.fromkeys(takes, object())),
        ):
            try:
                call(*arguments, **keywords)
            except TypeError as error:
                if refused_argument(error) is None:
                    wrong[name] = str(error)

    assert wrong == {}
