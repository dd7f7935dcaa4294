# SPDX-License-Identifier: MIT
"""The generated pages say what the package has."""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
import re
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

import hipadapt
from hipadapt import hip, hiprtc, types
from tools.codegen import __main__ as codegen
from tools.codegen import emit_docs, emit_docs_types, model

ROOT = Path(__file__).resolve().parents[3]
API = model.load()
PAGES = {Path(path).stem: text for path, text in codegen.generated()[1].items()}
ENTRY = re.compile(r"^:::\{py:function\} (\w+)\((.*)\)$", re.MULTILINE)


@pytest.mark.parametrize("module", [hip, hiprtc], ids=["hip", "hiprtc"])
def test_signatures_are_those_of_the_functions(module: ModuleType) -> None:
    mine = {f.name for f in API.functions if f.module == module.__name__.split(".")[1]}
    shown = {
        name: text for page in PAGES.values() for name, text in ENTRY.findall(page)
    }
    wrapped = [n for n in module.__all__ if n in mine]
    assert wrapped

    signatures = {
        name: ", ".join(inspect.signature(getattr(module, name)).parameters)
        for name in wrapped
    }

    assert {name: shown.get(name) for name in wrapped} == signatures


def test_every_public_name_of_the_package_is_documented() -> None:
    page = (ROOT / "docs" / "python" / "package.md").read_text()
    modules = {
        name for name in hipadapt.__all__ if inspect.ismodule(getattr(hipadapt, name))
    }
    named = set(re.findall(r"auto(?:class|function):: (\w+)$", page, re.MULTILINE))
    named |= set(re.findall(r"`hipadapt\.(\w+)`", page))
    assert set(hipadapt.__all__) - modules - named == set()


def functions_of(found: object) -> list[FunctionType]:
    """The function, or those of the class that its page shows, as written."""
    if isinstance(found, FunctionType):
        return [found]
    members = [
        getattr(member, "__func__", None) or getattr(member, "fget", None) or member
        for name, member in getattr(found, "__dict__", {}).items()
        if name == "__init__" or not name.startswith("_")
    ]
    return [member for member in members if isinstance(member, FunctionType)]


def named(function: FunctionType, word: str) -> object:
    """What an annotation of the function means by a name with or without dots."""
    first, *rest = word.split(".")
    found = function.__globals__.get(first)
    for name in rest:
        found = getattr(found, name, None)
    return found


def test_every_class_in_a_documented_signature_is_documented() -> None:
    page = (ROOT / "docs" / "python" / "package.md").read_text()
    names = re.findall(r"auto(?:class|function):: ([\w.]+)$", page, re.MULTILINE)
    shown = [
        pkgutil.resolve_name(name if "." in name else f"hipadapt.{name}")
        for name in names
    ]
    missing = {
        f"{function.__qualname__}: {kind.__module__}.{kind.__name__}"
        for found in shown
        for function in functions_of(found)
        for annotation in function.__annotations__.values()
        for word in re.findall(r"[\w.]+", str(annotation))
        if inspect.isclass(kind := named(function, word))
        and re.match(r"hipadapt\._", kind.__module__)
        and not kind.__name__.startswith("_")
        and kind not in shown
    }

    assert len(shown) > 30
    assert missing == set()


def test_every_adapter_type_is_documented() -> None:
    page = (ROOT / "docs" / "python" / "types.md").read_text()
    assert sorted(re.findall(r"autoclass:: (\w+)$", page, re.M)) == sorted(
        types.__all__
    )


@pytest.mark.parametrize(
    ("page", "first"),
    [
        ("memory", ["hipMalloc", "hipFree", "hipMemcpy"]),
        ("launch", ["hipModuleLaunchKernel"]),
        ("hiprtc", ["hiprtcCreateProgram", "hiprtcCompileProgram"]),
        ("module", ["hipModuleLoadData", "hipModuleLoad", "hipModuleGetFunction"]),
        ("stream", ["hipStreamCreate", "hipStreamSynchronize"]),
        ("event", ["hipEventCreate", "hipEventRecord"]),
        ("device", ["hipGetDeviceCount", "hipSetDevice"]),
        ("graph", ["hipStreamBeginCapture", "hipStreamEndCapture"]),
        ("texture", ["hipCreateTextureObject"]),
        ("rocprofiler", ["rocprofiler_force_configure", "rocprofiler_create_context"]),
    ],
)
def test_a_page_begins_with_what_people_use(page: str, first: list[str]) -> None:
    shown = [name for name, _ in ENTRY.findall(PAGES[page])]
    assert shown[: len(first)] == first
    assert len(shown) == len(set(shown))


def test_every_type_and_constant_has_an_entry() -> None:
    shown = set(
        re.findall(r"^:::\{py:(?:class|data)\} (\w+)$", "\n".join(PAGES.values()), re.M)
    )
    constants = set(re.findall(r"`(?:hip|hiprtc)\.(\w+)`", PAGES["constants"]))
    named = {
        *(entry.name for entry in (*API.enums, *API.all_records(), *API.handles)),
        *(alias.name for alias in API.aliases),
    }
    assert named - shown == set()
    assert {entry.name for entry in API.constants} - constants == set()


def test_values_of_an_enum_are_those_of_python() -> None:
    page = PAGES["enums"]
    (text,) = re.findall(r":::\{py:class\} hipMemcpyKind\n(.*?):::", page, re.DOTALL)
    rows = re.findall(r"^\| `(\w+)` \| (-?\d+) \|$", text, re.MULTILINE)
    assert {name: int(value) for name, value in rows} == {
        member.name: int(member) for member in hip.hipMemcpyKind
    }


def test_index_has_every_name() -> None:
    names = set(re.findall(r"[\w]+", PAGES["names"]))
    wanted = {f.name for f in API.functions} | {
        constant for enum in API.enums for constant in enum.constants
    }
    assert wanted - names == set()


def test_role_without_words_is_an_error() -> None:
    function = next(f for f in API.functions if f.wrapped and f.params)
    odd = dataclasses.replace(function.params[0], role="no_such_role")
    changed = dataclasses.replace(function, params=(odd, *function.params[1:]))

    with pytest.raises(ValueError, match="no_such_role"):
        emit_docs.Pages(API).parameter_table(changed)


def test_family_without_title_is_an_error() -> None:
    with pytest.raises(ValueError, match="no_such_family"):
        emit_docs.Pages(API).family("no_such_family")


def test_direction_follows_what_the_call_writes() -> None:
    (function,) = [f for f in API.functions if f.name == "hipMemcpy"]
    rows = emit_docs.Pages(API).parameter_table(function)[2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert [(row[0], row[1]) for row in cells] == [
        ("`dst`", "in-out"),
        ("`src`", "in"),
        ("`sizeBytes`", "in"),
        ("`kind`", "in"),
    ]
    assert cells[0][4] == "`sizeBytes` bytes"
    assert cells[2][4] == "bytes"


def test_size_relations_are_in_words() -> None:
    def shown(size: str, role: str = "pointer") -> str:
        return emit_docs.size_text(model.Param("p", "void *", role, size=size))

    assert shown("count*4") == "`count` * 4 bytes"
    assert shown("count", "list") == "`count` entries"
    assert shown("8") == "8 bytes"
    assert shown("pick(key, 8, A=4, B=4)") == "8 bytes; by `key`: 4 for `A`, `B`"
    assert (
        shown("rows(pitch, width*2, height)")
        == "`height` rows of `width` * 2 bytes, `pitch` bytes apart"
    )


def test_unknown_size_relation_is_an_error() -> None:
    with pytest.raises(ValueError, match="no words"):
        emit_docs.size_text(model.Param("p", "void *", "pointer", size="blocks(n)"))


def test_unknown_key_is_an_error() -> None:
    function = dataclasses.replace(API.functions[0], raw={"no_such_key": 1})
    with pytest.raises(ValueError, match="no_such_key"):
        emit_docs.lifetime(function)


def test_lifetime_is_in_words() -> None:
    def shown(**raw: object) -> list[str]:
        function = next(f for f in API.functions if not f.params)
        return emit_docs.lifetime(dataclasses.replace(function, raw=raw))

    hold = {"params": ["src", "name"], "by": "prog"}
    assert shown(hold=hold) == [
        "of `src`, `name` is kept with `prog` until that is ended"
    ]
    assert shown(share={"from": "graph", "to": "exec"}) == [
        "kept with `graph` is kept with `exec` too"
    ]
    assert shown(streams={"member": "stream", "in": "list", "count": "n"}) == [
        "is kept until `stream` of each entry of `list` has passed the call"
    ]
    assert shown(drop="prog") == ["that was kept with `prog` is let go"]
    assert shown() == []


def test_output_of_the_types_pages_is_complete() -> None:
    files = emit_docs_types.emit(API)
    assert {Path(name).stem for name in files} == set(emit_docs_types.NAMES)
