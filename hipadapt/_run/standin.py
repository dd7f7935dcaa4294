# SPDX-License-Identifier: MIT
"""Stand-ins for ROCm's libraries that the CPU device does not have.

A program that links rocBLAS starts only where every symbol that it imports from there
is present.  A stand-in has these symbols, and each answers with the status by which
that library itself says that something is not supported.  Nothing is computed, and
nothing claims to have been.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_SONAME = re.compile(r"lib([A-Za-z0-9_+-]+)\.so((?:\.[0-9]+)*)")
_C_NAME = re.compile(r"(?!_Z)[A-Za-z_][A-Za-z0-9_]*")
_COMPILE_LIMIT_S = 120


class Library(NamedTuple):
    """What is known about one library."""

    name: str
    prefixes: tuple[str, ...]
    status: str  # the name of the answer
    value: int
    texts: tuple[str, ...] = ()  # functions that return text
    numbers: tuple[tuple[str, int], ...] = ()  # functions that return no status
    version: str = ""  # symbol version, where a program asks for none


_HIPSPARSE_GETTERS = (
    "hipsparseGetMatDiagType",
    "hipsparseGetMatFillMode",
    "hipsparseGetMatIndexBase",
    "hipsparseGetMatType",
)

# rocFFT, rocRAND and RCCL have no code for "not supported": the nearest that they have.
LIBRARIES = (
    Library(
        "hipblas",
        ("hipblas",),
        "HIPBLAS_STATUS_NOT_SUPPORTED",
        7,
        ("hipblasStatusToString",),
    ),
    Library("hipblaslt", ("hipblasLt",), "HIPBLAS_STATUS_NOT_SUPPORTED", 7),
    Library(
        "rocblas",
        ("rocblas_",),
        "rocblas_status_not_implemented",
        2,
        ("rocblas_status_to_string",),
    ),
    Library("hipfft", ("hipfft",), "HIPFFT_NOT_SUPPORTED", 16),
    Library("rocfft", ("rocfft_",), "rocfft_status_failure", 1),
    Library("hiprand", ("hiprand",), "HIPRAND_STATUS_NOT_IMPLEMENTED", 1000),
    Library("rocrand", ("rocrand_",), "ROCRAND_STATUS_INTERNAL_ERROR", 108),
    Library(
        "hipsparse",
        ("hipsparse",),
        "HIPSPARSE_STATUS_NOT_SUPPORTED",
        10,
        ("hipsparseGetErrorName", "hipsparseGetErrorString"),
        tuple((name, 0) for name in _HIPSPARSE_GETTERS),
    ),
    Library("hipsparselt", ("hipsparseLt",), "HIPSPARSE_STATUS_NOT_SUPPORTED", 10),
    Library(
        "rocsparse",
        ("rocsparse_",),
        "rocsparse_status_not_implemented",
        2,
        ("rocsparse_get_status_name", "rocsparse_get_status_description"),
    ),
    Library("hipsolver", ("hipsolver",), "HIPSOLVER_STATUS_NOT_SUPPORTED", 7),
    Library("rocsolver", ("rocsolver_",), "rocblas_status_not_implemented", 2),
    Library(
        "hiptensor",
        ("hiptensor",),
        "HIPTENSOR_STATUS_NOT_SUPPORTED",
        15,
        ("hiptensorGetErrorString",),
    ),
    Library(
        "rccl",
        ("nccl", "pnccl", "rccl"),
        "ncclInvalidUsage",
        5,
        ("ncclGetErrorString", "ncclGetLastError", "pncclGetErrorString"),
    ),
    Library(
        "MIOpen",
        ("miopen",),
        "miopenStatusNotImplemented",
        6,
        ("miopenGetErrorString",),
    ),
    Library("rocm_smi64", ("rsmi_",), "RSMI_STATUS_NOT_SUPPORTED", 2),
    Library("amd_smi", ("amdsmi_",), "AMDSMI_STATUS_NOT_SUPPORTED", 2),
    Library(
        "roctracer64",
        ("roctracer_",),
        "ROCTRACER_STATUS_ERROR",
        -1,
        ("roctracer_error_string", "roctracer_op_string"),
        # Both return nothing: they pause a tracer, and there is none.
        (
            ("roctracer_start", 0),
            ("roctracer_stop", 0),
            ("roctracer_version_major", 4),
            ("roctracer_version_minor", 1),
        ),
        "ROCTRACER_4.0",
    ),
)
_BY_NAME = {library.name: library for library in LIBRARIES}
# The longest first: hipblasLt is no hipblas.
_PREFIXES = sorted(
    ((prefix, library) for library in LIBRARIES for prefix in library.prefixes),
    key=lambda row: -len(row[0]),
)

# Truthful answers that programs need before they ask for anything else: CuPy shows
# version 0 as unknown.
_ANSWERS = {
    "ncclGetVersion": "int {name}(int *version)\n"
    "{{ if (version == 0) return 4; *version = 0; return 0; }}",
}

_HEAD = """\
extern char *secure_getenv(const char *);
extern int dprintf(int, const char *, ...);
static int reported;
static __attribute__((noinline)) void report(const char *function, const char *status)
{
    const char *level = secure_getenv("HIPADAPT_LOG");
    int notes = level != 0 && level[0] >= '2' && level[0] <= '9';
    int silent = level != 0 && level[0] == '0' && level[1] == 0;
    int first = __atomic_exchange_n(&reported, 1, __ATOMIC_RELAXED) == 0;
    if (notes || (first && !silent))
        dprintf(2, "hipadapt: %s: there is no @SONAME@ on the CPU device; a stand-in "
                   "answers %s\\n", function, status);
}
"""


def library_of(soname: str) -> Library | None:
    """The library that this file name belongs to, if we have a stand-in for it."""
    match = _SONAME.fullmatch(soname)
    return _BY_NAME.get(match[1]) if match else None


def library_of_symbol(symbol: str) -> Library | None:
    """The library whose functions begin like this symbol."""
    for prefix, library in _PREFIXES:
        if symbol.startswith(prefix):
            return library
    return None


def _literal(text: str) -> str:
    return json.dumps(text)  # the escapes of JSON are C's


def _function(library: Library, name: str) -> str:
    shown = f"report({_literal(name)}, {_literal(library.status)});"
    if name in _ANSWERS:
        return _ANSWERS[name].format(name=name)
    if name in library.texts:
        return (
            f"const char *{name}(void) "
            '{ return "not supported by the CPU device of hipadapt"; }'
        )
    number = dict(library.numbers).get(name)
    if number is not None:
        return f"int {name}(void) {{ return {number}; }}"
    return f"int {name}(void) {{ {shown} return {library.value}; }}"


def source(soname: str, symbols: Iterable[str]) -> tuple[str, list[str]]:
    """The C text of a stand-in, and the names of all functions in it.

    Names of C++ are left out: their functions return no status.
    """
    library = library_of(soname)
    if library is None:
        raise ValueError(f"{soname} has no stand-in")
    names = sorted(name for name in symbols if _C_NAME.fullmatch(name))
    # Functions of another library are here where that library is not loaded.
    head = _HEAD.replace("@SONAME@", soname)
    lines = [_function(library_of_symbol(name) or library, name) for name in names]
    return "\n".join([head, *lines, ""]), names


def version_script(
    soname: str, names: Iterable[str], symbols: Mapping[str, str]
) -> str:
    """Which function has which symbol version; `symbols` has what was asked for."""
    library = library_of(soname)
    usual = library.version if library is not None else ""
    nodes: dict[str, list[str]] = {}
    for name in names:
        nodes.setdefault(symbols.get(name) or usual, []).append(name)
    loose = nodes.pop("", [])
    if not nodes:
        inside = f"global: {'; '.join(loose)}; " if loose else ""
        return f"{{ {inside}local: *; }};\n"
    # A file with versions has no place for names without: they join the first.
    first = next(iter(sorted(nodes)))
    nodes[first] += loose
    text, before = "", ""
    for version in sorted(nodes):
        hidden = "" if before else " local: *;"
        text += (
            f"{version} {{ global: {'; '.join(nodes[version])};{hidden} }} {before};\n"
        )
        before = version
    return text


def build(zig: str, folder: str, soname: str, symbols: Mapping[str, str]) -> None:
    """Compiles the stand-in `soname` into `folder`, where no other file has its name.

    Raises
    ------
    RuntimeError
        With the compiler's message.
    """
    text, names = source(soname, symbols)
    target = os.path.join(folder, soname)
    script, object_ = f"{target}.map", f"{target}.o"
    with open(script, "w") as file:
        file.write(version_script(soname, names, symbols))
    _run([zig, "clang", "-x", "c", "-O1", "-fPIC", "-fvisibility=default", "-nostdinc",
          "-ffreestanding", "-c", "-o", object_, "-"], text)  # fmt: skip
    _run([zig, "ld.lld", "-shared", "-z", "now", f"-soname={soname}",
          f"--version-script={script}", "-o", target, object_], "")  # fmt: skip
    os.unlink(script)
    os.unlink(object_)


def _run(command: list[str], text: str) -> None:
    import subprocess

    from .._child import dies_with_us

    try:
        done = subprocess.run(
            command,
            input=text.encode(),
            capture_output=True,
            env={},
            timeout=_COMPILE_LIMIT_S,
            check=False,
            preexec_fn=dies_with_us(),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RuntimeError(f"a stand-in cannot be compiled: {error}") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise RuntimeError(f"a stand-in cannot be compiled: {said}")
