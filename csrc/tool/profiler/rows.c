/* SPDX-License-Identifier: MIT */
#include "tool/profiler/rows.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uint32_t
slot_of(enum ha_row_kind kind, int32_t device, uint64_t stream, uint32_t thread)
{
    uint64_t hash =
        stream + ((uint64_t)thread << 32 | (uint32_t)device) + ((uint64_t)kind << 20);

    return (uint32_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 40) &
           (2 * HA_ROWS_MAX - 1);
}

struct ha_row *
ha_rows_find(struct ha_rows *rows, enum ha_row_kind kind, int32_t device,
             uint64_t stream, uint32_t thread, bool *fresh)
{
    uint32_t at = slot_of(kind, device, stream, thread);

    while (rows->rows[at].kind != HA_ROW_FREE) {
        struct ha_row *row = &rows->rows[at];
        if (row->stream == stream && row->thread == thread && row->device == device &&
            row->kind == kind) {
            *fresh = false;
            return row;
        }
        at = (at + 1) & (2 * HA_ROWS_MAX - 1);
    }
    if (rows->count == HA_ROWS_MAX) {
        memset(rows, 0, sizeof *rows);
        at = slot_of(kind, device, stream, thread);
    }
    rows->count++;
    rows->rows[at] = (struct ha_row){
        .kind = kind, .device = device, .stream = stream, .thread = thread};
    *fresh = true;
    return &rows->rows[at];
}

static bool
overlaps(const struct ha_lane *lane, uint64_t start, uint64_t end)
{
    for (unsigned i = 0; i < HA_LANE_SLICES; i++) {
        if (lane->slices[i].start < end && start < lane->slices[i].end) {
            return true;
        }
    }
    return false;
}

uint32_t
ha_row_lane(struct ha_row *row, uint64_t start, uint64_t end)
{
    uint32_t at = 0;

    while (at < HA_LANES_MAX - 1 && overlaps(&row->lanes[at], start, end)) {
        at++;
    }
    struct ha_lane *lane = &row->lanes[at];
    lane->slices[lane->next].start = start;
    lane->slices[lane->next].end = end;
    lane->next = (lane->next + 1) % HA_LANE_SLICES;
    return at;
}

void
ha_row_thread_name(uint32_t thread, char *text, int bytes)
{
    char path[64];
    char name[32];
    ssize_t got = -1;

    (void)snprintf(path, sizeof path, "/proc/self/task/%u/comm", thread);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, name, sizeof name - 1);
        (void)close(fd);
    }
    if (got > 0) {
        name[got] = '\0';
        name[strcspn(name, "\n")] = '\0';
        (void)snprintf(text, (size_t)bytes, "thread %u (%s)", thread, name);
    } else {
        (void)snprintf(text, (size_t)bytes, "thread %u", thread);
    }
}
