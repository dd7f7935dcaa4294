# SPDX-License-Identifier: MIT
"""Builds the native products: hipadapt._core and the libraries of hipadapt/_lib.

How they are compiled, and the environment switches, are in tools/native.py.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from tools import long_description, native, target  # noqa: E402

DEBUG_DATA = ROOT / "build" / "debug"


class NativeBuild(build_ext):
    """Takes the place of setuptools' own way to build extensions."""

    made: list[str]

    def run(self) -> None:
        """Builds every product and puts it where the package looks for it."""
        package = (ROOT if self.inplace else Path(self.build_lib)) / "hipadapt"
        # Who builds a wheel gives it to others; in the tree, debuggers are used.
        debug = None if self.inplace or native.instrumentation() else DEBUG_DATA
        self.made = [str(path) for path in native.build_package(package, debug)]

    def get_outputs(self) -> list[str]:
        """The files that belong to the installed package."""
        return [] if self.inplace else self.made

    def get_output_mapping(self) -> dict[str, str]:
        """Built file to source tree: in an editable install they are the same."""
        return {}


def readme() -> str:
    """What is said about the package elsewhere, with links to this version."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    package = (ROOT / "hipadapt" / "__init__.py").read_text(encoding="utf-8")
    (repository,) = re.findall(r'^Repository = "(.*)"$', project, re.MULTILINE)
    (version,) = re.findall(r'^__version__ = "(.*)"$', package, re.MULTILINE)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return long_description.outside(text, repository, f"v{version}")


setup(
    long_description=readme(),
    long_description_content_type="text/markdown",
    # One name makes the wheel a platform's own; NativeBuild knows the real sources.
    ext_modules=[Extension("hipadapt._core", sources=[])],
    cmdclass={"build_ext": NativeBuild},
    options={"bdist_wheel": {"plat_name": f"linux_{target.machine()}"}},
)
