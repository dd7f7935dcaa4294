# SPDX-License-Identifier: MIT
"""Trackers, by the functions of libhipadapt_tool: with records, and with events."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Run
from tests.unit.verbose.test_lines import BEGIN
from tests.unit.verbose.verbose_lines import number, results

API = """
from pathlib import Path
tool = ctypes.CDLL(Path(hipadapt.__file__).parent / "_lib" / "libhipadapt_tool.so")
P = ctypes.c_void_p

class Timing(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("start", ctypes.c_double),
                ("end", ctypes.c_double), ("duration", ctypes.c_double),
                ("enabled", ctypes.c_int), ("stat", ctypes.c_int),
                ("info", ctypes.c_char * 256)]

tool.hipadapt_verbose_error_text.restype = ctypes.c_char_p

def register(stream, info, event=None):
    return tool.hipadapt_verbose_register_async_tracker(
        P(int(stream) if stream else 0), P(int(event) if event else 0), info.encode())

def check(stream, info):
    start = ctypes.c_double(-1)
    result = tool.hipadapt_verbose_check_async_exec_times(
        P(int(stream) if stream else 0), info.encode(), ctypes.byref(start))
    return result, start.value

def timing(stream):
    t = Timing(size=ctypes.sizeof(Timing))
    result = tool.hipadapt_verbose_timing(P(int(stream) if stream else 0),
                                          ctypes.byref(t))
    return (result, t.enabled, t.stat, t.info.decode(), t.start, t.end, t.duration)

def sleeper(seconds):
    call = ctypes.CFUNCTYPE(None, P)(lambda p: time.sleep(seconds))
    keep.append(call)
    return call

def why():
    return tool.hipadapt_verbose_error_text().decode()

keep = []
streams = [hipadapt.Stream() for i in range(2)]
handles = [s.handle for s in streams]
"""
BY = {
    "records": {"HIPADAPT_VERBOSE": "profile_exec"},
    "events": {"HIPADAPT_VERBOSE": "none"},
    "switch": {
        "HIPADAPT_VERBOSE": "profile_exec",
        "HIPADAPT_VERBOSE_TRACKERS": "events",
    },
}
ANY = pytest.mark.parametrize("by", BY)


def run(run_python: Run, code: str, by: str = "records") -> tuple[list[Any], list[str]]:
    """Lines of trackers, and what else the program printed."""
    done = run_python(BEGIN + API + code, **BY[by], HIPADAPT_VERBOSE_FILE="/dev/stderr")
    rows = [row for row in results(done.stderr) if row["primitive"] == "tracker"]
    return rows, done.stdout.splitlines()


@ANY
def test_each_registration_has_one_line(run_python: Run, by: str) -> None:
    code = """
for i in range(20):
    for s, h in zip(streams, handles):
        scale[1, 1, 0, s](x, 1.0, 1)
        assert register(h, f"work {i}, of {h}") == 0
hip.hipDeviceSynchronize()
"""
    rows, _ = run(run_python, code, by)
    streams = {row["prop_kind"] for row in rows}

    assert len(rows) == 40
    assert len(streams) == 2
    for stream in streams:
        handle = stream.partition(":")[2]
        assert [r["implementation"] for r in rows if r["prop_kind"] == stream] == [
            f"work {i}, of {handle}" for i in range(20)
        ]
    clock = "clock:device" if by == "records" else "clock:host"
    assert all(clock in row["auxiliary"] for row in rows)
    assert {row["operation"] for row in rows} == {"exec"}


def test_times_are_those_of_the_work(run_python: Run) -> None:
    code = """
for i in range(30):
    scale[1, 1, 0, streams[i % 2]](x, 1.0, 1)
    register(handles[i % 2], "")
hip.hipDeviceSynchronize()
"""
    done = run_python(BEGIN + API + code, **BY["records"])
    rows = results(done.stdout)
    work = {
        (number(r, "corr"), number(r, "start"), number(r, "end"))
        for r in rows
        if r["implementation"] == "scale"
    }
    told = {
        (number(r, "corr"), number(r, "start"), number(r, "end"))
        for r in rows
        if r["primitive"] == "tracker"
    }

    assert len(told) == 30
    assert told == work


@ANY
def test_several_registrations_of_the_same_work(run_python: Run, by: str) -> None:
    code = """
hip.hipLaunchHostFunc(handles[0], sleeper(0.05), None)
scale[1, 1, 0, streams[0]](x, 1.0, 1)
for i in range(5):
    register(handles[0], str(i))
streams[0].synchronize()
register(handles[0], "late")
"""
    rows, _ = run(run_python, code, by)

    names = [row["implementation"] for row in rows]
    assert names == ["0", "1", "2", "3", "4", "late"]
    if by == "records":
        assert len({row["auxiliary"] for row in rows}) == 1


@ANY
def test_streams_that_end_in_another_order(run_python: Run, by: str) -> None:
    code = """
hip.hipLaunchHostFunc(handles[0], sleeper(0.3), None)
for i, name in enumerate(("slow", "quick")):
    scale[1, 1, 0, streams[i]](x, 1.0, 1)
    register(handles[i], name)
hip.hipDeviceSynchronize()
"""
    rows, _ = run(run_python, code, by)

    assert [row["implementation"] for row in rows] == ["quick", "slow"]
    if by == "records":
        assert number(rows[1], "start") > number(rows[0], "end")


@ANY
def test_a_graph_is_one_piece_of_work(run_python: Run, by: str) -> None:
    code = """
s, h = streams[0], handles[0]
hip.hipStreamBeginCapture(s, hip.hipStreamCaptureMode.hipStreamCaptureModeGlobal)
for i in range(3):
    scale[1, 64, 0, s](x, 2.0, 64)
    hip.hipLaunchHostFunc(s, sleeper(0.02), None)
print(register(h, "captured"), why())
graph = hip.hipStreamEndCapture(s)[1]
executable = hip.hipGraphInstantiateWithFlags(graph, 0)[1]
hip.hipGraphLaunch(executable, s)
register(h, "graph")
s.synchronize()
"""
    done = run_python(BEGIN + API + code, **BY[by])
    rows = results(done.stdout)
    told = [row for row in rows if row["primitive"] == "tracker"]

    assert "argument 'stream' is being captured" in done.stdout
    assert [row["implementation"] for row in told] == ["graph"]
    if by == "records":
        nodes = [row for row in rows if row["prop_kind"] == told[0]["prop_kind"]]
        nodes = [row for row in nodes if row["primitive"] != "tracker"]
        assert len(nodes) == 6
        assert {number(row, "corr") for row in nodes} == {number(told[0], "corr")}
        assert number(told[0], "start") == min(number(row, "start") for row in nodes)
        # What a host function does after the last kernel is no work of the device.
        assert number(told[0], "end") >= max(
            number(row, "end") for row in nodes if row["primitive"] == "kernel"
        )


@ANY
def test_a_cooperative_launch(run_python: Run, by: str) -> None:
    code = """
text = '''
#include <hip/hip_cooperative_groups.h>
extern "C" __global__ void meet(int *x)
{ atomicAdd(x, 1); cooperative_groups::this_grid().sync(); }
'''
meet = hipadapt.Program(text).compile().kernel("meet")
hip.hipModuleLaunchCooperativeKernel(meet, 4, 1, 1, 16, 1, 1, 0, handles[0], (x,))
register(handles[0], "meeting")
streams[0].synchronize()
"""
    rows, _ = run(run_python, code, by)

    assert [(r["operation"], r["implementation"]) for r in rows] == [
        ("exec", "meeting")
    ]


@ANY
def test_work_that_fails_has_a_line_that_says_so(run_python: Run, by: str) -> None:
    code = """
module.kernel("broken")[1, 1, 0, streams[0]](x)
register(handles[0], "broken")
hip.hipDeviceSynchronize()
hipadapt.verbose.flush()
print(timing(handles[0])[:4])
"""
    rows, rest = run(run_python, code, by)

    assert [(r["operation"], r["implementation"]) for r in rows] == [
        ("exec:error", "broken")
    ]
    assert "status:fault" in rows[0]["auxiliary"]
    assert rest == [str((0, int(by == "records"), int(by == "records"), "broken"))]


@ANY
def test_a_stream_that_goes_before_its_work(run_python: Run, by: str) -> None:
    code = """
status, s = hip.hipStreamCreate()
hip.hipLaunchHostFunc(s, sleeper(0.2), None)
scale[1, 1, 0, s](x, 1.0, 1)
register(s, "left")
hip.hipStreamDestroy(s)
hip.hipDeviceSynchronize()
"""
    rows, _ = run(run_python, code, by)

    assert [(r["operation"], r["implementation"]) for r in rows] == [("exec", "left")]


@ANY
def test_the_blocking_way(run_python: Run, by: str) -> None:
    code = """
print(check(handles[0], "too early"))
hip.hipLaunchHostFunc(handles[0], sleeper(0.2), None)
scale[1, 1, 0, streams[0]](x, 1.0, 1)
register(handles[0], "quiet")
print(timing(handles[0])[0])
begin = time.time()
result, start = check(handles[0], "waited for")
print(result, abs(start / 1e3 - time.time()) < 60, int(hip.hipStreamQuery(handles[0])[0]))
hipadapt.verbose.flush()
print(check(handles[0], "once more")[0], timing(handles[0])[4] == start)
"""
    rows, rest = run(run_python, code, by)

    assert rest == [
        "(5, -1.0)",
        "5",
        "0 True 0",
        "0 True",
    ]
    assert [(r["operation"], r["implementation"]) for r in rows] == [
        ("exec:sync", "waited for"),
        ("exec:sync", "once more"),
    ]


@ANY
def test_timing_is_that_of_the_newest_one(run_python: Run, by: str) -> None:
    code = """
for i in range(3):
    scale[1, 1, 0, streams[0]](x, 1.0, 1)
    register(handles[0], f"number {i}")
check(handles[0], "last")
result, enabled, stat, info, start, end, duration = timing(handles[0])
print(result, enabled, stat, info)
print(0 < start <= end, 0 <= duration < 6e4, abs(end - start - duration) < 0.01)
print(timing(handles[1])[0], why())
"""
    _, rest = run(run_python, code, by)
    records = int(by == "records")

    # Without records the duration is that since the tracker before.
    assert rest[0] in (f"0 {records} 1 last", f"0 {records} 1 number 2")
    assert rest[1] == "True True True"
    assert rest[2].startswith("5 hipadapt_verbose_timing: no tracker of the stream")


def test_wrong_arguments_are_refused(run_python: Run) -> None:
    code = """
print(register(12345, "x"), why())
status, event = hip.hipEventCreate()
print(register(handles[0], "x", event))
old = int(event)
hip.hipEventDestroy(event)
print(register(handles[0], "x", old), why())
print(tool.hipadapt_verbose_timing(None, None), why())
print(tool.hipadapt_verbose_set(None), why())
print(tool.hipadapt_verbose_status(None), why())
print(tool.hipadapt_verbose_output(b"", 0), why())
tool.hipadapt_verbose_result_name.restype = ctypes.c_char_p
print([tool.hipadapt_verbose_result_name(i) for i in (0, 6, 7, -1)])
"""
    _, rest = run(run_python, code, "events")

    assert rest[0].startswith("1 argument 'stream' is no stream: hipError")
    assert rest[1] == "0"
    assert rest[2].startswith("1 argument 'event' is no event: hipError")
    for line, words in zip(
        rest[3:7],
        ("timing: argument 'timing'", "set: argument 'words'", "status: argument"),
        strict=False,
    ):
        assert line.startswith(f"1 hipadapt_verbose_{words}")
    assert rest[6].endswith("argument 'file' must not be empty")
    assert rest[7] == "[b'HIPADAPT_VERBOSE_OK', b'HIPADAPT_VERBOSE_FORKED', None, None]"


@ANY
def test_threads_on_one_stream_and_on_two(run_python: Run, by: str) -> None:
    code = """
import threading
def work(k):
    for i in range(100):
        scale[1, 1, 0, streams[k // 2]](x, 1.0, 1)
        assert register(handles[k // 2], f"{k} {i}") == 0
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
for t in threads: t.start()
for t in threads: t.join()
hip.hipDeviceSynchronize()
"""
    rows, _ = run(run_python, code, by)

    assert sorted(r["implementation"] for r in rows) == sorted(
        f"{k} {i}" for k in range(4) for i in range(100)
    )


def test_many_streams_do_not_make_it_grow(run_python: Run) -> None:
    code = """
import resource
def turn(n):
    for i in range(n):
        s = hip.hipStreamCreate()[1]
        scale[1, 1, 0, s](x, 1.0, 1)
        hip.hipStreamDestroy(s)
    hip.hipDeviceSynchronize()
turn(3000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
turn(12000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    _, rest = run(run_python, code)

    assert int(rest[0]) < 4000
