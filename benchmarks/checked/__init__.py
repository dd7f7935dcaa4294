# SPDX-License-Identifier: MIT
"""What checks of kernels cost: `python -m benchmarks.checked`."""
