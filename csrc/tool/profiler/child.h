/* SPDX-License-Identifier: MIT */
/* What children (hipadapt/profile_client.h) have collected for one recording: devices,
 * rows, slices and metadata.  It is kept until the recording goes, since a recording
 * can be saved several times; beyond its limits things are counted as lost.
 *
 * Devices of children have numbers of their own in traces, behind those of HIP's and
 * from HA_CHILD_DEVICE_FIRST: readers have room for 64 (torch-tb-profiler).
 * Correlations of children are kept apart from HIP's by the child's place.
 *
 * The lock of clients.c guards it while children collect; afterwards one thread at a
 * time uses it. */
#ifndef HA_TOOL_PROFILER_CHILD_H
#define HA_TOOL_PROFILER_CHILD_H

#include <stdint.h>

#include "tool/include/hipadapt/profile_client.h"
#include "tool/profiler/collect.h"
#include "tool/profiler/writer.h"

enum {
    HA_CHILD_DEVICE_FIRST = 16,
    HA_CHILD_DEVICES_MAX = 64, /* of all children, and of one */
    HA_CHILD_ITEMS_MAX = 1 << 18,
    HA_CHILD_BYTES_MAX = 64 << 20,
    HA_CHILD_CORRELATION_BITS = 40,
};

struct ha_child_items;

/* Who collects. */
struct ha_child {
    unsigned place; /* in the list of clients */
    const char *name;
    int64_t offset; /* of its clock to that of events */
};

/* Devices of children have no number below `first`.  NULL: no memory. */
struct ha_child_items *ha_child_items_new(int32_t first);

/* Arguments were checked.  They copy; what finds no room is counted. */
void ha_child_add_device(struct ha_child_items *items, const struct ha_child *child,
                         int32_t device, const char *name, const char *properties);
void ha_child_add_stream(struct ha_child_items *items, const struct ha_child *child,
                         int32_t device, uint64_t stream, const char *name);
void ha_child_add_slice(struct ha_child_items *items, const struct ha_child *child,
                        const struct hipadapt_profile_slice *slice);
void ha_child_add_metadata(struct ha_child_items *items, const char *key,
                           const char *json);

uint64_t ha_child_items_lost(const struct ha_child_items *items);

/* Rows and slices of these activities in the window go to the writer; `counts` goes
 * up. */
enum ha_status ha_child_items_write(const struct ha_child_items *items,
                                    struct ha_writer *writer,
                                    const struct ha_collect_options *options,
                                    const struct ha_window *window,
                                    struct ha_collect_counts *counts);

/* Calls `tell` for each entry of metadata, and for `child_devices`. */
void ha_child_items_describe(const struct ha_child_items *items,
                             void (*tell)(void *context, const char *key,
                                          const char *json),
                             void *context);

/* NULL is allowed. */
void ha_child_items_free(struct ha_child_items *items);

#endif
