# SPDX-License-Identifier: MIT
"""One of two processes of test_mpi: mpi_program.py PROTOCOL.

Work of the stream that fills an array is over before MPI sees it: MPI knows no streams.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from mpi4py import MPI

from hipadapt import _core, hip

COUNT = 6


class Only:
    """An object that has one protocol of an array and no other."""

    def __init__(self, array: Any, *names: str) -> None:
        for name in names:
            setattr(type(self), name, getattr(array, name))
        self.array = array


def message(array: Any, protocol: str) -> Any:
    """What MPI is given."""
    if protocol == "host":
        return array.host()
    if protocol == "dlpack":
        return type("Only", (Only,), {})(array, "__dlpack__", "__dlpack_device__")
    if protocol == "cuda":
        return type("Only", (Only,), {})(array, "__cuda_array_interface__")
    return array


def exchange(memory: str, protocol: str) -> None:
    """Sends, receives and sums one array in place."""
    world = MPI.COMM_WORLD
    rank = world.Get_rank()
    array = _core.array_allocate(COUNT, "i4", memory=memory)
    _core.array_write(array, np.arange(COUNT, dtype="i4") * (rank + 1))
    hip.hipDeviceSynchronize()

    if rank == 0:
        world.Send(message(array, protocol), dest=1, tag=7)
    else:
        world.Recv(message(array, protocol), source=0, tag=7)
    assert array.numpy().tolist() == list(range(COUNT)), array.numpy()

    world.Allreduce(MPI.IN_PLACE, message(array, protocol), op=MPI.SUM)
    assert array.numpy().tolist() == [2 * i for i in range(COUNT)], array.numpy()

    frozen = message(array.configure(read_only=True), protocol)
    try:
        world.Irecv(frozen, source=1 - rank, tag=9)
    except BufferError:
        return
    raise AssertionError("read-only memory was written to")


assert MPI.COMM_WORLD.Get_size() == 2
for place in ("device", "pinned", "managed", "host"):
    exchange(place, sys.argv[1])
print(f"rank{MPI.COMM_WORLD.Get_rank()}:ok", flush=True)
