# SPDX-License-Identifier: MIT
"""Events of a debug stream that are about a launch of a kernel."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any, NoReturn

from .debug_stream import DebugEvent, _text

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["KernelEvent"]

# hipadapt_debug_stream_payload_kernel_t
_HEAD = Struct("256s I I 3Q 3I 3I 3I 3I i I Q")
_TEXT = 512
_UNKNOWN = 2**32 - 1


class KernelEvent(DebugEvent):
    """What a launch of a kernel tells; `DebugStream` gives it to who asks for it.

    A launch has one ``kernel_begin``, then what it prints, then one ``kernel_end`` or
    ``kernel_error``.

    Attributes
    ----------
    kind : str
        ``kernel_print``, ``kernel_begin``, ``kernel_end`` or ``kernel_error``.
    prefix : str
        The kernel's name in its module.
    pipe : int
        1 for ``kernel_print``, whose text goes to stdout too; else 0.
    device : int
        HIP's number.
    launch : int
        The same number in all events of a launch.
    begin_ns, end_ns : int
        When it began and ended (``kernel_end``, ``kernel_error``), on the clock of
        ``time.monotonic_ns``; of ``kernel_print``, when it was called.
    grid, block : tuple of int
        Blocks and threads.
    at_block, at_thread : tuple of int or None
        ``kernel_print``: who called.
    status : hip.hipError_t
        ``kernel_error``: why it failed; else hipSuccess.
    text : str
        What was printed, or what happened.
    """

    __slots__ = (
        "at_block",
        "at_thread",
        "begin_ns",
        "block",
        "end_ns",
        "grid",
        "kind",
        "launch",
        "status",
        "text",
    )

    def __init__(self, kind: str, payload: Buffer) -> None:
        from .. import hip

        view = memoryview(payload)
        name, self.device, self.pipe, *numbers = _HEAD.unpack_from(view)
        self.kind = kind
        self.prefix = _text(name)
        self.launch: int
        self.launch, self.begin_ns, self.end_ns = numbers[:3]
        self.grid, self.block = tuple(numbers[3:6]), tuple(numbers[6:9])
        who = kind == "kernel_print" and numbers[9] != _UNKNOWN
        self.at_block = tuple(numbers[9:12]) if who else None
        self.at_thread = tuple(numbers[12:15]) if who else None
        self.status: Any = hip.hipError_t(numbers[15])
        self.dtype, self.shape = "", ()
        self.data = view[_TEXT : _TEXT + numbers[17]]
        self.text = bytes(self.data).decode(errors="replace")

    @property
    def array(self) -> NoReturn:
        """There is none.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError(f"DebugEvent.array: a {self.kind} has no tensor")

    def _repr_html_(self) -> None:
        """Notebooks show `repr`."""

    def __repr__(self) -> str:
        said = f" {self.text!r}" if self.text else ""
        return f"<KernelEvent {self.kind} {self.prefix!r} {self.launch}{said}>"
