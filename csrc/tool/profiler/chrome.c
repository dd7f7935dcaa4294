/* SPDX-License-Identifier: MIT */
/* One line an event, so that a file which was cut off can still be mended by hand:
 *
 *     {"schemaVersion":1, ... ,"traceEvents":[
 *     {"ph":"X","cat":"kernel", ... },
 *     ...
 *     ],"lost_events":0, ... ,"traceName":"a.json"}
 */
#include "tool/profiler/chrome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/profiler/call.h"
#include "tool/profiler/chrome_head.h"
#include "tool/profiler/output.h"
#include "tool/profiler/rows.h"
#include "tool/text.h"
#include "tool/profiler/work.h"

#define NS_A_SECOND UINT64_C(1000000000)
enum {
    BASE_STEP_S = 7889238, /* three months: libkineto's, so that ranks share a base */
    EVENT_BYTES = 2048,    /* an event and its flows, without its texts */
    GPU_SORT_INDEX = 5000000,
    SYNC_ROW_OFFSET = 1000000,
};

struct chrome {
    struct ha_output output;
    uint64_t base; /* Unix ns that times count from */
    uint64_t start;
    uint64_t slices;
    uint32_t pid;
    bool cuda_names;
    char *process_name; /* owned */
    char *span_name;    /* owned */
    struct ha_rows rows;
};

/* ---- parts of lines ---- */

static char *
put_string(char *to, const char *text)
{
    return ha_text_quoted(to, text, strlen(text));
}

static char *
put_time(char *to, const struct chrome *chrome, uint64_t ns)
{
    return ha_text_milli(to, ns > chrome->base ? ns - chrome->base : 0);
}

/* A literal and a number, as `"bytes":17,`. */
#define PUT_MEMBER(to, literal, value)                                                 \
    do {                                                                               \
        HA_PUT(to, literal);                                                           \
        (to) = ha_text_uint((to), (value));                                            \
        *(to)++ = ',';                                                                 \
    } while (0)

static char *
put_triple(char *to, uint32_t x, uint32_t y, uint32_t z)
{
    *to++ = '[';
    to = ha_text_uint(to, x);
    *to++ = ',';
    to = ha_text_uint(to, y);
    *to++ = ',';
    to = ha_text_uint(to, z);
    HA_PUT(to, "],");
    return to;
}

/* ---- rows ---- */

/* "pid" and "tid" of a row. */
static char *
put_row(char *to, const struct chrome *chrome, const struct ha_row *row)
{
    uint64_t tid = row->kind == HA_ROW_SYNC ? (uint64_t)row->thread + SYNC_ROW_OFFSET
                                            : row->thread;

    HA_PUT(to, "\"pid\":");
    if (row->device == HA_DEVICE_NONE) {
        to = ha_text_uint(to, chrome->pid);
        HA_PUT(to, ",\"tid\":");
        return ha_text_uint(to, tid);
    }
    to = ha_text_int(to, row->device);
    HA_PUT(to, ",\"tid\":");
    return ha_text_uint(to, row->stream);
}

/* A line of metadata about a row, up to its value. */
static char *
begin_about(char *to, const struct chrome *chrome, const struct ha_row *row,
            const char *what, const char *key)
{
    HA_PUT(to, "{\"ph\":\"M\",\"name\":\"");
    to = ha_text_put(to, what, strlen(what));
    HA_PUT(to, "\",");
    to = put_row(to, chrome, row);
    HA_PUT(to, ",\"ts\":0,\"args\":{\"");
    to = ha_text_put(to, key, strlen(key));
    HA_PUT(to, "\":");
    return to;
}

static void
describe(struct chrome *chrome, const struct ha_row *row, const char *what,
         const char *key, const char *text)
{
    if (ha_output_room(&chrome->output, HA_JSON_GROWTH * strlen(text) + EVENT_BYTES)) {
        char *to = begin_about(chrome->output.at, chrome, row, what, key);
        to = put_string(to, text);
        HA_PUT(to, "}},\n");
        chrome->output.at = to;
    }
}

static void
describe_number(struct chrome *chrome, const struct ha_row *row, const char *what,
                int64_t number)
{
    if (ha_output_room(&chrome->output, EVENT_BYTES)) {
        char *to = begin_about(chrome->output.at, chrome, row, what, "sort_index");
        to = ha_text_int(to, number);
        HA_PUT(to, "}},\n");
        chrome->output.at = to;
    }
}

/* The process of the row: this one, or a device. */
static void
need_process(struct chrome *chrome, int32_t device, const char *label)
{
    bool fresh;
    char text[32];
    const struct ha_row *row =
        ha_rows_find(&chrome->rows, HA_ROW_DEVICE, device, 0, 0, &fresh);

    if (!fresh) {
        return;
    }
    (void)snprintf(text, sizeof text, "GPU %d", device);
    describe(chrome, row, "process_name", "name", chrome->process_name);
    describe(chrome, row, "process_labels", "labels",
             label != NULL              ? label
             : device != HA_DEVICE_NONE ? text
                                        : "CPU");
    describe_number(chrome, row, "process_sort_index",
                    device != HA_DEVICE_NONE ? (int64_t)GPU_SORT_INDEX + device
                                             : (int64_t)chrome->pid);
}

static void
describe_row(struct chrome *chrome, const struct ha_row *found, const char *name)
{
    struct ha_row row = *found; /* it stays until the next look-up only */
    char text[80];

    need_process(chrome, row.device, NULL);
    if (row.device != HA_DEVICE_NONE) {
        (void)snprintf(text, sizeof text, "stream %llu",
                       (unsigned long long)row.stream);
    } else {
        ha_row_thread_name(row.thread, text, sizeof text);
        if (row.kind == HA_ROW_SYNC) {
            strcat(text, " waits");
        }
    }
    describe(chrome, &row, "thread_name", "name", name != NULL ? name : text);
    describe_number(chrome, &row, "thread_sort_index",
                    row.device != HA_DEVICE_NONE ? (int64_t)row.stream
                    : row.kind == HA_ROW_SYNC    ? (int64_t)row.thread + SYNC_ROW_OFFSET
                                                 : (int64_t)row.thread);
}

/* The row of a slice, which is described where it is new. */
static struct ha_row
row_of(struct chrome *chrome, const struct ha_slice *slice)
{
    struct ha_row row = {.kind = HA_ROW_THREAD, .device = HA_DEVICE_NONE};
    bool fresh;

    if (slice->kind >= HA_SLICE_KERNEL && slice->kind <= HA_SLICE_GPU_ANNOTATION) {
        row.kind = HA_ROW_STREAM;
    } else if (slice->kind == HA_SLICE_SYNC) {
        row.kind = slice->device != HA_DEVICE_NONE ? HA_ROW_STREAM : HA_ROW_SYNC;
    }
    if (row.kind == HA_ROW_STREAM) {
        row.device = slice->device;
        row.stream = slice->stream;
    } else {
        row.thread = slice->thread;
    }
    const struct ha_row *found = ha_rows_find(&chrome->rows, row.kind, row.device,
                                              row.stream, row.thread, &fresh);
    if (fresh) {
        describe_row(chrome, found, NULL);
    }
    return row;
}

static enum ha_status
chrome_row(void *state, const struct ha_trace_row *named)
{
    struct chrome *chrome = state;
    bool device = named->device != HA_DEVICE_NONE;
    bool fresh;

    need_process(chrome, named->device, named->device_name);
    const struct ha_row *found = ha_rows_find(
        &chrome->rows, device ? HA_ROW_STREAM : HA_ROW_THREAD, named->device,
        device ? named->stream : 0, device ? 0 : named->thread, &fresh);
    describe_row(chrome, found, named->name);
    return ha_output_status(&chrome->output);
}

/* ---- arguments of slices ---- */

static char *
put_launch(char *to, const struct ha_trace_event *event)
{
    HA_PUT(to, "\"grid\":");
    to = put_triple(to, ha_work_blocks(event, 0), ha_work_blocks(event, 1),
                    ha_work_blocks(event, 2));
    HA_PUT(to, "\"block\":");
    to = put_triple(to, event->block[0], event->block[1], event->block[2]);
    PUT_MEMBER(to, "\"shared memory\":", event->shared);
    return to;
}

static char *
put_kind(char *to, const char *kind)
{
    HA_PUT(to, "\"kind\":\"");
    to = ha_text_put(to, kind, strlen(kind));
    HA_PUT(to, "\",");
    return to;
}

/* Of a copy, and of the call that asked for it. */
static char *
put_copy(char *to, const struct ha_trace_event *event)
{
    to = put_kind(to, ha_work_direction(event)->kind);
    PUT_MEMBER(to, "\"bytes\":", event->bytes);
    PUT_MEMBER(to, "\"src\":", event->source);
    PUT_MEMBER(to, "\"dst\":", event->address);
    return to;
}

static char *
put_bandwidth(char *to, const struct ha_slice *slice)
{
    uint64_t ns = slice->end > slice->start ? slice->end - slice->start : 1;
    double mega = (double)slice->event->bytes * 1000 / (double)ns;

    HA_PUT(to, "\"memory bandwidth (GB/s)\":");
    to =
        ha_text_milli(to, mega < 1e18 ? (uint64_t)mega : UINT64_C(1000000000000000000));
    *to++ = ',';
    return to;
}

static char *
put_form(char *to, uint64_t form)
{
    const char *name = ha_work_form(form);

    if (name == NULL) {
        return to;
    }
    HA_PUT(to, "\"form\":\"");
    to = ha_text_put(to, name, strlen(name));
    HA_PUT(to, "\",");
    if (ha_work_width(form) > 0) {
        PUT_MEMBER(to, "\"vector width\":", ha_work_width(form));
    }
    if (ha_work_blocks_left(form) > 0) {
        PUT_MEMBER(to, "\"blocks in reference form\":", ha_work_blocks_left(form));
    }
    return to;
}

static char *
put_work(char *to, const struct ha_slice *slice)
{
    const struct ha_trace_event *event = slice->event;

    HA_PUT(to, "\"device\":");
    to = ha_text_int(to, slice->device);
    *to++ = ',';
    PUT_MEMBER(to, "\"stream\":", slice->stream);
    if (slice->status != NULL) {
        HA_PUT(to, "\"status\":\"");
        to = ha_text_put(to, slice->status, strlen(slice->status));
        HA_PUT(to, "\",");
    }
    if (event == NULL) {
        return to;
    }
    if (slice->kind == HA_SLICE_KERNEL) {
        to = put_kind(to, "Dispatch Kernel");
        to = put_launch(to, event);
        PUT_MEMBER(to, "\"hsa_queue\":", event->stream);
        to = put_form(to, slice->form);
    } else if (slice->kind == HA_SLICE_MEMCPY) {
        to = put_copy(to, event);
        to = put_bandwidth(to, slice);
    } else if (slice->kind == HA_SLICE_MEMSET && event->bytes != 0) {
        PUT_MEMBER(to, "\"bytes\":", event->bytes);
        to = put_bandwidth(to, slice);
    }
    return to;
}

/* `name` is the call's own where the slice has another. */
static char *
put_call(char *to, const struct ha_slice *slice, const char *name)
{
    const struct ha_trace_event *work = slice->work;

    if (name != NULL) {
        HA_PUT(to, "\"api\":");
        to = put_string(to, name);
        *to++ = ',';
    }
    if (slice->event != NULL) {
        PUT_MEMBER(to, "\"cid\":", (uint32_t)slice->event->operation);
        if (slice->event->result != 0) {
            HA_PUT(to, "\"result\":");
            to = ha_text_int(to, slice->event->result);
            *to++ = ',';
        }
    }
    if (slice->work_name != NULL) {
        HA_PUT(to, "\"kernel\":");
        to = put_string(to, slice->work_name);
        *to++ = ',';
    }
    if (work != NULL) {
        to = work->block[0] != 0 ? put_launch(to, work) : put_copy(to, work);
    }
    return to;
}

static char *
put_args(char *to, const struct ha_slice *slice, const char *call)
{
    HA_PUT(to, "\"args\":{");
    if (slice->external != 0) {
        PUT_MEMBER(to, "\"External id\":", slice->external);
    }
    if (slice->correlation != 0) {
        PUT_MEMBER(to, "\"correlation\":", slice->correlation);
    }
    if (slice->kind >= HA_SLICE_KERNEL && slice->kind <= HA_SLICE_GPU_ANNOTATION) {
        to = put_work(to, slice);
    } else if (slice->kind == HA_SLICE_SYNC && slice->device != HA_DEVICE_NONE) {
        to = put_work(to, slice);
    } else if (slice->kind == HA_SLICE_RUNTIME) {
        to = put_call(to, slice, call);
    }
    if (slice->args != NULL && slice->args[0] != '\0') {
        to = ha_text_put(to, slice->args, strlen(slice->args));
    } else if (to[-1] == ',') {
        to--;
    }
    HA_PUT(to, "}},\n");
    return to;
}

/* ---- flows ---- */

static char *
put_flow(char *to, const struct chrome *chrome, const struct ha_row *row,
         const char *category, uint64_t id, uint64_t ns, bool starts)
{
    if (starts) {
        HA_PUT(to, "{\"ph\":\"s\",\"id\":");
    } else {
        HA_PUT(to, "{\"ph\":\"f\",\"bp\":\"e\",\"id\":");
    }
    to = ha_text_uint(to, id);
    *to++ = ',';
    to = put_row(to, chrome, row);
    HA_PUT(to, ",\"ts\":");
    to = put_time(to, chrome, ns);
    HA_PUT(to, ",\"cat\":\"");
    to = ha_text_put(to, category, strlen(category));
    HA_PUT(to, "\",\"name\":\"");
    to = ha_text_put(to, category, strlen(category));
    HA_PUT(to, "\"},\n");
    return to;
}

static char *
put_flows(char *to, const struct chrome *chrome, const struct ha_row *row,
          const struct ha_slice *slice)
{
    bool launches = slice->kind == HA_SLICE_RUNTIME && slice->launches;

    if (slice->correlation != 0 && (launches || ha_slice_is_work(slice))) {
        to = put_flow(to, chrome, row, "ac2g", slice->correlation, slice->start,
                      launches);
    }
    if (slice->flow != HA_FLOW_NONE && slice->flow != HA_FLOW_CAUSED) {
        const char *category = slice->flow == HA_FLOW_BACKWARD ? "fwdbwd" : "op2g";
        to = put_flow(to, chrome, row, category, slice->flow_id, slice->start,
                      slice->flow_starts);
    }
    return to;
}

/* An arrow between rows, whose slices may have been written long ago. */
static enum ha_status
put_link(struct chrome *chrome, const struct ha_slice *link)
{
    const struct ha_row op = {
        .kind = HA_ROW_THREAD, .device = HA_DEVICE_NONE, .thread = link->thread};
    const struct ha_row work = {
        .kind = HA_ROW_STREAM, .device = link->device, .stream = link->stream};

    if (ha_output_room(&chrome->output, EVENT_BYTES)) {
        char *to = chrome->output.at;
        to = put_flow(to, chrome, &op, "op2g", link->flow_id, link->start, true);
        to = put_flow(to, chrome, &work, "op2g", link->flow_id, link->end, false);
        chrome->output.at = to;
    }
    return ha_output_status(&chrome->output);
}

/* ---- slices ---- */

#define BEGIN(category) "{\"ph\":\"X\",\"cat\":\"" category "\",\"name\":\""
static const struct {
    const char *text;
    size_t bytes;
} begins[] = {
#define ENTRY(kind, category) [kind] = {BEGIN(category), sizeof BEGIN(category) - 1}
    ENTRY(HA_SLICE_RUNTIME, "cuda_runtime"),
    ENTRY(HA_SLICE_CPU_OP, "cpu_op"),
    ENTRY(HA_SLICE_USER_ANNOTATION, "user_annotation"),
    ENTRY(HA_SLICE_PYTHON, "python_function"),
    ENTRY(HA_SLICE_OVERHEAD, "overhead"),
    ENTRY(HA_SLICE_SYNC, "cuda_sync"),
    ENTRY(HA_SLICE_KERNEL, "kernel"),
    ENTRY(HA_SLICE_MEMCPY, "gpu_memcpy"),
    ENTRY(HA_SLICE_MEMSET, "gpu_memset"),
    ENTRY(HA_SLICE_GPU_ANNOTATION, "gpu_user_annotation"),
#undef ENTRY
};

/* `bytes`: those of all texts, escaped. */
static void
put_span(struct chrome *chrome, const struct ha_slice *slice, const char *name,
         size_t bytes)
{
    struct ha_row row = row_of(chrome, slice);
    const char *call = NULL;

    if (!ha_output_room(&chrome->output, EVENT_BYTES + bytes)) {
        return;
    }
    char *to = chrome->output.at;
    if (chrome->cuda_names && slice->kind == HA_SLICE_RUNTIME) {
        const char *cuda = ha_call_cuda_name(name);
        call = cuda != NULL ? name : NULL;
        name = cuda != NULL ? cuda : name;
    }
    to = ha_text_put(to, begins[slice->kind].text, begins[slice->kind].bytes);
    to = ha_text_json(to, name, strlen(name));
    HA_PUT(to, "\",");
    to = put_row(to, chrome, &row);
    HA_PUT(to, ",\"ts\":");
    to = put_time(to, chrome, slice->start);
    HA_PUT(to, ",\"dur\":");
    to = ha_text_milli(to, slice->end > slice->start ? slice->end - slice->start : 0);
    *to++ = ',';
    to = put_args(to, slice, call);
    chrome->output.at = put_flows(to, chrome, &row, slice);
}

/* Further members of a point in time, and its end. */
static char *
put_point_args(char *to, const char *args)
{
    HA_PUT(to, "\"args\":{");
    if (args != NULL) {
        to = ha_text_put(to, args, strlen(args));
    }
    HA_PUT(to, "}},\n");
    return to;
}

static void
put_instant(struct chrome *chrome, const struct ha_slice *slice, const char *name,
            size_t bytes)
{
    struct ha_row row = {.kind = HA_ROW_THREAD, .device = HA_DEVICE_NONE};

    if (slice->thread != 0) {
        row = row_of(chrome, slice);
    }
    if (!ha_output_room(&chrome->output, EVENT_BYTES + bytes)) {
        return;
    }
    char *to = chrome->output.at;
    HA_PUT(to, "{\"ph\":\"i\",\"s\":\"");
    *to++ = slice->thread != 0 ? 't' : 'g';
    HA_PUT(to, "\",\"cat\":\"cpu_instant_event\",\"name\":");
    to = put_string(to, name);
    *to++ = ',';
    to = put_row(to, chrome, &row);
    HA_PUT(to, ",\"ts\":");
    to = put_time(to, chrome, slice->start);
    *to++ = ',';
    chrome->output.at = put_point_args(to, slice->args);
}

static void
put_counter(struct chrome *chrome, const struct ha_slice *slice, const char *name,
            size_t bytes)
{
    need_process(chrome, slice->device, NULL);
    if (!ha_output_room(&chrome->output, EVENT_BYTES + bytes)) {
        return;
    }
    char *to = chrome->output.at;
    HA_PUT(to, "{\"ph\":\"C\",\"cat\":\"hardware_counters\",\"name\":");
    to = put_string(to, name);
    HA_PUT(to, ",\"pid\":");
    if (slice->device != HA_DEVICE_NONE) {
        HA_PUT(to, "\"GPU ");
        to = ha_text_int(to, slice->device);
        HA_PUT(to, " Counters\"");
    } else {
        to = ha_text_uint(to, chrome->pid);
    }
    HA_PUT(to, ",\"tid\":0,\"ts\":");
    to = put_time(to, chrome, slice->start);
    HA_PUT(to, ",\"args\":{\"value\":");
    to = ha_text_double(to, slice->value);
    HA_PUT(to, "}},\n");
    chrome->output.at = to;
}

static enum ha_status
chrome_slice(void *state, const struct ha_slice *slice)
{
    struct chrome *chrome = state;

    if (chrome->output.status != HA_OK) {
        return ha_output_status(&chrome->output);
    }
    if (slice->kind == HA_SLICE_LINK) {
        return put_link(chrome, slice);
    }
    const char *name = ha_slice_name(slice);
    size_t bytes = strlen(name);
    bytes += slice->work_name != NULL ? strlen(slice->work_name) : 0;
    bytes =
        2 * HA_JSON_GROWTH * bytes + (slice->args != NULL ? strlen(slice->args) : 0);
    chrome->slices++;
    if (slice->kind == HA_SLICE_COUNTER) {
        put_counter(chrome, slice, name, bytes);
    } else if (slice->kind == HA_SLICE_INSTANT) {
        put_instant(chrome, slice, name, bytes);
    } else {
        put_span(chrome, slice, name, bytes);
    }
    return ha_output_status(&chrome->output);
}

/* ---- the end ---- */

static void
chrome_free(struct chrome *chrome)
{
    ha_output_abandon(&chrome->output);
    free(chrome->process_name);
    free(chrome->span_name);
    free(chrome);
}

/* What was recorded, as one more row, and the marks of its start and end. */
static void
put_window(struct chrome *chrome, const struct ha_writer_result *result)
{
    const char *name = chrome->span_name;
    uint64_t start = result->start != 0 ? result->start : chrome->start;
    uint64_t ns = result->end > start ? result->end - start : 0;

    if (!ha_output_room(&chrome->output,
                        3 * HA_JSON_GROWTH * strlen(name) + 2 * EVENT_BYTES)) {
        return;
    }
    char *to = chrome->output.at;
    HA_PUT(to, "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":");
    to = put_string(to, name);
    HA_PUT(to, ",\"pid\":\"Spans\",\"tid\":");
    to = put_string(to, name);
    HA_PUT(to, ",\"ts\":");
    to = put_time(to, chrome, start);
    HA_PUT(to, ",\"dur\":");
    to = ha_text_milli(to, ns);
    HA_PUT(to, ",\"args\":{\"Op count\":");
    to = ha_text_uint(to, chrome->slices);
    HA_PUT(to, "}},\n{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Iteration Start: ");
    to = ha_text_json(to, name, strlen(name));
    HA_PUT(to, "\",\"pid\":\"Traces\",\"tid\":\"Trace ");
    to = ha_text_json(to, name, strlen(name));
    HA_PUT(to, "\",\"ts\":");
    to = put_time(to, chrome, start);
    HA_PUT(to, "},\n{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Record Window End\","
               "\"pid\":\"\",\"tid\":\"\",\"ts\":");
    to = put_time(to, chrome, result->end);
    HA_PUT(to, "}\n]");
    chrome->output.at = to;
}

static enum ha_status
chrome_finish(void *state, const struct ha_writer_result *result)
{
    struct chrome *chrome = state;

    put_window(chrome, result);
    ha_chrome_put_tail(&chrome->output, result);
    enum ha_status status = ha_output_finish(&chrome->output);
    chrome_free(chrome);
    return status;
}

static void
chrome_abandon(void *state)
{
    chrome_free(state);
}

static uint64_t
chrome_bytes(const void *state)
{
    const struct chrome *chrome = state;

    return chrome->output.bytes;
}

enum ha_status
ha_chrome_open(const char *path, bool gzip, const struct ha_writer_info *info,
               void **state)
{
    const char *process = info->process_name != NULL ? info->process_name : "hipadapt";
    const char *span = info->span_name != NULL ? info->span_name : "hipadapt.profile";
    struct chrome *chrome = calloc(1, sizeof *chrome);

    if (chrome == NULL) {
        return ha_error_set(HA_ERROR_MEMORY, "no memory to write '%s'", path);
    }
    enum ha_status status = ha_output_open(&chrome->output, path, gzip);
    chrome->process_name = strdup(process);
    chrome->span_name = strdup(span);
    if (status == HA_OK &&
        (chrome->process_name == NULL || chrome->span_name == NULL)) {
        status = ha_error_set(HA_ERROR_MEMORY, "no memory to write '%s'", path);
    }
    if (status != HA_OK) {
        chrome_free(chrome);
        return status;
    }
    chrome->start = info->start;
    chrome->base =
        info->start / (BASE_STEP_S * NS_A_SECOND) * (BASE_STEP_S * NS_A_SECOND);
    chrome->pid = info->pid;
    chrome->cuda_names = info->cuda_names;
    ha_chrome_put_head(&chrome->output, info, chrome->base);
    need_process(chrome, HA_DEVICE_NONE, NULL);
    *state = chrome;
    return HA_OK;
}

const struct ha_writer_class ha_chrome_class = {
    .row = chrome_row,
    .slice = chrome_slice,
    .finish = chrome_finish,
    .abandon = chrome_abandon,
    .bytes = chrome_bytes,
};
