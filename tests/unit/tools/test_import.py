# SPDX-License-Identifier: MIT
"""An import stays light: what it pulls in, and how much code there is."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.conftest import Run

TEXT_MAX_BYTES = 1_000_000
# Modules beyond those of a bare interpreter; these are small or frozen.
LIGHT = {"__future__", "atexit", "importlib", "warnings"}
LIGHT |= {"importlib._bootstrap", "importlib._bootstrap_external"}
ALLOWED = {
    "hipadapt": {*LIGHT, "hipadapt"},
    "hipadapt.hip": {
        *LIGHT,
        "hipadapt",
        "hipadapt._workers",
        "hipadapt._core",
        "hipadapt._enum",
        "hipadapt.hip",
        "hipadapt.hiprtc",
        "hipadapt.types",
        "enum",
        "functools",
        "operator",
        "types",
        "_operator",
        "_functools",
        "_collections",
        "collections",
        "collections.abc",
        "itertools",
        "keyword",
        "reprlib",
    },
}
STATEMENTS = {
    "hipadapt": "import hipadapt",
    "hipadapt.hip": "from hipadapt import hip, hiprtc, types; hip.hipError_t",
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_import_pulls_in_nothing_heavy(run_python: Run, name: str) -> None:
    done = run_python(
        f"""
        import sys
        before = set(sys.modules)
        {STATEMENTS[name]}
        found = set(sys.modules) - before
        import json
        print(json.dumps(sorted(found)))
        """
    )

    found = set(json.loads(done.stdout))
    assert found <= ALLOWED[name], found - ALLOWED[name]
    assert {n for n in found if n.startswith("hipadapt")}


def test_a_function_needs_no_python_package(run_python: Run) -> None:
    """Nor does its first call: no ctypes, no numpy, no subprocess of ours."""
    done = run_python(
        """
        import sys
        from hipadapt import hip
        status, count = hip.hipGetDeviceCount()
        heavy = {"numpy", "ctypes", "asyncio", "subprocess", "inspect", "typing"}
        print(int(status), sorted(heavy & set(sys.modules)))
        """
    )

    assert done.stdout.split() == ["0", "[]"]


@pytest.mark.plain
def test_extension_has_at_most_a_megabyte_of_code() -> None:
    import hipadapt._core

    if shutil.which("size") is None:
        pytest.skip("needs `size` of binutils")
    path = hipadapt._core.__file__
    words = ["size", "--format=berkeley", path]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    head, row = (line.split() for line in done.stdout.splitlines())

    assert int(row[head.index("text")]) <= TEXT_MAX_BYTES, done.stdout
