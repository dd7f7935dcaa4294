/* SPDX-License-Identifier: MIT */
/* Buffers: nothing is lost or counted wrong, whoever waits for whom. */
/* sources: core rocprofiler */
/* product: profiler */
#include "rocprofiler_support.h"

#include <sched.h>

enum { THREADS = 8, CALLS = 125000 };

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer, second;
static rocprofiler_callback_thread_t own_thread;

static _Atomic uint64_t records, dropped, batches, largest;
static _Atomic unsigned char *seen; /* by internal correlation */
static uint64_t seen_max;
static atomic_bool slow, hold, held;

static void
take_seen(const rocprofiler_buffer_tracing_hip_api_record_t *record)
{
    CHECK(record->correlation_id.internal < seen_max);
    CHECK_EQUAL(atomic_fetch_add(&seen[record->correlation_id.internal], 1), 0);
}

static void
on_batch(rocprofiler_context_id_t of, rocprofiler_buffer_id_t id,
         rocprofiler_record_header_t **headers, size_t count, void *data, uint64_t lost)
{
    CHECK(of.handle == context.handle && id.handle == buffer.handle);
    CHECK(data == &records);
    for (size_t i = 0; i < count; i++) {
        CHECK_EQUAL(headers[i]->category, ROCPROFILER_BUFFER_CATEGORY_TRACING);
        if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API) {
            const rocprofiler_buffer_tracing_hip_api_record_t *record =
                headers[i]->payload;
            CHECK_EQUAL(record->size, sizeof *record);
            CHECK_EQUAL(record->operation, GET_DEVICE);
            CHECK(record->start_timestamp != 0 &&
                  record->start_timestamp <= record->end_timestamp);
            if (seen != NULL) {
                take_seen(record);
            }
        }
    }
    uint64_t most = atomic_load(&largest);
    while (count > most && !atomic_compare_exchange_weak(&largest, &most, count)) {
    }
    atomic_fetch_add(&records, count);
    atomic_fetch_add(&dropped, lost);
    atomic_fetch_add(&batches, 1);
    if (atomic_load(&slow)) {
        usleep(300);
    }
    while (atomic_load(&hold)) {
        atomic_store(&held, true);
        usleep(100);
    }
}

static void
make(size_t bytes, size_t watermark, rocprofiler_buffer_policy_t policy)
{
    const rocprofiler_tracing_operation_t operations[] = {GET_DEVICE};

    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_create_buffer(context, bytes, watermark, policy, on_batch,
                                 (void *)&records, &buffer));
    OK(rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, operations, 1, buffer));
    OK(rocprofiler_start_context(context));
}

static int
make_lossless(void)
{
    make(4096, 2048, ROCPROFILER_BUFFER_POLICY_LOSSLESS);
    return 0;
}

static int
make_discarding(void)
{
    make(4096, 4096, ROCPROFILER_BUFFER_POLICY_DISCARD);
    OK(rocprofiler_create_callback_thread(&own_thread));
    OK(rocprofiler_assign_callback_thread(buffer, own_thread));
    return 0;
}

static void *
call_often(void *argument)
{
    for (long i = 0; i < *(const long *)argument; i++) {
        int device = 0;
        CHECK_EQUAL(get_device(&device), hipSuccess);
        CHECK_EQUAL(device, 3);
    }
    return NULL;
}

static void
call_from_all(long calls)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        CHECK_EQUAL(pthread_create(&threads[i], NULL, call_often, &calls), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    }
}

static void
lossless_buffer_loses_nothing_of_a_million(void)
{
    seen_max = 4 * (uint64_t)THREADS * CALLS;
    seen = calloc(seen_max, 1);
    CHECK(seen != NULL);
    mock_start(make_lossless, NULL);
    call_from_all(CALLS);
    OK(rocprofiler_flush_buffer(buffer));
    CHECK_EQUAL(records, (uint64_t)THREADS * CALLS);
    CHECK_EQUAL(dropped, 0);
}

static void
discarding_buffer_counts_what_it_drops(void)
{
    const long calls = CALLS / 5;

    mock_start(make_discarding, NULL);
    atomic_store(&slow, true);
    call_from_all(calls);
    atomic_store(&slow, false);
    OK(rocprofiler_flush_buffer(buffer));
    CHECK_EQUAL(records + dropped, (uint64_t)THREADS * (uint64_t)calls);
    CHECK(dropped > 0);
}

static void
call(int count)
{
    for (int i = 0; i < count; i++) {
        int device;
        (void)get_device(&device);
    }
}

static int
make_with_watermark(void)
{
    const size_t record = sizeof(rocprofiler_buffer_tracing_hip_api_record_t);

    make(64 * record, 16 * record, ROCPROFILER_BUFFER_POLICY_LOSSLESS);
    return 0;
}

static bool
wait_for(_Atomic uint64_t *number, uint64_t goal)
{
    for (int i = 0; i < 5000 && atomic_load(number) < goal; i++) {
        usleep(1000);
    }
    return atomic_load(number) == goal;
}

static void
batch_comes_at_the_watermark_and_not_before(void)
{
    mock_start(make_with_watermark, NULL);
    call(15);
    usleep(50000);
    CHECK_EQUAL(records, 0);
    call(1);
    CHECK(wait_for(&records, 16));
    CHECK_EQUAL(batches, 1);
    call(3);
    OK(rocprofiler_flush_buffer(buffer));
    CHECK_EQUAL(records, 19);
    OK(rocprofiler_flush_buffer(buffer)); /* nothing there: no batch */
    CHECK_EQUAL(batches, 2);
}

static void
busy_buffer_says_so(void)
{
    mock_start(make_with_watermark, NULL);
    atomic_store(&hold, true);
    call(16);
    while (!atomic_load(&held)) {
        sched_yield();
    }
    CHECK_STATUS(rocprofiler_destroy_buffer(buffer), ERROR_BUFFER_BUSY);
    call(5); /* they go into the other half */
    atomic_store(&hold, false);
    OK(rocprofiler_flush_buffer(buffer));
    CHECK_EQUAL(records, 21);
}

static void
buffer_of_an_active_context_stays(void)
{
    mock_start(make_with_watermark, NULL);
    CHECK_STATUS(rocprofiler_destroy_buffer(buffer), ERROR_BUFFER_BUSY);
    call(5); /* it takes them all the same */
    OK(rocprofiler_flush_buffer(buffer));
    CHECK_EQUAL(records, 5);
    OK(rocprofiler_stop_context(context));
    OK(rocprofiler_destroy_buffer(buffer));
    CHECK_STATUS(rocprofiler_destroy_buffer(buffer), ERROR_BUFFER_NOT_FOUND);
    CHECK_STATUS(rocprofiler_flush_buffer(buffer), ERROR_BUFFER_NOT_FOUND);
    CHECK_STATUS(rocprofiler_start_context(context), ERROR_BUFFER_NOT_FOUND);
    call(100); /* nobody takes them */
    CHECK_EQUAL(records, 5);
}

static int
make_and_destroy_one(void)
{
    const rocprofiler_buffer_tracing_kind_t kind =
        ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API;

    OK(rocprofiler_create_context(&context));
    for (int i = 0; i < 2; i++) {
        OK(rocprofiler_create_buffer(context, 4096, 4096,
                                     ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_batch,
                                     (void *)&records, i == 0 ? &second : &buffer));
    }
    OK(rocprofiler_destroy_buffer(second));
    CHECK_STATUS(
        rocprofiler_configure_buffer_tracing_service(context, kind, NULL, 0, second),
        ERROR_BUFFER_NOT_FOUND);
    OK(rocprofiler_configure_buffer_tracing_service(context, kind, NULL, 0, buffer));
    OK(rocprofiler_start_context(context)); /* no service had the other */
    return 0;
}

static void
destroyed_buffer_serves_nothing(void)
{
    mock_start(make_and_destroy_one, NULL);
    call(3);
    OK(rocprofiler_flush_buffer(buffer));
    CHECK_EQUAL(records, 3);
}

static rocprofiler_status_t own_status, other_status;

static void
on_second(rocprofiler_context_id_t of, rocprofiler_buffer_id_t id,
          rocprofiler_record_header_t **headers, size_t count, void *data,
          uint64_t lost)
{
    (void)of;
    (void)headers;
    (void)data;
    (void)lost;
    if (count > 0 && own_status == ROCPROFILER_STATUS_LAST) {
        own_status = rocprofiler_flush_buffer(id);
        other_status = rocprofiler_flush_buffer(buffer);
    }
}

static int
make_two(void)
{
    make(65536, 65536, ROCPROFILER_BUFFER_POLICY_LOSSLESS);
    OK(rocprofiler_create_buffer(context, 65536, 65536,
                                 ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_second, NULL,
                                 &second));
    OK(rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT, NULL, 0, second));
    return 0;
}

static void
flush_within_a_batch_ends(void)
{
    own_status = other_status = ROCPROFILER_STATUS_LAST;
    mock_start(make_two, NULL);
    call(5);
    OK(rocprofiler_flush_buffer(second));
    CHECK_STATUS(own_status, ERROR_BUFFER_BUSY);
    CHECK_STATUS(other_status, SUCCESS); /* on the same thread, but not busy */
    CHECK_EQUAL(records, 5);
}

static int
initialize_with_bad_arguments(void)
{
    rocprofiler_buffer_id_t made = {0};
    rocprofiler_context_id_t missing = {12345};
    rocprofiler_callback_thread_t none = {0};

    make_lossless();
    CHECK_STATUS(rocprofiler_create_buffer(missing, 64, 0,
                                           ROCPROFILER_BUFFER_POLICY_DISCARD, on_batch,
                                           NULL, &made),
                 ERROR_CONTEXT_NOT_FOUND);
    CHECK_STATUS(rocprofiler_create_buffer(context, 0, 0,
                                           ROCPROFILER_BUFFER_POLICY_DISCARD, on_batch,
                                           NULL, &made),
                 ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(rocprofiler_create_buffer(context, 64, 0,
                                           ROCPROFILER_BUFFER_POLICY_LAST, on_batch,
                                           NULL, &made),
                 ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(rocprofiler_create_buffer(context, 64, 0,
                                           ROCPROFILER_BUFFER_POLICY_DISCARD, NULL,
                                           NULL, &made),
                 ERROR_INVALID_ARGUMENT);
#ifndef __SANITIZE_THREAD__ /* it ends the program there */
    CHECK_STATUS(rocprofiler_create_buffer(context, SIZE_MAX / 2, 0,
                                           ROCPROFILER_BUFFER_POLICY_DISCARD, on_batch,
                                           NULL, &made),
                 ERROR_OUT_OF_RESOURCES);
#endif
    CHECK_STATUS(rocprofiler_assign_callback_thread(buffer, none),
                 ERROR_THREAD_NOT_FOUND);
    CHECK_STATUS(rocprofiler_assign_callback_thread(made, none),
                 ERROR_BUFFER_NOT_FOUND);
    OK(rocprofiler_flush_buffer(buffer)); /* no thread so far */
    return 0;
}

static void
bad_arguments_and_the_window(void)
{
    rocprofiler_buffer_id_t made = {0}, missing = {77};

    mock_start(initialize_with_bad_arguments, NULL);
    CHECK_STATUS(rocprofiler_create_buffer(context, 64, 0,
                                           ROCPROFILER_BUFFER_POLICY_DISCARD, on_batch,
                                           NULL, &made),
                 ERROR_CONFIGURATION_LOCKED);
    CHECK_STATUS(rocprofiler_create_callback_thread(&own_thread),
                 ERROR_CONFIGURATION_LOCKED);
    CHECK_STATUS(rocprofiler_assign_callback_thread(buffer, own_thread),
                 ERROR_CONFIGURATION_LOCKED);
    CHECK_STATUS(rocprofiler_flush_buffer(missing), ERROR_BUFFER_NOT_FOUND);
    CHECK_STATUS(rocprofiler_destroy_buffer(missing), ERROR_BUFFER_NOT_FOUND);
}

static atomic_int created[2];

static void
on_create(rocprofiler_runtime_library_t library, void *data)
{
    CHECK_EQUAL(library, ROCPROFILER_LIBRARY);
    atomic_fetch_add((atomic_int *)data, 1);
    CHECK(atomic_load(&created[0]) >= atomic_load(&created[1]));
}

static void
after_create(rocprofiler_runtime_library_t library, void *data)
{
    CHECK_EQUAL(library, ROCPROFILER_LIBRARY);
    atomic_fetch_add((atomic_int *)data + 1, 1);
}

static int
make_with_threads(void)
{
    rocprofiler_callback_thread_t thread;

    CHECK_STATUS(
        rocprofiler_at_internal_thread_create(on_create, after_create, 0, NULL),
        ERROR_INVALID_ARGUMENT);
    OK(rocprofiler_at_internal_thread_create(
        on_create, after_create, ROCPROFILER_LIBRARY | ROCPROFILER_HIP_LIBRARY,
        created));
    make_two();
    OK(rocprofiler_create_callback_thread(&thread));
    OK(rocprofiler_assign_callback_thread(second, thread));
    return 0;
}

static void
tools_are_told_of_threads(void)
{
    mock_start(make_with_threads, NULL);
    CHECK_EQUAL(created[0], 2);
    CHECK_EQUAL(created[1], 2);
    CHECK_STATUS(rocprofiler_at_internal_thread_create(on_create, NULL,
                                                       ROCPROFILER_LIBRARY, NULL),
                 ERROR_CONFIGURATION_LOCKED);
}

static void
end_in_time(void)
{
    CHECK_EQUAL(records, 7);
}

static void
rest_is_given_before_the_end(void)
{
    mock_start(make_with_watermark, end_in_time);
    call(7);
    hipadapt_rocprofiler_finalize();
    CHECK_EQUAL(records, 7);
    call(7);
    CHECK_EQUAL(records, 7);
}

static int
make_tiny(void)
{
    make(32, 32, ROCPROFILER_BUFFER_POLICY_LOSSLESS); /* no record has room */
    return 0;
}

static void
record_that_never_fits_is_dropped(void)
{
    mock_start(make_tiny, NULL);
    call(3);
    OK(rocprofiler_flush_buffer(buffer));
    CHECK_EQUAL(records, 0);
    CHECK_EQUAL(dropped, 3);
}

int
main(void)
{
    RUN_ALONE(lossless_buffer_loses_nothing_of_a_million);
    RUN_ALONE(discarding_buffer_counts_what_it_drops);
    RUN_ALONE(batch_comes_at_the_watermark_and_not_before);
    RUN_ALONE(busy_buffer_says_so);
    RUN_ALONE(buffer_of_an_active_context_stays);
    RUN_ALONE(destroyed_buffer_serves_nothing);
    RUN_ALONE(flush_within_a_batch_ends);
    RUN_ALONE(bad_arguments_and_the_window);
    RUN_ALONE(tools_are_told_of_threads);
    RUN_ALONE(rest_is_given_before_the_end);
    RUN_ALONE(record_that_never_fits_is_dropped);
    return 0;
}
