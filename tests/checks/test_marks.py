# SPDX-License-Identifier: MIT
"""The suite's own rules: how marks are read, and what a finding must be to fit one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from .finding import Finding, FoundSide
from .marks import expectations
from .pair import PAIRS, Pair, load_pairs
from .verdict import Verdict, differences

load_pairs()
SIDE = FoundSide(
    bits=2,
    bytes=4,
    kernel="k(float*, int)",
    call="",
    function="k(float*, int)",
    file="global_bounds.py",
    text="",
    line=0,
    column=9,
    block=(3, 0, 0),
    thread=(31, 0, 0),
    stack="",
)
FINDING = Finding("out-of-bounds", 1, "", 508, SIDE, None, "global", "", 508)


def found_in(pair: Pair) -> Finding:
    """What the pair wants to be found."""
    (expected,) = pair.expectations
    here = replace(SIDE, line=expected.here.line, text=expected.here.text)
    return replace(FINDING, here=here)


@pytest.mark.parametrize("name", PAIRS)
def test_marks_of_every_pair_are_read(name: str) -> None:
    pair = PAIRS[name]

    marked = [text for text in pair.lines.values() if "FIND" in text]

    assert pair.expectations
    assert sum(text.count("FIND") for text in marked) == len(pair.expectations)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x; // FIND bounds", "no kind"),
        ("x; // FIND nan somewhere", "'somewhere' is no word"),
        ("x; // FIND", "without a kind"),
        ("x; // FIND race write", "has an OTHER"),
        ("x; // OTHER read", "without FIND"),
        ("x; // see FIND nan", "start of a comment"),
        ("x; // FIND nan FIND nan", "a second FIND"),
        ("x; // FIND double-free call=hipFree", "marks of the host"),
        ("x; // FIND nan thread=", "no word"),
    ],
)
def test_mark_that_is_not_understood_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        expectations({1: text}, range(1, 2))


def test_mark_of_the_host_names_its_call() -> None:
    with pytest.raises(ValueError, match="marks of the host"):
        expectations({5: "x  # FIND nan"}, range(1, 2))


def test_mark_that_stands_alone_is_of_the_next_line() -> None:
    lines = {7: "  # FIND double-free call=hipFree", 8: "  hip.hipFree(x)"}

    (expected,) = expectations(lines, range(1, 2))

    assert (expected.here.line, expected.here.text) == (8, "hip.hipFree(x)")


def test_two_pairs_of_marks_are_told_apart_by_label() -> None:
    lines = {
        1: "a; // FIND race write shared block=1 thread=2,3 OTHER.2 read",
        2: "b; // OTHER read atomic",
        3: "c; // FIND.2 equal-race|race",
    }

    first, second = expectations(lines, range(1, 4))

    assert (first.kinds, first.space) == (("race",), "shared")
    assert (first.here.line, first.here.bits) == (1, 2)
    assert (first.here.block, first.here.thread) == ((1, 0, 0), (2, 3, 0))
    assert first.other is not None
    assert (first.other.line, first.other.bits) == (2, 5)
    assert second.kinds == ("equal-race", "race")
    assert second.other is not None
    assert (second.here.line, second.other.line) == (3, 1)


def test_finding_at_its_mark_fits() -> None:
    pair = PAIRS["one_float_behind"]

    assert Verdict(pair).complaints([found_in(pair)]) == []


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "race"},
        {"space": "shared"},
        {"here": {"line": 1}},
        {"here": {"bits": 1}},
        {"here": {"bytes": 8}},
        {"here": {"thread": (30, 0, 0)}},
        {"here": {"block": None}},
        {"here": {"kernel": "other()"}},
        {"here": {"file": "other.py"}},
        {"here": {"text": "something else"}},
        {"other": SIDE},
    ],
    ids=str,
)
def test_finding_that_differs_is_missing_and_beyond(change: dict[str, object]) -> None:
    pair = PAIRS["one_float_behind"]
    found = found_in(pair)
    inner = change.get("here")
    change = (
        {"here": replace(found.here, **inner)} if isinstance(inner, dict) else change
    )

    complaints = Verdict(pair).complaints([replace(found, **change)])

    assert [text.split(":")[0] for text in complaints] == ["not found", "not expected"]


HOST = replace(SIDE, bits=8, kernel="", call="hipFree", file="", block=None)


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True),
        ({"call": "hipFreeAsync"}, False),
        ({"bits": 1}, False),
        ({"kernel": "k"}, False),
        ({"stack": ""}, False),
        ({"stack": "/a/lifetime.py:1 in free_twice"}, False),
    ],
    ids=str,
)
def test_finding_of_the_host_is_at_the_line_of_its_call(
    change: dict[str, object], fits: bool
) -> None:
    pair = PAIRS["free_twice"]
    (expected,) = pair.expectations
    stack = f"/a/lifetime.py:{expected.here.line} in free_twice\nmain.py:1 in <module>"

    here = replace(replace(HOST, stack=stack), **change)
    complaints = Verdict(pair).complaints(
        [replace(FINDING, kind="double-free", space="", here=here)]
    )

    assert (complaints == []) == fits


def test_one_finding_more_is_a_complaint() -> None:
    pair = PAIRS["one_float_behind"]
    found = found_in(pair)
    second = replace(found, here=replace(found.here, line=found.here.line + 1))

    assert len(Verdict(pair).complaints([found, second])) == 1


def test_runs_that_differ_are_told() -> None:
    pair = PAIRS["one_float_behind"]
    found = found_in(pair)

    assert differences([found], [replace(found, message="at 0x1234")]) == []
    assert differences([found], []) != []
    assert differences([found], [replace(found, count=2)]) != []
    assert differences([found], [found, found]) != []
