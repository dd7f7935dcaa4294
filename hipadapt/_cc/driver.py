# SPDX-License-Identifier: MIT
"""``hipadapt-cc``: a compiler driver for HIP C++ programs on the CPU device.

In the manner of hipcc; job.py reads the command line, build.py does the work.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from . import stop
from .build import Build
from .host import PACKAGE, Failed, Host, output_of
from .job import parse
from .work_folder import work_folder, zig_cache

# Options that print where files of the package are, and those files.
PLACES = {
    "--print-cmake-toolchain": "cmake/toolchain.cmake",
    "--print-pkg-config-path": "cmake/pkgconfig",
}
USAGE = """\
usage: hipadapt-cc [options] FILE...

Compiles HIP C++ programs for the CPU device of hipadapt, in the manner of hipcc.

  -o FILE           where the result goes (default: a.out, or NAME.o with -c)
  -c, -S, -E        compile only; assembly of the host side; preprocess the host side
  --genco           device code alone, for hipModuleLoad
  --check           only say whether it compiles, for the CPU device and for gfx942
  --offload-arch=   a GPU's name: taken with a note; with --check, what to check for
  -shared, -fPIC    make a shared library
  --emit-static-lib make an archive of the objects
  -fgpu-rdc         link the device code of several files
  -fopenmp          threads of the host, where libomp is installed
  -O0 ... -O3, -g, -std=STD, -D, -U, -I, -isystem, -include, -W..., -f..., -m...
  -L, -l, -Wl,...   for the linker
  -x LANGUAGE       hip, c++ or c, for the files that follow
  -stdlib=LIBRARY   libstdc++ (default where g++ is installed) or libc++
  -parallel-jobs=N  compile N files at a time
  --print-cmake-toolchain, --print-pkg-config-path
                    for cmake -DCMAKE_TOOLCHAIN_FILE=..., PKG_CONFIG_PATH
  -v, -###          show the commands; show them and do nothing
"""


def answer(arguments: Sequence[str]) -> bool:
    """Questions about the compiler itself; True if it was one."""
    if "--help" in arguments or "-h" in arguments:
        print(USAGE, end="")
        return True
    if "--version" in arguments:
        from .. import __version__

        host = Host.choose(None)
        print(f"hipadapt-cc {__version__} (clang of {host.zig})")
        print(output_of([*host.clang, "--version"]), end="")  # build systems read it
        return True
    for option, place in PLACES.items():
        if option in arguments:
            print(PACKAGE / place)
            return True
    return False


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; its exit status is the result."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    stop.watch()
    status = 0
    try:
        if not words:
            print(USAGE, end="")
        if answer(words):
            return 0
        job = parse(words)
        with work_folder() as folder, zig_cache(folder):
            Build(job, folder).run()
    except OSError as error:  # a full disk, a folder that may not be written
        print(f"hipadapt-cc: error: {error}", file=sys.stderr)
        status = 1
    except Failed as failure:
        if not stop.stopped.is_set():
            sys.stderr.write(failure.log)
            if not failure.quiet:
                print(f"hipadapt-cc: error: {failure}", file=sys.stderr)
        status = 1
    if stop.stopped.is_set():
        stop.die()
    return status


if __name__ == "__main__":
    sys.exit(main())
