# SPDX-License-Identifier: MIT
"""Kernels on the CPU device beside OpenCL runtimes, OpenMP and numpy."""
