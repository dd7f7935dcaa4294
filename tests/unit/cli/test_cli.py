# SPDX-License-Identifier: MIT
"""``python -m hipadapt doctor | compile | bench``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hipadapt
from tests.conftest import ROOT

GOOD = "__global__ void k(int *x) { *x = N; }\n"
TEMPLATE = "template <class T> __global__ void s(T *x) { *x = 2; }\n"


def run(
    *words: str, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HIPADAPT_PROVIDER": "cpu", **environment}
    env["PYTHONPATH"] = str(ROOT)  # where hipadapt is not installed
    command = [sys.executable, "-m", "hipadapt", *words]
    return subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, timeout=120
    )


def test_info_tells_the_versions_of_hip_that_are_described() -> None:
    found = {
        entry["since"]
        for path in (ROOT / "tools/codegen/description/functions").glob("*.json")
        for entry in json.loads(path.read_text())
    }
    numbers = sorted(tuple(map(int, version.split("."))) for version in found)
    first, last = (".".join(map(str, numbers[end])) for end in (0, -1))

    done = run("info", "--json")

    assert f"HIP {first} to {last}, " in json.loads(done.stdout)["speaks"]


@pytest.mark.parametrize("words", [(), ("check",), ("trace", "run"), ("compile",)])
def test_help_shows_the_command_as_it_was_typed(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    script = tmp_path / "hipadapt"
    script.write_text("from hipadapt.__main__ import main\nraise SystemExit(main())\n")
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, script, *words, "--help"]

    as_script = subprocess.run(command, env=settings, capture_output=True, text=True)
    as_module = run(*words, "--help")

    name = " ".join(("hipadapt", *words))
    assert as_script.stdout.startswith(f"usage: {name} ")
    assert "python -m hipadapt" not in as_script.stdout
    assert as_module.stdout.startswith(f"usage: python -m {name} ")


def test_doctor_finds_a_healthy_machine() -> None:
    done = run("doctor", "--json")

    assert done.returncode == 0, done.stdout
    report = json.loads(done.stdout)
    found = {finding["what"]: finding for finding in report["findings"]}
    assert report["ok"] is True
    assert found["provider"]["found"].startswith("cpu ")
    assert found["kernel"]["state"] == "ok"
    assert {f["state"] for f in report["findings"]} <= {"ok", "warn", "fail"}


def test_variables_that_nothing_reads_are_told_once_and_by_doctor() -> None:
    slips = {"HIPADAPT_CPU_DEVICE": "2", "HIPADAPT_CPU_EXEC": "fats"}

    done = run("doctor", "--json", **slips)

    found = {f["what"]: f for f in json.loads(done.stdout)["findings"]}
    assert "HIPADAPT_CPU_DEVICES is one" in found["HIPADAPT_CPU_DEVICE"]["advice"]
    assert found["HIPADAPT_CPU_EXEC"]["state"] == "warn"
    assert [done.stderr.count(f"hipadapt: {name} ") for name in slips] == [1, 1]


def test_other_compiler_is_told_with_what_to_install(tmp_path: Path) -> None:
    compiler = tmp_path / "zig"
    compiler.write_text("#!/bin/sh\nexec cat /dev/null\n")
    compiler.chmod(0o755)

    done = run("doctor", HIPADAPT_COMPILER=str(compiler), HIPADAPT_CACHE="0")

    assert done.returncode == 1
    assert "Traceback" not in done.stdout
    assert "HIPADAPT_COMPILER names the compiler" in done.stdout


def test_doctor_says_what_is_wrong_with_the_compiler() -> None:
    done = run("doctor", HIPADAPT_COMPILER="/nowhere/zig", HIPADAPT_CACHE="0")

    assert done.returncode == 1
    assert "fail  kernel" in done.stdout
    assert "HIPADAPT_COMPILER names the compiler" in done.stdout
    assert "warn  cache" in done.stdout


def test_doctor_says_that_no_runtime_can_be_loaded() -> None:
    done = run("doctor", HIPADAPT_PROVIDER="/nowhere/libhip.so")

    assert done.returncode == 1
    assert "fail  provider" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.plain
def test_doctor_warns_of_a_tight_memory_limit() -> None:
    limit = 4 << 30
    code = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))\n"
        "from hipadapt._cli import doctor\n"
        "print(*next(doctor.check_limits()).__dict__.values(), sep='|')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert done.stdout.startswith("memory limit|warn|4.0 GiB")


def test_doctor_tells_an_open_cache(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)

    done = run("doctor", HIPADAPT_CACHE_DIR=str(folder))

    assert f"chmod 700 {folder}" in done.stdout


def test_compile_writes_code_that_can_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "k.hip").write_text(GOOD + TEMPLATE)

    done = run(
        "compile", "k.hip", "-D", "N=5", "--name-expression", "s<float>", cwd=tmp_path
    )

    assert done.returncode == 0, done.stderr
    assert "s<float> = _Z1sIfEvPT_" in done.stdout
    import hipadapt

    module = hipadapt.Module.from_code(tmp_path / "k.hsaco")
    x = hipadapt.empty(1, "int32")
    module.kernel("_Z1kPi")[1, 1](x)
    assert int(x.get()[0]) == 5
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".hip"] == [
        "k.hsaco"
    ]


def test_compile_shows_the_errors_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "bad.hip").write_text("__global__ void b() { x; }\n")
    (tmp_path / "good.hip").write_text(GOOD)
    out = tmp_path / "out"
    out.mkdir()

    done = run("compile", "bad.hip", "good.hip", "-DN=1", "-o", "out", cwd=tmp_path)

    assert done.returncode == 1
    assert "bad.hip:1:23: error" in done.stderr
    assert "[2/2] good.hip -> out/good.hsaco" in done.stdout
    assert (out / "good.hsaco").is_file()
    assert not (out / "bad.hsaco").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere.hip",), "nowhere.hip: No such file"),
        (("k.hip", "--arch", "sm_90"), "code for 'sm_90' can't be made"),
        (("k.hip", "k.hip", "-o", "file"), "'file' is no folder"),
        (("k.hip", "--option=@file"), "@file"),
        ((), "required"),
        (("k.hip", "-o", "no/such/folder/x"), "No such file"),
    ],
)
def test_compile_refuses_in_one_line(
    tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    (tmp_path / "k.hip").write_text("__global__ void k() {}\n")

    done = run("compile", *words, cwd=tmp_path)

    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_bench_compares_with_ctypes() -> None:
    done = run("bench", "--seconds", "1", "--json")

    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert len(rows) == 3
    assert all(row["hipadapt_ns"] > 0 and row["ctypes_ns"] > 0 for row in rows)


@pytest.mark.parametrize("command", ["demo", "info", "doctor", "compile", "bench"])
def test_every_command_has_help(command: str) -> None:
    done = run(command, "--help")

    assert done.returncode == 0
    assert command in done.stdout


def test_without_a_command_the_help_is_shown() -> None:
    done = run()

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run("--help").stdout
    assert "compile kernels in files" in done.stdout


def test_version_is_that_of_the_package() -> None:
    done = run("--version")

    assert (done.returncode, done.stdout) == (0, f"hipadapt {hipadapt.__version__}\n")


def test_unknown_command_is_refused() -> None:
    done = run("dance")

    assert done.returncode == 2
    assert "dance" in done.stderr
