/* SPDX-License-Identifier: MIT */
/* Tracks of a Perfetto trace: what a row is drawn on. */
#ifndef HA_TOOL_PROFILER_PERFETTO_TRACK_H
#define HA_TOOL_PROFILER_PERFETTO_TRACK_H

#include "tool/profiler/packet.h"
#include "tool/profiler/writer_class.h"

struct ha_tracks {
    struct ha_packets *packets;
    uint64_t last_uuid;
    uint64_t process; /* uuid of its track */
    struct ha_rows rows;
};

/* Begins the file: clocks, devices, the process. */
void ha_tracks_open(struct ha_tracks *tracks, struct ha_packets *packets,
                    const struct ha_writer_info *info);

/* The row, whose tracks were described; `name` NULL: the writer's own. */
struct ha_row *ha_track_find(struct ha_tracks *tracks, enum ha_row_kind kind,
                             int32_t device, uint64_t stream, uint32_t thread,
                             const char *name);

/* Names a device before its first row. */
void ha_track_name_device(struct ha_tracks *tracks, int32_t device, const char *name);

/* The track of a slice within its row: a new one where it overlaps others. */
uint64_t ha_track_of(struct ha_tracks *tracks, struct ha_row *row, uint64_t start,
                     uint64_t end);

/* The track of a counter of the process. */
struct ha_row *ha_track_counter(struct ha_tracks *tracks, const char *name);

#endif
