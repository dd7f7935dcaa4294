/* SPDX-License-Identifier: MIT */
/* Contexts and callback tracing: who is told of what, with which identifiers. */
/* sources: core rocprofiler */
/* product: profiler */
#include "rocprofiler_support.h"

#include <sys/syscall.h>
#include <time.h>

static rocprofiler_context_id_t first, second;

struct told {
    rocprofiler_callback_tracing_record_t record;
    uint64_t user;
    uint64_t data;
    rocprofiler_callback_tracing_hip_api_data_t payload;
};

static struct told told[64];
static int told_count;
static void (*in_callback)(const rocprofiler_callback_tracing_record_t *record);

static void
on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
        void *data)
{
    struct told *entry = &told[told_count++];

    CHECK(told_count <= 64);
    entry->record = record;
    entry->user = user->value;
    entry->data = (uint64_t)(uintptr_t)data;
    memcpy(&entry->payload, record.payload, sizeof entry->payload);
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        user->value = 1000 + (uint64_t)told_count;
    }
    if (in_callback != NULL) {
        in_callback(&record);
    }
}

static void
trace(rocprofiler_context_id_t context,
      const rocprofiler_tracing_operation_t *operations, size_t count, uintptr_t data)
{
    OK(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, operations, count,
        on_call, (void *)data));
}

static hipError_t
call(void)
{
    int device = 0;

    return get_device(&device);
}

/* ---- callbacks ---- */

static int
make_one(void)
{
    OK(rocprofiler_create_context(&first));
    trace(first, NULL, 0, 7);
    OK(rocprofiler_start_context(first));
    return 0;
}

static void
call_is_told_with_arguments_and_result(void)
{
    int device = 0;

    mock_start(make_one, NULL);
    CHECK_EQUAL(get_device(&device), hipSuccess);
    CHECK_EQUAL(told_count, 2);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(told[i].record.context_id.handle, first.handle);
        CHECK_EQUAL(told[i].record.thread_id, syscall(SYS_gettid));
        CHECK_EQUAL(told[i].record.kind, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API);
        CHECK_EQUAL(told[i].record.operation, GET_DEVICE);
        CHECK_EQUAL(told[i].record.phase, i == 0 ? ROCPROFILER_CALLBACK_PHASE_ENTER
                                                 : ROCPROFILER_CALLBACK_PHASE_EXIT);
        CHECK_EQUAL(told[i].payload.size, sizeof told[i].payload);
        CHECK(told[i].payload.args.hipGetDevice.deviceId == &device);
        CHECK_EQUAL(told[i].data, 7);
        CHECK(told[i].record.correlation_id.internal != 0);
        CHECK_EQUAL(told[i].record.correlation_id.ancestor, 0);
    }
    CHECK_EQUAL(told[0].user, 0);
    CHECK_EQUAL(told[1].user, 1001);
    CHECK_EQUAL(get_device(NULL), hipErrorInvalidValue);
    CHECK_EQUAL(told_count, 4);
    CHECK_EQUAL(told[3].payload.retval.hipError_t_retval, hipErrorInvalidValue);
    CHECK(told[2].record.correlation_id.internal !=
          told[0].record.correlation_id.internal);
    CHECK_EQUAL(told[2].user, 0);
}

static void
callee(const rocprofiler_callback_tracing_record_t *record)
{
    (void)record;
    CHECK_EQUAL(call(), hipSuccess); /* a tool's own call: not told */
}

static void
tools_own_calls_are_not_told(void)
{
    mock_start(make_one, NULL);
    in_callback = callee;
    CHECK_EQUAL(call(), hipSuccess);
    CHECK_EQUAL(told_count, 2);
}

static int
make_two(void)
{
    const rocprofiler_tracing_operation_t operations[] = {GET_MEMORY};

    OK(rocprofiler_create_context(&first));
    OK(rocprofiler_create_context(&second));
    CHECK(first.handle != second.handle);
    trace(first, NULL, 0, 1);
    trace(second, operations, 1, 2);
    OK(rocprofiler_start_context(first));
    OK(rocprofiler_start_context(second));
    return 0;
}

static void
two_contexts_get_what_each_asked_for(void)
{
    void *memory = NULL;

    mock_start(make_two, NULL);
    CHECK_EQUAL(call(), hipSuccess);
    CHECK_EQUAL(told_count, 2);
    CHECK(told[0].data == 1 && told[1].data == 1);
    CHECK_EQUAL(get_memory(&memory, 64), hipSuccess);
    CHECK_EQUAL(told_count, 6);
    CHECK(told[2].data == 1 && told[3].data == 2);
    CHECK_EQUAL(told[2].record.correlation_id.internal,
                told[3].record.correlation_id.internal);
    CHECK_EQUAL(told[5].payload.args.hipMalloc.size, 64);
    CHECK_EQUAL(told[4].user, 1003); /* each has its own */
    CHECK_EQUAL(told[5].user, 1004);
    OK(rocprofiler_stop_context(first));
    CHECK_EQUAL(call(), hipSuccess);
    CHECK_EQUAL(told_count, 6);
    CHECK_EQUAL(get_memory(&memory, 64), hipSuccess);
    CHECK_EQUAL(told_count, 8);
    OK(rocprofiler_stop_context(second));
    CHECK_EQUAL(get_memory(&memory, 64), hipSuccess);
    CHECK_EQUAL(told_count, 8);
}

static void
stop_then_start(const rocprofiler_callback_tracing_record_t *record)
{
    if (record->phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        OK(rocprofiler_stop_context(first));
    } else {
        OK(rocprofiler_start_context(second));
    }
}

static int
make_first_active(void)
{
    make_two();
    OK(rocprofiler_stop_context(second));
    return 0;
}

static void
stop_and_start_within_a_callback(void)
{
    void *memory = NULL;

    mock_start(make_first_active, NULL);
    in_callback = stop_then_start;
    CHECK_EQUAL(get_memory(&memory, 1), hipSuccess);
    CHECK_EQUAL(told_count, 2); /* the end of what had begun is told */
    CHECK(told[0].data == 1 && told[1].data == 1);
    in_callback = NULL;
    CHECK_EQUAL(get_memory(&memory, 1), hipSuccess);
    CHECK_EQUAL(told_count, 4);
    CHECK(told[2].data == 2 && told[3].data == 2);
}

/* ---- statuses ---- */

static int
make_and_ask(void)
{
    const rocprofiler_tracing_operation_t bad[] = {HA_OP_RUNTIME_COUNT};
    const rocprofiler_tracing_operation_t negative[] = {-1};
    rocprofiler_context_id_t missing = {4242};
    int status = -5;

    OK(rocprofiler_create_context(&first));
    CHECK_STATUS(rocprofiler_create_context(&first), ERROR_CONTEXT_ID_NOT_ZERO);
    CHECK_STATUS(rocprofiler_create_context(NULL), ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(rocprofiler_configure_callback_tracing_service(
                     missing, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0,
                     on_call, NULL),
                 ERROR_CONTEXT_NOT_FOUND);
    CHECK_STATUS(rocprofiler_configure_callback_tracing_service(
                     first, ROCPROFILER_CALLBACK_TRACING_NONE, NULL, 0, on_call, NULL),
                 ERROR_KIND_NOT_FOUND);
    CHECK_STATUS(rocprofiler_configure_callback_tracing_service(
                     first, ROCPROFILER_CALLBACK_TRACING_LAST, NULL, 0, on_call, NULL),
                 ERROR_KIND_NOT_FOUND);
    CHECK_STATUS(
        rocprofiler_configure_callback_tracing_service(
            first, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, bad, 1, on_call, NULL),
        ERROR_OPERATION_NOT_FOUND);
    CHECK_STATUS(rocprofiler_configure_callback_tracing_service(
                     first, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, negative, 1,
                     on_call, NULL),
                 ERROR_OPERATION_NOT_FOUND);
    CHECK_STATUS(
        rocprofiler_configure_callback_tracing_service(
            first, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0, NULL, NULL),
        ERROR_INVALID_ARGUMENT);
    trace(first, NULL, 0, 0);
    CHECK_STATUS(rocprofiler_configure_callback_tracing_service(
                     first, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0,
                     on_call, NULL),
                 ERROR_SERVICE_ALREADY_CONFIGURED);
    /* Without a producer: taken, and silent. */
    for (int kind = ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API;
         kind <= ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API; kind++) {
        OK(rocprofiler_configure_callback_tracing_service(
            first, (rocprofiler_callback_tracing_kind_t)kind, NULL, 0, on_call, NULL));
    }
    CHECK_STATUS(rocprofiler_configure_buffer_tracing_service(
                     first, ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, NULL, 0,
                     (rocprofiler_buffer_id_t){5}),
                 ERROR_BUFFER_NOT_FOUND);
    CHECK_STATUS(rocprofiler_start_context(missing), ERROR_CONTEXT_NOT_FOUND);
    CHECK_STATUS(rocprofiler_stop_context(missing), ERROR_CONTEXT_NOT_FOUND);
    OK(rocprofiler_context_is_valid(missing, &status));
    CHECK_EQUAL(status, 0);
    OK(rocprofiler_context_is_valid(first, &status));
    CHECK_EQUAL(status, 1);
    CHECK_STATUS(rocprofiler_context_is_active(missing, &status),
                 ERROR_CONTEXT_NOT_FOUND);
    OK(rocprofiler_context_is_active(first, &status));
    CHECK_EQUAL(status, 0);
    OK(rocprofiler_is_initialized(&status));
    CHECK_EQUAL(status, -1);
    CHECK_STATUS(rocprofiler_force_configure(mock_configure),
                 ERROR_CONFIGURATION_LOCKED);
    OK(rocprofiler_start_context(first));
    OK(rocprofiler_start_context(first)); /* it stays started */
    OK(rocprofiler_context_is_active(first, &status));
    CHECK_EQUAL(status, 1);
    return 0;
}

static void
statuses_in_and_after_the_window(void)
{
    rocprofiler_context_id_t none = {0};
    int status = 5;

    OK(rocprofiler_is_initialized(&status));
    CHECK_EQUAL(status, 0);
    CHECK_STATUS(rocprofiler_create_context(&none), ERROR_CONFIGURATION_LOCKED);
    mock_start(make_and_ask, NULL);
    OK(rocprofiler_is_initialized(&status));
    CHECK_EQUAL(status, 1);
    OK(rocprofiler_is_finalized(&status));
    CHECK_EQUAL(status, 0);
    CHECK_STATUS(rocprofiler_create_context(&none), ERROR_CONFIGURATION_LOCKED);
    CHECK_STATUS(
        rocprofiler_configure_callback_tracing_service(
            first, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, NULL, 0, on_call, NULL),
        ERROR_CONFIGURATION_LOCKED);
    CHECK_STATUS(rocprofiler_configure_buffer_tracing_service(
                     first, ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, NULL, 0,
                     (rocprofiler_buffer_id_t){5}),
                 ERROR_CONFIGURATION_LOCKED);
    CHECK_STATUS(rocprofiler_force_configure(mock_configure),
                 ERROR_CONFIGURATION_LOCKED);
    CHECK_EQUAL(call(), hipSuccess);
    CHECK_EQUAL(told_count, 2);
    hipadapt_rocprofiler_finalize();
    OK(rocprofiler_is_finalized(&status));
    CHECK_EQUAL(status, 1);
    CHECK_STATUS(rocprofiler_start_context(first), ERROR_CONFIGURATION_LOCKED);
    CHECK_STATUS(rocprofiler_force_configure(mock_configure), ERROR_FINALIZED);
    OK(rocprofiler_context_is_valid(first, &status));
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(call(), hipSuccess);
    CHECK_EQUAL(told_count, 2);
}

static void
codes_of_registration(void)
{
    void *tables[] = {&mock_table, &mock_table, &mock_table};
    struct ha_register_id id = {99};

    CHECK_EQUAL(rocprofiler_register_library_api_table("nothing", mock_version, 1,
                                                       tables, 1, &id),
                4);
    CHECK_EQUAL(
        rocprofiler_register_library_api_table("hip", mock_version, 1, tables, 0, &id),
        3);
    CHECK_EQUAL(rocprofiler_register_library_api_table("roctx", mock_version, 1, tables,
                                                       2, &id),
                3);
    for (int i = 0; i < 8; i++) {
        CHECK_EQUAL(rocprofiler_register_library_api_table("hip", mock_version, 1,
                                                           tables, 1, &id),
                    1);
        CHECK_EQUAL(id.handle, 8 + i);
    }
    CHECK_EQUAL(
        rocprofiler_register_library_api_table("hip", mock_version, 1, tables, 1, &id),
        7);
    CHECK_EQUAL(rocprofiler_register_library_api_table("hip_compiler", mock_version, 1,
                                                       tables, 1, &id),
                1);
    CHECK_EQUAL(id.handle, 24);
    for (int code = 0; code < 8; code++) {
        CHECK(strlen(rocprofiler_register_error_string(code)) > 3);
    }
    CHECK(rocprofiler_register_error_string(8) == NULL);
    CHECK(rocprofiler_register_error_string(-1) == NULL);
    CHECK_EQUAL(rocprofiler_set_api_table("nothing", 1, 0, tables, 1), 1);
    CHECK_EQUAL(rocprofiler_set_api_table("rccl", 1, 0, tables, 1), 0);
}

static void
registration_can_be_switched_off(void)
{
    void *tables[] = {&mock_table};
    struct ha_register_id id = {99};

    CHECK_EQUAL(setenv("ROCPROFILER_REGISTER_ENABLED", "0", 1), 0);
    CHECK_EQUAL(
        rocprofiler_register_library_api_table("hip", mock_version, 1, tables, 1, &id),
        1);
    CHECK_EQUAL(id.handle, 0);
    mock_initialize = make_one;
    OK(rocprofiler_force_configure(mock_configure));
    CHECK_EQUAL(call(), hipSuccess);
    CHECK_EQUAL(told_count, 0); /* the table was not kept */
}

/* ---- external correlation ---- */

static uint64_t
external_of_a_call(void)
{
    told_count = 0;
    CHECK_EQUAL(call(), hipSuccess);
    CHECK_EQUAL(told_count, 2);
    CHECK_EQUAL(told[0].record.correlation_id.external.value,
                told[1].record.correlation_id.external.value);
    return told[0].record.correlation_id.external.value;
}

static void
push(uint64_t thread, uint64_t value)
{
    OK(rocprofiler_push_external_correlation_id(
        first, thread, (rocprofiler_user_data_t){.value = value}));
}

static void *
other_thread(void *argument)
{
    rocprofiler_thread_id_t self = 0;
    rocprofiler_user_data_t popped = {0};

    (void)argument;
    OK(rocprofiler_get_thread_id(&self));
    CHECK_EQUAL(external_of_a_call(), 12); /* the main thread's */
    push(self, 50);
    CHECK_EQUAL(external_of_a_call(), 50);
    OK(rocprofiler_pop_external_correlation_id(first, self, &popped));
    CHECK_EQUAL(popped.value, 50);
    CHECK_EQUAL(external_of_a_call(), 12);
    return NULL;
}

static void
pushed_identifiers_are_told(void)
{
    rocprofiler_user_data_t popped = {0};
    rocprofiler_thread_id_t self = 0;
    pthread_t thread;

    mock_start(make_one, NULL);
    OK(rocprofiler_get_thread_id(&self));
    CHECK_EQUAL(external_of_a_call(), 0);
    CHECK_STATUS(rocprofiler_pop_external_correlation_id(first, self, &popped),
                 ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(rocprofiler_push_external_correlation_id((rocprofiler_context_id_t){3},
                                                          self, popped),
                 ERROR_CONTEXT_NOT_FOUND);
    for (uint64_t i = 1; i <= 12; i++) {
        push(self, i);
        CHECK_EQUAL(external_of_a_call(), i);
    }
    CHECK_EQUAL(pthread_create(&thread, NULL, other_thread, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    for (uint64_t i = 12; i >= 1; i--) {
        CHECK_EQUAL(external_of_a_call(), i);
        OK(rocprofiler_pop_external_correlation_id(first, self, &popped));
        CHECK_EQUAL(popped.value, i);
    }
    CHECK_EQUAL(external_of_a_call(), 0);
}

static int requests, request_answer;

static int
on_request(rocprofiler_thread_id_t thread, rocprofiler_context_id_t context,
           rocprofiler_external_correlation_id_request_kind_t kind,
           rocprofiler_tracing_operation_t operation, uint64_t internal,
           rocprofiler_user_data_t *value, void *data)
{
    requests++;
    CHECK_EQUAL(thread, syscall(SYS_gettid));
    CHECK_EQUAL(context.handle, first.handle);
    CHECK_EQUAL(kind, ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_HIP_RUNTIME_API);
    CHECK_EQUAL(operation, GET_DEVICE);
    CHECK(internal != 0);
    CHECK(data == &requests);
    value->value = 777;
    return request_answer;
}

static int
make_with_requests(void)
{
    const rocprofiler_external_correlation_id_request_kind_t kinds[] = {
        ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_HIP_RUNTIME_API};
    const rocprofiler_external_correlation_id_request_kind_t bad[] = {
        ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST};

    make_one();
    CHECK_STATUS(rocprofiler_configure_external_correlation_id_request_service(
                     first, bad, 1, on_request, &requests),
                 ERROR_KIND_NOT_FOUND);
    CHECK_STATUS(rocprofiler_configure_external_correlation_id_request_service(
                     first, kinds, 1, NULL, &requests),
                 ERROR_INVALID_ARGUMENT);
    OK(rocprofiler_configure_external_correlation_id_request_service(
        first, kinds, 1, on_request, &requests));
    CHECK_STATUS(rocprofiler_configure_external_correlation_id_request_service(
                     first, kinds, 1, on_request, &requests),
                 ERROR_SERVICE_ALREADY_CONFIGURED);
    return 0;
}

static void
requested_identifiers_are_told(void)
{
    mock_start(make_with_requests, NULL);
    CHECK_EQUAL(external_of_a_call(), 777);
    CHECK_EQUAL(requests, 1);
    request_answer = 1; /* it has none: what was pushed counts */
    push((uint64_t)syscall(SYS_gettid), 5);
    CHECK_EQUAL(external_of_a_call(), 5);
    CHECK_EQUAL(requests, 2);
}

/* ---- tables ---- */

static int intercepts;
static __typeof__(&mock_get_device) below;

static hipError_t
intercepting(int *device)
{
    hipError_t status = below(device);

    *device += 100;
    return status;
}

static void
on_table(rocprofiler_intercept_table_t type, uint64_t version, uint64_t instance,
         void **tables, uint64_t count, void *data)
{
    struct HipDispatchTable *table = tables[0];

    intercepts++;
    CHECK_EQUAL(type, ROCPROFILER_HIP_RUNTIME_TABLE);
    CHECK_EQUAL(version, 70200);
    CHECK_EQUAL(instance, 0);
    CHECK_EQUAL(count, 1);
    CHECK(table == &mock_table && data == &intercepts);
    below = table->hipGetDevice_fn;
    CHECK(below != mock_get_device); /* outermost: ours is below */
    __atomic_store_n(&table->hipGetDevice_fn, intercepting, __ATOMIC_RELEASE);
}

static int
make_intercepting(void)
{
    make_one();
    CHECK_STATUS(rocprofiler_at_intercept_table_registration(
                     NULL, ROCPROFILER_HIP_RUNTIME_TABLE, NULL),
                 ERROR_INVALID_ARGUMENT);
    CHECK_STATUS(rocprofiler_at_intercept_table_registration(on_table, 0, NULL),
                 ERROR_INVALID_ARGUMENT);
    OK(rocprofiler_at_intercept_table_registration(
        on_table, ROCPROFILER_HIP_RUNTIME_TABLE | ROCPROFILER_HSA_TABLE, &intercepts));
    return 0;
}

static void
tools_put_functions_into_tables(void)
{
    const char *name = NULL;
    uint64_t length = 0;
    int device = 0;

    mock_start(make_intercepting, NULL);
    CHECK_EQUAL(intercepts, 1);
    CHECK_EQUAL(get_device(&device), hipSuccess);
    CHECK_EQUAL(device, 103);
    CHECK_EQUAL(told_count, 2);
    CHECK_STATUS(rocprofiler_at_intercept_table_registration(
                     on_table, ROCPROFILER_HIP_RUNTIME_TABLE, NULL),
                 ERROR_CONFIGURATION_LOCKED);
    OK(rocprofiler_query_intercept_table_name(ROCPROFILER_HIP_RUNTIME_TABLE, &name,
                                              &length));
    CHECK_TEXT(name, "HIP_RUNTIME_TABLE");
    CHECK_EQUAL(length, strlen(name));
    CHECK_STATUS(rocprofiler_query_intercept_table_name(
                     (rocprofiler_intercept_table_t)3, &name, &length),
                 ERROR_KIND_NOT_FOUND);
}

/* ---- arguments, names, clock ---- */

static char arguments[512];

static int
on_argument(rocprofiler_callback_tracing_kind_t kind,
            rocprofiler_tracing_operation_t operation, uint32_t number,
            const void *const at, int32_t indirections, const char *type,
            const char *name, const char *value, int32_t followed, void *data)
{
    size_t used = strlen(arguments);

    CHECK_EQUAL(kind, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API);
    CHECK(operation == GET_DEVICE || operation == GET_MEMORY);
    CHECK(at != NULL && data == arguments);
    snprintf(arguments + used, sizeof arguments - used, "%u %s|%s|%d|%d=%s;", number,
             type, name, indirections, followed, value);
    return 0;
}

static int follow;

static void
iterate(const rocprofiler_callback_tracing_record_t *record)
{
    arguments[0] = '\0';
    OK(rocprofiler_iterate_callback_tracing_kind_operation_args(*record, on_argument,
                                                                follow, arguments));
}

static void
arguments_have_names_and_text(void)
{
    int device = 0;
    char want[128];

    mock_start(make_one, NULL);
    in_callback = iterate;
    follow = 1;
    CHECK_EQUAL(get_device(&device), hipSuccess);
    CHECK_TEXT(arguments, "0 int *|deviceId|1|1=3;");
    follow = 0;
    CHECK_EQUAL(get_device(&device), hipSuccess);
    snprintf(want, sizeof want, "0 int *|deviceId|1|0=%p;", (void *)&device);
    CHECK_TEXT(arguments, want);
    follow = 5;
    CHECK_EQUAL(get_device(NULL), hipErrorInvalidValue);
    CHECK_PART(arguments, "deviceId|1|0=");
}

static hipError_t
accept_anything(int *device)
{
    (void)device;
    return hipErrorInvalidValue;
}

static void
addresses_that_are_none_are_not_followed(void)
{
    mock_table.hipGetDevice_fn = accept_anything;
    mock_start(make_one, NULL);
    in_callback = iterate;
    follow = 3;
    CHECK_EQUAL(get_device((int *)0x5550), hipErrorInvalidValue);
    CHECK_TEXT(arguments, "0 int *|deviceId|1|0=0x5550;");
}

static int kinds_seen;

static int
on_kind(rocprofiler_callback_tracing_kind_t kind, void *data)
{
    const char *name = NULL;
    uint64_t length = 0;

    (void)data;
    kinds_seen++;
    OK(rocprofiler_query_callback_tracing_kind_name(kind, &name, &length));
    CHECK(length == strlen(name) && length > 3);
    return 0;
}

static int
on_buffer_kind(rocprofiler_buffer_tracing_kind_t kind, void *data)
{
    const char *name = NULL;
    uint64_t length = 0;

    (void)data;
    kinds_seen++;
    OK(rocprofiler_query_buffer_tracing_kind_name(kind, &name, &length));
    CHECK(length == strlen(name) && length > 3);
    return 0;
}

static int
on_operation(rocprofiler_callback_tracing_kind_t kind,
             rocprofiler_tracing_operation_t operation, void *data)
{
    const char *name = NULL;

    OK(rocprofiler_query_callback_tracing_kind_operation_name(kind, operation, &name,
                                                              NULL));
    CHECK(strncmp(name, "hip", 3) == 0 || strncmp(name, "__hip", 5) == 0 ||
          strncmp(name, "amd", 3) == 0);
    (*(int *)data)++;
    return 0;
}

static void
names_of_kinds_and_operations(void)
{
    const char *name = NULL;
    uint64_t length = 0;
    int count = 0;

    OK(rocprofiler_iterate_callback_tracing_kinds(on_kind, NULL));
    CHECK_EQUAL(kinds_seen, ROCPROFILER_CALLBACK_TRACING_LAST - 1);
    kinds_seen = 0;
    OK(rocprofiler_iterate_buffer_tracing_kinds(on_buffer_kind, NULL));
    CHECK_EQUAL(kinds_seen, ROCPROFILER_BUFFER_TRACING_LAST - 1);
    OK(rocprofiler_iterate_callback_tracing_kind_operations(
        ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, on_operation, &count));
    CHECK_EQUAL(count, HA_OP_RUNTIME_COUNT);
    OK(rocprofiler_query_callback_tracing_kind_operation_name(
        ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, GET_MEMORY, &name, &length));
    CHECK_TEXT(name, "hipMalloc");
    CHECK_STATUS(rocprofiler_query_callback_tracing_kind_operation_name(
                     ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, HA_OP_RUNTIME_COUNT,
                     &name, &length),
                 ERROR_OPERATION_NOT_FOUND);
    CHECK_STATUS(rocprofiler_query_buffer_tracing_kind_name(
                     ROCPROFILER_BUFFER_TRACING_LAST, &name, &length),
                 ERROR_KIND_NOT_FOUND);
    OK(rocprofiler_query_external_correlation_id_request_kind_name(
        ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY, &name, &length));
    CHECK_TEXT(name, "MEMORY_COPY");
}

static void
version_clock_and_statuses(void)
{
    uint32_t major = 9, minor = 9, patch = 9;
    rocprofiler_version_triplet_t triplet = {9, 9, 9};
    rocprofiler_timestamp_t stamp = 0;
    struct timespec before, after;

    OK(rocprofiler_get_version(&major, &minor, &patch));
    OK(rocprofiler_get_version(NULL, NULL, NULL));
    OK(rocprofiler_get_version_triplet(&triplet));
    CHECK(major == 1 && minor == 2 && patch == 1);
    CHECK(triplet.major == 1 && triplet.minor == 2 && triplet.patch == 1);
    CHECK_EQUAL(clock_gettime(CLOCK_BOOTTIME, &before), 0);
    OK(rocprofiler_get_timestamp(&stamp));
    CHECK_EQUAL(clock_gettime(CLOCK_BOOTTIME, &after), 0);
    CHECK(stamp >= (uint64_t)before.tv_sec * 1000000000u + (uint64_t)before.tv_nsec);
    CHECK(stamp <= (uint64_t)after.tv_sec * 1000000000u + (uint64_t)after.tv_nsec);
    for (int status = 0; status < ROCPROFILER_STATUS_LAST; status++) {
        CHECK(strncmp(rocprofiler_get_status_name((rocprofiler_status_t)status),
                      "ROCPROFILER_STATUS_", 19) == 0);
        CHECK(strlen(rocprofiler_get_status_string((rocprofiler_status_t)status)) > 5);
    }
    CHECK(rocprofiler_get_status_name(ROCPROFILER_STATUS_LAST) == NULL);
    CHECK(rocprofiler_get_status_string((rocprofiler_status_t)-1) == NULL);
}

/* ---- many threads while contexts start and stop ---- */

static atomic_bool done;
static _Atomic uint64_t enters, exits;

static void
count_only(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
           void *data)
{
    (void)data;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        user->value = record.correlation_id.internal;
        atomic_fetch_add(&enters, 1);
    } else {
        CHECK_EQUAL(user->value, record.correlation_id.internal);
        atomic_fetch_add(&exits, 1);
    }
}

static int
make_counting(void)
{
    OK(rocprofiler_create_context(&first));
    OK(rocprofiler_configure_callback_tracing_service(
        first, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0, count_only,
        NULL));
    return 0;
}

static void *
call_until_done(void *argument)
{
    uint64_t *calls = argument;

    while (!atomic_load(&done)) {
        CHECK_EQUAL(call(), hipSuccess);
        (*calls)++;
    }
    return NULL;
}

static void
contexts_start_and_stop_under_load(void)
{
    pthread_t threads[4];
    uint64_t calls[4] = {0};

    mock_start(make_counting, NULL);
    for (int i = 0; i < 4; i++) {
        CHECK_EQUAL(pthread_create(&threads[i], NULL, call_until_done, &calls[i]), 0);
    }
    for (int i = 0; i < 500; i++) {
        OK(rocprofiler_start_context(first));
        usleep(100);
        OK(rocprofiler_stop_context(first));
    }
    atomic_store(&done, true);
    for (int i = 0; i < 4; i++) {
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    }
    CHECK(enters > 0);
    CHECK_EQUAL(enters, exits);
}

int
main(void)
{
    RUN_ALONE(call_is_told_with_arguments_and_result);
    RUN_ALONE(tools_own_calls_are_not_told);
    RUN_ALONE(two_contexts_get_what_each_asked_for);
    RUN_ALONE(stop_and_start_within_a_callback);
    RUN_ALONE(statuses_in_and_after_the_window);
    RUN_ALONE(codes_of_registration);
    RUN_ALONE(registration_can_be_switched_off);
    RUN_ALONE(pushed_identifiers_are_told);
    RUN_ALONE(requested_identifiers_are_told);
    RUN_ALONE(tools_put_functions_into_tables);
    RUN_ALONE(arguments_have_names_and_text);
    RUN_ALONE(addresses_that_are_none_are_not_followed);
    RUN_ALONE(names_of_kinds_and_operations);
    RUN_ALONE(version_clock_and_statuses);
    RUN_ALONE(contexts_start_and_stop_under_load);
    return 0;
}
