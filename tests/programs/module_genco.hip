// SPDX-License-Identifier: MIT
// A code object of its own (--genco) loaded as a module, from its file and from memory.
// genco: module_genco_kernels.hip
// expect: file 30
// expect: memory 60
// expect: library 90
// expect: variable 4 bytes, was 10
// expect: managed variable 4 bytes, is 7
#include <fstream>
#include <iterator>
#include <vector>

#include "check.h"

static int run(hipFunction_t function, int a) {
    int *d, x;
    CHECK(hipMalloc(&d, sizeof *d));
    void *arguments[] = {&d, &a};
    CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, arguments, nullptr));
    CHECK(hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost));
    CHECK(hipFree(d));
    return x;
}

int main(int, char **words) {
    hipModule_t module;
    hipFunction_t function;
    CHECK(hipModuleLoad(&module, words[1]));
    CHECK(hipModuleGetFunction(&function, module, "multiply"));
    printf("file %d\n", run(function, 3));
    CHECK(hipModuleUnload(module));

    std::ifstream file(words[1], std::ios::binary);
    std::vector<char> code{std::istreambuf_iterator<char>(file), {}};
    CHECK(hipModuleLoadFatBinary(&module, code.data()));
    CHECK(hipModuleGetFunction(&function, module, "multiply"));
    printf("memory %d\n", run(function, 6));

    hipLibrary_t library;
    hipKernel_t kernel;
    CHECK(hipLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr,
                             0));
    CHECK(hipLibraryGetKernel(&kernel, library, "multiply"));
    hipFunction_t from_library;
    CHECK(hipKernelGetFunction(&from_library, kernel));
    printf("library %d\n", run(from_library, 9));

    void *address;
    size_t bytes;
    int was;
    CHECK(hipModuleGetGlobal(&address, &bytes, module, "factor"));
    CHECK(hipMemcpyDtoH(&was, address, sizeof was));
    printf("variable %zu bytes, was %d\n", bytes, was);

    // The last three parameters need not be given.
    void *arguments[] = {&address, &was};
    CHECK(hipExtModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments,
                                   nullptr));
    CHECK(hipModuleGetGlobal(&address, &bytes, module, "calls"));
    CHECK(hipDeviceSynchronize());
    printf("managed variable %zu bytes, is %d\n", bytes, *static_cast<int *>(address));
    CHECK(hipModuleUnload(module));
    CHECK(hipLibraryUnload(library));
}
