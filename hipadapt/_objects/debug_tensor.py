# SPDX-License-Identifier: MIT
"""Values of arrays that a program sends to a device's debug stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from ..errors import HipError
from .array_copy import order_of
from .calls import On
from .named import named, need, refusal
from .ordered import stream_of
from .stream import stream_argument

if TYPE_CHECKING:
    from ..typing import StreamLike

__all__ = ["debug_tensor"]

_PREFIX_BYTES = 511


@named(pyobj="array", obj="array")
def debug_tensor(
    array: Any, prefix: str, stream: StreamLike = None, *, pipe: int = 0
) -> None:
    """Sends the value that an array has when a stream comes to this point.

    The call does not wait: the value is copied in the order of the stream, and the
    event goes to the debug stream of the stream's device, where a `DebugStream` or a
    client in C reads it.  While nobody is connected nothing is copied, and the array is
    not looked at.

    Parameters
    ----------
    array : DeviceArray, NDBuffer or array of another package
        Contiguous memory with a shape: of a device, or of the host, numpy's too, which
        is read when the stream comes to it.  It is kept until then.
    prefix : str
        A text for the reader: 511 bytes of UTF-8 at most.
    stream : Stream, handle or object with ``__cuda_stream__``, optional
        The one that the array's memory is used in where it is left out, else the
        current stream.
    pipe : int
        A number for the reader: 1 stdout, 2 stderr.

    Raises
    ------
    BufferError, TypeError, ValueError
        The array is strided, has more than 8 dimensions or none of its elements, has
        elements without a dtype of numpy or ml_dtypes, ends beyond its allocation, or
        its memory is NULL or was freed.
    HipError
        HIP has refused the copy or the call behind it.
    MemoryError
        In a capture: HIPADAPT_DEBUG_STREAM_BUFFER_BYTES are in use.

    Notes
    -----
    Values on their way have memory of their own, of HIPADAPT_DEBUG_STREAM_BUFFER_BYTES
    together.  What finds no room is dropped and counted as ``full``
    (`DebugStream.counts`).

    While the stream is captured, copy and call become nodes of the graph: each launch
    sends the value of that time.  The nodes share their memory, so executables of one
    graph that run at the same time can mix their values.

    Examples
    --------
    >>> import hipadapt
    >>> with hipadapt.DebugStream() as stream:
    ...     hipadapt.debug_tensor(hipadapt.full((2, 2), 1.5, "float32"), "weights")
    ...     event = stream.read_event(timeout=10)
    >>> event.prefix, event.dtype, event.shape, float(event.array.sum())
    ('weights', 'float32', (2, 2), 6.0)
    """
    need(prefix, str, "debug_tensor", "prefix", "a str")
    text = _bytes_of(prefix)
    is_ours = isinstance(array, _core.NDBuffer)
    used = order_of(array, stream) if is_ours else stream_of(stream, None)
    if not _core.debug_tensor_wanted(used._device):
        return
    view = array if is_ours else _view_of(array, stream)
    with On(used._device):
        failed = _core.debug_tensor_send(view, text, pipe, used.handle, used._device)
        if failed is not None:
            raise HipError(*failed, detail=_core.error_text())


def _bytes_of(prefix: str) -> bytes:
    text = prefix.encode(errors="surrogateescape")
    if len(text) > _PREFIX_BYTES:
        raise ValueError(
            f"debug_tensor: argument 'prefix' must have at most {_PREFIX_BYTES} bytes "
            f"of UTF-8, not {len(text)}"
        )
    if b"\0" in text:
        raise ValueError(
            f"debug_tensor: argument 'prefix' must have no NUL, not {prefix!r}"
        )
    return text


def _view_of(array: Any, stream: StreamLike) -> Any:
    """A view, never a copy: that would have the value of now."""
    if not hasattr(array, "shape"):
        try:
            memoryview(array)
        except TypeError:
            wanted = "an array, which has a shape"
            raise refusal("debug_tensor", "array", wanted, array) from None
    return _core.array_of(array, stream=stream_argument(stream))
