# SPDX-License-Identifier: MIT
"""Builds `_core` for the Python that runs this; all else is the same for all."""

from __future__ import annotations

from tools import headers, native

if __name__ == "__main__":
    core = native.build(native.extension(), native.compiler())
    headers.install(core, native.ROOT / "hipadapt" / core.name)
