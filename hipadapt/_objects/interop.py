# SPDX-License-Identifier: MIT
"""Arrays and numpy; the native array types import this module at their first need.

numpy is optional.  So is ml_dtypes, which adds bfloat16 and the 8-bit floats to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import NDBuffer, array_allocate, array_read, array_write, from_dlpack
from .named import named

if TYPE_CHECKING:
    import numpy as np

    from .._core import DeviceArray

__all__ = ["from_dlpack", "managed_empty", "pinned_empty"]


def numpy_dtype(name: str) -> Any:
    """The numpy.dtype of an element type.

    Raises
    ------
    ImportError
        numpy is not installed, or ml_dtypes where numpy needs it.
    """
    import numpy as np

    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))


def element_type(array: NDBuffer) -> Any:
    """The element type to make similar arrays of: a list of fields, or a name."""
    fields = array.__cuda_array_interface__.get("descr")
    return array.type_name if fields is None else fields


def element_dtype(array: NDBuffer) -> Any:
    """The numpy.dtype of an array's elements; raises as `numpy_dtype`."""
    kind = element_type(array)
    if isinstance(kind, str):
        return numpy_dtype(kind)
    import numpy as np

    return np.lib.format.descr_to_dtype(kind)


def array_dtype(array: NDBuffer) -> Any:
    """`NDBuffer.dtype`."""
    try:
        return element_dtype(array)
    except ImportError:
        return array.type_name


def array_numpy(array: NDBuffer) -> np.ndarray[Any, Any]:
    """`NDBuffer.numpy`."""
    import numpy as np

    out = np.empty(array.shape, element_dtype(array))
    array_read(array, out)
    return out


def host_view(array: NDBuffer) -> np.ndarray[Any, Any] | None:
    """A numpy array on the memory itself; None where the processor does not see it."""
    import numpy as np

    # As bytes, because buffers have no format for the element types of ml_dtypes.
    view = NDBuffer(array).configure(
        typestr="|u1", shape=(array.nbytes,), read_only=array.is_read_only
    )
    try:
        memory = memoryview(view)
    except BufferError:
        return None
    elements = np.asarray(memory).view(element_dtype(array))
    shaped: np.ndarray[Any, Any] = elements.reshape(array.shape)
    return shaped


def array_array(
    array: NDBuffer, dtype: Any = None, *, copy: bool | None = None
) -> np.ndarray[Any, Any]:
    """`NDBuffer.__array__`."""
    out = None if copy else host_view(array)
    if out is None:
        if copy is False:
            raise ValueError(
                f"{type(array).__name__}: numpy can have device memory as a copy only"
            )
        out = array_numpy(array)
    if dtype is None or out.dtype == dtype:
        return out
    if copy is False:
        raise ValueError(f"{out.dtype} becomes {dtype} by a copy only")
    return out.astype(dtype)


def rebuild(
    data: Any, shape: tuple[int, ...], kind: Any, memory: str, readonly: bool
) -> DeviceArray:
    """A pickled array: the same kind of memory, on the current device."""
    array = array_allocate(shape, kind, memory=memory)
    array_write(array, data)
    return array.configure(read_only=True) if readonly else array


def array_reduce(array: DeviceArray) -> tuple[Any, ...]:
    """`DeviceArray.__reduce__`."""
    memory = array.memory
    if memory is None and array.nbytes > 0:
        raise TypeError(
            f"cannot pickle or copy '{type(array).__name__}': HIP does not know its "
            "address"
        )
    data = bytearray(array.nbytes)
    array_read(array, data)
    return rebuild, (
        data,
        array.shape,
        element_type(array),
        memory or "device",
        array.is_read_only,
    )


@named()
def pinned_empty(
    shape: int | tuple[int, ...] | list[int], dtype: Any = "float64"
) -> Any:
    """Page-locked host memory that the device copies from and to without waiting.

    Parameters
    ----------
    shape : int or tuple of int
        Extents.
    dtype : str, numpy.dtype or numpy scalar type
        Element type: "float32", "<f4", numpy.float32, "bfloat16" and so on.

    Returns
    -------
    numpy.ndarray
        Not initialised; a `DeviceArray` where numpy is not installed.  The memory is
        given back with the last array that shares it.

    Raises
    ------
    TypeError, ValueError, OverflowError
        There is no array of this shape or type.
    MemoryError
        HIP does not have that much memory.

    Examples
    --------
    >>> import hipadapt
    >>> staging = hipadapt.pinned_empty((2, 3), "float32")
    >>> staging.shape
    (2, 3)
    """
    array = array_allocate(shape, type_of(dtype), memory="pinned")
    try:
        view = host_view(array)
    except ImportError:
        return array
    return array if view is None else view


@named()
def managed_empty(
    shape: int | tuple[int, ...] | list[int], dtype: Any = "float64"
) -> DeviceArray:
    """Memory that processor and device both see.

    Parameters
    ----------
    shape : int or tuple of int
        Extents.
    dtype : str, numpy.dtype or numpy scalar type
        Element type.

    Returns
    -------
    DeviceArray
        Not initialised.  ``numpy.asarray`` gives a view of it; synchronise before the
        processor touches what the device writes.

    Raises
    ------
    TypeError, ValueError, OverflowError
        There is no array of this shape or type.
    MemoryError
        HIP does not have that much memory.
    """
    return array_allocate(shape, type_of(dtype), memory="managed")


def type_of(dtype: Any) -> Any:
    """What `_core` takes for a numpy scalar type: the dtype of it."""
    if isinstance(dtype, type):
        import numpy as np

        return np.dtype(dtype)
    return dtype
