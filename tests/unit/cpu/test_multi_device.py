# SPDX-License-Identifier: MIT
"""Cooperative launches on several devices, from Python.

What the device does is tested in tests/c/cpu/work/test_multi_device.c; here are the compiled
kernels, both executors, and the functions as Python sees them."""

from __future__ import annotations

import textwrap

import pytest

from tests.conftest import Run, interpreter

HEAD = '''
import ctypes
import numpy as np
import hipadapt
from hipadapt import hip, hiprtc

SOURCE = rb"""
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ int own = 0;

extern "C" __global__ void rotate(unsigned *x, int rounds) {
    auto grids = cg::this_multi_grid();
    unsigned i = grids.thread_rank(), n = grids.size();
    for (int r = 0; r < rounds; r++) {
        unsigned next = x[(i + 33) % n];
        grids.sync();
        x[i] = next;
        if (r % 2)
            cg::sync(grids);
        else {
            cg::thread_group any = grids;
            any.sync();
        }
    }
}

struct Place { unsigned size, rank, grids, grid, valid, base, base_rank, base_valid; };

extern "C" __global__ void places(Place *out) {
    cg::multi_grid_group grids = cg::this_multi_grid();
    const cg::thread_group base = grids;
    out[grids.thread_rank()] = {grids.size(), grids.thread_rank(), grids.num_grids(),
                                grids.grid_rank(), grids.is_valid(), cg::group_size(base),
                                cg::thread_rank(base), cg::is_valid(base)};
}

extern "C" __global__ void alone(int *out) {
    out[0] = cg::this_multi_grid().is_valid();
    out[1] = cg::this_multi_grid().num_grids();
}

extern "C" __global__ void fails(unsigned who) {
    auto grids = cg::this_multi_grid();
    if (grids.grid_rank() == who && threadIdx.x == 3)
        assert(who == 12345);
    grids.sync();
}

extern "C" __global__ void endless(volatile int *stop) {
    auto grids = cg::this_multi_grid();
    while (grids.grid_rank() == 1 && !*stop)
        ;
    grids.sync();
}
"""

def ok(result):
    assert int(result[0]) == 0, (result[0], hipadapt.error_text())
    return result[1] if len(result) == 2 else result[1:]

program = ok(hiprtc.hiprtcCreateProgram(SOURCE, b"m.hip", 0, None, None))
(status,) = hiprtc.hiprtcCompileProgram(program, 0, None)
log = bytearray(ok(hiprtc.hiprtcGetProgramLogSize(program)))
ok(hiprtc.hiprtcGetProgramLog(program, log))
assert int(status) == 0, log.decode()
image = bytearray(ok(hiprtc.hiprtcGetCodeSize(program)))
ok(hiprtc.hiprtcGetCode(program, image))

COUNT = ok(hip.hipGetDeviceCount())
streams, modules = [], []
for device in range(COUNT):
    ok(hip.hipSetDevice(device))
    streams.append(ok(hip.hipStreamCreate()))
    modules.append(ok(hip.hipModuleLoadData(image)))
ok(hip.hipSetDevice(0))

def addresses(*values):
    array = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
    array.values = values
    return array

def grids(name, args, shapes):
    """One launch for each of the first devices, for either function."""
    by_module, by_address = [], []
    for device, (grid, block) in enumerate(shapes):
        function = ok(hip.hipModuleGetFunction(modules[device], name))
        by_module.append(hip.hipFunctionLaunchParams_t(
            function=function, gridDimX=grid, gridDimY=1, gridDimZ=1,
            blockDimX=block, blockDimY=1, blockDimZ=1,
            hStream=streams[device], kernelParams=ctypes.addressof(args)))
        by_address.append(hip.hipLaunchParams_t(
            func=function, gridDim=(grid, 1, 1), blockDim=(block, 1, 1),
            stream=streams[device], args=ctypes.addressof(args)))
    return (
        (hip.hipModuleLaunchCooperativeKernelMultiDevice, by_module),
        (hip.hipLaunchCooperativeKernelMultiDevice, by_address),
    )

def wait(count):
    for stream in streams[:count]:
        ok(hip.hipStreamSynchronize(stream))
'''

SETTINGS = [
    {"HIPADAPT_CPU_EXEC": "fast", "HIPADAPT_CPU_THREADS": "1"},
    {"HIPADAPT_CPU_EXEC": "fast", "HIPADAPT_CPU_THREADS": "4"},
    {"HIPADAPT_CPU_EXEC": "reference", "HIPADAPT_CPU_THREADS": "3"},
]


@pytest.fixture(params=SETTINGS, ids=lambda s: "-".join(s.values()))
def run(request: pytest.FixtureRequest) -> Run:
    """run(code): a new interpreter with four devices, behind HEAD."""
    settings: dict[str, str] = request.param
    start = interpreter(
        HIPADAPT_PROVIDER="cpu",
        HIPADAPT_CPU_DEVICES="4",
        HIPADAPT_KERNEL_TIMEOUT="20",
        **settings,
    )
    return lambda code: start(HEAD + textwrap.dedent(code))


def test_threads_of_all_devices_exchange_values(run: Run) -> None:
    run(
        """
        for shapes in ([(3, 32)], [(2, 40), (2, 40)], [(1, 7), (5, 64), (3, 100)],
                       [(8, 16)] * 4):
            n = sum(grid * block for grid, block in shapes)
            memory = ok(hip.hipMalloc(4 * n))
            args = addresses(ctypes.c_void_p(int(memory)), ctypes.c_int(5))
            for launch, params in grids(b"rotate", args, shapes):
                for flags in range(4):
                    x = np.arange(n, dtype=np.uint32)
                    ok(hip.hipMemcpy(memory, x, x.nbytes, 1))
                    ok(launch(params, len(params), flags))
                    wait(len(params))
                    got = np.zeros_like(x)
                    ok(hip.hipMemcpy(got, memory, x.nbytes, 2))
                    np.testing.assert_array_equal(got, np.roll(x, -33 * 5))
            ok(hip.hipFree(memory))
        """
    )


def test_groups_know_their_place(run: Run) -> None:
    run(
        """
        shapes = [(3, 20), (1, 64), (2, 33)]
        n = sum(grid * block for grid, block in shapes)
        place = np.dtype((np.uint32, 8))
        memory = ok(hip.hipMalloc(32 * n))
        args = addresses(ctypes.c_void_p(int(memory)))
        for launch, params in grids(b"places", args, shapes):
            ok(hip.hipMemset(memory, 255, 32 * n))
            ok(launch(params, 3, 0))
            wait(3)
            got = np.zeros((n, 8), np.uint32)
            ok(hip.hipMemcpy(got, memory, got.nbytes, 2))
            rank = np.arange(n)
            grid = np.repeat([0, 1, 2], [g * b for g, b in shapes])
            for column, want in enumerate((n, rank, 3, grid, 1, n, rank, 1)):
                np.testing.assert_array_equal(got[:, column], want, str(column))
        """
    )


def test_group_of_a_launch_on_one_device_is_not_valid(run: Run) -> None:
    run(
        """
        out = hipadapt.pinned_empty(2, "int32")
        function = ok(hip.hipModuleGetFunction(modules[0], b"alone"))
        for launch in (hip.hipModuleLaunchKernel, hip.hipModuleLaunchCooperativeKernel):
            out[:] = 7
            last = (None,) if launch is hip.hipModuleLaunchKernel else ()
            ok(launch(function, 1, 1, 1, 1, 1, 1, 0, streams[0],
                      (ctypes.c_void_p(out.ctypes.data),), *last))
            wait(1)
            assert out.tolist() == [0, 0]
        barrier = ok(hip.hipModuleGetFunction(modules[0], b"rotate"))
        ok(hip.hipModuleLaunchCooperativeKernel(
            barrier, 1, 1, 1, 32, 1, 1, 0, streams[0],
            (ctypes.c_void_p(out.ctypes.data), ctypes.c_int(0))))
        wait(1)
        fails = ok(hip.hipModuleGetFunction(modules[0], b"fails"))
        ok(hip.hipModuleLaunchCooperativeKernel(
            fails, 1, 1, 1, 32, 1, 1, 0, streams[0], (ctypes.c_uint(9),)))
        (status,) = hip.hipStreamSynchronize(streams[0])
        assert status.name == "hipErrorLaunchFailure", status
        assert "on several devices" in hipadapt.error_text()
        """
    )


def test_failed_assertion_of_one_grid_ends_all(run: Run) -> None:
    done = run(
        """
        args = addresses(ctypes.c_uint(2))
        launch, params = grids(b"fails", args, [(2, 32)] * 3)[0]
        ok(launch(params, 3, 0))
        for stream in streams[:3]:
            (status,) = hip.hipStreamSynchronize(stream)
            assert status.name == "hipErrorAssert", status
            assert "who == 12345" in hipadapt.error_text()
        ok(hip.hipSetDevice(3))
        ok(hip.hipStreamSynchronize(streams[3]))
        """
    )
    assert done.stderr.count("Device-side assertion") == 1


def test_launch_without_threads_fails_and_ends(run: Run) -> None:
    run(
        """
        import os, resource, threading
        if os.getuid() == 0:  # the limit does not count for root
            os.setresuid(54321, 54321, 54321)
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        try:
            threading.Thread(target=lambda: None).start()
            raise SystemExit  # threads can be made all the same
        except RuntimeError:
            pass
        memory = ok(hip.hipMalloc(4 * 128))
        args = addresses(ctypes.c_void_p(int(memory)), ctypes.c_int(3))
        launch, params = grids(b"rotate", args, [(2, 32)] * 2)[0]
        ok(launch(params, 2, 0))
        for device, stream in enumerate(streams[:2]):
            ok(hip.hipSetDevice(device))
            (status,) = hip.hipStreamSynchronize(stream)
            assert status.name == "hipErrorLaunchTimeOut", status
            assert "no thread could be created" in hipadapt.error_text()
            ok(hip.hipDeviceReset())
        """
    )


def test_interrupt_ends_the_wait_and_a_reset_the_grids(run: Run) -> None:
    run(
        """
        import os, signal, threading
        stop = hipadapt.pinned_empty(1, "int32")
        stop[:] = 0
        args = addresses(ctypes.c_void_p(stop.ctypes.data))
        launch, params = grids(b"endless", args, [(2, 32)] * 2)[0]
        ok(launch(params, 2, 0))
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            hip.hipStreamSynchronize(streams[0])
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("no interrupt")
        assert hip.hipStreamQuery(streams[0])[0].name == "hipErrorNotReady"
        ok(hip.hipSetDevice(1))
        ok(hip.hipDeviceReset())
        (status,) = hip.hipStreamSynchronize(streams[0])
        assert status.name == "hipErrorLaunchTimeOut", status
        ok(hip.hipSetDevice(0))
        ok(hip.hipDeviceReset())
        """
    )


def test_lists_that_are_wrong_are_refused(run: Run) -> None:
    run(
        """
        codes = hip.hipError_t
        args = addresses(ctypes.c_void_p(None), ctypes.c_int(0))
        for launch, params in grids(b"rotate", args, [(1, 32)] * 4):
            assert launch(None, 0, 0)[0] == codes.hipErrorInvalidValue
            assert launch(params, 0, 0)[0] == codes.hipErrorInvalidValue
            assert launch(params + params[:1], 5, 0)[0] == codes.hipErrorInvalidValue
            assert launch(params, 4, 8)[0] == codes.hipErrorInvalidValue
            twice = [params[0], params[0]]
            assert launch(twice, 2, 0)[0] == codes.hipErrorInvalidDevice
            try:
                launch(params, 6, 0)
            except ValueError as error:
                assert "numDevices" in str(error)
            else:
                raise AssertionError("a list of 4 passed for 6")
        """
    )


def test_profiler_sees_one_call_and_each_grid(run: Run) -> None:
    run(
        """
        from hipadapt import rocprofiler
        seen = []
        args = addresses(ctypes.c_void_p(None), ctypes.c_int(0))
        launch, params = grids(b"rotate", args, [(1, 32), (2, 64), (3, 8)])[0]
        with rocprofiler.trace(on_event=seen.append, arguments=True,
                               kinds=["HIP_RUNTIME_API", "KERNEL_DISPATCH"]):
            ok(launch(params, 3, 1))
            wait(3)
        named = {}
        for event in seen:
            name = rocprofiler.operation_name(event.kind, event.operation)
            named.setdefault(name, []).append(event)
        (call,) = named["hipModuleLaunchCooperativeKernelMultiDevice"]
        assert call.arguments["numDevices"] == "3", call.arguments
        assert call.arguments["flags"] == "1"
        kernels = named["KERNEL_DISPATCH_COMPLETE"]
        assert sorted((k.device, k.grid, k.block, k.name) for k in kernels) == [
            (0, (32, 1, 1), (32, 1, 1), "rotate"),
            (1, (128, 1, 1), (64, 1, 1), "rotate"),
            (2, (24, 1, 1), (8, 1, 1), "rotate"),
        ]
        """
    )
