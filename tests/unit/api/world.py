# SPDX-License-Identifier: MIT
"""Real objects for calls of any function, and which functions there are.

Vocabulary: a function is *present* if the CPU device has it, else *lacking*: then it is
never called through, and made-up handles and addresses are harmless arguments.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from tools.codegen import cpu_device, model

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


@cache
def library_of(path: str) -> ctypes.CDLL:
    """The same object each time, so that counts of objects stay."""
    return ctypes.CDLL(path)


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
        # CPython's cache of methods keeps each new str of a name, up to 4096.
        status, *outputs = getattr(module, sys.intern(name))(*arguments)
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

        library = library_of(hipadapt.provider().path)
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

    @cached_property
    def function_params(self) -> Any:
        """The same, as a function of a module."""
        shape = {f"{what}Dim{axis}": 1 for what in ("grid", "block") for axis in "XYZ"}
        return self.hip.hipFunctionLaunchParams_t(
            **shape,
            function=self.kernel,
            kernelParams=self.launch_params.args,
            hStream=self.stream,
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
