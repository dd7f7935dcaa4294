/* SPDX-License-Identifier: MIT */
/* Small calls of the CPU device's runtime, from C. Each function returns the seconds of
 * one operation, the best of its rounds, or a negative HIP code. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi/hip.h"

enum { CALLS = 2000, STREAMS = 16, NODES = 100, BIG_BYTES = 64 << 20, MANY_ROUNDS = 4 };

#define TRY(call)                                                                      \
    do {                                                                               \
        hipError_t code_ = (call);                                                     \
        if (code_ != hipSuccess) {                                                     \
            fprintf(stderr, "%s: %s\n", #call, hipGetErrorName(code_));                \
            return -(double)code_;                                                     \
        }                                                                              \
    } while (0)

static hipFunction_t kernel;
static hipStream_t streams[STREAMS];

static double
now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double
least(double best, double begin, double count)
{
    double one = (now() - begin) / count;
    return best == 0 || one < best ? one : best;
}

double
start(const void *code)
{
    hipModule_t module;
    TRY(hipModuleLoadData(&module, code));
    TRY(hipModuleGetFunction(&kernel, module, "empty"));
    for (int i = 0; i < STREAMS; i++) {
        TRY(hipStreamCreateWithFlags(&streams[i], hipStreamNonBlocking));
    }
    return 0;
}

static hipError_t
launch(hipStream_t stream)
{
    return hipModuleLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

double
launch_and_wait(int rounds)
{
    double best = 0;
    for (int round = 0; round < rounds; round++) {
        double begin = now();
        for (int i = 0; i < CALLS; i++) {
            TRY(launch(streams[0]));
            TRY(hipStreamSynchronize(streams[0]));
        }
        best = least(best, begin, CALLS);
    }
    return best;
}

static long
resident_bytes(void)
{
    long all = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fscanf(file, "%ld %ld", &all, &pages) != 2) {
            pages = 0;
        }
        fclose(file);
    }
    return pages * 4096;
}

/* `count` launches on all streams, several times: the best time, and the least growth
 * of resident memory in *bytes.  What may be in flight takes some memory in one of the
 * rounds; what is lost shows in each. */
double
launch_many(int count, long *bytes)
{
    double best = 0;
    for (int round = 0; round < MANY_ROUNDS; round++) {
        long before = resident_bytes();
        double begin = now();
        for (int i = 0; i < count; i++) {
            TRY(launch(streams[i % STREAMS]));
        }
        TRY(hipDeviceSynchronize());
        double one = (now() - begin) / count;
        long grown = resident_bytes() - before;
        best = round == 0 || one < best ? one : best;
        *bytes = round == 0 || grown < *bytes ? grown : *bytes;
    }
    return best;
}

/* A chain of empty nodes or of empty kernels, with the wait. */
double
graph(int rounds, int kernels)
{
    hipGraph_t nodes;
    hipGraphNode_t node, before;
    hipGraphExec_t exec;
    const hipKernelNodeParams params = {
        .func = kernel, .gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}};
    TRY(hipGraphCreate(&nodes, 0));
    for (int i = 0; i < NODES; i++) {
        size_t count = i > 0;
        TRY(kernels ? hipGraphAddKernelNode(&node, nodes, &before, count, &params)
                    : hipGraphAddEmptyNode(&node, nodes, &before, count));
        before = node;
    }
    TRY(hipGraphInstantiate(&exec, nodes, NULL, NULL, 0));
    double best = 0;
    for (int round = 0; round < rounds; round++) {
        double begin = now();
        for (int i = 0; i < CALLS / NODES; i++) {
            TRY(hipGraphLaunch(exec, streams[0]));
            TRY(hipStreamSynchronize(streams[0]));
        }
        best = least(best, begin, CALLS / NODES);
    }
    TRY(hipGraphExecDestroy(exec));
    TRY(hipGraphDestroy(nodes));
    return best;
}

/* Both copy from and to the same kind of memory, by turns. */
double
copy(int rounds, int to_host, double *plain)
{
    char *host = malloc(BIG_BYTES), *other = malloc(BIG_BYTES);
    void *device;
    double best = 0;
    *plain = 0;
    TRY(hipMalloc(&device, BIG_BYTES));
    TRY(hipMemset(device, 1, BIG_BYTES));
    if (host == NULL || other == NULL) {
        return -(double)hipErrorOutOfMemory;
    }
    memset(host, 2, BIG_BYTES);
    memset(other, 3, BIG_BYTES);
    for (int round = 0; round < rounds; round++) {
        double begin = now();
        memcpy(other, host, BIG_BYTES);
        __asm__ volatile("" ::"r"(other) : "memory");
        *plain = least(*plain, begin, 1);
        begin = now();
        TRY(to_host ? hipMemcpy(host, device, BIG_BYTES, hipMemcpyDeviceToHost)
                    : hipMemcpy(device, host, BIG_BYTES, hipMemcpyHostToDevice));
        best = least(best, begin, 1);
    }
    TRY(hipFree(device));
    free(host);
    free(other);
    return best;
}

double
allocate(int rounds)
{
    void *pointer;
    double best = 0;
    for (int round = 0; round < rounds; round++) {
        double begin = now();
        for (int i = 0; i < CALLS; i++) {
            TRY(hipMalloc(&pointer, 4096));
            TRY(hipFree(pointer));
        }
        best = least(best, begin, CALLS);
    }
    return best;
}

double
record_and_query(int rounds)
{
    hipEvent_t event;
    double best = 0;
    TRY(hipEventCreate(&event));
    for (int round = 0; round < rounds; round++) {
        double begin = now();
        for (int i = 0; i < CALLS; i++) {
            TRY(hipEventRecord(event, streams[0]));
            TRY(hipEventQuery(event));
        }
        best = least(best, begin, CALLS);
    }
    TRY(hipEventDestroy(event));
    return best;
}
