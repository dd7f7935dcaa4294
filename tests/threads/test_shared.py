# SPDX-License-Identifier: MIT
"""Threads that use the same objects at the same time.

What a thread sees was there at one moment: never the address of one state with the
length of another, and never memory that is gone.  With a GIL these tests hold, too; a
free-threaded Python is what they are for: `python -m tests.threads`.  Each may run on
several threads itself (pytest-run-parallel).
"""

from __future__ import annotations

import ctypes
import gc
import re
import weakref
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import hipadapt
from hipadapt import types
from tests.conftest import in_threads

from .conftest import LANES, together

CLOSED = (ValueError, BufferError)


# ---- adapter objects ----


@pytest.mark.parametrize("kind", ["ListOfInt", "ListOfUInt64", "ListOfLong"])
def test_list_when_it_is_set_anew_shows_one_state(kind: str) -> None:
    shared = getattr(types, kind)([1])

    def write(turn: int) -> None:
        count = turn % 40 + 1
        shared.__init__([count] * count)

    def read(turn: int) -> None:
        values = shared.to_list()
        assert values == [len(values)] * len(values)
        assert shared[0] > 0
        assert isinstance(repr(shared), str)
        assert len(set(shared[:])) == 1
        assert (shared == values) in (True, False)

    together(write, read, read)


def says(error: Exception, pattern: str) -> None:
    """The refusal is ours: it is for this and nothing else."""
    assert re.search(pattern, str(error)), error


def test_list_when_it_is_made_of_a_list_that_changes_is_whole_or_refused() -> None:
    source = list(range(1, 65))

    def write(turn: int) -> None:
        source[:] = [int(f"1{turn:09}")] * 64 if turn % 2 else list(range(1, 65))

    def read(turn: int) -> None:
        try:
            made = types.ListOfInt64(source).to_list()
        except RuntimeError as error:
            says(error, "changed")
        else:
            assert len(made) == 64 and min(made) > 0

    together(write, read)


def test_text_when_it_is_set_anew_is_one_of_the_texts() -> None:
    texts = ["a", "bb" * 200, "ccc" * 3000]
    shared = types.CStr("a")

    def write(turn: int) -> None:
        # A copy of its own, which goes with the next one.
        shared.__init__(bytearray(texts[turn % 3].encode()))  # type: ignore[misc]

    def read(turn: int) -> None:
        assert str(shared) in texts
        assert shared.decode() in texts
        assert bytes(shared).decode() in texts
        assert hash(shared) is not None and repr(shared)
        assert len(shared) in map(len, texts)

    together(write, read, read)


def test_text_when_two_threads_allocate_has_one_memory() -> None:
    shared = types.CStr()
    made = []

    def allocate(turn: int) -> None:
        try:
            shared.malloc(64)
            made.append(turn)
        except RuntimeError:
            pass

    together(allocate, turns=1, count=8)
    assert len(made) == 1
    shared.free()


def test_pointer_when_it_is_set_anew_keeps_its_memory_with_its_length() -> None:
    buffers = [np.full(n, n, np.int32) for n in (1, 10, 1000)]
    sizes = {int(b.ctypes.data): b.nbytes for b in buffers}
    shared = types.NDBuffer(buffers[0])

    def write(turn: int) -> None:
        shared.__init__(buffers[turn % 3])  # type: ignore[misc]

    def read(turn: int) -> None:
        seen = np.asarray(shared)
        assert seen.nbytes == sizes[seen.ctypes.data]
        assert (seen == seen.size).all()
        taken = types.Pointer(shared)
        assert f"{sizes[int(taken)]} bytes" in repr(taken)
        assert shared.nbytes in sizes.values()

    together(write, read, read)


def test_array_when_it_is_configured_has_one_shape() -> None:
    shared = types.NDBuffer(np.zeros(720, np.uint8))
    shapes = [(720,), (2, 360), (2, 3, 4, 5, 6), (6, 5, 4, 3, 2, 1)]

    def write(turn: int) -> None:
        shared.configure(shape=shapes[turn % 4])

    def read(turn: int) -> None:
        assert shared.shape in shapes
        assert shared.nbytes == 720
        assert np.asarray(shared).shape in shapes
        assert shared[0].nbytes <= 720
        assert shared.__cuda_array_interface__["shape"] in shapes

    together(write, read, read)


# ---- records ----


def test_bits_of_a_record_when_each_thread_sets_its_own_are_all_kept(
    hip: ModuleType,
) -> None:
    shared = hip.hipDeviceArch_t()
    names = hip.hipDeviceArch_t.PROPERTIES()[:8]
    mine = list(names)

    def work() -> None:
        name = mine.pop()
        for turn in range(300):
            setattr(shared, name, turn % 2)
            assert getattr(shared, name) == turn % 2

    in_threads(len(mine), work)
    assert all(getattr(shared, name) == 1 for name in names)


def test_record_when_it_is_set_anew_has_members_of_its_own(hip: ModuleType) -> None:
    class Grid(hip.dim3):  # type: ignore[misc, name-defined]
        pass

    shared = Grid(1, 1, 1)

    def write(turn: int) -> None:
        shared.__init__(turn, turn, turn)  # type: ignore[misc]

    def read(turn: int) -> None:
        assert shared.x >= 0
        assert isinstance(repr(shared), str)
        x, y, z = memoryview(shared).cast("B").cast("I")[:3]
        assert x == y == z
        assert list(shared) is not None

    together(write, read, read)


def test_pointer_member_when_threads_set_it_keeps_what_it_points_to(
    hip: ModuleType,
) -> None:
    shared = hip.hipHostNodeParams()

    def write(turn: int) -> None:
        shared.userData = bytes([turn % 251]) * 4096

    def read(turn: int) -> None:
        assert int(shared.userData or 0) >= 0

    shared.userData = b"\0" * 4096
    together(write, write, read)
    gc.collect()
    text = ctypes.string_at(int(shared.userData), 4096)
    assert text == text[:1] * 4096  # it is the memory of the last one


# ---- calls ----


def test_copies_when_many_threads_make_them_let_go_of_their_memory(
    hip: ModuleType,
) -> None:
    def copy(turn: int) -> None:
        with hipadapt.Stream(nonblocking=True) as stream:
            there = hipadapt.empty(1 << 12, "uint8")
            source = np.full(1 << 12, turn % 251, np.uint8)
            back = np.zeros(1 << 12, np.uint8)
            kind = hip.hipMemcpyKind
            for to, what, way in (
                (there, source, kind.hipMemcpyHostToDevice),
                (back, there, kind.hipMemcpyDeviceToHost),
            ):
                status = hip.hipMemcpyAsync(to, what, 1 << 12, way, stream)[0]
                assert status == hip.hipError_t.hipSuccess
            del source
            stream.synchronize()
            assert (back == turn % 251).all()

    together(copy, turns=40)


def test_pending_work_when_all_of_it_is_done_holds_nothing(hip: ModuleType) -> None:
    from hipadapt import _core

    hip.hipDeviceSynchronize()
    for _ in range(100):
        hip.hipFree(hip.hipMalloc(64)[1])  # a call that lets go
    # Other threads of pytest-run-parallel may have work of their own.
    assert _core.pending() < 64


def test_kernel_when_many_threads_launch_it_runs_each_time(add: Any) -> None:
    sums = []

    def launch_all() -> None:
        x = hipadapt.zeros(LANES, "float32")
        stream = hipadapt.Stream(nonblocking=True)
        for _ in range(100):
            add[1, LANES, 0, stream](x, 1.0)
        stream.synchronize()
        sums.append(x.get().tolist())

    in_threads(6, launch_all)
    assert sums == [[100.0] * LANES] * 6


def test_kernel_when_threads_have_launched_it_ends_with_them() -> None:
    source = 'extern "C" __global__ void {}(float *x) {{ x[threadIdx.x] += 1; }}'
    kernels = [hipadapt.compile_kernel(source.format(name), name) for name in "pq"]
    gone = [weakref.ref(kernel) for kernel in kernels]
    x = hipadapt.zeros(LANES, "float32")

    def launch(shared: list[Any], turns: list[int]) -> None:
        for turn in turns:
            for shape in (1, 1), (1, LANES):
                config = shared[turn][shape]
                config(x)
                assert (config.grid, config.block) == ((1, 1, 1), (shape[1], 1, 1))
                assert (config.shared, config.stream) == (0, None)
                assert shared[turn][1, 1, 16].shared == 16
                del config

    in_threads(3, partial(launch, kernels, [0, 0, 1, 0, 1, 1]))
    hipadapt.Device().synchronize()
    kernels.clear()
    gc.collect()

    assert [reference() for reference in gone] == [None, None]
    assert x.get().tolist()[1] == 3 * 6


def test_array_when_it_is_closed_while_threads_launch_is_used_or_refused(
    add: Any,
) -> None:
    for _ in range(20):
        shared = hipadapt.zeros(LANES, "float32")
        data = np.ones(LANES, np.float32)

        def launch(turn: int, shared: Any = shared) -> None:
            try:
                add[1, LANES](shared, 1.0)
            except CLOSED as error:
                says(error, "closed")

        def copy(turn: int, shared: Any = shared, data: Any = data) -> None:
            try:
                shared.copy_from(data)
                shared.get()
                shared[1:3].get()
                shared.copy()
            except CLOSED as error:
                says(error, "closed|HIP")

        def close(turn: int, shared: Any = shared) -> None:
            if turn == 3:
                shared.close()

        together(launch, copy, close, count=2, turns=6)
        assert int(shared) == 0
    hipadapt.Device().synchronize()


def test_arrays_when_they_end_while_others_begin_never_share_memory(add: Any) -> None:
    def use(turn: int) -> None:
        with hipadapt.full(LANES, float(turn), "float32") as x:
            add[1, LANES](x, 1.0)
            assert x.get().tolist() == [turn + 1.0] * LANES

    together(use, turns=60)


def test_capsule_when_threads_want_it_is_one_threads(hip: ModuleType) -> None:
    for _ in range(20):
        array = hipadapt.zeros(8, "float32")
        capsule = array.__dlpack__(max_version=(1, 0))
        got: list[Any] = []

        def take(turn: int, capsule: Any = capsule, got: Any = got) -> None:
            try:
                got.append(hipadapt.from_dlpack(capsule))
            except BufferError as error:
                says(error, "used already")

        together(take, count=6, turns=1)
        assert len(got) == 1
        assert got[0].get().tolist() == [0.0] * 8


@pytest.mark.parametrize("make", ["stream", "event", "module", "array", "ordered"])
def test_object_when_threads_close_it_ends_once(make: str) -> None:
    stream = hipadapt.Stream()
    makers: dict[str, Any] = {
        "stream": hipadapt.Stream,
        "event": hipadapt.Event,
        "module": lambda: hipadapt.Program("__device__ int a;").compile(),
        "array": lambda: hipadapt.zeros(16, "uint8"),
        "ordered": lambda: hipadapt.zeros(16, "uint8", stream=stream),
    }
    for _ in range(20):
        shared = makers[make]()
        together(lambda turn, shared=shared: shared.close(), count=4, turns=1)


def test_host_functions_when_threads_ask_for_them_are_called_once_each(
    hip: ModuleType,
) -> None:
    called: list[int] = []

    def ask(turn: int) -> None:
        stream = hipadapt.Stream(nonblocking=True)
        seen: list[int] = []
        for number in range(10):
            stream.call(seen.append, number)
        stream.synchronize()
        assert seen == list(range(10))
        called.extend(seen)

    together(ask, count=4, turns=10)
    assert len(called) == 400


def test_module_when_threads_ask_for_a_kernel_has_one(hip: ModuleType) -> None:
    source = 'extern "C" __global__ void one(int *x) { *x = 1; }'
    module = hipadapt.Program(source).compile()
    kernels: list[Any] = []
    together(lambda turn: kernels.append(module.kernel("one")), count=8, turns=1)
    assert len({id(kernel) for kernel in kernels}) == 1
    module.close()
    with pytest.raises(ValueError, match="closed"):
        kernels[0][1, 1](None)


def test_statuses_when_threads_fail_are_their_own(hip: ModuleType) -> None:
    def fail(turn: int) -> None:
        bad = hip.hipSetDevice(1000 + turn)[0]
        assert bad is hip.hipError_t.hipErrorInvalidDevice
        assert hip.hipGetLastError()[0] is bad
        assert hip.hipGetLastError()[0] is hip.hipError_t.hipSuccess

    together(fail)
