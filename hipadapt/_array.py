# SPDX-License-Identifier: MIT
"""Arrays on a device: how they are made, filled and copied.

`DeviceArray` itself is a native type; its methods ``get``, ``fill``, ``copy_from`` and
``copy_to`` are the functions ``array_*`` here.
"""

# The modules of the high-level objects know each other's privates.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from . import _core
from . import hip as _raw
from ._calls import On, finalize, hip
from ._device import Device, ordinal_of
from ._interop import numpy_dtype, type_of
from ._stream import Stream, current_stream, stream_argument

if TYPE_CHECKING:
    from ._core import DeviceArray
    from ._pool import MemoryPool
    from .typing import PointerLike, StreamLike

Shape = int | tuple[int, ...] | list[int]

__all__ = [
    "arange",
    "array",
    "asarray",
    "empty",
    "empty_like",
    "full",
    "zeros",
]

# struct's letters; the rest of the types needs numpy or ml_dtypes.
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


# ---- memory in the order of a stream ----


class Ordered:
    """Memory that is allocated and freed in the order of a stream.

    It is freed on the stream that it was allocated on, so work in that stream may still
    use it when it is let go.
    """

    __slots__ = ("_address", "stream")

    def __init__(self, address: int, stream: Stream) -> None:
        self._address: int | None = address
        self.stream = stream

    def close(self) -> None:
        """Frees it; nothing happens the second time."""
        address, self._address = self._address, None
        if address is not None:
            free_ordered(address, self.stream, hip)

    def __del__(self, _late: Any = finalize) -> None:
        address, self._address = self._address, None
        if address is not None:
            _late(free_ordered, address, self.stream, _raw)


def free_ordered(address: int, stream: Stream, calls: Any) -> None:
    """Frees on the stream; where it is closed, when all work is done."""
    if stream.is_closed:
        calls.hipFree(address)
        return
    with On(stream._device):
        calls.hipFreeAsync(address, stream.handle)


def stream_of(stream: StreamLike, device: Device | int | None) -> Stream:
    """A stream object for what was given; the current one for None."""
    if isinstance(stream, Stream):
        return stream
    if stream is not None:
        return Stream.from_handle(stream, device)
    if device is None:
        return current_stream()
    current = current_stream()
    number = ordinal_of(device)
    return current if current._device == number else Stream.default(number)


def allocate_ordered(
    nbytes: int, stream: Stream, pool: MemoryPool | None
) -> tuple[int, Ordered | None]:
    """Memory from a pool: the given one, or that of the stream's device."""
    if nbytes == 0:
        return 0, None
    with On(stream._device):
        if pool is not None:
            found = hip.hipMallocFromPoolAsync(nbytes, pool.handle, stream.handle)
        else:
            found = hip.hipMallocAsync(nbytes, stream.handle)
    address = int(found)
    return address, Ordered(address, stream)


# ---- making arrays ----


def item_size(element: Any) -> int:
    """Bytes of an element.

    Raises
    ------
    TypeError
        Elements are Python objects, which mean nothing to a device.
    """
    probe = _core.array_from_memory(0, (0,), element, memory="device", device=0)
    if probe.type_name.startswith("|O"):
        raise TypeError("elements of device memory can't be Python objects")
    return probe.itemsize


def empty(
    shape: Shape,
    dtype: Any = "float64",
    *,
    stream: StreamLike = None,
    pool: MemoryPool | None = None,
    device: Device | int | None = None,
) -> DeviceArray:
    """Device memory that is not initialised.

    Parameters
    ----------
    shape : int or tuple of int
        Extents.
    dtype : str, numpy.dtype or numpy scalar type
        Element type: "float32", "<f4", numpy.float32, "bfloat16" and so on.
    stream : Stream, handle or object with ``__cuda_stream__``, optional
        Allocates, and later frees, in the order of this stream (``hipMallocAsync``);
        other streams must wait for it before they use the memory.  Without it the
        memory is there for all streams, and freeing it waits for all work of the
        device (``hipFree``).
    pool : MemoryPool, optional
        Where the memory comes from; in the order of `stream`, or of the current one.
    device : Device or int, optional
        The device of `stream`, else the current one, where it is left out.

    Returns
    -------
    DeviceArray
        Its memory is freed by ``array.close()``, at the end of ``with array:``, or with
        the last object that uses it: slices, views and exported arrays count.

    Raises
    ------
    HipErrorOutOfMemory, MemoryError
        The device has not so much memory.
    TypeError, ValueError, OverflowError
        There is no array of this shape or type.

    Examples
    --------
    >>> import hipadapt
    >>> with hipadapt.empty((2, 3), "float32") as x:
    ...     x.shape, x.nbytes
    ((2, 3), 24)
    """
    element = type_of(dtype)
    each = item_size(element)
    if stream is None and pool is None:
        number = None if device is None else ordinal_of(device)
        return _core.array_allocate(shape, element, memory="device", device=number)
    if pool is not None and device is None and stream is None:
        device = pool.device
    order = stream_of(stream, device)
    if pool is None and not _raw.has_symbol("hipMallocAsync"):
        return _core.array_allocate(
            shape, element, memory="device", device=order._device
        )
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    address, owner = allocate_ordered(_nbytes(extents, each), order, pool)
    return _core.array_from_memory(
        address,
        extents,
        element,
        owner=owner,
        memory="device",
        device=order._device,
        stream=order,
    )


def _nbytes(extents: tuple[int, ...], each: int) -> int:
    count = each
    for extent in extents:
        if extent < 0:
            raise ValueError(f"an array has no extent {extent}")
        count *= extent
    return count


def zeros(
    shape: Shape,
    dtype: Any = "float64",
    *,
    stream: StreamLike = None,
    pool: MemoryPool | None = None,
    device: Device | int | None = None,
) -> DeviceArray:
    """Device memory of zeros; the parameters are those of `empty`.

    With `stream` or `pool` the zeros are there in the order of the stream, else on
    return.

    Examples
    --------
    >>> import hipadapt
    >>> hipadapt.zeros(3, "int32").get().tolist()
    [0, 0, 0]
    """
    made = empty(shape, dtype, stream=stream, pool=pool, device=device)
    _set(made, bytes(made.itemsize), stream)
    return made


def full(
    shape: Shape,
    value: Any,
    dtype: Any = None,
    *,
    stream: StreamLike = None,
    pool: MemoryPool | None = None,
    device: Device | int | None = None,
) -> DeviceArray:
    """Device memory with the same value everywhere.

    Parameters
    ----------
    shape : int or tuple of int
        Extents.
    value : number
        The value.
    dtype : dtype, optional
        Element type; that of the value where it is left out: "bool", "int64",
        "float64", "complex128", or the type of a numpy scalar.
    stream, pool, device
        As in `empty`.

    Examples
    --------
    >>> import hipadapt
    >>> hipadapt.full((2, 2), 7, "uint8").get().tolist()
    [[7, 7], [7, 7]]
    """
    element = _type_of_value(value) if dtype is None else dtype
    made = empty(shape, element, stream=stream, pool=pool, device=device)
    _set(made, _pattern(made.type_name, made.itemsize, value), stream)
    return made


def _type_of_value(value: Any) -> Any:
    dtype = getattr(value, "dtype", None)
    if dtype is not None:
        return dtype
    for kind, name in (
        (bool, "bool"),
        (int, "int64"),
        (float, "float64"),
        (complex, "complex128"),
    ):
        if isinstance(value, kind):
            return name
    raise TypeError(f"full: argument 'value' must be a number, not {value!r}")


def empty_like(
    prototype: Any,
    dtype: Any = None,
    shape: Shape | None = None,
    *,
    stream: StreamLike = None,
    pool: MemoryPool | None = None,
    device: Device | int | None = None,
) -> DeviceArray:
    """Device memory with shape and type of another array, which may be numpy's.

    Parameters
    ----------
    prototype : array
        Has ``shape`` and ``dtype``.
    dtype, shape, optional
        Another element type or shape.
    stream, pool, device
        As in `empty`.
    """
    if dtype is None:
        dtype = getattr(prototype, "type_name", None) or prototype.dtype
    if shape is None:
        shape = tuple(prototype.shape)
    return empty(shape, dtype, stream=stream, pool=pool, device=device)


def _host_array(obj: Any, dtype: Any) -> Any:
    """numpy's array of a sequence or of host memory, in C order."""
    import numpy as np

    if dtype is None:
        return np.ascontiguousarray(obj).reshape(np.shape(obj))
    name = type_of(dtype)
    found = np.asarray(obj, dtype=numpy_dtype(name) if isinstance(name, str) else name)
    return np.ascontiguousarray(found).reshape(found.shape)


def _is_sequence(obj: Any) -> bool:
    return isinstance(obj, (list, tuple, range, int, float, complex))


def array(
    obj: Any,
    dtype: Any = None,
    *,
    stream: StreamLike = None,
    pool: MemoryPool | None = None,
    device: Device | int | None = None,
) -> DeviceArray:
    """A new device array with the elements of another array or sequence.

    Parameters
    ----------
    obj : array, nested sequence of numbers, or number
        numpy arrays and buffers, arrays of other GPU packages (CUDA array interface,
        DLPack), `DeviceArray`.
    dtype : dtype, optional
        Element type; sequences and host arrays are converted.
    stream, pool, device
        As in `empty`.  With `stream` the call does not wait for the copy.

    Raises
    ------
    ImportError
        numpy is needed for sequences and conversions, and not installed.
    TypeError
        Elements of device memory would have to be converted.

    Examples
    --------
    >>> import hipadapt
    >>> hipadapt.array([[1, 2], [3, 4]], "float32").shape
    (2, 2)
    """
    source = obj
    if _is_sequence(obj):
        source = _host_array(obj, dtype)
    if not isinstance(source, _core.NDBuffer):
        source = _view(source, stream)
    if dtype is not None and not _same_type(source, dtype):
        if source.memory == "device":
            raise TypeError(
                f"array: elements of device memory are {source.type_name} and are not "
                f"converted to {dtype}"
            )
        source = _core.array_of(_host_array(obj, dtype))
    made = empty(
        source.shape, source.type_name, stream=stream, pool=pool, device=device
    )
    array_copy_from(made, source, stream=stream)
    return made


def _view(obj: Any, stream: StreamLike) -> Any:
    """What the adapters make of an array; numpy's others are copied first."""
    try:
        return _core.array_of(obj, stream=stream_argument(stream))
    except (BufferError, TypeError, ValueError):
        if not hasattr(obj, "__array_interface__"):
            raise
        return _core.array_of(_host_array(obj, None), stream=stream_argument(stream))


def _same_type(source: Any, dtype: Any) -> bool:
    probe = _core.array_from_memory(0, (0,), type_of(dtype), memory="device", device=0)
    return bool(probe.type_name == source.type_name)


def asarray(
    obj: Any,
    dtype: Any = None,
    *,
    stream: StreamLike = None,
    device: Device | int | None = None,
) -> DeviceArray:
    """Device memory with the elements of `obj`, not copied where it is that already.

    Parameters
    ----------
    obj : array, nested sequence of numbers, or number
        Device memory of other packages is shared and kept; host memory is copied,
        pinned and managed memory too.
    dtype : dtype, optional
        Element type.
    stream : Stream, handle or object with ``__cuda_stream__``, optional
        The stream that will use the memory: it waits for the one that the other package
        works in.  With it the call does not wait for a copy.
    device : Device or int, optional
        Where a copy goes; the current device where it is left out.

    Examples
    --------
    >>> import hipadapt
    >>> x = hipadapt.zeros(4)
    >>> hipadapt.asarray(x) is x
    True
    """
    if not _is_sequence(obj):
        found = obj if isinstance(obj, _core.NDBuffer) else _view(obj, stream)
        fits = dtype is None or _same_type(found, dtype)
        if isinstance(found, _core.DeviceArray) and found.memory == "device" and fits:
            return found
    return array(obj, dtype, stream=stream, device=device)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1,
    dtype: Any = None,
    *,
    stream: StreamLike = None,
    device: Device | int | None = None,
) -> DeviceArray:
    """Numbers at equal distances, as ``numpy.arange`` makes them.

    Parameters
    ----------
    start, stop, step : number
        From `start` (0 if only one is given) to before `stop`.
    dtype : dtype, optional
        Element type; "int64" for ints, "float64" for floats where it is left out.
    stream, device
        As in `array`.

    Notes
    -----
    The numbers are made on the host, by numpy, and copied.

    Examples
    --------
    >>> import hipadapt
    >>> hipadapt.arange(2, 5).get().tolist()
    [2, 3, 4]
    """
    import numpy as np

    first, last = (0, start) if stop is None else (start, stop)
    host = np.arange(first, last, step)
    element: Any = host.dtype if dtype is None else type_of(dtype)
    return array(
        host.astype(numpy_dtype(element) if isinstance(element, str) else element),
        stream=stream,
        device=device,
    )


# ---- methods of DeviceArray ----


def _finish(stream: StreamLike, used: Stream) -> None:
    """Waits where the caller named no stream."""
    if stream is None:
        used.synchronize()


def _order(target: DeviceArray, stream: StreamLike) -> Stream:
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


def array_copy_from(
    target: DeviceArray, source: Any, *, stream: StreamLike = None
) -> DeviceArray:
    """`DeviceArray.copy_from`: replaces the elements by those of another array.

    Parameters
    ----------
    source : array
        As many elements of the same type, in any shape: numpy arrays, buffers, arrays
        of GPU packages, `DeviceArray`.  Plain bytes and buffers of bytes have no type.
    stream : Stream, handle or object with ``__cuda_stream__``, optional
        Copies in the order of this stream and does not wait; the source is kept and
        must not be changed until then.

    Returns
    -------
    DeviceArray
        Itself.
    """
    if target.is_read_only:
        raise BufferError("copy_from: the array is read-only")
    view = source if isinstance(source, _core.NDBuffer) else _view(source, stream)
    if view.type_name != target.type_name and view.type_name not in ("uint8", "int8"):
        raise TypeError(
            f"copy_from: elements are {target.type_name}, those of the source "
            f"{view.type_name}"
        )
    if view.nbytes != target.nbytes:
        raise ValueError(
            f"copy_from: the array has {target.nbytes} bytes, the source {view.nbytes}"
        )
    used = _order(target, stream)
    if target.nbytes:
        _copy(target, view, target.nbytes, used)
        _finish(stream, used)
    return target


def array_copy_to(
    source: DeviceArray, target: Any, *, stream: StreamLike = None
) -> Any:
    """`DeviceArray.copy_to`: writes the elements into another array.

    Parameters
    ----------
    target : array
        Writable, with as many elements of the same type; see `copy_from`.
    stream : Stream, handle or object with ``__cuda_stream__``, optional
        Copies in the order of this stream and does not wait.

    Returns
    -------
    array
        The target.
    """
    view = target
    if not isinstance(target, _core.NDBuffer):
        view = _core.array_of(target, stream=stream_argument(stream))
    if view.is_read_only:
        raise BufferError("copy_to: the target is read-only")
    if view.type_name != source.type_name and view.type_name not in ("uint8", "int8"):
        raise TypeError(
            f"copy_to: elements are {source.type_name}, those of the target "
            f"{view.type_name}"
        )
    if view.nbytes != source.nbytes:
        raise ValueError(
            f"copy_to: the array has {source.nbytes} bytes, the target {view.nbytes}"
        )
    used = _order(source, stream)
    if source.nbytes:
        _copy(view, source, source.nbytes, used)
        _finish(stream, used)
    return target


def array_get(
    source: DeviceArray, out: Any = None, *, stream: StreamLike = None
) -> Any:
    """`DeviceArray.get`: a copy in host memory.

    Parameters
    ----------
    out : numpy.ndarray, optional
        Where it goes; a new array where it is left out.
    stream : Stream, handle or object with ``__cuda_stream__``, optional
        Copies in the order of this stream and does not wait: the result is there after
        ``stream.synchronize()``.

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ImportError
        numpy is not installed and no `out` is given.
    """
    if out is None:
        import numpy as np

        out = np.empty(source.shape, numpy_dtype(source.type_name))
        view: Any = out.reshape(-1).view(np.uint8) if out.dtype.kind == "V" else out
        used = _order(source, stream)
        if source.nbytes:
            _copy(view, source, source.nbytes, used)
            _finish(stream, used)
        return out
    return array_copy_to(source, out, stream=stream)


def _pattern(name: str, size: int, value: Any) -> bytes:
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


def _set(made: DeviceArray, pattern: bytes, stream: StreamLike) -> None:
    """First elements of a new array, which is complete where no stream is named."""
    used = _order(made, stream)
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


def array_fill(
    target: DeviceArray, value: Any, *, stream: StreamLike = None
) -> DeviceArray:
    """`DeviceArray.fill`: sets all elements to one value.

    Parameters
    ----------
    value : number
        An int or float for real types; numpy scalars for all others.  What does not fit
        the element type is refused.
    stream : Stream, handle or object with ``__cuda_stream__``, optional
        Where the work goes; the current stream where it is left out.  The call does not
        wait for it.

    Returns
    -------
    DeviceArray
        Itself.
    """
    if target.is_read_only:
        raise BufferError("fill: the array is read-only")
    pattern = _pattern(target.type_name, target.itemsize, value)
    _fill_bytes(target, pattern, _order(target, stream))
    return target
