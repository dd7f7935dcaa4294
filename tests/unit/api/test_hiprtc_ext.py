# SPDX-License-Identifier: MIT
"""hiprtc.ext: linker options by keyword."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from hipadapt import hiprtc, types

Options = hiprtc.ext.HiprtcLinkCreateOpts
OPTION = hiprtc.hipJitOption


def test_no_options_are_null() -> None:
    assert [*Options()] == [0, None, None]


def test_values_become_what_the_array_holds() -> None:
    log = bytearray(64)
    options = Options(
        HIPRTC_JIT_FAST_COMPILE=True,
        hipJitOptionOptimizationLevel=3,
        hipJitOptionInfoLogBuffer=log,
        hipJitOptionInfoLogBufferSizeBytes=64,
        HIPRTC_JIT_IR_TO_ISA_OPT_EXT=["-mllvm", b"-x"],
        hipJitOptionGlobalSymbolAddresses=[5, 6],
    )
    count, keys, values = options

    assert len(options) == 3
    assert count == len(keys) == len(values) == 6
    assert keys[:2] == [OPTION.hipJitOptionFastCompile, 7]
    assert values[:2] == [1, 3]
    assert int(values[2]) == ctypes.addressof((ctypes.c_char * 64).from_buffer(log))
    assert values[3] == 64
    assert isinstance(values[4], types.ListOfBytes)
    assert values[5].to_list() == [5, 6] or len(values[5]) == 2
    assert options[-3] == 6
    with pytest.raises(IndexError):
        options[3]


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("hipJitOptionNothing", 1, KeyError),
        ("hipJitOptionTarget", 1.5, TypeError),
        ("hipJitOptionTarget", "x", TypeError),
        ("hipJitOptionTarget", -1, OverflowError),
        ("hipJitOptionTarget", 2**32, OverflowError),
        ("hipJitOptionInfoLogBufferSizeBytes", 2**64, OverflowError),
        ("hipJitOptionInfoLogBuffer", b"read-only", TypeError),
    ],
)
def test_wrong_option_raises(name: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=name):
        Options(**{name: value})


def test_link_create_takes_them() -> None:
    plain = hiprtc.hiprtcLinkCreate(0, None, None)

    found = hiprtc.ext.hiprtcLinkCreate2(hipJitOptionOptimizationLevel=3)

    assert found[0] == plain[0]
    assert len(found) == len(plain) == 2
    if found[1] is not None:
        assert hiprtc.hiprtcLinkDestroy(found[1])[0] == 0
    if plain[1] is not None:
        assert hiprtc.hiprtcLinkDestroy(plain[1])[0] == 0
