# SPDX-License-Identifier: MIT
"""The high-level objects: devices, streams, events, memory, arrays, kernels."""
