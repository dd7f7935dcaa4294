# SPDX-License-Identifier: MIT
"""Where the compiler of the CPU device is installed."""

from __future__ import annotations

import os.path
import sys


def zig_program() -> str | None:
    """Returns the path of the zig program of the ziglang package, or None.

    The finders are asked one by one, because importing importlib.util for its find_spec
    takes several times as long as the search.
    """
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        spec = find("ziglang", None) if find is not None else None
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            program = os.path.join(folder, "zig")
            if os.path.isfile(program):
                return program
    return None
