# SPDX-License-Identifier: MIT
"""Arguments of wrong kinds, and which of them may be tried where.

A wrong value is made by a function of (world, parameter).  Values that C would take as
an address and follow (ints, arrays) are only tried where nobody follows them: as
handles, as numbers, and with functions that the device lacks.  Addresses where no memory
can be (NOWHERE) are tried everywhere.  SAFE names the roles where nobody follows an
address, WRAPPER the roles where the wrapper does so itself, whatever the device has.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tools.codegen import forms, model

from . import calls
from .world import API, MADE_UP, World

FREED = {"ptr", "mipmappedArray", "hMipmappedArray"}
# These take no address, or look it up.
SAFE = {"value", "enum", "handle", "record_value"}
WRAPPER = {"handle_ref", "extra", "text", "inout", *forms.OUTPUTS}
BIG = {f"2**{n}": 2**n for n in (31, 32, 63, 64, 200)}
NEGATIVE = {"-1": -1, "-2**31-1": -(2**31) - 1, "-2**63-1": -(2**63) - 1}


class NotHere(Exception):
    """This kind cannot be tried with this argument."""


@dataclass(frozen=True)
class Kind:
    """A wrong value.

    `address` if it could be taken for one; `own` if the object itself raises, so that
    the exception need not name the function.
    """

    name: str
    make: Callable[[World, model.Param], Any]
    address: bool = False
    own: bool = False


class Index:
    """An object with __index__, which may raise or answer something odd."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __index__(self) -> Any:
        if isinstance(self.answer, type):
            raise self.answer("from __index__")
        return self.answer


class Lies:
    """An object whose protocols answer what they are told."""

    def __init__(self, **answers: Any) -> None:
        for name, answer in answers.items():
            setattr(self, name, answer)


class Raises:
    """An object whose protocols raise."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__cuda") or name in ("as_c_void_p", "__dlpack__"):
            raise ZeroDivisionError(name)
        raise AttributeError(name)


def interface(**changes: Any) -> Lies:
    """A CUDA array interface with something wrong in it."""
    whole = {"shape": (4,), "typestr": "<f4", "data": (0, False), "version": 3}
    return Lies(__cuda_array_interface__={**whole, **changes})


def constant(value: Any) -> Callable[[World, model.Param], Any]:
    return lambda world, param: value


def other_handle(world: World, param: model.Param) -> Any:
    """A living handle of another type."""
    return world.event if param.adapter != "ihipEvent_t" else world.module


def freed_handle(world: World, param: model.Param) -> Any:
    """A handle of the right type that was valid once."""
    makers: dict[str | None, tuple[Callable[[], Any], str]] = {
        "ihipStream_t": (world.new_stream, "hipStreamDestroy"),
        "ihipEvent_t": (world.new_event, "hipEventDestroy"),
        "ihipModule_t": (world.new_module, "hipModuleUnload"),
        "_hiprtcProgram": (world.new_program, "hiprtcDestroyProgram"),
    }
    if param.role != "handle" or param.adapter not in makers:
        raise NotHere
    make, destroy = makers[param.adapter]
    handle = make()
    world.ok(destroy, handle)
    return handle


def wrong_member(world: World, param: model.Param) -> Any:
    """A member of another enum."""
    if param.adapter == "hiprtcResult":
        return world.hip.hipError_t.hipErrorInvalidValue
    return world.rtc.hiprtcResult.HIPRTC_ERROR_INVALID_INPUT


def null_record(world: World, param: model.Param) -> Any:
    if param.adapter not in {r.name for r in API.all_records()}:
        raise NotHere
    return getattr(world.hip, param.adapter or "").fromObj(None)


def other_record(world: World, param: model.Param) -> Any:
    return world.hip.hipUUID_t() if param.adapter == "dim3" else world.hip.dim3()


def numpy_array(cut: str) -> Callable[[World, model.Param], Any]:
    def make(world: World, param: model.Param) -> Any:
        try:
            import numpy
        except ImportError:
            raise NotHere from None
        array = numpy.zeros((8, 8), numpy.float32)
        return {
            "strided": array[:, ::2],
            "reversed": array[::-1],
            "broadcast": numpy.broadcast_to(array[0], (8, 8)),
            "objects": numpy.array([object()]),
            "empty": numpy.zeros(0, numpy.float32),
            "scalar": numpy.float64(1.5),
            "frozen": _frozen(array),
        }[cut]

    return make


def _frozen(array: Any) -> Any:
    array.setflags(write=False)
    return array


def generator() -> Iterator[int]:
    yield 1


KINDS = [
    Kind("None", constant(None)),
    Kind("object", lambda w, p: object()),
    Kind("type", constant(int)),
    Kind("module", lambda w, p: w.hip),
    Kind("ellipsis", constant(...)),
    Kind("callable", constant(calls.ignore)),
    Kind("str", constant("text")),
    Kind("str with NUL", constant("a\0b")),
    Kind("lone surrogate", constant("\udc80")),
    Kind("long str", constant("x" * 100_000)),
    Kind("float", constant(1.5)),
    Kind("nan", constant(float("nan"))),
    Kind("inf", constant(float("inf"))),
    Kind("complex", constant(1j)),
    Kind("bool", constant(True)),
    *[Kind(name, constant(value)) for name, value in NEGATIVE.items()],
    *[Kind(name, constant(value), True) for name, value in BIG.items()],
    Kind("index", lambda w, p: Index(1), True),
    Kind("raising index", lambda w, p: Index(ZeroDivisionError), own=True),
    Kind("index of text", lambda w, p: Index("1"), own=True),
    Kind("list", lambda w, p: []),
    Kind("list of objects", lambda w, p: [object()]),
    Kind("list of float", lambda w, p: [1.5]),
    Kind("list of huge", lambda w, p: [2**70, -(2**70)]),
    Kind("nested list", lambda w, p: [[[[1]]]]),
    Kind("tuple", lambda w, p: (1, 2, 3, 4, 5, 6, 7, 8, 9)),
    Kind("tuple of text", lambda w, p: ("a", "b", "c")),
    Kind("dict", lambda w, p: {"a": 1}),
    Kind("set", lambda w, p: {1}),
    Kind("generator", lambda w, p: generator()),
    Kind("slice", constant(slice(1))),
    Kind("exception", lambda w, p: ValueError("x")),
    Kind("bytes", constant(b"")),
    Kind("read-only buffer", lambda w, p: memoryview(bytes(4096))),
    Kind("short buffer", lambda w, p: bytearray(1)),
    Kind("empty buffer", lambda w, p: bytearray()),
    Kind("released buffer", lambda w, p: released(), own=True),
    Kind("strided memory", lambda w, p: memoryview(bytearray(4096))[::2]),
    *[
        Kind(f"{cut} array", numpy_array(cut), own=True)
        for cut in (
            "strided",
            "reversed",
            "broadcast",
            "empty",
            "scalar",
            "frozen",
        )
    ],
    # C writing into it would be as bad as into any array of addresses.
    Kind("objects array", numpy_array("objects"), address=True, own=True),
    Kind("c_int", lambda w, p: ctypes.c_int(1)),
    Kind("NULL c_void_p", lambda w, p: ctypes.c_void_p()),
    Kind("c_void_p", lambda w, p: ctypes.c_void_p(MADE_UP), True),
    Kind("pointer", lambda w, p: types().Pointer(MADE_UP), True),
    # A new one where it may be freed.
    Kind(
        "device array",
        lambda w, p: w.new_array() if p.name in FREED else w.array,
        True,
    ),
    Kind("other handle", other_handle, True),
    Kind("freed handle", freed_handle),
    Kind("made-up handle", lambda w, p: made_up(w, p)),
    Kind("wrong member", wrong_member, True),
    Kind("NULL record", null_record),
    Kind("other record", other_record),
    Kind("raising protocols", lambda w, p: Raises(), own=True),
    Kind("interface: none", lambda w, p: Lies(__cuda_array_interface__=None)),
    Kind("interface: no data", lambda w, p: interface(data=None)),
    Kind("interface: shape", lambda w, p: interface(shape=(-1, 2**62, 2**62))),
    Kind("interface: typestr", lambda w, p: interface(typestr="?!")),
    Kind("interface: strides", lambda w, p: interface(strides=(1, 2, 3))),
    Kind("interface: mask", lambda w, p: interface(mask=5)),
    Kind("as_c_void_p: text", lambda w, p: Lies(as_c_void_p=lambda: "x")),
    Kind("as_c_void_p: no call", lambda w, p: Lies(as_c_void_p=5), own=True),
    Kind("stream protocol", lambda w, p: Lies(__cuda_stream__=lambda: ("x", -1))),
    Kind("dlpack: text", lambda w, p: Lies(__dlpack__=lambda **k: "x")),
]


def types() -> Any:
    from hipadapt import types as found

    return found


def released() -> memoryview:
    view = memoryview(bytearray(64))
    view.release()
    return view


def made_up(world: World, param: model.Param) -> Any:
    """A handle of the right type that nobody made."""
    if param.role != "handle":
        raise NotHere
    return world.made_up(param.adapter or "")


# What no address is made of, what C must not write to, and what is too short for it.
NEVER = {
    "object",
    "float",
    "nan",
    "complex",
    "bool",
    "dict",
    "set",
    "slice",
    "ellipsis",
}
NEVER |= {"-1", "2**64", "2**200", "raising index", "strided memory"}
NEVER |= {"strided array", "reversed array", "broadcast array"}
READ_ONLY = {"read-only buffer", "frozen array"}
SHORT = {"short buffer", "empty buffer"}
NUMBERS = {"None", "object", "str", "complex", "list", "dict", "set", "slice", "2**200"}
NUMBERS |= {"-2**63-1", "callable", "read-only buffer", "strided array", "device array"}


def must_refuse(
    function: model.Function, param: model.Param, kind: Kind, given: dict[str, Any]
) -> bool:
    """Whether this must be an exception, so that C is not called at all.

    `given` are the arguments of the call, by parameter.
    """
    if param.role == "value":
        return kind.name in NUMBERS and not (
            param.type == "float" and "2**" in kind.name
        )
    if param.role == "enum":  # an array's address is an int, if a strange one
        return kind.name in NUMBERS - {"device array"}
    if any(p.role == "callback" for p in function.params):
        return False  # a Python function takes any object
    if param.role not in ("pointer", "record", "out_text", "out_record"):
        return False
    if kind.name in NEVER:
        return True
    if kind.name in READ_ONLY:
        return param.write or param.role in forms.FORM_OUTPUTS
    if kind.name in SHORT and param.role == "pointer" and param.size:
        if param.size.startswith("pick("):
            return kind.name == "empty buffer"
        sizes = [given[name] for name in calls.sizes_of(param) if name in given]
        return all(isinstance(size, int) and size > 1 for size in sizes)
    return False


# In these roles ints in a tuple are addresses, and memory holds as many as C expects.
ENTRIES = ("list", "record_list", "extra", "kernel_params")
ENTRIES_OF_ADDRESSES = {"tuple", "other record"}
# Addresses where no memory can be are found out before anybody follows them.
NOWHERE = {"c_void_p", "pointer", "other handle"}
# How long they are stands in them: tests/unit/cpu is about those.
IMAGES = {"image", "code", "fatbin"}
# Right, though large: a kernel of 2**31 blocks takes long, and so does a text of as many
# bytes.
TOO_LONG = {
    **{f"gridDim{axis}": set(BIG) for axis in "XYZ"},
    "bufferSize": {"2**31", "2**32"},
}


def cases(
    function: model.Function, params: list[model.Param], present: bool
) -> Iterator[tuple[int, Kind]]:
    """Each argument number with each kind that can be tried there."""
    for number, param in enumerate(params):
        followed = param.role in WRAPPER or (present and param.role not in SAFE)
        for kind in KINDS:
            nowhere = kind.name in NOWHERE and param.name not in IMAGES
            if kind.address and followed and not (present and nowhere):
                continue
            if kind.name in TOO_LONG.get(param.name, ()):
                continue
            if present and param.role in ENTRIES and kind.name in ENTRIES_OF_ADDRESSES:
                continue
            yield number, kind


def lists(
    function: model.Function, arguments: tuple[Any, ...]
) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Argument lists that fit no form of the function: name, arguments, keywords."""
    counts = [len(params) for params in forms.form_params(function)]
    names = [p.python_name for p in forms.form_params(function)[0]]
    for count in (0, len(arguments) - 1, len(arguments) + 1, 40):
        if count >= 0 and count not in counts:
            yield f"{count} arguments", (arguments * 40 + (None,) * 40)[:count], {}
    yield "unknown keyword", arguments, {"nothing": 1}
    if names and len(counts) == 1:  # with two forms it may be the other one
        yield "duplicate keyword", arguments, {names[0]: arguments[0]}
    if names:
        yield "unknown instead", arguments[:-1], {"nothing": arguments[-1]}
        yield "keyword of odd text", arguments[:-1], {"\udc80": arguments[-1]}
