# SPDX-License-Identifier: MIT
"""A folder that looks like an installation of ROCm and leads to the CPU device.

It lies in this user's cache, where nobody else can write, and is made whole under
another name first, so that programs that start at once see all of it or nothing.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from . import libraries, standin
from .scan import Standins
from .version import version_of

_UNUSED_S = 30 * 24 * 3600  # roots that nobody used for so long are removed
_HALF_MADE_S = 3600
_DIVIDERS = ":;"  # of LD_LIBRARY_PATH
_BUILTINS = (
    "libhiprtc-builtins.so",
    "libhiprtc-builtins.so.6",
    "libhiprtc-builtins.so.7",
)

# CuPy's kernels include this file of rocThrust for three names.  CuPy makes
# __syncwarp() a mere fence on HIP, since the lanes of a wavefront run in step on a GPU;
# here they do not, so its header is kept from doing that.
_THRUST_NAMESPACE = """\
/* SPDX-License-Identifier: MIT */
/* Written by `python -m hipadapt run`, for programs that include this file of rocThrust
 * only; there is no rocThrust. */
#pragma once
#define THRUST_NAMESPACE_BEGIN namespace thrust {
#define THRUST_NAMESPACE_END }
#define THRUST_NS_PREFIX
#define THRUST_NS_POSTFIX
#define THRUST_NS_QUALIFIER ::thrust
/* CuPy's float16 is made of half, which AMD's hiprtc knows without an include. */
#if defined(__HIPCC_RTC__)
#include <hip/hip_fp16.h>
#endif
/* The lanes of a warp do not run in step on the CPU device: CuPy's header must not turn
 * __syncwarp() into a memory fence. */
#define INCLUDE_GUARD_CUPY_HIP_WORKAROUND_H
"""

_HIPCC = """\
#!/bin/sh
# Written by `python -m hipadapt run`.
case "$*" in
"-x hip -E -v /dev/null")
    # CuPy asks for the folders of the headers.
    printf '#include <...> search starts here:\\n %s\\nEnd of search list.\\n' \\
        @INCLUDE@ >&2
    exit 0 ;;
--version)
    printf 'HIP version: %s\\nhipadapt, CPU device\\n' @VERSION@
    exit 0 ;;
esac
exec @PYTHON@ -c @CODE@ "$@"
"""

_HIPCC_CODE = """\
import sys
sys.path[:0] = {paths!r}
from hipadapt._cc.driver import main
sys.exit(main(["-E" if word == "--preprocess" else word for word in sys.argv[1:]]))
"""

_HIPCONFIG = """\
#!/bin/sh
# Written by `python -m hipadapt run`.
show() {
    case "$1" in
    --version|-v) printf '%s' @VERSION@ ;;
    --path|-p|--rocmpath|-R) printf '%s' @ROOT@ ;;
    --platform|-P) printf amd ;;
    --compiler|-c) printf clang ;;
    --runtime|-r) printf rocclr ;;
    --hipclangpath|-l) printf '%s' @ROOT@/bin ;;
    --cpp_config|-C)
        printf ' -D__HIP_PLATFORM_HCC__= -D__HIP_PLATFORM_AMD__= -I%s' @ROOT@/include ;;
    *) printf 'hipconfig: %s: not an option of this hipconfig\\n' "$1" >&2; exit 1 ;;
    esac
}
if [ $# -eq 0 ] || [ "$1" = --full ] || [ "$1" = -f ]; then
    printf 'HIP version  : %s\\nHIP_PATH     : %s\\nHIP_PLATFORM : amd\\n' \\
        @VERSION@ @ROOT@
    printf 'HIP_COMPILER : clang\\nHIP_RUNTIME  : rocclr\\n\\nhipadapt, CPU device\\n'
    exit 0
fi
while [ $# -gt 0 ]; do
    show "$1"
    shift
    [ $# -eq 0 ] || printf '\\n'
done
"""


class RootError(RuntimeError):
    """The folder cannot be made; the text says why and what helps."""


def private_folder(path: Path) -> None:
    """Makes `path` for this user alone; OSError or RootError where that is not so."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise RootError(f"{path} is no folder of this user")
    if found.st_mode & 0o077:
        raise RootError(f"{path} is open to others; chmod 700 {path}")


def _absolute(variable: str) -> str | None:
    """A folder of the environment; a relative one is ignored, as in the C library."""
    value = os.environ.get(variable, "")
    return value if value.startswith("/") else None


def _candidates() -> Iterator[Path]:
    named = os.environ.get("HIPADAPT_CACHE_DIR")
    if named:
        yield Path(named).absolute()
        return
    home = _absolute("HOME")
    cache = _absolute("XDG_CACHE_HOME") or (home and f"{home}/.cache")
    if cache:
        yield Path(cache, "hipadapt")
    yield Path(_absolute("TMPDIR") or "/tmp", f"hipadapt-{os.geteuid()}")


def _overflow_uid() -> int:
    """The owner that a user namespace shows for users that it does not know."""
    try:
        return int(Path("/proc/sys/kernel/overflowuid").read_text())
    except (OSError, ValueError):
        return 65534


def check_place(path: Path) -> None:
    """Raises RootError for a place that programs can't be led to, or not safely.

    The dynamic linker loads what it finds there and looks at no owner.
    """
    text = str(path)
    if any(sign in text for sign in _DIVIDERS) or "$" in text:
        raise RootError(
            f"{text!r} has a colon, a semicolon or a dollar sign, which mean something "
            "else in LD_LIBRARY_PATH"
        )
    for folder in path.parents:
        found = folder.stat()
        if found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX:
            raise RootError(f"everybody can replace what is in {folder}")
        if found.st_uid not in (0, os.geteuid(), _overflow_uid()):
            raise RootError(f"{folder} belongs to another user")


def base_folder() -> Path:
    """The private folder that everything of `run` lies in.

    It is where compiled kernels are kept, too; where that cannot be written, a folder
    of this user below the temporary folder.
    """
    tried: list[str] = []
    for candidate in _candidates():
        try:
            folder = candidate.parent.resolve() / candidate.name
            private_folder(folder)
            check_place(folder)
            private_folder(folder / "run")
            if not os.access(folder / "run", os.W_OK | os.X_OK):
                raise RootError(f"{folder / 'run'} cannot be written")
            return folder / "run"
        except (OSError, RootError) as error:
            tried.append(str(error))
    text = "; ".join(tried)
    raise RootError(
        f"no private folder to work in: {text} (HIPADAPT_CACHE_DIR names one)"
    )


def _hip_version() -> str:
    """Version of HIP that the CPU device says it has."""
    import ctypes

    number = ctypes.c_int()
    library = ctypes.CDLL(str(libraries.LIBRARY))
    tools = os.environ.pop("ROCP_TOOL_LIBRARIES", None)  # the tools are for the program
    try:
        status = library.hipRuntimeGetVersion(ctypes.byref(number))
    finally:
        if tools is not None:
            os.environ["ROCP_TOOL_LIBRARIES"] = tools
    if status != 0:
        raise RootError(f"{libraries.LIBRARY} does not answer hipRuntimeGetVersion")
    value = number.value
    return f"{value // 10**7}.{value // 10**5 % 100}.{value % 10**5}"


def _write(path: Path, text: str, mode: int = 0o600) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(path, "x", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    path.chmod(mode)


def _fill(text: str, **values: str) -> str:
    for name, value in values.items():
        text = text.replace(f"@{name}@", shlex.quote(value))
    return text


def _lay_libraries(folder: Path, standins: Standins, zig: str) -> None:
    folder.mkdir(mode=0o700)
    for name in (*libraries.NAMES, *_BUILTINS):
        (folder / name).symlink_to(libraries.LIBRARY)
    for name, library in libraries.PROFILER.items():
        (folder / name).symlink_to(library)
    for soname, symbols in standins.items():
        standin.build(zig, str(folder), soname, symbols)
    # Names without a number, for dlopen: the newest version.
    for soname in sorted(standins):
        plain = folder / (soname.partition(".so")[0] + ".so")
        if plain.name != soname:
            plain.unlink(missing_ok=True)
            plain.symlink_to(soname)


def _lay_tools(fresh: Path, root: Path, python: str, zig: str) -> None:
    version = _hip_version()
    package = libraries.LIBRARY.parent.parent
    include = fresh / "include"
    include.mkdir(mode=0o700)
    for name in ("hip", "hipadapt"):
        (include / name).symlink_to(package / "include" / name)
    _write(include / "thrust/detail/config/namespace.h", _THRUST_NAMESPACE)
    # The folders of this package and of the compiler's.
    paths = [str(Path(__file__).resolve().parents[2]), str(Path(zig).parents[1])]
    values = {
        "VERSION": version,
        "ROOT": str(root),
        "INCLUDE": str(root / "include"),
        "PYTHON": python,
        "CODE": _HIPCC_CODE.format(paths=paths),
    }
    _write(fresh / "bin/hipcc", _fill(_HIPCC, **values), 0o700)
    _write(fresh / "bin/hipconfig", _fill(_HIPCONFIG, **values), 0o700)
    _write(fresh / ".info/version", f"{version}-0\n")


def _key(standins: Standins, python: str, zig: str) -> str:
    library = libraries.LIBRARY.stat()
    parts = (
        (version_of("root", "standin", "libraries"), python, zig),
        (str(libraries.LIBRARY), library.st_mtime_ns),
        sorted((name, sorted(symbols.items())) for name, symbols in standins.items()),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _tidy(base: Path) -> None:
    now = time.time()
    for entry in base.iterdir():
        limit = _HALF_MADE_S if entry.name.startswith(".new-") else _UNUSED_S
        if entry.name.startswith((".new-", "rocm-")):
            try:
                if now - entry.lstat().st_mtime > limit:
                    shutil.rmtree(entry)
            except OSError:
                pass  # another process was first, or the next start does it


def make(base: Path, standins: Standins, python: str, zig: str) -> Path:
    """The root for these stand-ins below `base`, made if it is not there yet.

    Raises
    ------
    RootError
        It cannot be made.
    """
    try:
        root = base / f"rocm-{_key(standins, python, zig)}"
        if root.is_dir():
            os.utime(root)
            return root
        _tidy(base)
        fresh = base / f".new-{os.getpid()}-{time.monotonic_ns()}"
        fresh.mkdir(mode=0o700)
        try:
            _lay_libraries(fresh / "lib", standins, zig)
            _lay_tools(fresh, root, python, zig)
            try:
                fresh.rename(root)
            except OSError:
                if not root.is_dir():  # else another process was first
                    raise
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
        return root
    except (OSError, RuntimeError) as error:
        raise error if isinstance(error, RootError) else RootError(str(error)) from None
