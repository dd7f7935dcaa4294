// SPDX-License-Identifier: MIT
// The launch that everybody writes, with a ragged last block.
// expect: sum 1501500
// expect: first 3 last 3000
// expect: grid of two dimensions: 0 mistakes
#include <numeric>
#include <vector>

#include "check.h"

__global__ void scale(float *x, int n, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= factor;
}

__global__ void place(int *x, int width, int height) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < height)
        x[row * width + column] = row * 1000 + column;
}

int main() {
    std::vector<float> x(1000);
    std::iota(x.begin(), x.end(), 1.0f);
    float *d;
    CHECK(hipMalloc(&d, x.size() * sizeof(float)));
    CHECK(hipMemcpy(d, x.data(), x.size() * sizeof(float), hipMemcpyHostToDevice));
    scale<<<(x.size() + 255) / 256, 256>>>(d, x.size(), 3.0f);
    CHECK(hipGetLastError());
    CHECK(hipMemcpy(x.data(), d, x.size() * sizeof(float), hipMemcpyDeviceToHost));
    std::printf("sum %.0f\n", std::accumulate(x.begin(), x.end(), 0.0));
    std::printf("first %.0f last %.0f\n", x.front(), x.back());

    const int width = 37, height = 21;
    std::vector<int> y(width * height);
    int *e;
    CHECK(hipMalloc(&e, y.size() * sizeof(int)));
    dim3 block(16, 4), grid((width + 15) / 16, (height + 3) / 4);
    place<<<grid, block, 0, 0>>>(e, width, height);
    CHECK(hipMemcpy(y.data(), e, y.size() * sizeof(int), hipMemcpyDeviceToHost));
    int mistakes = 0;
    for (int i = 0; i < width * height; i++)
        mistakes += y[i] != i / width * 1000 + i % width;
    std::printf("grid of two dimensions: %d mistakes\n", mistakes);
    CHECK(hipFree(d));
    CHECK(hipFree(e));
}
