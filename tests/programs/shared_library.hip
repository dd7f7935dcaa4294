// SPDX-License-Identifier: MIT
// A shared library with kernels, loaded and unloaded again and again by a program that has
// kernels too.
// library: shared_library_part.hip
// expect: 20 times, 0 mistakes
#include <dlfcn.h>

#include "check.h"

__global__ void fill(int *x) { *x = -1; }

int main(int, char **words) {
    int *d, x, mistakes = 0;
    CHECK(hipMalloc(&d, sizeof *d));
    for (int i = 0; i < 20; i++) {
        fill<<<1, 1>>>(d);
        CHECK(hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost));
        mistakes += x != -1;
        void *library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            printf("%s\n", dlerror());
            return 1;
        }
        auto add = (int (*)(int *, int))dlsym(library, "library_add");
        mistakes += add(d, i) != i - 1 + 100;
        mistakes += add(d, 1) != i + 100 + 101; /* its variable has been counted up */
        dlclose(library);
    }
    printf("20 times, %d mistakes\n", mistakes);
    CHECK(hipFree(d));
}
