/* SPDX-License-Identifier: MIT */
/* Slices are a packet where they begin and one where they end.  Work of devices is
 * written a second time as what Perfetto knows of GPUs: render stages, one packet each.
 */
#include "tool/profiler/perfetto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/profiler/call.h"
#include "tool/profiler/perfetto_args.h"
#include "tool/profiler/perfetto_track.h"
#include "tool/profiler/proto.h"
#include "tool/text.h"
#include "tool/profiler/work.h"

/* Fields of TracePacket. */
enum { TRACK_EVENT = 11, GPU_COUNTER_EVENT = 52, GPU_RENDER_STAGE_EVENT = 53 };

/* Fields of TrackEvent, and its types. */
enum {
    CATEGORY_IIDS = 3,
    TYPE = 9,
    NAME_IID = 10,
    TRACK_UUID = 11,
    NAME = 23,
    DOUBLE_COUNTER = 44,
    FLOW_IDS = 47,
    TERMINATING_FLOW_IDS = 48,
    CORRELATION_ID = 52,
    GPU_CORRELATION = 3000, /* an extension; 1 in it is the stage that was submitted */
    TYPE_BEGIN = 1,
    TYPE_END = 2,
    TYPE_INSTANT = 3,
    TYPE_COUNTER = 4,
};

/* Fields of GpuRenderStageEvent. */
enum {
    STAGE_EVENT_ID = 1,
    STAGE_DURATION = 2,
    STAGE_CONTEXT = 5,
    STAGE_GPU_ID = 11,
    STAGE_QUEUE_IID = 13,
    STAGE_IID = 14,
    STAGE_NAME = 17,
    STAGE_NAME_IID = 20,
    STAGE_LAUNCH = 21,
};

/* Items that are interned at the start, in this order. */
enum {
    FIRST_CATEGORY = HA_KEY_COUNT,
    STAGES = FIRST_CATEGORY + HA_SLICE_KINDS, /* kernel, copy, fill */
    CONTEXT = STAGES + 3,
};

enum {
    ROOM = 8192, /* of the packets of a slice, without its texts */
    CORRELATIONS = 1 << 14,
    LONG = 5, /* width of a length */
};

struct perfetto {
    struct ha_packets packets;
    struct ha_tracks tracks;
    uint64_t start;
    uint64_t last_event; /* of render stages without a correlation of their own */
    uint32_t last_counter;
    bool cuda_names;
    uint64_t correlations[CORRELATIONS]; /* that had a render stage */
};

/* A slice, as it is written. */
struct view {
    const struct ha_slice *slice;
    const char *name; /* that is shown */
    size_t name_bytes;
    const char *call; /* the call's own name where another is shown */
    uint32_t item;    /* of the name; 0: it is written out */
    int width;
};

/* ---- parts of events ---- */

static char *
put_name(char *to, struct ha_packet *packet, const struct view *view,
         uint32_t iid_field, uint32_t field)
{
    if (view->item != 0) {
        return ha_proto_uint(to, iid_field, ha_packet_use(packet, view->item));
    }
    char *begin = ha_proto_begin(to, field, view->width);
    to = ha_text_utf8(begin, view->name, view->name_bytes);
    ha_proto_end(begin, to, view->width);
    return to;
}

static char *
put_flow(char *to, const struct perfetto *perfetto, uint64_t id, enum ha_flow kind,
         bool starts)
{
    /* Ids of all flows of all processes are one space; 0 is none. */
    uint64_t key = (id * 4 + (uint64_t)kind + 1) ^ (uint64_t)perfetto->packets.pid
                                                       << 42;

    return ha_proto_fixed64(to, starts ? FLOW_IDS : TERMINATING_FLOW_IDS, &key);
}

static char *
put_flows(char *to, const struct perfetto *perfetto, const struct ha_slice *slice)
{
    bool launches = slice->kind == HA_SLICE_RUNTIME && slice->launches;

    if (slice->correlation != 0 && (launches || ha_slice_is_work(slice))) {
        to = put_flow(to, perfetto, slice->correlation, HA_FLOW_NONE, launches);
        to = ha_proto_uint(to, CORRELATION_ID, slice->correlation);
    }
    if (slice->flow != HA_FLOW_NONE) {
        to = put_flow(to, perfetto, slice->flow_id, slice->flow, slice->flow_starts);
    }
    if (slice->correlation != 0 && launches) {
        char *begin = ha_proto_begin(to, GPU_CORRELATION, 1);
        to = ha_proto_uint(begin, 1, slice->correlation);
        ha_proto_end(begin, to, 1);
    }
    return to;
}

/* ---- packets ---- */

static void
put_event(struct perfetto *perfetto, struct ha_row *row, uint64_t track,
          const struct view *view, uint32_t type)
{
    const struct ha_slice *slice = view->slice;
    struct ha_packet packet;
    char *to =
        ha_packet_begin(&packet, &perfetto->packets, row, slice->start, view->width);
    char *begin = ha_proto_begin(to, TRACK_EVENT, view->width);

    to = ha_proto_uint(begin, TYPE, type);
    to = ha_proto_uint(to, TRACK_UUID, track);
    to = ha_proto_uint(to, CATEGORY_IIDS,
                       ha_packet_use(&packet, FIRST_CATEGORY + slice->kind));
    to = put_name(to, &packet, view, NAME_IID, NAME);
    to = put_flows(to, perfetto, slice);
    to = ha_perfetto_put_args(to, &packet, slice, view->call);
    ha_proto_end(begin, to, view->width);
    ha_packet_end(&packet, to);
}

static void
put_end(struct perfetto *perfetto, struct ha_row *row, uint64_t track, uint64_t ns)
{
    struct ha_packet packet;
    char *to = ha_packet_begin(&packet, &perfetto->packets, row, ns, 2);
    char *begin = ha_proto_begin(to, TRACK_EVENT, 1);

    to = ha_proto_uint(begin, TYPE, TYPE_END);
    to = ha_proto_uint(to, TRACK_UUID, track);
    ha_proto_end(begin, to, 1);
    ha_packet_end(&packet, to);
}

/* ---- render stages ---- */

/* A number that no other stage has: the correlation, by which a call names what it
 * gave, for the first stage of it. */
static uint64_t
event_id(struct perfetto *perfetto, uint64_t correlation)
{
    uint64_t *known = &perfetto->correlations[correlation % CORRELATIONS];

    if (correlation != 0 && *known != correlation) {
        *known = correlation;
        return correlation;
    }
    return UINT64_C(1) << 63 | ++perfetto->last_event;
}

static char *
put_dim(char *to, uint32_t field, uint32_t x, uint32_t y, uint32_t z)
{
    char *begin = ha_proto_begin(to, field, 1);

    to = ha_proto_uint(begin, 1, x);
    to = ha_proto_uint(to, 2, y);
    to = ha_proto_uint(to, 3, z);
    ha_proto_end(begin, to, 1);
    return to;
}

static char *
put_launch(char *to, const struct ha_trace_event *event)
{
    char *begin = ha_proto_begin(to, STAGE_LAUNCH, 1);

    to = put_dim(begin, 1, ha_work_blocks(event, 0), ha_work_blocks(event, 1),
                 ha_work_blocks(event, 2));
    to = put_dim(to, 2, event->block[0], event->block[1], event->block[2]);
    if (event->shared != 0) {
        static const char name[] = "shared_mem_bytes";
        char *arg = ha_proto_begin(to, 3, 1);
        to = ha_proto_bytes(arg, 2, name, sizeof name - 1);
        to = ha_proto_uint(to, 4, event->shared);
        ha_proto_end(arg, to, 1);
    }
    ha_proto_end(begin, to, 1);
    return to;
}

/* The queue that a stream is, as an item; 0 where there is no room for more. */
static uint32_t
queue_of(struct perfetto *perfetto, struct ha_row *row)
{
    if (row->item == 0) {
        char text[64];
        int bytes = snprintf(text, sizeof text, "GPU %d stream %llu", row->device,
                             (unsigned long long)row->stream);
        row->item = ha_intern(&perfetto->packets.interned, HA_FIELD_SPECIFICATION, text,
                              (size_t)bytes);
    }
    return row->item;
}

static void
put_stage(struct perfetto *perfetto, struct ha_row *row, const struct view *view)
{
    const struct ha_slice *slice = view->slice;
    uint32_t queue = queue_of(perfetto, row);
    struct ha_packet packet;

    if (queue == 0) {
        return;
    }
    char *to =
        ha_packet_begin(&packet, &perfetto->packets, row, slice->start, view->width);
    char *begin = ha_proto_begin(to, GPU_RENDER_STAGE_EVENT, view->width);
    to = ha_proto_uint(begin, STAGE_EVENT_ID, event_id(perfetto, slice->correlation));
    to = ha_proto_uint(to, STAGE_DURATION,
                       slice->end > slice->start ? slice->end - slice->start : 0);
    to = ha_proto_uint(to, STAGE_CONTEXT, ha_packet_use(&packet, CONTEXT));
    to = ha_proto_uint(to, STAGE_GPU_ID, (uint64_t)(int64_t)slice->device);
    to = ha_proto_uint(to, STAGE_QUEUE_IID, ha_packet_use(&packet, queue));
    to = ha_proto_uint(
        to, STAGE_IID,
        ha_packet_use(&packet, STAGES + (uint32_t)(slice->kind - HA_SLICE_KERNEL)));
    to = put_name(to, &packet, view, STAGE_NAME_IID, STAGE_NAME);
    if (slice->kind == HA_SLICE_KERNEL && slice->event != NULL) {
        to = put_launch(to, slice->event);
    }
    ha_proto_end(begin, to, view->width);
    ha_packet_end(&packet, to);
}

/* ---- counters ---- */

/* Describes a counter of a device before all its values. */
static void
describe_counter(struct perfetto *perfetto, struct ha_row *row, const struct view *view)
{
    static const uint32_t forwards = 2; /* a value holds from its time on */
    struct ha_row first = {.sequence = row->sequence};
    struct ha_packet packet;
    char *to =
        ha_packet_begin(&packet, &perfetto->packets, &first, perfetto->start, LONG);
    char *begin = ha_proto_begin(to, GPU_COUNTER_EVENT, LONG);
    char *descriptor = ha_proto_begin(begin, 1, LONG);
    char *spec = ha_proto_begin(descriptor, 1, LONG);
    to = ha_proto_uint(spec, 1, row->item);
    char *name = ha_proto_begin(to, 2, LONG);
    to = ha_text_utf8(name, view->name, view->name_bytes);
    ha_proto_end(name, to, LONG);
    to = ha_proto_uint(to, 11, forwards);
    ha_proto_end(spec, to, LONG);
    ha_proto_end(descriptor, to, LONG);
    to = ha_proto_uint(to, 3, (uint64_t)(int64_t)view->slice->device);
    ha_proto_end(begin, to, LONG);
    ha_packet_end(&packet, to);
}

static void
put_device_counter(struct perfetto *perfetto, const struct view *view)
{
    const struct ha_slice *slice = view->slice;
    struct ha_packet packet;
    bool fresh;
    struct ha_row *row =
        ha_rows_find(&perfetto->tracks.rows, HA_ROW_COUNTER, slice->device,
                     ha_text_hash(view->name, view->name_bytes), 0, &fresh);
    if (fresh) {
        row->item = ++perfetto->last_counter;
        describe_counter(perfetto, row, view);
    }
    char *to = ha_packet_begin(&packet, &perfetto->packets, row, slice->start, LONG);
    char *begin = ha_proto_begin(to, GPU_COUNTER_EVENT, 1);
    char *value = ha_proto_begin(begin, 2, 1);
    to = ha_proto_uint(value, 1, row->item);
    to = ha_proto_fixed64(to, 3, &slice->value);
    ha_proto_end(value, to, 1);
    to = ha_proto_uint(to, 3, (uint64_t)(int64_t)slice->device);
    ha_proto_end(begin, to, 1);
    ha_packet_end(&packet, to);
}

static void
put_counter(struct perfetto *perfetto, const struct view *view)
{
    const struct ha_slice *slice = view->slice;
    struct ha_packet packet;
    struct ha_row *row = ha_track_counter(&perfetto->tracks, view->name);

    if (!ha_output_room(&perfetto->packets.output, ROOM)) {
        return;
    }
    char *to = ha_packet_begin(&packet, &perfetto->packets, row, slice->start, 2);
    char *begin = ha_proto_begin(to, TRACK_EVENT, 1);
    to = ha_proto_uint(begin, TYPE, TYPE_COUNTER);
    to = ha_proto_uint(to, TRACK_UUID, row->uuid);
    to = ha_proto_fixed64(to, DOUBLE_COUNTER, &slice->value);
    ha_proto_end(begin, to, 1);
    ha_packet_end(&packet, to);
}

/* ---- slices ---- */

static struct ha_row *
row_of(struct perfetto *perfetto, const struct ha_slice *slice)
{
    enum ha_row_kind kind = HA_ROW_THREAD;
    bool device =
        slice->kind >= HA_SLICE_KERNEL && slice->kind <= HA_SLICE_GPU_ANNOTATION;

    if (device) {
        kind =
            slice->kind == HA_SLICE_GPU_ANNOTATION ? HA_ROW_ANNOTATED : HA_ROW_STREAM;
    } else if (slice->kind == HA_SLICE_SYNC) {
        device = slice->device != HA_DEVICE_NONE;
        kind = device ? HA_ROW_STREAM : HA_ROW_SYNC;
    }
    return device ? ha_track_find(&perfetto->tracks, kind, slice->device, slice->stream,
                                  0, NULL)
                  : ha_track_find(&perfetto->tracks, kind, HA_DEVICE_NONE, 0,
                                  slice->thread, NULL);
}

static void
put_slice(struct perfetto *perfetto, const struct view *view, size_t bytes)
{
    const struct ha_slice *slice = view->slice;
    uint64_t end = slice->end > slice->start ? slice->end : slice->start;
    struct ha_row *row = row_of(perfetto, slice);
    uint64_t track = row->uuid;

    if (row->kind == HA_ROW_STREAM || row->kind == HA_ROW_ANNOTATED) {
        track = ha_track_of(&perfetto->tracks, row, slice->start, end);
    }
    if (!ha_output_room(&perfetto->packets.output, bytes)) {
        return;
    }
    put_event(perfetto, row, track, view, TYPE_BEGIN);
    if (ha_slice_is_work(slice)) {
        put_stage(perfetto, row, view);
    }
    put_end(perfetto, row, track, end);
}

static void
put_instant(struct perfetto *perfetto, const struct view *view, size_t bytes)
{
    const struct ha_slice *slice = view->slice;
    struct ha_row whole = {.uuid = perfetto->tracks.process};
    struct ha_row *row = slice->thread != 0 ? row_of(perfetto, slice) : &whole;

    if (ha_output_room(&perfetto->packets.output, bytes)) {
        put_event(perfetto, row, row->uuid, view, TYPE_INSTANT);
    }
}

/* The bytes of all packets of a slice, at most; the width of lengths in them. */
static size_t
measure(struct view *view)
{
    const struct ha_slice *slice = view->slice;
    size_t work = slice->work_name != NULL ? strlen(slice->work_name) : 0;
    size_t args = slice->args != NULL ? strlen(slice->args) : 0;
    size_t bytes = HA_UTF8_GROWTH * (5 * view->name_bytes + work) + 4 * args + ROOM;

    view->width = bytes < HA_PROTO_SHORT_MAX ? 2 : LONG;
    return bytes;
}

static enum ha_status
perfetto_slice(void *state, const struct ha_slice *slice)
{
    struct perfetto *perfetto = state;
    struct view view = {.slice = slice};

    if (perfetto->packets.output.status != HA_OK || slice->kind == HA_SLICE_LINK) {
        return ha_output_status(&perfetto->packets.output); /* HA_FLOW_CAUSED does it */
    }
    view.name = ha_slice_name(slice);
    if (perfetto->cuda_names && slice->kind == HA_SLICE_RUNTIME) {
        const char *cuda = ha_call_cuda_name(view.name);
        view.call = cuda != NULL ? view.name : NULL;
        view.name = cuda != NULL ? cuda : view.name;
    }
    view.name_bytes = strlen(view.name);
    size_t bytes = measure(&view);
    if (slice->kind == HA_SLICE_COUNTER) {
        if (slice->device == HA_DEVICE_NONE) {
            put_counter(perfetto, &view);
        } else if (ha_output_room(&perfetto->packets.output, bytes)) {
            put_device_counter(perfetto, &view);
        }
        return ha_output_status(&perfetto->packets.output);
    }
    view.item = ha_intern(&perfetto->packets.interned, HA_FIELD_NAME, view.name,
                          view.name_bytes);
    if (slice->kind == HA_SLICE_INSTANT) {
        put_instant(perfetto, &view, bytes);
    } else {
        put_slice(perfetto, &view, bytes);
    }
    return ha_output_status(&perfetto->packets.output);
}

static enum ha_status
perfetto_row(void *state, const struct ha_trace_row *row)
{
    struct perfetto *perfetto = state;

    if (row->device != HA_DEVICE_NONE) {
        ha_track_name_device(&perfetto->tracks, row->device, row->device_name);
        (void)ha_track_find(&perfetto->tracks, HA_ROW_STREAM, row->device, row->stream,
                            0, row->name);
    } else {
        (void)ha_track_find(&perfetto->tracks, HA_ROW_THREAD, HA_DEVICE_NONE, 0,
                            row->thread, row->name);
    }
    return ha_output_status(&perfetto->packets.output);
}

/* ---- start and end ---- */

static size_t
pair_bytes(const struct ha_trace_pair *pairs, size_t count)
{
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++) {
        bytes += pairs[i].key != NULL ? strlen(pairs[i].key) : 0;
        bytes += pairs[i].value != NULL ? strlen(pairs[i].value) : 0;
    }
    return HA_UTF8_GROWTH * bytes + 64 * count;
}

/* An instant of the whole trace whose arguments are metadata. */
static void
put_metadata(struct perfetto *perfetto, const char *name, uint64_t ns,
             const struct ha_trace_pair *own, size_t own_count,
             const struct ha_trace_pair *more, size_t more_count)
{
    struct ha_row row = {.sequence = 0};
    struct ha_packet packet;
    size_t bytes = pair_bytes(own, own_count) + pair_bytes(more, more_count) + ROOM;

    if (!ha_output_room(&perfetto->packets.output, bytes)) {
        return;
    }
    char *to = ha_packet_begin(&packet, &perfetto->packets, &row, ns, LONG);
    char *begin = ha_proto_begin(to, TRACK_EVENT, LONG);
    to = ha_proto_uint(begin, TYPE, TYPE_INSTANT);
    to = ha_proto_uint(to, TRACK_UUID, perfetto->tracks.process);
    to = ha_proto_bytes(to, NAME, name, strlen(name));
    for (size_t i = 0; i < own_count; i++) {
        if (own[i].value != NULL) {
            to = ha_perfetto_put_pair(to, LONG, own[i].key, own[i].value);
        }
    }
    for (size_t i = 0; i < more_count; i++) {
        to = ha_perfetto_put_pair(to, LONG, more[i].key != NULL ? more[i].key : "",
                                  more[i].value);
    }
    ha_proto_end(begin, to, LONG);
    ha_packet_end(&packet, to);
}

static void
put_start(struct perfetto *perfetto, const struct ha_writer_info *info)
{
    char runtime[HA_NUMBER_BYTES], driver[HA_NUMBER_BYTES];
    char offset[HA_NUMBER_BYTES], error[HA_NUMBER_BYTES];
    const struct ha_trace_pair own[] = {
        {"host_name", info->host_name},
        {"hip_runtime_version", info->hip_runtime_version != 0 ? runtime : NULL},
        {"hip_driver_version", info->hip_driver_version != 0 ? driver : NULL},
        {"rocprofiler-sdk_version", info->sdk_version},
        {"clock_offset_ns", offset},
        {"clock_error_ns", error},
        {"distributedInfo", info->distributed},
    };

    *ha_text_int(runtime, info->hip_runtime_version) = '\0';
    *ha_text_int(driver, info->hip_driver_version) = '\0';
    *ha_text_int(offset, info->clock_offset) = '\0';
    *ha_text_uint(error, info->clock_error) = '\0';
    put_metadata(perfetto, "Record Window Start", info->start, own,
                 sizeof own / sizeof *own, info->metadata, info->metadata_count);
}

static void
perfetto_abandon(void *state)
{
    struct perfetto *perfetto = state;

    ha_output_abandon(&perfetto->packets.output);
    ha_interned_free(&perfetto->packets.interned);
    free(perfetto);
}

static enum ha_status
perfetto_finish(void *state, const struct ha_writer_result *result)
{
    struct perfetto *perfetto = state;
    char lost[HA_NUMBER_BYTES], outside[HA_NUMBER_BYTES];
    const struct ha_trace_pair own[] = {
        {"lost_events", lost},
        {"out_of_window_events", outside},
    };

    *ha_text_uint(lost, result->lost_events) = '\0';
    *ha_text_uint(outside, result->out_of_window_events) = '\0';
    if (result->start != 0) { /* it came after the file was opened */
        put_metadata(perfetto, "Record Window Start", result->start, NULL, 0, NULL, 0);
    }
    put_metadata(perfetto, "Record Window End", result->end, own,
                 sizeof own / sizeof *own, result->metadata, result->metadata_count);
    enum ha_status status = ha_output_finish(&perfetto->packets.output);
    perfetto_abandon(perfetto);
    return status;
}

static uint64_t
perfetto_bytes(const void *state)
{
    const struct perfetto *perfetto = state;

    return perfetto->packets.output.bytes;
}

/* The texts whose numbers are known, in their order. */
static bool
intern_known(struct ha_interned *table)
{
    static const char *const keys[] = {
#define HA_KEY(name, text) text,
        HA_PERFETTO_KEYS(HA_KEY)
#undef HA_KEY
    };
    static const char *const categories[HA_SLICE_KINDS] = {
        "cuda_runtime",
        "cpu_op",
        "user_annotation",
        "python_function",
        "overhead",
        "cuda_sync",
        "kernel",
        "gpu_memcpy",
        "gpu_memset",
        "gpu_user_annotation",
        "cpu_instant_event",
        "counter",
    };
    static const char *const stages[] = {"Kernel", "Memcpy", "Memset"};
    uint32_t last = 0;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        last = ha_intern(table, HA_FIELD_ANNOTATION, keys[i], strlen(keys[i]));
    }
    for (size_t i = 0; i < HA_SLICE_KINDS; i++) {
        last =
            ha_intern(table, HA_FIELD_CATEGORY, categories[i], strlen(categories[i]));
    }
    for (size_t i = 0; i < 3; i++) {
        last = ha_intern(table, HA_FIELD_SPECIFICATION, stages[i], strlen(stages[i]));
    }
    last = ha_intern(table, HA_FIELD_CONTEXT, "", 0);
    return last == CONTEXT;
}

enum ha_status
ha_perfetto_open(const char *path, const struct ha_writer_info *info, void **state)
{
    struct perfetto *perfetto = calloc(1, sizeof *perfetto);

    if (perfetto == NULL) {
        return ha_error_set(HA_ERROR_MEMORY, "no memory to write '%s'", path);
    }
    enum ha_status status = ha_output_open(&perfetto->packets.output, path, false);
    if (status == HA_OK && !intern_known(&perfetto->packets.interned)) {
        status = ha_error_set(HA_ERROR_MEMORY, "no memory to write '%s'", path);
    }
    if (status != HA_OK) {
        perfetto_abandon(perfetto);
        return status;
    }
    perfetto->start = info->start;
    perfetto->cuda_names = info->cuda_names;
    perfetto->packets.pid = info->pid;
    perfetto->packets.last_id = HA_SEQUENCE_DESCRIPTORS;
    perfetto->packets.stage_kernel = STAGES;
    ha_tracks_open(&perfetto->tracks, &perfetto->packets, info);
    put_start(perfetto, info);
    *state = perfetto;
    return HA_OK;
}

const struct ha_writer_class ha_perfetto_class = {
    .row = perfetto_row,
    .slice = perfetto_slice,
    .finish = perfetto_finish,
    .abandon = perfetto_abandon,
    .bytes = perfetto_bytes,
};
