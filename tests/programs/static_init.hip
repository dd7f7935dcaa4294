// SPDX-License-Identifier: MIT
// HIP in constructors and destructors of static objects, which are in a file behind that of
// the kernels: device code of a file is registered after its own static objects are made.
// with: static_init_keeper.hip
// expect: before main 5
// expect: in main 6
// expect: after main 7
#include "check.h"

static __global__ void step(int *x) { *x += 1; }

int next_of(int *d) {
    int x;
    step<<<1, 1>>>(d);
    CHECK(hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost));
    return x;
}

int keeper_next();

int main() { printf("in main %d\n", keeper_next()); }
