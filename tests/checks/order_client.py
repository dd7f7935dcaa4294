# SPDX-License-Identifier: MIT
"""A process that runs random programs of streams (order_program.py) under check."""

from __future__ import annotations

import re
import sys
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.kernels.worker import Worker, environment

from .order_program import CELLS, LEGACY, OWN, Found, Node, Operation, Program, Step

if TYPE_CHECKING:
    from .finding import FoundSide

KERNELS = 24
FLAG_BYTES = 256
FILE = "program.py"
SOURCE = "".join(
    f"""
extern "C" __global__ void k{number}(int *x, int a, int b, int c, int d, int e, int f)
{{
    int sum = 0;
    for (; a < b; a++) sum += x[a];
    for (; c < d; c++) x[c] = 1;
    for (; e < f; e++) atomicAdd(x + e, 1);
}}
"""
    for number in range(KERNELS)
)
CALLS = {  # with a stream, and without
    "copy": ("Memcpy{}(x[{}], x[{}], {}, within", ", {})"),
    "fill": ("Memset{}(x[{}], 0, {}", ", {})"),
    "fetch": ("Memcpy{}(host, x[{}], {}, to_host", ", {})"),
    "put": ("Memcpy{}(x[{}], host, {}, to_device", ", {})"),
}


def client(cache: Path, threads: int) -> Worker:
    """A process that runs programs with so many workers."""
    settings = {
        "HIPADAPT_CPU_THREADS": str(threads),
        "HIPADAPT_CHECK": "race,memory,quiet",  # what is freed is kept
    }
    return Worker(environment("fast", 32, cache, **settings), __name__)


# ---- programs as lines of Python ----


def call_text(operation: Operation, stream: str) -> str:
    """The call of a copy or fill; an empty stream: the call that waits."""
    start, end = CALLS[operation.what]
    (first, last), source = operation.writes, operation.reads
    if operation.what == "fetch":
        first, last = source
    places = [first, source[0]] if operation.what == "copy" else [first]
    suffix = "Async" if stream else ""
    text = start.format(suffix, *places, 4 * (last - first))
    return f"ok(hip.hip{text}" + (end.format(stream) if stream else ")") + ")"


def step_text(step: Step) -> str:
    operation, stream, at = step.operation, f"s[{step.stream}]", 4 * step.value
    if operation is not None and operation.what == "kernel":
        return f"go({stream}, {operation!r})"
    if operation is not None and operation.what == "free":
        return f"ok(hip.hipFreeAsync(x[0], {stream}))"
    if operation is not None:
        return call_text(operation, "" if step.what == "call" else stream)
    return {
        "record": f"ok(hip.hipEventRecord(e[{step.event}], {stream}))",
        "wait": f"ok(hip.hipStreamWaitEvent({stream}, e[{step.event}], 0))",
        "launch": f"ok(hip.hipGraphLaunch(g[{step.graph}], {stream}))",
        "stream": f"ok(hip.hipStreamSynchronize({stream}))",
        "event": f"ok(hip.hipEventSynchronize(e[{step.event}]))",
        "device": "ok(hip.hipDeviceSynchronize())",
        "give": f"ok(hip.hipStreamWriteValue32({stream}, flag + {at}, 1, 0))",
        "take": f"ok(hip.hipStreamWaitValue32({stream}, flag + {at}, 1, 0, MASK))",
        "function": f"called({stream})",
        "ask stream": f"until(hip.hipStreamQuery, {stream})",
        "ask event": f"until(hip.hipEventQuery, e[{step.event}])",
    }[step.what]


class Runner:
    """Runs programs here."""

    def __init__(self) -> None:
        from hipadapt import hip
        from tests.kernels.gpu import Gpu, ok

        self.hip, self.ok = hip, ok
        self.gpu = Gpu()
        self.module = self.gpu.build(SOURCE)
        self.flag = int(ok(hip.hipMalloc(FLAG_BYTES)))
        self.functions = [self.module.function(f"k{n}") for n in range(KERNELS)]

    def arguments(self, operation: Operation) -> list[Any]:
        ranges = (operation.reads, operation.writes, operation.atomics)
        return [np.int32(value) for pair in ranges for value in pair]

    def memory(self, kind: str) -> int:
        size = 4 * CELLS
        if kind == "pinned":
            return int(self.ok(self.hip.hipHostMalloc(size, 0)))
        if kind == "managed":
            flags = self.hip.hipMemAttachGlobal
            return int(self.ok(self.hip.hipMallocManaged(size, flags)))
        if kind == "pool":
            return int(self.ok(self.hip.hipMallocAsync(size, None)))
        return int(self.ok(self.hip.hipMalloc(size)))

    def streams(self, blocking: list[bool]) -> list[Any]:
        hip = self.hip
        flags = (hip.hipStreamNonBlocking, hip.hipStreamDefault)
        made = [
            self.ok(hip.hipStreamCreateWithFlags(flags[blocks]))
            for blocks in blocking[2:]
        ]
        return [hip.ihipStream_t(LEGACY), hip.ihipStream_t(OWN + 1), *made]

    def graph(self, nodes: list[Node], memory: int) -> Any:
        hip, ok = self.hip, self.ok
        graph = ok(hip.hipGraphCreate(0))
        made: list[Any] = []
        for node in nodes:
            befores = [made[n] for n in node.befores]
            made.append(self.node(graph, befores, node.operation, memory))
        executable = ok(hip.hipGraphInstantiate(graph, 0))[0]
        ok(hip.hipGraphDestroy(graph))
        return executable

    def node(self, graph: Any, befores: list[Any], what: Operation, memory: int) -> Any:
        hip = self.hip
        first, end = what.writes
        if what.what == "copy":
            source = memory + 4 * what.reads[0]
            return self.ok(
                hip.hipGraphAddMemcpyNode1D(
                    *(graph, befores, len(befores), memory + 4 * first, source),
                    *(4 * (end - first), hip.hipMemcpyKind.hipMemcpyDefault),
                )
            )
        if what.what == "fill":
            fill = hip.hipMemsetParams(
                dst=memory + 4 * first,
                elementSize=4,
                width=end - first,
                height=1,
                pitch=4 * (end - first),
                value=0,
            )
            return self.ok(
                hip.hipGraphAddMemsetNode(graph, befores, len(befores), fill)
            )
        values = [np.uint64(memory), *self.arguments(what)]
        held = [np.array([value]) for value in values]
        at = np.array([value.ctypes.data for value in held])
        parameters = hip.hipKernelNodeParams(
            func=self.functions[what.number],
            gridDim=hip.dim3(1, 1, 1),
            blockDim=hip.dim3(1, 1, 1),
            sharedMemBytes=0,
            kernelParams=at.ctypes.data,
            extra=None,
        )
        return self.ok(
            hip.hipGraphAddKernelNode(graph, befores, len(befores), parameters)
        )

    def until(self, ask: Callable[[Any], Any], what: Any) -> None:
        """Asks until the answer is yes."""
        while int(ask(what)[0]) != 0:
            pass

    def called(self, stream: Any) -> None:
        """Waits until a host function of the stream was called."""
        done = threading.Event()
        self.ok(self.hip.hipLaunchHostFunc(stream, lambda data: done.set(), None))
        assert done.wait(60)

    def run(self, program: Program) -> set[Found]:
        """What is found in it."""
        from . import finding

        hip, ok = self.hip, self.ok
        memory = self.memory(program.kind)
        streams = self.streams(program.blocking)
        flags = hip.hipEventDisableTiming
        events = [ok(hip.hipEventCreateWithFlags(flags)) for _ in range(program.events)]
        graphs = [self.graph(nodes, memory) for nodes in program.graphs]

        def go(stream: Any, operation: Operation) -> None:
            function = self.functions[operation.number]
            arguments = [memory, *self.arguments(operation)]
            self.gpu.launch(function, 1, 1, arguments, stream=stream)

        names = {
            **{"hip": hip, "ok": ok, "s": streams, "e": events, "g": graphs, "go": go},
            **{"until": self.until, "host": np.zeros(CELLS, np.int32)},
            **{"called": self.called, "flag": self.flag, "MASK": 0xFFFFFFFF},
            **{"x": [memory + 4 * cell for cell in range(CELLS + 1)]},
            **{"Operation": Operation, "within": hip.hipMemcpyKind.hipMemcpyDefault},
            "to_host": hip.hipMemcpyKind.hipMemcpyDeviceToHost,
            "to_device": hip.hipMemcpyKind.hipMemcpyHostToDevice,
        }
        ok(hip.hipMemset(self.flag, 0, FLAG_BYTES))
        text = "\n".join(step_text(step) for step in program.steps)
        ok(hip.hipDeviceSynchronize())
        finding.clear()
        exec(compile(text, FILE, "exec"), names)
        ok(hip.hipDeviceSynchronize())
        found = {found_of(one) for one in finding.findings()}
        self.free(program.kind, memory, streams, events, graphs)
        return found

    def free(
        self, kind: str, memory: int, streams: Any, events: Any, graphs: Any
    ) -> None:
        hip, ok = self.hip, self.ok
        for graph in graphs:
            ok(hip.hipGraphExecDestroy(graph))
        for event in events:
            ok(hip.hipEventDestroy(event))
        for stream in streams[2:]:
            ok(hip.hipStreamDestroy(stream))
        if kind == "pinned":
            ok(hip.hipHostFree(memory))
        elif kind != "pool":
            ok(hip.hipFree(memory))


def key_of(side: FoundSide) -> str:
    if side.kernel:
        return side.kernel
    line = re.search(rf"{re.escape(FILE)}:(\d+)", side.stack)
    return f"line {line[1]}" if line else f"{side.call} somewhere"


def found_of(found: Any) -> Found:
    assert found.kind == "race" and found.other is not None, str(found)
    return key_of(found.here), key_of(found.other), found.offset // 4


def serve(descriptor: int) -> None:
    """Answer requests until the client closes the connection."""
    connection = Connection(descriptor)
    runner = Runner()
    while True:
        try:
            _, (program,) = connection.recv()
        except EOFError:
            return
        try:
            answer: set[Found] | str = runner.run(program)
        except Exception:
            answer = traceback.format_exc()
        connection.send(answer)


if __name__ == "__main__":
    # Pickled programs name this module as others import it.
    from tests.checks.order_client import serve as serve_imported

    serve_imported(int(sys.argv[1]))
