# SPDX-License-Identifier: MIT
"""Memory pools: on the CPU device, and the calls that are made."""

from __future__ import annotations

import gc
from types import ModuleType
from typing import Any

import pytest

import hipadapt
from hipadapt import MemoryPool, current_pool, errors, hip
from hipadapt._objects import ordered
from hipadapt._objects import pool as pool_module


def test_library_without_pools_says_so(
    cpu: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module._raw, "has_symbol", lambda name: False)
    for make in (MemoryPool, current_pool):
        with pytest.raises(errors.HipErrorNotSupported, match="no memory pools"):
            make()
    gc.collect()


def test_pool_of_the_device_keeps_and_counts_memory(cpu: ModuleType) -> None:
    with MemoryPool(release_threshold=2**40) as pool:
        x = hipadapt.full((256, 256), 2.5, "float32", pool=pool)
        assert pool.used == x.nbytes == pool.attributes["used_high"]
        assert pool.reserved >= x.nbytes
        assert x.get().tolist() == [[2.5] * 256] * 256
        address = int(x)
        x.close()
        hipadapt.Device().synchronize()
        assert pool.used == 0 and pool.reserved > 0
        y = pool.allocate(256 * 256 * 4)
        assert int(y) == address
        y.close()
        hipadapt.Device().synchronize()
        pool.trim()
        assert pool.reserved == 0
    assert current_pool() == current_pool()


class Pools:
    """HIP with pools in front of the real one: writes down what is called."""

    def __init__(self, real: Any) -> None:
        self.real = real
        self.made: list[tuple[Any, ...]] = []
        self.values: dict[int, int] = {}

    def __getattr__(self, name: str) -> Any:
        if not hasattr(type(self), "do_" + name):
            return getattr(self.real, name)

        def call(*args: Any) -> Any:
            self.made.append((name, *args))
            return getattr(self, "do_" + name)(*args)

        return call

    def do_hipMemPoolCreate(self, wishes: Any) -> Any:
        assert wishes.location.id == 0
        assert wishes.location.type == hip.hipMemLocationType.hipMemLocationTypeDevice
        return hip.hipMemPool_t(0x5000)

    def do_hipMemPoolDestroy(self, pool: int) -> None: ...

    def do_hipMemPoolTrimTo(self, pool: int, keep: int) -> None: ...

    def do_hipMemPoolSetAttribute(self, pool: int, name: Any, value: Any) -> None:
        self.values[int(name)] = value.value

    def do_hipMemPoolGetAttribute(self, pool: int, name: Any, value: Any) -> None:
        value.value = self.values.get(int(name), 0)

    def do_hipDeviceGetMemPool(self, device: int) -> Any:
        return hip.hipMemPool_t(0x6000)

    def do_hipDeviceSetMemPool(self, device: int, pool: int) -> None: ...

    def do_hipMallocFromPoolAsync(self, size: int, pool: int, stream: int) -> Any:
        return self.real.hipMallocAsync(size, stream)

    def names(self) -> list[str]:
        return [call[0] for call in self.made]


@pytest.fixture
def calls(cpu: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Pools:
    pools = Pools(pool_module.hip)
    monkeypatch.setattr(pool_module, "_need", lambda *names: None)
    monkeypatch.setattr(pool_module, "hip", pools)
    monkeypatch.setattr(ordered, "hip", pools)
    return pools


def test_pool_is_made_used_and_destroyed_once(calls: Pools) -> None:
    with MemoryPool(release_threshold=2**40) as pool:
        assert pool.release_threshold == 2**40
        assert pool.device.ordinal == 0
        pool.trim(100)
        pool.use()
        assert pool.attributes["release_threshold"] == 2**40
        assert pool.used == pool.reserved == 0
        assert "0x5000" in repr(pool)
        with pytest.raises(KeyError):
            pool.set_attribute("nothing", 1)
    pool.close()

    assert calls.names().count("hipMemPoolDestroy") == 1
    assert ("hipMemPoolTrimTo", 0x5000, 100) in calls.made
    assert ("hipDeviceSetMemPool", 0, 0x5000) in calls.made
    assert pool.is_closed and "closed" in repr(pool)
    with pytest.raises(ValueError, match="closed"):
        pool.trim()


def test_memory_of_a_pool_is_in_the_order_of_a_stream(calls: Pools) -> None:
    stream = hipadapt.Stream()
    with MemoryPool() as pool:
        x = pool.allocate(64, stream)
        y = hipadapt.full((2, 2), 1.5, "float32", pool=pool, stream=stream)
        with stream:
            z = hipadapt.zeros(3, pool=pool)
        assert x.nbytes == 64 and x.type_name == "uint8"
        assert x.stream_as_int == z.stream_as_int == stream.handle
        assert y.get().tolist() == [[1.5, 1.5], [1.5, 1.5]]
        assert calls.names().count("hipMallocFromPoolAsync") == 3
    x.close()
    y.close()


def test_current_pool_is_not_destroyed(calls: Pools) -> None:
    pool = current_pool()
    assert pool.handle == 0x6000 and pool == current_pool()
    pool.close()
    del pool
    gc.collect()
    assert "hipMemPoolDestroy" not in calls.names()
