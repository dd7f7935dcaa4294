# SPDX-License-Identifier: MIT
"""Random slices, with everything that a name or a number can be."""

from __future__ import annotations

import json
import random

from tests.unit.tool.slices import KINDS, WORK, Event, Slice, Trace

# libkineto's base times are multiples of this; one lies shortly before START.
BASE_STEP_NS = 7_889_238 * 10**9
START = 227 * BASE_STEP_NS + 5 * 10**9
ODD = (
    b"",
    b'"',
    b"\\",
    b"a\nb\tc\rd\be\ff\x01\x1f\x7f",
    b"</script>",
    b"std::vector<int, std::allocator<int> >::push_back(int&&)",
    "\N{GREEK SMALL LETTER PI} \N{SNOWMAN} \N{GRINNING FACE}".encode(),
    b"\xff\xfe",
    b"\xc3",
    b"\xe2\x82",
    b"\xed\xa0\x80 a surrogate",
    b"\xf0\x9f\x98 \xf5\x80\x80\x80",
    b"\xc0\x80 too long",
    b"x" * 300,
    "\N{EURO SIGN}".encode() * 5000,
)
LETTERS = bytes(range(1, 256))


def random_name(rng: random.Random) -> bytes:
    """Mostly a name as kernels have it; sometimes any bytes."""
    choice = rng.random()
    if choice < 0.1:
        return rng.choice(ODD)
    if choice < 0.2:
        return bytes(rng.choice(LETTERS) for _ in range(rng.randrange(40)))
    return b"kernel_%d<float>" % rng.randrange(200)


def random_args(rng: random.Random) -> bytes | None:
    """None, or members of a JSON object without its brackets."""
    values = (
        0,
        -1,
        2**63 - 1,
        2**64 - 1,
        -(2**63),
        1.5,
        -2.25e-7,
        1e300,
        True,
        False,
        None,
        "",
        'a "b" \\ \n \u2603 \U0001f600',
        [1, [2, {"x": "y"}], []],
        {"k": [1.25]},
    )
    members = {
        f"arg {i}\u00e9\n": rng.choice(values) for i in range(rng.randrange(-2, 6))
    }
    text = json.dumps(members, ensure_ascii=rng.random() < 0.5)[1:-1]
    return text.encode() if members else None


def random_event(rng: random.Random, kind: str) -> Event:
    """Of work, or of a call."""
    if kind == "kernel":
        block = (rng.choice((1, 64, 1024)), rng.choice((1, 4)), 1)
        grid = tuple(rng.randrange(1, 5000) * size for size in block)
        return Event(
            device=0,
            queue=rng.randrange(9),
            grid=(grid[0], grid[1] + rng.randrange(2), grid[2]),
            block=block,
            shared=rng.choice((0, 4096)),
        )
    if kind in ("gpu_memcpy", "gpu_memset"):
        return Event(
            bytes=rng.choice((0, 1, 4096, 2**40)),
            device=rng.choice((-1, 0, 1)),
            source_device=rng.choice((-1, 0, 1)),
            address=rng.randrange(2**48),
            source=rng.randrange(2**48),
        )
    return Event(operation=rng.randrange(500), result=rng.choice((0, 0, 0, 1, 700, -1)))


def random_slice(rng: random.Random, number: int, at: int) -> Slice:
    """The start is at least `at`; a span ends 1,000 ns after that."""
    kind = rng.choice(KINDS)
    found = Slice(kind, random_name(rng), at, at + rng.choice((0, 1, 999, 1000)))
    found.args = random_args(rng)
    found.external = rng.choice((0, 1, 2**63))
    found.thread = rng.randrange(1, 4)
    if kind in ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation"):
        found.thread = 0
        found.device = rng.randrange(2)
        found.stream = rng.randrange(3)
    if kind in (*WORK, "cuda_runtime"):
        found.correlation = rng.choice((0, number + 1))
        found.event = rng.choice((None, random_event(rng, kind)))
    if kind == "kernel":
        found.form = rng.choice(
            (
                None,
                ("reference", 0, 0),
                ("rows", 0, 0),
                ("gang", 16, rng.choice((0, 9))),
            )
        )
    if kind == "cuda_runtime":
        found.launches = rng.random() < 0.5
        found.name = rng.choice((b"hipModuleLaunchKernel", b"hipMemcpyAsync", b"other"))
        if rng.random() < 0.3:
            what = rng.choice(("kernel", "gpu_memcpy"))
            found.work = random_event(rng, what)
            found.work_name = random_name(rng)
    if kind in ("cpu_op", "kernel") and rng.random() < 0.3:
        found.flow = rng.choice(("op2g", "fwdbwd"))
        found.flow_id = rng.randrange(1, 1000)
        found.flow_starts = kind == "cpu_op"
    if kind == "counter":
        found.device = rng.choice((-1, 0, 1))
        found.value = rng.choice((0.0, 1.0, -2.5, 1e-9, 1e300, 123456789.0, 2.0**60))
    return found


def random_trace(seed: int, count: int) -> tuple[Trace, list[Slice]]:
    """A trace and its slices, in an order like that of a collector: sorted in parts."""
    rng = random.Random(seed)
    slices = [random_slice(rng, i, START + 2000 * i) for i in range(count)]
    part = max(count // 8, 1)
    parts = [slices[i : i + part] for i in range(0, count, part)]
    rng.shuffle(parts)
    trace = Trace(
        START,
        START + 2000 * count,
        lost=rng.choice((0, 2**40)),
        outside=rng.randrange(3),
        clock_offset=START - 10**12,
        devices=2,
        distributed=b'{"backend":"rccl","rank":0,"world_size":2}',
        first_pairs=[(b"trace_id", b'"abc"'), (b"odd \xff\n", b"no JSON \xff")],
        last_pairs=[(b"errors", b'{"unexpected": [1, null]}'), (b"traceEvents", b"1")],
    )
    return trace, [slice_ for part_ in parts for slice_ in part_]
