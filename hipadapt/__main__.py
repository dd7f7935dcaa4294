# SPDX-License-Identifier: MIT
"""The command line: ``python -m hipadapt COMMAND``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import __version__
from ._cli.arguments import Parser, add_program, add_scan, positive


def build_parser() -> argparse.ArgumentParser:
    """Every command adds its own sub-parser and names the function that runs it."""
    parser = Parser(
        prog="python -m hipadapt",
        description="HIP from Python, on a machine with or without a GPU.",
    )
    parser.add_argument(
        "--version", action="version", version=f"hipadapt {__version__}"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    demo = commands.add_parser(
        "demo",
        help="compile three kernels, run them on a field, compare with numpy",
        description="Heat spreads over a plate: a plain stencil kernel does the steps, "
        "then one with shared memory; a reduction adds up the heat, numpy checks all.",
    )
    demo.add_argument(
        "--input",
        type=Path,
        metavar="FILE.npy",
        help="two-dimensional array of real numbers (default: a generated field)",
    )
    demo.add_argument(
        "--size",
        type=positive,
        default=512,
        metavar="N",
        help="edge of the generated field (default: %(default)s)",
    )
    demo.add_argument(
        "--steps",
        type=positive,
        default=40,
        metavar="N",
        help="time steps (default: %(default)s)",
    )
    demo.add_argument(
        "--plot", type=Path, metavar="FILE.png", help="draw the field before and after"
    )
    demo.add_argument(
        "--json", action="store_true", help="print the results as one JSON object"
    )
    demo.set_defaults(run=run_demo)

    info = commands.add_parser(
        "info",
        help="say which provider and devices there are",
        description="The provider that was chosen, why, and its devices.",
    )
    info.add_argument("--json", action="store_true", help="print one JSON object")
    info.set_defaults(run=run_info)
    add_doctor(commands)
    add_compile(commands)
    commands.add_parser(
        "cc",
        help="compile and link HIP C++ programs for the CPU device, like hipcc",
        add_help=False,
    )
    add_bench(commands)
    add_run(commands)
    add_check(commands)
    add_watch(commands)
    add_trace(commands)
    add_verbose(commands)
    add_completion(commands)
    return parser


def add_doctor(commands: Any) -> None:
    """``doctor``."""
    doctor = commands.add_parser(
        "doctor",
        help="look for what is wrong with this machine",
        description="Looks at provider, devices, compiler, driver files, environment, "
        "cache and packages. Each line says ok, warn or fail, with advice; the exit "
        "status is 1 if something fails.",
    )
    doctor.add_argument("--json", action="store_true", help="print one JSON object")
    doctor.set_defaults(run=run_doctor)


def add_compile(commands: Any) -> None:
    """``compile``."""
    compile_ = commands.add_parser(
        "compile",
        help="compile kernels in files to code for hipModuleLoad",
        description="Compiles HIP C++ files with hiprtc. Errors and warnings go to "
        "stderr; the exit status is 1 if a file has errors.",
        epilog="example: python -m hipadapt compile saxpy.hip -DN=4 -o saxpy.hsaco",
    )
    compile_.add_argument("files", nargs="+", type=Path, metavar="FILE.hip")
    compile_.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="OUT",
        help="file, or folder for several (default: beside the source, .hsaco)",
    )
    compile_.add_argument(
        "--arch",
        metavar="ARCH",
        help="the device's (default), or that of an AMD GPU: gfx90a, gfx942, gfx1100; "
        "no ROCm is needed",
    )
    compile_.add_argument(
        "-D", dest="define", action="append", default=[], metavar="NAME[=VALUE]"
    )
    compile_.add_argument(
        "-I", dest="include", action="append", default=[], metavar="FOLDER"
    )
    compile_.add_argument("--std", metavar="STD", help="language: c++17, c++20, ...")
    compile_.add_argument(
        "--name-expression",
        action="append",
        default=[],
        metavar="EXPR",
        help='instance of a template to make: "scale<float>"; its name is printed',
    )
    compile_.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="OPTION",
        help="any other option of hiprtc: --option=-O1",
    )
    compile_.set_defaults(run=run_compile)


def add_bench(commands: Any) -> None:
    """``bench``."""
    bench = commands.add_parser(
        "bench",
        help="measure what calls cost on this machine, against ctypes",
        description="Times a getter, a copy and a launch, with hipadapt and with "
        "ctypes taking turns.",
    )
    bench.add_argument(
        "--seconds",
        type=positive,
        default=4,
        metavar="N",
        help="about how long (default: %(default)s)",
    )
    bench.add_argument("--json", action="store_true", help="print a JSON list")
    bench.set_defaults(run=run_bench)


def add_run(commands: Any) -> None:
    """``run``."""
    run = commands.add_parser(
        "run",
        help="start a ROCm program on the CPU device",
        usage="python -m hipadapt run [--scan PATH] [--env] [--] PROGRAM [ARGS]\n"
        "       python -m hipadapt run [--scan PATH] -m MODULE [ARGS]",
        description="Starts PROGRAM with the CPU device in place of AMD's libraries. A "
        "Python program (FILE.py, python, -m MODULE) runs with this interpreter. Exit "
        "status and signals are the program's; 125 to 127 if it could not be started.",
        epilog="example: python -m hipadapt run -- python -c 'import cupy'",
    )
    add_scan(
        run,
        "file or folder whose libraries the program loads later, if no installed "
        "package has them: they get their stand-ins too",
    )
    run.add_argument(
        "--env",
        action="store_true",
        help="print the changes of the environment for a shell, and start nothing",
    )
    add_program(run)
    run.set_defaults(run=run_run)


def add_check(commands: Any) -> None:
    """``check``; see `hipadapt._cli.check`."""
    from ._cli import check

    parser = commands.add_parser(
        "check",
        help=check.HELP,
        usage=check.USAGE,
        description=check.TEXT,
        epilog=check.EXAMPLE,
    )
    check.add(parser)
    parser.set_defaults(run=check.main)


def add_watch(commands: Any) -> None:
    """``watch``; see `hipadapt._cli.watch`."""
    from ._cli import watch

    parser = commands.add_parser(
        "watch",
        help=watch.HELP,
        usage=watch.USAGE,
        description=watch.TEXT,
        epilog=watch.EXAMPLE,
    )
    watch.add(parser)
    parser.set_defaults(run=watch.main)


def add_trace(commands: Any) -> None:
    """``trace``, with its own commands; see `hipadapt._cli.trace`."""
    from ._cli import trace

    trace.add(
        commands.add_parser(
            "trace",
            help="record what a program does on devices, and read such traces",
            description="Traces for Perfetto, chrome://tracing, TensorBoard and "
            "HolisticTraceAnalysis.",
        )
    )


def add_verbose(commands: Any) -> None:
    """``verbose``; see `hipadapt._cli.verbose`."""
    from ._cli import verbose

    verbose.add(
        commands.add_parser(
            "verbose",
            help=verbose.HELP,
            description=verbose.TEXT,
            epilog=verbose.EXAMPLE,
        )
    )


def add_completion(commands: Any) -> None:
    """``completion``; see `hipadapt._cli.completion`."""
    from ._cli import completion

    parser = commands.add_parser(
        "completion",
        help=completion.HELP,
        description=completion.TEXT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    completion.add(parser)
    parser.set_defaults(run=run_completion)


def run_completion(choices: argparse.Namespace) -> int:
    """Print a shell's script."""
    from ._cc.driver import USAGE
    from ._cli import completion

    print(completion.script(choices.shell, build_parser(), USAGE), end="")
    return 0


def run_demo(choices: argparse.Namespace) -> int:
    """Import late: the other commands need no numpy."""
    try:
        from ._cli import demo
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        print(
            "hipadapt demo needs numpy to check the kernels' results; install it with\n"
            "    python -m pip install numpy",
            file=sys.stderr,
        )
        return 2
    return demo.main(choices)


def run_info(choices: argparse.Namespace) -> int:
    """Report on the provider; see `hipadapt._cli.info`."""
    from ._cli import info

    return info.main(choices)


def run_doctor(choices: argparse.Namespace) -> int:
    """Examine this machine; see `hipadapt._cli.doctor`."""
    from ._cli import doctor

    return doctor.main(choices)


def run_compile(choices: argparse.Namespace) -> int:
    """Compile files; see `hipadapt._cli.compile`."""
    from ._cli import compile as compile_

    return compile_.main(choices)


def run_bench(choices: argparse.Namespace) -> int:
    """Measure calls; see `hipadapt._cli.bench`."""
    from ._cli import bench

    return bench.main(choices)


def run_run(choices: argparse.Namespace) -> int:
    """Start a program; see `hipadapt._run.start`."""
    from ._run import start

    return start.main(choices)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status is the result."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words[:1] == ["cc"]:  # its options are a compiler's
        from ._cc import driver

        return driver.main(words[1:])
    parser = build_parser()
    choices = parser.parse_args(words)
    if choices.command is None:
        parser.print_help()
        return 0
    try:
        command: Callable[[argparse.Namespace], int] = choices.run
        return command(choices)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (head, less) has seen enough.  Python would complain at exit.
        sys.stdout = None
        return 0


if __name__ == "__main__":
    sys.exit(main())
