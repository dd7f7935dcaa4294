# SPDX-License-Identifier: MIT
"""No call leaves objects behind, whether it works or refuses."""

from __future__ import annotations

import gc
import sys
from types import ModuleType

import pytest

from tools.codegen import emit_wrappers, model

from .test_arguments import REFUSED, plain

WRAPPED = [f for f in model.load().functions if f.wrapped]
TURNS = 40
ALLOWED_BLOCKS = 10
# These wait, or end what other tests use.
LEFT_OUT = {"hipDeviceReset", "hipDeviceSynchronize"}


def growth(call: object, arguments: list[object]) -> int:
    """Blocks that TURNS calls leave behind after as many to warm up."""

    def turn() -> None:
        for _ in range(TURNS):
            try:
                call(*arguments)  # type: ignore[operator]
            except (TypeError, ValueError, OverflowError, BufferError):
                pass

    turn()
    gc.collect()
    before = sys.getallocatedblocks()
    turn()
    gc.collect()
    return sys.getallocatedblocks() - before


@pytest.mark.parametrize("function", WRAPPED, ids=lambda f: f.name)
def test_calls_leave_no_objects_behind(
    cpu: ModuleType, function: model.Function
) -> None:
    import hipadapt.hiprtc

    if function.name in LEFT_OUT or "Create" in function.name:
        pytest.skip("makes or ends something that lives on")
    module = hipadapt.hiprtc if function.module == "hiprtc" else cpu
    call = getattr(module, function.name)
    params = emit_wrappers.form_params(function)[0]
    cases = [[plain(p) for p in params], [None] * (len(params) + 5)]
    for number, param in enumerate(params):
        bad = [plain(p) for p in params]
        bad[number] = REFUSED[param.role][0]
        cases.append(bad)

    for arguments in cases:
        grown = growth(call, arguments)

        assert grown < ALLOWED_BLOCKS, f"{arguments}: {grown} blocks"
