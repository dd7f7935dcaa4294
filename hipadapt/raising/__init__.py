# SPDX-License-Identifier: MIT
"""HIP and hiprtc with exceptions instead of statuses.

``from hipadapt.raising import hip, hiprtc`` gives the names of `hipadapt.hip` and
`hipadapt.hiprtc`.  Types, enums and constants are the same objects.  Functions take
the same arguments and return their outputs alone: None, the output if there is one, or
the tuple of outputs.  Any status other than success raises the
`hipadapt.errors.HipError` of that status, ``hipErrorNotReady`` of a query included.

The functions that answer with a status as their result, ``hipGetLastError``,
``hipPeekAtLastError`` and ``hipExtGetLastError``, return it.

Examples
--------
>>> from hipadapt.raising import hip
>>> count = hip.hipGetDeviceCount()
>>> memory = hip.hipMalloc(1024)
>>> hip.hipFree(memory)
"""

from __future__ import annotations

from . import hip, hiprtc

__all__ = ["hip", "hiprtc"]
