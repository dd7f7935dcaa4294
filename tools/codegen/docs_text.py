# SPDX-License-Identifier: MIT
"""What generated documents share: links to types, tables, names of families."""

from __future__ import annotations

import re

from . import text
from .emit_tables import FUNCTIONS, POINTERS
from .model import Api

# In the order of the site: what most programs use stands first.
FAMILIES = {
    "memory": ("Memory", "Allocation, copies, fills, and what an address belongs to."),
    "launch": ("Launches", "Launching kernels and host functions."),
    "hiprtc": ("hiprtc", "Run-time compilation and linking of kernels."),
    "module": ("Modules", "Code objects: kernels and variables, and linking."),
    "stream": ("Streams", "Streams: queues of work."),
    "event": ("Events", "Events: points in a stream, to wait for and to measure with."),
    "device": ("Devices", "Devices: count, choice, properties, limits, peers."),
    "error": ("Errors", "The last error of a thread, and names and texts of codes."),
    "pool": ("Memory pools", "Allocation in the order of a stream."),
    "graph": ("Graphs", "Graphs: work that is described once and launched often."),
    "occupancy": ("Occupancy", "How many blocks of a kernel fit on a device."),
    "array": ("Arrays", "HIP arrays: memory in a layout that textures can read."),
    "texture": ("Textures and surfaces", "Texture and surface objects and references."),
    "library": ("Libraries", "Code objects that are loaded on their first use."),
    "symbol": ("Symbols", "Variables of a program's own device code."),
    "vmm": ("Virtual memory", "Address ranges and the memory mapped into them."),
    "context": ("Contexts", "Contexts, primary contexts and execution contexts."),
    "external": ("External resources", "Memory and semaphores of graphics programs."),
    "other": ("Other functions", "What belongs to no other family."),
}
# Functions that a page begins with; the others follow in the order of the header.
FIRST = {
    "memory": (
        "hipMalloc hipFree hipMemcpy hipMemcpyAsync hipMemset hipMemsetAsync "
        "hipHostMalloc hipHostFree hipMallocManaged hipMemGetInfo hipMemcpy2D "
        "hipMemcpy2DAsync hipMallocPitch hipPointerGetAttributes"
    ),
    "launch": (
        "hipModuleLaunchKernel hipModuleLaunchCooperativeKernel hipLaunchHostFunc"
    ),
    "hiprtc": (
        "hiprtcCreateProgram hiprtcCompileProgram hiprtcGetProgramLogSize "
        "hiprtcGetProgramLog hiprtcGetCodeSize hiprtcGetCode hiprtcDestroyProgram "
        "hiprtcAddNameExpression hiprtcGetLoweredName"
    ),
    "module": (
        "hipModuleLoadData hipModuleLoad hipModuleGetFunction hipModuleGetGlobal "
        "hipModuleUnload"
    ),
    "stream": (
        "hipStreamCreate hipStreamSynchronize hipStreamDestroy hipStreamQuery "
        "hipStreamWaitEvent hipStreamCreateWithFlags hipStreamCreateWithPriority"
    ),
    "event": (
        "hipEventCreate hipEventRecord hipEventSynchronize hipEventElapsedTime "
        "hipEventQuery hipEventDestroy hipEventCreateWithFlags"
    ),
    "device": (
        "hipGetDeviceCount hipSetDevice hipGetDevice hipGetDeviceProperties "
        "hipDeviceGetAttribute hipDeviceSynchronize hipDeviceReset hipDeviceGetName "
        "hipDeviceTotalMem hipInit"
    ),
    "pool": (
        "hipMallocAsync hipFreeAsync hipMallocFromPoolAsync hipMemPoolCreate "
        "hipMemPoolDestroy"
    ),
    "graph": (
        "hipStreamBeginCapture hipStreamEndCapture hipGraphInstantiate "
        "hipGraphLaunch hipGraphExecDestroy hipGraphDestroy hipGraphCreate "
        "hipGraphAddKernelNode hipGraphAddMemcpyNode hipGraphAddMemsetNode "
        "hipGraphAddHostNode hipGraphAddDependencies hipGraphExecUpdate"
    ),
    "occupancy": (
        "hipModuleOccupancyMaxPotentialBlockSize "
        "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor"
    ),
    "array": (
        "hipMallocArray hipFreeArray hipMemcpy2DToArray hipMemcpy2DFromArray "
        "hipMalloc3DArray hipMemcpy3D"
    ),
    "texture": (
        "hipCreateTextureObject hipDestroyTextureObject hipCreateSurfaceObject "
        "hipDestroySurfaceObject hipCreateChannelDesc"
    ),
    "library": (
        "hipLibraryLoadData hipLibraryLoadFromFile hipLibraryGetKernel "
        "hipLibraryGetGlobal hipLibraryUnload hipKernelGetFunction"
    ),
    "vmm": (
        "hipMemAddressReserve hipMemCreate hipMemMap hipMemSetAccess hipMemUnmap "
        "hipMemRelease hipMemAddressFree hipMemGetAllocationGranularity"
    ),
    "context": (
        "hipCtxCreate hipCtxDestroy hipCtxSetCurrent hipCtxGetCurrent "
        "hipCtxPushCurrent hipCtxPopCurrent hipDevicePrimaryCtxRetain "
        "hipDevicePrimaryCtxRelease"
    ),
    "external": (
        "hipImportExternalMemory hipExternalMemoryGetMappedBuffer "
        "hipDestroyExternalMemory"
    ),
}
ADAPTERS = re.compile(
    r"Pointer|NDBuffer|DeviceArray|CStr|ListOf\w+|PointerTo\w+|Record|Handle"
    r"|FunctionPointer|HipModuleLaunchKernel_extra"
)
# The table of contents of the site; GitHub shows nothing of it.
TOCTREE = ["```{toctree}", ":hidden:", ""]


def head(title: str) -> list[str]:
    """First lines of a page."""
    return [text.banner("<!--", " -->").splitlines()[0], f"# {title}", ""]


def table(titles: list[str], rows: list[list[str]]) -> list[str]:
    """A table in Markdown; a bar inside of a cell would end it."""
    lines = ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
    for row in rows:
        cells = [cell.replace("|", "\\|") for cell in row]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


class Links:
    """From the name of a type to a link to its place on the site."""

    def __init__(self, api: Api) -> None:
        self.places: dict[str, str] = {name: "hip" for name in FUNCTIONS}
        for record in api.all_records():
            self.places[record.name] = "hip"
        for group in (api.enums, api.handles, api.aliases):
            for entry in group:
                self.places[entry.name] = entry.module

    def type(self, name: str) -> str:
        """A link, or the name alone where it is a type of Python."""
        if name == "ListOfFloat":  # only arguments are of this kind
            return "floats"
        if name in self.places:
            return f"{{py:obj}}`~hipadapt.{self.places[name]}.{name}`"
        if ADAPTERS.fullmatch(name):
            return f"{{py:obj}}`~hipadapt.types.{name}`"
        return name

    def c_type(self, ctype: str) -> str:
        """What Python sees of a C type: a link where the name has a page."""
        plain = re.sub(r"\b(const|struct|enum|union)\b|\*", "", ctype).strip()
        if "*" not in ctype and plain in self.places and plain not in POINTERS:
            return self.type(plain)
        return f"`{ctype}`"
