# SPDX-License-Identifier: MIT
"""Every kernel against numpy, and the two executors against each other."""

from __future__ import annotations

import os

import numpy as np
import pytest

from .case import CASES, Check
from .conftest import WorkerOf
from .worker import CaseFailure, load_cases

load_cases()
SLOW = pytest.mark.skipif(
    "HIPADAPT_SLOW_TESTS" not in os.environ,
    reason="takes a minute; HIPADAPT_SLOW_TESTS=1 runs it",
)
# Calls by address and the device's heap: lanes do not run them in step.
NOT_IN_STEP = {
    "barrier_inside_functions",
    "function_pointers",
    "objects_from_the_device_heap",
    "virtual_functions",
}
TABLE = [
    pytest.param(
        case.name,
        warp_size,
        id=f"{case.name}-{warp_size}",
        marks=SLOW if case.group == "slow" else (),
    )
    for case in CASES.values()
    if case.group in ("kernels", "slow")
    for warp_size in case.warp_sizes
]


def assert_near(check: Check) -> None:
    """The device's array has numpy's shape, and its values within tolerance."""
    assert check.got.shape == check.want.shape, check.label
    if check.rtol == 0 and check.atol == 0:
        np.testing.assert_array_equal(check.got, check.want, err_msg=check.label)
    else:
        np.testing.assert_allclose(
            check.got, check.want, check.rtol, check.atol, err_msg=check.label
        )


@pytest.mark.parametrize("executor", ["reference", "fast", "lockstep"])
@pytest.mark.parametrize(("name", "warp_size"), TABLE)
def test_kernel_gives_numpys_numbers(
    worker_of: WorkerOf, name: str, warp_size: int, executor: str
) -> None:
    if executor == "lockstep":
        worker = worker_of("fast", warp_size, HIPADAPT_CPU_LOCKSTEP="1")
    else:
        worker = worker_of(executor, warp_size)

    if executor == "lockstep" and name in NOT_IN_STEP:
        with pytest.raises(CaseFailure, match="cannot run in step"):
            worker.run(name)
        return
    checks = worker.run(name)

    assert checks, "a case without checks proves nothing"
    for check in checks:
        assert_near(check)


@pytest.mark.parametrize(("name", "warp_size"), TABLE)
def test_executors_agree(worker_of: WorkerOf, name: str, warp_size: int) -> None:
    reference = worker_of("reference", warp_size).run(name)
    fast = worker_of("fast", warp_size).run(name)

    for one, other in zip(reference, fast, strict=True):
        assert one.label == other.label
        if one.bitwise:
            # Bytes, so that NaN payloads and the sign of zero count as well.
            assert one.got.tobytes() == other.got.tobytes(), one.label
        else:
            np.testing.assert_allclose(
                other.got, one.got, one.rtol, one.atol, err_msg=one.label
            )


def test_table_has_forty_kernels() -> None:
    assert sum(case.group == "kernels" for case in CASES.values()) >= 40
