# SPDX-License-Identifier: MIT
"""The tool library of the examples observes AMD's hip-python as it observes hipadapt: the
same file, on the CPU device."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interop import fetched
from tests.unit.rocprofiler.conftest import ROOT, STRICT, compiler, headers

pytestmark = pytest.mark.fetched
PEER = """
from hip import hip, hiprtc

def check(result):
    status, *values = result
    assert int(status) == 0, status
    return values[0] if len(values) == 1 else values
"""
OURS = PEER.replace("from hip import", "from hipadapt import")
PROGRAM = """
program = check(hiprtc.hiprtcCreateProgram(
    b'extern "C" __global__ void twice(int *x) { x[threadIdx.x] *= 2; }', b"x.hip", 0,
    None, None))
check(hiprtc.hiprtcCompileProgram(program, 0, []))
code = bytearray(check(hiprtc.hiprtcGetCodeSize(program)))
check(hiprtc.hiprtcGetCode(program, code))
module = check(hip.hipModuleLoadData(code))
kernel = check(hip.hipModuleGetFunction(module, b"twice"))
memory = check(hip.hipMalloc(256))
for _ in range(3):
    check(hip.hipModuleLaunchKernel(
        kernel, 1, 1, 1, 64, 1, 1, sharedMemBytes=0, stream=None, kernelParams=None,
        extra=(memory,)))
check(hip.hipDeviceSynchronize())
check(hip.hipModuleUnload(module))
check(hip.hipFree(memory))
print("result")
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tool") / "libtool.so"
    source = ROOT / "examples" / "tool_library" / "tool.c"
    command = [compiler(False), *STRICT, *headers(), "-o", str(made), str(source)]
    subprocess.run(command, check=True, timeout=60)
    return made


@pytest.fixture(scope="module", params=["hip-python-10", "hip-python-7"])
def peer(request: pytest.FixtureRequest) -> Path:
    return fetched.fetch(request.param)


def told(output: str) -> list[str]:
    """What the tool says, without numbers and places, which differ."""
    lines = [line for line in output.splitlines() if line.startswith("[tool] ")]
    return [line.split(": id")[0] for line in lines]


def test_tool_sees_hip_python(peer: Path, library: Path) -> None:
    done = fetched.run(peer, PEER + PROGRAM, ROCP_TOOL_LIBRARIES=str(library))

    assert "result" in done.stdout.splitlines()
    lines = told(done.stdout)
    assert lines[0] == "[tool] ExampleTool with rocprofiler-sdk 1.2.1"
    assert "[tool] code object load" in lines
    assert "[tool] kernel load" in lines
    assert "[tool] code object unload" in lines
    assert "twice" in done.stdout
    assert lines[-1] == "[tool] ExampleTool: 1 code objects, 1 kernels, 3 launches"


def test_tool_sees_the_same_of_hipadapt(peer: Path, library: Path) -> None:
    theirs = fetched.run(peer, PEER + PROGRAM, ROCP_TOOL_LIBRARIES=str(library))

    done = subprocess.run(
        [sys.executable, "-c", OURS + PROGRAM],
        cwd=ROOT,
        env={
            **os.environ,
            "HIPADAPT_PROVIDER": "cpu",
            "ROCP_TOOL_LIBRARIES": str(library),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert told(done.stdout) == told(theirs.stdout)
