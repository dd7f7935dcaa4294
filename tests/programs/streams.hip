// SPDX-License-Identifier: MIT
// Work of several streams, ordered by events, with asynchronous copies.
// expect: 4 streams, 0 mistakes
// expect: waited for the other stream: 1
// expect: host function saw 64
#include <vector>

#include "check.h"

static const int count = 4, size = 1 << 14;

__global__ void step(int *x, int n, int a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] * 2 + a;
}

static void look(void *data) {
    int *pair = (int *)data;
    pair[1] = pair[0] + 1;
}

int main() {
    hipStream_t streams[count];
    int *host[count], *device[count], mistakes = 0;
    for (int s = 0; s < count; s++) {
        CHECK(hipStreamCreate(&streams[s]));
        CHECK(hipHostMalloc(&host[s], size * sizeof(int)));
        CHECK(hipMallocAsync(&device[s], size * sizeof(int), streams[s]));
        for (int i = 0; i < size; i++)
            host[s][i] = i % 100;
        CHECK(hipMemcpyAsync(device[s], host[s], size * sizeof(int),
                             hipMemcpyHostToDevice, streams[s]));
        for (int k = 0; k < 5; k++)
            step<<<(size + 127) / 128, 128, 0, streams[s]>>>(device[s], size, s);
        CHECK(hipMemcpyAsync(host[s], device[s], size * sizeof(int),
                             hipMemcpyDeviceToHost, streams[s]));
        CHECK(hipFreeAsync(device[s], streams[s]));
    }
    CHECK(hipDeviceSynchronize());
    for (int s = 0; s < count; s++)
        for (int i = 0; i < size; i++)
            mistakes += host[s][i] != i % 100 * 32 + s * 31;
    printf("%d streams, %d mistakes\n", count, mistakes);

    int *d, x = -1;
    hipEvent_t done;
    CHECK(hipMalloc(&d, sizeof *d));
    CHECK(hipMemset(d, 0, sizeof *d));
    CHECK(hipEventCreateWithFlags(&done, hipEventDisableTiming));
    step<<<1, 1, 0, streams[0]>>>(d, 1, 1);
    CHECK(hipEventRecord(done, streams[0]));
    CHECK(hipStreamWaitEvent(streams[1], done));
    CHECK(hipMemcpyAsync(&x, d, sizeof x, hipMemcpyDeviceToHost, streams[1]));
    CHECK(hipStreamSynchronize(streams[1]));
    printf("waited for the other stream: %d\n", x);

    int pair[2] = {63, 0};
    CHECK(hipLaunchHostFunc(streams[2], look, pair));
    CHECK(hipStreamSynchronize(streams[2]));
    printf("host function saw %d\n", pair[1]);
    CHECK(hipEventDestroy(done));
    CHECK(hipFree(d));
    for (int s = 0; s < count; s++) {
        CHECK(hipStreamDestroy(streams[s]));
        CHECK(hipHostFree(host[s]));
    }
}
