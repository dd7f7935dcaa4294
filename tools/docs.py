# SPDX-License-Identifier: MIT
"""The site, the examples in the documents, and the notebooks.

    python -m tools.docs             the site, then the examples
    python -m tools.docs build       the site, to build/docs; runs the notebooks
    python -m tools.docs examples    the examples in documents and docstrings
    python -m tools.docs strip       takes outputs out of the notebooks

The site needs the extra `docs`; warnings are errors.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools.codegen.__main__ import write_pages

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
SITE = ROOT / "build" / "docs"
# Only these kinds of metadata of a notebook say something about it.
METADATA = {"kernelspec", "language_info"}


def documents() -> list[Path]:
    """Hand-written documents with examples; README.md has a test of its own."""
    return sorted(
        path
        for path in (ROOT / "docs").rglob("*.md")
        if "```python" in path.read_text(encoding="utf-8")
    )


def modules() -> list[str]:
    """Modules of the package that can be imported without optional packages."""
    found = []
    for path in sorted((ROOT / "hipadapt").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        if parts[-1] != "__main__" and ">>>" in path.read_text(encoding="utf-8"):
            found.append(".".join(parts))
    # Adapter types have their docstrings in C.
    return sorted({*found, "hipadapt.types"})


def environment() -> dict[str, str]:
    """Examples run on the CPU device, with the package of this tree."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {"HIPADAPT_PROVIDER": "cpu", **os.environ, "PYTHONPATH": path}


def build() -> int:
    """Makes the site; warnings are errors."""
    if importlib.util.find_spec("sphinx") is None:
        print("Sphinx is missing: pip install -e '.[docs]'", file=sys.stderr)
        return 1
    write_pages()
    words = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "auto"]
    words += ["-b", "html", "docs", str(SITE)]
    done = subprocess.run(words, cwd=ROOT, env=environment(), check=False)
    if done.returncode == 0:
        print(f"the site is in {SITE.relative_to(ROOT)}/index.html")
    return done.returncode


def examples() -> int:
    """Runs the examples of each document and module in its own interpreter."""
    names = [str(path.relative_to(ROOT)) for path in documents()]
    status = 0
    for name in [*names, *modules()]:
        words = [sys.executable, "-m", "tools.examples", name]
        done = subprocess.run(words, cwd=ROOT, env=environment(), check=False)
        print(f"{'ok' if done.returncode == 0 else 'FAILED':8}{name}", flush=True)
        status = status or done.returncode
    return status


def stripped(notebook: dict[str, Any]) -> dict[str, Any]:
    """A notebook without outputs, counters and what editors put into it."""
    cells = []
    for number, cell in enumerate(notebook["cells"], 1):
        kept = {"cell_type": cell["cell_type"], "id": f"cell-{number}", "metadata": {}}
        if cell["cell_type"] == "code":
            kept |= {"execution_count": None, "outputs": []}
        tags = cell.get("metadata", {}).get("tags")
        if tags:
            kept["metadata"] = {"tags": tags}
        source = cell["source"]
        text = source if isinstance(source, str) else "".join(source)
        cells.append({**kept, "source": text.splitlines(keepends=True)})
    metadata = {k: v for k, v in notebook["metadata"].items() if k in METADATA}
    for key in ("version", "codemirror_mode"):
        metadata.get("language_info", {}).pop(key, None)
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def notebook_text(notebook: dict[str, Any]) -> str:
    """The file's content, as it is committed."""
    return json.dumps(stripped(notebook), indent=1, ensure_ascii=False) + "\n"


def strip() -> int:
    """Takes outputs out of the notebooks."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        clean = notebook_text(json.loads(text))
        if clean != text:
            path.write_text(clean, encoding="utf-8")
            print(f"stripped {path.relative_to(ROOT)}")
    return 0


COMMANDS: dict[str, Callable[[], int]] = {
    "build": build,
    "examples": examples,
    "strip": strip,
}


def main() -> int:
    """Runs one command, or those that check something."""
    parser = argparse.ArgumentParser(description="The documents.")
    parser.add_argument("command", nargs="?", choices=[*COMMANDS])
    command = parser.parse_args().command
    if command:
        return COMMANDS[command]()
    return build() or examples()


if __name__ == "__main__":
    sys.exit(main())
