# SPDX-License-Identifier: MIT
"""What must hold for the files of a release."""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.native import ROOT
from tools.release.make import WORK, Failed, run, tool
from tools.release.pythons import Python
from tools.target import Target

WHEEL_MAX_BYTES = 3_000_000
SAME_MIN_BYTES = 256  # files that are smaller may be equal
MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64"}
SYSTEM = re.compile(r"(libc|libm|libdl|libpthread|librt|ld-linux.*)\.so\.\d")
FILES = re.compile(
    r"""hipadapt/(
        [\w/]+\.pyi? | py\.typed | cmake/[\w/-]+\.(cmake|pc)
      | _core\.cpython-3\d+t?-(x86_64|aarch64)-linux-gnu\.so
      | _lib/lib[\w-]+\.so(\.\d)?
      | include/([\w/-]+\.(h|hpp) | hipadapt/(freestanding|std)/\w+)
    ) | hipadapt-[\w.]+\.dist-info/[\w./]+""",
    re.VERBOSE,
)
WANTED = (
    "hipadapt/__main__.py",
    "hipadapt/cmake/toolchain.cmake",
    "hipadapt/cmake/pkgconfig/hipadapt.pc",
    "hipadapt/_lib/libhipadapt_cpu.so",
    "hipadapt/include/hip/hip_runtime.h",
    "hipadapt/py.typed",
)
SDIST_WANTED = ("setup.py", "tools/native.py", "csrc/module/module.c", "LICENSE")


def contents(path: Path) -> dict[str, bytes]:
    """The files of a wheel or a source distribution."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            names = [name for name in wheel.namelist() if not name.endswith("/")]
            return {name: wheel.read(name) for name in names}
    with tarfile.open(path) as archive:
        read = {
            entry.name.split("/", 1)[1]: archive.extractfile(entry)
            for entry in archive
            if entry.isfile()
        }
        return {name: file.read() for name, file in read.items() if file is not None}


def wrong_contents(path: Path, files: dict[str, bytes]) -> Iterator[str]:
    """Files that are too many, missing, or there twice; and paths of this machine."""
    size = path.stat().st_size
    if size > WHEEL_MAX_BYTES:
        yield f"{size} bytes are more than {WHEEL_MAX_BYTES}"
    yield from (f"{name}: not meant to be in it" for name in strangers(files))
    yield from (f"{name} is missing" for name in WANTED if name not in files)
    seen: dict[bytes, str] = {}
    for name, data in files.items():
        if len(data) >= SAME_MIN_BYTES and data in seen:
            yield f"{name} is {seen[data]} again"
        seen[data] = name
        for place in (str(ROOT), str(Path.home()) + "/"):
            if place.encode() in data:
                yield f"{name} names {place} of this machine"


def strangers(files: dict[str, bytes]) -> list[str]:
    """Files of a wheel that no rule expects."""
    return [name for name in files if not FILES.fullmatch(name)]


def wrong_library(data: bytes, target: Target, inside: set[str]) -> Iterator[str]:
    """What is not as it should be in a shared object."""
    from elftools.elf.elffile import ELFFile

    elf: Any = ELFFile(io.BytesIO(data))
    if elf["e_machine"] != MACHINES[target.machine]:
        yield f"it is for {elf['e_machine']}"
    for section in elf.iter_sections():
        if section.name == ".symtab" or section.name.startswith(".debug"):
            yield f"it has {section.name}"
    if elf.get_section_by_name(".note.gnu.build-id") is None:
        yield "it has no number by which its debug data is found"
    for tag in elf.get_section_by_name(".dynamic").iter_tags():
        if tag.entry.d_tag == "DT_NEEDED" and tag.needed not in inside:
            if not SYSTEM.fullmatch(tag.needed):
                yield f"it needs {tag.needed}"
        elif tag.entry.d_tag == "DT_RUNPATH" and tag.runpath != "$ORIGIN":
            yield f"it has the path {tag.runpath}"
        elif tag.entry.d_tag in ("DT_RPATH", "DT_TEXTREL"):
            yield f"it has {tag.entry.d_tag}"


def names_of_python(data: bytes) -> list[str]:
    """The functions and variables that an extension takes from the interpreter."""
    from elftools.elf.elffile import ELFFile

    elf: Any = ELFFile(io.BytesIO(data))
    return [
        symbol.name
        for symbol in elf.get_section_by_name(".dynsym").iter_symbols()
        if symbol["st_shndx"] == "SHN_UNDEF" and re.match("_?Py", symbol.name)
    ]


def wrong_abi(data: bytes, python: Python) -> Iterator[str]:
    """Names that this Python has not."""
    ask = "import ctypes, sys\nprint(*(n for n in sys.argv[1:]"
    ask += " if not hasattr(ctypes.pythonapi, n)))"
    lacking = run([python.path, "-c", ask, *names_of_python(data)]).split()
    yield from (f"CPython {python.version} has no {name}" for name in lacking)


def check_wheel(path: Path, python: Python, target: Target) -> str:
    """Raises Failed with everything that is wrong; else what auditwheel says."""
    files = contents(path)
    wrong = list(wrong_contents(path, files))
    libraries = {name: data for name, data in files.items() if ".so" in name}
    inside = {name.rsplit("/", 1)[1] for name in libraries}
    for name, data in libraries.items():
        wrong += [f"{name}: {text}" for text in wrong_library(data, target, inside)]
        if "/_core." in name:
            wrong += [f"{name}: {text}" for text in wrong_abi(data, python)]
    if wrong:
        raise Failed(f"{path.name}:\n  " + "\n  ".join(wrong))
    tool("twine", "check", "--strict", str(path))
    return tool("auditwheel", "show", str(path)).strip()


def check_sdist(path: Path) -> None:
    """Raises Failed if it lacks something, or has what was built."""
    files = contents(path)
    wrong = [f"{name} is missing" for name in SDIST_WANTED if name not in files]
    wrong += [name for name in files if re.search(r"\.(so|o|py[cod])(\.\d)?$", name)]
    if wrong:
        raise Failed(f"{path.name}: " + ", ".join(wrong))
    tool("twine", "check", "--strict", str(path))


def try_wheel(path: Path, python: Python) -> None:
    """Installs a wheel for this machine and makes a call: no compiler is needed."""
    folder = WORK / "try"
    shutil.rmtree(folder, ignore_errors=True)
    run([python.path, "-m", "venv", str(folder)])
    inside = str(folder / "bin" / "python")
    run([inside, "-m", "pip", "install", "--no-deps", "--no-index", str(path)])
    call = "from hipadapt import hip; print(hip.hipGetDeviceCount()[1])"
    said = run([inside, "-I", "-c", call], folder, HIPADAPT_PROVIDER="cpu", PATH="")
    if said.strip() != "1":
        raise Failed(f"{path.name}: the first call printed {said!r}")


def list_all(paths: list[Path], out: Path) -> str:
    """A line a file, as sha256sum reads them in SHA256SUMS; sizes are only shown."""
    sums = [(hashlib.sha256(p.read_bytes()).hexdigest(), p) for p in sorted(paths)]
    text = "".join(f"{digest}  {path.name}\n" for digest, path in sums)
    (out / "SHA256SUMS").write_text(text)
    return "\n".join(
        f"{p.stat().st_size:>10}  {digest}  {p.name}" for digest, p in sums
    )
