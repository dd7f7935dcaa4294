# SPDX-License-Identifier: MIT
"""Device code of several files that is linked into one (``-fgpu-rdc``).

Compiling leaves a file's device code in its object, as bitcode in a section that no
linker takes into a program (SECTION):

    0  magic "HARDC\\0\\0\\1"    8  size    16  bitcode          one for each source

Linking makes one image of all of it, static libraries included, and one more object for
the program.  That defines what clang leaves open in an object with -fgpu-rdc: the fat
binary under the name that each source has for it, and the handle it is registered as.
All names are of one fat binary and one handle, so the program registers it once.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from . import device
from .host import Failed, Host

SECTION = ".llvm.offloading"  # where clang puts what -fembed-offload-object names
MAGIC = b"HARDC\0\0\1"
BINARY = "__hip_fatbin_"
HANDLE = "__hip_gpubin_handle_"
ARCHIVE = b"!<arch>\n"
ARCHIVE_HEADER_BYTES = 60
LOG_BYTES = 1 << 16


@dataclass
class Found:
    """What objects have: bitcode with the name of its file, and names left open."""

    pieces: list[tuple[str, bytes]] = field(default_factory=list)
    binaries: list[str] = field(default_factory=list)
    handles: list[str] = field(default_factory=list)


def pack(bitcode: bytes) -> bytes:
    """The section's contents for one source."""
    whole = MAGIC + struct.pack("<Q", len(bitcode)) + bitcode
    return whole.ljust((len(whole) + 7) // 8 * 8, b"\0")


def unpack(name: str, section: bytes) -> Iterator[bytes]:
    """The bitcode in a section, which linkers may have put together from several."""
    at = 0
    while (at := section.find(MAGIC, at)) >= 0:
        begin = at + len(MAGIC) + 8
        if begin > len(section):
            raise Failed(f"{name}: its device code is cut off")
        (size,) = struct.unpack_from("<Q", section, begin - 8)
        if size > len(section) - begin:
            raise Failed(f"{name}: its device code is cut off")
        yield section[begin : begin + size]
        at = begin + size


def text_at(data: bytes, offset: int) -> str:
    """A name in a table of names."""
    return data[offset : data.index(b"\0", offset)].decode(errors="replace")


def read_object(name: str, data: bytes, found: Found) -> None:
    """Adds what one object has; other files than this machine's objects add nothing."""
    if data[:6] != b"\x7fELF\2\1":
        return
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)
    ]
    for label, kind, _, _, offset, length, link, _, _, entry in sections:
        if kind == 2:  # SHT_SYMTAB
            strings = sections[link][4]
            for at in range(offset, offset + length, entry):
                string, _, _, where = struct.unpack_from("<IBBH", data, at)
                symbol = text_at(data, strings + string) if where == 0 else ""
                if symbol.startswith(BINARY):
                    found.binaries.append(symbol)
                elif symbol.startswith(HANDLE):
                    found.handles.append(symbol)
        elif text_at(data, sections[names_index][4] + label) == SECTION:
            for bitcode in unpack(name, data[offset : offset + length]):
                found.pieces.append((name, bitcode))


def members(path: str) -> Iterator[tuple[str, bytes]]:
    """The objects in a file: itself, or all of a static library."""
    data = Path(path).read_bytes()
    if not data.startswith(ARCHIVE):
        yield path, data
        return
    at = len(ARCHIVE)
    while at + ARCHIVE_HEADER_BYTES <= len(data):
        name = data[at : at + 16].decode(errors="replace").strip()
        size = int(data[at + 48 : at + 58])
        at += ARCHIVE_HEADER_BYTES
        if name not in ("/", "//", "/SYM64/"):  # tables of symbols and names
            yield f"{path}({name.rstrip('/')})", data[at : at + size]
        at += size + size % 2


def static_libraries(flags: list[str]) -> Iterator[str]:
    """Those that -l names, in the folders of -L; a shared one there comes first."""
    folders = [flag[2:] for flag in flags if flag.startswith("-L")]
    for name in (flag[2:] for flag in flags if flag.startswith("-l")):
        for folder in folders:
            if os.path.exists(os.path.join(folder, f"lib{name}.so")):
                break
            path = os.path.join(folder, f"lib{name}.a")
            if os.path.exists(path):
                yield path
                break


def collect(objects: list[str], flags: list[str]) -> Found:
    """What the files of a link have."""
    found = Found()
    for path in dict.fromkeys([*objects, *static_libraries(flags)]):
        try:
            for name, data in members(path):
                read_object(name, data, found)
        except (OSError, ValueError, IndexError, struct.error) as error:
            text = f"{path}: not an object or a static library: {error}"
            raise Failed(text) from None
    return found


def link_code(pieces: list[tuple[str, bytes]], level: str) -> bytes:
    """One image of the bitcode of all sources."""
    from ..hip import hipJitInputType, hipJitOption

    rtc = device.library()
    log = ctypes.create_string_buffer(LOG_BYTES)
    number = int(level[2:]) if level[2:].isdigit() else 3
    options: dict[int, int | None] = {
        int(hipJitOption.hipJitOptionErrorLogBuffer): ctypes.addressof(log),
        int(hipJitOption.hipJitOptionErrorLogBufferSizeBytes): LOG_BYTES,
        int(hipJitOption.hipJitOptionOptimizationLevel): min(number, 3),
    }
    names = (ctypes.c_int * len(options))(*options)
    values = (ctypes.c_void_p * len(options))(*options.values())
    state = ctypes.c_void_p()

    def check(status: int) -> None:
        if status != 0:
            why = log.value.decode(errors="replace") or device.why(status)
            raise Failed(f"linking of the device code failed: {why}")

    check(rtc.hiprtcLinkCreate(len(options), names, values, ctypes.byref(state)))
    try:
        kind = int(hipJitInputType.hipJitInputLLVMBitcode)
        for name, bitcode in pieces:
            size = ctypes.c_size_t(len(bitcode))
            label = os.fsencode(name)
            status = rtc.hiprtcLinkAddData(
                state, kind, bitcode, size, label, 0, None, None
            )
            check(status)
        image, size = ctypes.c_void_p(), ctypes.c_size_t()
        check(rtc.hiprtcLinkComplete(state, ctypes.byref(image), ctypes.byref(size)))
        return ctypes.string_at(image.value or 0, size.value)
    finally:
        rtc.hiprtcLinkDestroy(state)


def definitions(found: Found, fatbin: Path) -> str:
    """Assembly that defines what the objects left open."""
    lines = ['.section .hip_fatbin,"a",%progbits', ".p2align 12"]
    for label in dict.fromkeys(found.binaries):
        lines += [f".globl {label}", f".hidden {label}", f"{label}:"]
    lines += [f'.incbin "{fatbin}"', ".bss", ".p2align 3"]
    for label in dict.fromkeys(found.handles):
        lines += [f".globl {label}", f".hidden {label}", f"{label}:"]
    lines += [".zero 8", '.section .note.GNU-stack,"",%progbits', ""]
    return "\n".join(lines)


def link(
    host: Host, objects: list[str], flags: list[str], level: str, folder: Path
) -> list[str]:
    """The object that a link needs besides `objects`, where they have -fgpu-rdc."""
    found = collect(objects, flags)
    if not found.binaries:
        return []
    fatbin, made = folder / "linked.hipfb", folder / "linked.o"
    fatbin.write_bytes(device.bundle(link_code(found.pieces, level)))
    source = folder / "linked.s"
    source.write_text(definitions(found, fatbin))
    host.run([*host.clang, "-c", "-x", "assembler", "-o", str(made), str(source)])
    return [str(made)]
