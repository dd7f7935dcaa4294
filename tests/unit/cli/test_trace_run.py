# SPDX-License-Identifier: MIT
"""``trace run``: programs of all kinds, and how they end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hipadapt
from tests.conftest import ROOT

PROGRAM = """
import os, sys, time
import hipadapt
SOURCE = 'extern "C" __global__ void work(int *x) { x[threadIdx.x] += 1; }'
kernel = hipadapt.compile_kernel(SOURCE, "work")
x = hipadapt.zeros(64, dtype="int32")
for i in range(3):
    kernel[(1,), (64,)](x)
"""
CPP = r"""
#include <hip/hip_runtime.h>
__global__ void add(int *x) { x[threadIdx.x] += 1; }
int main()
{
    int *x;
    if (hipMalloc(&x, 256) != hipSuccess)
        return 1;
    add<<<1, 64>>>(x);
    return 7; /* waits for nothing */
}
"""


def start(*words: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "hipadapt", "trace", "run", *map(str, words)],
        env={**os.environ, "HIPADAPT_PROVIDER": "cpu", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(*words: object) -> subprocess.CompletedProcess[str]:
    child = start(*words)
    output, errors = child.communicate(timeout=120)
    return subprocess.CompletedProcess([], child.returncode, output, errors)


def count(path: Path) -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, "-m", "hipadapt", "trace", "summary", "--json", str(path)],
        capture_output=True,
        check=True,
        cwd=ROOT,
    )
    return {k["name"]: k["count"] for k in json.loads(done.stdout)["kernels"]}


@pytest.mark.parametrize("suffix", ["json", "json.gz", "pftrace"])
def test_a_python_program_is_recorded_and_its_status_kept(
    tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / f"out.{suffix}"

    done = run("-o", out, "--", "python", "-c", PROGRAM + "print('hi'); sys.exit(5)")

    assert (done.returncode, done.stdout) == (5, "hi\n"), done.stderr
    assert count(out) == {"work": 3}
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def test_a_program_in_cpp_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "program.hip").write_text(CPP)
    words = [sys.executable, "-m", "hipadapt", "cc", "program.hip", "-o", "program"]
    subprocess.run(words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
                   check=True, timeout=120)  # fmt: skip

    done = run("-o", tmp_path / "out.json", "--", tmp_path / "program")

    assert done.returncode == 7, done.stderr
    (name,) = count(tmp_path / "out.json")
    assert "add" in name


# HIP starts when a tool asks for the agents, and so ends after the recording.
EARLY = r"""
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
static rocprofiler_status_t look(rocprofiler_agent_version_t version, const void **agents,
                                 size_t count, void *data)
{
    return ROCPROFILER_STATUS_SUCCESS;
}
static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    return rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, look,
                                              sizeof(rocprofiler_agent_v0_t), 0);
}
rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *text, uint32_t priority,
                      rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, 0, 0};
    return &result;
}
"""


@pytest.mark.plain  # the tool has no sanitizer
def test_work_at_the_end_is_recorded_beside_an_early_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler")
    (tmp_path / "program.hip").write_text(CPP)
    (tmp_path / "early.c").write_text(EARLY)
    headers = hipadapt.get_include()
    library = ROOT / "hipadapt" / "_lib" / "librocprofiler-sdk.so.1"
    words = ["gcc", "-shared", "-fPIC", f"-I{headers}", "-D__HIP_PLATFORM_AMD__"]
    words += ["early.c", "-o", "early.so", str(library), f"-Wl,-rpath,{library.parent}"]
    subprocess.run(words, cwd=tmp_path, check=True, timeout=120)
    words = [sys.executable, "-m", "hipadapt", "cc", "program.hip", "-o", "program"]
    subprocess.run(words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
                   check=True, timeout=120)  # fmt: skip
    monkeypatch.setenv("ROCP_TOOL_LIBRARIES", str(tmp_path / "early.so"))

    for _ in range(3):
        done = run("-o", tmp_path / "out.json", "--", tmp_path / "program")

        assert done.returncode == 7, done.stderr
        (name,) = count(tmp_path / "out.json")
        assert "add" in name


@pytest.mark.parametrize(
    ("code", "said"),
    [("pass", "no use of HIP"), ("import hipadapt; hipadapt.Device()", "no kernel")],
)
def test_an_empty_profile_has_a_status_of_its_own(
    tmp_path: Path, code: str, said: str
) -> None:
    done = run("-o", tmp_path / "out.json", "--", "python", "-c", code)

    assert done.returncode == 86
    assert said in done.stderr and "the profile is empty" in done.stderr


def test_several_processes_have_files_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(PROGRAM)
    shell = f"{sys.executable} {tmp_path}/p.py & {sys.executable} {tmp_path}/p.py; wait"
    (tmp_path / "out_1.json").write_text("of before")

    done = run("-o", tmp_path / "out.json", "--", "sh", "-c", shell)

    assert done.returncode == 0, done.stderr
    files = sorted(tmp_path.glob("out_*.json"))
    assert len(files) == 3
    assert files[0].read_text() == "of before"
    assert [count(path) for path in files[1:]] == [{"work": 3}] * 2
    assert "trace merge" in done.stderr


def test_a_signal_is_passed_on_and_the_trace_is_there(tmp_path: Path) -> None:
    code = PROGRAM + "print('ready', flush=True)\ntime.sleep(60)"
    child = start("-o", tmp_path / "out.json", "--", "python", "-c", code)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.1)  # what was launched is over

    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=60)

    assert child.returncode == -signal.SIGTERM
    assert count(tmp_path / "out.json") == {"work": 3}


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("-o", "out.txt", "ls"), 2, "the suffix must be"),
        (("-o", "/no/out.json", "ls"), 2, "no folder /no"),
        (("-o", "/tmp/o%p.json", "ls"), 2, "must not have a %"),
        (("-o", "out.json"), 2, "which program?"),
        (("-o", "out.json", "--", "/no/program"), 127, "no such program"),
    ],
)
def test_bad_requests_start_nothing(
    words: tuple[str, ...], status: int, said: str
) -> None:
    done = run(*words)

    assert done.returncode == status
    assert done.stderr.startswith("hipadapt trace run: ") and said in done.stderr
