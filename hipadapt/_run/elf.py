# SPDX-License-Identifier: MIT
"""What an ELF file asks of other libraries: their names, and the symbols it imports.

Reads programs and shared libraries of this machine's kind (64 bits, little-endian), and
nothing of them but the tables that the dynamic linker reads too.  A file may be cut off
or made up: each offset is checked, and whatever does not fit is `NotElfError`.
"""

from __future__ import annotations

import mmap
import platform
import struct
from collections.abc import Iterator
from typing import NamedTuple

_MACHINES = {"x86_64": 62, "aarch64": 183}
_PT_LOAD, _PT_DYNAMIC = 1, 2
_SHT_DYNSYM = 11
_DT_NEEDED, _DT_HASH, _DT_STRTAB, _DT_SYMTAB = 1, 4, 5, 6
_DT_RPATH, _DT_RUNPATH = 15, 29
_DT_VERSYM, _DT_VERNEED, _DT_VERNEEDNUM = 0x6FFFFFF0, 0x6FFFFFFE, 0x6FFFFFFF
_STB_GLOBAL = 1
_SYMBOL_BYTES = 24
_SYMBOLS_MAX = 1 << 20
_TEXT_MAX = 4096  # bytes of one name


class NotElfError(ValueError):
    """The file is no ELF file that this machine could load, or is damaged."""


class Import(NamedTuple):
    """A symbol that must come from elsewhere."""

    name: str
    version: str  # "" = any
    library: str  # which library has that version; "" = any


class Elf:
    """One file; `data` is its bytes, and must stay."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        self._data = data
        ident = data[:16]
        kind, machine = self._unpack("<HH", 16)
        if ident[:4] != b"\x7fELF" or ident[4:6] != b"\x02\x01":
            raise NotElfError("no ELF file of 64 bits")
        if machine != _MACHINES.get(platform.machine()) or kind not in (2, 3):
            raise NotElfError("no program or library of this machine")
        self._segments: list[tuple[int, int, int]] = []  # address, offset, bytes
        self._tags: list[tuple[int, int]] = []
        self._read_segments()
        self._values = dict(self._tags)
        self.needed = tuple(
            self._text(value) for tag, value in self._tags if tag == _DT_NEEDED
        )
        self.search = tuple(
            folder
            for tag, value in self._tags
            if tag in (_DT_RPATH, _DT_RUNPATH)
            for folder in self._text(value).split(":")
            if folder
        )

    def _unpack(self, form: str, offset: int) -> tuple[int, ...]:
        try:
            return struct.unpack_from(form, self._data, offset)
        except (struct.error, OverflowError):
            raise NotElfError("the file is cut off") from None

    def _read_segments(self) -> None:
        (start,) = self._unpack("<Q", 32)
        size, count = self._unpack("<HH", 54)
        dynamic = None
        for at in range(count):
            kind, _, offset, address, _, length = self._unpack(
                "<IIQQQQ", start + at * size
            )
            if kind == _PT_LOAD:
                self._segments.append((address, offset, length))
            elif kind == _PT_DYNAMIC:
                dynamic = (offset, length)
        if dynamic is None:
            return  # a static program
        for at in range(dynamic[0], dynamic[0] + dynamic[1] - 15, 16):
            tag, value = self._unpack("<qQ", at)
            if tag == 0:
                break
            self._tags.append((tag, value))

    def _offset(self, address: int) -> int:
        for start, offset, length in self._segments:
            if start <= address < start + length:
                return address - start + offset
        raise NotElfError("an address lies outside the file")

    def _text(self, index: int) -> str:
        if _DT_STRTAB not in self._values:
            raise NotElfError("names are missing")
        start = self._offset(self._values[_DT_STRTAB]) + index
        if start >= len(self._data):
            raise NotElfError("a name lies outside the file")
        end = self._data.find(b"\0", start, start + _TEXT_MAX)
        if end < 0:
            raise NotElfError("a name does not end")
        return bytes(self._data[start:end]).decode("utf-8", "surrogateescape")

    def _symbol_count(self) -> int:
        (start,) = self._unpack("<Q", 40)
        size, count = self._unpack("<HH", 58)
        for at in range(count if start else 0):
            (kind,) = self._unpack("<I", start + at * size + 4)
            if kind == _SHT_DYNSYM:
                return self._unpack("<Q", start + at * size + 32)[0] // _SYMBOL_BYTES
        if _DT_HASH in self._values:
            return self._unpack("<II", self._offset(self._values[_DT_HASH]))[1]
        # Linkers put the names behind the symbols.
        gap = self._values.get(_DT_STRTAB, 0) - self._values.get(_DT_SYMTAB, 0)
        return max(gap, 0) // _SYMBOL_BYTES

    def _versions(self) -> dict[int, tuple[str, str]]:
        found: dict[int, tuple[str, str]] = {}
        if _DT_VERNEED not in self._values:
            return found
        at = self._offset(self._values[_DT_VERNEED])
        for _ in range(self._values.get(_DT_VERNEEDNUM, 0)):
            _, count, file, first, following = self._unpack("<HHIII", at)
            library = self._text(file)
            entry = at + first
            for _ in range(count):
                _, _, index, name, step = self._unpack("<IHHII", entry)
                found[index] = (self._text(name), library)
                entry += step
            if following == 0:
                break
            at += following
        return found

    def imports(self) -> Iterator[Import]:
        """Symbols without which the file does not load or run; no weak ones."""
        if _DT_SYMTAB not in self._values:
            return
        count = self._symbol_count()
        if count > _SYMBOLS_MAX:
            raise NotElfError("more symbols than a file can have")
        start = self._offset(self._values[_DT_SYMTAB])
        versions = self._versions()
        has_versions = _DT_VERSYM in self._values and bool(versions)
        table = self._offset(self._values[_DT_VERSYM]) if has_versions else 0
        for at in range(1, count):
            name, info, _, section = self._unpack("<IBBH", start + at * _SYMBOL_BYTES)
            if section != 0 or info >> 4 != _STB_GLOBAL or name == 0:
                continue
            version, library = "", ""
            if has_versions:
                (index,) = self._unpack("<H", table + 2 * at)
                version, library = versions.get(index & 0x7FFF, ("", ""))
            yield Import(self._text(name), version, library)


def needs(path: str) -> tuple[tuple[str, ...], tuple[str, ...], list[Import]]:
    """Library names, folders to search, and imports of the file at `path`.

    Raises
    ------
    NotElfError
        The file is something else.
    OSError
        The file cannot be read.
    """
    with (
        open(path, "rb") as file,
        _mapped(file.fileno()) as data,
    ):
        elf = Elf(data)
        return elf.needed, elf.search, list(elf.imports())


def needed_names(path: str) -> tuple[str, ...]:
    """Only the library names: quick."""
    with open(path, "rb") as file, _mapped(file.fileno()) as data:
        return Elf(data).needed


def _mapped(descriptor: int) -> mmap.mmap:
    try:
        return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    except ValueError:
        raise NotElfError("the file is empty") from None
