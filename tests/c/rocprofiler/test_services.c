/* SPDX-License-Identifier: MIT */
/* Services: when they can be asked for, which of them are silent here, which are not
 * there at all, and the streams of calls. */
/* sources: core rocprofiler */
/* product: profiler */
#include "rocprofiler_support.h"

#include <rocprofiler-sdk/experimental/counters.h>
#include <rocprofiler-sdk/experimental/spm.h>
#include <rocprofiler-sdk/experimental/thread_trace.h>

static rocprofiler_context_id_t context, other;
static rocprofiler_buffer_id_t buffer;

static void
on_event(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
         void *data)
{
    (void)record;
    (void)user;
    (void)data;
}

static void
on_batch(rocprofiler_context_id_t of, rocprofiler_buffer_id_t id,
         rocprofiler_record_header_t **headers, size_t count, void *data, uint64_t lost)
{
    (void)of;
    (void)id;
    (void)headers;
    (void)count;
    (void)data;
    (void)lost;
}

static int
count_operation(rocprofiler_callback_tracing_kind_t kind,
                rocprofiler_tracing_operation_t operation, void *data)
{
    (void)kind;
    (void)operation;
    (*(int *)data)++;
    return 0;
}

static int
count_buffer_operation(rocprofiler_buffer_tracing_kind_t kind,
                       rocprofiler_tracing_operation_t operation, void *data)
{
    (void)kind;
    (void)operation;
    (*(int *)data)++;
    return 0;
}

/* ---- kinds ---- */

/* Nothing here makes events of these. */
static bool
is_silent(const char *name)
{
    static const char *const beginnings[] = {"HSA_",      "SCRATCH_", "RCCL_", "OMPT",
                                             "ROCDECODE", "ROCJPEG",  "KFD_"};

    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) {
            return true;
        }
    }
    return false;
}

static int
make_all_kinds(void)
{
    const rocprofiler_tracing_operation_t some[] = {1, 3};
    int silent = 0;

    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_create_context(&other));
    OK(rocprofiler_create_buffer(context, 4096, 2048,
                                 ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_batch, NULL,
                                 &buffer));
    for (int i = 1; i < ROCPROFILER_CALLBACK_TRACING_LAST; i++) {
        rocprofiler_callback_tracing_kind_t kind =
            (rocprofiler_callback_tracing_kind_t)i;
        const char *name = NULL;
        int operations = 0;
        OK(rocprofiler_query_callback_tracing_kind_name(kind, &name, NULL));
        OK(rocprofiler_iterate_callback_tracing_kind_operations(kind, count_operation,
                                                                &operations));
        CHECK_EQUAL(operations == 0, is_silent(name)); /* the query that says so */
        OK(rocprofiler_configure_callback_tracing_service(context, kind, NULL, 0,
                                                          on_event, NULL));
        CHECK_STATUS(rocprofiler_configure_callback_tracing_service(context, kind, NULL,
                                                                    0, on_event, NULL),
                     ERROR_SERVICE_ALREADY_CONFIGURED);
        if (is_silent(name)) {
            OK(rocprofiler_configure_callback_tracing_service(other, kind, some, 2,
                                                              on_event, NULL));
            silent++;
        }
    }
    CHECK_EQUAL(silent, 9);
    for (int i = 1; i < ROCPROFILER_BUFFER_TRACING_LAST; i++) {
        rocprofiler_buffer_tracing_kind_t kind = (rocprofiler_buffer_tracing_kind_t)i;
        const char *name = NULL;
        int operations = 0;
        OK(rocprofiler_query_buffer_tracing_kind_name(kind, &name, NULL));
        OK(rocprofiler_iterate_buffer_tracing_kind_operations(
            kind, count_buffer_operation, &operations));
        CHECK_EQUAL(operations == 0,
                    is_silent(name) || strcmp(name, "CORRELATION_ID_RETIREMENT") == 0);
        OK(rocprofiler_configure_buffer_tracing_service(context, kind, NULL, 0,
                                                        buffer));
        CHECK_STATUS(rocprofiler_configure_buffer_tracing_service(context, kind, NULL,
                                                                  0, buffer),
                     ERROR_SERVICE_ALREADY_CONFIGURED);
    }
    OK(rocprofiler_start_context(context));
    OK(rocprofiler_start_context(other));
    return 0;
}

static void
every_kind_can_be_asked_for(void)
{
    int device = 0;

    mock_start(make_all_kinds, NULL);
    CHECK_EQUAL(get_device(&device), hipSuccess);
    OK(rocprofiler_flush_buffer(buffer));
    OK(rocprofiler_stop_context(context));
}

/* ---- what is not there ---- */

static rocprofiler_status_t
no_configurations(const rocprofiler_pc_sampling_configuration_t *configs, size_t count,
                  void *data)
{
    (void)configs;
    (void)count;
    (void)data;
    CHECK(!"called");
    return ROCPROFILER_STATUS_ERROR;
}

static rocprofiler_status_t
no_spm_configurations(const rocprofiler_spm_available_configuration_t **configs,
                      size_t count, void *data)
{
    (void)configs;
    (void)count;
    (void)data;
    CHECK(!"called");
    return ROCPROFILER_STATUS_ERROR;
}

static rocprofiler_status_t
no_counters(rocprofiler_agent_id_t agent, rocprofiler_counter_id_t *counters,
            size_t count, void *data)
{
    (void)agent;
    (void)counters;
    (void)count;
    (void)data;
    CHECK(!"called");
    return ROCPROFILER_STATUS_ERROR;
}

static void
parts_of_samples_have_names(void)
{
    const unsigned types = ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_LAST;
    const unsigned reasons = ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_LAST;

    CHECK_TEXT(rocprofiler_get_pc_sampling_instruction_type_name(
                   ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_JUMP),
               "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_JUMP");
    CHECK_TEXT(rocprofiler_get_pc_sampling_instruction_not_issued_reason_name(0),
               "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_NONE");
    for (unsigned i = 0; i < types; i++) {
        CHECK(rocprofiler_get_pc_sampling_instruction_type_name(i) != NULL);
    }
    for (unsigned i = 0; i < reasons; i++) {
        CHECK(rocprofiler_get_pc_sampling_instruction_not_issued_reason_name(i) !=
              NULL);
    }
    CHECK(rocprofiler_get_pc_sampling_instruction_type_name(types) == NULL);
    CHECK(rocprofiler_get_pc_sampling_instruction_not_issued_reason_name(reasons) ==
          NULL);
}

static int
ask_for_what_is_lacking(void)
{
    const rocprofiler_agent_id_t agent = {0};
    const rocprofiler_thread_trace_decoder_handle_t none = {0};
    rocprofiler_thread_trace_decoder_handle_t handle = {55};
    rocprofiler_counter_config_id_t config = {0};
    int status = 7;

    OK(rocprofiler_create_context(&context));
    CHECK_STATUS(rocprofiler_configure_pc_sampling_service(
                     context, agent, ROCPROFILER_PC_SAMPLING_METHOD_HOST_TRAP,
                     ROCPROFILER_PC_SAMPLING_UNIT_TIME, 1000, buffer, 0),
                 ERROR_NOT_IMPLEMENTED);
    CHECK_STATUS(rocprofiler_query_pc_sampling_agent_configurations(
                     agent, no_configurations, NULL),
                 ERROR_NOT_IMPLEMENTED);
    CHECK_STATUS(rocprofiler_configure_device_thread_trace_service(
                     context, agent, NULL, 0, NULL, (rocprofiler_user_data_t){0}),
                 ERROR_NOT_IMPLEMENTED);
    CHECK_STATUS(rocprofiler_configure_dispatch_thread_trace_service(
                     context, agent, NULL, 0, NULL, NULL, NULL),
                 ERROR_NOT_IMPLEMENTED);
    CHECK_STATUS(
        rocprofiler_spm_query_agent_configurations(agent, no_spm_configurations, NULL),
        ERROR_NOT_IMPLEMENTED);
    CHECK_STATUS(
        rocprofiler_spm_iterate_agent_supported_counters(agent, no_counters, NULL),
        ERROR_NOT_IMPLEMENTED);
    CHECK_STATUS(
        rocprofiler_spm_create_counter_config(agent, NULL, 0, NULL, 0, &config),
        ERROR_NOT_IMPLEMENTED);
    CHECK_STATUS(rocprofiler_spm_destroy_counter_config(config), ERROR_NOT_IMPLEMENTED);
    CHECK_STATUS(rocprofiler_spm_configure_callback_dispatch_service(context, NULL,
                                                                     NULL, NULL, NULL),
                 ERROR_NOT_IMPLEMENTED);
    CHECK_STATUS(
        rocprofiler_spm_configure_buffer_dispatch_service(context, buffer, NULL, NULL),
        ERROR_NOT_IMPLEMENTED);
    CHECK_STATUS(rocprofiler_configure_spm_device_counting_service(context, buffer,
                                                                   agent, NULL, NULL),
                 ERROR_NOT_IMPLEMENTED);
    CHECK_STATUS(
        rocprofiler_load_counter_definition("a: b", 4, ROCPROFILER_COUNTER_FLAG_NONE),
        ERROR_NOT_IMPLEMENTED);
    OK(rocprofiler_ompt_is_initialized(&status));
    CHECK_EQUAL(status, 0);
    OK(rocprofiler_ompt_is_finalized(&status));
    CHECK_EQUAL(status, 0);
    CHECK(rocprofiler_ompt_start_tool(201811, "runtime") == NULL);
    CHECK_STATUS(rocprofiler_thread_trace_decoder_create(&handle, "/nowhere"),
                 ERROR_NOT_AVAILABLE);
    CHECK_EQUAL(handle.handle, 55);
    CHECK_STATUS(rocprofiler_thread_trace_decoder_codeobj_load(none, 1, 2, 3, "", 1),
                 ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(rocprofiler_thread_trace_decoder_codeobj_unload(none, 1),
                 ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(rocprofiler_trace_decode(none, NULL, NULL, 0, NULL),
                 ERROR_INVALID_ARGUMENT);
    CHECK(rocprofiler_thread_trace_decoder_info_string(
              none, ROCPROFILER_THREAD_TRACE_DECODER_INFO_NONE) == NULL);
    rocprofiler_thread_trace_decoder_destroy(none);
    return 0;
}

static void
services_that_are_not_there_say_so(void)
{
    mock_start(ask_for_what_is_lacking, NULL);
}

/* ---- the window ---- */

static void
on_table(rocprofiler_intercept_table_t type, uint64_t version, uint64_t instance,
         void **tables, uint64_t count, void *data)
{
    (void)type;
    (void)version;
    (void)instance;
    (void)tables;
    (void)count;
    (void)data;
}

static void
on_thread(rocprofiler_runtime_library_t library, void *data)
{
    (void)library;
    (void)data;
}

static int
on_request(rocprofiler_thread_id_t thread, rocprofiler_context_id_t of,
           rocprofiler_external_correlation_id_request_kind_t kind,
           rocprofiler_tracing_operation_t operation, uint64_t internal,
           rocprofiler_user_data_t *value, void *data)
{
    (void)thread;
    (void)of;
    (void)kind;
    (void)operation;
    (void)internal;
    (void)value;
    (void)data;
    return 1;
}

static void
choose(rocprofiler_dispatch_counting_service_data_t data,
       rocprofiler_counter_config_id_t *config, rocprofiler_user_data_t *user,
       void *argument)
{
    (void)data;
    (void)config;
    (void)user;
    (void)argument;
}

static void
on_counts(rocprofiler_dispatch_counting_service_data_t data,
          rocprofiler_counter_record_t *records, size_t count,
          rocprofiler_user_data_t user, void *argument)
{
    (void)data;
    (void)records;
    (void)count;
    (void)user;
    (void)argument;
}

static void
choose_device(rocprofiler_context_id_t of, rocprofiler_agent_id_t agent,
              rocprofiler_device_counting_agent_cb_t set, void *data)
{
    (void)of;
    (void)agent;
    (void)set;
    (void)data;
}

/* Whatever configures, with `context` and `buffer`. */
static void
all_are_locked(void)
{
    rocprofiler_context_id_t fresh = {0};
    rocprofiler_buffer_id_t made = {0};
    rocprofiler_callback_thread_t thread = {0};

    CHECK_STATUS(rocprofiler_create_context(&fresh), ERROR_CONFIGURATION_LOCKED);
    CHECK_EQUAL(fresh.handle, 0);
    CHECK_STATUS(rocprofiler_create_buffer(context, 4096, 0,
                                           ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_batch,
                                           NULL, &made),
                 ERROR_CONFIGURATION_LOCKED);
    CHECK_STATUS(rocprofiler_create_callback_thread(&thread),
                 ERROR_CONFIGURATION_LOCKED);
    CHECK_STATUS(rocprofiler_assign_callback_thread(buffer, thread),
                 ERROR_CONFIGURATION_LOCKED);
    CHECK_STATUS(
        rocprofiler_configure_callback_tracing_service(
            context, ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY, NULL, 0, on_event, NULL),
        ERROR_CONFIGURATION_LOCKED);
    CHECK_STATUS(rocprofiler_configure_buffer_tracing_service(
                     context, ROCPROFILER_BUFFER_TRACING_MEMORY_COPY, NULL, 0, buffer),
                 ERROR_CONFIGURATION_LOCKED);
    CHECK_STATUS(rocprofiler_configure_external_correlation_id_request_service(
                     context, NULL, 0, on_request, NULL),
                 ERROR_CONFIGURATION_LOCKED);
    CHECK_STATUS(rocprofiler_configure_callback_dispatch_counting_service(
                     context, choose, NULL, on_counts, NULL),
                 ERROR_CONFIGURATION_LOCKED);
    CHECK_STATUS(rocprofiler_configure_buffer_dispatch_counting_service(context, buffer,
                                                                        choose, NULL),
                 ERROR_CONFIGURATION_LOCKED);
    CHECK_STATUS(rocprofiler_configure_device_counting_service(
                     context, buffer, (rocprofiler_agent_id_t){0}, choose_device, NULL),
                 ERROR_CONFIGURATION_LOCKED);
}

static int
make_context(void)
{
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_create_buffer(context, 4096, 2048,
                                 ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_batch, NULL,
                                 &buffer));
    OK(rocprofiler_start_context(context));
    return 0;
}

static int
use_what_is_another_tools(rocprofiler_client_finalize_t end, void *data)
{
    rocprofiler_buffer_id_t made = {0};

    (void)end;
    (void)data;
    CHECK_STATUS(
        rocprofiler_configure_callback_tracing_service(
            context, ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY, NULL, 0, on_event, NULL),
        ERROR_CONTEXT_NOT_FOUND);
    CHECK_STATUS(rocprofiler_create_buffer(context, 4096, 0,
                                           ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_batch,
                                           NULL, &made),
                 ERROR_CONTEXT_NOT_FOUND);
    OK(rocprofiler_create_context(&other));
    CHECK_STATUS(rocprofiler_configure_buffer_tracing_service(
                     other, ROCPROFILER_BUFFER_TRACING_MEMORY_COPY, NULL, 0, buffer),
                 ERROR_BUFFER_NOT_FOUND);
    return 0;
}

static rocprofiler_tool_configure_result_t *
configure_another(uint32_t version, const char *runtime_version, uint32_t priority,
                  rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {
        sizeof result, use_what_is_another_tools, NULL, NULL};

    (void)version;
    (void)runtime_version;
    CHECK_EQUAL(priority, 1);
    id->name = "another";
    all_are_locked(); /* this is too early */
    return &result;
}

static void
nothing_is_configured_outside_the_window(void)
{
    all_are_locked();
    mock_start(make_context, NULL);
    all_are_locked();
    CHECK_STATUS(rocprofiler_at_intercept_table_registration(
                     on_table, ROCPROFILER_HIP_RUNTIME_TABLE, NULL),
                 ERROR_CONFIGURATION_LOCKED);
    CHECK_STATUS(rocprofiler_at_internal_thread_create(on_thread, on_thread,
                                                       ROCPROFILER_LIBRARY, NULL),
                 ERROR_CONFIGURATION_LOCKED);
    OK(rocprofiler_force_configure(configure_another));
}

/* ---- streams of calls ---- */

static char story[512];

static void
on_stream(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
          void *data)
{
    size_t used = strlen(story);
    bool begins = record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER;

    (void)data;
    if (record.kind == ROCPROFILER_CALLBACK_TRACING_HIP_STREAM) {
        const rocprofiler_callback_tracing_hip_stream_data_t *told = record.payload;
        CHECK_EQUAL(record.operation, ROCPROFILER_HIP_STREAM_SET);
        CHECK_EQUAL(told->size, sizeof *told);
        CHECK_EQUAL(told->stream_id.handle, (uintptr_t)told->stream_value.ptr);
        snprintf(story + used, sizeof story - used, "%sset %d%s ", begins ? "[" : "",
                 (int)told->stream_id.handle, begins ? "" : "]");
    } else {
        snprintf(story + used, sizeof story - used, "%scall%s ", begins ? "[" : "",
                 begins ? "" : "]");
    }
    CHECK_EQUAL(user->value, begins ? 0 : 10 + (uint64_t)record.kind);
    user->value = 10 + (uint64_t)record.kind;
}

static hipError_t
query(hipStream_t stream)
{
    (void)stream;
    return hipErrorNotReady;
}

static hipError_t
call_with_stream(intptr_t stream)
{
    return mock_table.hipStreamQuery_fn((hipStream_t)stream);
}

static int
make_streams_only(void)
{
    const rocprofiler_tracing_operation_t set[] = {ROCPROFILER_HIP_STREAM_SET};

    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_HIP_STREAM, set, 1, on_stream, NULL));
    OK(rocprofiler_start_context(context));
    return 0;
}

static int
make_streams_and_calls(void)
{
    make_streams_only();
    OK(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0, on_stream,
        NULL));
    return 0;
}

static void
stream_of_a_call_is_told(void)
{
    int device;

    mock_table.hipStreamQuery_fn = query;
    mock_start(make_streams_only, NULL);
    CHECK_EQUAL(call_with_stream(5), hipErrorNotReady);
    CHECK_EQUAL(get_device(&device), hipSuccess); /* without a stream: nothing */
    OK(rocprofiler_stop_context(context));
    CHECK_EQUAL(call_with_stream(6), hipErrorNotReady);
    CHECK_TEXT(story, "[set 5 set 5] ");
}

static void
stream_is_told_around_the_call(void)
{
    int device;

    mock_table.hipStreamQuery_fn = query;
    mock_start(make_streams_and_calls, NULL);
    CHECK_EQUAL(call_with_stream(0), hipErrorNotReady);
    CHECK_EQUAL(get_device(&device), hipSuccess);
    CHECK_TEXT(story, "[set 0 [call call] set 0] [call call] ");
}

int
main(void)
{
    RUN_ALONE(parts_of_samples_have_names);
    RUN_ALONE(every_kind_can_be_asked_for);
    RUN_ALONE(services_that_are_not_there_say_so);
    RUN_ALONE(nothing_is_configured_outside_the_window);
    RUN_ALONE(stream_of_a_call_is_told);
    RUN_ALONE(stream_is_told_around_the_call);
    return 0;
}
