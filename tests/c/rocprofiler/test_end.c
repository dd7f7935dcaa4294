/* SPDX-License-Identifier: MIT */
/* The end of a tool while other threads are in the middle of something. */
/* sources: core rocprofiler */
/* product: profiler */
#include "rocprofiler_support.h"

#include <time.h>

static rocprofiler_context_id_t context;
static atomic_int inside, calls, finalized;
static pthread_mutex_t tool_lock = PTHREAD_MUTEX_INITIALIZER;
static void (*in_callback)(void);

static void
on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
        void *data)
{
    (void)user;
    (void)data;
    CHECK_EQUAL(atomic_load(&finalized), 0); /* what it uses is gone then */
    atomic_fetch_add(&calls, 1);
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER && in_callback != NULL) {
        atomic_fetch_add(&inside, 1);
        in_callback();
        CHECK_EQUAL(atomic_load(&finalized), 0);
        atomic_fetch_sub(&inside, 1);
    }
}

static int
make_tracing(void)
{
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0, on_call, NULL));
    OK(rocprofiler_start_context(context));
    return 0;
}

static void
note_end(void)
{
    atomic_store(&finalized, 1);
}

static void *
call_once(void *argument)
{
    int device;

    (void)argument;
    CHECK_EQUAL(get_device(&device), hipSuccess);
    return NULL;
}

static pthread_t
start_call(void)
{
    pthread_t thread;

    CHECK_EQUAL(pthread_create(&thread, NULL, call_once, NULL), 0);
    while (atomic_load(&inside) == 0) {
        usleep(100);
    }
    return thread;
}

static double
seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void
take_a_while(void)
{
    usleep(200000);
}

static void
finalize_waits_for_callbacks_of_other_threads(void)
{
    mock_start(make_tracing, note_end);
    in_callback = take_a_while;
    pthread_t thread = start_call();
    mock_end(*mock_id);
    CHECK_EQUAL(atomic_load(&finalized), 1);
    CHECK_EQUAL(atomic_load(&inside), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(atomic_load(&calls), 1); /* the end of that call isn't told any more */
}

static void
exit_waits_for_callbacks_of_other_threads(void)
{
    mock_start(make_tracing, note_end);
    in_callback = take_a_while;
    CHECK_EQUAL(pthread_detach(start_call()), 0);
    exit(0);
}

static void
wait_for_lock(void)
{
    pthread_mutex_lock(&tool_lock);
    pthread_mutex_unlock(&tool_lock);
}

static void
note_nothing(void)
{
}

static void
finalize_waits_for_no_more_than_a_moment(void)
{
    mock_start(make_tracing, note_nothing);
    in_callback = wait_for_lock;
    pthread_mutex_lock(&tool_lock);
    pthread_t thread = start_call();
    double begin = seconds();
    mock_end(*mock_id); /* with the lock that the other thread waits for */
    CHECK(seconds() - begin < 10);
    pthread_mutex_unlock(&tool_lock);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

static void
end_myself(void)
{
    mock_end(*mock_id);
    CHECK_EQUAL(atomic_exchange(&finalized, 0), 1); /* on_call looks */
}

static void
finalize_within_a_callback_waits_for_nobody(void)
{
    int device;
    double begin = seconds();

    mock_start(make_tracing, note_end);
    in_callback = end_myself;
    CHECK_EQUAL(get_device(&device), hipSuccess);
    CHECK(seconds() - begin < 0.9);
    CHECK_EQUAL(atomic_load(&calls), 1);
}

static void *
many_calls(void *argument)
{
    for (int i = 0; i < 2000; i++) {
        (void)call_once(argument);
    }
    return NULL;
}

static void
threads_that_have_ended_are_forgotten(void)
{
    pthread_t thread;

    mock_start(make_tracing, note_end);
    for (int i = 0; i < 200; i++) {
        CHECK_EQUAL(pthread_create(&thread, NULL, call_once, NULL), 0);
        CHECK_EQUAL(pthread_join(thread, NULL), 0);
    }
    CHECK_EQUAL(pthread_create(&thread, NULL, many_calls, NULL), 0);
    usleep(1000);
    mock_end(*mock_id); /* in the middle */
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

static rocprofiler_buffer_id_t buffer;
static atomic_int records;

static void
on_batch(rocprofiler_context_id_t from, rocprofiler_buffer_id_t id,
         rocprofiler_record_header_t **headers, size_t count, void *data, uint64_t lost)
{
    (void)from;
    (void)id;
    (void)headers;
    (void)data;
    CHECK_EQUAL(lost, 0);
    CHECK_EQUAL(atomic_load(&finalized), 0);
    atomic_fetch_add(&records, (int)count);
}

static int
make_buffered(void)
{
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_create_buffer(context, 1 << 16, 1 << 16,
                                 ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_batch, NULL,
                                 &buffer));
    OK(rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, NULL, 0, buffer));
    OK(rocprofiler_start_context(context));
    return 0;
}

static void
use_all_once_more(void)
{
    int device, status = -1;

    OK(rocprofiler_context_is_valid(context, &status));
    CHECK_EQUAL(status, 1);
    OK(rocprofiler_context_is_active(context, &status));
    CHECK_EQUAL(status, 0);
    OK(rocprofiler_stop_context(context));
    CHECK_EQUAL(get_device(&device), hipSuccess); /* is no event */
    OK(rocprofiler_flush_buffer(buffer));
    CHECK_EQUAL(atomic_load(&records), 2);
    OK(rocprofiler_destroy_buffer(buffer));
    atomic_store(&finalized, 1);
}

static void
finalize_may_use_what_the_tool_has_made(void)
{
    int device, status = -1;

    mock_start(make_buffered, use_all_once_more);
    CHECK_EQUAL(get_device(&device), hipSuccess);
    CHECK_EQUAL(get_device(&device), hipSuccess);
    mock_end(*mock_id);
    CHECK_EQUAL(atomic_load(&finalized), 1);
    OK(rocprofiler_context_is_valid(context, &status));
    CHECK_EQUAL(status, 0);
    CHECK_STATUS(rocprofiler_flush_buffer(buffer), ERROR_BUFFER_NOT_FOUND);
}

static void
buffers_are_closed_after_finalize(void)
{
    int device;

    mock_start(make_buffered, note_end);
    CHECK_EQUAL(get_device(&device), hipSuccess);
    mock_end(*mock_id);
    CHECK_EQUAL(atomic_load(&records), 1);
    CHECK_STATUS(rocprofiler_flush_buffer(buffer), ERROR_BUFFER_NOT_FOUND);
}

static void
fork_here(void)
{
    pid_t child = fork();

    if (child == 0) {
        int device;
        in_callback = NULL;
        int before = atomic_load(&calls);
        CHECK_EQUAL(get_device(&device), hipSuccess);
        CHECK_EQUAL(atomic_load(&calls), before);
        CHECK_STATUS(rocprofiler_start_context(context), ERROR_CONFIGURATION_LOCKED);
        exit(7);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void
child_of_a_callback_is_not_observed(void)
{
    int device;

    mock_start(make_tracing, note_end);
    in_callback = fork_here;
    CHECK_EQUAL(get_device(&device), hipSuccess);
    CHECK_EQUAL(atomic_load(&calls), 2);
}

int
main(void)
{
    RUN_ALONE(finalize_waits_for_callbacks_of_other_threads);
    RUN_ALONE(exit_waits_for_callbacks_of_other_threads);
    RUN_ALONE(finalize_waits_for_no_more_than_a_moment);
    RUN_ALONE(finalize_within_a_callback_waits_for_nobody);
    RUN_ALONE(threads_that_have_ended_are_forgotten);
    RUN_ALONE(child_of_a_callback_is_not_observed);
    RUN_ALONE(finalize_may_use_what_the_tool_has_made);
    RUN_ALONE(buffers_are_closed_after_finalize);
    return 0;
}
