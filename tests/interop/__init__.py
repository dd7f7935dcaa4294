# SPDX-License-Identifier: MIT
"""hipadapt beside other packages: same calls, same results."""
