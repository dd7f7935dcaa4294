# SPDX-License-Identifier: MIT
"""What a recording has room for, and what a configuration leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run

from .test_profile import BEGIN, load, names

KEPT = (
    BEGIN
    + """
def ended(p):
    while p.status().state != "idle":
        pass
    return p.status()
"""
)

REQUEST = (
    KEPT
    + """
import time
def recorded(more):
    file = sys.argv[1] + "/out.json"
    profile.request(f'''
        ACTIVITIES_LOG_FILE={file}
        ACTIVITIES_WARMUP_PERIOD_SECS=0
        ACTIVITIES_DURATION_MSECS=100
        {more}
    ''')
    while profile.status().state != "collecting":
        time.sleep(0.001)
    while profile.status().state == "collecting":
        launch()
        hip.hipDeviceSynchronize()
    while profile.status().state != "idle":
        time.sleep(0.001)
    os.rename(f"{sys.argv[1]}/out_{os.getpid()}.json", file)
    return profile.status()
"""
)


@pytest.mark.parametrize("shown", [True, False])
def test_waits_are_shown_as_the_configuration_says(
    run_python: Run, tmp_path: Path, shown: bool
) -> None:
    run_python(
        REQUEST
        + f'recorded("ACTIVITIES_DISPLAY_CUDA_SYNC_WAIT_EVENTS={int(shown)}")\n',
        str(tmp_path),
    )
    trace = load(tmp_path / "out.json")

    assert names(trace, "cuda_runtime")["hipDeviceSynchronize"] > 0
    assert (names(trace, "cuda_sync")["Device Sync"] > 0) == shown


def test_room_is_each_recordings_own(run_python: Run, tmp_path: Path) -> None:
    # When: a process records with little room, as usual, and with a megabyte.
    run_python(
        REQUEST
        + """
COUNT = 20_000
def lost(room):
    with profile(activities="hip_runtime", buffer_events=room) as p:
        for i in range(COUNT):
            hip.hipGetDeviceCount()
            if i % (COUNT // 4) == 0:
                time.sleep(0.05) # the profiler's thread gets a turn
    return ended(p)
small = lost(2)
assert small.lost_events > 0, small
assert small.events > 2, small # it is emptied and used again
assert small.lost_events + small.events == COUNT, small
large = lost(0)
assert (large.lost_events, large.events) == (0, COUNT), large
status = recorded("ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB=64")
assert status.lost_events == 0 and status.kernels > 0, status
status = recorded("ROCTRACER_MAX_EVENTS=2")
assert status.lost_events > 0, status
""",
        str(tmp_path),
    )


def test_what_is_offered_is_there_or_lost_by_many_threads(
    run_python: Run, tmp_path: Path
) -> None:
    # Given: room for two events, and calls and kernels of four threads.
    run_python(
        KEPT
        + """
CALLS, LAUNCHES, THREADS = 2000, 200, 4
streams = [hipadapt.Stream() for _ in range(THREADS)]
arrays = [hipadapt.zeros(64, dtype="int32") for _ in range(THREADS)]
def work(i):
    for _ in range(CALLS):
        hip.hipGetDeviceCount()
    for _ in range(LAUNCHES):
        kernel[(1,), (64,), 0, streams[i]](arrays[i], 5)
launch()
hip.hipDeviceSynchronize()
kinds = "hip_runtime,kernel"
with profile(activities=kinds) as all_of_it:
    for i in range(THREADS):
        work(i)
each = ended(all_of_it)
assert each.lost_events == 0 and each.kernels == 0
with profile(sys.argv[1], activities=kinds, buffer_events=2) as p:
    threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
    [t.start() for t in threads]
    [t.join() for t in threads]
status = p.status()
trace = json.load(open(sys.argv[1]))
shown = sum(e.get("cat") in ("cuda_runtime", "kernel") and "dur" in e
            for e in trace["traceEvents"])
assert status.lost_events > 0
assert status.events + status.lost_events == each.events, (status, each)
assert shown == status.events
assert trace["lost_events"] == status.lost_events
""",
        str(tmp_path / "out.json"),
    )


@pytest.mark.plain
def test_a_warm_up_keeps_no_memory_of_what_is_dropped(run_python: Run) -> None:
    done = run_python(
        KEPT
        + """
def used():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
def calls(count):
    for _ in range(count):
        hip.hipDeviceSynchronize()
p = profile()
p.prepare()
calls(100_000)
before = used()
calls(400_000)
print(used() - before)
p.start()
launch(3)
p.stop()
print(ended(p).lost_events)
"""
    )

    grown, *rest = done.stdout.split()
    assert int(grown) < 16 << 20  # of 49 MiB of events
    assert rest == ["0"]
