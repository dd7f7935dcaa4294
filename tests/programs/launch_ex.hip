// SPDX-License-Identifier: MIT
// Launches with attributes: those that only advise are taken, others are refused.
// expect: exc 101
// expect: template 202
// expect: driver 303
// expect: clusters hipErrorNotSupported
// expect: unknown attribute hipErrorInvalidValue
// expect: still 303
#include "check.h"

__global__ void add(int *x, int a, float b) { atomicAdd(x, a + (int)b); }

static int value(int *d) {
    int x;
    CHECK(hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost));
    return x;
}

int main() {
    int *d, a = 100;
    float b = 1;
    CHECK(hipMalloc(&d, sizeof *d));
    CHECK(hipMemset(d, 0, sizeof *d));
    void *arguments[] = {&d, &a, &b};

    hipLaunchAttribute attribute = {};
    attribute.id = hipLaunchAttributePriority;
    hipLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(1);
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(hipLaunchKernelExC(&config, (const void *)add, arguments));
    printf("exc %d\n", value(d));

    CHECK(hipLaunchKernelEx(&config, add, d, 99.5, 2)); // converted to int and float
    printf("template %d\n", value(d));

    hipFunction_t function;
    CHECK(hipGetFuncBySymbol(&function, add));
    HIP_LAUNCH_CONFIG driver = {};
    driver.gridDimX = driver.gridDimY = driver.gridDimZ = 1;
    driver.blockDimX = driver.blockDimY = driver.blockDimZ = 1;
    CHECK(hipDrvLaunchKernelEx(&driver, function, arguments, nullptr));
    printf("driver %d\n", value(d));

    attribute.id = hipLaunchAttributeClusterDimension;
    attribute.value.clusterDim = {2, 1, 1};
    printf("clusters %s\n",
           hipGetErrorName(hipLaunchKernelExC(&config, (const void *)add, arguments)));
    attribute.id = (hipLaunchAttributeID)77;
    printf("unknown attribute %s\n",
           hipGetErrorName(hipLaunchKernelExC(&config, (const void *)add, arguments)));
    printf("still %d\n", value(d));
    CHECK(hipFree(d));
}
