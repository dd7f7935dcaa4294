# SPDX-License-Identifier: MIT
"""What arguments a kernel takes: from its code object, its name, or the user.

A code object of AMD's compiler has a note with MessagePack in it that lists kernels and
their arguments: place, size, and whether one is an address.  The mangled name of a
kernel that is not ``extern "C"`` spells the types out.  The CPU device answers for its
own functions.  Whatever of this is missing or broken is left out; nothing here
fails on odd bytes.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Parameter", "mangled_types", "metadata", "parse_types", "signature"]

_ELF_MAGIC = b"\x7fELF"
_EM_AMDGPU = 224
_PT_NOTE = 4
_SHT_NOTE = 7
_NOTE_METADATA = 32  # NT_AMDGPU_METADATA
_MAX_DEPTH = 32
_MAX_ITEMS = 1 << 20
_MAX_BYTES = 1 << 20  # of the arguments of a kernel

# Letters of _core.Kernel.
ANY, POINTER, RECORD, INTEGER = "?", "p", "r", "n"
SIGNED, UNSIGNED, FLOAT, BOOL = "i", "u", "f", "b"

_KIND_TEXT = {
    ANY: "value",
    POINTER: "pointer",
    RECORD: "struct",
    INTEGER: "integer",
    SIGNED: "signed integer",
    UNSIGNED: "unsigned integer",
    FLOAT: "floating point",
    BOOL: "bool",
}


@dataclass(frozen=True)
class Parameter:
    """One argument of a kernel.

    Attributes
    ----------
    offset : int
        Where it lies in the packed arguments, in bytes.
    size : int
        Its size in bytes.
    kind : str
        ``"?"`` size only, ``"p"`` pointer, ``"r"`` struct, ``"n"`` integer, ``"i"``
        signed and ``"u"`` unsigned integer, ``"f"`` floating point, ``"b"`` bool.
    """

    offset: int
    size: int
    kind: str = ANY

    def __str__(self) -> str:
        """``"floating point, 4 bytes"``."""
        plural = "" if self.size == 1 else "s"
        return f"{_KIND_TEXT[self.kind]}, {self.size} byte{plural}"


# ---- MessagePack ----


class _Broken(Exception):
    """The bytes are no valid metadata."""


class _Reader:
    """Reads what the metadata of code objects is made of."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.left = _MAX_ITEMS

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise _Broken
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, code: str) -> Any:
        return struct.unpack(">" + code, self.take(struct.calcsize(code)))[0]

    def read(self, depth: int = 0) -> Any:
        self.left -= 1
        if depth > _MAX_DEPTH or self.left < 0:
            raise _Broken
        tag = self.number("B")
        if tag < 0x80:
            return tag
        if tag < 0x90:
            return self.mapping(tag & 15, depth)
        if tag < 0xA0:
            return self.array(tag & 15, depth)
        if tag < 0xC0:
            return self.text(tag & 31)
        if tag >= 0xE0:
            return tag - 256
        return self.tagged(tag, depth)

    def tagged(self, tag: int, depth: int) -> Any:
        if tag in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[tag]
        if 0xC4 <= tag <= 0xC6:
            return self.take(self.number("BHI"[tag - 0xC4]))
        if 0xCA <= tag <= 0xD3:
            return self.number("fdBHIQbhiq"[tag - 0xCA])
        if 0xD9 <= tag <= 0xDB:
            return self.text(self.number("BHI"[tag - 0xD9]))
        if tag in (0xDC, 0xDD):
            return self.array(self.number("HI"[tag - 0xDC]), depth)
        if tag in (0xDE, 0xDF):
            return self.mapping(self.number("HI"[tag - 0xDE]), depth)
        raise _Broken  # extensions and the byte that is never used

    def text(self, count: int) -> str:
        return self.take(count).decode("utf-8", "replace")

    def array(self, count: int, depth: int) -> list[Any]:
        if count > len(self.data):
            raise _Broken
        return [self.read(depth + 1) for _ in range(count)]

    def mapping(self, count: int, depth: int) -> dict[Any, Any]:
        if count > len(self.data):
            raise _Broken
        found: dict[Any, Any] = {}
        for _ in range(count):
            key = self.read(depth + 1)
            value = self.read(depth + 1)
            if isinstance(key, str):
                found[key] = value
        return found


# ---- ELF ----


def _notes(data: bytes, start: int, size: int) -> Iterator[bytes]:
    """Metadata notes of a segment or section."""
    end = min(start + size, len(data))
    while start + 12 <= end:
        name_size, desc_size, kind = struct.unpack_from("<III", data, start)
        name_at = start + 12
        desc_at = name_at + (name_size + 3) // 4 * 4
        if desc_at + desc_size > end:
            return
        name = data[name_at : name_at + name_size].rstrip(b"\0")
        if kind == _NOTE_METADATA and name == b"AMDGPU":
            yield data[desc_at : desc_at + desc_size]
        start = desc_at + (desc_size + 3) // 4 * 4


def _note_places(data: bytes) -> Iterator[tuple[int, int]]:
    """Place and size of the notes of a 64-bit little-endian ELF."""
    phoff, shoff = struct.unpack_from("<QQ", data, 32)
    phsize, phcount, shsize, shcount = struct.unpack_from("<HHHH", data, 54)
    for i in range(phcount):
        at = phoff + i * phsize
        if struct.unpack_from("<I", data, at)[0] == _PT_NOTE:
            offset, size = struct.unpack_from("<Q16xQ", data, at + 8)
            yield offset, size
    for i in range(shcount):
        at = shoff + i * shsize
        if struct.unpack_from("<I", data, at + 4)[0] == _SHT_NOTE:
            yield struct.unpack_from("<QQ", data, at + 24)


def _elf_notes(data: bytes) -> Iterator[bytes]:
    if data[:6] != _ELF_MAGIC + b"\x02\x01":
        return
    try:
        if struct.unpack_from("<H", data, 18)[0] != _EM_AMDGPU:
            return
        for start, size in _note_places(data):
            yield from _notes(data, start, size)
    except (struct.error, OverflowError):
        return


def _images(code: bytes) -> Iterator[bytes]:
    """The code objects in a file: itself, or those of a plain bundle."""
    if code[:4] == _ELF_MAGIC:
        yield code
    at = 24
    if code[:24] != b"__CLANG_OFFLOAD_BUNDLE__":
        return
    try:
        (count,) = struct.unpack_from("<Q", code, at)
        at += 8
        for _ in range(min(count, 1024)):
            offset, size, name_size = struct.unpack_from("<QQQ", code, at)
            at += 24 + name_size
            if size > 0:
                yield code[offset : offset + size]
    except (struct.error, OverflowError):
        return


def _kernels(note: bytes) -> Iterator[tuple[str, tuple[Parameter, ...]]]:
    """Names and arguments in the metadata of one code object."""
    try:
        root = _Reader(note).read()
    except (_Broken, struct.error):
        return
    for kernel in _list(_mapping(root).get("amdhsa.kernels")):
        fields = _mapping(kernel)
        name = fields.get(".name")
        found = _arguments(_list(fields.get(".args")))
        if isinstance(name, str) and found is not None:
            yield name, found


def _mapping(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _arguments(items: list[Any]) -> tuple[Parameter, ...] | None:
    """The arguments that a program passes, or None where an entry makes no sense."""
    found: list[Parameter] = []
    for fields in map(_mapping, items):
        kind, size, offset = map(fields.get, (".value_kind", ".size", ".offset"))
        if isinstance(kind, str) and kind.startswith("hidden_"):
            continue
        if not (isinstance(size, int) and isinstance(offset, int)):
            return None
        if not (0 < size <= _MAX_BYTES and 0 <= offset <= _MAX_BYTES):
            return None
        letter = ANY if kind == "by_value" else POINTER
        found.append(Parameter(offset, size, letter if size == 8 else ANY))
    return tuple(found)


def metadata(code: bytes) -> dict[str, tuple[Parameter, ...]]:
    """Arguments of the kernels of AMD code objects, by kernel.

    Parameters
    ----------
    code : bytes
        A code object, or a bundle of code objects; anything else has no kernels.

    Notes
    -----
    The format is that of LLVM's AMDGPU guide, "Code Object V3 Metadata" and later.
    """
    found: dict[str, tuple[Parameter, ...]] = {}
    for image in _images(bytes(code)):
        for note in _elf_notes(image):
            for name, arguments in _kernels(note):
                found.setdefault(name, arguments)
    return found


# ---- mangled names ----

_BUILTIN: dict[str, tuple[str, int]] = {
    "b": (BOOL, 1),
    "c": (SIGNED, 1),
    "a": (SIGNED, 1),
    "h": (UNSIGNED, 1),
    "s": (SIGNED, 2),
    "t": (UNSIGNED, 2),
    "i": (SIGNED, 4),
    "j": (UNSIGNED, 4),
    "l": (SIGNED, 8),
    "m": (UNSIGNED, 8),
    "x": (SIGNED, 8),
    "y": (UNSIGNED, 8),
    "w": (SIGNED, 4),
    "f": (FLOAT, 4),
    "d": (FLOAT, 8),
    "DF16_": (FLOAT, 2),
    "Dh": (FLOAT, 2),
    "Di": (UNSIGNED, 4),
    "Ds": (UNSIGNED, 2),
    "Du": (UNSIGNED, 1),
}
_PLAIN = re.compile(r"_Z(\d+)")
_QUALIFIED = re.compile(r"(?:[VK]|U3AS\d)*")
_POINTER_CODE = re.compile(r"[PRO]")


def mangled_types(name: str) -> list[tuple[str, int]] | None:
    """Kinds and sizes that the mangled name of a plain function begins with.

    Only what is certain is given.  Names of templates and of members of namespaces,
    whose types may refer to each other, give None, and the list ends before the first
    type that is no number.  A pointer to a number counts; what it points to does not.

    Examples
    --------
    >>> mangled_types("_Z5saxpyfPKfPfi")
    [('f', 4), ('p', 8), ('p', 8), ('i', 4)]
    """
    match = _PLAIN.match(name)
    if match is None:
        return None
    rest = name[match.end() + int(match[1]) :]
    if not rest or rest[0] == "I" or rest == "v":
        return None
    found: list[tuple[str, int]] = []
    seen: list[tuple[str, int]] = []  # what S_, S0_, ... stand for
    while rest:
        item, rest, known = _mangled_type(rest, seen)
        if not known:
            break
        found.append(item)
    return found


def _builtin(text: str) -> tuple[tuple[str, int], str] | None:
    for code, item in _BUILTIN.items():
        if text.startswith(code):
            return item, text[len(code) :]
    return None


def _mangled_type(
    text: str, seen: list[tuple[str, int]]
) -> tuple[tuple[str, int], str, bool]:
    """The first type, the rest, and whether it was understood."""
    unknown = ((ANY, 0), "", False)
    if text[0] == "S":
        match = re.match(r"S([0-9A-Z]*)_", text)
        if match is None:
            return unknown
        index = int(match[1], 36) + 1 if match[1] else 0
        if index >= len(seen):
            return unknown
        return seen[index], text[match.end() :], True
    if _POINTER_CODE.match(text):
        inner = text[1:]
        qualified = _QUALIFIED.match(inner)
        assert qualified is not None
        body = inner[qualified.end() :]
        if not body:
            return unknown
        if body[0] == "v":
            rest = body[1:]
        else:
            _, rest, known = _mangled_type(body, seen)
            if not known:
                return unknown
        if qualified[0]:
            seen.append((ANY, 0))
        seen.append((POINTER, 8))
        return (POINTER, 8), rest, True
    found = _builtin(text)
    return unknown if found is None else (found[0], found[1], True)


# ---- what the user says ----

_NAMES: dict[str, tuple[str, int]] = {
    "bool": (BOOL, 1),
    "char": (SIGNED, 1),
    "int": (SIGNED, 4),
    "unsigned": (UNSIGNED, 4),
    "long": (SIGNED, 8),
    "size_t": (UNSIGNED, 8),
    "half": (FLOAT, 2),
    "float": (FLOAT, 4),
    "double": (FLOAT, 8),
    "pointer": (POINTER, 8),
}
_NUMBERED = re.compile(r"(u?int|float)(8|16|32|64)(?:_t)?")
_NUMPY_KINDS = {"b": BOOL, "i": SIGNED, "u": UNSIGNED, "f": FLOAT, "V": RECORD}
_CTYPES_FLOAT = "fdg"


def _named(text: str) -> tuple[str, int] | None:
    if text.endswith("*"):
        return (POINTER, 8)
    match = _NUMBERED.fullmatch(text)
    if match is None:
        return _NAMES.get(text)
    size = int(match[2]) // 8
    kinds = {"int": SIGNED, "uint": UNSIGNED, "float": FLOAT}
    return None if match[0] == "float8" else (kinds[match[1]], size)


def _of_type(given: Any) -> tuple[str, int, int] | None:
    """Kind, size and alignment of a ctypes type, a numpy type or dtype, or a record."""
    import ctypes

    if isinstance(given, type) and hasattr(given, "c_sizeof"):  # our own records
        record: Any = given
        size = int(record.c_sizeof())
        return RECORD, size, min(8, size & -size)
    try:
        size, alignment = ctypes.sizeof(given), ctypes.alignment(given)
    except TypeError:
        return _of_dtype(given)
    code = getattr(given, "_type_", None)
    if isinstance(given, type) and issubclass(given, (ctypes.Structure, ctypes.Union)):
        return RECORD, size, alignment
    if not isinstance(code, str) or code in "PzZO":
        return POINTER, size, alignment
    if code == "?":
        return BOOL, size, alignment
    if code in _CTYPES_FLOAT:
        return FLOAT, size, alignment
    return (SIGNED if given(-1).value < 0 else UNSIGNED), size, alignment


def _of_dtype(given: Any) -> tuple[str, int, int] | None:
    """The same of what numpy takes for a type."""
    if given is None:  # numpy takes it for float64
        return None
    try:
        import numpy as np

        dtype: Any = np.dtype(given)
    except (ImportError, TypeError):
        return None
    kind = _NUMPY_KINDS.get(dtype.kind)
    return None if kind is None else (kind, int(dtype.itemsize), int(dtype.alignment))


def parse_types(types: Iterable[Any]) -> tuple[Parameter, ...]:
    """Arguments that the user describes, laid out as C does.

    Parameters
    ----------
    types : iterable
        Names (``"float"``, ``"int32"``, ``"uint64"``, ``"size_t"``, ``"pointer"``,
        ``"float*"``), ctypes types, numpy types and dtypes, record types of
        `hipadapt.hip`, or `Parameter`.

    Raises
    ------
    TypeError
        One of them is no type.

    Examples
    --------
    >>> [str(p) for p in parse_types(["float*", "int"])]
    ['pointer, 8 bytes', 'signed integer, 4 bytes']
    """
    found: list[Parameter] = []
    end = 0
    for given in types:
        if isinstance(given, Parameter):
            found.append(given)
            end = given.offset + given.size
            continue
        named = _named(given.strip()) if isinstance(given, str) else None
        item = (*named, named[1]) if named is not None else None
        if item is None and not isinstance(given, str):
            item = _of_type(given)
        if item is None:
            raise TypeError(
                f"types: {given!r} is no type of an argument: use a name such as "
                "'float', 'int32' or 'pointer', or a ctypes or numpy type"
            )
        kind, size, alignment = item
        offset = -(-end // alignment) * alignment
        found.append(Parameter(offset, size, kind))
        end = offset + size
    return tuple(found)


# ---- together ----


def signature(
    layout: Sequence[Parameter] | None, name: str
) -> tuple[Parameter, ...] | None:
    """The arguments of a kernel, with the kinds that its mangled name gives.

    Where name and layout disagree about a size, the layout is right and the name is
    that of something else.
    """
    if layout is None:
        return None
    types = mangled_types(name) or []
    if len(types) > len(layout) or any(
        size != item.size for (_, size), item in zip(types, layout, strict=False)
    ):
        return tuple(layout)
    named = [
        replace(item, kind=kind) for (kind, _), item in zip(types, layout, strict=False)
    ]
    return (*named, *layout[len(named) :])
