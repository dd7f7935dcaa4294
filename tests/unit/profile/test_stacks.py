# SPDX-License-Identifier: MIT
"""Stacks of Python at launches."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Run

from .test_profile import BEGIN, load, slices

PROGRAM = (
    BEGIN
    + """
def inner():
    launch()
def outer():
    inner()
with profile(sys.argv[1], stacks=sys.argv[2] == "1"):
    outer()
    y = hipadapt.array(np.arange(1000))
    thread = threading.Thread(target=outer, name="other")
    thread.start()
    thread.join()
"""
)


def test_launches_show_the_whole_stack(run_python: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    run_python(PROGRAM, str(out), "1")
    trace = load(out)
    calls = slices(trace, "cuda_runtime")
    lines = PROGRAM.split("\n")
    here = {name: lines.index(f"    {name}()") + 1 for name in ("outer", "inner")}
    launch = lines.index("    launch()") + 1

    stacks = [e["args"]["stack"] for e in calls if e["name"].endswith("LaunchKernel")]
    assert len(stacks) == 2
    own, other = sorted(stacks, key=lambda stack: stack[0].startswith("threading:"))
    assert own[0] == f"__main__:<module>:{here['outer']}"
    assert own[1:3] == [
        f"__main__:outer:{here['inner']}",
        f"__main__:inner:{launch}",
    ]
    assert own[3].startswith("__main__:launch:")
    assert other[0].startswith("threading:")
    assert other[-3:] == own[-3:]  # the innermost ones are the same
    (copy,) = (e for e in calls if e["name"].startswith("hipMemcpy"))
    assert copy["args"]["stack"][0].startswith("__main__:<module>:")
    # Calls that give no work have none.
    assert all("stack" not in e["args"] for e in calls if e["name"] == "hipMalloc")
    assert trace["with_stack"] == 1


def test_nobody_looks_at_stacks_that_are_not_wanted(
    run_python: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    run_python(PROGRAM, str(out), "0")
    trace = load(out)

    assert all("stack" not in e["args"] for e in slices(trace, "cuda_runtime"))
    assert trace["with_stack"] == 0


def test_a_deep_stack_is_whole(run_python: Run, tmp_path: Path) -> None:
    # Given: recursion, names that JSON escapes, and an end within a launch's stack.
    out = tmp_path / "out.json"
    run_python(
        BEGIN
        + """
def deep(n):
    return deep(n - 1) if n else launch()
code = deep.__code__.replace(co_name='a "b"', **(
    {"co_qualname": 'a "b"'} if sys.version_info >= (3, 11) else {}))
deep.__code__ = code
with profile(sys.argv[1], stacks=True):
    deep(500)
import atexit
atexit.register(launch)
profile(sys.argv[1] + ".pftrace", stacks=True).prepare().start()
launch()
""",
        str(out),
    )
    (call,) = (
        e for e in slices(load(out), "cuda_runtime") if "LaunchKernel" in e["name"]
    )

    assert (
        sum(frame.startswith('__main__:a "b":') for frame in call["args"]["stack"])
        == 501
    )
    assert b"stack" in Path(f"{out}.pftrace").read_bytes()
