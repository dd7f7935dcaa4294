# SPDX-License-Identifier: MIT
"""``check``: findings of programs.

The program is the C test cpu/check/output, which makes findings as kernels do, with the
device in it: what reads them here has the device's own lines.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hipadapt._check.finding import Finding
from hipadapt._check.kinds import KINDS
from hipadapt._check.read import Reader
from tests.c import run as c_tests
from tests.conftest import ROOT

FOUND = 86


@pytest.fixture(scope="module")
def program() -> str:
    """Makes the findings that its argument names, and ends with status 3."""
    return str(c_tests.build(c_tests.path_of("cpu/check/output")))


def start(*words: object, **more: Any) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **more.pop("environment", {})}
    environment.pop("HIPADAPT_CHECK", None)
    return subprocess.Popen(
        [sys.executable, "-m", "hipadapt", "check", *map(str, words)],
        env=environment,
        text=True,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more},
    )


def check(*words: object, **more: Any) -> subprocess.CompletedProcess[str]:
    child = start(*words, **more)
    output, errors = child.communicate(timeout=120)
    return subprocess.CompletedProcess([], child.returncode, output, errors)


def lines_of(program: str, scene: str, tmp_path: Path) -> bytes:
    """What the device writes to HIPADAPT_CHECK_OUTPUT."""
    path = tmp_path / "lines"
    path.unlink(missing_ok=True)
    settings = {"HIPADAPT_CHECK": "all", "HIPADAPT_CHECK_OUTPUT": str(path)}
    subprocess.run([program, scene], env={**os.environ, **settings}, check=False)
    return path.read_bytes()


# ---- the command ----


def test_a_finding_is_shown_and_changes_the_status(program: str) -> None:
    done = check("--", program, "one")

    assert done.returncode == FOUND
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "hipadapt check: out-of-bounds: an access outside of its allocation",
        "  write of 4 bytes in kernel scale(float*, int)",
        "  at scale.hip:7:10",
        "    7 |     x[i] = 1;",
        "      |          ^",
        "  by block (3, 0, 0), thread (17, 0, 0)",
        "  address 0x1194: 4 bytes behind the end of 400 bytes of global memory",
        "  allocated by hipMalloc",
        "      main.c:3",
        "      main.c:9",
        f"  advice: {KINDS['out-of-bounds'].advice}",
        "  2 times: out-of-bounds, scale.hip:7:10 in scale(float*, int)",
        "hipadapt check: 1 finding, made 2 times; 0 launches checked, 0 not checked; "
        "0 accesses observed, 0 proved; checked for memory,race,init,sync,nan",
    ]


PYTHON = """
import hipadapt

def make():
    return hipadapt.zeros(64, dtype="int32")

touch = hipadapt.compile_kernel(
    'extern "C" __global__ void touch(int *x) { x[threadIdx.x] = 1; }', "touch"
)
touch[1, 65](make())
hipadapt.Device().synchronize()
"""


def test_stack_of_an_allocation_is_that_of_the_program(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PYTHON)

    done = check("--kinds", "memory", "--", sys.executable, path)

    assert done.returncode == FOUND, done.stderr
    begin = done.stderr.index("  allocated by hipMalloc\n")
    end = done.stderr.index("  advice: ", begin)
    assert done.stderr[begin:end].splitlines()[1:3] == [
        f"      {path}:5 in make",
        f"      {path}:10 in <module>",
    ]
    assert str(ROOT / "hipadapt") not in done.stderr[begin:end]


def test_without_findings_the_status_is_the_program_s(program: str) -> None:
    done = check("--kinds", "race, memory", "--", program, "clean")

    assert done.returncode == 3
    assert done.stderr == (
        "hipadapt check: 0 findings; 1 launch checked, 0 not checked; "
        "0 accesses observed, 0 proved; checked for memory,race\n"
    )


def test_a_program_without_hip_is_not_called_clean(program: str) -> None:
    done = check("--", program, "none")

    assert done.returncode == 3
    assert "nothing was checked: no process has used HIP" in done.stderr


@pytest.mark.parametrize("scene", ["killed", "quick", "abort"])
def test_findings_of_a_program_that_dies_are_kept(program: str, scene: str) -> None:
    done = check("--", program, scene)

    assert done.returncode == FOUND
    assert done.stderr.count("  at scale.hip:7:10\n") == 1
    assert "has no summary: it was killed, or still runs" in done.stderr


def test_findings_of_all_processes_are_one_list(program: str) -> None:
    forked, replaced = (check("--", program, scene) for scene in ("forks", "exec"))

    assert forked.stderr.count("  at scale.hip:7:10\n") == 1
    assert forked.stderr.count("  at scale.hip:9:10\n") == 1
    assert "  3 times: out-of-bounds, scale.hip:7:10" in forked.stderr
    assert "hipadapt check: 2 findings, made 4 times;" in forked.stderr
    # Both programs of one process, of which the first has no end.
    assert "hipadapt check: 1 finding, made 3 times;" in replaced.stderr


def test_a_finding_is_shown_while_the_program_runs(program: str) -> None:
    child = start("--", program, "slow")
    assert child.stderr is not None
    begin = time.monotonic()
    line = child.stderr.readline()
    took = time.monotonic() - begin
    child.send_signal(signal.SIGTERM)
    _, errors = child.communicate(timeout=60)

    assert line.startswith("hipadapt check: out-of-bounds")
    assert took < 50
    assert child.returncode == FOUND
    assert "1 finding, made 2 times;" in errors


def test_a_signal_is_the_program_s_where_nothing_is_found(tmp_path: Path) -> None:
    script = tmp_path / "dies.py"
    script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGUSR1)\n")

    assert check(script).returncode == -signal.SIGUSR1


def test_many_findings_are_bounded_and_counted(program: str) -> None:
    done = check("--format", "json", "--", program, "many")

    made = json.loads(done.stdout)
    assert done.returncode == FOUND
    assert len(made["findings"]) == made["summary"]["findings"] == 1000
    assert made["summary"]["counted"] == 2002
    assert made["summary"]["dropped"] == 1000


def test_json_has_all_members(program: str) -> None:
    done = check("--format=json", "--", program, "hostile")

    made = json.loads(done.stdout)
    first, second = made["findings"]
    assert first["kind"] == "out-of-bounds"
    assert first["address"] == "0x1194"
    assert first["here"]["block"] == [3, 0, 0]
    assert first["other"] is None
    assert first["memory"]["allocated_by"] == ["main.c:3", "main.c:9"]
    assert first["count"] == 2
    assert second["message"] == '"\\\n\ufffd\u00e9\x1b'
    assert second["here"]["file"] == "a b/\ufffd#?%.hip"
    assert second["memory"] is None
    assert done.stderr.count("\n") == 1  # the summary


@pytest.mark.parametrize("choice", ["text", "json", "sarif"])
def test_output_goes_to_the_file(program: str, choice: str, tmp_path: Path) -> None:
    path = tmp_path / "found"

    done = check("--format", choice, "-o", path, "--", program, "one")

    assert done.returncode == FOUND
    assert done.stdout == ""
    assert done.stderr.startswith("hipadapt check: 1 finding, made 2 times;")
    text = path.read_text()
    assert "scale.hip" in text
    if choice != "text":
        json.loads(text)


def test_bad_requests_are_refused(program: str, tmp_path: Path) -> None:
    unknown = check("--kinds", "memory,raze", "--", program, "one")
    assert unknown.returncode == 2
    assert (
        "'raze' is no kind of check; there are memory, race, init, sync, nan, all"
        in unknown.stderr
    )
    assert check("--kinds", ",", "--", program, "one").returncode == 2
    nothing = check()
    assert nothing.returncode == 2
    assert "which program? hipadapt check -- PROGRAM ARGS" in nothing.stderr
    absent = check("-o", tmp_path / "none" / "x", "--", program, "one")
    assert absent.returncode == 2
    assert "No such file or directory" in absent.stderr
    assert check("--", tmp_path / "none").returncode == 127


def test_help_has_every_word() -> None:
    done = check("--help")

    words = " ".join(done.stdout.split())
    for kind in {kind.word for kind in KINDS.values()}:
        assert f"{kind}: " in words


# ---- SARIF ----


def test_sarif_has_rules_places_and_fingerprints(program: str) -> None:
    done = check("--format", "sarif", "--", program, "hostile")

    log = json.loads(done.stdout)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(KINDS)
    assert all(rule["help"]["text"] for rule in rules)
    first, second = run["results"]
    assert first["ruleId"] == rules[first["ruleIndex"]]["id"] == "out-of-bounds"
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "scale.hip", "uriBaseId": "%SRCROOT%"}
    assert place["region"]["startLine"] == 7
    assert place["region"]["startColumn"] == 10
    assert first["occurrenceCount"] == 2
    assert len(first["partialFingerprints"]["hipadaptFinding/v1"]) == 32
    strange = second["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert strange == "a%20b/%EF%BF%BD%23%3F%25.hip"


def finding(program: str, tmp_path: Path, **here: Any) -> Finding:
    """One of the device, with other values on its side."""
    for line in lines_of(program, "one", tmp_path).splitlines():
        given = json.loads(line)
        if given["type"] == "finding":
            given["here"].update(here)
            return Finding.of(given)
    raise AssertionError("no finding")


def place_in_sarif(found: Finding) -> Any:
    from hipadapt._check.sarif import sarif_of

    (result,) = sarif_of([found], "train.py")["runs"][0]["results"]
    return result["locations"][0]["physicalLocation"]


def test_sarif_places_are_relative_and_always_there(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def uri(**here: Any) -> str:
        place = place_in_sarif(finding(program, tmp_path, **here))
        return str(place["artifactLocation"]["uri"])

    monkeypatch.chdir(tmp_path)
    assert uri(file=str(tmp_path / "src" / "k.hip")) == "src/k.hip"
    assert uri(file="./src/../k.hip") == "k.hip"
    assert uri(file="/elsewhere/k.hip") == "file:///elsewhere/k.hip"
    assert uri(file="", stack="somewhere\nrun.py:12 in main") == "run.py"
    assert uri(file="", stack="") == "train.py"


def test_sarif_columns_are_characters(program: str, tmp_path: Path) -> None:
    place = place_in_sarif(finding(program, tmp_path, text="é = x[i];", column=6))

    assert place["region"]["startColumn"] == 5
    assert place["region"]["snippet"]["text"] == "é = x[i];"


# ---- reading ----


def test_reader_takes_any_pieces(program: str, tmp_path: Path) -> None:
    lines = lines_of(program, "forks", tmp_path)
    whole, parts = Reader(), Reader()
    whole.feed(lines)
    for at in range(0, len(lines), 7):
        parts.feed(lines[at : at + 7])

    assert parts.result() == whole.result()
    assert parts.result().summary == whole.result().summary
    assert whole.processes == 2
    assert whole.unfinished == []


def test_reader_passes_over_damaged_lines(program: str, tmp_path: Path) -> None:
    lines = lines_of(program, "one", tmp_path)
    reader = Reader()
    for line in lines.splitlines(keepends=True):
        reader.feed(line[: len(line) // 2] + b"\n" + b'{"type": "more"}\n[]\n\xff\n')
        reader.feed(line)
    reader.feed(lines[:20])
    reader.end()

    assert len(reader.result()) == 1
    assert reader.damaged == 4 * len(lines.splitlines()) + 1


def test_summary_is_that_of_the_device(program: str) -> None:
    settings = {**os.environ, "HIPADAPT_CHECK": "memory,quiet"}
    settings.pop("HIPADAPT_CHECK_OUTPUT", None)
    settings["HIPADAPT_CHECK"] = "all"
    alone = subprocess.run(
        [program, "one"], env=settings, capture_output=True, text=True, check=False
    )

    assert check("--", program, "one").stderr == alone.stderr


def test_findings_are_good_to_look_at(program: str, tmp_path: Path) -> None:
    reader = Reader()
    reader.feed(lines_of(program, "hostile", tmp_path))
    found = reader.result()

    assert repr(found[0]) == (
        "<Finding out-of-bounds, scale.hip:7:10 in scale(float*, int), 2 times>"
    )
    assert str(found[0]).endswith(KINDS["out-of-bounds"].advice)
    assert (found[0].kernel, found[0].line) == ("scale(float*, int)", 7)
    shown = found._repr_html_()
    assert "<span style='background:#d62728;color:white'>=</span>" in shown
    assert "a b/\ufffd#?%.hip" in shown
    assert shown.count("<details>") == 2
    assert "2 findings, made 3 times" in shown
    with pytest.raises(AttributeError):
        found[0].count = 5  # type: ignore[misc]


def test_notebooks_show_texts_as_texts(program: str, tmp_path: Path) -> None:
    bad = finding(program, tmp_path, file="<script>", kernel="a<b>", text="<i>x</i>")

    shown = bad._repr_html_()

    assert "<script>" not in shown
    assert "<i>" not in shown
    assert "a<b>" not in shown


def test_kind_of_another_machine_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "sitecustomize.py"
    other.write_text("import platform; platform.machine = lambda: 'aarch64'\n")
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}"}

    done = check("--kinds", "nan", "--", "true", environment=environment)
    text = " ".join(check("--help", environment=environment).stdout.split())

    assert done.returncode == 2
    assert "'nan' is checked on x86_64 only; here there are memory, race" in done.stderr
    assert "sync: barriers" in text
    assert "nan:" not in text
