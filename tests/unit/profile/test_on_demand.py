# SPDX-License-Identifier: MIT
"""Requests from outside of the program: what starts a recording, and what is refused."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Run
from tests.unit.profile.test_profile import BEGIN, load, names

REQUEST = """
import time
def finished(limit=30):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        launch()
        hipadapt.Device().synchronize()
        now = profile.status()
        if now.state == "idle" and now.request and not now.request_waits:
            return now
    raise SystemExit(f"no end: {profile.status()}")
"""


def test_base_configuration_stands_below_the_text(
    run_python: Run, tmp_path: Path
) -> None:
    # Given: a file that says all, of which the request says one thing otherwise.
    base = tmp_path / "base.conf"
    base.write_text(
        f"ACTIVITIES_LOG_FILE={tmp_path}/base.json\n"
        "ACTIVITIES_WARMUP_PERIOD_SECS=0\nACTIVITIES_DURATION_MSECS=50\n"
    )

    done = run_python(
        BEGIN
        + REQUEST
        + f"profile.request('ACTIVITIES_LOG_FILE={tmp_path}/own.json')\n"
        + "print(os.getpid(), finished().message)",
        KINETO_CONFIG=str(base),
    )

    assert names(load(tmp_path / f"own_{int(done.stdout)}.json"), "kernel")["work"] > 0
    assert not list(tmp_path.glob("base*.json"))


def test_base_configuration_with_a_mistake_is_left_out(
    run_python: Run, tmp_path: Path
) -> None:
    base = tmp_path / "base.conf"
    base.write_text("ACTIVITIES_ENABLED=false\nACTIVITIES_DURATION_MSECS=soon\n")

    done = run_python(
        BEGIN
        + REQUEST
        + f"profile.request('ACTIVITIES_LOG_FILE={tmp_path}/own.json\\n"
        + "ACTIVITIES_WARMUP_PERIOD_SECS=0')\nprint(os.getpid(), finished().message)",
        KINETO_CONFIG=str(base),
    )

    assert "'soon' is not a whole number" in done.stderr
    assert str(base) in done.stderr
    assert (tmp_path / f"own_{int(done.stdout)}.json").exists()


def test_no_request_is_taken_while_a_recording_opens(
    run_python: Run, tmp_path: Path
) -> None:
    # Given: a folder that takes long to look through.
    for number in range(5000):
        (tmp_path / f"x.{number}.hipadapt.tmp").mkdir()

    done = run_python(
        BEGIN
        + """
over = False
def ask():
    while not over:
        try:
            profile.request(f"ACTIVITIES_LOG_FILE={sys.argv[1]}/asked.json")
        except RuntimeError:
            pass
thread = threading.Thread(target=ask)
thread.start()
try:
    for round in range(10):
        with profile(f"{sys.argv[1]}/{round}.json"):
            launch(3)
finally:
    over = True
    thread.join()
""",
        str(tmp_path),
    )

    assert done.returncode == 0
    for number in range(10):
        assert names(load(tmp_path / f"{number}.json"), "kernel") == {"work": 3}


def test_profile_after_a_dropped_request_shows_all(
    run_python: Run, tmp_path: Path
) -> None:
    # Many rounds: dropping one recording takes microseconds, in which the next begins.
    done = run_python(
        BEGIN
        + """
import time
launch()
for round in range(300):
    profile.request(f'''
        ACTIVITIES_LOG_FILE={sys.argv[1]}/asked.json
        ACTIVITIES_WARMUP_PERIOD_SECS=0
        ACTIVITIES_DURATION_MSECS=60000
    ''')
    while profile.status().state != "collecting":
        time.sleep(0.0005)
    with profile(f"{sys.argv[1]}/own.json"):
        launch(3)
    print(profile.status().kernels)
""",
        str(tmp_path),
    )

    assert done.stdout.split() == ["3"] * 300
