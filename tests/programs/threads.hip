// SPDX-License-Identifier: MIT
// Eight threads that are the first to use the program's code, all at once.
// flags: -pthread
// expect: 8 threads, 0 mistakes
#include <atomic>
#include <thread>
#include <vector>

#include "check.h"

__device__ int offset = 5;

__global__ void add(int *x, int a) { *x += a + offset; }

int main() {
    std::atomic<int> ready{0}, mistakes{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++)
        threads.emplace_back([&, t] {
            int *d, x = 0;
            hipStream_t stream;
            CHECK(hipStreamCreate(&stream));
            CHECK(hipMalloc(&d, sizeof *d));
            CHECK(hipMemset(d, 0, sizeof *d));
            ready++;
            while (ready < 8) {
            }
            for (int i = 0; i < 200; i++)
                add<<<1, 1, 0, stream>>>(d, t);
            CHECK(hipStreamSynchronize(stream));
            CHECK(hipMemcpy(&x, d, sizeof x, hipMemcpyDeviceToHost));
            mistakes += x != 200 * (t + 5);
            CHECK(hipStreamDestroy(stream));
            CHECK(hipFree(d));
        });
    for (auto &thread : threads)
        thread.join();
    printf("8 threads, %d mistakes\n", mistakes.load());
}
