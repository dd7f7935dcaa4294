# SPDX-License-Identifier: MIT
"""``python -m hipadapt info``: the provider and its devices."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from typing import Any

from .. import __version__, hip, hiprtc, provider
from .hip_versions import FUNCTIONS


def describe_device(index: int) -> dict[str, Any]:
    """The properties that people ask for first."""
    status, properties = hip.hipGetDeviceProperties(index)
    if int(status) != 0:
        return {"device": index, "error": status.name}
    return {
        "device": index,
        "name": str(properties.name),
        "architecture": str(properties.gcnArchName),
        "memory_bytes": int(properties.totalGlobalMem),
        "compute_units": int(properties.multiProcessorCount),
        "warp_size": int(properties.warpSize),
        "block_threads_limit": int(properties.maxThreadsPerBlock),
        "block_shared_bytes_limit": int(properties.sharedMemPerBlock),
    }


def collect() -> dict[str, Any]:
    """Everything as one dictionary; what HIP refuses to say is its status instead."""
    report: dict[str, Any] = {
        "hipadapt": __version__,
        "python": platform.python_version(),
        "provider": provider().name,
        "library": provider().path,
        "why": provider().why,
    }
    if provider().tried:
        report["tried"] = "; ".join(provider().tried)
    first, *_, last = FUNCTIONS
    report["speaks"] = f"HIP {first} to {last}, {sum(FUNCTIONS.values())} functions"
    status, version = hip.hipRuntimeGetVersion()
    report["hip_runtime"] = version if int(status) == 0 else status.name
    result, *numbers = hiprtc.hiprtcVersion()
    known = int(result) == 0
    report["hiprtc"] = ".".join(map(str, numbers)) if known else result.name
    status, count = hip.hipGetDeviceCount()
    if int(status) == 0:
        report["devices"] = [describe_device(index) for index in range(count)]
    else:
        report["devices"] = []
        report["device_error"] = status.name
    return report


def main(choices: argparse.Namespace) -> int:
    """Exit status 0 when there is a device to run on."""
    try:
        report = collect()
    except (RuntimeError, OSError) as error:
        print(f"hipadapt info: {error}", file=sys.stderr)
        return 2
    if choices.json:
        print(json.dumps(report))
    else:
        for label, value in report.items():
            if label != "devices":
                print(f"{label:<14}{value}")
        for device in report["devices"]:
            print()
            for label, value in device.items():
                print(f"{label:<26}{value}")
    return 0 if report["devices"] else 1
