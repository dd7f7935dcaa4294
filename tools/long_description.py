# SPDX-License-Identifier: MIT
"""README.md as it is shown where the other files are not: on the package's page."""

from __future__ import annotations

import re

LINK = re.compile(r"(!?)\[([^][]*)\]\(([^)\s]+)\)")


def outside(text: str, repository: str, revision: str) -> str:
    """The same text with every link to a file of the tree made one to `repository`."""

    def absolute(found: re.Match[str]) -> str:
        image, words, place = found.groups()
        if re.match(r"https?:|#|mailto:", place):
            return found[0]
        kind = "raw" if image else "blob"
        return f"{image}[{words}]({repository}/{kind}/{revision}/{place})"

    return LINK.sub(absolute, text)
