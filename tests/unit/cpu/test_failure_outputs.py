# SPDX-License-Identifier: MIT
"""Outputs that HIP defines for calls that fail come back as the device wrote them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

NOBODY = 2**64 - 1  # no entry of a batch is at fault


def ok(result: tuple[Any, ...]) -> Any:
    assert int(result[0]) == 0, result
    return result[1] if len(result) == 2 else result[1:]


@pytest.fixture
def hip(cpu: ModuleType) -> ModuleType:
    from hipadapt import hip

    return hip


def empty_nodes(hip: ModuleType, count: int) -> tuple[Any, list[Any]]:
    graph = ok(hip.hipGraphCreate(0))
    return graph, [ok(hip.hipGraphAddEmptyNode(graph, None, 0)) for _ in range(count)]


@pytest.mark.parametrize("bad", [0, 2])
def test_batch_that_fails_tells_the_entry(hip: ModuleType, bad: int) -> None:
    device = ok(hip.hipMalloc(64))
    host = np.zeros(16, np.float32)
    sizes = [8] * 4
    sizes[bad] = 65  # more than the allocation has
    hints = [hip.hipMemcpyAttributes(srcAccessOrder=1)]

    status, index = hip.hipMemcpyBatchAsync(
        [int(device)] * 4, [host.ctypes.data] * 4, sizes, 4, hints, [0], 1, None
    )

    assert (status.name, index) == ("hipErrorInvalidValue", bad)
    ok((hip.hipFree(device)[0],))


def test_batch_that_fails_as_a_whole_names_no_entry(hip: ModuleType) -> None:
    device = ok(hip.hipMalloc(64))
    host = np.zeros(16, np.float32)
    hints = [hip.hipMemcpyAttributes(srcAccessOrder=1)]

    status, index = hip.hipMemcpyBatchAsync(
        [int(device)], [host.ctypes.data], [8], 1, hints, [7], 1, None
    )

    assert (status.name, index) == ("hipErrorInvalidValue", NOBODY)
    ok((hip.hipFree(device)[0],))


def test_3d_batch_that_fails_tells_the_entry(hip: ModuleType) -> None:
    operations = [hip.hipMemcpy3DBatchOp(), hip.hipMemcpy3DBatchOp()]

    status, index = hip.hipMemcpy3DBatchAsync(2, operations, 0, None)

    assert (status.name, index) == ("hipErrorInvalidValue", 0)


def test_graph_with_a_cycle_tells_node_and_reason(hip: ModuleType) -> None:
    graph, nodes = empty_nodes(hip, 3)
    for before, after in ((0, 1), (1, 2), (2, 1)):
        ok(hip.hipGraphAddDependencies(graph, [nodes[before]], [nodes[after]], 1))

    status, made, node, log = hip.hipGraphInstantiate(graph, 256)

    assert status.name == "hipErrorInvalidValue"
    assert made is None
    assert node in nodes[1:]
    assert "cycle" in str(log)
    ok(hip.hipGraphDestroy(graph))


def test_update_that_fails_tells_node_and_result(hip: ModuleType) -> None:
    graph, _ = empty_nodes(hip, 2)
    other, (first, second) = empty_nodes(hip, 2)
    ok(hip.hipGraphAddDependencies(other, [first], [second], 1))
    instance = ok(hip.hipGraphInstantiateWithFlags(graph, 0))

    status, node, result = hip.hipGraphExecUpdate(instance, other)

    assert status.name == "hipErrorGraphExecUpdateFailure"
    assert result.name == "hipGraphExecUpdateErrorTopologyChanged"
    assert node in (None, first, second)
    ok(hip.hipGraphExecDestroy(instance))
    stale = hip.hipGraphExecUpdate(instance, other)
    assert stale[0].name == "hipErrorInvalidValue"
    assert stale[1:] == (None, hip.hipGraphExecUpdateResult.hipGraphExecUpdateError)
    for made in (graph, other):
        ok(hip.hipGraphDestroy(made))


@pytest.mark.parametrize(
    ("symbol", "version", "expected"),
    [
        ("hipNoSuchFunction", 701, "HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND"),
        ("hipMemcpyBatchAsync", 502, "HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT"),
    ],
)
def test_address_that_is_not_found_tells_why(
    hip: ModuleType, symbol: str, version: int, expected: str
) -> None:
    status, address, why = hip.hipGetProcAddress(symbol, version, 0)

    assert (status.name, address, why.name) == ("hipErrorInvalidValue", None, expected)


def test_entry_point_that_is_not_found_tells_why(hip: ModuleType) -> None:
    status, address, why = hip.hipGetDriverEntryPoint("hipNoSuchFunction", 0)

    assert (status.name, address) == ("hipErrorInvalidValue", None)
    assert why.name == "hipDriverEntryPointSymbolNotFound"


def test_other_outputs_of_failed_calls_are_empty(hip: ModuleType) -> None:
    assert hip.hipGraphClone(0x1234)[1:] == (None,)
    assert hip.hipGraphInstantiateWithFlags(0x1234, 0)[1:] == (None,)
    assert hip.hipGraphInstantiate(0x1234, 256)[1:3] == (None, None)
