/* SPDX-License-Identifier: MIT */
/* Launches on the CPU device, as `verbose.py` needs them. Each function returns
 * seconds, or a negative HIP code. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "abi/hip.h"

enum { LAUNCHES = 200, ROUNDS_MAX = 10000, STREAMS = 4, AT_ONCE = 50 };

#define TRY(call)                                                                      \
    do {                                                                               \
        hipError_t code_ = (call);                                                     \
        if (code_ != hipSuccess) {                                                     \
            fprintf(stderr, "%s: %s\n", #call, hipGetErrorName(code_));                \
            return -(double)code_;                                                     \
        }                                                                              \
    } while (0)

static hipFunction_t empty, busy;
static hipStream_t streams[STREAMS];
static void *result;

static double
now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double
start(const void *code)
{
    hipModule_t module;
    TRY(hipModuleLoadData(&module, code));
    TRY(hipModuleGetFunction(&empty, module, "empty"));
    TRY(hipModuleGetFunction(&busy, module, "busy"));
    TRY(hipMalloc(&result, sizeof(float)));
    for (int i = 0; i < STREAMS; i++) {
        TRY(hipStreamCreateWithFlags(&streams[i], hipStreamNonBlocking));
    }
    return 0;
}

static hipError_t
launch(hipFunction_t kernel, hipStream_t stream, void **arguments)
{
    return hipModuleLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
}

static int
by_value(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* Of the launching thread for one launch, while the device is at work: what one of ten
 * rounds stays below. */
double
per_launch(int rounds, int steps)
{
    static double times[ROUNDS_MAX];
    void *arguments[] = {&result, &steps};
    for (int round = 0; round < rounds; round++) {
        TRY(launch(busy, streams[0], arguments));
        double begin = now();
        for (int i = 0; i < LAUNCHES; i++) {
            TRY(launch(empty, streams[0], NULL));
        }
        times[round] = (now() - begin) / LAUNCHES;
        TRY(hipStreamSynchronize(streams[0]));
    }
    qsort(times, (size_t)rounds, sizeof *times, by_value);
    return times[rounds / 10];
}

/* `count` launches at `rate` a second, on all streams by turns. */
double
at_rate(long count, double rate)
{
    double begin = now();
    for (long i = 0; i < count; i++) {
        while (i % AT_ONCE == 0 && now() - begin < (double)i / rate) {
            struct timespec pause = {.tv_nsec = 20000};
            (void)nanosleep(&pause, NULL);
        }
        TRY(launch(empty, streams[i % STREAMS], NULL));
    }
    double seconds = now() - begin;
    TRY(hipDeviceSynchronize());
    return seconds;
}

/* A program of `count` kernels, with the wait for the last one. */
double
program(int count, int steps)
{
    void *arguments[] = {&result, &steps};
    double begin = now();
    for (int i = 0; i < count; i++) {
        TRY(launch(busy, streams[0], arguments));
    }
    TRY(hipStreamSynchronize(streams[0]));
    return now() - begin;
}
