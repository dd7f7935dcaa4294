/* SPDX-License-Identifier: MIT */
/* heat EDGE STEPS: heat spreads over a plate, and none gets lost. */
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "fields.h"

__global__ void
spread(const float *from, float *to, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n)
        return;
    /* The plate has no edge: what leaves on one side comes in on the other. */
    auto at = [=](int i, int j) { return from[(j + n) % n * n + (i + n) % n]; };
    float around = at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1);
    to[y * n + x] = 0.5f * at(x, y) + 0.125f * around;
}

int
main(int count, char **words)
{
    int n = count > 1 ? std::atoi(words[1]) : 256;
    int steps = count > 2 ? std::atoi(words[2]) : 100;
    if (n <= 0 || steps < 0) {
        std::fprintf(stderr, "usage: heat EDGE STEPS\n");
        return 2;
    }
    std::vector<float> plate(n * n, 0.0f);
    plate[n * n / 2] = 1000;
    size_t bytes = plate.size() * sizeof(float);
    float *from, *to;
    if (hipMalloc(&from, bytes) != hipSuccess || hipMalloc(&to, bytes) != hipSuccess)
        return 1;
    (void)hipMemcpy(from, plate.data(), bytes, hipMemcpyHostToDevice);
    dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    for (int step = 0; step < steps; step++) {
        spread<<<grid, block>>>(from, to, n);
        std::swap(from, to);
    }
    hipError_t status = hipMemcpy(plate.data(), from, bytes, hipMemcpyDeviceToHost);
    (void)hipFree(from);
    (void)hipFree(to);
    double sum = field_sum(plate);
    std::printf("%s, heat %g\n", hipGetErrorString(status), sum);
    return status == hipSuccess && std::fabs(sum - 1000) < 0.01 ? 0 : 1;
}
