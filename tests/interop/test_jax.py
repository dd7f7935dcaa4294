# SPDX-License-Identifier: MIT
"""jax (CPU) and our arrays, both ways."""

from __future__ import annotations

import gc
import os
from types import ModuleType

import numpy as np
import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax", reason="jax is not installed")

import hipadapt  # noqa: E402
from hipadapt import _core, types  # noqa: E402

DTYPES = ["bool", "uint8", "int16", "int32", "float16", "bfloat16", "float32"]


@pytest.mark.parametrize("memory", ["device", "pinned", "managed", "host"])
def test_jax_takes_host_views_without_a_copy(cpu: ModuleType, memory: str) -> None:
    array = _core.array_allocate((2, 3), "f4", memory=memory)
    np.asarray(array.host())[:] = np.arange(6).reshape(2, 3)

    got = jax.dlpack.from_dlpack(array.host())

    assert got.unsafe_buffer_pointer() == int(array)
    assert got.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("name", DTYPES)
def test_element_types_both_ways(name: str) -> None:
    source = jax.numpy.ones((2, 3), name)

    ours = hipadapt.from_dlpack(source)
    back = jax.dlpack.from_dlpack(ours)

    assert int(ours) == source.unsafe_buffer_pointer()
    assert (ours.type_name, ours.shape) == (name, (2, 3))
    assert back.unsafe_buffer_pointer() == source.unsafe_buffer_pointer()
    assert back.dtype == source.dtype


def test_array_keeps_jaxs_memory() -> None:
    source = jax.numpy.arange(1 << 16)
    array = hipadapt.from_dlpack(source)

    del source
    gc.collect()
    jax.numpy.zeros(1 << 16).block_until_ready()

    assert array.numpy()[[5, -1]].tolist() == [5, 65535]


def test_jax_keeps_our_memory(cpu: ModuleType) -> None:
    array = _core.array_allocate(64, "f4", memory="pinned")
    where = int(array)
    got = jax.dlpack.from_dlpack(array.host())

    del array
    gc.collect()
    alive = int(cpu.hipPointerGetAttributes(where)[1].type)
    del got
    gc.collect()

    assert alive == 1
    assert int(cpu.hipPointerGetAttributes(where)[1].type) == 0


def test_jax_arrays_as_arguments(cpu: ModuleType) -> None:
    source = jax.numpy.arange(8, dtype="int32")
    device = _core.array_allocate(8, "i4")

    kind = cpu.hipMemcpyKind.hipMemcpyDefault
    cpu.hipMemcpy(device, source, source.nbytes, kind)

    assert int(types.Pointer(source)) == source.unsafe_buffer_pointer()
    assert device.numpy().tolist() == list(range(8))
