# SPDX-License-Identifier: MIT
"""How devices, arrays and kernels look in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from .. import _core
from .explanation import Explanation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._core import DeviceArray
    from .device import Device
    from .kernel import Kernel

_PREVIEW_BYTES = 1 << 20  # of an array that is copied to be shown
# Colours are the page's, dark or light.  Styles of notebooks on web sites (myst-nb,
# nbsphinx) have black text and every other row light, which in the dark can't be read.
_TABLE = "style='color:inherit'"
_ROW = "style='background:none'"
_CELL = "style='text-align:left'"


def table(rows: Iterable[tuple[str, object]]) -> str:
    """Names and values; all of it is escaped."""
    lines = "".join(
        f"<tr {_ROW}><th {_CELL}>{html.escape(name)}</th>"
        f"<td {_CELL}>{html.escape(str(value))}</td></tr>"
        for name, value in rows
    )
    return f"<table {_TABLE}>{lines}</table>"


def device_html(device: Device) -> str:
    """A device: what people ask for first."""
    memory = device.memory
    rows: list[tuple[str, object]] = [
        ("architecture", device.arch),
        ("compute units", device.compute_units),
        ("warp size", device.warp_size),
        (
            "memory",
            f"{memory.free / 2**30:.1f} of {memory.total / 2**30:.1f} GiB free",
        ),
    ]
    title = html.escape(f"Device {device.ordinal}: {device.name}")
    return f"<b>{title}</b>{table(rows)}"


def array_html(array: DeviceArray) -> str:
    """An array: shape, type and place, and its elements where they are few."""
    shape = " x ".join(map(str, array.shape)) or "scalar"
    rows: list[tuple[str, object]] = [
        ("type", array.type_name),
        ("bytes", array.nbytes),
        ("memory", array.memory or "not known"),
        ("address", hex(int(array))),
    ]
    preview = _preview(array)
    shown = f"<pre>{html.escape(preview)}</pre>" if preview else ""
    return f"<b>DeviceArray {html.escape(shape)}</b>{table(rows)}{shown}"


def _preview(array: DeviceArray) -> str:
    """The elements as numpy shows them; nothing where they can't be had."""
    if not array.memory or array.nbytes > _PREVIEW_BYTES:
        return ""
    try:
        import numpy

        values: Any = array.get()
        return str(numpy.array2string(values, threshold=64, edgeitems=3))
    except Exception:  # a look at an array must not fail
        return ""


def kernel_html(kernel: Kernel) -> str:
    """A kernel: its arguments and what it needs."""
    attributes = kernel.attributes
    parameters = kernel.signature
    rows: list[tuple[str, object]] = [
        (
            "arguments",
            "not known"
            if parameters is None
            else "; ".join(map(str, parameters)) or "none",
        ),
        ("threads of a block", f"at most {attributes.max_threads_per_block}"),
        ("shared memory", f"{attributes.shared_size} bytes"),
        ("device", kernel.module.device.name),
    ]
    report = _core.kernel_report(kernel.function)
    if report is not None:
        told = Explanation(kernel.name, report)
        width = f" of {told.width} lanes" if told.width else ""
        rows.append(("runs as", f"{told.form}{width}; explain() says more"))
    return f"<b>Kernel {html.escape(kernel.name)}</b>{table(rows)}"
