/* SPDX-License-Identifier: MIT */
/* No kernels here: the host's compiler is enough, and the library has them. */
#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <vector>

#include "fields.h"

int
main()
{
    int count = 0;
    hipDeviceProp_t properties;
    if (hipGetDeviceCount(&count) != hipSuccess || count == 0 ||
        hipGetDeviceProperties(&properties, 0) != hipSuccess)
        return 1;
    double sum = field_sum(std::vector<float>(1000, 0.5f));
    std::printf("%d x %s: 1000 x 0.5 is %g\n", count, properties.name, sum);
    return sum == 500 ? 0 : 1;
}
