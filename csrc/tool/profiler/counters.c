/* SPDX-License-Identifier: MIT */
#include "tool/profiler/counters.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool/profiler/lengths.h"
#include "tool/profiler/table.h"
#include "tool/sdk.h"

enum { DEVICES = 128 };

struct ha_counters {
    ha_counter_told told;
    void *context;
    struct ha_lengths *lengths; /* owned; NULL: nobody wants them */
    struct ha_table memory;     /* by address: bytes; device */
    uint64_t in_use[DEVICES + 1];
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

void
ha_counters_tell(struct ha_counters *counters, bool all)
{
    if (counters->lengths != NULL) {
        ha_lengths_tell(counters->lengths, all);
    }
}

/* ---- memory ---- */

static bool
is_free(const struct ha_trace_event *event)
{
    return event->operation == ROCPROFILER_MEMORY_ALLOCATION_FREE ||
           event->operation == ROCPROFILER_MEMORY_ALLOCATION_VMEM_FREE;
}

static int32_t
device_of(size_t place)
{
    return place < DEVICES ? (int32_t)place : HA_DEVICE_NONE;
}

bool
ha_counters_account(struct ha_counters *counters, const struct ha_trace_event *event,
                    struct ha_memory_change *change)
{
    struct ha_table_entry *entry;
    size_t device;

    if (is_free(event)) {
        entry = ha_table_find(&counters->memory, event->address);
        if (entry == NULL) {
            return false;
        }
        device = (size_t)entry->second;
        counters->in_use[device] -= entry->first;
        *change = (struct ha_memory_change){device_of(device), -(int64_t)entry->first,
                                            counters->in_use[device]};
        ha_table_remove(&counters->memory, event->address);
        return true;
    }
    entry =
        event->address != 0 ? ha_table_put(&counters->memory, event->address) : NULL;
    if (entry == NULL) {
        return false;
    }
    device =
        event->device >= 0 && event->device < DEVICES ? (size_t)event->device : DEVICES;
    counters->in_use[entry->second] -= entry->first; /* its end was not seen */
    counters->in_use[device] += event->bytes;
    *change = (struct ha_memory_change){device_of(device), (int64_t)event->bytes,
                                        counters->in_use[device]};
    entry->first = event->bytes;
    entry->second = device;
    return true;
}

/* An allocation, or its end, in the words of torch.profiler. */
static void
tell_allocation(struct ha_counters *counters, const struct ha_trace_event *event,
                const struct ha_memory_change *change)
{
    char args[256];
    struct ha_slice slice = {
        .kind = HA_SLICE_INSTANT,
        .name = "[memory]",
        .start = event->end,
        .end = event->end,
        .thread = event->thread,
        .device = HA_DEVICE_NONE,
        .args = args,
    };

    (void)snprintf(args, sizeof args,
                   "\"Device Type\":%d,\"Device Id\":%" PRId32 ",\"Addr\":%" PRIu64
                   ",\"Bytes\":%" PRId64 ",\"Total Allocated\":%" PRIu64,
                   change->device != HA_DEVICE_NONE, change->device, event->address,
                   change->bytes, change->in_use);
    counters->told(counters->context, &slice);
}

void
ha_counters_memory(struct ha_counters *counters, const struct ha_trace_event *event,
                   const struct ha_memory_change *change)
{
    struct ha_slice slice = {
        .kind = HA_SLICE_COUNTER,
        .name = "memory in use (bytes)",
        .start = event->end,
        .end = event->end,
        .thread = event->thread,
        .device = change->device,
        .value = (double)change->in_use,
    };

    counters->told(counters->context, &slice);
    tell_allocation(counters, event, change);
}

/* ---- start and end ---- */

struct ha_counters *
ha_counters_new(bool lengths, ha_counter_told told, void *context)
{
    struct ha_counters *counters = calloc(1, sizeof *counters);

    if (counters == NULL) {
        return NULL;
    }
    counters->told = told;
    counters->context = context;
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
        free(counters);
    }
}
