# SPDX-License-Identifier: MIT
"""What is kept on disk is known by the text of the code that made it.

A change of that code, of whatever kind, gives another version, so what an older one
left is made anew and never misread.
"""

from __future__ import annotations

import hashlib
from pathlib import Path


def version_of(*modules: str) -> str:
    """A hash of the texts of these modules of this folder; its path is not in it."""
    hash_ = hashlib.sha256()
    for name in modules:
        text = Path(__file__).with_name(name + ".py").read_bytes()
        hash_.update(b"%s %d\n%s" % (name.encode(), len(text), text))
    return hash_.hexdigest()[:16]
