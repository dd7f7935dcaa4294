# SPDX-License-Identifier: MIT
"""Code objects for AMD GPUs: made here, run on a GPU elsewhere."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from hipadapt.__main__ import main
from hipadapt._cc import code_object

SOURCE = """
__device__ int counter;
__constant__ float factors[4];
extern "C" __global__ void __launch_bounds__(256)
saxpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i] + factors[i & 3];
    atomicAdd(&counter, 1);
}
template <class T> __global__ void reduce(const T *x, T *r) {
    __shared__ T part[256];
    part[threadIdx.x] = x[threadIdx.x];
    int count = __syncthreads_count(x[threadIdx.x] > 0);
    T v = part[255 - threadIdx.x];
    for (int d = warpSize / 2; d > 0; d /= 2) v += __shfl_down(v, d);
    if (threadIdx.x == 0) atomicAdd(r, sqrtf(v) + count + __popcll(__ballot(v > 1)));
}
template __global__ void reduce<float>(const float *, float *);
"""
EM_AMDGPU = 224
ELFOSABI_AMDGPU_HSA = 64
FLAGS = {"gfx90a": 0x3F, "gfx942": 0x4C, "gfx1100": 0x41}  # EF_AMDGPU_MACH_*


def symbols(elf: bytes) -> dict[str, tuple[int, int]]:
    """Name -> type and section of the dynamic symbols."""
    (offset,) = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", elf, offset + i * size) for i in range(count)
    ]
    table = next(s for s in sections if s[1] == 11)  # SHT_DYNSYM
    names = elf[sections[table[6]][4] :]
    found = {}
    for at in range(table[4], table[4] + table[5], 24):
        name, info, _, section = struct.unpack_from("<IBBH", elf, at)
        text = names[name : names.index(b"\0", name)].decode()
        found[text] = (info & 15, section)
    return found


def compiled(tmp_path: Path, arch: str, *words: str, source: str = SOURCE) -> int:
    (tmp_path / "k.hip").write_text(source)
    target = str(tmp_path / "k.hsaco")
    command = ["compile", "--arch", arch, str(tmp_path / "k.hip"), "-o", target]
    return main([*command, *words])


@pytest.mark.parametrize("arch", FLAGS)
def test_code_object_is_for_the_gpu(tmp_path: Path, arch: str) -> None:
    assert compiled(tmp_path, arch) == 0

    elf = (tmp_path / "k.hsaco").read_bytes()
    assert elf[:4] == b"\x7fELF"
    assert elf[7] == ELFOSABI_AMDGPU_HSA
    kind, machine = struct.unpack_from("<HH", elf, 16)
    (flags,) = struct.unpack_from("<I", elf, 48)
    assert (kind, machine, flags & 0xFF) == (3, EM_AMDGPU, FLAGS[arch])
    found = symbols(elf)
    lowered = "_Z6reduceIfEvPKT_PS0_"
    for name in ("saxpy", "saxpy.kd", lowered, f"{lowered}.kd", "counter", "factors"):
        assert found[name][1] != 0, name
    assert b"amdhsa.kernels" in elf
    assert f"amdgcn-amd-amdhsa--{arch}".encode() in elf


FORWARDED = """
extern "C" __global__ void k(unsigned *p, int n, unsigned h) {
    for (int j = 0; j < n; j++) {
        ((unsigned char *)p)[4 * j + 3] = h;
        p[j + 1] = h * 31u;
        h = h * 33u ^ p[j];
    }
}
"""


def test_word_of_a_loop_is_loaded_again_after_a_byte_of_it_was_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, texts = code_object.run, []

    def look(command: list[str]) -> str:
        if "-cc1" in command:
            as_text = [w for w in command if w != "-emit-obj"]
            as_text += ["-emit-llvm", "-o", "-"]
            texts.append(subprocess.check_output(as_text, text=True))
        return step(command)

    monkeypatch.setattr(code_object, "run", look)

    assert compiled(tmp_path, "gfx90a", source=FORWARDED) == 0

    assert "define protected amdgpu_kernel void @k(" in texts[0]
    assert "store_forwarded" not in texts[0]


def test_features_of_the_gpu_are_in_the_flags(tmp_path: Path) -> None:
    assert compiled(tmp_path, "gfx90a:xnack-:sramecc+") == 0

    (flags,) = struct.unpack_from("<I", (tmp_path / "k.hsaco").read_bytes(), 48)
    assert flags & 0x300 == 0x200  # XNACK off
    assert flags & 0xC00 == 0xC00  # SRAMECC on


def test_missing_library_function_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(code_object, "library_folder", lambda: None)
    source = """extern "C" __global__ void wave(float *x) {
        x[0] = sinf(x[0]) + powf(x[1], 2);
        printf("%f", x[0]);
    }"""

    assert compiled(tmp_path, "gfx942", source=source) == 1

    said = capsys.readouterr().err
    assert "__ocml_sin_f32" in said
    assert "__ocml_pow_f32" in said
    assert "printf" in said
    assert "rocm-device-libs" in said
    assert not (tmp_path / "k.hsaco").exists()


GROUPS = """#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void groups(int *x) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    x[threadIdx.x] = tile.any(x[threadIdx.x]) + tile.all(x[threadIdx.x] > 1);
    cg::this_thread_block().sync();
    x[threadIdx.x] += clock64() != wall_clock64();
#ifdef WHOLE
    cg::this_grid().sync();
#endif
}"""


@pytest.mark.parametrize("level", ["-O1", "-O3"])
def test_groups_of_a_block_need_no_library(tmp_path: Path, level: str) -> None:
    (tmp_path / "k.hip").write_text(GROUPS)

    elf = code_object.compile_source(tmp_path / "k.hip", "gfx90a", [level])

    assert "groups.kd" in symbols(elf)


def test_barrier_of_the_grid_is_the_librarys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(code_object, "library_folder", lambda: None)

    assert compiled(tmp_path, "gfx90a", "-DWHOLE", source=GROUPS) == 1

    assert "__ockl_grid_sync (of barriers of the grid)" in capsys.readouterr().err


def test_error_in_the_source_has_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        compiled(tmp_path, "gfx942", source="\n__global__ void k() { nobody(); }") == 1
    )

    assert "k.hip:2:" in capsys.readouterr().err


def test_options_reach_the_compiler(tmp_path: Path) -> None:
    source = 'extern "C" __global__ void NAME(int *x) { *x = blockDim.x + gridDim.y; }'

    assert compiled(tmp_path, "gfx942", "-DNAME=other", source=source) == 0

    assert "other.kd" in symbols((tmp_path / "k.hsaco").read_bytes())


DEBUG = """
#include <hip/hip_runtime.h>
#include <hipadapt/debug_tensor.h>
extern "C" __global__ void k(float *x)
{
    x[threadIdx.x] *= 2;
    ha_debug_tensor("x", 1, x, 4);
    ha_debug_tensor_block("x", 1, x, "bfloat16", 8);
    ha_debug_tensor_launch("x", 1, x);
}
"""


def test_kernels_of_amd_send_no_tensors(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert compiled(tmp_path, "gfx942", source=DEBUG) == 1

    said = capfd.readouterr().err
    assert "hipadapt/debug_tensor.h: kernels of AMD's GPUs can't send tensors" in said
    assert "send them from the host (hipadapt.debug_tensor)" in said
    assert said.count("error:") == 1


def test_tensors_are_left_out_where_the_host_sends_them(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    strict = ["--option=-Wall", "--option=-Wextra", "--option=-Werror"]
    host = "-DHIPADAPT_DEBUG_TENSOR_HOST"
    assert compiled(tmp_path, "gfx942", host, *strict, source=DEBUG) == 0

    assert capfd.readouterr().err == ""
    assert not any(
        "debug" in name for name in symbols((tmp_path / "k.hsaco").read_bytes())
    )


@pytest.mark.parametrize("arch", ["sm_90", "gfx", "gfx1", "gfxzzz"])
def test_what_is_no_amd_gpu_is_refused(
    tmp_path: Path, arch: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compiled(tmp_path, arch) == 2

    assert "can't be made" in capsys.readouterr().err


def test_unknown_amd_gpu_is_the_compilers_complaint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compiled(tmp_path, "gfx799") == 1

    assert "gfx799" in capsys.readouterr().err


def test_cpu_device_refuses_code_for_a_gpu(tmp_path: Path) -> None:
    import hipadapt
    from hipadapt import hip

    if hipadapt.provider().name != "cpu":
        pytest.skip("for the CPU device")
    assert compiled(tmp_path, "gfx942") == 0

    status, _ = hip.hipModuleLoad(str(tmp_path / "k.hsaco"))

    assert status == hip.hipError_t.hipErrorNoBinaryForGpu
