# SPDX-License-Identifier: MIT
"""Random kernels whose launches are proved right, or are not (csrc/cpu/check/proof.h)."""
