# SPDX-License-Identifier: MIT
"""``python -m hipadapt run``: how programs are started, and where it refuses."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hipadapt._run import start
from hipadapt._run.root import RootError, private_folder
from tests.conftest import ROOT

SIGPIPE_BIT = 1 << (signal.SIGPIPE - 1)


def run(
    *words: str, cache: Path, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HIPADAPT_CACHE_DIR": str(cache), **environment}
    env["PYTHONPATH"] = str(ROOT)  # where hipadapt is not installed
    return subprocess.run(
        [sys.executable, "-m", "hipadapt", "run", *words],
        cwd=cwd,
        env=env,
        input="typed",
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of its own, in a folder with a space, for most tests here."""
    folder = tmp_path_factory.mktemp("run") / "a cache"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(scope="module")
def root(cache: Path) -> Path:
    done = run("--", "printenv", "ROCM_PATH", cache=cache)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


# ---- the program ----


@pytest.mark.parametrize("status", [0, 7, 255])
def test_exit_status_is_the_programs(cache: Path, status: int) -> None:
    done = run("--", "sh", "-c", f"exit {status}", cache=cache)

    assert done.returncode == status


def test_signal_that_ends_the_program_is_seen(cache: Path) -> None:
    done = run("--", "sh", "-c", "kill -TERM $$", cache=cache)

    assert done.returncode == -signal.SIGTERM


def test_signal_sent_reaches_the_program(cache: Path) -> None:
    code = "import sys, time; print('up', flush=True); time.sleep(60)"
    env = {**os.environ, "HIPADAPT_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "hipadapt", "run", "--", "python", "-c", code]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.send_signal(signal.SIGUSR1)
        assert process.wait(30) == -signal.SIGUSR1


def test_program_does_not_inherit_ignored_signals(cache: Path) -> None:
    done = run("--", "cat", "/proc/self/status", cache=cache)

    ignored = next(
        line.split()[1] for line in done.stdout.splitlines() if "SigIgn" in line
    )
    assert int(ignored, 16) & SIGPIPE_BIT == 0


def test_standard_input_and_arguments_arrive_as_they_are(cache: Path) -> None:
    code = "import sys; print(sys.argv[1:], sys.stdin.read())"

    done = run("python", "-c", code, "--env", "a b", "", "-m", "--", "$x", cache=cache)

    assert done.stdout == "['--env', 'a b', '', '-m', '--', '$x'] typed\n"


@pytest.mark.parametrize("name", ["python", f"python{sys.version_info[0]}"])
def test_python_is_this_interpreter(cache: Path, name: str) -> None:
    done = run("--", name, "-c", "import sys; print(sys.executable)", cache=cache)

    assert done.stdout.strip() == sys.executable


def test_script_runs_with_this_interpreter(cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "with space"
    folder.mkdir()
    (folder / "it's.py").write_text("import sys; print(sys.executable, sys.argv)\n")

    done = run(str(folder / "it's.py"), "-x", cache=cache)

    words = [str(folder / "it's.py"), "-x"]
    assert done.stdout.strip() == f"{sys.executable} {words}"


def test_module_runs_with_its_arguments(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import sys; print(sys.argv[1:])\n")

    done = run("-m", "mine", "--env", "-m", "x", cache=cache, cwd=tmp_path)

    assert done.stdout == "['--env', '-m', 'x']\n"


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ((), 2, "which program?"),
        (("--",), 2, "which program?"),
        (("--", ""), 127, "empty"),
        (("--", "no-such-program"), 127, "no-such-program: no such program"),
        (("--", "./no/such"), 127, "no such program"),
        (("--", "/"), 126, "is a folder"),
        (("--", str(ROOT / "README.md")), 126, "may not be executed"),
        (("--scan", "/nowhere", "--", "true"), 2, "--scan /nowhere"),
    ],
)
def test_bad_program_is_refused_in_one_line(
    cache: Path, words: tuple[str, ...], status: int, message: str
) -> None:
    done = run(*words, cache=cache)

    assert done.returncode == status
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_file_that_is_no_program_is_refused(cache: Path, tmp_path: Path) -> None:
    program = tmp_path / "noise"
    program.write_bytes(b"\x7fELF" + b"\xff" * 200)
    program.chmod(0o700)

    done = run("--", str(program), cache=cache)

    assert done.returncode == 126
    assert "Traceback" not in done.stderr


# ---- raised privileges ----


def copy_of_true(folder: Path, mode: int) -> str:
    program = folder / "true"
    shutil.copy(shutil.which("true") or "/bin/true", program)
    program.chmod(mode)
    return str(program)


@pytest.mark.parametrize("mode", [0o4755, 0o2755])
def test_program_with_raised_privileges_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    program = copy_of_true(tmp_path, mode)
    found = os.stat(program)
    start.check_trusted(program)  # raises nothing for its owner
    monkeypatch.setattr(os, "getuid", lambda: found.st_uid + 1)
    monkeypatch.setattr(os, "getgid", lambda: found.st_gid + 1)

    with pytest.raises(start.RunError, match="raised privileges") as caught:
        start.check_trusted(program)

    assert caught.value.status == 126


def test_process_with_raised_privileges_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    choices = argparse.Namespace(module=None, program=["true"], env=False, scan=[])

    assert start.main(choices) == 125

    assert "raised privileges" in capsys.readouterr().err


# ---- the folder ----


def test_folder_is_private_and_complete(root: Path, cache: Path) -> None:
    assert root.parent == cache / "run"
    for folder in (cache, cache / "run", root, root / "lib", root / "bin"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder
    for name in ("libamdhip64.so", "libamdhip64.so.6", "libamdhip64.so.7"):
        assert (root / "lib" / name).resolve().name == "libhipadapt_cpu.so"
    for name in ("libhiprtc.so", "libhiprtc.so.7", "libhiprtc-builtins.so.7"):
        assert (root / "lib" / name).exists()
    assert (root / ".info/version").read_text()[0] == "7"
    assert (root / "include/hip/hip_runtime.h").is_file()


@pytest.mark.parametrize("mode", [0o755, 0o770])
def test_folder_that_others_can_open_is_refused(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(mode)

    done = run("--", "true", cache=folder)

    assert done.returncode == 125
    assert f"chmod 700 {folder}" in done.stderr
    assert list(folder.iterdir()) == []


def test_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")

    done = run("--", "true", cache=tmp_path / "link")

    assert done.returncode == 125
    assert "no folder of this user" in done.stderr


def test_folder_of_someone_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)

    with pytest.raises(RootError, match="no folder of this user"):
        private_folder(folder)


def test_where_home_cannot_be_written_the_temporary_folder_serves(
    tmp_path: Path,
) -> None:
    done = run(
        "--",
        "printenv",
        "ROCM_PATH",
        cache=Path(),
        HIPADAPT_CACHE_DIR="",
        XDG_CACHE_HOME="/proc/nothing",
        TMPDIR=str(tmp_path),
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path / f"hipadapt-{os.geteuid()}"))


def test_programs_that_start_at_once_share_one_folder(tmp_path: Path) -> None:
    env = {**os.environ, "HIPADAPT_CACHE_DIR": str(tmp_path / "c")}
    env["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "-m", "hipadapt", "run", "--", "printenv", "ROCM_PATH"]

    started = [
        subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        for _ in range(5)
    ]
    outputs = {process.communicate(timeout=120)[0] for process in started}

    assert [process.returncode for process in started] == [0] * 5
    assert len(outputs) == 1
    kept = [path.name for path in (tmp_path / "c/run").iterdir()]
    assert len([name for name in kept if name.startswith("rocm-")]) == 1
    assert not [name for name in kept if name.startswith(".new-")]


def test_old_folders_are_removed(tmp_path: Path) -> None:
    base = tmp_path / "c" / "run"
    base.mkdir(parents=True, mode=0o700)
    (tmp_path / "c").chmod(0o700)
    long_ago = time.time() - 40 * 24 * 3600
    for name in ("rocm-old", ".new-1-1", "kept"):
        (base / name).mkdir()
        os.utime(base / name, (long_ago, long_ago))
    (base / "rocm-young").mkdir()

    done = run("--", "true", cache=tmp_path / "c")

    assert done.returncode == 0
    names = {path.name for path in base.iterdir()}
    assert {"kept", "rocm-young"} < names
    assert not {"rocm-old", ".new-1-1"} & names


# ---- the environment ----


def test_environment_leads_to_the_folder(root: Path, cache: Path) -> None:
    done = run(
        "--",
        "env",
        cache=cache,
        LD_LIBRARY_PATH=f"/one:{root}/lib::/two",
        HIPADAPT_CPU_WARP_SIZE="",
    )

    found = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert found["LD_LIBRARY_PATH"] == f"{root}/lib:/one:/two"
    assert found["PATH"].startswith(f"{root}/bin:")
    assert {found[name] for name in ("ROCM_PATH", "ROCM_HOME", "HIP_PATH")} == {
        str(root)
    }
    assert found["HIP_PLATFORM"] == "amd"
    assert found["HIPADAPT_CPU_WARP_SIZE"] == "64"


def test_warp_size_of_the_user_stays(cache: Path) -> None:
    done = run(
        "--",
        "printenv",
        "HIPADAPT_CPU_WARP_SIZE",
        cache=cache,
        HIPADAPT_CPU_WARP_SIZE="32",
    )

    assert done.stdout.strip() == "32"


def test_environment_is_printed_for_a_shell(root: Path, cache: Path) -> None:
    done = run("--env", cache=cache)

    assert done.returncode == 0
    shown = subprocess.run(
        ["sh", "-c", f'{done.stdout}\nprintf %s "$HIP_PATH"'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == str(root)


def test_libraries_of_both_versions_are_one_device(cache: Path) -> None:
    code = """
import ctypes
from hipadapt import hip, provider
seven, six = ctypes.CDLL("libamdhip64.so.7"), ctypes.CDLL("libamdhip64.so.6")
rtc = ctypes.CDLL("libhiprtc.so.7")
memory, major, minor = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int()
assert seven.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(64)) == 0
assert rtc.hiprtcVersion(ctypes.byref(major), ctypes.byref(minor)) == 0
status, found = hip.hipPointerGetAttributes(memory)
assert int(status) == 0, status
assert six.hipFree(memory) == 0
print(provider().name, found.device, major.value)
"""

    done = run("--", "python", "-c", code, cache=cache)

    assert done.stdout == "cpu 0 7\n", done.stderr


def test_objects_that_others_hold_at_exit_can_be_released(cache: Path) -> None:
    code = """
import ctypes
library = ctypes.CDLL("libamdhip64.so.7")
import hipadapt
kept = hipadapt.empty(4, "int32")
memory = ctypes.c_void_p()
assert library.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(64)) == 0
class Held:
    def __del__(self, free=library.hipFree, memory=memory, write=__import__("os").write):
        write(1, b"%d" % free(memory))
library.held = Held()
"""

    done = run("--", "python", "-c", code, cache=cache)

    assert (done.stdout, done.stderr) == ("0", "")


# ---- tools ----


def test_hipcc_says_where_the_headers_are(root: Path, cache: Path) -> None:
    done = run("--", "hipcc", "-x", "hip", "-E", "-v", "/dev/null", cache=cache)

    assert done.returncode == 0
    assert (
        f"#include <...> search starts here:\n {root}/include\nEnd of search list."
    ) in done.stderr


def test_hipcc_makes_code_that_can_be_loaded(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "k.cpp").write_text(
        "#include <hip/hip_runtime.h>\n"
        'extern "C" __global__ void k(int *x) { *x = N; }\n'
    )

    done = run(
        *("hipcc", "--genco", "-DN=3", "k.cpp", "-o", "k.hsaco"),
        cache=cache,
        cwd=tmp_path,
        HIPADAPT_CPU_WARP_SIZE=os.environ.get("HIPADAPT_CPU_WARP_SIZE", "32"),
    )

    assert done.returncode == 0, done.stderr
    import hipadapt

    x = hipadapt.empty(1, "int32")
    hipadapt.Module.from_code(tmp_path / "k.hsaco").kernel("k")[1, 1](x)
    assert int(x.get()[0]) == 3


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        ("--platform", "amd"),
        ("--compiler", "clang"),
        ("--version", "7."),
        ("--path", "/"),
        ("-C", " -D__HIP_PLATFORM_HCC__= -D__HIP_PLATFORM_AMD__= -I"),
    ],
)
def test_hipconfig_answers(cache: Path, word: str, answer: str) -> None:
    done = run("--", "hipconfig", word, cache=cache)

    assert done.returncode == 0
    assert done.stdout.startswith(answer)


def test_hipconfig_refuses_what_it_does_not_know(cache: Path) -> None:
    done = run("--", "hipconfig", "--nonsense", cache=cache)

    assert done.returncode == 1
    assert "--nonsense" in done.stderr


def test_version_for_kernels_is_the_version_for_programs() -> None:
    def number(path: str, name: str) -> str:
        for line in (ROOT / path).read_text().splitlines():
            words = line.split()
            if words[:2] == ["#define", name]:
                return words[2]
        raise AssertionError(f"{name} is not in {path}")

    for name in ("MAJOR", "MINOR", "PATCH"):
        name = f"HIP_VERSION_{name}"
        device = number("csrc/cpu/headers/hip/hip_version.h", name)
        assert device == number("csrc/abi/generated/hip.h", name)
