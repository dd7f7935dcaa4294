# SPDX-License-Identifier: MIT
"""What verbose lines say: one for each thing that a program does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import hipadapt
from tests.conftest import Run
from tests.unit.verbose.verbose_lines import COLUMNS, HEAD, number, results

BEGIN = """
import ctypes, os, sys, time
import numpy as np
import hipadapt
from hipadapt import hip
def say(*words):  # at once, so that no line stands within it
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())
TEXT = 'extern "C" __global__ void scale(float *x, float a, int n) '
TEXT += '{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= a; }'
TEXT += 'extern "C" __global__ void broken(int *x) { *(volatile int *)8 = *x; }'
module = hipadapt.Program(TEXT, name="text.hip").compile()
scale = module.kernel("scale")
x = hipadapt.zeros(1000, dtype="float32")
"""


def lines_of(
    run_python: Run, code: str, words: str, **more: str
) -> list[dict[str, str]]:
    return results(run_python(BEGIN + code, HIPADAPT_VERBOSE=words, **more).stdout)


def test_a_kernel_has_its_shape_and_arguments(run_python: Run) -> None:
    code = "s = hipadapt.Stream(); scale[(3, 2), (64, 2), 128, s](x, 2.5, 1000)\n"
    code += "s.synchronize(); say('stream', s.handle); say('x', hex(int(x)))"
    done = run_python(BEGIN + code, HIPADAPT_VERBOSE="profile_exec")
    told = dict(line.split() for line in done.stdout.splitlines() if " " in line[:8])
    row = results(done.stdout)[-1]

    assert row["component"] == "kernel"
    assert row["operation"] == "exec"
    assert row["engine"] == "gpu:0"
    assert (row["primitive"], row["implementation"]) == ("kernel", "scale")
    assert row["prop_kind"] == f"stream:{told['stream']}"
    assert row["memory_descriptors"] == (
        f"arg0:ptr:{told['x']}:float32:1000 arg1:float:2.5 arg2:int:1000"
    )
    assert row["problem_desc"] == "grid:3x2x1 block:64x2x1"
    assert number(row, "shmem") == 128
    assert "status:done" in row["auxiliary"]
    taken = number(row, "end") - number(row, "start")
    assert taken > 0
    assert round(float(row["exec_time"]) * 1e6) == taken


@pytest.mark.parametrize("form", ["params", "extra", "address"])
def test_launches_by_hips_own_functions_have_arguments_too(
    run_python: Run, form: str
) -> None:
    code = f"""
values = (x, ctypes.c_float(2), ctypes.c_int(8))
say(hex(int(x)))
extra = hipadapt.types.HipModuleLaunchKernel_extra(values)
given = {{"params": (values, None), "extra": (None, list(values)),
          "address": (None, extra)}}[{form!r}]
hip.hipModuleLaunchKernel(scale, 1, 1, 1, 8, 1, 1, 0, None, *given)
"""
    code += "hip.hipDeviceSynchronize()"
    done = run_python(BEGIN + code, HIPADAPT_VERBOSE="profile_exec")
    row = results(done.stdout)[-1]
    address = next(x for x in done.stdout.split() if x.startswith("0x"))

    assert row["implementation"] == "scale"
    assert row["memory_descriptors"] == (
        ""
        if form == "address"
        else f"arg0:ptr:{address}:float32:1000 arg1:c_float:2.0 arg2:c_int:8"
    )


def test_a_refused_launch_leaves_no_arguments_behind(run_python: Run) -> None:
    code = """
values = (x, ctypes.c_float(2), ctypes.c_int(8))
extra = hipadapt.types.HipModuleLaunchKernel_extra(values)
say(hip.hipModuleLaunchKernel(
    scale, 1, 1, 1, 100000, 1, 1, 0, None, values, None))
hip.hipModuleLaunchKernel(scale, 1, 1, 1, 8, 1, 1, 0, None, None, extra)
hip.hipDeviceSynchronize()
"""
    rows = lines_of(run_python, code, "profile_exec")

    assert [r["memory_descriptors"] for r in rows if r["primitive"] == "kernel"] == [""]


def test_copies_and_fills_have_their_bytes(run_python: Run) -> None:
    code = """
y, h = hipadapt.zeros(1000, dtype="float32"), np.zeros(1000, "float32")
K = hip.hipMemcpyKind.hipMemcpyDefault
hip.hipMemcpy(y, h, 400, K); hip.hipMemcpy(h, y, 404, K); hip.hipMemcpy(x, y, 408, K)
hip.hipMemcpyAsync(h, y, 412, K, None); hip.hipDeviceSynchronize()
hip.hipMemset(x, 1, 416)
"""
    rows = lines_of(run_python, code, "profile_exec")
    shown = [(r["primitive"], r["implementation"], number(r, "bytes")) for r in rows]

    assert [s for s in shown if s[0] == "memcpy"] == [
        ("memcpy", "HtoD", 400),
        ("memcpy", "DtoH", 404),
        ("memcpy", "DtoD", 408),
        ("memcpy", "DtoH", 412),
    ]
    assert [s[2] for s in shown if s[0] == "memset"][-1] == 416


def test_nodes_of_a_graph_have_lines(run_python: Run) -> None:
    code = """
call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda p: time.sleep(0.002))
s = hipadapt.Stream()
hip.hipStreamBeginCapture(s, hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal)
scale[1, 64, 0, s](x, 2.0, 64)
hip.hipMemsetAsync(x, 0, 256, s)
hip.hipLaunchHostFunc(s, call, None)
hip.hipMemcpyAsync(x[500:], x, 128, hip.hipMemcpyKind.hipMemcpyDefault, s)
graph = hip.hipStreamEndCapture(s)[1]
run = hip.hipGraphInstantiateWithFlags(graph, 0)[1]
s.synchronize()
for i in range(2):
    hip.hipGraphLaunch(run, s)
s.synchronize()
"""
    rows = lines_of(run_python, code, "profile_exec")[1:]  # zeros of x
    calls = [number(row, "corr") for row in rows]

    assert [r["primitive"] for r in rows] == 2 * [
        "kernel", "memset", "hostfunc", "memcpy"
    ]  # fmt: skip
    assert calls[:4] == 4 * [calls[0]]
    assert calls[4:] == 4 * [calls[4]]
    assert calls[0] < calls[4]


def test_a_host_function_has_its_time(run_python: Run) -> None:
    code = """
call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda p: time.sleep(0.02))
say(hex(ctypes.cast(call, ctypes.c_void_p).value))
hip.hipLaunchHostFunc(None, call, None)
hip.hipDeviceSynchronize()
"""
    done = run_python(BEGIN + code, HIPADAPT_VERBOSE="profile_exec")
    row = results(done.stdout)[-1]

    assert (row["engine"], row["primitive"]) == ("cpu", "hostfunc")
    assert row["implementation"] in done.stdout.split()
    assert 20 <= float(row["exec_time"]) < 2000


def test_compilations_and_loads_tell_of_the_cache(
    run_python: Run, tmp_path: Path
) -> None:
    code = """
hipadapt.Program(TEXT, name="again, 100%.hip").compile()
try:
    hipadapt.Program("no program", name="wrong.hip").compile()
except hipadapt.errors.HiprtcErrorCompilation:
    pass
"""
    rows = lines_of(
        run_python, code, "profile_create", HIPADAPT_CACHE_DIR=str(tmp_path / "new")
    )
    shown = [(r["operation"], r["primitive"], r["implementation"]) for r in rows]

    assert shown[0] == ("create:cache_miss", "compile", "text.hip")
    assert shown[1][1] == "module"
    assert ("create:error", "compile", "wrong.hip") in shown
    assert ("again, 100%.hip") in [s[2] for s in shown]
    again = lines_of(
        run_python, "", "profile_create", HIPADAPT_CACHE_DIR=str(tmp_path / "new")
    )
    assert again[0]["operation"] == "create:cache_hit"
    assert float(again[0]["exec_time"]) < float(rows[0]["exec_time"])


FAILURES = """
hip.hipMemcpy(x, 0, 100, hip.hipMemcpyKind.hipMemcpyDefault)
hip.hipStreamDestroy(12345)
hip.hipMalloc(1 << 60)
hip.hipStreamQuery(None)
broken = module.kernel("broken")
broken[1, 1](x)
hip.hipDeviceSynchronize()
hip.hipGetLastError()
hip.hipDeviceReset()
"""


def test_refused_arguments_have_a_check_line(run_python: Run) -> None:
    rows = lines_of(run_python, FAILURES, "check")

    assert [(r["component"], r["operation"], r["implementation"]) for r in rows] == [
        ("api", "check", "hipMemcpy"),
        ("api", "check", "hipStreamDestroy"),
    ]
    assert rows[0]["problem_desc"] == "hipMemcpy: argument 'src' is NULL"
    assert "status:hipErrorInvalidValue" in rows[0]["auxiliary"]


def test_failures_have_an_error_line(run_python: Run) -> None:
    rows = lines_of(run_python, FAILURES, "error")

    assert [(r["operation"], r["implementation"]) for r in rows] == [
        ("error", "hipMalloc"),
        ("exec:error", "broken"),
        ("error", "hipDeviceSynchronize"),
    ]
    assert "status:fault" in rows[1]["auxiliary"]
    assert "invalid access at 0x8 in block (0,0,0)" in rows[2]["problem_desc"]


def test_work_that_never_ran_is_told(run_python: Run) -> None:
    code = """
call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda p: time.sleep(0.3))
s = hipadapt.Stream()
hip.hipLaunchHostFunc(s, call, None)
module.kernel("broken")[1, 1, 0, s](x)
scale[1, 1, 0, s](x, 2.0, 1)
hip.hipDeviceSynchronize()
"""
    rows = lines_of(run_python, code, "profile_exec")[1:]

    assert [(r["operation"], r["implementation"][:6]) for r in rows[1:]] == [
        ("exec:error", "broken"),
        ("exec:error", "scale"),
    ]
    assert "clock:host" in rows[2]["auxiliary"]
    assert "status:cancelled" in rows[2]["auxiliary"]
    assert rows[2]["exec_time"] == "0"


def test_the_header_stands_once_and_names_the_columns(run_python: Run) -> None:
    for timestamp in ("0", "1"):
        done = run_python(
            BEGIN + "hipadapt.verbose.flush(); say('process', os.getpid())",
            HIPADAPT_VERBOSE="profile",
            HIPADAPT_VERBOSE_TIMESTAMP=timestamp,
        )
        lines = done.stdout.splitlines()
        process = done.stdout.partition("process ")[2].split()[0]
        stamp = ["timestamp"] if timestamp == "1" else []

        assert lines[0] == f"{HEAD}info,hipadapt v{hipadapt.__version__}"
        assert lines[1].startswith(f"{HEAD}info,process:{process},clock:")
        columns = ",".join(stamp + COLUMNS)
        assert lines[2] == f"{HEAD}kernel,info,template:{columns}"
        assert done.stdout.count("template:") == 1


def test_a_timestamp_is_the_unix_time_of_the_start(run_python: Run) -> None:
    code = "a = time.time(); scale[1, 1](x, 2.0, 1); hip.hipDeviceSynchronize()\n"
    code += "say('between', a, time.time())"
    done = run_python(
        BEGIN + code, HIPADAPT_VERBOSE="profile_exec", HIPADAPT_VERBOSE_TIMESTAMP="1"
    )
    row = results(done.stdout)[-1]
    words = next(line for line in done.stdout.splitlines() if "between" in line)
    _, before, after = words.split()

    assert float(before) - 0.01 <= float(row["timestamp"]) / 1e3 <= float(after) + 0.01
    clock = done.stdout.partition("clock:")[2].split("\n")[0]
    unix_ns = int(row["timestamp"].replace(".", ""))
    assert unix_ns == int(clock.replace(".", "")) + number(row, "start")


@pytest.mark.parametrize("way", ["fork", "spawn", "exec"])
def test_children_write_whole_lines_to_the_same_file(
    run_python: Run, tmp_path: Path, way: str
) -> None:
    launch = "for i in range(300): scale[1, 64](x, 1.0, 64)\n"
    launch += "hip.hipDeviceSynchronize()\n"
    child = {
        "fork": "import os\nfor i in range(3):\n    if os.fork() == 0: break\n",
        "spawn": "import subprocess, sys\nif len(sys.argv) == 1:\n"
        "    all = [subprocess.Popen([sys.executable, *sys.orig_argv[1:], 'child'])\n"
        "           for i in range(3)]\n",
        "exec": "import os, sys\nif len(sys.argv) == 1:\n    for i in range(3):\n"
        "        if os.fork() == 0:\n            os.execv(sys.executable, "
        "[sys.executable, *sys.orig_argv[1:], 'child'])\n",
    }[way]
    wait = (
        "\nimport os\ntry:\n    while True: os.wait()\nexcept ChildProcessError: pass"
    )
    file = tmp_path / "lines.txt"
    run_python(
        child + BEGIN + launch + wait,
        HIPADAPT_VERBOSE="profile_exec",
        HIPADAPT_VERBOSE_FILE=str(file),
    )
    rows = results(file.read_text())
    processes = {number(row, "tid") for row in rows}

    assert len(processes) == 4
    assert len([r for r in rows if r["implementation"] == "scale"]) == 4 * 300
    assert all(line.startswith(HEAD) for line in file.read_text().splitlines())


def test_a_child_forked_from_a_program_with_lines_has_none(run_python: Run) -> None:
    code = """
hip.hipDeviceSynchronize()
if os.fork() == 0:
    try:
        hipadapt.verbose.set("all")
    except RuntimeError as error:
        os.write(2, str(error).encode())
    sys.exit(0)
os.wait()
scale[1, 1](x, 2.0, 1); hip.hipDeviceSynchronize()
"""
    done = run_python(BEGIN + code, HIPADAPT_VERBOSE="profile_exec")

    assert len(results(done.stdout)) == 2
    assert "child of a process with verbose lines" in done.stderr


def test_the_file_has_the_number_of_the_process(
    run_python: Run, tmp_path: Path
) -> None:
    done = run_python(
        BEGIN + "say(os.getpid())",
        HIPADAPT_VERBOSE="profile_exec",
        HIPADAPT_VERBOSE_FILE=str(tmp_path / "a-%p-%p.txt"),
    )

    assert os.listdir(tmp_path) == ["a-{0}-{0}.txt".format(done.stdout.strip())]
