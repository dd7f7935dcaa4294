# SPDX-License-Identifier: MIT
"""Kernels: ``kernel[grid, block, shared, stream](*args)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from .. import _core, errors
from .._owner import Owner
from .calls import On, hip

if TYPE_CHECKING:
    from typing_extensions import Self

    from .._core import LaunchConfig
    from .explanation import Explanation
    from .program import Module
    from .signature import Parameter

__all__ = ["Kernel", "KernelAttributes"]


class KernelAttributes(NamedTuple):
    """What HIP says about a compiled kernel; sizes are in bytes."""

    max_threads_per_block: int
    shared_size: int
    """Static shared memory of a block."""
    max_dynamic_shared_size: int
    """Most that a launch may add to it."""
    local_size: int
    """Private memory of a thread."""
    const_size: int
    registers: int
    """Registers of a thread."""


class Kernel(Owner, _core.Kernel):
    """A kernel of a loaded module; `Module.kernel` gives it.

    ``kernel[grid, block, shared, stream]`` is a launch configuration; call it with the
    arguments of the kernel.  ``grid`` (blocks) and ``block`` (threads a block) are
    ints, tuples of up to three ints, or ``hip.dim3``.  ``shared`` is the number of
    bytes of dynamic shared memory, 0 where it is left out.  ``stream`` is a `Stream` or
    whatever HIP calls take for one; without it the current stream is used when the call
    is made.  The call returns when the launch is queued.  Memory of its arguments is
    kept until the kernel has run.

    Notes
    -----
    Where `signature` is known, the number of arguments is checked, and each of them is
    converted to what the kernel takes:

    - int and float become the integer or floating point number of the kernel's type,
      and are refused where they do not fit it; a float is never made an integer,
    - where only the size of a number is known (``extern "C"`` kernels of AMD's
      compiler), an int becomes an integer and a float a floating point number of that
      size: name the types with ``Module.kernel(name, types=...)`` to be exact,
    - bool becomes one byte or an integer,
    - numbers of numpy and ctypes, structures and records must have the size of the
      argument, and be a floating point number if that is one,
    - arrays, pointers and None are addresses.

    Without a signature the rules of ``extra`` of `hip.hipModuleLaunchKernel` hold: a
    number needs a type of its own.

    Raises
    ------
    TypeError
        The number of arguments is wrong, or one has another size or kind; the message
        names kernel, argument, what it must be and what was given.
    OverflowError
        An int or float does not fit.
    HipError
        HIP refuses the launch.

    Examples
    --------
    >>> import hipadapt
    >>> add = hipadapt.compile_kernel('''
    ... extern "C" __global__ void add(float *x, float value, int n)
    ... {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) x[i] += value;
    ... }''', "add")
    >>> x = hipadapt.zeros(1000, "float32")
    >>> add[8, 128](x, 2.5, x.size)
    >>> float(x.get()[999])
    2.5
    """

    __slots__ = ("_lowered", "_parameters")

    _lowered: str
    _parameters: tuple[Parameter, ...] | None

    def __new__(
        cls,
        function: Any,
        name: str,
        parameters: tuple[Parameter, ...] | None,
        module: Module,
        lowered: str,
    ) -> Self:
        """Made by `Module.kernel`."""
        slots = None
        if parameters is not None:
            slots = tuple((p.offset, p.size, p.kind) for p in parameters)
        self = super().__new__(cls, function, name, slots, module)
        self._parameters = parameters
        self._lowered = lowered
        return self

    @property
    def module(self) -> Module:
        """The module that it is in; kept as long as the kernel."""
        module: Module = super().module
        return module

    @property
    def lowered_name(self) -> str:
        """Its name in the code, which is a mangled one for names of C++."""
        return self._lowered

    @property
    def signature(self) -> tuple[Parameter, ...] | None:
        """The arguments in order: place, size, kind; None where it is not known."""
        return self._parameters

    def _attribute(self, name: str) -> int:
        member = getattr(hip.hipFunction_attribute, "HIP_FUNC_ATTRIBUTE_" + name)
        value: int = hip.hipFuncGetAttribute(member, self.function)
        return value

    @property
    def attributes(self) -> KernelAttributes:
        """What HIP says about the kernel."""
        with On(self.module.device.ordinal):
            return KernelAttributes(
                self._attribute("MAX_THREADS_PER_BLOCK"),
                self._attribute("SHARED_SIZE_BYTES"),
                self._attribute("MAX_DYNAMIC_SHARED_SIZE_BYTES"),
                self._attribute("LOCAL_SIZE_BYTES"),
                self._attribute("CONST_SIZE_BYTES"),
                self._attribute("NUM_REGS"),
            )

    def occupancy(self, block: int, shared: int = 0) -> int:
        """Blocks of ``block`` threads that a compute unit runs at once.

        Parameters
        ----------
        block : int
            Threads of a block.
        shared : int
            Dynamic shared memory of a block, in bytes.

        Returns
        -------
        int
            0 where not even one fits.
        """
        with On(self.module.device.ordinal):
            blocks: int = hip.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
                self.function, block, shared
            )
        return blocks

    def best_block(self, shared: int = 0, limit: int = 0) -> tuple[int, int]:
        """A grid and a block that keep the device busy.

        Parameters
        ----------
        shared : int
            Dynamic shared memory of a block, in bytes.
        limit : int
            Most threads of a block; 0 is no limit.

        Returns
        -------
        grid : int
            Least number of blocks with which all compute units are full.
        block : int
            Threads of a block.
        """
        with On(self.module.device.ordinal):
            grid, block = hip.hipModuleOccupancyMaxPotentialBlockSize(
                self.function, shared, limit
            )
        return int(grid), int(block)

    def explain(self) -> Explanation:
        """What the CPU device decided about the kernel, and what would make it faster.

        It says which form runs the kernel and in which launches, and by line of the
        source which branches and loops lanes leave apart, how lanes read and write
        memory, and what is kept across barriers.  Print it, or show it in a notebook.

        Returns
        -------
        Explanation
            With what the back end told (vectors, spills) where the code has it, or
            where the module was compiled from a `Program`, which is then compiled once
            more.

        Raises
        ------
        NotImplementedError
            The kernel is not one of the CPU device.

        Examples
        --------
        >>> import hipadapt
        >>> add = hipadapt.compile_kernel('''
        ... extern "C" __global__ void add(float *x, float value, int n) {
        ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
        ...     if (i < n) x[i] += value;
        ... }''', "add")
        >>> add.explain()
        <Explanation add: rows, ...>
        """
        from .explanation import explain

        told = explain(self, self.module._made_by)
        if told is None:
            raise NotImplementedError(
                f"Kernel.explain: {self.name} is not a kernel of the CPU device"
            )
        return told

    def as_c_void_p(self) -> Any:
        """The function's handle, for `hipadapt.hip`."""
        return self.function.as_c_void_p()

    def _repr_html_(self) -> str:
        from .html import kernel_html

        return kernel_html(self)

    def __repr__(self) -> str:
        if self._parameters is None:
            takes = "arguments not known"
        else:
            takes = "; ".join(str(p) for p in self._parameters) or "no arguments"
        return f"<Kernel {self.name} ({takes})>"


def launch_failed(config: LaunchConfig, status: int) -> NoReturn:
    """Raises for a launch that HIP has refused; called by the native module."""
    arguments = {
        "kernel": config.kernel.name,
        "grid": str(config.grid),
        "block": str(config.block),
        "shared": str(config.shared),
        "stream": repr(config.stream),
    }
    function = "hipModuleLaunchKernel"
    detail = _core.error_text().removeprefix(function + ": ")
    raise errors.HipError(status, function, arguments, detail)
