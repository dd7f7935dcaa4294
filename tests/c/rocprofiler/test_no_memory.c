/* SPDX-License-Identifier: MIT */
/* Memory runs out at the n-th request of the profiler's library, for each n: a call of
 * it says so, records are counted as dropped at worst, and HIP's calls answer what they
 * would without a profiler. */
/* sources: core rocprofiler */
/* product: profiler */
/* libraries: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* libraries: -Wl,--wrap=strdup,--wrap=strndup,--wrap=mmap,--wrap=memfd_create */
#include "no_memory.h"
#include "rocprofiler_support.h"

enum { CALLS = 40, LIMIT_S = 60, REPEATED_TIMES = 4 };

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static _Atomic uint64_t records, dropped;
static bool started;

static void
on_batch(rocprofiler_context_id_t of, rocprofiler_buffer_id_t id,
         rocprofiler_record_header_t **headers, size_t count, void *data, uint64_t lost)
{
    (void)of;
    (void)id;
    (void)headers;
    (void)data;
    atomic_fetch_add(&records, count);
    atomic_fetch_add(&dropped, lost);
}

static bool
good(rocprofiler_status_t status)
{
    CHECK(status == ROCPROFILER_STATUS_SUCCESS ||
          (armed && status == ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES));
    return status == ROCPROFILER_STATUS_SUCCESS;
}

static int
begin(void)
{
    const rocprofiler_tracing_operation_t operations[] = {GET_DEVICE};
    started = good(rocprofiler_create_context(&context)) &&
              good(rocprofiler_create_buffer(context, 4096, 2048,
                                             ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                                             on_batch, NULL, &buffer)) &&
              good(rocprofiler_configure_buffer_tracing_service(
                  context, ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, operations, 1,
                  buffer)) &&
              good(rocprofiler_start_context(context));
    return 0;
}

static void *
call(void *unused)
{
    (void)unused;
    for (int i = 0; i < CALLS; i++) {
        int device = 0;
        CHECK_EQUAL(get_device(&device), hipSuccess);
        CHECK_EQUAL(device, 3);
    }
    return NULL;
}

/* In a process of its own; 2 where so many requests were never made. */
static int
run_with(long number, long times)
{
    pthread_t thread;
    (void)alarm(LIMIT_S);
    mock_initialize = begin;
    left = number;
    failures = times;
    armed = true;
    (void)mock_register();
    rocprofiler_status_t status = rocprofiler_force_configure(mock_configure);
    /* A tool for which there is no room is left out. */
    CHECK(status == ROCPROFILER_STATUS_SUCCESS ||
          status == ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES ||
          status == ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED);
    CHECK_EQUAL(pthread_create(&thread, NULL, call, NULL), 0);
    (void)call(NULL);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    bool reached = left <= 0;
    armed = false;
    if (started) {
        OK(rocprofiler_stop_context(context));
        OK(rocprofiler_flush_buffer(buffer));
        CHECK(records <= 2 * CALLS);
        CHECK_EQUAL(records + dropped, 2 * CALLS);
    }
    return reached ? 0 : 2;
}

static void
try_each(long times)
{
    int status = 0;
    for (long number = 1; status == 0; number++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            exit(run_with(number, times));
        }
        CHECK(waitpid(child, &status, 0) == child);
        if (!WIFEXITED(status) ||
            (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 2)) {
            fprintf(stderr, "without memory at request %ld (%ld times): status 0x%x\n",
                    number, times, (unsigned)status);
            exit(1);
        }
        status = WEXITSTATUS(status);
    }
}

static void
test_no_memory_once(void)
{
    try_each(1);
}

static void
test_no_memory_for_a_while(void)
{
    try_each(REPEATED_TIMES);
}

int
main(void)
{
    RUN(test_no_memory_once);
    RUN(test_no_memory_for_a_while);
    return 0;
}
