# SPDX-License-Identifier: MIT
"""The device side of ``hipadapt-cc``: kernels of a program to a fat binary.

The program is preprocessed for the device by clang; the rest is the work of the
device's own compiler (hiprtc in libhipadapt_cpu.so), which has the cache, and makes
code for both executors.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import tempfile
from functools import cache
from pathlib import Path

from ._cc_host import INCLUDE, LIBRARY, Failed, Host, machine

ARCH = "gfx000:cpu"  # HA_ARCH_NAME
TARGET = f"hipv4-{machine()}-hipadapt-linux-gnu--{ARCH}"  # HA_FATBIN_ID
WAVE64 = ":wave64"  # HA_FATBIN_WAVE64
MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
PAGE_BYTES = 4096
INLINE_END = b"\n#pragma clang attribute pop\n"  # hipadapt/inline_begin.h has the start


@cache
def _library() -> ctypes.CDLL:
    """The CPU device, whatever provider this process has."""
    from . import _cc_host

    if not LIBRARY.is_file():
        raise Failed(f"{LIBRARY} is missing: hipadapt is not built")
    loaded = ctypes.CDLL(str(LIBRARY))
    loaded.hiprtcGetErrorString.restype = ctypes.c_char_p
    loaded.hipadaptSetCompiler(os.fsencode(_cc_host.zig()))
    return loaded


def warp_size() -> int:
    """Lanes of a warp (HIPADAPT_CPU_WARP_SIZE)."""
    from .hip import hipDeviceAttribute_t

    value = ctypes.c_int()
    which = int(hipDeviceAttribute_t.hipDeviceAttributeWarpSize)
    status = _library().hipDeviceGetAttribute(ctypes.byref(value), which, 0)
    if status != 0:
        raise Failed(f"the CPU device does not start (hipError_t {status})")
    return value.value


def preprocess(host: Host, source: str, flags: list[str]) -> bytes:
    """The program as the device sees it."""
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
    command += ["-include", "hip/hip_runtime.h", "-include", "hipadapt/inline_begin.h"]
    command += flags
    command += ["-isystem", str(INCLUDE)]
    for folder in folders:
        command += ["-internal-isystem", folder]
    with tempfile.TemporaryDirectory(prefix="hipadapt-cc-") as folder:
        text = Path(folder) / "device.hipi"
        host.run([*command, "-o", str(text), source])
        return b"" if host.dry else text.read_bytes() + INLINE_END


def compile_text(text: bytes, name: str, options: list[str]) -> bytes:
    """The image; warnings go to standard error, and errors with Failed."""
    rtc = _library()
    program = ctypes.c_void_p()

    def check(status: int) -> None:
        if status != 0:
            why = (rtc.hiprtcGetErrorString(status) or b"").decode()
            raise Failed(f"{name}: the device pass failed: {why}")

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
        if message:
            sys.stderr.write(message if message.endswith("\n") else message + "\n")
        if status != 0:
            raise Failed(f"{name}: the device pass failed", quiet=bool(message))
        check(rtc.hiprtcGetCodeSize(program, ctypes.byref(size)))
        code = ctypes.create_string_buffer(size.value)
        check(rtc.hiprtcGetCode(program, code))
        return code.raw
    finally:
        rtc.hiprtcDestroyProgram(ctypes.byref(program))


def bundle(image: bytes) -> bytes:
    """The fat binary that csrc/cpu/fatbin.h describes, with one image in it."""
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
