# SPDX-License-Identifier: MIT
"""Launches that are proved right, and those that must not be."""

from __future__ import annotations

from typing import Any

import pytest

from .fuzz import Job, program, run
from .kernel import BUFFERS, Code, Kernel, Launch

HEAD = """
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int t = threadIdx.x;
"""
LINE = Launch((4, 1, 1), (64, 1, 1), (250, 250, 0, 0, 0))
FIELD = Launch((4, 4, 1), (16, 16, 1), (50, 60, 0, 0, 0))
TREE = "for (int d = 32; d > 0; d /= 2) {{ if (t < d) s[t] += s[t + {0}]; __syncthreads(); }}"

# Each is right for `elements` of each buffer, and wrong for one less where it says so.
RIGHT = {
    "saxpy": ("if (x < n) b[x] = 2 * c[x] + b[x];", LINE, 250),
    "grid stride": ("for (int i = x; i < n; i += 256) b[i] += 1;", LINE, 250),
    "from the end": ("if (x < n) b[n - 1 - x] = 1;", LINE, 250),
    "field": ("if (x < m && y < n) a[y * m + x] = 1;", FIELD, 3000),
    "stencil": (
        "if (x > 0 && y > 0 && x < m - 1 && y < n - 1)"
        " a[y * m + x] = d[y * m + x - 1] + d[(y + 1) * m + x];",
        FIELD,
        2999,
    ),
    "product": (
        "if (x < m && y < n) { float sum = 0;"
        " for (int k = 0; k < m; k++) sum += d[y * m + k] * e[k * m + x];"
        " b[y * m + x] = sum; }",
        FIELD,
        3600,
    ),
    "vectors": ("if (x < n) q[x].y = b[x];", LINE, 250),
    "unsigned": ("if ((unsigned)x < (unsigned)n) b[x] = 1;", LINE, 250),
    "first of a block": ("if (t == 0) a[blockIdx.x] = 1;", LINE, 4),
    "bytes of memory": ("if (x < 250) atomicAdd(&a[d[x] & 249], 1);", LINE, 250),
}
# Not to be proved, though bounds of some of them are right.
WRONG = {
    "off by one": ("if (x <= n) b[x] = 1;", LINE, 250),
    "one less": ("if (x < n) b[x - 1] = 1;", LINE, 250),
    "race with the next": ("if (x < n - 1) a[x] = a[x + 1];", LINE, 250),
    "two lanes": ("if (x < n) a[x / 2] = x;", LINE, 250),
    "all lanes": ("a[0] = x;", LINE, 250),
    "columns that overlap": ("if (x < m + 1 && y < n) a[y * m + x] = x;", FIELD, 3001),
    "index from memory": ("if (x < n) a[d[x]] = 1;", LINE, 23),
    "wraps": ("if ((short)(x + 32700) < n) b[x] = 1;", LINE, 200),
    "not aligned": ("if (x < n) *(int *)(c + x * 2 + 1) = 1;", LINE, 600),
    "blocks on each other": ("if (t < 64) a[t] = x;", LINE, 64),
    "no barrier": ("s[t] = x; a[x] = s[63 - t];", LINE, 256),
    "tree without its half": (
        "s[t] = x; __syncthreads(); " + TREE.format("d - 1") + " a[x] = t;",
        LINE,
        256,
    ),
    "read behind a loop that has no barrier at its end": (
        "for (int i = 0; i < (n & 3); i++) { __syncthreads(); s[t] = t; } a[x] = s[0];",
        LINE,
        256,
    ),
    "read behind a loop that lanes leave apart": (
        "int i = 0; do { s[t] = t; __syncthreads(); } while (++i < (t & n));"
        " a[x] = s[3];",
        LINE,
        256,
    ),
    "read behind a loop that some lanes pass by": (
        "if (t < 8) for (int i = 0; i < (n & 3); i++) { s[t] = t; __syncthreads(); }"
        " a[x] = s[0];",
        LINE,
        256,
    ),
    "read behind a loop that is left before its barrier": (
        "for (int i = 0; i < n; i++) { s[t] = t; if (i == (m & 1)) break;"
        " __syncthreads(); } a[x] = s[0];",
        LINE,
        256,
    ),
    "barriers on two sides": (
        "s[t] = x; if (t < 16) { __syncthreads(); s[t] = 1; }"
        " else { __syncthreads(); a[x] = s[t - 16]; }",
        LINE,
        256,
    ),
    "rounds of lanes that differ, and a barrier behind": (
        "for (int i = 0; i < (t & 3); i++) __syncthreads();"
        " s[t] = 1; __syncthreads(); a[x] = s[63 - t];",
        LINE,
        256,
    ),
}
BARRIERS = {
    "other lane": ("s[t] = x; __syncthreads(); a[x] = s[63 - t];", LINE, 256),
    "tree": ("s[t] = x; __syncthreads(); " + TREE.format("d"), LINE, 1),
    "sum": (
        "s[t] = x; __syncthreads(); for (int d = blockDim.x / 2; d > 0; d /= 2)"
        " { if (t < d) s[t] += s[t + d]; __syncthreads(); }"
        " if (t == 0) a[blockIdx.x] = s[0];",
        LINE,
        4,
    ),
    "two sums": (
        "s[t] = x; __syncthreads(); " + TREE.format("d") + " y = s[0]; __syncthreads();"
        " s[t] = y; __syncthreads(); " + TREE.format("d") + " a[x] = s[0];",
        LINE,
        256,
    ),
    "scan": (
        "__shared__ int two[2][64]; int now = 0; two[0][t] = d[x]; __syncthreads();"
        " for (int step = 1; step < 64; step *= 2) { int v = two[now][t];"
        " if (t >= step) v += two[now][t - step]; two[1 - now][t] = v; now = 1 - now;"
        " __syncthreads(); } a[x] = two[now][t]; if (t == 63) b[blockIdx.x] = two[now][63];",
        LINE,
        256,
    ),
    "lanes that leave": (
        "if (t >= 60) return; s[t] = x; __syncthreads(); a[x] = s[59 - t];",
        LINE,
        252,
    ),
    "tiles": (
        "for (int k = 0; k < n; k += 64) { s[t] = d[k + t]; __syncthreads();"
        " for (int i = 0; i < 64; i++) y += s[i]; __syncthreads(); }",
        LINE,
        256,
    ),
}


def answers_of(cases: dict[str, Any], proofs: bool = True) -> dict[str, Any]:
    jobs, sources = [], []
    parameters = ", ".join(f"{kind} *{name}" for name, (kind, _) in BUFFERS.items())
    for number, (body, launch, elements) in enumerate(cases.values()):
        name = f"k{number}"
        sources.append(
            f'extern "C" __global__ void {name}({parameters}, int n, int m, long p,'
            f" unsigned u, short w) {{ __shared__ int s[64]; {HEAD} {body} }}"
        )
        sizes = tuple((buffer, elements) for buffer in BUFFERS)
        full = Launch(launch.grid, launch.block, launch.numbers, sizes)
        jobs.append(Job(Kernel(name, Code()), full, True))
    answers = run("\n".join(sources), [], jobs, proofs)
    assert not isinstance(answers, str), answers
    return dict(zip(cases, answers, strict=True))


def test_launches_that_are_right_are_proved() -> None:
    answers = answers_of({**RIGHT, **BARRIERS})

    assert [name for name, one in answers.items() if not one["proved"]] == []
    assert all(one["findings"] == 0 == one["observed"] for one in answers.values())


def test_launches_that_are_wrong_are_not_proved() -> None:
    answers = answers_of(WRONG)

    assert [name for name, one in answers.items() if one["proved"]] == []
    unfound = [
        name
        for name, one in answers.items()
        if one["findings"] == 0 and not one["fault"]  # at different barriers
    ]
    assert unfound == []


def test_one_element_less_is_not_proved() -> None:
    less = {name: (body, launch, n - 1) for name, (body, launch, n) in RIGHT.items()}

    answers = answers_of(less)

    assert [name for name, one in answers.items() if one["proved"]] == []


def test_without_proofs_all_is_observed() -> None:
    answers = answers_of(RIGHT, proofs=False)

    assert not any(one["proved"] for one in answers.values())
    assert all(one["findings"] == 0 < one["observed"] for one in answers.values())


@pytest.mark.parametrize("seed", ["11.0", "11.1", "11.2"])
def test_random_launches_that_are_proved_are_right(seed: str) -> None:
    result = program(seed)

    assert result.wrong == []
    assert result.proved > result.right // 4
