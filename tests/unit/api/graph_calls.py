# SPDX-License-Identifier: MIT
"""Arguments for the functions of graphs, captures and stream memory operations.

`Graphs` has a graph with a node of each type and an executable graph of it; they belong
to a world (tests/unit/api/world.py) and end with it.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Callable
from functools import cached_property
from typing import Any

WORDS = 16  # 4-byte elements that a node copies or fills


def ignore(*_: Any) -> None:
    """A host function that does nothing."""


class Graphs:
    """One graph and what is made of it."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.hip = world.hip
        self.graph = world.ok("hipGraphCreate", 0)
        self.made: list[tuple[str, Any]] = [("hipGraphDestroy", self.graph)]
        self.kept: list[Any] = []

    def new_graph(self) -> Any:
        graph = self.world.ok("hipGraphCreate", 0)
        self.made.append(("hipGraphDestroy", graph))
        return graph

    def add(self, kind: str, *what: Any, graph: Any = None) -> Any:
        graph = graph or self.graph
        return self.world.ok(f"hipGraphAdd{kind}", graph, None, 0, *what)

    # ---- parameters ----------------------------------------------------------------

    def kernel_params(self) -> Any:
        values = [ctypes.c_void_p(int(self.world.array)), ctypes.c_int(WORDS)]
        values.append(ctypes.c_float(1))  # type: ignore[arg-type]
        addresses = (ctypes.c_void_p * 3)(*map(ctypes.addressof, values))
        self.kept += [values, addresses]
        return self.hip.hipKernelNodeParams(
            func=self.world.kernel,
            gridDim=(1, 1, 1),
            blockDim=(32, 1, 1),
            kernelParams=addresses,
        )

    def fill_params(self) -> Any:
        size = {"elementSize": 4, "height": 1, "pitch": 4 * WORDS, "width": WORDS}
        return self.hip.hipMemsetParams(dst=self.world.array, value=5, **size)

    def copy_params(self) -> Any:
        params = self.hip.hipMemcpy3DParms()
        pitched = self.hip.hipPitchedPtr
        size = {"pitch": 4 * WORDS, "xsize": 4 * WORDS, "ysize": 1}
        params.srcPtr = pitched(ptr=self.world.pinned, **size)
        params.dstPtr = pitched(ptr=self.world.array, **size)
        params.extent = self.hip.hipExtent(width=4 * WORDS, height=1, depth=1)
        params.kind = self.hip.hipMemcpyKind.hipMemcpyHostToDevice
        return params

    def driver_params(self) -> Any:
        kinds = self.hip.hipMemoryType
        return self.hip.HIP_MEMCPY3D(
            srcMemoryType=kinds.hipMemoryTypeHost,
            srcHost=self.world.pinned,
            dstMemoryType=kinds.hipMemoryTypeDevice,
            dstDevice=self.world.array,
            WidthInBytes=4 * WORDS,
            Height=1,
            Depth=1,
        )

    def alloc_params(self) -> Any:
        params = self.hip.hipMemAllocNodeParams(bytesize=256)
        properties = self.hip.hipMemPoolProps()
        pinned = self.hip.hipMemAllocationType.hipMemAllocationTypePinned
        properties.allocType = pinned
        place = self.hip.hipMemLocationType.hipMemLocationTypeDevice
        properties.location = self.hip.hipMemLocation(type=place, id=0)
        params.poolProps = properties
        return params

    def values(self) -> Any:
        """One write of a value."""
        item = self.hip.hipStreamBatchMemOpParams_union()
        write = self.hip.hipStreamBatchMemOpType.hipStreamMemOpWriteValue32
        item.operation = write
        target = item.writeValue
        target.address = self.world.array
        target.value = 7
        item.writeValue = target
        return item

    def batch_params(self) -> Any:
        item = self.values()
        self.kept.append(item)
        return self.hip.hipBatchMemOpNodeParams(count=1, paramArray=item)

    def any_params(self) -> Any:
        params = self.hip.hipGraphNodeParams()
        params.type = self.hip.hipGraphNodeType.hipGraphNodeTypeMemset
        params.memset = self.fill_params()
        return params

    # ---- nodes ---------------------------------------------------------------------

    @cached_property
    def child(self) -> Any:
        graph = self.new_graph()
        self.add("EmptyNode", graph=graph)
        return graph

    @cached_property
    def kernel(self) -> Any:
        return self.add("KernelNode", self.kernel_params())

    @cached_property
    def fill(self) -> Any:
        return self.add("MemsetNode", self.fill_params())

    @cached_property
    def copy(self) -> Any:
        return self.add("MemcpyNode", self.copy_params())

    @cached_property
    def host(self) -> Any:
        return self.add("HostNode", (ignore, None))

    @cached_property
    def nested(self) -> Any:
        return self.add("ChildGraphNode", self.child)

    @cached_property
    def record(self) -> Any:
        return self.add("EventRecordNode", self.world.event)

    @cached_property
    def wait(self) -> Any:
        return self.add("EventWaitNode", self.world.event)

    @cached_property
    def batch(self) -> Any:
        return self.add("BatchMemOpNode", self.batch_params())

    @cached_property
    def alloc(self) -> Any:
        params = self.alloc_params()
        node = self.add("MemAllocNode", params)
        self.memory = params.dptr
        return node

    @cached_property
    def free(self) -> Any:
        node = self.alloc
        return self.world.ok(
            "hipGraphAddMemFreeNode", self.graph, [node], 1, self.memory
        )

    @cached_property
    def edge(self) -> tuple[Any, Any]:
        """Two nodes of which the second depends on the first."""
        first = self.kernel
        second = self.add("EmptyNode")
        self.world.ok("hipGraphAddDependencies", self.graph, [first], [second], 1)
        return first, second

    def exec_of(self, node: Any) -> Any:
        """An executable graph that has the node, which exists by now."""
        assert node is not None
        made = self.world.ok("hipGraphInstantiateWithFlags", self.graph, 0)
        self.made.append(("hipGraphExecDestroy", made))
        return made

    def clone(self) -> Any:
        assert self.kernel is not None
        graph = self.world.ok("hipGraphClone", self.graph)
        self.made.append(("hipGraphDestroy", graph))
        return graph

    def object(self) -> Any:
        """A user object of which the program has one reference."""
        made = self.world.ok("hipUserObjectCreate", None, ignore, 1, 1)
        self.made.append(("hipUserObjectRelease", made))
        return made

    def kept_object(self) -> Any:
        """One of which the graph has a reference as well."""
        made = self.object()
        self.world.ok("hipGraphRetainUserObject", self.graph, made, 1, 0)
        return made

    # ---- captures ------------------------------------------------------------------

    def new_stream(self) -> Any:
        stream = self.world.ok("hipStreamCreateWithFlags", 1)
        self.made.append(("hipStreamDestroy", stream))
        return stream

    def capturing(self) -> Any:
        """A stream that is being captured."""
        stream = self.new_stream()
        relaxed = self.hip.hipStreamCaptureMode.hipStreamCaptureModeRelaxed
        self.world.ok("hipStreamBeginCapture", stream, relaxed)
        return stream

    def close(self) -> None:
        """Ends all of it; what a call has ended already answers an error."""
        for end, made in reversed(self.made):
            if end == "hipStreamDestroy":
                end_capture(self.hip, made)
            count = (1,) if end == "hipUserObjectRelease" else ()
            getattr(self.hip, end)(made, *count)


def end_capture(hip: Any, stream: Any) -> None:
    """Ends what the stream is captured for, if it is."""
    status, graph = hip.hipStreamEndCapture(stream)
    if status == 0:
        hip.hipGraphDestroy(graph)


def of(world: Any) -> Graphs:
    """The graphs of a world."""
    if "graphs" not in world.__dict__:
        world.graphs = Graphs(world)
    found: Graphs = world.graphs
    return found


def end(world: Any) -> None:
    """Ends the graphs of a world; the next call that needs some gets new ones."""
    if "graphs" in world.__dict__:
        world.__dict__.pop("graphs").close()


def undo(world: Any, name: str, arguments: tuple[Any, ...]) -> None:
    """Ends what calls of graphs leave behind besides their outputs."""
    if name.startswith("hipStreamBeginCapture"):
        stream = arguments[0]
        if name.endswith("_spt") and not stream:
            stream = 2  # hipStreamPerThread
        end_capture(world.hip, stream)
    end(world)


Arguments = Callable[[Any], tuple[Any, ...]]
RELAXED = 2
TO_DEVICE = 1
TO_HOST = 2


def on_graph(*what: Callable[[Graphs], Any]) -> Arguments:
    """Graph, no dependencies, and what `what` gives."""
    return lambda w: (of(w).graph, None, 0, *(give(of(w)) for give in what))


def on(*what: Callable[[Graphs], Any]) -> Arguments:
    return lambda w: tuple(give(of(w)) for give in what)


def in_exec(node: Callable[[Graphs], Any], *what: Callable[[Graphs], Any]) -> Arguments:
    """An executable graph, one of its nodes, and what `what` gives."""

    def make(world: Any) -> tuple[Any, ...]:
        graphs = of(world)
        chosen = node(graphs)
        rest = [give(graphs) for give in what]
        return (graphs.exec_of(chosen), chosen, *rest)

    return make


def graph(g: Graphs) -> Any:
    return g.graph


def kernel(g: Graphs) -> Any:
    return g.kernel


def fill(g: Graphs) -> Any:
    return g.fill


def copy(g: Graphs) -> Any:
    return g.copy


def host(g: Graphs) -> Any:
    return g.host


def event(g: Graphs) -> Any:
    return g.world.event


def context(g: Graphs) -> Any:
    return None


def function(_: Graphs) -> Any:
    return (ignore, None)


def bytes_of(w: Any) -> tuple[Any, ...]:
    return (w.array, w.pinned, 4 * WORDS, TO_DEVICE)


def to_variable(w: Any) -> tuple[Any, ...]:
    return (w.array, w.pinned, 4, 0, TO_DEVICE)


def from_variable(w: Any) -> tuple[Any, ...]:
    return (w.pinned, w.array, 4, 0, TO_HOST)


def freed(w: Any) -> tuple[Any, ...]:
    graphs = of(w)
    params = graphs.alloc_params()
    node = graphs.add("MemAllocNode", params)
    return (graphs.graph, [node], 1, params.dptr)


def dot_file(w: Any) -> tuple[Any, ...]:
    folder = os.environ.get("HIPADAPT_CACHE_DIR") or tempfile.gettempdir()
    return (of(w).graph, f"{folder}/graph-{os.getpid()}.dot", 1)


def two_nodes(w: Any) -> tuple[Any, ...]:
    graphs = of(w)
    return (graphs.graph, [graphs.add("EmptyNode")], [graphs.add("EmptyNode")], 1)


def edge(w: Any) -> tuple[Any, ...]:
    graphs, first, second, count = two_nodes(w)
    w.ok("hipGraphAddDependencies", graphs, first, second, count)
    return (graphs, first, second, count)


def priority(g: Graphs) -> Any:
    return g.hip.hipLaunchAttributeID.hipLaunchAttributePriority


def attribute(g: Graphs) -> Any:
    return g.hip.hipLaunchAttributeValue(priority=0)


def full_graph(w: Any) -> Any:
    graphs = of(w)
    assert graphs.edge
    return graphs.graph


ARGUMENTS: dict[str, Arguments] = {
    # ---- graphs
    "hipGraphDestroy": lambda w: (w.ok("hipGraphCreate", 0),),
    "hipGraphClone": on(graph),
    "hipGraphNodeFindInClone": lambda w: (of(w).kernel, of(w).clone()),
    "hipGraphDebugDotPrint": dot_file,
    "hipGraphAddDependencies": two_nodes,
    "hipGraphRemoveDependencies": edge,
    "hipGraphGetEdges": lambda w: (full_graph(w),),
    "hipGraphGetNodes": lambda w: (full_graph(w),),
    "hipGraphGetRootNodes": lambda w: (full_graph(w),),
    "hipGraphNodeGetDependencies": lambda w: (of(w).edge[1],),
    "hipGraphNodeGetDependentNodes": lambda w: (of(w).edge[0],),
    "hipGraphNodeGetType": on(kernel),
    "hipGraphDestroyNode": lambda w: (of(w).add("EmptyNode"),),
    # ---- executable graphs
    "hipGraphInstantiate": lambda w: (full_graph(w), 256),
    "hipGraphInstantiateWithFlags": lambda w: (full_graph(w), 0),
    "hipGraphInstantiateWithParams": lambda w: (
        full_graph(w),
        w.hip.hipGraphInstantiateParams(),
    ),
    "hipGraphLaunch": lambda w: (of(w).exec_of(of(w).kernel), w.stream),
    "hipGraphLaunch_spt": lambda w: (of(w).exec_of(of(w).kernel), w.stream),
    "hipGraphUpload": lambda w: (of(w).exec_of(of(w).kernel), w.stream),
    "hipGraphExecGetFlags": lambda w: (of(w).exec_of(of(w).kernel),),
    "hipGraphExecDestroy": lambda w: (
        w.ok("hipGraphInstantiateWithFlags", of(w).graph, 0),
    ),
    "hipGraphExecUpdate": lambda w: (of(w).exec_of(of(w).kernel), of(w).graph),
    "hipGraphNodeSetEnabled": in_exec(kernel, lambda _: 1),
    "hipGraphNodeGetEnabled": in_exec(kernel),
    # ---- kernel nodes
    "hipGraphAddKernelNode": on_graph(Graphs.kernel_params),
    "hipGraphKernelNodeGetParams": on(kernel),
    "hipGraphKernelNodeSetParams": on(kernel, Graphs.kernel_params),
    "hipGraphExecKernelNodeSetParams": in_exec(kernel, Graphs.kernel_params),
    "hipGraphKernelNodeSetAttribute": on(kernel, priority, attribute),
    "hipGraphKernelNodeGetAttribute": on(kernel, priority),
    "hipGraphKernelNodeCopyAttributes": on(kernel, kernel),
    # ---- copies and fills
    "hipGraphAddMemcpyNode": on_graph(Graphs.copy_params),
    "hipGraphMemcpyNodeGetParams": on(copy),
    "hipGraphMemcpyNodeSetParams": on(copy, Graphs.copy_params),
    "hipGraphExecMemcpyNodeSetParams": in_exec(copy, Graphs.copy_params),
    "hipGraphAddMemcpyNode1D": lambda w: (of(w).graph, None, 0, *bytes_of(w)),
    "hipGraphMemcpyNodeSetParams1D": lambda w: (of(w).copy, *bytes_of(w)),
    "hipGraphExecMemcpyNodeSetParams1D": lambda w: (
        *in_exec(copy)(w),
        *bytes_of(w),
    ),
    "hipDrvGraphAddMemcpyNode": on_graph(Graphs.driver_params, context),
    "hipDrvGraphMemcpyNodeGetParams": on(copy),
    "hipDrvGraphMemcpyNodeSetParams": on(copy, Graphs.driver_params),
    "hipDrvGraphExecMemcpyNodeSetParams": in_exec(copy, Graphs.driver_params, context),
    "hipGraphAddMemsetNode": on_graph(Graphs.fill_params),
    "hipGraphMemsetNodeGetParams": on(fill),
    "hipGraphMemsetNodeSetParams": on(fill, Graphs.fill_params),
    "hipGraphExecMemsetNodeSetParams": in_exec(fill, Graphs.fill_params),
    "hipDrvGraphAddMemsetNode": on_graph(Graphs.fill_params, context),
    "hipDrvGraphExecMemsetNodeSetParams": in_exec(fill, Graphs.fill_params, context),
    # ---- nodes of other types
    "hipGraphAddHostNode": on_graph(function),
    "hipGraphHostNodeGetParams": on(host),
    "hipGraphHostNodeSetParams": on(host, function),
    "hipGraphExecHostNodeSetParams": in_exec(host, function),
    "hipGraphAddChildGraphNode": on_graph(lambda g: g.child),
    "hipGraphChildGraphNodeGetGraph": on(lambda g: g.nested),
    "hipGraphExecChildGraphNodeSetParams": in_exec(
        lambda g: g.nested, lambda g: g.child
    ),
    "hipGraphAddEmptyNode": on_graph(),
    "hipGraphAddEventRecordNode": on_graph(event),
    "hipGraphEventRecordNodeGetEvent": on(lambda g: g.record),
    "hipGraphEventRecordNodeSetEvent": on(lambda g: g.record, event),
    "hipGraphExecEventRecordNodeSetEvent": in_exec(lambda g: g.record, event),
    "hipGraphAddEventWaitNode": on_graph(event),
    "hipGraphEventWaitNodeGetEvent": on(lambda g: g.wait),
    "hipGraphEventWaitNodeSetEvent": on(lambda g: g.wait, event),
    "hipGraphExecEventWaitNodeSetEvent": in_exec(lambda g: g.wait, event),
    "hipGraphAddMemAllocNode": on_graph(Graphs.alloc_params),
    "hipGraphMemAllocNodeGetParams": on(lambda g: g.alloc),
    "hipGraphAddMemFreeNode": freed,
    "hipDrvGraphAddMemFreeNode": freed,
    "hipGraphMemFreeNodeGetParams": lambda w: (of(w).free, w.host),
    "hipGraphAddBatchMemOpNode": on_graph(Graphs.batch_params),
    "hipGraphBatchMemOpNodeGetParams": on(lambda g: g.batch),
    "hipGraphBatchMemOpNodeSetParams": on(lambda g: g.batch, Graphs.batch_params),
    "hipGraphExecBatchMemOpNodeSetParams": in_exec(
        lambda g: g.batch, Graphs.batch_params
    ),
    "hipGraphAddNode": on_graph(Graphs.any_params),
    "hipGraphNodeSetParams": on(fill, Graphs.any_params),
    "hipGraphExecNodeSetParams": in_exec(fill, Graphs.any_params),
    # ---- variables: the address is no variable's
    "hipGraphAddMemcpyNodeToSymbol": lambda w: (of(w).graph, None, 0, *to_variable(w)),
    "hipGraphAddMemcpyNodeFromSymbol": lambda w: (
        *(of(w).graph, None, 0),
        *from_variable(w),
    ),
    "hipGraphMemcpyNodeSetParamsToSymbol": lambda w: (of(w).copy, *to_variable(w)),
    "hipGraphMemcpyNodeSetParamsFromSymbol": lambda w: (
        of(w).copy,
        *from_variable(w),
    ),
    "hipGraphExecMemcpyNodeSetParamsToSymbol": lambda w: (
        *in_exec(copy)(w),
        *to_variable(w),
    ),
    "hipGraphExecMemcpyNodeSetParamsFromSymbol": lambda w: (
        *in_exec(copy)(w),
        *from_variable(w),
    ),
    # ---- memory and user objects
    "hipDeviceGetGraphMemAttribute": lambda w: (0, 0, w.host),
    "hipDeviceSetGraphMemAttribute": lambda w: (0, 1, bytearray(8)),
    "hipUserObjectCreate": lambda _: (None, ignore, 1, 1),
    "hipUserObjectRelease": lambda w: (of(w).object(), 1),
    "hipUserObjectRetain": lambda w: (of(w).object(), 1),
    "hipGraphRetainUserObject": lambda w: (of(w).graph, of(w).object(), 1, 0),
    "hipGraphReleaseUserObject": lambda w: (of(w).graph, of(w).kept_object(), 1),
    # ---- captures
    "hipStreamBeginCapture": lambda w: (of(w).new_stream(), RELAXED),
    "hipStreamBeginCapture_spt": lambda w: (of(w).new_stream(), RELAXED),
    "hipStreamBeginCaptureToGraph": lambda w: (
        of(w).new_stream(),
        of(w).new_graph(),
        None,
        None,
        0,
        RELAXED,
    ),
    "hipStreamEndCapture": lambda w: (of(w).capturing(),),
    "hipStreamEndCapture_spt": lambda w: (of(w).capturing(),),
    "hipStreamGetCaptureInfo_v2": lambda w: (of(w).capturing(),),
    "hipStreamGetCaptureInfo_v2_spt": lambda w: (of(w).capturing(),),
    "hipStreamUpdateCaptureDependencies": lambda w: (of(w).capturing(), None, 0, 1),
    # ---- stream memory operations
    # hipStreamWaitValueNor without a mask holds whatever the value is.
    "hipStreamWaitValue32": lambda w: (w.stream, w.array, 0, 3, 0),
    "hipStreamWaitValue64": lambda w: (w.stream, w.array, 0, 3, 0),
    "hipStreamBatchMemOp": lambda w: (w.stream, 1, [of(w).values()], 0),
}

# Nodes write when they are launched, and these write to no memory of the caller's.
WRITE_LATER = frozenset(
    f"hip{name}"
    for name in (
        "GraphAddMemcpyNode1D",
        "GraphMemcpyNodeSetParams1D",
        "GraphExecMemcpyNodeSetParams1D",
        "GraphAddMemFreeNode",
        "DrvGraphAddMemFreeNode",
    )
)

# A program that is no C++ program has no variables that it could name.
ANSWERS = {
    f"hipGraph{what}{way}Symbol": "hipErrorInvalidSymbol"
    for what in (
        "AddMemcpyNode",
        "MemcpyNodeSetParams",
        "ExecMemcpyNodeSetParams",
    )
    for way in ("To", "From")
}

# Their other forms leave out what they need: they pass NULL for it.
NEED_ALL = frozenset(
    (
        "hipGraphKernelNodeCopyAttributes",
        "hipDrvGraphMemcpyNodeSetParams",
        "hipLaunchCooperativeKernel_spt",
        "hipLaunchKernel_spt",
    )
)

# Outputs that are None where all is well.
NONE_IF_GOOD = ("pErrorNode", "hErrorNode_out")

# What ends an output, by its type; handles that a function only shows are not ended.
UNDO_OF_OUTPUT = {"ihipGraph": "hipGraphDestroy", "hipGraphExec": "hipGraphExecDestroy"}
SHOWN = (
    "hipGraphChildGraphNodeGetGraph",
    "hipGraphEventRecordNodeGetEvent",
    "hipGraphEventWaitNodeGetEvent",
    "hipStreamGetCaptureInfo_v2",
    "hipStreamGetCaptureInfo_v2_spt",
)
