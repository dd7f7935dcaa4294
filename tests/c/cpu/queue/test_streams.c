/* SPDX-License-Identifier: MIT */
/* Streams, events, copies, fills, kernels and host functions of many threads against a
 * serial model, then the single rules of streams and events.
 *
 * In the model test each thread has buffers of its own.  A buffer remembers the stream
 * that used it last; before another stream uses it, that stream is made to wait, by an
 * event, by the rules of the default stream, or by the host.  So the values must be
 * those of running all operations one after the other in program order.
 * HA_TEST_OPERATIONS sets how many each thread does. */
#include "cpu_support.h"

enum { THREADS = 8, BUFFERS = 6, STREAMS = 5, ELEMENTS = 3000 };

struct buffer {
    int *data;
    int model[ELEMENTS];
    hipEvent_t event;
    int last; /* stream that used it last, -1 = none */
};

struct worker {
    int number;
    int operations;
    uint64_t random;
    hipStream_t streams[STREAMS];
    bool blocking[STREAMS];
    struct buffer buffers[BUFFERS];
    hipFunction_t mul;
    int *staging;
};

static void
order(struct worker *worker, struct buffer *buffer, int stream)
{
    int last = buffer->last;
    if (last < 0 || last == stream) {
        return;
    }
    bool by_rule = (last == 0 || stream == 0) && worker->blocking[last] &&
                   worker->blocking[stream];
    switch (random_next(&worker->random) % 8) {
    case 0:
        OK(hipEventSynchronize(buffer->event));
        return;
    case 1:
        OK(hipStreamSynchronize(worker->streams[last]));
        return;
    default:
        if (!by_rule || random_next(&worker->random) % 2 == 0) {
            OK(hipStreamWaitEvent(worker->streams[stream], buffer->event, 0));
        }
    }
}

static void
used(struct worker *worker, struct buffer *buffer, int stream)
{
    buffer->last = stream;
    OK(hipEventRecord(buffer->event, worker->streams[stream]));
    if (random_next(&worker->random) % 16 == 0) {
        hipError_t code = hipEventQuery(buffer->event);
        CHECK(code == hipSuccess || code == hipErrorNotReady);
    }
}

struct host_add {
    int *data;
    int value;
    size_t count;
};

static void
host_add(void *argument)
{
    struct host_add *what = argument;
    for (size_t i = 0; i < what->count; i++) {
        what->data[i] += what->value;
    }
    free(what);
}

static void
one_operation(struct worker *worker)
{
    uint64_t *random = &worker->random;
    struct buffer *buffer = &worker->buffers[random_next(random) % BUFFERS];
    struct buffer *other = &worker->buffers[random_next(random) % BUFFERS];
    int stream = (int)(random_next(random) % STREAMS);
    hipStream_t handle = worker->streams[stream];
    int value = (int)(random_next(random) % 1000);
    uint64_t count = 1 + random_next(random) % ELEMENTS;
    order(worker, buffer, stream);
    switch (random_next(random) % 8) {
    case 0:
        OK(hipMemsetD32Async(buffer->data, value, count, handle));
        for (uint64_t i = 0; i < count; i++) {
            buffer->model[i] = value;
        }
        break;
    case 1:
    case 2:
        if (other != buffer) {
            order(worker, other, stream);
            OK(hipMemcpyAsync(buffer->data, other->data, count * 4,
                              hipMemcpyDeviceToDevice, handle));
            memcpy(buffer->model, other->model, count * 4);
            used(worker, other, stream);
        }
        break;
    case 3: {
        /* The source may be used again when a synchronous call is back. */
        for (uint64_t i = 0; i < count; i++) {
            worker->staging[i] = buffer->model[i] = value + (int)i;
        }
        OK(hipMemcpyWithStream(buffer->data, worker->staging, count * 4,
                               hipMemcpyHostToDevice, handle));
        break;
    }
    case 4: {
        struct host_add *what = malloc(sizeof *what);
        *what = (struct host_add){buffer->data, value, count};
        OK(hipLaunchHostFunc(handle, host_add, what));
        for (uint64_t i = 0; i < count; i++) {
            buffer->model[i] += value;
        }
        break;
    }
    default: {
        void *params[] = {&buffer->data, &value, &count};
        OK(hipModuleLaunchKernel(worker->mul, (unsigned)((count + 255) / 256), 1, 1,
                                 256, 1, 1, 0, handle, params, NULL));
        for (uint64_t i = 0; i < count; i++) {
            buffer->model[i] =
                (int)((unsigned)buffer->model[i] * 31u + (unsigned)value);
        }
    }
    }
    used(worker, buffer, stream);
}

static void *
worker_main(void *argument)
{
    struct worker *worker = argument;
    int device = worker->number % 2;
    hipModule_t module;
    OK(hipSetDevice(device));
    OK(hipModuleLoadData(&module, image_bytes));
    OK(hipModuleGetFunction(&worker->mul, module, "mul"));
    worker->streams[0] = NULL;
    worker->streams[1] = (hipStream_t)2; /* the thread's own */
    OK(hipStreamCreate(&worker->streams[2]));
    OK(hipStreamCreateWithFlags(&worker->streams[3], hipStreamNonBlocking));
    OK(hipStreamCreateWithPriority(&worker->streams[4], hipStreamNonBlocking, -1));
    worker->blocking[0] = worker->blocking[1] = worker->blocking[2] = true;
    worker->staging = malloc(ELEMENTS * sizeof(int));
    for (int i = 0; i < BUFFERS; i++) {
        struct buffer *buffer = &worker->buffers[i];
        buffer->last = -1;
        OK(hipMalloc((void **)&buffer->data, ELEMENTS * sizeof(int)));
        OK(hipMemset(buffer->data, 0, ELEMENTS * sizeof(int)));
        OK(hipEventCreate(&buffer->event));
    }
    for (int i = 0; i < worker->operations; i++) {
        one_operation(worker);
    }
    for (int i = 0; i < BUFFERS; i++) {
        struct buffer *buffer = &worker->buffers[i];
        OK(hipEventSynchronize(buffer->event));
        OK(hipMemcpy(worker->staging, buffer->data, ELEMENTS * sizeof(int),
                     hipMemcpyDeviceToHost));
        for (int k = 0; k < ELEMENTS; k++) {
            CHECK(worker->staging[k] == buffer->model[k]);
        }
        OK(hipEventDestroy(buffer->event));
        OK(hipFree(buffer->data));
    }
    for (int i = 2; i < STREAMS; i++) {
        OK(hipStreamDestroy(worker->streams[i]));
    }
    OK(hipModuleUnload(module));
    free(worker->staging);
    return NULL;
}

static void
test_random_work_agrees_with_the_model(void)
{
    static struct worker workers[THREADS];
    pthread_t threads[THREADS];
    const char *wanted = getenv("HA_TEST_OPERATIONS");
    int operations = wanted != NULL ? atoi(wanted) : 4000;
    image_make();
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        workers[i].operations = operations;
        workers[i].random = (uint64_t)i * 7919 + 1;
        CHECK(pthread_create(&threads[i], NULL, worker_main, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* ---- single rules ---- */

static void
test_legacy_stream_is_ordered_with_blocking_ones(void)
{
    hipStream_t blocking;
    hipStream_t free_stream;
    char *data;
    OK(hipStreamCreate(&blocking));
    OK(hipStreamCreateWithFlags(&free_stream, hipStreamNonBlocking));
    OK(hipMalloc((void **)&data, 64));
    OK(hipMemset(data, 0, 64));
    close_gate(blocking);
    OK(hipMemsetAsync(data, 1, 1, NULL));            /* waits for `blocking` */
    OK(hipMemsetAsync(data + 1, 1, 1, free_stream)); /* does not */
    OK(hipStreamSynchronize(free_stream));
    CHECK(__atomic_load_n(&data[1], __ATOMIC_ACQUIRE) == 1);
    usleep(10000);
    CHECK(__atomic_load_n(&data[0], __ATOMIC_ACQUIRE) == 0);
    CHECK_HIP(hipStreamQuery(NULL), hipErrorNotReady);
    CHECK_HIP(hipStreamQuery((hipStream_t)1), hipErrorNotReady);
    gate_open = 1;
    OK(hipStreamSynchronize(NULL));
    CHECK(data[0] == 1);
    close_gate(NULL);
    OK(hipMemsetAsync(data + 2, 1, 1, blocking)); /* waits for the legacy stream */
    usleep(10000);
    CHECK(__atomic_load_n(&data[2], __ATOMIC_ACQUIRE) == 0);
    gate_open = 1;
    OK(hipStreamSynchronize(blocking));
    CHECK(data[2] == 1);
    OK(hipStreamDestroy(blocking));
    OK(hipStreamDestroy(free_stream));
    OK(hipFree(data));
}

static void
test_event_in_blocking_stream_waits_for_the_legacy_one(void)
{
    hipStream_t stream;
    hipEvent_t event;
    OK(hipStreamCreate(&stream));
    OK(hipEventCreate(&event));
    close_gate(NULL);
    OK(hipEventRecord(event, stream));
    CHECK_HIP(hipEventQuery(event), hipErrorNotReady);
    gate_open = 1;
    OK(hipEventSynchronize(event));
    OK(hipEventDestroy(event));
    OK(hipStreamDestroy(stream));
}

static void *
open_later(void *argument)
{
    (void)argument;
    usleep(30000);
    gate_open = 1;
    return NULL;
}

static void
test_free_waits_for_the_device(void)
{
    hipStream_t stream;
    pthread_t thread;
    char *data;
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipMalloc((void **)&data, 1 << 20));
    close_gate(stream);
    OK(hipMemsetAsync(data, 1, 1 << 20, stream));
    CHECK(pthread_create(&thread, NULL, open_later, NULL) == 0);
    OK(hipFree(data));
    CHECK(gate_open == 1);
    OK(hipStreamQuery(stream));
    pthread_join(thread, NULL);
    OK(hipStreamDestroy(stream));
}

static void
test_events(void)
{
    hipStream_t one;
    hipStream_t two;
    hipEvent_t start;
    hipEvent_t stop;
    hipEvent_t untimed;
    float milliseconds;
    OK(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
    OK(hipStreamCreateWithFlags(&two, hipStreamNonBlocking));
    OK(hipEventCreate(&start));
    OK(hipEventCreate(&stop));
    OK(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
    OK(hipEventQuery(start));
    OK(hipEventSynchronize(start));
    CHECK_HIP(hipEventElapsedTime(&milliseconds, start, stop), hipErrorInvalidHandle);
    OK(hipEventRecord(start, one));
    close_gate(one);
    OK(hipEventRecord(stop, one));
    OK(hipEventRecord(untimed, one));
    CHECK_HIP(hipEventQuery(stop), hipErrorNotReady);
    CHECK_HIP(hipEventElapsedTime(&milliseconds, start, stop), hipErrorNotReady);
    OK(hipStreamWaitEvent(two, stop, 0));
    CHECK_HIP(hipStreamQuery(two), hipErrorNotReady);
    OK(hipEventRecord(stop, two)); /* behind the older record, which it waits for */
    CHECK_HIP(hipEventQuery(stop), hipErrorNotReady);
    usleep(30000);
    gate_open = 1;
    OK(hipEventSynchronize(stop));
    OK(hipEventElapsedTime(&milliseconds, start, stop));
    CHECK(milliseconds >= 30 && milliseconds < 1000);
    OK(hipEventElapsedTime(&milliseconds, stop, start));
    CHECK(milliseconds <= -30);
    CHECK_HIP(hipEventElapsedTime(&milliseconds, start, untimed),
              hipErrorInvalidHandle);
    /* Recorded again in an idle stream while the older record is pending. */
    close_gate(one);
    OK(hipEventRecord(stop, one));
    OK(hipEventRecord(stop, two));
    OK(hipEventQuery(stop));
    OK(hipEventDestroy(stop));
    /* Destroyed while pending. */
    OK(hipEventRecord(untimed, one));
    OK(hipStreamWaitEvent(two, untimed, 0));
    OK(hipEventDestroy(untimed));
    CHECK_HIP(hipStreamQuery(two), hipErrorNotReady);
    gate_open = 1;
    OK(hipStreamSynchronize(two));
    CHECK_HIP(hipEventQuery(untimed), hipErrorInvalidHandle);
    OK(hipEventDestroy(start));
    OK(hipStreamDestroy(one));
    OK(hipStreamDestroy(two));
    CHECK_HIP(hipEventCreateWithFlags(&start, 0x8), hipErrorInvalidValue);
}

static void
test_destroyed_stream_finishes_its_work(void)
{
    hipStream_t stream;
    char *data;
    OK(hipMalloc((void **)&data, 64));
    OK(hipMemset(data, 0, 64));
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    close_gate(stream);
    OK(hipMemsetAsync(data, 7, 64, stream));
    OK(hipStreamDestroy(stream));
    CHECK_HIP(hipStreamDestroy(stream), hipErrorContextIsDestroyed);
    CHECK_HIP(hipMemsetAsync(data, 8, 64, stream), hipErrorContextIsDestroyed);
    gate_open = 1;
    OK(hipDeviceSynchronize());
    CHECK(data[63] == 7);
    OK(hipFree(data));
    CHECK_HIP(hipStreamDestroy(NULL), hipErrorInvalidResourceHandle);
}

static hipError_t inside[8];

static void
host_calls_hip(void *argument)
{
    void *pointer;
    int id;
    hipStream_t stream = *(hipStream_t *)argument;
    inside[0] = hipMalloc(&pointer, 16);
    inside[1] = hipStreamSynchronize(stream);
    inside[2] = hipDeviceSynchronize();
    inside[3] = hipGetDevice(&id);
    inside[4] = hipLaunchHostFunc(stream, host_calls_hip, argument);
    inside[5] = hipDeviceReset();
    inside[6] = hipGetDeviceCount(&id);
}

static void
callback(hipStream_t stream, hipError_t status, void *data)
{
    *(hipStream_t *)data = status == hipSuccess ? stream : NULL;
}

static void
test_host_functions(void)
{
    hipStream_t stream;
    hipStream_t seen = NULL;
    OK(hipStreamCreate(&stream));
    OK(hipLaunchHostFunc(stream, host_calls_hip, &stream));
    OK(hipStreamAddCallback(stream, callback, &seen, 0));
    OK(hipStreamSynchronize(stream));
    for (int i = 0; i < 6; i++) {
        CHECK(inside[i] == (i == 3 ? hipSuccess : HA_ERROR_IN_HOST_FUNCTION));
    }
    CHECK(inside[6] == hipSuccess);
    CHECK(seen == stream);
    CHECK_HIP(hipLaunchHostFunc(stream, NULL, NULL), hipErrorInvalidValue);
    CHECK_HIP(hipStreamAddCallback(stream, callback, &seen, 1), hipErrorInvalidValue);
    OK(hipStreamDestroy(stream));
}

static int sleeping;

static void
host_sleeps(void *argument)
{
    (void)argument;
    __atomic_fetch_add(&sleeping, 1, __ATOMIC_SEQ_CST);
    gate(NULL);
}

/* Host functions that sleep don't take workers away from others. */
static void
test_sleeping_host_functions_leave_workers(void)
{
    enum { COUNT = 20 };
    hipStream_t streams[COUNT];
    hipStream_t stream;
    char *data;
    gate_open = 0;
    OK(hipMalloc((void **)&data, 1 << 20));
    for (int i = 0; i < COUNT; i++) {
        OK(hipStreamCreateWithFlags(&streams[i], hipStreamNonBlocking));
        OK(hipLaunchHostFunc(streams[i], host_sleeps, NULL));
    }
    while (__atomic_load_n(&sleeping, __ATOMIC_SEQ_CST) < COUNT) {
        usleep(1000);
    }
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipMemsetAsync(data, 3, 1 << 20, stream));
    for (int i = 0; i < 1000 && hipStreamQuery(stream) != hipSuccess; i++) {
        usleep(1000);
    }
    OK(hipStreamQuery(stream));
    gate_open = 1;
    for (int i = 0; i < COUNT; i++) {
        OK(hipStreamSynchronize(streams[i]));
        OK(hipStreamDestroy(streams[i]));
    }
    OK(hipStreamDestroy(stream));
    OK(hipFree(data));
}

static void
test_free_in_stream_order(void)
{
    hipStream_t stream;
    char *data;
    size_t free_before;
    size_t free_now;
    size_t total;
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipMemGetInfo(&free_before, &total));
    OK(hipMallocAsync((void **)&data, 1 << 20, stream));
    close_gate(stream);
    OK(hipMemsetAsync(data, 1, 1 << 20, stream));
    OK(hipFreeAsync(data, stream));
    CHECK_HIP(hipFreeAsync(data, stream), hipErrorInvalidValue);
    CHECK_HIP(hipFree(data), hipErrorInvalidValue);
    OK(hipMemGetInfo(&free_now, &total));
    CHECK(free_now < free_before);
    gate_open = 1;
    OK(hipStreamSynchronize(stream));
    OK(hipMemGetInfo(&free_now, &total));
    CHECK(free_now == free_before);
    OK(hipStreamDestroy(stream));
}

static void
test_long_queue_behind_a_gate(void)
{
    enum { COUNT = 20000 };
    hipStream_t stream;
    hipEvent_t event;
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipEventCreate(&event));
    close_gate(stream);
    for (int i = 0; i < COUNT; i++) {
        OK(hipEventRecord(event, stream));
    }
    CHECK_HIP(hipEventQuery(event), hipErrorNotReady);
    gate_open = 1;
    OK(hipStreamSynchronize(stream));
    OK(hipEventQuery(event));
    OK(hipEventDestroy(event));
    OK(hipStreamDestroy(stream));
}

/* A waiting thread runs short kernels itself, but none behind what it waits for. */
static void
test_a_wait_does_no_more_than_it_waits_for(void)
{
    hipModule_t module;
    hipFunction_t empty = image_function(&module, "empty");
    hipFunction_t spin;
    hipStream_t stream;
    hipEvent_t event;
    int *stop;
    OK(hipModuleGetFunction(&spin, module, "spin"));
    OK(hipStreamCreate(&stream));
    OK(hipEventCreate(&event));
    OK(hipHostMalloc((void **)&stop, sizeof *stop, 0));
    void *args[] = {&stop};
    /* Kernels that were short the last time are what waiting threads take. */
    *stop = 1;
    OK(hipModuleLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
    OK(hipModuleLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    OK(hipStreamSynchronize(stream));
    for (int round = 0; round < 300; round++) {
        __atomic_store_n(stop, 0, __ATOMIC_SEQ_CST);
        for (int i = 0; i < 3; i++) {
            OK(hipModuleLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
        }
        OK(hipEventRecord(event, stream));
        OK(hipModuleLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
        OK(hipEventSynchronize(event));
        __atomic_store_n(stop, 1, __ATOMIC_SEQ_CST);
        OK(hipStreamSynchronize(stream));
    }
    OK(hipHostFree(stop));
    OK(hipEventDestroy(event));
    OK(hipStreamDestroy(stream));
    OK(hipModuleUnload(module));
}

int
main(void)
{
    setenv("HIPADAPT_CPU_DEVICES", "2", 1);
    RUN(test_legacy_stream_is_ordered_with_blocking_ones);
    RUN(test_event_in_blocking_stream_waits_for_the_legacy_one);
    RUN(test_free_waits_for_the_device);
    RUN(test_events);
    RUN(test_destroyed_stream_finishes_its_work);
    RUN(test_host_functions);
    RUN(test_sleeping_host_functions_leave_workers);
    RUN(test_free_in_stream_order);
    RUN(test_long_queue_behind_a_gate);
    RUN(test_a_wait_does_no_more_than_it_waits_for);
    RUN(test_random_work_agrees_with_the_model);
    return 0;
}
