# SPDX-License-Identifier: MIT
"""Valid programs compile, and do in kernels what they do on the host."""

from __future__ import annotations

import ctypes
import platform
import subprocess
from types import ModuleType

import numpy as np
import pytest

from ...kernels.gpu import ok
from .kernel_image import Image
from .rtc_library import SUCCESS, Rtc, zig_path
from .valid_programs import PROGRAMS

COUNT = 50
NAMES = list(PROGRAMS)
HOST_HEAD = """
#define __device__
#define __constant__
#define __shared__
inline void *operator new(unsigned long, void *at) noexcept { return at; }
"""
HEAD = "#include <new>\n"
KERNEL = """
extern "C" __global__ void k{i}(int *out, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = p{i}::f(i);
}}
"""
HOST_LOOP = """
extern "C" void k{i}(int *out, int n) {{
    for (int i = 0; i < n; i++) out[i] = p{i}::f(i);
}}
"""


def together(after_each: str) -> str:
    """All programs in one source, each in a namespace of its own."""
    return "".join(
        f"namespace p{i} {{\n{text}\n}}\n{after_each.format(i=i)}"
        for i, text in enumerate(PROGRAMS.values())
    )


@pytest.fixture(scope="module")
def on_host(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """k0 and so on, compiled for the host by the same compiler."""
    folder = tmp_path_factory.mktemp("host")
    names = ("host.cpp", "host.o", "host.so")
    source, made, library = (str(folder / name) for name in names)
    (folder / names[0]).write_text(HOST_HEAD + together(HOST_LOOP))
    triple = f"{platform.machine()}-unknown-linux-gnu"
    zig = zig_path()
    assert zig is not None
    clang = [zig, "clang", "-cc1", "-triple", triple, "-x", "c++", "-O1", "-w"]
    clang += ["-std=gnu++17", "-mrelocation-model", "pic", "-pic-level", "2"]
    link = [zig, "ld.lld", "-shared", "-o", library, made]
    subprocess.run([*clang, "-emit-obj", "-o", made, source], check=True)
    subprocess.run(link, check=True)
    ctypes.CDLL("libstdc++.so.6", mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(library)


@pytest.fixture(scope="module")
def whole(rtc: Rtc, tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The kernels k0 and so on."""
    return Image(rtc, tmp_path_factory.mktemp("whole"), HEAD + together(KERNEL))


@pytest.fixture(scope="module")
def linked(
    cpu: ModuleType, rtc: Rtc, tmp_path_factory: pytest.TempPathFactory
) -> Image:
    """The same by way of bitcode and the linker."""
    from hipadapt import hiprtc

    compiled = rtc.compile(HEAD + together(KERNEL), ["-fgpu-rdc"])
    assert compiled.result == SUCCESS, compiled.log
    state = ok(hiprtc.hiprtcLinkCreate(0, None, None))
    kind = hiprtc.hiprtcJITInputType.HIPRTC_JIT_INPUT_LLVM_BITCODE
    part = bytearray(compiled.code)
    ok(hiprtc.hiprtcLinkAddData(state, kind, part, len(part), b"part", 0, [], []))
    address, size = ok(hiprtc.hiprtcLinkComplete(state))
    code = ctypes.string_at(int(address), size)
    ok(hiprtc.hiprtcLinkDestroy(state))
    return Image.of_code(code, tmp_path_factory.mktemp("linked"))


@pytest.mark.parametrize("way", ["whole", "linked"])
@pytest.mark.parametrize("name", NAMES)
def test_valid_program_does_what_it_does_on_the_host(
    request: pytest.FixtureRequest, on_host: ctypes.CDLL, name: str, way: str
) -> None:
    image: Image = request.getfixturevalue(way)
    symbol = f"k{NAMES.index(name)}"
    kernel = image.kernels[symbol]
    want = np.zeros(COUNT, np.int32)
    getattr(on_host, symbol)(ctypes.c_void_p(want.ctypes.data), COUNT)

    for run in (kernel.run_reference, kernel.run_fast if kernel.has_fast else None):
        if run is not None:
            got = np.zeros(COUNT, np.int32)
            run((2, 1, 1), (32, 1, 1), [got, np.int32(COUNT)])
            assert got.tolist() == want.tolist()
