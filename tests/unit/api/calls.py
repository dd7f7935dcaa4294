# SPDX-License-Identifier: MIT
"""A call of every function with sensible arguments, on the CPU device.

Everything is made from the API description, so a function that is newly wrapped has its
call at once.  `World` has real objects for its arguments; `Call` is one function with
arguments that work, and what undoes it.  Where the general rules don't give a call that
works, ARGUMENTS says which one does.

Vocabulary: a function is *present* if the CPU device has it, else *lacking*: then it is
never called through, and made-up handles and addresses are harmless arguments.
"""

from __future__ import annotations

import ctypes
import os
import re
import tempfile
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from tools.codegen import cpu_device, forms, model

API = model.load()
WRAPPED = tuple(f for f in API.functions if f.wrapped)
LACKING = frozenset(f.name for f in cpu_device.lacking(API))
ENUMS = {e.name: e for e in API.enums}
BYTES = 4096  # of every buffer and array
MADE_UP = 0x5550  # an address or handle that is nowhere
SOURCE = """
__device__ int counter = 7;
extern "C" __global__ void fill(float *x, int n, float value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = value + i;
}
"""


class CallFailed(AssertionError):
    """A call that prepares another one did not succeed."""


def module_of(name: str) -> ModuleType:
    """hipadapt.hip or hipadapt.hiprtc; imported late, in whatever process this is."""
    import hipadapt

    return getattr(hipadapt, name)  # type: ignore[no-any-return]


class World:
    """Real objects, made when an argument first needs them.

    A test that has used one up (destroyed it, reset the device) takes a new world.
    """

    image_bytes: bytes | None = None  # compiled once a process
    bitcode_bytes: bytes | None = None

    def __init__(self) -> None:
        self.hip = module_of("hip")
        self.rtc = module_of("hiprtc")

    def ok(self, name: str, *arguments: Any) -> Any:
        """The output, or tuple of outputs, of a call that must succeed."""
        import hipadapt

        module = self.rtc if name.startswith("hiprtc") else self.hip
        status, *outputs = getattr(module, name)(*arguments)
        if int(status) != 0:
            raise CallFailed(f"{name}{arguments}: {status!r} {hipadapt.error_text()}")
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    # ---- objects -------------------------------------------------------------------

    def new_program(self) -> Any:
        program = self.ok("hiprtcCreateProgram", SOURCE, "fill.hip", 0, None, None)
        self.ok("hiprtcAddNameExpression", program, "counter")
        return program

    @cached_property
    def program(self) -> Any:
        """Compiled, with the name expression `counter`."""
        program = self.new_program()
        self.ok("hiprtcCompileProgram", program, 0, None)
        return program

    @cached_property
    def relocatable(self) -> Any:
        """A compiled program that can be linked."""
        program = self.new_program()
        self.ok("hiprtcCompileProgram", program, 1, ["-fgpu-rdc"])
        return program

    @property
    def bitcode(self) -> bytes:
        if World.bitcode_bytes is None:
            code = bytearray(self.ok("hiprtcGetBitcodeSize", self.relocatable))
            self.ok("hiprtcGetBitcode", self.relocatable, code)
            World.bitcode_bytes = bytes(code)
        return World.bitcode_bytes

    @cached_property
    def bitcode_path(self) -> str:
        return self.write("bitcode", self.bitcode)

    def new_link(self, module: str) -> Any:
        """A link state of hip or hiprtc."""
        return self.ok(f"{module}LinkCreate", 0, None, None)

    def full_link(self, module: str) -> Any:
        """The same, with something to link."""
        state = self.new_link(module)
        kind = self.hip.hipJitInputType.hipJitInputLLVMBitcode
        code = self.bitcode
        none = (0, None, None)
        name = f"{module}LinkAddData"
        self.ok(name, state, kind, code, len(code), "fill", *none)
        return state

    def write(self, kind: str, content: bytes) -> str:
        """The path of a file with this content."""
        folder = Path(os.environ.get("HIPADAPT_CACHE_DIR") or tempfile.gettempdir())
        path = folder / f"fill-{os.getpid()}.{kind}"
        path.write_bytes(content)
        return str(path)

    @property
    def image(self) -> bytes:
        if World.image_bytes is None:
            code = bytearray(self.ok("hiprtcGetCodeSize", self.program))
            self.ok("hiprtcGetCode", self.program, code)
            World.image_bytes = bytes(code)
        return World.image_bytes

    @cached_property
    def image_path(self) -> str:
        return self.write("image", self.image)

    def new_stream(self) -> Any:
        return self.ok("hipStreamCreate")

    @cached_property
    def stream(self) -> Any:
        return self.new_stream()

    def new_event(self) -> Any:
        event = self.ok("hipEventCreate")
        self.ok("hipEventRecord", event, None)
        self.ok("hipEventSynchronize", event)
        return event

    @cached_property
    def event(self) -> Any:
        """Recorded and passed."""
        return self.new_event()

    def new_module(self) -> Any:
        return self.ok("hipModuleLoadData", self.image)

    @cached_property
    def module(self) -> Any:
        return self.new_module()

    @cached_property
    def kernel(self) -> Any:
        return self.ok("hipModuleGetFunction", self.module, "fill")

    def new_array(self) -> Any:
        array = self.ok("hipMalloc", BYTES)
        self.ok("hipMemset", array, 0, BYTES)
        return array

    @cached_property
    def array(self) -> Any:
        """Device memory of BYTES bytes."""
        return self.new_array()

    @cached_property
    def managed(self) -> Any:
        return self.ok("hipMallocManaged", BYTES, 1)

    @cached_property
    def pinned(self) -> Any:
        return self.ok("hipHostMalloc", BYTES, 0)

    @cached_property
    def host(self) -> bytearray:
        """Pageable host memory of BYTES bytes."""
        return bytearray(BYTES)

    @cached_property
    def registered(self) -> bytearray:
        memory = bytearray(BYTES)
        self.ok("hipHostRegister", memory, BYTES, 0)
        return memory

    @cached_property
    def arguments(self) -> tuple[Any, ...]:
        """Kernel arguments of `fill`."""
        address = ctypes.c_void_p(int(self.array))
        return (address, ctypes.c_int(16), ctypes.c_float(1))

    @cached_property
    def rows(self) -> Any:
        """A description of a copy of four rows of eight bytes."""
        return self.hip.hip_Memcpy2D(
            srcMemoryType=self.hip.hipMemoryType.hipMemoryTypeHost,
            srcHost=self.host,
            srcPitch=16,
            dstMemoryType=self.hip.hipMemoryType.hipMemoryTypeDevice,
            dstDevice=self.array,
            dstPitch=16,
            WidthInBytes=8,
            Height=4,
        )

    def new_library(self) -> Any:
        return self.ok("hipLibraryLoadData", self.image, *[None, None, 0] * 2)

    @cached_property
    def library(self) -> Any:
        return self.new_library()

    @cached_property
    def kernel_of_library(self) -> Any:
        return self.ok("hipLibraryGetKernel", self.library, "fill")

    # ---- arguments -----------------------------------------------------------------

    def handle(self, adapter: str) -> Any:
        """A living handle of a type that the CPU device makes, else a made-up one."""
        makers: dict[str, Callable[[], Any]] = {
            "ihipStream_t": lambda: self.stream,
            "ihipEvent_t": lambda: self.event,
            "ihipModule_t": lambda: self.module,
            "ihipModuleSymbol_t": lambda: self.kernel,
            "_hiprtcProgram": lambda: self.program,
            "ihipLibrary_t": lambda: self.library,
            "ihipKernel_t": lambda: self.kernel_of_library,
        }
        if adapter in makers and not (
            adapter in ("ihipLibrary_t", "ihipKernel_t")
            and "hipLibraryLoadData" in LACKING
        ):
            return makers[adapter]()
        return self.made_up(adapter)

    def made_up(self, adapter: str) -> Any:
        """A handle of this type that nobody made."""
        for module in (self.hip, self.rtc):
            try:
                return getattr(module, adapter)(MADE_UP)
            except AttributeError:
                continue
        raise AttributeError(adapter)

    def record(self, adapter: str) -> Any:
        return getattr(self.hip, adapter)()

    def member(self, adapter: str) -> Any:
        """The first member of an enum that is not unknown or zero, if there is one."""
        enum = ENUMS[adapter]
        module = self.rtc if enum.module == "hiprtc" else self.hip
        members = getattr(module, adapter)
        value = next(iter(enum.constants.values()))
        return members(value)

    def close(self) -> None:
        """Gives back what was made; what a test has ended already answers an error."""
        made = self.__dict__
        self.hip.hipDeviceSynchronize()
        for name, destroy in (
            ("registered", "hipHostUnregister"),
            ("array", "hipFree"),
            ("managed", "hipFree"),
            ("pinned", "hipHostFree"),
            ("event", "hipEventDestroy"),
            ("stream", "hipStreamDestroy"),
            ("module", "hipModuleUnload"),
            ("library", "hipLibraryUnload"),
        ):
            if name in made:
                getattr(self.hip, destroy)(made[name])
        for name in ("program", "relocatable"):
            if name in made:
                self.rtc.hiprtcDestroyProgram(made[name])
        for name in ("image_path", "bitcode_path"):
            if name in made:
                Path(made[name]).unlink(missing_ok=True)
        self.hip.hipGetLastError()


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


def pair(world: World) -> tuple[Any, ...]:
    return (world.array, world.array, 64)


# Where the general rules make no call that works.
ARGUMENTS: dict[str, Arguments] = {
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
    "hipLaunchCooperativeKernel": launch,
    "hipExtLaunchKernel": lambda w: (*launch(w), None, None, 0),
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
    "ihipLinkState_t": "hipLinkDestroy",
    "ihiprtcLinkState": "hiprtcLinkDestroy",
    "_hiprtcProgram": "hiprtcDestroyProgram",
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
GETTERS = ("hipKernelGetLibrary",)  # their output is not new


def undo(
    world: World,
    function: model.Function,
    arguments: tuple[Any, ...],
    outputs: tuple[Any, ...],
    form: int = 0,
) -> None:
    """Ends what a call that worked has made."""
    name = function.name
    if name == "hipMallocAsync":
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
