# SPDX-License-Identifier: MIT
"""Sphinx reads this: `python -m tools.docs build`.

The site is MyST Markdown with the theme furo.  The pages below api/ are written, and
the notebooks executed, while it is built.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Examples and notebooks give the same results on every machine.
os.environ.setdefault("HIPADAPT_PROVIDER", "cpu")

project = "hipadapt"
author = "hipadapt contributors"
project_copyright = author
version = release = re.search(
    r'^__version__ = "(.*)"', (ROOT / "hipadapt/__init__.py").read_text(), re.MULTILINE
)[1]

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
]
exclude_patterns = ["_build"]
nitpicky = True
# Types and exceptions in docstrings may be words ("tuple of int") or names of their own
# module; links in documents have dots and are always checked.
nitpick_ignore_regex = [
    ("py:(class|exc)", r"[^.]*"),
    (
        "py:.*",
        r"(typing|typing_extensions|collections|contextlib|ctypes|enum|numpy|np|os)\..*",
    ),
    ("py:.*", r"hipadapt\._\w+(\.\w+)?\._\w+"),
    ("py:.*", r"hipadapt\.rocprofiler\._\w+\.\w+"),
    ("py:class", r"hipadapt\._core\.DebugPayload"),  # only the stream makes events
]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 100
nb_execution_show_tb = True

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
add_module_names = False
toc_object_entries_show_parents = "hide"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"hipadapt {version}"
html_copy_source = False
html_show_sourcelink = False


# Napoleon takes what stands before a colon in the docstring of a property for its type,
# and turns the sentence round.  Properties have annotations; their docstrings stay.
PROPERTIES = ("attribute", "data", "property")
kept: dict[str, list[str]] = {}


def keep(app, what, name, found, options, lines):
    """Before napoleon."""
    if what in PROPERTIES:
        kept[name] = list(lines)


def put_back(app, what, name, found, options, lines):
    """After napoleon."""
    if what in PROPERTIES:
        lines[:] = kept.pop(name)


def setup(app):
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", keep, priority=400)
    app.connect("autodoc-process-docstring", put_back, priority=600)
