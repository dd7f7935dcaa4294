# SPDX-License-Identifier: MIT
"""Kernels as plain C, by another compiler: what a launch must leave in memory.

The kernels of `random_c` are compiled by gcc without optimisation, and run one lane after
the other in a process of their own, from the first lane to the last and again from the
last to the first.  Nothing of the CPU device has a part in it.  With `strict`, gcc's
sanitizer says whether a program is undefined, and each access is looked at: none may
leave its buffers or touch a byte that another lane writes.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .c_program import PRELUDE, SCALARS, Launch, Program

GCC = shutil.which("gcc")
LIMIT_s = 60

BEFORE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define KERNEL static
#define UNWATCHED __attribute__((no_sanitize_thread))
#define __builtin_assume(condition) ((condition) ? (void)0 : abort())
struct place { unsigned x, y, z; };
static struct place threadIdx, blockIdx, blockDim, gridDim;
"""
WATCHED = """
static long now;      /* lane that runs, from 1 */
static char *watched; /* the memory, or NULL */
static long watched_size;
static int *written, *looked; /* per byte: lane that has, -1: several; 0: none */
static char *allowed;
"""
# Reads requests: how many numbers the head has; the head: kernel, grid, block, bytes of
# memory, count of ranges, ranges (start, size), arguments; the memory.  Answers each with
# a flag, 1 where the order of lanes made a difference, and the memory.
AFTER = """
static UNWATCHED void
run(long *head, char *memory, int backwards)
{
    struct place *sizes[] = {&gridDim, &blockDim};
    for (int s = 0; s < 2; s++)
        *sizes[s] = (struct place){head[1 + 3 * s], head[2 + 3 * s], head[3 + 3 * s]};
    long blocks = (long)gridDim.x * gridDim.y * gridDim.z;
    long lanes = (long)blockDim.x * blockDim.y * blockDim.z;
    for (long at = 0; at < blocks * lanes; at++) {
        long lane = backwards ? blocks * lanes - 1 - at : at;
        long b = lane / lanes, t = lane % lanes;
        blockIdx = (struct place){b % gridDim.x, b / gridDim.x % gridDim.y,
                                  b / gridDim.x / gridDim.y};
        threadIdx = (struct place){t % blockDim.x, t / blockDim.x % blockDim.y,
                                   t / blockDim.x / blockDim.y};
        now = lane + 1;
        call(head[0], memory, head + 9 + 2 * head[8]);
    }
}

/* Memory with nothing beside it. */
static char *
far_away(long address, size_t size)
{
    void *memory = mmap((void *)address, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(3);
    return memory;
}

UNWATCHED int
main(void)
{
    long count, head[64];
    while (fread(&count, sizeof count, 1, stdin) == 1) {
        if (count > 64 || fread(head, sizeof *head, count, stdin) != (size_t)count)
            return 3;
        size_t size = head[7];
        char *one = far_away(0x300000000000, size);
        char *two = far_away(0x380000000000, size);
        if (fread(one, 1, size, stdin) != size)
            return 3;
        memcpy(two, one, size);
        watch(head, one);
        run(head, one, 0);
        watch(head, NULL);
        run(head, two, 1);
        long differs = memcmp(one, two, size) != 0;
        fwrite(&differs, sizeof differs, 1, stdout);
        fwrite(one, 1, size, stdout);
        munmap(one, size);
        munmap(two, size);
    }
    return 0;
}
"""
# Without `strict` nothing is watched.
PLAIN = """
static UNWATCHED void watch(const long *head, char *memory) { (void)head, (void)memory; }
"""
# What the code calls before each access if it is compiled for gcc's thread sanitizer,
# whose library is not linked.
WATCH = """
static UNWATCHED void
watch(const long *head, char *memory)
{
    free(written), free(looked), free(allowed);
    watched = memory;
    watched_size = head[7];
    written = calloc(watched_size, sizeof *written);
    looked = calloc(watched_size, sizeof *looked);
    allowed = calloc(watched_size, 1);
    for (long r = 0; r < head[8]; r++)
        memset(allowed + head[9 + 2 * r], 1, head[10 + 2 * r]);
}

static UNWATCHED void
touched(const char *address, long size, int write)
{
    long first = address - watched;
    if (watched == NULL || first < -(1L << 30) || first > 1L << 30)
        return; /* a local variable */
    for (long at = first; at < first + size; at++) {
        if (at < 0 || at >= watched_size || !allowed[at]) {
            fprintf(stderr, "lane %ld leaves its buffers at %ld\\n", now, at);
            exit(4);
        }
        if ((written[at] != 0 && written[at] != now) ||
            (write && looked[at] != 0 && looked[at] != now)) {
            fprintf(stderr, "lane %ld meets another one at %ld\\n", now, at);
            exit(4);
        }
        if (write)
            written[at] = now;
        looked[at] = looked[at] == 0 || looked[at] == now ? now : -1;
    }
}

#define HOOK(size)                                                                     \\
    UNWATCHED void __tsan_read##size(void *p) { touched(p, size, 0); }                           \\
    UNWATCHED void __tsan_write##size(void *p) { touched(p, size, 1); }                          \\
    UNWATCHED void __tsan_unaligned_read##size(void *p) { touched(p, size, 0); }                 \\
    UNWATCHED void __tsan_unaligned_write##size(void *p) { touched(p, size, 1); }                \\
    UNWATCHED void __tsan_volatile_read##size(void *p) { touched(p, size, 0); }                  \\
    UNWATCHED void __tsan_volatile_write##size(void *p) { touched(p, size, 1); }
HOOK(1)
HOOK(2)
HOOK(4)
HOOK(8)
HOOK(16)
UNWATCHED void __tsan_read_range(void *p, long size) { touched(p, size, 0); }
UNWATCHED void __tsan_write_range(void *p, long size) { touched(p, size, 1); }
UNWATCHED void __tsan_init(void) {}
UNWATCHED void __tsan_func_entry(void *p) { (void)p; }
UNWATCHED void __tsan_func_exit(void) {}
"""
STRICT = (
    *("-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"),
    "-fsanitize=thread",
)


class BadProgram(Exception):
    """A program without a single result: undefined, out of bounds, or dependent on the
    order of lanes."""


def memory_of(program: Program, launch: Launch) -> np.ndarray:
    """What the memory of a launch holds before."""
    size = program.layout(launch)[1]
    at = np.arange(size, dtype=np.uint32)
    return (at * 167 + (at >> 8) * 59 + (at >> 3) * 11 + launch.salt).astype(np.uint8)


def arguments_of(program: Program, launch: Launch) -> tuple[list[int], list[int]]:
    """Offsets of the pointers in the launch's memory, and the scalars."""
    places, _ = program.layout(launch)
    offsets = [places[b.name][0] + b.shift for b in program.buffers]
    return offsets, [launch.scalars[s] for s in SCALARS]


def dispatch(programs: Sequence[Program]) -> str:
    """The function `call`, which runs one lane of a kernel."""
    cases = []
    for place, program in enumerate(programs):
        texts = [f"(void *)(memory + s[{k}])" for k in range(len(program.buffers))]
        texts += [
            f"({type})s[{len(texts) + k}]"
            for k, (type, _, _) in enumerate(SCALARS.values())
        ]
        call = f"{program.name}({', '.join(texts)})"
        cases.append(f"    case {place}: {call}; break;")
    lines = "\n".join(cases)
    return (
        "static void call(long which, char *memory, const long *s)\n"
        f"{{\n    switch (which) {{\n{lines}\n    }}\n}}\n"
    )


class Oracle:
    """Some programs, compiled."""

    options: Sequence[str] = ()
    libraries: Sequence[str] = ()

    def __init__(
        self, programs: Sequence[Program], folder: Path, *, strict: bool = False
    ) -> None:
        self.programs = programs
        self.binary = folder / ("strict" if strict else "plain")
        self.compile(
            self.text(programs, strict).encode(),
            ("-c", "-x", "c", "-", "-std=gnu17", "-w", "-O0", *self.options),
            ("-fno-strict-aliasing", *(STRICT if strict else ("-fwrapv",))),
            ("-o", f"{self.binary}.o"),
        )
        self.compile(b"", (f"{self.binary}.o", "-o", str(self.binary), *self.libraries))

    def text(self, programs: Sequence[Program], strict: bool) -> str:
        sources = "".join(program.source() for program in programs)
        text = BEFORE + PRELUDE + sources + dispatch(programs) + WATCHED
        return text + (WATCH if strict else PLAIN) + AFTER

    @staticmethod
    def compile(text: bytes, *options: Sequence[str]) -> None:
        command = [str(GCC), *(option for some in options for option in some)]
        done = subprocess.run(command, input=text, capture_output=True, check=False)
        if done.returncode != 0:
            raise BadProgram(done.stderr.decode()[-3000:])

    def run(self, jobs: Sequence[tuple[int, Launch]]) -> list[np.ndarray]:
        """Memory after each launch of a program, which is named by its place."""
        requests = []
        sizes = []
        for place, launch in jobs:
            program = self.programs[place]
            ranges, size = program.layout(launch)
            offsets, scalars = arguments_of(program, launch)
            spans = [number for span in ranges.values() for number in span]
            head = [place, *launch.grid, *launch.block, size, len(ranges), *spans]
            head += offsets + scalars
            requests.append(struct.pack(f"{len(head) + 1}q", len(head), *head))
            requests.append(memory_of(program, launch).tobytes())
            sizes.append(size)
        try:
            done = subprocess.run(
                [str(self.binary)],
                input=b"".join(requests),
                capture_output=True,
                timeout=LIMIT_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise BadProgram("does not end") from None
        if done.returncode != 0:
            text = done.stderr.decode(errors="replace")[:2000]
            raise BadProgram(f"exit status {done.returncode}: {text}")
        results = []
        at = 0
        for (place, _), size in zip(jobs, sizes, strict=True):
            if done.stdout[at : at + 8] != bytes(8):
                name = self.programs[place].name
                raise BadProgram(f"{name}: the order of lanes makes a difference")
            results.append(np.frombuffer(done.stdout, np.uint8, size, at + 8))
            at += 8 + size
        return results
