# SPDX-License-Identifier: MIT
"""Pairs of kernels, one wrong and its twin right, for the checks of kernels."""
