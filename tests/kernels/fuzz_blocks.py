# SPDX-License-Identifier: MIT
"""Random kernels with barriers and warp calls on the CPU device, beside gcc's C.

`python -m tests.kernels.fuzz_blocks --seconds 60 --seed 1` looks for a kernel whose
memory differs from what the same program leaves as plain C, in the fast form or in the
reference form.  It cuts such a kernel down, prints it and goes on.  `--tell` counts what
the kernels contain.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from .block_program import BlockProgram
from .fuzz_c import EXECUTORS, cut_down, differences, oracle_of, report
from .oracle import BadProgram
from .random_blocks import programs_of
from .worker import Worker, environment

COUNT = 25  # kernels a module


def told(seen: Counter[str], kernels: int) -> str:
    """How many kernels have each construct."""
    rows = [f"{count:6d}  {word}" for word, count in sorted(seen.items())]
    return "\n".join([f"of {kernels} kernels have", *rows])


def check(
    programs: Sequence[BlockProgram],
    workers: dict[str, Worker],
    folder: Path,
    *,
    whole: bool = False,
) -> list[str]:
    """A report for each kernel that differs."""
    try:
        found = differences(programs, workers, folder)
    except BadProgram as bad:
        return [f"the generator made a bad program: {bad}"]
    if not whole:
        found = [cut_down(one, workers, folder) for one in found]
    return [report(one) for one in found]


def sound(programs: Sequence[BlockProgram], folder: Path) -> list[str]:
    """What is wrong with the programs themselves."""
    pairs = [(k, x) for k, p in enumerate(programs) for x in p.launches]
    try:
        oracle_of(programs, folder, strict=True).run(pairs)
    except BadProgram as bad:
        return [f"the generator made a bad program: {bad}"]
    return []


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, help="kernels at most")
    parser.add_argument("--one", type=int, help="this kernel of the seed only")
    parser.add_argument("--whole", action="store_true", help="don't cut down")
    parser.add_argument("--strict", action="store_true", help="check the generator")
    parser.add_argument(
        "--forms", default=",".join(EXECUTORS), help="values of HIPADAPT_CPU_EXEC"
    )
    parser.add_argument("--options", default="", help="of hiprtc, as --options=-O1")
    parser.add_argument("--warp", type=int, default=32, help="lanes of a warp")
    parser.add_argument("--lockstep", action="store_true", help="lanes in step")
    parser.add_argument("--tell", action="store_true", help="count constructs")
    parser.add_argument(
        "--folder", type=Path, help="write what differs into files here"
    )
    return parser.parse_args()


def main() -> int:
    """Exit status 1 when a kernel differed."""
    chosen = options()
    BlockProgram.options = tuple(chosen.options.split())
    seed, kernels, wrong = chosen.seed, 0, 0
    seen: Counter[str] = Counter()
    end = time.monotonic() + chosen.seconds
    with tempfile.TemporaryDirectory(prefix="hipadapt-fuzz-") as name:
        folder = Path(name)
        cache = folder / "cache"
        cache.mkdir(mode=0o700)
        forms = chosen.forms.split(",")
        workers = {x: Worker(environment(x, chosen.warp, cache)) for x in forms}
        while time.monotonic() < end and kernels < (chosen.count or 1 << 60):
            programs = programs_of(seed, COUNT, chosen.warp, chosen.lockstep)
            if chosen.one is not None:
                programs = [programs[chosen.one]]
            if chosen.strict:
                reports = sound(programs, folder)
            else:
                reports = check(programs, workers, folder, whole=chosen.whole)
            for place, text in enumerate(reports):
                print(f"seed {seed}\n{text}", flush=True)
                if chosen.folder:
                    (chosen.folder / f"{seed}-{place}.md").write_text(text)
            wrong += len(reports)
            kernels += len(programs)
            seen.update(word for program in programs for word in program.seen)
            seed += 1
            if chosen.one is not None:
                break
        for worker in workers.values():
            worker.close()
    if chosen.tell:
        print(told(seen, kernels))
    print(f"seeds {chosen.seed} to {seed - 1}: {kernels} kernels, {wrong} differ")
    return wrong > 0


if __name__ == "__main__":
    raise SystemExit(main())
