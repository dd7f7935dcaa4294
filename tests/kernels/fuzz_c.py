# SPDX-License-Identifier: MIT
"""Random kernels on the CPU device, beside the same kernels as plain C by gcc.

`python -m tests.kernels.fuzz_c --seconds 60 --seed 1` looks for a kernel whose memory
differs from what gcc's code leaves, in the fast form or in the reference form.  It cuts
such a kernel down as long as it differs, prints it and goes on.
"""

from __future__ import annotations

import argparse
import copy
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from .block_oracle import BlockOracle
from .block_program import BlockProgram
from .c_program import SCALARS, Launch, Program
from .c_tree import Block, Expr, Statement, Tree
from .cases.launches import Job
from .oracle import BadProgram, Oracle, arguments_of, memory_of
from .random_c import programs_of
from .worker import CaseFailure, Worker, environment

EXECUTORS = ("fast", "reference")
COUNT = 12  # kernels a module
TYPES = {"int": np.int32, "unsigned": np.uint32, "long": np.int64, "short": np.int16}
ELEMENT_TYPES = {
    "byte": "u1",
    "unsigned char": "u1",
    "signed char": "i1",
    "short": "i2",
    "unsigned short": "u2",
    "int": "i4",
    "unsigned": "u4",
    "long": "i8",
    "unsigned long": "u8",
}


@dataclass
class Difference:
    """A launch that left something else than it must, or that failed."""

    program: Program
    launch: Launch
    executors: tuple[str, ...]
    text: str
    failure: str = ""  # what kind of failure; empty for other values


def source_of(programs: Sequence[Program]) -> str:
    return programs[0].before + "".join(program.source() for program in programs)


def oracle_of(
    programs: Sequence[Program], folder: Path, *, strict: bool = False
) -> Oracle:
    kind = BlockOracle if isinstance(programs[0], BlockProgram) else Oracle
    return kind(programs, folder, strict=strict)


def jobs_of(programs: Sequence[Program], folder: Path) -> list[Job]:
    """The launches of all programs with what gcc's code leaves."""
    pairs = [(k, x) for k, program in enumerate(programs) for x in program.launches]
    after = oracle_of(programs, folder).run(pairs)
    jobs = []
    for (place, launch), memory in zip(pairs, after, strict=True):
        program = programs[place]
        offsets, scalars = arguments_of(program, launch)
        types = [TYPES[type] for type, _, _ in SCALARS.values()]
        jobs.append(
            Job(
                f"{program.name} {launch}",
                program.name,
                launch.grid,
                launch.block,
                offsets,
                [type(value) for type, value in zip(types, scalars, strict=True)],
                memory_of(program, launch),
                memory,
                launch,
                launch.shared,
            )
        )
    return jobs


def told(program: Program, launch: Launch, got: np.ndarray, want: np.ndarray) -> str:
    """Where two memories differ, by buffers."""
    lines = []
    bad = np.flatnonzero(got != want)
    places, _ = program.layout(launch)
    counted = 0
    for buffer in program.buffers:
        if buffer.same_as is not None:
            continue
        start, size = places[buffer.name]
        element = np.dtype(ELEMENT_TYPES[buffer.element])
        inside = bad[(bad >= start) & (bad < start + size)]
        counted += inside.size
        for at in sorted({int(x - start) // element.itemsize for x in inside})[:6]:
            first = start + at * element.itemsize
            is_, must = (
                m[first : first + element.itemsize].view(element)[0]
                for m in (got.copy(), want.copy())
            )
            lines.append(f"{buffer.name}[{at}] is {is_}, must be {must}")
        if inside.size:
            lines.append(f"{inside.size} bytes of {buffer.name} differ")
    if counted < bad.size:
        lines.append(f"{bad.size - counted} bytes outside of all buffers differ")
    return "\n".join(lines)


def answers(
    programs: Sequence[Program], executor: str, worker: Worker, jobs: Sequence[Job]
) -> Iterator[Difference]:
    """The first launch of each program that goes wrong in one executor."""
    source = source_of(programs)
    owners = {program.name: program for program in programs}
    try:
        checks = worker.ask("launches", source, programs[0].options, jobs)
    except CaseFailure as failure:
        if len(programs) > 1:
            for program in programs:
                own = [job for job in jobs if job.kernel == program.name]
                yield from answers([program], executor, worker, own)
        else:
            text = str(failure)
            kind = text.rpartition("HipFailure: ")[2][:60]
            program = programs[0]
            yield Difference(program, program.launches[0], (executor,), text, kind)
        return
    seen = set()
    for job, check in zip(jobs, checks, strict=True):
        if job.kernel in seen or np.array_equal(check.got, check.want):
            continue
        seen.add(job.kernel)
        program = owners[job.kernel]
        if check.got.size == 0:
            kind = "the launch failed"
            yield Difference(program, job.launch, (executor,), check.label, kind)
        else:
            text = told(program, job.launch, check.got, check.want)
            yield Difference(program, job.launch, (executor,), text)


def differences(
    programs: Sequence[Program], workers: dict[str, Worker], folder: Path
) -> list[Difference]:
    """One for each program that goes wrong."""
    jobs = jobs_of(programs, folder)
    found: dict[str, Difference] = {}
    for executor, worker in workers.items():
        for one in answers(programs, executor, worker, jobs):
            known = found.setdefault(one.program.name, one)
            if known is not one:
                known.executors += one.executors
    return list(found.values())


# ---- cutting down ----


def trees(tree: Tree, kind: type[Tree]) -> Iterator[tuple[Tree, int]]:
    """Every tree of a kind below, as what it is a part of and its place there."""
    for place, part in enumerate(tree.parts):
        if isinstance(part, str):
            continue
        if isinstance(part, kind):
            yield tree, place
        yield from trees(part, kind)


def fewer(program: Program) -> Iterator[Program]:
    """Programs with some statements less; many at once come first."""

    def changed(number: int, first: int, last: int, parts: list[Any]) -> Program:
        new = copy.copy(program)
        new.body = copy.deepcopy(program.body)
        block = blocks_of(new.body)[number]
        block.parts[first:last] = copy.deepcopy(parts)
        return new

    blocks = blocks_of(program.body)
    for number, block in enumerate(blocks):
        size = len(block.parts)
        step = size // 2
        while step > 1:
            for first in range(0, size, step):
                kept = [p for p in block.parts[first : first + step] if is_kept(p)]
                yield changed(number, first, first + step, kept)
            step //= 2
    for number, block in enumerate(blocks):
        for place, part in enumerate(block.parts):
            if not isinstance(part, Statement):
                continue
            if not part.kept:
                yield changed(number, place, place + 1, [])
            for inner in part.parts:
                if isinstance(inner, Block):
                    yield changed(number, place, place + 1, inner.parts)
            if " else " in part.parts:
                short = Statement(part.parts[: part.parts.index(" else ")])
                yield changed(number, place, place + 1, [short])


def blocks_of(tree: Tree) -> list[Block]:
    """All blocks, the outer ones first."""
    own = [tree] if isinstance(tree, Block) else []
    inner = [blocks_of(part) for part in tree.parts if isinstance(part, Tree)]
    return own + [block for some in inner for block in some]


def is_kept(part: Any) -> bool:
    return isinstance(part, Statement) and part.kept


def simpler(program: Program) -> Iterator[Program]:
    """Programs with an expression replaced by a part of it, or by 0."""

    def changed(number: int, new: Expr) -> Program:
        other = copy.copy(program)
        other.body = copy.deepcopy(program.body)
        parent, place = list(expressions(other.body))[number]
        parent.parts[place] = new
        return other

    for number, (parent, place) in enumerate(expressions(program.body)):
        it = parent.parts[place]
        assert isinstance(it, Expr)
        if it.text().strip("()-+uUL").isdigit():
            continue
        yield changed(number, Expr(["0"], it.type, 0, 0))
        for part in it.parts:
            if isinstance(part, Expr) and part.type == it.type:
                yield changed(number, part)
            elif isinstance(part, Expr) and it.parts[0] != f"({it.type})":
                yield changed(number, Expr([f"({it.type})", part], it.type, 0, 0))


def expressions(tree: Tree) -> Iterator[tuple[Tree, int]]:
    """Every expression as what it is a part of and its place there."""
    for place, part in enumerate(tree.parts):
        if isinstance(part, Expr):
            yield tree, place
        if isinstance(part, Tree):
            yield from expressions(part)


def still(
    program: Program, known: Difference, workers: dict[str, Worker], folder: Path
) -> Difference | None:
    """The difference of a program that is sound, if it goes wrong in the same way."""
    executor = known.executors[-1]
    try:
        found = differences([program], {executor: workers[executor]}, folder)
        if not found or found[0].failure != known.failure:
            return None
        oracle_of([program], folder, strict=True).run([(0, known.launch)])
    except BadProgram:
        return None
    found[0].executors = known.executors
    return found[0]


def cut_down(
    found: Difference, workers: dict[str, Worker], folder: Path, seconds: float = 120
) -> Difference:
    """The same difference with as little as can be found in some time."""
    end = time.monotonic() + seconds
    found.program = copy.copy(found.program)
    found.program.launches = [found.launch]
    again = True
    while again and time.monotonic() < end:
        again = False
        for steps in (fewer, simpler):
            number = 0
            while time.monotonic() < end:
                # Go on behind the last success: what failed before mostly fails again.
                candidate = next(islice(steps(found.program), number, None), None)
                if candidate is None:
                    break
                other = still(candidate, found, workers, folder)
                if other is None:
                    number += 1
                else:
                    found, again = other, True
    return found


def report(found: Difference) -> str:
    """A case that stands for itself."""
    program, launch = found.program, found.launch
    places, size = program.layout(launch)
    dynamic = f", {launch.shared} bytes of shared memory" if launch.shared else ""
    lines = [
        f"seed {program.seed // 1000}, {program.name} of it, {' and '.join(found.executors)} form",
        "",
        "```c",
        (program.before + program.source()).strip(),
        "```",
        "",
        f"grid {launch.grid}, block {launch.block}{dynamic}, {launch.scalars}",
        f"memory: {size} bytes, byte a is a*167 + (a>>8)*59 + (a>>3)*11 + {launch.salt};",
    ]
    for buffer in program.buffers:
        start, bytes_ = places[buffer.name]
        lines.append(
            f"  {buffer.name} = memory + {start + buffer.shift} ({bytes_} bytes)"
        )
    return "\n".join([*lines, "", found.text, ""])


def main() -> int:
    """Exit status 1 when a kernel differed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--strict", action="store_true", help="check the generator only"
    )
    parser.add_argument("--whole", action="store_true", help="don't cut down")
    parser.add_argument("--one", type=int, help="this kernel of the seed only")
    parser.add_argument(
        "--folder", type=Path, help="write what differs into files here"
    )
    parser.add_argument(
        "--kinds", help="of statements, with commas: these and no others"
    )
    chosen = parser.parse_args()
    kinds = frozenset(chosen.kinds.split(",")) if chosen.kinds else None
    seed, kernels, wrong = chosen.seed, 0, 0
    end = time.monotonic() + chosen.seconds
    with tempfile.TemporaryDirectory(prefix="hipadapt-fuzz-") as name:
        folder = Path(name)
        cache = folder / "cache"
        cache.mkdir(mode=0o700)
        workers = {x: Worker(environment(x, 32, cache)) for x in EXECUTORS}
        while time.monotonic() < end:
            programs = programs_of(seed, COUNT, kinds)
            if chosen.one is not None:
                programs = [programs[chosen.one]]
            try:
                if chosen.strict:
                    pairs = [(k, x) for k, p in enumerate(programs) for x in p.launches]
                    Oracle(programs, folder, strict=True).run(pairs)
                    found_all = []
                else:
                    found_all = list(differences(programs, workers, folder))
            except BadProgram as bad:
                print(
                    f"seed {seed}: the generator made a bad program: {bad}", flush=True
                )
                wrong += 1
                found_all = []
            for found in found_all:
                wrong += 1
                print(f"seed {seed} {found.program.name} differs")
                if not chosen.whole:
                    found = cut_down(found, workers, folder)
                print(report(found), flush=True)
                if chosen.folder:
                    name = f"{seed}-{found.program.name}.md"
                    (chosen.folder / name).write_text(report(found))
            kernels += len(programs)
            seed += 1
            if chosen.one is not None:
                break
        for worker in workers.values():
            worker.close()
    print(f"seeds {chosen.seed} to {seed - 1}: {kernels} kernels, {wrong} differ")
    return wrong > 0


if __name__ == "__main__":
    raise SystemExit(main())
