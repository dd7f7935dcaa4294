# SPDX-License-Identifier: MIT
"""Heat spreads over a plate: the first program to read.

It goes once through everything that a HIP program does:

1. compile kernels from source text with hiprtc,
2. allocate device memory and copy a numpy array into it,
3. launch kernels on a stream and measure them with events,
4. copy the results back and compare them with the same computation in numpy.

Every call of `hip` and `hiprtc` returns a tuple whose first element is the status;
`check` below takes it off and raises `DemoError` when the call has failed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import error_text, hip, hiprtc, provider
from .._progress import Progress

# Three kernels.  `diffuse` does one time step: every thread reads its cell and the four
# neighbours.  Cells behind the edge repeat the edge, so no heat is lost.
# `diffuse_tiled` does the same by way of shared memory: each block first brings its
# part of the field and a border of one cell there; after the barrier every thread finds
# its neighbours.  `total` adds up all cells: each thread its share, then each block in
# shared memory, then the blocks with an atomic addition.
SOURCE = r"""
extern "C" __global__ void diffuse(const float *in, float *out, int width, int height,
                                   float rate)
{
    const int x = blockIdx.x * TILE_X + threadIdx.x;
    const int y = blockIdx.y * TILE_Y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const size_t at = (size_t)y * width + x;
    const float here = in[at];
    const float left = x > 0 ? in[at - 1] : here;
    const float right = x < width - 1 ? in[at + 1] : here;
    const float above = y > 0 ? in[at - width] : here;
    const float below = y < height - 1 ? in[at + width] : here;
    out[at] = here + rate * (left + right + above + below - 4.0f * here);
}

extern "C" __global__ void diffuse_tiled(const float *in, float *out, int width,
                                         int height, float rate)
{
    __shared__ float tile[TILE_Y + 2][TILE_X + 2];
    const int left = blockIdx.x * TILE_X - 1, top = blockIdx.y * TILE_Y - 1;
    const int thread = threadIdx.y * TILE_X + threadIdx.x;
    const int cells = (TILE_X + 2) * (TILE_Y + 2);

    for (int cell = thread; cell < cells; cell += TILE_X * TILE_Y) {
        const int tx = cell % (TILE_X + 2), ty = cell / (TILE_X + 2);
        const int x = min(max(left + tx, 0), width - 1);
        const int y = min(max(top + ty, 0), height - 1);
        tile[ty][tx] = in[(size_t)y * width + x];
    }
    __syncthreads();

    const int x = blockIdx.x * TILE_X + threadIdx.x, tx = threadIdx.x + 1;
    const int y = blockIdx.y * TILE_Y + threadIdx.y, ty = threadIdx.y + 1;
    if (x < width && y < height) {
        const float here = tile[ty][tx];
        const float around =
            tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx];
        out[(size_t)y * width + x] = here + rate * (around - 4.0f * here);
    }
}

extern "C" __global__ void total(const float *in, double *sum, long long count)
{
    extern __shared__ double part[];
    const int thread = threadIdx.x;

    double mine = 0;
    for (long long i = (long long)blockIdx.x * blockDim.x + thread; i < count;
         i += (long long)gridDim.x * blockDim.x)
        mine += in[i];
    part[thread] = mine;
    __syncthreads();

    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (thread < half)
            part[thread] += part[thread + half];
        __syncthreads();
    }
    if (thread == 0)
        atomicAdd(sum, part[0]);
}
"""

# A GPU has this memory beside its cores; here it is a detour.
WHY_SLOWER = """\
"shared memory" is the same stencil by way of __shared__ memory and a barrier, as
programs for GPUs have it. The CPU device runs both as vectors of lanes. A CPU has no
such memory: the detour copies each cell once more, and cells at a tile's edges twice,
for what the caches hold anyway. So it is the slower one here."""

TILE_X, TILE_Y = 32, 8
RATE = 0.2  # heat that crosses to a neighbour in a step; above 0.25 it would oscillate
SMALLEST = 4  # cells along an edge of the field
TOLERANCE = 1e-5  # of the largest value: some steps of rounding in float32


class DemoError(Exception):
    """Something that the user can understand: bad input or a call that failed."""


@dataclass(frozen=True)
class Report:
    """What the demo prints, and the JSON object of ``--json``."""

    provider: str
    provider_why: str
    device: str
    width: int
    height: int
    steps: int
    compile_ms: float
    stencil_ms: float  # one step
    stencil_GBps: float
    tiled_ms: float  # one step, with shared memory
    tiled_GBps: float
    reduction_ms: float
    reduction_GBps: float
    numpy_step_ms: float
    largest_error: float
    allowed_error: float
    heat_before: float
    heat_after: float
    heat_numpy: float  # numpy's sum of the result
    ok: bool


def check(call: str, result: tuple[Any, ...]) -> Any:
    """Take the status off a result; raise if it is not success."""
    status, *values = result
    if int(status) != 0:
        reason = error_text()  # what the provider has to say about it, or ""
        raise DemoError(
            f"{call} failed: {status.name} ({int(status)}) {reason}".strip()
        )
    return values[0] if len(values) == 1 else tuple(values)


def load_field(path: Path) -> np.ndarray:
    """Read a two-dimensional field of finite numbers from an .npy file."""
    try:
        # No pickles: a file from somewhere must not run code.
        field = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise DemoError(f"--input {path}: there is no such file") from None
    except (OSError, ValueError, EOFError) as error:
        raise DemoError(f"--input {path}: not a readable .npy file: {error}") from None
    if not isinstance(field, np.ndarray):
        raise DemoError(f"--input {path}: an .npz archive; give one .npy array")
    if field.dtype.kind not in "buif":
        raise DemoError(f"--input {path}: needs real numbers, not dtype {field.dtype}")
    if field.ndim != 2:
        raise DemoError(
            f"--input {path}: needs two dimensions, not shape {field.shape}"
        )
    with np.errstate(over="ignore"):
        field = np.ascontiguousarray(field, dtype=np.float32)
    if min(field.shape) < SMALLEST:
        raise DemoError(
            f"--input {path}: needs at least {SMALLEST} x {SMALLEST} cells, "
            f"not shape {field.shape}"
        )
    if not np.isfinite(field).all():
        bad = int(field.size - np.isfinite(field).sum())
        raise DemoError(
            f"--input {path}: {bad} cells are NaN, infinite, or too large for float32"
        )
    return field


def generate_field(size: int) -> np.ndarray:
    """Make a cool plate with a few hot discs and a little noise; always the same."""
    if size < SMALLEST:
        raise DemoError(f"--size {size}: needs at least {SMALLEST}")
    random = np.random.default_rng(2024)
    y, x = np.ogrid[0 : 1 : size * 1j, 0 : 1 : size * 1j]
    field = 20 + random.normal(scale=0.5, size=(size, size))
    for _ in range(8):
        cx, cy, radius = random.uniform((0.1, 0.1, 0.01), (0.9, 0.9, 0.1))
        field[(x - cx) ** 2 + (y - cy) ** 2 < radius**2] = random.uniform(50, 100)
    return field.astype(np.float32)


def compile_kernels() -> bytearray:
    """Source text to a code object for the current device."""
    program = check(
        "hiprtcCreateProgram",
        hiprtc.hiprtcCreateProgram(SOURCE.encode(), b"demo.hip", 0, None, None),
    )
    options = [f"-DTILE_X={TILE_X}".encode(), f"-DTILE_Y={TILE_Y}".encode()]
    (status,) = hiprtc.hiprtcCompileProgram(program, len(options), options)
    if int(status) != 0:
        size = check("hiprtcGetProgramLogSize", hiprtc.hiprtcGetProgramLogSize(program))
        log = bytearray(size)
        check("hiprtcGetProgramLog", hiprtc.hiprtcGetProgramLog(program, log))
        text = log.rstrip(b"\0").decode(errors="replace")
        raise DemoError(f"hiprtcCompileProgram failed: {status.name}\n{text}")
    code = bytearray(check("hiprtcGetCodeSize", hiprtc.hiprtcGetCodeSize(program)))
    check("hiprtcGetCode", hiprtc.hiprtcGetCode(program, code))
    check("hiprtcDestroyProgram", hiprtc.hiprtcDestroyProgram(program.createRef()))
    return code


@dataclass(frozen=True)
class Simulation:
    """What the device has computed, and how long it took."""

    result: np.ndarray
    heat: tuple[float, float]  # before and after
    stencil_ms: float  # all steps
    reduction_ms: float


class Plate:
    """A field on the device, with the kernels and what they need."""

    def __init__(self, stencil: bytes, field: np.ndarray, code: bytearray) -> None:
        self.name, self.field = stencil.decode(), field
        self.module = check("hipModuleLoadData", hip.hipModuleLoadData(code))
        self.diffuse = check(
            "hipModuleGetFunction", hip.hipModuleGetFunction(self.module, stencil)
        )
        self.total = check(
            "hipModuleGetFunction", hip.hipModuleGetFunction(self.module, b"total")
        )
        # Two fields, because a step reads its neighbours' old values; and one sum each
        # for before and after.  numpy arrays go into hipMemcpy as they are.
        self.now = check("hipMalloc", hip.hipMalloc(field.nbytes))
        self.then = check("hipMalloc", hip.hipMalloc(field.nbytes))
        self.sums = check("hipMalloc", hip.hipMalloc(16))
        to_device = hip.hipMemcpyKind.hipMemcpyHostToDevice
        check("hipMemcpy", hip.hipMemcpy(self.now, field, field.nbytes, to_device))
        check("hipMemset", hip.hipMemset(self.sums, 0, 16))
        self.stream = check("hipStreamCreate", hip.hipStreamCreate())
        self.start = check("hipEventCreate", hip.hipEventCreate())
        self.stop = check("hipEventCreate", hip.hipEventCreate())

    def add_up(self, number: int) -> None:
        """Enqueue the reduction; 256 threads need 256 doubles of shared memory."""
        check(
            "hipModuleLaunchKernel",
            hip.hipModuleLaunchKernel(
                self.total,
                *(64, 1, 1),
                *(256, 1, 1),
                sharedMemBytes=256 * 8,
                stream=self.stream,
                kernelParams=None,
                extra=(
                    self.now,
                    int(self.sums) + 8 * number,
                    np.int64(self.field.size),
                ),
            ),
        )

    def step(self) -> None:
        """Enqueue one step of time."""
        height, width = self.field.shape
        check(
            "hipModuleLaunchKernel",
            hip.hipModuleLaunchKernel(
                self.diffuse,
                *(-(-width // TILE_X), -(-height // TILE_Y), 1),  # rounded up
                *(TILE_X, TILE_Y, 1),
                sharedMemBytes=0,
                stream=self.stream,
                kernelParams=None,
                extra=(
                    self.now,
                    self.then,
                    np.int32(width),
                    np.int32(height),
                    np.float32(RATE),
                ),
            ),
        )
        self.now, self.then = self.then, self.now

    def wait(self) -> None:
        """Wait for all that is enqueued."""
        check("hipStreamSynchronize", hip.hipStreamSynchronize(self.stream))

    def measure(self, enqueue: Callable[[], None], times: int = 1) -> float:
        """Enqueue work this many times and wait; the milliseconds that it took."""
        check("hipEventRecord", hip.hipEventRecord(self.start, self.stream))
        for _ in range(times):
            enqueue()
        check("hipEventRecord", hip.hipEventRecord(self.stop, self.stream))
        check("hipEventSynchronize", hip.hipEventSynchronize(self.stop))
        return float(
            check("hipEventElapsedTime", hip.hipEventElapsedTime(self.start, self.stop))
        )

    def measure_steps(self, steps: int, progress: Progress) -> float:
        """Do the steps; the milliseconds that they took.

        Launches return at once; the stream runs them in order.  Waiting now and then is
        only for the progress line, so the time between the events is added up in parts.
        """
        part, total_ms = max(1, steps // 10), 0.0
        for first in range(0, steps, part):
            progress.show(f"{self.name} on the device", first, steps)
            total_ms += self.measure(self.step, min(part, steps - first))
        return total_ms

    def read(self) -> tuple[np.ndarray, tuple[float, float]]:
        """The field, and the heat before and after."""
        result, heat = np.empty_like(self.field), np.empty(2)
        to_host = hip.hipMemcpyKind.hipMemcpyDeviceToHost
        check("hipMemcpy", hip.hipMemcpy(result, self.now, result.nbytes, to_host))
        check("hipMemcpy", hip.hipMemcpy(heat, self.sums, heat.nbytes, to_host))
        return result, (float(heat[0]), float(heat[1]))

    def close(self) -> None:
        """Give everything back."""
        for event in (self.start, self.stop):
            check("hipEventDestroy", hip.hipEventDestroy(event))
        check("hipStreamDestroy", hip.hipStreamDestroy(self.stream))
        for memory in (self.now, self.then, self.sums):
            check("hipFree", hip.hipFree(memory))
        check("hipModuleUnload", hip.hipModuleUnload(self.module))


def simulate_on_device(
    stencil: bytes, field: np.ndarray, steps: int, code: bytearray, progress: Progress
) -> Simulation:
    """Do the steps with the kernel of this name, and add up before and after."""
    plate = Plate(stencil, field, code)
    # The first launch of a kernel may cost more than the others: do one unmeasured.
    plate.add_up(0)
    plate.wait()
    check("hipMemset", hip.hipMemset(plate.sums, 0, 16))

    reduction_ms = plate.measure(lambda: plate.add_up(0))
    stencil_ms = plate.measure_steps(steps, progress)
    plate.add_up(1)
    plate.wait()
    result, heat = plate.read()
    plate.close()
    return Simulation(result, heat, stencil_ms, reduction_ms)


def simulate_in_numpy(field: np.ndarray, steps: int, progress: Progress) -> np.ndarray:
    """Do the same steps with numpy; the edge is repeated by the padding."""
    rate, four = np.float32(RATE), np.float32(4)
    for step in range(steps):
        if step % 10 == 0:
            progress.show("the same in numpy", step, steps)
        padded = np.pad(field, 1, mode="edge")
        around = padded[1:-1, :-2] + padded[1:-1, 2:]
        around += padded[:-2, 1:-1]
        around += padded[2:, 1:-1]
        field = field + rate * (around - four * field)
    return field


def device_name() -> str:
    """Name of device 0."""
    count = check("hipGetDeviceCount", hip.hipGetDeviceCount())
    if count == 0:
        raise DemoError("the provider reports no device")
    return str(check("hipDeviceGetName", hip.hipDeviceGetName(256, 0)))


def run(choices: argparse.Namespace, progress: Progress) -> tuple[Report, np.ndarray]:
    """Do everything; the report, and the fields before and after for the picture."""
    field = load_field(choices.input) if choices.input else generate_field(choices.size)
    height, width = field.shape
    name = device_name()

    progress.show("compiling three kernels")
    begin = time.perf_counter()
    code = compile_kernels()
    compile_ms = (time.perf_counter() - begin) * 1e3

    plain, tiled = (
        simulate_on_device(stencil, field, choices.steps, code, progress)
        for stencil in (b"diffuse", b"diffuse_tiled")
    )
    begin = time.perf_counter()
    want = simulate_in_numpy(field, choices.steps, progress)
    numpy_ms = (time.perf_counter() - begin) * 1e3
    progress.clear()

    runs = (plain, tiled)
    # A NaN stays one here, and fails every comparison: it can't pass as equal.
    errors = [np.abs(one.result.astype(np.float64) - want).max() for one in runs]
    error = float(np.max(errors))
    size = float(np.abs(field).max())
    field_ok = error <= TOLERANCE * size
    heat_ok = all(all(map(sum_is_right, (field, one.result), one.heat)) for one in runs)
    bytes_all = 2 * field.nbytes * choices.steps  # a step reads and writes every cell
    report = Report(
        provider=provider().name,
        provider_why=provider().why,
        device=name,
        width=width,
        height=height,
        steps=choices.steps,
        compile_ms=compile_ms,
        stencil_ms=plain.stencil_ms / choices.steps,
        stencil_GBps=rate_GBps(bytes_all, plain.stencil_ms),
        tiled_ms=tiled.stencil_ms / choices.steps,
        tiled_GBps=rate_GBps(bytes_all, tiled.stencil_ms),
        reduction_ms=plain.reduction_ms,
        reduction_GBps=rate_GBps(field.nbytes, plain.reduction_ms),
        numpy_step_ms=numpy_ms / choices.steps,
        largest_error=error,
        allowed_error=TOLERANCE * size,
        heat_before=plain.heat[0],
        heat_after=plain.heat[1],
        heat_numpy=float(plain.result.sum(dtype=np.float64)),
        ok=bool(field_ok and heat_ok),
    )
    return report, np.stack([field, plain.result])


def sum_is_right(field: np.ndarray, total: float) -> bool:
    """Compare with numpy's sum, as closely as additions in another order allow."""
    scale = float(np.abs(field).sum(dtype=np.float64))
    return abs(total - float(field.sum(dtype=np.float64))) <= 1e-9 * scale


def rate_GBps(count_bytes: int, duration_ms: float) -> float:
    """Bytes in milliseconds as GB/s; 0 where the clock saw no time pass."""
    return count_bytes / duration_ms * 1e-6 if duration_ms > 0 else 0.0


def times_faster(report: Report) -> str:
    """The plain stencil beside numpy, where it is faster."""
    ratio = report.numpy_step_ms / report.stencil_ms if report.stencil_ms > 0 else 0.0
    return f", {ratio:.1f} times as fast as numpy" if ratio > 1 else ""


def print_report(report: Report) -> None:
    """Write the results as a table for people."""
    step, add = report.stencil_ms, report.reduction_ms
    rows = (
        ("provider", f"{report.provider} ({report.provider_why})"),
        ("device", report.device),
        ("field", f"{report.width} x {report.height} float32, {report.steps} steps"),
        ("compile", f"{report.compile_ms:.1f} ms (hiprtc, three kernels)"),
        (
            "stencil",
            f"{step:.3f} ms a step, {report.stencil_GBps:.3g} GB/s"
            + times_faster(report),
        ),
        (
            "shared memory",
            f"{report.tiled_ms:.3f} ms a step, {report.tiled_GBps:.3g} GB/s",
        ),
        ("reduction", f"{add:.3f} ms, {report.reduction_GBps:.3g} GB/s"),
        ("numpy", f"{report.numpy_step_ms:.3f} ms a step"),
        (
            "largest error",
            f"{report.largest_error:.3g} (allowed {report.allowed_error:.3g})",
        ),
        (
            "heat",
            f"{report.heat_before:.6f} before, {report.heat_after:.6f} after, "
            f"numpy {report.heat_numpy:.6f}",
        ),
        ("result", "same as numpy" if report.ok else "DIFFERS FROM NUMPY"),
    )
    for label, value in rows:
        print(f"{label:<14}{value}")
    if report.provider == "cpu":
        print(f"\n{WHY_SLOWER}")


def import_pyplot() -> Any:
    """matplotlib without a window, or an error that says how to get it."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        raise DemoError(
            "--plot needs matplotlib; install it with\n"
            '    python -m pip install "hipadapt[plot]"'
        ) from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def draw(pyplot: Any, path: Path, fields: np.ndarray, report: Report) -> None:
    """Draw the fields before and after, on one colour scale."""
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    titles = ("before", f"after {report.steps} steps")
    for axis, field, title in zip(axes, fields, titles, strict=True):
        image = axis.imshow(
            field,
            cmap="inferno",
            vmin=float(fields[0].min()),
            vmax=float(fields[0].max()),
            interpolation="nearest",
        )
        axis.set_title(title)
        axis.set_xlabel("x [cells]")
        axis.set_ylabel("y [cells]")
    figure.colorbar(image, ax=axes, label="temperature")
    figure.suptitle(f"{report.device}: largest error {report.largest_error:.2g}")
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:
        raise DemoError(f"--plot {path}: {error}") from None
    finally:
        pyplot.close(figure)


def main(choices: argparse.Namespace) -> int:
    """Exit status: 0 same as numpy, 1 different, 2 the demo could not run."""
    progress = Progress(after_s=0)
    try:
        # Before the work, so that a missing matplotlib costs no waiting.
        pyplot = import_pyplot() if choices.plot else None
        report, fields = run(choices, progress)
        if pyplot is not None:
            draw(pyplot, choices.plot, fields, report)
    except DemoError as error:
        progress.clear()
        print(f"hipadapt demo: {error}", file=sys.stderr)
        return 2
    if choices.json:
        print(json.dumps(asdict(report)))
    else:
        print_report(report)
        if choices.plot:
            print(f"{'picture':<14}{choices.plot}")
    return 0 if report.ok else 1
