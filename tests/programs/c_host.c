/* SPDX-License-Identifier: MIT */
/* A host program in C, with the kernels in a file of their own.
 * with: c_host_kernels.hip
 * expect: 2 4 6 8
 * expect: device name starts with gfx 1
 */
#include <string.h>

#include "check.h"

hipError_t launch_twice(float *x, int n, hipStream_t stream);

int main(void) {
    float x[4] = {1, 2, 3, 4};
    void *d = NULL;
    hipDeviceProp_t properties;
    CHECK(hipMalloc(&d, sizeof x));
    CHECK(hipMemcpy(d, x, sizeof x, hipMemcpyHostToDevice));
    CHECK(launch_twice((float *)d, 4, NULL));
    CHECK(hipMemcpy(x, d, sizeof x, hipMemcpyDeviceToHost));
    printf("%g %g %g %g\n", x[0], x[1], x[2], x[3]);
    CHECK(hipGetDeviceProperties(&properties, 0));
    printf("device name starts with gfx %d\n",
           strncmp(properties.gcnArchName, "gfx", 3) == 0);
    CHECK(hipFree(d));
    return 0;
}
