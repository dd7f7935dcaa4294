# SPDX-License-Identifier: MIT
"""From source text to loaded kernels."""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING, Any

from .. import _core
from .. import hip as _raw
from .. import hiprtc as _raw_rtc
from .._owner import Owner
from .calls import On, finalize, hip, hiprtc
from .device import Device, ordinal_of
from .kernel import Kernel
from .named import need
from .signature import ANY, Parameter, metadata, parse_types, signature

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from typing_extensions import Buffer, Self

    from .._core import DeviceArray

__all__ = ["Module", "Program", "compile_kernel"]

Text = str | bytes
_INVALID_VALUE = 1  # hipErrorInvalidValue
# The letters of _core.Kernel for what the CPU device calls kinds of arguments.
_KINDS = (ANY, "p", "r", "n", "f")


def _str(text: Text) -> str:
    return text if isinstance(text, str) else text.decode("utf-8", "replace")


class Program(Owner):
    """Source text of kernels, to be compiled by hiprtc.

    Parameters
    ----------
    source : str or bytes
        The text, in HIP's C++.
    options : sequence of str
        Options of the compiler: ``("-O3", "-DN=4")``.  ``--offload-arch`` is added by
        `compile`.
    name : str
        Name of the file in messages.
    headers : mapping of str to str
        Texts that ``#include`` finds by these names.
    name_expressions : sequence of str
        Instances of templates, and other names of C++, that `Module.kernel` and
        `Module.get_global` shall find: ``"scale<float>"``.

    Attributes
    ----------
    log : str
        What the compiler said last; ``""`` if nothing.

    Examples
    --------
    >>> import hipadapt
    >>> program = hipadapt.Program(
    ...     "template <class T> __global__ void put(T *x, T value) { *x = value; }",
    ...     name_expressions=["put<int>"],
    ... )
    >>> module = program.compile()
    >>> x = hipadapt.empty(1, "int32")
    >>> module.kernel("put<int>")[1, 1](x, 7)
    >>> int(x.get()[0])
    7
    """

    def __init__(
        self,
        source: Text,
        options: Sequence[Text] = (),
        *,
        name: str = "program.hip",
        headers: Mapping[str, Text] | None = None,
        name_expressions: Sequence[str] = (),
    ) -> None:
        for what, value in (
            ("options", options),
            ("name_expressions", name_expressions),
        ):
            if isinstance(value, (str, bytes)):
                raise TypeError(f"Program: argument '{what}' must be a sequence of str")
        need(source, (str, bytes), "Program", "source", "str or bytes")
        self.source = _str(source)
        self.options = tuple(_str(option) for option in options)
        self.name = name
        self.headers = {key: _str(text) for key, text in (headers or {}).items()}
        self.name_expressions = tuple(name_expressions)
        self.log = ""

    def compile(
        self, options: Sequence[Text] = (), *, device: Device | int | None = None
    ) -> Module:
        """Compiles the program and loads it on a device.

        Parameters
        ----------
        options : sequence of str
            More options.
        device : Device or int, optional
            The device to compile for and to load on; the current one where it is left
            out.

        Returns
        -------
        Module
            Its `Module.log` has the compiler's warnings.

        Raises
        ------
        HiprtcErrorCompilation
            The text has errors; ``error.log`` has them all, and so has `log`.
        """
        number = ordinal_of(device)
        words = [*self.options, *map(_str, options)]
        if not any(w.startswith(("--offload-arch", "--gpu-arch")) for w in words):
            words.append("--offload-arch=" + Device(number).arch)
        return self._load(words, number)

    def _load(self, words: Sequence[str], number: int) -> Module:
        """Compiles with these options, and loads on a device."""
        with On(number):
            code, lowered = self._compile(words)
        module = Module(code, device=number, lowered=lowered, log=self.log)
        module._made_by = (self, tuple(words))
        return module

    def _compile(self, options: Sequence[str]) -> tuple[bytes, dict[str, str]]:
        texts = [text.encode() for text in self.headers.values()]
        names = [key.encode() for key in self.headers]
        program = hiprtc.hiprtcCreateProgram(
            self.source.encode(),
            self.name.encode(),
            len(names),
            texts or None,
            names or None,
        )
        try:
            for expression in self.name_expressions:
                hiprtc.hiprtcAddNameExpression(program, expression.encode())
            try:
                hiprtc.hiprtcCompileProgram(
                    program, len(options), [word.encode() for word in options]
                )
            finally:
                self.log = _log(program)
            code = bytearray(hiprtc.hiprtcGetCodeSize(program))
            hiprtc.hiprtcGetCode(program, code)
            lowered = {
                expression: str(
                    hiprtc.hiprtcGetLoweredName(program, expression.encode())
                )
                for expression in self.name_expressions
            }
        finally:
            _raw_rtc.hiprtcDestroyProgram(program)
        return bytes(code), lowered

    def __repr__(self) -> str:
        return f"<Program {self.name}: {len(self.source)} characters>"


def _log(program: Any) -> str:
    status, size = _raw_rtc.hiprtcGetProgramLogSize(program)
    if int(status) != 0 or size == 0:
        return ""
    log = bytearray(size)
    if int(_raw_rtc.hiprtcGetProgramLog(program, log)[0]) != 0:
        return ""
    return log.rstrip(b"\0").decode("utf-8", "replace")


def _library_layout(code: bytes, name: bytes) -> tuple[Parameter, ...] | None:
    """The arguments, from the runtime's functions for libraries: sizes only."""
    needed = ("hipLibraryLoadData", "hipLibraryGetKernel", "hipKernelGetParamInfo")
    if not all(map(_raw.has_symbol, needed)):
        return None
    status, library = _raw.hipLibraryLoadData(code, None, None, 0, None, None, 0)
    if int(status) != 0:
        return None
    try:
        status, kernel = _raw.hipLibraryGetKernel(library, name)
        if int(status) != 0:
            return None
        found: list[Parameter] = []
        while True:
            status, at, size = _raw.hipKernelGetParamInfo(kernel, len(found))
            if int(status) != 0:
                break
            found.append(Parameter(at, size))
        # hipErrorInvalidValue ends the list; another status says nothing about it.
        return tuple(found) if int(status) == _INVALID_VALUE else None
    finally:
        _raw.hipLibraryUnload(library)


class Module(Owner):
    """Compiled code that is loaded on a device; `Program.compile` gives it.

    Attributes
    ----------
    code : bytes
        What was loaded.
    log : str
        What the compiler said, where it was compiled here.

    Notes
    -----
    The code is unloaded by `close`, at the end of a ``with`` block, or with the last of
    the module, its kernels and the arrays of `get_global`.  Both wait for the device
    first, since work may be running.

    Examples
    --------
    >>> import hipadapt
    >>> module = hipadapt.Program("__device__ int answer = 42;").compile()
    >>> again = hipadapt.Module.from_code(module.code)
    >>> int(again.get_global("answer", "int32").get()[0])
    42
    """

    def __init__(
        self,
        code: Buffer,
        *,
        device: Device | int | None = None,
        lowered: Mapping[str, str] | None = None,
        log: str = "",
    ) -> None:
        self._handle: Any = None
        self._ordinal = ordinal_of(device)
        self.code = bytes(memoryview(code))
        self.log = log
        self._lowered = dict(lowered or {})
        self._kernels: weakref.WeakValueDictionary[str, Kernel] = (
            weakref.WeakValueDictionary()
        )
        self._lock = threading.Lock()  # of the kernels
        self._made_by: tuple[Program, tuple[str, ...]] | None = None
        self._metadata: dict[str, tuple[Parameter, ...]] | None = None
        if not self.code:
            raise ValueError("Module: there is no code")
        with On(self._ordinal):
            self._handle = hip.hipModuleLoadData(self.code)

    @classmethod
    def from_code(
        cls,
        code: Buffer | str | os.PathLike[str],
        *,
        device: Device | int | None = None,
        lowered: Mapping[str, str] | None = None,
    ) -> Self:
        """Loads code that was compiled before.

        Parameters
        ----------
        code : bytes-like, str or path
            The code, or the file that it is in (str is a path).
        device : Device or int, optional
            The device to load on; the current one where it is left out.
        lowered : mapping of str to str
            Names in the code by name expression.

        Raises
        ------
        OSError
            The file can't be read.
        HipError
            The code is not for this device, or none at all.
        """
        if isinstance(code, (str, os.PathLike)):
            with open(code, "rb") as file:
                code = file.read()
        return cls(code, device=device, lowered=lowered)

    # ---- what it is ----

    @property
    def handle(self) -> Any:
        """The hipModule_t.

        Raises
        ------
        ValueError
            The module is closed.
        """
        if self._handle is None:
            raise ValueError("this module is closed")
        return self._handle

    @property
    def device(self) -> Device:
        """The device that it is loaded on."""
        return Device(self._ordinal)

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._handle is None

    @property
    def lowered_names(self) -> dict[str, str]:
        """Names in the code by name expression."""
        return dict(self._lowered)

    # ---- what is in it ----

    def kernel(self, name: str, types: Iterable[Any] | None = None) -> Kernel:
        """A kernel of the module.

        Parameters
        ----------
        name : str
            Name of an ``extern "C"`` kernel, a name expression, or a mangled name.
        types : iterable, optional
            Types of the arguments, where the code does not tell them (or not enough):
            names such as ``"float"``, ``"int32"``, ``"pointer"`` or ``"float*"``,
            ctypes or numpy types.

        Raises
        ------
        HipErrorNotFound
            There is no kernel of this name.
        """
        handle = self.handle
        need(name, str, "Module.kernel", "name", "str")
        lowered = self._lowered.get(name, name)
        known = self._kernels.get(name) if types is None else None
        if known is not None:
            return known
        with On(self._ordinal):
            function = hip.hipModuleGetFunction(handle, lowered.encode())
            if types is None:
                found = signature(self._layout(function, lowered), lowered)
            else:
                found = parse_types(types)
                self._compare(name, function, lowered, found)
        kernel = Kernel(function, name, found, self, lowered)
        # Another may never be looked up by its name, but `close` needs it.
        known_as = name if types is None else f"{name} {id(kernel)}"
        with self._lock:
            if self._handle is None:
                kernel._retire()
            return self._kernels.setdefault(known_as, kernel)

    def _layout(self, function: Any, lowered: str) -> tuple[Parameter, ...] | None:
        """The arguments, as the code object or the device knows them."""
        if self._metadata is None:
            self._metadata = metadata(self.code)
        found = self._metadata.get(lowered)
        if found is not None:
            return found
        listed = _core.kernel_parameters(function)
        if listed is not None:
            return tuple(Parameter(at, size, _KINDS[kind]) for at, size, kind in listed)
        return _library_layout(self.code, lowered.encode())

    def _compare(
        self,
        name: str,
        function: Any,
        lowered: str,
        given: Sequence[Parameter] | None,
    ) -> None:
        """Refuses types that have other sizes than the arguments of the kernel."""
        layout = self._layout(function, lowered)
        places = [(p.offset, p.size) for p in given or ()]
        if layout is not None and places != [(p.offset, p.size) for p in layout]:
            wanted = "; ".join(map(str, layout)) or "no arguments"
            said = "; ".join(map(str, given or ())) or "no arguments"
            raise TypeError(f"{name}: takes ({wanted}), not ({said})")

    def get_global(
        self, name: str, dtype: Any = None, shape: int | tuple[int, ...] | None = None
    ) -> DeviceArray:
        """A ``__device__`` or ``__constant__`` variable as an array.

        Parameters
        ----------
        name : str
            Name of the variable, or a name expression (``"&name"``).
        dtype : dtype, optional
            Its element type; bytes where it is left out.
        shape : int or tuple of int, optional
            All of its elements in one dimension where it is left out.

        Raises
        ------
        HipErrorNotFound
            There is no variable of this name.
        ValueError
            The variable is smaller, or no multiple of the element type.
        """
        from .array import item_size
        from .interop import type_of

        need(name, str, "Module.get_global", "name", "str")
        with On(self._ordinal):
            address, size = hip.hipModuleGetGlobal(
                self.handle, self._lowered.get(name, name).encode()
            )
        element = "|u1" if dtype is None else type_of(dtype)
        each = item_size(element)
        if shape is None:
            shape = (size // each,)
            if size % each:
                raise ValueError(f"{name}: {size} bytes are no multiple of {each}")
        array = _core.array_from_memory(
            int(address),
            shape,
            element,
            owner=self,
            memory="device",
            device=self._ordinal,
        )
        if array.nbytes > size:
            raise ValueError(f"{name}: has {size} bytes, not {array.nbytes}")
        return array

    # ---- life ----

    def close(self) -> None:
        """Waits for the device and unloads the code; its kernels are refused then."""
        handle = _core.take(self, "_handle")
        with self._lock:
            kernels = list(self._kernels.values())
        for kernel in kernels:
            kernel._retire()
        if handle is not None:
            _unload(self._ordinal, handle, hip)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self, _late: Any = finalize) -> None:
        handle = getattr(self, "_handle", None)
        if handle is not None:
            _late(_unload, self._ordinal, handle, _raw)

    def as_c_void_p(self) -> Any:
        """The module's handle, for `hipadapt.hip`."""
        return self.handle.as_c_void_p()

    def __repr__(self) -> str:
        state = "closed" if self._handle is None else f"{len(self.code)} bytes"
        return f"<Module {state} on device {self._ordinal}>"


def _unload(ordinal: int, handle: Any, calls: Any) -> None:
    """Unloads a module; `calls` is the raising hip, or that with statuses."""
    before = _raw.hipGetDevice()[1]
    _raw.hipSetDevice(ordinal)
    try:
        # A fault of a kernel is reported where its stream is waited for, not here.
        _raw.hipDeviceSynchronize()
        calls.hipModuleUnload(handle)
    finally:
        _raw.hipSetDevice(before)


def compile_kernel(
    source: Text,
    name: str,
    options: Sequence[Text] = (),
    *,
    headers: Mapping[str, Text] | None = None,
    types: Iterable[Any] | None = None,
    device: Device | int | None = None,
) -> Kernel:
    """Compiles a text and gives one of its kernels.

    Parameters
    ----------
    source : str or bytes
        The text, in HIP's C++.
    name : str
        The kernel: a name of C++ (``"scale"``, ``"maths::scale<float>"``), whether it
        is ``extern "C"`` or not.
    options, headers
        See `Program`.
    types
        See `Module.kernel`.
    device : Device or int, optional
        The current device where it is left out.

    Returns
    -------
    Kernel
        It keeps its module.

    Raises
    ------
    HiprtcErrorCompilation
        The text has errors, or there is no such kernel.

    Examples
    --------
    >>> import hipadapt
    >>> fill = hipadapt.compile_kernel(
    ...     "__global__ void fill(double *x, double v) { x[threadIdx.x] = v; }", "fill")
    >>> x = hipadapt.empty(4)
    >>> fill[1, 4](x, 1)
    >>> [float(value) for value in x.get()]
    [1.0, 1.0, 1.0, 1.0]
    """
    need(name, str, "compile_kernel", "name", "str")
    program = Program(
        source,
        options,
        name=f"{name.partition('<')[0].rpartition('::')[2] or 'kernel'}.hip",
        headers=headers,
        name_expressions=[name],
    )
    return program.compile(device=device).kernel(name, types)
