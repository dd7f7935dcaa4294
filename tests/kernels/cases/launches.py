# SPDX-License-Identifier: MIT
"""Launches that a test describes; see tests/kernels/fuzz_c.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..case import Check, case, same
from ..gpu import Extent, Gpu, HipFailure


@dataclass(frozen=True)
class Job:
    """A launch whose pointers point into one piece of memory, and what it must leave."""

    label: str
    kernel: str
    grid: Extent
    block: Extent
    offsets: Sequence[int]  # of the pointers, in bytes
    scalars: Sequence[Any]  # of numpy types, behind the pointers
    before: np.ndarray
    after: np.ndarray
    launch: Any = None  # the test's own
    shared: int = 0  # bytes of dynamic shared memory


@case(group="asked")
def launches(
    gpu: Gpu, source: str, options: Sequence[str], jobs: Sequence[Job]
) -> Iterator[Check]:
    """The memory after each launch; empty where the launch failed."""
    module = gpu.build(source, options=options)
    memory = gpu.upload(np.zeros(max(job.before.size for job in jobs), np.uint8))
    for job in jobs:
        gpu.write(memory, job.before)
        arguments = [memory + offset for offset in job.offsets]
        try:
            function = module.function(job.kernel)
            values = [*arguments, *job.scalars]
            gpu.launch(function, job.grid, job.block, values, shared=job.shared)
            gpu.wait()
        except HipFailure as failure:
            text = f"{job.label}: {failure}"
            yield same(text, np.empty(0, np.uint8), job.after)
            gpu.reset()
            module = gpu.build(source, options=options)
            memory = gpu.upload(np.zeros(max(j.before.size for j in jobs), np.uint8))
            continue
        yield same(job.label, gpu.download(memory, job.before), job.after)
