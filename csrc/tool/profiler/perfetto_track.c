/* SPDX-License-Identifier: MIT */
#include "tool/profiler/perfetto_track.h"

#include <stdio.h>
#include <string.h>

#include "tool/profiler/proto.h"
#include "tool/text.h"

/* Fields of TracePacket, and of messages in it. */
enum {
    CLOCK_SNAPSHOT = 6,
    CLOCK = 1, /* of ClockSnapshot */
    PRIMARY_CLOCK = 2,
    TRACK_DESCRIPTOR = 60,
    UUID = 1, /* of TrackDescriptor */
    NAME = 2,
    PROCESS = 3,
    THREAD = 4,
    PARENT = 5,
    COUNTER = 8,
    GPU_INFO = 128,
    ROOM = 1024, /* of a descriptor without its name */
    LONG = 5,
};

static char *
put_text(char *to, uint32_t field, const char *text)
{
    char *begin = ha_proto_begin(to, field, LONG);

    to = ha_text_utf8(begin, text, strlen(text));
    ha_proto_end(begin, to, LONG);
    return to;
}

static char *
put_clock(char *to, uint32_t clock, uint64_t ns)
{
    char *begin = ha_proto_begin(to, CLOCK, 1);

    to = ha_proto_uint(begin, 1, clock);
    to = ha_proto_uint(to, 2, ns);
    ha_proto_end(begin, to, 1);
    return to;
}

static void
put_clocks(struct ha_packets *packets, const struct ha_writer_info *info)
{
    struct ha_packet packet;

    if (!ha_output_room(&packets->output, ROOM)) {
        return;
    }
    char *to = ha_packet_begin_bare(&packet, packets, 2);
    char *begin = ha_proto_begin(to, CLOCK_SNAPSHOT, 1);
    to = put_clock(begin, HA_CLOCK_REALTIME, info->start);
    to = put_clock(to, HA_CLOCK_BOOTTIME, info->start - (uint64_t)info->clock_offset);
    to = ha_proto_uint(to, PRIMARY_CLOCK, HA_CLOCK_REALTIME);
    ha_proto_end(begin, to, 1);
    ha_packet_end(&packet, to);
}

static char *
put_gpu_fact(char *to, const char *key, uint64_t value)
{
    char text[HA_NUMBER_BYTES];
    char *begin = ha_proto_begin(to, 6, 1);

    *ha_text_uint(text, value) = '\0';
    to = ha_proto_bytes(begin, 1, key, strlen(key));
    to = ha_proto_bytes(to, 2, text, strlen(text));
    ha_proto_end(begin, to, 1);
    return to;
}

/* Devices in order; Perfetto numbers them so. */
static void
put_devices(struct ha_packets *packets, const struct ha_writer_info *info)
{
    struct ha_packet packet;
    size_t bytes = ROOM;

    for (size_t i = 0; i < info->device_count; i++) {
        const char *name = info->devices[i].name;
        bytes += ROOM + HA_UTF8_GROWTH * (name != NULL ? strlen(name) : 0);
    }
    if (info->device_count == 0 || !ha_output_room(&packets->output, bytes)) {
        return;
    }
    char *to = ha_packet_begin_bare(&packet, packets, LONG);
    char *all = ha_proto_begin(to, GPU_INFO, LONG);
    to = all;
    for (size_t i = 0; i < info->device_count; i++) {
        const struct ha_trace_device *device = &info->devices[i];
        char *begin = ha_proto_begin(to, 1, LONG);
        to = put_text(begin, 1, device->name != NULL ? device->name : "");
        to = put_gpu_fact(to, "totalGlobalMem", device->memory_bytes);
        to = put_gpu_fact(to, "warpSize", device->warp_size);
        to = put_gpu_fact(to, "numSms", device->multiprocessors);
        to = put_gpu_fact(to, "maxThreadsPerBlock", device->block_threads_max);
        to = put_gpu_fact(to, "sharedMemPerBlock", device->block_shared_bytes);
        ha_proto_end(begin, to, LONG);
    }
    ha_proto_end(all, to, LONG);
    ha_packet_end(&packet, to);
}

/* ---- descriptors ---- */

enum track_kind { TRACK_PLAIN, TRACK_PROCESS, TRACK_THREAD, TRACK_COUNTER };

static char *
put_kind(char *to, const struct ha_packets *packets, enum track_kind kind,
         uint32_t thread, const char *name)
{
    static const uint32_t fields[] = {NAME, PROCESS, THREAD, COUNTER};
    char *begin;

    if (kind == TRACK_PLAIN || kind == TRACK_COUNTER) {
        to = put_text(to, NAME, name);
    }
    if (kind == TRACK_PLAIN) {
        return to;
    }
    begin = ha_proto_begin(to, fields[kind], LONG);
    to = begin;
    if (kind == TRACK_PROCESS) {
        to = ha_proto_uint(to, 1, packets->pid);
        to = put_text(to, 6, name);
    } else if (kind == TRACK_THREAD) {
        to = ha_proto_uint(to, 1, packets->pid);
        to = ha_proto_uint(to, 2, thread);
        to = put_text(to, 5, name);
    }
    ha_proto_end(begin, to, LONG);
    return to;
}

static void
describe(struct ha_tracks *tracks, uint64_t uuid, uint64_t parent, enum track_kind kind,
         uint32_t thread, const char *name)
{
    struct ha_packets *packets = tracks->packets;
    struct ha_packet packet;

    if (!ha_output_room(&packets->output, ROOM + HA_UTF8_GROWTH * strlen(name))) {
        return;
    }
    char *to = ha_packet_begin_bare(&packet, packets, LONG);
    char *begin = ha_proto_begin(to, TRACK_DESCRIPTOR, LONG);
    to = ha_proto_uint(begin, UUID, uuid);
    if (parent != 0) {
        to = ha_proto_uint(to, PARENT, parent);
    }
    to = put_kind(to, packets, kind, thread, name);
    ha_proto_end(begin, to, LONG);
    ha_packet_end(&packet, to);
}

void
ha_tracks_open(struct ha_tracks *tracks, struct ha_packets *packets,
               const struct ha_writer_info *info)
{
    tracks->packets = packets;
    tracks->last_uuid = (uint64_t)info->pid
                        << 24; /* traces of processes can be joined */
    tracks->process = ++tracks->last_uuid;
    put_clocks(packets, info);
    put_devices(packets, info);
    describe(tracks, tracks->process, 0, TRACK_PROCESS, 0,
             info->process_name != NULL ? info->process_name : "hipadapt");
}

/* A new row's number and those of its lanes. */
static void
give_uuid(struct ha_tracks *tracks, struct ha_row *row)
{
    row->uuid = tracks->last_uuid + 1;
    row->lane_count = 1;
    tracks->last_uuid += HA_LANES_MAX;
}

static uint64_t
need_device(struct ha_tracks *tracks, int32_t device, const char *name)
{
    char text[32];
    bool fresh;
    struct ha_row *row =
        ha_rows_find(&tracks->rows, HA_ROW_DEVICE, device, 0, 0, &fresh);

    if (fresh) {
        give_uuid(tracks, row);
        (void)snprintf(text, sizeof text, "GPU %d", device);
        describe(tracks, row->uuid, tracks->process, TRACK_PLAIN, 0,
                 name != NULL ? name : text);
    }
    return row->uuid;
}

void
ha_track_name_device(struct ha_tracks *tracks, int32_t device, const char *name)
{
    (void)need_device(tracks, device, name);
}

static void
describe_row(struct ha_tracks *tracks, const struct ha_row *row, const char *name,
             uint32_t lane)
{
    char text[96];
    char more[16] = "";
    const char *what = row->kind == HA_ROW_ANNOTATED ? " ranges" : "";

    if (lane > 0) {
        (void)snprintf(more, sizeof more, " (%u)", lane + 1);
    }
    if (row->kind == HA_ROW_THREAD && lane == 0) {
        ha_row_thread_name(row->thread, text, sizeof text);
        describe(tracks, row->uuid, 0, TRACK_THREAD, row->thread,
                 name != NULL ? name : text);
        return;
    }
    if (row->device == HA_DEVICE_NONE) {
        (void)snprintf(text, sizeof text, "thread %u%s%s", row->thread,
                       row->kind == HA_ROW_SYNC ? " waits" : "", more);
    } else {
        (void)snprintf(text, sizeof text, "stream %llu%s%s",
                       (unsigned long long)row->stream, what, more);
    }
    describe(tracks, row->uuid + lane, row->parent, TRACK_PLAIN, 0,
             name != NULL ? name : text);
}

struct ha_row *
ha_track_find(struct ha_tracks *tracks, enum ha_row_kind kind, int32_t device,
              uint64_t stream, uint32_t thread, const char *name)
{
    bool fresh;
    struct ha_row *row =
        ha_rows_find(&tracks->rows, kind, device, stream, thread, &fresh);

    if (fresh) {
        uint64_t parent = tracks->process;
        if (device != HA_DEVICE_NONE) {
            parent = need_device(tracks, device, NULL);
            row = ha_rows_find(&tracks->rows, kind, device, stream, thread, &fresh);
        }
        give_uuid(tracks, row);
        row->parent = parent;
        describe_row(tracks, row, name, 0);
    }
    return row;
}

uint64_t
ha_track_of(struct ha_tracks *tracks, struct ha_row *row, uint64_t start, uint64_t end)
{
    uint32_t lane = ha_row_lane(row, start, end);

    for (; row->lane_count <= lane; row->lane_count++) {
        describe_row(tracks, row, NULL, row->lane_count);
    }
    return row->uuid + lane;
}

struct ha_row *
ha_track_counter(struct ha_tracks *tracks, const char *name)
{
    bool fresh;
    struct ha_row *row = ha_rows_find(&tracks->rows, HA_ROW_COUNTER, HA_DEVICE_NONE,
                                      ha_text_hash(name, strlen(name)), 0, &fresh);

    if (fresh) {
        give_uuid(tracks, row);
        describe(tracks, row->uuid, tracks->process, TRACK_COUNTER, 0, name);
    }
    return row;
}
