# SPDX-License-Identifier: MIT
"""``hipadapt completion``: a script with which a shell completes command lines.

The scripts know the words that may follow each command, as the parser has them;
anything else is the name of a file.
"""

from __future__ import annotations

import argparse
import re
import shlex
from typing import Any

HELP = "print a script with which a shell completes commands and options"
TEXT = """Prints a script for a shell:

  bash:  eval "$(hipadapt completion bash)"      in ~/.bashrc
  zsh:   eval "$(hipadapt completion zsh)"       in ~/.zshrc, behind compinit
  fish:  hipadapt completion fish | source       in ~/.config/fish/config.fish
"""
SHELLS = ("bash", "zsh", "fish")

_BASH = """\
_hipadapt() {{
    local at='' word words='' current=${{COMP_WORDS[COMP_CWORD]}}
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$at$word" in
            {paths}) at="$at$word " ;;
        esac
    done
    case "$at" in
{cases}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _hipadapt hipadapt
complete -o default -W {driver} hipadapt-cc
"""
_ZSH = """\
_hipadapt() {{
    local at='' word
    local -a given
    given=(${{words[2,CURRENT-1]}})
    for word in $given; do
        case "$at$word" in
            ({paths}) at="$at$word " ;;
        esac
    done
    local follow=''
    case "$at" in
{cases}
    esac
    compadd -- ${{=follow}}
    _files
}}
_hipadapt_cc() {{
    compadd -- ${{=:-{driver}}}
    _files
}}
compdef _hipadapt hipadapt
compdef _hipadapt_cc hipadapt-cc
"""
_FISH = """\
function __hipadapt_words
    set -l at ''
    for word in (commandline -opc)[2..-1]
        switch "$at$word"
            case {paths}
                set at "$at$word "
        end
    end
    switch "$at"
{cases}
    end
end
complete -c hipadapt -a '(__hipadapt_words)'
complete -c hipadapt-cc -a {driver}
"""


def words_of(parser: argparse.ArgumentParser) -> dict[str, list[str]]:
    """What may follow each command; commands of commands have a space between."""
    found: dict[str, list[str]] = {}

    def collect(inside: Any, path: str) -> None:
        words = found.setdefault(path, [])
        for action in inside._actions:
            words.extend(option for option in action.option_strings if len(option) > 2)
            words.extend(str(choice) for choice in action.choices or ())
            if hasattr(action.choices, "items"):  # commands and their parsers
                for name, command in action.choices.items():
                    collect(command, f"{path}{name} ")

    collect(parser, "")
    return found


def options_of(usage: str) -> list[str]:
    """Whole options in a text about them: -c, --check, but not -O0 ... -O3."""
    found = re.findall(r"(?:^|[\s,])(--?[a-zA-Z#][\w#-]*=?)", usage, re.MULTILINE)
    return sorted({option for option in found if not option.startswith(("-O", "-DC"))})


def script(shell: str, parser: argparse.ArgumentParser, driver: str) -> str:
    """The script; `driver` is the help of hipadapt-cc."""
    words = words_of(parser)
    words["cc "] = options_of(driver)
    options = shlex.quote(" ".join(words["cc "]))
    between = " " if shell == "fish" else "|"
    paths = between.join(shlex.quote(path[:-1]) for path in words if path)
    line = {
        "bash": "        {}) words={} ;;",
        "zsh": "        ({}) follow={} ;;",
        "fish": "        case {}\n            string split ' ' -- {}",
    }[shell]
    cases = "\n".join(
        line.format(shlex.quote(path), shlex.quote(" ".join(follow)))
        for path, follow in words.items()
    )
    form = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}[shell]
    return form.format(paths=paths, cases=cases, driver=options)


def add(parser: argparse.ArgumentParser) -> None:
    """Its argument."""
    parser.add_argument("shell", choices=SHELLS)
