# SPDX-License-Identifier: MIT
"""``hipadapt-cc --check``: does a program compile for AMD's GPUs?

The clang of ziglang makes machine code of the GPU from the device side of the program,
with the same headers as for the CPU device.  Nothing is linked, so functions of AMD's
device library may be missing, and nothing is run.
"""

from __future__ import annotations

from pathlib import Path

from .code_object import wavefront
from .host import INCLUDE, STD, Host, machine

DEFAULT = "gfx942"


def compile_for(
    arch: str, host: Host, source: str, flags: list[str], folder: Path
) -> None:
    """Compiles the device side of `source`; Failed where it has errors.

    `flags` are those of the device pass, for its preprocessor.
    """
    name, *features = arch.split(":")
    folders, macros = host.system
    command = [host.zig, "clang", "-cc1", "-triple", "amdgcn-amd-amdhsa"]
    command += ["-aux-triple", f"{machine()}-unknown-linux-gnu", "-target-cpu", name]
    for feature in features:
        command += ["-target-feature", feature[-1] + feature[:-1]]
    command += ["-x", "hip", "-fcuda-is-device", "-fcuda-allow-variadic-functions"]
    command += [
        "-fdeclspec",
        "-fcxx-exceptions",
        "-fexceptions",
        "-fgnuc-version=4.2.1",
    ]
    command += ["-mcode-object-version=5", "-fvisibility=hidden"]
    command += ["-fapply-global-visibility-to-externs", "-fno-threadsafe-statics"]
    # The device's functions stand for those that the C++ library has as constexpr.
    command += ["-Wno-invalid-constexpr"]
    command += ["-D__HA_PROGRAM__=1", f"-D__HIP_CPU_WARP_SIZE__={wavefront(arch)}"]
    command += [word for macro in macros for word in ("-D", macro)]
    command += ["-include", "hipadapt/device.h", *flags, "-isystem", str(INCLUDE)]
    for place in (str(STD), *folders):
        command += ["-internal-isystem", place]
    made = folder / f"{name}.o"
    host.run([*command, "-O2", "-emit-obj", "-o", str(made), source])
