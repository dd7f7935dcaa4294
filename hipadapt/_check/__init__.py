# SPDX-License-Identifier: MIT
"""Findings of checked kernels, as objects, text, JSON and SARIF."""
