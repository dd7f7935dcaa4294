# SPDX-License-Identifier: MIT
"""The commands of ``python -m hipadapt`` but for ``cc`` and ``run``."""
