# SPDX-License-Identifier: MIT
"""Objects of single kernels in the cache: an edit compiles what it changed."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from ...kernels import random_blocks, random_c
from ...kernels.c_program import Program
from .rtc_library import SUCCESS, Compiled, Rtc, zig_path

pytestmark = pytest.mark.usefixtures("work_dir")

KERNEL = """
extern "C" __global__ void {name}(float *x, int n) {{
    __shared__ float part[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x % 64] = n;
    __syncthreads();
    if (i < n) x[i] = x[i] * {number}.0f + sinf({text}[i % 3] + part[i % 64]);
}}"""
COUNT = 10


def kernel(place: int, number: int = 1) -> str:
    return KERNEL.format(name=f"k{place}", number=number, text=f'"t{place}"')


def text_of(changed: dict[int, str] | None = None) -> str:
    kernels = {place: kernel(place) for place in range(COUNT)} | (changed or {})
    return "".join(kernels.values())


@pytest.fixture
def back_ends(
    cache_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], int]:
    """back_ends(): how many ran since the last call."""
    count, script = tmp_path / "count", tmp_path / "zig"
    script.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *-emit-obj*) echo x >> "{count}" ;; esac\n'
        f'exec "{zig_path()}" "$@"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("HIPADAPT_COMPILER", str(script))

    def take() -> int:
        ran = count.read_text().count("x") if count.exists() else 0
        count.unlink(missing_ok=True)
        return ran

    return take


def without(rtc: Rtc, source: str) -> Compiled:
    """What is compiled as a whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HIPADAPT_CACHE", "0")
        return rtc.compile(source)


EDITS = {
    "another number": ({3: kernel(3, 2)}, 1),
    "lines before": ({2: "\n// comment\n\n" + kernel(2)}, 0),
    "a string before": ({1: kernel(1).replace('"t1"', '"longer"')}, 1),
    "a barrier before": ({0: kernel(0).replace("= n;", "= n; __syncthreads();")}, 1),
    "another function": ({5: kernel(5).replace("sinf", "tanhf")}, 1),
    "a shared variable before": (
        {1: kernel(1).replace("int i", "__shared__ int own; own = n; int i")},
        1,
    ),
    "one kernel less": ({4: ""}, 1),
    "one kernel more": ({7: kernel(7) + kernel(8)}, 2),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_compiles_what_it_changed(
    rtc: Rtc, back_ends: Callable[[], int], edit: str
) -> None:
    changed, kernels = EDITS[edit]
    assert rtc.compile(text_of()).result == SUCCESS
    assert back_ends() > COUNT // 2

    got = rtc.compile(text_of(changed))

    # A kernel is two forms; the tables name all of them.
    assert back_ends() <= 2 * kernels + 1
    assert got == without(rtc, text_of(changed))


def edited(chance: random.Random, programs: list[Program], fresh: Program) -> None:
    """Changes one kernel, leaves one out, adds one or changes their order."""
    place = chance.randrange(len(programs))
    kind = chance.choice(["change", "change", "remove", "add", "order"])
    if kind == "change":
        programs[place] = fresh
    elif kind == "remove" and len(programs) > 3:
        del programs[place]
    elif kind == "add" and len(programs) < 9:
        programs.insert(place, fresh)
    else:
        programs[0], programs[place] = programs[place], programs[0]


@pytest.mark.parametrize("kind", ["blocks", "c"])
def test_random_edits_leave_no_object_of_another_text(
    rtc: Rtc, cache_dir: Path, kind: str
) -> None:
    chance = random.Random(6)

    def fresh(count: int) -> list[Program]:
        seed = chance.randrange(1 << 20)
        if kind == "c":
            return list(random_c.programs_of(seed, count))
        return list(random_blocks.programs_of(seed, count))

    programs = fresh(6)
    for step in range(8):
        # Names by place: kernels of the same name have different texts.
        source = numbered(programs)
        got = rtc.compile(source)
        assert got.result == SUCCESS, got.log
        assert got == without(rtc, source), step
        edited(chance, programs, fresh(1)[0])
    assert list(cache_dir.glob("*.object"))


def numbered(programs: list[Program]) -> str:
    """The source, with a name for each kernel."""
    kernels = [
        program.source().replace(program.name, f"kernel{place}")
        for place, program in enumerate(programs)
    ]
    return programs[0].before + "".join(kernels)


def test_damaged_objects_are_compiled_anew(rtc: Rtc, cache_dir: Path) -> None:
    good = rtc.compile(text_of())
    chance = random.Random(7)
    objects = sorted(cache_dir.glob("*.object"))
    assert len(objects) > COUNT // 2
    texts = [path.read_bytes() for path in objects]
    for path, text in zip(objects, texts, strict=True):
        damaged = bytearray(text[: chance.randrange(1, len(text) + 1)])
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
    for path in cache_dir.glob("*.kernel"):
        path.unlink()

    assert rtc.compile(text_of()) == good
    assert [path.read_bytes() for path in objects] == texts


def test_an_object_under_the_name_of_another_is_not_taken(
    rtc: Rtc, cache_dir: Path
) -> None:
    good = rtc.compile(text_of())
    objects = sorted(cache_dir.glob("*.object"))
    for path, other in pairwise(objects):
        path.write_bytes(other.read_bytes())
    for path in cache_dir.glob("*.kernel"):
        path.unlink()

    assert rtc.compile(text_of()) == good


def test_options_are_part_of_the_key(rtc: Rtc, cache_dir: Path) -> None:
    rtc.compile(text_of())
    before = set(cache_dir.glob("*.object"))

    low = rtc.compile(text_of(), ["-O1"])

    assert low.result == SUCCESS
    assert len(set(cache_dir.glob("*.object")) - before) > COUNT // 2


def test_a_small_program_has_none(rtc: Rtc, cache_dir: Path) -> None:
    assert rtc.compile().result == SUCCESS
    assert list(cache_dir.glob("*.kernel"))
    assert not list(cache_dir.glob("*.object"))
