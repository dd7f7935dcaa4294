// SPDX-License-Identifier: MIT
// A program with kernels that compiles another kernel while it runs.
// expect: own 2
// expect: compiled 30
#include <string>
#include <vector>

#include <hip/hiprtc.h>

#include "check.h"

/* The names that hiprtc's linker had before it shared them with HIP. */
static const hiprtcJIT_option old_option = HIPRTC_JIT_MAX_REGISTERS;
static const hiprtcJITInputType old_input = HIPRTC_JIT_INPUT_LLVM_BITCODE;
static_assert(old_option == hipJitOptionMaxRegisters, "");
static_assert(old_input == hipJitInputLLVMBitcode, "");

__global__ void own(int *x) { *x = 2; }

static const char *const source = R"(
extern "C" __global__ void made(int *x, int a) { *x = a * FACTOR; }
)";

int main() {
    int *d, x, a = 3;
    CHECK(hipMalloc(&d, sizeof *d));
    own<<<1, 1>>>(d);
    CHECK(hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost));
    printf("own %d\n", x);

    hiprtcProgram program;
    const char *options[] = {"-DFACTOR=10"};
    size_t size;
    if (hiprtcCreateProgram(&program, source, "made.hip", 0, nullptr, nullptr) ||
        hiprtcCompileProgram(program, 1, options) || hiprtcGetCodeSize(program, &size))
        return 1;
    std::vector<char> code(size);
    if (hiprtcGetCode(program, code.data()) || hiprtcDestroyProgram(&program))
        return 2;
    hipModule_t module;
    hipFunction_t function;
    CHECK(hipModuleLoadData(&module, code.data()));
    CHECK(hipModuleGetFunction(&function, module, "made"));
    void *arguments[] = {&d, &a};
    CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, arguments, nullptr));
    CHECK(hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost));
    printf("compiled %d\n", x);
    CHECK(hipModuleUnload(module));
    CHECK(hipFree(d));
}
