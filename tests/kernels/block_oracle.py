# SPDX-License-Identifier: MIT
"""Kernels with barriers and warp calls as plain C, by gcc: what they must leave.

`block_lanes.h` stands before the programs and `block_scheduler.c` behind them; with
`strict`, `block_watch.c` too.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .block_program import PRELUDE, BlockProgram
from .c_program import Program
from .oracle import Oracle, dispatch

HERE = Path(__file__).parent
PLAIN = """
static UNWATCHED void watch(const long *head, char *memory) { (void)head, (void)memory; }
static UNWATCHED void block_begins(unsigned block, int backwards) { (void)block, (void)backwards; }
static UNWATCHED void phase_begins(void) {}
static UNWATCHED void warp_meets(int warp) { (void)warp; }
"""


class BlockOracle(Oracle):
    """Some programs, compiled."""

    libraries = ("-lm",)
    # Without -frounding-math, gcc 12 makes -(double)i of 0.0 - (double)i, also with -O0,
    # which has another sign if i is 0.
    options = ("-ffp-contract=off", "-frounding-math")

    def text(self, programs: Sequence[Program], strict: bool) -> str:
        warp = programs[0].warp if isinstance(programs[0], BlockProgram) else 32
        before = (HERE / "block_lanes.h").read_text()
        after = (HERE / "block_scheduler.c").read_text()
        watch = (HERE / "block_watch.c").read_text() if strict else PLAIN
        sources = "".join(program.source() for program in programs)
        return (
            f"#define WARP {warp}\n{before}{PRELUDE}{sources}{dispatch(programs)}"
            f"{watch}{after}"
        )
