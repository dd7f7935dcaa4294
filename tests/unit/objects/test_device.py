# SPDX-License-Identifier: MIT
"""Devices: properties, attributes, limits, and which one is current."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from types import ModuleType

import pytest

import hipadapt
from hipadapt import Device, errors

TWO = {"HIPADAPT_CPU_DEVICES": "2"}


def test_device_tells_what_hip_tells(cpu: ModuleType) -> None:
    device = Device(0)
    properties = cpu.hipGetDeviceProperties(0)[1]

    assert device.ordinal == int(device.__index__()) == 0
    assert device.name == str(properties.name)
    assert device.arch == str(properties.gcnArchName)
    assert device.compute_units == properties.multiProcessorCount > 0
    assert device.warp_size == properties.warpSize
    assert device.total_memory == properties.totalGlobalMem
    assert 0 < device.free_memory <= device.total_memory
    assert device.memory.total == device.total_memory
    assert device.pci_bus_id.count(":") == 2
    assert device.name in repr(device)


def test_device_without_number_is_the_current_one(cpu: ModuleType) -> None:
    assert Device() == Device(0)
    assert Device().is_current
    assert hash(Device()) == hash(Device(0))
    assert Device(0) != 0
    assert pickle.loads(pickle.dumps(Device(0))) == Device(0)


@pytest.mark.parametrize("ordinal", [-1, 99])
def test_device_that_is_not_there_raises(cpu: ModuleType, ordinal: int) -> None:
    with pytest.raises(errors.HipErrorInvalidDevice):
        Device(ordinal)


def test_all_devices_are_counted(cpu: ModuleType) -> None:
    assert [device.ordinal for device in Device.all()] == list(range(Device.count()))


def test_attributes_by_every_kind_of_name(cpu: ModuleType) -> None:
    attributes = Device().attributes
    member = cpu.hipDeviceAttribute_t.hipDeviceAttributeMaxThreadsPerBlock

    assert attributes["max_threads_per_block"] == 1024
    assert attributes["hipDeviceAttributeMaxThreadsPerBlock"] == 1024
    assert attributes[member] == 1024  # type: ignore[index]
    assert "l2_cache_size" in attributes
    assert "max_texture_2d_width" in set(attributes)
    assert len(attributes) == len(list(attributes)) > 50
    with pytest.raises(KeyError):
        attributes["no_such_attribute"]
    with pytest.raises(KeyError):
        attributes[7]  # type: ignore[index]


def test_limits_are_read_and_set(cpu: ModuleType) -> None:
    limits = Device().limits
    before = limits["stack_size"]

    limits["stack_size"] = before * 2
    try:
        assert limits["stack_size"] == before * 2
        assert dict(limits)["stack_size"] == before * 2
    finally:
        limits["stack_size"] = before
    with pytest.raises(KeyError):
        limits["no_such_limit"]
    with pytest.raises(TypeError):
        del limits["stack_size"]


def test_device_makes_streams_and_events(cpu: ModuleType) -> None:
    device = Device()
    with device.create_stream(nonblocking=True) as stream:
        assert stream.nonblocking
        assert stream.device == device
    with device.create_event(timing=False) as event:
        assert not event.timing
        assert event.device == device
    least = device.stream_priorities[0]
    assert device.create_stream(priority=least).priority == least


def test_device_synchronize_waits(cpu: ModuleType) -> None:
    seen: list[int] = []
    hipadapt.Stream().call(seen.append, 1)

    Device().synchronize()

    assert seen == [1]


def test_use_and_with_restore_the_previous_device(
    run_python: Callable[..., object],
) -> None:
    run_python(
        """
        import threading
        import hipadapt
        from hipadapt import Device, hip
        first, second = Device.all()
        assert first.is_current and not second.is_current
        with second as device:
            assert device is second and Device() == second
            with first, second:
                assert Device() == second
            assert Device() == second
            other = []
            thread = threading.Thread(target=lambda: other.append(Device()))
            thread.start(); thread.join()
            assert other == [first]
            assert hipadapt.Stream().device == second
            assert hipadapt.empty(4).__dlpack_device__()[1] == 1
        assert Device() == first
        try:
            with second:
                raise KeyError
        except KeyError:
            pass
        assert Device() == first
        with second.use() as device:
            assert device is second and Device() == second
        assert Device() == first
        second.use()
        assert Device() == second
        assert hipadapt.Stream(first).device == first and Device() == second
        first.synchronize()
        assert first.memory.total > 0 and Device() == second
        assert first.can_access_peer(second) in (True, False)
        assert hipadapt.empty(4, device=0).__dlpack_device__()[1] == 0
        assert Device() == second
        """,
        **TWO,
    )


def test_stream_block_uses_the_device_of_the_stream(
    run_python: Callable[..., object],
) -> None:
    run_python(
        """
        import hipadapt
        from hipadapt import Device
        stream = hipadapt.Stream(1)
        with stream:
            assert Device().ordinal == 1
            x = hipadapt.full(5, 3, "int32")
            with hipadapt.Stream(0):
                assert Device().ordinal == 0
            assert Device().ordinal == 1
        assert Device().ordinal == 0
        assert x.get().tolist() == [3] * 5
        event = stream.record()
        event.synchronize()
        assert event.device.ordinal == 1 and stream.done and event.done
        default = hipadapt.Stream.default(1)
        default.synchronize()
        assert default != hipadapt.Stream.default(0)
        assert default.record().device.ordinal == 1
        module = hipadapt.Program(
            'extern "C" __global__ void k(int *x) { *x = 7; }').compile(device=1)
        y = hipadapt.zeros(1, "int32", device=1)
        with Device(1):
            module.kernel("k")[1, 1](y)
        assert int(y.get()[0]) == 7
        assert module.kernel("k").attributes.max_threads_per_block == 1024
        module.close()
        assert Device().ordinal == 0
        """,
        **TWO,
    )
