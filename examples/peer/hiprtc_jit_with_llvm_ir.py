# SPDX-License-Identifier: MIT
"""A kernel that is LLVM IR from the start, linked to code without any HIP source."""

import array
import ctypes

from common import check, device_ir, link, peer

BODY = """
define {convention} void @scale(ptr addrspace(1) %x, float %factor) {{
  %thread = call i32 @{place}()
  %index = zext i32 %thread to i64
  %at = getelementptr inbounds float, ptr addrspace(1) %x, i64 %index
  %old = load float, ptr addrspace(1) %at, align 4
  %new = fmul contract float %old, %factor
  store float %new, ptr addrspace(1) %at, align 4
  ret void
}}
declare i32 @{place}()
"""
IR = {
    "gfx90a": 'target triple = "amdgcn-amd-amdhsa"\n'
    + BODY.format(
        convention="protected amdgpu_kernel", place="llvm.amdgcn.workitem.id.x"
    ),
    "gfx000": 'target triple = "nvptx64-nvidia-cuda"\n'
    + BODY.format(convention="ptx_kernel", place="llvm.nvvm.read.ptx.sreg.tid.x"),
}
COUNT = 32


def main() -> None:
    """Links the IR alone, and scales a vector of ones by two."""
    p = peer()
    hip = p.hip
    state = check(
        p.hiprtc.ext.hiprtcLinkCreate2(
            HIPRTC_JIT_GENERATE_DEBUG_INFO=1, HIPRTC_JIT_GENERATE_LINE_INFO=1
        )
    )
    module = link(p, state, {b"kernel": device_ir(p, IR)})
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
