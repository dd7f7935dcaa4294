# SPDX-License-Identifier: MIT
"""Exceptions for the statuses of HIP and hiprtc.

Every status has a class of its own, named like the status: ``hipErrorInvalidValue``
raises `HipErrorInvalidValue`, ``HIPRTC_ERROR_COMPILATION`` raises
`HiprtcErrorCompilation`.  Classes are made when they are first used.

The functions of `hipadapt.hip` and `hipadapt.hiprtc` return statuses and don't raise
these; those of `hipadapt.raising`, the objects of the high-level layer, and `check` do.

Examples
--------
>>> from hipadapt import errors
>>> from hipadapt.raising import hip
>>> try:
...     hip.hipMalloc(2**60)
... except errors.HipErrorOutOfMemory as error:
...     print(error.name, error.function)
hipErrorOutOfMemory hipMalloc
"""

# Only this module reads the family and the enum of its classes.
# pyright: reportPrivateUsage=false, reportInconsistentConstructor=false

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from . import _core, hip, hiprtc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["HipError", "HiprtcError", "check"]

_SHORT = 60  # characters of an argument in a message
_EXCERPT_LINES = 12  # of a compiler's log in a message

# Other exceptions that users of Python expect to catch for a status.
_ALSO: dict[str, type[Exception]] = {
    "hipErrorOutOfMemory": MemoryError,
    "hipErrorNotSupported": NotImplementedError,
    "HIPRTC_ERROR_OUT_OF_MEMORY": MemoryError,
}
_classes: dict[str, type[HipError]] = {}


class HipError(RuntimeError):
    """A call of HIP that failed.

    Parameters
    ----------
    code : int or hipError_t
        The status.  ``HipError(code)`` makes an instance of the class of that status.
    function : str, optional
        Name of the function that failed.
    arguments : mapping of str to str, optional
        Its arguments by name, as short texts.
    detail : str, optional
        What the provider says beyond the text of the status.

    Attributes
    ----------
    code : hipError_t
        The status.
    name : str
        Its name, ``"hipErrorInvalidValue"``.
    text : str
        What HIP says about it (``hipGetErrorString``), and the detail.
    function : str or None
        Name of the function that failed.
    arguments : dict of str to str
        Its arguments.

    Notes
    -----
    `HipErrorOutOfMemory` is a `MemoryError` as well, and `HipErrorNotSupported` a
    `NotImplementedError`.
    """

    _enum: ClassVar[str] = "hipError_t"

    code: Any
    name: str
    text: str
    function: str | None
    arguments: dict[str, str]
    detail: str

    def __new__(cls, code: int, *args: object, **kwargs: object) -> HipError:
        """Makes an instance of the class of the status."""
        family = cls.__mro__[cls.__mro__.index(_family(cls))]
        chosen = _class_of(family, _member(family, code))
        return RuntimeError.__new__(chosen if issubclass(chosen, cls) else cls)

    def __init__(  # noqa: D107
        self,
        code: int,
        function: str | None = None,
        arguments: Mapping[str, str] | None = None,
        detail: str = "",
    ) -> None:
        self.code = _member(_family(type(self)), code)
        self.name = self.code.name
        self.function = function
        self.arguments = dict(arguments or {})
        self.detail = detail
        text = self._describe()
        # hiprtc's text of a status is its name.
        parts = [part for part in (text, detail) if part and part != self.name]
        self.text = ": ".join(parts)
        super().__init__(self._message())

    def _describe(self) -> str:
        """What HIP says about the status."""
        return str(hip.hipGetErrorString(self.code)[1] or "")

    def _message(self) -> str:
        given = ", ".join(f"{name}={text}" for name, text in self.arguments.items())
        call = f"{self.function}({given}): " if self.function else ""
        said = f": {self.text}" if self.text else ""
        return f"{call}{self.name} ({int(self.code)}){said}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Makes a copy from the code and what was said about it."""
        state = (self.function, self.arguments, self.detail)
        return (_family(type(self)), (int(self.code), *state))


class HiprtcError(HipError):
    """A call of hiprtc that failed; `HipError` describes the other attributes.

    Attributes
    ----------
    code : hiprtcResult
        The status.
    log : str
        The program's log after a compilation, else ``""``.  It names file, line and
        column of each error and shows the line of source.
    """

    _enum: ClassVar[str] = "hiprtcResult"

    log: str

    def __init__(  # noqa: D107
        self,
        code: int,
        function: str | None = None,
        arguments: Mapping[str, str] | None = None,
        detail: str = "",
        log: str = "",
    ) -> None:
        self.log = log
        super().__init__(code, function, arguments, detail)

    def _describe(self) -> str:
        return str(hiprtc.hiprtcGetErrorString(self.code)[1] or "")

    def _message(self) -> str:
        shown = _excerpt(self.log)
        return super()._message() + (f"\n{shown}" if shown else "")

    def __reduce__(self) -> tuple[Any, ...]:
        """Makes a copy from the code and what was said about it."""
        make, state = super().__reduce__()
        return (make, (*state, self.log))


def _family(cls: type[HipError]) -> type[HipError]:
    return HiprtcError if issubclass(cls, HiprtcError) else HipError


def _member(family: type[HipError], code: int) -> Any:
    """The member of the family's enum; unknown codes get a member of their own."""
    module = hiprtc if family is HiprtcError else hip
    cls = getattr(module, family._enum)
    if isinstance(code, cls):
        return code
    try:
        return cls(code)
    except ValueError:
        from ._enum import unknown

        return unknown(cls, code)


def _class_name(status: str) -> str:
    if status.startswith("HIPRTC_"):
        return "Hiprtc" + "".join(part.capitalize() for part in status.split("_")[1:])
    return status[:1].upper() + status[1:]


def _class_of(family: type[HipError], member: Any) -> type[HipError]:
    """The class of a status; the family itself for one without a name."""
    name: str = member.name
    if name.startswith("unknown("):
        return family
    made = _classes.get(name)
    if made is None:
        also = _ALSO.get(name)
        made = type(
            _class_name(name),
            (family,) if also is None else (family, also),
            {"__doc__": f"``{name}`` ({int(member)}).", "__module__": __name__},
        )
        made = _classes.setdefault(name, made)
    return made


def _statuses() -> dict[str, tuple[type[HipError], Any]]:
    """Family and member of each status, by the name of its class."""
    found: dict[str, tuple[type[HipError], Any]] = {}
    for family, module in ((HipError, hip), (HiprtcError, hiprtc)):
        for member in getattr(module, family._enum):
            if int(member) != 0:
                found[_class_name(member.name)] = (family, member)
    return found


def __getattr__(name: str) -> type[HipError]:
    if name.startswith("Hip"):
        found = _statuses().get(name)
        if found is not None:
            cls = _class_of(*found)
            globals()[name] = cls
            return cls
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_statuses()})


def _excerpt(log: str) -> str:
    """The first error of a log with its lines of source, and the number of others."""
    lines = log.strip("\0\n ").splitlines()
    errors = [i for i, line in enumerate(lines) if "error:" in line]
    if not errors:
        return "\n".join(lines[:_EXCERPT_LINES])
    end = errors[1] if len(errors) > 1 else len(lines)
    shown = lines[errors[0] : min(end, errors[0] + _EXCERPT_LINES)]
    if len(errors) > 1:
        shown.append(f"and {len(errors) - 1} more; the attribute 'log' has all of them")
    return "\n".join(shown)


def _short(value: object) -> str:
    try:
        text = repr(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _SHORT else text[: _SHORT - 3] + "..."


def _named(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, str]:
    """Arguments by the names of the parameters, as short texts."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # another call form
        bound = {**{f"argument {i + 1}": v for i, v in enumerate(args)}, **kwargs}
    return {name: _short(value) for name, value in bound.items()}


def _program_log(program: Any) -> str:
    status, size = hiprtc.hiprtcGetProgramLogSize(program)
    if int(status) != 0 or size == 0:
        return ""
    log = bytearray(size)
    if int(hiprtc.hiprtcGetProgramLog(program, log)[0]) != 0:
        return ""
    return log.rstrip(b"\0").decode("utf-8", "replace")


def fail(
    function: Callable[..., Any],
    result: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> NoReturn:
    """Raises the exception for a call that failed; for `hipadapt.raising`."""
    detail = _core.error_text()
    name: str = function.__name__
    prefix = f"{name}: "
    detail = detail[len(prefix) :] if detail.startswith(prefix) else detail
    arguments = _named(function, args, kwargs)
    if not name.startswith("hiprtc"):
        raise HipError(int(result[0]), name, arguments, detail)
    log = ""
    if name == "hiprtcCompileProgram":
        log = _program_log(args[0] if args else kwargs["prog"])
    raise HiprtcError(int(result[0]), name, arguments, detail, log)


def _is_result(value: object) -> bool:
    return isinstance(value, tuple) and value != ()


def check(result: Any) -> Any:
    """Turns what a function of HIP or hiprtc returned into its outputs.

    Parameters
    ----------
    result : tuple
        The status and the outputs.

    Returns
    -------
    object
        None without outputs, the output if there is one, else the tuple of outputs.

    Raises
    ------
    HipError
        The class of the status, where that is not success.
    TypeError
        `result` is not a tuple that begins with a status.

    Examples
    --------
    >>> import hipadapt
    >>> from hipadapt import hip
    >>> memory = hipadapt.check(hip.hipMalloc(1024))
    >>> hipadapt.check(hip.hipFree(memory))
    """
    status: Any = result[0] if _is_result(result) else None
    if isinstance(status, hip.hipError_t):
        family: type[HipError] = HipError
    elif isinstance(status, hiprtc.hiprtcResult):
        family = HiprtcError
    else:
        raise TypeError(
            "check: a tuple that begins with a hipError_t or a hiprtcResult, "
            f"not {_short(result)}"
        )
    if int(status) != 0:
        raise family(int(status), detail=_core.error_text())
    outputs = result[1:]
    return outputs[0] if len(outputs) == 1 else outputs or None
