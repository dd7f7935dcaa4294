# SPDX-License-Identifier: MIT
"""The hiprtc C ABI of the CPU device through ctypes.

These tests look at the C library alone: NULL pointers, made-up handles and sizes that
no Python wrapper would let through.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SUCCESS = 0
OUT_OF_MEMORY = 1
INVALID_INPUT = 3
INVALID_PROGRAM = 4
INVALID_OPTION = 5
COMPILATION = 6
NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8
NO_LOWERED_NAMES_BEFORE_COMPILATION = 9
NAME_EXPRESSION_NOT_VALID = 10
INTERNAL_ERROR = 11

TRAILER_BYTES = 64

KERNEL = """
extern "C" __global__ void fill(float *out, float value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = value;
}
"""


def library_path() -> Path | None:
    """Where the CPU device's library is, or None if it was not built."""
    named = os.environ.get("HIPADAPT_TEST_CPU_LIBRARY")
    if named:
        return Path(named)
    spec = importlib.util.find_spec("hipadapt")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "_lib" / "libhipadapt_cpu.so"
        if path.is_file():
            return path
    return None


def zig_path() -> str | None:
    spec = importlib.util.find_spec("ziglang")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        return str(Path(folder) / "zig")
    return None


@dataclass
class Compiled:
    """What one hiprtcCompileProgram left behind."""

    result: int
    log: str
    code: bytes = b""
    lowered: dict[str, str | int] = field(default_factory=dict)


def _strings(items: Sequence[str | bytes]) -> ctypes.Array[ctypes.c_char_p]:
    encoded = [item.encode() if isinstance(item, str) else item for item in items]
    return (ctypes.c_char_p * max(1, len(encoded)))(*encoded)


class Rtc:
    """hiprtc, call by call (`c`) or a whole compilation at once (`compile`)."""

    def __init__(self, path: Path) -> None:
        self.c = ctypes.CDLL(str(path))
        self.c.hipadaptGetErrorText.restype = ctypes.c_char_p
        self.c.hiprtcGetErrorString.restype = ctypes.c_char_p
        zig = zig_path()
        self.c.hipadaptSetCompiler(zig.encode() if zig else None)

    def error_text(self) -> str:
        return self.c.hipadaptGetErrorText().decode()

    def create(
        self,
        source: str | bytes,
        name: str | None = "user.hip",
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, ctypes.c_void_p]:
        headers = headers or {}
        program = ctypes.c_void_p()
        result = self.c.hiprtcCreateProgram(
            ctypes.byref(program),
            source.encode() if isinstance(source, str) else source,
            None if name is None else name.encode(),
            len(headers),
            _strings(list(headers.values())),
            _strings(list(headers)),
        )
        return result, program

    def compile_program(
        self, program: ctypes.c_void_p, options: Sequence[str | bytes] = ()
    ) -> int:
        return self.c.hiprtcCompileProgram(program, len(options), _strings(options))

    def log(self, program: ctypes.c_void_p) -> str:
        size = ctypes.c_size_t()
        assert self.c.hiprtcGetProgramLogSize(program, ctypes.byref(size)) == SUCCESS
        log = ctypes.create_string_buffer(size.value)
        assert self.c.hiprtcGetProgramLog(program, log) == SUCCESS
        assert len(log.value) + 1 == size.value
        return log.value.decode()

    def code(self, program: ctypes.c_void_p) -> bytes:
        size = ctypes.c_size_t()
        assert self.c.hiprtcGetCodeSize(program, ctypes.byref(size)) == SUCCESS
        code = ctypes.create_string_buffer(size.value)
        assert self.c.hiprtcGetCode(program, code) == SUCCESS
        return code.raw

    def bitcode(self, program: ctypes.c_void_p) -> bytes:
        size = ctypes.c_size_t()
        assert self.c.hiprtcGetBitcodeSize(program, ctypes.byref(size)) == SUCCESS
        bitcode = ctypes.create_string_buffer(size.value)
        assert self.c.hiprtcGetBitcode(program, bitcode) == SUCCESS
        return bitcode.raw

    def lowered(self, program: ctypes.c_void_p, name: str) -> str | int:
        lowered = ctypes.c_char_p()
        result = self.c.hiprtcGetLoweredName(
            program, name.encode(), ctypes.byref(lowered)
        )
        return (lowered.value or b"").decode() if result == SUCCESS else result

    def destroy(self, program: ctypes.c_void_p) -> int:
        return self.c.hiprtcDestroyProgram(ctypes.byref(program))

    def compile(
        self,
        source: str | bytes = KERNEL,
        options: Sequence[str | bytes] = (),
        *,
        name: str | None = "user.hip",
        headers: Mapping[str, str] | None = None,
        names: Sequence[str] = (),
    ) -> Compiled:
        result, program = self.create(source, name, headers)
        assert result == SUCCESS, self.error_text()
        try:
            for expression in names:
                added = self.c.hiprtcAddNameExpression(program, expression.encode())
                assert added == SUCCESS
            compiled = Compiled(self.compile_program(program, options), "")
            compiled.log = self.log(program)
            if compiled.result == SUCCESS:
                relocatable = "-fgpu-rdc" in options
                take = self.bitcode if relocatable else self.code
                compiled.code = take(program)
                compiled.lowered = {n: self.lowered(program, n) for n in names}
            return compiled
        finally:
            assert self.destroy(program) == SUCCESS
