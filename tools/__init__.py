# SPDX-License-Identifier: MIT
"""Development tools; none of them is installed."""
