# SPDX-License-Identifier: MIT
"""HIP libraries that do as tests tell them."""
