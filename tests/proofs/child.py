# SPDX-License-Identifier: MIT
"""Runs launches of one program under HIPADAPT_CHECK, and says which were proved.

Reads one JSON object and prints one: for each launch whether it was proved, and how many
findings it made.  A launch that ends by a fault resets the device.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import hipadapt
from hipadapt import hip, hiprtc

from .kernel import BUFFERS, TABLE


class Summary(ctypes.Structure):
    """struct ha_check_summary of csrc/abi/check.h."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("kinds", ctypes.c_uint32),
        ("findings", ctypes.c_uint32),
        ("counted", ctypes.c_uint64),
        ("dropped", ctypes.c_uint64),
        ("launches", ctypes.c_uint64),
        ("unchecked", ctypes.c_uint64),
        ("observed", ctypes.c_uint64),
        ("proved", ctypes.c_uint64),
    ]


def ok(result: tuple[Any, ...]) -> Any:
    status, *values = result
    if int(status) != 0:
        raise RuntimeError(str(status))
    return values[0] if len(values) == 1 else tuple(values)


def compiled(source: str, options: list[str]) -> bytearray:
    program = ok(hiprtc.hiprtcCreateProgram(source.encode(), b"k.hip", 0, None, None))
    (status,) = hiprtc.hiprtcCompileProgram(
        program, len(options), [o.encode() for o in options]
    )
    if int(status) != 0:
        log = bytearray(ok(hiprtc.hiprtcGetProgramLogSize(program)))
        hiprtc.hiprtcGetProgramLog(program, log)
        raise RuntimeError(log.decode())
    code = bytearray(ok(hiprtc.hiprtcGetCodeSize(program)))
    ok(hiprtc.hiprtcGetCode(program, code))
    ok(hiprtc.hiprtcDestroyProgram(program.createRef()))
    return code


class Runner:
    def __init__(self, code: bytearray) -> None:
        path = Path(hipadapt.__file__).parent / "_lib" / "libhipadapt_cpu.so"
        self.library = ctypes.CDLL(str(path))
        self.code = code
        self.module = ok(hip.hipModuleLoadData(code))

    def run(self, job: dict[str, Any]) -> dict[str, Any]:
        memory = {}
        for name, count in job["elements"]:
            size = BUFFERS[name][1]
            memory[name] = ok(hip.hipMalloc(max(1, count) * size))
            content = np.zeros(max(1, count) * size, np.uint8)
            if name == "d":
                content = (np.arange(max(1, count)) * 7 % TABLE).astype(np.int32)
            kind = hip.hipMemcpyKind.hipMemcpyHostToDevice
            ok(hip.hipMemcpy(memory[name], content, content.nbytes, kind))
        n, m, p, u, w = job["numbers"]
        numbers = (np.int32(n), np.int32(m), np.int64(p), np.uint32(u), np.int16(w))
        arguments = (*(memory[name] for name in BUFFERS), *numbers)
        function = ok(hip.hipModuleGetFunction(self.module, job["kernel"].encode()))
        self.library.hipadaptCheckClear()
        (status,) = hip.hipModuleLaunchKernel(
            function, *job["grid"], *job["block"], 0, None, None, arguments
        )
        (waited,) = hip.hipDeviceSynchronize()
        summary = Summary(size=ctypes.sizeof(Summary))
        self.library.hipadaptCheckSummary(ctypes.byref(summary))
        fault = int(status) != 0 or int(waited) != 0
        freed = [int(hip.hipFree(pointer)[0]) for pointer in memory.values()]
        if fault or any(freed):
            hip.hipDeviceReset()
            self.module = ok(hip.hipModuleLoadData(self.code))
        return {
            "proved": summary.proved > 0,
            "observed": summary.observed,
            "findings": summary.findings,
            "fault": fault,
        }


def main() -> None:
    request = json.load(sys.stdin)
    runner = Runner(compiled(request["source"], request["options"]))
    results = []
    for job in request["jobs"]:
        print(job["kernel"], file=sys.stderr)  # the last one, should this crash
        results.append(runner.run(job))
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
