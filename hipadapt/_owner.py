# SPDX-License-Identifier: MIT
"""Objects that own something of HIP's can't be copied."""

from __future__ import annotations

from typing import NoReturn

__all__ = ["Owner"]


class Owner:
    """Base of objects that own a handle, memory or code.

    A copy would be a second owner: the one that ends first would free what the other
    still uses.  In another process the handle means nothing.
    """

    __slots__ = ()

    # copy, deepcopy and pickle all come here.
    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"cannot pickle or copy '{type(self).__name__}': what it owns has one "
            "owner, and means nothing in another process"
        )
