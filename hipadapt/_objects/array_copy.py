# SPDX-License-Identifier: MIT
"""Arrays on a device: how they are copied and filled.

`DeviceArray` itself is a native type; its methods ``get``, ``fill``, ``copy_from`` and
``copy_to`` are the functions ``array_*`` here.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from .. import _core
from .calls import On, hip
from .interop import element_dtype, numpy_dtype, type_of
from .named import named
from .ordered import Ordered, stream_of
from .stream import Stream, stream_argument

if TYPE_CHECKING:
    from .._core import DeviceArray
    from ..typing import PointerLike, StreamLike

__all__ = ["array_copy_from", "array_copy_to", "array_fill", "array_get"]

# Formats of struct; values of the other types need numpy or ml_dtypes.
_LETTERS = {
    "bool": "?",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float16": "e",
    "float32": "f",
    "float64": "d",
}


def host_array(obj: Any, dtype: Any) -> Any:
    """numpy's array of a sequence or of host memory, in C order."""
    import numpy as np

    if dtype is None:
        return np.ascontiguousarray(obj).reshape(np.shape(obj))
    name = type_of(dtype)
    found = np.asarray(obj, dtype=numpy_dtype(name) if isinstance(name, str) else name)
    return np.ascontiguousarray(found).reshape(found.shape)


def view_of(obj: Any, stream: StreamLike) -> Any:
    """A view of any array; those of numpy that have no view are copied first."""
    try:
        return _core.array_of(obj, stream=stream_argument(stream))
    except (BufferError, TypeError, ValueError):
        if not hasattr(obj, "__array_interface__"):
            raise
        return _core.array_of(host_array(obj, None), stream=stream_argument(stream))


def _finish(stream: StreamLike, used: Stream) -> None:
    """Waits where the caller named no stream."""
    if stream is None:
        used.synchronize()


def order_of(target: _core.NDBuffer, stream: StreamLike) -> Stream:
    """The stream for work on an array where the caller names none.

    That is the one in which the array says that its memory is ready, else the current
    one, or the default stream of the array's device if that is another device.
    """
    if stream is not None:
        return stream_of(stream, None)
    owner = target.owner
    if isinstance(owner, Ordered):
        if not owner.stream.is_closed:
            return owner.stream
        owner.stream.device.synchronize()
        return Stream.default(owner.stream.device)
    if target.stream_as_int:
        return Stream.from_handle(target.stream_as_int)
    device = target.__dlpack_device__()[1] if target.memory == "device" else None
    return stream_of(None, device)


def _copy(
    destination: PointerLike, source: PointerLike, nbytes: int, stream: Stream
) -> None:
    with On(stream._device):
        hip.hipMemcpyAsync(
            destination,
            source,
            nbytes,
            hip.hipMemcpyKind.hipMemcpyDefault,
            stream.handle,
        )


def _check_alike(function: str, array: Any, other: Any, role: str) -> None:
    """Raises unless size and element type are the same; bytes go with any type."""
    if other.type_name not in (array.type_name, "uint8", "int8"):
        raise TypeError(
            f"{function}: elements are {array.type_name}, those of the {role} "
            f"{other.type_name}"
        )
    if other.nbytes != array.nbytes:
        raise ValueError(
            f"{function}: the array has {array.nbytes} bytes, the {role} {other.nbytes}"
        )


@named(pyobj="source", obj="source", src="source")
def array_copy_from(
    target: DeviceArray, source: Any, *, stream: StreamLike = None
) -> DeviceArray:
    """`DeviceArray.copy_from`; the native type has the docstring."""
    if target.is_read_only:
        raise BufferError("copy_from: the array is read-only")
    view = source if isinstance(source, _core.NDBuffer) else view_of(source, stream)
    _check_alike("copy_from", target, view, "source")
    used = order_of(target, stream)
    if target.nbytes:
        _copy(target, view, target.nbytes, used)
        _finish(stream, used)
    return target


@named(pyobj="target", obj="target", dst="target")
def array_copy_to(
    source: DeviceArray, target: Any, *, stream: StreamLike = None
) -> Any:
    """`DeviceArray.copy_to`; the native type has the docstring."""
    view = target
    if not isinstance(target, _core.NDBuffer):
        view = _core.array_of(target, stream=stream_argument(stream))
    if view.is_read_only:
        raise BufferError("copy_to: the target is read-only")
    _check_alike("copy_to", source, view, "target")
    used = order_of(source, stream)
    if source.nbytes:
        _copy(view, source, source.nbytes, used)
        _finish(stream, used)
    return target


@named(pyobj="out", obj="out", dst="out", target="out")
def array_get(
    source: DeviceArray, out: Any = None, *, stream: StreamLike = None
) -> Any:
    """`DeviceArray.get`; the native type has the docstring."""
    if out is None:
        import numpy as np

        out = np.empty(source.shape, element_dtype(source))
        view: Any = out.reshape(-1).view(np.uint8) if out.dtype.kind == "V" else out
        used = order_of(source, stream)
        if source.nbytes:
            _copy(view, source, source.nbytes, used)
            _finish(stream, used)
        return out
    return array_copy_to(source, out, stream=stream)


def pattern_of(name: str, size: int, value: Any) -> bytes:
    """The bytes of an element."""
    letter = _LETTERS.get(name)
    dtype = getattr(value, "dtype", None)
    if letter is not None and dtype is None and isinstance(value, (bool, int, float)):
        if letter not in "efd" and isinstance(value, float):
            if not value.is_integer():
                raise TypeError(f"fill: {value!r} is no {name}")
            value = int(value)
        try:
            return struct.pack("=" + letter, value)
        except (struct.error, OverflowError) as error:
            raise OverflowError(f"fill: {value!r} does not fit {name}") from error
    import numpy as np

    found = np.asarray(value)
    if found.ndim != 0:
        raise ValueError(f"fill: one value, not an array of shape {found.shape}")
    pattern: bytes = found.astype(numpy_dtype(name), casting="same_kind").tobytes()
    if len(pattern) != size:
        raise TypeError(f"fill: {value!r} is no {name}")
    return pattern


def set_first(made: DeviceArray, pattern: bytes, stream: StreamLike) -> None:
    """Fills a new array; waits for that where the array has no stream."""
    used = order_of(made, stream)
    _fill_bytes(made, pattern, used)
    if made.stream_as_int is None:
        used.synchronize()


def _fill_bytes(target: DeviceArray, pattern: bytes, stream: Stream) -> None:
    """Repeats the bytes of one element over all of the array."""
    size = len(pattern)
    if target.nbytes == 0:
        return
    for unit in (1, 2, 4):
        if size % unit == 0 and pattern == pattern[:unit] * (size // unit):
            number = int.from_bytes(pattern[:unit], "little", signed=unit == 4)
            name = f"hipMemsetD{8 * unit}Async"
            with On(stream._device):
                getattr(hip, name)(target, number, target.nbytes // unit, stream.handle)
            return
    # Larger elements: the first one from the host, then twice as many each time.
    _copy(target, pattern, size, stream)
    address, filled = int(target), size
    while filled < target.nbytes:
        more = min(filled, target.nbytes - filled)
        _copy(address + filled, address, more, stream)
        filled += more


@named()
def array_fill(
    target: DeviceArray, value: Any, *, stream: StreamLike = None
) -> DeviceArray:
    """`DeviceArray.fill`; the native type has the docstring."""
    if target.is_read_only:
        raise BufferError("fill: the array is read-only")
    pattern = pattern_of(target.type_name, target.itemsize, value)
    _fill_bytes(target, pattern, order_of(target, stream))
    return target
