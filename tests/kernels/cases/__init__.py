# SPDX-License-Identifier: MIT
"""The cases, one module a subject."""
