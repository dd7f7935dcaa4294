# SPDX-License-Identifier: MIT
"""``await stream`` and ``await event``."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable
from types import ModuleType

import pytest

from hipadapt import Event, Stream
from hipadapt._objects import wait as wait_module

LIMIT_S = 20


def run(main: Callable[[], object]) -> None:
    asyncio.run(asyncio.wait_for(main(), LIMIT_S))  # type: ignore[arg-type]


def test_await_lets_other_tasks_run(cpu: ModuleType) -> None:
    ticks: list[int] = []

    async def ticker() -> None:
        while True:
            ticks.append(1)
            await asyncio.sleep(0.005)

    async def main() -> None:
        stream, task = Stream(nonblocking=True), asyncio.create_task(ticker())
        stream.call(time.sleep, 0.2)
        await stream
        assert stream.done
        task.cancel()

    run(main)

    assert len(ticks) > 2


def test_await_of_an_event_does_not_wait_for_what_comes_after(cpu: ModuleType) -> None:
    async def main() -> None:
        stream, gate = Stream(nonblocking=True), threading.Event()
        stream.call(time.sleep, 0.02)
        event = stream.record()
        stream.call(gate.wait)
        await event
        assert event.done and not stream.done
        gate.set()
        await stream

    run(main)


def test_await_of_what_is_done_returns_at_once(cpu: ModuleType) -> None:
    async def main() -> None:
        await Event()
        await Stream()
        await Stream.default()
        await Stream().record()

    run(main)


def test_many_awaits_at_once_and_no_thread_for_each(cpu: ModuleType) -> None:
    async def main() -> None:
        streams = [Stream(nonblocking=True) for _ in range(20)]
        before = threading.active_count()
        for stream in streams:
            stream.call(time.sleep, 0.01)

        async def wait(thing: Event | Stream) -> None:
            await thing

        tasks = [asyncio.create_task(wait(s)) for s in streams]
        tasks += [asyncio.create_task(wait(s.record())) for s in streams]
        await asyncio.sleep(0)
        # Threads of the device show up while they run Python.
        assert threading.active_count() - before < len(tasks)
        await asyncio.gather(*tasks)
        assert all(stream.done for stream in streams)

    run(main)

    assert all(len(free) <= 16 for free in wait_module._free.values())


def test_streams_that_wait_for_events_are_used_again(cpu: ModuleType) -> None:
    async def main() -> set[int]:
        used = set()
        for _ in range(5):
            stream, gate = Stream(nonblocking=True), threading.Event()
            stream.call(gate.wait)
            event = stream.record()
            asyncio.get_running_loop().call_later(0.01, gate.set)
            await event
            used.add(len(wait_module._free[0]))
        return used

    wait_module._free.clear()
    assert asyncio.run(main()) == {1}


def test_callback_that_is_let_go_ends_the_wait(cpu: ModuleType) -> None:
    async def main() -> None:
        waker = wait_module._Waker(asyncio.get_running_loop())
        future = waker._future
        del waker
        gc.collect()
        assert int(await future) == 709  # hipErrorContextIsDestroyed

    run(main)


def test_await_without_a_loop_raises(cpu: ModuleType) -> None:
    with pytest.raises(RuntimeError, match="event loop"):
        Stream().__await__().send(None)
    with pytest.raises(RuntimeError, match="event loop"):
        Event().__await__().send(None)


def test_await_of_a_closed_stream_raises(cpu: ModuleType) -> None:
    async def main() -> None:
        stream, event = Stream(), Event()
        stream.close()
        event.close()
        for thing in (stream, event):
            with pytest.raises(ValueError, match="closed"):
                await thing

    run(main)


def test_cancelled_await_leaves_the_rest_alone(cpu: ModuleType) -> None:
    async def main() -> None:
        stream, gate = Stream(nonblocking=True), threading.Event()
        stream.call(gate.wait)

        async def wait(thing: Event | Stream) -> None:
            await thing

        for thing in (stream, stream.record()):
            task = asyncio.create_task(wait(thing))
            await asyncio.sleep(0.02)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        gate.set()
        await stream

    run(main)


def test_loop_that_closes_meanwhile_is_no_trouble(
    cpu: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[object] = []
    monkeypatch.setattr("sys.unraisablehook", reported.append)
    stream, gate = Stream(nonblocking=True), threading.Event()

    async def main() -> None:
        stream.call(gate.wait)

        async def wait() -> None:
            await stream

        task = asyncio.create_task(wait())
        await asyncio.sleep(0.02)
        task.cancel()

    asyncio.run(main())
    gate.set()
    stream.synchronize()
    gc.collect()

    assert reported == []


def test_await_raises_what_work_did_wrong(run_python: Callable[..., object]) -> None:
    run_python(
        """
        import asyncio, gc, threading
        import hipadapt
        module = hipadapt.Program('''
        extern "C" __global__ void crash(int *x) { *(volatile int *)16 = *x; }
        ''').compile()
        async def main(of):
            stream, gate = hipadapt.Stream(nonblocking=True), threading.Event()
            x = hipadapt.zeros(1, "int32")
            stream.call(gate.wait)
            module.kernel("crash")[1, 1, 0, stream](x)
            thing = of(stream)
            asyncio.get_running_loop().call_later(0.05, gate.set)
            try:
                await asyncio.wait_for(thing_of(thing), 10)
            except hipadapt.errors.HipError as error:
                return error.name
            return "nothing"
        async def thing_of(thing):
            await thing
        name = asyncio.run(main(lambda stream: stream))
        assert name not in ("nothing",), name
        hipadapt.Device().reset()
        gc.collect()  # what frees plain memory waits for the gate below
        module = hipadapt.Program('''
        extern "C" __global__ void crash(int *x) { *(volatile int *)16 = *x; }
        ''').compile()
        name = asyncio.run(main(lambda stream: stream.record()))
        assert name not in ("nothing",), name
        """
    )


def test_await_ends_when_the_device_is_reset(run_python: Callable[..., object]) -> None:
    done = run_python(
        """
        import asyncio
        import hipadapt
        module = hipadapt.Program('''
        extern "C" __global__ void spin(volatile int *x) { while (*x == 0); }
        ''').compile()
        async def wait(thing):
            await thing
        async def main():
            stream = hipadapt.Stream(nonblocking=True)
            x = hipadapt.zeros(1, "int32")
            module.kernel("spin")[1, 1, 0, stream](x)
            task = asyncio.create_task(wait(stream))
            await asyncio.sleep(0.05)
            hipadapt.Device().reset()
            try:
                await asyncio.wait_for(task, 10)
            except hipadapt.errors.HipError:
                print("raised")
        asyncio.run(main())
        """
    )
    assert done.stdout == "raised\n"  # type: ignore[attr-defined]
