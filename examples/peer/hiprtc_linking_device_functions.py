# SPDX-License-Identifier: MIT
"""A kernel and the device function that it calls, compiled apart and linked."""

from common import bitcode, check, link, peer

KERNEL = rb"""
__device__ void foo();
extern "C" __global__ void print_tid() { foo(); }
"""
FUNCTION = rb"""
__device__ void foo() { printf("tid: %d\n", (int)threadIdx.x); }
"""


def main() -> None:
    """Links two pieces of relocatable code, and runs the kernel."""
    p = peer()
    parts = {
        b"kernel": bitcode(p, KERNEL, b"kernel"),
        b"function": bitcode(p, FUNCTION, b"function"),
    }
    module = link(p, check(p.hiprtc.hiprtcLinkCreate(0, None, None)), parts)
    kernel = check(p.hip.hipModuleGetFunction(module, b"print_tid"))
    grid, block = (1, 1, 1), (32, 1, 1)
    check(p.hip.hipModuleLaunchKernel(kernel, *grid, *block, 0, None, None, None))
    check(p.hip.hipDeviceSynchronize())
    check(p.hip.hipModuleUnload(module))
    print("ok")


if __name__ == "__main__":
    main()
