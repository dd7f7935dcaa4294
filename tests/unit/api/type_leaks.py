# SPDX-License-Identifier: MIT
"""Uses every exported type in every way, many times, and reports what is left behind.

    python -m tests.unit.api.type_leaks

For each type of hip, hiprtc and types: construction, each attribute read, set, deleted
and called, and each operator, with good arguments and with bad ones.  One *use* is a
function without arguments; exceptions are part of it.  All uses of a type are repeated
together; only where something is left they are looked at one by one.  Prints JSON:
{"uses": number, "problems": [...]}.
"""

from __future__ import annotations

import copy
import json
import operator
import pickle
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from . import probe

Use = tuple[str, Callable[[], object]]
HUGE = 2**62
TURNS = probe.ALLOWED_BLOCKS + 2  # a block each time is seen
BAD_ARGUMENTS: list[tuple[Any, ...]] = [
    (),
    (0,),
    (-1,),
    (HUGE,),
    (2**70,),
    (1.5,),
    ("text",),
    (b"bytes",),
    ([1, 2],),
    (object(),),
    (None,),
    (0, 1),
    (0, object()),
    (1, 2, 3, 4, 5, 6, 7, 8, 9),
]


def content(thing: Any) -> bytes:
    """Its memory, where that is of a known length."""
    return bytes(memoryview(thing))


UNARY = [
    content,
    repr,
    str,
    hash,
    bool,
    int,
    float,
    len,
    iter,
    reversed,
    memoryview,
    weakref.ref,
    copy.copy,
    copy.deepcopy,
    pickle.dumps,
    dir,
    sys.getsizeof,
    operator.index,
    operator.neg,
    list,
]
BINARY = [
    operator.eq,
    operator.lt,
    operator.add,
    operator.mul,
    operator.getitem,
    operator.contains,
    operator.delitem,
    isinstance,
]


def types() -> Iterator[tuple[str, type]]:
    """Every exported type, once."""
    import hipadapt
    from hipadapt import hip, hiprtc

    seen = set()
    for module in (hipadapt.types, hip, hiprtc, hipadapt):
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, type) and value not in seen:
                seen.add(value)
                yield name, value


def instances(made: type) -> list[Any]:
    """A few instances: usual, an array of two, NULL, another's memory."""
    found: list[Any] = []
    attempts: list[Callable[[], Any]] = [
        lambda: made(),
        lambda: made(None),
        lambda: made(bytearray(8192)),
        lambda: made([b"a", b"b"]),
        lambda: made([1, 2]) if "Bytes" not in made.__name__ else 0,
        lambda: made.allocate(2),  # type: ignore[attr-defined]
        lambda: next(iter(made)),  # type: ignore[call-overload]
    ]
    for attempt in attempts:
        try:
            found.append(attempt())
        except Exception:  # this type isn't made this way
            continue
    return found


def quietly(function: Callable[..., object], *arguments: Any) -> Callable[[], object]:
    def use() -> None:
        try:
            function(*arguments)
        except SystemError:
            raise
        except Exception:  # refused, which must leave nothing behind either
            pass

    return use


# Calls that wait for what never comes here.
WAITS = {"__anext__", "_readable", "_wait", "read_event"}


def uses_of_attribute(thing: Any, name: str) -> Iterator[Use]:
    """Reading, calling, setting and deleting one attribute."""
    yield name, quietly(getattr, thing, name)
    if name in WAITS:
        return
    try:
        value = getattr(thing, name)
    except Exception:
        value = None
    if callable(value):
        for arguments in BAD_ARGUMENTS:
            yield f"{name}{arguments}", quietly(value, *arguments)
        yield f"{name}(nothing=1)", quietly(lambda: value(nothing=1))
        return
    wrong: list[Any] = [-1, 2**70, "text", 1.5, None, object(), [1.5], bytearray(1)]
    if isinstance(value, int):
        wrong += [1, HUGE]  # elsewhere these would be addresses, which repr follows
    for new in wrong:
        yield f"{name} = {new!r}", quietly(setattr, thing, name, new)
    yield f"del {name}", quietly(delattr, thing, name)
    if value is not None:
        yield f"{name} = {value!r}", quietly(setattr, thing, name, value)


def uses(made: type) -> Iterator[Use]:
    """All uses of a type."""
    for arguments in BAD_ARGUMENTS:
        yield f"construction{arguments}", quietly(made, *arguments)
    yield "construction(nothing=1)", quietly(lambda: made(nothing=1))
    for thing in instances(made):
        for one in UNARY:
            yield getattr(one, "__name__", "?"), quietly(one, thing)
        for two in BINARY:
            for other in (thing, 0, -1, HUGE, 2**70, "x", None, slice(0, 1)):
                if two is operator.mul and other == "x":
                    continue  # an address says how often: terabytes, where it is low
                yield f"{two.__name__} {other!r}", quietly(two, thing, other)
        for name in dir(thing):
            if not name.startswith("__") or name.startswith("__cuda"):
                yield from uses_of_attribute(thing, name)


def main() -> int:
    """Prints what is left behind."""
    import gc

    count, problems = 0, []
    for name, made in types():
        every = list(uses(made))
        count += len(every)
        gc.collect()
        gc.freeze()

        def all_of_them(every: list[Use] = every) -> None:
            for _, use in every:
                use()

        if probe.growth(all_of_them, TURNS, warm_up=2) > probe.ALLOWED_BLOCKS:
            for label, use in every:
                grown = probe.growth(use)
                if grown > probe.ALLOWED_BLOCKS:
                    problems.append(f"{name}: {label}: {grown} blocks")
    print(json.dumps({"uses": count, "problems": problems}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
