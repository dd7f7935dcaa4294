/* SPDX-License-Identifier: MIT */
/* Events of the recorder become slices: which, when, and joined to what. */
/* sources: core tool */
/* product: profiler */
#include "check.h"
#include "tool/name.h"
#include "tool/profiler/activities.h"
#include "tool/profiler/collect.h"
#include "tool/profiler/recorder.h"
#include "tool/sdk.h"

#include <pthread.h>

enum { SLICES_MAX = 1 << 18, OFFSET = 1000000, MANY = 70000 };

static struct kept {
    struct ha_slice slice;
    char name[64];
    char work_name[64];
    char args[96];
    struct ha_trace_event event;
} *kept;
static size_t kept_count;
static struct ha_collect *collect;
static struct ha_window window = {100, UINT64_MAX};

static enum ha_status
keep(void *context, const struct ha_slice *slice)
{
    struct kept *made = &kept[kept_count++];

    CHECK(context == &window);
    CHECK(slice->end >= slice->start);
    made->slice = *slice;
    (void)snprintf(made->name, sizeof made->name, "%s", slice->name);
    (void)snprintf(made->work_name, sizeof made->work_name, "%s",
                   slice->work_name != NULL ? slice->work_name : "");
    (void)snprintf(made->args, sizeof made->args, "%s",
                   slice->args != NULL ? slice->args : "");
    if (slice->event != NULL) {
        made->event = *slice->event;
    }
    return HA_OK;
}

static void
begin(uint32_t activities)
{
    const struct ha_collect_options options = {
        .activities = activities,
        .first_range = 10,
        .clock = {.offset = OFFSET},
        .slice = keep,
        .context = &window,
    };

    window = (struct ha_window){100, UINT64_MAX};
    kept_count = 0;
    collect = ha_collect_new(&options);
    CHECK(collect != NULL);
}

static void
feed(struct ha_trace_event event)
{
    CHECK_EQUAL(ha_collect_events(collect, &event, 1, &window), HA_OK);
}

static struct ha_collect_counts
finish(void)
{
    CHECK_EQUAL(ha_collect_end(collect, &window), HA_OK);
    struct ha_collect_counts counts = ha_collect_counts(collect);
    ha_collect_free(collect);
    return counts;
}

/* The slices of a kind. */
static size_t
count(enum ha_slice_kind kind)
{
    size_t found = 0;

    for (size_t i = 0; i < kept_count; i++) {
        found += kept[i].slice.kind == kind;
    }
    return found;
}

static struct kept *
find(enum ha_slice_kind kind)
{
    for (size_t i = 0; i < kept_count; i++) {
        if (kept[i].slice.kind == kind) {
            return &kept[i];
        }
    }
    CHECK(!"a slice of that kind");
    return NULL;
}

static struct ha_trace_event
call(uint64_t correlation, uint64_t start, uint64_t end, uint64_t range, uint32_t works)
{
    return (struct ha_trace_event){
        .kind = HA_KIND_CALL,
        .thread = 7,
        .correlation = correlation,
        .start = start,
        .end = end,
        .ancestor = range,
        .name = works,
        .object = works > 0 ? 5 : 0,
        .grid = {works, 1, 1},
    };
}

static struct ha_trace_event
kernel(uint64_t correlation, uint64_t start, uint64_t end, uint64_t range,
       uint64_t stream)
{
    return (struct ha_trace_event){
        .kind = HA_KIND_KERNEL,
        .thread = 7,
        .correlation = correlation,
        .start = start,
        .end = end,
        .object = 5,
        .source = range,
        .stream = stream,
    };
}

static struct ha_trace_event
range(uint16_t kind, uint64_t number, uint64_t outer, uint64_t at, const char *name)
{
    return (struct ha_trace_event){
        .kind = kind,
        .thread = 7,
        .start = at,
        .end = at,
        .object = number,
        .source = outer,
        .name = ha_name_of(name),
    };
}

static void
test_a_kernel_is_joined_to_its_call_in_any_order(void)
{
    for (int order = 0; order < 2; order++) {
        begin(HA_ACTIVITIES_DEFAULT);
        if (order == 0) {
            feed(call(3, 200, 210, 0, 1));
            feed(kernel(3, 205, 300, 0, 0));
        } else {
            feed(kernel(3, 205, 300, 0, 0));
            CHECK_EQUAL(kept_count, 0);
            feed(call(3, 200, 210, 0, 1));
        }
        struct ha_collect_counts counts = finish();

        CHECK_EQUAL(counts.kernels, 1);
        CHECK_EQUAL(counts.moved + counts.unjoined + counts.out_of_window, 0);
        CHECK(find(HA_SLICE_RUNTIME)->slice.launches);
        CHECK_TEXT(find(HA_SLICE_RUNTIME)->work_name, "fill");
        CHECK_TEXT(find(HA_SLICE_KERNEL)->name, "fill");
        CHECK_EQUAL(find(HA_SLICE_KERNEL)->slice.start, 205 + OFFSET);
        CHECK_EQUAL(find(HA_SLICE_KERNEL)->slice.correlation, 3);
    }
}

static void
test_a_kernel_before_its_launch_is_moved_and_counted(void)
{
    begin(HA_ACTIVITIES_DEFAULT);
    feed(kernel(3, 150, 160, 0, 0));
    feed(call(3, 200, 210, 0, 1));
    struct ha_collect_counts counts = finish();

    CHECK_EQUAL(counts.moved, 1);
    CHECK_EQUAL(find(HA_SLICE_KERNEL)->slice.start, 200 + OFFSET);
    CHECK_EQUAL(find(HA_SLICE_KERNEL)->slice.end, 200 + OFFSET);
}

static void
test_work_says_how_it_ended_and_never_ends_before_its_start(void)
{
    static const char *const texts[] = {"unknown", NULL,        "fault",
                                        "timeout", "cancelled", "unknown"};
    struct ha_trace_event work = kernel(0, 205, 0, 0, 0);

    begin(HA_ACTIVITIES_KERNEL);
    for (int32_t status = -1; status < 5; status++) {
        work.result = status;
        feed(work);
    }
    (void)finish();

    CHECK_EQUAL(kept_count, 6);
    for (size_t i = 0; i < kept_count; i++) {
        const char *status = kept[i].slice.status;
        CHECK_EQUAL(kept[i].slice.end, kept[i].slice.start);
        CHECK(status == texts[i] || strcmp(status, texts[i]) == 0);
    }
}

static void
test_only_what_is_within_the_window_is_shown(void)
{
    begin(HA_ACTIVITIES_DEFAULT);
    feed(call(1, 10, 20, 0, 0));   /* over before: not counted */
    feed(call(2, 90, 110, 0, 0));  /* across the start */
    feed(call(3, 100, 110, 0, 0)); /* within */
    window.end = 500;
    feed(call(4, 490, 501, 0, 0)); /* across the end */
    feed(call(5, 490, 500, 0, 0)); /* within */
    feed(call(6, 600, 700, 0, 0)); /* after */
    struct ha_collect_counts counts = finish();

    CHECK_EQUAL(count(HA_SLICE_RUNTIME), 2);
    CHECK_EQUAL(counts.out_of_window, 3);
}

static void
test_work_that_never_ran_is_counted(void)
{
    begin(HA_ACTIVITIES_DEFAULT);
    feed(call(1, 200, 210, 0, 1));
    feed(kernel(1, 0, 0, 0, 0));
    struct ha_collect_counts counts = finish();

    CHECK_EQUAL(counts.never_ran, 1);
    CHECK_EQUAL(count(HA_SLICE_KERNEL), 0);
}

static void
test_streams_get_small_numbers_on_each_device(void)
{
    static const uint64_t handles[] = {0, 0x7f0000001000, 0x7f0000002000, 1,
                                       0x7f0000001000};
    static const uint64_t numbers[] = {0, 1, 2, 0, 1};

    begin(HA_ACTIVITIES_KERNEL);
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
        feed(kernel(0, 200, 210, 0, handles[i]));
        CHECK_EQUAL(kept[i].slice.stream, numbers[i]);
    }
    struct ha_trace_event other = kernel(0, 200, 210, 0, 0x7f0000002000);
    other.device = 1;
    feed(other);
    CHECK_EQUAL(kept[5].slice.stream, 1);
    (void)finish();
}

static void
test_a_range_shows_what_it_caused_once_all_has_come(void)
{
    begin(HA_ACTIVITIES_DEFAULT);
    feed(kernel(4, 260, 270, 11, 64)); /* before its thread's own events */
    feed(range(HA_KIND_PUSH, 10, 0, 190, "outer"));
    feed(range(HA_KIND_PUSH, 11, 10, 195, "inner"));
    feed(call(3, 200, 210, 11, 1));
    feed(call(4, 220, 230, 11, 1));
    feed(range(HA_KIND_POP, 11, 0, 240, NULL));
    feed(range(HA_KIND_POP, 10, 0, 250, NULL));
    CHECK_EQUAL(count(HA_SLICE_USER_ANNOTATION), 2);
    CHECK_EQUAL(count(HA_SLICE_GPU_ANNOTATION), 0);
    feed(kernel(3, 300, 400, 11, 64));

    CHECK_EQUAL(count(HA_SLICE_GPU_ANNOTATION), 2);
    const struct ha_slice *inner = &find(HA_SLICE_GPU_ANNOTATION)->slice;
    CHECK_EQUAL(inner->start, 260 + OFFSET - 1);
    CHECK_EQUAL(inner->end, 400 + OFFSET + 1);
    CHECK_EQUAL(inner->stream, 1);
    CHECK_TEXT(kept[kept_count - 2].name, "inner");
    CHECK_TEXT(kept[kept_count - 1].name, "outer");
    (void)finish();
}

static void
test_a_range_whose_work_was_lost_is_shown_at_the_end(void)
{
    begin(HA_ACTIVITIES_DEFAULT);
    feed(range(HA_KIND_PUSH, 10, 0, 190, "outer"));
    feed(call(3, 200, 210, 10, 2));
    feed(kernel(3, 300, 400, 10, 0));
    window.end = 500;
    CHECK_EQUAL(count(HA_SLICE_GPU_ANNOTATION), 0);
    (void)finish();

    CHECK_EQUAL(count(HA_SLICE_GPU_ANNOTATION), 1);
    const struct ha_slice *open = &find(HA_SLICE_USER_ANNOTATION)->slice;
    CHECK_EQUAL(open->end, 500 + OFFSET);
    CHECK_TEXT(open->args, "\"finished\":\"false\"");
}

static void
test_copies_and_fills_have_their_names(void)
{
    struct ha_trace_event copy = {.kind = HA_KIND_COPY, .start = 200, .end = 300};

    begin(HA_ACTIVITIES_MEMCPY | HA_ACTIVITIES_MEMSET);
    copy.device = HA_DEVICE_NONE;
    copy.source_device = 1;
    feed(copy);
    copy.device = 0;
    feed(copy);
    struct ha_trace_event fill = kernel(0, 200, 210, 0, 0);
    fill.object = 6;
    feed(fill);
    (void)finish();

    CHECK_TEXT(kept[0].name, "Memcpy DtoH (Device -> Host)");
    CHECK_EQUAL(kept[0].slice.device, 1);
    CHECK_TEXT(kept[1].name, "Memcpy PtoP (Device -> Device)");
    CHECK_EQUAL(kept[2].slice.kind, HA_SLICE_MEMSET);
    CHECK_EQUAL(kept_count, 3);
}

/* A fill has no more than a kernel's record: its call knows how much it fills. */
static void
test_kernels_of_cpp_have_their_names(void)
{
    struct ha_trace_event launch = call(3, 200, 210, 0, 1);
    struct ha_trace_event launched = kernel(3, 220, 230, 0, 0);

    launch.object = launched.object = 7;
    begin(HA_ACTIVITIES_DEFAULT);
    feed(launch);
    feed(launched);
    (void)finish();

    CHECK_TEXT(find(HA_SLICE_RUNTIME)->work_name, "void add<float>(float*)");
    CHECK_TEXT(find(HA_SLICE_KERNEL)->name, "void add<float>(float*)");
    CHECK_TEXT(find(HA_SLICE_KERNEL)->args, "\"symbol\":\"_Z3addIfEvPT_.kd\"");
}

static void
test_a_fill_has_what_its_call_says(void)
{
    struct ha_trace_event asked = call(3, 200, 210, 0, 1);
    struct ha_trace_event fill = kernel(3, 205, 300, 0, 0);

    asked.operation = ROCPROFILER_HIP_RUNTIME_API_ID_hipMemset;
    asked.object = fill.object = 6;
    asked.bytes = 4096;
    asked.address = 77;
    asked.source = 9;
    begin(HA_ACTIVITIES_DEFAULT);
    feed(fill);
    feed(asked);
    fill.correlation = 4; /* of a graph's launch */
    feed(call(4, 310, 320, 0, 1));
    feed(fill);
    (void)finish();

    CHECK_EQUAL(count(HA_SLICE_MEMSET), 2);
    CHECK_TEXT(find(HA_SLICE_RUNTIME)->args, "\"bytes\":4096,\"dst\":77,\"value\":9");
    CHECK_TEXT(find(HA_SLICE_MEMSET)->args, "\"dst\":77,\"value\":9");
    CHECK_EQUAL(find(HA_SLICE_MEMSET)->event.bytes, 4096);
    CHECK_EQUAL(kept[kept_count - 1].event.bytes, 0);
}

static struct ha_trace_event
wait_call(uint64_t correlation, int32_t operation, uint64_t stream, uint64_t event)
{
    struct ha_trace_event made = call(correlation, 400, 410, 0, 0);

    made.operation = operation;
    made.stream = stream;
    made.address = event;
    return made;
}

static void
test_waits_know_their_stream(void)
{
    struct ha_trace_event launch = call(1, 200, 210, 0, 1);

    begin(HA_ACTIVITIES_DEFAULT & ~(uint32_t)HA_ACTIVITIES_KERNEL);
    launch.stream = 5000;
    launch.device = 2;
    feed(launch);
    feed(wait_call(2, ROCPROFILER_HIP_RUNTIME_API_ID_hipEventRecord, 5000, 8));
    feed(wait_call(3, ROCPROFILER_HIP_RUNTIME_API_ID_hipStreamSynchronize, 5000, 0));
    feed(wait_call(4, ROCPROFILER_HIP_RUNTIME_API_ID_hipEventSynchronize, 0, 8));
    feed(wait_call(5, ROCPROFILER_HIP_RUNTIME_API_ID_hipStreamWaitEvent, 0, 8));
    feed(wait_call(6, ROCPROFILER_HIP_RUNTIME_API_ID_hipEventSynchronize, 0, 9));
    feed(wait_call(7, ROCPROFILER_HIP_RUNTIME_API_ID_hipDeviceSynchronize, 0, 0));
    (void)finish();

    static const char *const expected[][2] = {
        {"Stream Sync", "\"device\":2,\"stream\":1"},
        {"Event Sync", "\"device\":2,\"stream\":1"},
        {"Stream Wait Event", "\"stream\":0"},
        {"Event Sync", ""}, /* nothing is known of that event */
        {"Device Sync", ""},
    };
    size_t found = 0;
    for (size_t i = 0; i < kept_count; i++) {
        if (kept[i].slice.kind == HA_SLICE_SYNC) {
            CHECK(found < sizeof expected / sizeof *expected);
            CHECK_TEXT(kept[i].name, expected[found][0]);
            CHECK_TEXT(kept[i].args, expected[found][1]);
            found++;
        }
    }
    CHECK_EQUAL(found, sizeof expected / sizeof *expected);
}

static void
test_memory_in_use_goes_up_and_down(void)
{
    struct ha_trace_event event = {.kind = HA_KIND_MEMORY,
                                   .operation = ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE,
                                   .start = 40,
                                   .end = 50,
                                   .bytes = 100,
                                   .address = 4096};

    begin(HA_ACTIVITIES_MEMORY);
    feed(event); /* before the window: it counts, but isn't shown */
    event.address = 8192;
    event.end = 200;
    feed(event);
    event.operation = ROCPROFILER_MEMORY_ALLOCATION_FREE;
    event.start = 210;
    event.end = 220;
    event.bytes = 0;
    event.address = 4096;
    feed(event);
    event.address = 12; /* of before all of this */
    feed(event);
    (void)finish();

    CHECK_EQUAL(kept_count, 4);
    CHECK_EQUAL(kept[0].slice.value, 200);
    CHECK_EQUAL(kept[1].slice.kind, HA_SLICE_INSTANT);
    CHECK_EQUAL(kept[2].slice.value, 100);
    CHECK_EQUAL(kept[3].slice.kind, HA_SLICE_INSTANT);
}

/* Each thread's events come in their order, one thread after the other. */
static void
test_memory_of_threads_is_counted_in_the_order_of_time(void)
{
    const struct ha_trace_event late = {
        .kind = HA_KIND_MEMORY,
        .operation = ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE,
        .thread = 8,
        .start = 310,
        .end = 312, /* within the end of the other one */
        .bytes = 40,
        .address = 4096};
    struct ha_trace_event early = late, over = late;

    early.thread = over.thread = 7;
    early.start = 200;
    early.end = 210;
    early.bytes = 100;
    over.operation = ROCPROFILER_MEMORY_ALLOCATION_FREE;
    over.start = 300;
    over.end = 320;
    begin(HA_ACTIVITIES_MEMORY);
    const struct ha_trace_event batch[] = {late, early, over};
    CHECK_EQUAL(ha_collect_events(collect, batch, 3, &window), HA_OK);
    (void)finish();

    CHECK_EQUAL(kept_count, 6);
    CHECK_EQUAL(kept[0].slice.value, 100);
    CHECK_EQUAL(kept[2].slice.value, 0);
    CHECK_EQUAL(kept[2].slice.start, 300 + OFFSET);
    CHECK_EQUAL(kept[4].slice.value, 40);
    CHECK_EQUAL(kept[4].slice.start, 312 + OFFSET);
}

/* The end of the first allocation was lost. */
static void
test_an_address_that_comes_again_is_counted_once(void)
{
    struct ha_trace_event event = {.kind = HA_KIND_MEMORY,
                                   .operation = ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE,
                                   .end = 200,
                                   .bytes = 100,
                                   .address = 4096};

    begin(HA_ACTIVITIES_MEMORY);
    feed(event);
    event.device = 1;
    event.bytes = 40;
    feed(event);
    event.device = 0;
    event.address = 8192;
    feed(event);
    (void)finish();

    CHECK_EQUAL(kept_count, 6);
    CHECK_EQUAL(kept[2].slice.device, 1);
    CHECK_EQUAL(kept[2].slice.value, 40);
    CHECK_EQUAL(kept[4].slice.device, 0);
    CHECK_EQUAL(kept[4].slice.value, 40);
}

/* Work that waits doesn't grow without bound, and none of it is lost. */
static void
test_work_without_calls_is_shown_in_the_end(void)
{
    begin(HA_ACTIVITIES_DEFAULT);
    struct ha_trace_event *events = calloc(MANY, sizeof *events);
    CHECK(events != NULL);
    for (uint64_t i = 0; i < MANY; i++) {
        events[i] = kernel(i + 1, 200 + i, 300 + i, 0, 0);
    }
    CHECK_EQUAL(ha_collect_events(collect, events, 100, &window), HA_OK);
    CHECK_EQUAL(kept_count, 0);
    CHECK_EQUAL(ha_collect_events(collect, events + 100, MANY - 100, &window), HA_OK);
    CHECK(kept_count > 0);
    free(events);
    struct ha_collect_counts counts = finish();

    CHECK_EQUAL(counts.kernels, MANY);
    CHECK_EQUAL(counts.unjoined, MANY);
}

static enum ha_status
fail(void *context, const struct ha_slice *slice)
{
    (void)slice;
    ++*(int *)context;
    return ha_error_set(HA_ERROR_SYSTEM, "the disk is full");
}

static void
test_the_first_failure_ends_it(void)
{
    int calls = 0;
    const struct ha_collect_options options = {
        .activities = HA_ACTIVITIES_DEFAULT, .slice = fail, .context = &calls};
    const struct ha_trace_event events[] = {call(1, 200, 210, 0, 0),
                                            call(2, 200, 210, 0, 0)};

    window = (struct ha_window){100, UINT64_MAX};
    collect = ha_collect_new(&options);
    CHECK_EQUAL(ha_collect_events(collect, events, 2, &window), HA_ERROR_SYSTEM);
    CHECK_EQUAL(ha_collect_end(collect, &window), HA_ERROR_SYSTEM);
    CHECK_EQUAL(calls, 1);
    ha_collect_free(collect);
}

static void
own(void)
{
}

int
main(void)
{
    kept = calloc(SLICES_MAX, sizeof *kept);
    CHECK(kept != NULL);
    ha_sdk.finalize = own; /* our own library: calls note their work */
    ha_kernel_name_set(5, ha_name_of("fill"));
    ha_kernel_name_set(7, ha_name_of("_Z3addIfEvPT_.kd"));
    ha_kernel_name_set(6, ha_name_of("__amd_rocclr_fillBufferAligned"));
    RUN(test_a_kernel_is_joined_to_its_call_in_any_order);
    RUN(test_a_kernel_before_its_launch_is_moved_and_counted);
    RUN(test_work_says_how_it_ended_and_never_ends_before_its_start);
    RUN(test_only_what_is_within_the_window_is_shown);
    RUN(test_work_that_never_ran_is_counted);
    RUN(test_streams_get_small_numbers_on_each_device);
    RUN(test_a_range_shows_what_it_caused_once_all_has_come);
    RUN(test_a_range_whose_work_was_lost_is_shown_at_the_end);
    RUN(test_copies_and_fills_have_their_names);
    RUN(test_kernels_of_cpp_have_their_names);
    RUN(test_a_fill_has_what_its_call_says);
    RUN(test_waits_know_their_stream);
    RUN(test_memory_in_use_goes_up_and_down);
    RUN(test_memory_of_threads_is_counted_in_the_order_of_time);
    RUN(test_an_address_that_comes_again_is_counted_once);
    RUN(test_work_without_calls_is_shown_in_the_end);
    RUN(test_the_first_failure_ends_it);
    free(kept);
    return 0;
}
