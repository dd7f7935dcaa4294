# SPDX-License-Identifier: MIT
"""A kernel that fails gives a HIP error and a message, and nothing else suffers."""

from __future__ import annotations

import numpy as np
import pytest

from .case import CASES
from .conftest import WorkerOf
from .worker import load_cases

load_cases()
FAULTS = [case.name for case in CASES.values() if case.group == "faults"]


@pytest.mark.parametrize("executor", ["reference", "fast"])
@pytest.mark.parametrize("name", FAULTS)
def test_failing_kernel_leaves_process_and_device_usable(
    worker_of: WorkerOf, name: str, executor: str
) -> None:
    worker = worker_of(executor, HIPADAPT_KERNEL_TIMEOUT="1", HIPADAPT_LOG="1")

    checks = worker.run(name)

    assert checks, "a case without checks proves nothing"
    for check in checks:
        np.testing.assert_array_equal(check.got, check.want, err_msg=check.label)
