/* SPDX-License-Identifier: MIT */
/* Work and its call are joined by the call's correlation.  Calls that launched are kept
 * in a table of fixed size at the place that their number says, until later ones take
 * it.  Work whose call has not come waits, since the call ends soon after. */
#include "tool/profiler/collect.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/name.h"
#include "tool/profiler/activities.h"
#include "tool/call_names.h"
#include "tool/profiler/call_note.h"
#include "tool/profiler/counters.h"
#include "tool/profiler/handed.h"
#include "tool/kernel_label.h"
#include "tool/profiler/links.h"
#include "tool/profiler/ranges.h"
#include "tool/profiler/recorder.h"
#include "tool/profiler/stack_args.h"
#include "tool/profiler/streams.h"
#include "tool/table.h"
#include "tool/profiler/work.h"

enum {
    CALLS = 1 << 16, /* a power of two */
    WAITING_MAX = 1 << 16,
    ARGS_BYTES = 160,
};

struct call {
    uint64_t correlation;
    uint64_t start;
    uint64_t bytes; /* of a fill */
    uint64_t address;
    uint32_t value;
    bool fills;
    int32_t device; /* where its work is counted, as the next one */
    uint32_t stream;
};

struct ha_collect {
    struct ha_collect_options options;
    struct ha_collect_counts counts;
    enum ha_status status; /* of the first slice that failed */
    struct ha_window window;
    struct call *calls;             /* owned; CALLS of them */
    struct ha_trace_event *waiting; /* owned; work whose call has not come */
    size_t waiting_count;
    size_t waiting_room;
    struct ha_ranges *ranges;     /* owned */
    struct ha_counters *counters; /* owned */
    struct ha_links *links;       /* owned; NULL: no operations come */
    uint64_t links_told;
    struct ha_table open;           /* ranges by number: start; name and thread */
    struct ha_table process_ranges; /* the same, by roctx's number plus 1 */
    struct ha_streams streams;
    struct ha_table labels; /* of kernels (kernel_label.h) */
    struct ha_stack_args stack;
};

static bool
wants(const struct ha_collect *collect, uint32_t activity)
{
    return (collect->options.activities & activity) != 0;
}

/* ---- slices ---- */

/* Whether the trace shows what took this time; what it doesn't is counted. */
static bool
in_window(struct ha_collect *collect, uint64_t start, uint64_t end)
{
    if (end < collect->window.start) {
        return false;
    }
    if (start < collect->window.start || end > collect->window.end) {
        collect->counts.out_of_window++;
        return false;
    }
    return true;
}

/* `slice` has times of events. */
static void
put(struct ha_collect *collect, struct ha_slice *slice)
{
    if (collect->status != HA_OK) {
        return;
    }
    slice->start = ha_clock_unix(&collect->options.clock, slice->start);
    slice->end = ha_clock_unix(&collect->options.clock, slice->end);
    if (!wants(collect, HA_ACTIVITIES_EXTERNAL)) {
        slice->external = 0;
    }
    collect->counts.slices++;
    collect->counts.kernels += slice->kind == HA_SLICE_KERNEL;
    collect->status = collect->options.slice(collect->options.context, slice);
}

/* A slice without a name, on the row of the event's thread. */
static struct ha_slice
slice_of(enum ha_slice_kind kind, const struct ha_trace_event *event)
{
    return (struct ha_slice){
        .kind = kind,
        .start = event->start,
        .end = event->end,
        .thread = event->thread,
        .device = HA_DEVICE_NONE,
        .correlation = event->correlation,
        .external = event->external,
    };
}

/* ---- calls ---- */

/* What the call launched, as an event of its own.  False: nothing. */
static bool
work_of(const struct ha_trace_event *call, struct ha_trace_event *work)
{
    *work = *call;
    work->kind = call->object != 0 ? HA_KIND_KERNEL : HA_KIND_COPY;
    return call->name > 0;
}

static void
put_call(struct ha_collect *collect, const struct ha_trace_event *event,
         const char *name, bool launches, enum ha_call_note note)
{
    char args[ARGS_BYTES] = "", stream[ARGS_BYTES / 2];
    struct ha_trace_event own = *event, work;
    struct ha_slice slice = slice_of(HA_SLICE_RUNTIME, event);

    slice.name = name;
    slice.launches = launches;
    slice.event = &own;
    if (note == HA_NOTE_FILL) {
        (void)snprintf(args, sizeof args,
                       "\"bytes\":%" PRIu64 ",\"dst\":%" PRIu64 ",\"value\":%" PRIu32,
                       event->bytes, event->address, (uint32_t)event->source);
    } else if (note == HA_NOTE_HOST) {
        ha_streams_args(&collect->streams, stream, sizeof stream, event->stream);
        (void)snprintf(args, sizeof args, "\"host function\":%" PRIu64 "%s%s",
                       event->address, stream[0] != '\0' ? "," : "", stream);
    }
    slice.args = args;
    if (wants(collect, HA_ACTIVITIES_STACKS)) {
        slice.args = ha_stack_args_put(&collect->stack, args, ha_call_stack(event));
    }
    if (work_of(event, &work)) {
        work.stream = ha_streams_number(&collect->streams, work.device, work.stream);
        work.shared = note == HA_NOTE_NONE ? work.shared : 0; /* see ha_call_stack */
        slice.work = &work;
        slice.work_name = work.kind == HA_KIND_KERNEL
                              ? ha_kernel_label(&collect->labels, work.object).name
                              : ha_work_direction(&work)->name;
    }
    /* What it launched is not the call's own. */
    own.name = 0;
    own.device = HA_DEVICE_NONE;
    memset((char *)&own + offsetof(struct ha_trace_event, stream), 0,
           sizeof own - offsetof(struct ha_trace_event, stream));
    own.source_device = HA_DEVICE_NONE;
    put(collect, &slice);
}

/* The device on whose row it is: that of a copy from a device to the host is where it
 * comes from. */
static int32_t
row_device(const struct ha_trace_event *work)
{
    if (work->device >= 0) {
        return work->device;
    }
    return work->source_device >= 0 ? work->source_device : 0;
}

/* ---- counters ---- */

/* Values of before and after the window are nothing to speak of; allocations are. */
static void
on_counter(void *context, struct ha_slice *slice)
{
    struct ha_collect *collect = context;

    if (slice->kind == HA_SLICE_INSTANT ? in_window(collect, slice->start, slice->end)
                                        : slice->start >= collect->window.start &&
                                              slice->start <= collect->window.end) {
        put(collect, slice);
    }
}

static void
on_device_counter(struct ha_collect *collect, const struct ha_trace_event *event)
{
    struct ha_slice slice = slice_of(HA_SLICE_COUNTER, event);

    slice.name = ha_name_text(event->name);
    slice.device = event->device;
    memcpy(&slice.value, &event->bytes, sizeof slice.value);
    on_counter(collect, &slice);
}

static void
no_memory(struct ha_collect *collect)
{
    collect->status = ha_error_set(HA_ERROR_MEMORY, "no memory for a trace");
}

static void
add_length(struct ha_collect *collect, uint64_t at, int32_t device, uint64_t stream,
           int64_t more)
{
    if (!ha_counters_work(collect->counters, at, device, (uint32_t)stream, more)) {
        no_memory(collect);
    }
}

/* All work of a call counts where its first piece is, so that the sum is right. */
static void
count_launch(struct ha_collect *collect, const struct ha_trace_event *event,
             struct call *call)
{
    struct ha_trace_event work;

    if (wants(collect, HA_ACTIVITIES_QUEUE) && work_of(event, &work)) {
        call->device = row_device(&work);
        call->stream =
            (uint32_t)ha_streams_number(&collect->streams, call->device, work.stream);
        add_length(collect, event->start, call->device, call->stream, event->name);
    }
}

/* `call` launched it; NULL: it isn't known. */
static void
count_end(struct ha_collect *collect, const struct ha_trace_event *work,
          const struct call *call)
{
    int32_t device = call != NULL ? call->device : row_device(work);

    if (wants(collect, HA_ACTIVITIES_QUEUE)) {
        uint64_t stream =
            call != NULL ? call->stream
                         : ha_streams_number(&collect->streams, device, work->stream);
        uint64_t at = call != NULL && work->end < call->start ? call->start : work->end;
        add_length(collect, at, device, stream, -1);
    }
}

static void
put_wait(struct ha_collect *collect, const struct ha_trace_event *event,
         enum ha_call_note note)
{
    char args[ARGS_BYTES] = "";
    uint64_t stream = event->stream;
    struct ha_slice slice = slice_of(HA_SLICE_SYNC, event);

    slice.name = ha_call_note_wait(note);
    slice.args = args;
    if (note == HA_NOTE_WAIT_EVENT) {
        stream = ha_streams_recorded(&collect->streams, event->address);
    }
    if (note != HA_NOTE_WAIT_DEVICE) {
        ha_streams_args(&collect->streams, args, sizeof args, stream);
    }
    put(collect, &slice);
}

/* What later events need to know of this call, whether it is shown or not. */
static void
remember_call(struct ha_collect *collect, const struct ha_trace_event *event,
              bool launches, enum ha_call_note note)
{
    if (launches) {
        struct call *call = &collect->calls[event->correlation & (CALLS - 1)];
        *call = (struct call){.correlation = event->correlation,
                              .start = event->start,
                              .fills = note == HA_NOTE_FILL,
                              .bytes = event->bytes,
                              .address = event->address,
                              .value = (uint32_t)event->source};
    }
    if (note == HA_NOTE_RECORD) {
        ha_streams_record(&collect->streams, event->address, event->stream);
    }
}

static void
on_call(struct ha_collect *collect, const struct ha_trace_event *event)
{
    const char *name = ha_call_name(event->operation);
    enum ha_call_note note = ha_call_note(event->operation);
    bool launches =
        event->name > 0 || (!ha_recorder_notes_work() && ha_call_launches(name));

    remember_call(collect, event, launches, note);
    if (launches) {
        count_launch(collect, event, &collect->calls[event->correlation & (CALLS - 1)]);
    }
    if (event->ancestor >= collect->options.first_range) {
        ha_ranges_launch(collect->ranges, event->ancestor, event->name);
    }
    if (!in_window(collect, event->start, event->end)) {
        return;
    }
    if (wants(collect, HA_ACTIVITIES_RUNTIME)) {
        put_call(collect, event, name, launches, note);
    }
    if (ha_call_note_wait(note) != NULL && wants(collect, HA_ACTIVITIES_SYNC)) {
        put_wait(collect, event, note);
    }
}

/* ---- work ---- */

/* AMD's names of kernels that fill memory. */
static bool
fills(const char *kernel)
{
    static const char fill[] = "__amd_rocclr_fill";

    return strncmp(kernel, fill, sizeof fill - 1) == 0;
}

/* NULL: it ended as it should. */
static const char *
status_text(int32_t status)
{
    static const char *const texts[] = {NULL, "fault", "timeout", "cancelled"};

    return status >= 0 && (size_t)status < sizeof texts / sizeof *texts ? texts[status]
                                                                        : "unknown";
}

static void
put_work(struct ha_collect *collect, const struct ha_trace_event *work,
         const struct call *call)
{
    struct ha_trace_event own = *work;
    char args[ARGS_BYTES];
    struct ha_slice slice = slice_of(HA_SLICE_MEMCPY, work);
    uint32_t activity = HA_ACTIVITIES_MEMCPY;

    slice.event = &own;
    slice.device = row_device(work);
    slice.stream = ha_streams_number(&collect->streams, slice.device, work->stream);
    if (work->kind == HA_KIND_COPY) {
        slice.name = ha_work_direction(work)->name;
        memset(own.grid, 0, sizeof own.grid);
    } else {
        slice.kind = HA_SLICE_KERNEL;
        struct ha_kernel_label label = ha_kernel_label(&collect->labels, work->object);
        slice.name = label.name;
        slice.args = label.args;
        own.source = 0;
        slice.form = own.address;
        own.address = 0;
        activity = HA_ACTIVITIES_KERNEL;
        if (fills(slice.name)) {
            slice.kind = HA_SLICE_MEMSET;
            slice.name = "Memset (Device)";
            slice.args = NULL;
            activity = HA_ACTIVITIES_MEMSET;
            if (call != NULL && call->fills) {
                own.bytes = call->bytes;
                (void)snprintf(args, sizeof args,
                               "\"dst\":%" PRIu64 ",\"value\":%" PRIu32, call->address,
                               call->value);
                slice.args = args;
            }
        }
    }
    slice.status = status_text(own.result);
    if (!wants(collect, activity)) {
        return;
    }
    if (collect->links != NULL && work->external != 0) {
        slice.flow = HA_FLOW_CAUSED;
        slice.flow_starts = true;
        slice.flow_id = work->external;
        ha_links_work(collect->links, work->external, slice.device, slice.stream,
                      work->start);
    }
    put(collect, &slice);
}

/* `call` launched it; NULL: it isn't known. */
static void
finish_work(struct ha_collect *collect, const struct ha_trace_event *event,
            const struct call *call)
{
    struct ha_trace_event work = *event;
    uint64_t range = ha_work_range(event);
    const struct ha_range_span *shown = NULL;
    struct ha_range_span span = {.device = row_device(event)};

    if (call != NULL && work.start < call->start) {
        collect->counts.moved++;
        work.start = call->start;
    }
    work.end = work.end < work.start ? work.start : work.end;
    count_end(collect, &work, call);
    if (in_window(collect, work.start, work.end)) {
        span.stream = ha_streams_number(&collect->streams, span.device, work.stream);
        span.start = work.start;
        span.end = work.end;
        shown = &span;
        put_work(collect, &work, call);
    }
    if (range >= collect->options.first_range) {
        ha_ranges_work(collect->ranges, range, shown);
    }
}

/* False: its call has not come. */
static bool
join(struct ha_collect *collect, const struct ha_trace_event *work)
{
    const struct call *call = &collect->calls[work->correlation & (CALLS - 1)];
    const uint32_t traced = HA_ACTIVITIES_RUNTIME | HA_ACTIVITIES_SYNC |
                            HA_ACTIVITIES_GPU_ANNOTATION | HA_ACTIVITIES_QUEUE;

    if (work->correlation == 0 || !wants(collect, traced)) {
        finish_work(collect, work, NULL);
        return true;
    }
    if (call->correlation == work->correlation) {
        finish_work(collect, work, call);
        return true;
    }
    if (call->correlation > work->correlation) { /* another took its place */
        collect->counts.unjoined++;
        finish_work(collect, work, NULL);
        return true;
    }
    return false;
}

/* The oldest ones wait no longer. */
static void
give_up(struct ha_collect *collect, size_t count)
{
    if (count == 0) {
        return; /* there may be no list yet */
    }
    for (size_t i = 0; i < count; i++) {
        collect->counts.unjoined++;
        finish_work(collect, &collect->waiting[i], NULL);
    }
    collect->waiting_count -= count;
    memmove(collect->waiting, collect->waiting + count,
            collect->waiting_count * sizeof *collect->waiting);
}

static void
wait_for_call(struct ha_collect *collect, const struct ha_trace_event *work)
{
    if (collect->waiting_count == WAITING_MAX) {
        give_up(collect, WAITING_MAX / 2);
    }
    if (collect->waiting_count == collect->waiting_room) {
        size_t room = collect->waiting_room > 0 ? 2 * collect->waiting_room : 256;
        struct ha_trace_event *more =
            realloc(collect->waiting, room * sizeof *collect->waiting);
        if (more == NULL) {
            finish_work(collect, work, NULL);
            return;
        }
        collect->waiting = more;
        collect->waiting_room = room;
    }
    collect->waiting[collect->waiting_count++] = *work;
}

static void
on_work(struct ha_collect *collect, const struct ha_trace_event *work)
{
    if (work->start == 0 && work->end == 0) {
        uint64_t range = ha_work_range(work);
        collect->counts.never_ran++;
        count_end(collect, work, NULL); /* as soon as that is known */
        if (range >= collect->options.first_range) {
            ha_ranges_work(collect->ranges, range, NULL);
        }
    } else if (!join(collect, work)) {
        wait_for_call(collect, work);
    }
}

static void
join_waiting(struct ha_collect *collect)
{
    size_t left = 0;

    for (size_t i = 0; i < collect->waiting_count; i++) {
        if (!join(collect, &collect->waiting[i])) {
            collect->waiting[left++] = collect->waiting[i];
        }
    }
    collect->waiting_count = left;
}

/* ---- ranges ---- */

static void
put_range(struct ha_collect *collect, const struct ha_table_entry *open, uint64_t end,
          const char *args)
{
    struct ha_slice slice = {
        .kind = HA_SLICE_USER_ANNOTATION,
        .name = ha_name_text((uint32_t)open->second),
        .start = open->first,
        .end = end,
        .thread = (uint32_t)(open->second >> 32),
        .device = HA_DEVICE_NONE,
        .args = args,
    };

    if (wants(collect, HA_ACTIVITIES_USER_ANNOTATION) &&
        in_window(collect, slice.start, slice.end)) {
        put(collect, &slice);
    }
}

static void
open_range(struct ha_table *table, uint64_t number, const struct ha_trace_event *event)
{
    struct ha_table_entry *entry = number != 0 ? ha_table_put(table, number) : NULL;

    if (entry != NULL) {
        entry->first = event->start;
        entry->second = (uint64_t)event->thread << 32 | event->name;
    }
}

static void
close_range(struct ha_collect *collect, struct ha_table *table, uint64_t number,
            uint64_t end)
{
    const struct ha_table_entry *entry =
        number != 0 ? ha_table_find(table, number) : NULL;

    if (entry != NULL) {
        put_range(collect, entry, end, NULL);
        ha_table_remove(table, number);
    }
}

static void
on_range(struct ha_collect *collect, const struct ha_trace_event *event)
{
    switch (event->kind) {
    case HA_KIND_PUSH:
        if (event->object >= collect->options.first_range) {
            ha_ranges_push(collect->ranges, event);
        }
        if (event->name != 0) {
            open_range(&collect->open, event->object, event);
        }
        break;
    case HA_KIND_POP:
        close_range(collect, &collect->open, event->object, event->end);
        ha_ranges_pop(collect->ranges, event);
        break;
    case HA_KIND_START:
        open_range(&collect->process_ranges, event->object + 1, event);
        break;
    default:
        close_range(collect, &collect->process_ranges, event->object + 1, event->end);
        break;
    }
}

/* What a range caused on a stream, a nanosecond wider on both sides: so readers that
 * nest by time see the work within. */
static void
on_span(void *context, const struct ha_range_span *span)
{
    struct ha_collect *collect = context;
    char id[32];
    const char *name = ha_name_text(span->name);
    struct ha_slice slice = {
        .kind = HA_SLICE_GPU_ANNOTATION,
        .start = span->start - 1,
        .end = span->end + 1,
        .device = span->device,
        .stream = span->stream,
        .external = span->id,
    };

    (void)snprintf(id, sizeof id, "%" PRIu64, span->id);
    slice.name = span->name != 0 ? name : id;
    if (wants(collect, HA_ACTIVITIES_GPU_ANNOTATION)) {
        put(collect, &slice);
    }
}

static void
on_mark(struct ha_collect *collect, const struct ha_trace_event *event)
{
    struct ha_slice slice = {
        .kind = HA_SLICE_INSTANT,
        .name = ha_name_text(event->name),
        .start = event->start,
        .end = event->start,
        .thread = event->thread,
        .device = HA_DEVICE_NONE,
    };

    if (event->operation == ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA &&
        wants(collect, HA_ACTIVITIES_USER_ANNOTATION) &&
        in_window(collect, slice.start, slice.end)) {
        put(collect, &slice);
    }
}

/* ---- operations of clients ---- */

static void
on_link(void *context, const struct ha_link *link)
{
    struct ha_collect *collect = context;
    struct ha_slice slice = {
        .kind = HA_SLICE_LINK,
        .start = link->start,
        .end = link->work_start,
        .thread = link->thread,
        .device = link->device,
        .stream = link->stream,
        .flow_id = ++collect->links_told,
    };

    put(collect, &slice);
    collect->counts.slices--; /* it is none */
}

static void
on_handed(struct ha_collect *collect, const struct ha_trace_event *event)
{
    struct ha_slice slice = slice_of(HA_SLICE_CPU_OP, event);

    slice.name = ha_name_text(event->name);
    slice.args = ha_handed_args(event);
    if (!wants(collect, HA_ACTIVITIES_CPU_OP) ||
        !in_window(collect, event->start, event->end)) {
        return;
    }
    if (collect->links != NULL && event->external != 0) {
        slice.flow = HA_FLOW_CAUSED;
        slice.flow_starts = true;
        slice.flow_id = event->external;
        ha_links_operation(collect->links, event->external, event->thread,
                           event->start);
    }
    put(collect, &slice);
}

/* ---- all of it ---- */

struct ha_collect *
ha_collect_new(const struct ha_collect_options *options)
{
    struct ha_collect *collect = calloc(1, sizeof *collect);

    if (collect == NULL) {
        return NULL;
    }
    collect->options = *options;
    collect->calls = calloc(CALLS, sizeof *collect->calls);
    collect->ranges = ha_ranges_new(on_span, collect);
    collect->counters =
        ha_counters_new(wants(collect, HA_ACTIVITIES_QUEUE), on_counter, collect);
    if (options->linked) {
        collect->links = ha_links_new(on_link, collect);
    }
    if (collect->calls == NULL || collect->ranges == NULL ||
        collect->counters == NULL || (options->linked && collect->links == NULL)) {
        ha_collect_free(collect);
        return NULL;
    }
    return collect;
}

static void
on_event(struct ha_collect *collect, const struct ha_trace_event *event)
{
    switch (event->kind) {
    case HA_KIND_CALL:
        on_call(collect, event);
        break;
    case HA_KIND_KERNEL:
    case HA_KIND_COPY:
        on_work(collect, event);
        break;
    case HA_KIND_MEMORY:
        if (!ha_counters_memory(collect->counters, event)) {
            no_memory(collect);
        }
        break;
    case HA_KIND_PUSH:
    case HA_KIND_POP:
    case HA_KIND_START:
    case HA_KIND_STOP:
        on_range(collect, event);
        break;
    case HA_KIND_HANDED:
        on_handed(collect, event);
        break;
    case HA_KIND_COUNTER:
        on_device_counter(collect, event);
        break;
    default:
        on_mark(collect, event);
        break;
    }
}

enum ha_status
ha_collect_events(struct ha_collect *collect, const struct ha_trace_event *events,
                  size_t count, const struct ha_window *window)
{
    collect->window = *window;
    for (size_t i = 0; i < count && collect->status == HA_OK; i++) {
        on_event(collect, &events[i]);
    }
    join_waiting(collect);
    ha_counters_tell(collect->counters, false);
    if (collect->links != NULL) {
        ha_links_join(collect->links);
    }
    return collect->status;
}

/* Ranges that are open when the window ends. */
static void
end_ranges(struct ha_collect *collect, const struct ha_table *table)
{
    for (size_t i = 0; i < table->room; i++) {
        if (table->entries[i].key != 0) {
            put_range(collect, &table->entries[i], collect->window.end,
                      "\"finished\":\"false\"");
        }
    }
}

enum ha_status
ha_collect_end(struct ha_collect *collect, const struct ha_window *window)
{
    collect->window = *window;
    join_waiting(collect);
    give_up(collect, collect->waiting_count);
    ha_counters_tell(collect->counters, true);
    if (collect->links != NULL) {
        ha_links_join(collect->links);
        collect->counts.unlinked = ha_links_lost(collect->links);
    }
    end_ranges(collect, &collect->open);
    end_ranges(collect, &collect->process_ranges);
    ha_ranges_end(collect->ranges);
    collect->ranges = NULL;
    return collect->status;
}

struct ha_collect_counts
ha_collect_counts(const struct ha_collect *collect)
{
    return collect->counts;
}

void
ha_collect_free(struct ha_collect *collect)
{
    if (collect == NULL) {
        return;
    }
    collect->status = HA_ERROR_INVALID; /* what ends now is not told */
    ha_ranges_end(collect->ranges);
    ha_links_free(collect->links);
    ha_table_free(&collect->open);
    ha_table_free(&collect->process_ranges);
    ha_streams_free(&collect->streams);
    ha_table_free(&collect->labels);
    ha_counters_free(collect->counters);
    ha_stack_args_free(&collect->stack);
    free(collect->waiting);
    free(collect->calls);
    free(collect);
}
