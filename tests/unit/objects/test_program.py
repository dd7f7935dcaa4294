# SPDX-License-Identifier: MIT
"""Programs and modules: compiling, loading, names, globals, life."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import hipadapt
from hipadapt import Module, Program, compile_kernel, errors, hip

BAD = """__global__ void bad(int *x)
{
    *x = undeclared;
}
"""
SIMPLE = 'extern "C" __global__ void k(int *x) { *x = VALUE; }'


def value_of(kernel: hipadapt.Kernel) -> int:
    x = hipadapt.zeros(1, "int32")
    kernel[1, 1](x)
    return int(x.get()[0])


def test_options_of_program_and_of_compile(cpu: ModuleType) -> None:
    program = Program(SIMPLE, ["-DVALUE=7"])

    assert value_of(program.compile().kernel("k")) == 7
    assert value_of(program.compile([b"-UVALUE", "-DVALUE=8"]).kernel("k")) == 8
    assert program.log == ""
    assert "program.hip" in repr(program)


def test_source_and_headers_as_str_or_bytes(cpu: ModuleType) -> None:
    for text in (SIMPLE, SIMPLE.encode()):
        source = b'#include "value.h"\n' + (text if isinstance(text, bytes) else b"")
        source += b"" if isinstance(text, bytes) else text.encode()
        for header in ("#define VALUE 9\n", b"#define VALUE 9\n"):
            program = Program(source, headers={"value.h": header})
            assert value_of(program.compile().kernel("k")) == 9


def test_text_where_a_sequence_is_wanted_raises(cpu: ModuleType) -> None:
    with pytest.raises(TypeError, match="options"):
        Program("", "-O3")
    with pytest.raises(TypeError, match="name_expressions"):
        Program("", name_expressions="f<int>")


def test_compile_error_has_log_and_excerpt(cpu: ModuleType) -> None:
    program = Program(BAD, name="broken.hip")

    with pytest.raises(errors.HiprtcErrorCompilation) as caught:
        program.compile()

    assert "broken.hip:3" in caught.value.log
    assert "undeclared" in caught.value.log
    assert "*x = undeclared;" in str(caught.value)
    assert program.log == caught.value.log


def test_warnings_are_kept(cpu: ModuleType) -> None:
    program = Program("#warning look here\n" + SIMPLE, ["-DVALUE=1"])

    module = program.compile()

    assert "look here" in program.log
    assert module.log == program.log


def test_name_expressions_find_instances_and_variables(
    module: hipadapt.Module,
) -> None:
    x = hipadapt.zeros(1, "float32")

    module.kernel("put<float>")[1, 1](x, 2)

    assert x.get()[0] == 2
    assert module.lowered_names["put<float>"].startswith("_Z")
    assert (
        module.kernel("put<float>").lowered_name == module.lowered_names["put<float>"]
    )
    assert module.kernel("put<float>").name == "put<float>"
    assert module.get_global("&answer", "int32").get()[0] == 42


def test_name_expression_that_is_wrong_raises(cpu: ModuleType) -> None:
    with pytest.raises(errors.HiprtcError):
        Program(SIMPLE, ["-DVALUE=1"], name_expressions=["none<int>"]).compile()


def test_unknown_names_raise(module: hipadapt.Module) -> None:
    with pytest.raises(errors.HipErrorNotFound, match="no_such_kernel"):
        module.kernel("no_such_kernel")
    with pytest.raises(errors.HipErrorNotFound, match="no_such_variable"):
        module.get_global("no_such_variable")


def test_kernel_is_found_once(module: hipadapt.Module) -> None:
    assert module.kernel("saxpy") is module.kernel("saxpy")
    assert module.kernel("saxpy").module is module


def test_globals_are_arrays_that_keep_the_module(cpu: ModuleType) -> None:
    module = Program("__device__ float data[6]; __constant__ char one = 3;").compile()
    gone = weakref.ref(module)

    data = module.get_global("data", "float32", (2, 3))
    plain = module.get_global("data")
    one = module.get_global("one", "int8")

    assert data.shape == (2, 3) and plain.nbytes == 24 and one.get().tolist() == [3]
    data.fill(1.5)
    assert module.get_global("data", np.float32).get().tolist() == [1.5] * 6
    del module, plain, one
    gc.collect()
    assert gone() is not None
    assert data.get().sum() == 9
    del data
    gc.collect()
    assert gone() is None


def test_globals_of_another_size_raise(module: hipadapt.Module) -> None:
    with pytest.raises(ValueError, match="table"):
        module.get_global("table", "float64", (4,))
    with pytest.raises(ValueError, match="multiple"):
        module.get_global("answer", "float64")


def test_module_from_code(cpu: ModuleType, tmp_path: Path) -> None:
    code = Program(SIMPLE, ["-DVALUE=5"]).compile().code
    path = tmp_path / "code.bin"
    path.write_bytes(code)

    for given in (code, bytearray(code), memoryview(code), str(path), path):
        assert value_of(Module.from_code(given).kernel("k")) == 5


def test_module_from_rubbish_raises(cpu: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(errors.HipError):
        Module.from_code(b"rubbish" * 20)
    with pytest.raises(ValueError, match="no code"):
        Module.from_code(b"")
    with pytest.raises(FileNotFoundError):
        Module.from_code(tmp_path / "none")
    with pytest.raises(TypeError):
        Module.from_code(7)  # type: ignore[arg-type]


def test_module_close_retires_its_kernels(cpu: ModuleType) -> None:
    with Program(SIMPLE, ["-DVALUE=1"]).compile() as module:
        kernel, typed = module.kernel("k"), module.kernel("k", ["int*"])
        handle = int(module.handle)
        configured = kernel[1, 1]
    module.close()

    assert module.is_closed and "closed" in repr(module)
    x = hipadapt.zeros(1, "int32")
    for use in (
        lambda: kernel[1, 1](x),
        lambda: configured(x),
        lambda: typed[1, 1](x),
        lambda: kernel.function,
        lambda: kernel.attributes,
        lambda: module.handle,
        lambda: module.kernel("k"),
    ):
        with pytest.raises(ValueError, match="closed"):
            use()
    assert hip.hipModuleUnload(handle)[0] != hip.hipError_t.hipSuccess


def test_kernel_keeps_its_module(cpu: ModuleType) -> None:
    kernel = compile_kernel(SIMPLE, "k", ["-DVALUE=3"])
    gc.collect()
    assert value_of(kernel) == 3
    handle, gone = int(kernel.module.handle), weakref.ref(kernel)
    del kernel
    gc.collect()
    assert gone() is None
    assert hip.hipModuleUnload(handle)[0] != hip.hipError_t.hipSuccess


def test_kernel_in_flight_outlives_its_module(cpu: ModuleType) -> None:
    x = hipadapt.zeros(1, "int32")
    for _ in range(20):
        compile_kernel(SIMPLE, "k", ["-DVALUE=3"])[1, 1](x)
    assert int(x.get()[0]) == 3


def test_module_and_kernel_for_raw_calls(module: hipadapt.Module) -> None:
    function = hip.hipModuleGetFunction(module, b"nothing")[1]
    kernel = module.kernel("nothing")

    assert int(function) == int(kernel.function)
    for given in (kernel, kernel.function):
        status = hip.hipModuleLaunchKernel(given, 1, 1, 1, 1, 1, 1, 0, None, None, None)
        assert status == (hip.hipError_t.hipSuccess,)


def test_compile_kernel_by_name_of_c_plus_plus(cpu: ModuleType) -> None:
    source = """
    namespace maths {
    template <class T> __global__ void twice(T *x) { *x = *x * 2; }
    }
    """
    kernel = compile_kernel(source, "maths::twice<double>")
    x = hipadapt.full(1, 4.0)
    kernel[1, 1](x)
    assert x.get()[0] == 8

    with pytest.raises(errors.HiprtcErrorCompilation):
        compile_kernel(source, "maths::thrice<double>")
