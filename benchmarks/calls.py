# SPDX-License-Identifier: MIT
"""What a call costs on its way from Python to the library.

Run in a process of its own, `python -m benchmarks.calls FOLDER ROUNDS`, with
HIPADAPT_PROVIDER naming the stub library: its functions only return, so nothing but the
way is measured.  Three contenders make each call in the same process: hipadapt, the
floor (benchmarks/floor.c), and hip-python if it is installed.  Prints one JSON object:
{row: {contender: nanoseconds}}.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import hipadapt.types
from hipadapt import hip

from .timing import best_of_statements

LAUNCH = "launch(function, 4, 1, 1, 256, 1, 1, 0, stream, None, "
# Row, statement.  The names are those that `names_of_...` give.
ROWS = (
    ("hipGetDevice()", "hipGetDevice()"),
    ("hipStreamQuery(stream)", "hipStreamQuery(stream)"),
    ("hipMalloc(n)", "hipMalloc(4096)"),
    ("hipMemcpy(DeviceArray, numpy, n, kind)", "hipMemcpy(device, array, 4096, kind)"),
    (
        "hipMemcpy(DeviceArray, DeviceArray, n, kind)",
        "hipMemcpy(device, d2, 4096, kind)",
    ),
    ("launch, 5 arguments (3 arrays, int, float)", LAUNCH + "arguments)"),
    ("launch, no arguments", LAUNCH + "None)"),
    ("Pointer(None)", "Pointer(None)"),
    ("Pointer(int)", "Pointer(4096)"),
    ("Pointer(c_void_p)", "Pointer(cell)"),
    ("Pointer(Pointer)", "Pointer(pointer)"),
    ("Pointer(DeviceArray)", "Pointer(device)"),
    ("Pointer(array interface)", "Pointer(interface)"),
    ("Pointer(numpy)", "Pointer(array)"),
    ("Pointer(bytes)", "Pointer(text)"),
    ("ListOfInt(list of 1000)", "ListOfInt(numbers)"),
)


class Interface:
    """An object of another library, as CuPy and numba make them."""

    def __init__(self, address: int) -> None:
        """Keep the dictionary: its construction is not what is measured."""
        self.__cuda_array_interface__ = {
            "shape": (1024,),
            "typestr": "<f4",
            "data": (address, False),
            "version": 3,
        }


def shared_names() -> dict[str, Any]:
    """Objects that all contenders are given."""
    return {
        "array": np.zeros(1024, np.float32),
        "cell": ctypes.c_void_p(4096),
        "interface": Interface(4096),
        "text": b"x" * 4096,
        "numbers": list(range(1000)),
    }


def names_of_bindings(module: ModuleType, types: ModuleType) -> dict[str, Any]:
    """hipadapt and hip-python: the same calls, by the same names."""
    memory = [module.hipMalloc(4096)[1] for _ in range(3)]
    stream = module.hipStreamCreate()[1]
    loaded = module.hipModuleLoadData(b"x")[1]
    return {
        **shared_names(),
        "hipGetDevice": module.hipGetDevice,
        "hipStreamQuery": module.hipStreamQuery,
        "hipMalloc": module.hipMalloc,
        "hipMemcpy": module.hipMemcpy,
        "launch": module.hipModuleLaunchKernel,
        "function": module.hipModuleGetFunction(loaded, b"kernel")[1],
        "stream": stream,
        "kind": module.hipMemcpyKind.hipMemcpyHostToDevice,
        "device": memory[0],
        "d2": memory[1],
        "arguments": (*memory, ctypes.c_int(7), ctypes.c_float(1.5)),
        "Pointer": types.Pointer,
        "pointer": types.Pointer(4096),
        "ListOfInt": types.ListOfInt,
    }


def names_of_floor(path: Path, stub: Path) -> dict[str, Any]:
    """The hand-written extension; its handles are plain Pointers."""
    spec = importlib.util.spec_from_file_location("floor", path)
    assert spec is not None
    assert spec.loader is not None
    floor = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(floor)
    floor.setup(str(stub), hip.hipError_t)
    memory = [floor.hipMalloc(4096)[1] for _ in range(3)]
    return {
        **shared_names(),
        "hipGetDevice": floor.hipGetDevice,
        "hipStreamQuery": floor.hipStreamQuery,
        "hipMalloc": floor.hipMalloc,
        "hipMemcpy": floor.hipMemcpy,
        "launch": floor.hipModuleLaunchKernel,
        "function": floor.Pointer(0x7770),
        "stream": floor.Pointer(0x5550),
        "kind": hip.hipMemcpyKind.hipMemcpyHostToDevice,
        "device": memory[0],
        "d2": memory[1],
        "arguments": (*memory, ctypes.c_int(7), ctypes.c_float(1.5)),
        "Pointer": floor.Pointer,
        "pointer": floor.Pointer(4096),
        "ListOfInt": floor.ListOfInt,
    }


def contenders(folder: Path) -> dict[str, dict[str, Any]]:
    """Every contender that is there, with its names."""
    stub = folder / "lib" / "libamdhip64.so"
    (floor,) = folder.glob("floor*.so")
    found = {
        "hipadapt": names_of_bindings(hip, hipadapt.types),
        "floor": names_of_floor(floor, stub),
    }
    try:
        from rocm.bindings import hip as peer
        from rocm.bindings.util import types as peer_types
    except ImportError:
        return found
    found["hip-python"] = names_of_bindings(peer, peer_types)
    return found


def main() -> int:
    """Measure all rows and print them."""
    folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
    names = contenders(folder)
    rows = {
        row: best_of_statements({who: (statement, names[who]) for who in names}, rounds)
        for row, statement in ROWS
    }
    print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
