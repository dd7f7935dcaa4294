# SPDX-License-Identifier: MIT
"""Kernels with a numpy reference, run by both executors of the CPU device."""
