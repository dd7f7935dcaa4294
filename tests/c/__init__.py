# SPDX-License-Identifier: MIT
"""Tests of the plain C half, written in C: tests/c/test_*.c, run by tests/c/run.py."""
