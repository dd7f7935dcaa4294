/* SPDX-License-Identifier: MIT */
/* Kernels that fail in thousands: each ends with its own code, the process and all
 * other work go on.  A tenth of the full sizes unless HIPADAPT_SLOW_TESTS is set. */
#include "cpu_support.h"

#include "cpu/base/config.h"
#include "cpu/queue/pool.h"

enum { LANES = 64, BLOCKS = 4, COUNT = LANES * BLOCKS };

static hipModule_t module;
static hipFunction_t add, fail, meet, part, spin;
static int *data;
static uint64_t state = 7;

/* After hipDeviceReset nothing of the device is left. */
static void
load(void)
{
    add = image_function(&module, "add");
    OK(hipModuleGetFunction(&fail, module, "fail"));
    OK(hipModuleGetFunction(&meet, module, "meet"));
    OK(hipModuleGetFunction(&part, module, "part"));
    OK(hipModuleGetFunction(&spin, module, "spin"));
    OK(hipMalloc((void **)&data, COUNT * sizeof *data));
    OK(hipMemset(data, 0, COUNT * sizeof *data));
}

static hipError_t
launch(hipFunction_t function, unsigned blocks, unsigned lanes, void **params)
{
    return hipModuleLaunchKernel(function, blocks, 1, 1, lanes, 1, 1, 0, NULL, params,
                                 NULL);
}

static void
check_all(const int *target, int want)
{
    for (int i = 0; i < COUNT; i++) {
        CHECK(target[i] == want);
    }
}

/* The device has failed with this code: it says so until it is reset. */
static void
check_and_reset(hipError_t want)
{
    void *pointer;
    CHECK_HIP(hipDeviceSynchronize(), want);
    CHECK_HIP(hipMalloc(&pointer, 16), want);
    CHECK_HIP(hipGetLastError(), want);
    OK(hipDeviceReset());
    OK(hipDeviceSynchronize());
}

/* One launch that fails, with a good one before it in the same stream. */
static void
fail_once(int kind)
{
    static const uint64_t addresses[] = {0, 16, UINT64_C(0x5550000000000000),
                                         UINT64_C(0xffffffff80000000), 0x1000};
    uint64_t address = addresses[random_next(&state) % 5];
    unsigned blocks = 1 + random_next(&state) % 8;
    void *params[] = {&kind, &address};
    int value = 5;
    uint64_t n = COUNT;
    void *add_params[] = {&data, &value, &n};
    hipError_t want = kind == 0 ? hipErrorIllegalAddress : hipErrorLaunchFailure;
    OK(launch(add, BLOCKS, LANES, add_params));
    OK(launch(fail, blocks, 1 + random_next(&state) % 64, params));
    hipError_t late = launch(add, BLOCKS, LANES, add_params);
    CHECK(late == hipSuccess || late == want); /* dropped or refused */
    CHECK_HIP(hipDeviceSynchronize(), want);
    check_all(data, value);
    check_and_reset(want);
    load();
}

static void
test_faults_among_good_launches(void)
{
    int rounds = scaled(10000, 10);
    int *other = NULL;
    /* The second device goes on while the first one fails. */
    OK(hipSetDevice(1));
    load();
    other = data;
    hipFunction_t other_add = add;
    OK(hipSetDevice(0));
    load();
    for (int i = 0; i < rounds; i++) {
        uint64_t n = COUNT;
        int one = 1;
        void *params[] = {&other, &one, &n};
        OK(hipSetDevice(1));
        OK(hipModuleLaunchKernel(other_add, BLOCKS, 1, 1, LANES, 1, 1, 0, NULL, params,
                                 NULL));
        OK(hipSetDevice(0));
        fail_once(i % 4);
    }
    OK(hipSetDevice(1));
    OK(hipDeviceSynchronize());
    check_all(other, rounds);
    OK(hipDeviceReset());
    OK(hipSetDevice(0));
}

static void
test_endless_kernels_end_with_the_time_out(void)
{
    const uint64_t limit_ns = 15000000;
    int rounds = scaled(1000, 10);
    int *stop;
    ha_pool_init(ha_config()->thread_count, limit_ns);
    for (int i = 0; i < rounds; i++) {
        OK(hipHostMalloc((void **)&stop, sizeof *stop, 0));
        *stop = 0;
        void *params[] = {&stop};
        uint64_t begin_ns = ha_clock_ns();
        OK(launch(spin, 1 + (unsigned)i % 4, 1 + (unsigned)i % 33, params));
        CHECK_HIP(hipDeviceSynchronize(), hipErrorLaunchTimeOut);
        CHECK(ha_clock_ns() - begin_ns >= limit_ns);
        CHECK(strstr(hipadaptGetErrorText(), "spin") != NULL);
        check_and_reset(hipErrorLaunchTimeOut);
        load();
        int value = 3;
        uint64_t n = COUNT;
        void *add_params[] = {&data, &value, &n};
        OK(launch(add, BLOCKS, LANES, add_params));
        OK(hipDeviceSynchronize());
        check_all(data, value);
    }
    ha_pool_init(ha_config()->thread_count, 0);
}

static void
test_every_divergent_barrier_is_found(void)
{
    const uint64_t limit_ns = 1000000000;
    int rounds = scaled(200, 1);
    for (int i = 0; i < rounds; i++) {
        unsigned lanes = 2 + random_next(&state) % 255;
        int first = (int)(random_next(&state) % (lanes - 1));
        int last = first;
        last += (int)(random_next(&state) % (lanes - 1 - (unsigned)first));
        void *params[] = {&first, &last};
        uint64_t begin_ns = ha_clock_ns();
        OK(launch(part, 1 + random_next(&state) % 5, lanes, params));
        CHECK_HIP(hipDeviceSynchronize(), hipErrorLaunchFailure);
        CHECK(ha_clock_ns() - begin_ns < limit_ns);
        CHECK(strstr(hipadaptGetErrorText(), "wait at different barriers") != NULL);
        check_and_reset(hipErrorLaunchFailure);
        load();
    }
}

/* What `meet` leaves of block `block`. */
static void
check_meet(const int *found, unsigned block, unsigned lanes, int rounds)
{
    for (unsigned t = 0; t < lanes; t++) {
        int want = (int)(block * lanes + (t + (unsigned)rounds) % lanes) + rounds;
        CHECK(found[block * lanes + t] == want);
    }
}

static void
test_right_barriers_raise_no_alarm(void)
{
    int launches = scaled(10000, 10);
    int *found;
    OK(hipMalloc((void **)&found, 4 * 256 * sizeof *found));
    for (int i = 0; i < launches; i++) {
        unsigned lanes = 1 + random_next(&state) % 256;
        unsigned blocks = 1 + random_next(&state) % 4;
        int rounds = (int)(random_next(&state) % 6);
        void *params[] = {&found, &rounds};
        OK(launch(meet, blocks, lanes, params));
        OK(hipDeviceSynchronize());
        for (unsigned block = 0; block < blocks; block++) {
            check_meet(found, block, lanes, rounds);
        }
    }
    OK(hipFree(found));
}

int
main(void)
{
    CHECK(setenv("HIPADAPT_CPU_DEVICES", "2", 1) == 0);
    CHECK(setenv("HIPADAPT_LOG", "0", 1) == 0);
    RUN(test_faults_among_good_launches);
    load();
    if (CAN_END_KERNELS) {
        RUN(test_endless_kernels_end_with_the_time_out);
    }
    RUN(test_every_divergent_barrier_is_found);
    RUN(test_right_barriers_raise_no_alarm);
    OK(hipDeviceReset());
    return 0;
}
