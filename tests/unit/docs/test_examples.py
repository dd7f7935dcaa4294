# SPDX-License-Identifier: MIT
"""Every example in the documents and docstrings runs and prints what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.checks import recorded
from tools import docs, examples

ROOT = Path(__file__).resolve().parents[3]
OPTIONAL = [
    str(p.relative_to(ROOT)) for p in docs.documents() if "<!-- needs:" in p.read_text()
]
# Examples of mistakes, and of what is another thing under check.
FOUND = {"docs/troubleshooting.md": ["invalid-free"]}
OTHERWISE = {"hipadapt", "hipadapt._objects.explanation", "hipadapt._objects.kernel"}
NAMES = [str(p.relative_to(ROOT)) for p in docs.documents()] + docs.modules()


def run(
    name: str, cwd: Path = ROOT, **settings: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tools.examples", name],
        cwd=cwd,
        env={**docs.environment(), **settings},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("name", NAMES)
def test_examples_run(name: str) -> None:
    done = run(name)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", sorted({*NAMES} - OTHERWISE))
def test_examples_are_right(tmp_path: Path, name: str) -> None:
    """``check`` finds nothing in them but what they are about."""
    output = tmp_path / "findings"

    done = run(name, **recorded.settings(output))

    assert done.returncode == 0, done.stdout + done.stderr
    assert recorded.kinds(output) == FOUND.get(name, [])


@pytest.mark.interop
@pytest.mark.parametrize("name", OPTIONAL)
def test_examples_that_need_other_packages_run(name: str) -> None:
    done = run(name)
    assert done.returncode == 0, done.stdout + done.stderr
    if "not run" in done.stdout:
        pytest.skip(reason=done.stdout.strip())


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("```python\n>>> 1 + 1\n3\n\n```\n", "Expected"),
        ("```python\nassert False\n```\n", "AssertionError"),
        ("```python\nprint(1)\n```\n<!-- output -->\n```text\n2\n```\n", "printed"),
        ("::::{grid}\n    ```python\n    1 / 0\n    ```\n::::\n", "ZeroDivisionError"),
    ],
)
def test_wrong_example_fails(tmp_path: Path, text: str, complaint: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)

    done = run(str(page))

    assert done.returncode == 1
    assert complaint in done.stderr


def test_wrong_docstring_fails(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text('"""Sum.\n\n>>> 1 + 1\n3\n"""\n')
    code = "import sys; from tools import examples; sys.exit(examples.main(['broken']))"

    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=docs.environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "Expected" in done.stderr


def test_block_that_is_not_to_run_is_left_out(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- not run: needs a GPU -->\n```python\n1 / 0\n```\n"
        "<!-- needs: no_such_module -->\n```python\n1 / 0\n```\n"
        "```sh\nnothing\n```\n"
    )

    assert examples.run_document(page) == []
