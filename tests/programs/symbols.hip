// SPDX-License-Identifier: MIT
// Variables of the device by symbol: constants, arrays, static ones, parts of them.
// expect: polynomial 1 10 49 142
// expect: counter 128, 4 bytes
// expect: static 5
// expect: middle 7 8
// expect: asynchronous 9
// expect: past the end hipErrorInvalidValue
// expect: no symbol hipErrorInvalidSymbol
// expect: by address 77
#include "check.h"

struct Polynomial {
    float c[4];
};
__constant__ Polynomial polynomial = {{1, 0, 0, 0}};
__device__ int counter;
static __device__ int hidden = 5;
__device__ int table[16];

__global__ void evaluate(float *x) {
    float t = threadIdx.x;
    const float *c = polynomial.c;
    x[threadIdx.x] = c[0] + t * (c[1] + t * (c[2] + t * c[3]));
    atomicAdd(&counter, 1);
    table[0] = hidden;
}

int main() {
    float *d, x[128];
    Polynomial p = {{1, 2, 3, 4}};
    int n;
    CHECK(hipMalloc(&d, sizeof x));
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(polynomial), &p, sizeof p));
    evaluate<<<1, 128>>>(d);
    CHECK(hipMemcpy(x, d, sizeof x, hipMemcpyDeviceToHost));
    printf("polynomial %.0f %.0f %.0f %.0f\n", x[0], x[1], x[2], x[3]);

    size_t bytes;
    CHECK(hipMemcpyFromSymbol(&n, counter, sizeof n));
    CHECK(hipGetSymbolSize(&bytes, HIP_SYMBOL(counter)));
    printf("counter %d, %zu bytes\n", n, bytes);
    CHECK(hipMemcpyFromSymbol(&n, HIP_SYMBOL(hidden), sizeof n));
    printf("static %d\n", n);

    int pair[2] = {7, 8}, back[2] = {0, 0};
    CHECK(hipMemcpyToSymbol(table, pair, sizeof pair, 6 * sizeof(int)));
    CHECK(hipMemcpyFromSymbol(back, table, sizeof back, 6 * sizeof(int)));
    printf("middle %d %d\n", back[0], back[1]);

    hipStream_t stream;
    int nine = 9;
    CHECK(hipStreamCreate(&stream));
    CHECK(hipMemcpyToSymbolAsync(table, &nine, sizeof nine, 0, hipMemcpyHostToDevice,
                                 stream));
    CHECK(hipMemcpyFromSymbolAsync(&n, table, sizeof n, 0, hipMemcpyDeviceToHost, stream));
    CHECK(hipStreamSynchronize(stream));
    CHECK(hipStreamDestroy(stream));
    printf("asynchronous %d\n", n);

    printf("past the end %s\n",
           hipGetErrorName(hipMemcpyToSymbol(table, pair, sizeof pair, 15 * sizeof(int))));
    printf("no symbol %s\n", hipGetErrorName(hipMemcpyFromSymbol(&n, x, sizeof n)));

    int *address, value = 77;
    CHECK(hipGetSymbolAddress((void **)&address, table));
    CHECK(hipMemcpy(address + 15, &value, sizeof value, hipMemcpyHostToDevice));
    CHECK(hipMemcpyFromSymbol(&n, table, sizeof n, 15 * sizeof(int)));
    printf("by address %d\n", n);
    CHECK(hipFree(d));
}
