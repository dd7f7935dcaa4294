/* SPDX-License-Identifier: MIT */
#include "tool/profiler/counters.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool/profiler/lengths.h"
#include "tool/table.h"
#include "tool/profiler/timeline.h"
#include "tool/sdk.h"

enum { DEVICES = 128 };

/* An allocation, or its end. */
struct change {
    struct ha_moment moment;
    uint64_t address;
    uint64_t bytes;
    uint32_t thread;
    int32_t device;
    bool frees;
};

struct ha_counters {
    ha_counter_told told;
    void *context;
    struct ha_lengths *lengths; /* owned; NULL: nobody wants them */
    struct ha_table memory;     /* by address: bytes; device */
    uint64_t in_use[DEVICES + 1];
    struct ha_timeline changes; /* of struct change */
};

/* ---- lengths of streams ---- */

static void
on_length(void *context, const struct ha_length *length)
{
    struct ha_counters *counters = context;
    char name[64];
    struct ha_slice slice = {
        .kind = HA_SLICE_COUNTER,
        .name = name,
        .start = length->at,
        .end = length->at,
        .device = length->device,
        .value = (double)length->length,
    };

    (void)snprintf(name, sizeof name, "queue length of stream %" PRIu32,
                   length->stream);
    counters->told(counters->context, &slice);
}

bool
ha_counters_work(struct ha_counters *counters, uint64_t at, int32_t device,
                 uint32_t stream, int64_t more)
{
    return counters->lengths == NULL ||
           ha_lengths_add(counters->lengths, at, device, stream, more);
}

/* ---- memory ---- */

static bool
is_free(const struct ha_trace_event *event)
{
    return event->operation == ROCPROFILER_MEMORY_ALLOCATION_FREE ||
           event->operation == ROCPROFILER_MEMORY_ALLOCATION_VMEM_FREE;
}

/* An address may come again in another thread once its end has begun, and before that
 * has returned; so the one counts from its start, the other from its end. */
bool
ha_counters_memory(struct ha_counters *counters, const struct ha_trace_event *event)
{
    bool frees = is_free(event);
    const struct change change = {
        .moment.at = frees ? event->start : event->end,
        .address = event->address,
        .bytes = event->bytes,
        .thread = event->thread,
        .device = event->device,
        .frees = frees,
    };

    return ha_timeline_add(&counters->changes, &change.moment);
}

/* False for what was allocated before all of this; else `place` is the device's in
 * `in_use`, and `bytes` is below 0 where they are free again. */
static bool
account(struct ha_counters *counters, const struct change *change, size_t *place,
        int64_t *bytes)
{
    struct ha_table_entry *entry;

    if (change->frees) {
        entry = ha_table_find(&counters->memory, change->address);
        if (entry == NULL) {
            return false;
        }
        *place = (size_t)entry->second;
        *bytes = -(int64_t)entry->first;
        counters->in_use[*place] -= entry->first;
        ha_table_remove(&counters->memory, change->address);
        return true;
    }
    entry =
        change->address != 0 ? ha_table_put(&counters->memory, change->address) : NULL;
    if (entry == NULL) {
        return false;
    }
    *place = change->device >= 0 && change->device < DEVICES ? (size_t)change->device
                                                             : DEVICES;
    *bytes = (int64_t)change->bytes;
    counters->in_use[entry->second] -= entry->first; /* its end was not seen */
    counters->in_use[*place] += change->bytes;
    entry->first = change->bytes;
    entry->second = *place;
    return true;
}

/* An allocation, or its end, in the words of torch.profiler. */
static void
tell_allocation(struct ha_counters *counters, const struct change *change,
                int32_t device, int64_t bytes, uint64_t in_use)
{
    char args[256];
    struct ha_slice slice = {
        .kind = HA_SLICE_INSTANT,
        .name = "[memory]",
        .start = change->moment.at,
        .end = change->moment.at,
        .thread = change->thread,
        .device = HA_DEVICE_NONE,
        .args = args,
    };

    (void)snprintf(args, sizeof args,
                   "\"Device Type\":%d,\"Device Id\":%" PRId32 ",\"Addr\":%" PRIu64
                   ",\"Bytes\":%" PRId64 ",\"Total Allocated\":%" PRIu64,
                   device != HA_DEVICE_NONE, device, change->address, bytes, in_use);
    counters->told(counters->context, &slice);
}

static void
tell_change(void *context, const struct ha_moment *moment)
{
    struct ha_counters *counters = context;
    const struct change *change = (const struct change *)(const void *)moment;
    size_t place;
    int64_t bytes;

    if (!account(counters, change, &place, &bytes)) {
        return;
    }
    struct ha_slice slice = {
        .kind = HA_SLICE_COUNTER,
        .name = "memory in use (bytes)",
        .start = change->moment.at,
        .end = change->moment.at,
        .thread = change->thread,
        .device = place < DEVICES ? (int32_t)place : HA_DEVICE_NONE,
        .value = (double)counters->in_use[place],
    };
    int32_t device = slice.device;
    counters->told(counters->context, &slice);
    tell_allocation(counters, change, device, bytes, counters->in_use[place]);
}

/* ---- all of it ---- */

void
ha_counters_tell(struct ha_counters *counters, bool all)
{
    ha_timeline_tell(&counters->changes, all, tell_change, counters);
    if (counters->lengths != NULL) {
        ha_lengths_tell(counters->lengths, all);
    }
}

struct ha_counters *
ha_counters_new(bool lengths, ha_counter_told told, void *context)
{
    struct ha_counters *counters = calloc(1, sizeof *counters);

    if (counters == NULL) {
        return NULL;
    }
    counters->told = told;
    counters->context = context;
    counters->changes.size = sizeof(struct change);
    if (lengths) {
        counters->lengths = ha_lengths_new(on_length, counters);
        if (counters->lengths == NULL) {
            free(counters);
            return NULL;
        }
    }
    return counters;
}

void
ha_counters_free(struct ha_counters *counters)
{
    if (counters != NULL) {
        ha_lengths_free(counters->lengths);
        ha_table_free(&counters->memory);
        ha_timeline_free(&counters->changes);
        free(counters);
    }
}
