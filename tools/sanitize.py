# SPDX-License-Identifier: MIT
"""Runs the tests under a sanitizer.

    python -m tools.sanitize KIND [PYTEST ARGUMENT ...]

KIND is address (with undefined behaviour), thread or leak.  The native parts are built
with it in place, and afterwards as the environment says; the interpreter is the
ordinary one with the sanitizer's runtime preloaded.  The C tests run first, as programs
of their own.

A leak counts only if a frame of it is in our libraries: suppressions would match any
frame of a stack and hide ours.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tools import native
from tools.rooms import PRODUCTS

# A frame shows the source file where there is debug information, else the library.
OURS = ("/csrc/", *(name.removeprefix("hipadapt.") for name in PRODUCTS))
FLAGS = {
    "address": "address,undefined",
    "leak": "address",
    "thread": "thread",
}
RUNTIMES = {
    "address": ("libasan.so", "libubsan.so"),
    "leak": ("libasan.so",),
    "thread": ("libtsan.so",),
}
# Worker threads have alternate stacks of their own.
ASAN = "abort_on_error=1:use_sigaltstack=0:allocator_may_return_null=1"
OPTIONS = {
    "address": {
        "ASAN_OPTIONS": f"detect_leaks=0:{ASAN}",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
    },
    "leak": {
        "ASAN_OPTIONS": f"detect_leaks=1:{ASAN}",
        "LSAN_OPTIONS": "exitcode=0:report_objects=0",
        "PYTHONMALLOC": "malloc",
    },
    "thread": {"TSAN_OPTIONS": "halt_on_error=0:exitcode=66:die_after_fork=0"},
}
PYTEST = (
    "-q",
    "--durations=40",
    "-m",
    "not plain",
    "-p",
    "no:faulthandler",
    "-p",
    "no:cacheprovider",
)
# Without those of documents and of the tools, where next to nothing of ours runs.
DEFAULT_TESTS = (
    "tests/unit",
    "--ignore=tests/unit/docs",
    "--ignore=tests/unit/tools",
)


def runtime_of(name: str) -> str:
    """Where the compiler has a sanitizer's runtime."""
    command = native.compiler()
    done = subprocess.run(
        [*command, f"-print-file-name={name}"],
        capture_output=True,
        text=True,
        check=False,
    )
    path = done.stdout.strip()
    if not os.path.isabs(path):
        sys.exit(f"{command[0]} has no {name}; set CC=gcc and install its libraries")
    return path


def build(flags: str | None) -> None:
    """Builds in place with these sanitizers, in a process with that environment."""
    settings = dict(os.environ)
    settings.pop("HIPADAPT_SANITIZE", None)
    if flags is not None:
        settings["HIPADAPT_SANITIZE"] = flags
        # Instrumented code has warnings of its own, and wrong ones.
        settings.pop("HIPADAPT_WERROR", None)
    subprocess.run(
        [sys.executable, "-m", "tools.native"],
        cwd=native.ROOT,
        env=settings,
        check=True,
    )


@contextmanager
def instrumented(flags: str) -> Iterator[None]:
    """The native parts in place are instrumented in this block."""
    try:
        build(flags)
        yield
    finally:
        build(os.environ.get("HIPADAPT_SANITIZE"))


def own_leaks(output: str) -> list[str]:
    """The reports of LeakSanitizer with a frame in our libraries."""
    reports = re.split(r"\n(?=(?:Direct|Indirect) leak of )", output)
    return [
        report.split("\n\n")[0]
        for report in reports[1:]
        if any(name in report.split("\n\n")[0] for name in OURS)
    ]


def c_tests(kind: str) -> int:
    """The C tests, linked with the sanitizer; kernels fault on purpose there."""
    settings = {**os.environ, **OPTIONS[kind], "HIPADAPT_SANITIZE": FLAGS[kind]}
    settings.pop("HIPADAPT_WERROR", None)
    return subprocess.run(
        [sys.executable, "-m", "tests.c.run"],
        cwd=native.ROOT,
        env=settings,
        check=False,
    ).returncode


def python_tests(kind: str, arguments: list[str]) -> int:
    """pytest with the runtime preloaded."""
    preload = ":".join(runtime_of(name) for name in RUNTIMES[kind])
    settings = {**os.environ, **OPTIONS[kind], "LD_PRELOAD": preload}
    settings["HIPADAPT_SANITIZER"] = kind  # for the tests
    words = [sys.executable, "-m", "pytest", *PYTEST, *(arguments or DEFAULT_TESTS)]
    if kind == "address" and not arguments:
        words += ["-n", "auto"]  # the others are read, or measured, as one process
    if kind != "leak":
        done = subprocess.run(words, cwd=native.ROOT, env=settings, check=False)
        return done.returncode
    piped = subprocess.run(
        words,
        cwd=native.ROOT,
        env=settings,
        check=False,
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    found = own_leaks(piped.stdout)
    print(re.split(r"\n=+\n==\d+==ERROR: LeakSanitizer", piped.stdout)[0])
    print("\n\n".join(found))
    print(f"{len(found)} leaks in our libraries")
    return piped.returncode or (1 if found else 0)


def main(arguments: list[str]) -> int:
    """Builds, tests and puts the plain build back."""
    if not arguments or arguments[0] not in FLAGS:
        print(
            f"usage: python -m tools.sanitize {'|'.join(FLAGS)} [PYTEST ARGUMENT ...]"
        )
        return 2
    kind, *rest = arguments
    status = 0 if rest or kind == "leak" else c_tests(kind)
    with instrumented(FLAGS[kind]):
        return python_tests(kind, rest) or status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
