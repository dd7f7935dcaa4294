# SPDX-License-Identifier: MIT
"""Traces as files: read, summed up, compared, merged.  Needs no device."""
