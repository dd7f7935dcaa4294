/* SPDX-License-Identifier: MIT */
/* A tool, and the program that it observes: what a profiler costs a call of HIP.
 *
 * The modes take turns on one slot of the runtime's table.  "No tool" puts the runtime's
 * own function back there, which is what the slot holds while nobody asks for it. */
#include <hip/hip_runtime_api.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { BUFFER_BYTES = 1 << 20 };

enum mode { NO_TOOL, STOPPED, CALLBACKS, BUFFER, MODES };

static rocprofiler_context_id_t contexts[MODES];
static rocprofiler_buffer_id_t buffer;
static void **slot;
static void *functions[2]; /* without a tool and with one */
static uint64_t callbacks, records, lost;

#define TRY(call)                                                                      \
    do {                                                                               \
        rocprofiler_status_t status_ = (call);                                         \
        if (status_ != ROCPROFILER_STATUS_SUCCESS) {                                   \
            fprintf(stderr, "%s: %s\n", #call, rocprofiler_get_status_name(status_));  \
            return -1;                                                                 \
        }                                                                              \
    } while (0)

static void
on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
        void *data)
{
    (void)record;
    (void)user;
    (void)data;
    callbacks++;
}

static void
on_batch(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id,
         rocprofiler_record_header_t **headers, size_t count, void *data,
         uint64_t dropped)
{
    (void)context;
    (void)id;
    (void)headers;
    (void)data;
    records += count;
    lost += dropped;
}

static void
on_table(rocprofiler_intercept_table_t type, uint64_t version, uint64_t instance,
         void **tables, uint64_t count, void *data)
{
    (void)type;
    (void)version;
    (void)instance;
    (void)count;
    (void)data;
    slot = (void **)((char *)tables[0] + sizeof(size_t)) +
           ROCPROFILER_HIP_RUNTIME_API_ID_hipGetDevice;
}

static int
look_at_table(rocprofiler_client_finalize_t end, void *data)
{
    (void)end;
    (void)data;
    TRY(rocprofiler_at_intercept_table_registration(
        on_table, ROCPROFILER_HIP_RUNTIME_TABLE, NULL));
    return 0;
}

static int
make_contexts(rocprofiler_client_finalize_t end, void *data)
{
    const rocprofiler_tracing_operation_t operation[] = {
        ROCPROFILER_HIP_RUNTIME_API_ID_hipGetDevice};

    (void)end;
    (void)data;
    TRY(rocprofiler_create_context(&contexts[CALLBACKS]));
    TRY(rocprofiler_create_context(&contexts[BUFFER]));
    TRY(rocprofiler_configure_callback_tracing_service(
        contexts[CALLBACKS], ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, operation, 1,
        on_call, NULL));
    TRY(rocprofiler_create_buffer(contexts[BUFFER], BUFFER_BYTES, BUFFER_BYTES / 2,
                                  ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_batch, NULL,
                                  &buffer));
    TRY(rocprofiler_configure_buffer_tracing_service(
        contexts[BUFFER], ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, operation, 1,
        buffer));
    return 0;
}

static rocprofiler_tool_configure_result_t *
configure_look(uint32_t version, const char *runtime_version, uint32_t priority,
               rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, look_at_table,
                                                         NULL, NULL};

    (void)version;
    (void)runtime_version;
    (void)priority;
    id->name = "table";
    return &result;
}

static rocprofiler_tool_configure_result_t *
configure_trace(uint32_t version, const char *runtime_version, uint32_t priority,
                rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, make_contexts,
                                                         NULL, NULL};

    (void)version;
    (void)runtime_version;
    (void)priority;
    id->name = "benchmark";
    return &result;
}

/* 0, or what is printed went wrong. */
int
start(void)
{
    int device;

    if (hipGetDevice(&device) != hipSuccess) {
        return -1;
    }
    TRY(rocprofiler_force_configure(configure_look));
    if (slot == NULL) {
        fprintf(stderr, "the runtime has not handed over its table\n");
        return -1;
    }
    functions[0] = *slot;
    TRY(rocprofiler_force_configure(configure_trace));
    functions[1] = *slot;
    return functions[0] == functions[1] ? -1 : 0;
}

static double
now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* Nanoseconds of a call, of `count`, in whatever mode the table is in. */
double
per_call(int count)
{
    double begin = now_ns();
    int device;

    for (int i = 0; i < count; i++) {
        if (hipGetDevice(&device) != hipSuccess) {
            return -1;
        }
    }
    return (now_ns() - begin) / count;
}

/* The same in a mode; what was lost counts as a failure. */
double
per_call_in(int mode, int count)
{
    uint64_t told = callbacks + records;
    int context = mode == CALLBACKS || mode == BUFFER;

    __atomic_store_n(slot, functions[mode != NO_TOOL], __ATOMIC_RELEASE);
    if (context) {
        TRY(rocprofiler_start_context(contexts[mode]));
    }
    double time = per_call(count);
    if (context) {
        TRY(rocprofiler_stop_context(contexts[mode]));
        TRY(rocprofiler_flush_buffer(buffer));
    }
    uint64_t want = mode == CALLBACKS ? 2 : mode == BUFFER;
    if (lost > 0 || callbacks + records - told != want * (uint64_t)count) {
        fprintf(stderr, "mode %d: %llu events were told, %llu lost\n", mode,
                (unsigned long long)(callbacks + records - told),
                (unsigned long long)lost);
        return -1;
    }
    return time;
}
