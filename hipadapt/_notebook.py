# SPDX-License-Identifier: MIT
"""Notebooks: ``%%hip``, ``%hip_time`` and ``%%hip_check``.

``%load_ext hipadapt`` registers the magics; hipadapt._objects.html has the looks.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from IPython.core.error import TryNext, UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import (
    argument,
    magic_arguments,
    parse_argstring,
)

from . import Device, Kernel, Module, Program, check, current_stream
from ._check.here import HERE
from ._check.kinds import OPTIONS
from .errors import HiprtcError

if TYPE_CHECKING:
    from collections.abc import Callable

    from IPython.core.interactiveshell import InteractiveShell

    from ._check.findings import Findings

__all__ = ["CellError", "HipMagics", "HipTime", "load"]

# Comments and literals, which may have anything in them.
_NOT_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S
)
_KERNEL = re.compile(
    r"(?P<template>template\s*<[^{};]*>\s*)?"
    r"(?:extern\s+\"?\s*\"?\s*|static\s+|inline\s+)*"
    r"__global__\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?void\s+"
    r"(?:__launch_bounds__\s*\([^)]*\)\s*)?(?P<name>[A-Za-z_]\w*)\s*\("
)
_LEAST_S = 0.2  # of the loops of one %hip_time, where their number is not given


class CellError(Exception):
    """A cell that does not compile; shown without a Python traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class _Source(NamedTuple):
    """What a cell was compiled from."""

    cell: str
    options: tuple[str, ...]
    names: tuple[str, ...]
    ordinal: int  # of the device
    title: str = ""  # of the first cell that had it

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for what need not be compiled again."""
        return self[:-1]

    def compile(self) -> Module:
        """Raises HiprtcError."""
        program = Program(
            self.cell, self.options, name=self.title, name_expressions=self.names
        )
        return program.compile(device=Device(self.ordinal))


class HipTime(NamedTuple):
    """What ``%hip_time -o`` gives; times are in seconds, of one loop.

    `device` is the time between two events around the loops, `wall` that of the host
    until all work was done.
    """

    device: list[float]
    wall: list[float]
    loops: int

    def __str__(self) -> str:
        lines = [f"{self.loops} loops, {len(self.wall)} repeats", ""]
        lines.append(f"{'':<8}{'best':>12}{'median':>12}")
        for name, times in (("device", self.device), ("wall", self.wall)):
            ordered = sorted(times)
            lines.append(
                f"{name:<8}{_duration(ordered[0]):>12}"
                f"{_duration(ordered[len(ordered) // 2]):>12}"
            )
        return "\n".join(lines)


def _duration(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def kernel_names(source: str) -> list[str]:
    """Names of the kernels that a text defines, templates left out."""
    code = _NOT_CODE.sub(
        lambda found: '""' if found[0].startswith('"') else " ", source
    )
    names = [
        found["name"] for found in _KERNEL.finditer(code) if found["template"] is None
    ]
    return list(dict.fromkeys(names))


def _measure(run: Callable[[], object], loops: int, repeats: int) -> HipTime:
    stream = current_stream()
    device: list[float] = []
    wall: list[float] = []
    for _ in range(repeats):
        stream.synchronize()
        begin = time.perf_counter()
        start = stream.record()
        for _ in range(loops):
            run()
        stop = stream.record()
        stop.synchronize()
        stream.synchronize()
        wall.append((time.perf_counter() - begin) / loops)
        device.append(start.elapsed(stop) / 1e3 / loops)
    return HipTime(device, wall, loops)


def _loops(run: Callable[[], object]) -> int:
    loops = 1
    while loops < 1_000_000:
        took = _measure(run, loops, 1).wall[0] * loops
        if took >= _LEAST_S:
            break
        loops *= 10 if took < _LEAST_S / 10 else 2
    return loops


@magics_class
class HipMagics(Magics):
    """``%%hip``, ``%hip_time`` and ``%%hip_check``."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._shell: Any = shell
        self._modules: dict[tuple[object, ...], Module] = {}
        self._sources: dict[Module, _Source] = {}
        self._checked: dict[tuple[object, ...], Module] = {}

    @magic_arguments()
    @argument(
        "--name",
        action="append",
        default=[],
        metavar="EXPR",
        help="kernel to define; may be an instance of a template, and repeated. "
        "Without it, all kernels of the cell that are no templates",
    )
    @argument("--std", help="language: c++17, c++20, ...")
    @argument(
        "--option",
        action="append",
        default=[],
        metavar="OPTION",
        help="option of the compiler: --option=-O1; may be repeated",
    )
    @argument("--quiet", action="store_true", help="don't say what was defined")
    @cell_magic
    def hip(self, line: str, cell: str) -> None:
        """Compiles the cell as HIP C++ and defines its kernels.

        Each kernel becomes a `hipadapt.Kernel` of its name, to be launched as
        ``kernel[grid, block](*args)``.  An instance of a template is named by
        ``--name "scale<float>"`` and defined as ``scale_float``.  A cell that was
        compiled before with the same options is not compiled again.
        """
        choices = parse_argstring(self.hip, line)
        names = [name.strip("\"'") for name in choices.name] or kernel_names(cell)
        options = [text.strip("\"'") for text in choices.option]
        if choices.std:
            options.append(f"-std={choices.std}")
        module = self._compile(cell, tuple(options), tuple(names))
        kernels: dict[str, Kernel] = {
            re.sub(r"\W+", "_", name).strip("_"): module.kernel(name) for name in names
        }
        self._shell.push(kernels)
        if not choices.quiet:
            print("kernels: " + (", ".join(kernels) or "none"))

    def _compile(
        self, cell: str, options: tuple[str, ...], names: tuple[str, ...]
    ) -> Module:
        title = f"In[{self._shell.execution_count}].hip"
        source = _Source(cell, options, names, Device().ordinal, title)
        module = self._modules.get(source.key)
        if module is None or module.is_closed:
            try:
                module = source.compile()
            except HiprtcError as error:
                _refuse(error)
            if module.log:
                print(module.log)
            self._modules[source.key] = module
            self._sources[module] = source
        return module

    @magic_arguments()
    @argument(
        "kinds",
        nargs="?",
        default="all",
        help="what is checked, between commas (default: all)",
    )
    @cell_magic
    def hip_check(self, line: str, cell: str) -> Findings:
        """Runs the cell, and shows what its kernels do wrong.

        Kernels of ``%%hip`` cells are compiled for it with checks, and are what they
        were behind it.  The result is that of `hipadapt.check`.
        """
        kinds: str = parse_argstring(self.hip_check, line).kinds
        try:
            block = check(kinds)
        except ValueError as error:
            raise UsageError(f"%%hip_check: {error}") from None
        names = self._shell.user_ns
        with block as found:
            before = self._check_kernels(",".join(found.summary.kinds))
            try:
                self._shell.run_cell(cell)
            finally:
                for name, (kernel, checked) in before.items():
                    if names.get(name) is checked:
                        names[name] = kernel
        return found

    def _check_kernels(self, kinds: str) -> dict[str, tuple[Kernel, Kernel]]:
        """Puts checked kernels in the place of those that `%%hip` has defined; both, by
        name.
        """
        changed: dict[str, tuple[Kernel, Kernel]] = {}
        for name, kernel in list(self._shell.user_ns.items()):
            if name.startswith("_") or type(kernel) is not Kernel:
                continue
            source = self._sources.get(kernel.module)
            if source is not None:
                key = (*source.key, kinds)
                if key not in self._checked or self._checked[key].is_closed:
                    self._checked[key] = source.compile()
                changed[name] = (kernel, self._checked[key].kernel(kernel.name))
        self._shell.user_ns.update({name: pair[1] for name, pair in changed.items()})
        return changed

    @magic_arguments()
    @argument("-n", type=int, metavar="N", help="loops of a repeat (default: enough)")
    @argument("-r", type=int, default=7, metavar="R", help="repeats (default: 7)")
    @argument("-o", action="store_true", help="give the times as a HipTime")
    @argument("statement", nargs="*", help="Python statement, run in the notebook")
    @line_magic
    def hip_time(self, line: str) -> HipTime | None:
        """Measures a statement on the device and on the host.

        Device time is what passes between two events in the current stream; wall time
        is the host's until the stream is done.
        """
        choices = parse_argstring(self.hip_time, _after_options(line)[0])
        statement = _after_options(line)[1]
        if not statement:
            raise UsageError("%hip_time needs a statement: %hip_time kernel[8, 64](x)")
        if (choices.n is not None and choices.n < 1) or choices.r < 1:
            raise UsageError("%hip_time: -n and -r must be at least 1")
        code = compile(self._shell.transform_cell(statement), "<hip_time>", "exec")
        names = self._shell.user_ns

        def run() -> None:
            exec(code, names)

        run()  # the first call has more to do
        times = _measure(run, choices.n or _loops(run), choices.r)
        if choices.o:
            return times
        print(times)
        return None


def _refuse(error: HiprtcError) -> NoReturn:
    raise CellError(error.log.strip() or str(error)) from None


def _after_options(line: str) -> tuple[str, str]:
    """A line in two: options at its beginning, and the statement, which is kept as it
    is.
    """
    found = re.match(r"\s*((?:-[nr]\s*\d+|-o|-[nr]\s*-\d+)\s+|-o$)*", line)
    end = found.end() if found else 0
    return line[:end], line[end:].strip()


def _complete_hip(shell: Any, event: Any) -> list[str]:
    """Options of ``%%hip`` for the tab key."""
    if event.line.endswith("--std "):
        return ["c++14", "c++17", "c++20", "c++23"]
    return ["--name", "--option=", "--quiet", "--std"]


def _complete_hip_time(shell: Any, event: Any) -> list[str]:
    """Options of ``%hip_time``; what IPython finds itself comes after them."""
    if event.symbol.startswith("-"):
        return ["-n", "-o", "-r"]
    raise TryNext


def _complete_hip_check(shell: Any, event: Any) -> list[str]:
    """Words of ``%%hip_check`` for the tab key."""
    return ["all", *HERE, *OPTIONS]


def load(shell: InteractiveShell) -> None:
    """``%load_ext hipadapt``."""
    shell.register_magics(HipMagics)
    shell.set_hook("complete_command", _complete_hip, str_key="%%hip")
    shell.set_hook("complete_command", _complete_hip_time, str_key="%hip_time")
    shell.set_hook("complete_command", _complete_hip_check, str_key="%%hip_check")


def unload(shell: InteractiveShell) -> None:
    """``%unload_ext hipadapt``."""
    for kind, name in (("cell", "hip"), ("line", "hip_time"), ("cell", "hip_check")):
        shell.magics_manager.magics[kind].pop(name, None)
