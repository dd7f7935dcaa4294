# SPDX-License-Identifier: MIT
"""Workers of multiprocessing, whose end the profiler hears of here.

A worker that was forked ends by ``os._exit``, without exit handlers of Python or C, but
multiprocessing calls its own finalizers before.  The native module imports this one,
before the fork or in the worker; there in its target, or with the main module, when
multiprocessing has not said yet that it is a worker.
"""

from __future__ import annotations

import os
import sys

# Below the priorities of others, which may still use HIP.
_LAST = -1_000_000

_watched = 0  # the process whose end is heard of


def _leave() -> None:
    core = sys.modules.get("hipadapt._core")
    if core is not None:
        core.profile_leave()


def _watch(_: object = None) -> None:
    global _watched
    from multiprocessing import util

    if _watched != os.getpid():
        _watched = os.getpid()
        util.Finalize(None, _leave, exitpriority=_LAST)


def _look() -> None:
    """At the import and in each forked child.  It does not import multiprocessing."""
    process = sys.modules.get("multiprocessing.process")
    util = sys.modules.get("multiprocessing.util")
    if process is None or util is None:
        return
    if process.parent_process() is not None and _watched == 0:
        _watch()  # a worker that runs
    else:
        util.register_after_fork(_look, _watch)  # when its run begins


_look()
os.register_at_fork(after_in_child=_look)
