# SPDX-License-Identifier: MIT
"""``watch``: tensors of programs as lines."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import ROOT

LINE = re.compile(
    r"(?P<prefix>.*): (?P<dtype>\w+) (?P<shape>[\dx]+) device=(?P<device>\d+) "
    r"min=(?P<min>\S+) max=(?P<max>\S+) mean=(?P<mean>\S+) "
    r"nan=(?P<nan>\d+) inf=(?P<inf>\d+) \[(?P<values>[^]]*)\]"
)
LAST = re.compile(r"hipadapt watch: (\d+) tensors of process (\d+), (\d+) dropped(.*)")

KERNELS = r"""
#include <hipadapt/debug_tensor.h>
extern "C" __global__ void send(const float *x, unsigned pipe, int times)
{
    for (int i = 0; i < times; i++)
        ha_debug_tensor_launch("x", pipe, x, 2, 3);
}
"""
PROGRAM = f"""
import os, sys, time
import hipadapt
kernel = hipadapt.compile_kernel(r'''{KERNELS}''', "send")
x = hipadapt.full(6, 1.5, "float32")
def send(times, pipe=1):
    kernel[1, 1](x, pipe, times)
"""
CPP = r"""
#include <hip/hip_runtime.h>
#include <hipadapt/debug_tensor.h>
__global__ void send(int *x)
{
    x[0] = 7;
    for (int i = 0; i < 3000; i++)
        ha_debug_tensor("seven", 1, x);
}
int main()
{
    int *x;
    if (hipMalloc(&x, 256) != hipSuccess)
        return 1;
    send<<<1, 1>>>(x);
    return 7; /* waits for nothing */
}
"""


def start(*words: object, **more: Any) -> subprocess.Popen[str]:
    environment = more.pop("environment", {})
    return subprocess.Popen(
        [sys.executable, "-m", "hipadapt", "watch", *map(str, words)],
        env={
            **os.environ,
            "HIPADAPT_PROVIDER": "cpu",
            "PYTHONPATH": str(ROOT),
            **environment,
        },
        text=True,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more},
    )


def watch(code: str, **more: Any) -> subprocess.CompletedProcess[str]:
    child = start("--", "python", "-c", PROGRAM + code, **more)
    output, errors = child.communicate(timeout=120)
    return subprocess.CompletedProcess([], child.returncode, output, errors)


def lasts(done: subprocess.CompletedProcess[str]) -> list[tuple[int, int]]:
    """Of each process: tensors that were printed, and dropped."""
    found = map(LAST.fullmatch, done.stderr.splitlines())
    return sorted((int(last[1]), int(last[3])) for last in found if last)


# ---- lines ----

SIZES = {
    **{f"{kind}{8 * size}": size for kind in ("int", "uint") for size in (1, 2, 4, 8)},
    **{"bool": 1, "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8},
    **{"complex64": 8, "complex128": 16},
    **{
        f"float8_{kind}": 1
        for kind in ("e4m3", "e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz")
    },
}
ELEMENTS = 96


def bytes_of(name: str) -> bytes:
    """Bits of all kinds of numbers; the first are what has to be marked."""
    made = np.random.default_rng(SIZES[name])
    if SIZES[name] >= 4 and name[0] in "fc":
        values = made.normal(0, 100, ELEMENTS).astype(name)
        values[:5] = [np.nan, np.inf, -np.inf, 0.1, 1e-40]
        if name[0] == "c":
            values[5:7] = [complex(1, -np.nan), complex(-2.5, np.inf)]
        return bytes(values.tobytes())
    top = 2 if name == "bool" else 256
    return made.integers(0, top, ELEMENTS * SIZES[name], "uint8").tobytes()


def array_of(name: str) -> np.ndarray[Any, Any]:
    try:
        dtype = np.dtype(name)
    except TypeError:
        dtype = np.dtype(getattr(pytest.importorskip("ml_dtypes"), name))
    return np.frombuffer(bytes_of(name), dtype)


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, re.Match[str]]:
    """Those of a program that sends a tensor of each dtype."""
    folder = tmp_path_factory.mktemp("dtypes")
    source = "#include <hipadapt/debug_tensor.h>\n"
    for name in SIZES:
        (folder / name).write_bytes(bytes_of(name))
        source += f"""extern "C" __global__ void send_{name}(const char *x) {{
            ha_debug_tensor_launch("{name}", 1, x, "{name}", 2, {ELEMENTS // 2}); }}
        """
    code = f"""
import hipadapt, numpy as np
module = hipadapt.Program(r'''{source}''').compile()
for name in {list(SIZES)}:
    data = hipadapt.array(np.fromfile("{folder}/" + name, "uint8"))
    module.kernel("send_" + name)[1, 1](data)
"""
    child = start("--", "python", "-c", code)
    output, errors = child.communicate(timeout=120)
    assert child.returncode == 0, errors
    found = map(LINE.fullmatch, output.splitlines())
    return {line["prefix"]: line for line in found if line}


@pytest.mark.parametrize("name", SIZES)
def test_statistics_are_numpys(lines: dict[str, re.Match[str]], name: str) -> None:
    array, line = array_of(name), lines[name]
    numbers = array.astype("complex128" if name[0] == "c" else "float64")
    finite = numbers[np.isfinite(numbers)]
    assert (line["dtype"], line["shape"], line["device"]) == (name, "2x48", "0")
    assert int(line["nan"]) == np.isnan(numbers).sum()
    assert int(line["inf"]) == (np.isinf(numbers) & ~np.isnan(numbers)).sum()
    assert complex(line["mean"]) == pytest.approx(finite.mean(), rel=1e-5)

    if name[0] == "c":
        ends = float(line["min"]), float(line["max"])
        assert ends == pytest.approx((abs(finite).min(), abs(finite).max()), rel=1e-5)
        return
    for word, value in (("min", finite.min()), ("max", finite.max())):
        if name == "bool":
            assert line[word] == str(bool(value))
        elif array.dtype.kind in "iu":
            exact = array.min() if word == "min" else array.max()
            assert line[word] == str(exact)
        else:
            assert np.array(line[word], "float64").astype(array.dtype) == value


@pytest.mark.parametrize("name", SIZES)
def test_values_are_exact_and_short(lines: dict[str, re.Match[str]], name: str) -> None:
    array = array_of(name)[:8]
    *texts, more = lines[name]["values"].split(" ")
    assert (len(texts), more) == (8, "...")
    if name == "bool":
        assert texts == list(map(str, array))
    elif array.dtype.kind in "iu":
        assert texts == [str(int(value)) for value in array]
    else:
        kind = "complex128" if name[0] == "c" else "float64"
        read = complex if name[0] == "c" else float
        found = np.array([read(text) for text in texts]).astype(array.dtype)
        assert np.array_equal(
            found.astype(kind).view("float64"),
            array.astype(kind).view("float64"),
            equal_nan=True,
        )
    if name[0] not in "cbiu":
        most = {1: 5, 2: 6, 4: 9, 8: 17}[SIZES[name]]
        for text in texts:
            digits = re.sub(r"e.*|[-.naif]", "", text).lstrip("0")
            assert len(digits) <= most, text
    if name in ("float32", "float64", "complex128"):
        assert texts[3] in ("0.1", "0.1+0j")


def test_a_prefix_is_one_line_and_moves_no_cursor() -> None:
    code = r"""
source = r'''
#include <hipadapt/debug_tensor.h>
extern "C" __global__ void odd(const float *x)
{
    ha_debug_tensor("a\nb\033[2J%s\x7f \xc3\xa9", 1, x);
    ha_debug_tensor("", 1, x, 1, 6);
}
'''
hipadapt.compile_kernel(source, "odd")[1, 1](x)
"""
    done = watch(code)

    first, second = done.stdout.splitlines()
    statistics = "device=0 min=1.5 max=1.5 mean=1.5 nan=0 inf=0"
    assert first == rf"a\nb\x1b[2J%s\x7f é: float32 1 {statistics} [1.5]"
    assert second == f"float32 1x6 {statistics} [1.5 1.5 1.5 1.5 1.5 1.5]"


def test_lines_stay_whole_among_processes(tmp_path: Path) -> None:
    """All write to one pipe."""
    code = """
source = r'''
#include <hipadapt/debug_tensor.h>
extern "C" __global__ void many(const float *x)
{
    for (int i = 0; i < 1000; i++) ha_debug_tensor("%s", 1, x, 6);
}
'''
kernel = hipadapt.compile_kernel(source, "many")
for i in range(3):
    kernel[1, 1](x)
"""
    (tmp_path / "p.py").write_text(PROGRAM + code % ("long " * 100))
    one = f"{sys.executable} {tmp_path}/p.py"

    child = start("--", "sh", "-c", f"{one} & {one} & {one}; wait")
    time.sleep(2)  # the pipe gets full
    output, errors = child.communicate(timeout=120)

    assert child.returncode == 0, errors
    assert len(output.splitlines()) == 9000
    assert all(LINE.fullmatch(line) for line in output.splitlines())
    assert len(LAST.findall(errors)) == 3


# ---- programs ----


def test_pipes_and_status_are_the_programs() -> None:
    done = watch("send(2); send(3, 2); send(1, 7); sys.exit(5)")

    assert done.returncode == 5
    assert [line[:8] for line in done.stdout.splitlines()] == ["x: float"] * 3
    *rest, last = done.stderr.splitlines()
    assert [line[:8] for line in rest] == ["x: float"] * 3
    match = LAST.fullmatch(last)
    assert match and (match[1], match[3], match[4]) == ("6", "0", "")


def test_lines_come_while_the_program_runs() -> None:
    child = start("--", "python", "-c", PROGRAM + "send(1); time.sleep(60)")
    assert child.stdout is not None

    line = child.stdout.readline()
    child.send_signal(signal.SIGTERM)

    assert LINE.fullmatch(line.rstrip())
    child.communicate(timeout=60)
    assert child.returncode == -signal.SIGTERM


def test_a_program_in_cpp_prints_all_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "program.hip").write_text(CPP)
    words = [sys.executable, "-m", "hipadapt", "cc", "program.hip", "-o", "program"]
    subprocess.run(words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
                   check=True, timeout=120)  # fmt: skip

    child = start("--", tmp_path / "program")
    output, errors = child.communicate(timeout=120)

    assert child.returncode == 7, errors
    assert output.count("seven: int32 1 device=0 min=7 ") == 3000
    assert [last[:3:2] for last in LAST.findall(errors)] == [("3000", "0")]


def test_what_is_dropped_is_counted() -> None:
    done = watch("send(20000)", environment={"HIPADAPT_DEBUG_STREAM_BUFFER_SIZE": "4"})

    ((printed, dropped),) = lasts(done)
    assert printed + dropped == 20000
    assert dropped > 0 and f"({dropped} without room, 0 too large" in done.stderr
    assert len(done.stdout.splitlines()) == printed


def test_a_module_is_watched(tmp_path: Path) -> None:
    (tmp_path / "watched.py").write_text(PROGRAM + "send(2); print(sys.argv[1:])")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])

    child = start("-m", "watched", "-v", environment={"PYTHONPATH": path})
    output, errors = child.communicate(timeout=120)

    assert child.returncode == 0, errors
    assert output.count("x: float32 2x3 ") == 2
    assert "['-v']" in output  # a line may stand before its end


@pytest.mark.plain
def test_forked_children_have_their_own_watcher() -> None:
    code = """
import multiprocessing
from hipadapt import hip
def work():
    hip.hipInit(0)
    x = hipadapt.full(6, 2.5, "float32")
    hipadapt.compile_kernel(kernel_source, "send")[1, 1](x, 1, 30)
    hipadapt.Device().synchronize()
send(1)
hipadapt.Device().synchronize()
context = multiprocessing.get_context("fork")
children = [context.Process(target=work) for _ in range(2)]
for child in children: child.start()
for child in children: child.join()
send(4)
sys.exit(any(child.exitcode for child in children))
"""
    done = watch(f"kernel_source = r'''{KERNELS}'''\n{code}")

    assert done.returncode == 0, done.stderr
    assert lasts(done) == [(5, 0), (30, 0), (30, 0)], done.stderr
    assert done.stdout.count("min=2.5") == 60
    assert done.stdout.count("min=1.5") == 5


def test_the_programs_own_client_is_served_first() -> None:
    done = watch("""
send(20)
hipadapt.Device().synchronize()
for _ in range(20):
    with hipadapt.DebugStream() as stream:
        send(3)
        hipadapt.Device().synchronize()
        assert len(list(stream)) == 3, stream.counts
    send(2)
    hipadapt.Device().synchronize()
assert stream.dropped == 0
""")

    assert done.returncode == 0, done.stderr
    assert lasts(done) == [(60, 0)]
    assert len(done.stdout.splitlines()) == 60


# ---- outputs that take nothing ----


@pytest.mark.parametrize("place", ["/dev/full", "&-"])
def test_lines_that_nobody_takes_are_counted(place: str) -> None:
    words = [sys.executable, "-m", "hipadapt", "watch", "--"]
    words += ["python", "-c", PROGRAM + "send(50)"]

    done = subprocess.run(
        ["sh", "-c", f'exec "$@" >{place}', "sh", *words],
        env={**os.environ, "HIPADAPT_PROVIDER": "cpu", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    assert lasts(done) == [(50, 0)]
    assert "50 lines not written: " in done.stderr


def test_a_pipe_that_nobody_reads_stops_no_kernel() -> None:
    code = "send(100000); hipadapt.Device().synchronize()\n"
    code += "print('done', file=sys.stderr, flush=True)"
    child = start("--", "python", "-c", PROGRAM + code)
    assert child.stderr is not None

    assert child.stderr.readline() == "done\n"  # the pipe is full since long
    output, errors = child.communicate(timeout=120)

    ((printed, dropped),) = lasts(subprocess.CompletedProcess([], 0, output, errors))
    assert len(output.splitlines()) == printed
    assert printed + dropped == 100000
    assert dropped > 10000


def test_a_reader_that_leaves_ends_nothing() -> None:
    read, write = os.pipe()
    child = start("--", "python", "-c", PROGRAM + "send(50); sys.exit(3)", stdout=write)
    os.close(write)
    os.close(read)

    _, errors = child.communicate(timeout=120)

    assert child.returncode == 3
    assert "50 lines not written: Broken pipe" in errors


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ((), 2, "which program?"),
        (("--", "/no/program"), 127, "no such program"),
        (("--scan", "/no", "ls"), 2, "--scan /no"),
    ],
)
def test_bad_requests_start_nothing(
    words: tuple[str, ...], status: int, said: str
) -> None:
    child = start(*words)
    _, errors = child.communicate(timeout=120)

    assert child.returncode == status
    assert errors.startswith("hipadapt watch: ") and said in errors
