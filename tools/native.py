# SPDX-License-Identifier: MIT
"""Compiles and links the C half: what setup.py, `make` and the C tests share.

`python -m tools.native` builds in place, for an editable install that is there
already.  Every C file of a room takes part (see csrc/README.md), so a new file needs no
entry here.  Objects are kept in build/native, one folder a compiler command, and made
anew when the source or a header that it read changes.

Environment switches (never command line options):
  CC                 compiler; else gcc, clang, then the clang of the ziglang package
  HIPADAPT_TARGET    MACHINE-linux-gnu.MAJOR.MINOR: for that machine and its oldest
                     glibc, by the clang of ziglang (tools/target.py)
  HIPADAPT_DEBUG     1: no optimisation
  HIPADAPT_SANITIZE  "address,undefined" or "thread"
  HIPADAPT_STRESS    1: rare events are forced (HA_STRESS)
  HIPADAPT_COVERAGE  1: gcov
  HIPADAPT_WERROR    1: warnings are errors
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools import headers, target
from tools.rooms import PRODUCTS

ROOT = Path(__file__).resolve().parent.parent
CSRC = ROOT / "csrc"
OBJECTS = ROOT / "build" / "native"
EXPORTS = CSRC / "cpu" / "entry" / "generated" / "exports.map"
# What decides how a kernel's code looks, and the one file that is told a hash of it.
IMAGE_SOURCES = ("cpu/compile/*.[ch]", "cpu/machine/*.[ch]", "cpu/base/image.h")
IMAGE_SOURCES_FOR = "cpu/compile/cache_key.c"
TEXT_MAX = 500  # characters of a command in a message
WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wstrict-prototypes",
    "-Wmissing-prototypes",
    "-Werror=implicit-function-declaration",
    "-Wundef",
]


@dataclass(frozen=True)
class Product:
    """One shared object: its rooms and what it needs beyond the common flags."""

    name: str
    rooms: tuple[str, ...]
    compile_flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    link_files: tuple[Path, ...] = ()


def switch(name: str) -> bool:
    """Whether the environment switch is set to something other than 0."""
    return os.environ.get(name, "0") not in ("", "0")


def sources(rooms: tuple[str, ...]) -> list[Path]:
    """All C and assembler files of the rooms, without the device headers."""
    found = [
        path
        for room in rooms
        for path in (CSRC / room).rglob("*")
        if path.suffix in (".c", ".S") and headers.DEVICE not in path.parents
    ]
    return sorted(found)


def compiler() -> list[str]:
    """The command of the C compiler: CC, gcc, clang, or the clang of ziglang."""
    if os.environ.get("CC"):
        return shlex.split(os.environ["CC"]) + target.flags()
    for name in ("gcc", "clang"):
        if shutil.which(name) and target.wanted() is None:
            return [name]
    package = importlib.util.find_spec("ziglang")
    if package is None or package.origin is None:
        sys.exit(
            "hipadapt: no C compiler found (gcc, clang or the ziglang package): "
            "install one, e.g. `apt-get install gcc` or `pip install ziglang==0.15.2`"
        )
    print("hipadapt: compiling with the clang of ziglang", flush=True)
    # zig's own default is a debug build with traps at undefined behaviour.
    zig = Path(package.origin).parent / "zig"
    return [str(zig), "cc", "-fno-sanitize=undefined", *target.flags()]


def refuse_other_systems() -> None:
    """One sentence where nothing could be built that runs."""
    libc = str(sysconfig.get_config_var("SOABI"))
    if not sys.platform.startswith("linux"):
        sys.exit(f"hipadapt: runs on Linux only, not on {sys.platform}")
    if "musl" in libc and target.wanted() is None:
        sys.exit("hipadapt: needs glibc; this Python is built for musl (Alpine)")


def python_include() -> str:
    """The folder of Python.h; without it one line that names the missing package."""
    include = sysconfig.get_path("include")
    if not (Path(include) / "Python.h").is_file():
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        sys.exit(
            f"hipadapt: Python.h not found in {include}: install python{version}-dev "
            "(Debian, Ubuntu; python3-dev for the system's Python) or "
            f"python{version}-devel (Fedora)"
        )
    return include


def extension() -> Product:
    """The product `hipadapt._core`."""
    return Product(
        f"_core{target.extension_suffix()}",
        PRODUCTS["hipadapt._core"],
        # Nothing unwinds through it but debuggers, which read .debug_frame.
        (
            *target.python_headers(python_include(), OBJECTS / "python"),
            "-I",
            str(headers.PROFILER),
            "-fno-asynchronous-unwind-tables",
        ),
        ("-ldl", "-lpthread"),
    )


def device() -> Product:
    """The product `libhipadapt_cpu.so`."""
    # A sanitizer's own symbols come from the preloaded runtime.
    complete = () if os.environ.get("HIPADAPT_SANITIZE") else ("-Wl,-z,defs",)
    return Product(
        "libhipadapt_cpu.so",
        PRODUCTS["libhipadapt_cpu.so"],
        ("-Wconversion", "-DHA_CPU_ENTRIES"),
        (
            # Its own functions are meant, whatever else the process has loaded.
            "-Wl,-Bsymbolic",
            # Lanes call some of it on small stacks, where a first call has no room for
            # the search for its function.
            "-Wl,-z,now",
            "-Wl,-soname,libhipadapt_cpu.so",
            f"-Wl,--version-script={EXPORTS}",
            *complete,
            *DEVICE_LIBRARIES,
        ),
        (EXPORTS,),
    )


def profiler() -> Product:
    """The product `librocprofiler-sdk.so.1`."""
    exports = CSRC / "rocprofiler" / "exports.map"
    return Product(
        "librocprofiler-sdk.so.1",
        PRODUCTS["librocprofiler-sdk.so.1"],
        (
            "-Wconversion",
            "-Drocprofiler_EXPORTS",
            # 130 bytes of each thread, in every traced call.
            "-ftls-model=initial-exec",
            "-I",
            str(headers.PROFILER),
        ),
        (
            "-Wl,-Bsymbolic",
            "-Wl,-soname,librocprofiler-sdk.so.1",
            "-Wl,-z,nodelete",  # its functions stand in tables of others
            f"-Wl,--version-script={exports}",
            "-ldl",
            "-lpthread",
        ),
        (exports,),
    )


def roctx() -> Product:
    """The product `libroctx64.so.4`."""
    exports = CSRC / "roctx" / "exports.map"
    return Product(
        "libroctx64.so.4",
        PRODUCTS["libroctx64.so.4"],
        ("-Wconversion", "-I", str(headers.PROFILER)),
        (
            "-Wl,-Bsymbolic",
            "-Wl,-soname,libroctx64.so.4",
            "-Wl,-z,nodelete",  # a profiler keeps its tables
            f"-Wl,--version-script={exports}",
            "-ldl",
            "-lpthread",
        ),
        (exports,),
    )


def tool() -> Product:
    """The product `libhipadapt_tool.so`."""
    exports = CSRC / "tool" / "exports.map"
    return Product(
        "libhipadapt_tool.so",
        PRODUCTS["libhipadapt_tool.so"],
        ("-Wconversion", "-I", str(headers.PROFILER)),
        (
            "-Wl,-Bsymbolic",
            "-Wl,-soname,libhipadapt_tool.so",
            "-Wl,-z,nodelete",  # profilers keep addresses of its functions
            f"-Wl,--version-script={exports}",
            "-ldl",
            "-lpthread",
        ),
        (exports,),
    )


def roctx_sdk(library: Path) -> Product:
    """The product `librocprofiler-sdk-roctx.so.1`: another name of libroctx64."""
    return Product(
        "librocprofiler-sdk-roctx.so.1",
        (),
        (),
        (
            "-Wl,-soname,librocprofiler-sdk-roctx.so.1",
            "-Wl,-rpath,$ORIGIN",
            "-Wl,--no-as-needed",
            str(library),
        ),
        (library,),
    )


# Stacks are switched without telling the processor's own copy of return addresses
# (csrc/cpu/machine/context.h), so no file may say that it bears one.
NO_SHADOW_STACK = {
    "x86_64": "-fcf-protection=none",
    "aarch64": "-mbranch-protection=none",
}

DEVICE_LIBRARIES = ("-ldl", "-lpthread", "-lm")


def common_flags() -> list[str]:
    """Compiler flags of every product."""
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-fPIC", "-fvisibility=hidden", "-g"]
    flags.append("-O0" if switch("HIPADAPT_DEBUG") else "-O2")
    flags += [*WARNINGS, f"-I{CSRC}"]
    flags += [NO_SHADOW_STACK[m] for m in (target.machine(),) if m in NO_SHADOW_STACK]
    if switch("HIPADAPT_WERROR"):
        flags.append("-Werror")
    if switch("HIPADAPT_STRESS"):
        flags.append("-DHA_STRESS=1")
    return flags + instrumentation()


def instrumentation() -> list[str]:
    """Flags for compiling and linking alike."""
    flags: list[str] = []
    if os.environ.get("HIPADAPT_SANITIZE"):
        flags += [
            "-fsanitize=" + os.environ["HIPADAPT_SANITIZE"],
            "-fno-omit-frame-pointer",
        ]
    if switch("HIPADAPT_COVERAGE"):
        flags.append("--coverage")
    return flags


def run(command: list[str]) -> None:
    """Runs one compiler command; its own messages say what is wrong."""
    # The cache of zig's cc belongs to the build, not to the user's home.
    settings = {"ZIG_GLOBAL_CACHE_DIR": str(OBJECTS / "zig"), **os.environ}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=settings, capture_output=True, text=True
        )
    except OSError as error:
        sys.exit(f"hipadapt: cannot run the C compiler {command[0]!r}: {error}")
    sys.stderr.write(done.stderr)
    sys.stderr.flush()
    if done.returncode != 0:
        text = shlex.join(command)
        text = text if len(text) <= TEXT_MAX else text[:TEXT_MAX] + " ..."
        sys.exit(f"hipadapt: exit status {done.returncode} of: {text}")


def up_to_date(made: Path, depends: Path) -> bool:
    """Whether `made` is newer than every file that the make rule in `depends` names."""
    if not (made.is_file() and depends.is_file()):
        return False
    rule = depends.read_text().replace("\\\n", " ").replace("\\ ", "\0")
    needed = [Path(word.replace("\0", " ")) for word in rule.split(": ", 1)[1].split()]
    return all(path.is_file() and newer(made, path) for path in needed)


def newer(made: Path, source: Path) -> bool:
    """Whether `made` was made after `source` changed."""
    return made.stat().st_mtime_ns > source.stat().st_mtime_ns


def folder_of(name: str, command: list[str]) -> Path:
    """Where the objects of this command are kept."""
    key = hashlib.sha256(shlex.join([*command, name]).encode()).hexdigest()
    folder = OBJECTS / f"{name.split('.')[0]}-{key[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def image_sources() -> str:
    """A hash of what makes kernels' code: the same in every copy of this tree."""
    found = hashlib.sha256()
    for path in sorted(p for glob in IMAGE_SOURCES for p in CSRC.glob(glob)):
        text = path.read_bytes()
        name = path.relative_to(CSRC).as_posix()
        found.update(f"{name} {len(text)}\n".encode() + text)
    return found.hexdigest()


def own_flags(source: Path, folder: Path) -> list[str]:
    """Flags of one file beyond those of its product.

    The hash is in a header, so that a change of it is seen as that of any other.
    """
    if source != CSRC / IMAGE_SOURCES_FOR:
        return []
    header = folder / "image_sources.h"
    text = f'#define HA_IMAGE_SOURCES "{image_sources()}"\n'
    if not header.is_file() or header.read_text() != text:
        fresh = header.with_name(f"{header.name}.{os.getpid()}")
        fresh.write_text(text)
        fresh.replace(header)
    return ["-include", str(header)]


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Other processes that build in this folder wait until the block has ended."""
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def compile_all(
    files: Iterable[Path], folder: Path, command: list[str]
) -> tuple[list[Path], bool]:
    """Compiles what changed; returns all objects, and whether any is new.

    The caller builds alone in this folder.
    """
    jobs: list[list[str]] = []
    outputs: list[Path] = []
    for source in files:
        output = object_of(source, folder)
        depends = output.with_suffix(".d")
        outputs.append(output)
        own = own_flags(source, folder)
        if not up_to_date(output, depends):
            wanted = ["-MMD", "-MF", str(depends), "-c", str(source), "-o", str(output)]
            jobs.append([*command, *own, *wanted])
    if jobs:
        print(f"hipadapt: compiling {len(jobs)} files for {folder.name}", flush=True)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(run, jobs))
    return outputs, bool(jobs)


def object_of(source: Path, folder: Path) -> Path:
    """The object of a source file of this project."""
    return folder / ("_".join(source.relative_to(ROOT).parts) + ".o")


def compile_command(product: Product, command: list[str]) -> list[str]:
    """The command that compiles one file of the product."""
    return [*command, *common_flags(), *product.compile_flags]


def empty_source(folder: Path) -> Path:
    """A C file with nothing in it.

    Without an object file zig doesn't link by itself but runs `ld`, of binutils.
    """
    path = folder / "empty.c"
    if not path.is_file():
        path.write_text("/* nothing */\n", encoding="utf-8")
    return path


def build(product: Product, command: list[str]) -> Path:
    """Compiles what changed, links if anything did, and returns the shared object."""
    compiling = compile_command(product, command)
    folder = folder_of(product.name, compiling)
    with alone(folder):
        return build_in(folder, product, command, compiling)


def build_in(
    folder: Path, product: Product, command: list[str], compiling: list[str]
) -> Path:
    """The same, in the product's folder, in which nobody else builds."""
    files = sources(product.rooms) or [empty_source(folder)]
    outputs, changed = compile_all(files, folder, compiling)
    link = [*command, "-shared", *instrumentation(), *map(str, outputs)]
    link += product.link_flags
    made = folder / product.name
    stamp = folder / "link.txt"
    same = stamp.is_file() and stamp.read_text() == shlex.join(link)
    kept = same and made.is_file()
    kept = kept and all(newer(made, path) for path in product.link_files)
    if changed or not kept:
        stamp.unlink(missing_ok=True)
        run([*link, "-o", str(made)])
        stamp.write_text(shlex.join(link))
    return made


def without_debug_data(made: Path, debug: Path) -> Path:
    """A product as it is given to others, linked anew from the same objects.

    What it lacks goes below the folder `debug`, to where debuggers look for the number
    that both files have.
    """
    link = shlex.split((made.parent / "link.txt").read_text())
    files = (Path(word) for word in link if word.endswith(".o"))
    number = hashlib.sha1(shlex.join(link).encode())
    for path in files:
        number.update(path.read_bytes())
    name = number.hexdigest()
    link.append(f"-Wl,--build-id=0x{name}")
    apart = debug / ".build-id" / name[:2] / f"{name[2:]}.debug"
    apart.parent.mkdir(parents=True, exist_ok=True)
    run([*link, "-o", str(apart)])
    lean = made.parent / "lean" / made.name
    lean.parent.mkdir(exist_ok=True)
    run([*link, "-s", "-o", str(lean)])
    return lean


def build_package(package: Path, debug: Path | None = None) -> list[Path]:
    """Builds every product into the folder of the package; returns the files there.

    With a folder `debug`, their debug data is there and not in them.
    """
    refuse_other_systems()
    command = compiler()
    products = (extension(), device(), profiler(), tool(), roctx())
    with ThreadPoolExecutor() as pool:  # most edits are one file of each
        core, *libraries = pool.map(lambda product: build(product, command), products)
    libraries.append(build(roctx_sdk(libraries[-1]), command))
    if debug is not None:
        core, *libraries = (
            without_debug_data(made, debug) for made in (core, *libraries)
        )
    targets = {core: package / core.name}
    targets |= {library: package / "_lib" / library.name for library in libraries}
    for made, wanted in targets.items():
        if not wanted.is_file() or made.read_bytes() != wanted.read_bytes():
            headers.install(made, wanted)
    return [*targets.values(), *headers.install_all(package / "include")]


if __name__ == "__main__":
    build_package(ROOT / "hipadapt")
