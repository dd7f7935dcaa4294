/* SPDX-License-Identifier: MIT */
/* Made-up, stale and wrong-kind handles: the right code, no crash.  Creation and
 * destruction by several threads at once.  HA_TEST_OPERATIONS sets the number of calls.
 */
#include "cpu_support.h"

static hipStream_t stream;
static hipStream_t stale_stream;
static hipEvent_t event;
static hipEvent_t stale_event;
static hipModule_t module;
static hipModule_t stale_module;
static hipFunction_t function;
static hipFunction_t stale_function;
static void *memory;
static uint64_t state = 42;

/* A number that is no living handle of the kind whose living one is `good`. */
static uint64_t
bad_handle(uint64_t good)
{
    uint64_t number = (uint64_t)random_next(&state) << 32 | random_next(&state);
    uint64_t others[] = {
        (uint64_t)(uintptr_t)stream,        (uint64_t)(uintptr_t)event,
        (uint64_t)(uintptr_t)module,        (uint64_t)(uintptr_t)function,
        (uint64_t)(uintptr_t)stale_stream,  (uint64_t)(uintptr_t)stale_event,
        (uint64_t)(uintptr_t)stale_module,  (uint64_t)(uintptr_t)memory,
        (uint64_t)(uintptr_t)stale_function};
    uint64_t made;
    do {
        switch (random_next(&state) % 5) {
        case 0:
            made = number;
            break;
        case 1: /* one bit off, but not that of another kernel of the module */
            made = good ^ (UINT64_C(1) << (random_next(&state) % 54 + 10));
            break;
        case 2:
            made = good + 1024 + random_next(&state) % 4096;
            break;
        case 3: /* right tag, any rest */
            made = (number >> 8) | UINT64_C(5) << 56;
            break;
        default:
            made = others[random_next(&state) % 9];
        }
        number += 0x9e3779b97f4a7c15u;
    } while (made == good || made < 3);
    return made;
}

static void
stream_calls(void)
{
    hipStream_t bad = (hipStream_t)(uintptr_t)bad_handle((uint64_t)(uintptr_t)stream);
    unsigned flags;
    int value;
    char host[8];
    unsigned long long id;
    hipError_t want = hipErrorContextIsDestroyed;
    switch (random_next(&state) % 12) {
    case 0:
        CHECK_HIP(hipStreamDestroy(bad), want);
        break;
    case 1:
        CHECK_HIP(hipStreamQuery(bad), want);
        break;
    case 2:
        CHECK_HIP(hipStreamSynchronize(bad), want);
        break;
    case 3:
        CHECK_HIP(hipStreamWaitEvent(bad, event, 0), want);
        break;
    case 4:
        CHECK_HIP(hipStreamGetFlags(bad, &flags), want);
        break;
    case 5:
        CHECK_HIP(hipStreamGetPriority(bad, &value), want);
        break;
    case 6:
        CHECK_HIP(hipMemcpyAsync(memory, host, 8, hipMemcpyHostToDevice, bad), want);
        break;
    case 7:
        CHECK_HIP(hipMemsetAsync(memory, 0, 8, bad), want);
        break;
    case 8:
        CHECK_HIP(hipEventRecord(event, bad), want);
        break;
    case 9:
        CHECK_HIP(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, bad, NULL, NULL),
                  want);
        break;
    case 10:
        CHECK_HIP(hipFreeAsync(memory, bad), hipErrorInvalidHandle);
        break;
    default:
        CHECK_HIP(hipStreamGetId(bad, &id), want);
    }
}

static void
other_calls(void)
{
    hipEvent_t bad_event =
        (hipEvent_t)(uintptr_t)bad_handle((uint64_t)(uintptr_t)event);
    hipModule_t bad_module =
        (hipModule_t)(uintptr_t)bad_handle((uint64_t)(uintptr_t)module);
    hipFunction_t bad_function =
        (hipFunction_t)(uintptr_t)bad_handle((uint64_t)(uintptr_t)function);
    hipFunction_t found;
    hipDeviceptr_t address;
    float milliseconds;
    int value;
    size_t size;
    hipError_t want = hipErrorInvalidHandle;
    dim3 one = {1, 1, 1};
    switch (random_next(&state) % 13) {
    case 0:
        CHECK_HIP(hipEventDestroy(bad_event), want);
        break;
    case 1:
        CHECK_HIP(hipEventQuery(bad_event), want);
        break;
    case 2:
        CHECK_HIP(hipEventSynchronize(bad_event), want);
        break;
    case 3:
        CHECK_HIP(hipEventRecord(bad_event, stream), want);
        break;
    case 4:
        CHECK_HIP(hipEventElapsedTime(&milliseconds, event, bad_event), want);
        break;
    case 5:
        CHECK_HIP(hipEventElapsedTime(&milliseconds, bad_event, event), want);
        break;
    case 6:
        CHECK_HIP(hipStreamWaitEvent(stream, bad_event, 0), want);
        break;
    case 7:
        CHECK_HIP(hipModuleUnload(bad_module), hipErrorInvalidResourceHandle);
        break;
    case 8:
        CHECK_HIP(hipModuleGetFunction(&found, bad_module, "add"),
                  hipErrorInvalidResourceHandle);
        break;
    case 9:
        CHECK_HIP(hipModuleGetGlobal(&address, &size, bad_module, "counter"),
                  hipErrorInvalidResourceHandle);
        break;
    case 10:
        CHECK_HIP(
            hipModuleLaunchKernel(bad_function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
            hipErrorInvalidResourceHandle);
        break;
    case 11:
        CHECK_HIP(
            hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_NUM_REGS, bad_function),
            hipErrorInvalidResourceHandle);
        break;
    default:
        CHECK_HIP(hipLaunchKernel((const void *)bad_function, one, one, NULL, 0, NULL),
                  hipErrorInvalidDeviceFunction);
    }
}

static void
test_bad_handles_give_the_right_code(void)
{
    const char *wanted = getenv("HA_TEST_OPERATIONS");
    int operations = wanted != NULL ? atoi(wanted) : 100000;
    function = image_function(&module, "empty");
    stale_function = image_function(&stale_module, "empty");
    OK(hipModuleUnload(stale_module));
    OK(hipStreamCreate(&stale_stream));
    OK(hipStreamDestroy(stale_stream));
    OK(hipStreamCreate(&stream));
    OK(hipEventCreate(&stale_event));
    OK(hipEventDestroy(stale_event));
    OK(hipEventCreate(&event));
    OK(hipEventRecord(event, NULL));
    OK(hipMalloc(&memory, 64));
    for (int i = 0; i < operations; i++) {
        if (i % 2 == 0) {
            stream_calls();
        } else {
            other_calls();
        }
    }
    OK(hipStreamSynchronize(stream));
    OK(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    OK(hipStreamDestroy(stream));
    OK(hipEventDestroy(event));
    OK(hipModuleUnload(module));
    OK(hipFree(memory));
}

static void
test_place_of_a_handle_is_used_again_but_not_its_number(void)
{
    hipStream_t first;
    OK(hipStreamCreate(&first));
    OK(hipStreamDestroy(first));
    for (int i = 0; i < 1000; i++) {
        hipStream_t next;
        hipEvent_t mark;
        OK(hipStreamCreate(&next));
        OK(hipEventCreate(&mark));
        CHECK(next != first);
        CHECK_HIP(hipStreamQuery(first), hipErrorContextIsDestroyed);
        OK(hipStreamDestroy(next));
        OK(hipEventDestroy(mark));
        CHECK_HIP(hipStreamQuery(next), hipErrorContextIsDestroyed);
        CHECK_HIP(hipEventQuery(mark), hipErrorInvalidHandle);
    }
}

/* ---- several threads ---- */

enum { THREADS = 4, ROUNDS = 3000, SHARED = 8 };

static hipStream_t shared_streams[SHARED];
static hipEvent_t shared_events[SHARED];

static bool
is_one_of(hipError_t code, hipError_t one, hipError_t two)
{
    return code == one || code == two;
}

/* Everybody creates, uses and destroys the same few handles. */
static void *
churn(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        int which = (int)(random_next(&random) % SHARED);
        hipStream_t one = __atomic_load_n(&shared_streams[which], __ATOMIC_ACQUIRE);
        hipEvent_t two = __atomic_load_n(&shared_events[which], __ATOMIC_ACQUIRE);
        hipError_t code;
        switch (random_next(&random) % 5) {
        case 0:
            OK(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
            __atomic_store_n(&shared_streams[which], one, __ATOMIC_RELEASE);
            break;
        case 1:
            OK(hipEventCreate(&two));
            __atomic_store_n(&shared_events[which], two, __ATOMIC_RELEASE);
            break;
        case 2:
            code = one != NULL ? hipStreamDestroy(one) : hipSuccess;
            CHECK(is_one_of(code, hipSuccess, hipErrorContextIsDestroyed));
            break;
        case 3:
            code = hipEventDestroy(two);
            CHECK(is_one_of(code, hipSuccess, hipErrorInvalidHandle));
            break;
        default:
            code = hipEventRecord(two, one);
            CHECK(is_one_of(code, hipSuccess, hipErrorInvalidHandle) ||
                  code == hipErrorContextIsDestroyed);
            code = hipStreamWaitEvent(one, two, 0);
            CHECK(is_one_of(code, hipSuccess, hipErrorInvalidHandle) ||
                  code == hipErrorContextIsDestroyed);
            code = hipEventSynchronize(two);
            CHECK(is_one_of(code, hipSuccess, hipErrorInvalidHandle));
        }
    }
    return NULL;
}

static void
test_threads_share_and_destroy_handles(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, churn, (void *)(uintptr_t)(i + 1)) ==
              0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    OK(hipDeviceReset());
    for (int i = 0; i < SHARED; i++) {
        if (shared_streams[i] != NULL) {
            CHECK_HIP(hipStreamQuery(shared_streams[i]), hipErrorContextIsDestroyed);
        }
    }
}

static void
test_many_streams_and_events(void)
{
    enum { COUNT = 20000 };
    static hipStream_t streams[COUNT];
    static hipEvent_t events[COUNT];
    for (int i = 0; i < COUNT; i++) {
        OK(hipStreamCreateWithFlags(&streams[i], hipStreamNonBlocking));
        OK(hipEventCreate(&events[i]));
        OK(hipEventRecord(events[i], streams[i]));
    }
    for (int i = 0; i < COUNT; i++) {
        OK(hipEventQuery(events[i]));
        OK(hipEventDestroy(events[i]));
        OK(hipStreamDestroy(streams[i]));
    }
}

int
main(void)
{
    RUN(test_bad_handles_give_the_right_code);
    RUN(test_place_of_a_handle_is_used_again_but_not_its_number);
    RUN(test_threads_share_and_destroy_handles);
    RUN(test_many_streams_and_events);
    return 0;
}
