# SPDX-License-Identifier: MIT
"""Random launches, proved by the device and looked at lane by lane in Python.

A launch that is proved must be right: no lane may leave a buffer, no two may race, by
the Python of the kernel; and with proofs off the device must find nothing, either.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field, replace
from typing import Any

from .kernel import (
    BUFFERS,
    Access,
    Kernel,
    Launch,
    Undefined,
    accesses_of,
    is_right,
    wrap,
)
from .kernel import PARAMETERS as KINDS
from .random_kernel import kernel_of

KERNELS = 12  # of one program
LAUNCHES = 5  # of one kernel
ACCESSES_MOST = 60_000
ELEMENTS_MOST = 1 << 16
LANES_MOST = 600


@dataclass
class Result:
    launches: int = 0
    right: int = 0
    proved: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Result) -> None:
        self.launches += other.launches
        self.right += other.right
        self.proved += other.proved
        self.wrong += other.wrong


@dataclass
class Job:
    kernel: Kernel
    launch: Launch
    right: bool

    def request(self) -> dict[str, Any]:
        return {
            "kernel": self.kernel.name,
            "grid": self.launch.grid,
            "block": self.launch.block,
            "numbers": self.launch.numbers,
            "elements": self.launch.elements,
        }


def shape_of(rng: random.Random) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    while True:
        dimensions = rng.choice((1, 1, 2, 2, 3))
        block = [rng.choice((1, 2, 3, 7, 8, 16, 32, 64)) for _ in range(dimensions)]
        grid = [rng.choice((1, 1, 2, 3, 4, 5)) for _ in range(dimensions)]
        lanes = 1
        for count in (*block, *grid):
            lanes *= count
        if lanes <= LANES_MOST:
            more = [1] * (3 - dimensions)
            b, g = (*block, *more), (*grid, *more)
            return (g[0], g[1], g[2]), (b[0], b[1], b[2])


def number_of(rng: random.Random, kind: str, sizes: list[int]) -> int:
    """Near a size of the launch, small, or at a limit of the type."""
    way = rng.random()
    if way < 0.7:
        value = rng.choice(sizes) + rng.choice((0, 0, 0, -1, 1, 2, -3))
    elif way < 0.93:
        value = rng.randrange(0, 40)
    else:
        bits = rng.choice((15, 16, 31, 32, 63))
        value = rng.choice((-1, -2, (1 << bits) - 1, 1 << bits, (1 << bits) - 3))
    return wrap(kind, value)


def launch_of(rng: random.Random) -> Launch:
    grid, block = shape_of(rng)
    sizes = [g * b for g, b in zip(grid, block, strict=True)]
    sizes += [sizes[0] * sizes[1], sizes[0]]
    numbers = tuple(number_of(rng, kind, sizes) for kind in KINDS)
    return Launch(grid, block, numbers)


def with_sizes(rng: random.Random, launch: Launch, accesses: list[Access]) -> Launch:
    """Buffers that end near the last element that is used."""
    near = rng.choice((0, 0, 0, 1, -1, -2, 5))
    elements = []
    for name in BUFFERS:
        used = [a.element for a in accesses if a.buffer == name]
        most = max(used, default=0) + 1
        most = most if 0 < most <= ELEMENTS_MOST else rng.choice((1, 64, 1024))
        elements.append((name, max(1, most + near)))
    return replace(launch, elements=tuple(elements))


def job_of(rng: random.Random, kernel: Kernel, wraps: bool) -> Job | None:
    """None: C does not say what the launch does, or it does too much."""
    launch = launch_of(rng)
    accesses: list[Access] = []
    try:
        for access in accesses_of(kernel, launch, wraps):
            accesses.append(access)
            if len(accesses) > ACCESSES_MOST:
                return None
    except (Undefined, OverflowError):
        return None
    launch = with_sizes(rng, launch, accesses)
    return Job(kernel, launch, is_right(accesses, launch))


def run(source: str, options: list[str], jobs: list[Job], proofs: bool) -> Any:
    """Results of the child, or the text of its failure."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(
            os.environ,
            HIPADAPT_PROVIDER="cpu",
            HIPADAPT_CHECK="memory,race,quiet",
            HIPADAPT_CHECK_PROOF="1" if proofs else "0",
            HIPADAPT_CACHE_DIR=folder,
            HIPADAPT_COMPILE_TIMEOUT="300",
        )
        request = {
            "source": source,
            "options": options,
            "jobs": [job.request() for job in jobs],
        }
        done = subprocess.run(
            [sys.executable, "-m", "tests.proofs.child"],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            env=environment,
            timeout=500,
            check=False,
        )
    if done.returncode != 0:
        return f"status {done.returncode}: {done.stderr[-1500:]}"
    return json.loads(done.stdout)


def tell(job: Job, why: str) -> str:
    return f"{why}\n{job.launch}\n{job.kernel.source()}"


def program(seed: str) -> Result:
    """One program of random kernels."""
    rng = random.Random(seed)
    wraps = rng.random() < 0.5
    kernels = [kernel_of(f"{seed}.{i}", f"k{i}") for i in range(KERNELS)]
    source = "\n".join(kernel.source() for kernel in kernels)
    options = ["-fwrapv"] if wraps else []
    jobs = [
        job
        for kernel in kernels
        for _ in range(LAUNCHES)
        if (job := job_of(rng, kernel, wraps)) is not None
    ]
    result = Result(launches=len(jobs), right=sum(job.right for job in jobs))
    answers = run(source, options, jobs, True)
    if isinstance(answers, str):
        result.wrong.append(f"seed {seed}: {answers}\n{source}")
        return result
    proved = [j for j, a in zip(jobs, answers, strict=True) if a["proved"]]
    result.proved = len(proved)
    result.wrong += [
        tell(job, f"seed {seed}: proved") for job in proved if not job.right
    ]
    checked = run(source, options, proved, False)
    if isinstance(checked, str):
        result.wrong.append(f"seed {seed}: {checked}")
        return result
    for job, answer in zip(proved, checked, strict=True):
        if answer["findings"] or answer["fault"] or answer["proved"]:
            result.wrong.append(tell(job, f"seed {seed}: proved, and found {answer}"))
    return result
