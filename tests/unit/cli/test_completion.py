# SPDX-License-Identifier: MIT
"""Scripts that complete command lines, in the shells that are installed."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hipadapt._cc.driver import USAGE
from hipadapt._cli.completion import options_of

# How each shell is asked what may follow some words.
BASH = """
source {script}
COMP_WORDS=({words}); COMP_CWORD={last}
_hipadapt
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
ZSH = """
compdef() {{ true }}
_files() {{ true }}
compadd() {{ shift; printf '%s\\n' "$@" | grep -e "^$current" }}
source {script}
ask() {{ local -a words; words=({words}); local CURRENT={count} current={current}; _hipadapt }}
ask
"""
FISH = "source {script}; complete -C {line}"
ASK = {"bash": BASH, "zsh": ZSH, "fish": FISH}
installed = [
    pytest.param(
        shell,
        marks=pytest.mark.skipif(
            shutil.which(shell) is None, reason=f"{shell} is not installed"
        ),
    )
    for shell in ASK
]


def completed(shell: str, words: list[str], folder: Path) -> set[str]:
    command = [sys.executable, "-m", "hipadapt", "completion", shell]
    script = folder / "script"
    script.write_bytes(subprocess.run(command, stdout=-1, check=True).stdout)
    text = ASK[shell].format(
        script=script,
        words=" ".join(map(shlex.quote, words)),
        last=len(words) - 1,
        count=len(words),
        current=shlex.quote(words[-1]),
        line=shlex.quote(" ".join(words)),
    )
    done = subprocess.run(
        [shell, "-c", text], cwd=folder, capture_output=True, text=True
    )
    assert done.stderr == ""
    return {line.split("\t")[0] for line in done.stdout.splitlines()} - {"script"}


@pytest.mark.parametrize("shell", installed)
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["hipadapt", "do"], {"doctor"}),
        (["hipadapt", "trace", ""], {"attach", "run", "summary", "diff", "merge"}),
        (["hipadapt", "trace", "run", "--prov"], {"--provider"}),
        (["hipadapt", "cc", "--che"], {"--check"}),
        (["hipadapt", "completion", "z"], {"zsh"}),
    ],
)
def test_words_that_may_follow_are_offered(
    shell: str, words: list[str], found: set[str], tmp_path: Path
) -> None:
    assert found <= completed(shell, words, tmp_path)


def test_options_of_the_driver_are_those_of_its_help() -> None:
    options = options_of(USAGE)

    assert {"-c", "-o", "--check", "-###", "-fgpu-rdc", "-std="} <= set(options)
    assert all(option in USAGE for option in options)


def test_unknown_shell_is_refused() -> None:
    command = [sys.executable, "-m", "hipadapt", "completion", "tcsh"]

    done = subprocess.run(command, capture_output=True, text=True)

    assert done.returncode == 2
    assert "bash" in done.stderr
