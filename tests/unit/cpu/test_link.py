# SPDX-License-Identifier: MIT
"""Linking relocatable device code: hiprtcLink* and hipLink* of the CPU device."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import hipadapt
from hipadapt import hip, hiprtc

from .test_contraction import host_fuses

BITCODE = hip.hipJitInputType.hipJitInputLLVMBitcode
BUNDLE = hip.hipJitInputType.hipJitInputLLVMBundledBitcode
OPTION = hip.hipJitOption
GOOD = 0

KERNEL = """
extern __device__ int calls;
__device__ float scale(float x);
extern "C" __global__ void apply(float *x) {
    x[threadIdx.x] = scale(x[threadIdx.x]);
    atomicAdd(&calls, 1);
}
"""
FUNCTION = """
__device__ int calls = 100;
static __device__ float twice(float x) { return 2 * x; }
__device__ float scale(float x) { __syncthreads(); return twice(x) + 1; }
"""
IR = """
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@calls = addrspace(1) global i32 100
define float @_Z5scalef(float %0) {
  %2 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %3 = sitofp i32 %2 to float
  tail call void @llvm.nvvm.barrier0()
  %4 = fmul float %0, 2.0
  %5 = fadd float %4, %3
  ret float %5
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
"""
ROUNDING_IR = """
target triple = "nvptx64-nvidia-cuda"
declare void @llvm.set.rounding(i32)
define void @round_up() {
  call void @llvm.set.rounding(i32 2)
  ret void
}
"""
AMD_IR = """
target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @k() { ret void }
"""


@pytest.fixture(autouse=True)
def device(cpu: ModuleType) -> None:
    """Everything here is about the CPU device."""


def good(result: tuple[Any, ...]) -> Any:
    assert result[0] == GOOD, (result, hipadapt.error_text())
    return result[1] if len(result) == 2 else result[1:]


def bitcode(source: str, *options: bytes) -> bytearray:
    """The source as relocatable bitcode."""
    program = good(hiprtc.hiprtcCreateProgram(source.encode(), b"part.hip", 0, [], []))
    words = [b"-fgpu-rdc", *options]
    good(hiprtc.hiprtcCompileProgram(program, len(words), words))
    made = bytearray(good(hiprtc.hiprtcGetBitcodeSize(program)))
    good(hiprtc.hiprtcGetBitcode(program, made))
    good(hiprtc.hiprtcDestroyProgram(program.createRef()))
    return made


@pytest.fixture
def state() -> Iterator[Any]:
    made = good(hiprtc.hiprtcLinkCreate(0, None, None))
    yield made
    hiprtc.hiprtcLinkDestroy(made)


def add(state: Any, data: bytes | bytearray, kind: Any = BITCODE) -> tuple[Any, ...]:
    return hiprtc.hiprtcLinkAddData(state, kind, data, len(data), b"part", 0, [], [])


def run(code: Any) -> tuple[np.ndarray, int]:
    """What the kernel makes of 0..31, and how often it says it was called."""
    module = good(hip.hipModuleLoadData(code))
    kernel = good(hip.hipModuleGetFunction(module, b"apply"))
    values = np.arange(32, dtype=np.float32)
    memory = good(hip.hipMalloc(values.nbytes))
    good(hip.hipMemcpy(memory, values, values.nbytes, 1))
    good(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, (memory,), None))
    good(hip.hipMemcpy(values, memory, values.nbytes, 2))
    address, size = good(hip.hipModuleGetGlobal(module, b"calls"))
    calls = ctypes.c_int()
    good(hip.hipMemcpy(calls, address, size, 2))
    good(hip.hipFree(memory))
    good(hip.hipModuleUnload(module))
    return values, calls.value


def test_function_and_variable_of_another_module_are_linked(state: Any) -> None:
    good(add(state, bitcode(KERNEL)))
    good(add(state, bitcode(FUNCTION)))

    code, size = good(hiprtc.hiprtcLinkComplete(state))
    values, calls = run(code)

    assert len(bytes(code)) == size > 1000
    assert values.tolist() == [2.0 * i + 1 for i in range(32)]
    assert calls == 132


def test_text_ir_is_linked_with_compiled_code(state: Any) -> None:
    good(add(state, IR.encode()))
    good(add(state, bitcode(KERNEL)))

    code, _ = good(hiprtc.hiprtcLinkComplete(state))

    assert run(code)[0].tolist() == [3.0 * i for i in range(32)]


@pytest.mark.parametrize("wait", [b"__syncthreads();", b""])
def test_rounding_that_one_lane_sets_stays_its_own(state: Any, wait: bytes) -> None:
    kernel = """
        extern "C" __device__ void round_up();
        __device__ int calls;
        extern "C" __global__ void apply(float *x) {
            volatile float one = -1, three = 3;
            if (threadIdx.x == 7) round_up();
            WAIT
            x[threadIdx.x] = one / three;
        }
    """
    good(add(state, ROUNDING_IR.encode()))
    good(add(state, bitcode(kernel, b"-DWAIT=" + wait)))

    code, _ = good(hiprtc.hiprtcLinkComplete(state))
    values = run(code)[0]

    nearest = np.float32(-1 / 3)
    up = np.nextafter(nearest, np.float32(0))
    assert values.tolist() == [up if lane == 7 else nearest for lane in range(32)]


def test_hip_functions_link_as_well(tmp_path: Path) -> None:
    path = tmp_path / "function.bc"
    path.write_bytes(bitcode(FUNCTION))
    part = bitcode(KERNEL)
    state = good(hip.hipLinkCreate(0, [], []))
    good(hip.hipLinkAddData(state, BITCODE, part, len(part), b"kernel", 0, [], []))
    good(hip.hipLinkAddFile(state, BITCODE, str(path), 0, [], []))

    code, _ = good(hip.hipLinkComplete(state))

    assert run(code)[1] == 132
    good(hip.hipLinkDestroy(state))
    assert hip.hipLinkDestroy(state)[0] == hip.hipError_t.hipErrorInvalidHandle
    missing = hip.hipLinkAddFile(0, BITCODE, str(path), 0, [], [])
    assert missing[0] == hip.hipError_t.hipErrorInvalidHandle


def test_more_modules_than_a_process_takes_at_once_are_linked(state: Any) -> None:
    calls = " + ".join(f"part{i}(x)" for i in range(20))
    declared = "\n".join(f"__device__ float part{i}(float x);" for i in range(20))
    body = f"__device__ float scale(float x) {{ return {calls}; }}"
    good(add(state, bitcode(KERNEL)))
    good(add(state, bitcode(f"__device__ int calls;\n{declared}\n{body}")))
    text = IR.split("@calls")[0]
    for i in range(20):
        function = f"define float @_Z{len(f'part{i}')}part{i}f(float %0) {{\n"
        good(add(state, (text + function + "  ret float %0\n}\n").encode()))

    code, _ = good(hiprtc.hiprtcLinkComplete(state))

    assert run(code)[0].tolist() == [20.0 * i for i in range(32)]


def bundle(*entries: tuple[bytes, bytes]) -> bytes:
    """An offload bundle as clang lays it out."""
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries))
    at = len(head) + sum(24 + len(name) for name, _ in entries)
    body = b""
    for name, data in entries:
        offset = at + len(body)
        head += struct.pack("<QQQ", offset, len(data), len(name)) + name
        body += data
    return head + body


def test_bundle_gives_the_part_of_this_device(state: Any) -> None:
    whole = bundle(
        (b"hip-amdgcn-amd-amdhsa--gfx90a", AMD_IR.encode()),
        (b"hip-nvptx64-nvidia-cuda-", bytes(bitcode(FUNCTION))),
    )
    good(add(state, whole, BUNDLE))
    good(add(state, bitcode(KERNEL)))

    code, _ = good(hiprtc.hiprtcLinkComplete(state))

    assert run(code)[1] == 132


def test_bundle_without_this_device_names_what_it_has(state: Any) -> None:
    other = bundle((b"hip-amdgcn-amd-amdhsa--gfx90a", AMD_IR.encode()))

    refused = add(state, other, BUNDLE)

    assert refused[0] == hiprtc.hiprtcResult.HIPRTC_ERROR_PROGRAM_CREATION_FAILURE
    assert "gfx90a" in hipadapt.error_text()


def test_bundle_that_is_cut_is_refused(state: Any) -> None:
    whole = bundle((b"hip-nvptx64-nvidia-cuda-", IR.encode()))

    for size in range(1, len(whole) - 1, 7):
        assert add(state, whole[:size], BUNDLE)[0] != GOOD


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (AMD_IR.encode(), "amdgcn-amd-amdhsa"),
        (b"\x7fELF\x02" + bytes(60), "code"),
        (b"int main() {}", "target triple"),
    ],
    ids=["amd", "elf", "source"],
)
def test_input_that_is_no_ir_of_this_device_is_refused(
    state: Any, data: bytes, text: str
) -> None:
    refused = add(state, data)

    assert refused[0] == hiprtc.hiprtcResult.HIPRTC_ERROR_PROGRAM_CREATION_FAILURE
    assert text in hipadapt.error_text()


@pytest.mark.parametrize(
    "kind",
    [
        "hipJitInputCubin",
        "hipJitInputPtx",
        "hipJitInputObject",
        "hipJitInputLLVMArchivesOfBundledBitcode",
        "hipJitInputSpirv",
    ],
)
def test_other_types_of_input_are_refused(state: Any, kind: str) -> None:
    refused = add(state, IR.encode(), getattr(hip.hipJitInputType, kind))

    assert refused[0] == hiprtc.hiprtcResult.HIPRTC_ERROR_INVALID_INPUT


def test_undefined_symbol_fails_and_can_be_mended(state: Any) -> None:
    good(add(state, bitcode(KERNEL)))

    failed = hiprtc.hiprtcLinkComplete(state)
    text = hipadapt.error_text()
    good(add(state, bitcode(FUNCTION)))
    mended = hiprtc.hiprtcLinkComplete(state)

    assert failed == (hiprtc.hiprtcResult.HIPRTC_ERROR_LINKING, None, 0)
    assert "calls" in text or "scale" in text
    assert mended[0] == GOOD


def test_symbol_that_is_defined_twice_is_named(state: Any) -> None:
    good(add(state, bitcode(FUNCTION)))
    good(add(state, bitcode(FUNCTION + "\n")))

    failed = hiprtc.hiprtcLinkComplete(state)

    assert failed[0] == hiprtc.hiprtcResult.HIPRTC_ERROR_LINKING
    assert "multiply defined" in hipadapt.error_text()


def test_damaged_bitcode_fails(state: Any) -> None:
    good(add(state, bitcode(FUNCTION)[:1000]))

    assert hiprtc.hiprtcLinkComplete(state)[0] != GOOD
    assert "part" in hipadapt.error_text()


def test_states_that_are_none_are_refused(state: Any) -> None:
    wrong = hiprtc.hiprtcResult.HIPRTC_ERROR_INVALID_INPUT
    assert hiprtc.hiprtcLinkComplete(state)[0] == wrong  # nothing was added
    good(add(state, IR.encode()))
    assert add(state, b"")[0] == wrong
    good(hiprtc.hiprtcLinkDestroy(state))

    for handle in (state, 0, 0x1234, 2**60):
        assert add(handle, IR.encode())[0] == wrong
        assert hiprtc.hiprtcLinkComplete(handle)[0] == wrong
        assert hiprtc.hiprtcLinkDestroy(handle)[0] == wrong


def test_result_stays_after_its_state(state: Any) -> None:
    good(add(state, bitcode(KERNEL)))
    good(add(state, bitcode(FUNCTION)))
    code, size = good(hiprtc.hiprtcLinkComplete(state))
    again = good(hiprtc.hiprtcLinkComplete(state))
    late = add(state, IR.encode())

    good(hiprtc.hiprtcLinkDestroy(state))

    assert again[1] == size
    assert late[0] == hiprtc.hiprtcResult.HIPRTC_ERROR_INVALID_INPUT
    assert run(code)[1] == 132


def test_log_buffers_get_what_went_wrong() -> None:
    room = bytearray(200)
    names = [OPTION.hipJitOptionErrorLogBuffer]
    names.append(OPTION.hipJitOptionErrorLogBufferSizeBytes)
    state = good(hiprtc.hiprtcLinkCreate(2, names, [room, len(room)]))
    good(add(state, bitcode(KERNEL)))

    assert hiprtc.hiprtcLinkComplete(state)[0] != GOOD

    assert b"declared but not defined" in room
    good(hiprtc.hiprtcLinkDestroy(state))


def test_options_for_the_code_generator_of_a_gpu_change_nothing() -> None:
    words = [b"-mllvm", b"-inline-threshold=1", b"-O3"]
    names = [OPTION.hipJitOptionIRtoISAOptExt, OPTION.hipJitOptionIRtoISAOptCountExt]
    texts = (ctypes.c_char_p * len(words))(*words)
    state = good(
        hiprtc.hiprtcLinkCreate(2, names, [ctypes.addressof(texts), len(words)])
    )
    good(add(state, bitcode(KERNEL)))
    good(add(state, bitcode(FUNCTION)))

    code, _ = good(hiprtc.hiprtcLinkComplete(state))

    assert run(code)[1] == 132
    good(hiprtc.hiprtcLinkDestroy(state))


def test_unknown_option_is_refused() -> None:
    bad = hiprtc.hiprtcLinkCreate(1, [OPTION.hipJitOptionOptimizationLevel], [9])

    assert bad[0] == hiprtc.hiprtcResult.HIPRTC_ERROR_INVALID_OPTION
    assert "level" in hipadapt.error_text()


PARTS = {
    "caller": """
        extern __device__ int calls;
        __device__ float less(float x);
        extern "C" __global__ void apply(float *x) {
            float y = 1 + x[threadIdx.x] * 0x1p-23f;
            if (threadIdx.x != 3) return;
            x[0] = y * 1.5f - 1.5f;
            x[1] = less(y);
        }""",
    "callee": """
        __device__ int calls;
        __device__ float less(float x) { return x * 1.25f - 1.25f; }""",
}


@pytest.mark.parametrize("exact", PARTS)
def test_each_part_is_contracted_as_its_own_options_say(state: Any, exact: str) -> None:
    """f * (1 + 3 ulp) - f is 3 * f ulp where it is fused."""
    for name, source in PARTS.items():
        options = [b"-ffp-contract=off"] if name == exact else []
        good(add(state, bitcode(source, *options)))

    code, _ = good(hiprtc.hiprtcLinkComplete(state))
    values, _ = run(code)

    caller, callee = values[:2] * 2.0**23
    assert caller == (4.5 if host_fuses() and exact != "caller" else 4)
    assert callee == (3.75 if host_fuses() and exact != "callee" else 4)


def test_names_of_relocatable_code_are_lowered() -> None:
    source = b"template <class T> __global__ void t(T *p) { *p = 1; }"
    program = good(hiprtc.hiprtcCreateProgram(source, b"t.hip", 0, [], []))
    good(hiprtc.hiprtcAddNameExpression(program, b"t<int>"))
    good(hiprtc.hiprtcCompileProgram(program, 1, [b"-fgpu-rdc"]))

    name = good(hiprtc.hiprtcGetLoweredName(program, b"t<int>"))

    assert bytes(str(name), "ascii") == b"_Z1tIiEvPT_"
    good(hiprtc.hiprtcDestroyProgram(program.createRef()))
