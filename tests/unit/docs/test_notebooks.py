# SPDX-License-Identifier: MIT
"""The notebooks are committed without outputs, and run from top to bottom."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.checks import recorded
from tools import docs

FILES = sorted(docs.NOTEBOOKS.glob("*.ipynb"))
FOUND = {"find_a_nan": ["infinity"]}  # what they are about


def test_there_are_notebooks() -> None:
    assert len(FILES) >= 2


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_notebook_is_stripped(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert docs.notebook_text(json.loads(text)) == text, (
        "run: python -m tools.docs strip"
    )


def test_strip_takes_outputs_out() -> None:
    cell = {
        "cell_type": "code",
        "id": "x",
        "metadata": {"collapsed": True, "tags": ["raises-exception"]},
        "execution_count": 3,
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "1"}],
        "source": ["print(1)"],
    }
    notebook: dict[str, Any] = {"cells": [cell], "metadata": {"widgets": {}}}

    clean = docs.stripped(notebook)

    assert clean["metadata"] == {}
    assert clean["cells"][0]["outputs"] == []
    assert clean["cells"][0]["execution_count"] is None
    assert clean["cells"][0]["metadata"] == {"tags": ["raises-exception"]}
    assert clean["cells"][0]["source"] == ["print(1)"]


@pytest.mark.parametrize("checked", [False, True])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("default")
def test_notebook_runs(
    path: Path, checked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbformat = pytest.importorskip("nbformat", reason="of the extra docs")
    nbclient = pytest.importorskip("nbclient", reason="of the extra docs")
    pytest.importorskip("ipykernel", reason="of the extra docs")
    output = tmp_path / "findings"
    more = recorded.settings(output) if checked else {}
    for name, value in {**docs.environment(), **more}.items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(path, as_version=4)

    nbclient.NotebookClient(
        notebook, timeout=100, kernel_name="python3", resources={"metadata": {}}
    ).execute()

    outputs = [o for cell in notebook.cells for o in cell.get("outputs", ())]
    assert outputs
    assert [o for o in outputs if o.get("name") == "stderr"] == []
    assert recorded.kinds(output) == (FOUND.get(path.stem, []) if checked else [])
