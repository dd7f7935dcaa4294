# SPDX-License-Identifier: MIT
"""Lanes of a warp that run in step: asked for a kernel or for all, or seen to need it."""

from __future__ import annotations

from typing import Literal

import pytest

from tests.conftest import Run

Form = Literal["fast", "reference"]
FORMS: tuple[Form, ...] = ("fast", "reference")
WARPS = (32, 64)

# Kernels from int *x to int *o, and what numpy says that a warp of W lanes leaves: each
# statement is done by all lanes before the next one.
START = r"""
import sys
import numpy as np
import hipadapt
W, ASKED = int(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(1)
wrong = []

def left(source, x, grid, block):
    text = f'extern "C" __global__ {ASKED} void k(const int *x, int *o) ' + source
    kernel = hipadapt.compile_kernel(text, "k")
    o = hipadapt.array(np.zeros_like(x))
    kernel[grid, block](hipadapt.array(x), o)
    return np.asarray(o.get())

def check(name, source, want, grid=1, block=None, lanes=None):
    x = rng.integers(0, 1000, lanes or W).astype("i4")
    got = left(source, x, grid, block or len(x))
    if not np.array_equal(got, want(x)):
        wrong.append(name)
        print(name, got[:6], want(x)[:6])

def sort(x):
    return np.sort(x.reshape(-1, W), axis=1).ravel()

BITONIC = '''{
    __shared__ int s[64];
    int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
    s[t] = x[g];
    for (int k = 2; k <= warpSize; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int p = t ^ j;
            if (p > t && ((t & k) == 0 ? s[t] > s[p] : s[t] < s[p])) {
                int kept = s[t];
                s[t] = s[p];
                s[p] = kept;
            }
        }
    o[g] = s[t];
}'''
check("bitonic sort", BITONIC, sort, 100, W, 100 * W)
"""
END = "\nprint('wrong:', wrong)\n"

ASKED = r"""
def mixed(x, partner=lambda i, r: i ^ r):
    i = np.arange(len(x))
    for r in range(1, 6):
        x = x + 3 * x[partner(i, r)]
    return x

MIXED = "for (int r = 1; r < 6; r++) s[t] += 3 * s[t ^ r]; o[t] = s[t]; }"
SHARED = "{ __shared__ int s[256]; int t = threadIdx.y * blockDim.x + threadIdx.x;"
check("sums", SHARED + "s[t] = x[t];" + MIXED, mixed, lanes=4 * W if W == 32 else W)
for shape in ((8, W // 8), (W, 4), (16, 16), (2 * W, 2)):
    check(f"sums {shape}", SHARED + "s[t] = x[t];" + MIXED, mixed,
          block=shape, lanes=shape[0] * shape[1])
check("global", "{ int t = threadIdx.x, *s = o; s[t] = x[t];" + MIXED, mixed)

def inside(i, r):
    return np.where((i ^ r) < len(i), i ^ r, i)

check("part of a warp",
      SHARED + "int n = blockDim.x; s[t] = x[t]; for (int r = 1; r < 6; r++)"
      "s[t] += 3 * s[(t ^ r) < n ? t ^ r : t]; o[t] = s[t]; }",
      lambda x: mixed(x, inside), lanes=W + 7)

def unequal(x):
    i = np.arange(W)
    for r in range(5):
        u = x[i ^ 1]
        x = np.where(i & 1, u + 1, np.where(i & 2, x + u * 3, x))
    return x

check("branches", SHARED + '''s[t] = x[t];
    for (int r = 0; r < 5; r++) {
        int u = s[t ^ 1];
        if (t & 1) s[t] = u + 1;
        else if (t & 2) s[t] += u * 3;
    }
    o[t] = s[t]; }''', unequal)

def rounds(x):
    i = np.arange(W)
    for r in range(W):
        x = np.where(r < i % 7, x + x[(i + 1) % W], x)
    return x

check("loops of different lengths", SHARED + '''s[t] = x[t];
    for (int r = 0; r < t % 7; r++) s[t] += s[(t + 1) % warpSize];
    o[t] = s[t]; }''', rounds)

check("atomics", '''{ __shared__ int c; int t = threadIdx.x; c = 0;
    int a = atomicAdd(&c, 1), b = atomicAdd(&c, 1); o[t] = a * 1000 + b + 0 * x[t]; }''',
      lambda x: np.arange(W) * 1001 + W)
check("one cell", '''{ __shared__ volatile int c; int t = threadIdx.x;
    c = t; o[t] = c + 0 * x[t]; }''', lambda x: np.full(W, W - 1))

def records(x):
    i = (np.arange(W) + 5) % W
    return x[i ^ 1] + 100 * (i ^ 1)

check("records", '''{ struct R { int a, b, c, d, e; }; __shared__ R s[64];
    int t = threadIdx.x; s[t] = R{x[t], 1, 2, 3, t};
    s[t] = s[t ^ 1];
    R r = s[(t + 5) % warpSize];
    o[t] = r.a + 100 * r.e; }''', records)

check("volatile sum of the old kind", '''{
    __shared__ int s[64]; int t = threadIdx.x; s[t] = x[t];
    if (t < warpSize / 2) {
        volatile int *v = s;
        for (int w = warpSize / 2; w > 0; w /= 2) v[t] += v[t + w];
    }
    o[t] = s[0]; }''', lambda x: np.full(W, x.sum()))
"""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("warp", WARPS)
def test_asked_for_a_kernel_runs_in_step(
    run_python: Run, form: Form, warp: int
) -> None:
    done = run_python(
        START + ASKED + END,
        str(warp),
        "HIPADAPT_LOCKSTEP",
        HIPADAPT_CPU_EXEC=form,
        HIPADAPT_CPU_WARP_SIZE=str(warp),
    )

    assert done.stdout == "wrong: []\n"


@pytest.mark.parametrize("form", FORMS)
def test_asked_for_all_kernels_run_in_step(run_python: Run, form: Form) -> None:
    done = run_python(
        START + ASKED + END,
        "32",
        "",
        HIPADAPT_CPU_LOCKSTEP="1",
        HIPADAPT_CPU_EXEC=form,
        HIPADAPT_CPU_WARP_SIZE="32",
    )

    assert done.stdout == "wrong: []\n"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("warp", WARPS)
def test_seen_exchange_runs_in_step(run_python: Run, form: Form, warp: int) -> None:
    done = run_python(
        START + END,
        str(warp),
        "",
        HIPADAPT_CPU_EXEC=form,
        HIPADAPT_CPU_WARP_SIZE=str(warp),
    )

    assert done.stdout == "wrong: []\n"


def test_without_the_word_sums_are_not_in_step(run_python: Run) -> None:
    # To the compiler s[t] and s[t ^ 1] are two cells, so it is not seen; a GPU's
    # compiler does the same.  If this comes out right, ASKED tests nothing.
    done = run_python(START + ASKED + END, "32", "", HIPADAPT_CPU_WARP_SIZE="32")

    assert "'sums'" in done.stdout


# What the compile pass says of a kernel: SEEN, or nothing.
LOOK = r"""
import sys
import hipadapt
hipadapt.Program(sys.argv[1]).compile()
"""
HEAD = 'extern "C" __global__ void k(int *o, const int *x, int n, int w) {'
SHARED = HEAD + " __shared__ int s[1024]; int t = threadIdx.x;"
SEEN = {
    "butterfly": "s[t] = x[t]; for (int j = 16; j; j /= 2) s[t] += s[t ^ j]; o[t] = s[t];",
    "neighbour": "s[t] = x[t]; o[t] = s[t + 1];",
    "reversed": "s[t] = x[t]; o[t] = s[31 - t];",
    "loop over all": "s[t] = x[t]; int u = 0;"
    "for (int j = 0; j < 32; j++) u += s[j]; o[t] = u;",
    "next round": "for (int j = 0; j < n; j++) { o[t] += s[(t + 1) & 31]; s[t] = j; }",
    "volatile in global memory": "volatile int *v = o; v[t] = x[t]; o[t] = v[t + 1];",
    "permuted in global memory": "for (int j = 16; j; j /= 2) { int p = t ^ j;"
    "if (p > t && o[t] > o[p]) { int u = o[t]; o[t] = o[p]; o[p] = u; } }",
}
NOT_SEEN = {
    "barrier": "s[t] = x[t]; __syncthreads(); o[t] = s[t + 1];",
    "barrier of the warp": "s[t] = x[t]; __syncwarp(); o[t] = s[t + 1];",
    "own cell": "s[t] = x[t]; for (int j = 0; j < n; j++) s[t] += j; o[t] = s[t];",
    "grid stride": "for (int i = t; i < n; i += blockDim.x) s[i] = i;"
    "for (int i = t; i < n; i += blockDim.x) o[i] = s[i];",
    "own part": "for (int j = 0; j < 8; j++) s[8 * t + j] = x[j];"
    "for (int j = 0; j < n; j++) o[t] += s[8 * t + (j & 7)];",
    "own column": "for (int j = 0; j < n; j++) s[j * blockDim.x + t] = x[j];"
    "for (int j = 0; j < n; j++) o[t] += s[j * blockDim.x + t];",
    "column of a known block": "for (int j = 0; j < n; j++) s[j * 256 + t] = x[j];"
    "for (int j = 0; j < n; j++) o[t] += s[j * 256 + t];",
    "tree with barriers": "s[t] = x[t]; for (int d = 512; d; d /= 2) { __syncthreads();"
    "if (t < d) s[t] += s[t + d]; } if (t == 0) o[0] = s[0];",
    "sweep with barriers": "int f = 1; for (int d = 512; d; d /= 2, f *= 2) {"
    "__syncthreads(); if (t < d) { int a = f * (2 * t + 1) - 1,"
    "b = f * (2 * t + 2) - 1, u = s[a]; s[a] = s[b]; s[b] += u; } }"
    "__syncthreads(); o[t] = s[t];",
    "two arrays in one": "extern __shared__ int d[]; int *e = d + n;"
    "d[t] = x[t]; o[t] = e[t] + e[0];",
    "in place": "for (int j = 0; j < n; j++) o[t] = o[t + 1] + o[t] + o[t - 1];",
    "indices from memory": "for (int j = 0; j < n; j++) o[x[t + j]] += o[x[t]];",
    "waiting": "volatile int *v = o; v[t] = 1; while (v[t ^ 1] == 0) {}",
}


@pytest.mark.parametrize("name", [*SEEN, *NOT_SEEN])
def test_exchanges_are_seen_and_nothing_else(run_python: Run, name: str) -> None:
    body = SEEN.get(name) or NOT_SEEN[name]

    done = run_python(LOOK, SHARED + body + "}", HIPADAPT_LOG="3", HIPADAPT_CACHE="0")

    assert ("kernel @k: lanes run in step: " in done.stderr) == (name in SEEN)


REFUSED = {
    "function": (
        "__device__ int put(int *p, int n) { *p += n;"
        " return n < 2 ? n : put(p, n - 1) + put(p + 1, n - 2); }\n"
        'extern "C" __global__ HIPADAPT_LOCKSTEP void k(int *o, int n) {'
        " o[threadIdx.x] = put(o + threadIdx.x, n); }",
        "the lanes of kernel @k cannot run in step, as HIPADAPT_LOCKSTEP asks: function "
        "@_Z3putPii, which is not inlined, uses memory",
    ),
    "copy": (
        'struct R { int a[40]; }; extern "C" __global__ HIPADAPT_LOCKSTEP'
        " void k(R *o) { o[threadIdx.x] = o[threadIdx.x ^ 1]; }",
        "a copy of more than 128 bytes",
    ),
    "loops": (
        'extern "C" __global__ HIPADAPT_LOCKSTEP void k(int *o, const int *n) {'
        + "".join(f"for (int i{d} = 0; i{d} < n[{d}]; i{d}++)" for d in range(9))
        + "o[threadIdx.x] += 1; }",
        "more than 8 loops in another",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_in_step_is_refused_with_the_reason(
    run_python: Run, what: str
) -> None:
    source, text = REFUSED[what]

    done = run_python(
        LOOK.replace("hipadapt.Program", "try: hipadapt.Program")
        + "except Exception as error: print(error)",
        source,
    )

    assert text in done.stdout


def test_kernels_beside_one_in_step_stay_as_they_are(run_python: Run) -> None:
    done = run_python(r"""
import hipadapt
import numpy as np
module = hipadapt.Program('''
extern "C" __global__ HIPADAPT_LOCKSTEP void one(int *o) { o[threadIdx.x] += 1; }
extern "C" __global__ void two(int *o) { for (int i = 0; i < 3; i++) o[threadIdx.x] += 2; }
''').compile()
o = hipadapt.array(np.zeros(50, "i4"))
module.kernel("one")[1, 50](o)
module.kernel("two")[1, 50](o)
print(set(o.get().tolist()))
""")

    assert done.stdout == "{7}\n"
