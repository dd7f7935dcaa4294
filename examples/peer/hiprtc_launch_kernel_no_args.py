# SPDX-License-Identifier: MIT
"""A kernel without arguments that prints."""

from common import check, load, peer

SOURCE = rb"""
extern "C" __global__ void print_tid() { printf("tid: %d\n", (int)threadIdx.x); }
"""


def main() -> None:
    """Compiles the kernel, and runs it in one block of 32 threads."""
    p = peer()
    print(f"compiling for {p.arch().decode()}")
    module = load(p, SOURCE, b"print_tid")
    kernel = check(p.hip.hipModuleGetFunction(module, b"print_tid"))
    check(
        p.hip.hipModuleLaunchKernel(
            kernel,
            *(1, 1, 1),
            *(32, 1, 1),
            sharedMemBytes=0,
            stream=None,
            kernelParams=None,
            extra=None,
        )
    )
    check(p.hip.hipDeviceSynchronize())
    check(p.hip.hipModuleUnload(module))
    print("ok")


if __name__ == "__main__":
    main()
