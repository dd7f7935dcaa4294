# SPDX-License-Identifier: MIT
"""Arrays of the CPU device, and all copies of three dimensions, against numpy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hipadapt import hip

from .textures import box, channel_of, code, fill, new_array, ok, read

Box = tuple[int, int, int]
INVALID = "hipErrorInvalidValue"


@pytest.fixture(autouse=True)
def nothing_is_left(cpu: ModuleType) -> Iterator[None]:
    """All memory of the device is given back."""
    before = ok(hip.hipMemGetInfo())[0]
    yield
    assert ok(hip.hipMemGetInfo())[0] == before


# ---- boxes ---------------------------------------------------------------------------


@dataclass
class Side:
    """Memory with a box shape, and what is in it."""

    content: np.ndarray  # (slices, rows, columns) of an element
    array: Any = None
    memory: Any = None
    pitch: int = 0

    @property
    def element(self) -> int:
        return self.content.itemsize

    def now(self) -> np.ndarray:
        """What the device says is in it."""
        if self.array is not None:
            return read(self.array, self.content[..., None])[..., 0]
        if isinstance(self.memory, np.ndarray):
            return self.memory[:, :, : self.content.shape[2]]
        out = np.zeros_like(self.content)
        depth, height, width = out.shape
        for z in range(depth):
            at = int(self.memory) + z * height * self.pitch
            row = width * self.element
            ok(hip.hipMemcpy2D(out[z], row, at, self.pitch, row, height, 2))
        return out

    def close(self) -> None:
        if self.array is not None:
            ok(hip.hipFreeArray(self.array))
        elif not isinstance(self.memory, np.ndarray):
            ok(hip.hipFree(self.memory))


def make_side(rng: np.random.Generator, kind: str, dtype: Any) -> Side:
    depth, height, width = rng.integers(1, (5, 7, 9))
    info = np.iinfo(dtype)
    content = rng.integers(info.min, info.max, (depth, height, width), dtype=dtype)
    if kind == "array":
        return Side(content, array=new_array(content[..., None], 3))
    if kind == "host":
        wide = rng.integers(0, 99, (depth, height, width + 3)).astype(dtype)
        wide[:, :, :width] = content
        return Side(content, memory=wide, pitch=wide.strides[1])
    extent = hip.hipExtent(int(width) * content.itemsize, int(height), int(depth))
    made = ok(hip.hipMalloc3D(extent))
    assert made.pitch % 256 == 0 and (made.xsize, made.ysize) == (
        extent.width,
        extent.height,
    )
    row = int(width) * content.itemsize
    for z in range(depth):
        at = int(made.ptr) + z * int(height) * made.pitch
        ok(hip.hipMemcpy2D(at, made.pitch, content[z], row, row, int(height), 1))
    return Side(content, memory=made.ptr, pitch=made.pitch)


def choose_box(rng: np.random.Generator, a: Side, b: Side) -> tuple[Box, Box, Box]:
    """Extent and both positions, as (x, y, z)."""
    most = np.minimum(a.content.shape, b.content.shape)
    extent = rng.integers(1, most + 1)
    positions = [
        rng.integers(0, np.array(s.content.shape) - extent + 1) for s in (a, b)
    ]
    return tuple(  # type: ignore[return-value]
        tuple(int(v) for v in found[::-1]) for found in (extent, *positions)
    )


def in_box(content: np.ndarray, position: Box, extent: Box) -> np.ndarray:
    (x, y, z), (w, h, d) = position, extent
    return content[z : z + d, y : y + h, x : x + w]


def runtime_record(src: Side, dst: Side, places: tuple[Box, Box, Box]) -> Any:
    """hipMemcpy3DParms: elements if there is an array, else bytes."""
    (w, h, d), at_src, at_dst = places
    arrays = src.array is not None or dst.array is not None
    record = hip.hipMemcpy3DParms(
        extent=hip.hipExtent(w if arrays else w * src.element, h, d),
        kind=hip.hipMemcpyKind.hipMemcpyDefault,
    )
    for name, side, (x, y, z) in (("src", src, at_src), ("dst", dst, at_dst)):
        if side.array is not None:
            setattr(record, name + "Array", side.array)
        else:
            x *= side.element
            rows = side.content.shape[1]
            pitched = hip.hipPitchedPtr(side.memory, side.pitch, side.pitch, rows)
            setattr(record, name + "Ptr", pitched)
        setattr(record, name + "Pos", hip.hipPos(x, y, z))
    return record


def driver_record(src: Side, dst: Side, places: tuple[Box, Box, Box]) -> Any:
    """HIP_MEMCPY3D: bytes."""
    (w, h, d), at_src, at_dst = places
    record = hip.HIP_MEMCPY3D(WidthInBytes=w * src.element, Height=h, Depth=d)
    kinds = hip.hipMemoryType
    for name, side, (x, y, z) in (("src", src, at_src), ("dst", dst, at_dst)):
        if side.array is not None:
            setattr(record, name + "MemoryType", kinds.hipMemoryTypeArray)
            setattr(record, name + "Array", side.array)
        elif isinstance(side.memory, np.ndarray):
            setattr(record, name + "MemoryType", kinds.hipMemoryTypeHost)
            setattr(record, name + "Host", side.memory)
        else:
            setattr(record, name + "MemoryType", kinds.hipMemoryTypeDevice)
            setattr(record, name + "Device", side.memory)
        if side.array is None:
            setattr(record, name + "Pitch", side.pitch)
            setattr(record, name + "Height", side.content.shape[1])
        setattr(record, name + "XInBytes", x * side.element)
        setattr(record, name + "Y", y)
        setattr(record, name + "Z", z)
    return record


def peer_record(src: Side, dst: Side, places: tuple[Box, Box, Box]) -> Any:
    same = runtime_record(src, dst, places)
    record = hip.hipMemcpy3DPeerParms(extent=same.extent)
    for field in ("srcArray", "srcPos", "srcPtr", "dstArray", "dstPos", "dstPtr"):
        setattr(record, field, getattr(same, field))
    return record


def batch_entry(src: Side, dst: Side, places: tuple[Box, Box, Box]) -> Any:
    """hipMemcpy3DBatchOp; memory begins where the box does."""
    (w, h, d), at_src, at_dst = places
    arrays = src.array is not None or dst.array is not None
    unit = src.element if arrays else 1
    extent = hip.hipExtent(w if arrays else w * src.element, h, d)
    op = hip.hipMemcpy3DBatchOp(extent=extent, srcAccessOrder=2)
    for operand, side, (x, y, z) in ((op.src, src, at_src), (op.dst, dst, at_dst)):
        if side.array is not None:
            operand.type = hip.hipMemcpy3DOperandType.hipMemcpyOperandTypeArray
            operand.op.array.array = side.array
            operand.op.array.offset = hip.hipOffset3D(x, y, z)
            continue
        rows = side.content.shape[1]
        base = (
            side.memory.ctypes.data
            if isinstance(side.memory, np.ndarray)
            else int(side.memory)
        )
        operand.type = hip.hipMemcpy3DOperandType.hipMemcpyOperandTypePointer
        operand.op.ptr.ptr = base + (z * rows + y) * side.pitch + x * side.element
        operand.op.ptr.rowLength = side.pitch // unit
        operand.op.ptr.layerHeight = rows
    return op


def copy(how: str, src: Side, dst: Side, places: tuple[Box, Box, Box]) -> None:
    stream = None
    if how == "runtime":
        ok(hip.hipMemcpy3D(runtime_record(src, dst, places)))
    elif how == "async":
        stream = ok(hip.hipStreamCreate())
        ok(hip.hipMemcpy3DAsync(runtime_record(src, dst, places), stream))
        ok(hip.hipStreamSynchronize(stream))
        ok(hip.hipStreamDestroy(stream))
    elif how == "driver":
        ok(hip.hipDrvMemcpy3D(driver_record(src, dst, places)))
    elif how == "peer":
        ok(hip.hipMemcpy3DPeer(peer_record(src, dst, places)))
    elif how == "batch":
        ok(hip.hipMemcpy3DBatchAsync(1, [batch_entry(src, dst, places)], 0, None))
    else:
        copy_by_graph(how, src, dst, places)


def copy_by_graph(how: str, src: Side, dst: Side, places: tuple[Box, Box, Box]) -> None:
    """By a node of a graph, or by a copy that is captured."""
    stream = ok(hip.hipStreamCreate())
    if how == "capture":
        ok(hip.hipStreamBeginCapture(stream, 0))
        ok(hip.hipMemcpy3DAsync(runtime_record(src, dst, places), stream))
        graph = ok(hip.hipStreamEndCapture(stream))
    else:
        graph = ok(hip.hipGraphCreate(0))
        if how == "node":
            record = runtime_record(src, dst, places)
            node = ok(hip.hipGraphAddMemcpyNode(graph, None, 0, record))
            assert str(ok(hip.hipGraphMemcpyNodeGetParams(node)).extent) == str(
                record.extent
            )
        else:
            record = driver_record(src, dst, places)
            node = ok(hip.hipDrvGraphAddMemcpyNode(graph, None, 0, record, None))
            got = ok(hip.hipDrvGraphMemcpyNodeGetParams(node))
            for field in ("WidthInBytes", "srcXInBytes", "dstXInBytes", "dstZ"):
                assert getattr(got, field) == getattr(record, field)
    executable = ok(hip.hipGraphInstantiateWithFlags(graph, 0))
    ok(hip.hipGraphLaunch(executable, stream))
    ok(hip.hipStreamSynchronize(stream))
    ok(hip.hipGraphExecDestroy(executable))
    ok(hip.hipGraphDestroy(graph))
    ok(hip.hipStreamDestroy(stream))


WAYS = ("runtime", "async", "driver", "peer", "batch", "node", "driver node", "capture")


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("to", ["array", "device", "host"])
@pytest.mark.parametrize("source", ["array", "device", "host"])
def test_box_arrives_and_nothing_else_changes(
    rng: np.random.Generator, source: str, to: str, how: str
) -> None:
    for dtype in (np.uint8, np.int16, np.int32) * 4:
        src, dst = make_side(rng, source, dtype), make_side(rng, to, dtype)
        places = choose_box(rng, src, dst)
        want = dst.content.copy()
        in_box(want, places[2], places[0])[:] = in_box(
            src.content, places[1], places[0]
        )

        copy(how, src, dst, places)

        np.testing.assert_array_equal(dst.now(), want)
        np.testing.assert_array_equal(src.now(), src.content)
        src.close()
        dst.close()


def test_box_outside_is_refused_and_copies_nothing(rng: np.random.Generator) -> None:
    texels = np.arange(24, dtype=np.int32).reshape(2, 3, 4, 1)
    array = new_array(texels, 3)
    host = np.full((2, 3, 4), -1, np.int32)
    for field, value in (
        ("extent", hip.hipExtent(5, 1, 1)),
        ("extent", hip.hipExtent(1, 4, 1)),
        ("extent", hip.hipExtent(1, 1, 3)),
        ("dstPos", hip.hipPos(1, 0, 0)),
        ("dstPos", hip.hipPos(0, 1, 0)),
        ("dstPos", hip.hipPos(0, 0, 1)),
        ("dstPos", hip.hipPos(1 << 63, 0, 0)),
        ("dstPos", hip.hipPos(0, (1 << 64) - 1, 0)),
        ("extent", hip.hipExtent(1 << 62, 1, 1)),
        ("dstPtr", hip.hipPitchedPtr(host, 16, 16, 3)),
    ):
        record = box(host, array, True, (4, 3, 2))
        setattr(record, field, value)
        assert code(hip.hipMemcpy3D(record)) == INVALID, (field, value)
    record = box(host, array, True, (4, 3, 2))
    record.srcPtr.ysize = 2
    assert code(hip.hipMemcpy3D(record)) == "hipErrorInvalidPitchValue"
    np.testing.assert_array_equal(read(array, texels), texels)
    ok(hip.hipFreeArray(array))
    record = box(host, array, True, (4, 3, 2))
    assert code(hip.hipMemcpy3D(record)) == "hipErrorInvalidHandle"


def test_memory_that_kind_calls_the_devices_and_is_not_is_refused(
    rng: np.random.Generator,
) -> None:
    kinds = hip.hipMemcpyKind
    to_device, from_device, within = (
        kinds.hipMemcpyHostToDevice,
        kinds.hipMemcpyDeviceToHost,
        kinds.hipMemcpyDeviceToDevice,
    )
    host = np.zeros((1, 4, 8), np.uint8)
    freed = int(ok(hip.hipMalloc(32)))
    ok(hip.hipFree(freed))
    array = new_array(np.zeros((1, 4, 8, 1), np.uint8), 2)
    graph = ok(hip.hipGraphCreate(0))

    def box(dst: Any, src: Any, kind: Any) -> Any:
        return hip.hipMemcpy3DParms(
            srcPtr=hip.hipPitchedPtr(src, 8, 8, 4),
            dstPtr=hip.hipPitchedPtr(dst, 8, 8, 4),
            extent=hip.hipExtent(8, 4, 1),
            kind=kind,
        )

    for dst, src, kind in (
        (freed, host, to_device),
        (freed, host, within),
        (host, freed, from_device),
        (host, freed, within),
    ):
        refused = box(dst, src, kind)
        assert code(hip.hipMemcpy3D(refused)) == INVALID
        assert code(hip.hipMemcpy3DAsync(refused, None)) == INVALID
        assert code(hip.hipGraphAddMemcpyNode(graph, None, 0, refused)) == INVALID
        one_row = hip.hipGraphAddMemcpyNode1D(graph, None, 0, dst, src, 8, kind)
        assert code(one_row) == INVALID
    for answer in (
        hip.hipMemcpy2DToArray(array, 0, 0, freed, 8, 8, 4, within),
        hip.hipMemcpy2DFromArray(freed, 8, array, 0, 0, 8, 4, within),
        hip.hipMemcpyToArray(array, 0, 0, freed, 8, within),
        hip.hipMemcpyFromArray(freed, array, 0, 0, 8, within),
        hip.hipMemcpy2DToArray(array, 0, 0, host, 8, 8, 4, within),
    ):
        assert code(answer) == INVALID
    assert ok(hip.hipGraphGetNodes(graph)) == ([], 0)
    ok(hip.hipGraphDestroy(graph))
    ok(hip.hipFreeArray(array))


def test_extent_of_nothing_is_no_copy() -> None:
    array = new_array(np.zeros((1, 1, 4, 1), np.int32), 1)
    host = np.ones(4, np.int32)
    for extent in ((0, 1, 1), (4, 0, 1), (4, 1, 0)):
        record = box(host, array, True, (4, 1, 1))
        record.extent = hip.hipExtent(*extent)
        ok(hip.hipMemcpy3D(record))
    assert not read(array, np.zeros((1, 1, 4, 1), np.int32)).any()
    ok(hip.hipFreeArray(array))


def test_arrays_of_other_elements_are_refused() -> None:
    a = new_array(np.zeros((1, 1, 4, 1), np.int32), 1)
    b = new_array(np.zeros((1, 1, 4, 1), np.int16), 1)
    record = hip.hipMemcpy3DParms(
        srcArray=a, dstArray=b, extent=hip.hipExtent(1, 1, 1), kind=3
    )
    assert code(hip.hipMemcpy3D(record)) == INVALID
    graph = ok(hip.hipGraphCreate(0))
    kinds = hip.hipMemoryType
    half = hip.HIP_MEMCPY3D(
        srcMemoryType=kinds.hipMemoryTypeArray,
        dstMemoryType=kinds.hipMemoryTypeArray,
        srcArray=a,
        dstArray=a,
        WidthInBytes=6,
        Height=1,
        Depth=1,
    )
    assert code(hip.hipDrvGraphAddMemcpyNode(graph, None, 0, half, None)) == INVALID
    ok(hip.hipGraphDestroy(graph))
    ok(hip.hipFreeArray(a))
    ok(hip.hipFreeArray(b))


# ---- rectangles ----------------------------------------------------------------------


@pytest.fixture
def rectangle(rng: np.random.Generator) -> Iterator[Side]:
    """An array of 6 rows of 9 elements of two bytes."""
    content = rng.integers(0, 9999, (1, 6, 9), dtype=np.uint16)
    side = Side(content, array=new_array(content[..., None], 2))
    yield side
    side.close()


def test_rectangles_go_to_and_from_arrays(
    rng: np.random.Generator, rectangle: Side
) -> None:
    want = rectangle.content[0].copy()
    for number in range(40):
        h, w = rng.integers(1, (7, 10)).tolist()
        y, x = int(rng.integers(0, 7 - h)), int(rng.integers(0, 10 - w))
        host = rng.integers(0, 9999, (h, w + 2), dtype=np.uint16)
        place = (rectangle.array, x * 2, y)
        shape = (host, host.strides[0], w * 2, h)
        if number % 4 == 0:
            ok(hip.hipMemcpy2DToArray(*place, *shape, 1))
        elif number % 4 == 1:
            ok(hip.hipMemcpy2DToArrayAsync(*place, *shape, 1, None))
            ok(hip.hipDeviceSynchronize())
        elif number % 4 == 2:
            record = hip.hip_Memcpy2D(
                srcMemoryType=hip.hipMemoryType.hipMemoryTypeHost,
                srcHost=host,
                srcPitch=host.strides[0],
                dstMemoryType=hip.hipMemoryType.hipMemoryTypeArray,
                dstArray=rectangle.array,
                dstXInBytes=x * 2,
                dstY=y,
                WidthInBytes=w * 2,
                Height=h,
            )
            ok(hip.hipMemcpyParam2D(record))
        else:
            other = new_array(host[None, ..., None], 2)
            ok(hip.hipMemcpy2DArrayToArray(*place, other, 0, 0, w * 2, h, 3))
            ok(hip.hipFreeArray(other))
        want[y : y + h, x : x + w] = host[:, :w]
        back = np.zeros((h, w + 2), np.uint16)
        function = (hip.hipMemcpy2DFromArray, hip.hipMemcpy2DFromArrayAsync)[number % 2]
        ok(
            function(
                back, back.strides[0], *place, w * 2, h, 2, *([None] * (number % 2))
            )
        )
        ok(hip.hipDeviceSynchronize())
        np.testing.assert_array_equal(back[:, :w], host[:, :w])
        assert not back[:, w:].any()
    np.testing.assert_array_equal(rectangle.now()[0], want)


def test_rectangles_outside_are_refused(rectangle: Side) -> None:
    host = np.zeros((7, 10), np.uint16)
    a, to = rectangle.array, hip.hipMemcpy2DToArray
    assert code(to(a, 2, 0, host, 20, 18, 1, 1)) == INVALID
    assert code(to(a, 0, 1, host, 20, 2, 6, 1)) == INVALID
    assert code(to(a, 0, 0, host, 2, 4, 1, 1)) == "hipErrorInvalidPitchValue"
    assert code(to(None, 0, 0, host, 20, 2, 1, 1)) == "hipErrorInvalidHandle"
    assert code(to(a, 0, 0, None, 20, 2, 1, 1)) == INVALID
    np.testing.assert_array_equal(rectangle.now(), rectangle.content)


# ---- runs of bytes -------------------------------------------------------------------


def test_runs_go_on_from_row_to_row(rng: np.random.Generator) -> None:
    texels = rng.integers(0, 256, (3, 4, 5, 2), dtype=np.uint8)
    array, other = new_array(texels, 3), new_array(texels[:, :, :3], 3)
    want, flat = texels.ravel().copy(), np.ascontiguousarray(texels[:, :, :3]).ravel()
    device = ok(hip.hipMalloc(120))
    host = np.zeros(120, np.uint8)
    for number in range(120):
        count = int(rng.integers(0, 121))
        at = int(rng.integers(0, 121 - count))
        data = rng.integers(0, 256, max(count, 1), dtype=np.uint8)
        way = number % 5
        if way == 0:
            ok(hip.hipMemcpyHtoA(array, at, data, count))
        elif way == 1:
            ok(hip.hipMemcpyHtoAAsync(array, at, data, count, None))
            ok(hip.hipDeviceSynchronize())
        elif way == 2:
            ok(hip.hipMemcpyToArray(array, at % 10, at // 10, data, count, 1))
        elif way == 3:
            ok(hip.hipMemcpy(device, data, count, 1))
            ok(hip.hipMemcpyDtoA(array, at, device, count))
        else:
            count = min(count, 72)
            start = int(rng.integers(0, 73 - count))
            ok(hip.hipMemcpyAtoA(array, at, other, start, count))
            data = flat[start : start + count]
        want[at : at + count] = data[:count]
        host[:] = 0
        if way == 0:
            ok(hip.hipMemcpyAtoH(host, array, at, count))
        elif way == 1:
            ok(hip.hipMemcpyAtoHAsync(host, array, at, count, None))
            ok(hip.hipDeviceSynchronize())
        elif way == 2:
            ok(hip.hipMemcpyFromArray(host, array, at % 10, at // 10, count, 2))
        else:
            ok(hip.hipMemcpyAtoD(device, array, at, count))
            ok(hip.hipMemcpy(host, device, count, 2))
        np.testing.assert_array_equal(host[:count], want[at : at + count])
    np.testing.assert_array_equal(read(array, texels).ravel(), want)
    for made in (array, other):
        ok(hip.hipFreeArray(made))
    ok(hip.hipFree(device))


def test_runs_past_the_end_copy_nothing(rng: np.random.Generator) -> None:
    texels = rng.integers(0, 256, (1, 4, 5, 1), dtype=np.uint8)
    array = new_array(texels, 2)
    host, small = np.zeros(100, np.uint8), ok(hip.hipMalloc(8))
    assert code(hip.hipMemcpyHtoA(array, 1, host, 20)) == INVALID
    assert code(hip.hipMemcpyHtoA(array, 21, host, 0)) == INVALID
    assert code(hip.hipMemcpyToArray(array, 0, 5, host, 0, 1)) == INVALID
    assert code(hip.hipMemcpyDtoA(array, 0, host, 5)) == INVALID
    assert code(hip.hipMemcpyDtoA(array, 0, int(small), 9)) == INVALID
    assert code(hip.hipMemcpyHtoA(array, 0, int(small), 9)) == INVALID
    assert code(hip.hipMemcpyHtoA(array, 0, None, 9)) == INVALID
    assert code(hip.hipMemcpyAtoH(None, array, 0, 1)) == INVALID
    assert code(hip.hipMemcpyAtoH(host, 0x40, 0, 1)) == "hipErrorInvalidHandle"
    np.testing.assert_array_equal(read(array, texels), texels)
    ok(hip.hipFreeArray(array))
    ok(hip.hipFree(small))


# ---- fills, batches ------------------------------------------------------------------


def test_fill_of_a_box(rng: np.random.Generator) -> None:
    side = make_side(rng, "device", np.uint8)
    depth, height, width = side.content.shape
    whole = hip.hipPitchedPtr(side.memory, side.pitch, width, height)
    extent = (max(width - 1, 1), max(height - 1, 1), depth)
    want = side.content.copy()
    in_box(want, (0, 0, 0), extent)[:] = 0x5A

    ok(hip.hipMemset3D(whole, 0x15A, hip.hipExtent(*extent)))

    np.testing.assert_array_equal(side.now(), want)
    ok(hip.hipMemset3DAsync(whole, 7, hip.hipExtent(*extent), None))
    ok(hip.hipDeviceSynchronize())
    in_box(want, (0, 0, 0), extent)[:] = 7
    np.testing.assert_array_equal(side.now(), want)
    ok(hip.hipMemset3D(whole, 1, hip.hipExtent(0, height, depth)))
    for bad in ((side.pitch + 1, 1, 1), (1, 1, depth + 9), (1, height * 9, 1)):
        assert code(hip.hipMemset3D(whole, 1, hip.hipExtent(*bad))) == INVALID
    assert (
        code(hip.hipMemset3D(hip.hipPitchedPtr(), 1, hip.hipExtent(1, 1, 1))) == INVALID
    )
    np.testing.assert_array_equal(side.now(), want)
    side.close()


def test_memory_of_three_dimensions_that_cannot_be() -> None:
    assert not int(ok(hip.hipMalloc3D(hip.hipExtent(0, 4, 4))).ptr)
    for bad in ((1 << 63, 2, 2), (1 << 40, 1 << 40, 1), (257, 1 << 32, 1 << 32)):
        assert code(hip.hipMalloc3D(hip.hipExtent(*bad))) in (
            INVALID,
            "hipErrorOutOfMemory",
        )


@pytest.mark.parametrize("order", [1, 2, 3])
def test_batch_copies_all_its_entries(rng: np.random.Generator, order: int) -> None:
    sizes = rng.integers(0, 200, 30).tolist()
    sources = [rng.integers(0, 256, 200, dtype=np.uint8) for _ in sizes]
    results = [np.zeros(200, np.uint8) for _ in sizes]
    attributes = [
        hip.hipMemcpyAttributes(srcAccessOrder=1),
        hip.hipMemcpyAttributes(srcAccessOrder=order, flags=1),
    ]
    ok(
        hip.hipMemcpyBatchAsync(
            results, sources, sizes, 30, attributes, [0, 12], 2, None
        )
    )
    ok(hip.hipDeviceSynchronize())
    for size, source, result in zip(sizes, sources, results, strict=True):
        np.testing.assert_array_equal(result[:size], source[:size])
        assert not result[size:].any()


def test_bad_batch_copies_nothing() -> None:
    good, zero = np.ones(8, np.uint8), np.zeros(8, np.uint8)
    small = ok(hip.hipMalloc(4))
    attribute = hip.hipMemcpyAttributes

    def batch(dsts: list[Any], attributes: Any, indices: list[int]) -> str:
        answer = hip.hipMemcpyBatchAsync(
            *(dsts, [good] * len(dsts), [8] * len(dsts), len(dsts)),
            *(attributes, indices, len(indices), None),
        )
        return code(answer)

    stream = [attribute(srcAccessOrder=1)]
    assert batch([zero, int(small), zero], stream, [0]) == INVALID
    assert batch([zero, zero], [attribute()], [0]) == INVALID
    assert batch([zero, zero], stream, [1]) == INVALID
    assert batch([zero, zero], stream * 2, [0, 0]) == INVALID
    assert batch([zero, zero], stream * 2, [0, 2]) == INVALID
    swap = [*stream, attribute(srcAccessOrder=1, flags=512)]
    assert batch([zero, zero], swap, [0, 1]) == "hipErrorNotSupported"
    other = [*stream, attribute(srcAccessOrder=1, flags=2)]
    assert batch([zero, zero], other, [0, 1]) == INVALID
    assert not zero.any()
    op = hip.hipMemcpy3DBatchOp(extent=hip.hipExtent(1, 1, 1), srcAccessOrder=1)
    assert code(hip.hipMemcpy3DBatchAsync(1, [op], 0, None)) == INVALID
    assert code(hip.hipMemcpy3DBatchAsync(1, [op], 5, None)) == INVALID
    ok(hip.hipFree(small))


# ---- what arrays are -----------------------------------------------------------------


@pytest.mark.parametrize("flags", [0, 1, 2])
@pytest.mark.parametrize(
    "extent", [(7, 0, 0), (7, 5, 0), (7, 5, 3), (7, 0, 3)], ids=str
)
def test_array_tells_what_it_was_made_of(extent: Box, flags: int) -> None:
    desc = channel_of("int16", 2)
    answer = hip.hipMalloc3DArray(desc, hip.hipExtent(*extent), flags)
    needs_layers = extent == (7, 0, 3)
    if (flags == 1) > (extent[2] > 0) or needs_layers > (flags == 1):
        assert code(answer) == INVALID
        return
    array = ok(answer)
    got = ok(hip.hipArrayGetInfo(array))
    assert [str(part) for part in got] == [
        str(desc),
        str(hip.hipExtent(*extent)),
        str(flags),
    ]
    assert str(ok(hip.hipGetChannelDesc(array))) == str(desc)
    whole = ok(hip.hipArray3DGetDescriptor(array))
    assert (whole.Width, whole.Height, whole.Depth, whole.Flags) == (*extent, flags)
    assert (whole.Format.name, whole.NumChannels) == ("HIP_AD_FORMAT_SIGNED_INT16", 2)
    flat = hip.hipArrayGetDescriptor(array)
    if extent[2]:
        assert code(flat) == INVALID
    else:
        assert (ok(flat).Width, ok(flat).Height) == extent[:2]
    ok(hip.hipFreeArray(array))


@pytest.mark.parametrize(
    ("extent", "flags"),
    [
        ((0, 0, 0), 0),
        ((4, 4, 0), 4),
        ((4, 4, 5), 4),
        ((4, 4, 12), 4),
        ((4, 3, 6), 4),
        ((4, 4, 7), 5),
        ((4, 0, 0), 8),
        ((4, 4, 4), 8),
        ((4, 4, 4), 16),
        ((4, 0, 0), 1),
        ((1 << 40, 4, 4), 0),
    ],
    ids=str,
)
def test_shapes_that_there_are_not(extent: Box, flags: int) -> None:
    answer = hip.hipMalloc3DArray(channel_of("int8", 1), hip.hipExtent(*extent), flags)
    assert code(answer) == INVALID


@pytest.mark.parametrize(
    "bits", [(8, 8, 8, 0), (8, 16, 0, 0), (0, 8, 0, 0), (64, 0, 0, 0), (0, 0, 0, 0)]
)
def test_elements_that_there_are_not(bits: tuple[int, ...]) -> None:
    kind = hip.hipChannelFormatKind.hipChannelFormatKindSigned
    desc = ok(hip.hipCreateChannelDesc(*bits, kind))
    answer = hip.hipMallocArray(desc, 4, 0, 0)
    assert code(answer) == "hipErrorInvalidValue"
    small = hip.hipChannelFormatDesc(8, 0, 0, 0, 2)
    assert code(hip.hipMallocArray(small, 4, 0, 0)) == "hipErrorInvalidValue"
    shape = hip.HIP_ARRAY_DESCRIPTOR(4, 4, 1, 3)
    assert code(hip.hipArrayCreate(shape)) == INVALID


def test_levels_are_halved_down_to_one() -> None:
    desc = channel_of("uint8", 4)
    mipmap = ok(hip.hipMallocMipmappedArray(desc, hip.hipExtent(20, 5, 3), 99, 0))
    assert (mipmap.width, mipmap.height, mipmap.depth) == (20, 5, 3)
    assert mipmap.max_mipmap_level == 4
    extents = []
    for level in range(5):
        array = ok(hip.hipGetMipmappedArrayLevel(mipmap, level))
        extents.append(str(ok(hip.hipArrayGetInfo(array))[1]))
        assert int(ok(hip.hipMipmappedArrayGetLevel(mipmap, level))) == int(array)
    assert extents == [
        str(hip.hipExtent(*e))
        for e in ((20, 5, 3), (10, 2, 1), (5, 1, 1), (2, 1, 1), (1, 1, 1))
    ]
    assert code(hip.hipGetMipmappedArrayLevel(mipmap, 5)) == INVALID
    ok(hip.hipFreeArray(array))  # goes with its mipmapped array all the same
    assert ok(hip.hipArrayGetInfo(array)) is not None
    needed = ok(hip.hipMipmappedArrayGetMemoryRequirements(mipmap, 0))
    assert needed.size >= (20 * 5 * 3 + 20 + 5 + 2 + 1) * 4 and needed.alignment == 256
    fill(array, np.ones((1, 1, 1, 4), np.uint8))
    ok(hip.hipFreeMipmappedArray(mipmap))
    assert code(hip.hipFreeMipmappedArray(mipmap)) == INVALID  # the record is empty now
    assert code(hip.hipArrayGetInfo(array)) == "hipErrorInvalidHandle"
    made_up = hip.hipMipmappedArray()
    assert code(hip.hipGetMipmappedArrayLevel(made_up, 0)) == "hipErrorInvalidHandle"


def test_layers_of_levels_stay() -> None:
    desc = channel_of("uint8", 1)
    shape = hip.HIP_ARRAY3D_DESCRIPTOR(8, 8, 6, 1, 1, 4)
    mipmap = ok(hip.hipMipmappedArrayCreate(shape, 0))
    assert mipmap.max_mipmap_level == 0
    ok(hip.hipMipmappedArrayDestroy(mipmap))
    mipmap = ok(hip.hipMallocMipmappedArray(desc, hip.hipExtent(8, 0, 9), 3, 1))
    level = ok(hip.hipGetMipmappedArrayLevel(mipmap, 2))
    assert str(ok(hip.hipArrayGetInfo(level))[1]) == str(hip.hipExtent(2, 0, 9))
    ok(hip.hipFreeMipmappedArray(mipmap))


def test_array_that_is_too_big_leaves_nothing() -> None:
    desc = channel_of("float32", 4)
    answer = hip.hipMalloc3DArray(desc, hip.hipExtent(16384, 16384, 8192), 0)
    assert code(answer) == "hipErrorOutOfMemory"
    answer = hip.hipMallocMipmappedArray(desc, hip.hipExtent(16384, 16384, 8192), 9, 0)
    assert code(answer) == "hipErrorOutOfMemory"
