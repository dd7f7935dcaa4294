# SPDX-License-Identifier: MIT
"""Tests; see docs/testing.md."""
