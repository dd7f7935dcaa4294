# SPDX-License-Identifier: MIT
"""hip-python beside hipadapt: one program, two bindings, the same outcome.

Two differential parts.  On a stub library that records launches, both bindings must
send the same bytes and return the same shapes.  On the CPU device, hip-python itself
must run a kernel: the device is a HIP library to anyone.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "hipadapt" / "_lib" / "libhipadapt_cpu.so"

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("hip") is None
        or importlib.util.find_spec("rocm") is None,
        reason="hip-python is not installed: pip install hipadapt[interop]",
    ),
]

IMPORTS = {
    "hipadapt": "from hipadapt import hip, hiprtc, types",
    "hip-python": "from hip import hip, hiprtc\nfrom rocm.bindings.util import types",
}
Run = Callable[..., Any]


def run_json(code: str, environment: dict[str, str]) -> Any:
    """Run in a new interpreter; what it prints, as JSON.

    Without PYTHONMALLOC=debug: hip-python reads memory that it has freed, and that
    setting overwrites it.
    """
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONMALLOC"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="session")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording library of the measurements, under AMD's name."""
    if shutil.which("gcc") is None and shutil.which("cc") is None:
        pytest.skip("there is no C compiler to build the stub library with")
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks.native import build_stub
    finally:
        sys.path.remove(str(ROOT))
    return build_stub(tmp_path_factory.mktemp("stub"))


@pytest.fixture
def both(stub: Path) -> Run:
    """both(code): outcomes of the code with each binding, on the stub."""

    def run(code: str) -> tuple[Any, Any]:
        environment = {
            "HIPADAPT_PROVIDER": str(stub),
            "ROCM_PATH": str(stub.parents[1]),
            "STUB": str(stub),
        }
        outcomes = [
            run_json(imports + "\n" + textwrap.dedent(code), environment)
            for imports in IMPORTS.values()
        ]
        return outcomes[0], outcomes[1]

    return run


RECORDER = """
import ctypes, json, os
stub = ctypes.CDLL(os.environ["STUB"])
memory = hip.hipMalloc(64)[1]
function = hip.hipModuleGetFunction(hip.hipModuleLoadData(b"x")[1], b"k")[1]
sent = []
def launch(*extra, grid=(1, 1, 1), block=(1, 1, 1)):
    (status,) = hip.hipModuleLaunchKernel(
        function, *grid, *block, sharedMemBytes=16, stream=None, kernelParams=None,
        extra=extra)
    size = ctypes.c_size_t.in_dll(stub, "stub_arguments_bytes").value
    data = bytes((ctypes.c_ubyte * 4096).in_dll(stub, "stub_arguments"))[:size]
    sizes = list((ctypes.c_uint * 7).in_dll(stub, "stub_sizes"))
    sent.append([int(status), data.hex(), sizes])
"""


def test_launch_sends_the_same_bytes(both: Run) -> None:
    # Without padding between the entries: the bytes there are hip-python's heap.
    code = (
        RECORDER
        + """
launch(memory)
launch(memory, memory, ctypes.c_int(7), ctypes.c_float(1.5))
launch(ctypes.c_double(0.1), ctypes.c_longlong(-5), memory)
launch(ctypes.c_byte(-1), ctypes.c_ubyte(255), ctypes.c_short(-2), ctypes.c_int(3))
launch(ctypes.c_bool(True), ctypes.c_char(b"A"), ctypes.c_ushort(9), ctypes.c_float(2))
launch(None, 0x1234, ctypes.c_void_p(0x5678))
launch(memory, grid=hip.dim3(3, 4, 5), block=hip.dim3(x=32))
launch(*[ctypes.c_int(i) for i in range(100)])
class Pair(ctypes.Structure):
    _fields_ = [("a", ctypes.c_double), ("b", ctypes.c_double)]
launch(Pair(1.0, 2.0), memory)
print(json.dumps(sent))
"""
    )

    ours, theirs = both(code)

    assert ours == theirs


def test_results_have_the_same_shape(both: Run) -> None:
    code = """
    import ctypes, json
    import array
    numbers = array.array("f", [0.0] * 16)
    kind = hip.hipMemcpyKind.hipMemcpyHostToDevice
    memory = hip.hipMalloc(64)[1]
    results = [
        hip.hipInit(0), hip.hipGetDevice(), hip.hipGetDeviceCount(), hip.hipMalloc(64),
        hip.hipMemcpy(memory, numbers, 64, kind),
        hip.hipMemcpy(dst=memory, src=numbers, sizeBytes=64, kind=kind),
        hip.hipFree(memory),
        hip.hipStreamCreate(), hip.hipStreamQuery(None), hip.hipRuntimeGetVersion(),
        hip.hipModuleLoadData(b"x"), hip.hipGetLastError(),
    ]
    def outline(value):
        if isinstance(value, hip.hipError_t):
            return ["hipError_t", value.name, int(value)]
        if isinstance(value, int):
            return value
        return [type(value).__name__, int(value)]
    print(json.dumps([[outline(value) for value in result] for result in results]))
    """

    ours, theirs = both(code)

    assert ours == theirs


def test_enums_have_the_same_members(both: Run) -> None:
    code = """
    import enum, json
    found = {}
    for module in (hip, hiprtc):
        for name in dir(module):
            value = getattr(module, name)
            if isinstance(value, type) and issubclass(value, enum.IntEnum):
                found[name] = {key: int(v) for key, v in value.__members__.items()}
    print(json.dumps(found))
    """

    ours, theirs = both(code)

    missing = {
        name: members
        for name, members in theirs.items()
        # Bases without members, which are nobody's enum.
        if members and not members.items() <= ours.get(name, {}).items()
    }
    assert missing == {}


def test_every_type_and_constant_is_there(both: Run) -> None:
    # Names with an underscore in front are the peer's own helpers.
    code = """
    import json
    def kept(module, name):
        value = getattr(module, name)
        return not name.startswith("_") and isinstance(value, (type, int))
    print(json.dumps([
        sorted(name for name in names if kept(module, name))
        for module, names in ((hip, hip.__all__), (hiprtc, hiprtc.__all__),
                              (types, dir(types)))]))
    """

    ours, theirs = both(code)

    missing = [
        name
        for mine, peers in zip(ours, theirs, strict=True)
        for name in peers
        if name not in mine
    ]
    assert missing == []


def test_adapters_give_the_same_addresses(both: Run) -> None:
    code = """
    import ctypes, json
    class Interface:
        __cuda_array_interface__ = {
            "shape": (4,), "typestr": "<f4", "data": (4096, False), "version": 3}
    class Convertible:
        def as_c_void_p(self):
            return ctypes.c_void_p(8192)
    text = b"bytes"
    known = [None, 5, ctypes.c_void_p(6), ctypes.c_void_p(), Interface(), Convertible(),
             types.Pointer(7), hip.hipMalloc(64)[1]]
    out = [int(types.Pointer(value)) for value in known]
    first = types.Pointer(text)
    out.append(ctypes.string_at(int(first), 5).decode())
    numbers = types.ListOfInt([1, -2, 3])
    out.append(list((ctypes.c_int * 3).from_address(int(numbers))))
    numbers = types.ListOfUnsigned((1, 2, 2**32 - 1))
    out.append(list((ctypes.c_uint * 3).from_address(int(numbers))))
    strings = types.ListOfBytes([b"one", b"two"])
    out.append([s.decode() for s in (ctypes.c_char_p * 2).from_address(int(strings))])
    box = hip.dim3(2, y=3)
    out.append([box.x, box.y, box.z, list(box)])
    print(json.dumps(out))
    """

    ours, theirs = both(code)

    assert ours == theirs


PROGRAM = r"""
import ctypes, json
import numpy as np

SOURCE = b'''
struct Limits { double low, high; };
extern "C" __global__ void scale(float factor, int n, const float *x, float *y,
                                 Limits limits) {
    __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n) {
        float value = factor * tile[threadIdx.x];
        y[i] = fminf(fmaxf(value, (float)limits.low), (float)limits.high);
    }
}
'''
class Limits(ctypes.Structure):
    _fields_ = [("low", ctypes.c_double), ("high", ctypes.c_double)]

def check(result):
    status, *values = result
    assert int(status) == 0, status
    return values[0] if len(values) == 1 else values

program = check(hiprtc.hiprtcCreateProgram(SOURCE, b"scale.hip", 0, None, None))
check(hiprtc.hiprtcCompileProgram(program, 1, [b"-O2"]))
code = bytearray(check(hiprtc.hiprtcGetCodeSize(program)))
check(hiprtc.hiprtcGetCode(program, code))
check(hiprtc.hiprtcDestroyProgram(program.createRef()))
module = check(hip.hipModuleLoadData(code))
kernel = check(hip.hipModuleGetFunction(module, b"scale"))
x = np.linspace(-1, 1, 200, dtype=np.float32)
y = np.zeros_like(x)
dx, dy = check(hip.hipMalloc(x.nbytes)), check(hip.hipMalloc(y.nbytes))
kind = hip.hipMemcpyKind
check(hip.hipMemcpy(dx, x, x.nbytes, kind.hipMemcpyHostToDevice))
stream = check(hip.hipStreamCreate())
start, stop = check(hip.hipEventCreate()), check(hip.hipEventCreate())
check(hip.hipEventRecord(start, stream))
check(hip.hipModuleLaunchKernel(
    kernel, *hip.dim3(4), *hip.dim3(64), sharedMemBytes=0, stream=stream,
    kernelParams=None,
    extra=(ctypes.c_float(3), ctypes.c_int(x.size), dx, dy, Limits(-2, 2))))
check(hip.hipEventRecord(stop, stream))
check(hip.hipStreamSynchronize(stream))
elapsed = check(hip.hipEventElapsedTime(start, stop))
check(hip.hipMemcpy(y, dy, y.nbytes, kind.hipMemcpyDeviceToHost))
for memory in (dx, dy):
    check(hip.hipFree(memory))
check(hip.hipModuleUnload(module))
print(json.dumps([elapsed >= 0, y.tolist() == np.clip(3 * x, -2, 2).tolist()]))
"""


def test_program_runs_with_both_bindings_on_the_cpu_device(tmp_path: Path) -> None:
    if not LIBRARY.exists():
        pytest.skip("the CPU device is not built in this checkout")
    # hip-python looks for these names only, in $ROCM_PATH/lib.
    folder = tmp_path / "lib"
    folder.mkdir()
    for name in ("libamdhip64.so", "libhiprtc.so"):
        (folder / name).symlink_to(LIBRARY)
    spec = importlib.util.find_spec("ziglang")
    assert spec is not None
    assert spec.origin is not None
    environment = {
        "HIPADAPT_PROVIDER": "cpu",
        "HIPADAPT_COMPILER": str(Path(spec.origin).with_name("zig")),
        "ROCM_PATH": str(tmp_path),
    }

    outcomes = {
        binding: run_json(imports + PROGRAM, environment)
        for binding, imports in IMPORTS.items()
    }

    assert outcomes == {"hipadapt": [True, True], "hip-python": [True, True]}
