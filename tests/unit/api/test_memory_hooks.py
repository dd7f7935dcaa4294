# SPDX-License-Identifier: MIT
"""Arrays on a runtime whose device memory the processor does not see, and that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PRELUDE = """
from hipadapt import _core
from tests.unit.adapters.dlpack_c import tensor_of

def raises(kind, text, function):
    try:
        function()
    except kind as error:
        assert text in str(error), error
    else:
        raise SystemExit(f"not refused: {text}")

array = _core.array_allocate((2, 3), "u1", memory="device", device=0)
_core.array_write(array, bytes(range(6)))
"""


def test_device_memory_of_a_gpu_is_not_for_the_host(fake: Callable[..., Any]) -> None:
    fake(
        PRELUDE
        + """
raises(BufferError, "does not see the memory", array.host)
raises(BufferError, "device memory", lambda: memoryview(array))
raises(BufferError, "as a copy only",
       lambda: array.__dlpack__(dl_device=(1, 0), copy=False))
assert array.__dlpack_device__() == (10, 0)
"""
    )


def test_device_memory_of_a_gpu_goes_to_the_host_as_a_copy(
    fake: Callable[..., Any],
) -> None:
    fake(
        PRELUDE
        + """
for copy in (None, True):
    capsule = array.__dlpack__(dl_device=(1, 0), copy=copy, max_version=(1, 0))
    managed, tensor = tensor_of(capsule)
    assert managed.flags == 2
    assert (tensor.device_type, tensor.data != int(array)) == (1, True)
    assert ctypes.string_at(tensor.data, 6) == bytes(range(6))
out = bytearray(6)
_core.array_read(array, out)
assert out == bytes(range(6))
"""
    )


def test_runtime_that_can_not_say_where_memory_is(fake: Callable[..., Any]) -> None:
    fake(
        PRELUDE
        + """
raw = hip.hipMalloc(16)[1]
assert raw.memory == "device"
assert raw.__dlpack_device__() == (10, 0)
"""
    )


def test_failures_say_what_failed(fake: Callable[..., Any]) -> None:
    fake(
        PRELUDE
        + """
def failing():
    fake.fake_fail(719)
    _core.array_read(array, bytearray(6))

raises(RuntimeError, "hipErrorLaunchFailure (719)", failing)
assert hip.hipGetLastError() == (hip.hipError_t.hipSuccess,)
fake.fake_fail(2)
raises(RuntimeError, "hipGetDevice", lambda: _core.array_allocate(8, "u1"))
"""
    )


def test_functions_that_the_runtime_lacks(fake: Callable[..., Any]) -> None:
    fake(
        PRELUDE
        + """
array.configure(stream=4096)
raises(NotImplementedError, "hipStreamWaitEvent", lambda: array.__dlpack__(stream=0))
raises(NotImplementedError, "hipStreamSynchronize", lambda: array.numpy())
raises(NotImplementedError, "hipHostMalloc",
       lambda: _core.array_allocate(8, "u1", memory="pinned"))
array.__dlpack__(stream=-1)
"""
    )


def test_nothing_is_loaded_for_arrays_on_the_host(
    run_python: Callable[..., Any],
) -> None:
    run_python(
        """
        from hipadapt import _core, types
        array = types.DeviceArray(bytearray(8))
        array.host()
        array.__dlpack__()
        _core.from_dlpack(array).numpy()
        assert types.DeviceArray(4096).memory is None
        """,
        HIPADAPT_PROVIDER="/no/such/library",
    )
