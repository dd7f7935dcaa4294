# SPDX-License-Identifier: MIT
"""``python -m hipadapt bench``: what calls cost, against ctypes in the same run."""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from .. import Device, Program, empty, hip, provider
from .._objects.calls import hip as raising
from .._progress import Progress

SECONDS_A_ROW = 0.25
CALLS_A_ROUND = 200
SOURCE = """
extern "C" __global__ void five(int *a, int *b, int *c, int n, float f)
{
    if (n < 0)
        *a = *b + *c + (int)f;
}
"""

Call = Callable[[], object]


def best_ns(call: Call, seconds: float) -> float:
    """Nanoseconds of one call in the best of many rounds."""
    clock = time.perf_counter_ns
    end = clock() + int(seconds * 1e9)
    best = float("inf")
    while clock() < end:
        start = clock()
        for _ in range(CALLS_A_ROUND):
            call()
        best = min(best, (clock() - start) / CALLS_A_ROUND)
    return best


def pair_ns(ours: Call, theirs: Call, seconds: float) -> tuple[float, float]:
    """Times both in turns, so that a busy machine slows both."""
    own = other = float("inf")
    for _ in range(4):
        own = min(own, best_ns(ours, seconds / 8))
        other = min(other, best_ns(theirs, seconds / 8))
    return own, other


def rows() -> list[tuple[str, Call, Call]]:
    """Name, call with hipadapt, the same call with ctypes."""
    library = ctypes.CDLL(provider().path)
    memory = empty(4096, "uint8")
    data = bytearray(64)
    address = ctypes.c_void_p(int(memory))
    module = Program(SOURCE).compile()
    launch = module.kernel("five")[1, 1]
    handle: Any = raising.hipModuleGetFunction(module.handle, "five")
    function = ctypes.c_void_p(int(handle))
    kind = hip.hipMemcpyKind.hipMemcpyHostToDevice
    number = ctypes.c_int()

    def get_device() -> object:
        return library.hipGetDevice(ctypes.byref(number))

    def copy() -> object:
        source = (ctypes.c_char * len(data)).from_buffer(data)
        return library.hipMemcpy(address, source, ctypes.c_size_t(64), int(kind))

    def start() -> object:
        values: list[Any] = [
            address,
            address,
            address,
            ctypes.c_int(1),
            ctypes.c_float(2),
        ]
        params = (ctypes.c_void_p * 5)(*[ctypes.addressof(value) for value in values])
        return library.hipModuleLaunchKernel(
            function, 1, 1, 1, 1, 1, 1, 0, None, params, None
        )

    return [
        ("hipGetDevice()", hip.hipGetDevice, get_device),
        (
            "hipMemcpy, 64 bytes to the device",
            lambda: hip.hipMemcpy(memory, data, 64, kind),
            copy,
        ),
        (
            "launch with five arguments",
            lambda: launch(memory, memory, memory, 1, 2.0),
            start,
        ),
    ]


def main(choices: argparse.Namespace) -> int:
    """Prints the table."""
    progress = Progress()
    try:
        device = Device()
        measured: list[tuple[str, float, float]] = []
        calls = rows()
        for name, ours, theirs in calls:
            progress.show(name, len(measured), len(calls))
            times = pair_ns(ours, theirs, SECONDS_A_ROW * choices.seconds)
            measured.append((name, *times))
    except (RuntimeError, OSError) as error:
        print(f"hipadapt bench: {error}", file=sys.stderr)
        return 2
    finally:
        progress.clear()
    device.synchronize()
    if choices.json:
        print(
            json.dumps(
                [
                    {"call": name, "hipadapt_ns": own, "ctypes_ns": other}
                    for name, own, other in measured
                ]
            )
        )
        return 0
    print(f"{device.name} ({device.arch}), {provider().name} provider; best of many\n")
    print(f"{'call':<36}{'hipadapt':>12}{'ctypes':>12}{'ratio':>8}")
    for name, own, other in measured:
        print(f"{name:<36}{own:>9.0f} ns{other:>9.0f} ns{own / other:>8.2f}")
    return 0
