# SPDX-License-Identifier: MIT
"""Streams and events: life, protocols, order, current stream."""

from __future__ import annotations

import contextvars
import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable
from types import ModuleType

import pytest

from hipadapt import Event, Stream, current_stream, errors, hip


def test_stream_is_a_stream_for_every_call(cpu: ModuleType) -> None:
    stream = Stream(nonblocking=True)

    assert hip.hipStreamQuery(stream) == (hip.hipError_t.hipSuccess,)
    assert int(hip.hipStream_t(stream)) == stream.handle
    assert stream.__cuda_stream__() == (0, stream.handle)
    assert stream.query() and stream.done and not stream.is_closed
    assert "device 0" in repr(stream) and hex(stream.handle) in repr(stream)


def test_event_is_an_event_for_every_call(cpu: ModuleType) -> None:
    event = Event()

    assert hip.hipEventRecord(event, None) == (hip.hipError_t.hipSuccess,)
    assert hip.hipEventSynchronize(event) == (hip.hipError_t.hipSuccess,)
    assert event.as_c_void_p().value == event.handle
    assert hex(event.handle) in repr(event)


@pytest.mark.parametrize("make", [Stream, Event])
def test_closing_twice_is_nothing_and_use_after_it_raises(
    cpu: ModuleType, make: Callable[[], Stream | Event]
) -> None:
    thing = make()
    handle = thing.handle

    thing.close()
    thing.close()

    assert thing.is_closed
    assert "closed" in repr(thing)
    assert hash(thing) == hash(thing)
    for use in (
        lambda: thing.handle,
        thing.synchronize,
        thing.query,
        lambda: thing.done,
    ):
        with pytest.raises(ValueError, match="closed"):
            use()
    query = hip.hipStreamQuery if isinstance(thing, Stream) else hip.hipEventQuery
    assert query(handle)[0] != hip.hipError_t.hipSuccess


def test_raw_calls_refuse_a_closed_stream(cpu: ModuleType) -> None:
    stream = Stream()
    stream.close()

    with pytest.raises(ValueError, match="closed"):
        hip.hipStreamQuery(stream)
    with pytest.raises(ValueError, match="closed"), stream:
        pass


@pytest.mark.parametrize("make", [Stream, Event])
def test_the_last_reference_destroys(
    cpu: ModuleType, make: Callable[[], Stream | Event]
) -> None:
    thing = make()
    handle = thing.handle
    query = hip.hipStreamQuery if isinstance(thing, Stream) else hip.hipEventQuery
    gone = weakref.ref(thing)

    del thing
    gc.collect()

    assert gone() is None
    assert query(handle)[0] != hip.hipError_t.hipSuccess


def test_borrowed_stream_is_left_alone(cpu: ModuleType) -> None:
    owner = Stream(nonblocking=True)

    for given in (owner, owner.handle, hip.hipStream_t(owner)):
        borrowed = Stream.from_handle(given)
        assert borrowed == owner and hash(borrowed) == hash(owner)
        assert borrowed.device == owner.device
        borrowed.close()
        assert owner.query()
    assert owner != Stream()
    assert owner != owner.handle


def test_borrowed_stream_keeps_the_object(cpu: ModuleType) -> None:
    owner = Stream()
    gone = weakref.ref(owner)
    borrowed = Stream.from_handle(owner)

    del owner
    gc.collect()

    assert gone() is not None
    borrowed.close()
    gc.collect()
    assert gone() is None


def test_default_streams(cpu: ModuleType) -> None:
    default, own = Stream.default(), Stream.per_thread()

    assert default.handle == 0 and own.handle == 2
    assert default != own
    assert Stream.from_handle(1) == default
    assert Stream.from_handle(None) == default
    assert "default" in repr(default) and "per thread" in repr(own)
    assert default and own
    for stream in (default, own):
        stream.synchronize()
        assert stream.done
        assert stream.record().query() in (True, False)
        stream.close()


def test_no_such_priority_or_device_raises(cpu: ModuleType) -> None:
    with pytest.raises(errors.HipErrorInvalidDevice):
        Stream(77)
    with pytest.raises(TypeError):
        Stream(0, 1)  # type: ignore[misc]
    with pytest.raises(TypeError):
        Stream.from_handle("stream")  # type: ignore[arg-type]


def test_current_stream_nests(cpu: ModuleType) -> None:
    outer, inner = Stream(), Stream()

    assert current_stream() == Stream.default()
    with outer as entered:
        assert entered is outer is current_stream()
        with inner, outer:
            assert current_stream() is outer
        assert current_stream() is outer
        with pytest.raises(KeyError), inner:
            raise KeyError
        assert current_stream() is outer
    assert current_stream() == Stream.default()
    with pytest.raises(RuntimeError, match="nest"):
        outer.__exit__(None, None, None)


def test_current_stream_belongs_to_thread_and_context(cpu: ModuleType) -> None:
    found: list[Stream] = []
    with Stream() as stream:
        context = contextvars.copy_context()
        thread = threading.Thread(target=lambda: found.append(current_stream()))
        thread.start()
        thread.join()
    inherited = getattr(sys.flags, "thread_inherit_context", 0)
    assert found == [stream if inherited else Stream.default()]
    assert context.run(current_stream) is stream


def test_call_passes_arguments_in_order(cpu: ModuleType) -> None:
    stream, seen = Stream(), list[object]()

    stream.call(seen.append, 1)
    stream.call(lambda *args: seen.append(args), 2, "three")
    stream.synchronize()

    assert seen == [1, (2, "three")]
    with pytest.raises(TypeError, match="callable"):
        stream.call(7)  # type: ignore[arg-type]


def test_exception_in_a_call_is_reported_and_the_stream_goes_on(
    cpu: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[object] = []
    monkeypatch.setattr(
        "sys.unraisablehook", lambda what: reported.append(what.exc_type)
    )
    stream, seen = Stream(), list[int]()

    stream.call(lambda: 1 // 0)
    stream.call(seen.append, 1)
    stream.synchronize()

    assert reported == [ZeroDivisionError]
    assert seen == [1]


def test_wait_orders_streams(cpu: ModuleType) -> None:
    first, second = Stream(nonblocking=True), Stream(nonblocking=True)
    seen: list[str] = []

    def slow() -> None:
        time.sleep(0.05)
        seen.append("first")

    first.call(slow)
    second.wait(first)
    second.call(seen.append, "second")
    second.synchronize()
    assert seen == ["first", "second"]

    first.call(slow)
    second.wait(first.record(timing=False))
    second.call(seen.append, "again")
    second.synchronize()
    assert seen == ["first", "second", "first", "again"]


def test_elapsed_is_in_milliseconds(cpu: ModuleType) -> None:
    stream = Stream()
    start = stream.record()
    stream.call(time.sleep, 0.05)
    stop = Event().record(stream)
    stop.synchronize()

    assert 45 < start.elapsed(stop) < 5000


def test_elapsed_without_timing_raises(cpu: ModuleType) -> None:
    plain = Event(timing=False).record()
    plain.synchronize()

    with pytest.raises(errors.HipError):
        plain.elapsed(plain)


def test_event_that_is_not_done_says_so(cpu: ModuleType) -> None:
    stream, gate = Stream(nonblocking=True), threading.Event()
    stream.call(gate.wait)
    with Event(blocking=True) as event:
        stream.record(event)
        try:
            assert not event.query() and not stream.query()
        finally:
            gate.set()
        event.synchronize()
        assert event.done
    assert event.is_closed


def test_equality_and_hash_of_events(cpu: ModuleType) -> None:
    event, other = Event(), Event()

    assert event == event and event != other and event != event.handle
    assert len({event, other, event}) == 2


def test_failed_construction_leaves_nothing_behind(cpu: ModuleType) -> None:
    with pytest.raises(errors.HipErrorInvalidDevice):
        Event(device=99)
    Stream.__new__(Stream).__del__()
    Event.__new__(Event).__del__()


def test_finalizer_in_a_host_function_is_put_off(cpu: ModuleType) -> None:
    stream = Stream()
    holder = [Event(), Stream()]
    handles = [thing.handle for thing in holder]

    stream.call(holder.clear)
    stream.synchronize()
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and not all(
        int(query(handle)[0])
        for query, handle in zip(
            (hip.hipEventQuery, hip.hipStreamQuery), handles, strict=True
        )
    ):
        time.sleep(0.01)

    assert hip.hipEventQuery(handles[0])[0] != hip.hipError_t.hipSuccess
    assert hip.hipStreamQuery(handles[1])[0] != hip.hipError_t.hipSuccess


def test_objects_that_live_at_exit_are_no_trouble(
    run_python: Callable[..., object],
) -> None:
    done = run_python(
        """
        import threading
        import hipadapt
        stream = hipadapt.Stream(); event = hipadapt.Event()
        array = hipadapt.zeros(100, stream=stream)
        plain = hipadapt.zeros(100)
        module = hipadapt.Program(
            'extern "C" __global__ void k(double *x) { *x = 1; }').compile()
        kernel = module.kernel("k")
        with stream:
            kernel[1, 1](array)
            class Cycle: pass
            cycle = Cycle(); cycle.me = cycle; cycle.holds = hipadapt.Stream(), module
            stream.call(print, "called")
        """
    )
    assert done.stderr == ""  # type: ignore[attr-defined]
    assert done.stdout == "called\n"  # type: ignore[attr-defined]


def test_objects_in_a_forked_child_are_no_trouble(
    run_python: Callable[..., object],
) -> None:
    done = run_python(
        """
        import os, warnings
        warnings.simplefilter("ignore")
        import hipadapt
        stream = hipadapt.Stream(); event = hipadapt.Event(); x = hipadapt.zeros(3)
        child = os.fork()
        if child == 0:
            try:
                stream.synchronize()
            except hipadapt.errors.HipError:
                del stream, event, x
                os._exit(0)
            os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        stream.synchronize()
        """
    )
    assert done.stderr == ""  # type: ignore[attr-defined]
