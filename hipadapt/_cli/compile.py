# SPDX-License-Identifier: MIT
"""``python -m hipadapt compile``: kernels in files to code of the device."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

SUFFIX = ".hsaco"


def options_of(choices: argparse.Namespace) -> list[str]:
    """The compiler's options for what the command line says."""
    options = [f"-D{word}" for word in choices.define]
    options += [f"-I{folder}" for folder in choices.include]
    if choices.std:
        options.append(f"-std={choices.std}")
    return options + list(choices.option)


def target_of(source: Path, choices: argparse.Namespace) -> Path:
    """Where the code of a file goes."""
    if choices.output is None:
        return source.with_suffix(SUFFIX)
    output: Path = choices.output
    return output / (source.stem + SUFFIX) if output.is_dir() else output


def write(target: Path, code: bytes) -> None:
    """Writes a new file and puts it in place at once."""
    new = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        new.write_bytes(code)
        os.replace(new, target)
    finally:
        new.unlink(missing_ok=True)


def complain(text: object) -> None:
    """One message on stderr."""
    print(f"hipadapt compile: {text}", file=sys.stderr)


def compile_file(source: Path, choices: argparse.Namespace) -> bool:
    """Compiles one file; False if it has errors."""
    from .. import Program
    from ..errors import HiprtcError

    start = time.monotonic()
    program = Program(
        source.read_bytes(),
        options_of(choices),
        name=str(source),
        name_expressions=choices.name_expression,
    )
    try:
        module = program.compile()
    except HiprtcError as error:
        print(error.log or error, file=sys.stderr)
        return False
    if program.log:
        print(program.log, file=sys.stderr)
    target = target_of(source, choices)
    write(target, module.code)
    took = time.monotonic() - start
    print(f"{source} -> {target} ({len(module.code)} bytes, {took:.2f} s)")
    for expression, lowered in module.lowered_names.items():
        print(f"    {expression} = {lowered}")
    return True


def compile_for_amd(source: Path, choices: argparse.Namespace) -> bool:
    """Compiles one file to a code object of an AMD GPU; False if it has errors."""
    from .._cc.code_object import compile_source
    from .._cc.host import Failed

    start = time.monotonic()
    try:
        code = compile_source(source, choices.arch, options_of(choices))
    except Failed as failure:
        print(failure, file=sys.stderr)
        return False
    target = target_of(source, choices)
    write(target, code)
    took = time.monotonic() - start
    print(f"{source} -> {target} ({choices.arch}, {len(code)} bytes, {took:.2f} s)")
    return True


def way_of(choices: argparse.Namespace) -> Callable[[Path, argparse.Namespace], bool]:
    """The function for the wanted architecture; ValueError if there is none."""
    from .. import Device
    from .._cc.code_object import is_amd

    wanted = choices.arch
    arch = Device().arch
    if wanted in (None, arch, arch.split(":")[0]):
        return compile_file
    if not is_amd(wanted):
        raise ValueError(
            f"the device here is '{arch}'; code for '{wanted}' can't be made"
        )
    if choices.name_expression:
        raise ValueError(f"--name-expression: only for the device here, '{arch}'")
    return compile_for_amd


def main(choices: argparse.Namespace) -> int:
    """Exit status 1 where a file has errors, 2 where the request makes no sense."""
    from ..errors import HipError

    files: list[Path] = choices.files
    output: Path | None = choices.output
    if output is not None and len(files) > 1 and not output.is_dir():
        complain(f"several files, but '{output}' is no folder")
        return 2
    try:
        compile_one = way_of(choices)
        good = True
        for number, source in enumerate(files, 1):
            if len(files) > 1:
                print(f"[{number}/{len(files)}] ", end="", flush=True)
            good = compile_one(source, choices) and good
    except OSError as error:
        complain(f"{error.filename or ''}: {error.strerror or error}")
        return 2
    except (HipError, RuntimeError, ValueError) as error:
        complain(error)
        return 2
    return 0 if good else 1
