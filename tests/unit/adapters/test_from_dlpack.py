# SPDX-License-Identifier: MIT
"""hipadapt.from_dlpack with producers of every age and temper."""

from __future__ import annotations

import ctypes
import gc
import threading
from types import ModuleType
from typing import Any

import pytest

import hipadapt
from hipadapt import _core, types

from .dlpack_c import (
    BFLOAT,
    CPU,
    CUDA,
    CUDA_HOST,
    CUDA_MANAGED,
    EXT,
    FLOAT,
    ROCM,
    ROCM_HOST,
    Producer,
    is_valid,
    set_name,
)

USED = {None: b"used_dltensor", (1, 0): b"used_dltensor_versioned"}


def test_it_is_the_packages() -> None:
    assert hipadapt.from_dlpack is _core.from_dlpack


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_capsule_is_consumed_and_the_deleter_called_once(version: Any) -> None:
    producer = Producer(version=version)

    array = _core.from_dlpack(producer)
    part = array[1:]
    after_import = producer.alive, producer.consumed, producer.deleted
    del array
    gc.collect()
    with_part = producer.deleted
    del part

    assert after_import == (0, True, 0)
    assert with_part == 0
    assert producer.deleted == 1


def test_what_the_array_knows() -> None:
    producer = Producer(shape=(2, 3), flags=1, offset=4)

    array = _core.from_dlpack(producer)

    assert type(array) is types.DeviceArray
    assert int(array) == ctypes.addressof(producer.memory) + 4
    assert (array.shape, array.typestr, array.memory) == ((2, 3), "<f4", "host")
    assert array.is_read_only
    assert array.stream_as_int is None
    with pytest.raises(ValueError, match="read_only"):
        array.configure(read_only=False)


@pytest.mark.parametrize(
    ("device", "memory"),
    [
        (CPU, "host"),
        (CUDA_HOST, "pinned"),
        (ROCM, "device"),
        (ROCM_HOST, "pinned"),
        (CUDA_MANAGED, "managed"),
    ],
)
def test_kinds_of_memory(device: int, memory: str) -> None:
    assert _core.from_dlpack(Producer(device=device)).memory == memory


def test_managed_memory_that_travels_as_device_memory(cpu: ModuleType) -> None:
    array = _core.array_allocate(4, "f4", memory="managed")

    back = _core.from_dlpack(array)

    assert (back.memory, int(back)) == ("managed", int(array))


def test_strides_may_be_absent_and_nonsense_for_single_elements() -> None:
    assert _core.from_dlpack(Producer(strides=None)).strides == (12, 4)
    single = Producer(shape=(1, 3), strides=(77, 1))
    assert _core.from_dlpack(single).strides == (12, 4)


def test_element_types_by_name() -> None:
    producer = Producer(shape=(3,), dtype=(BFLOAT, 16, 1))

    assert _core.from_dlpack(producer).typestr == "bfloat16"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"device": CUDA}, BufferError),
        ({"device": EXT}, BufferError),
        ({"strides": (1, 2)}, BufferError),
        ({"strides": (6, 2)}, BufferError),
        ({"dtype": (FLOAT, 4, 1)}, BufferError),
        ({"version": (2, 0)}, BufferError),
        ({"name": b"something"}, BufferError),
        ({"name": b"used_dltensor"}, BufferError),
        ({"shape": (-1,)}, ValueError),
        ({"shape": (2**62, 2**62)}, ValueError),
        ({"shape": None, "ndim": 2}, ValueError),
        ({"ndim": 65}, ValueError),
        ({"data": 0}, ValueError),
    ],
)
def test_capsule_is_not_consumed_on_errors(
    arguments: Any, error: type[Exception]
) -> None:
    producer = Producer(**arguments)

    with pytest.raises(error):
        _core.from_dlpack(producer)

    assert not producer.consumed
    assert (producer.alive, producer.deleted) == (0, 1)


# ---- what producers are told


def test_host_producer_is_told_no_stream() -> None:
    producer = Producer()

    _core.from_dlpack(producer, stream=5)

    assert producer.asked == [{"max_version": (1, 3)}]


@pytest.mark.parametrize(
    ("stream", "told"), [(None, None), (1, None), (2, None), (4096, 4096)]
)
def test_device_producer_is_told_the_stream(
    cpu: ModuleType, stream: Any, told: Any
) -> None:
    producer = Producer(device=ROCM)

    array = _core.from_dlpack(producer, stream=stream)

    assert producer.asked == [{"stream": told, "max_version": (1, 3)}]
    assert array.stream_as_int == (stream or 1)


def test_stream_handle_and_stream_protocol(cpu: ModuleType) -> None:
    class Stream:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, 4096

    stream = cpu.ihipStream_t(8192)
    producer = Producer(device=ROCM)

    first = _core.from_dlpack(producer, stream=Stream())
    second = _core.from_dlpack(producer, stream=stream)

    assert [asked["stream"] for asked in producer.asked] == [4096, 8192]
    assert (first.stream_as_int, second.stream_as_int) == (4096, 8192)


def test_device_and_copy_are_passed_on() -> None:
    producer = Producer()

    _core.from_dlpack(producer, device="cpu", copy=False)
    _core.from_dlpack(producer, device=(1, 0), copy=True)

    told = {"max_version": (1, 3), "dl_device": (1, 0)}
    assert producer.asked == [{**told, "copy": False}, {**told, "copy": True}]


def test_device_number_is_a_rocm_device() -> None:
    producer = Producer(device=ROCM)

    _core.from_dlpack(producer, device=0)

    assert producer.asked[0]["dl_device"] == (ROCM, 0)


@pytest.mark.parametrize("device", ["cpu", 0, (ROCM, 0)])
def test_producer_that_ignores_the_device_is_refused(device: Any) -> None:
    producer = Producer(device=ROCM_HOST)

    with pytest.raises(BufferError, match="device"):
        _core.from_dlpack(producer, device=device)

    assert not producer.consumed


def test_keywords_are_dropped_for_old_producers() -> None:
    producer = Producer(version=None, modern=False)

    array = _core.from_dlpack(producer, device="cpu", copy=True)

    assert producer.asked[-1] == {}
    assert producer.deleted == 1  # copied, because nobody else did
    assert int(array) != ctypes.addressof(producer.memory)


def test_old_device_producer_still_hears_of_the_stream() -> None:
    class Old(Producer):
        def __dlpack__(self, *, stream: Any = None, **more: Any) -> Any:
            if more:
                raise TypeError("unexpected keyword")
            return super().__dlpack__(stream=stream)

    producer = Old(device=ROCM, version=None)

    _core.from_dlpack(producer, stream=4096)

    assert producer.asked == [{"stream": 4096}]


def test_copy_true_is_trusted_where_the_producer_knows_it() -> None:
    producer = Producer(flags=2)

    array = _core.from_dlpack(producer, copy=True)

    assert int(array) == ctypes.addressof(producer.memory)


@pytest.mark.parametrize("device", [CPU, ROCM_HOST])
def test_copy_of_what_an_old_producer_gives(cpu: ModuleType, device: int) -> None:
    producer = Producer(device=device, version=None, modern=False)
    producer.memory[0:4] = b"abcd"

    array = _core.from_dlpack(producer, copy=True)

    assert array.memory == ("host" if device == CPU else "pinned")
    assert array.numpy().tobytes()[:4] == b"abcd"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"device": "gpu"}, ValueError),
        ({"device": 1.5}, TypeError),
        ({"device": True}, TypeError),
        ({"device": ("a", 0)}, TypeError),
        ({"device": (1, 2**40)}, OverflowError),
        ({"copy": 1}, TypeError),
        ({"stream": "s"}, TypeError),
        ({"nothing": 1}, TypeError),
    ],
)
def test_wrong_arguments(arguments: Any, error: type[Exception]) -> None:
    producer = Producer()

    with pytest.raises(error):
        _core.from_dlpack(producer, **arguments)

    assert producer.asked == []


def test_event_is_no_stream(cpu: ModuleType) -> None:
    with pytest.raises(TypeError, match="stream"):
        _core.from_dlpack(Producer(), stream=cpu.ihipEvent_t(4096))


# ---- hostile producers


class Answers:
    """Answers what it was made with, or raises it."""

    def __init__(self, device: Any = (CPU, 0), capsule: Any = None) -> None:
        self.device = device
        self.capsule = capsule

    def answer(self, what: Any) -> Any:
        if isinstance(what, BaseException):
            raise what
        return what

    def __dlpack_device__(self) -> Any:
        return self.answer(self.device)

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.answer(self.capsule)


@pytest.mark.parametrize(
    ("producer", "error"),
    [
        (Answers(device=5), TypeError),
        (Answers(device=(1,)), TypeError),
        (Answers(device=("cpu", 0)), TypeError),
        (Answers(device=(2**40, 0)), OverflowError),
        (Answers(device=ZeroDivisionError()), ZeroDivisionError),
        (Answers(capsule=5), BufferError),
        (Answers(capsule=None), BufferError),
        (Answers(capsule=ZeroDivisionError()), ZeroDivisionError),
        (Answers(capsule=TypeError("mine")), TypeError),
        (Answers, TypeError),
        (5, TypeError),
        (None, TypeError),
    ],
)
def test_nonsense(producer: Any, error: type[BaseException]) -> None:
    with pytest.raises(error):
        _core.from_dlpack(producer)


def test_a_capsule_can_be_used_once() -> None:
    producer = Producer()
    capsule = producer.__dlpack__()

    array = _core.from_dlpack(capsule)

    assert is_valid(id(capsule), USED[1, 0])
    with pytest.raises(BufferError, match="used already"):
        _core.from_dlpack(capsule)
    with pytest.raises(BufferError, match="used already"):
        _core.from_dlpack(Answers(capsule=capsule))
    with pytest.raises(ValueError, match="capsule"):
        _core.from_dlpack(capsule, device="cpu")
    assert producer.deleted == 0
    del array
    assert producer.deleted == 1
    del capsule
    assert producer.deleted == 1


def test_capsule_that_somebody_else_used_is_refused() -> None:
    producer = Producer()
    capsule = producer.__dlpack__()
    set_name(capsule, USED[1, 0])

    with pytest.raises(BufferError, match="used already"):
        _core.from_dlpack(capsule)


def test_without_deleter() -> None:
    producer = Producer()
    producer.managed.deleter = None

    array = _core.from_dlpack(producer)
    del array

    assert producer.deleted == 0


def test_deleter_that_raises_does_not_harm(
    recwarn: pytest.WarningsRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr("sys.unraisablehook", seen.append)

    class Raises(Producer):
        def delete(self, managed: int) -> None:
            raise KeyError

    producer = Raises()
    array = _core.from_dlpack(producer)
    try:
        raise ZeroDivisionError
    except ZeroDivisionError:
        del array

    assert len(seen) == 1


def test_producer_that_changes_during_the_call() -> None:
    class Changes(Producer):
        def __dlpack__(self, **kwargs: Any) -> Any:
            capsule = super().__dlpack__(**kwargs)
            self.__class__ = Empty  # type: ignore[assignment]
            gc.collect()
            return capsule

    class Empty(Producer):
        __dlpack__ = None  # type: ignore[assignment]

    producer = Changes()

    array = _core.from_dlpack(producer)

    assert int(array) == ctypes.addressof(producer.memory)
    with pytest.raises(TypeError):
        _core.from_dlpack(producer)


def test_many_threads_and_one_capsule() -> None:
    for _ in range(20):
        producer = Producer()
        capsule = producer.__dlpack__()
        arrays: list[Any] = []

        def take(capsule: Any = capsule, arrays: list[Any] = arrays) -> None:
            try:
                arrays.append(_core.from_dlpack(capsule))
            except BufferError:
                pass

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(arrays) == 1
        arrays.clear()
        assert producer.deleted == 1
