# SPDX-License-Identifier: MIT
"""Programs written for hip-python, on hipadapt: `hipadapt.install_as_hip`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run

KERNEL = '''
source = b"""
extern "C" __global__ void scale(float *x, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}
"""
'''

# As the examples for hip-python up to 7.2 are written: the caller makes the record and
# the text of its members is bytes.
OLD_PROGRAM = (
    """
import hipadapt
hipadapt.install_as_hip()

import array
import ctypes
from hip import hip, hiprtc
from hip._util.types import DeviceArray, Pointer
from hip._hip_helpers import HipModuleLaunchKernel_extra

def hip_check(call_result):
    err = call_result[0]
    result = call_result[1:]
    if len(result) == 1:
        result = result[0]
    if isinstance(err, hip.hipError_t) and err != hip.hipError_t.hipSuccess:
        raise RuntimeError(str(err))
    elif (
        isinstance(err, hiprtc.hiprtcResult)
        and err != hiprtc.hiprtcResult.HIPRTC_SUCCESS
    ):
        raise RuntimeError(str(err))
    return result
"""
    + KERNEL
    + """
prog = hip_check(hiprtc.hiprtcCreateProgram(source, b"scale", 0, None, None))
props = hip.hipDeviceProp_t()
hip_check(hip.hipGetDeviceProperties(props, 0))
arch = props.gcnArchName
cflags = [b"--offload-arch=" + arch]
assert arch.decode("utf-8").startswith("gfx")
hip_check(hiprtc.hiprtcCompileProgram(prog, len(cflags), cflags))
code_size = hip_check(hiprtc.hiprtcGetCodeSize(prog))
code = bytearray(code_size)
hip_check(hiprtc.hiprtcGetCode(prog, code))
module = hip_check(hip.hipModuleLoadData(code))
kernel = hip_check(hip.hipModuleGetFunction(module, b"scale"))

x_h = array.array("f", range(32))
num_bytes = x_h.itemsize * len(x_h)
x_d = hip_check(hip.hipMalloc(num_bytes))
assert isinstance(x_d, DeviceArray) and isinstance(x_d, Pointer)
hip_check(hip.hipMemcpy(x_d, x_h, num_bytes, hip.hipMemcpyKind.hipMemcpyHostToDevice))
hip_check(hip.hipModuleLaunchKernel(
    kernel, *hip.dim3(x=1), *hip.dim3(x=32), sharedMemBytes=0, stream=None,
    kernelParams=None,
    extra=HipModuleLaunchKernel_extra((x_d, ctypes.c_float(2.0), ctypes.c_int(32)))))
hip_check(hip.hipMemcpy(x_h, x_d, num_bytes, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
assert x_h.tolist() == [2.0 * i for i in range(32)]
hip_check(hip.hipFree(x_d))
hip_check(hip.hipModuleUnload(module))
hip_check(hiprtc.hiprtcDestroyProgram(prog.createRef()))
print("ok")
"""
)

# As programs for 10.0 are: other names, records are returned, text is str.
NEW_PROGRAM = (
    """
import hipadapt
hipadapt.install_as_hip()

import ctypes
import numpy as np
from rocm.bindings import hip, hiprtc
from rocm.bindings.util.types import DeviceArray, ListOfBytes, NDBuffer
from rocm.bindings._hip_helpers import HipModuleLaunchKernel_extra
from rocm import version

def check(result):
    status, *values = result
    assert int(status) == 0, status
    return values[0] if len(values) == 1 else values
"""
    + KERNEL
    + """
assert version.HIP_VERSION_TUPLE[0] >= 6
prog = check(hiprtc.hiprtcCreateProgram(source, b"scale", 0, None, None))
props = check(hip.hipGetDeviceProperties(0))
options = ListOfBytes([f"--offload-arch={props.gcnArchName}".encode()])
check(hiprtc.hiprtcCompileProgram(prog, 1, options))
code = bytearray(check(hiprtc.hiprtcGetCodeSize(prog)))
check(hiprtc.hiprtcGetCode(prog, code))
kernel = check(hip.hipModuleGetFunction(check(hip.hipModuleLoadData(code)), b"scale"))
x = np.arange(64, dtype=np.float32)
x_d = check(hip.hipMalloc(x.nbytes)).configure(typestr="float32", shape=x.shape)
assert isinstance(x_d, DeviceArray) and isinstance(x_d, NDBuffer)
check(hip.hipMemcpy(x_d, x, x.nbytes, hip.hipMemcpyKind.hipMemcpyHostToDevice))
extra = HipModuleLaunchKernel_extra([x_d, ctypes.c_float(3), ctypes.c_int(64)])
check(hip.hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, None, None, extra))
check(hip.hipMemcpy(x, x_d, x.nbytes, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
assert np.array_equal(x, 3 * np.arange(64, dtype=np.float32))
check(hip.hipFree(x_d))
check(hiprtc.hiprtcDestroyProgram(prog.createRef()))
print("ok")
"""
)


@pytest.mark.parametrize("program", [OLD_PROGRAM, NEW_PROGRAM], ids=["7.2", "10.0"])
def test_program_runs_unchanged(run_python: Run, program: str) -> None:
    assert run_python(program).stdout == "ok\n"


def test_names_of_both_generations_are_the_same_modules(run_python: Run) -> None:
    done = run_python(
        """
        import hipadapt
        hipadapt.install_as_hip()
        hipadapt.install_as_hip()
        import hip
        import hip._util.types
        import hip.hip as old, hip.hiprtc as old_rtc
        import rocm.bindings.hip as new, rocm.bindings.hiprtc as new_rtc
        import rocm.bindings.util.types as new_types
        from hip._hiprtc_helpers import HiprtcLinkCreate_option_ptr
        from rocm.bindings._hiprtc_helpers import HiprtcLinkCreate_option_ptr as second
        from rocm.bindings import hiprtc_pyext

        assert old is new is hip.hip is hipadapt.hip
        assert old_rtc is new_rtc is hip.hiprtc is hipadapt.hiprtc
        assert hip._util.types is new_types is hipadapt.types
        assert old.__name__ == "hipadapt.hip" == old.__spec__.name
        assert HiprtcLinkCreate_option_ptr is second
        assert old_rtc.ext is hiprtc_pyext is hip.hiprtc_pyext
        options = HiprtcLinkCreate_option_ptr([old_rtc.hiprtcJIT_option.HIPRTC_JIT_LTO])
        assert options.to_list() == [20]
        """
    )
    assert done.stderr == ""


def test_version_attributes_are_those_of_hip_python(run_python: Run) -> None:
    run_python(
        """
        import hipadapt
        hipadapt.install_as_hip()
        import hip
        from hip._version import VERSION
        from rocm import version
        from hipadapt import hip as ours

        assert hip.HIP_VERSION == version.HIP_VERSION == ours.HIP_VERSION
        assert hip.HIP_VERSION_TUPLE[:3] == hip.hip_version_tuple[:3]
        assert hip.HIP_VERSION_TUPLE[0] == ours.HIP_VERSION_MAJOR
        assert hip.ROCM_VERSION_TUPLE == (10, 0, 0)
        assert hip.ROCM_VERSION == 100000000
        assert hip.ROCM_VERSION_NAME == hip.rocm_version_name == "10.0.0"
        assert hip.__version__ == hip.VERSION == VERSION == version.__version__
        assert hip.__version__.startswith("10.")
        assert hipadapt.__version__ in hip.__version__
        """
    )


def test_other_libraries_of_hip_python_are_named(run_python: Run) -> None:
    done = run_python(
        """
        import hipadapt
        hipadapt.install_as_hip()
        for line in ("from hip import hipblas", "import rocm.bindings.rccl"):
            try:
                exec(line)
            except ImportError as error:
                print(error)
        try:
            import hip.nothing
        except ModuleNotFoundError as error:
            print(error)
        import hip
        print(hasattr(hip, "hipblas"))
        """
    )
    first, second, third, fourth = done.stdout.splitlines()
    assert "HIP and hiprtc only: hipblas comes with hip-python" in first
    assert "rccl comes with hip-python" in second
    assert third == "No module named 'hip.nothing'"
    assert fourth == "False"


@pytest.mark.parametrize("first", ["hip", "rocm.bindings"])
def test_real_package_in_use_is_refused(
    run_python: Run, tmp_path: Path, first: str
) -> None:
    folder = tmp_path.joinpath(*first.split("."))
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("mine = True\n", encoding="utf-8")
    done = run_python(
        f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import {first}
        import hipadapt
        try:
            hipadapt.install_as_hip()
        except RuntimeError as error:
            print(error)
        assert {first}.mine
        from importlib import import_module
        assert import_module({first!r}).mine
        """
    )
    assert done.stdout.startswith(f"install_as_hip: {first!r} was imported before")
    assert str(folder) in done.stdout


def test_uninstall_gives_the_names_back(run_python: Run, tmp_path: Path) -> None:
    folder = tmp_path / "hip"
    folder.mkdir()
    (folder / "__init__.py").write_text("mine = True\n", encoding="utf-8")
    run_python(
        f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import hipadapt
        hipadapt.uninstall_as_hip()
        before, names = list(sys.meta_path), set(sys.modules)
        hipadapt.install_as_hip()
        import hip, rocm.bindings.hip
        kept = hip.hip
        hipadapt.uninstall_as_hip()
        left = set(sys.modules) - names - {{"rocm"}}  # that is other packages' too
        assert not [n for n in left if n.split(".")[0] in ("hip", "rocm")]
        assert sys.meta_path == before
        import hip
        assert hip.mine
        assert hipadapt.hip is kept and kept.hipGetDeviceCount()[0] == 0
        """
    )


def test_namespace_rocm_of_others_stays_reachable(
    run_python: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "rocm" / "other"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("mine = True\n", encoding="utf-8")
    run_python(
        f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import rocm.other
        import hipadapt
        hipadapt.install_as_hip()
        from rocm.bindings import hip
        assert hip is hipadapt.hip and rocm.other.mine
        hipadapt.uninstall_as_hip()
        assert not hasattr(rocm, "bindings")
        """
    )
