# SPDX-License-Identifier: MIT
"""Names for annotations: what the arguments of HIP calls may be.

docs/adapters.md has the order in which kinds of objects are tried.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex, TypeAlias, Union

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from ._core import Pointer

__all__ = [
    "CallbackLike",
    "CudaArray",
    "CudaStream",
    "DLPackArray",
    "HasVoidPointer",
    "HostNodeLike",
    "LaunchExtraLike",
    "NumberListLike",
    "PointerLike",
    "PointerListLike",
    "RecordLike",
    "RecordListLike",
    "StreamLike",
    "TextLike",
    "TextListLike",
]


class CudaArray(Protocol):
    """An object with the CUDA array interface."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Address, shape and type of the array."""
        ...


class CudaStream(Protocol):
    """A stream of another package."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """Returns (0, handle)."""
        ...


class DLPackArray(Protocol):
    """An object with DLPack's export method."""

    def __dlpack__(self, *, stream: Any = ...) -> Any:
        """Returns a capsule with the array."""
        ...


class HasVoidPointer(Protocol):
    """An object that knows its address as a ctypes.c_void_p."""

    def as_c_void_p(self) -> Any:
        """Returns the address."""
        ...


# Unions of names that are there for type checkers only can't be written with `|`.
PointerLike: TypeAlias = Union[
    "Pointer", SupportsIndex, "Buffer", CudaArray, DLPackArray, HasVoidPointer, None
]
StreamLike: TypeAlias = Union[CudaStream, PointerLike]  # noqa: UP007
TextLike: TypeAlias = Union[str, PointerLike]  # noqa: UP007
TextListLike: TypeAlias = Union[list[Any], tuple[Any, ...], PointerLike]  # noqa: UP007
PointerListLike: TypeAlias = TextListLike
NumberListLike: TypeAlias = TextListLike
RecordLike: TypeAlias = TextListLike
RecordListLike: TypeAlias = TextListLike
LaunchExtraLike: TypeAlias = TextListLike
HostNodeLike: TypeAlias = Union[tuple[Any, Any], RecordLike]  # noqa: UP007
CallbackLike: TypeAlias = Union[Callable[..., Any], PointerLike]  # noqa: UP007
