# SPDX-License-Identifier: MIT
"""hipadapt.debug_tensor: values of arrays in the order of a stream."""

from __future__ import annotations

import ctypes
import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hipadapt
from hipadapt import DebugStream, Stream, _core, debug_tensor, hip
from hipadapt._objects.debug_stream import DebugEvent
from tests.conftest import Run

NUMPY_DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    *("uint64", "float16", "float32", "float64", "complex64", "complex128"),
]
ML_DTYPES = [
    *("bfloat16", "float8_e4m3", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2"),
    *("float8_e5m2fnuz", "float8_e3m4"),
]


@pytest.fixture
def reader() -> Iterator[DebugStream]:
    with DebugStream() as connected:
        yield connected


def shrink(reader: DebugStream, patch: pytest.MonkeyPatch, room: int) -> None:
    """Room for tensors on their way, when what other tests have left is gone."""
    patch.setenv("HIPADAPT_DEBUG_STREAM_BUFFER_BYTES", str(room))
    sent = 0  # the first one makes what is left over go
    for _ in range(2000):
        before = reader.counts.full
        debug_tensor(hipadapt.zeros(1, "uint8"), "shrink")
        hipadapt.Device().synchronize()
        if reader.counts.full == before:
            assert next_event(reader).prefix == "shrink"
            sent += 1
        if sent == 2:
            return
        time.sleep(0.01)
    pytest.fail("there is no room")


@pytest.fixture
def quarter(reader: DebugStream, monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for 256 KiB."""
    shrink(reader, monkeypatch, 256 << 10)


@pytest.fixture
def held() -> Iterator[tuple[Stream, Callable[[], None]]]:
    """A stream that has come to nothing yet, and what lets it go on."""
    # hipFree waits for all streams, whoever lets go of memory.
    gc.collect()
    hipadapt.Device().synchronize()
    assert _core.pending() == 0
    stream, gate = Stream(nonblocking=True), threading.Event()
    stream.call(gate.wait, 20)

    def go_on() -> None:
        gate.set()
        stream.synchronize()

    yield stream, go_on
    go_on()


def next_event(reader: DebugStream) -> DebugEvent:
    event = reader.read_event(timeout=20)
    assert event is not None
    return event


def interface(address: int, shape: tuple[int, ...], **more: Any) -> SimpleNamespace:
    """An array of another package."""
    found = {"data": (address, False), "shape": shape, "typestr": "<f4", "version": 3}
    return SimpleNamespace(shape=shape, __cuda_array_interface__={**found, **more})


# ---- the value ----


def test_event_has_what_was_sent(reader: DebugStream) -> None:
    x = hipadapt.array(np.arange(6, dtype="float32").reshape(2, 3))

    assert debug_tensor(x, "wäights", pipe=2) is None
    event = next_event(reader)

    assert (event.prefix, event.pipe, event.device) == ("wäights", 2, 0)
    assert (event.dtype, event.shape) == ("float32", (2, 3))
    assert event.array.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert reader.read_event() is None


def test_value_is_that_of_its_point_in_the_stream(
    reader: DebugStream, held: tuple[Stream, Callable[[], None]]
) -> None:
    stream, go_on = held
    x = hipadapt.zeros(1000, "int32")

    for value in range(5):
        x.fill(value, stream=stream)
        debug_tensor(x, f"step {value}", stream)
    x.fill(99, stream=stream)
    assert reader.read_event(timeout=0.05) is None  # and nobody has waited
    go_on()

    events = list(reader)
    assert [e.prefix for e in events] == [f"step {value}" for value in range(5)]
    assert [set(e.array.tolist()) for e in events] == [{value} for value in range(5)]


def test_the_arrays_own_stream_is_used(
    reader: DebugStream, held: tuple[Stream, Callable[[], None]]
) -> None:
    stream, go_on = held
    x = hipadapt.full(4, 3, "uint8", stream=stream)

    debug_tensor(x, "own")
    with stream:
        debug_tensor(np.arange(3), "current")
    assert reader.read_event(timeout=0.05) is None
    go_on()

    assert [e.prefix for e in reader] == ["own", "current"]


@pytest.mark.parametrize("name", [*NUMPY_DTYPES, *ML_DTYPES])
@pytest.mark.parametrize("where", ["device", "host"])
def test_dtypes(reader: DebugStream, name: str, where: str) -> None:
    if name in ML_DTYPES:
        pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    from hipadapt._objects.interop import numpy_dtype

    host = np.arange(1, 9).astype(numpy_dtype(name)).reshape(2, 4)

    debug_tensor(hipadapt.array(host) if where == "device" else host, name)
    event = next_event(reader)

    assert (event.dtype, event.shape) == (name, (2, 4))
    assert event.array.dtype == host.dtype
    assert event.array.tobytes() == host.tobytes()


def test_kinds_of_arrays(reader: DebugStream) -> None:
    values = np.arange(6, dtype="float32")
    x = hipadapt.array(values)
    pinned, managed = (
        hipadapt.pinned_empty(6, "float32"),
        hipadapt.managed_empty(6, "float32"),
    )
    frozen = values.copy()
    frozen.flags.writeable = False
    pinned[:] = values
    np.asarray(managed)[:] = values
    arrays: list[Any] = [x, _core.NDBuffer(x), x[0:6], pinned, managed, frozen, values]
    arrays += [
        memoryview(values),
        interface(int(x), (6,)),
        (ctypes.c_float * 6)(*values),
    ]

    for number, array in enumerate(arrays):
        debug_tensor(array, str(number))
        event = next_event(reader)
        assert (event.dtype, event.shape) == ("float32", (6,)), number
        assert event.array.tolist() == values.tolist(), number


def test_tensors_of_torch(reader: DebugStream) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")

    for dtype in ("float32", "bfloat16", "int64"):
        tensor = torch.arange(6, dtype=getattr(torch, dtype)).reshape(3, 2)
        debug_tensor(tensor, dtype)
        event = next_event(reader)
        assert (event.dtype, event.shape) == (dtype, (3, 2))
        assert event.array.astype("float32").sum() == 15


def test_shapes(reader: DebugStream) -> None:
    for shape, told in [((), (1,)), ((1,) * 8, (1,) * 8), ((3, 1, 2), (3, 1, 2))]:
        debug_tensor(np.ones(shape), "host")
        debug_tensor(hipadapt.full(shape, 1.0), "device")
        for event in (next_event(reader), next_event(reader)):
            assert event.shape == told
            assert event.array.sum() == np.ones(shape).sum()


def test_host_memory_is_kept_until_the_stream_comes(
    reader: DebugStream, held: tuple[Stream, Callable[[], None]]
) -> None:
    class Owned(np.ndarray[Any, Any]):
        pass

    stream, go_on = held
    array = np.zeros(1 << 16, "uint8").view(Owned)
    gone = weakref.ref(array)

    debug_tensor(array, "host", stream)
    array[:] = 7  # before the stream comes to it
    del array
    gc.collect()
    assert gone() is not None
    go_on()

    assert set(next_event(reader).array.tolist()) == {7}
    debug_tensor(np.zeros(1), "later", stream)  # looks what is done
    gc.collect()
    assert gone() is None


def test_device_memory_is_kept_until_the_stream_comes(
    reader: DebugStream, held: tuple[Stream, Callable[[], None]]
) -> None:
    stream, go_on = held
    with Stream(nonblocking=True) as other:
        x = hipadapt.full(1000, 5, "uint8", stream=other)
        other.synchronize()
        debug_tensor(x, "dropped", stream)
        del x  # frees in the order of the other stream, which waits for nothing
        others = [hipadapt.full(1000, 6, "uint8", stream=other) for _ in range(4)]
        other.synchronize()
    go_on()

    assert set(next_event(reader).array.tolist()) == {5}
    assert len(others) == 4


# ---- what is refused ----

REFUSED: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: np.zeros((4, 4))[::2], BufferError, "must be C-contiguous memory, not an"),
    (lambda: np.zeros((4, 4)).T, BufferError, r"shape \(4, 4\) with strides \(8, 32\)"),
    (
        lambda: np.zeros((1,) * 9),
        ValueError,
        "has 9 dimensions, at most 8 are possible",
    ),
    (
        lambda: np.zeros((2, 0)),
        ValueError,
        "no elements: dimension 1 of its shape is 0",
    ),
    (lambda: np.zeros(3, ">f4"), TypeError, "has no dtype for: >f4"),
    (lambda: np.zeros(3, "M8[s]"), TypeError, r"has no dtype for: <M8\[s\]"),
    (lambda: np.zeros(3, "i4,f4"), TypeError, r"has no dtype for: \|V8"),
    (lambda: [1, 2], TypeError, "must be an array, which has a shape, not 'list'"),
    (lambda: 4096, TypeError, "must be an array, which has a shape, not 'int'"),
    (lambda: None, TypeError, "must be an array, which has a shape, not 'NoneType'"),
    (lambda: interface(0, (2, 2)), ValueError, "with address 0 for 16 bytes"),
    (lambda: freed(), ValueError, "freed"),
    (
        lambda: interface(0x1000, (2,)),
        ValueError,
        "is at 0x1000, which is no memory of",
    ),
    (lambda: interface(int(hipadapt.zeros(99)), (4,)), ValueError, "or was freed"),
    (lambda: closed(), ValueError, "freed|this array is closed"),
    (lambda: beyond(), ValueError, "the allocation ends before its 404 bytes"),
    (
        lambda: _core.array_from_memory(0x7000, (4,), "f4", memory="host"),
        ValueError,
        "is at 0x7000, where 16 bytes can't be read",
    ),
]


def closed() -> Any:
    x = hipadapt.zeros(3)
    x.close()
    return x


def freed() -> Any:
    x = hipadapt.zeros(3)
    hip.hipFree(x)
    return x


def beyond() -> Any:
    beyond.x = hipadapt.zeros(100, "float32")  # type: ignore[attr-defined]
    address = int(beyond.x)  # type: ignore[attr-defined]
    return interface(address, (101,))


@pytest.mark.parametrize(("make", "kind", "message"), REFUSED)
def test_arrays_that_are_refused(
    reader: DebugStream, make: Callable[[], Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=rf"^debug_tensor: argument 'array'.*({message})"):
        debug_tensor(make(), "bad")
    assert reader.read_event() is None
    debug_tensor(hipadapt.zeros(3), "good")
    assert next_event(reader).prefix == "good"


def test_other_arguments_that_are_refused(reader: DebugStream) -> None:
    x: Any = hipadapt.zeros(3)
    bad: Any = 5

    with pytest.raises(TypeError, match="argument 'prefix' must be a str, not 'int'"):
        debug_tensor(x, bad)
    with pytest.raises(ValueError, match=r"'prefix' must have at most 511 bytes.* 512"):
        debug_tensor(x, "ä" * 256)
    with pytest.raises(ValueError, match=r"'prefix' must have no NUL, not 'a\\x00'"):
        debug_tensor(x, "a\0")
    with pytest.raises(OverflowError, match="debug_tensor: argument 'pipe' must be"):
        debug_tensor(x, "x", pipe=-1)
    with pytest.raises(TypeError, match="debug_tensor: argument 'pipe' must be"):
        debug_tensor(x, "x", pipe="1")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="argument 'stream' must be"):
        debug_tensor(x, "x", "stream")  # type: ignore[arg-type]
    debug_tensor(x, "a" * 511)
    assert next_event(reader).prefix == "a" * 511


# ---- room ----


def test_without_a_client_nothing_is_looked_at() -> None:
    with DebugStream() as reader:
        before = reader.counts
    debug_tensor(hipadapt.zeros(3), "x")
    debug_tensor(np.zeros((4, 4)).T, "strided")
    with DebugStream() as reader:
        assert reader.read_event(timeout=0.05) is None
        assert reader.counts.closed - before.closed == 2


def test_client_that_leaves_before_the_stream_comes(
    held: tuple[Stream, Callable[[], None]],
) -> None:
    stream, go_on = held
    x = hipadapt.zeros(3)
    with DebugStream() as reader:
        before = reader.counts
        debug_tensor(x, "x", stream)
    go_on()
    with DebugStream() as reader:
        assert reader.read_event() is None
        assert reader.counts.closed - before.closed == 1


@pytest.mark.usefixtures("quarter")
def test_what_is_on_its_way_has_a_bound(
    reader: DebugStream, held: tuple[Stream, Callable[[], None]]
) -> None:
    stream, go_on = held
    x, before = hipadapt.zeros(64 << 10, "uint8"), reader.counts

    for number in range(10):
        debug_tensor(x, str(number), stream)
    assert reader.counts.full - before.full == 6
    go_on()

    assert [e.prefix for e in reader] == ["0", "1", "2", "3"]
    for number in range(100):  # what was used is used again
        debug_tensor(x, str(number), stream)
        stream.synchronize()
    assert len(list(reader)) == 100
    # A larger one takes the place of those, which are kept for the next.
    debug_tensor(hipadapt.full(200 << 10, 9, "uint8"), "large")
    assert set(next_event(reader).array.tolist()) == {9}
    debug_tensor(hipadapt.zeros(300 << 10, "uint8"), "too large")
    assert reader.counts.full - before.full == 7


def test_tensor_larger_than_the_ring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIPADAPT_DEBUG_STREAM_BUFFER_BYTES", str(64 << 10))
    with DebugStream() as reader:
        shrink(reader, monkeypatch, 64 << 10)
        before = reader.counts
        debug_tensor(hipadapt.zeros(64 << 10, "uint8"), "device")
        debug_tensor(np.zeros(64 << 10, "uint8"), "host")
        debug_tensor(np.zeros(62 << 10, "uint8"), "fits")
        assert next_event(reader).prefix == "fits"
        assert reader.counts.large - before.large == 2


def test_threads_send_all_they_have(reader: DebugStream) -> None:
    before = reader.counts

    def send(name: str) -> None:
        stream, x = Stream(nonblocking=True), hipadapt.zeros(100, "int32")
        for number in range(500):
            x.fill(number, stream=stream)
            debug_tensor(x, name, stream)
        stream.synchronize()

    threads = [threading.Thread(target=send, args=(str(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    seen: dict[str, list[int]] = {str(i): [] for i in range(4)}
    for _ in range(2000):
        event = next_event(reader)
        assert (event.array == event.array[0]).all()
        seen[event.prefix].append(int(event.array[0]))
    for thread in threads:
        thread.join()

    assert all(numbers == list(range(500)) for numbers in seen.values())
    assert reader.counts.dropped == before.dropped


# ---- graphs, resets, forks, devices ----


def test_captured_call_sends_with_each_launch(reader: DebugStream) -> None:
    stream, x = Stream(nonblocking=True), hipadapt.zeros(4, "int32")
    host = np.zeros(2, "int16")
    raising = hipadapt.raising.hip

    raising.hipStreamBeginCapture(
        stream, hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal
    )
    debug_tensor(x, "device", stream)
    debug_tensor(host, "host", stream)
    graph = raising.hipStreamEndCapture(stream)
    assert reader.read_event(timeout=0.05) is None
    ready = raising.hipGraphInstantiateWithFlags(graph, 0)
    for value in range(3):
        host[:] = value
        x.fill(value, stream=stream)
        raising.hipGraphLaunch(ready, stream)
        stream.synchronize()
    events = list(reader)
    raising.hipGraphExecDestroy(ready)
    raising.hipGraphDestroy(graph)

    assert [(e.prefix, e.array.tolist()) for e in events] == [
        pair for v in range(3) for pair in (("device", [v] * 4), ("host", [v] * 2))
    ]


def test_graph_gives_its_room_back(
    reader: DebugStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, x = Stream(nonblocking=True), hipadapt.full(4, 7, "int32")
    raising = hipadapt.raising.hip
    shrink(reader, monkeypatch, 8 << 10)

    for _ in range(10):
        raising.hipStreamBeginCapture(
            stream, hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal
        )
        debug_tensor(x, "x", stream)
        graph = raising.hipStreamEndCapture(stream)
        ready = raising.hipGraphInstantiateWithFlags(graph, 0)
        raising.hipGraphDestroy(graph)
        raising.hipGraphLaunch(ready, stream)  # it has the memory still
        stream.synchronize()
        assert next_event(reader).array.tolist() == [7] * 4
        raising.hipGraphExecDestroy(ready)


def test_capture_that_hip_refuses_has_its_code(reader: DebugStream) -> None:
    stream, x = Stream(), hipadapt.zeros(4, "int32")
    raising = hipadapt.raising.hip

    raising.hipStreamBeginCapture(
        stream, hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal
    )
    # The default stream can't be used beside a capture of a stream that waits for it.
    with pytest.raises(hipadapt.errors.HipError) as caught:
        debug_tensor(x, "x", 0)
    hip.hipStreamEndCapture(stream)

    assert caught.value.name == "hipErrorStreamCaptureImplicit"
    assert caught.value.function == "hipMemcpyAsync"
    debug_tensor(x, "again")
    assert next_event(reader).prefix == "again"


def test_graph_without_room_is_refused(
    reader: DebugStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, x = Stream(), hipadapt.zeros(4, "int32")
    raising = hipadapt.raising.hip
    monkeypatch.setenv("HIPADAPT_DEBUG_STREAM_BUFFER_BYTES", "100")

    raising.hipStreamBeginCapture(
        stream, hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal
    )
    with pytest.raises(MemoryError, match="no memory is left for 16 bytes in a graph"):
        debug_tensor(x, "x", stream)
    graph = raising.hipStreamEndCapture(stream)  # it goes on

    raising.hipGraphDestroy(graph)


def test_reset_of_the_device(run_python: Run) -> None:
    done = run_python(
        """
        import threading
        import numpy as np
        import hipadapt
        from hipadapt import hip

        with hipadapt.DebugStream() as reader:
            x, gate = hipadapt.full(4, 1, "int32"), threading.Event()
            stream = hipadapt.Stream()
            stream.call(gate.wait)
            for _ in range(3):
                hipadapt.debug_tensor(x, "before", stream)
            hipadapt.debug_tensor(np.zeros(3), "before", stream)
            threading.Timer(0.3, gate.set).start()
            print(hip.hipDeviceReset())
            y = hipadapt.full(4, 2, "int32")
            for _ in range(3):
                hipadapt.debug_tensor(y, "after")
                hipadapt.Device().synchronize()
            print([(e.prefix, e.array.tolist()) for e in reader])
            print(reader.counts.failed, reader.counts.dropped)
        """
    )

    lines = done.stdout.splitlines()
    assert lines[0] == "(<hipError_t.hipSuccess: 0>,)", done.stderr
    assert lines[1] == str([("after", [2] * 4)] * 3)
    assert lines[2] == "4 4"


def test_device_that_a_kernel_has_broken(run_python: Run) -> None:
    done = run_python(
        """
        import numpy as np
        import hipadapt
        from hipadapt import hip

        bad = hipadapt.compile_kernel("__global__ void k(int *x) { x[1 << 30] = 1; }", "k")
        x = hipadapt.zeros(4, "int32")
        with hipadapt.DebugStream() as reader:
            bad[1, 1](x)
            hip.hipDeviceSynchronize()
            for array in (x, np.zeros(3)):
                try:
                    hipadapt.debug_tensor(array, "lost")
                except hipadapt.errors.HipErrorIllegalAddress as error:
                    print(error.function, "failed earlier: kernel" in str(error))
            hip.hipDeviceReset()
            hipadapt.debug_tensor(hipadapt.zeros(4, "int32"), "again")
            print(reader.read_event(20).prefix, reader.dropped)
        """
    )

    assert done.stdout.splitlines() == [
        "hipPointerGetAttributes True",
        "hipLaunchHostFunc True",
        "again 0",
    ]


@pytest.mark.plain
def test_forked_child_sends_to_nobody(run_python: Run) -> None:
    done = run_python(
        """
        import os, threading
        import numpy as np
        import hipadapt

        with hipadapt.DebugStream() as reader:
            x, gate, stream = hipadapt.zeros(4), threading.Event(), hipadapt.Stream()
            hipadapt.debug_tensor(x, "first", stream)
            stream.synchronize()
            stream.call(gate.wait)
            hipadapt.debug_tensor(x, "held", stream)
            child = os.fork()
            if child == 0:
                try:
                    hipadapt.debug_tensor(np.zeros(3), "child")
                except hipadapt.errors.HipErrorNotInitialized:
                    hipadapt.hip.hipInit(0)
                hipadapt.debug_tensor(np.zeros(3), "nobody")
                with hipadapt.DebugStream() as own:
                    hipadapt.debug_tensor(hipadapt.full(3, 5), "own")
                    print(own.read_event(20).array, own.dropped, flush=True)
                os._exit(0)
            print(os.waitpid(child, 0)[1])
            gate.set()
            stream.synchronize()
            print([e.prefix for e in reader], reader.dropped)
        """
    )

    assert done.stdout.splitlines() == [
        "[5 5 5] 1",
        "0",
        "['first', 'held'] 0",
    ], done.stderr


def test_each_device_has_its_stream(run_python: Run) -> None:
    done = run_python(
        """
        import numpy as np
        import hipadapt

        with hipadapt.DebugStream(0) as first, hipadapt.DebugStream(1) as second:
            on_second = hipadapt.full(2, 7.0, device=1)
            hipadapt.debug_tensor(on_second, "own device")
            hipadapt.debug_tensor(np.zeros(2), "host", hipadapt.Stream(1))
            hipadapt.debug_tensor(np.zeros(2), "current")
            for number in (0, 1):
                hipadapt.Device(number).synchronize()
            for reader in (first, second):
                print([(e.prefix, e.device) for e in reader])
            print(hipadapt.hip.hipGetDevice()[1])
        """,
        HIPADAPT_CPU_DEVICES="2",
    )

    assert done.stdout.splitlines() == [
        "[('current', 0)]",
        "[('own device', 1), ('host', 1)]",
        "0",
    ], done.stderr
