# SPDX-License-Identifier: MIT
"""``hipadapt-cc``: HIP C++ programs for the CPU device."""
