# SPDX-License-Identifier: MIT
"""The precompiled header of all kernels: it saves time and changes nothing."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ...kernels.fuzz_c import source_of
from ...kernels.random_c import programs_of
from .rtc_library import COMPILATION, KERNEL, SUCCESS, Compiled, Rtc, zig_path

pytestmark = pytest.mark.usefixtures("work_dir")

HEADER_BYTES = 96  # of an entry: csrc/cpu/compile/cache.h
SHA256_AT = 48

KERNELS = {
    "plain": KERNEL,
    "the header again": "#include <hip/hip_runtime.h>\n" + KERNEL,
    "macros of the header": """
        #ifndef __HIPCC__
        #error no macro
        #endif
        extern "C" __global__ void k(int *x) {
            x[threadIdx.x] = warpSize + __HIP_CPU_WARP_SIZE__ + __LINE__ + __COUNTER__;
        }""",
    "half and textures": """
        #include <hip/hip_fp16.h>
        extern "C" __global__ void k(float *x, __half h, hipTextureObject_t t) {
            x[threadIdx.x] = __half2float(h) + tex2D<float>(t, 1.0f, 2.0f);
        }""",
    "groups": """
        #include <hip/hip_cooperative_groups.h>
        namespace cg = cooperative_groups;
        extern "C" __global__ void k(int *x) {
            auto block = cg::this_thread_block();
            auto tile = cg::tiled_partition<16>(block);
            x[block.thread_rank()] = tile.shfl_down(x[0], 1) + __shfl_xor(x[1], 3);
            block.sync();
            printf("%d %s\\n", x[2], "text");
        }""",
    "templates": """
        struct Both { float a; double b; };
        template <typename T, int N> __device__ T power(T x) {
            T y = 1;
            for (int i = 0; i < N; i++) y *= x;
            return y;
        }
        __constant__ Both both;
        extern "C" __global__ void k(double *x) {
            __shared__ double part[64];
            part[threadIdx.x] = sin(both.b) + power<float, 5>(both.a);
            __syncthreads();
            atomicAdd(x, part[63 - threadIdx.x]);
        }""",
}
OPTIONS: dict[str, Sequence[str]] = {
    "none": (),
    "c++20": ("-std=c++20",),
    "macros": ("-DNUMBER=5", "-Dmax_of=max", "-UHIPCC"),
    "fast": ("-ffast-math", "-O3"),
    "exact": ("-ffp-contract=off", "-O1"),
    "debug": ("-g",),
    "warnings": ("-Wall", "-Wextra"),
}


@pytest.fixture
def preludes(
    cache_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], int]:
    """preludes(): how many were made."""
    count, script = tmp_path / "count", tmp_path / "zig"
    script.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *-emit-pch*) echo x >> "{count}" ;; esac\n'
        f'exec "{zig_path()}" "$@"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("HIPADAPT_COMPILER", str(script))
    return lambda: count.read_text().count("x") if count.exists() else 0


def without(rtc: Rtc, source: str, options: Sequence[str] = ()) -> Compiled:
    """What the front end makes that reads everything itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HIPADAPT_CACHE", "0")
        return rtc.compile(source, options)


CASES = [(name, "none") for name in KERNELS] + [("templates", name) for name in OPTIONS]


@pytest.mark.parametrize(("kernel", "option"), dict.fromkeys(CASES))
def test_code_is_the_same_with_it(
    rtc: Rtc, cache_dir: Path, kernel: str, option: str
) -> None:
    source, options = KERNELS[kernel], OPTIONS[option]
    rtc.compile(source + "\n", options)  # makes it, and does without

    got = rtc.compile(source, options)

    assert got.result == SUCCESS, got.log
    assert len(list(cache_dir.glob("*.prelude"))) == 1
    assert got == without(rtc, source, options)


@pytest.mark.parametrize("seed", range(4))
def test_code_of_random_kernels_is_the_same_with_it(
    rtc: Rtc, cache_dir: Path, seed: int
) -> None:
    source = source_of(programs_of(seed, 6))
    rtc.compile(source + "\n")

    got = rtc.compile(source)

    assert got.result == SUCCESS, got.log
    assert list(cache_dir.glob("*.prelude"))
    assert got == without(rtc, source)


def test_messages_are_the_same_with_it(rtc: Rtc, cache_dir: Path) -> None:
    warned = KERNEL.replace("out[i] = value", "out[i] = value / 0; int unused")
    failed = KERNEL.replace("out[i]", "nothing[i]") + "\nint hipMalloc;\nthreadIdx;"

    assert rtc.compile(KERNEL, ["-Wall"]) == without(rtc, KERNEL, ["-Wall"])
    for source, result in ((warned, SUCCESS), (failed, COMPILATION)):
        got = rtc.compile(source, ["-Wall"])
        assert got.result == result and got.log
        assert got == without(rtc, source, ["-Wall"])


def test_it_is_made_once_for_many_kernels(
    rtc: Rtc, preludes: Callable[[], int]
) -> None:
    for number in range(3):
        assert rtc.compile(KERNEL.replace("fill", f"f{number}")).result == SUCCESS
        assert rtc.compile(KERNEL, [f"-DNUMBER={number}"]).result == SUCCESS
    assert preludes() == 1

    assert rtc.compile(KERNEL, ["-std=c++14"]).result == SUCCESS
    assert preludes() == 2
    assert rtc.compile(KERNEL.replace("float", "half")).result == SUCCESS
    assert preludes() == 3


HALVES = """
extern "C" __global__ void reduce(float *x) {
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) x[threadIdx.x] += x[threadIdx.x + half];
        __syncthreads();
    }
}
"""


def test_a_variable_named_half_needs_no_header(
    rtc: Rtc, preludes: Callable[[], int]
) -> None:
    assert rtc.compile().result == SUCCESS
    assert rtc.compile(HALVES).result == SUCCESS
    assert preludes() == 1


def test_the_type_half_beside_such_a_variable_gets_it(rtc: Rtc) -> None:
    source = HALVES + KERNEL.replace("float", "half")

    got = rtc.compile(source)

    assert got.result == SUCCESS, got.log
    assert got.log == ""


def test_errors_beside_such_a_variable_are_said_once(rtc: Rtc) -> None:
    got = rtc.compile(HALVES + "half number; nothing more;")

    assert got.result == COMPILATION
    assert got.log.count("unknown type name 'nothing'") == 1
    assert "half" not in got.log.replace("half number; nothing more;", "")


def test_without_a_cache_there_is_none(
    rtc: Rtc, preludes: Callable[[], int], no_cache: None
) -> None:
    assert rtc.compile().result == SUCCESS
    assert preludes() == 0


def test_headers_of_the_program_come_first(rtc: Rtc, cache_dir: Path) -> None:
    own = {"hip/hip_runtime.h": "#error the program's own\n"}

    assert "the program's own" in rtc.compile(KERNEL, headers=own).log
    assert not list(cache_dir.glob("*.prelude"))


def forge(path: Path, change: Callable[[bytearray], None]) -> None:
    """Another payload in an entry whose checks all hold."""
    entry = bytearray(path.read_bytes())
    payload = entry[HEADER_BYTES:]
    change(payload)
    digest = hashlib.sha256(payload).digest()
    entry[SHA256_AT : SHA256_AT + len(digest)] = digest
    path.write_bytes(bytes(entry[:HEADER_BYTES]) + payload)


def spoil_text(payload: bytearray) -> None:
    payload[200:] = bytes(len(payload) - 200)


def spoil_middle(payload: bytearray) -> None:
    middle = len(payload) // 2
    payload[middle : middle + 64] = bytes(range(64))


def other_file(payload: bytearray) -> None:
    at = payload.index(b"CPCH")
    payload[at : at + 4] = struct.pack("<I", 5)


@pytest.mark.parametrize("change", [spoil_text, spoil_middle, other_file])
def test_what_clang_cannot_read_is_done_without(
    rtc: Rtc, cache_dir: Path, change: Callable[[bytearray], None]
) -> None:
    assert rtc.compile().result == SUCCESS
    (path,) = cache_dir.glob("*.prelude")
    forge(path, change)
    source = KERNEL.replace("fill", "another")

    assert rtc.compile(source) == without(rtc, source)


def test_damaged_entry_is_made_anew(
    rtc: Rtc, cache_dir: Path, preludes: Callable[[], int]
) -> None:
    assert rtc.compile().result == SUCCESS
    (path,) = cache_dir.glob("*.prelude")
    path.write_bytes(path.read_bytes()[:-1])

    assert rtc.compile(KERNEL.replace("fill", "another")).result == SUCCESS
    assert preludes() == 2
