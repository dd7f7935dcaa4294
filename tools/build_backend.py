# SPDX-License-Identifier: MIT
"""The build backend: setuptools, plus ziglang where no C compiler will do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403

ZIGLANG = "ziglang==0.15.2"

_Settings = Mapping[str, Any] | None


def compiler_requirements() -> list[str]:
    """What must be installed to compile: nothing, or ziglang."""
    if os.environ.get("CC"):
        return []
    found = shutil.which("gcc") or shutil.which("clang")
    return [] if found and not os.environ.get("HIPADAPT_TARGET") else [ZIGLANG]


def get_requires_for_build_wheel(config_settings: _Settings = None) -> list[str]:
    """Build requirements of a wheel."""
    return (
        build_meta.get_requires_for_build_wheel(config_settings)
        + compiler_requirements()
    )


def get_requires_for_build_editable(config_settings: _Settings = None) -> list[str]:
    """Build requirements of an editable install."""
    return (
        build_meta.get_requires_for_build_editable(config_settings)
        + compiler_requirements()
    )
