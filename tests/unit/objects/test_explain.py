# SPDX-License-Identifier: MIT
"""Kernel.explain: what it says of real kernels, line by line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hipadapt
from hipadapt._objects.explanation import Explanation

ROOT = Path(__file__).resolve().parents[3]
SOURCE = """\
extern "C" __global__ void meet(float *out, const float *in) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float own = in[blockIdx.x * 256 + t];
    s[t] = own;
    __syncthreads();
    out[blockIdx.x * 256 + t] = own + s[255 - t];
}
extern "C" __global__ void sum(float *out, const float *in) {
    float v = in[threadIdx.x];
    v += __shfl_down(v, 16);
    if (threadIdx.x == 0) out[0] = v;
}
__device__ int steps(unsigned n) {
    int k = 0;
    while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; k++; }
    return k;
}
extern "C" __global__ void collatz(int *out, const unsigned *in) {
    out[threadIdx.x] = steps(in[threadIdx.x]);
}
extern "C" __global__ void plain(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}
extern "C" __global__ void strided(float *y, const float *x, const int *at) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[3 * i] + x[at[i]] + x[0];
}
extern "C" __global__ void rounds(float *y, int n) {
    float v = y[threadIdx.x];
    for (int k = 0; k < n; k++)
        v = v * v + 1;
    y[threadIdx.x] = v;
}
extern "C" __global__ void widths(int *x, int width) {
    int v = x[threadIdx.x];
    if (width > 4)
        v += x[threadIdx.x + 1];
    v += __shfl_up(v, 1);
    v += __shfl_up(v, 1, width);
    x[threadIdx.x] = v;
}
extern "C" __global__ void counts(int *n, const int *at) {
    atomicAdd(n, 1);
    atomicAdd(n + at[threadIdx.x], 1);
}
extern "C" __global__ HIPADAPT_LOCKSTEP void turns(int *x) {
    x[threadIdx.x ^ 1] = x[threadIdx.x] + 1;
}
extern "C" __global__ void strides(float *x, int n) {
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        x[i] += 1;
    __syncthreads();
}
extern "C" __global__ void spans(float *x, int n) {
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        x[i] += 1;
}
"""


@pytest.fixture(scope="module")
def module() -> hipadapt.Module:
    return hipadapt.Program(SOURCE, name="many.hip").compile()


def told(module: hipadapt.Module, name: str) -> Explanation:
    return module.kernel(name).explain()


def texts(explanation: Explanation, kind: str, line: int | None) -> list[str]:
    return [r.text for r in explanation.of(kind) if r.line == line]


def test_barrier_kernel_has_regions_and_what_is_kept(module: hipadapt.Module) -> None:
    found = told(module, "meet")

    assert (found.form, found.file, found.line) == ("gang", "many.hip", 1)
    assert found.width in (8, 16)
    (region,) = texts(found, "region", None)
    assert region.startswith("2 regions") and region.endswith("lines 3-6, 7-8")
    assert "kept between regions" in texts(found, "kept", 4)[0]
    (whole,) = texts(found, "kept", None)
    assert f"bytes for {found.width} lanes" in whole
    assert texts(found, "access", 4) == ["loads 4 bytes a lane of 'in', side by side"]
    assert texts(found, "access", 5) == [
        "stores 4 bytes a lane of shared memory, side by side"
    ]
    assert texts(found, "access", 7) == [
        "loads 4 bytes a lane of shared memory, -4 bytes apart (gathered)",
        "stores 4 bytes a lane of 'out', side by side",
    ]


def test_warp_kernel_is_a_warp_because_of_its_call(module: hipadapt.Module) -> None:
    found = told(module, "sum")

    assert (found.form, found.width) == ("gang", 32)
    (why,) = texts(found, "form", 11)
    assert why.startswith("a gang is a warp, because of this call; launches whose")
    (branch,) = texts(found, "branch", 12)
    assert "it depends on threadIdx.x" in branch


def test_diverging_loop_names_what_it_depends_on(module: hipadapt.Module) -> None:
    found = told(module, "collatz")

    assert found.form == "gang"
    (loop,) = texts(found, "loop", 16)
    assert "different rounds" in loop
    assert "the load of line 20" in loop
    assert texts(found, "access", 20) == [
        "loads 4 bytes a lane of 'in', side by side",
        "stores 4 bytes a lane of 'out', side by side",
    ]


def test_plain_kernel_is_rows_of_vectors(module: hipadapt.Module) -> None:
    found = told(module, "plain")

    assert (found.form, found.width, found.line) == ("rows", 0, 22)
    assert "through neighbouring blocks" in texts(found, "form", None)[0]
    assert texts(found, "branch", 24)[0].startswith("asked once for a row")
    assert texts(found, "refused", None) == []
    (vector,) = texts(found, "vector", None)
    assert vector.startswith("the compiler turned loops into vectors of")


def test_addresses_of_lanes_are_told_apart(module: hipadapt.Module) -> None:
    found = told(module, "strided")

    loads = texts(found, "access", 29)
    assert "loads 4 bytes a lane of 'x', 12 bytes apart" in loads
    assert (
        "loads 4 bytes a lane of 'x', at addresses without a pattern: it depends on "
        "the load of line 29" in loads
    )
    assert "loads 4 bytes of 'x', one address for all lanes" in loads
    (hint,) = found.of("hint")
    assert "neighbouring lanes" in hint.text


def test_loop_inside_of_lanes_is_named(module: hipadapt.Module) -> None:
    found = told(module, "rounds")

    if found.form == "rows":
        (loop,) = texts(found, "loop", 33)
        assert loop.startswith("each lane does this loop by itself")
    else:
        assert found.form == "gang"


def test_refused_kernel_says_why_and_where(module: hipadapt.Module) -> None:
    found = told(module, "widths")

    assert (found.form, found.width) == ("reference", 0)
    (refused,) = found.of("refused")
    assert refused.line == 42
    assert refused.text == "no gangs: a shuffle of a width known at run time"


def test_atomics_are_combined_or_done_lane_by_lane(module: hipadapt.Module) -> None:
    found = told(module, "counts")

    assert found.form == "gang"
    assert texts(found, "atomic", 46) == [
        "an atomic of one address for all lanes: the lanes are combined first, and it "
        "is done once"
    ]
    assert texts(found, "atomic", 47) == [
        "an atomic of addresses that differ by lane: done lane by lane"
    ]


def test_lanes_in_step_are_told(module: hipadapt.Module) -> None:
    found = told(module, "turns")

    forms = texts(found, "form", None)
    assert "the lanes of a warp run in step, as the program asks" in forms
    if found.form == "gang":
        assert found.width == 32
        assert any("because lanes run in step" in text for text in forms)


def test_loop_that_strides_is_done_by_all_gangs(module: hipadapt.Module) -> None:
    (loop,) = texts(told(module, "strides"), "loop", 53)

    assert loop.endswith(
        "all gangs of the block do a round together, until the last lane is done"
    )
    steps = "up to 64 blocks that are neighbours in x go in step"
    assert steps not in texts(told(module, "strides"), "form", None)
    assert steps in texts(told(module, "spans"), "form", None)


def test_kernel_that_stays_rows_says_so(module: hipadapt.Module) -> None:
    forms = texts(told(module, "strided"), "form", None)

    assert "no gangs: by an estimate they would be slower" in forms


def test_text_has_the_lines_of_the_source(module: hipadapt.Module) -> None:
    shown = str(told(module, "plain")).splitlines()

    assert shown[0] == "plain: rows, many.hip:22"
    assert "  line 25: y[i] = 2 * x[i];" in shown
    assert "    access: loads 4 bytes a lane of 'x', side by side" in shown
    assert repr(told(module, "meet")).startswith("<Explanation meet: gang ")


def test_code_alone_is_explained_without_the_back_end(module: hipadapt.Module) -> None:
    again = hipadapt.Module.from_code(module.code)
    found = again.kernel("plain").explain()

    assert not found.is_complete
    assert found.form == "rows"
    assert texts(found, "access", 25) == [
        "loads 4 bytes a lane of 'x', side by side",
        "stores 4 bytes a lane of 'y', side by side",
    ]
    assert found.source_line(found.of("access")[0]) == ""


def test_option_puts_all_of_it_into_the_code() -> None:
    program = hipadapt.Program(SOURCE, ["-fhipadapt-explain"])
    again = hipadapt.Module.from_code(program.compile().code)

    assert again.kernel("plain").explain().is_complete


def test_header_of_the_program_is_named() -> None:
    program = hipadapt.Program(
        '#include "scale.h"\n'
        'extern "C" __global__ void k(float *x) { scale(x + 5 * threadIdx.x); }',
        headers={"scale.h": "\n__device__ void scale(float *x) {\n*x *= 0.5f;\n}\n"},
    )
    found = program.compile().kernel("k").explain()

    (load, _) = found.of("access")
    assert (load.file.rpartition("/")[2], load.line) == ("scale.h", 3)
    assert "scale.h line 3" in str(found)


def test_page_shows_what_its_example_prints() -> None:
    page = (ROOT / "docs" / "cpu_performance.md").read_text("utf-8")
    source, behind = page.split('source = r"""', 1)[1].split('"""', 1)
    shown = behind.split("```\n", 3)[2]
    printed = str(hipadapt.compile_kernel(source, "sums").explain())

    # Numbers of registers and of lanes are those of one processor.
    words = ("line ", "loop:", "branch:", "access:")
    assert [
        line for line in printed.splitlines() if line.strip().startswith(words)
    ] == [line for line in shown.splitlines() if line.strip().startswith(words)]


def test_closed_module_is_refused() -> None:
    module = hipadapt.Program('extern "C" __global__ void k() {}').compile()
    kernel = module.kernel("k")
    module.close()

    with pytest.raises(ValueError, match="closed"):
        kernel.explain()


def test_variable_tells_each_kernel_once(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        f"import hipadapt\nm = hipadapt.Program({SOURCE!r}).compile()\n"
        "x = hipadapt.zeros(1024, 'float32')\n"
        "for _ in range(2): m.kernel('plain')[1, 64](x, x, 64)\n"
    )
    done = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "HIPADAPT_CPU_EXPLAIN": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )

    lines = [line for line in done.stderr.splitlines() if "explain:" in line]
    assert lines[0] == "hipadapt: explain: kernel 'plain' (rows), program.hip:22"
    assert sum("kernel 'plain'" in line for line in lines) == 1
    assert any("line 25, access: loads 4 bytes" in line for line in lines)
    assert any("vector: the compiler turned loops" in line for line in lines)
