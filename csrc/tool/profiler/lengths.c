/* SPDX-License-Identifier: MIT */
#include "tool/profiler/lengths.h"

#include <stdlib.h>

#include "tool/table.h"
#include "tool/profiler/timeline.h"

enum { STREAM_BITS = 24 };

struct change {
    struct ha_moment moment;
    int32_t device;
    uint32_t stream;
    int64_t more;
};

struct ha_lengths {
    ha_length_told told;
    void *context;
    struct ha_table streams;    /* by device and stream: length */
    struct ha_timeline changes; /* of struct change */
    uint64_t last;              /* told */
};

struct ha_lengths *
ha_lengths_new(ha_length_told told, void *context)
{
    struct ha_lengths *lengths = calloc(1, sizeof *lengths);

    if (lengths != NULL) {
        lengths->told = told;
        lengths->context = context;
        lengths->changes.size = sizeof(struct change);
    }
    return lengths;
}

bool
ha_lengths_add(struct ha_lengths *lengths, uint64_t at, int32_t device, uint32_t stream,
               int64_t more)
{
    const struct change change = {
        .moment.at = at != 0 ? at : lengths->changes.newest,
        .device = device,
        .stream = stream,
        .more = more,
    };

    return ha_timeline_add(&lengths->changes, &change.moment);
}

static void
tell(void *context, const struct ha_moment *moment)
{
    struct ha_lengths *lengths = context;
    const struct change *change = (const struct change *)(const void *)moment;
    uint64_t key = (uint64_t)(uint32_t)(change->device + 2) << STREAM_BITS |
                   (change->stream & ((1U << STREAM_BITS) - 1));
    struct ha_table_entry *entry = ha_table_put(&lengths->streams, key);

    if (entry == NULL) {
        return;
    }
    int64_t length = (int64_t)entry->first + change->more;
    length = length > 0 ? length : 0; /* its launch was lost */
    entry->first = (uint64_t)length;
    lengths->last = moment->at > lengths->last ? moment->at : lengths->last;
    const struct ha_length told = {lengths->last, change->device, change->stream,
                                   length};
    lengths->told(lengths->context, &told);
}

void
ha_lengths_tell(struct ha_lengths *lengths, bool all)
{
    ha_timeline_tell(&lengths->changes, all, tell, lengths);
}

void
ha_lengths_free(struct ha_lengths *lengths)
{
    if (lengths != NULL) {
        ha_table_free(&lengths->streams);
        ha_timeline_free(&lengths->changes);
        free(lengths);
    }
}
