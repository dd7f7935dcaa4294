// SPDX-License-Identifier: MIT
// What goes wrong with fat binaries answers a code: code for other devices, compressed
// code, nonsense, kernels that are not there, and registrations that are taken back.
// What cannot run leaves its code with the device.
// expect: other device hipErrorNoBinaryForGpu
// expect: compressed hipErrorNoBinaryForGpu
// expect: cut off hipErrorInvalidImage
// expect: no wrapper hipErrorInvalidImage
// expect: taken back hipErrorInvalidDeviceFunction
// expect: own 1
#include <cstdint>
#include <cstring>
#include <string>

#include "check.h"

extern "C" {
void **__hipRegisterFatBinary(const void *data);
void __hipRegisterFunction(void **modules, const void *hostFunction, char *deviceFunction,
                           const char *deviceName, unsigned threadLimit, void *tid,
                           void *bid, void *blockDim, void *gridDim, int *wSize);
void __hipUnregisterFatBinary(void **modules);
}

struct Wrapper {
    uint32_t magic = 0x48495046, version = 1;
    const void *binary = nullptr, *unused = nullptr;
};

__global__ void own(int *x) { *x = 1; }

static char stand_in;

static std::string bundle(const std::string &id, uint64_t size) {
    std::string text = "__CLANG_OFFLOAD_BUNDLE__";
    auto number = [&](uint64_t n) { text.append((const char *)&n, sizeof n); };
    number(1);
    number(4096);
    number(size);
    number(id.size());
    text += id;
    text.resize(4096 + 64);
    return text;
}

static const char *launch(const Wrapper &wrapper, bool take_back = false) {
    void **binary = __hipRegisterFatBinary(&wrapper);
    __hipRegisterFunction(binary, &stand_in, (char *)"kernel", "kernel", -1, nullptr,
                          nullptr, nullptr, nullptr, nullptr);
    if (take_back)
        __hipUnregisterFatBinary(binary);
    hipError_t code = hipLaunchKernel(&stand_in, dim3(1), dim3(1), nullptr, 0, nullptr);
    // The program learns it even if it drops that code; a reset ends it.
    hipError_t left = take_back ? hipSuccess : code;
    for (int i = 0; i < 2; i++)
        if (hipDeviceSynchronize() != left)
            return "not left";
    CHECK(hipDeviceReset());
    if (!take_back)
        __hipUnregisterFatBinary(binary);
    return hipGetErrorName(code);
}

int main() {
    Wrapper wrapper;
    std::string text = bundle("hipv4-amdgcn-amd-amdhsa--gfx942", 64);
    wrapper.binary = text.data();
    printf("other device %s\n", launch(wrapper));
    wrapper.binary = "CCOB compressed";
    printf("compressed %s\n", launch(wrapper));
    text = bundle("hipv4-amdgcn-amd-amdhsa--gfx942", ~0ull);
    wrapper.binary = text.data();
    printf("cut off %s\n", launch(wrapper));
    wrapper.magic = 1;
    printf("no wrapper %s\n", launch(wrapper));
    printf("taken back %s\n", launch(wrapper, true));
    __hipUnregisterFatBinary((void **)&stand_in); /* made up: nothing happens */

    int *d, x;
    (void)hipGetLastError();
    CHECK(hipMalloc(&d, sizeof *d));
    own<<<1, 1>>>(d);
    CHECK(hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost));
    printf("own %d\n", x);
    CHECK(hipFree(d));
}
