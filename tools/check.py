# SPDX-License-Identifier: MIT
"""Everything about the sources that must hold before a commit, short of the tests.

    python -m tools.check            all checks
    python -m tools.check layers ruff    some of them
    python -m tools.check --fix      formats C and Python instead of complaining

`make check`, .pre-commit-config.yaml and .ci/run call this, so that they agree.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tools import native
from tools.codegen import model
from tools.codegen.forms import form_params

ROOT = Path(__file__).resolve().parent.parent
STUBTEST_ALLOWED = ROOT / "tools" / "stubtest_allowed.txt"


def command(*words: str) -> int:
    """Runs a command in the root of the repository."""
    return subprocess.run(words, cwd=ROOT, check=False).returncode


def module(name: str, *words: str) -> int:
    """Runs a Python module in the root of the repository."""
    return command(sys.executable, "-m", name, *words)


def c_files() -> list[str]:
    """Hand-written C; device headers are laid out as tables, by hand."""
    device = ROOT / "csrc" / "cpu" / "headers"
    found = [
        path
        for folder in ("csrc", "tests/c", "tests/fake", "benchmarks/inside")
        for path in sorted((ROOT / folder).rglob("*.[ch]"))
        if "generated" not in path.parts and device not in path.parents
    ]
    return [str(path.relative_to(ROOT)) for path in found]


def layers(_: bool) -> int:
    """Includes of csrc point downwards."""
    return module("tools.check_layers")


def lengths(_: bool) -> int:
    """No function is longer than a person reads at once."""
    return module("tools.check_lengths")


def codegen(fix: bool) -> int:
    """Generated files are what the description gives."""
    return module("tools.codegen", *([] if fix else ["--check"]))


def clang_format(fix: bool) -> int:
    """Hand-written C is formatted."""
    spec = importlib.util.find_spec("clang_format")
    if spec is None or spec.origin is None:
        print("clang-format is missing: pip install -e '.[lint]'", file=sys.stderr)
        return 1
    program = Path(spec.origin).parent / "data" / "bin" / "clang-format"
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    return command(str(program), "--style=file", *mode, *c_files())


def ruff(fix: bool) -> int:
    """Python is formatted and lint-free."""
    lint = module("ruff", "check", *(["--fix"] if fix else []), ".")
    layout = module("ruff", "format", *([] if fix else ["--check"]), ".")
    return lint or layout


def codespell(_: bool) -> int:
    """No spelling that is always wrong."""
    return module("codespell_lib")


def mypy(_: bool) -> int:
    """The package is typed, strictly."""
    return module("mypy")


def pyright(_: bool) -> int:
    """The package is typed, as a second checker sees it."""
    return module("basedpyright", "--level", "error")


def stubtest(_: bool) -> int:
    """Stubs say what the built modules have."""
    options = ["--ignore-disjoint-bases", "--mypy-config-file", "pyproject.toml"]
    # The stub overloads a function that has several forms; a signature can show one.
    overloaded = [
        rf"hipadapt\.{function.module}\.{function.name}"
        for function in model.load().functions
        if len(form_params(function)) > 1
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as allowed:
        allowed.write(STUBTEST_ALLOWED.read_text() + "\n".join(overloaded))
        allowed.flush()
        return module(
            "mypy.stubtest", "hipadapt", *options, "--allowlist", allowed.name
        )


def clang_tidy(_: bool) -> int:
    """Defects that the compiler doesn't see; runs only when asked for."""
    if shutil.which("clang-tidy") is None:
        print("clang-tidy is missing: pip install clang-tidy", file=sys.stderr)
        return 1
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-Icsrc", f"-I{native.python_include()}"]
    flags.append('-DHA_IMAGE_SOURCES=""')
    sources = [name for name in c_files() if name.startswith("csrc/")]
    sources = [name for name in sources if name.endswith(".c")]
    return command("clang-tidy", "--quiet", *sources, "--", *flags)


CHECKS: dict[str, Callable[[bool], int]] = {
    "layers": layers,
    "lengths": lengths,
    "codegen": codegen,
    "clang-format": clang_format,
    "ruff": ruff,
    "codespell": codespell,
    "mypy": mypy,
    "pyright": pyright,
    "stubtest": stubtest,
}
ON_DEMAND: dict[str, Callable[[bool], int]] = {"clang-tidy": clang_tidy}
FIXING = ("codegen", "clang-format", "ruff")


def main() -> int:
    """Runs the wanted checks, all of them even after a failure."""
    parser = argparse.ArgumentParser(description="Checks of the sources.")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=", ".join([*CHECKS, *ON_DEMAND])
    )
    parser.add_argument("--fix", action="store_true", help="repair what can be")
    wanted = parser.parse_args()
    known = CHECKS | ON_DEMAND
    unknown = set(wanted.names) - set(known)
    if unknown:
        parser.error(f"no such check: {', '.join(sorted(unknown))}")
    failed = []
    for name in wanted.names or (FIXING if wanted.fix else CHECKS):
        start = time.monotonic()
        status = known[name](wanted.fix)
        took = time.monotonic() - start
        print(f"{'ok' if status == 0 else 'FAILED':8}{name} ({took:.1f} s)", flush=True)
        if status != 0:
            failed.append(name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
