/* SPDX-License-Identifier: MIT */
#include "tool/profiler/streams.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t
ha_streams_number(struct ha_streams *streams, int32_t device, uint64_t stream)
{
    if (stream <= 1) { /* the default stream, by none and by hipStreamLegacy */
        return 0;
    }
    /* Handles are addresses: their upper bits are free. */
    uint64_t key = stream ^ (uint64_t)(uint32_t)(device + 1) << 56;
    struct ha_table_entry *entry = ha_table_put(&streams->numbers, key);
    if (entry == NULL) {
        return stream;
    }
    if (entry->first == 0) {
        struct ha_table_entry *owner = ha_table_put(&streams->devices, stream);
        if (owner != NULL) {
            owner->first = (uint64_t)(uint32_t)(device + 1);
        }
        size_t at = device >= 0 && device < HA_STREAMS_DEVICES ? (size_t)device
                                                               : HA_STREAMS_DEVICES;
        entry->first = ++streams->counts[at];
    }
    return entry->first;
}

void
ha_streams_args(struct ha_streams *streams, char *to, size_t bytes, uint64_t stream)
{
    const struct ha_table_entry *owner =
        stream > 1 ? ha_table_find(&streams->devices, stream) : NULL;

    to[0] = '\0';
    if (owner != NULL) {
        int32_t device = (int32_t)owner->first - 1;
        (void)snprintf(to, bytes, "\"device\":%" PRId32 ",\"stream\":%" PRIu64, device,
                       ha_streams_number(streams, device, stream));
    } else if (stream <= 1) {
        (void)snprintf(to, bytes, "\"stream\":0");
    }
}

void
ha_streams_record(struct ha_streams *streams, uint64_t event, uint64_t stream)
{
    struct ha_table_entry *entry =
        event != 0 ? ha_table_put(&streams->events, event) : NULL;

    if (entry != NULL) {
        entry->first = stream + 1;
    }
}

uint64_t
ha_streams_recorded(const struct ha_streams *streams, uint64_t event)
{
    const struct ha_table_entry *entry =
        event != 0 ? ha_table_find(&streams->events, event) : NULL;

    return entry != NULL ? entry->first - 1 : UINT64_MAX;
}

void
ha_streams_free(struct ha_streams *streams)
{
    ha_table_free(&streams->numbers);
    ha_table_free(&streams->devices);
    ha_table_free(&streams->events);
}
