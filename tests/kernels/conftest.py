# SPDX-License-Identifier: MIT
"""One worker per executor and warp size, shared by all tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.conftest import shared_folder

from .worker import Worker, environment

WorkerOf = Callable[..., Worker]


@pytest.fixture(scope="session")
def worker_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerOf]:
    """worker_of(executor, warp_size, **environment): the worker for these settings.

    All of them share one new cache folder: a kernel is compiled once in the session,
    and never taken from an earlier one.
    """
    cache = shared_folder(tmp_path_factory, "kernel-cache")
    workers: dict[tuple[object, ...], Worker] = {}

    def find(executor: str, warp_size: int = 32, **settings: str) -> Worker:
        key = (executor, warp_size, *sorted(settings.items()))
        if key not in workers:
            workers[key] = Worker(environment(executor, warp_size, cache, **settings))
        return workers[key]

    yield find
    for worker in workers.values():
        worker.close()
