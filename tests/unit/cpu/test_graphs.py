# SPDX-License-Identifier: MIT
"""Graphs, captures and stream memory operations from Python; in C: tests/c/cpu/graph."""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

SOURCE = """
extern "C" __global__ void add(int *data, int value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += value;
}
extern "C" __global__ void times(int *data, int value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= value;
}
"""
N = 1000
BYTES = 4 * N
RELAXED, NON_BLOCKING = 2, 1


class Device:
    """HIP with the status taken off, kernels, and what a test has made."""

    def __init__(self, hip: ModuleType) -> None:
        import hipadapt
        from hipadapt import hiprtc

        self.hip = hip
        self.error_text = hipadapt.error_text
        self.kept: list[Any] = []  # what parameters point to
        program = hiprtc.hiprtcCreateProgram(SOURCE, "graph.hip", 0, None, None)[1]
        assert hiprtc.hiprtcCompileProgram(program, 0, None)[0] == 0
        code = bytearray(hiprtc.hiprtcGetCodeSize(program)[1])
        assert hiprtc.hiprtcGetCode(program, code)[0] == 0
        self.module = self("ModuleLoadData", code)
        self.add = self("ModuleGetFunction", self.module, "add")
        self.times = self("ModuleGetFunction", self.module, "times")

    def __call__(self, name: str, *arguments: Any) -> Any:
        """The outputs of a call that has to succeed."""
        status, *outputs = getattr(self.hip, f"hip{name}")(*arguments)
        assert int(status) == 0, f"hip{name}: {status!r} {self.error_text()}"
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def status(self, name: str, *arguments: Any) -> str:
        return str(getattr(self.hip, f"hip{name}")(*arguments)[0].name)

    def array(self, values: Any) -> Any:
        array = self("Malloc", BYTES)
        host = np.broadcast_to(np.int32(values), N).copy()
        self("MemcpyHtoD", array, host, BYTES)
        return array

    def read(self, array: Any) -> np.ndarray[Any, Any]:
        back = np.empty(N, np.int32)
        self("MemcpyDtoH", back, array, BYTES)
        return back

    def stream(self) -> Any:
        return self("StreamCreateWithFlags", NON_BLOCKING)

    def launch(self, kernel: Any, array: Any, value: int, stream: Any) -> None:
        values = (ctypes.c_void_p(int(array)), ctypes.c_int(value), ctypes.c_int(N))
        grid = (-(-N // 64), 1, 1, 64, 1, 1, 0)
        self("ModuleLaunchKernel", kernel, *grid, stream, None, values)

    def params(self, kernel: Any, array: Any, value: int) -> Any:
        values = (ctypes.c_void_p(int(array)), ctypes.c_int(value), ctypes.c_int(N))
        addresses = (ctypes.c_void_p * 3)(*map(ctypes.addressof, values))
        self.kept += [values, addresses]
        return self.hip.hipKernelNodeParams(
            func=kernel,
            gridDim=(-(-N // 64), 1, 1),
            blockDim=(64, 1, 1),
            kernelParams=addresses,
        )

    def kernel_node(self, graph: Any, after: list[Any], *what: Any) -> Any:
        return self("GraphAddKernelNode", graph, after, len(after), self.params(*what))

    def instantiate(self, graph: Any) -> Any:
        return self("GraphInstantiateWithFlags", graph, 0)

    def run(self, executable: Any, times: int = 1) -> None:
        stream = self.stream()
        for _ in range(times):
            self("GraphLaunch", executable, stream)
        self("StreamSynchronize", stream)
        self("StreamDestroy", stream)


@pytest.fixture
def device(cpu: ModuleType) -> Iterator[Device]:
    made = Device(cpu)
    yield made
    # A test that failed may leave a capture behind.
    mode = cpu.hipStreamCaptureMode(RELAXED)
    cpu.hipThreadExchangeStreamCaptureMode(mode)
    cpu.hipDeviceSynchronize()
    cpu.hipModuleUnload(made.module)
    cpu.hipThreadExchangeStreamCaptureMode(cpu.hipStreamCaptureMode(0))


# ---- captures --------------------------------------------------------------------------


def test_captured_stream_does_its_work_at_launch_only(device: Device) -> None:
    array, other = device.array(1), device.array(0)
    stream = device.stream()

    device("StreamBeginCapture", stream, RELAXED)
    device.launch(device.add, array, 2, stream)
    device.launch(device.times, array, 10, stream)
    device("MemcpyDtoDAsync", other, array, BYTES, stream)
    device("MemsetD32Async", array, 5, N, stream)
    graph = device("StreamEndCapture", stream)
    before = device.read(array), device.read(other)
    executable = device.instantiate(graph)
    device("GraphDestroy", graph)
    device.run(executable)

    assert (before[0] == 1).all() and (before[1] == 0).all()
    assert (device.read(array) == 5).all()
    assert (device.read(other) == 30).all()
    device.run(executable)
    assert (device.read(other) == 70).all()


def test_fork_and_join_by_events_make_branches(device: Device) -> None:
    left, right = device.array(1), device.array(2)
    main, side = device.stream(), device.stream()
    fork, join = device("EventCreate"), device("EventCreate")

    device("StreamBeginCapture", main, RELAXED)
    device.launch(device.add, left, 1, main)
    device("EventRecord", fork, main)
    device("StreamWaitEvent", side, fork, 0)
    device.launch(device.times, right, 3, side)
    device.launch(device.times, left, 3, main)
    device("EventRecord", join, side)
    device("StreamWaitEvent", main, join, 0)
    device("MemcpyDtoDAsync", left, right, BYTES // 2, main)
    graph = device("StreamEndCapture", main)

    nodes, count = device("GraphGetNodes", graph)
    roots, root_count = device("GraphGetRootNodes", graph)
    assert count == len(list(nodes)) == 4
    assert root_count == 1
    assert device("GraphNodeGetDependentNodes", roots[0])[1] == 2
    device.run(device.instantiate(graph))
    got = device.read(left)
    assert (got[: N // 2] == 6).all() and (got[N // 2 :] == 6).all()
    assert (device.read(right) == 6).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda d, s: ("StreamSynchronize", s),
        lambda d, s: ("StreamQuery", s),
        lambda d, s: ("MemcpyWithStream", d.array_, d.array_, 4, 3, s),
    ],
    ids=["synchronize", "query", "copy and wait"],
)
def test_calls_that_wait_end_a_capture(
    device: Device, call: Callable[[Any, Any], tuple[Any, ...]]
) -> None:
    device.array_ = device.array(0)  # type: ignore[attr-defined]
    stream = device.stream()
    device("StreamBeginCapture", stream, RELAXED)

    name, *arguments = call(device, stream)
    status = device.status(name, *arguments)

    assert status == "hipErrorStreamCaptureUnsupported"
    state = device("StreamIsCapturing", stream)
    assert state.name == "hipStreamCaptureStatusInvalidated"
    assert device.status("MemsetAsync", device.array_, 0, 4, stream) == (  # type: ignore[attr-defined]
        "hipErrorStreamCaptureInvalidated"
    )
    assert device.status("StreamEndCapture", stream) == (
        "hipErrorStreamCaptureInvalidated"
    )
    device("StreamSynchronize", stream)


@pytest.mark.parametrize("mode", [0, 1, 2], ids=["global", "thread local", "relaxed"])
def test_unsafe_calls_follow_the_mode(device: Device, mode: int) -> None:
    stream = device.stream()
    answers: list[str] = []

    def elsewhere() -> None:
        array = device.hip.hipMalloc(64)
        answers.append(array[0].name)

    device("StreamBeginCapture", stream, mode)
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    answers.append(device.status("Malloc", 64))
    ended = device.status("StreamEndCapture", stream)

    refused, good = "hipErrorStreamCaptureUnsupported", "hipSuccess"
    assert answers == [refused if mode < 1 else good, refused if mode < 2 else good]
    assert ended == ("hipSuccess" if mode == 2 else "hipErrorStreamCaptureInvalidated")


def test_work_that_was_not_joined_is_refused(device: Device) -> None:
    main, side = device.stream(), device.stream()
    array, event = device.array(0), device("EventCreate")
    device("StreamBeginCapture", main, RELAXED)
    device("EventRecord", event, main)
    device("StreamWaitEvent", side, event, 0)
    device.launch(device.add, array, 1, side)

    assert device.status("StreamEndCapture", side) == "hipErrorStreamCaptureUnmatched"
    assert device.status("StreamEndCapture", main) == "hipErrorStreamCaptureUnjoined"
    device("StreamSynchronize", side)
    assert (device.read(array) == 0).all()


def test_legacy_stream_cannot_be_captured_nor_wait_for_one(device: Device) -> None:
    assert device.status("StreamBeginCapture", None, RELAXED) == (
        "hipErrorStreamCaptureUnsupported"
    )
    blocking = device("StreamCreate")
    array = device.array(0)
    device("StreamBeginCapture", blocking, RELAXED)
    assert device.status("MemsetAsync", array, 0, 4, None) == (
        "hipErrorStreamCaptureImplicit"
    )
    assert device.status("StreamEndCapture", blocking) == (
        "hipErrorStreamCaptureInvalidated"
    )


# ---- nodes -----------------------------------------------------------------------------


def test_arguments_are_those_of_when_the_node_was_made(device: Device) -> None:
    array = device.array(0)
    graph = device("GraphCreate", 0)
    values = [ctypes.c_void_p(int(array)), ctypes.c_int(7), ctypes.c_int(N)]
    addresses = (ctypes.c_void_p * 3)(*map(ctypes.addressof, values))
    params = device.params(device.add, array, 0)
    params.kernelParams = addresses
    device("GraphAddKernelNode", graph, None, 0, params)

    values[1].value = 99  # type: ignore[union-attr]
    del params, addresses, values
    gc.collect()
    executable = device.instantiate(graph)
    device.run(executable, times=3)

    assert (device.read(array) == 21).all()


def test_host_function_node_is_called_in_its_place(device: Device) -> None:
    array = device.array(1)
    seen: list[int] = []
    view = (ctypes.c_int * N).from_address(int(array))
    graph = device("GraphCreate", 0)
    first = device.kernel_node(graph, [], device.add, array, 4)
    host = device(
        "GraphAddHostNode", graph, [first], 1, (lambda _: seen.append(view[3]), None)
    )
    device.kernel_node(graph, [host], device.times, array, 2)
    executable = device.instantiate(graph)
    device("GraphDestroy", graph)
    gc.collect()

    device.run(executable, times=2)

    assert seen == [5, 14]


def test_update_changes_parameters_of_executable_only(device: Device) -> None:
    array = device.array(0)
    graph = device("GraphCreate", 0)
    node = device.kernel_node(graph, [], device.add, array, 1)
    executable = device.instantiate(graph)

    device(
        "GraphExecKernelNodeSetParams",
        executable,
        node,
        device.params(device.add, array, 10),
    )
    device.run(executable)
    after_set = device.read(array)[0]
    device("GraphKernelNodeSetParams", node, device.params(device.add, array, 100))
    device.run(executable)
    after_graph = device.read(array)[0]
    failed, result = device("GraphExecUpdate", executable, graph)
    device.run(executable)

    assert (after_set, after_graph, device.read(array)[0]) == (10, 20, 120)
    assert failed is None and result.name == "hipGraphExecUpdateSuccess"


def test_update_refuses_another_shape(device: Device) -> None:
    array = device.array(0)
    graphs = [device("GraphCreate", 0) for _ in range(3)]
    for graph in graphs:
        first = device.kernel_node(graph, [], device.add, array, 1)
    device(
        "GraphAddEmptyNode",
        graphs[1],
        [first := device("GraphGetNodes", graphs[1])[0][0]],
        1,
    )
    assert first is not None
    executable = device.instantiate(graphs[0])
    changed = device("GraphCreate", 0)
    device("GraphAddEmptyNode", changed, None, 0)

    hip = device.hip
    more = hip.hipGraphExecUpdate(executable, graphs[1])
    other = hip.hipGraphExecUpdate(executable, changed)

    assert more[0].name == other[0].name == "hipErrorGraphExecUpdateFailure"
    device.run(executable)
    assert (device.read(array) == 1).all()


def test_clone_and_child_graphs_are_copies(device: Device) -> None:
    array = device.array(1)
    graph = device("GraphCreate", 0)
    node = device.kernel_node(graph, [], device.times, array, 3)
    clone = device("GraphClone", graph)
    outer = device("GraphCreate", 0)
    child = device("GraphAddChildGraphNode", outer, None, 0, graph)
    device.kernel_node(outer, [child], device.add, array, 1)

    assert device("GraphNodeFindInClone", node, clone) != node
    device("GraphKernelNodeSetParams", node, device.params(device.times, array, 100))
    device("GraphDestroy", graph)
    device.run(device.instantiate(clone))
    device.run(device.instantiate(outer))

    assert (device.read(array) == 10).all()


def test_a_disabled_node_is_passed_over(device: Device) -> None:
    array = device.array(0)
    graph = device("GraphCreate", 0)
    node = device.kernel_node(graph, [], device.add, array, 1)
    device.kernel_node(graph, [node], device.add, array, 10)
    executable = device.instantiate(graph)

    device("GraphNodeSetEnabled", executable, node, 0)
    device.run(executable)
    enabled = device("GraphNodeGetEnabled", executable, node)

    assert enabled == 0
    assert (device.read(array) == 10).all()


@pytest.mark.parametrize("first", ["graph", "exec", "stream", "module", "memory"])
def test_things_may_be_destroyed_in_any_order(device: Device, first: str) -> None:
    array = device.array(0)
    keep = device.array(0)
    module = device("ModuleLoadData", code_of(device))
    kernel = device("ModuleGetFunction", module, "add")
    stream = device.stream()
    graph = device("GraphCreate", 0)
    node = None
    for _ in range(50):
        node = device.kernel_node(graph, [node] if node else [], kernel, array, 1)
    device("GraphAddMemcpyNode1D", graph, [node], 1, keep, array, BYTES, 3)
    executable = device.instantiate(graph)
    device("GraphLaunch", executable, stream)
    ends = {
        "graph": ("GraphDestroy", graph),
        "exec": ("GraphExecDestroy", executable),
        "stream": ("StreamDestroy", stream),
        "module": ("ModuleUnload", module),
        "memory": ("Free", array),
    }

    for name, arguments in [(first, ends.pop(first)), *ends.items()]:
        assert device.status(*arguments) == "hipSuccess", name
    device("DeviceSynchronize")

    assert (device.read(keep) == 50).all()
    for stale, handle in (("GraphDestroy", graph), ("GraphExecDestroy", executable)):
        assert device.status(stale, handle) == "hipErrorInvalidValue"


def code_of(device: Device) -> bytes:
    from hipadapt import hiprtc

    program = hiprtc.hiprtcCreateProgram(SOURCE, "graph.hip", 0, None, None)[1]
    hiprtc.hiprtcCompileProgram(program, 0, None)
    code = bytearray(hiprtc.hiprtcGetCodeSize(program)[1])
    hiprtc.hiprtcGetCode(program, code)
    return bytes(code)


def test_user_object_ends_with_its_last_graph(device: Device) -> None:
    ended: list[int] = []
    graph = device("GraphCreate", 0)
    made = device("UserObjectCreate", None, lambda _: ended.append(1), 1, 1)
    device(
        "GraphRetainUserObject", graph, made, 1, 1
    )  # the graph has the reference now
    executable = device.instantiate(graph)

    device("GraphDestroy", graph)
    before = list(ended)
    device("GraphExecDestroy", executable)

    assert before == [] and ended == [1]
    assert device.status("UserObjectRetain", made, 1) == "hipErrorInvalidValue"


def test_debug_print_names_nodes_and_edges(device: Device, tmp_path: Path) -> None:
    array = device.array(0)
    graph = device("GraphCreate", 0)
    node = device.kernel_node(graph, [], device.times, array, 3)
    device("GraphAddEmptyNode", graph, [node], 1)
    path = tmp_path / "graph.dot"

    device("GraphDebugDotPrint", graph, str(path), 1)

    text = path.read_text()
    assert text.startswith("digraph") and "times" in text and "EMPTY" in text
    assert text.count("->") == 1 and text.count("{") == text.count("}")


# ---- stream memory operations ----------------------------------------------------------


def test_stream_waits_for_a_value_that_python_writes(device: Device) -> None:
    word = device("HostMalloc", 8, 0)
    value = ctypes.c_uint32.from_address(int(word))
    value.value = 0
    array, stream = device.array(1), device.stream()

    device("StreamWaitValue32", stream, word, 5, 1, 0xFFFFFFFF)
    device.launch(device.add, array, 1, stream)
    time.sleep(0.01)
    before = device.status("StreamQuery", stream)
    value.value = 5
    device("StreamWriteValue32", stream, word, 9, 0)
    device("StreamSynchronize", stream)

    assert before == "hipErrorNotReady"
    assert value.value == 9
    assert (device.read(array) == 2).all()


def test_graph_whose_memory_is_gone_is_refused(device: Device) -> None:
    gone, left = device.array(1), device.array(2)
    graphs = []
    for dst, src in ((left, gone), (gone, left)):
        graph = device("GraphCreate", 0)
        device("GraphAddMemcpyNode1D", graph, None, 0, dst, src, BYTES, 3)
        graphs.append(device("GraphInstantiate", graph, None, 0)[0])
    stream = device.stream()
    device("Free", gone)

    for graph in graphs:
        assert device.status("GraphLaunch", graph, stream) == "hipErrorInvalidValue"

    device("StreamSynchronize", stream)
    assert device.read(left).tolist() == [2] * N


@pytest.mark.parametrize("size", [64, 4096, 1 << 20])
@pytest.mark.parametrize("captured", [True, False])
def test_graph_does_not_copy_into_pages_that_are_gone(
    device: Device, size: int, captured: bool
) -> None:
    """Larger allocations are unmapped when they are freed."""
    gone, left = device("Malloc", size), device("Malloc", size)
    stream = device.stream()
    graphs = []
    for dst, src in ((left, gone), (gone, left)):
        if captured:
            device("StreamBeginCapture", stream, 0)
            device("MemcpyAsync", dst, src, size, 3, stream)
            graph = device("StreamEndCapture", stream)
        else:
            graph = device("GraphCreate", 0)
            device("GraphAddMemcpyNode1D", graph, None, 0, dst, src, size, 3)
        graphs.append(device("GraphInstantiate", graph, None, 0)[0])
    device("Free", gone)

    for graph in graphs:
        assert device.status("GraphLaunch", graph, stream) == "hipErrorInvalidValue"

    device("StreamSynchronize", stream)


def test_graph_copies_memory_that_is_registered_no_more(device: Device) -> None:
    host = np.arange(N, dtype=np.int32)
    array = device.array(0)
    device("HostRegister", host, BYTES, 0)
    graph = device("GraphCreate", 0)
    device("GraphAddMemcpyNode1D", graph, None, 0, array, host, BYTES, 1)
    instance = device("GraphInstantiate", graph, None, 0)[0]
    device("HostUnregister", host)
    stream = device.stream()

    device("GraphLaunch", instance, stream)

    device("StreamSynchronize", stream)
    assert (device.read(array) == host).all()
