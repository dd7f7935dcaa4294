# SPDX-License-Identifier: MIT
"""Marks: comments that say what must be found in a line.

    x[i] = 1;  // FIND out-of-bounds write global thread=63
    s[t] = v;  // FIND race write shared
    w = s[0];  // OTHER read
    # FIND double-free call=hipFree
    hip.hipFree(p)

A comment of its own is of the next line.
A mark is FIND or OTHER and words.  FIND takes a kind (vocabulary.py) first, or several
with "|" between them where what is near is for the checker to say.  Further words: read, write, atomic, free are the access, and all of them are named or none;
global, shared and so on the memory; block=1 or block=1,0,2, thread= likewise; bytes=
of the access; call= the HIP function, which makes it a mark of the host; kernel=,
function= and name= (of the variable).  What is not named is not compared.

A race has two sides, and it does not matter which of them is FIND.  With a kind that
has one side, OTHER names a second line at which it may as well be found.  FIND.2 and
OTHER.2 are a second pair of marks; a line may have several marks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .vocabulary import BITS, KINDS, SPACES, TWO_SIDED

Place = tuple[int, int, int]
COMMENT = re.compile(r"(?://|#)\s*((?:FIND|OTHER)\b.*)$")
MARK = re.compile(r"^(FIND|OTHER)(\.\d+)?$")
TEXTS = ("call", "kernel", "function", "name")


@dataclass(frozen=True)
class Side:
    """Where a finding must be; None, 0 and the empty text are not compared."""

    line: int
    text: str = ""
    in_source: bool = True  # else: of the host
    bits: int = 0
    bytes: int = 0
    block: Place | None = None
    thread: Place | None = None
    call: str = ""
    kernel: str = ""
    function: str = ""


@dataclass(frozen=True)
class Expectation:
    """One finding, of one of these kinds."""

    kinds: tuple[str, ...]
    here: Side
    other: Side | None
    space: str = ""
    name: str = ""


@dataclass
class Mark:
    """Words of one mark, as they are read."""

    line: int
    text: str
    what: str
    label: str
    kinds: tuple[str, ...] = ()
    space: str = ""
    bits: int = 0
    keys: dict[str, str] = field(default_factory=dict)

    def side(self, in_source: bool) -> Side:
        call = self.keys.get("call", "")
        if in_source == bool(call):
            raise ValueError(f"line {self.line}: 'call' is for marks of the host")
        return Side(
            line=self.line,
            text=self.text.strip(),
            in_source=in_source,
            bits=self.bits,
            bytes=int(self.keys.get("bytes", "0")),
            block=place(self.keys.get("block")),
            thread=place(self.keys.get("thread")),
            **{word: self.keys.get(word, "") for word in TEXTS if word != "name"},
        )


def place(text: str | None) -> Place | None:
    """Read "3" or "3,1,0"."""
    if text is None:
        return None
    numbers = [int(number) for number in text.split(",")]
    x, y, z = (*numbers, *(0,) * (3 - len(numbers)))
    return x, y, z


def read_word(mark: Mark, word: str) -> None:
    """Put one word into its mark."""
    key, equals, value = word.partition("=")
    if mark.what == "FIND" and not mark.kinds:
        mark.kinds = tuple(word.split("|"))
        if unknown := set(mark.kinds) - set(KINDS):
            raise ValueError(f"line {mark.line}: {unknown} is no kind of finding")
    elif word in BITS:
        mark.bits |= BITS[word]
    elif word in SPACES and mark.what == "FIND":
        mark.space = word
    elif equals and value and key in (*TEXTS, "block", "thread", "bytes"):
        mark.keys[key] = value
    else:
        raise ValueError(f"line {mark.line}: {word!r} is no word of a mark")


def marks_of(line: int, text: str, comments: str) -> list[Mark]:
    """The marks of the line in `comments`, which is the line itself or the one above."""
    comment = COMMENT.search(comments)
    if comment is None:
        if re.search(r"\b(FIND|OTHER)\b", comments):
            raise ValueError(f"line {line}: a mark stands at the start of a comment")
        return []
    marks: list[Mark] = []
    for word in comment[1].split():
        if begin := MARK.match(word):
            marks.append(Mark(line, text, begin[1], begin[2] or ""))
        else:
            read_word(marks[-1], word)
    return marks


def expectations(lines: Mapping[int, str], source: range) -> tuple[Expectation, ...]:
    """What the marks of a pair say; `source` are the lines that are HIP."""
    finds: dict[str, Mark] = {}
    others: dict[str, Mark] = {}
    for number, text in lines.items():
        alone = text.lstrip().startswith(("#", "//"))
        line = number + 1 if alone else number
        for mark in marks_of(line, lines.get(line, ""), text):
            table = finds if mark.what == "FIND" else others
            if mark.label in table:
                raise ValueError(f"line {line}: a second {mark.what}{mark.label}")
            table[mark.label] = mark
    if stray := set(others) - set(finds):
        raise ValueError(f"OTHER without FIND: {sorted(stray)}")
    found = []
    for label, mark in finds.items():
        if not mark.kinds:
            raise ValueError(f"line {mark.line}: FIND without a kind")
        other = others.get(label)
        if TWO_SIDED.intersection(mark.kinds) and other is None:
            raise ValueError(f"line {mark.line}: a race has an OTHER")
        here = mark.side(mark.line in source)
        there = other.side(other.line in source) if other else None
        name = mark.keys.get("name", "")
        found.append(Expectation(mark.kinds, here, there, mark.space, name))
    return tuple(found)
