# SPDX-License-Identifier: MIT
"""What owns something of HIP's: it has no copies, which would be second owners."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import hipadapt
from hipadapt import Event, MemoryPool, Stream, hip
from hipadapt._owner import Owner

ACTIONS: list[Callable[[Any], Any]] = [
    copy.copy,
    copy.deepcopy,
    pickle.dumps,
    lambda owner: pickle.dumps(owner, protocol=2),
    lambda owner: copy.deepcopy({"in": [owner]}),
]
MAKERS: dict[str, Callable[[hipadapt.Module], Any]] = {
    "Stream": lambda module: Stream(),
    "borrowed Stream": lambda module: Stream.default(0),
    "Event": lambda module: Event(),
    "MemoryPool": lambda module: MemoryPool(),
    "Program": lambda module: hipadapt.Program("__device__ int x;"),
    "Module": lambda module: hipadapt.Module.from_code(module.code),
    "Kernel": lambda module: module.kernel("nothing"),
    "LaunchConfig": lambda module: module.kernel("nothing")[1, 1],
    "memory of a stream": lambda module: hipadapt.empty(4, stream=Stream()).owner,
    "memory": lambda module: hipadapt.empty(4).owner,
    "handle": lambda module: hip.hipStream_t(None),
    "graph": lambda module: hip.hipGraphCreate(0)[1],
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("action", ACTIONS)
def test_owner_has_no_copies(
    module: hipadapt.Module,
    action: Callable[[Any], Any],
    make: Callable[[hipadapt.Module], Any],
) -> None:
    owner = make(module)

    with pytest.raises(TypeError, match=r"cannot pickle (or copy )?'[\w.]+'"):
        action(owner)


def test_owner_works_after_a_refused_copy(module: hipadapt.Module) -> None:
    stream = Stream()

    with pytest.raises(
        TypeError, match=r"cannot pickle or copy 'Stream': what it owns"
    ):
        copy.copy(stream)
    gc.collect()

    stream.synchronize()


def test_every_class_with_a_handle_is_an_owner() -> None:
    # Found by what they have, so that a new class is not forgotten.
    classes = {
        value
        for name in hipadapt.__all__
        if isinstance(value := getattr(hipadapt, name), type)
        and hasattr(value, "close")
    }

    plain = {cls.__name__ for cls in classes if not issubclass(cls, Owner)}

    assert plain == {"DeviceArray"}  # its copies have memory of their own
