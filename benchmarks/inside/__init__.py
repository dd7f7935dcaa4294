# SPDX-License-Identifier: MIT
"""Times of single parts of the CPU device, in C."""
