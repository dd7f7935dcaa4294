# SPDX-License-Identifier: MIT
"""Clients and children of the profiler, written in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run
from tests.unit.profile.test_profile import BEGIN, load, names, slices

LIBRARY = (
    BEGIN
    + """
import itertools, time
class Library:
    def __init__(self):
        self.told, self.on, self.late = [], False, []
        self.ids = itertools.count(1)
    def prepare(self, setup):
        self.told.append(("prepare", sorted(setup.detail), setup.request))
    def start(self):
        self.on = True
        self.told.append("start")
    def step(self, iteration):
        self.told.append(("step", iteration))
    def stop(self):
        self.on = False
        for event in self.late:
            handed.hand_over(**event)
        self.told.append("stop")
    def cancel(self):
        self.told.append("cancel")
    def run(self, name, count, when="now"):
        number = next(self.ids)
        start = time.monotonic_ns()
        with profile.operation(number):
            launch(count)
        event = dict(name=name, start=start, end=time.monotonic_ns(), external=number,
                     thread=threading.get_native_id(), args={"count": count})
        if self.on and when == "now":
            handed.hand_over(**event)
        elif self.on:
            self.late.append(event)
library = Library()
handed = profile.register_client(library, name="ops")
"""
)


def arrows(trace: dict[str, Any]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The operation and the work of each arrow between them."""
    events = trace["traceEvents"]
    flows = [e for e in events if e.get("cat") == "op2g"]
    begins = {e["id"]: e for e in flows if e["ph"] == "s"}
    ends = {e["id"]: e for e in flows if e["ph"] == "f"}
    assert len(begins) + len(ends) == len(flows)
    assert begins.keys() == ends.keys()

    def at(flow: dict[str, Any], categories: set[str]) -> dict[str, Any]:
        key = (flow["pid"], flow["tid"], flow["ts"])
        (found,) = (
            e
            for e in events
            if e.get("cat") in categories and (e["pid"], e["tid"], e["ts"]) == key
        )
        return dict(found)

    work = {"kernel", "gpu_memcpy", "gpu_memset"}
    return [(at(begins[i], {"cpu_op"}), at(ends[i], work)) for i in begins]


@pytest.mark.parametrize("when", ["now", "late"])
@pytest.mark.parametrize("kept", [False, True])
def test_arrows_lead_from_operations_to_their_kernels(
    run_python: Run, tmp_path: Path, when: str, kept: bool
) -> None:
    # When: operations launch kernels, and are handed over at once, or after the stop.
    out = tmp_path / "out.json"
    run_python(
        LIBRARY
        + """
url, when, kept = sys.argv[1:]
library.run("before", 1)
with profile(None if kept == "True" else url) as recorded:
    for i in range(50):
        library.run(f"op {i}", i % 4, when)
    launch(5)
library.run("after", 1)
if kept == "True":
    recorded.save(url + ".first.json")   # what was kept serves twice
    recorded.save(url)
""",
        str(out),
        when,
        str(kept),
    )
    trace = load(out)

    # Then: each kernel within an operation has one arrow, from that operation.
    operations = slices(trace, "cpu_op")
    assert [e["name"] for e in operations] == [f"op {i}" for i in range(50)]
    launched = sum(i % 4 for i in range(50))
    assert names(trace, "kernel") == {"work": launched + 5}
    found = arrows(trace)
    assert len(found) == launched
    for operation, kernel in found:
        assert operation["args"]["External id"] == kernel["args"]["External id"]
        assert operation["ts"] <= kernel["ts"]
    for operation in operations:
        mine = [k for o, k in found if o["name"] == operation["name"]]
        assert len(mine) == operation["args"]["count"]
    # The clock: calls of an operation are within it.
    for call in slices(trace, "cuda_runtime"):
        for operation in operations:
            if call["args"].get("External id") == operation["args"]["External id"]:
                assert operation["ts"] <= call["ts"]
                assert call["ts"] + call["dur"] <= operation["ts"] + operation["dur"]
    assert trace["unlinked_events"] == trace["lost_events"] == 0
    assert "client_failures" not in trace


def test_a_client_is_driven_by_the_recording(run_python: Run, tmp_path: Path) -> None:
    done = run_python(
        LIBRARY
        + """
out = sys.argv[1]
p = profile(out, detail=["flops", "stacks"])
p.prepare(); print(library.told)
p.start(); print(library.told[1:])
profile.step()
p.stop(); p.save(); print(library.told[2:])
library.told.clear()
p.prepare(); profile.cancel()
while "cancel" not in library.told: time.sleep(0.001)
print(library.told)
library.told.clear()
number = profile.request(f'''
    ACTIVITIES_LOG_FILE={out}
    ACTIVITIES_WARMUP_PERIOD_SECS=0
    ACTIVITIES_DURATION_MSECS=50
    PROFILE_REPORT_INPUT_SHAPES=true
    PROFILE_WITH_MODULES=1
    PROFILE_PROFILE_MEMORY=1
''')
while profile.status().request_waits or profile.status().state != "idle":
    time.sleep(0.01)
print(library.told, number)
handed.unregister()
library.told.clear()
with profile(out): pass
print(library.told)
raises(handed.unregister)
""",
        str(tmp_path / "out.json"),
    )

    prepared = "('prepare', ['flops', 'stacks'], 0)"
    assert done.stdout.splitlines() == [
        f"[{prepared}]",
        "['start']",
        "[('step', 0), 'stop']",
        f"[{prepared}, 'cancel']",
        "[('prepare', ['input_shapes', 'memory', 'modules'], 1), 'start', 'stop'] 1",
        "[]",
        done.stdout.splitlines()[-1],
    ]
    assert "is not registered" in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("method", ["prepare", "start", "step", "stop"])
def test_a_client_that_raises_is_told_of_and_the_recording_goes_on(
    run_python: Run, tmp_path: Path, method: str
) -> None:
    out = tmp_path / "out.json"
    done = run_python(
        LIBRARY
        + """
def bad(*args):
    raise KeyError("bad " + sys.argv[2])
setattr(library, sys.argv[2], bad)
sys.unraisablehook = lambda told: print("hook", repr(told.exc_value))
with profile(sys.argv[1]):
    profile.step()
    launch(3)
library.told = [t if isinstance(t, str) else t[0] for t in library.told]
profile.cancel()
print(library.told)
""",
        str(out),
        method,
    )
    trace = load(out)

    assert done.stdout.splitlines()[0] == f"hook KeyError('bad {method}')"
    assert names(trace, "kernel") == {"work": 3}
    assert trace["client_failures"] == [f"'ops' failed in {method} with 1"]
    told = [one for one in ("prepare", "start", "step", "stop") if one != method]
    left_out = {"prepare": ["cancel"], "start": ["prepare", "cancel"]}
    assert done.stdout.splitlines()[1] == str(left_out.get(method, told))


def test_a_client_that_blocks_is_left_out(run_python: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = run_python(
        LIBRARY
        + """
gate, quick = threading.Event(), Library()
library.start = gate.wait
profile.register_client(quick, name="quick")
begin = time.monotonic()
with profile(sys.argv[1]):
    launch(3)
raises(lambda: handed.hand_over("late", 1, 2))
took = time.monotonic() - begin
assert 0.9 < took < 5, took
print(quick.told[1:])
raises(handed.unregister)   # its method still runs
begin = time.monotonic()
with profile(sys.argv[1] + ".next.json"):
    launch(2)
assert time.monotonic() - begin < 0.9
gate.set()
""",
        str(out),
    )
    trace = load(out)

    assert trace["client_failures"] == ["'ops' was left out: start took more than 1 s"]
    assert names(trace, "kernel") == {"work": 3}
    lines = done.stdout.splitlines()
    assert lines[0] == "RuntimeError nothing is recorded with this client"
    assert lines[1] == "['start', 'stop']"
    assert lines[2].startswith("RuntimeError a function of client 'ops' still runs")


def test_a_client_cannot_drive_the_profiler(run_python: Run, tmp_path: Path) -> None:
    done = run_python(
        LIBRARY
        + """
def start():
    p = profile()
    for call in (p.prepare, p.save, p.cancel, profile.step, lambda: p.add_metadata("a", 1),
                 lambda: profile.request("")):
        raises(call)
    print(p.status().state)
def stop():
    handed.unregister()   # in its own method, so nobody waits for its end
    print("gone")
    over.set()
over = threading.Event()
library.start, library.stop = start, stop
with profile(sys.argv[1]):
    launch()
over.wait()
raises(handed.unregister)
""",
        str(tmp_path / "out.json"),
    )
    lines = done.stdout.splitlines()

    assert len(lines) == 9
    assert all("a client's function can't call it" in line for line in lines[:6])
    assert lines[6:8] == ["collecting", "gone"]


def test_operations_without_room_are_counted(run_python: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run_python(
        LIBRARY
        + """
p = profile(sys.argv[1], buffer_events=2)
p.prepare(); p.start()
now = time.monotonic_ns
for i in range(20000):
    handed.hand_over(f"op {i % 7}", now(), now())
p.stop(); p.save()
""",
        str(out),
    )
    trace = load(out)

    shown = len(slices(trace, "cpu_op"))
    assert trace["lost_events"] > 0
    assert shown + trace["lost_events"] == 20000


def test_bad_operations_are_refused(run_python: Run, tmp_path: Path) -> None:
    done = run_python(
        LIBRARY
        + """
raises(lambda: handed.hand_over("a", 1, 2))     # nothing is recorded
raises(lambda: profile.register_client(library, clock="sundial"))
raises(lambda: profile.register_client(library, name=""))
raises(lambda: profile(detail=["weather"]))
raises(lambda: profile.register_child(library))
with profile(sys.argv[1]):
    raises(lambda: handed.hand_over("a", 2, 1))
    raises(lambda: handed.hand_over("a", -1, 1))
    raises(lambda: handed.hand_over("a", 1, 2, thread=2**32))
    raises(lambda: handed.hand_over("a", 1, 2, args={"a": "b" * 70000}))
    raises(lambda: handed.hand_over("a", 1, 2, args={"a": object()}))
others = [profile.register_client(Library()) for _ in range(15)]
raises(lambda: profile.register_client(Library()))
others[3].unregister()
profile.register_client(Library())
""",
        str(tmp_path / "out.json"),
    )

    expected = [
        "RuntimeError nothing is recorded with this client",
        "ValueError profile.register_client: argument 'clock' must be one of",
        "ValueError hipadapt_profile_register_client: argument 'name' must",
        "ValueError profile: argument 'detail' must be of input_shapes",
        "TypeError profile.register_child: argument 'child' must have a method",
        "ValueError hipadapt_profile_hand_over: argument 'end' is 1, before the start",
        "OverflowError ProfileClient.hand_over: argument 'start' must be 0 .. 2**64-1",
        "OverflowError ProfileClient.hand_over: argument 'thread' must be 0 .. 2**32-1",
        "ValueError hipadapt_profile_hand_over: argument 'args' has more than 64 KiB",
        "TypeError Object of type object is not JSON serializable",
        "MemoryError 16 clients are registered already",
    ]
    lines = done.stdout.splitlines()
    assert len(lines) == len(expected)
    for line, start in zip(lines, expected, strict=True):
        assert line.startswith(start)


@pytest.mark.plain  # AddressSanitizer's allocator keeps a lock that another thread had
def test_a_forked_child_has_no_clients(run_python: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = run_python(
        LIBRARY
        + """
p = profile(sys.argv[1])
p.prepare().start()
library.run("before", 1)
child = os.fork()
if child == 0:
    raises(lambda: handed.hand_over("a", 1, 2))
    raises(lambda: profile.register_client(library))
    raises(handed.unregister)
    sys.exit(0)      # the interpreter ends, with a client that has no thread
assert os.waitpid(child, 0)[1] == 0
library.run("behind", 1)
p.stop()
p.save()
""",
        str(out),
    )
    trace = load(out)

    assert done.stdout.count("nothing is recorded in a forked child") == 3
    assert [e["name"] for e in slices(trace, "cpu_op")] == ["before", "behind"]
    assert len(arrows(trace)) == 2


def test_the_interpreter_ends_with_a_client_in_every_state(
    run_python: Run, tmp_path: Path
) -> None:
    for state in ("prepare", "start"):
        run_python(
            LIBRARY + f"p = profile(sys.argv[1]).prepare()\n"
            f"if {state == 'start'}: p.start()\n",
            str(tmp_path / "out.json"),
        )


CHILDREN = (
    BEGIN
    + """
import time
class Device:
    def __init__(self, name, count):
        self.name, self.count, self.told = name, count, []
    def configure(self, setup):
        self.told.append("configure")
    def start(self):
        self.told.append("start")
        self.at = time.clock_gettime_ns(time.CLOCK_REALTIME)
    def stop(self):
        self.told.append("stop")
    def collect(self, out):
        self.told.append("collect")
        at, thread = self.at, threading.get_native_id()
        out.device(0, self.name + " 0", {"cores": self.count})
        out.stream(0, 7, self.name + " queue")
        for i in range(self.count):
            begin = at + 1000 * i
            out.slice("call", "enqueue", begin, begin + 100, thread=thread,
                      correlation=i + 1)
            out.slice("kernel", f"{self.name} work", begin + 200, begin + 900, device=0,
                      stream=7, correlation=i + 1, args={"tile": [i, 2]})
        out.slice("copy", "load", at, at + 5, device=1, stream=0)
        out.slice("kernel", "too early", at - 10**12, at, device=0, stream=7)
        out.metadata(self.name + "_version", {"major": 1})
"""
)


@pytest.mark.parametrize("kept", [False, True])
def test_children_add_rows_of_their_devices(
    run_python: Run, tmp_path: Path, kept: bool
) -> None:
    out = tmp_path / "out.json"
    done = run_python(
        CHILDREN
        + """
url, kept = sys.argv[1:]
npu, dsp = Device("npu", 3), Device("dsp", 2)
first = profile.register_child(npu, clock="realtime")
profile.register_child(dsp, clock="realtime")
with profile(None if kept == "True" else url) as p:
    launch(2)
    time.sleep(0.01)
if kept == "True":
    p.save(url)
print(npu.told == dsp.told == ["configure", "start", "stop", "collect"])
print(p.status().kernels)
raises(lambda: first.metadata("a", 1))
""",
        str(out),
        str(kept),
    )
    trace = load(out)
    events = trace["traceEvents"]

    assert done.stdout.splitlines() == [
        "True",
        "7",
        "RuntimeError this child does not collect just now",
    ]
    assert names(trace, "kernel") == {"work": 2, "npu work": 3, "dsp work": 2}
    devices = {d["name"]: d for d in trace["child_devices"]}
    assert devices["npu 0"]["properties"] == {"cores": 3}
    assert devices["dsp 0"]["properties"] == {"cores": 2}
    assert devices.keys() == {"npu 0", "Device 1", "dsp 0"}
    assert trace["npu_version"] == trace["dsp_version"] == {"major": 1}
    labels = {
        e["pid"]: e["args"]["labels"] for e in events if e["name"] == "process_labels"
    }
    rows = {
        (e["pid"], e["tid"]): e["args"]["name"]
        for e in events
        if e["name"] == "thread_name"
    }
    for name in ("npu", "dsp"):
        number = devices[f"{name} 0"]["id"]
        assert number in (16, 17, 18)
        assert labels[number] == f"{name} 0"
        assert rows[number, 7] == f"{name} queue"
        kernels = [e for e in slices(trace, "kernel") if e["name"] == f"{name} work"]
        assert {(e["pid"], e["tid"]) for e in kernels} == {(number, 7)}
        assert all(e["dur"] == 0.7 for e in kernels)
    # Each child's calls lead to its own work.
    flows = [e for e in events if e.get("cat") == "ac2g"]
    for phase in ("s", "f"):
        ids = [e["id"] for e in flows if e["ph"] == phase]
        assert len(ids) == len(set(ids)) == 2 + 3 + 2
    assert trace["out_of_window_events"] == 2


def test_children_are_in_a_perfetto_trace(run_python: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.pftrace"
    run_python(
        CHILDREN
        + """
profile.register_child(Device("npu", 3), clock="realtime")
with profile(sys.argv[1]):
    launch(1)
    time.sleep(0.01)
""",
        str(out),
    )
    data = out.read_bytes()

    assert all(text in data for text in (b"npu work", b"npu queue", b"npu 0", b"tile"))


def test_a_child_that_fails_is_told_of(run_python: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run_python(
        CHILDREN
        + """
class Bad(Device):
    def collect(self, out):
        raises(lambda: out.slice("thought", "a", 1, 2))
        raises(lambda: out.slice("kernel", "a", 1, 2, device=64))
        raises(lambda: out.slice("call", "a", 1, 2, correlation=2**40))
        raise KeyError("x")
sys.unraisablehook = lambda told: None
profile.register_child(Bad("bad", 1), name="bad")
profile.register_child(Device("npu", 1), clock="realtime")
with profile(sys.argv[1]):
    launch(1)
    time.sleep(0.01)
""",
        str(out),
    )
    trace = load(out)

    assert trace["client_failures"] == ["'bad' failed in collect with 1"]
    assert names(trace, "kernel") == {"work": 1, "npu work": 1}
    assert json.dumps(trace["child_devices"]).count('"child"') == 2


def test_threads_hand_over_while_recordings_come_and_go(
    run_python: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    run_python(
        LIBRARY
        + """
phase, done, sure = None, False, {}
def hand_over_always(i):
    now = time.monotonic_ns
    while not done:
        before = phase
        try:
            handed.hand_over(f"op {i}", now(), now(), args={"thread": i})
        except RuntimeError:
            continue    # nothing is recorded just now
        if before is not None and phase is before:
            sure[before, i] = sure.get((before, i), 0) + 1
threads = [threading.Thread(target=hand_over_always, args=(i,)) for i in range(4)]
[t.start() for t in threads]
for k in range(6):
    p = profile(f"{sys.argv[1]}.{k}.json")
    p.prepare()
    if k == 3:
        profile.cancel()
        continue
    p.start()
    phase = str(k)
    time.sleep(0.05)
    phase = None
    p.stop()
    p.save()
    with open(f"{sys.argv[1]}.{k}.json") as file:
        trace = json.load(file)
    for i in range(4):
        shown = sum(e["name"] == f"op {i}" for e in trace["traceEvents"])
        assert shown >= sure.get((str(k), i), 0), (k, i, shown, sure)
    assert trace["lost_events"] == 0
    assert "client_failures" not in trace, trace["client_failures"]
done = True
[t.join() for t in threads]
assert sum(sure.values()) > 20, sure
""",
        str(out),
    )
