# SPDX-License-Identifier: MIT
"""The description, what is generated from it, and the functions that Python sees."""

from __future__ import annotations

import inspect
import subprocess
import sys
from types import ModuleType

import pytest

from tests.conftest import ROOT
from tools.codegen import emit_wrappers, model

API = model.load()
WRAPPED = [f for f in API.functions if f.wrapped]


def function_of(name: str, module: str) -> object:
    import importlib

    return getattr(importlib.import_module(f"hipadapt.{module}"), name)


def test_generated_files_are_fresh() -> None:
    words = [sys.executable, "-m", "tools.codegen", "--check"]

    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def test_description_has_the_whole_api() -> None:
    hip = [f for f in API.functions if f.module == "hip"]
    hiprtc = [f for f in API.functions if f.module == "hiprtc"]
    types = len(API.all_records()) + len(API.handles) + len(API.enums) + 2

    assert (len(hip), len(hiprtc)) == (534, 18)
    assert len({f.name for f in API.functions}) == 552
    assert types == 270
    assert len(API.constants) == 79


def test_description_refers_only_to_what_is_described() -> None:
    enums = {e.name for e in API.enums}
    records = {r.name for r in API.all_records()}

    for function in API.functions:
        names = {p.name for p in function.params}
        for param in function.params:
            if param.role == "enum":
                assert param.adapter in enums, (function.name, param.name)
            if param.role in ("record", "record_value", "out_record"):
                assert param.adapter in records, (function.name, param.name)
        stream, _, member = (function.stream or "").partition("->")
        assert not stream or stream in names
        assert not member or member.isidentifier()


@pytest.mark.parametrize("function", WRAPPED, ids=lambda f: f.name)
def test_signature_is_that_of_the_description(function: model.Function) -> None:
    found = function_of(function.name, function.module)

    signature = inspect.signature(found)  # type: ignore[arg-type]

    names = [p.python_name for p in emit_wrappers.form_params(function)[0]]
    assert list(signature.parameters) == names
    assert all(p.default is p.empty for p in signature.parameters.values())
    assert found.__module__ == f"hipadapt.{function.module}"
    assert function.doc is not None
    assert function.doc in (found.__doc__ or "")


def test_all_names_are_there(cpu: ModuleType) -> None:
    import hipadapt.hiprtc

    for module in (cpu, hipadapt.hiprtc):
        for name in module.__all__:
            assert getattr(module, name) is not None, name
            assert name in dir(module)


def test_star_import_brings_all_names() -> None:
    namespace: dict[str, object] = {}

    exec("from hipadapt.hip import *", namespace)

    assert {"hipMalloc", "hipError_t", "dim3", "hipStream_t"} <= set(namespace)


def test_all_functions_are_wrapped() -> None:
    assert [f.name for f in API.functions if not f.wrapped or "review" in f.raw] == []


def test_unknown_name_says_so(cpu: ModuleType) -> None:
    with pytest.raises(AttributeError, match="no attribute 'hipNoSuchThing'"):
        cpu.hipNoSuchThing  # noqa: B018
