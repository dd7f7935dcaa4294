# SPDX-License-Identifier: MIT
"""Compiles and runs the C tests: `python -m tests.c.run [NAME ...]`.

The folders of tests/c are those of csrc.  A test is one program, <room>/test_<what>.c,
and its name is <room>/<what>; it exits with 0 (passed), 77 (skipped; the last line that
it wrote says why) or anything else (failed).  A comment near its top names what it is
linked with, rooms or files of csrc without their suffix; without one that is all of core
and cpu:

    /* sources: core cpu/exec/fiber cpu/machine */
    /* libraries: -lrt */
    /* product: profiler */

With the last line it is compiled as a part of librocprofiler-sdk.so.1 is, with its
headers.

Objects are shared with the build of the device library, so a test compiles one file.
The switches of tools/native.py apply:

    HIPADAPT_SANITIZE=thread python -m tests.c.run cpu/exec
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tools import headers, native

HERE = Path(__file__).resolve().parent
SKIPPED = 77
LIMIT_S = 300
# Threads of ours have alternate stacks, and forked children start threads.
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=0:use_sigaltstack=0:allocator_may_return_null=1",
    "TSAN_OPTIONS": "die_after_fork=0",
}


@dataclass(frozen=True)
class Outcome:
    """How one test ended."""

    status: int
    output: str

    @property
    def word(self) -> str:
        """One word for it."""
        return {0: "ok", SKIPPED: "skipped"}.get(self.status, "FAILED")


def name_of(test: Path) -> str:
    """The name of a test: its room and what it tests, as in cpu/exec/fault."""
    return str(test.relative_to(HERE).with_name(test.stem.removeprefix("test_")))


def path_of(name: str) -> Path:
    """The file of a test."""
    return HERE / Path(name).with_name(f"test_{Path(name).name}.c")


def names() -> list[str]:
    """All tests."""
    return sorted(name_of(path) for path in HERE.rglob("test_*.c"))


def header_line(text: str, key: str) -> list[str]:
    """The words after `key` in the comments of a test."""
    found = re.findall(rf"/\*\s*{key}:\s*(.*?)\*/", text, flags=re.S)
    return [word for words in found for word in shlex.split(words)]


def files_of(word: str) -> list[Path]:
    """The C files that one word after `sources:` stands for."""
    path = native.CSRC / word
    if path.is_dir():
        found = [file for file in native.sources((word,)) if file.suffix == ".c"]
    else:
        found = list(path.parent.glob(path.name.removesuffix(".c") + ".c"))
    if not found:
        sys.exit(f"tests/c: no file is named csrc/{word}")
    return found


def build(test: Path) -> Path:
    """Compiles and links one program; the compiler's messages go to stderr."""
    text = test.read_text(encoding="utf-8")
    words = header_line(text, "sources") or ["core", "cpu"]
    wanted = sorted({path for word in words for path in files_of(word)})
    command = native.compiler()
    profiler = header_line(text, "product") == ["profiler"]
    product = native.profiler() if profiler else native.device()
    own_headers = ["-Drocprofiler_EXPORTS", f"-I{headers.PROFILER}"] if profiler else []
    compiling = native.compile_command(product, command)
    folder = native.folder_of(product.name, compiling)
    with native.alone(folder):
        objects, changed = native.compile_all(wanted, folder, compiling)
    # Tests convert freely between integer types.
    own_compiling = [*command, *native.common_flags(), "-Wno-comment"]
    own_compiling += [f"-I{HERE}", *own_headers]
    own_folder = native.folder_of("tests_c", own_compiling)
    with native.alone(own_folder):
        own, own_changed = native.compile_all([test], own_folder, own_compiling)
        program = own_folder / own[0].name.removesuffix(".c.o")
        needed = [*own, *objects]
        kept = program.is_file() and all(native.newer(program, path) for path in needed)
        if changed or own_changed or not kept:
            link = [*command, *native.instrumentation(), *map(str, needed)]
            libraries = [*header_line(text, "libraries"), *native.DEVICE_LIBRARIES]
            # The unwinder and kernels loaded later find the program's symbols.
            native.run([*link, "-rdynamic", "-o", str(program), *libraries])
    return program


def run(name: str) -> Outcome:
    """Builds one test and runs it; one that doesn't end is killed."""
    program = build(path_of(name))
    settings = {**SANITIZERS, **os.environ}
    try:
        done = subprocess.run(
            [str(program)],
            cwd=program.parent,
            env=settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        text = (late.stdout or b"").decode(errors="replace")
        return Outcome(-1, f"{text}no end after {LIMIT_S} s\n")
    return Outcome(done.returncode, done.stdout.decode(errors="replace"))


def main(wanted: list[str]) -> int:
    """Runs the tests whose names contain one of `wanted`; all without any."""
    failed = 0
    chosen = [
        name for name in names() if not wanted or any(part in name for part in wanted)
    ]
    if not chosen:
        print(f"no C test has one of {wanted} in its name: {', '.join(names())}")
        return 2
    for name in chosen:
        outcome = run(name)
        failed += outcome.word == "FAILED"
        print(f"{outcome.word:8}{name}", flush=True)
        if outcome.status != 0:
            print(outcome.output, end="", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
