/* SPDX-License-Identifier: MIT */
/* The rows that a writer has met: threads, devices, streams of devices.
 *
 * The table has an end, so that threads which come and go don't fill the memory: when
 * it is full it is emptied, and rows are met anew.  A writer must stand that; readers
 * of traces don't mind a row that is described twice. */
#ifndef HA_TOOL_PROFILER_ROWS_H
#define HA_TOOL_PROFILER_ROWS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    HA_ROWS_MAX = 1 << 13,
    HA_LANES_MAX = 4,   /* beside each other, of a row whose slices overlap */
    HA_LANE_SLICES = 4, /* that a lane remembers */
};

enum ha_row_kind {
    HA_ROW_FREE,
    HA_ROW_THREAD,    /* of `thread` */
    HA_ROW_SYNC,      /* what a thread waits for */
    HA_ROW_DEVICE,    /* of `device` */
    HA_ROW_STREAM,    /* of `device` and `stream` */
    HA_ROW_ANNOTATED, /* ranges over what a stream does */
    HA_ROW_COUNTER,   /* of `device`; `stream` is a hash of its name */
};

/* The slices that a lane had last. */
struct ha_lane {
    unsigned next;
    struct {
        uint64_t start, end;
    } slices[HA_LANE_SLICES];
};

struct ha_row {
    enum ha_row_kind kind;
    int32_t device;
    uint64_t stream;
    uint32_t thread;
    /* The writer's own, 0 in a fresh row. */
    uint32_t sequence;
    uint32_t item;
    uint32_t lane_count;
    uint64_t uuid;
    uint64_t parent;
    struct ha_lane lanes[HA_LANES_MAX];
};

struct ha_rows {
    unsigned count;
    struct ha_row rows[HA_ROWS_MAX * 2];
};

/* The row; `fresh`: it was not there.  Stays until the next call. */
struct ha_row *ha_rows_find(struct ha_rows *rows, enum ha_row_kind kind, int32_t device,
                            uint64_t stream, uint32_t thread, bool *fresh);

/* A lane of the row in which the slice overlaps none of those that the row remembers;
 * the last lane where there is none. */
uint32_t ha_row_lane(struct ha_row *row, uint64_t start, uint64_t end);

/* The name of a thread, as "thread 17 (python)"; without the part in brackets where the
 * thread is gone. */
void ha_row_thread_name(uint32_t thread, char *text, int bytes);

#endif
