# SPDX-License-Identifier: MIT
"""What the programs of this folder share: both generations of hip-python's names.

Each program runs with ``--form 7.2`` (``from hip import hip, hiprtc``, records that the
caller brings) and with ``--form 10.0`` (``from rocm.bindings import ...``, records that
are returned). Both resolve to hipadapt after ``hipadapt.install_as_hip()``.
"""

from __future__ import annotations

import argparse
import importlib
from typing import Any, NamedTuple

import hipadapt

PACKAGES = {"7.2": "hip", "10.0": "rocm.bindings"}


class Peer(NamedTuple):
    """The modules under the names of one generation."""

    form: str
    hip: Any
    hiprtc: Any

    def properties(self, device: int = 0) -> Any:
        """The device's properties, in the call form of the generation."""
        if self.form == "10.0":
            return check(self.hip.hipGetDeviceProperties(device))
        properties = self.hip.hipDeviceProp_t()
        check(self.hip.hipGetDeviceProperties(properties, device))
        return properties

    def arch(self) -> bytes:
        """The name of the device's architecture, as --offload-arch wants it."""
        name = self.properties().gcnArchName
        return name if isinstance(name, bytes) else str(name).encode()


def peer() -> Peer:
    """The modules in the generation that the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--form", choices=PACKAGES, default="7.2")
    form = parser.parse_args().form
    hipadapt.install_as_hip()
    package = PACKAGES[form]
    hip = importlib.import_module(f"{package}.hip")
    return Peer(form, hip, importlib.import_module(f"{package}.hiprtc"))


def check(result: tuple[Any, ...]) -> Any:
    """Take the status off the result of a call; raise if it is an error."""
    status, *values = result
    if int(status) != 0:
        raise RuntimeError(f"{status}: {hipadapt.error_text()}")
    return values[0] if len(values) == 1 else tuple(values)


def compile_program(p: Peer, source: bytes, name: bytes, *options: bytes) -> Any:
    """A compiled program; raises with the compiler's log."""
    rtc = p.hiprtc
    program = check(rtc.hiprtcCreateProgram(source, name, 0, [], []))
    words = [b"--offload-arch=" + p.arch(), *options]
    (status,) = rtc.hiprtcCompileProgram(program, len(words), words)
    if status != rtc.hiprtcResult.HIPRTC_SUCCESS:
        log = bytearray(check(rtc.hiprtcGetProgramLogSize(program)))
        check(rtc.hiprtcGetProgramLog(program, log))
        raise RuntimeError(log.decode())
    return program


def load(p: Peer, source: bytes, name: bytes) -> Any:
    """A module of one source, ready for hipModuleGetFunction."""
    program = compile_program(p, source, name)
    code = bytearray(check(p.hiprtc.hiprtcGetCodeSize(program)))
    check(p.hiprtc.hiprtcGetCode(program, code))
    check(p.hiprtc.hiprtcDestroyProgram(program.createRef()))
    return check(p.hip.hipModuleLoadData(code))


def bitcode(p: Peer, source: bytes, name: bytes) -> bytearray:
    """Relocatable device code of one source."""
    program = compile_program(p, source, name, b"-fgpu-rdc")
    made = bytearray(check(p.hiprtc.hiprtcGetBitcodeSize(program)))
    check(p.hiprtc.hiprtcGetBitcode(program, made))
    check(p.hiprtc.hiprtcDestroyProgram(program.createRef()))
    return made


def link(p: Peer, state: Any, parts: dict[bytes, bytes | bytearray]) -> Any:
    """A module of several pieces of bitcode or LLVM IR; ends the link state."""
    kind = p.hiprtc.hiprtcJITInputType.HIPRTC_JIT_INPUT_LLVM_BITCODE
    for name, data in parts.items():
        check(
            p.hiprtc.hiprtcLinkAddData(
                state, kind, data, len(data), name, 0, None, None
            )
        )
    code, _size = check(p.hiprtc.hiprtcLinkComplete(state))
    module = check(p.hip.hipModuleLoadData(code))
    check(p.hiprtc.hiprtcLinkDestroy(state))
    return module


def device_ir(p: Peer, choices: dict[str, str]) -> bytes:
    """The LLVM IR text for the device's architecture."""
    arch = p.arch().decode().split(":")[0]
    if arch not in choices:
        raise SystemExit(f"no LLVM IR for '{arch}', only for {', '.join(choices)}")
    return choices[arch].encode()
