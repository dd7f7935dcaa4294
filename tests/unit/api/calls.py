# SPDX-License-Identifier: MIT
"""A call of every function with sensible arguments, on the CPU device.

Everything is made from the API description, so a function that is newly wrapped has its
call at once.  The arguments are objects of a `World` (world.py).  Where the general
rules don't give a call that works, ARGUMENTS says which one does.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from tools.codegen import forms, model

from . import graph_calls, memory_calls
from .world import API, BYTES, SOURCE, World, module_of

# ---- the general rules ---------------------------------------------------------------

VALUES = {
    "width": 8,
    "widthInBytes": 8,
    "height": 2,
    "pitch": 16,
    "Pitch": 16,
    "dpitch": 16,
    "spitch": 16,
    "dstPitch": 16,
    "blockSize": 64,
    "elementSizeBytes": 4,
    "alignment": 4096,
    **{f"{of}Dim{axis}": 1 for of in ("grid", "block") for axis in "XYZ"},
}
LISTS = ("list", "record_list")
SIZES = {"size", "sizeBytes", "count", "len", "ByteCount", "bytes", "length"}


def sizes_of(param: model.Param) -> set[str]:
    """Names in the size of a parameter, those of other parameters among them."""
    return set(re.findall(r"[A-Za-z_]\w*", param.size or ""))


def value_for(function: model.Function, param: model.Param) -> Any:
    """A number that fits what the other arguments are."""
    if param.type == "float":
        return 0.5
    if param.name in VALUES:
        return VALUES[param.name]
    lists = [p for p in function.params if param.name in sizes_of(p)]
    roles = {p.role for p in lists}
    if roles & {"list", "record_list", "text_list"}:
        return 0
    if "out_list" in roles:
        return 4
    if param.name in SIZES or lists:
        return 64
    return 0


def argument_for(world: World, function: model.Function, param: model.Param) -> Any:
    """A harmless and sensible argument, by role and name."""
    adapter = param.adapter or ""
    if param.role == "value":
        return value_for(function, param)
    if param.role == "enum":
        if adapter == "hipMemcpyKind":
            return world.hip.hipMemcpyKind.hipMemcpyHostToDevice
        return world.member(adapter)
    if param.role in ("handle", "handle_ref"):
        return world.handle(adapter)
    if param.role in ("record", "record_value", "out_record"):
        return world.record(adapter)
    if param.role in ("out", "out_text", "out_list", "out_array"):
        return bytearray(1024)  # the caller's memory
    if param.role in LISTS and (entries := (param.size or "").rstrip("?")).isdigit():
        return [0] * int(entries)
    if param.role == "inout":
        return 0 if adapter == "scalar" else world.member(adapter)
    if param.role == "host_node":
        return (ignore, None)
    if param.role == "pointer":
        if param.name.startswith(("src", "host", "hst", "data", "image", "code")):
            return world.host
        return world.array
    if param.role == "text":
        return "fill"
    if param.role == "callback":
        return ignore
    return None  # lists of nothing, and roles that this file does not know yet


def ignore(*_: Any) -> None:
    """A host function that does nothing."""


Arguments = Callable[[World], tuple[Any, ...]]


def shape(world: World) -> tuple[Any, ...]:
    """Kernel, grid, block, shared memory and stream of a launch."""
    return (world.kernel, 1, 1, 1, 32, 1, 1, 0, world.stream)


def launch(world: World) -> tuple[Any, ...]:
    """The same for the calls that take dim3."""
    return (world.kernel, (1, 1, 1), (32, 1, 1), world.arguments, 0, world.stream)


def pinned(world: World) -> tuple[Any, ...]:
    memory = world.ok("hipHostMalloc", BYTES, 0)
    return (memory,)


def link_file(world: World, module: str) -> tuple[Any, ...]:
    """Link state, kind of the input, its path, options."""
    kind = world.hip.hipJitInputType.hipJitInputLLVMBitcode
    return (world.new_link(module), kind, world.bitcode_path, 0, None, None)


def link_data(world: World, module: str) -> tuple[Any, ...]:
    kind = world.hip.hipJitInputType.hipJitInputLLVMBitcode
    code = world.bitcode
    state = world.new_link(module)
    return (state, kind, code, len(code), "fill", 0, None, None)


def occupancy(world: World) -> tuple[Any, ...]:
    return (world.kernel, 64, 0)


def pushed(world: World) -> tuple[Any, ...]:
    """No arguments; a context is on the thread's stack."""
    world.ok("hipCtxPushCurrent", world.handle("ihipCtx_t"))
    return ()


def stream_priority(world: World) -> Any:
    return world.hip.hipLaunchAttributeID.hipLaunchAttributePriority


def batch_3d(world: World) -> tuple[Any, ...]:
    """One copy of a box of memory to an array."""
    op = world.hip.hipMemcpy3DBatchOp(extent=world.extent(8, 4, 1), srcAccessOrder=1)
    op.src.type = world.hip.hipMemcpy3DOperandType.hipMemcpyOperandTypePointer
    op.src.op.ptr.ptr = world.array
    op.dst.type = world.hip.hipMemcpy3DOperandType.hipMemcpyOperandTypeArray
    op.dst.op.array.array = world.image_array
    return (1, [op], 0, world.stream)


def pair(world: World) -> tuple[Any, ...]:
    return (world.array, world.array, 64)


# Where the general rules make no call that works.
ARGUMENTS: dict[str, Arguments] = {
    **graph_calls.ARGUMENTS,
    **memory_calls.ARGUMENTS,
    "hipDeviceGetByPCIBusId": lambda w: (w.ok("hipDeviceGetPCIBusId", 32, 0),),
    "hipDeviceSetLimit": lambda w: (w.hip.hipLimit_t.hipLimitMallocHeapSize, 8 << 20),
    "hipPointerGetAttribute": lambda w: (
        w.host,
        w.hip.hipPointer_attribute.HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        w.array,
    ),
    "hipMallocManaged": lambda w: (64, 1),
    "hipMemPrefetchAsync": lambda w: (w.managed, 64, 0, w.stream),
    "hipMemAdvise": lambda w: (w.managed, 64, 1, 0),
    "hipHostGetDevicePointer": lambda w: (w.pinned, 0),
    "hipHostGetFlags": lambda w: (w.pinned,),
    "hipHostRegister": lambda w: (bytearray(BYTES), BYTES, 0),
    "hipHostUnregister": lambda w: (w.registered,),
    "hipFree": lambda w: (w.new_array(),),
    "hipFreeAsync": lambda w: (w.ok("hipMallocAsync", BYTES, w.stream), w.stream),
    "hipFreeHost": pinned,
    "hipHostFree": pinned,
    "hipMemcpyDtoH": lambda w: (w.host, w.array, 64),
    "hipMemcpyDtoHAsync": lambda w: (w.host, w.array, 64, w.stream),
    "hipMemcpyDtoD": pair,
    "hipMemcpyDtoDAsync": lambda w: (*pair(w), w.stream),
    "hipMemcpyPeer": lambda w: (w.array, 0, w.array, 0, 64),
    "hipMemcpyPeerAsync": lambda w: (w.array, 0, w.array, 0, 64, w.stream),
    "hipMemcpyParam2D": lambda w: (w.rows,),
    "hipMemcpyParam2DAsync": lambda w: (w.rows, w.stream),
    "hipDrvMemcpy2DUnaligned": lambda w: (w.rows,),
    "hipMemsetD2D32": lambda w: (w.array, 16, 1, 4, 2),
    "hipMemsetD2D32Async": lambda w: (w.array, 16, 1, 4, 2, w.stream),
    "hipStreamDestroy": lambda w: (w.new_stream(),),
    "hipEventDestroy": lambda w: (w.new_event(),),
    "hipModuleLoad": lambda w: (w.image_path,),
    "hipModuleLoadData": lambda w: (w.image,),
    "hipModuleLoadDataEx": lambda w: (w.image, 0, None, None),
    "hipModuleLoadFatBinary": lambda w: (w.image,),
    "hipModuleUnload": lambda w: (w.new_module(),),
    "hipModuleGetGlobal": lambda w: (w.module, "counter"),
    "hipLibraryLoadData": lambda w: (w.image, *[None, None, 0] * 2),
    "hipLibraryLoadFromFile": lambda w: (w.image_path, *[None, None, 0] * 2),
    "hipLibraryUnload": lambda w: (w.new_library(),),
    "hipLibraryGetGlobal": lambda w: (w.library, "counter"),
    "hipLibraryGetManaged": lambda w: (w.library, "counter"),
    "hipKernelSetAttribute": lambda w: (8, 0, w.kernel_of_library, 0),
    "hipFuncGetAttributes": lambda w: (w.kernel,),
    "hipFuncSetAttribute": lambda w: (w.kernel, 8, 0),
    "hipFuncSetCacheConfig": lambda w: (w.kernel, 0),
    "hipFuncSetSharedMemConfig": lambda w: (w.kernel, 0),
    "hipOccupancyMaxPotentialBlockSize": lambda w: (w.kernel, 0, 0),
    "hipOccupancyMaxActiveBlocksPerMultiprocessor": occupancy,
    "hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags": lambda w: (
        *occupancy(w),
        0,
    ),
    "hipModuleLaunchKernel": lambda w: (*shape(w), None, w.arguments),
    "hipModuleLaunchCooperativeKernel": lambda w: (*shape(w), w.arguments),
    "hipLaunchKernel": launch,
    "hipLaunchKernelExC": lambda w: (w.launch_config, w.kernel, w.arguments),
    "hipDrvLaunchKernelEx": lambda w: (w.driver_config, w.kernel, w.arguments, None),
    "hipConfigureCall": lambda w: ((1, 1, 1), (1, 1, 1), 0, w.stream),
    "hipSetupArgument": lambda w: (w.new_configuration(), 4, 0),
    "hipLaunchByPtr": lambda w: (w.full_configuration(),),
    "hipExtLaunchMultiKernelMultiDevice": lambda w: ([w.launch_params], 1, 0),
    "hipLaunchCooperativeKernelMultiDevice": lambda w: ([w.launch_params], 1, 0),
    "hipModuleLaunchCooperativeKernelMultiDevice": lambda w: (
        [w.function_params],
        1,
        0,
    ),
    "hipGetFuncBySymbol": lambda w: (w.host_kernel,),
    "hipKernelNameRefByPtr": lambda w: (w.host_kernel, w.stream),
    "hipGetSymbolAddress": lambda w: (w.symbol,),
    "hipGetSymbolSize": lambda w: (w.symbol,),
    "hipMemcpyToSymbol": lambda w: (w.symbol, w.host, 4, 0, 1),
    "hipMemcpyToSymbol_spt": lambda w: (w.symbol, w.host, 4, 0, 1),
    "hipMemcpyToSymbolAsync": lambda w: (w.symbol, w.host, 4, 0, 1, w.stream),
    "hipMemcpyToSymbolAsync_spt": lambda w: (w.symbol, w.host, 4, 0, 1, w.stream),
    "hipMemcpyFromSymbol": lambda w: (w.host, w.symbol, 4, 0, 2),
    "hipMemcpyFromSymbol_spt": lambda w: (w.host, w.symbol, 4, 0, 2),
    "hipMemcpyFromSymbolAsync": lambda w: (w.host, w.symbol, 4, 0, 2, w.stream),
    "hipMemcpyFromSymbolAsync_spt": lambda w: (w.host, w.symbol, 4, 0, 2, w.stream),
    "hipLaunchCooperativeKernel": launch,
    "hipLaunchKernel_spt": launch,
    "hipLaunchCooperativeKernel_spt": launch,
    "hipExtLaunchKernel": lambda w: (*launch(w), None, None, 0),
    "hipCtxPopCurrent": pushed,
    "hipGetProcAddress": lambda w: ("hipMalloc", 701, 0),
    "hipGetProcAddress_spt": lambda w: ("hipMalloc", 701, 0),
    "hipGetDriverEntryPoint": lambda w: ("hipMalloc", 0),
    "hipGetDriverEntryPoint_spt": lambda w: ("hipMalloc", 0),
    "hipExtStreamCreateWithCUMask": lambda w: (1, [1]),
    "hipStreamSetAttribute": lambda w: (
        w.stream,
        stream_priority(w),
        w.hip.hipLaunchAttributeValue(priority=0),
    ),
    "hipStreamGetAttribute": lambda w: (w.stream, stream_priority(w)),
    "hipOccupancyAvailableDynamicSMemPerBlock": lambda w: (w.kernel, 1, 64),
    "hipCreateChannelDesc": lambda w: (32, 0, 0, 0, 2),
    "hipDeviceGetTexture1DLinearMaxWidth": lambda w: (w.channel, 0),
    "hipMallocArray": lambda w: (w.channel, 8, 4, 0),
    "hipMalloc3DArray": lambda w: (w.channel, w.extent(8, 4, 2), 0),
    "hipArrayCreate": lambda w: (w.shape_2d,),
    "hipArray3DCreate": lambda w: (w.shape_3d,),
    "hipFreeArray": lambda w: (w.new_image_array(),),
    "hipArrayDestroy": lambda w: (w.new_image_array(),),
    "hipMallocMipmappedArray": lambda w: (w.channel, w.extent(8, 4, 0), 3, 0),
    "hipMipmappedArrayCreate": lambda w: (w.shape_3d, 3),
    "hipFreeMipmappedArray": lambda w: (w.new_mipmap(),),
    "hipMipmappedArrayDestroy": lambda w: (w.new_mipmap(),),
    "hipGetMipmappedArrayLevel": lambda w: (w.mipmap, 1),
    "hipMipmappedArrayGetLevel": lambda w: (w.mipmap, 1),
    "hipMipmappedArrayGetMemoryRequirements": lambda w: (w.mipmap, 0),
    "hipMemcpy2DToArray": lambda w: (w.image_array, 0, 0, w.host, 32, 32, 4, 1),
    "hipMemcpy2DToArrayAsync": lambda w: (
        *(w.image_array, 0, 0, w.host, 32, 32, 4, 1),
        w.stream,
    ),
    "hipMemcpy2DFromArray": lambda w: (w.host, 32, w.image_array, 0, 0, 32, 4, 2),
    "hipMemcpy2DFromArrayAsync": lambda w: (
        *(w.host, 32, w.image_array, 0, 0, 32, 4, 2),
        w.stream,
    ),
    "hipMemcpy2DArrayToArray": lambda w: (
        *(w.image_array, 0, 0, w.image_array, 0, 2, 32, 2, 3),
    ),
    "hipMemcpyFromArray": lambda w: (w.host, w.image_array, 0, 0, 64, 2),
    "hipMemcpyAtoH": lambda w: (w.host, w.image_array, 0, 64),
    "hipMemcpyAtoHAsync": lambda w: (w.host, w.image_array, 0, 64, w.stream),
    "hipMemcpyDtoA": lambda w: (w.image_array, 0, w.array, 64),
    "hipMemcpyAtoA": lambda w: (w.image_array, 0, w.image_array, 64, 64),
    "hipMemcpy3D": lambda w: (w.box,),
    "hipMemcpy3DAsync": lambda w: (w.box, w.stream),
    "hipMemcpy3DPeer": lambda w: (w.box_of_peers,),
    "hipMemcpy3DPeerAsync": lambda w: (w.box_of_peers, w.stream),
    "hipDrvMemcpy3D": lambda w: (w.driver_box,),
    "hipDrvMemcpy3DAsync": lambda w: (w.driver_box, w.stream),
    "hipMemcpyBatchAsync": lambda w: (
        *([w.array], [w.host], [64], 1),
        *([w.hip.hipMemcpyAttributes(srcAccessOrder=1)], [0], 1, w.stream),
    ),
    "hipMemcpy3DBatchAsync": batch_3d,
    "hipMalloc3D": lambda w: (w.extent(8, 4, 2),),
    "hipMemset3D": lambda w: (w.pitched, 1, w.extent(64, 4, 2)),
    "hipMemset3DAsync": lambda w: (w.pitched, 1, w.extent(64, 4, 2), w.stream),
    "hipCreateTextureObject": lambda w: (w.resource, w.hip.hipTextureDesc(), None),
    "hipDestroyTextureObject": lambda w: (w.new_texture(),),
    "hipTexObjectCreate": lambda w: (
        *(w.driver_resource, w.hip.HIP_TEXTURE_DESC(), None),
    ),
    "hipTexObjectDestroy": lambda w: (w.new_texture(),),
    "hipCreateSurfaceObject": lambda w: (w.resource,),
    "hipDestroySurfaceObject": lambda w: (w.new_surface(),),
    "hipTexRefSetFormat": lambda w: (w.reference, 32, 1),
    "hipTexRefSetArray": lambda w: (w.reference, w.image_array, 1),
    "hipTexRefSetMipmappedArray": lambda w: (
        *(w.hip.textureReference(normalized=1), w.mipmap, 1),
    ),
    "hipTexRefSetAddress": lambda w: (w.reference, w.array, 64),
    "hipTexRefSetAddress2D": lambda w: (w.reference, w.shape_2d, w.array, 256),
    "hipBindTexture": lambda w: (w.reference, w.array, w.channel, 64),
    "hipBindTexture2D": lambda w: (w.reference, w.array, w.channel, 8, 4, 256),
    "hipBindTextureToArray": lambda w: (w.reference, w.image_array, w.channel),
    "hipBindTextureToMipmappedArray": lambda w: (
        *(w.hip.textureReference(normalized=1), w.mipmap, w.channel),
    ),
    "hipUnbindTexture": lambda w: (w.bound_reference("array"),),
    "hipGetTextureAlignmentOffset": lambda w: (w.bound_reference("memory"),),
    "hipTexRefGetAddress": lambda w: (w.bound_reference("memory"),),
    "hipTexRefGetArray": lambda w: (w.bound_reference("array"),),
    "hipTexRefGetMipMappedArray": lambda w: (w.bound_reference("mipmap"),),
    "hiprtcCreateProgram": lambda w: (SOURCE, "fill.hip", 0, None, None),
    "hiprtcAddNameExpression": lambda w: (w.new_program(), "counter"),
    "hiprtcDestroyProgram": lambda w: (w.new_program(),),
    "hiprtcGetLoweredName": lambda w: (w.program, "counter"),
    "hiprtcGetCode": lambda w: (w.program, bytearray(len(w.image))),
    "hiprtcGetBitcode": lambda w: (w.relocatable, bytearray(len(w.bitcode))),
    "hiprtcGetBitcodeSize": lambda w: (w.relocatable,),
    "hiprtcLinkAddFile": lambda w: link_file(w, "hiprtc"),
    "hiprtcLinkAddData": lambda w: link_data(w, "hiprtc"),
    "hiprtcLinkComplete": lambda w: (w.full_link("hiprtc"),),
    "hiprtcLinkDestroy": lambda w: (w.new_link("hiprtc"),),
    "hipLinkAddFile": lambda w: link_file(w, "hip"),
    "hipLinkAddData": lambda w: link_data(w, "hip"),
    "hipLinkComplete": lambda w: (w.full_link("hip"),),
    "hipLinkDestroy": lambda w: (w.new_link("hip"),),
}

# Present functions whose documented answer is no success, whatever the arguments: the
# device is its own only peer, and kernels have no managed variables.
ANSWERS = {
    "hipLibraryGetManaged": "hipErrorNotFound",
    "hipDeviceGetP2PAttribute": "hipErrorInvalidDevice",
    "hipDeviceEnablePeerAccess": "hipErrorInvalidDevice",
    "hipDeviceDisablePeerAccess": "hipErrorInvalidDevice",
    "hipExtGetLinkTypeAndHopCount": "hipErrorInvalidValue",
    **graph_calls.ANSWERS,
    **memory_calls.ANSWERS,
    "hipCtxEnablePeerAccess": "hipErrorInvalidDevice",
    "hipCtxDisablePeerAccess": "hipErrorInvalidDevice",
}

# Forms of the peer's that leave out what the function needs, whatever else is given.
USELESS_FORMS = {
    "hipExtStreamCreateWithCUMask": (1,),
    "hipGetChannelDesc": (2,),
    "hipMemcpyBatchAsync": (1, 2, 3),
    "hipMipmappedArrayDestroy": (1,),
    "hipMipmappedArrayGetLevel": (1,),
    **memory_calls.USELESS_FORMS,
}

# What ends an output of a function, by the function and by the type of the output.
FREES = {
    "hipFree": (
        "hipMalloc",
        "hipExtMallocWithFlags",
        "hipMallocManaged",
        "hipMallocPitch",
        "hipMemAllocPitch",
    ),
    "hipFreeHost": ("hipMallocHost", "hipMemAllocHost"),
    "hipHostFree": ("hipHostMalloc", "hipHostAlloc"),
}
UNDO_OF_FUNCTION = {made: free for free, all_made in FREES.items() for made in all_made}
UNDO_OF_OUTPUT = {
    "ihipStream_t": "hipStreamDestroy",
    "ihipEvent_t": "hipEventDestroy",
    "ihipModule_t": "hipModuleUnload",
    "ihipLibrary_t": "hipLibraryUnload",
    "hipArray": "hipFreeArray",
    "hipMipmappedArray": "hipFreeMipmappedArray",
    "__hip_texture": "hipDestroyTextureObject",
    "__hip_surface": "hipDestroySurfaceObject",
    "ihipLinkState_t": "hipLinkDestroy",
    "ihiprtcLinkState": "hiprtcLinkDestroy",
    "_hiprtcProgram": "hiprtcDestroyProgram",
    **graph_calls.UNDO_OF_OUTPUT,
    **memory_calls.UNDO_OF_OUTPUT,
}
# What lets go of what a call has put under the handle that is its first argument.
ENDS_OF_HANDLE = {
    "hipLinkAddData": "hipLinkDestroy",
    "hipLinkAddFile": "hipLinkDestroy",
    "hiprtcLinkAddData": "hiprtcLinkDestroy",
    "hiprtcLinkAddFile": "hiprtcLinkDestroy",
    "hipLinkComplete": "hipLinkDestroy",
    "hiprtcLinkComplete": "hiprtcLinkDestroy",
}
GETTERS = (
    "hipGetMipmappedArrayLevel",
    "hipMipmappedArrayGetLevel",
    "hipTexRefGetArray",
    "hipTexRefGetMipMappedArray",
    "hipKernelGetLibrary",
    *graph_calls.SHOWN,
    *memory_calls.GETTERS,
)  # their output is not new


def undo(
    world: World,
    function: model.Function,
    arguments: tuple[Any, ...],
    outputs: tuple[Any, ...],
    form: int = 0,
) -> None:
    """Ends what a call that worked has made."""
    name = function.name
    if name == "hipMalloc3D":
        memory = outputs[0] if outputs else arguments[0]
        world.ok("hipFree", getattr(memory, "ptr", None))
    elif name == "hipMallocAsync":
        world.ok("hipFreeAsync", outputs[0], world.stream)
        world.ok("hipStreamSynchronize", world.stream)
    elif name == "hipHostRegister":
        world.ok("hipHostUnregister", arguments[0])
    elif name == "hipHostUnregister":
        world.__dict__.pop("registered", None)
    elif name in ENDS_OF_HANDLE:
        world.ok(ENDS_OF_HANDLE[name], arguments[0])
    elif name == "hiprtcAddNameExpression":
        world.ok("hiprtcDestroyProgram", arguments[0])
    elif name in UNDO_OF_FUNCTION:
        world.ok(UNDO_OF_FUNCTION[name], outputs[0])
    elif name not in GETTERS:
        for param, value in zip(
            forms.form_results(function, form), outputs, strict=False
        ):
            if value is not None and param.adapter in UNDO_OF_OUTPUT:
                world.ok(UNDO_OF_OUTPUT[param.adapter], value)
    graph_calls.undo(world, name, arguments)
    memory_calls.undo(world, name, arguments, outputs)


def arguments_of(
    world: World, function: model.Function, form: int = 0
) -> tuple[Any, ...]:
    """Arguments for one call; of functions that end something, new ones each time."""
    if form == 0 and function.name in ARGUMENTS:
        return ARGUMENTS[function.name](world)
    params = forms.form_params(function)[form]
    chosen = {p.name: argument_for(world, function, p) for p in params}
    if function.name in ARGUMENTS:  # other forms: by name
        inputs = forms.form_params(function)[0]
        given = ARGUMENTS[function.name](world)
        chosen.update(zip((p.name for p in inputs), given, strict=True))
        for left_out in (p for p in inputs if p.role == "list" and p not in params):
            chosen.update(dict.fromkeys(sizes_of(left_out), 0))
    return tuple(chosen[p.name] for p in params)


@cache
def function_named(name: str) -> model.Function:
    return next(f for f in API.functions if f.name == name)


def callable_of(function: model.Function) -> Callable[..., Any]:
    return getattr(module_of(function.module), function.name)  # type: ignore[no-any-return]


def is_ambiguous(function: model.Function, form: int) -> bool:
    """Whether another form has as many parameters: then only names tell them apart."""
    counts = [len(params) for params in forms.form_params(function)]
    return counts[form] in counts[:form]


def invoke(
    function: model.Function, form: int, arguments: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Calls one form of a function."""
    call = callable_of(function)
    if not is_ambiguous(function, form):
        return call(*arguments)  # type: ignore[no-any-return]
    names = [p.python_name for p in forms.form_params(function)[form]]
    return call(**dict(zip(names, arguments, strict=True)))  # type: ignore[no-any-return]
