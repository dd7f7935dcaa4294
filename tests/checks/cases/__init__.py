# SPDX-License-Identifier: MIT
"""The pairs; a module holds those of one theme."""
