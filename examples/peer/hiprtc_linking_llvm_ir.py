# SPDX-License-Identifier: MIT
"""A kernel in HIP that calls a device function in LLVM IR.

IR names the place of a thread in the words of its target, so there is one text for each
architecture: AMD's gfx90a, and gfx000, the CPU device.
"""

import array
import ctypes

from common import bitcode, check, device_ir, link, peer

KERNEL = rb"""
__device__ void scale_op(float x[], float factor);
__device__ void print_value(float x[]);
extern "C" __global__ void scale(float x[], float factor) {
    scale_op(x, factor);
    print_value(x);
}
"""
PRINT = rb"""
__device__ void print_value(float x[]) { printf("%f\n", x[threadIdx.x]); }
"""
BODY = """
define void @_Z8scale_opPff(ptr %x, float %factor) {{
  %thread = call i32 @{place}()
  %index = zext i32 %thread to i64
  %at = getelementptr inbounds float, ptr %x, i64 %index
  %old = load float, ptr %at, align 4
  %new = fmul contract float %old, %factor
  store float %new, ptr %at, align 4
  ret void
}}
declare i32 @{place}()
"""
IR = {
    "gfx90a": 'target triple = "amdgcn-amd-amdhsa"\n'
    + BODY.format(place="llvm.amdgcn.workitem.id.x"),
    "gfx000": 'target triple = "nvptx64-nvidia-cuda"\n'
    + BODY.format(place="llvm.nvvm.read.ptx.sreg.tid.x"),
}
COUNT = 32


def main() -> None:
    """Links compiled code with IR, and scales a vector of ones by two."""
    p = peer()
    hip = p.hip
    parts = {
        b"kernel": bitcode(p, KERNEL, b"kernel"),
        b"print": bitcode(p, PRINT, b"print"),
        b"scale_op": device_ir(p, IR),
    }
    module = link(p, check(p.hiprtc.hiprtcLinkCreate(0, None, None)), parts)
    kernel = check(hip.hipModuleGetFunction(module, b"scale"))
    values = array.array("f", [1.0] * COUNT)
    size = values.itemsize * COUNT
    memory = check(hip.hipMalloc(size))
    check(hip.hipMemcpy(memory, values, size, hip.hipMemcpyKind.hipMemcpyHostToDevice))
    extra = (memory, ctypes.c_float(2.0))
    grid, block = (1, 1, 1), (COUNT, 1, 1)
    check(hip.hipModuleLaunchKernel(kernel, *grid, *block, 0, None, None, extra))
    check(hip.hipMemcpy(values, memory, size, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
    check(hip.hipFree(memory))
    check(hip.hipModuleUnload(module))
    if list(values) != [2.0] * COUNT:
        raise SystemExit(f"wrong values: {list(values)}")
    print("ok")


if __name__ == "__main__":
    main()
