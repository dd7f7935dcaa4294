# SPDX-License-Identifier: MIT
"""Writes everything that follows from the API description.

The description (``description/*.json``) holds one entry for each function, enum,
record, handle and constant of HIP and hiprtc.  ``python -m tools.codegen`` turns it
into C declarations, the call table, the wrappers, the stubs and the lists in docs;
``python -m tools.codegen --check`` says whether the committed output is fresh.
"""
