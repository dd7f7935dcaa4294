# SPDX-License-Identifier: MIT
"""Arrays on a device: how they are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .. import hip as _raw
from .array_copy import (
    array_copy_from,
    host_array,
    pattern_of,
    set_first,
    view_of,
)
from .device import Device, ordinal_of
from .interop import element_type, numpy_dtype, type_of
from .named import ERRORS, named, refusal, rename
from .ordered import allocate_ordered, stream_of

if TYPE_CHECKING:
    from .._core import DeviceArray
    from ..typing import StreamLike
    from .pool import MemoryPool

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
        The device does not have that much memory.
    TypeError, ValueError, OverflowError
        There is no array of this shape or type.

    Examples
    --------
    >>> import hipadapt
    >>> with hipadapt.empty((2, 3), "float32") as x:
    ...     x.shape, x.nbytes
    ((2, 3), 24)
    """
    try:
        element = type_of(dtype)
        each = item_size(element)
        if stream is None and pool is None:
            number = None if device is None else ordinal_of(device)
            return _core.array_allocate(shape, element, memory="device", device=number)
        if pool is not None:
            _check_pool(pool)
            if device is None and stream is None:
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
    except ERRORS as error:
        rename(error, "empty", {})
        raise


def _check_pool(pool: Any) -> None:
    from .pool import MemoryPool

    if not isinstance(pool, MemoryPool):
        raise refusal("empty", "pool", "a MemoryPool", pool)


def _nbytes(extents: tuple[int, ...], each: int) -> int:
    count = each
    for extent in extents:
        if extent < 0:
            raise ValueError(f"an array has no extent {extent}")
        count *= extent
    return count


@named()
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
    set_first(made, bytes(made.itemsize), stream)
    return made


@named()
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
    set_first(made, pattern_of(made.type_name, made.itemsize, value), stream)
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


@named()
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
    if not hasattr(prototype, "shape") or not hasattr(prototype, "dtype"):
        raise refusal("empty_like", "prototype", "an array", prototype)
    if dtype is None:
        is_ours = isinstance(prototype, _core.NDBuffer)
        dtype = element_type(prototype) if is_ours else prototype.dtype
    if shape is None:
        shape = tuple(prototype.shape)
    return empty(shape, dtype, stream=stream, pool=pool, device=device)


def _is_sequence(obj: Any) -> bool:
    return isinstance(obj, (list, tuple, range, int, float, complex))


@named(pyobj="obj", src="obj")
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
    if dtype is not None:
        item_size(type_of(dtype))  # numpy would refuse it in other words
    if _is_sequence(obj):
        source = host_array(obj, dtype)
    if not isinstance(source, _core.NDBuffer):
        source = view_of(source, stream)
    if dtype is not None and not _same_type(source, dtype):
        if source.memory == "device":
            raise TypeError(
                f"array: elements of device memory are {source.type_name} and are not "
                f"converted to {dtype}"
            )
        source = _core.array_of(host_array(obj, dtype))
    made = empty(
        source.shape, element_type(source), stream=stream, pool=pool, device=device
    )
    array_copy_from(made, source, stream=stream)
    return made


def _same_type(source: Any, dtype: Any) -> bool:
    probe = _core.array_from_memory(0, (0,), type_of(dtype), memory="device", device=0)
    return bool(element_type(probe) == element_type(source))


@named(pyobj="obj", src="obj")
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
        found = obj if isinstance(obj, _core.NDBuffer) else view_of(obj, stream)
        fits = dtype is None or _same_type(found, dtype)
        if isinstance(found, _core.DeviceArray) and found.memory == "device" and fits:
            return found
    return array(obj, dtype, stream=stream, device=device)


@named()
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

    if dtype is not None:
        item_size(type_of(dtype))
    first, last = (0, start) if stop is None else (start, stop)
    host = np.arange(first, last, step)
    element: Any = host.dtype if dtype is None else type_of(dtype)
    return array(
        host.astype(numpy_dtype(element) if isinstance(element, str) else element),
        stream=stream,
        device=device,
    )
