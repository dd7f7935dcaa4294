# SPDX-License-Identifier: MIT
"""``python -m hipadapt compile``: kernels in files to code of the device."""

from __future__ import annotations

import argparse
import os
import sys
import time
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
    from . import Program
    from .errors import HiprtcError

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


def main(choices: argparse.Namespace) -> int:
    """Exit status 1 where a file has errors, 2 where the request makes no sense."""
    from . import Device
    from .errors import HipError

    files: list[Path] = choices.files
    output: Path | None = choices.output
    if output is not None and len(files) > 1 and not output.is_dir():
        complain(f"several files, but '{output}' is no folder")
        return 2
    try:
        arch = Device().arch
        if choices.arch not in (None, arch, arch.split(":")[0]):
            complain(
                f"the device here is '{arch}'; code for '{choices.arch}' can't be made"
            )
            return 2
        good = True
        for number, source in enumerate(files, 1):
            if len(files) > 1:
                print(f"[{number}/{len(files)}] ", end="", flush=True)
            good = compile_file(source, choices) and good
    except OSError as error:
        complain(f"{error.filename or ''}: {error.strerror or error}")
        return 2
    except (HipError, RuntimeError) as error:
        complain(error)
        return 2
    return 0 if good else 1
