# SPDX-License-Identifier: MIT
"""Builds the C files of this folder into a folder of their own, with the host's gcc."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

from . import api_stub

HERE = Path(__file__).resolve().parent
CSRC = HERE.parent / "csrc"
LIBRARIES = HERE.parent / "hipadapt" / "_lib"
DEVICE, PROFILER = "libhipadapt_cpu.so", "librocprofiler-sdk.so.1"
OPTIMISED = ("-O3", "-march=native", "-fopenmp")


class BuildError(RuntimeError):
    """There is no compiler, or it refused."""


def build(source: str, target: Path, *flags: str) -> Path:
    """Compile one C file to a shared library."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise BuildError("the measurements need gcc")
    target.parent.mkdir(parents=True, exist_ok=True)
    command = [compiler, *flags, "-shared", "-fPIC", "-o", str(target)]
    done = subprocess.run(
        [*command, str(HERE / source)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise BuildError(f"{' '.join(command)}\n{done.stderr}")
    return target


def build_of_sources(name: str, folder: Path) -> Path:
    """Return a program that is made of the tool library's sources."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise BuildError("the measurements need gcc")
    sources = [
        *sorted((CSRC / "core").glob("*.c")),
        *sorted((CSRC / "tool").rglob("*.c")),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / name
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-fvisibility=hidden"]
    flags += [f"-I{CSRC}", f"-I{CSRC / 'rocprofiler' / 'include'}"]
    flags += [f"-I{CSRC / 'tool' / 'include'}"]
    command = [compiler, *flags, "-o", str(target), str(HERE / f"{name}.c")]
    command += [*map(str, sources), "-ldl", "-lpthread", "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{' '.join(command)}\n{done.stderr}")
    return target


def build_verbose(folder: Path) -> Path:
    """Return launches on the CPU device, linked with the library in use."""
    flags = ("-O2", f"-I{CSRC}", "-Wl,--no-as-needed", str(LIBRARIES / DEVICE))
    return build("verbose.c", folder / "libverbose.so", *flags)


def build_stub(folder: Path) -> Path:
    """Return the stub under the only name that the peer looks for."""
    return build("stub.c", folder / "lib" / "libamdhip64.so", "-O2")


def build_api(folder: Path) -> Path:
    """Return a library that has every function, all of which only return."""
    folder.mkdir(parents=True, exist_ok=True)
    code = folder / "api.c"
    code.write_text(api_stub.source(), encoding="utf-8")
    return build(str(code), folder / "libapi.so", "-O2", f"-I{CSRC}")


def build_floor(folder: Path) -> Path:
    """Return the hand-written extension module."""
    include = sysconfig.get_path("include")
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    return build("floor.c", folder / f"floor{suffix}", "-O3", f"-I{include}")


def build_reference(folder: Path) -> Path:
    """Return the OpenMP loops."""
    return build("reference.c", folder / "libreference.so", *OPTIMISED)


def build_runtime(folder: Path) -> Path:
    """Return small programs on the CPU device, linked with the library in use."""
    flags = ("-O2", f"-I{CSRC}", "-Wl,--no-as-needed", str(LIBRARIES / DEVICE))
    return build("runtime.c", folder / "libruntime.so", *flags)


def build_profiler(folder: Path) -> Path:
    """Return a tool with its program, linked with the libraries in use."""
    import hipadapt

    libraries = [str(LIBRARIES / name) for name in (DEVICE, PROFILER)]
    flags = ["-O2", "-D__HIP_PLATFORM_AMD__=1", f"-I{hipadapt.get_include()}"]
    return build(
        "profiler.c",
        folder / "libprofiler.so",
        *flags,
        "-Wl,--no-as-needed",
        *libraries,
    )
