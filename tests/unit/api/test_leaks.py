# SPDX-License-Identifier: MIT
"""No use of an exported type leaves objects behind, whether it works or refuses.

Functions have the same in test_every_wrong_kind.py, as the mode `leaks`.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.conftest import ROOT, Run

# All types together; what is exported only grows.
LEAST_USES = 200_000


def test_types_leave_no_objects_behind(run_python: Run) -> None:
    done = run_python(
        """
        import sys
        from tests.unit.api import type_leaks
        sys.exit(type_leaks.main())
        """
    )

    answer = json.loads(done.stdout)
    assert not answer["problems"], "\n".join(answer["problems"])
    assert answer["uses"] > LEAST_USES


@pytest.mark.plain
def test_a_leak_is_found() -> None:
    """The measurement itself: a use that keeps something each time is named."""
    code = """
from tests.unit.api import probe
kept = []
assert probe.growth(lambda: kept.append(object())) >= probe.TURNS
assert probe.growth(lambda: object()) <= probe.ALLOWED_BLOCKS
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)

    assert done.returncode == 0
