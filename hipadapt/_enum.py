# SPDX-License-Identifier: MIT
"""Base class of HIP's enums; the native module makes one class for each C enum."""

from __future__ import annotations

import enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class HipEnum(enum.IntEnum):
    """An enum of HIP: members equal their C values."""

    @classmethod
    def ctypes_type(cls) -> Any:
        """The ctypes type of the C enum.

        Returns
        -------
        type
            ``ctypes.c_uint``, or ``ctypes.c_int`` where a value is negative.
        """
        import ctypes

        return ctypes.c_int if min(cls, default=0) < 0 else ctypes.c_uint


def make(module: str, name: str, members: list[tuple[str, int]]) -> type[HipEnum]:
    """Returns the class ``hipadapt.<module>.<name>``; equal values become aliases."""
    base: Any = HipEnum
    made: type[HipEnum] = base(
        name, members, module="hipadapt." + module, qualname=name
    )
    return made


def unknown(cls: type[HipEnum], value: int) -> HipEnum:
    """Returns a member of its own for a value that the class doesn't list."""
    member = int.__new__(cls, value)
    member._name_ = f"unknown({value})"
    member._value_ = value
    return member
