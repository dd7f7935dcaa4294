# SPDX-License-Identifier: MIT
"""Wrong input to compile, load and launch gets an error that says what is wrong.

After each refusal the device works as before: `still_works` launches a good kernel.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

SOURCE = b"""
extern "C" __global__ void fill(int *out, int value, short bias) {
    out[threadIdx.x] = value + bias;
}
extern "C" __global__ void bounded(int *out) __attribute__((launch_bounds(64)));
extern "C" __global__ void bounded(int *out) { out[threadIdx.x] = 1; }
"""


@pytest.fixture(scope="module")
def hiprtc(cpu: ModuleType) -> ModuleType:
    from hipadapt import hiprtc

    return hiprtc


def ok(result: tuple[Any, ...]) -> Any:
    status, *values = result
    assert int(status) == 0, status
    return values[0] if len(values) == 1 else tuple(values)


def compile_source(
    hiprtc: ModuleType, source: bytes, *options: bytes
) -> tuple[Any, str, bytes]:
    """Status of the compilation, the log, and the code if there is any."""
    program = ok(hiprtc.hiprtcCreateProgram(source, b"user.hip", 0, None, None))
    (status,) = hiprtc.hiprtcCompileProgram(program, len(options), list(options))
    log = bytearray(ok(hiprtc.hiprtcGetProgramLogSize(program)))
    ok(hiprtc.hiprtcGetProgramLog(program, log))
    code = b""
    if int(status) == 0:
        code = bytearray(ok(hiprtc.hiprtcGetCodeSize(program)))
        ok(hiprtc.hiprtcGetCode(program, code))
    ok(hiprtc.hiprtcDestroyProgram(program.createRef()))
    return status, log.rstrip(b"\0").decode(errors="replace"), bytes(code)


@pytest.fixture(scope="module")
def code(hiprtc: ModuleType) -> bytes:
    status, log, code = compile_source(hiprtc, SOURCE)
    assert int(status) == 0, log
    return code


@pytest.fixture
def module(cpu: ModuleType, code: bytes) -> Iterator[Any]:
    module = ok(cpu.hipModuleLoadData(code))
    yield module
    ok(cpu.hipModuleUnload(module))


@pytest.fixture
def memory(cpu: ModuleType) -> Iterator[Any]:
    memory = ok(cpu.hipMalloc(256))
    yield memory
    ok(cpu.hipFree(memory))


@pytest.fixture
def still_works(cpu: ModuleType, module: Any, memory: Any) -> Callable[[], None]:
    fill = ok(cpu.hipModuleGetFunction(module, b"fill"))

    def check() -> None:
        args = (memory, np.int32(40), np.int16(2))
        ok(cpu.hipModuleLaunchKernel(fill, 1, 1, 1, 64, 1, 1, 0, None, None, args))
        out = np.zeros(64, np.int32)
        kind = cpu.hipMemcpyKind.hipMemcpyDeviceToHost
        ok(cpu.hipMemcpy(out, memory, out.nbytes, kind))
        assert (out == 42).all()

    return check


def text_of_last_error() -> str:
    import hipadapt

    return hipadapt.error_text()


def launch(
    cpu: ModuleType,
    function: Any,
    args: Any,
    grid: tuple[int, int, int] = (1, 1, 1),
    block: tuple[int, int, int] = (64, 1, 1),
    shared: int = 0,
    stream: Any = None,
) -> Any:
    (status,) = cpu.hipModuleLaunchKernel(
        function, *grid, *block, shared, stream, None, args
    )
    return status


@pytest.mark.parametrize(
    ("drop", "why"),
    [
        (lambda args: args[:2], "one too few"),
        (lambda args: args[:1], "two too few"),
        (lambda args: (), "none"),
        (lambda args: (*args, np.int64(1)), "one too many"),
        (lambda args: (args[0], np.int16(1), np.int16(2)), "too small"),
        (lambda args: (args[0], np.int64(1), np.int64(2)), "too large"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_launch_with_wrong_arguments_is_refused(
    cpu: ModuleType,
    module: Any,
    memory: Any,
    still_works: Callable[[], None],
    drop: Callable[[tuple[Any, ...]], tuple[Any, ...]],
    why: str,
) -> None:
    fill = ok(cpu.hipModuleGetFunction(module, b"fill"))
    args = drop((memory, np.int32(1), np.int16(2)))

    status = launch(cpu, fill, args)

    assert status == cpu.hipError_t.hipErrorInvalidValue
    assert "fill" in text_of_last_error()
    still_works()


@pytest.mark.parametrize(
    ("grid", "block", "shared"),
    [
        ((1, 1, 1), (1025, 1, 1), 0),
        ((1, 1, 1), (32, 33, 1), 0),
        ((1, 1, 1), (1, 1, 2000), 0),
        ((1, 1, 1), (0, 1, 1), 0),
        ((0, 1, 1), (64, 1, 1), 0),
        ((1, 0, 1), (64, 1, 1), 0),
        ((2**32 - 1, 1, 1), (64, 1, 1), 0),
        ((1, 2**31, 1), (64, 1, 1), 0),
        ((1, 1, 1), (64, 1, 1), 2**31),
        ((1, 1, 1), (64, 1, 1), 2**20),
    ],
)
def test_launch_of_impossible_size_is_refused(
    cpu: ModuleType,
    module: Any,
    memory: Any,
    still_works: Callable[[], None],
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    shared: int,
) -> None:
    fill = ok(cpu.hipModuleGetFunction(module, b"fill"))
    args = (memory, np.int32(1), np.int16(2))

    status = launch(cpu, fill, args, grid, block, shared)

    assert status.name in (
        "hipErrorInvalidValue",
        "hipErrorInvalidConfiguration",
        "hipErrorOutOfResources",
    )
    assert text_of_last_error()
    still_works()


def test_launch_above_the_kernels_bounds_is_refused(
    cpu: ModuleType, module: Any, memory: Any, still_works: Callable[[], None]
) -> None:
    bounded = ok(cpu.hipModuleGetFunction(module, b"bounded"))

    status = launch(cpu, bounded, (memory,), block=(65, 1, 1))

    assert status != cpu.hipError_t.hipSuccess
    still_works()


@pytest.mark.parametrize("size", [-1, 2**32, 2**64, 1.5, "64", None])
def test_launch_with_a_size_that_is_no_unsigned_raises(
    cpu: ModuleType,
    module: Any,
    memory: Any,
    still_works: Callable[[], None],
    size: Any,
) -> None:
    fill = ok(cpu.hipModuleGetFunction(module, b"fill"))
    args = (memory, np.int32(1), np.int16(2))

    with pytest.raises(
        (TypeError, ValueError, OverflowError), match=r"hipModuleLaunchKernel.*gridDimX"
    ):
        cpu.hipModuleLaunchKernel(fill, size, 1, 1, 64, 1, 1, 0, None, None, args)

    still_works()


@pytest.mark.parametrize("entry", [1.5, "text", object(), [1, 2]])
def test_launch_with_an_entry_of_no_known_size_raises(
    cpu: ModuleType,
    module: Any,
    memory: Any,
    still_works: Callable[[], None],
    entry: Any,
) -> None:
    fill = ok(cpu.hipModuleGetFunction(module, b"fill"))

    with pytest.raises(TypeError, match="extra"):
        launch(cpu, fill, (memory, entry, np.int16(2)))

    still_works()


@pytest.mark.parametrize("name", [b"missing", b"", b"fill2", b"Fill"])
def test_kernel_that_is_not_there_is_not_found(
    cpu: ModuleType, module: Any, still_works: Callable[[], None], name: bytes
) -> None:
    status, function = cpu.hipModuleGetFunction(module, name)

    assert status.name in ("hipErrorNotFound", "hipErrorInvalidValue")
    assert function is None
    still_works()


def test_variable_that_is_not_there_is_not_found(
    cpu: ModuleType, module: Any, still_works: Callable[[], None]
) -> None:
    status, *_ = cpu.hipModuleGetGlobal(module, b"missing")

    assert status == cpu.hipError_t.hipErrorNotFound
    still_works()


def test_compile_error_names_file_line_and_what_is_wrong(
    hiprtc: ModuleType, still_works: Callable[[], None]
) -> None:
    source = b"__global__ void f(int *p)\n{\n    p[0] = missing;\n}\n"

    status, log, _ = compile_source(hiprtc, source)

    assert status == hiprtc.hiprtcResult.HIPRTC_ERROR_COMPILATION
    assert "user.hip:3:12: error:" in log
    assert "missing" in log
    still_works()


@pytest.mark.parametrize(
    "source",
    [
        b"__global__ void f() {",
        b"#error stop here\n",
        b'#include "absent.h"\n',
        b"\xff\xfe nonsense",
        b"__global__ int f() { return 1; }",
        b"template <int N> struct S { S<N + 1> s; }; S<0> s;",
        b"class {",
    ],
)
def test_broken_source_ends_as_compile_error(
    hiprtc: ModuleType, still_works: Callable[[], None], source: bytes
) -> None:
    status, log, _ = compile_source(hiprtc, source)

    assert status == hiprtc.hiprtcResult.HIPRTC_ERROR_COMPILATION
    assert "error" in log
    still_works()


@pytest.mark.parametrize(
    "options",
    [
        (b"@responses",),
        (b"-o", b"marker"),
        (b"-omarker",),
        (b"-MD",),
        (b"-MF", b"marker"),
        (b"-Xclang", b"-dump-tokens"),
        (b"-fplugin=marker.so",),
        (b"-load", b"marker.so"),
        (b"-ftime-trace=marker",),
        (b"-save-temps",),
        (b"-B.",),
        (b"--sysroot=/",),
        (b"--config=marker",),
        (b"-wrapper", b"touch,marker"),
        (b"-include", b"/etc/hostname"),
        (b"other.hip",),
        (b"-D",),
        (b"-serialize-diagnostics", b"marker"),
        (b"-fprofile-generate=marker",),
        (b"-D\xff\xfe=1\n#error",),
    ],
    ids=lambda options: b" ".join(options).decode(errors="replace"),
)
def test_option_that_is_not_on_the_list_is_refused(
    hiprtc: ModuleType,
    still_works: Callable[[], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[bytes, ...],
) -> None:
    (tmp_path / "responses").write_text("-o marker")
    monkeypatch.chdir(tmp_path)
    before = sorted(os.listdir(tmp_path))

    status, log, _ = compile_source(hiprtc, SOURCE, *options)

    assert status == hiprtc.hiprtcResult.HIPRTC_ERROR_INVALID_OPTION
    assert log
    assert sorted(os.listdir(tmp_path)) == before
    still_works()


@pytest.mark.parametrize(
    "options",
    [
        (b"-O3",),
        (b"-std=c++20",),
        (b"-DNAME=1", b"-UOTHER"),
        (b"--offload-arch=%s",),
        (b"--gpu-architecture=%s",),
        (b"-ffast-math",),
        (b"-Wall", b"-Wno-unused"),
        (b"-g",),
    ],
    ids=lambda options: b" ".join(options).decode(),
)
def test_usual_options_are_taken(
    cpu: ModuleType, hiprtc: ModuleType, options: tuple[bytes, ...]
) -> None:
    # Programs ask the device for its architecture and pass that on.
    arch = str(ok(cpu.hipGetDeviceProperties(0)).gcnArchName).encode()
    options = tuple(o % arch if b"%s" in o else o for o in options)

    status, log, _ = compile_source(hiprtc, SOURCE, *options)

    assert int(status) == 0, log


def test_name_expression_that_was_not_added_is_refused(hiprtc: ModuleType) -> None:
    program = ok(hiprtc.hiprtcCreateProgram(SOURCE, b"user.hip", 0, None, None))
    ok(hiprtc.hiprtcCompileProgram(program, 0, None))

    status, name = hiprtc.hiprtcGetLoweredName(program, b"other<int>")

    assert int(status) != 0
    assert not name
    ok(hiprtc.hiprtcDestroyProgram(program.createRef()))


def test_code_before_compilation_is_refused(hiprtc: ModuleType) -> None:
    program = ok(hiprtc.hiprtcCreateProgram(SOURCE, b"user.hip", 0, None, None))

    status, size = hiprtc.hiprtcGetCodeSize(program)

    assert int(status) != 0
    assert size == 0
    ok(hiprtc.hiprtcDestroyProgram(program.createRef()))


def test_program_used_after_destroy_is_refused(hiprtc: ModuleType) -> None:
    program = ok(hiprtc.hiprtcCreateProgram(SOURCE, b"user.hip", 0, None, None))
    ok(hiprtc.hiprtcDestroyProgram(program.createRef()))

    (status,) = hiprtc.hiprtcCompileProgram(program, 0, None)

    assert status == hiprtc.hiprtcResult.HIPRTC_ERROR_INVALID_PROGRAM


def changed(code: bytes, offset: int) -> bytes:
    copy = bytearray(code)
    copy[offset] ^= 0x55
    return bytes(copy)


@pytest.mark.parametrize(
    ("damage", "status"),
    [
        (lambda code: b"", "hipErrorInvalidImage"),
        (lambda code: b"x" * 64, "hipErrorInvalidImage"),
        (lambda code: b"\0" * 4096, "hipErrorInvalidImage"),
        (lambda code: changed(code, len(code) // 2), "hipErrorInvalidImage"),
        (lambda code: changed(code, 40), "hipErrorInvalidImage"),
        (lambda code: code[:18] + b"\xe0\0" + code[20:], "hipErrorNoBinaryForGpu"),
        (
            lambda code: b"__CLANG_OFFLOAD_BUNDLE__" + bytes(100),
            "hipErrorNoBinaryForGpu",
        ),
        (lambda code: b"CCOB" + bytes(100), "hipErrorNoBinaryForGpu"),
    ],
    ids=[
        *("empty", "letters", "zeros", "changed byte", "changed header"),
        *("other machine", "bundle", "compressed bundle"),
    ],
)
def test_module_from_broken_data_is_refused(
    cpu: ModuleType,
    code: bytes,
    still_works: Callable[[], None],
    damage: Callable[[bytes], bytes],
    status: str,
) -> None:
    # Followed by zeros: the call is not told where the data ends.
    answer, module = cpu.hipModuleLoadData(damage(code) + bytes(4096))

    assert answer.name == status
    assert module is None
    still_works()


def test_module_from_a_file_that_is_not_there(
    cpu: ModuleType, tmp_path: Path, still_works: Callable[[], None]
) -> None:
    status, module = cpu.hipModuleLoad(str(tmp_path / "absent.co").encode())

    assert status.name in ("hipErrorFileNotFound", "hipErrorInvalidValue")
    assert module is None
    still_works()


def test_handles_that_were_destroyed_are_refused(
    cpu: ModuleType, code: bytes, memory: Any, still_works: Callable[[], None]
) -> None:
    module = ok(cpu.hipModuleLoadData(code))
    function = ok(cpu.hipModuleGetFunction(module, b"fill"))
    stream = ok(cpu.hipStreamCreate())
    event = ok(cpu.hipEventCreate())
    other = ok(cpu.hipMalloc(64))
    address = int(other)
    ok(cpu.hipModuleUnload(module))
    ok(cpu.hipStreamDestroy(stream))
    ok(cpu.hipEventDestroy(event))
    ok(cpu.hipFree(other))
    args = (memory, np.int32(1), np.int16(2))

    answers = {
        "hipModuleUnload": cpu.hipModuleUnload(module),
        "hipModuleGetFunction": cpu.hipModuleGetFunction(module, b"fill"),
        "launch": (launch(cpu, function, args),),
        "launch on stream": (launch(cpu, function, args, stream=stream),),
        "hipStreamDestroy": cpu.hipStreamDestroy(stream),
        "hipStreamSynchronize": cpu.hipStreamSynchronize(stream),
        "hipEventDestroy": cpu.hipEventDestroy(event),
        "hipEventRecord": cpu.hipEventRecord(event, None),
        "hipFree": cpu.hipFree(address),
    }

    refused = {"hipErrorInvalidValue"}
    refused |= {"hipErrorInvalidHandle", "hipErrorInvalidResourceHandle"}
    refused |= {"hipErrorContextIsDestroyed"}
    for call, answer in answers.items():
        assert answer[0].name in refused, call
    still_works()


@pytest.mark.parametrize("address", [1, 0x1234, 0x7FFF_FFFF_F000, 2**63])
def test_handles_that_are_made_up_are_refused(
    cpu: ModuleType, still_works: Callable[[], None], address: int
) -> None:
    answers = {
        "hipModuleUnload": cpu.hipModuleUnload(address),
        "hipModuleGetFunction": cpu.hipModuleGetFunction(address, b"fill"),
        "launch": (launch(cpu, address, ()),),
        "hipStreamSynchronize": cpu.hipStreamSynchronize(address + 16),
        "hipEventSynchronize": cpu.hipEventSynchronize(address),
        "hipFree": cpu.hipFree(address),
    }

    for call, answer in answers.items():
        assert answer[0] != cpu.hipError_t.hipSuccess, call
    still_works()


def test_copy_past_the_end_of_device_memory_is_refused(
    cpu: ModuleType, memory: Any, still_works: Callable[[], None]
) -> None:
    host = np.zeros(1 << 20, np.uint8)
    kind = cpu.hipMemcpyKind

    for answer in (
        cpu.hipMemcpy(int(memory), host, host.nbytes, kind.hipMemcpyHostToDevice),
        cpu.hipMemcpy(host, int(memory), host.nbytes, kind.hipMemcpyDeviceToHost),
        cpu.hipMemset(int(memory), 0, 1 << 20),
    ):
        assert answer == (cpu.hipError_t.hipErrorInvalidValue,)
    still_works()


@pytest.mark.parametrize("size", [64, 1 << 24])
def test_copy_with_device_memory_that_was_freed_is_refused(
    cpu: ModuleType, memory: Any, still_works: Callable[[], None], size: int
) -> None:
    freed = int(cpu.hipMalloc(size)[1])
    cpu.hipFree(freed)
    host = np.zeros(16, np.uint8)
    kind = cpu.hipMemcpyKind

    for answer in (
        cpu.hipMemcpy(freed, host, 16, kind.hipMemcpyHostToDevice),
        cpu.hipMemcpy(host, freed, 16, kind.hipMemcpyDeviceToHost),
        cpu.hipMemcpy(memory, freed, 16, kind.hipMemcpyDeviceToDevice),
        cpu.hipMemcpy(freed, memory, 16, kind.hipMemcpyDeviceToDevice),
        cpu.hipMemcpy2D(freed, 4, host, 4, 4, 4, kind.hipMemcpyHostToDevice),
        cpu.hipMemcpyAsync(host, freed, 16, kind.hipMemcpyDeviceToHost, None),
    ):
        assert answer == (cpu.hipError_t.hipErrorInvalidValue,)
    still_works()


def test_copy_larger_than_the_host_buffer_raises(
    cpu: ModuleType, memory: Any, still_works: Callable[[], None]
) -> None:
    host = np.zeros(8, np.uint8)
    kind = cpu.hipMemcpyKind

    with pytest.raises(ValueError, match=r"hipMemcpy.*src"):
        cpu.hipMemcpy(memory, host, 64, kind.hipMemcpyHostToDevice)
    with pytest.raises(ValueError, match=r"hipMemcpy.*dst"):
        cpu.hipMemcpy(host, memory, 64, kind.hipMemcpyDeviceToHost)

    still_works()


def test_copy_into_read_only_memory_raises(
    cpu: ModuleType, memory: Any, still_works: Callable[[], None]
) -> None:
    fixed = np.zeros(8, np.uint8)
    fixed.flags.writeable = False
    kind = cpu.hipMemcpyKind.hipMemcpyDeviceToHost

    for target in (fixed, bytes(8), memoryview(bytes(8))):
        with pytest.raises(
            (ValueError, TypeError, BufferError), match=r"hipMemcpy.*dst"
        ):
            cpu.hipMemcpy(target, memory, 8, kind)

    still_works()


def test_copy_of_strided_memory_raises(
    cpu: ModuleType, memory: Any, still_works: Callable[[], None]
) -> None:
    strided = np.zeros((8, 8), np.uint8)[:, ::2]
    kind = cpu.hipMemcpyKind.hipMemcpyHostToDevice

    with pytest.raises((ValueError, BufferError), match=r"hipMemcpy.*src.*contiguous"):
        cpu.hipMemcpy(memory, strided, 32, kind)

    still_works()


@pytest.mark.parametrize("kind", [17, -1, "hipMemcpyHostToDevice", 1.0, None])
def test_copy_with_a_kind_that_is_none_is_refused(
    cpu: ModuleType, memory: Any, still_works: Callable[[], None], kind: Any
) -> None:
    host = np.zeros(8, np.uint8)

    with pytest.raises(
        (TypeError, ValueError, OverflowError), match=r"hipMemcpy.*kind"
    ):
        cpu.hipMemcpy(memory, host, 8, kind)

    still_works()


@pytest.mark.parametrize("size", [-1, 2**64, 2**70, 1.5, "8", None])
def test_size_that_is_none_raises(cpu: ModuleType, size: Any) -> None:
    with pytest.raises(
        (TypeError, ValueError, OverflowError), match=r"hipMalloc.*size"
    ):
        cpu.hipMalloc(size)


def test_allocation_larger_than_the_device_fails(
    cpu: ModuleType, still_works: Callable[[], None]
) -> None:
    for size in (2**63, 2**60, ctypes.c_size_t(-1).value):
        status, memory = cpu.hipMalloc(size)

        assert status == cpu.hipError_t.hipErrorOutOfMemory
        assert memory is None
    still_works()


@pytest.mark.parametrize("device", [-1, 1, 99])
def test_device_that_is_not_there_is_refused(
    cpu: ModuleType, still_works: Callable[[], None], device: int
) -> None:
    (status,) = cpu.hipSetDevice(device)

    assert status == cpu.hipError_t.hipErrorInvalidDevice
    still_works()


def test_missing_compiler_is_an_error_with_the_places_tried(
    run_python: Callable[..., Any], tmp_path: Path
) -> None:
    code = """
        import hipadapt
        from hipadapt import hiprtc
        source = b'extern "C" __global__ void never_seen() {}'
        err, prog = hiprtc.hiprtcCreateProgram(source, b"k.hip", 0, None, None)
        status, = hiprtc.hiprtcCompileProgram(prog, 0, None)
        err, size = hiprtc.hiprtcGetProgramLogSize(prog)
        log = bytearray(size)
        hiprtc.hiprtcGetProgramLog(prog, log)
        print(status.name, hipadapt.error_text(), log.decode())
    """
    absent = str(tmp_path / "no" / "zig")

    done = run_python(code, HIPADAPT_COMPILER=absent, HIPADAPT_CACHE="0")

    assert "HIPRTC_SUCCESS" not in done.stdout
    assert absent in done.stdout
