# SPDX-License-Identifier: MIT
"""Profiles of some iterations of a loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from hipadapt import profile
from tests.conftest import Run

from .test_profile import load

# Iteration i launches kernel k<i>.
LOOP = """
import sys, hipadapt
from hipadapt import profile
kernels = [
    hipadapt.compile_kernel("__global__ void k%d(int *x) { *x = 1; }" % i, "k%d" % i)
    for i in range(10)
]
x = hipadapt.zeros(1, "int32")
def loop(url, count=10, **numbers):
    with profile(url, schedule=profile.schedule(**numbers)) as recording:
        for kernel in kernels[:count]:
            kernel[1, 1](x)
            hipadapt.Device().synchronize()
            recording.step()
    return recording
"""


def kernels_of(path: Path) -> list[str]:
    events = sorted(load(path)["traceEvents"], key=lambda e: e.get("ts", 0))
    return [e["name"].split("(")[0] for e in events if e.get("cat") == "kernel"]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ("wait=1, warmup=1, active=2, repeat=2, skip_first=1", ["k3 k4", "k7 k8"]),
        ("active=3, repeat=3", ["k0 k1 k2", "k3 k4 k5", "k6 k7 k8"]),
        ("wait=3, active=2, repeat=0", ["k3 k4", "k8 k9"]),
        ("warmup=2, active=3, repeat=0", ["k2 k3 k4", "k7 k8 k9"]),
        ("wait=2, active=5, repeat=0", ["k2 k3 k4 k5 k6", "k9"]),  # cut by the end
        ("wait=9, warmup=5, repeat=2", []),
        ("skip_first=20, repeat=2", []),
    ],
)
def test_rounds_have_the_iterations_of_the_schedule(
    run_python: Run, tmp_path: Path, numbers: str, expected: list[str]
) -> None:
    run_python(f"{LOOP}loop(sys.argv[1], {numbers})", str(tmp_path / "round_%n.json"))

    found = {path.name: kernels_of(path) for path in tmp_path.iterdir()}
    assert found == {
        f"round_{number}.json": names.split() for number, names in enumerate(expected)
    }


def test_one_round_needs_no_number(run_python: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = run_python(
        LOOP
        + """
p = loop(sys.argv[1], wait=1, active=2)
print(sum(k["count"] for k in p.summary()["kernels"]), profile.status().state)
p = loop(None, wait=4, active=1)
p.save(sys.argv[2])
""",
        str(out),
        str(tmp_path / "kept.json"),
    )

    assert done.stdout == "2 idle\n"
    assert kernels_of(out) == ["k1", "k2"]
    assert kernels_of(tmp_path / "kept.json") == ["k4"]


def test_the_end_by_an_exception_keeps_what_was_recorded(
    run_python: Run, tmp_path: Path
) -> None:
    done = run_python(
        LOOP
        + """
rounds = profile.schedule(warmup=1, active=4, repeat=0)
try:
    with profile(sys.argv[1], schedule=rounds) as p:
        for i in range(9):
            kernels[i][1, 1](x)
            hipadapt.Device().synchronize()
            if i == 2:
                raise KeyError(i)
            p.step()
except KeyError as error:
    print(error, profile.status().state)
try:
    with profile(sys.argv[1], schedule=rounds) as p:
        raise KeyError("in the warm-up")
except KeyError as error:
    print(error, profile.status().state)
with profile(sys.argv[1], schedule=rounds):
    try:
        with profile("b.json", schedule=profile.schedule()):
            pass
    except RuntimeError as error:
        print(error)
profile.step()
""",
        str(tmp_path / "%n.json"),
    )

    assert done.stdout.splitlines() == [
        "2 idle",
        "'in the warm-up' idle",
        "profile: another one with a schedule is there",
    ]
    assert kernels_of(tmp_path / "0.json") == ["k1", "k2"]


def test_schedules_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="schedule: argument 'wait' must not be -1"):
        profile.schedule(wait=-1)
    with pytest.raises(ValueError, match="argument 'active' must not be 0"):
        profile.schedule(active=0)
    with pytest.raises(TypeError, match="argument 'repeat' must be int, not 'float'"):
        profile.schedule(repeat=1.0)  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match=r"must be of profile.schedule\(...\), not 'int'"
    ):
        profile("a.json", schedule=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"'url' must have %n.*not 'a\.json'"):
        profile("a.json", schedule=profile.schedule(repeat=0))
