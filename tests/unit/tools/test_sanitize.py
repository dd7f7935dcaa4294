# SPDX-License-Identifier: MIT
"""Which leaks count as ours."""

from __future__ import annotations

from tools import sanitize

REPORT = """
=================================================================
==1==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 24 byte(s) in 1 object(s) allocated from:
    #0 0x7f in __interceptor_malloc ../libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x7f in ha_pointer_new /somewhere/csrc/adapters/pointer.c:12

Direct leak of 500 byte(s) in 2 object(s) allocated from:
    #0 0x7f in __interceptor_malloc ../libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x7f in PyUnicode_New (/usr/bin/python3+0x123)

Indirect leak of 8 byte(s) in 1 object(s) allocated from:
    #0 0x7f in __interceptor_malloc ../libsanitizer/asan/asan_malloc_linux.cpp:69
    #1 0x7f  (/site-packages/hipadapt/_lib/libhipadapt_cpu.so+0x123)

SUMMARY: AddressSanitizer: 532 byte(s) leaked in 4 allocation(s).
"""


def test_leaks_with_a_frame_of_ours_count() -> None:
    found = sanitize.own_leaks(REPORT)

    assert [report.split(" byte")[0] for report in found] == [
        "Direct leak of 24",
        "Indirect leak of 8",
    ]
    assert "ha_pointer_new" in found[0]


def test_output_without_leaks_has_none() -> None:
    assert sanitize.own_leaks("3 passed in 0.1s\n") == []
