# SPDX-License-Identifier: MIT
"""The commands of ``python -m hipadapt``, except ``cc`` and ``run``."""
