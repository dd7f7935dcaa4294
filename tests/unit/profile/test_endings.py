# SPDX-License-Identifier: MIT
"""A program ends, forks or fails in each state of its profiler."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run

from .test_profile import BEGIN, load, names

# What brings a program into a state; `url` is the file that it writes.
REACH = """
import signal, time
url, state = sys.argv[1:3]
def request(start_ms):
    profile.request(f'''
        ACTIVITIES_LOG_FILE={url}
        ACTIVITIES_WARMUP_PERIOD_SECS=0
        ACTIVITIES_DURATION_MSECS=60000
        PROFILE_START_TIME={start_ms}
    ''')
def reach():
    p = profile(None if state == "kept" else url)
    if state == "waiting":
        request(int(time.time() * 1000) + 60_000)
    elif state == "requested":
        request(0)
        while profile.status().state != "collecting":
            time.sleep(0.001)
    elif state != "unused":
        p.prepare()
    if state in ("collecting", "kept", "processing", "over"):
        p.start()
    launch(100)
    hip.hipDeviceSynchronize()
    if state in ("processing", "over"):
        p.stop()
    if state == "over":
        p.save()
    return p
"""

STATES = (
    *("unused", "waiting", "requested", "warmup"),
    *("collecting", "kept", "processing", "over"),
)

# End: its statement, the exit status, and whether the program can do something then.
ENDS: dict[str, tuple[str, int, bool]] = {
    "exit": ("sys.exit(0)", 0, True),
    "failure": ("raise SystemExit(3)", 3, True),
    "os._exit": ("os._exit(0)", 0, False),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM)", -15, False),
    "SIGKILL": ("os.kill(os.getpid(), signal.SIGKILL)", -9, False),
}

# State: what is told where the program can, and whether its trace is whole then.
TOLD: dict[str, tuple[str, bool]] = {
    "unused": ("", False),
    "waiting": ("the program ended before profile request 1 began", False),
    "requested": ("the program ended while .*out_[0-9]+.json was recorded", True),
    "warmup": ("the program ended before .*out.json began", False),
    "collecting": ("the program ended while .*out.json was recorded", True),
    "kept": ("the program ended while a trace without a file was recorded", False),
    "processing": ("", True),
    "over": ("", True),
}


def traces(folder: Path) -> list[dict[str, Any]]:
    """Complete files."""
    return [load(path) for path in folder.glob("*.json")]


@pytest.mark.parametrize("end", list(ENDS))
@pytest.mark.parametrize("state", STATES)
def test_a_program_ends_in_any_state(
    run_python: Run, tmp_path: Path, state: str, end: str
) -> None:
    statement, status, can_tell = ENDS[end]
    message, whole = TOLD[state]
    out = tmp_path / "out.json"

    # When: it ends there.
    code = f"{BEGIN}{REACH}kept = reach()\n{statement}\n"
    done = run_python(code, str(out), state, status=status)

    # Then: there is a whole file or none, and it is said why.
    files = traces(tmp_path)
    if can_tell:
        assert [names(trace, "kernel")["work"] for trace in files] == [100] * whole
        assert re.search(message, done.stderr), done.stderr
        assert not message or len(done.stderr.splitlines()) == 1, done.stderr
        assert not list(tmp_path.glob("*.tmp"))
    elif state not in ("processing", "over"):
        assert not files

    # And: the next program removes what was left, says so, and has its trace.
    left = [path.name for path in tmp_path.glob("*.tmp")]
    done = run_python(BEGIN + "with profile(sys.argv[1]): launch(2)\n", str(out))
    assert names(load(out), "kernel") == {"work": 2}
    assert not list(tmp_path.glob("*.tmp"))
    assert done.stderr.splitlines() == [
        f"hipadapt: removed {name}, of a process that ended while it wrote a trace"
        for name in left
    ]


@pytest.mark.plain  # AddressSanitizer's allocator keeps a lock that another thread had
@pytest.mark.parametrize("end", ["sys.exit(0)", "os._exit(0)"])
@pytest.mark.parametrize("state", [state for state in STATES if state != "unused"])
def test_a_child_is_forked_in_any_state(
    run_python: Run, tmp_path: Path, state: str, end: str
) -> None:
    # When: the child asks for everything and ends; the parent goes on.
    out = tmp_path / "out.json"
    done = run_python(
        f"""{BEGIN}{REACH}
p = reach()
sys.stdout.flush()
child = os.fork()
if child == 0:
    from hipadapt import _core
    for call in (p.prepare, _core.profile_start, _core.profile_stop, p.save, p.cancel,
                 profile.step, profile.status, lambda: profile.request("")):
        raises(call)
    assert int(hip.hipInit(0)[0]) == 0 # HIP begins anew, and is in no trace
    assert int(hip.hipDeviceSynchronize()[0]) == 0
    sys.stdout.flush()
    {end}
assert os.waitpid(child, 0)[1] == 0
if state in ("waiting", "requested"):
    p.cancel()
    p.prepare()
if state in ("warmup", "waiting", "requested"):
    p.start()
    launch(100)
if state not in ("over", "processing"):
    p.stop()
p.save(url)
""",
        str(out),
        state,
    )

    # Then: the child was told, and the parent's file is whole.
    lines = done.stdout.splitlines()
    assert len(lines) == 8
    assert all("nothing is recorded in a forked child" in line for line in lines)
    cancelled = "hipadapt: profile request 1: cancelled\n"
    assert done.stderr == (cancelled if state in ("waiting", "requested") else "")
    assert names(load(out), "kernel") == {"work": 100}
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def cut_text(path: Path) -> str:
    """What a file has whose end is missing."""
    data = path.read_bytes()
    if ".gz." in path.name:
        data = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data)
    return data.decode()


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_what_a_killed_program_has_written_can_be_read(
    run_python: Run, tmp_path: Path, suffix: str
) -> None:
    # Given: more events than wait in memory.
    run_python(
        BEGIN
        + """
with profile(sys.argv[1], activities="hip_runtime"):
    while profile.status().bytes < 300_000:
        for _ in range(20_000):
            hip.hipGetDeviceCount()
    os.kill(os.getpid(), 9)
""",
        str(tmp_path / f"out{suffix}"),
        status=-9,
    )
    (left,) = tmp_path.glob("*.tmp")

    # When: the array is closed behind its last whole line, as readers do it.
    whole = cut_text(left).rpartition(",\n")[0]
    trace = json.loads(whole + "]}")

    assert names(trace, "cuda_runtime")["hipGetDeviceCount"] > 1000


FILL = (
    BEGIN
    + """
p = profile(sys.argv[1]).prepare().start()
for _ in range(200):
    for _ in range(1000):
        hip.hipGetDeviceCount()
    if profile.status().state != "collecting":
        break
else:
    p.stop()
raises(p.save)
print(profile.status().message)
print(sorted(os.listdir(os.path.dirname(sys.argv[1]))))
with profile() as p: launch(2) # the profiler goes on
print(p.status().state in ("idle", "processing"))
"""
)


def test_a_file_that_grows_too_large_fails_with_a_sentence(
    run_python: Run, tmp_path: Path
) -> None:
    done = run_python(
        "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, -1))\n"
        + FILL,
        str(tmp_path / "out.json"),
    )
    error, message, files, goes_on = done.stdout.splitlines()

    assert error == f"OSError {message}"
    assert message == "cannot write 'out.json': File too large"
    assert (files, goes_on) == ("[]", "True")


def test_a_full_disk_fails_with_a_sentence(run_python: Run, tmp_path: Path) -> None:
    # Given: a file system of one megabyte, which only this program sees.
    enter = ["unshare", "-rm", "sh", "-ec"]
    mount = f"mount -t tmpfs -o size=1m none {tmp_path}\n"
    if (
        shutil.which("unshare") is None
        or subprocess.run([*enter, mount], capture_output=True, check=False).returncode
    ):
        pytest.skip("this user mounts nothing")
    done = run_python(
        f"""
import subprocess, sys
program = {FILL!r}
sys.exit(subprocess.run({enter!r} + [{mount!r} + 'exec "$0" -c "$1" "$2"',
                        sys.executable, program, sys.argv[1]]).returncode)
""",
        str(tmp_path / "out.json"),
    )
    error, message, files, goes_on = done.stdout.splitlines()

    assert error == f"OSError {message}"
    assert message == "cannot write 'out.json': No space left on device"
    assert (files, goes_on) == ("[]", "True")


# Path below the folder: what is said of it.  There are `file`, `link` to it, `folder`
# and `loose`, a link to nothing.
PATHS = {
    "missing/out.json": "cannot open the folder of",
    "file.json/out.json": "cannot open the folder of",
    "link.json": "is a link, and a trace is not written through links",
    "loose.json": "is a link, and a trace is not written through links",
    "folder.json": "is not a regular file",
    "pipe.json": "is not a regular file",
    "": "is not the name of a file",
    "n" * 300 + ".json": "File name too long",
}


@pytest.mark.parametrize("stream", [True, False])
def test_paths_that_cannot_be_written_are_refused(
    run_python: Run, tmp_path: Path, stream: bool
) -> None:
    done = run_python(
        BEGIN
        + f"""
os.chdir(sys.argv[1])
open("file.json", "w").write("mine")
os.symlink("file.json", "link.json")
os.symlink("nothing", "loose.json")
os.mkdir("folder.json")
os.mkfifo("pipe.json")
before = sorted(os.listdir("."))
with profile() as kept: launch()
for path in {list(PATHS)!r}:
    url = f"file://{{sys.argv[1]}}/{{path}}"
    raises(profile(url).prepare if {stream} else lambda: kept.save(url))
print(profile.status().state)
assert open("file.json").read() == "mine" and sorted(os.listdir(".")) == before
""",
        str(tmp_path),
    )
    *lines, state = done.stdout.splitlines()

    assert state == "idle"
    assert len(lines) == len(PATHS)
    for line, message in zip(lines, PATHS.values(), strict=True):
        assert re.match("(OSError|ValueError) ", line)
        assert message in line or "no writer" in line or "suffix" in line, line


CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <time.h>
static _Atomic long long step_ns;
void set_clock(long long ns) { step_ns = ns; }
int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int (*real)(clockid_t, struct timespec *);
    if (real == 0) {
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    }
    int code = real(clock, time);
    if (clock == CLOCK_REALTIME) {
        time->tv_sec += step_ns / 1000000000;
    }
    return code;
}
"""


@pytest.mark.plain
@pytest.mark.parametrize("seconds", [0, 3600, -3600])
def test_a_clock_that_is_set_moves_no_event(
    run_python: Run, tmp_path: Path, seconds: int
) -> None:
    # Given: a program whose Unix clock can be set.
    if shutil.which("gcc") is None:
        pytest.skip("no C compiler")
    source, library = tmp_path / "clock.c", tmp_path / "clock.so"
    source.write_text(CLOCK)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)

    # When: it is, between two launches of a recording.
    done = run_python(
        BEGIN
        + """
import ctypes, time
clock = ctypes.CDLL(None)
clock.set_clock.argtypes = [ctypes.c_longlong]
with profile(sys.argv[1]):
    launch()
    before = time.time()
    clock.set_clock(int(sys.argv[2]) * 1_000_000_000)
    print(round(time.time() - before))
    launch()
""",
        str(tmp_path / "out.json"),
        str(seconds),
        LD_PRELOAD=str(library),
    )
    trace = load(tmp_path / "out.json")
    times = [e["ts"] for e in trace["traceEvents"] if e.get("cat") == "kernel"]

    # Then: the trace goes on by its own time, and says what has happened.
    assert done.stdout == f"{seconds}\n"
    assert len(times) == 2
    assert max(times) - min(times) < 60e6
    assert abs(trace.get("clock_step_ns", 0) / 1e9 - seconds) < 1
    assert ("clock_step_ns" in trace) == (seconds != 0)
    said = re.search(r"the clock was set by (-?\d+) ms", done.stderr)
    assert (said is not None) == (seconds != 0)
    assert said is None or abs(int(said[1]) / 1e3 - seconds) < 1
