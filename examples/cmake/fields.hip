/* SPDX-License-Identifier: MIT */
#include "fields.h"

#include <hip/hip_runtime.h>

namespace {

constexpr int block_size = 256;

__global__ void
add_blocks(const float *values, int count, double *sum)
{
    __shared__ double part[block_size];
    int i = blockIdx.x * block_size + threadIdx.x;
    part[threadIdx.x] = i < count ? values[i] : 0;
    for (int half = block_size / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        atomicAdd(sum, part[0]);
}

} // namespace

double
field_sum(const std::vector<float> &values)
{
    int count = static_cast<int>(values.size());
    size_t bytes = count * sizeof(float);
    double zero = 0, sum = -1;
    float *device;
    double *total;
    if (hipMalloc(&device, bytes) != hipSuccess)
        return -1;
    if (hipMalloc(&total, sizeof *total) == hipSuccess) {
        (void)hipMemcpy(device, values.data(), bytes, hipMemcpyHostToDevice);
        (void)hipMemcpy(total, &zero, sizeof zero, hipMemcpyHostToDevice);
        add_blocks<<<(count + block_size - 1) / block_size, block_size>>>(device, count,
                                                                        total);
        if (hipMemcpy(&sum, total, sizeof sum, hipMemcpyDeviceToHost) != hipSuccess)
            sum = -1;
        (void)hipFree(total);
    }
    (void)hipFree(device);
    return sum;
}
