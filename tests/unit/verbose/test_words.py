# SPDX-License-Identifier: MIT
"""Which words there are, and `hipadapt.verbose`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hipadapt
from hipadapt import _core
from tests.conftest import Run
from tests.unit.verbose.test_lines import BEGIN, FAILURES
from tests.unit.verbose.verbose_lines import results

WORDS = {
    "none": "none",
    "0": "none",
    "": "none",
    "error": "error",
    "check": "check",
    "profile_create": "profile_create",
    "profile_exec": "profile_exec",
    "profile": "profile_create,profile_exec",
    "1": "error,profile_exec",
    "2": "error,profile_create,profile_exec",
    "all": "error,check,profile_create,profile_exec",
    "-1": "error,check,profile_create,profile_exec",
    "check,error": "error,check",
    "ALL, none ,\tcheck,": "check",
    "profile_exec,0": "none",
    "1,check": "error,check,profile_exec",
}


@pytest.fixture
def quiet() -> Any:
    """Lines go nowhere, and are off afterwards."""
    with hipadapt.verbose("none", file="/dev/null"):
        yield


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("words", WORDS)
def test_words_are_those_of_onednn(words: str) -> None:
    hipadapt.verbose.set(words)

    assert hipadapt.verbose.status().words == WORDS[words]


@pytest.mark.parametrize("words", WORDS)
def test_the_environment_takes_the_same_words(run_python: Run, words: str) -> None:
    code = "import hipadapt\nhipadapt.zeros(1)\nprint(hipadapt.verbose.status().words)"
    done = run_python(code, HIPADAPT_VERBOSE=words, HIPADAPT_VERBOSE_FILE="/dev/null")

    assert done.stdout == WORDS[words] + "\n"
    assert done.stderr == ""


def test_an_unknown_word_of_the_environment_is_told(run_python: Run) -> None:
    code = "import hipadapt\nhipadapt.zeros(1)\nprint(hipadapt.verbose.status().words)"
    done = run_python(code, HIPADAPT_VERBOSE="profile_exe,check,x,y")

    assert done.stdout.splitlines()[-1] == "check"
    assert done.stderr == (
        "hipadapt: HIPADAPT_VERBOSE: 'profile_exe' is left out; the words are none, "
        "error, check, profile_create, profile_exec, profile, all, or 0, 1, 2\n"
    )


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("exec",), ValueError, "argument 'words' has 'exec', which is none of none, "),
        ((3,), TypeError, "argument 'words' must be str, not 'int'"),
        ((None,), TypeError, "argument 'words' must be str, not 'NoneType'"),
        (("a\0b",), ValueError, "argument 'words' must have no NUL"),
    ],
)
def test_wrong_words_are_refused_and_change_nothing(
    arguments: tuple[Any, ...], error: type[Exception], text: str
) -> None:
    before = hipadapt.verbose.status()
    with pytest.raises(error, match=text):
        hipadapt.verbose.set(*arguments)
    with pytest.raises(error, match=text), hipadapt.verbose(*arguments):
        pass

    assert hipadapt.verbose.status() == before


@pytest.mark.parametrize(
    ("file", "error"),
    [
        ("", ValueError),
        ("/nowhere/at/all", OSError),
        ("/", OSError),
        ("x" * 5000, ValueError),
        (3, TypeError),
    ],
)
def test_wrong_files_are_refused_and_change_nothing(
    file: Any, error: type[Exception]
) -> None:
    before = hipadapt.verbose.status()
    with pytest.raises(error):
        hipadapt.verbose.set("all", file=file)

    assert hipadapt.verbose.status() == before


@pytest.mark.parametrize("timeout", [-1, float("nan"), 1e10])
def test_wrong_times_are_refused(timeout: float) -> None:
    with pytest.raises(ValueError, match="argument 'timeout' must be 0 to"):
        hipadapt.verbose.flush(timeout)


def test_a_block_has_lines_and_its_end_has_them_written(tmp_path: Path) -> None:
    x = hipadapt.zeros(10)
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    with hipadapt.verbose("profile_exec", file=outer):
        hipadapt.hip.hipMemset(x, 1, 16)
        hipadapt.hip.hipDeviceSynchronize()
        with hipadapt.verbose("profile_exec", file=inner, timestamp=True):
            hipadapt.hip.hipMemset(x, 2, 16)
            hipadapt.hip.hipMemset(x, 3, 16)
            hipadapt.hip.hipDeviceSynchronize()
        hipadapt.hip.hipMemset(x, 4, 16)
        hipadapt.hip.hipDeviceSynchronize()
    hipadapt.hip.hipMemset(x, 5, 16)
    hipadapt.hip.hipDeviceSynchronize()

    assert hipadapt.verbose.status().words == "none"
    assert len(results(inner.read_text())) == 2
    assert "template:timestamp,operation" in inner.read_text()
    # The file was opened anew, and its columns are named once more.
    assert len(results(outer.read_text())) == 2
    assert outer.read_text().count("template:operation") == 2


def test_a_block_that_fails_ends_its_lines(tmp_path: Path) -> None:
    with pytest.raises(KeyError), hipadapt.verbose("all", file=tmp_path / "x"):
        raise KeyError

    assert hipadapt.verbose.status().words == "none"
    assert repr(hipadapt.verbose("all")) == "hipadapt.verbose('all')"


def test_a_program_switches_them_on_and_off(run_python: Run) -> None:
    code = """
for words in ("none", "profile_exec", "none", "error", "check,profile_exec"):
    hipadapt.verbose.set(words)
    hipadapt.hip.hipMemset(x, 0, 16)
    hipadapt.hip.hipMemset(0, 0, 16)
"""
    rows = results(run_python(BEGIN + code).stdout)

    assert [(r["operation"], r["primitive"]) for r in rows] == [
        ("exec", "memset"),
        ("exec", "memset"),
        ("check", "call"),
    ]


def test_the_program_wins_over_the_environment(run_python: Run) -> None:
    code = "hipadapt.verbose.set('none')\n" + FAILURES
    done = run_python(BEGIN + code, HIPADAPT_VERBOSE="check")

    assert results(done.stdout) == []


def test_counts_tell_of_lines(tmp_path: Path) -> None:
    x = hipadapt.zeros(10)
    before = hipadapt.verbose.status()
    with hipadapt.verbose("profile_exec", file=tmp_path / "x"):
        for i in range(7):
            hipadapt.hip.hipMemset(x, i, 16)
        hipadapt.hip.hipDeviceSynchronize()
    after = hipadapt.verbose.status()

    assert (after.lines - before.lines, after.lost) == (7, before.lost)


def test_the_native_functions_refuse_what_is_no_text() -> None:
    with pytest.raises(TypeError, match=r"verbose.set: argument 'words' must be str"):
        _core.verbose_set(b"all")  # type: ignore[arg-type]
