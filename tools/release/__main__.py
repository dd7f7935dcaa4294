# SPDX-License-Identifier: MIT
"""Makes a release: sdist, wheels for each Python and machine, debug data.

    python -m tools.release                     all that can be made here, into dist
    python -m tools.release --python python3.11 --machine x86_64

The wheels are built from the sdist, by the clang of ziglang, for the glibc of
`--glibc`.  Each is checked: contents, size, what its libraries need, the names that it
takes from Python, twine, auditwheel; those for this machine are installed and called.
Needs the extra `release`.  The exit status is 1 if a file is wrong, and nothing is then
left in the folder of the files.
"""

from __future__ import annotations

import argparse
import platform
import shutil
import sys
from pathlib import Path

from tools.native import ROOT
from tools.release import examine, make, pythons
from tools.target import MACHINES, Target

GLIBC = "2.28"  # memfd_create and getrandom are there since 2.27


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.release", description="Makes and checks a release."
    )
    parser.add_argument(
        "--python",
        action="append",
        metavar="PROGRAM",
        help="interpreter to build for (default: each that is promised and found)",
    )
    parser.add_argument(
        "--machine",
        action="append",
        choices=MACHINES,
        help="machine to build for (default: all)",
    )
    parser.add_argument("--glibc", default=GLIBC, metavar="MAJOR.MINOR")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER")
    return parser.parse_args()


def choose(programs: list[str] | None) -> list[pythons.Python]:
    """The interpreters; those that are missing are told."""
    if programs is not None:
        return [pythons.examine(program) for program in programs]
    found, missing = pythons.find(pythons.versions())
    for line in missing:
        print(f"not built: {line}", flush=True)
    return found


def build(chosen: list[pythons.Python], targets: list[Target], out: Path) -> list[Path]:
    """Makes and checks everything."""
    source = make.sdist(out)
    examine.check_sdist(source)
    tree = make.unpack(source)
    version = source.name.removeprefix("hipadapt-").removesuffix(".tar.gz")
    files = [source]
    for target in targets:
        for python in chosen:
            made = make.wheel(tree, python, target, out)
            said = examine.check_wheel(made, python, target)
            tried = target.machine == platform.machine()
            if tried:
                examine.try_wheel(made, python)
            how = "installed and called" if tried else "not run: another machine"
            print(f"{made.name}: {how}\n{said}\n", flush=True)
            files.append(made)
        files.append(make.debug_data(tree, version, target, out))
    return files


def main() -> int:
    """Prints the list of files, or what is wrong."""
    wanted = arguments()
    major, _, minor = wanted.glibc.partition(".")
    glibc = (int(major), int(minor))
    targets = [Target(machine, glibc) for machine in wanted.machine or MACHINES]
    fresh = make.WORK / "out"
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        files = build(choose(wanted.python), targets, fresh)
    except (make.Failed, pythons.NotUsable) as failure:
        print(f"release: {failure}", file=sys.stderr)
        return 1
    listed = examine.list_all(files, fresh)
    for path in fresh.iterdir():
        make.put(path, wanted.out)
    print(listed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
