# SPDX-License-Identifier: MIT
"""How the site shows docstrings; needs the extra `docs`."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytest.importorskip("myst_nb", reason="the extra docs is not installed")

PAGE = """
# Page

```{eval-rst}
.. autoclass:: hipadapt.Device
   :members: arch, pci_bus_id

.. autoclass:: hipadapt.types.NDBuffer
   :members: type_name

.. autoclass:: hipadapt.types.DeviceArray
   :members: get, fill, copy_from, copy_to
```
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page as text, in one line."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "index.md").write_text(PAGE)
    words = [sys.executable, "-m", "sphinx", "-q", "-b", "text", "-c", ROOT / "docs"]
    done = subprocess.run(
        [*words, folder, folder / "made"],
        env={**os.environ, "HIPADAPT_PROVIDER": "cpu", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return " ".join((folder / "made" / "index.txt").read_text().split())


@pytest.mark.parametrize(
    "sentence",
    [
        'Architecture and features, as compilers take it: ""gfx90a:sramecc+"".',
        'Address on the bus: ""0000:0c:00.0"".',
        "Name of the element type: ",
    ],
)
def test_property_with_a_colon_is_shown_as_it_was_written(
    page: str, sentence: str
) -> None:
    assert sentence in page
    assert "Type:" not in page


@pytest.mark.parametrize(
    "sentence",
    [
        "get(out=None, *, stream=None) A copy of the elements in memory of the host.",
        "fill(value, *, stream=None) Sets all elements to one value.",
        "copy_from(source, *, stream=None) Replaces the elements by those of another",
        "copy_to(target, *, stream=None) Writes the elements into another array.",
    ],
)
def test_methods_of_arrays_are_described(page: str, sentence: str) -> None:
    assert sentence in page
