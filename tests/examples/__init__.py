# SPDX-License-Identifier: MIT
"""The programs that users read and start, run as they start them."""
