# SPDX-License-Identifier: MIT
"""``check`` of programs that do their worst: it tells, it does not hang, and the
checker itself is not broken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hipadapt import hip
from tests.conftest import ROOT

FOUND = 86
START = """
import ctypes, os, signal, sys, threading
import numpy as np
import hipadapt
from hipadapt import hip

def kernel(source, name="k"):
    return hipadapt.compile_kernel(source, name)

def wait():
    status, = hip.hipDeviceSynchronize()
    return int(status)

OVER = 'extern "C" __global__ void k(int *x, int i) { x[i] = 7; }'
"""


def check(
    text: str, *options: str, run: str = "check", **settings: str
) -> subprocess.CompletedProcess[str]:
    """The program under `hipadapt check`; its findings as JSON if options ask for it."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **settings}
    environment.pop("HIPADAPT_CHECK", None)
    program = (sys.executable, "-c", START + text)
    return subprocess.run(
        [sys.executable, "-m", "hipadapt", run, *options, "--", *program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def summary_of(done: subprocess.CompletedProcess[str]) -> str:
    lines = [x for x in done.stderr.splitlines() if x.startswith("hipadapt check: ")]
    assert lines, done.stderr
    return next(x for x in reversed(lines) if " launch" in x or "no summary" in x)


@pytest.mark.parametrize("run", ["run", "check"])
def test_program_that_ends_while_a_kernel_runs_ends(run: str) -> None:
    done = check(
        """
x = hipadapt.zeros(1, "int32")
k = kernel('''extern "C" __global__ void k(int *x) {
    while (*(volatile int *)x == 0) __builtin_amdgcn_s_sleep(1); }''')
k[1, 1](x)
print("end")
""",
        run=run,
    )

    assert done.stdout == "end\n"
    assert "the process ends" in done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("kinds", ["memory", "race", "all"])
def test_wild_pointers_hit_nothing_of_the_checker(kinds: str) -> None:
    """Kernels write to each mapping that the process may write, one launch each."""
    done = check(
        """
text = open("/proc/self/maps").read().splitlines()
places = [int(line.split("-")[0], 16) for line in text if " rw-p " in line]
k = kernel('''extern "C" __global__ void k(int *own, unsigned long long at) {
    own[0] = 1; ((volatile int *)at)[threadIdx.x] = 0x55555555; }''')
failed = 0
for place in places[:60]:
    own = hipadapt.zeros(1, "int32")
    try:
        k[1, 2](own, np.uint64(place))
        hipadapt.Device().synchronize()
    except Exception:
        failed += 1
    del own
    hip.hipDeviceReset()
print(failed > 0, len(places) > 20)
""",
        "--kinds",
        kinds,
    )

    assert done.stdout == "True True\n", done.stderr
    assert done.returncode == (0 if kinds == "race" else FOUND)


def test_recursion_without_an_end_is_told() -> None:
    done = check(
        """
x = hipadapt.zeros(4, "int32")
k = kernel('''__device__ __attribute__((noinline)) int deep(volatile int *x, int n) {
    volatile int a[64]; a[n & 63] = n; return x[0] == 1 ? 0 : deep(x, n + 1) + a[n & 63]; }
extern "C" __global__ void k(int *x) { x[1] = deep(x, 0); }''')
try:
    k[1, 2](x)
    hipadapt.Device().synchronize()
except Exception as error:
    print("stack" in str(error), flush=True)
""",
    )

    assert done.stdout == "True\n", done.stderr


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", FOUND),
        ("os.abort()", FOUND),
        ("os._exit(3)", FOUND),
        ("os.kill(os.getpid(), signal.SIGKILL)", FOUND),
        ("kernel('extern \"C\" __global__ void k() { *(volatile int *)8 = 1; }')[1, 1]()"
         "\ntry:\n    wait()\nexcept Exception:\n    pass", FOUND),
    ],
)  # fmt: skip
def test_finding_before_the_end_is_whole(end: str, status: int) -> None:
    done = check(
        f"""
x = hipadapt.zeros(4, "int32")
kernel(OVER)[1, 1](x, 4)
wait()
{end}
""",
        "--format",
        "json",
    )

    assert done.returncode == status, done.stderr
    findings = json.loads(done.stdout)["findings"]
    assert findings[0]["word"] == "out-of-bounds" or findings[0]["kind"], findings
    assert "advice" in findings[0]
    assert summary_of(done)


def test_many_findings_are_bounded() -> None:
    """2,000 places; a thousand are kept."""
    done = check(
        """
body = "\\n".join(f"x[1 + i] = {n};" for n in range(2000))
k = kernel('extern "C" __global__ void k(int *x, int i) {' + body + "}")
x = hipadapt.zeros(1, "int32")
k[1, 1](x, 0)
wait()
""",
    )

    assert done.returncode == FOUND
    assert len(done.stderr) < 300_000
    assert "1000 findings" in summary_of(done)
    assert "1000" in summary_of(done).partition("findings")[2]


def test_findings_of_graphs_streams_and_devices_are_told() -> None:
    done = check(
        """
count = 2
sources = [f'extern "C" __global__ void k{n}(int *x, int i) {{ x[i] = {n}; }}'
           for n in range(6)]
for device in range(count):
    with hipadapt.Device(device):
        streams = [hipadapt.Stream() for _ in range(3)]
        arrays = [hipadapt.zeros(4, "int32") for _ in range(3)]
        for n, (stream, array) in enumerate(zip(streams, arrays)):
            name = f"k{3 * device + n}"
            kernel(sources[3 * device + n], name)[1, 1, 0, stream](array, 4)
        wait()
stream = hipadapt.Stream()
x = hipadapt.zeros(4, "int32")
k = kernel(OVER)
hipadapt.Device().synchronize()
status = hip.hipStreamBeginCapture(
    stream.handle, hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal)
k[1, 1, 0, stream](x, 5)
status, graph = hip.hipStreamEndCapture(stream.handle)
ready = hip.hipGraphInstantiate(graph, None, 0)[1]
for _ in range(3):
    hip.hipGraphLaunch(ready, stream.handle)
wait()
""",
        HIPADAPT_CPU_DEVICES="2",
    )

    assert done.returncode == FOUND, done.stderr
    assert "7 findings, made 9 times" in summary_of(done), done.stderr


def test_child_of_a_fork_is_checked() -> None:
    done = check(
        """
x = hipadapt.zeros(4, "int32")
kernel(OVER)[1, 1](x, 4)
wait()
sys.stdout.flush()
child = os.fork()
if child == 0:
    hip.hipInit(0)
    y = hipadapt.zeros(4, "int32")
    kernel('extern "C" __global__ void k(int *y, int i) { y[i] = 8; }')[1, 1](y, 5)
    wait()
    sys.exit(0)
print(os.waitpid(child, 0)[1])
""",
    )

    assert done.stdout == "0\n", done.stderr
    assert done.returncode == FOUND
    assert "2 findings" in summary_of(done), done.stderr


def test_images_of_another_mode_are_not_used(tmp_path: Path) -> None:
    """One cache, with and without checks, in turn."""
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    text = """
x = hipadapt.zeros(4, "int32")
kernel('extern "C" __global__ void k(int *x) { x[0] = 1; x[1 + x[0]] = 2; }')[1, 1](x)
wait()
"""

    for run, words in (("run", ""), ("check", "1 launch checked"), ("run", "")) * 2:
        done = check(text, run=run, HIPADAPT_CACHE_DIR=str(cache))
        assert done.returncode == 0, done.stderr
        assert words in done.stderr


def test_shared_memory_has_room_around_it() -> None:
    """An access that leaves the block's shared memory is told, and hits nothing."""
    done = check(
        """
x = hipadapt.zeros(1, "int32")
k = kernel('''extern "C" __global__ void k(int *x, int i) {
    __shared__ int s[16]; extern __shared__ int d[];
    s[0] = 3; d[0] = 4;
    s[i] = 1; s[-i] = 1; d[i] = 2;
    x[0] = s[0] + d[0]; }''')
k[1, 1, 64](x, 900)
wait()
print(x.get()[0])
""",
        "--kinds",
        "memory",
    )

    assert done.stdout == "7\n", done.stderr
    assert "3 findings" in summary_of(done)


@pytest.mark.parametrize("at", [-1, 64, -3000, 3000])
@pytest.mark.parametrize("way", ["x[i]", "((int *)((unsigned long long)x + 4 * i))[0]"])
def test_writes_beside_registered_memory_hit_nothing(way: str, at: int) -> None:
    """What lies around it belongs to the process: such a write is told, not made."""
    done = check(
        f"""
whole = np.zeros(1 << 14, np.int32)
part = whole[8192:8256]
hip.hipHostRegister(part, part.nbytes, 0)
k = kernel('extern "C" __global__ void k(int *x, long i) {{ {way} = 7; }}')
k[1, 1](part.ctypes.data, np.int64({at}))
print(wait(), whole.any())
""",
    )

    assert done.stdout == f"{int(hip.hipError_t.hipErrorIllegalAddress)} False\n"
    kind = "unknown memory:" if abs(at) > 1000 and way != "x[i]" else "out-of-bounds"
    assert f"{kind} write of 4 bytes" in done.stderr
    assert done.returncode == FOUND, done.stderr


@pytest.mark.parametrize("at", [-1, -64, 8, 71])
def test_allocations_have_room_on_both_sides(at: int) -> None:
    """A write into it is told, hits nothing, and the kernel goes on."""
    done = check(
        f"""
k = kernel(OVER)
for count in (8, 1 << 10, 1 << 16, 1 << 20):  # each the first one of its size
    x = hipadapt.zeros(count, "int32")
    beyond = {at} if {at} < 0 else count + {at} - 8
    k[1, 1](x, beyond)
    assert wait() == 0
    assert not x.get().any()
""",
    )

    assert done.returncode == FOUND, done.stderr
    assert "1 finding, made 4 times" in summary_of(done)


def test_lines_without_debug_places_are_told() -> None:
    """Code that came without lines: of a macro's expansion in an assembler's view."""
    done = check(
        """
k = kernel('''
#line 1 ""
extern "C" __global__ void k(int *x, int i) { x[i] = 7; }''')
x = hipadapt.zeros(4, "int32")
k[1, 1](x, 4)
wait()
""",
    )

    assert done.returncode == FOUND, done.stderr
    assert "out-of-bounds" in done.stderr
