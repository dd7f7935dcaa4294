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
}
BARRIERS = {
    "other lane": ("s[t] = x; __syncthreads(); a[x] = s[63 - t];", LINE, 256),
    "tree": ("s[t] = x; __syncthreads(); " + TREE.format("d"), LINE, 1),
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
    unfound = [name for name, one in answers.items() if one["findings"] == 0]
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
