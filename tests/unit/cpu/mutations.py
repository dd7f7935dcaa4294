# SPDX-License-Identifier: MIT
"""Damages images, fat binaries and bitcode, and gives them to all that takes them.

    python -m tests.unit.cpu.mutations --loads 20000 --links 200 --seed 1

Each damaged piece ends where unreadable memory begins, so a read past its end is a
fault. Answers are errors or success; a crash ends the program.  It runs by itself, since
pytest should outlive it; test_damaged_images.py does that.
"""

from __future__ import annotations

import argparse
import ctypes
import mmap
import os
import platform
import random
import struct
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hipadapt import hip, hiprtc
from hipadapt._run import elf

from .rtc_library import library_path

PAGE = mmap.PAGESIZE
BITCODE = hip.hipJitInputType.hipJitInputLLVMBitcode
BUNDLED = hip.hipJitInputType.hipJitInputLLVMBundledBitcode
HOST_ID = b"host-x86_64-unknown-linux-gnu-"
IR_ID = b"hip-nvptx64-nvidia-cuda--"
KERNEL = """
__device__ int calls = 3;
extern "C" __global__ void fill(float *out, float value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float held[64];
    held[threadIdx.x % 64] = value;
    __syncthreads();
    if (i < n) out[i] = held[(threadIdx.x + 1) % 64] + calls;
}
"""
# Device IR as a program may write it: the linker takes text as well.
TEXT_IR = b"""
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@calls = addrspace(1) global i32 3
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
define float @scale(float %x) {
  %y = fmul float %x, 2.0
  ret float %y
}
define ptx_kernel void @fill(ptr %out, float %value, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %body, label %done
body:
  %wide = zext i32 %i to i64
  %place = getelementptr inbounds float, ptr %out, i64 %wide
  %scaled = call float @scale(float %value)
  store float %scaled, ptr %place, align 4
  switch i32 %i, label %done [ i32 1, label %more
    i32 2, label %more ]
more:
  %old = atomicrmw add ptr addrspace(1) @calls, i32 1 seq_cst
  br label %done
done:
  call void @llvm.nvvm.barrier0()
  ret void
}
"""
ODD = (
    0,
    1,
    2,
    63,
    64,
    65,
    2**31 - 1,
    2**31,
    2**32,
    2**40,
    2**63,
    2**64 - 64,
    2**64 - 1,
)


# ---- pieces ----


def good(result: tuple[Any, ...]) -> Any:
    assert result[0] == 0, result
    return result[1] if len(result) == 2 else result[1:]


def compiled(*options: bytes) -> bytes:
    """The kernel as an image, or as bitcode with -fgpu-rdc."""
    program = good(hiprtc.hiprtcCreateProgram(KERNEL.encode(), b"part.hip", 0, [], []))
    good(hiprtc.hiprtcCompileProgram(program, len(options), list(options)))
    if options:
        made = bytearray(good(hiprtc.hiprtcGetBitcodeSize(program)))
        good(hiprtc.hiprtcGetBitcode(program, made))
    else:
        made = bytearray(good(hiprtc.hiprtcGetCodeSize(program)))
        good(hiprtc.hiprtcGetCode(program, made))
    good(hiprtc.hiprtcDestroyProgram(program.createRef()))
    return bytes(made)


def bundle(*entries: tuple[bytes, bytes]) -> bytes:
    """An offload bundle of (id, bytes)."""
    header = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries))
    at = len(header) + sum(24 + len(name) for name, _ in entries)
    body = b""
    for name, content in entries:
        header += struct.pack("<QQQ", at + len(body), len(content), len(name)) + name
        body += content
    return header + body


def device_id() -> bytes:
    """Id of the CPU device's code in a bundle."""
    arch = str(good(hip.hipGetDeviceProperties(0)).gcnArchName)
    return f"hipv4-{platform.machine()}-hipadapt-linux-gnu--{arch}".encode()


# ---- damage ----


def damaged(piece: bytes, random: random.Random) -> bytes:
    """The piece with one to three things wrong; headers and ends more often."""
    made = bytearray(piece)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        size = len(made)
        if size == 0:
            break
        near = random.choice((64, 128, 256, size))
        at = random.randrange(min(near, size))
        if random.random() < 0.2:
            at = size - 1 - at
        way = random.randrange(8)
        if way == 0:
            made[at] ^= 1 << random.randrange(8)
        elif way == 1:
            made[at] = random.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif way == 2:
            del made[max(size - random.choice((1, 7, 8, 63, 64, 65, at)), 0) :]
        elif way == 3:
            word = at & ~7
            made[word : word + 8] = struct.pack("<Q", random.choice((*ODD, size)))
        elif way == 4:
            del made[at : at + random.choice((1, 4, 8))]
        elif way == 5:
            made[at:at] = random.randbytes(random.choice((1, 4, 8)))
        elif way == 6:
            length = random.choice((2, 16, 64))
            made[at : at + length] = random.randbytes(len(made[at : at + length]))
        else:
            made += random.randbytes(random.choice((1, 8, 4096)))
    return bytes(made)


class Guarded:
    """Room for bytes whose end is the end of readable memory."""

    def __init__(self, room: int) -> None:
        self.room = -(-room // PAGE) * PAGE
        self.map = mmap.mmap(-1, self.room + PAGE)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        libc = ctypes.CDLL(None, use_errno=True)
        protect = libc.mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        assert protect(self.base + self.room, PAGE, 0) == 0

    def put(self, content: bytes) -> int:
        address = self.base + self.room - len(content)
        ctypes.memmove(address, content, len(content))
        return address


def view(address: int, size: int) -> Any:
    return (ctypes.c_char * size).from_address(address)


# ---- entries ----


@dataclass(frozen=True)
class Case:
    """What a way gets: the bytes, where they lie, and a file with them."""

    content: bytes
    address: int
    path: bytes

    @property
    def sized(self) -> Any:
        return view(self.address, len(self.content))


def module_loaded(result: tuple[Any, ...]) -> int:
    if result[0] == 0:
        good(hip.hipModuleUnload(result[1]))
    return int(result[0])


def library_loaded(result: tuple[Any, ...]) -> int:
    if result[0] == 0:
        good(hip.hipLibraryUnload(result[1]))
    return int(result[0])


class Registered:
    """Registration as a compiled program does it, and the first question after it."""

    def __init__(self) -> None:
        self.device = ctypes.CDLL(str(library_path()))
        register = self.device.__getattr__("__hipRegisterFatBinary")
        register.restype = ctypes.c_void_p
        self.register = register
        self.function = self.device.__getattr__("__hipRegisterFunction")
        self.unregister = self.device.__getattr__("__hipUnregisterFatBinary")
        self.host = ctypes.create_string_buffer(8)

    def __call__(self, case: Case) -> int:
        wrapper = ctypes.create_string_buffer(
            struct.pack("<IIQQ", 0x48495046, 1, case.address, 0)
        )
        modules = ctypes.c_void_p(self.register(wrapper))
        none = [None] * 5
        self.function(modules, self.host, b"fill", b"fill", -1, *none)
        attributes = ctypes.create_string_buffer(256)
        status = int(self.device.hipFuncGetAttributes(attributes, self.host))
        self.unregister(modules)
        return status


def add_data(kind: Any, rtc: bool) -> Callable[[Case], int]:
    def add(case: Case) -> int:
        home, prefix = (hiprtc, "hiprtcLink") if rtc else (hip, "hipLink")
        state = good(getattr(home, prefix + "Create")(0, [], []))
        call = getattr(home, prefix + "AddData")
        sized = case.sized
        status = call(state, kind, sized, len(case.content), b"part", 0, [], [])[0]
        good(getattr(home, prefix + "Destroy")(state))
        return int(status)

    return add


def add_file(kind: Any, rtc: bool) -> Callable[[Case], int]:
    def add(case: Case) -> int:
        home, prefix = (hiprtc, "hiprtcLink") if rtc else (hip, "hipLink")
        state = good(getattr(home, prefix + "Create")(0, [], []))
        status = getattr(home, prefix + "AddFile")(state, kind, case.path, 0, [], [])[0]
        good(getattr(home, prefix + "Destroy")(state))
        return int(status)

    return add


def complete(case: Case) -> int:
    """All of linking, and the image loaded where there is one."""
    state = good(hiprtc.hiprtcLinkCreate(0, [], []))
    kind = BUNDLED if case.content[:2] == b"__" else BITCODE
    status = hiprtc.hiprtcLinkAddData(
        state, kind, case.sized, len(case.content), b"part", 0, [], []
    )[0]
    if status == 0:
        status, *image = hiprtc.hiprtcLinkComplete(state)
        if status == 0:
            module_loaded(hip.hipModuleLoadData(image[0]))
    good(hiprtc.hiprtcLinkDestroy(state))
    return int(status)


def program_needs(case: Case) -> int:
    """What `hipadapt run` reads of a program."""
    try:
        elf.needs(os.fsdecode(case.path))
    except (OSError, elf.NotElfError):
        return 1
    return 0


def ways() -> Iterator[tuple[str, Callable[[Case], int], bool]]:
    """Name, call, and whether it reads the file."""
    load = hip.hipModuleLoadData
    yield "hipModuleLoadData", lambda c: module_loaded(load(c.sized)), False
    yield (
        "hipModuleLoadData of an address",
        lambda c: module_loaded(load(c.address)),
        False,
    )
    yield (
        "hipModuleLoadDataEx",
        lambda c: module_loaded(hip.hipModuleLoadDataEx(c.sized, 0, [], [])),
        False,
    )
    yield (
        "hipModuleLoadFatBinary",
        lambda c: module_loaded(hip.hipModuleLoadFatBinary(c.sized)),
        False,
    )
    yield (
        "hipLibraryLoadData",
        lambda c: library_loaded(
            hip.hipLibraryLoadData(c.sized, [], [], 0, [], [], 0)[:2]
        ),
        False,
    )
    yield (
        "hipLibraryLoadData of an address",
        lambda c: library_loaded(
            hip.hipLibraryLoadData(c.address, [], [], 0, [], [], 0)[:2]
        ),
        False,
    )
    yield "__hipRegisterFatBinary", Registered(), False
    yield "hipModuleLoad", lambda c: module_loaded(hip.hipModuleLoad(c.path)), True
    yield (
        "hipLibraryLoadFromFile",
        lambda c: library_loaded(
            hip.hipLibraryLoadFromFile(c.path, [], [], 0, [], [], 0)[:2]
        ),
        True,
    )
    for name, kind in (("bitcode", BITCODE), ("bundle", BUNDLED)):
        for rtc in (True, False):
            prefix = "hiprtcLink" if rtc else "hipLink"
            yield f"{prefix}AddData of {name}", add_data(kind, rtc), False
            yield f"{prefix}AddFile of {name}", add_file(kind, rtc), True
    yield "hipadapt run", program_needs, True


def run(loads: int, links: int, seed: int) -> tuple[Counter[str], Counter[str]]:
    """Returns how often each way was tried, and how often it took what it got."""
    made = random.Random(seed)
    image, bitcode = compiled(), compiled(b"-fgpu-rdc")
    pieces = (
        image,
        bundle((HOST_ID, b""), (device_id(), image)),
        bitcode,
        bundle((IR_ID, bitcode)),
    )
    all_ways = list(ways())
    tried: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        room = Guarded(max(map(len, pieces)) + 4 * 4096)
        path = Path(folder, "piece")

        def one(
            way: str, call: Callable[[Case], int], file: bool, piece: bytes
        ) -> None:
            content = damaged(piece, made)
            if file:
                path.write_bytes(content)
            status = call(Case(content, room.put(content), bytes(path)))
            tried[way] += 1
            taken[way] += status == 0

        for number in range(loads):
            way, call, file = all_ways[number % len(all_ways)]
            fitting = pieces[2:] if "Link" in way else pieces[:2]
            one(way, call, file, made.choice((*fitting, *fitting, *pieces)))
        for _ in range(links):
            piece = made.choice((*pieces[2:], TEXT_IR))
            one("hiprtcLinkComplete", complete, False, piece)
    return tried, taken


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--loads", type=int, default=1000)
    parser.add_argument("--links", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    choices = parser.parse_args()
    tried, taken = run(choices.loads, choices.links, choices.seed)
    for way, count in tried.items():
        print(f"{count:7} {taken[way]:7} {way}")
    print(f"{tried.total():7} {taken.total():7} in all (tried, taken)")


if __name__ == "__main__":
    main()
