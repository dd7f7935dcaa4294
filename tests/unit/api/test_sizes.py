# SPDX-License-Identifier: MIT
"""Byte counts against the length of buffers, and read-only memory."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

BYTES = 24
H2H = 0


def copies(hip: ModuleType) -> list[tuple[str, Callable[..., object], object]]:
    """Name of the argument, call with (buffer, byte count), other buffer."""
    stream = None
    return [
        ("dst", lambda b, n, o: hip.hipMemcpy(b, o, n, H2H)),
        ("src", lambda b, n, o: hip.hipMemcpy(o, b, n, H2H)),
        ("dst", lambda b, n, o: hip.hipMemcpyAsync(b, o, n, H2H, stream)),
        ("src", lambda b, n, o: hip.hipMemcpyAsync(o, b, n, H2H, stream)),
        ("dst", lambda b, n, o: hip.hipMemcpyWithStream(b, o, n, H2H, stream)),
        ("dst", lambda b, n, o: hip.hipMemcpy2D(b, 8, o, 8, 8, n // 8, H2H)),
        ("src", lambda b, n, o: hip.hipMemcpy2D(o, 8, b, 8, 8, n // 8, H2H)),
        ("src", lambda b, n, o: hip.hipMemcpy2DAsync(o, 8, b, 8, 8, n // 8, H2H, None)),
    ]  # type: ignore[return-value]


@pytest.mark.parametrize("case", range(8))
def test_copy_refuses_more_bytes_than_the_buffer_has(
    cpu: ModuleType, case: int
) -> None:
    argument, call = copies(cpu)[case]
    small, large = bytearray(BYTES), bytearray(100 * BYTES)

    assert call(small, BYTES, large) == (0,)
    assert cpu.hipDeviceSynchronize() == (0,)
    with pytest.raises(
        ValueError, match=rf"argument '{argument}' has {BYTES} bytes"
    ) as e:
        call(small, BYTES + 8, large)
    assert str(BYTES + 8) in str(e.value)


@pytest.mark.parametrize("size", [BYTES + 1, 2**31, 2**63, 2**64 - 1])
def test_copy_refuses_any_larger_count(cpu: ModuleType, size: int) -> None:
    with pytest.raises(ValueError, match=str(size)):
        cpu.hipMemcpy(bytearray(BYTES), bytearray(BYTES), size, H2H)


@pytest.mark.parametrize(
    "arguments", [(2**63, 8, 3), (8, 2**63, 2), (2**33, 8, 2**33), (8, 8, 2**64 - 1)]
)
def test_rows_do_not_overflow(cpu: ModuleType, arguments: tuple[int, int, int]) -> None:
    pitch, width, height = arguments

    with pytest.raises(ValueError, match="height rows of width"):
        cpu.hipMemcpy2D(bytearray(BYTES), pitch, 1, pitch, width, height, H2H)


@pytest.mark.parametrize(
    ("name", "item"),
    [("hipMemsetD8", 1), ("hipMemsetD16", 2), ("hipMemsetD32", 4), ("hipMemset", 1)],
)
def test_memset_counts_items(cpu: ModuleType, name: str, item: int) -> None:
    status, array = cpu.hipMalloc(BYTES)
    assert status == 0
    function = getattr(cpu, name)

    assert function(array, 1, BYTES // item) == (0,)
    with pytest.raises(ValueError, match=f"{BYTES + item} bytes"):
        function(array, 1, BYTES // item + 1)

    assert cpu.hipFree(array) == (0,)


def test_zero_rows_need_nothing(cpu: ModuleType) -> None:
    assert cpu.hipMemcpy2D(bytearray(1), 8, bytearray(1), 8, 8, 0, H2H) == (0,)


def test_read_only_destinations_are_refused(cpu: ModuleType) -> None:
    numpy = pytest.importorskip("numpy")
    frozen = numpy.zeros(4, numpy.uint8)
    frozen.flags.writeable = False

    for target in (b"abcd", frozen, memoryview(b"abcd")):
        with pytest.raises(BufferError, match="hipMemcpy: argument 'dst'"):
            cpu.hipMemcpy(target, bytearray(4), 4, H2H)
    assert cpu.hipMemcpy(bytearray(4), b"abcd", 4, H2H) == (0,)


def test_non_contiguous_memory_is_refused(cpu: ModuleType) -> None:
    numpy = pytest.importorskip("numpy")
    strided = numpy.zeros(16, numpy.uint8)[::2]

    with pytest.raises(BufferError, match="hipMemcpy: argument 'src'"):
        cpu.hipMemcpy(bytearray(8), strided, 8, H2H)


def test_lists_are_checked_against_their_count(cpu: ModuleType) -> None:
    from hipadapt import hiprtc

    with pytest.raises(ValueError, match="argument 'headers' has 1 entries"):
        hiprtc.hiprtcCreateProgram("", "k", 2, ["a"], ["b", "c"])
    status, program = hiprtc.hiprtcCreateProgram("", "k", 0, None, None)
    assert status == 0
    with pytest.raises(ValueError, match="argument 'options' has 0 entries"):
        hiprtc.hiprtcCompileProgram(program, 1, [])
    assert hiprtc.hiprtcDestroyProgram(program) == (0,)


def test_hiprtc_code_buffer_must_be_large_enough(fake: Callable[..., object]) -> None:
    fake("""
        _, program = hiprtc.hiprtcCreateProgram("", "k", 0, None, None)
        try:
            hiprtc.hiprtcGetCode(program, bytearray(15))
        except ValueError as error:
            assert "'code' has 15 bytes" in str(error) and "16" in str(error), error
        else:
            raise AssertionError
        code = bytearray(16)
        assert hiprtc.hiprtcGetCode(program, code) == (0,)
        assert code == b"0123456789abcdef"
    """)
