/* SPDX-License-Identifier: MIT */
/* What a device tells: kernels, copies, memory, code objects, counters, agents. */
/* sources: core rocprofiler */
/* product: profiler */
#include "rocprofiler_support.h"

#include "rocprofiler/activity.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>

#define FORM (HA_ACTIVITY_GANGS | UINT64_C(16) << HA_ACTIVITY_WIDTH_SHIFT)

/* ---- a device of which nothing is real but what it tells ---- */

static const struct ha_activity_sink *sink;
static unsigned sink_wants;
static int code_loaded, drains;
static void *queued[64]; /* tickets of launches */
static int queued_count;

static void
tell_code(int loaded)
{
    char uri[] = "memory://1", name[] = "fill"; /* gone afterwards */
    struct ha_activity_code_object code = {
        .id = 7, .device = 0, .uri = uri, .load_base = 4096, .load_size = 64};
    struct ha_activity_kernel kernel = {.id = 70,
                                        .code_object = 7,
                                        .name = name,
                                        .argument_bytes = 20,
                                        .argument_align = 8};

    if (loaded) {
        sink->code_object(&code, 1);
    }
    sink->kernel(&kernel, loaded);
    if (!loaded) {
        sink->code_object(&code, 0);
    }
    memset(uri, 'x', sizeof uri - 1);
    memset(name, 'x', sizeof name - 1);
}

static void
subscribe(const struct ha_activity_sink *wanted_sink, unsigned wanted)
{
    unsigned before = sink_wants;

    CHECK_EQUAL(wanted_sink->size, sizeof *wanted_sink);
    sink = wanted_sink;
    sink_wants = wanted & ~(unsigned)HA_WANT_CODE_AGAIN;
    if (code_loaded && ((wanted & ~before & HA_WANT_CODE) != 0 ||
                        (wanted & HA_WANT_CODE_AGAIN) != 0)) {
        tell_code(1);
    }
}

static void
finish(void)
{
    for (int i = 0; i < queued_count; i++) {
        sink->dispatch_form(queued[i], FORM);
        sink->dispatch_end(queued[i], 1000, 2000, HA_ACTIVITY_FAULT);
    }
    queued_count = 0;
}

static void
drain(void)
{
    drains++;
    finish();
}

static uint64_t settle_limit_ns;

static void
settle(uint64_t limit_ns)
{
    settle_limit_ns = limit_ns;
}

static int
device_count(void)
{
    return 1;
}

static int
agent(int device, struct ha_activity_agent *told)
{
    CHECK_EQUAL(told->size, sizeof *told);
    *told = (struct ha_activity_agent){.size = sizeof *told,
                                       .device = device,
                                       .name = "gfx000",
                                       .product = "Mock",
                                       .workers = 4,
                                       .warp_size = 32};
    return device == 0 ? 0 : -1;
}

static const struct ha_activity activity = {sizeof activity, subscribe, drain,
                                            device_count,    agent,     settle};

static void
start_device(int (*initialize)(void), void (*finalize)(void))
{
    void *tables[] = {(void *)&activity};

    CHECK_EQUAL(rocprofiler_register_library_api_table(HA_ACTIVITY_NAME, mock_version,
                                                       1, tables, 1, NULL),
                1);
    mock_start(initialize, finalize);
}

static void
launch(void)
{
    struct ha_activity_dispatch dispatch = {.device = 0,
                                            .filled_bytes = 4096,
                                            .queue = 11,
                                            .kernel = 70,
                                            .grid = {2, 3, 1},
                                            .block = {32, 1, 1},
                                            .shared_bytes = 128};

    CHECK((sink_wants & HA_WANT_DISPATCH) != 0);
    void *ticket = sink->dispatch_begin(&dispatch);
    if (ticket != NULL) {
        queued[queued_count++] = ticket;
    }
}

/* ---- kernels ---- */

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static int enters, exits, completes, dispatches, retired, loads, unloads, kernels;
static uint64_t launch_id, retired_ids[8];

static void
on_dispatch(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
            void *data)
{
    const rocprofiler_callback_tracing_kernel_dispatch_data_t *payload = record.payload;
    const rocprofiler_kernel_dispatch_info_t *info = &payload->dispatch_info;

    (void)data;
    CHECK_EQUAL(info->kernel_id, 70);
    CHECK_EQUAL(info->queue_id.handle, 11);
    CHECK(info->workgroup_size.x == 32 && info->grid_size.x == 64 &&
          info->grid_size.y == 3);
    CHECK_EQUAL(info->group_segment_size, 128);
    if (record.operation == ROCPROFILER_KERNEL_DISPATCH_COMPLETE) {
        completes++;
        CHECK_EQUAL(record.phase, ROCPROFILER_CALLBACK_PHASE_NONE);
        CHECK_EQUAL(user->value, 500 + info->dispatch_id);
        CHECK(payload->start_timestamp == 1000 && payload->end_timestamp == 2000);
        CHECK_EQUAL(hipadapt_rocprofiler_work_status(payload), HA_ACTIVITY_FAULT);
        CHECK_EQUAL(hipadapt_rocprofiler_fill_bytes(payload), 4096);
        CHECK_EQUAL(hipadapt_rocprofiler_launch_form(payload), FORM);
    } else if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        enters++;
        user->value = 500 + info->dispatch_id;
        launch_id = record.correlation_id.internal;
    } else {
        exits++;
        CHECK_EQUAL(user->value, 500 + info->dispatch_id);
    }
}

static const char *kept_uri, *kept_name; /* as tools keep them */

static void
on_code(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
        void *data)
{
    bool loaded = record.phase == ROCPROFILER_CALLBACK_PHASE_LOAD;

    (void)user;
    (void)data;
    if (record.operation == ROCPROFILER_CODE_OBJECT_LOAD) {
        const rocprofiler_callback_tracing_code_object_load_data_t *payload =
            record.payload;
        CHECK_EQUAL(payload->code_object_id, 7);
        CHECK_TEXT(payload->uri, "memory://1");
        kept_uri = payload->uri;
        loads += loaded;
        unloads += !loaded;
    } else {
        const rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t
            *payload = record.payload;
        CHECK_TEXT(payload->kernel_name, "fill");
        kept_name = payload->kernel_name;
        CHECK(payload->kernel_id == 70 && payload->code_object_id == 7);
        kernels += loaded ? 1 : -1;
    }
}

static void
on_batch(rocprofiler_context_id_t of, rocprofiler_buffer_id_t id,
         rocprofiler_record_header_t **headers, size_t count, void *data, uint64_t lost)
{
    (void)of;
    (void)id;
    (void)data;
    CHECK_EQUAL(lost, 0);
    for (size_t i = 0; i < count; i++) {
        if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH) {
            const rocprofiler_buffer_tracing_kernel_dispatch_record_t *record =
                headers[i]->payload;
            CHECK_EQUAL(record->correlation_id.internal, launch_id);
            CHECK_EQUAL(hipadapt_rocprofiler_work_status(record), HA_ACTIVITY_FAULT);
            CHECK_EQUAL(hipadapt_rocprofiler_fill_bytes(record), 4096);
            CHECK_EQUAL(hipadapt_rocprofiler_launch_form(record), FORM);
            dispatches++;
        } else {
            const rocprofiler_buffer_tracing_correlation_id_retirement_record_t
                *record = headers[i]->payload;
            CHECK_EQUAL(headers[i]->kind,
                        ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT);
            retired_ids[retired++ % 8] = record->internal_correlation_id;
        }
    }
}

static int
make_kernels(void)
{
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, NULL, 0, on_dispatch,
        NULL));
    OK(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, NULL, 0, on_code, NULL));
    OK(rocprofiler_create_buffer(context, 4096, 4096,
                                 ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_batch, NULL,
                                 &buffer));
    OK(rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0, buffer));
    OK(rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, NULL, 0,
        buffer));
    OK(rocprofiler_start_context(context));
    return 0;
}

static void
texts_of_code_stay_when_it_goes(void)
{
    code_loaded = 1;
    start_device(make_kernels, NULL);
    CHECK_EQUAL(loads, 1);
    CHECK_TEXT(kept_uri, "memory://1");
    CHECK_TEXT(kept_name, "fill");
    const char *name = kept_name;
    tell_code(0);
    CHECK_EQUAL(unloads, 1);
    CHECK_TEXT(kept_uri, "memory://1");
    CHECK(kept_name == name); /* it is kept once */
}

static void
kernel_is_told_from_launch_to_end(void)
{
    start_device(make_kernels, NULL);
    launch();
    CHECK(enters == 1 && exits == 1 && completes == 0);
    OK(rocprofiler_flush_buffer(buffer));
    CHECK_EQUAL(retired, 0); /* work is left */
    OK(rocprofiler_stop_context(context));
    finish();
    CHECK_EQUAL(completes, 1);             /* what was enqueued is told */
    CHECK_EQUAL(sink_wants, HA_WANT_CODE); /* launches need not even ask */
    OK(rocprofiler_flush_buffer(buffer));
    CHECK_EQUAL(dispatches, 1);
    OK(rocprofiler_start_context(context));
    CHECK_EQUAL(sink_wants, HA_WANT_CODE | HA_WANT_DISPATCH);
    launch();
    finish();
    OK(rocprofiler_flush_buffer(buffer));
    CHECK(completes == 2 && dispatches == 2);
    CHECK_EQUAL(retired, 1);
    CHECK_EQUAL(retired_ids[0], launch_id);
}

static void
at_the_end(void)
{
    CHECK_EQUAL(completes, 3);
    CHECK_EQUAL(dispatches, 3);
}

static void
queued_work_is_told_before_finalize(void)
{
    start_device(make_kernels, at_the_end);
    launch_id = 0;
    for (int i = 0; i < 2; i++) {
        launch();
        finish();
        OK(rocprofiler_flush_buffer(buffer));
    }
    launch();
    hipadapt_rocprofiler_finalize();
    CHECK(drains >= 1);
    hipadapt_rocprofiler_settle(7);
    CHECK_EQUAL(settle_limit_ns, 7);
    CHECK_EQUAL(completes, 3);
}

static int
make_only_enqueue(void)
{
    const rocprofiler_tracing_operation_t operations[] = {
        ROCPROFILER_KERNEL_DISPATCH_ENQUEUE};

    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, operations, 1,
        on_dispatch, NULL));
    OK(rocprofiler_start_context(context));
    return 0;
}

static void
one_operation_of_kernels(void)
{
    start_device(make_only_enqueue, NULL);
    launch();
    finish();
    CHECK(enters == 1 && exits == 1 && completes == 0);
}

static void
code_objects_that_are_loaded_are_told(void)
{
    code_loaded = 1;
    start_device(make_kernels, NULL);
    CHECK(loads == 1 && kernels == 1);
    OK(rocprofiler_stop_context(context));
    OK(rocprofiler_start_context(context));
    CHECK_EQUAL(loads, 1); /* once */
    tell_code(0);
    CHECK(unloads == 1 && kernels == 0);
}

static int
make_stopped(void)
{
    make_kernels();
    OK(rocprofiler_stop_context(context));
    return 0;
}

static int later_initialized;

static int
later_initialize(rocprofiler_client_finalize_t end, void *data)
{
    rocprofiler_context_id_t other = {0};

    (void)end;
    (void)data;
    later_initialized++;
    OK(rocprofiler_create_context(&other));
    OK(rocprofiler_configure_callback_tracing_service(
        other, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, NULL, 0, on_code, NULL));
    OK(rocprofiler_start_context(other));
    return 0;
}

static rocprofiler_tool_configure_result_t *
later_configure(uint32_t version, const char *runtime, uint32_t priority,
                rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result,
                                                         later_initialize, NULL, NULL};

    (void)version;
    (void)runtime;
    (void)id;
    CHECK_EQUAL(priority, 1);
    return &result;
}

static void
contexts_that_start_later_are_told_of_code_objects(void)
{
    code_loaded = 1;
    start_device(make_stopped, NULL);
    int told = loads;
    OK(rocprofiler_start_context(context));
    CHECK_EQUAL(loads, told == 0 ? 1 : told);
    told = loads;
    OK(rocprofiler_force_configure(later_configure));
    CHECK_EQUAL(later_initialized, 1);
    CHECK_EQUAL(loads, told + 1); /* only the new one */
}

/* ---- copies and memory ---- */

static int copies[2], copy_operation;

static void
on_copy(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
        void *data)
{
    const rocprofiler_callback_tracing_memory_copy_data_t *payload = record.payload;

    (void)data;
    CHECK_EQUAL(payload->bytes, 256);
    CHECK(payload->src_agent_id.handle != payload->dst_agent_id.handle);
    copy_operation = record.operation;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        user->value = 31;
        copies[0]++;
    } else {
        CHECK_EQUAL(user->value, 31);
        CHECK(payload->start_timestamp == 5 && payload->end_timestamp == 9);
        copies[1]++;
    }
}

static int memories[2];

static void
on_memory(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
          void *data)
{
    const rocprofiler_callback_tracing_memory_allocation_data_t *payload =
        record.payload;

    (void)data;
    (void)user;
    CHECK_EQUAL(payload->address.value, 64);
    if (record.operation == ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE) {
        CHECK_EQUAL(payload->allocation_size, 128);
        memories[0]++;
    } else {
        CHECK_EQUAL(record.operation, ROCPROFILER_MEMORY_ALLOCATION_FREE);
        memories[1]++;
    }
}

static int
make_copies(void)
{
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY, NULL, 0, on_copy, NULL));
    OK(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION, NULL, 0, on_memory,
        NULL));
    OK(rocprofiler_start_context(context));
    return 0;
}

static void
copies_and_memory_are_told(void)
{
    struct ha_activity_copy copy = {
        .source_device = -1, .target_device = 0, .bytes = 256};

    start_device(make_copies, NULL);
    CHECK_EQUAL(sink_wants, HA_WANT_COPY | HA_WANT_MEMORY);
    void *ticket = sink->copy_begin(&copy);
    CHECK(ticket != NULL && copies[0] == 1 && copies[1] == 0);
    CHECK_EQUAL(copy_operation, ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE);
    sink->copy_end(ticket, 5, 9, HA_ACTIVITY_DONE);
    CHECK_EQUAL(copies[1], 1);
    copy.source_device = 0;
    copy.target_device = -1;
    sink->copy_end(sink->copy_begin(&copy), 5, 9, HA_ACTIVITY_TIMEOUT);
    CHECK_EQUAL(copy_operation, ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST);
    sink->memory(HA_ACTIVITY_ALLOCATE, 0, (void *)64, 128, 1, 2);
    sink->memory(HA_ACTIVITY_FREE, 0, (void *)64, 0, 3, 4);
    CHECK(memories[0] == 2 && memories[1] == 2); /* two phases each */
}

/* ---- runtimes ---- */

static int runtimes;

static void
on_runtime(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
           void *data)
{
    const rocprofiler_callback_tracing_runtime_initialization_data_t *payload =
        record.payload;

    (void)user;
    (void)data;
    CHECK_EQUAL(record.operation, ROCPROFILER_RUNTIME_INITIALIZATION_HIP);
    CHECK_EQUAL(payload->version, 70200);
    runtimes++;
}

static int
make_runtime(void)
{
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION, NULL, 0,
        on_runtime, NULL));
    OK(rocprofiler_start_context(context));
    return 0;
}

static void
runtime_is_announced_once(void)
{
    start_device(make_runtime, NULL);
    CHECK_EQUAL(runtimes, 1);
    OK(rocprofiler_force_configure(later_configure));
    CHECK_EQUAL(runtimes, 1);
}

/* ---- agents and counters ---- */

static rocprofiler_agent_id_t device_agent;
static int agents;

static rocprofiler_status_t
on_agents(rocprofiler_agent_version_t version, const void **list, size_t count,
          void *data)
{
    CHECK_EQUAL(version, ROCPROFILER_AGENT_INFO_VERSION_0);
    CHECK(data == &agents);
    agents = (int)count;
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_agent_v0_t *told = list[i];
        CHECK_EQUAL(told->size, sizeof *told);
        CHECK_EQUAL(told->type,
                    i == 0 ? ROCPROFILER_AGENT_TYPE_CPU : ROCPROFILER_AGENT_TYPE_GPU);
        CHECK(told->name != NULL && told->vendor_name != NULL &&
              told->product_name != NULL && told->model_name != NULL);
        CHECK_EQUAL(told->node_id, i);
        if (told->type == ROCPROFILER_AGENT_TYPE_GPU) {
            CHECK_TEXT(told->name, "gfx000");
            CHECK_EQUAL(told->cu_count, 4);
            device_agent = told->id;
        }
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static int
make_agents(void)
{
    OK(rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, on_agents,
                                          sizeof(rocprofiler_agent_v0_t), &agents));
    CHECK_EQUAL(agents, 2);
    CHECK_STATUS(rocprofiler_query_available_agents(
                     ROCPROFILER_AGENT_INFO_VERSION_LAST, on_agents,
                     sizeof(rocprofiler_agent_v0_t), &agents),
                 ERROR_INCOMPATIBLE_ABI);
    CHECK_STATUS(
        rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, on_agents,
                                           sizeof(rocprofiler_agent_v0_t) + 8, &agents),
        ERROR_INCOMPATIBLE_ABI);
    return 0;
}

static void
agents_are_there_in_initialize(void)
{
    start_device(make_agents, NULL);
    CHECK_EQUAL(agents, 2);
}

static rocprofiler_counter_id_t counters[16];
static size_t counter_count;
static rocprofiler_counter_config_id_t config;

static rocprofiler_status_t
on_counters(rocprofiler_agent_id_t of, rocprofiler_counter_id_t *list, size_t count,
            void *data)
{
    CHECK_EQUAL(of.handle, device_agent.handle);
    (void)data;
    CHECK(count <= 16);
    counter_count = count;
    memcpy(counters, list, count * sizeof *list);
    return ROCPROFILER_STATUS_SUCCESS;
}

static void
choose_config(rocprofiler_context_id_t of, rocprofiler_agent_id_t on,
              rocprofiler_device_counting_agent_cb_t set, void *data)
{
    CHECK(data == &config && on.handle == device_agent.handle);
    CHECK_STATUS(set(of, (rocprofiler_counter_config_id_t){1}),
                 ERROR_PROFILE_NOT_FOUND);
    OK(set(of, config));
}

static int chosen, counted;

static void
choose_for_launch(rocprofiler_dispatch_counting_service_data_t data,
                  rocprofiler_counter_config_id_t *wanted,
                  rocprofiler_user_data_t *user, void *argument)
{
    CHECK(argument == &chosen);
    CHECK_EQUAL(data.dispatch_info.kernel_id, 70);
    chosen++;
    user->value = 88;
    *wanted = config;
}

static void
on_counts(rocprofiler_dispatch_counting_service_data_t data,
          rocprofiler_counter_record_t *records, size_t count,
          rocprofiler_user_data_t user, void *argument)
{
    CHECK(argument == &counted);
    CHECK_EQUAL(user.value, 88);
    CHECK_EQUAL(count, counter_count);
    CHECK(data.start_timestamp == 1000 && data.end_timestamp == 2000);
    for (size_t i = 0; i < count; i++) {
        rocprofiler_counter_id_t id = {0};
        OK(rocprofiler_query_record_counter_id(records[i].id, &id));
        CHECK_EQUAL(id.handle, counters[i].handle);
        CHECK_EQUAL(records[i].dispatch_id, data.dispatch_info.dispatch_id);
        CHECK(records[i].counter_value >= 0);
    }
    counted++;
}

static rocprofiler_context_id_t sampled;

static int
make_counting(void)
{
    make_agents();
    OK(rocprofiler_iterate_agent_supported_counters(device_agent, on_counters, NULL));
    if (counter_count == 0) {
        return 0;
    }
    CHECK_STATUS(rocprofiler_iterate_agent_supported_counters(
                     (rocprofiler_agent_id_t){5}, on_counters, NULL),
                 ERROR_AGENT_NOT_FOUND);
    OK(rocprofiler_create_counter_config(device_agent, counters, counter_count,
                                         &config));
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_create_context(&sampled));
    OK(rocprofiler_configure_callback_dispatch_counting_service(
        context, choose_for_launch, &chosen, on_counts, &counted));
    OK(rocprofiler_configure_device_counting_service(
        sampled, (rocprofiler_buffer_id_t){0}, device_agent, choose_config, &config));
    CHECK_STATUS(rocprofiler_configure_device_counting_service(
                     sampled, (rocprofiler_buffer_id_t){0}, device_agent, choose_config,
                     &config),
                 ERROR_SERVICE_ALREADY_CONFIGURED);
    CHECK_STATUS(rocprofiler_configure_callback_dispatch_counting_service(
                     sampled, choose_for_launch, &chosen, on_counts, &counted),
                 ERROR_AGENT_DISPATCH_CONFLICT);
    OK(rocprofiler_start_context(context));
    return 0;
}

static void
check_counter(rocprofiler_counter_id_t id)
{
    rocprofiler_counter_info_v0_t info;
    rocprofiler_counter_info_v1_t more;
    size_t values = 0;

    OK(rocprofiler_query_counter_info(id, ROCPROFILER_COUNTER_INFO_VERSION_0, &info));
    CHECK(strlen(info.name) > 3 && strlen(info.description) > 3);
    OK(rocprofiler_query_counter_info(id, ROCPROFILER_COUNTER_INFO_VERSION_1, &more));
    CHECK_TEXT(more.name, info.name);
    CHECK_EQUAL(more.dimensions_count, 0);
    CHECK_EQUAL(more.dimensions_instances_count, 1); /* a reading gives one record */
    CHECK_EQUAL(more.dimensions_instances[0]->instance_id, id.handle);
    CHECK_EQUAL(more.dimensions_instances[0]->counter_id, id.handle);
    OK(rocprofiler_query_counter_instance_count(device_agent, id, &values));
    CHECK_EQUAL(values, 1);
    CHECK_STATUS(rocprofiler_iterate_counter_dimensions(id, NULL, NULL),
                 ERROR_DIM_NOT_FOUND);
}

static void
counters_that_are_none(void)
{
    rocprofiler_counter_id_t none = {5};
    size_t values = 7;

    CHECK_STATUS(rocprofiler_query_counter_instance_count(device_agent, none, &values),
                 ERROR_COUNTER_NOT_FOUND);
    CHECK_EQUAL(values, 0);
    CHECK_STATUS(rocprofiler_iterate_counter_dimensions(none, NULL, NULL),
                 ERROR_COUNTER_NOT_FOUND);
}

static void
counters_count(void)
{
    rocprofiler_counter_record_t records[16];
    rocprofiler_user_data_t user = {.value = 6};
    size_t count = 16;
    volatile double work = 0;

    start_device(make_counting, NULL);
    if (counter_count == 0) {
        printf("perf_event_open opens nothing here\n");
        return;
    }
    for (size_t i = 0; i < counter_count; i++) {
        check_counter(counters[i]);
    }
    launch();
    finish();
    CHECK(chosen == 1 && counted == 1);
    CHECK_STATUS(rocprofiler_sample_device_counting_service(
                     sampled, user, ROCPROFILER_COUNTER_FLAG_NONE, records, &count),
                 ERROR_CONTEXT_NOT_STARTED);
    OK(rocprofiler_start_context(sampled));
    for (int i = 0; i < 5000000; i++) {
        work = work + i;
    }
    OK(rocprofiler_sample_device_counting_service(
        sampled, user, ROCPROFILER_COUNTER_FLAG_NONE, records, &count));
    CHECK_EQUAL(count, counter_count);
    CHECK(records[0].counter_value > 0 && records[0].user_data.value == 6);
    count = 0;
    CHECK_STATUS(rocprofiler_sample_device_counting_service(
                     sampled, user, ROCPROFILER_COUNTER_FLAG_NONE, records, &count),
                 ERROR_OUT_OF_RESOURCES);
    OK(rocprofiler_stop_context(sampled));
    OK(rocprofiler_destroy_counter_config(config));
    CHECK_STATUS(rocprofiler_destroy_counter_config(config), ERROR_PROFILE_NOT_FOUND);
}

static int
make_sampling_of_programs(void)
{
    make_agents();
    OK(rocprofiler_create_context(&context));
    CHECK_STATUS(rocprofiler_configure_pc_sampling_service(
                     context, device_agent, ROCPROFILER_PC_SAMPLING_METHOD_HOST_TRAP,
                     ROCPROFILER_PC_SAMPLING_UNIT_TIME, 1000, buffer, 0),
                 ERROR_NOT_IMPLEMENTED);
    return 0;
}

static void
program_counters_are_not_sampled(void)
{
    start_device(make_sampling_of_programs, NULL);
}

int
main(void)
{
    RUN_ALONE(texts_of_code_stay_when_it_goes);
    RUN_ALONE(kernel_is_told_from_launch_to_end);
    RUN_ALONE(queued_work_is_told_before_finalize);
    RUN_ALONE(one_operation_of_kernels);
    RUN_ALONE(code_objects_that_are_loaded_are_told);
    RUN_ALONE(contexts_that_start_later_are_told_of_code_objects);
    RUN_ALONE(copies_and_memory_are_told);
    RUN_ALONE(runtime_is_announced_once);
    RUN_ALONE(agents_are_there_in_initialize);
    RUN_ALONE(counters_that_are_none);
    RUN_ALONE(counters_count);
    RUN_ALONE(program_counters_are_not_sampled);
    return 0;
}
