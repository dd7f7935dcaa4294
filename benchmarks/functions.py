# SPDX-License-Identifier: MIT
"""A sample of the API, from every family and with every kind of argument.

Run in a process of its own, `python -m benchmarks.functions FOLDER ROUNDS`, with
HIPADAPT_PROVIDER naming the library of `api_stub.py`, whose functions only return.
Each call is made by hipadapt and by the floor (`floor_calls.h`), in turns.  Prints one
JSON object: {row: {contender: nanoseconds}}.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import hipadapt
from hipadapt import hip, hiprtc

from .timing import best_of_statements

# Calls; the names are those of `arguments`.
CALLS = (
    "hipDeviceGetAttribute(attribute, 0)",
    "hipDeviceTotalMem(0)",
    "hipDeviceGetStreamPriorityRange()",
    "hipSetDevice(0)",
    "hipDrvGetErrorName(error)",
    "hipEventRecord(event, stream)",
    "hipEventElapsedTime(event, event)",
    "hipEventCreateWithFlags(0)",
    "hipStreamGetPriority(stream)",
    "hipStreamWaitEvent(stream, event, 0)",
    "hipMemset(array, 0, 4096)",
    "hipMemsetAsync(array, 0, 4096, stream)",
    "hipMemcpyDtoD(array, array, 4096)",
    "hipMemcpy2D(array, 64, array, 64, 64, 8, kind)",
    "hipMemGetInfo()",
    "hipHostGetDevicePointer(array, 0)",
    "hipMallocAsync(4096, stream)",
    "hipMemPoolTrimTo(pool, 0)",
    "hipModuleGetFunction(module, 'kernel')",
    "hipFuncGetAttribute(of_function, function)",
    "hipOccupancyMaxActiveBlocksPerMultiprocessor(function, 64, 0)",
    "hipConfigureCall((1, 1, 1), (64, 1, 1), 0, stream)",
    "hipMemAddressFree(array, 4096)",
    "hipMemMap(array, 4096, 0, handle, 0)",
    "hipMemcpyToArray(image, 0, 0, array, 4096, kind)",
    "hipTexRefSetFlags(texture, 0)",
    "hipCtxSetCurrent(context)",
    "hipGraphLaunch(graph_exec, stream)",
    "hipGraphAddDependencies(graph, None, None, 0)",
    "hipMemcpyToSymbol(array, array, 64, 0, kind)",
    "hipLibraryGetKernel(library, 'kernel')",
    "hiprtcGetProgramLogSize(program)",
    "hipDestroyExternalSemaphore(array)",
    "hipProfilerStart()",
)
HANDLES = {
    "stream": "ihipStream_t",
    "event": "ihipEvent_t",
    "pool": "ihipMemPoolHandle_t",
    "module": "ihipModule_t",
    "function": "ihipModuleSymbol_t",
    "handle": "ihipMemGenericAllocationHandle",
    "image": "hipArray",
    "context": "ihipCtx_t",
    "graph": "ihipGraph",
    "graph_exec": "hipGraphExec",
    "library": "ihipLibrary_t",
}
ENUMS = {
    "attribute": hip.hipDeviceAttribute_t.hipDeviceAttributeWarpSize,
    "error": hip.hipError_t.hipErrorInvalidValue,
    "kind": hip.hipMemcpyKind.hipMemcpyDeviceToDevice,
    "of_function": hip.hipFunction_attribute.HIP_FUNC_ATTRIBUTE_NUM_REGS,
}
ADDRESS = 0x7770


def row_of(call: str) -> str:
    """The function's name."""
    return call[: call.index("(")]


def of_hipadapt() -> dict[str, Any]:
    """Names for the calls by hipadapt."""
    names: dict[str, Any] = {
        name: getattr(hip, kind)(ADDRESS) for name, kind in HANDLES.items()
    }
    names["array"] = hip.hipMalloc(4096)[1]
    names["texture"] = hip.textureReference()
    names["program"] = getattr(hiprtc, "_hiprtcProgram")(ADDRESS)  # noqa: B009
    for call in CALLS:
        row = row_of(call)
        names[row] = getattr(hiprtc if row.startswith("hiprtc") else hip, row)
    return {**ENUMS, **names}


def of_floor(folder: Path) -> dict[str, Any]:
    """Names for the same calls by hand."""
    (path,) = folder.glob("floor*.so")
    spec = importlib.util.spec_from_file_location("floor", path)
    assert spec is not None
    assert spec.loader is not None
    floor = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(floor)
    library = str(folder / "libapi.so")
    floor.setup(library, hip.hipError_t)
    floor.setup_calls(library)
    names = {name: floor.Pointer(ADDRESS) for name in HANDLES}
    names["array"] = floor.hipMalloc(4096)[1]
    names["texture"] = names["program"] = floor.Pointer(ADDRESS)
    for call in CALLS:
        names[row_of(call)] = getattr(floor, row_of(call))
    return {**ENUMS, **names}


def main() -> int:
    """Measure all calls and print them."""
    folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
    assert hipadapt.provider().name not in ("cpu", "amd")
    ours, floor = of_hipadapt(), of_floor(folder)
    rows = {
        row_of(call): best_of_statements(
            {"hipadapt": (call, ours), "floor": (call, floor)}, rounds
        )
        for call in CALLS
    }
    print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
