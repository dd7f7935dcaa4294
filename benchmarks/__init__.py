# SPDX-License-Identifier: MIT
"""Measurements of hipadapt beside other ways to do the same; see README.md."""
