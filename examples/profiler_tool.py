# SPDX-License-Identifier: MIT
"""A profiling tool in Python: agents, code objects and kernels of a program.

It is `tool_library/tool.c` in Python and prints the same: a function that is asked
whether the tool takes part (configure), one that makes contexts and chooses what is
traced (initialize), and one that runs at the end, when all events have come (finalize).
The program that it looks at is `python -m hipadapt demo`.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

from hipadapt import rocprofiler
from hipadapt.__main__ import main as run
from hipadapt.rocprofiler import (
    rocprofiler_callback_phase_t,
    rocprofiler_callback_tracing_kind_t,
    rocprofiler_code_object_operation_t,
    rocprofiler_configure_callback_tracing_service,
    rocprofiler_create_context,
    rocprofiler_force_configure,
    rocprofiler_start_context,
    rocprofiler_status_t,
    rocprofiler_tool_configure_result_t,
)

SUCCESS = rocprofiler_status_t.ROCPROFILER_STATUS_SUCCESS
CODE = rocprofiler_callback_tracing_kind_t.ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT
LAUNCH = (
    rocprofiler_callback_tracing_kind_t.ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH
)
LOAD = rocprofiler_callback_phase_t.ROCPROFILER_CALLBACK_PHASE_LOAD
OBJECT = rocprofiler_code_object_operation_t.ROCPROFILER_CODE_OBJECT_LOAD
KERNEL = rocprofiler_code_object_operation_t[
    "ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER"
]


@dataclass
class ToolData:
    """What the tool's functions share."""

    client_id: Any
    context: int = 0
    code_objects: int = 0
    kernels: int = 0
    launches: int = 0


def need(result: tuple[Any, ...]) -> Any:
    """Every call answers a status; this tool gives up when one is bad."""
    if result[0] != SUCCESS:
        raise RuntimeError(rocprofiler.rocprofiler_get_status_string(result[0]))
    return result[1] if len(result) > 1 else None


def say(line: str) -> None:
    """Prints a line at once, because the program prints, too."""
    os.write(1, f"[tool] {line}\n".encode())


def on_event(event: rocprofiler.Event, data: ToolData) -> None:
    """Called for each event, later, on a thread of hipadapt."""
    loaded = event.phase == LOAD
    what = "load" if loaded else "unload"
    if event.kind == LAUNCH:
        data.launches += 1
    elif event.operation == OBJECT:
        say(f"code object {what}: id {event.object}, {event.name}")
        data.code_objects += loaded
    elif event.operation == KERNEL:
        place = f"id {event.object} of code object {event.source}"
        say(f"kernel {what}: {place}, {event.name}")
        data.kernels += loaded


def tool_init(finalizer: Any, data: ToolData) -> int:
    """Makes a context and chooses what is traced.  HIP isn't called here."""
    data.context = need(rocprofiler_create_context())
    for kind in (CODE, LAUNCH):
        need(
            rocprofiler_configure_callback_tracing_service(
                data.context, kind, None, on_event, data
            )
        )
    need(rocprofiler_start_context(data.context))
    return 0


def tool_fini(data: ToolData) -> None:
    """Everything that was traced has come."""
    for agent in rocprofiler.agents():
        kind = "GPU" if agent.is_device else "CPU"
        say(f"agent {agent.node_id}: {kind} {agent.name}")
    say(
        f"{data.client_id.name}: {data.code_objects} code objects, "
        f"{data.kernels} kernels, {data.launches} launches"
    )


def configure(version: int, runtime_version: str, priority: int, client_id: Any) -> Any:
    """Takes part, unless another tool was asked first."""
    if priority > 0:
        return None
    client_id.name = "ExampleTool"
    say(f"{client_id.name} with rocprofiler-sdk {runtime_version}")
    data = ToolData(client_id)
    return rocprofiler_tool_configure_result_t(tool_init, tool_fini, data)


def main() -> int:
    """Registers the tool, and is the program that it looks at."""
    need(rocprofiler_force_configure(configure))
    return run(["demo", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
