# SPDX-License-Identifier: MIT
"""``python -m hipadapt run``: ROCm programs on the CPU device."""
