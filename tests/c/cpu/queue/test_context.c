/* SPDX-License-Identifier: MIT */
/* Contexts, attributes of streams, and streams with a part of the device. */
#include "cpu_support.h"

#include <stdatomic.h>
#include <time.h>

#include "cpu/base/device.h"
#include "cpu/queue/pool.h"
#include "cpu/queue/stream.h"

static int
current_device(void)
{
    int device = -1;
    OK(hipGetDevice(&device));
    return device;
}

/* ---- contexts ---- */

static void
test_contexts_push_and_pop_the_current_device(void)
{
    hipCtx_t one, two, got;
    hipDevice_t device;
    OK(hipSetDevice(0));
    OK(hipDevicePrimaryCtxRetain(&one, 0));

    OK(hipCtxCreate(&two, hipDeviceScheduleSpin, 1));
    CHECK(one != two && current_device() == 1);
    OK(hipCtxGetCurrent(&got));
    CHECK(got == two);
    OK(hipCtxGetDevice(&device));
    CHECK(device == 1);
    OK(hipCtxPushCurrent(one));
    CHECK(current_device() == 0);
    OK(hipCtxPopCurrent(&got));
    CHECK(got == one && current_device() == 1);
    OK(hipCtxSetCurrent(one));
    CHECK(current_device() == 0);
    OK(hipCtxPopCurrent(NULL));
    CHECK(current_device() == 0);
    CHECK_HIP(hipCtxPopCurrent(&got), hipErrorInvalidContext);
}

static void
test_context_is_the_one_of_its_device(void)
{
    hipCtx_t first, second, primary;
    unsigned flags = 0, version = 0;
    int active = -1;
    OK(hipDevicePrimaryCtxRetain(&primary, 1));
    OK(hipCtxCreate(&first, 0, 1));
    OK(hipCtxCreate(&second, hipDeviceScheduleYield, 1));
    CHECK(first == primary && second == primary);
    OK(hipCtxGetFlags(&flags));
    CHECK(flags == hipDeviceScheduleYield);
    OK(hipDevicePrimaryCtxGetState(1, &flags, &active));
    CHECK(flags == hipDeviceScheduleYield && active == 1);
    OK(hipCtxGetApiVersion(first, &version));
    CHECK(version == 4);
    OK(hipCtxDestroy(first)); /* off the stack, twice */
    CHECK_HIP(hipCtxPopCurrent(NULL), hipErrorInvalidContext);
    OK(hipDevicePrimaryCtxRelease(1));
    OK(hipCtxSynchronize());
    OK(hipDevicePrimaryCtxSetFlags(1, 0));
    OK(hipSetDevice(0));
}

static void
test_context_settings_are_the_device_s(void)
{
    hipFuncCache_t cache;
    hipSharedMemConfig shared;
    hipCtx_t other;
    OK(hipCtxSetCacheConfig(hipFuncCachePreferL1));
    OK(hipDeviceGetCacheConfig(&cache));
    CHECK(cache == hipFuncCachePreferL1);
    OK(hipCtxGetCacheConfig(&cache));
    CHECK(cache == hipFuncCachePreferL1);
    OK(hipCtxSetSharedMemConfig(hipSharedMemBankSizeEightByte)); /* changes nothing */
    OK(hipCtxGetSharedMemConfig(&shared));
    CHECK(shared == hipSharedMemBankSizeFourByte);
    OK(hipDeviceGetSharedMemConfig(&shared));
    CHECK(shared == hipSharedMemBankSizeFourByte);
    unsigned flags = 0;
    OK(hipSetDeviceFlags(hipDeviceScheduleYield | hipDeviceMapHost));
    OK(hipGetDeviceFlags(&flags));
    CHECK(flags == hipDeviceScheduleYield); /* the rest asks for what is so anyway */
    OK(hipSetDeviceFlags(hipDeviceScheduleAuto));
    size_t limit;
    CHECK_HIP(hipDeviceGetLimit(&limit, hipLimitRange), hipErrorInvalidValue);
    CHECK_HIP(hipDeviceSetLimit((hipLimit_t)-1, 1), hipErrorInvalidValue);
    char name[6] = "abcde";
    CHECK_HIP(hipDeviceGetPCIBusId(name, 5, 0), hipErrorInvalidValue);
    CHECK(memcmp(name, "0000\0", 6) == 0);
    OK(hipDevicePrimaryCtxRetain(&other, 1));
    OK(hipCtxEnablePeerAccess(other, 0));
    CHECK_HIP(hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
    OK(hipCtxDisablePeerAccess(other));
    CHECK_HIP(hipCtxDisablePeerAccess(other), hipErrorPeerAccessNotEnabled);
}

static void
test_made_up_contexts_answer_the_right_code(void)
{
    uint64_t random = 7;
    hipCtx_t good;
    unsigned version;
    OK(hipDevicePrimaryCtxRetain(&good, 1));
    for (int i = 0; i < 200000; i++) {
        uint64_t number = (uint64_t)random_next(&random) << 32 | random_next(&random);
        switch (i % 4) {
        case 0:
            break;
        case 1:
            number = (uint64_t)(uintptr_t)good + 1 + number % 1000;
            break;
        case 2:
            number = number % 3;
            break;
        default:
            number = (uint64_t)(uintptr_t)good ^ UINT64_C(1) << (number % 56 + 8);
        }
        hipCtx_t bad = (hipCtx_t)(uintptr_t)number;
        CHECK_HIP(hipCtxPushCurrent(bad), hipErrorInvalidContext);
        CHECK_HIP(hipCtxDestroy(bad), hipErrorInvalidValue);
        CHECK_HIP(hipCtxEnablePeerAccess(bad, 0), hipErrorInvalidContext);
        CHECK_HIP(hipCtxDisablePeerAccess(bad), hipErrorInvalidContext);
        if (number != 0) { /* the current one */
            CHECK_HIP(hipCtxSetCurrent(bad), hipErrorInvalidContext);
            CHECK_HIP(hipCtxGetApiVersion(bad, &version), hipErrorInvalidContext);
        }
    }
    CHECK_HIP(hipCtxCreate(&good, 0, 2), hipErrorInvalidDevice);
    CHECK_HIP(hipCtxCreate(NULL, 0, 0), hipErrorInvalidValue);
    CHECK_HIP(hipCtxCreate(&good, 0x3, 0), hipErrorInvalidValue);
    CHECK_HIP(hipCtxGetCurrent(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipCtxGetDevice(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipCtxGetFlags(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipCtxGetApiVersion(NULL, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipCtxGetCacheConfig(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipCtxSetCacheConfig((hipFuncCache_t)9), hipErrorInvalidValue);
    CHECK_HIP(hipCtxGetSharedMemConfig(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipCtxSetSharedMemConfig((hipSharedMemConfig)9), hipErrorInvalidValue);
    CHECK_HIP(hipDevicePrimaryCtxRetain(NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipDevicePrimaryCtxRetain(&good, -1), hipErrorInvalidDevice);
    CHECK_HIP(hipDevicePrimaryCtxRelease(9), hipErrorInvalidDevice);
    CHECK_HIP(hipDevicePrimaryCtxReset(9), hipErrorInvalidDevice);
    CHECK_HIP(hipDevicePrimaryCtxSetFlags(9, 0), hipErrorInvalidDevice);
    CHECK_HIP(hipDevicePrimaryCtxSetFlags(0, 0x100), hipErrorInvalidValue);
}

static void
test_stack_of_contexts_has_an_end(void)
{
    hipCtx_t context;
    int pushed = 0;
    OK(hipDevicePrimaryCtxRetain(&context, 1));
    while (hipCtxPushCurrent(context) == hipSuccess) {
        pushed++;
        CHECK(pushed < 10000);
    }
    CHECK_HIP(hipGetLastError(), hipErrorOutOfMemory);
    CHECK_HIP(hipCtxCreate(&context, 0, 0), hipErrorOutOfMemory);
    CHECK(current_device() == 1);
    for (; pushed > 0; pushed--) {
        OK(hipCtxPopCurrent(NULL));
    }
    CHECK_HIP(hipCtxPopCurrent(NULL), hipErrorInvalidContext);
    CHECK(current_device() == 0);
}

static void
test_reset_of_a_primary_context_resets_its_device_only(void)
{
    void *mine, *other;
    OK(hipSetDevice(1));
    OK(hipMalloc(&other, 64));
    OK(hipSetDevice(0));
    OK(hipMalloc(&mine, 64));
    OK(hipDevicePrimaryCtxReset(1));
    CHECK(hipFree(other) != hipSuccess);
    OK(hipFree(mine));
}

/* ---- which devices, and what is between them ---- */

static void
test_valid_devices_choose_the_first_unless_the_current_is_listed(void)
{
    int both[] = {1, 0}, second[] = {1}, wrong[] = {1, 2};
    OK(hipSetDevice(0));
    OK(hipSetValidDevices(both, 2));
    CHECK(current_device() == 0);
    OK(hipSetValidDevices(second, 1));
    CHECK(current_device() == 1);
    OK(hipSetDevice(0));
    CHECK_HIP(hipSetValidDevices(wrong, 2), hipErrorInvalidDevice);
    CHECK_HIP(hipSetValidDevices(both, 3), hipErrorInvalidValue);
    CHECK_HIP(hipSetValidDevices(both, -1), hipErrorInvalidValue);
    CHECK_HIP(hipSetValidDevices(NULL, 1), hipErrorInvalidValue);
    OK(hipSetValidDevices(NULL, 0));
    CHECK(current_device() == 0);
}

static void
test_link_between_devices(void)
{
    uint32_t type = 9, hops = 9;
    OK(hipExtGetLinkTypeAndHopCount(0, 1, &type, &hops));
    CHECK(type == 0 && hops == 1);
    CHECK_HIP(hipExtGetLinkTypeAndHopCount(1, 1, &type, &hops), hipErrorInvalidValue);
    CHECK_HIP(hipExtGetLinkTypeAndHopCount(0, 2, &type, &hops), hipErrorInvalidDevice);
    CHECK_HIP(hipExtGetLinkTypeAndHopCount(-1, 0, &type, &hops), hipErrorInvalidValue);
    CHECK_HIP(hipExtGetLinkTypeAndHopCount(0, 1, NULL, &hops), hipErrorInvalidValue);
    CHECK_HIP(hipExtGetLinkTypeAndHopCount(0, 1, &type, NULL), hipErrorInvalidValue);
}

/* ---- attributes ---- */

static void
test_attributes_are_kept_and_copied(void)
{
    hipStream_t from, to;
    int priority = 9;
    hipLaunchAttributeValue value;
    OK(hipStreamCreate(&from));
    OK(hipStreamCreate(&to));
    OK(hipStreamGetAttribute(from, hipLaunchAttributeSynchronizationPolicy, &value));
    CHECK(value.syncPolicy == hipSyncPolicyAuto);

    memset(&value, 0, sizeof value);
    value.syncPolicy = hipSyncPolicyYield;
    OK(hipStreamSetAttribute(from, hipLaunchAttributeSynchronizationPolicy, &value));
    memset(&value, 0, sizeof value);
    value.priority = HA_PRIORITY_HIGH;
    OK(hipStreamSetAttribute(from, hipLaunchAttributePriority, &value));
    memset(&value, 0, sizeof value);
    value.accessPolicyWindow.hitRatio = 0.5f;
    OK(hipStreamSetAttribute(from, hipLaunchAttributeAccessPolicyWindow, &value));
    OK(hipStreamCopyAttributes(to, from));

    OK(hipStreamGetAttribute(to, hipLaunchAttributeSynchronizationPolicy, &value));
    CHECK(value.syncPolicy == hipSyncPolicyYield);
    OK(hipStreamGetAttribute(to, hipLaunchAttributeAccessPolicyWindow, &value));
    CHECK(value.accessPolicyWindow.hitRatio == 0.5f);
    OK(hipStreamGetPriority(to, &priority));
    CHECK(priority == HA_PRIORITY_HIGH);
    OK(hipStreamDestroy(from));
    CHECK_HIP(hipStreamCopyAttributes(to, from), hipErrorContextIsDestroyed);
    CHECK_HIP(hipStreamCopyAttributes(from, to), hipErrorContextIsDestroyed);
    OK(hipStreamDestroy(to));
}

static void
test_attributes_refuse_what_makes_no_sense(void)
{
    hipLaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    CHECK_HIP(
        hipStreamSetAttribute(NULL, hipLaunchAttributeSynchronizationPolicy, &value),
        hipErrorInvalidValue);
    value.priority = 5;
    CHECK_HIP(hipStreamSetAttribute(NULL, hipLaunchAttributePriority, &value),
              hipErrorInvalidValue);
    memset(&value, 0, sizeof value);
    value.accessPolicyWindow.num_bytes = 1;
    CHECK_HIP(hipStreamSetAttribute(NULL, hipLaunchAttributeAccessPolicyWindow, &value),
              hipErrorInvalidValue);
    value.accessPolicyWindow.num_bytes = 0;
    value.accessPolicyWindow.hitRatio = 1.5f;
    CHECK_HIP(hipStreamSetAttribute(NULL, hipLaunchAttributeAccessPolicyWindow, &value),
              hipErrorInvalidValue);
    CHECK_HIP(hipStreamSetAttribute(NULL, hipLaunchAttributeMemSyncDomain, &value),
              hipErrorNotSupported);
    CHECK_HIP(hipStreamGetAttribute(NULL, hipLaunchAttributeMemSyncDomainMap, &value),
              hipErrorNotSupported);
    CHECK_HIP(hipStreamGetAttribute(NULL, hipLaunchAttributeCooperative, &value),
              hipErrorInvalidValue);
    CHECK_HIP(hipStreamSetAttribute(NULL, (hipLaunchAttributeID)77, &value),
              hipErrorInvalidValue);
    CHECK_HIP(hipStreamSetAttribute(NULL, hipLaunchAttributePriority, NULL),
              hipErrorInvalidValue);
    CHECK_HIP(hipStreamGetAttribute(NULL, hipLaunchAttributePriority, NULL),
              hipErrorInvalidValue);
    CHECK_HIP(
        hipStreamGetAttribute((hipStream_t)0x5550, hipLaunchAttributePriority, &value),
        hipErrorContextIsDestroyed);
}

/* ---- compute units ---- */

enum { THREADS = 4, SHARES = 12, ROUNDS_MAX = 512 };

/* In the operation, which lives until the last thread has left it. */
struct shares {
    _Atomic int taken, finished, inside;
    _Atomic int *most; /* threads that were inside at once */
};

static _Atomic int most_inside[ROUNDS_MAX];

/* Takes shares until none is left and notes how many threads do so at once. */
static bool
shares_run(struct ha_op *op)
{
    struct shares *shares = (struct shares *)op->payload;
    bool last = false;
    int now = atomic_fetch_add(&shares->inside, 1) + 1;
    int most = atomic_load(shares->most);
    while (now > most && !atomic_compare_exchange_weak(shares->most, &most, now)) {
    }
    while (atomic_fetch_add(&shares->taken, 1) < SHARES) {
        struct timespec pause = {.tv_nsec = 4000000};
        nanosleep(&pause, NULL);
        last = atomic_fetch_add(&shares->finished, 1) + 1 == SHARES;
    }
    atomic_fetch_sub(&shares->inside, 1);
    return last;
}

static const struct ha_op_class shares_class = {
    .name = "shares", .flags = HA_OP_PARALLEL, .run = shares_run};

/* Most threads that worked at once for an operation of the stream. */
static int
threads_once(hipStream_t handle)
{
    static int rounds;
    struct ha_stream *stream;
    CHECK(rounds < ROUNDS_MAX);
    _Atomic int *most = &most_inside[rounds++];
    OK(ha_stream_look(handle, ha_device_get(0), &stream));
    struct ha_op *op = ha_op_new(&shares_class);
    CHECK(op != NULL);
    op->helpers = THREADS - 1;
    struct shares *shares = (struct shares *)op->payload;
    memset(shares, 0, sizeof *shares);
    shares->most = most;
    CHECK(ha_stream_submit(stream, op, HA_SUBMIT_WAKE) != 0);
    ha_pool_unlock();
    OK(hipStreamSynchronize(handle));
    return atomic_load(most);
}

/* The same, and again while that is too few: threads come when the machine lets them.
 */
static int
threads_of(hipStream_t handle, int enough)
{
    int most = threads_once(handle);
    for (int i = 0; i < 100 && most < enough; i++) {
        int now = threads_once(handle);
        most = now > most ? now : most;
    }
    return most;
}

static void
test_mask_decides_how_many_threads_work_for_a_stream(void)
{
    const uint32_t one[] = {0x4}, two[] = {0x9, 0xffffffff}, all[] = {0xffffffff};
    hipStream_t stream;
    uint32_t got[3] = {9, 9, 9};

    OK(hipExtStreamCreateWithCUMask(&stream, 1, one));
    CHECK(threads_of(stream, 1) == 1);
    OK(hipExtStreamGetCUMask(stream, 1, got));
    CHECK(got[0] == 0x4 && got[1] == 9);
    OK(hipStreamDestroy(stream));
    OK(hipExtStreamCreateWithCUMask(&stream, 2, two));
    CHECK(threads_of(stream, 2) == 2);
    OK(hipExtStreamGetCUMask(stream, 3, got));
    CHECK(got[0] == 0x9 && got[1] == 0 && got[2] == 0);
    OK(hipStreamDestroy(stream));
    OK(hipExtStreamCreateWithCUMask(&stream, 1, all));
    CHECK(threads_of(stream, 3) > 2);
    OK(hipStreamDestroy(stream));
    OK(hipStreamCreate(&stream));
    CHECK(threads_of(stream, 3) > 2);
    OK(hipExtStreamGetCUMask(stream, 1, got));
    CHECK(got[0] == (1u << THREADS) - 1);
    OK(hipStreamDestroy(stream));
}

static void
test_mask_without_a_unit_stands_for_all_units(void)
{
    const uint32_t none[] = {0xf0};
    hipStream_t stream;
    uint32_t got;
    OK(hipExtStreamCreateWithCUMask(&stream, 1, none));
    OK(hipExtStreamGetCUMask(stream, 1, &got));
    CHECK(got == (1u << THREADS) - 1);
    CHECK(threads_of(stream, 3) > 2);
    OK(hipStreamDestroy(stream));
}

static void
test_wrong_masks_are_refused(void)
{
    const uint32_t none[] = {0xf0};
    hipStream_t stream;
    uint32_t got;
    CHECK_HIP(hipExtStreamCreateWithCUMask(&stream, 0, none), hipErrorInvalidValue);
    CHECK_HIP(hipExtStreamCreateWithCUMask(&stream, 1, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipExtStreamCreateWithCUMask(NULL, 1, none), hipErrorInvalidValue);
    CHECK_HIP(hipExtStreamGetCUMask(NULL, 0, &got), hipErrorInvalidValue);
    CHECK_HIP(hipExtStreamGetCUMask(NULL, 1, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipExtStreamGetCUMask((hipStream_t)0x5550, 1, &got),
              hipErrorContextIsDestroyed);
}

static void
test_dynamic_shared_memory_that_is_left(void)
{
    hipModule_t module;
    hipFunction_t function = image_function(&module, "odd"); /* 1024 bytes, 128 lanes */
    size_t bytes = 0;
    int blocks = 0;
    OK(hipOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 4, 64));
    CHECK(bytes == HA_MAX_SHARED_BYTES / 4 - 1024);
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 64,
                                                          bytes));
    CHECK(blocks == 4);
    CHECK_HIP(hipOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 1000, 64),
              hipErrorInvalidValue);
    CHECK_HIP(hipOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 1, 129),
              hipErrorInvalidValue);
    CHECK_HIP(hipOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 0, 64),
              hipErrorInvalidValue);
    CHECK_HIP(hipOccupancyAvailableDynamicSMemPerBlock(NULL, function, 1, 64),
              hipErrorInvalidValue);
    CHECK_HIP(hipOccupancyAvailableDynamicSMemPerBlock(&bytes, (void *)0x5550, 1, 64),
              hipErrorInvalidDeviceFunction);
    OK(hipModuleUnload(module));
}

static void
test_grid_in_work_items_with_events_around_it(void)
{
    hipModule_t module;
    hipFunction_t function = image_function(&module, "add");
    hipEvent_t begin, end;
    int *data, host[128], value = 5;
    float milliseconds = -1;
    uint64_t count = 128;
    void *arguments[] = {&data, &value, &count};
    OK(hipEventCreate(&begin));
    OK(hipEventCreate(&end));
    OK(hipMalloc((void **)&data, sizeof host));
    OK(hipMemset(data, 0, sizeof host));

    OK(hipExtModuleLaunchKernel(function, 96, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL,
                                begin, end, 1));
    OK(hipEventSynchronize(end));
    OK(hipEventElapsedTime(&milliseconds, begin, end));
    OK(hipHccModuleLaunchKernel(function, 32, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL,
                                NULL, NULL));
    OK(hipMemcpy(host, data, sizeof host, hipMemcpyDeviceToHost));

    CHECK(milliseconds >= 0);
    for (int i = 0; i < 128; i++) {
        CHECK(host[i] == (i < 32 ? 10 : i < 96 ? 5 : 0));
    }
    CHECK_HIP(hipExtModuleLaunchKernel(function, 33, 1, 1, 32, 1, 1, 0, NULL, arguments,
                                       NULL, NULL, NULL, 0),
              hipErrorInvalidConfiguration);
    CHECK_HIP(hipExtModuleLaunchKernel(function, 32, 1, 1, 0, 1, 1, 0, NULL, arguments,
                                       NULL, NULL, NULL, 0),
              hipErrorInvalidConfiguration);
    CHECK_HIP(hipExtModuleLaunchKernel(function, 32, 1, 1, 32, 1, 1, 0, NULL, arguments,
                                       NULL, NULL, NULL, 2),
              hipErrorInvalidValue);
    CHECK_HIP(hipHccModuleLaunchKernel((hipFunction_t)0x5550, 32, 1, 1, 32, 1, 1, 0,
                                       NULL, arguments, NULL, NULL, NULL),
              hipErrorInvalidResourceHandle);
    OK(hipFree(data));
    OK(hipEventDestroy(begin));
    OK(hipEventDestroy(end));
    OK(hipModuleUnload(module));
}

int
main(void)
{
    setenv("HIPADAPT_CPU_DEVICES", "2", 1);
    setenv("HIPADAPT_CPU_THREADS", "4", 1);
    RUN(test_contexts_push_and_pop_the_current_device);
    RUN(test_context_is_the_one_of_its_device);
    RUN(test_context_settings_are_the_device_s);
    RUN(test_made_up_contexts_answer_the_right_code);
    RUN(test_stack_of_contexts_has_an_end);
    RUN(test_reset_of_a_primary_context_resets_its_device_only);
    RUN(test_valid_devices_choose_the_first_unless_the_current_is_listed);
    RUN(test_link_between_devices);
    RUN(test_attributes_are_kept_and_copied);
    RUN(test_attributes_refuse_what_makes_no_sense);
    RUN(test_mask_decides_how_many_threads_work_for_a_stream);
    RUN(test_mask_without_a_unit_stands_for_all_units);
    RUN(test_wrong_masks_are_refused);
    RUN(test_dynamic_shared_memory_that_is_left);
    RUN(test_grid_in_work_items_with_events_around_it);
    return 0;
}
