# SPDX-License-Identifier: MIT
"""``hipadapt run`` where folders are hostile: each is used safely or refused by name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run

ME, OTHER = 54320, 54321
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another")


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="hostile-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def run(*words: str, **settings: str | None) -> subprocess.CompletedProcess[bytes]:
    merged = {**os.environ, "PYTHONPATH": str(ROOT), **settings}
    command = [sys.executable, "-m", "hipadapt", "run", *words]
    return subprocess.run(
        command,
        cwd="/",
        env={name: value for name, value in merged.items() if value is not None},
        capture_output=True,
        timeout=120,
    )


def refused(done: subprocess.CompletedProcess[bytes], text: str) -> None:
    assert (done.returncode, done.stdout) == (125, b""), done
    assert text in done.stderr.decode()
    assert len(done.stderr.splitlines()) == 1


def root_of(done: subprocess.CompletedProcess[bytes]) -> str:
    assert done.returncode == 0, done.stderr
    return os.fsdecode(done.stdout.strip())


LIBRARY = """
import ctypes, os
library = ctypes.CDLL("libamdhip64.so.7")
assert library.hipadaptStart() > 0
print(os.environ["ROCM_PATH"], end="")
"""


@pytest.mark.parametrize(
    "name", ["with space", "line\nfeed", "quote'\"s", "\udcff\udcfe"]
)
def test_folder_with_an_odd_name_is_used(place: Path, name: str) -> None:
    cache = place / name

    done = run("python", "-c", LIBRARY, HIPADAPT_CACHE_DIR=str(cache), LC_ALL="C.UTF-8")
    shown = run("--env", HIPADAPT_CACHE_DIR=str(cache))

    assert done.returncode == 0, done.stderr
    script = os.fsdecode(shown.stdout) + '\nprintf %s "$ROCM_PATH"'
    read = subprocess.run(["sh", "-c", script], capture_output=True, check=True)
    assert os.fsdecode(read.stdout).startswith(f"{cache}/run/rocm-")
    assert (cache / "run").is_dir()


@pytest.mark.parametrize("name", ["a:b", "a;b", "$ORIGIN", "${LIB}"])
def test_folder_whose_name_the_linker_takes_apart_is_refused(
    place: Path, name: str
) -> None:
    done = run("true", HIPADAPT_CACHE_DIR=str(place / name))

    refused(done, "which mean something else in LD_LIBRARY_PATH")


def test_home_whose_name_the_linker_takes_apart_gives_way(place: Path) -> None:
    (place / "a:b").mkdir()
    settings = {"HOME": str(place / "a:b"), "TMPDIR": str(place)}
    unset = {"HIPADAPT_CACHE_DIR": None, "XDG_CACHE_HOME": None}

    done = run("printenv", "ROCM_PATH", **settings, **unset)

    assert root_of(done).startswith(f"{place}/hipadapt-{os.geteuid()}/run/")


def test_relative_folder_is_ignored(place: Path) -> None:
    settings: dict[str, str | None] = {"HIPADAPT_CACHE_DIR": None, "HOME": "relative"}

    done = run(
        "printenv",
        "ROCM_PATH",
        XDG_CACHE_HOME="relative",
        TMPDIR=str(place),
        **settings,
    )

    assert root_of(done).startswith(f"{place}/hipadapt-{os.geteuid()}/run/")


def test_folder_below_one_that_all_can_write_is_refused(place: Path) -> None:
    (place / "open").mkdir()
    (place / "open").chmod(0o777)

    refused(
        run("true", HIPADAPT_CACHE_DIR=str(place / "open/cache")),
        f"everybody can replace what is in {place}/open",
    )

    (place / "open").chmod(0o1777)
    assert run("true", HIPADAPT_CACHE_DIR=str(place / "open/cache")).returncode == 0


def test_folder_behind_a_link_is_used_by_its_real_name(place: Path) -> None:
    (place / "real").mkdir()
    (place / "link").symlink_to(place / "real")

    done = run("printenv", "ROCM_PATH", HIPADAPT_CACHE_DIR=str(place / "link/cache"))

    assert root_of(done).startswith(f"{place}/real/cache/run/")


@pytest.mark.parametrize("below", ["", "/run"])
def test_folder_that_is_a_link_is_refused(place: Path, below: str) -> None:
    cache, elsewhere = place / "cache", place / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    if below:
        cache.mkdir(mode=0o700)
    Path(f"{cache}{below}").symlink_to(elsewhere)

    done = run("true", HIPADAPT_CACHE_DIR=str(cache))

    refused(done, f"{cache}{below} is no folder of this user")
    assert list(elsewhere.iterdir()) == []


# The interpreter's own files may be root's alone, so it becomes the other user late.
BASE_AS_OTHER = """
import os, sys
from hipadapt._run import root
user = int(sys.argv[1])
os.setgroups([])
os.setgid(user)
os.setuid(user)
try:
    print(root.base_folder())
except root.RootError as error:
    print("refused:", error)
"""


def base_of(user: int, run_python: Run, **settings: str) -> str:
    """The folder that `run` takes for this user, or why there is none."""
    environment = {"HIPADAPT_CACHE_DIR": "", **settings}
    return run_python(BASE_AS_OTHER, str(user), **environment).stdout.strip()


def made(folder: Path, user: int, mode: int = 0o700) -> Path:
    folder.mkdir()
    os.chown(folder, user, user)
    folder.chmod(mode)
    return folder


@as_root
@pytest.mark.parametrize("whose", [(OTHER, ME), (ME, OTHER)])
def test_folder_of_another_user_is_refused(
    place: Path, run_python: Run, whose: tuple[int, int]
) -> None:
    cache = made(place / "cache", whose[0])
    made(cache / "run", whose[1])

    said = base_of(ME, run_python, HIPADAPT_CACHE_DIR=str(cache))

    assert said.startswith("refused:") and str(cache) in said


@as_root
def test_folder_below_that_of_another_user_is_refused(
    place: Path, run_python: Run
) -> None:
    theirs = made(place / "theirs", OTHER, 0o755)
    made(theirs / "cache", ME)

    said = base_of(ME, run_python, HIPADAPT_CACHE_DIR=str(theirs / "cache"))

    assert f"{theirs} belongs to another user" in said


@as_root
@pytest.mark.parametrize("unwritable", ["home", "home/hipadapt", "home/hipadapt/run"])
def test_folder_that_cannot_be_written_gives_way(
    place: Path, run_python: Run, unwritable: str
) -> None:
    for name in ("temporary", "home", "home/hipadapt", "home/hipadapt/run"):
        if not name.startswith(f"{unwritable}/"):
            made(place / name, ME, 0o500 if name == unwritable else 0o700)
    settings = {"XDG_CACHE_HOME": f"{place}/home", "TMPDIR": f"{place}/temporary"}

    said = base_of(ME, run_python, **settings)

    assert said == f"{place}/temporary/hipadapt-{ME}/run"


@as_root
def test_folder_that_was_named_and_cannot_be_written_is_refused(
    place: Path, run_python: Run
) -> None:
    cache = made(place / "cache", ME)
    made(cache / "run", ME, 0o500)

    said = base_of(ME, run_python, HIPADAPT_CACHE_DIR=str(cache))

    assert f"{cache}/run cannot be written" in said


def test_library_path_of_the_user_stays_behind_ours(place: Path) -> None:
    theirs = f"{place}/with space:{place}/line\nfeed:relative:"

    done = run(
        "printenv",
        "LD_LIBRARY_PATH",
        HIPADAPT_CACHE_DIR=str(place / "cache"),
        LD_LIBRARY_PATH=theirs,
    )

    ours, *rest = os.fsdecode(done.stdout[:-1]).split(":")
    assert ours.startswith(f"{place}/cache/run/rocm-")
    assert rest == theirs.split(":")[:-1]
