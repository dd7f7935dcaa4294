/* SPDX-License-Identifier: MIT */
/* Times of small runtime calls. Prints one line each. */
#include "cpu_support.h"

#include <sys/resource.h>

static uint64_t begin_ns;

static void
start(void)
{
    begin_ns = ha_clock_ns();
}

static void
stop(const char *what, int count)
{
    printf("%-40s %9.3f us\n", what,
           (double)(ha_clock_ns() - begin_ns) / 1000.0 / (double)count);
    fflush(stdout);
}

static long
resident_kb(void)
{
    long pages = 0;
    long total;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &total, &pages) != 2) {
        exit(1);
    }
    fclose(file);
    return pages * 4;
}

static void
time_small_calls(hipStream_t stream)
{
    hipEvent_t event;
    void *pointer;
    int id;
    OK(hipEventCreate(&event));
    start();
    for (int i = 0; i < 1000000; i++) {
        OK(hipGetDevice(&id));
    }
    stop("hipGetDevice", 1000000);
    start();
    for (int i = 0; i < 1000000; i++) {
        OK(hipStreamQuery(stream));
    }
    stop("hipStreamQuery idle", 1000000);
    start();
    for (int i = 0; i < 500000; i++) {
        OK(hipEventRecord(event, stream));
        OK(hipEventQuery(event));
    }
    stop("event record + query", 500000);
    start();
    for (int i = 0; i < 500000; i++) {
        OK(hipMalloc(&pointer, 4096));
        OK(hipFree(pointer));
    }
    stop("hipMalloc + hipFree 4 KB", 500000);
    char host[64];
    OK(hipMalloc(&pointer, 4096));
    start();
    for (int i = 0; i < 500000; i++) {
        OK(hipMemcpy(pointer, host, sizeof host, hipMemcpyHostToDevice));
    }
    stop("hipMemcpy 64 B", 500000);
    start();
    for (int i = 0; i < 500000; i++) {
        OK(hipMemcpyAsync(pointer, host, sizeof host, hipMemcpyHostToDevice, stream));
    }
    OK(hipStreamSynchronize(stream));
    stop("hipMemcpyAsync 64 B", 500000);
    OK(hipFree(pointer));
    OK(hipEventDestroy(event));
}

static void
time_launches(hipFunction_t empty, hipStream_t stream)
{
    start();
    for (int i = 0; i < 200000; i++) {
        OK(hipModuleLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
        OK(hipStreamSynchronize(stream));
    }
    stop("launch 1 block + stream sync", 200000);
    start();
    for (int i = 0; i < 200000; i++) {
        OK(hipModuleLaunchKernel(empty, 64, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
        OK(hipDeviceSynchronize());
    }
    stop("launch 64 blocks + device sync", 200000);
}

/* How fast launches are taken, and what is left in memory of so many. */
static void
time_many_launches(hipFunction_t empty, hipStream_t stream)
{
    long before = resident_kb();
    start();
    for (int i = 0; i < 1000000; i++) {
        OK(hipModuleLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    }
    OK(hipStreamSynchronize(stream));
    stop("launch only, 1 stream", 1000000);
    printf("resident grew by %ld KiB\n", resident_kb() - before);
    hipStream_t streams[16];
    for (int i = 0; i < 16; i++) {
        OK(hipStreamCreateWithFlags(&streams[i], hipStreamNonBlocking));
    }
    before = resident_kb();
    start();
    for (int i = 0; i < 1000000; i++) {
        OK(hipModuleLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, streams[i % 16], NULL,
                                 NULL));
    }
    OK(hipDeviceSynchronize());
    stop("launch only, 16 streams", 1000000);
    printf("resident grew by %ld KiB\n", resident_kb() - before);
}

static void
time_large_copies(void)
{
    void *pointer;
    size_t big = (size_t)64 << 20;
    char *source = malloc(big);
    char *target = malloc(big);
    CHECK(source != NULL && target != NULL);
    memset(source, 1, big);
    memset(target, 1, big);
    OK(hipMalloc(&pointer, big));
    OK(hipMemset(pointer, 0, big));
    start();
    for (int i = 0; i < 10; i++) {
        memcpy(target, source, big);
        __asm__ volatile("" ::: "memory");
    }
    stop("memcpy 64 MB", 10);
    start();
    for (int i = 0; i < 10; i++) {
        OK(hipMemcpy(pointer, source, big, hipMemcpyHostToDevice));
    }
    stop("hipMemcpy 64 MB to device", 10);
    start();
    for (int i = 0; i < 10; i++) {
        OK(hipMemcpy(target, pointer, big, hipMemcpyDeviceToHost));
    }
    stop("hipMemcpy 64 MB to host", 10);
    free(source);
    free(target);
    OK(hipFree(pointer));
}

int
main(void)
{
    hipModule_t module;
    hipFunction_t empty = image_function(&module, "empty");
    hipStream_t stream;
    OK(hipStreamCreate(&stream));
    for (int warm = 0; warm < 1000; warm++) {
        OK(hipModuleLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
        OK(hipStreamSynchronize(stream));
    }
    time_small_calls(stream);
    time_launches(empty, stream);
    time_many_launches(empty, stream);
    time_large_copies();
    return 0;
}
