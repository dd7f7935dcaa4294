# SPDX-License-Identifier: MIT
"""`hipadapt.profile`: real programs on the CPU device, and what is in their traces."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import hipadapt
from tests.conftest import Run

BEGIN = """
import os, sys, json, threading
import hipadapt, numpy as np
from hipadapt import hip
SOURCE = 'extern "C" __global__ void work(int *x, int n) '
SOURCE += '{ for (int i = 0; i < n; i++) x[threadIdx.x] += i; }'
kernel = hipadapt.compile_kernel(SOURCE, "work")
x = hipadapt.zeros(64, dtype="int32")
def launch(count=1):
    for _ in range(count):
        kernel[(1,), (64,)](x, 10)
def raises(call):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, error)
    else:
        print("nothing")
profile = hipadapt.profile
"""


def slices(trace: dict[str, Any], category: str) -> list[dict[str, Any]]:
    return [e for e in trace["traceEvents"] if e.get("cat") == category and "dur" in e]


def names(trace: dict[str, Any], category: str) -> Counter[str]:
    return Counter(e["name"] for e in slices(trace, category))


def load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


def test_profile_writes_what_the_block_did(run_python: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run_python(
        BEGIN
        + """
launch(5)
with profile(sys.argv[1], metadata={"note": "a \\"b\\""}):
    launch(3)
    y = hipadapt.array(np.arange(1000))
launch(7)
""",
        str(out),
    )
    trace = load(out)

    (window,) = (e for e in trace["traceEvents"] if e.get("cat") == "Trace")
    assert all(e["ts"] >= window["ts"] for e in slices(trace, "cuda_runtime"))
    assert names(trace, "kernel") == {"work": 3}
    assert names(trace, "cuda_runtime")["hipModuleLaunchKernel"] == 3
    assert names(trace, "gpu_memcpy") == {"Memcpy HtoD (Host -> Device)": 1}
    assert "hipDeviceSynchronize" not in names(trace, "cuda_runtime")
    assert trace["note"] == 'a "b"'
    assert trace["lost_events"] == trace["moved_events"] == 0
    assert trace["unjoined_events"] == 0
    launches = [
        e for e in slices(trace, "cuda_runtime") if e["name"].endswith("LaunchKernel")
    ]
    assert {e["args"]["kernel"] for e in launches} == {"work"}
    assert {tuple(e["args"]["block"]) for e in launches} == {(64, 1, 1)}
    assert not list(tmp_path.glob("*.tmp"))


STRESS = (
    BEGIN
    + """
THREADS, LAUNCHES = 4, 500
streams = [hipadapt.Stream() for _ in range(THREADS)]
arrays = [hipadapt.zeros(64, dtype="int32") for _ in range(THREADS)]
def work(i):
    with hipadapt.annotate(f"thread {i}"):
        for j in range(LAUNCHES):
            kernel[(1,), (64,), 0, streams[i]](arrays[i], j % 50)
            if j % 100 == 0:
                with hipadapt.annotate("wait"):
                    streams[i].synchronize()
with profile(sys.argv[1]) as recorded:
    threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
    [t.start() for t in threads]
    [t.join() for t in threads]
print(json.dumps(recorded.status()._asdict()))
"""
)


def test_no_event_starts_before_its_cause_and_none_is_missing(
    run_python: Run, tmp_path: Path
) -> None:
    # When: threads launch on streams of their own.
    out = tmp_path / "out.json"
    status = json.loads(run_python(STRESS, str(out)).stdout)
    trace = load(out)

    # Then: every launch is there once, with its kernel.
    calls = {
        e["args"]["correlation"]: e
        for e in slices(trace, "cuda_runtime")
        if e["name"] == "hipModuleLaunchKernel"
    }
    kernels = slices(trace, "kernel")
    assert len(calls) == len(kernels) == status["kernels"] == 2000
    assert {e["args"]["correlation"] for e in kernels} == set(calls)
    assert status["lost_events"] == status["out_of_window_events"] == 0
    assert trace["moved_events"] == trace["unjoined_events"] == 0
    for kernel in kernels:
        launch = calls[kernel["args"]["correlation"]]
        assert launch["ts"] <= kernel["ts"]
        assert kernel["dur"] >= 0
    # Kernels of a stream don't overlap.
    for stream in range(1, 5):
        row = sorted(
            (e["ts"], e["dur"]) for e in kernels if e["args"]["stream"] == stream
        )
        assert len(row) == 500
        for (start, length), (following, _) in itertools.pairwise(row):
            assert start + length <= following + 0.002
    # Each range of a thread covers its stream's kernels, to a nanosecond.
    spans = {e["name"]: e for e in slices(trace, "gpu_user_annotation")}
    for e in kernels:
        thread = calls[e["args"]["correlation"]]["tid"]
        ranges = [
            a
            for a in slices(trace, "user_annotation")
            if a["tid"] == thread and a["name"] != "wait"
        ]
        span = spans[ranges[0]["name"]]
        assert span["args"]["stream"] == e["args"]["stream"]
        assert span["ts"] <= e["ts"]
        assert e["ts"] + e["dur"] <= span["ts"] + span["dur"]
    assert names(trace, "user_annotation")["wait"] == 20


def test_kept_recording_is_saved_in_every_format(
    run_python: Run, tmp_path: Path
) -> None:
    done = run_python(
        BEGIN
        + """
with profile() as recorded:
    launch(4)
for name in ("a.json", "b.json", "c.json.gz", "d.pftrace"):
    recorded.save(os.path.join(sys.argv[1], name))
print(recorded.status().kernels)
raises(lambda: recorded.save())
raises(lambda: recorded.save(os.path.join(sys.argv[1], "e.xml")))
raises(lambda: recorded.save("/no/such/folder/e.json"))
""",
        str(tmp_path),
    )
    first, second = load(tmp_path / "a.json"), load(tmp_path / "b.json")

    assert names(first, "kernel") == {"work": 4}
    assert first["traceEvents"] == second["traceEvents"]
    assert (tmp_path / "c.json.gz").stat().st_size > 0
    assert (tmp_path / "d.pftrace").stat().st_size > 0
    lines = done.stdout.splitlines()
    assert lines[0] == "4"
    assert lines[1].startswith("ValueError hipadapt_profile_save: argument 'url'")
    assert lines[2].startswith("ValueError")
    assert ".pftrace" in lines[2]
    assert lines[3].startswith("OSError")


def test_states_that_do_not_fit_are_refused(run_python: Run, tmp_path: Path) -> None:
    done = run_python(
        BEGIN
        + """
from hipadapt import _core
p = profile(sys.argv[1])
raises(_core.profile_start)
raises(_core.profile_stop)
raises(p.save)
raises(lambda: p.add_metadata("a", 1))
p.prepare()
raises(p.prepare)
raises(_core.profile_stop)
raises(p.save)
print(p.status().state)
p.start()
print(p.status().state)
raises(_core.profile_start)
raises(p.prepare)
raises(lambda: profile.request("ACTIVITIES_DURATION_MSECS=1"))
p.stop()
raises(_core.profile_stop)
p.save()
p.save()
raises(lambda: p.save("other.json"))
print(p.status().state)
p.prepare(); p.cancel(); print(p.status().state, p.status().message)
p.prepare().start(); p.cancel(); print(p.status().state, p.status().message)
raises(p.save)
with p: launch(2)
print(p.status().kernels)
""",
        str(tmp_path / "out.json"),
    )
    lines = done.stdout.splitlines()

    assert lines == [
        "RuntimeError hipadapt_profile_start: nothing is prepared",
        "RuntimeError hipadapt_profile_stop: nothing is prepared",
        "RuntimeError hipadapt_profile_save: nothing is prepared",
        "RuntimeError hipadapt_profile_add_metadata: nothing is prepared",
        "RuntimeError hipadapt_profile_prepare: a recording is warming up",
        "RuntimeError hipadapt_profile_stop: a recording is warming up",
        "RuntimeError hipadapt_profile_save: a recording is warming up",
        "warmup",
        "collecting",
        "RuntimeError hipadapt_profile_start: a recording is collecting",
        "RuntimeError hipadapt_profile_prepare: a recording is collecting",
        "RuntimeError the profiler is busy: a recording is collecting",
        *[
            line
            for line in lines
            if line.startswith("RuntimeError hipadapt_profile_stop: ")
        ][2:3],
        f"ValueError hipadapt_profile_save: the trace went to {tmp_path}/out.json, "
        "and nothing was kept",
        "idle",
        "idle cancelled",
        "idle cancelled",
        "RuntimeError hipadapt_profile_save: nothing is prepared",
        "2",
    ]
    assert not list(tmp_path.glob("*.tmp"))


def test_arguments_that_do_not_fit_are_refused(run_python: Run) -> None:
    done = run_python(
        BEGIN
        + """
raises(lambda: profile("a.json", activities="kernel,warps").prepare())
raises(lambda: profile("a.json", activities="").prepare())
raises(lambda: profile("a.xml").prepare())
raises(lambda: profile("ftp://a").prepare())
raises(lambda: profile("/no/such/folder/a.json").prepare())
raises(lambda: profile("").prepare())
raises(lambda: profile("a.json", api_names="rocm"))
raises(lambda: profile.request("ACTIVITIES_DURATION_MSECS=x"))
raises(lambda: profile.request("PROFILE_START_TIME=7"))
raises(hipadapt.annotate(3).__enter__)
raises(lambda: hipadapt._core.profile_push(2, 1))
raises(lambda: hipadapt._core.profile_add_metadata("a", "b"))
raises(lambda: profile("a.json", activities=["kernel", 3]))
raises(lambda: profile("a\\0.json"))
raises(lambda: profile(buffer_events=-1).prepare())
raises(lambda: profile(keep_events=-5).prepare())
raises(profile.operation(-1).__enter__)
raises(profile.user(2**64).__enter__)
raises(lambda: profile(metadata={"a": object()}).prepare())
print(profile.status().state)
"""
    )
    lines = done.stdout.splitlines()

    assert lines[0].startswith(
        "ValueError no activity is named 'warps'; there are: cpu_op, user_annotation"
    )
    assert lines[1] == "ValueError profile: argument 'activities' names none"
    assert lines[2].startswith("ValueError 'a.xml'")
    assert ".pftrace" in lines[2]
    assert lines[3].startswith("ValueError 'ftp://a': no writer for this scheme")
    assert lines[4].startswith("OSError")
    assert (
        lines[5]
        == "ValueError hipadapt_profile_prepare: argument 'url' must not be empty"
    )
    assert lines[6].startswith("ValueError profile: argument 'api_names'")
    assert lines[7].startswith("ValueError ACTIVITIES_DURATION_MSECS: 'x'")
    assert lines[8].startswith("ValueError PROFILE_START_TIME: 7 is more than 10 s")
    assert lines[9].startswith("TypeError annotate: argument 'name'")
    assert lines[10].startswith("ValueError hipadapt_profile_push: argument 'domain'")
    assert lines[11].startswith("ValueError hipadapt_profile_add_metadata")
    assert lines[12:18] == [
        "TypeError profile: argument 'activities' must be names, not 3",
        "ValueError profile: argument 'url' has a NUL: 'a\\x00.json'",
        "OverflowError profile: argument 'buffer_events' must be 0 .. 2**64-1, not -1",
        "OverflowError profile: argument 'keep_events' must be 0 .. 2**64-1, not -5",
        "OverflowError profile_push: argument 'id' must be 0 .. 2**64-1, not -1",
        f"OverflowError profile_push: argument 'id' must be 0 .. 2**64-1, not {2**64}",
    ]
    assert lines[18].startswith("TypeError Object of type object is not JSON")
    assert lines[19] == "idle"


def test_activities_choose_what_is_shown(run_python: Run, tmp_path: Path) -> None:
    run_python(
        BEGIN
        + """
for name, chosen in (("k", ["kernel"]), ("c", "gpu_memcpy"), ("r", "hip_runtime")):
    with profile(f"{sys.argv[1]}/{name}.json", activities=chosen):
        with hipadapt.annotate("range"):
            launch(2)
            y = hipadapt.array(np.arange(10))
with profile(f"{sys.argv[1]}/m.json", memory=True):
    y = hip.hipMalloc(4096)[1]
    hip.hipFree(y)
""",
        str(tmp_path),
    )
    found = {
        name: {e.get("cat") for e in load(tmp_path / f"{name}.json")["traceEvents"]}
        & {"kernel", "gpu_memcpy", "cuda_runtime", "user_annotation", "cuda_sync"}
        for name in "kcr"
    }

    assert found == {"k": {"kernel"}, "c": {"gpu_memcpy"}, "r": {"cuda_runtime"}}
    counters = [e for e in load(tmp_path / "m.json")["traceEvents"] if e["ph"] == "C"]
    values = [next(iter(e["args"].values())) for e in counters]
    assert max(values) - min(values) == 4096


def test_status_tells_the_activities(run_python: Run) -> None:
    done = run_python(
        BEGIN
        + """
print(profile.status().activities)
p = profile(activities="Kernel, cuda_runtime,hip_runtime").prepare()
print(profile.status().activities)
p.cancel()
print(profile.status().activities)
p = profile(memory=True).prepare()
print({"kernel", "memory"} <= set(profile.status().activities),
      "python_stack" in profile.status().activities)
p.cancel()
"""
    )

    assert done.stdout.splitlines() == [
        "()",
        "('kernel', 'hip_runtime')",
        "('kernel', 'hip_runtime')",
        "True False",
    ], done.stderr


def test_ids_go_to_calls_and_work(run_python: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run_python(
        BEGIN
        + """
with profile(sys.argv[1]):
    with profile.operation(41):
        launch()
        with profile.operation(42):
            launch()
    launch()
    with profile.user(7):
        launch(2)
raises(lambda: hipadapt._core.profile_pop(0))
""",
        str(out),
    )
    trace = load(out)

    kernels = sorted(slices(trace, "kernel"), key=lambda e: e["ts"])
    assert [e["args"].get("External id", 0) for e in kernels] == [41, 42, 0, 0, 0]
    launches = [
        e["args"].get("External id", 0)
        for e in slices(trace, "cuda_runtime")
        if e["name"] == "hipModuleLaunchKernel"
    ]
    assert launches == [41, 42, 0, 0, 0]
    (span,) = slices(trace, "gpu_user_annotation")
    assert span["args"]["External id"] == 7
    assert span["ts"] <= kernels[3]["ts"]


def test_first_recording_begins_within_an_operation(
    run_python: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    done = run_python(
        BEGIN
        + """
raises(lambda: hipadapt._core.profile_pop(0))
recorded = profile(sys.argv[1])
with profile.operation(1):
    with profile.operation(2):
        recorded.prepare().start()
        launch()
        with profile.operation(3):
            launch()
    launch()
raises(lambda: hipadapt._core.profile_pop(0))
recorded.stop()
recorded.save()
""",
        str(out),
    )

    assert done.stdout == 2 * "ValueError this thread has no id to pop\n"
    kernels = sorted(slices(load(out), "kernel"), key=lambda e: e["ts"])
    assert [e["args"].get("External id", 0) for e in kernels] == [0, 3, 0]


def test_annotate_is_a_range_that_other_tools_see(run_python: Run) -> None:
    done = run_python(
        BEGIN
        + """
from hipadapt import rocprofiler
@hipadapt.annotate("decorated")
def function(a, *, b):
    "doc"
    return a + b
with rocprofiler.trace(kinds=["MARKER_CORE_API"]) as trace:
    with hipadapt.annotate("block"):
        print(function(1, b=2), function.__doc__, function.__name__)
print([e.name for e in trace.poll() if e.name])
"""
    )

    assert done.stdout.splitlines() == ["3 doc function", "['block', 'decorated']"]


def test_request_by_time_writes_its_file(run_python: Run, tmp_path: Path) -> None:
    run_python(
        BEGIN
        + """
import time
file = sys.argv[1] + "/out.json"
number = profile.request(f'''
    ACTIVITIES_LOG_FILE={file}
    ACTIVITIES_WARMUP_PERIOD_SECS=0   # at once
    ACTIVITIES_DURATION_MSECS=200
    REQUEST_TRACE_ID=77
''')
assert number == 1
raises(lambda: profile.request(""))
written = f"{sys.argv[1]}/out_{os.getpid()}.json"
end = time.monotonic() + 30
while not os.path.exists(written) and time.monotonic() < end:
    launch()
    time.sleep(0.001)
while profile.status().state != "idle":
    time.sleep(0.001)
status = profile.status()
assert status.url == written and status.request == 1 and status.message == "", status
assert status.kernels > 0 and status.trace_id == "77", status
os.rename(written, file)
""",
        str(tmp_path),
    )
    trace = load(tmp_path / "out.json")

    assert names(trace, "kernel")["work"] > 0
    assert trace["trace_id"] == 77
    (window,) = (e for e in trace["traceEvents"] if e.get("cat") == "Trace")
    assert window["dur"] >= 200_000


def test_request_by_iterations_has_exactly_these(
    run_python: Run, tmp_path: Path
) -> None:
    run_python(
        BEGIN
        + """
import time
file = sys.argv[1] + "/out.json"
def iterate(count):
    for _ in range(count):
        profile.step()
        with hipadapt.annotate(f"step {profile.status().step}"):
            launch(2)
        hip.hipDeviceSynchronize()
iterate(3)
profile.request(f"ACTIVITIES_LOG_FILE={file}\\nPROFILE_START_ITERATION=0\\n"
    "PROFILE_START_ITERATION_ROUNDUP=10\\nACTIVITIES_ITERATIONS=2\\n"
    "ACTIVITIES_WARMUP_ITERATIONS=1")
iterate(30)
while profile.status().state != "idle":
    time.sleep(0.001)
os.rename(f"{sys.argv[1]}/out_{os.getpid()}.json", file)
""",
        str(tmp_path),
    )
    trace = load(tmp_path / "out.json")

    assert sorted(names(trace, "user_annotation")) == ["step 10", "step 11"]
    assert names(trace, "kernel") == {"work": 4}


def test_prepare_cancels_a_request(run_python: Run, tmp_path: Path) -> None:
    done = run_python(
        BEGIN
        + """
file = sys.argv[1] + "/request.json"
for warmup in (0, 60): # it has begun, or it waits
    profile.request(f"ACTIVITIES_LOG_FILE={file}\\nACTIVITIES_DURATION_MSECS=60000\\n"
        f"ACTIVITIES_WARMUP_PERIOD_SECS={warmup}\\n"
        f"PROFILE_START_TIME={int((1 + warmup) * 1000) + int(__import__('time').time() * 1000)}")
    with profile(sys.argv[1] + "/mine.json"):
        launch(2)
    print(profile.status().kernels, profile.status().request_waits)
print(sorted(os.listdir(sys.argv[1])))
""",
        str(tmp_path),
    )

    assert done.stdout.splitlines() == ["2 False", "2 False", "['mine.json']"]


def test_iterations_of_a_program_without_steps_end_with_a_message(
    run_python: Run, tmp_path: Path
) -> None:
    done = run_python(
        BEGIN
        + """
import time
profile.request(f"ACTIVITIES_LOG_FILE={sys.argv[1]}/a.json\\n"
    "PROFILE_START_ITERATION=5\\nACTIVITIES_ITERATIONS=2\\n"
    "ACTIVITIES_WARMUP_PERIOD_SECS=1")
begin = time.monotonic()
while profile.status().request_waits:
    time.sleep(0.01)
assert time.monotonic() - begin >= 0.5
print(profile.status().message, os.listdir(sys.argv[1]))
""",
        str(tmp_path),
    )

    assert done.stdout == (
        "the request counts iterations, but the program has never called step() []\n"
    )


def test_a_trace_without_kernels_says_why(run_python: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run_python(BEGIN + "with profile(sys.argv[1]): pass\n", str(out))

    assert load(out)["no_kernels"] == "no kernel was launched in the window"


def test_lost_events_are_counted_exactly(run_python: Run, tmp_path: Path) -> None:
    # Given: room for two events, taken every 10 ms, and one thread that makes calls.
    out = tmp_path / "out.json"
    run_python(
        BEGIN
        + """
CALLS = 3000
with profile(sys.argv[1], activities="hip_runtime", buffer_events=2) as recorded:
    for _ in range(CALLS):
        hip.hipGetDeviceCount()
status = recorded.status()
trace = json.load(open(sys.argv[1]))
calls = sum(e["name"] == "hipGetDeviceCount" for e in trace["traceEvents"])
assert status.lost_events > 0
assert calls + status.lost_events == CALLS, (calls, status)
assert trace["lost_events"] == status.lost_events
""",
        str(out),
    )


def test_a_child_of_a_program_without_profiler_has_its_own(
    run_python: Run, tmp_path: Path
) -> None:
    run_python(
        "import os, hipadapt\nchild = os.fork()\n"
        + BEGIN
        + """
with profile(f"{sys.argv[1]}/{'child' if child == 0 else 'parent'}.json"):
    launch(3 if child == 0 else 4)
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""",
        str(tmp_path),
    )

    assert names(load(tmp_path / "child.json"), "kernel") == {"work": 3}
    assert names(load(tmp_path / "parent.json"), "kernel") == {"work": 4}


def test_the_window_begins_with_the_start_not_with_prepare(
    run_python: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    run_python(
        BEGIN
        + """
import time
p = profile(sys.argv[1]).prepare()
time.sleep(0.3)
before = time.time_ns()
p.start()
p.stop()
p.save()
trace = json.load(open(sys.argv[1]))
(window,) = [e for e in trace["traceEvents"] if e.get("cat") == "Trace"]
assert trace["baseTimeNanoseconds"] + window["ts"] * 1000 >= before - 1000
""",
        str(out),
    )


def test_the_tool_is_loaded_by_a_variable(run_python: Run) -> None:
    code = """
    from hipadapt import hip
    hip.hipGetDeviceCount()
    print("libhipadapt_tool.so" in open("/proc/self/maps").read())
    """

    assert run_python(code).stdout == "False\n"
    assert run_python(code, HIPADAPT_PROFILE="on-demand").stdout == "True\n"


@pytest.mark.parametrize("early", ["", "HIPADAPT_PROFILE", "ROCP_TOOL_LIBRARIES"])
def test_a_start_is_early_or_late(run_python: Run, tmp_path: Path, early: str) -> None:
    import hipadapt

    out = tmp_path / "out.json"
    library = Path(hipadapt.__file__).parent / "_lib" / "libhipadapt_tool.so"
    run_python(
        BEGIN + "launch()\nwith profile(sys.argv[1]): launch(2)\n",
        str(out),
        **({early: str(library)} if early else {}),
    )

    assert names(load(out), "kernel") == {"work": 2}


def test_fills_are_bars_with_bytes_and_arrows(run_python: Run, tmp_path: Path) -> None:
    # When: memory is filled in streams, and by a graph.
    out = tmp_path / "out.json"
    run_python(
        BEGIN
        + """
memory, stream = int(hip.hipMalloc(1 << 20)[1]), hip.hipStreamCreate()[1]
mode = hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal
hip.hipStreamBeginCapture(stream, mode)
hip.hipMemsetD32Async(memory, 5, 1000, stream)
graph = hip.hipGraphInstantiate(hip.hipStreamEndCapture(stream)[1], None, 0)[1]
with profile(sys.argv[1]):
    hip.hipMemset(memory, 7, 1 << 20)
    hip.hipMemsetD16Async(memory, 8, 1000, stream)
    hip.hipMemset2DAsync(memory, 512, 9, 100, 20, stream)
    hip.hipMemset3D((memory, 64, 60, 4), 10, (60, 4, 3))
    hip.hipGraphLaunch(graph, stream)
    hip.hipStreamSynchronize(stream)
""",
        str(out),
    )
    trace = load(out)

    # Then: each is on its stream, with what its call says, and an arrow from it.
    fills = {e["args"]["correlation"]: e for e in slices(trace, "gpu_memset")}
    calls = {e["args"]["correlation"]: e for e in slices(trace, "cuda_runtime")}
    shown = {
        calls[at]["name"]: (e["args"].get("bytes"), e["args"].get("value"))
        for at, e in fills.items()
    }
    assert shown == {
        "hipMemset": (1 << 20, 7),
        "hipMemsetD16Async": (2000, 8),
        "hipMemset2DAsync": (2000, 9),
        "hipMemset3D": (720, 10),
        "hipGraphLaunch": (4000, None),
    }
    assert {e["name"] for e in fills.values()} == {"Memset (Device)"}
    for at, e in fills.items():
        stream = 0 if calls[at]["name"] in ("hipMemset", "hipMemset3D") else 1
        assert e["tid"] == e["args"]["stream"] == stream
        assert calls[at]["ts"] <= e["ts"] and e["dur"] >= 0
    arrows = Counter(
        (e["ph"], e["id"]) for e in trace["traceEvents"] if e.get("cat") == "ac2g"
    )
    assert arrows == {(end, at): 1 for at in fills for end in "sf"}
    waits = [e for e in slices(trace, "cuda_sync") if e["name"] == "Stream Sync"]
    assert [e["args"]["stream"] for e in waits] == [1]


def test_kernels_of_cpp_have_the_names_that_were_written(
    run_python: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    run_python(
        BEGIN
        + """
LONG = "a" * 600
SOURCE = f"struct {LONG} {{ int x; }};"
SOURCE += f"__global__ void many({LONG} *x) {{ x[threadIdx.x].x = 1; }}"
many = hipadapt.compile_kernel(SOURCE, "many")
with profile(sys.argv[1]):
    many[1, 64](x)
    launch()
""",
        str(out),
    )
    long = "a" * 600
    kernels = {e["name"]: e["args"].get("symbol") for e in slices(load(out), "kernel")}
    assert kernels == {f"many({long}*)": f"_Z4manyP600{long}", "work": None}


FAILURES = {
    "fault": "x[0] = *(int *)16;",
    "timeout": "while (*(volatile int *)x >= 0) x[1]++;",
}


@pytest.mark.parametrize("status", FAILURES)
def test_work_that_failed_says_how(
    run_python: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    # When: a kernel fails while another one waits behind it.
    out = tmp_path / "out.json"
    monkeypatch.setenv("HIPADAPT_KERNEL_TIMEOUT", "1")
    run_python(
        BEGIN
        + f"""
SOURCE = 'extern "C" __global__ void bad(int *x) {{ {FAILURES[status]} }}'
bad = hipadapt.compile_kernel(SOURCE, "bad")
p = profile(sys.argv[1])
p.start()
kernel[1, 64](x, 10)
hip.hipDeviceSynchronize()
bad[1, 1](x)
raises(lambda: kernel[1, 64](x, 10))
print(hip.hipDeviceSynchronize())
p.stop()
p.save()
""",
        str(out),
    )

    # Then: each one's bar says how it ended, and none ends before it starts.
    kernels = slices(load(out), "kernel")
    ends = {(e["name"], e["args"].get("status")) for e in kernels}
    assert {("work", None), ("bad", status)} <= ends
    assert ends <= {("work", None), ("bad", status), ("work", "cancelled")}
    assert all(e["dur"] >= 0 for e in kernels)


DIRECT = """
from hipadapt import hiprtc
def hip_rtc(source):
    program = hiprtc.hiprtcCreateProgram(source.encode(), b"direct.hip", 0, None, None)[1]
    hiprtc.hiprtcCompileProgram(program, 0, None)
    return program
"""


def test_compilations_and_loads_are_ranges_that_say_how_they_went(
    run_python: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # When: a program is compiled, found in the cache, and refused.
    out = tmp_path / "out.json"
    monkeypatch.setenv("HIPADAPT_CACHE_DIR", str(tmp_path / "cache"))
    run_python(
        BEGIN
        + """
OTHER = SOURCE.replace("work", "other")
with profile(sys.argv[1]):
    hip_rtc(OTHER)
    hip_rtc(OTHER)
    hip_rtc("no C++")
    hipadapt.compile_kernel(OTHER.replace("other", "third"), "third")
""".replace("with profile", DIRECT + "with profile"),
        str(out),
    )

    trace = load(out)
    marks = [
        e["name"]
        for e in trace["traceEvents"]
        if e.get("cat") == "cpu_instant_event" and e["name"] != "Record Window End"
    ]
    ranges = names(trace, "user_annotation")
    compiled = [name for name in marks if name.startswith("hiprtcCompileProgram: ")]
    assert [name.rpartition(" ")[2] for name in compiled] == [
        "(compiled)",
        "(cached)",
        "(failed)",
        "(compiled)",
    ]
    assert "module load: device 0 (loaded)" in marks
    assert set(ranges) == {name.rpartition(" ")[0] for name in marks}
    assert sum(ranges.values()) == len(marks)


def test_compilations_cost_nothing_where_nobody_wants_marks(run_python: Run) -> None:
    loaded = run_python(BEGIN + "print('libroctx64' in open('/proc/self/maps').read())")
    assert loaded.stdout.split() == ["False"]


EVERYTHING = (
    BEGIN
    + """
THREADS, ROUNDS, SIZE = 4, 60, 4096
mode = hip.hipStreamCaptureMode.hipStreamCaptureModeThreadLocal
kind = hip.hipMemcpyKind.hipMemcpyDeviceToDevice
def graph_of(stream, memory):
    hip.hipStreamBeginCapture(stream, mode)
    kernel[1, 64, 0, stream](x, 3)
    hip.hipMemsetAsync(memory, 1, SIZE, stream)
    hip.hipMemcpyAsync(memory, memory + SIZE, SIZE, kind, stream)
    return hip.hipGraphInstantiate(hip.hipStreamEndCapture(stream)[1], None, 0)[1]
def work(i):
    a, b = hip.hipStreamCreate()[1], hip.hipStreamCreate()[1]
    event = hip.hipEventCreate()[1]
    memory = int(hip.hipMalloc(2 * SIZE)[1])
    graph = graph_of(a, memory)
    ready.wait()
    for _ in range(ROUNDS):
        kernel[1, 64, 0, a](x, 20)
        hip.hipEventRecord(event, a)
        hip.hipStreamWaitEvent(b, event, 0)
        hip.hipMemsetD32Async(memory, i, SIZE // 4, b)
        hip.hipMemcpyAsync(memory + SIZE, memory, SIZE, kind, b)
        hip.hipGraphLaunch(graph, a)
        hip.hipEventSynchronize(event)
    hip.hipStreamSynchronize(a)
    hip.hipStreamSynchronize(b)
ready = threading.Barrier(THREADS + 1)
threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
[t.start() for t in threads]
with profile(sys.argv[1]) as recorded:
    ready.wait()
    [t.join() for t in threads]
"""
)


def test_launches_come_before_what_they_start_in_all_that_runs(
    run_python: Run, tmp_path: Path
) -> None:
    # When: threads launch, fill, copy, replay graphs and wait for events at once.
    out = tmp_path / "out.json"
    run_python(EVERYTHING, str(out))
    trace = load(out)

    # Then: all of it is there, and everything starts after its cause, and then ends.
    times = 4 * 60
    assert names(trace, "kernel") == {"work": 2 * times}
    assert names(trace, "gpu_memset") == {"Memset (Device)": 2 * times}
    assert names(trace, "gpu_memcpy").total() == 2 * times
    assert trace["lost_events"] == trace["out_of_window_events"] == 0
    assert trace["moved_events"] == trace["unjoined_events"] == 0
    calls = {e["args"]["correlation"]: e for e in slices(trace, "cuda_runtime")}
    for category in ("kernel", "gpu_memset", "gpu_memcpy"):
        for e in slices(trace, category):
            assert calls[e["args"]["correlation"]]["ts"] <= e["ts"]
            assert e["dur"] >= 0
            assert "status" not in e["args"]
    assert {e["args"]["bytes"] for e in slices(trace, "gpu_memset")} == {4096}
    arrows = Counter(e["ph"] for e in trace["traceEvents"] if e.get("cat") == "ac2g")
    assert arrows == {"s": 4 * times, "f": 6 * times}
    # What waits for an event names the stream of its last record.
    waits = [e for e in slices(trace, "cuda_sync") if e["name"] == "Event Sync"]
    assert len([e for e in waits if e["args"]["stream"] > 0]) == times
    # On a stream, one thing comes after another.
    rows: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for category in ("kernel", "gpu_memset", "gpu_memcpy"):
        for e in slices(trace, category):
            row = rows.setdefault((e["pid"], e["tid"]), [])
            row.append((e["ts"], e["dur"]))
    assert len(rows) == 8
    for row in rows.values():
        for (start, length), (following, _) in itertools.pairwise(sorted(row)):
            assert start + length <= following + 0.002


def test_a_url_is_a_path() -> None:
    with pytest.raises(TypeError, match=r"argument 'url' .* 'bytearray'"):
        hipadapt.profile(bytearray(b"a.json"))  # type: ignore[arg-type]
    assert "'a.json'" in repr(hipadapt.profile(Path("a.json")))
