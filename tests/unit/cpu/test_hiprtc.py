# SPDX-License-Identifier: MIT
"""hiprtc from Python, on the CPU device."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

TEMPLATE = """
template<class T> __global__ void scale(T *x, T factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}
"""


def check(answer: tuple[Any, ...]) -> Any:
    """The outputs of a call that must have succeeded."""
    assert int(answer[0]) == 0, answer
    rest = answer[1:]
    return rest[0] if len(rest) == 1 else rest


def log_of(hiprtc: ModuleType, program: Any) -> str:
    room = bytearray(check(hiprtc.hiprtcGetProgramLogSize(program)))
    check(hiprtc.hiprtcGetProgramLog(program, room))
    return room.rstrip(b"\0").decode()


@pytest.fixture
def hiprtc(cpu: ModuleType) -> ModuleType:
    del cpu
    from hipadapt import hiprtc

    return hiprtc


def test_template_by_name_expression_runs(cpu: ModuleType, hiprtc: ModuleType) -> None:
    program = check(hiprtc.hiprtcCreateProgram(TEMPLATE.encode(), b"t.hip", 0, [], []))
    check(hiprtc.hiprtcAddNameExpression(program, b"scale<double>"))
    check(hiprtc.hiprtcCompileProgram(program, 1, [b"-O3"]))
    name = check(hiprtc.hiprtcGetLoweredName(program, b"scale<double>"))
    code = bytearray(check(hiprtc.hiprtcGetCodeSize(program)))
    check(hiprtc.hiprtcGetCode(program, code))
    module = check(cpu.hipModuleLoadData(code))
    kernel = check(cpu.hipModuleGetFunction(module, name))
    check(hiprtc.hiprtcDestroyProgram(program))
    values = np.arange(1000.0)
    device = check(cpu.hipMalloc(values.nbytes))
    to_device = cpu.hipMemcpyKind.hipMemcpyHostToDevice
    to_host = cpu.hipMemcpyKind.hipMemcpyDeviceToHost
    check(cpu.hipMemcpy(device, values, values.nbytes, to_device))

    arguments = (device, np.float64(3.0), np.int32(values.size))
    launched = cpu.hipModuleLaunchKernel(
        kernel, 4, 1, 1, 256, 1, 1, 0, None, kernelParams=None, extra=arguments
    )

    result = np.empty_like(values)
    assert int(launched[0]) == 0
    check(cpu.hipMemcpy(result, device, values.nbytes, to_host))
    np.testing.assert_array_equal(result, values * 3)
    check(cpu.hipFree(device))
    check(cpu.hipModuleUnload(module))


def test_lowered_name_has_the_letters_of_its_kernel(
    cpu: ModuleType, hiprtc: ModuleType
) -> None:
    source = "template <int N> __global__ void größe(int *x) { *x = N; }"
    program = check(hiprtc.hiprtcCreateProgram(source.encode(), b"t.hip", 0, [], []))
    check(hiprtc.hiprtcAddNameExpression(program, "größe<7>".encode()))
    check(hiprtc.hiprtcCompileProgram(program, 0, []))

    name = check(hiprtc.hiprtcGetLoweredName(program, "größe<7>".encode()))

    assert "größe".encode() in name
    code = bytearray(check(hiprtc.hiprtcGetCodeSize(program)))
    check(hiprtc.hiprtcGetCode(program, code))
    module = check(cpu.hipModuleLoadData(code))
    check(cpu.hipModuleGetFunction(module, name))
    check(cpu.hipModuleUnload(module))


def test_names_outlive_what_they_were_asked_of(
    cpu: ModuleType, hiprtc: ModuleType
) -> None:
    program = check(hiprtc.hiprtcCreateProgram(TEMPLATE.encode(), b"t.hip", 0, [], []))
    check(hiprtc.hiprtcAddNameExpression(program, b"scale<double>"))
    check(hiprtc.hiprtcCompileProgram(program, 1, [b"-O3"]))
    lowered = check(hiprtc.hiprtcGetLoweredName(program, b"scale<double>"))
    code = bytearray(check(hiprtc.hiprtcGetCodeSize(program)))
    check(hiprtc.hiprtcGetCode(program, code))
    module = check(cpu.hipModuleLoadData(code))
    function = check(cpu.hipModuleGetFunction(module, lowered))
    library = check(cpu.hipLibraryLoadData(code, [], [], 0, [], [], 0))
    kernel = check(cpu.hipLibraryGetKernel(library, lowered))
    names = [lowered, check(cpu.hipKernelNameRef(function))]
    names.append(check(cpu.hipKernelGetName(kernel)))
    wanted = [str(name) for name in names]

    check(hiprtc.hiprtcDestroyProgram(program.createRef()))
    check(cpu.hipModuleUnload(module))
    check(cpu.hipLibraryUnload(library))
    filler = [b"#" * len(wanted[0]) for _ in range(1000)]

    assert [str(name) for name in names] == wanted
    assert wanted[0] == "_Z5scaleIdEvPT_S0_i"
    assert all(name == wanted[0] for name in wanted)
    del filler


def test_compile_error_is_in_the_log(hiprtc: ModuleType) -> None:
    source = b"__global__ void k(int *p) {\n  *p = unknown_name;\n}\n"
    program = check(hiprtc.hiprtcCreateProgram(source, b"mine.hip", 0, [], []))

    (result,) = hiprtc.hiprtcCompileProgram(program, 0, [])

    assert result == hiprtc.hiprtcResult.HIPRTC_ERROR_COMPILATION
    first = "mine.hip:2:8: error: use of undeclared identifier 'unknown_name'\n"
    assert log_of(hiprtc, program).startswith(first)
    check(hiprtc.hiprtcDestroyProgram(program))


def test_refused_option_is_named_in_the_log(hiprtc: ModuleType) -> None:
    program = check(hiprtc.hiprtcCreateProgram(b"", b"mine.hip", 0, [], []))

    (result,) = hiprtc.hiprtcCompileProgram(
        program, 2, [b"-O2", b"-ftime-trace=/tmp/x"]
    )

    assert result == hiprtc.hiprtcResult.HIPRTC_ERROR_INVALID_OPTION
    assert "'-ftime-trace=/tmp/x'" in log_of(hiprtc, program)
    check(hiprtc.hiprtcDestroyProgram(program))


def test_own_architecture_is_accepted_as_option(
    cpu: ModuleType, hiprtc: ModuleType
) -> None:
    properties = check(cpu.hipGetDeviceProperties(0))
    arch = properties.gcnArchName
    arch = arch if isinstance(arch, bytes) else str(arch).encode()
    program = check(hiprtc.hiprtcCreateProgram(TEMPLATE.encode(), b"", 0, [], []))

    check(hiprtc.hiprtcCompileProgram(program, 1, [b"--offload-arch=" + arch]))

    check(hiprtc.hiprtcDestroyProgram(program))


def test_ctrl_c_ends_a_compilation(run_python: Callable[..., Any]) -> None:
    run_python(
        """
        import os, signal, threading, time
        from hipadapt import hiprtc
        source = b'''
        constexpr int spin(int n) {
            int s = 0;
            for (int i = 0; i < n; i++) s ^= i;
            return s;
        }
        constexpr int value = spin(2000000000);
        '''
        _, program = hiprtc.hiprtcCreateProgram(source, b"t.hip", 0, [], [])
        start = time.monotonic()
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            hiprtc.hiprtcCompileProgram(program, 1, [b"-fconstexpr-steps=999999999"])
        except KeyboardInterrupt:
            assert time.monotonic() - start < 2
        else:
            raise SystemExit("no KeyboardInterrupt")
        """,
        HIPADAPT_CACHE="0",
    )
