/* SPDX-License-Identifier: MIT */
/* Marks and ranges of roctx, from the program's call to the tool. */
/* sources: core rocprofiler roctx */
/* product: profiler */
#include "rocprofiler_support.h"

#include <rocprofiler-sdk-roctx/roctx.h>
#include <stdarg.h>
#include <sys/syscall.h>

static rocprofiler_context_id_t context, control_context;
static rocprofiler_buffer_id_t buffer;
static char story[4096];
static uint64_t range_ids[2];

static void
tell(const char *format, ...)
{
    size_t used = strlen(story);
    va_list values;

    va_start(values, format);
    vsnprintf(story + used, sizeof story - used, format, values);
    va_end(values);
}

static const char *
name_of(const rocprofiler_callback_tracing_record_t *record)
{
    const char *name = NULL;

    OK(rocprofiler_query_callback_tracing_kind_operation_name(
        record->kind, record->operation, &name, NULL));
    return name + strlen("roctx");
}

static void
on_core(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
        void *data)
{
    const rocprofiler_callback_tracing_marker_api_data_t *payload = record.payload;
    bool begins = record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER;

    CHECK(data == story);
    CHECK_EQUAL(payload->size, sizeof *payload);
    tell("%s%s", begins ? "<" : ">", name_of(&record));
    if (begins && record.kind == ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API &&
        (record.operation == ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA ||
         record.operation == ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA)) {
        tell("(%s)", payload->args.roctxMarkA.message);
    }
    if (!begins) {
        CHECK_EQUAL(user->value, record.correlation_id.internal);
    }
    user->value = record.correlation_id.internal;
    tell(" ");
}

static void
on_range(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
         void *data)
{
    const rocprofiler_callback_tracing_marker_api_data_t *payload = record.payload;

    (void)data;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        user->value = record.correlation_id.internal;
        tell("[%s(%s) ", name_of(&record), payload->args.roctxThreadRangeA.message);
    } else {
        CHECK_EQUAL(user->value, record.correlation_id.internal);
        tell("%s(%s)] ", name_of(&record), payload->args.roctxThreadRangeA.message);
    }
}

static void
on_control(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
           void *data)
{
    (void)user;
    (void)data;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER &&
        record.operation == ROCPROFILER_MARKER_CONTROL_API_ID_roctxProfilerPause) {
        OK(rocprofiler_stop_context(context));
    } else if (record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT &&
               record.operation ==
                   ROCPROFILER_MARKER_CONTROL_API_ID_roctxProfilerResume) {
        OK(rocprofiler_start_context(context));
    }
}

static void
trace(rocprofiler_callback_tracing_kind_t kind,
      rocprofiler_callback_tracing_cb_t callback)
{
    OK(rocprofiler_configure_callback_tracing_service(context, kind, NULL, 0, callback,
                                                      story));
}

static int
make_core(void)
{
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_create_context(&control_context));
    trace(ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, on_core);
    trace(ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API, on_core);
    OK(rocprofiler_configure_callback_tracing_service(
        control_context, ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API, NULL, 0,
        on_control, NULL));
    OK(rocprofiler_start_context(context));
    OK(rocprofiler_start_context(control_context));
    return 0;
}

static void
calls_are_told(void)
{
    roctx_thread_id_t thread = 0;

    mock_start(make_core, NULL);
    roctxMark("one");
    CHECK_EQUAL(roctxRangePush("two"), 0);
    CHECK_EQUAL(roctxRangePush("three"), 1);
    CHECK_EQUAL(roctxRangePop(), 1);
    CHECK_EQUAL(roctxRangePop(), 0);
    CHECK(roctxRangePop() < 0);
    CHECK_EQUAL(roctxGetThreadId(&thread), 0);
    CHECK_EQUAL(thread, syscall(SYS_gettid));
    CHECK_EQUAL(roctxNameOsThread("worker"), 0);
    CHECK_TEXT(story, "<MarkA(one) >MarkA <RangePushA(two) >RangePushA "
                      "<RangePushA(three) >RangePushA <RangePop >RangePop <RangePop "
                      ">RangePop <RangePop >RangePop <GetThreadId >GetThreadId "
                      "<NameOsThread >NameOsThread ");
}

static int
on_argument(rocprofiler_callback_tracing_kind_t kind,
            rocprofiler_tracing_operation_t operation, uint32_t number,
            const void *const at, int32_t indirections, const char *type,
            const char *name, const char *value, int32_t followed, void *data)
{
    const rocprofiler_callback_tracing_record_t *record = data;

    CHECK_EQUAL(kind, record->kind);
    CHECK_EQUAL(operation, record->operation);
    CHECK(at != NULL && followed <= indirections);
    tell("%s%s %s=%s", number == 0 ? "" : ", ", type, name, value);
    return 0;
}

static void
on_arguments(rocprofiler_callback_tracing_record_t record,
             rocprofiler_user_data_t *user, void *data)
{
    (void)user;
    (void)data;
    if (record.phase != ROCPROFILER_CALLBACK_PHASE_ENTER) {
        return;
    }
    tell("%s(", name_of(&record));
    OK(rocprofiler_iterate_callback_tracing_kind_operation_args(record, on_argument, 1,
                                                                &record));
    tell(") ");
    record.operation = 100;
    CHECK_STATUS(rocprofiler_iterate_callback_tracing_kind_operation_args(
                     record, on_argument, 1, &record),
                 ERROR_OPERATION_NOT_FOUND);
}

static int
make_arguments(void)
{
    OK(rocprofiler_create_context(&context));
    trace(ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, on_arguments);
    trace(ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API, on_arguments);
    trace(ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API, on_arguments);
    OK(rocprofiler_start_context(context));
    return 0;
}

static void
arguments_are_told_by_name(void)
{
    roctx_thread_id_t thread = 77;

    mock_start(make_arguments, NULL);
    roctxMark("one");
    (void)roctxRangePush("two");
    (void)roctxRangePop();
    roctxRangeStop(roctxRangeStart(NULL));
    (void)roctxGetThreadId(&thread);
    (void)roctxProfilerPause(5);
    (void)roctxNameHipDevice("first", 3);
    CHECK_TEXT(story, "MarkA(const char * message=one) RangePushA(const char * "
                      "message=two) RangePop() RangeStartA(const char * "
                      "message=(null)) RangeStop(roctx_range_id_t id=1) "
                      "GetThreadId(roctx_thread_id_t * tid=77) "
                      "ProfilerPause(roctx_thread_id_t tid=5) NameHipDevice(const "
                      "char * name=first, int device_id=3) ");
}

static int
make_range_arguments(void)
{
    OK(rocprofiler_create_context(&context));
    trace(ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API, on_arguments);
    OK(rocprofiler_start_context(context));
    return 0;
}

static void
arguments_of_ranges_are_told_by_name(void)
{
    mock_start(make_range_arguments, NULL);
    roctxMark("point");
    (void)roctxRangePush("outer");
    (void)roctxRangePop();
    CHECK_TEXT(story, "MarkA(const char * message=point) "
                      "ThreadRangeA(const char * message=outer) ");
}

static void
pause_and_resume_reach_the_tool(void)
{
    mock_start(make_core, NULL);
    roctxMark("a");
    CHECK_EQUAL(roctxProfilerPause(0), 0);
    roctxMark("b");
    CHECK_EQUAL(roctxProfilerResume(0), 0);
    roctxMark("c");
    CHECK_TEXT(story, "<MarkA(a) >MarkA <MarkA(c) >MarkA ");
}

static void
tool_that_comes_later_is_told(void)
{
    mock_initialize = make_core;
    CHECK_EQUAL(roctxRangePush("before"), 0);
    OK(rocprofiler_force_configure(mock_configure));
    roctxMark("later");
    CHECK_EQUAL(roctxRangePop(), 0);
    CHECK_TEXT(story, "<MarkA(later) >MarkA <RangePop >RangePop ");
}

static int
make_ranges(void)
{
    OK(rocprofiler_create_context(&context));
    trace(ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API, on_range);
    OK(rocprofiler_start_context(context));
    return 0;
}

static void *
stop_it(void *argument)
{
    roctxRangeStop(*(const roctx_range_id_t *)argument);
    return NULL;
}

static void
ranges_are_told_with_both_ends(void)
{
    pthread_t thread;
    char text[64] = "inner";

    mock_start(make_ranges, NULL);
    (void)roctxRangePush("outer");
    roctx_range_id_t id = roctxRangeStart("process");
    (void)roctxRangePush(text);
    strcpy(text, "other"); /* it was copied */
    (void)roctxRangePop();
    roctxMark("point");
    CHECK_EQUAL(pthread_create(&thread, NULL, stop_it, &id), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    roctxRangeStop(id); /* once more: nothing */
    (void)roctxRangePop();
    (void)roctxRangePop();
    CHECK_TEXT(story, "[ThreadRangeA(outer) [ProcessRangeA(process) "
                      "[ThreadRangeA(inner) ThreadRangeA(inner)] [MarkA(point) "
                      "MarkA(point)] ProcessRangeA(process)] ThreadRangeA(outer)] ");
}

static void
ranges_of_other_times_are_left_alone(void)
{
    mock_start(make_ranges, NULL);
    (void)roctxRangePush("a");
    OK(rocprofiler_stop_context(context));
    (void)roctxRangePop();
    (void)roctxRangePush("b"); /* nobody looks */
    OK(rocprofiler_start_context(context));
    (void)roctxRangePush("c");
    (void)roctxRangePop();
    (void)roctxRangePop();
    CHECK_TEXT(story, "[ThreadRangeA(a) ThreadRangeA(a)] [ThreadRangeA(c) "
                      "ThreadRangeA(c)] ");
}

static int records;

static void
on_batch(rocprofiler_context_id_t of, rocprofiler_buffer_id_t id,
         rocprofiler_record_header_t **headers, size_t count, void *data, uint64_t lost)
{
    (void)of;
    (void)id;
    (void)data;
    CHECK_EQUAL(lost, 0);
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_buffer_tracing_marker_api_record_t *record =
            headers[i]->payload;
        CHECK_EQUAL(headers[i]->kind, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API);
        CHECK_EQUAL(record->size, sizeof *record);
        CHECK_EQUAL(record->operation,
                    ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxThreadRangeA);
        CHECK(record->end_timestamp - record->start_timestamp >= 2000000);
        range_ids[records++ % 2] = record->correlation_id.internal;
    }
}

static int
make_buffered(void)
{
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_create_buffer(context, 4096, 4096,
                                 ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_batch, NULL,
                                 &buffer));
    OK(rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API, NULL, 0, buffer));
    OK(rocprofiler_start_context(context));
    return 0;
}

static void
ranges_are_recorded(void)
{
    mock_start(make_buffered, NULL);
    (void)roctxRangePush("a");
    (void)roctxRangePush("b");
    usleep(2000);
    (void)roctxRangePop();
    (void)roctxRangePop();
    OK(rocprofiler_flush_buffer(buffer));
    CHECK_EQUAL(records, 2);
    CHECK(range_ids[0] != range_ids[1]);
}

static void
nothing_happens_without_a_tool(void)
{
    CHECK_EQUAL(roctxRangePush("a"), 0);
    CHECK_EQUAL(roctxRangePop(), 0);
    CHECK(roctxRangeStart("b") != roctxRangeStart("c"));
    CHECK_EQUAL(roctxNameHipDevice("d", 0), 0);
    CHECK(roctxNameHipDevice(NULL, 0) != 0);
    CHECK(roctxNameHipDevice("d", -1) != 0);
    CHECK(roctxNameOsThread(NULL) != 0);
    CHECK(roctxGetThreadId(NULL) != 0);
    roctxMark(NULL);
}

int
main(void)
{
    RUN_ALONE(calls_are_told);
    RUN_ALONE(arguments_are_told_by_name);
    RUN_ALONE(arguments_of_ranges_are_told_by_name);
    RUN_ALONE(pause_and_resume_reach_the_tool);
    RUN_ALONE(tool_that_comes_later_is_told);
    RUN_ALONE(ranges_are_told_with_both_ends);
    RUN_ALONE(ranges_of_other_times_are_left_alone);
    RUN_ALONE(ranges_are_recorded);
    RUN_ALONE(nothing_happens_without_a_tool);
    return 0;
}
