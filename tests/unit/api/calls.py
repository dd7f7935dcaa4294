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

from . import graph_calls, memory_calls

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

    # ---- what a compiled program registers -------------------------------------------

    @cached_property
    def registered_words(self) -> Any:
        """Two words that stand for the variable `counter` and the kernel `fill`."""
        import hipadapt

        library = ctypes.CDLL(hipadapt.provider().path)
        words = (ctypes.c_uint64 * 2)()
        if not hasattr(library, "__hipRegisterFatBinary"):
            World.registrations.append(words)  # a library that only notes arguments
            return words
        register = library.__getattr__("__hipRegisterFatBinary")
        register.restype = ctypes.c_void_p
        image = ctypes.create_string_buffer(self.image)
        wrapper = (ctypes.c_uint64 * 3)(0x1_48495046, ctypes.addressof(image), 0)
        binary = ctypes.c_void_p(register(wrapper))
        names = (ctypes.c_char_p(b"counter"), ctypes.c_char_p(b"fill"))
        places = [ctypes.c_void_p(ctypes.addressof(words) + 8 * i) for i in range(2)]
        size = ctypes.c_size_t(4)
        library.__getattr__("__hipRegisterVar")(
            binary, places[0], names[0], names[0], 0, size, 0, 0
        )
        library.__getattr__("__hipRegisterFunction")(
            binary, places[1], names[1], names[1], -1, None, None, None, None, None
        )
        # The program's memory, which the registration borrows for good.
        World.registrations.append((words, image, wrapper, names))
        return words

    registrations: list[Any] = []

    @property
    def symbol(self) -> int:
        return ctypes.addressof(self.registered_words)

    @property
    def host_kernel(self) -> int:
        return self.symbol + 8

    def new_configuration(self) -> Any:
        """A launch in steps has begun; nothing is left of earlier ones."""
        import hipadapt

        library = ctypes.CDLL(hipadapt.provider().path)
        name = "__hipPopCallConfiguration"
        pop = getattr(library, name) if hasattr(library, name) else None
        room = [ctypes.create_string_buffer(16) for _ in range(4)]
        while pop is not None and pop(*room) == 0:
            pass
        self.ok("hipConfigureCall", (1, 1, 1), (1, 1, 1), 0, self.stream)
        return self.host

    def full_configuration(self) -> Any:
        """The kernel of a launch to which nothing is missing but itself."""
        self.new_configuration()
        for offset, value in zip((0, 8, 12), self.arguments, strict=True):
            text = bytearray(bytes(value))
            self.ok("hipSetupArgument", text, len(text), offset)
        return self.kernel

    @cached_property
    def launch_config(self) -> Any:
        return self.hip.hipLaunchConfig_st(
            gridDim=(1, 1, 1), blockDim=(32, 1, 1), stream=self.stream
        )

    @cached_property
    def driver_config(self) -> Any:
        one = {f"{what}Dim{axis}": 1 for what in ("grid", "block") for axis in "XYZ"}
        return self.hip.HIP_LAUNCH_CONFIG_st(**one, hStream=self.stream)

    @cached_property
    def launch_params(self) -> Any:
        """One launch of a list of them."""
        values = self.arguments
        addresses = (ctypes.c_void_p * 3)(
            *[ctypes.addressof(value) for value in values]
        )
        World.registrations.append((values, addresses))
        return self.hip.hipLaunchParams_t(
            func=self.kernel,
            gridDim=(1, 1, 1),
            blockDim=(16, 1, 1),
            args=ctypes.addressof(addresses),
            stream=self.stream,
        )

    # ---- arrays and textures: 8 x 4 floats ------------------------------------------

    @cached_property
    def channel(self) -> Any:
        kind = self.hip.hipChannelFormatKind.hipChannelFormatKindFloat
        return self.hip.hipChannelFormatDesc(x=32, f=kind)

    @cached_property
    def shape_2d(self) -> Any:
        return self.hip.HIP_ARRAY_DESCRIPTOR(
            Width=8,
            Height=4,
            Format=self.hip.hipArray_Format.HIP_AD_FORMAT_FLOAT,
            NumChannels=1,
        )

    @cached_property
    def shape_3d(self) -> Any:
        return self.hip.HIP_ARRAY3D_DESCRIPTOR(
            Width=8,
            Height=4,
            Format=self.hip.hipArray_Format.HIP_AD_FORMAT_FLOAT,
            NumChannels=1,
        )

    def extent(self, width: int, height: int, depth: int) -> Any:
        return self.hip.hipExtent(width, height, depth)

    def new_image_array(self) -> Any:
        return self.ok("hipMallocArray", self.channel, 8, 4, 0)

    @cached_property
    def image_array(self) -> Any:
        """A hipArray_t."""
        return self.new_image_array()

    def new_mipmap(self) -> Any:
        return self.ok(
            "hipMallocMipmappedArray", self.channel, self.extent(8, 4, 0), 3, 0
        )

    @cached_property
    def mipmap(self) -> Any:
        return self.new_mipmap()

    @cached_property
    def resource(self) -> Any:
        resource = self.hip.hipResourceDesc(
            resType=self.hip.hipResourceType.hipResourceTypeArray
        )
        resource.res.array.array = self.image_array
        return resource

    @cached_property
    def driver_resource(self) -> Any:
        resource = self.hip.HIP_RESOURCE_DESC(
            resType=self.hip.HIPresourcetype_enum.HIP_RESOURCE_TYPE_ARRAY
        )
        resource.res.array.hArray = self.image_array
        return resource

    def new_texture(self) -> Any:
        sampling, view = self.hip.hipTextureDesc(), self.hip.hipResourceViewDesc()
        return self.ok("hipCreateTextureObject", self.resource, sampling, view)

    @cached_property
    def texture(self) -> Any:
        """A texture object with a view."""
        return self.new_texture()

    def new_surface(self) -> Any:
        return self.ok("hipCreateSurfaceObject", self.resource)

    @cached_property
    def reference(self) -> Any:
        """A texture reference without anything bound to it."""
        return self.hip.textureReference(channelDesc=self.channel)

    def bound_reference(self, kind: str) -> Any:
        """A texture reference to an array, a mipmapped array or memory."""
        reference = self.reference
        if kind == "array":
            self.ok("hipBindTextureToArray", reference, self.image_array, self.channel)
        elif kind == "mipmap":
            reference.normalized = 1
            call = "hipBindTextureToMipmappedArray"
            self.ok(call, reference, self.mipmap, self.channel)
        else:
            self.ok("hipBindTexture", reference, self.array, self.channel, 64)
        return reference

    @cached_property
    def box(self) -> Any:
        """A description of a copy of a box of memory to an array."""
        memory = self.hip.hipPitchedPtr(ptr=self.array, pitch=32, xsize=32, ysize=4)
        return self.hip.hipMemcpy3DParms(
            srcPtr=memory,
            dstArray=self.image_array,
            extent=self.extent(8, 4, 1),
            kind=self.hip.hipMemcpyKind.hipMemcpyDeviceToDevice,
        )

    @cached_property
    def box_of_peers(self) -> Any:
        return self.hip.hipMemcpy3DPeerParms(
            srcPtr=self.box.srcPtr,
            dstArray=self.image_array,
            extent=self.extent(8, 4, 1),
        )

    @cached_property
    def driver_box(self) -> Any:
        kinds = self.hip.hipMemoryType
        return self.hip.HIP_MEMCPY3D(
            srcMemoryType=kinds.hipMemoryTypeDevice,
            srcDevice=self.array,
            srcPitch=32,
            dstMemoryType=kinds.hipMemoryTypeArray,
            dstArray=self.image_array,
            WidthInBytes=32,
            Height=4,
            Depth=1,
        )

    @cached_property
    def pitched(self) -> Any:
        return self.hip.hipPitchedPtr(ptr=self.array, pitch=64, xsize=64, ysize=4)

    # ---- arguments -----------------------------------------------------------------

    def handle(self, adapter: str) -> Any:
        """A living handle of a type that the CPU device makes, else a made-up one."""
        makers: dict[str, Callable[[], Any]] = {
            "ihipStream_t": lambda: self.stream,
            "ihipEvent_t": lambda: self.event,
            "ihipModule_t": lambda: self.module,
            "ihipModuleSymbol_t": lambda: self.kernel,
            "_hiprtcProgram": lambda: self.program,
            "ihipCtx_t": lambda: self.ok("hipDevicePrimaryCtxRetain", 0),
            "ihipLibrary_t": lambda: self.library,
            "hipArray": lambda: self.image_array,
            "__hip_texture": lambda: self.texture,
            "ihipKernel_t": lambda: self.kernel_of_library,
            "ihipMemPoolHandle_t": lambda: memory_calls.kinds(self).pool,
            "ihipMemGenericAllocationHandle": lambda: memory_calls.kinds(self).physical,
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
        graph_calls.end(self)
        if "kinds" in made:
            made["kinds"].close()
        self.hip.hipDeviceSynchronize()
        for name, destroy in (
            ("registered", "hipHostUnregister"),
            ("array", "hipFree"),
            ("managed", "hipFree"),
            ("pinned", "hipHostFree"),
            ("event", "hipEventDestroy"),
            ("stream", "hipStreamDestroy"),
            ("module", "hipModuleUnload"),
            ("reference", "hipUnbindTexture"),
            ("texture", "hipDestroyTextureObject"),
            ("image_array", "hipFreeArray"),
            ("mipmap", "hipFreeMipmappedArray"),
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
