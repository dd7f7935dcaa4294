# SPDX-License-Identifier: MIT
"""How objects look in a notebook."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

import pytest

from hipadapt import Device, compile_kernel, empty, full, hip
from hipadapt._objects.html import table


def test_table_escapes_what_it_shows() -> None:
    text = table([("<b>", "a & b"), ("c", "<script>")])

    assert "&lt;b&gt;" in text
    assert "a &amp; b" in text
    assert "<script>" not in text


def test_table_has_the_colours_of_the_page_dark_or_light() -> None:
    text = table([("a", 1), ("b", 2)])

    assert re.findall(r"<table[^>]*>", text) == ["<table style='color:inherit'>"]
    assert re.findall(r"<tr[^>]*>", text) == 2 * ["<tr style='background:none'>"]


def test_device_shows_name_and_memory(cpu: ModuleType) -> None:
    device: Any = Device()

    text = device._repr_html_()

    assert device.arch in text
    assert "GiB free" in text


def test_array_shows_its_first_elements(cpu: ModuleType) -> None:
    text = full((2, 3), 7, "int32")._repr_html_()

    assert "2 x 3" in text
    assert "int32" in text
    assert "[7 7 7]" in text


@pytest.mark.parametrize("shape", [(), 0, (1 << 22,)])
def test_arrays_of_all_sizes_are_shown(cpu: ModuleType, shape: Any) -> None:
    text = empty(shape, "int8")._repr_html_()

    assert "DeviceArray" in text
    assert ("<pre>" in text) == (shape != (1 << 22,))


def test_array_that_hip_does_not_know_is_not_read(cpu: ModuleType) -> None:
    from hipadapt.types import DeviceArray

    text = DeviceArray(0x1000)._repr_html_()

    assert "0x1000" in text
    assert "<pre>" not in text


def test_kernel_shows_its_arguments(cpu: ModuleType) -> None:
    kernel: Any = compile_kernel("__global__ void k(float *x, int n) {}", "k")

    text = kernel._repr_html_()

    assert "Kernel k" in text
    assert "threads of a block" in text
    assert hip is cpu


def test_explanation_shows_form_lines_and_remarks(cpu: ModuleType) -> None:
    kernel = compile_kernel(
        'extern "C" __global__ void k(float *x, const int *n) {\n'
        "    if (n[0] < 5 && n[1] > 2) x[4 * threadIdx.x] = 1;\n}",
        "k",
    )
    text = kernel.explain()._repr_html_()

    assert ">rows</span>" in text
    assert "k.hip:1" in text
    assert "2  if (n[0] &lt; 5 &amp;&amp; n[1] &gt; 2)" in text
    assert "stores 4 bytes a lane of &#x27;x&#x27;, 16 bytes apart" in text
    assert text.count("if (n[0]") == 1  # once for all remarks of the line
    assert re.findall(r"<table[^>]*>", text) == ["<table style='color:inherit'>"]


def test_kernel_shows_its_form(cpu: ModuleType) -> None:
    kernel = compile_kernel('extern "C" __global__ void k(int *x) { *x = 1; }', "k")

    assert "rows; explain() says more" in kernel._repr_html_()
