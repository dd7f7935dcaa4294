# SPDX-License-Identifier: MIT
"""A folder for PYTHONPATH: see sitecustomize."""
