# SPDX-License-Identifier: MIT
"""``python -m hipadapt compile --arch gfx942``: kernels to AMD code objects.

The clang and the linker of the ziglang package make them, with the device headers of
this package; ROCm is not needed.  Functions of AMD's device library
(``__ocml_sin_f32``) are taken from its bitcode where that is installed, else a kernel
that needs one is refused.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from .._child import dies_with_us
from .host import INCLUDE, Failed, zig
from .work_folder import work_folder

ARCH = re.compile(r"gfx(\d+)([0-9a-f])([0-9a-f])((?::[a-z]+[+-])*)\Z")
# Where Debian and ROCm put the device library; ROCM_PATH comes first.
LIBRARY_FOLDERS = (
    "/opt/rocm/amdgcn/bitcode",
    "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
    "/usr/lib/aarch64-linux-gnu/amdgcn/bitcode",
    "/usr/amdgcn/bitcode",
)
WHAT_NEEDS = {
    "__ha_print": "printf",
    "__ockl_grid_sync": "barriers of the grid",
    "__ockl_grid_is_valid": "cooperative groups of the grid",
    "malloc": "malloc",
    "free": "free",
}


def is_amd(arch: str) -> bool:
    """Whether the name is that of an AMD GPU: gfx90a, gfx942, gfx1100 ..."""
    match = ARCH.match(arch)
    return match is not None and 7 <= int(match[1]) <= 12


def wavefront(arch: str) -> int:
    """Lanes of a warp: 64 up to gfx9, then 32."""
    match = ARCH.match(arch)
    assert match is not None
    return 64 if int(match[1]) < 10 else 32


def library_folder() -> Path | None:
    """The bitcode of AMD's device library, or None."""
    root = os.environ.get("ROCM_PATH") or os.environ.get("ROCM_HOME")
    places = [f"{root}/amdgcn/bitcode"] if root else []
    for place in [*places, *LIBRARY_FOLDERS]:
        if (Path(place) / "ocml.bc").is_file():
            return Path(place)
    return None


def library_flags(arch: str, fast: bool) -> list[str]:
    """Links what the kernel needs of AMD's device library; nothing if there is none."""
    folder = library_folder()
    if folder is None:
        return []

    def switch(name: str, on: bool) -> str:
        return f"oclc_{name}_{'on' if on else 'off'}.bc"

    version = arch.split(":")[0][3:]
    names = [
        "ocml.bc",
        "ockl.bc",
        switch("wavefrontsize64", wavefront(arch) == 64),
        switch("finite_only", fast),
        switch("unsafe_math", fast),
        switch("daz_opt", False),
        switch("correctly_rounded_sqrt", True),
        f"oclc_isa_version_{version}.bc",
        "oclc_abi_version_500.bc",
    ]
    missing = [name for name in names[:-1] if not (folder / name).is_file()]
    if missing:
        # Debian's older package lacks newer GPUs: none is better than a wrong one.
        return []
    present = [str(folder / name) for name in names if (folder / name).is_file()]
    return [word for path in present for word in ("-mlink-builtin-bitcode", path)]


def run(command: list[str]) -> str:
    """One step; its messages.  Errors of the source go to the user as they are."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        preexec_fn=dies_with_us(),
    )
    if done.returncode != 0:
        raise Failed(explain(done.stderr))
    return done.stderr


def explain(messages: str) -> str:
    """The linker's complaint about missing functions in our words, or the messages."""
    names = sorted(
        set(re.findall(r"undefined (?:hidden |protected )?symbol: (\S+)", messages))
    )
    if not names:
        return messages.rstrip()
    needed = ", ".join(
        f"{name} (of {WHAT_NEEDS[name]})" if name in WHAT_NEEDS else name
        for name in names
    )
    advice = (
        "AMD's device library is not installed (Debian: rocm-device-libs)"
        if library_folder() is None
        else f"{library_folder()} lacks them, or has no files for this GPU"
    )
    return f"the kernels need functions that are not there: {needed}; {advice}"


def compile_source(source: Path, arch: str, options: list[str]) -> bytes:
    """The code object; Failed if there is none.

    Parameters
    ----------
    source
        The file.
    arch
        Such as gfx942, or gfx90a:xnack-.
    options
        -D, -I, -std=, -O, -W, -f options of clang.
    """
    tool = str(zig())
    name, *features = arch.split(":")
    target: list[str] = []
    for feature in features:
        target += ["-target-feature", feature[-1] + feature[:-1]]
    level = next((o for o in reversed(options) if o.startswith("-O")), "-O3")
    rest = [o for o in options if not o.startswith("-O")]
    if not any(o.startswith("-std=") for o in rest):
        rest.append("-std=gnu++17")
    with work_folder() as folder:
        made, linked = folder / "kernels.o", folder / "kernels.hsaco"
        command = [tool, "clang", "-cc1", "-triple", "amdgcn-amd-amdhsa"]
        command += ["-aux-triple", "x86_64-unknown-linux-gnu", "-target-cpu", name]
        command += [*target, "-x", "hip", "-fcuda-is-device", "-fdeclspec", "-fno-rtti"]
        command += ["-fcuda-allow-variadic-functions", "-mcode-object-version=5"]
        command += ["-fvisibility=hidden", "-fapply-global-visibility-to-externs"]
        command += ["-fno-threadsafe-statics", "-ffp-contract=fast-honor-pragmas"]
        # LLVM 20 would lose stores (csrc/cpu/compile/toolchain_flags.h).
        command += ["-mllvm", "-max-dependences=1"]
        command += ["-nostdsysteminc", "-nobuiltininc"]
        command += [f"-D__HIP_CPU_WARP_SIZE__={wavefront(arch)}", level, *rest]
        command += ["-include", "hip/hip_runtime.h"]
        command += [f"-I{INCLUDE / 'hipadapt' / 'freestanding'}", f"-I{INCLUDE}"]
        command += library_flags(arch, "-ffast-math" in rest)
        sys.stderr.write(run([*command, "-emit-obj", "-o", str(made), str(source)]))
        link = [
            tool,
            "ld.lld",
            "-shared",
            "--no-undefined",
            "-o",
            str(linked),
            str(made),
        ]
        run(link)
        return linked.read_bytes()
