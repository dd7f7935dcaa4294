# SPDX-License-Identifier: MIT
"""The CPU device."""

from __future__ import annotations

from types import ModuleType

import pytest


@pytest.fixture
def cpu() -> ModuleType:
    """`hipadapt.hip`, which the test environment puts on the CPU device."""
    from hipadapt import hip, provider

    if provider().name != "cpu":
        pytest.skip("the provider is not the CPU device")
    return hip
