# SPDX-License-Identifier: MIT
"""Makes, checks and lists what a release consists of; see `__main__`."""
