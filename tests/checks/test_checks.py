# SPDX-License-Identifier: MIT
"""What is wrong in the wrong twin is found, and nothing in the right one.

`python -m tests.checks --repeat 50` runs the same many times over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tests.conftest import shared_folder
from tests.kernels.worker import CaseFailure, Worker

from .client import Report, client
from .pair import PAIRS, Pair, load_pairs
from .verdict import Verdict, differences
from .vocabulary import KINDS

load_pairs()
THREADS = (1, 2, 16)
# Kinds of finding that are built.  What is not here is not looked for.
BUILT = frozenset(
    {
        "out-of-bounds",
        "use-after-free",
        "unknown-memory",
        "read-only",
        "misaligned",
        "double-free",
        "invalid-free",
        "race",
        "equal-race",
        "diverged-barrier",
        "left-barrier",
        "absent-lanes",
        "absent-source",
        "not-cooperative",
        "nan",
        "infinity",
        "uninitialised",
    }
)
# Pairs, or all pairs of a theme, that are not found though their kind is built, and why.
MISSING: dict[str, str] = {}
NAMES = [pytest.param(name, id=f"{pair.theme}.{name}") for name, pair in PAIRS.items()]

Ask = Callable[..., Report]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """ask(pair, wrong, check, threads): the report of one twin."""
    cache = shared_folder(tmp_path_factory, "check-cache")
    clients: dict[tuple[str, int], Worker] = {}

    def find(pair: Pair, wrong: bool, check: str, threads: int) -> Report:
        key = (check, threads)
        if key not in clients:
            clients[key] = client(cache, *key)
        report: Report = clients[key].ask(pair.name, wrong)
        return report

    yield find
    for one in clients.values():
        one.close()


def assert_numbers(report: Report) -> None:
    """The right twin answers what numpy says."""
    assert report.failure == ""
    for check in report.checks:
        np.testing.assert_allclose(
            check.got, check.want, check.rtol, check.atol, err_msg=check.label
        )


@pytest.mark.parametrize("name", NAMES)
def test_right_twin_gives_numpys_numbers_without_checks(ask: Ask, name: str) -> None:
    assert_numbers(ask(PAIRS[name], False, "", 2))


@pytest.mark.parametrize("name", NAMES)
def test_wrong_twin_runs_without_checks(ask: Ask, name: str) -> None:
    pair = PAIRS[name]

    died = ""
    try:
        failure = ask(pair, True, "", 2).failure
    except CaseFailure as death:
        failure = died = str(death)

    assert pair.faults or not failure
    assert "Traceback" not in died  # a pair with a mistake of its own


@pytest.mark.parametrize("name", NAMES)
def test_wrong_twin_is_found_at_its_lines(ask: Ask, name: str) -> None:
    pair = PAIRS[name]
    if missing := {kind for kind in pair.kinds if kind not in BUILT}:
        pytest.skip(f"not built: {', '.join(sorted(missing))}")

    reports = [ask(pair, True, pair.check, threads) for threads in THREADS]

    complaints = Verdict(pair).complaints(reports[0].findings)
    reason = MISSING.get(name, MISSING.get(pair.theme, ""))
    assert bool(complaints) == bool(reason), (
        complaints or f"found, in spite of: {reason}"
    )
    assert not differences(*(report.findings for report in reports))


@pytest.mark.parametrize("name", NAMES)
def test_right_twin_is_clean(ask: Ask, name: str) -> None:
    if not BUILT:
        pytest.skip("not built: any kind")
    pair = PAIRS[name]

    for threads in THREADS:
        report = ask(pair, False, pair.twin_check, threads)
        assert [str(found) for found in report.findings] == []
        assert_numbers(report)


def test_there_are_enough_pairs_and_each_says_why() -> None:
    assert len(PAIRS) >= 120
    assert all(len(pair.why) > 20 for pair in PAIRS.values())


def test_what_is_missing_is_a_pair_or_a_theme() -> None:
    known = {word for pair in PAIRS.values() for word in (pair.name, pair.theme)}

    assert set(MISSING) <= known
    assert BUILT <= set(KINDS)


def test_every_kind_has_a_pair() -> None:
    found = set().union(*(pair.kinds for pair in PAIRS.values()))

    # Leaks are told when a process ends; a client's findings are asked for before.
    assert found == set(KINDS) - {"leak"}
