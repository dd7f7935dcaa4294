/* SPDX-License-Identifier: MIT */
/* Cooperative launches on several devices: barriers, the order of streams, faults, and
 * what is refused. */
#include "cpu_support.h"

#include <stdatomic.h>

#include "cpu/queue/stream.h"

enum { DEVICES = 4, BLOCKS = 5, LANES = 16 };
enum { NOTHING, ENDS, FAILS, WAITS };

static hipModule_t modules[DEVICES];
static hipFunction_t grids_kernel[DEVICES], spin_kernel[DEVICES], empty_kernel[DEVICES];
static hipStream_t streams[DEVICES];

static void
open_device(int id)
{
    OK(hipSetDevice(id));
    grids_kernel[id] = image_function(&modules[id], "grids");
    OK(hipModuleGetFunction(&spin_kernel[id], modules[id], "spin"));
    OK(hipModuleGetFunction(&empty_kernel[id], modules[id], "empty"));
    OK(hipStreamCreate(&streams[id]));
    OK(hipSetDevice(0));
}

static hipFunctionLaunchParams
grid_of(hipFunction_t function, hipStream_t stream, void **params)
{
    return (hipFunctionLaunchParams){.function = function,
                                     .gridDimX = BLOCKS,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = LANES,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .hStream = stream,
                                     .kernelParams = params};
}

/* Launches `grids` on the devices [0, count); `counter` has two entries. */
static hipError_t
launch_grids(uint64_t *counter, unsigned count, int rounds, int what, unsigned flags)
{
    hipFunctionLaunchParams list[DEVICES];
    int who = 1;
    void *params[] = {&counter, &rounds, &what, &who};
    for (unsigned i = 0; i < count; i++) {
        list[i] = grid_of(grids_kernel[i], streams[i], params);
        list[i].gridDimX += i;
    }
    return hipModuleLaunchCooperativeKernelMultiDevice(list, count, flags);
}

static uint64_t *
new_counter(void)
{
    uint64_t *counter;
    OK(hipHostMalloc((void **)&counter, 2 * sizeof *counter, 0));
    counter[0] = counter[1] = 0;
    return counter;
}

static uint64_t
threads_of(unsigned count)
{
    uint64_t threads = 0;
    for (unsigned i = 0; i < count; i++) {
        threads += (uint64_t)(BLOCKS + i) * LANES;
    }
    return threads;
}

static void
test_grids_meet_at_barriers(void)
{
    enum { ROUNDS = 10, LAUNCHES = 5 };
    for (unsigned count = 1; count <= DEVICES; count++) {
        uint64_t *counters[LAUNCHES];
        for (unsigned flags = 0; flags < 4; flags++) {
            for (int i = 0; i < LAUNCHES; i++) {
                counters[i] = new_counter();
                OK(launch_grids(counters[i], count, ROUNDS, NOTHING, flags));
            }
            for (unsigned i = 0; i < count; i++) {
                OK(hipStreamSynchronize(streams[i]));
            }
            for (int i = 0; i < LAUNCHES; i++) {
                CHECK(counters[i][0] == ROUNDS * threads_of(count));
                CHECK(counters[i][1] == 0);
                OK(hipHostFree(counters[i]));
            }
        }
    }
}

static void
test_grids_wait_for_all_streams_unless_told_otherwise(void)
{
    hipFunctionLaunchParams list[2];
    for (int i = 0; i < 2; i++) {
        list[i] = grid_of(empty_kernel[i], streams[i], NULL);
    }
    for (unsigned flags = 0; flags < 4; flags++) {
        close_gate(streams[0]);
        OK(hipModuleLaunchCooperativeKernelMultiDevice(list, 2, flags));
        if (flags == 3) { /* grid 1 stands alone */
            OK(hipStreamSynchronize(streams[1]));
        } else { /* it waits to begin, or what follows it waits for grid 0 */
            usleep(20000);
            CHECK_HIP(hipStreamQuery(streams[1]), hipErrorNotReady);
        }
        CHECK_HIP(hipStreamQuery(streams[0]), hipErrorNotReady);
        gate_open = 1;
        OK(hipStreamSynchronize(streams[0]));
        OK(hipStreamSynchronize(streams[1]));
    }
}

static void
test_streams_wait_for_all_grids_unless_told_otherwise(void)
{
    hipFunctionLaunchParams list[2];
    volatile int *stop;
    OK(hipHostMalloc((void **)&stop, sizeof *stop, 0));
    void *params[] = {&stop};
    list[0] = grid_of(spin_kernel[0], streams[0], params);
    list[1] = grid_of(empty_kernel[1], streams[1], NULL);
    for (unsigned flags = 0; flags < 4; flags++) {
        *stop = 0;
        OK(hipModuleLaunchCooperativeKernelMultiDevice(list, 2, flags));
        if ((flags & hipCooperativeLaunchMultiDeviceNoPostSync) != 0) {
            OK(hipStreamSynchronize(streams[1]));
        } else {
            usleep(20000);
            CHECK_HIP(hipStreamQuery(streams[1]), hipErrorNotReady);
        }
        CHECK_HIP(hipStreamQuery(streams[0]), hipErrorNotReady);
        *stop = 1;
        OK(hipStreamSynchronize(streams[0]));
        OK(hipStreamSynchronize(streams[1]));
    }
    OK(hipHostFree((void *)stop));
}

/* After a launch in which grid 1 did `what`. */
static void
check_codes(unsigned count, const hipError_t *codes, const char *text)
{
    for (unsigned i = 0; i < count; i++) {
        OK(hipSetDevice((int)i)); /* calls answer the fault of the current device */
        CHECK_HIP(hipStreamSynchronize(streams[i]), codes[i]);
        CHECK(codes[i] == hipSuccess || strstr(hipadaptGetErrorText(), text) != NULL);
    }
    for (unsigned i = 0; i < count; i++) {
        if (codes[i] != hipSuccess) {
            OK(hipSetDevice((int)i));
            OK(hipDeviceReset());
            open_device((int)i);
        }
    }
    OK(hipSetDevice(0));
}

static void
test_a_fault_of_one_grid_is_that_of_all(void)
{
    static const hipError_t address[] = {hipErrorIllegalAddress, hipErrorIllegalAddress,
                                         hipErrorIllegalAddress};
    static const hipError_t barrier[] = {hipErrorLaunchFailure, hipSuccess,
                                         hipErrorLaunchFailure};
    for (unsigned flags = 0; flags < 4; flags += 3) {
        uint64_t *counter;
        OK(hipSetDevice(3)); /* the devices in question are reset */
        counter = new_counter();
        OK(hipSetDevice(0));
        OK(launch_grids(counter, 3, 2, FAILS, flags));
        check_codes(3, address, "invalid access at 0x10");
        OK(launch_grids(counter, 3, 2, ENDS, flags));
        check_codes(3, barrier, "has ended without it");
        OK(hipHostFree(counter));
    }
    test_grids_meet_at_barriers();
}

static void
test_a_grid_that_is_late_ends_all(void)
{
    static const hipError_t late[] = {hipErrorLaunchTimeOut, hipErrorLaunchTimeOut,
                                      hipErrorLaunchTimeOut};
    uint64_t *counter;
    OK(hipSetDevice(3)); /* the devices in question are reset */
    counter = new_counter();
    OK(hipSetDevice(0));
    OK(launch_grids(counter, 3, 2, WAITS, 0));
    check_codes(3, late, "HIPADAPT_KERNEL_TIMEOUT");
    OK(hipHostFree(counter));
    test_grids_meet_at_barriers();
}

static void
test_a_device_that_is_reset_ends_the_grids_of_the_others(void)
{
    uint64_t *counter;
    OK(hipSetDevice(3));
    counter = new_counter();
    OK(hipSetDevice(0));
    if (!CAN_END_KERNELS) {
        return;
    }
    OK(launch_grids(counter, 2, 1, WAITS, 0));
    while (__atomic_load_n(counter, __ATOMIC_SEQ_CST) != threads_of(2)) {
        usleep(100); /* until all of both grids run */
    }
    OK(hipSetDevice(1));
    OK(hipDeviceReset());
    open_device(1);
    CHECK_HIP(hipStreamSynchronize(streams[0]), hipErrorLaunchTimeOut);
    CHECK(strstr(hipadaptGetErrorText(), "hipDeviceReset") != NULL);
    OK(hipDeviceReset());
    open_device(0);
    OK(hipHostFree(counter));
}

/* Grid 0 would wait for a grid that is dropped with the rest of its device's work. */
static void
test_a_grid_that_never_begins_ends_the_others(void)
{
    uint64_t *counter;
    hipFunction_t crash;
    OK(hipSetDevice(3));
    counter = new_counter();
    OK(hipSetDevice(0));
    OK(hipModuleGetFunction(&crash, modules[1], "crash"));
    close_gate(streams[1]);
    OK(hipModuleLaunchKernel(crash, 1, 1, 1, 1, 1, 1, 0, streams[1], NULL, NULL));
    OK(launch_grids(counter, 2, 3, NOTHING, hipCooperativeLaunchMultiDeviceNoPreSync));
    usleep(5000);
    gate_open = 1;
    static const hipError_t codes[] = {hipErrorIllegalAddress, hipErrorIllegalAddress};
    check_codes(2, codes, "");
    OK(hipHostFree(counter));
}

struct crossing {
    unsigned first;
    uint64_t *counter;
};

static void *
crossing_main(void *argument)
{
    const struct crossing *crossing = argument;
    for (int i = 0; i < scaled(200, 4); i++) {
        hipFunctionLaunchParams list[DEVICES];
        uint64_t *counter = crossing->counter;
        int rounds = 0, what = ENDS, who = DEVICES;
        void *params[] = {&counter, &rounds, &what, &who};
        for (unsigned k = 0; k < DEVICES; k++) {
            unsigned id = (crossing->first + k * 3) % DEVICES;
            list[k] = grid_of(grids_kernel[id], streams[id], params);
        }
        OK(hipModuleLaunchCooperativeKernelMultiDevice(list, DEVICES, (unsigned)i % 4));
    }
    return NULL;
}

static void
test_launches_of_several_threads_never_wait_for_each_other_crosswise(void)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    struct crossing crossings[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        crossings[i] = (struct crossing){i, new_counter()};
        CHECK(pthread_create(&threads[i], NULL, crossing_main, &crossings[i]) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    for (unsigned i = 0; i < DEVICES; i++) {
        OK(hipStreamSynchronize(streams[i]));
    }
    for (unsigned i = 0; i < THREADS; i++) {
        OK(hipHostFree(crossings[i].counter));
    }
}

static void
test_streams_may_go_before_their_grids(void)
{
    uint64_t *counter = new_counter();
    hipEvent_t event;
    OK(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    close_gate(streams[0]);
    OK(launch_grids(counter, 3, 4, NOTHING, 0));
    OK(hipEventRecord(event, streams[0]));
    for (int i = 0; i < 3; i++) {
        OK(hipStreamDestroy(streams[i]));
    }
    gate_open = 1;
    OK(hipEventSynchronize(event));
    CHECK(counter[0] == 4 * threads_of(3) && counter[1] == 0);
    for (int i = 0; i < 3; i++) {
        OK(hipSetDevice(i));
        OK(hipStreamCreate(&streams[i]));
    }
    OK(hipSetDevice(0));
    OK(hipEventDestroy(event));
    OK(hipHostFree(counter));
}

static void
test_bad_lists_are_refused(void)
{
    hipFunctionLaunchParams list[DEVICES + 1], good[2];
    hipStream_t gone, other;
    for (unsigned i = 0; i < 2; i++) {
        good[i] = grid_of(empty_kernel[i], streams[i], NULL);
    }
#define LAUNCH(count, flags)                                                           \
    hipModuleLaunchCooperativeKernelMultiDevice(list, count, flags)
#define CHECK_WITH(change, want)                                                       \
    do {                                                                               \
        memcpy(list, good, sizeof good);                                               \
        change;                                                                        \
        CHECK_HIP(LAUNCH(2, 0), want);                                                 \
    } while (0)
    memcpy(list, good, sizeof good);
    CHECK_HIP(hipModuleLaunchCooperativeKernelMultiDevice(NULL, 2, 0),
              hipErrorInvalidValue);
    CHECK_HIP(LAUNCH(0, 0), hipErrorInvalidValue);
    CHECK_HIP(LAUNCH(DEVICES + 1, 0), hipErrorInvalidValue);
    CHECK_HIP(LAUNCH(2, 4), hipErrorInvalidValue);
    CHECK_HIP(LAUNCH(2, 999), hipErrorInvalidValue);
    CHECK_WITH(list[1].hStream = NULL, hipErrorInvalidResourceHandle);
    CHECK_WITH(list[1].hStream = HA_STREAM_LEGACY, hipErrorInvalidResourceHandle);
    CHECK_WITH(list[0].hStream = HA_STREAM_PER_THREAD, hipErrorInvalidResourceHandle);
    OK(hipStreamCreate(&gone));
    OK(hipStreamDestroy(gone));
    CHECK_WITH(list[0].hStream = gone, hipErrorInvalidValue);
    OK(hipStreamCreate(&other));
    CHECK_WITH(list[1].hStream = other, hipErrorInvalidDevice);
    OK(hipStreamDestroy(other));
    CHECK_WITH(list[1].function = list[0].function, hipErrorInvalidDevice);
    CHECK_WITH(list[1].function = NULL, hipErrorInvalidResourceHandle);
    CHECK_WITH(list[1].blockDimY = 0, hipErrorInvalidConfiguration);
    CHECK_WITH(list[1].gridDimX = 0, hipErrorInvalidConfiguration);
    CHECK_WITH(list[1].gridDimX = 1 << 20, hipErrorCooperativeLaunchTooLarge);
    CHECK_WITH(list[1].sharedMemBytes = 1 << 20, hipErrorInvalidValue);
    CHECK_WITH(list[1].function = grids_kernel[1], hipErrorInvalidValue);
    CHECK_WITH((list[1].blockDimX = 3, list[1].sharedMemBytes = 64), hipSuccess);
#undef CHECK_WITH
#undef LAUNCH
    OK(hipStreamSynchronize(streams[0]));
    OK(hipStreamSynchronize(streams[1]));
}

static void
test_capture_is_refused(void)
{
    uint64_t *counter = new_counter();
    hipGraph_t graph;
    OK(hipStreamBeginCapture(streams[1], hipStreamCaptureModeRelaxed));
    CHECK_HIP(launch_grids(counter, 2, 1, NOTHING, 0),
              hipErrorStreamCaptureUnsupported);
    CHECK_HIP(hipStreamEndCapture(streams[1], &graph),
              hipErrorStreamCaptureInvalidated);
    OK(launch_grids(counter, 2, 1, NOTHING, 0));
    OK(hipStreamSynchronize(streams[0]));
    CHECK(counter[0] == threads_of(2));
    OK(hipHostFree(counter));
}

static void
test_devices_say_that_they_can(void)
{
    static const hipDeviceAttribute_t attributes[] = {
        hipDeviceAttributeCooperativeMultiDeviceLaunch,
        hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc,
        hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim,
        hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim,
        hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem,
    };
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        int value = 0;
        OK(hipDeviceGetAttribute(&value, attributes[i], DEVICES - 1));
        CHECK(value == 1);
    }
}

static void
open_devices(const char *threads, const char *limit_s)
{
    CHECK(setenv("HIPADAPT_CPU_DEVICES", "4", 1) == 0);
    CHECK(setenv("HIPADAPT_KERNEL_TIMEOUT", limit_s, 1) == 0);
    CHECK(setenv("HIPADAPT_LOG", "0", 1) == 0);
    CHECK(setenv("HIPADAPT_CPU_THREADS", threads, 1) == 0);
    printf("%s threads\n", threads);
    for (int i = 0; i < DEVICES; i++) {
        open_device(i);
    }
}

/* Other kernels would be late too under a limit as short as that. */
static void
run_short(const char *threads)
{
    open_devices(threads, "1");
    RUN(test_a_grid_that_is_late_ends_all);
}

static void
run_long(const char *threads)
{
    open_devices(threads, "120");
    RUN(test_devices_say_that_they_can);
    RUN(test_grids_meet_at_barriers);
    RUN(test_grids_wait_for_all_streams_unless_told_otherwise);
    RUN(test_streams_wait_for_all_grids_unless_told_otherwise);
    RUN(test_launches_of_several_threads_never_wait_for_each_other_crosswise);
    RUN(test_streams_may_go_before_their_grids);
    RUN(test_bad_lists_are_refused);
    RUN(test_capture_is_refused);
    RUN(test_a_fault_of_one_grid_is_that_of_all);
    RUN(test_a_device_that_is_reset_ends_the_grids_of_the_others);
    RUN(test_a_grid_that_never_begins_ends_the_others);
}

static void
in_child(void (*run)(const char *), const char *threads)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        run(threads);
        fflush(stdout);
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int
main(void)
{
    static const char *const threads[] = {"1", "2", "6"};
    image_make();
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        in_child(run_long, threads[i]);
        if (CAN_END_KERNELS) {
            in_child(run_short, threads[i]);
        }
    }
    return 0;
}
