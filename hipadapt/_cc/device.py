# SPDX-License-Identifier: MIT
"""The device side of ``hipadapt-cc``: kernels of a program to a fat binary.

The program is preprocessed for the device by clang; the rest is the work of the
device's own compiler (hiprtc in libhipadapt_cpu.so), which has the cache, and makes
code for both executors.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import struct
import sys
from functools import cache

from . import stop
from .host import INCLUDE, LIBRARY, STD, Failed, Host, machine, zig
from .work_folder import work_folder

ARCH = "gfx000:cpu"  # HA_ARCH_NAME
TARGET = f"hipv4-{machine()}-hipadapt-linux-gnu--{ARCH}"  # HA_FATBIN_ID
WAVE64 = ":wave64"  # HA_FATBIN_WAVE64
MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
PAGE_BYTES = 4096
MARK_DIGITS = 16
TIMEOUT_S = "600"
INLINE_END = b"\n#pragma clang attribute pop\n"  # hipadapt/inline_begin.h has the start

_is_stopped = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: int(stop.stopped.is_set()))


@cache
def library() -> ctypes.CDLL:
    """The CPU device, whatever provider this process has."""
    if not LIBRARY.is_file():
        raise Failed(f"{LIBRARY} is missing: hipadapt is not built")
    # The usual limit is for kernels that are compiled while a program runs.
    os.environ.setdefault("HIPADAPT_COMPILE_TIMEOUT", TIMEOUT_S)
    loaded = ctypes.CDLL(str(LIBRARY))
    loaded.hiprtcGetErrorString.restype = ctypes.c_char_p
    loaded.hipadaptSetInterruptCheck(_is_stopped)
    loaded.hipadaptSetCompiler(os.fsencode(zig()))
    return loaded


def warp_size() -> int:
    """Lanes of a warp (HIPADAPT_CPU_WARP_SIZE)."""
    from ..hip import hipDeviceAttribute_t

    value = ctypes.c_int()
    which = int(hipDeviceAttribute_t.hipDeviceAttributeWarpSize)
    status = library().hipDeviceGetAttribute(ctypes.byref(value), which, 0)
    if status != 0:
        raise Failed(f"the CPU device does not start (hipError_t {status})")
    return value.value


def preprocess(host: Host, source: str, flags: list[str], plain: bool = False) -> bytes:
    """The program as the device sees it, with the device's functions unless `plain`."""
    folders, macros = host.system
    triple = f"{machine()}-unknown-linux-gnu"
    command = [host.zig, "clang", "-cc1", "-E", "-x", "hip", "-fcuda-is-device"]
    command += ["-triple", "nvptx64-nvidia-cuda", "-aux-triple", triple]
    command += [
        "-fdeclspec",
        "-fcxx-exceptions",
        "-fexceptions",
        "-fgnuc-version=4.2.1",
    ]
    command += ["-D__HA_PROGRAM__=1", f"-D__HIP_CPU_WARP_SIZE__={warp_size()}"]
    command += [word for macro in macros for word in ("-D", macro)]
    headers = ("hipadapt/device.h", "hipadapt/inline_begin.h")
    for header in ("hipadapt/keywords.h",) if plain else headers:
        command += ["-include", header]
    command += flags
    command += ["-isystem", str(INCLUDE)]
    for folder in (str(STD), *folders):
        command += ["-internal-isystem", folder]
    with work_folder() as made:
        text = made / "device.hipi"
        host.run([*command, "-o", str(text), source])
        return b"" if host.dry else text.read_bytes() + (b"" if plain else INLINE_END)


def names_hip(host: Host, source: str, flags: list[str]) -> bool:
    """Whether a source includes HIP's headers; else it has nothing for a device."""
    return b"hipadapt/host.h" in preprocess(host, source, flags, plain=True)


def why(status: int) -> str:
    """What a result of hiprtc means."""
    return (library().hiprtcGetErrorString(status) or b"").decode()


def compile_text(
    text: bytes, name: str, options: list[str], relocatable: bool = False
) -> bytes:
    """The image, or bitcode to be linked.

    Warnings go to standard error, and errors with Failed.
    """
    rtc = library()
    program = ctypes.c_void_p()

    def check(status: int) -> None:
        if status != 0:
            raise Failed(f"{name}: the device pass failed: {why(status)}")

    check(
        rtc.hiprtcCreateProgram(
            ctypes.byref(program), text, os.fsencode(name), 0, None, None
        )
    )
    try:
        words = ["-fhipadapt-program", *options]
        array = (ctypes.c_char_p * len(words))(*map(os.fsencode, words))
        status = rtc.hiprtcCompileProgram(program, len(words), array)
        size = ctypes.c_size_t()
        check(rtc.hiprtcGetProgramLogSize(program, ctypes.byref(size)))
        log = ctypes.create_string_buffer(size.value)
        check(rtc.hiprtcGetProgramLog(program, log))
        message = log.value.decode(errors="replace")
        message += "\n" if message and not message.endswith("\n") else ""
        if status != 0:
            what = f"{name}: the device pass failed"
            raise Failed(what, quiet=bool(message), log=message)
        sys.stderr.write(message)
        kind = "Bitcode" if relocatable else "Code"
        check(rtc[f"hiprtcGet{kind}Size"](program, ctypes.byref(size)))
        code = ctypes.create_string_buffer(size.value)
        check(rtc[f"hiprtcGet{kind}"](program, code))
        return code.raw
    finally:
        rtc.hiprtcDestroyProgram(ctypes.byref(program))


def bundle(image: bytes) -> bytes:
    """The fat binary that csrc/cpu/module/fatbin.h describes, with one image in it."""
    target = TARGET + (WAVE64 if warp_size() == 64 else "")
    names = [f"host-{machine()}-unknown-linux-gnu-".encode(), target.encode()]
    header = len(MAGIC) + 8 + sum(24 + len(name) for name in names)
    begin = (header + PAGE_BYTES - 1) // PAGE_BYTES * PAGE_BYTES
    sizes = [0, len(image)]
    out = MAGIC + struct.pack("<Q", len(names))
    for name, size in zip(names, sizes, strict=True):
        out += struct.pack("<QQQ", begin, size, len(name)) + name
    return out.ljust(begin, b"\0") + image


def fat_binary(
    host: Host, source: str, preprocess_flags: list[str], options: list[str]
) -> bytes:
    """The device code of one source file."""
    text = preprocess(host, source, preprocess_flags)
    return b"" if host.dry else bundle(compile_text(text, source, options))


def bitcode(
    host: Host, source: str, preprocess_flags: list[str], options: list[str]
) -> tuple[bytes, str]:
    """The device code of one source file, to be linked, and the mark of that file.

    The mark is part of the names of what is static in the file; the host pass needs it.
    """
    text = preprocess(host, source, preprocess_flags)
    mark = hashlib.sha256(os.path.abspath(source).encode() + b"\0" + text).hexdigest()
    mark = mark[:MARK_DIGITS]
    if host.dry:
        return b"", mark
    options = ["-fgpu-rdc", f"-cuid={mark}", *options]
    return compile_text(text, source, options, relocatable=True), mark
