# SPDX-License-Identifier: MIT
"""HIPADAPT_CPU_GUARD=1: kernels ask before each access, and fail where it is not theirs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run

pytestmark = pytest.mark.plain  # host memory that kernels write to is what it is about
SOURCE = r"""
struct Node { Node *next; int value; };
struct Pair { int *p; long n; };
struct Wide { double x[20]; };
__constant__ int table[4] = {1, 2, 3, 4};
__device__ int counter;
__managed__ int shown;
extern "C" __global__ void put(int *x, long i) { if (i > -9) x[i] = 7; }
extern "C" __global__ void get(const int *x, long i, int *o) { *o = x[i]; }
extern "C" __global__ void bytes(char *x, long i) { x[i] = 7; }
extern "C" __global__ void vec(float4 *x, long i) { x[i] = make_float4(1, 2, 3, 4); }
extern "C" __global__ void record(Pair q) { q.p[q.n] = 7; }
extern "C" __global__ void list(const Node *n, int *o) {
    int sum = 0;
    for (; n; n = n->next) sum += n->value;
    *o = sum;
}
extern "C" __global__ void copy(char *to, const char *from, long n) {
    memcpy(to, from, n);
}
extern "C" __global__ void fill(char *to, long n) { memset(to, 0, n); }
extern "C" __global__ void add(int *x) { atomicAdd(x, 1); }
extern "C" __global__ void swap(int *x) { atomicCAS(x, 0, 7); }
__device__ __noinline__ int through(int *p) { *p += 1; return *p; }
extern "C" __global__ void call(int *x) { through(x); }
extern "C" __global__ void own(int *x, int n, Wide w) {
    __shared__ int fixed[64];
    extern __shared__ int rest[];
    static const int constants[16] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6};
    int local[8], t = threadIdx.x, *m = (int *)malloc(64);
    int *part = t & 1 ? fixed : rest;
    part[t] = t;
    __syncthreads();
    for (int i = 0; i < 8; i++) local[(i * n) & 7] = i;
    const int *c = table + (n & 3);
    m[n] = *c + through(local + n);
    atomicAdd(&counter, 1);
    shown = 3;
    w.x[n] += 1;
    x[t] = part[t] + m[n] + constants[(n + t) & 15] + (int)w.x[n];
    free(m);
}
"""
PRELUDE = (
    f"SOURCE = r'''{SOURCE}'''"
    + r"""
import ctypes, numpy as np, hipadapt
from hipadapt import hip

def address(array, offset=0):
    return ctypes.c_void_p(array.ctypes.data + offset)

def ok(result):
    assert int(result[0]) == 0, (result, hipadapt.error_text())
    return result[1] if len(result) == 2 else None

kernels = {}
def run(name, *arguments, block=1, shared=0):
    "The status of the kernel, and the text if it is no success."
    if name not in kernels:
        kernels[name] = hipadapt.compile_kernel(SOURCE, name)
    arguments = [np.int64(a) if isinstance(a, int) else a for a in arguments]
    kernels[name][1, block, shared](*arguments)
    status = hip.hipDeviceSynchronize()[0].name
    text = hipadapt.error_text() if status != "hipSuccess" else ""
    if text:
        hip.hipDeviceReset()
        kernels.clear()
    return status, text
"""
)


def test_memory_that_hip_does_not_know_is_found(run_python: Run) -> None:
    run_python(
        PRELUDE
        + r"""
host = np.zeros(64, "i4")
WRITE = "a write to memory that HIP does not know"
READ = "a read of memory that HIP does not know"

def found(name, *arguments, what=WRITE, at=0):
    status, text = run(name, *arguments)
    assert status == "hipErrorIllegalAddress", (name, status)
    assert f"kernel '{name}': invalid access at 0x{host.ctypes.data + at:x}" in text, text
    assert what in text and "block (0,0,0) thread (0,0,0)" in text, text
    assert not host.any(), name

new = lambda: hipadapt.array(np.zeros(4, "i4"))
found("put", address(host), 3, at=12)
found("get", address(host), 0, new(), what=READ)
found("bytes", address(host), 5, at=5)
found("vec", address(host), 2, at=32)
found("record", np.array([(host.ctypes.data, 2)], "u8, i8")[0], at=8)
found("copy", new(), address(host), 8, what=READ)
found("copy", address(host, 4), new(), 8, at=4)
found("fill", address(host, 4), 8, at=4)
found("add", address(host))
found("swap", address(host))
found("call", address(host), what=READ)
# An address that stands in memory of the device.
nodes = hipadapt.array(np.array([host.ctypes.data, 5], "u8"))
found("list", nodes, new(), what=READ, at=8)
# Given, but not used.
assert run("put", address(host), -9) == ("hipSuccess", "")
""",
        HIPADAPT_CPU_GUARD="1",
        HIPADAPT_LOG="0",
    )


def test_accesses_beside_an_allocation_are_found(run_python: Run) -> None:
    run_python(
        PRELUDE
        + r"""
def beside(name, *arguments):
    status, text = run(name, *arguments)
    assert status == "hipErrorIllegalAddress", (name, status)
    return text

for count in (1, 25, 64, 1000):
    for at in (count, -1):
        text = beside("put", hipadapt.empty(count, "i4"), at)
        assert "a write to memory that HIP does not know" in text, text
    assert run("put", hipadapt.empty(count, "i4"), count - 1)[0] == "hipSuccess"
beside("bytes", hipadapt.empty(3, "i1"), 3)
assert run("bytes", hipadapt.empty(3, "i1"), 2)[0] == "hipSuccess"
beside("vec", hipadapt.empty(7, "f4"), 1)
text = beside("fill", hipadapt.empty(7, "i1"), 8)
assert "a write beside an allocation" in text, text
pool = ok(hip.hipMallocAsync(64, None))
ok(hip.hipFreeAsync(pool, None))
ok(hip.hipStreamSynchronize(None))
beside("put", ctypes.c_void_p(int(pool)), 0)
""",
        HIPADAPT_CPU_GUARD="1",
        HIPADAPT_LOG="0",
    )


def test_what_is_the_kernels_own_may_be_touched(run_python: Run) -> None:
    done = run_python(
        PRELUDE
        + r"""
x = hipadapt.empty(64, "i4")
run_own = lambda: run("own", x, np.int32(3), np.zeros(20, "f8").view("V160")[0],
                      block=64, shared=256)
assert run_own() == ("hipSuccess", "")
t = np.arange(64)
constants = np.array([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6])
local = [0, 3, 6, 1, 4, 7, 2, 5].index(3)
assert (x.get() == t + 4 + local + 1 + constants[(3 + t) & 15] + 1).all(), x.get()
host = np.zeros(64, "i4")
ok(hip.hipHostRegister(address(host), 256, 0))
pinned = ok(hip.hipHostMalloc(256, 0))
managed = ok(hip.hipMallocManaged(256, 1))
pool = ok(hip.hipMallocAsync(256, None))
for memory in (address(host), *(ctypes.c_void_p(int(m)) for m in (pinned, managed, pool))):
    assert run("put", memory, 63) == ("hipSuccess", "")
assert host[63] == 7
ok(hip.hipHostUnregister(address(host)))
assert run("put", address(host), 62)[0] == "hipErrorIllegalAddress"
assert host[62] == 0
""",
        HIPADAPT_CPU_GUARD="1",
    )
    assert "was compiled without" not in done.stderr


def test_textures_and_surfaces_may_be_read(run_python: Run) -> None:
    run_python(
        PRELUDE
        + r"""
from tests.unit.cpu import textures as T
SOURCE = (
    'extern "C" __global__ void look(hipTextureObject_t t, hipSurfaceObject_t s, float *o)'
    '{ float4 v = tex2D<float4>(t, .3f, .6f); o[0] = v.x; o[1] = v.w;'
    '  surf2Dwrite(uchar4{9, 8, 7, 6}, s, 4, 0);'
    '  o[2] = surf2Dread<uchar4>(s, 4, 0).y; }'
)
texels = np.full((1, 3, 5, 4), 255, "u1")
desc = T.sampling(linear=True, normalized=True, as_float=True, sRGB=1)
array = T.new_array(texels, 2, 2)  # hipArraySurfaceLoadStore
surface = ok(hip.hipCreateSurfaceObject(T.resource_of(array)))
out = hipadapt.empty(3, "f4")
with T.array_texture(texels, 2, desc) as handle:
    assert run("look", handle, surface, out) == ("hipSuccess", "")
assert out.get().tolist() == [1, 1, 8]
""",
        HIPADAPT_CPU_GUARD="1",
    )


def test_without_the_guard_host_memory_is_written(run_python: Run) -> None:
    run_python(
        PRELUDE
        + r"""
host = np.zeros(64, "i4")
assert run("put", address(host), 3) == ("hipSuccess", "")
assert host[3] == 7
kind = hip.hipDeviceAttribute_t.hipDeviceAttributePageableMemoryAccess
assert ok(hip.hipDeviceGetAttribute(kind, 0)) == 1
""",
        HIPADAPT_CPU_GUARD="0",
    )


def test_kernel_that_does_not_ask_is_told_of_once(
    run_python: Run, tmp_path: Path
) -> None:
    image = tmp_path / "k.hsaco"
    save = f"import pathlib; pathlib.Path({str(image)!r}).write_bytes(bytes(code))"
    build = (
        "import hipadapt\n"
        "code = hipadapt.Program('extern \"C\" __global__ void put(int *x) { *x = 7; }')"
        ".compile().code\n"
    )
    run_python(build + save, HIPADAPT_CPU_GUARD="0")

    done = run_python(
        "import hipadapt\n"
        f"kernel = hipadapt.Module.from_code({str(image)!r}).kernel('put')\n"
        "x = hipadapt.empty(1, 'i4')\n"
        "kernel[1, 1](x); kernel[1, 1](x)\n"
        "assert x.get() == 7\n",
        HIPADAPT_CPU_GUARD="1",
        HIPADAPT_LOG="1",
    )

    assert (
        done.stderr.count("kernel 'put' was compiled without HIPADAPT_CPU_GUARD=1") == 1
    )


def test_program_built_under_the_guard_asks(tmp_path: Path) -> None:
    source = tmp_path / "p.hip"
    source.write_text(r"""
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void put(int *x) { *x = 7; }
int main() {
    static int host;
    put<<<1, 1>>>(&host);
    puts(hipGetErrorName(hipDeviceSynchronize()));
    return host;
}""")
    settings = {**os.environ, "HIPADAPT_CPU_GUARD": "1", "HIPADAPT_LOG": "0"}
    command = [sys.executable, "-m", "hipadapt", "cc", str(source), "-o"]
    program = tmp_path / "p"
    subprocess.run([*command, str(program)], env=settings, cwd=ROOT, check=True)

    done = subprocess.run([str(program)], env=settings, capture_output=True, text=True)

    assert (done.returncode, done.stdout) == (0, "hipErrorIllegalAddress\n")
