# SPDX-License-Identifier: MIT
"""`rocprofiler.trace`: events of this process, in batches and one by one."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections import Counter
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hipadapt import Module, compile_kernel, rocprofiler, zeros
from tests.conftest import Run

CALLS = ["HIP_RUNTIME_API"]
KERNEL = 'extern "C" __global__ void traced_kernel(int *x) { atomicAdd(x, 1); }'


def operations(events: Any) -> list[str]:
    return [rocprofiler.operation_name(e.kind, e.operation) for e in events]


def wait_until(done: Any, seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.005)
    return bool(done())


def test_trace_polled_has_the_calls_in_order(cpu: ModuleType) -> None:
    cpu.hipGetDevice()  # loads the device, which makes calls of its own
    with rocprofiler.trace(kinds=CALLS) as trace:
        cpu.hipGetDevice()
        cpu.hipGetDeviceCount()
        cpu.hipSetDevice(99)
    batch = trace.poll()

    assert batch is not None
    assert operations(batch) == ["hipGetDevice", "hipGetDeviceCount", "hipSetDevice"]
    assert [e.result for e in batch] == [
        0,
        0,
        int(cpu.hipError_t.hipErrorInvalidDevice),
    ]
    assert {e.thread for e in batch} == {threading.get_native_id()}
    assert all(0 < e.start <= e.end for e in batch)
    assert [e.end for e in batch] == sorted(e.end for e in batch)
    assert len({e.correlation for e in batch}) == 3
    assert trace.poll() is None


def test_trace_stopped_sees_nothing(cpu: ModuleType) -> None:
    with rocprofiler.trace(kinds=CALLS) as trace:
        pass
    cpu.hipGetDevice()

    assert trace.poll() is None
    with trace:
        cpu.hipGetDevice()
    assert operations(trace.poll()) == ["hipGetDevice"]


def test_operations_choose_by_name_and_pattern(cpu: ModuleType) -> None:
    chosen = ["hipGetDevice*", "hipMalloc"]
    with rocprofiler.trace(kinds=CALLS, operations=chosen) as trace:
        cpu.hipGetDevice()
        cpu.hipGetDeviceCount()
        cpu.hipFree(cpu.hipMalloc(64)[1])

    assert operations(trace.poll()) == [
        "hipGetDevice",
        "hipGetDeviceCount",
        "hipMalloc",
    ]


def test_device_work_has_times_sizes_and_the_calls_correlation(cpu: ModuleType) -> None:
    data = np.arange(1000, dtype=np.int32)
    cpu.hipDeviceSynchronize()  # lets go of what earlier tests left
    with rocprofiler.trace() as trace:
        memory = cpu.hipMalloc(data.nbytes)[1]
        to_device = cpu.hipMemcpyKind.hipMemcpyHostToDevice
        cpu.hipMemcpy(memory, data, data.nbytes, to_device)
        cpu.hipFree(memory)
        cpu.hipDeviceSynchronize()
    found = {
        rocprofiler.operation_name(e.kind, e.operation): e for e in trace.poll() or ()
    }

    copy = found["MEMORY_COPY_HOST_TO_DEVICE"]
    assert copy.bytes == data.nbytes
    assert (copy.device, copy.source_device) == (0, -1)
    assert copy.source == data.ctypes.data
    assert copy.correlation == found["hipMemcpy"].correlation
    assert found["hipMemcpy"].start <= copy.start <= copy.end
    made = found["MEMORY_ALLOCATION_ALLOCATE"]
    assert (made.bytes, made.device) == (data.nbytes, 0)
    assert made.address == copy.address == int(memory)
    assert found["MEMORY_ALLOCATION_FREE"].address == int(memory)


def test_copies_have_the_stream_of_their_call(cpu: ModuleType) -> None:
    # Given: a stream, memory and a graph with a copy.
    data = np.arange(1000, dtype=np.int32)
    memory = cpu.hipMalloc(data.nbytes)[1]
    to_device = cpu.hipMemcpyKind.hipMemcpyHostToDevice
    arguments = (memory, data, data.nbytes, to_device)
    stream, other = cpu.hipStreamCreate()[1], cpu.hipStreamCreate()[1]
    cpu.hipStreamBeginCapture(
        other, cpu.hipStreamCaptureMode.hipStreamCaptureModeGlobal
    )
    cpu.hipMemcpyAsync(*arguments, other)
    graph = cpu.hipStreamEndCapture(other)[1]
    executable = cpu.hipGraphInstantiate(graph, None, 0)[1]

    # When
    with rocprofiler.trace(kinds=["MEMORY_COPY"]) as trace:
        cpu.hipMemcpy(*arguments)
        cpu.hipMemcpyAsync(*arguments, stream)
        cpu.hipMemcpy2DAsync(memory, 4, data, 4, 4, 1000, to_device, other)
        cpu.hipGraphLaunch(executable, stream)
        cpu.hipDeviceSynchronize()
    copies = sorted(trace.poll() or (), key=lambda event: event.correlation)

    # Then
    wanted = [0, int(stream), int(other), int(stream)]
    assert [event.stream for event in copies] == wanted
    cpu.hipGraphExecDestroy(executable)
    cpu.hipGraphDestroy(graph)
    cpu.hipStreamDestroy(stream)
    cpu.hipStreamDestroy(other)
    cpu.hipFree(memory)


def test_memory_of_arrays_is_memory(cpu: ModuleType) -> None:
    with rocprofiler.trace(kinds=["MEMORY_ALLOCATION"]) as trace:
        wanted = cpu.hipCreateChannelDesc(32, 0, 0, 0, 2)[-1]
        array = cpu.hipMallocArray(wanted, 64, 2, 0)[1]
        cpu.hipFreeArray(array)
    made, freed = trace.poll() or ()

    assert made.bytes >= 64 * 2 * 4
    assert made.address == freed.address != 0


def test_pools_take_memory_and_give_it_back(cpu: ModuleType) -> None:
    stream = cpu.hipStreamCreate()[1]
    with rocprofiler.trace() as trace:
        first = cpu.hipMallocAsync(5000, stream)[1]
        cpu.hipFreeAsync(first, stream)
        again = cpu.hipMallocAsync(5000, stream)[1]
        cpu.hipFreeAsync(again, stream)
        cpu.hipStreamSynchronize(stream)
    cpu.hipStreamDestroy(stream)
    events = list(trace.poll() or ())
    calls = {
        event.correlation: rocprofiler.operation_name(event.kind, event.operation)
        for event in events
        if rocprofiler.kind_name(event.kind) == "HIP_RUNTIME_API"
    }
    made, freed = (
        event
        for event in events
        if rocprofiler.kind_name(event.kind) == "MEMORY_ALLOCATION"
    )

    assert calls[made.correlation] == "hipMallocAsync"
    assert calls[freed.correlation] == "hipStreamSynchronize"
    assert made.address == freed.address == int(first) == int(again)
    assert made.bytes >= 5000
    assert made.end <= freed.start


@pytest.mark.parametrize("allocate", ["hipMalloc", "hipMallocAsync"])
@pytest.mark.parametrize("free", ["hipFree", "hipFreeAsync"])
def test_each_allocation_ends_once(cpu: ModuleType, allocate: str, free: str) -> None:
    stream = cpu.hipStreamCreate()[1]
    with rocprofiler.trace(kinds=["MEMORY_ALLOCATION"]) as trace:
        wanted = (4096, stream) if allocate == "hipMallocAsync" else (4096,)
        memory = getattr(cpu, allocate)(*wanted)[1]
        cpu.hipStreamSynchronize(stream)
        getattr(cpu, free)(*((memory, stream) if free == "hipFreeAsync" else (memory,)))
        cpu.hipStreamSynchronize(stream)
    cpu.hipStreamDestroy(stream)
    made, freed = trace.poll() or ()

    assert made.address == freed.address == int(memory)
    assert made.bytes >= 4096
    assert freed.device == made.device == 0


def test_kernels_have_names_and_shapes(cpu: ModuleType) -> None:
    cell = zeros(1, np.int32)
    with rocprofiler.trace(kinds=["CODE_OBJECT", "KERNEL_DISPATCH"]) as trace:
        kernel = compile_kernel(KERNEL, "traced_kernel")
        kernel[(2, 3), (4, 5)](cell)
        cpu.hipDeviceSynchronize()
    events = list(trace.poll() or ())
    found = {rocprofiler.operation_name(e.kind, e.operation): e for e in events}

    launch = found["KERNEL_DISPATCH_COMPLETE"]
    assert launch.name == "traced_kernel"
    assert (launch.grid, launch.block) == ((8, 15, 1), (4, 5, 1))
    assert launch.device == 0
    assert 0 < launch.start <= launch.end
    symbol = found["CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER"]
    assert symbol.name == "traced_kernel" and symbol.object == launch.object
    loaded = found["CODE_OBJECT_LOAD"]
    assert loaded.object == symbol.source and loaded.bytes > 0 and loaded.phase == 1


def test_names_of_kernels_are_known_without_their_kind(cpu: ModuleType) -> None:
    cell = zeros(1, np.int32)
    kernel = compile_kernel(KERNEL.replace("traced", "unasked"), "unasked_kernel")
    with rocprofiler.trace(kinds=["KERNEL_DISPATCH"]) as trace:
        kernel[1, 1](cell)
        cpu.hipDeviceSynchronize()

    assert [event.name for event in trace.poll() or ()] == ["unasked_kernel"]


FILL = "__amd_rocclr_fillBufferAligned"


def calls_and_work(trace: rocprofiler.trace) -> tuple[list[Any], list[Any]]:
    calls: list[Any] = []
    work: list[Any] = []
    for event in trace.poll() or ():
        name = rocprofiler.operation_name(event.kind, event.operation)
        (calls if name.startswith("hip") else work).append(event)
    # An end is told after the queue has gone on, so another's may be told before.
    return calls, sorted(work, key=lambda event: event.correlation)


@pytest.mark.parametrize(
    ("call", "arguments", "name", "grid", "block"),
    [
        ("hipMemset", (7, 1 << 20), FILL, (4096, 1, 1), (256, 1, 1)),
        ("hipMemsetD8", (7, 100), FILL, (256, 1, 1), (256, 1, 1)),
        ("hipMemsetD16", (7, 8192), FILL, (1024, 1, 1), (256, 1, 1)),
        ("hipMemsetD32", (7, 100), FILL, (256, 1, 1), (256, 1, 1)),
        ("hipMemset2D", (512, 7, 100, 20), FILL + "2D", (112, 32, 1), (16, 16, 1)),
        ("hipMemset2D", (512, 7, 512, 2), FILL, (256, 1, 1), (256, 1, 1)),
    ],
)
def test_fills_are_launches_of_the_kernels_that_amd_has(
    cpu: ModuleType,
    call: str,
    arguments: tuple[int, ...],
    name: str,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
) -> None:
    memory, stream = cpu.hipMalloc(1 << 20)[1], cpu.hipStreamCreate()[1]
    with rocprofiler.trace(kinds=["HIP_RUNTIME_API", "KERNEL_DISPATCH"]) as trace:
        assert getattr(cpu, call)(memory, *arguments)[0] == 0
        assert getattr(cpu, call + "Async")(memory, *arguments, stream)[0] == 0
        cpu.hipDeviceSynchronize()
    calls, fills = calls_and_work(trace)
    cpu.hipStreamDestroy(stream)

    assert [e.name for e in fills] == [name + ".kd"] * 2
    assert {(e.grid, e.block, e.device) for e in fills} == {(grid, block, 0)}
    assert [e.stream for e in fills] == [0, int(stream)]
    assert [e.correlation for e in fills] == [c.correlation for c in calls[:2]]
    assert all(c.start <= e.start < e.end for c, e in zip(calls, fills, strict=False))


def test_each_node_of_a_graph_has_the_launchs_correlation(cpu: ModuleType) -> None:
    # Given: a graph with a kernel, a copy, a fill, a function, and a graph in it.
    kernel = compile_kernel(KERNEL, "traced_kernel")
    stream, other = cpu.hipStreamCreate()[1], cpu.hipStreamCreate()[1]
    memory, source = cpu.hipMalloc(4096)[1], cpu.hipMalloc(4096)[1]
    between = cpu.hipMemcpyKind.hipMemcpyDeviceToDevice
    mode = cpu.hipStreamCaptureMode.hipStreamCaptureModeGlobal
    called = []

    def capture(child: Any) -> Any:
        cpu.hipStreamBeginCapture(other, mode)
        kernel[1, 32, 0, int(other)](memory)
        cpu.hipMemcpyAsync(memory, source, 4096, between, other)
        cpu.hipMemsetAsync(memory, 3, 4096, other)
        cpu.hipLaunchHostFunc(other, lambda _: called.append(1), None)
        graph = cpu.hipStreamEndCapture(other)[1]
        if child is not None:
            cpu.hipGraphAddChildGraphNode(graph, None, 0, child)
        return graph

    executable = cpu.hipGraphInstantiate(capture(capture(None)), None, 0)[1]

    # When: it is launched twice.
    kinds = ["HIP_RUNTIME_API", "KERNEL_DISPATCH", "MEMORY_COPY"]
    with rocprofiler.trace(kinds=kinds) as trace:
        cpu.hipGraphLaunch(executable, stream)
        cpu.hipGraphLaunch(executable, stream)
        cpu.hipStreamSynchronize(stream)

    # Then: what a launch did is that launch's, in its stream.
    calls, work = calls_and_work(trace)
    launches = {e.correlation: e for e in calls[:2]}
    assert Counter((e.correlation, e.name) for e in work) == {
        (launch, name): 2
        for launch in launches
        for name in ("traced_kernel", "", FILL + ".kd")
    }
    assert {e.stream for e in work} == {int(stream)}
    assert all(launches[e.correlation].start <= e.start < e.end for e in work)
    assert len(called) == 4


def test_end_of_the_block_waits_for_kernels(cpu: ModuleType) -> None:
    cell = zeros(1, np.int32)
    slow = """extern "C" __global__ void slow_kernel(int *x)
        { long long end = wall_clock64() + 30 * 1000 * 1000LL;
          while (wall_clock64() < end) atomicAdd(x, 1); }"""
    kernel = compile_kernel(slow, "slow_kernel")
    kinds = ["KERNEL_DISPATCH"]
    for _ in range(20):
        with rocprofiler.trace(kinds=kinds) as trace:
            kernel[1, 1](cell)
        assert len(trace.poll() or ()) == 1
        kernel = compile_kernel(KERNEL, "traced_kernel")


def test_batch_is_an_array_without_a_copy(cpu: ModuleType) -> None:
    with rocprofiler.trace(kinds=CALLS) as trace:
        for _ in range(10):
            cpu.hipGetDevice()
    batch = trace.poll()
    array = np.asarray(batch)

    assert array.dtype == rocprofiler.event_dtype()
    assert array.dtype.itemsize == 128 and array.shape == (10,)
    first = batch[0]
    for name in array.dtype.names or ():
        value = array[0][name]
        if name == "name":
            assert rocprofiler.name_text(int(value)) == first.name
        else:
            assert np.array_equal(value, getattr(first, name)), name
    assert np.shares_memory(array, np.asarray(batch))
    view = memoryview(batch)
    assert (view.itemsize, view.shape, view.nbytes) == (128, (10,), 1280)
    with pytest.raises(IndexError, match="no event 10 of 10"):
        batch[10]
    del batch
    gc.collect()
    assert array["operation"].min() == first.operation


def test_a_million_events_from_two_threads_without_loss(cpu: ModuleType) -> None:
    count = 500_000
    seen: Counter[int] = Counter()
    correlations: list[Any] = []

    def on_batch(batch: rocprofiler.EventBatch) -> None:
        array = np.asarray(batch)
        seen.update(array["thread"].tolist())
        correlations.append(array["correlation"].copy())

    def work() -> None:
        call = cpu.hipGetDevice
        for _ in range(count):
            call()

    with rocprofiler.trace(on_batch, kinds=CALLS, operations=["hipGetDevice"]) as trace:
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert trace.lost == 0
    assert sorted(seen.values()) == [count, count]
    assert len(np.unique(np.concatenate(correlations))) == 2 * count


def test_beyond_the_limit_events_are_lost_and_counted(cpu: ModuleType) -> None:
    with rocprofiler.trace(kinds=CALLS, limit=2048, watermark=512) as trace:
        for _ in range(5000):
            cpu.hipGetDevice()
    batch = trace.poll()

    assert batch is not None
    assert len(batch) + batch.lost == 5000
    assert trace.lost == batch.lost > 0
    assert len(batch) <= 2048
    with trace:
        cpu.hipGetDevice()
    again = trace.poll()
    assert again is not None and (len(again), again.lost) == (1, 0)


@pytest.mark.parametrize("limit", [1, 100])
def test_small_limit_keeps_as_many(cpu: ModuleType, limit: int) -> None:
    with rocprofiler.trace(kinds=CALLS, limit=limit) as trace:
        for _ in range(1000):
            cpu.hipGetDevice()
    batch = trace.poll()

    assert batch is not None
    assert (len(batch), batch.lost) == (limit, 1000 - limit)


def test_batches_come_by_themselves(cpu: ModuleType) -> None:
    batches: list[int] = []
    threads: set[str] = set()

    def on_batch(batch: rocprofiler.EventBatch) -> None:
        batches.append(len(batch))
        threads.add(threading.current_thread().name)

    trace = rocprofiler.trace(on_batch, kinds=CALLS, interval=0.02).start()
    try:
        cpu.hipGetDevice()
        assert wait_until(lambda: sum(batches) == 1)
        assert threads == {"hipadapt-profiler"}
    finally:
        trace.close()


def test_watermark_gives_a_batch_before_the_interval(cpu: ModuleType) -> None:
    batches: list[int] = []
    trace = rocprofiler.trace(
        lambda batch: batches.append(len(batch)),
        kinds=CALLS,
        watermark=10,
        interval=3600,
    ).start()
    try:
        for _ in range(9):
            cpu.hipGetDevice()
        time.sleep(0.05)
        before = sum(batches)
        cpu.hipGetDevice()
        assert wait_until(lambda: sum(batches) == 10)
        assert before == 0
    finally:
        trace.close()


def test_events_come_one_by_one_with_arguments(cpu: ModuleType) -> None:
    events: list[rocprofiler.Event] = []
    with rocprofiler.trace(on_event=events.append, kinds=CALLS, arguments=True):
        memory = cpu.hipMalloc(12345)[1]
        cpu.hipFree(memory)

    assert operations(events) == ["hipMalloc", "hipFree"]
    assert events[0].arguments is not None and events[1].arguments is not None
    assert events[0].arguments["size"] == "12345"
    assert list(events[0].arguments) == ["ptr", "size"]
    assert int(events[1].arguments["ptr"], 16) == int(memory)


@pytest.mark.parametrize("way", ["on_batch", "on_event"])
def test_a_callable_that_raises_is_told_and_goes_on(
    cpu: ModuleType, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    calls: list[int] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: told.append(args.exc_value))

    def fail(_: Any) -> None:
        calls.append(1)
        raise ValueError("no")

    options: dict[str, Any] = {way: fail}
    with rocprofiler.trace(kinds=CALLS, **options) as trace:
        cpu.hipGetDevice()
        trace.flush()
        cpu.hipGetDevice()
        trace.flush()
    trace.close()

    assert len(calls) == 2
    assert [str(error) for error in told] == ["no", "no"]


def test_calls_within_a_callable_are_no_events(cpu: ModuleType) -> None:
    seen: list[str] = []

    def on_batch(batch: rocprofiler.EventBatch) -> None:
        cpu.hipGetDeviceCount()
        seen.extend(operations(batch))

    trace = rocprofiler.trace(on_batch, kinds=CALLS, interval=0.01).start()
    cpu.hipGetDevice()
    time.sleep(0.1)
    trace.close()

    assert seen == ["hipGetDevice"]


def test_flush_within_a_callable_returns(cpu: ModuleType) -> None:
    inner: list[int] = []
    with rocprofiler.trace(
        lambda batch: inner.append(trace.flush()), kinds=CALLS
    ) as trace:
        cpu.hipGetDevice()
    trace.close()

    assert inner == [0]


def test_started_trace_lives_without_a_reference(cpu: ModuleType) -> None:
    counts: list[int] = []
    rocprofiler.trace(
        lambda batch: counts.append(len(batch)),
        kinds=CALLS,
        operations=["hipDeviceGetName"],
        interval=0.01,
    ).start()
    gc.collect()
    cpu.hipDeviceGetName(64, 0)

    assert wait_until(lambda: counts == [1])


def test_a_hundred_traces_use_few_tools(cpu: ModuleType) -> None:
    for number in range(100):
        with rocprofiler.trace(kinds=CALLS) as trace:
            cpu.hipGetDevice()
        assert len(trace.poll() or ()) == 1, number
        if number % 2:
            trace.close()
            trace.close()
        del trace


def test_closed_trace_cannot_start(cpu: ModuleType) -> None:
    trace = rocprofiler.trace(kinds=CALLS)
    trace.close()

    assert "closed" in repr(trace)
    with pytest.raises(RuntimeError, match=r"Trace.start: the trace is closed"):
        trace.start()


def test_two_traces_see_the_same(cpu: ModuleType) -> None:
    with (
        rocprofiler.trace(kinds=CALLS) as one,
        rocprofiler.trace(kinds=CALLS, operations=["hipGetDevice"]) as two,
    ):
        cpu.hipGetDevice()
        cpu.hipGetDeviceCount()

    assert operations(one.poll()) == ["hipGetDevice", "hipGetDeviceCount"]
    assert operations(two.poll()) == ["hipGetDevice"]


def test_unloading_is_an_event_of_its_own(cpu: ModuleType) -> None:
    with rocprofiler.trace(kinds=["CODE_OBJECT"]) as trace:
        kernel = compile_kernel(KERNEL.replace("traced", "gone"), "gone_kernel")
        module = kernel.module
        assert isinstance(module, Module)
        module.unload() if hasattr(module, "unload") else module.close()
    events = [e for e in trace.poll() or () if e.name == "gone_kernel"]

    assert [event.phase for event in events] == [1, 2]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"kinds": ["HIP_API"]}, ValueError, "trace: no kind 'HIP_API'"),
        ({"kinds": []}, ValueError, "trace: argument 'kinds' is empty"),
        (
            {"kinds": CALLS * 2},
            ValueError,
            "trace: argument 'kinds' names a kind twice",
        ),
        ({"kinds": [1.5]}, TypeError, "trace: a kind must be a name or a member"),
        (
            {"kinds": CALLS, "operations": ["hipMaloc"]},
            ValueError,
            "the kinds have no 'hipMaloc'; did you mean 'hipMalloc'",
        ),
        (
            {"operations": [3]},
            ValueError,
            "argument 'operations': numbers go with one kind only",
        ),
        ({"on_batch": 3}, TypeError, "'on_batch' must be callable, not 'int'"),
        ({"on_event": "x"}, TypeError, "'on_event' must be callable, not 'str'"),
        ({"watermark": 0}, ValueError, "'watermark' must be a positive number"),
        ({"limit": -1}, ValueError, "'limit' must be a positive number"),
        ({"limit": 2.5}, TypeError, "'limit' must be int, not 'float'"),
        ({"interval": 0}, ValueError, "'interval' must be a positive number of sec"),
        ({"interval": float("nan")}, ValueError, "'interval' must be a positive"),
        ({"interval": "1"}, TypeError, "'interval' must be float, not 'str'"),
        (
            {"on_batch": print, "arguments": True},
            ValueError,
            "'arguments' goes with 'on_event' only",
        ),
        (
            {"kinds": CALLS, "operations": [100000]},
            rocprofiler.RocprofilerError,
            "ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND",
        ),
    ],
)
def test_wrong_options_are_refused(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        rocprofiler.trace(**options)

    assert message in str(raised.value)


def test_fork_leaves_the_parent_alone_and_the_child_untraced(run_python: Run) -> None:
    done = run_python(
        """
        import os
        from hipadapt import hip, rocprofiler
        hip.hipGetDevice()
        seen = []
        trace = rocprofiler.trace(lambda b: seen.append(len(b)), kinds=["HIP_RUNTIME_API"])
        trace.start()
        hip.hipGetDevice()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                hip.hipGetDevice()
                assert trace.flush() == 0, "no events of the parent"
                try:
                    rocprofiler.trace()
                except rocprofiler.RocprofilerError as error:
                    assert error.status.name == "ROCPROFILER_STATUS_ERROR_FINALIZED"
                    code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        hip.hipGetDevice()
        trace.close()
        print(sum(seen))
        """
    )

    assert done.stdout.split() == ["2"]


def test_a_trace_has_the_calls_of_the_program_only(run_python: Run) -> None:
    done = run_python("""
        from hipadapt import hip, rocprofiler

        with rocprofiler.trace(kinds=["HIP_RUNTIME_API"]) as trace:
            hip.hipGetDevice()
        events = trace.poll()
        print([rocprofiler.operation_name(e.kind, e.operation) for e in events])
    """)

    assert done.stdout == "['hipGetDevice']\n"


def test_exit_gives_what_is_left(run_python: Run) -> None:
    done = run_python(
        """
        from hipadapt import hip, rocprofiler
        hip.hipGetDevice()  # loads the runtime, which takes calls of its own
        def show(batch):
            print("batch", len(batch), flush=True)
        rocprofiler.trace(show, kinds=["HIP_RUNTIME_API"], interval=3600).start()
        for _ in range(3):
            hip.hipGetDevice()
        """
    )

    assert done.stdout.splitlines() == ["batch 3"]
    assert done.stderr == ""
