/* SPDX-License-Identifier: MIT */
#include "tool/profiler/lengths.h"

#include <stdlib.h>
#include <string.h>

#include "tool/profiler/table.h"

enum { FIRST_ROOM = 256, STREAM_BITS = 24 };

struct change {
    uint64_t at;
    uint64_t number; /* in the order of coming, which counts at the same time */
    int32_t device;
    uint32_t stream;
    int64_t more;
};

struct ha_lengths {
    ha_length_told told;
    void *context;
    struct ha_table streams; /* by device and stream: length */
    struct change *changes;  /* owned */
    size_t count;
    size_t room;
    uint64_t number;
    uint64_t newest;  /* of all that came */
    uint64_t horizon; /* the newest before this batch */
    uint64_t last;    /* told */
};

struct ha_lengths *
ha_lengths_new(ha_length_told told, void *context)
{
    struct ha_lengths *lengths = calloc(1, sizeof *lengths);

    if (lengths != NULL) {
        lengths->told = told;
        lengths->context = context;
    }
    return lengths;
}

bool
ha_lengths_add(struct ha_lengths *lengths, uint64_t at, int32_t device, uint32_t stream,
               int64_t more)
{
    if (lengths->count == lengths->room) {
        size_t room = lengths->room > 0 ? 2 * lengths->room : FIRST_ROOM;
        struct change *changes = realloc(lengths->changes, room * sizeof *changes);
        if (changes == NULL) {
            return false;
        }
        lengths->changes = changes;
        lengths->room = room;
    }
    at = at != 0 ? at : lengths->newest;
    lengths->changes[lengths->count++] =
        (struct change){at, lengths->number++, device, stream, more};
    lengths->newest = at > lengths->newest ? at : lengths->newest;
    return true;
}

static int
earlier_first(const void *a, const void *b)
{
    const struct change *left = a, *right = b;

    if (left->at != right->at) {
        return left->at < right->at ? -1 : 1;
    }
    return left->number < right->number ? -1 : 1;
}

static void
tell(struct ha_lengths *lengths, const struct change *change)
{
    uint64_t key = (uint64_t)(uint32_t)(change->device + 2) << STREAM_BITS |
                   (change->stream & ((1U << STREAM_BITS) - 1));
    struct ha_table_entry *entry = ha_table_put(&lengths->streams, key);

    if (entry == NULL) {
        return;
    }
    int64_t length = (int64_t)entry->first + change->more;
    length = length > 0 ? length : 0; /* its launch was lost */
    entry->first = (uint64_t)length;
    lengths->last = change->at > lengths->last ? change->at : lengths->last;
    const struct ha_length told = {lengths->last, change->device, change->stream,
                                   length};
    lengths->told(lengths->context, &told);
}

void
ha_lengths_tell(struct ha_lengths *lengths, bool all)
{
    size_t done = 0;

    if (lengths->count > 0) {
        qsort(lengths->changes, lengths->count, sizeof *lengths->changes,
              earlier_first);
    }
    while (done < lengths->count &&
           (all || lengths->changes[done].at <= lengths->horizon)) {
        tell(lengths, &lengths->changes[done++]);
    }
    if (done > 0) {
        lengths->count -= done;
        memmove(lengths->changes, lengths->changes + done,
                lengths->count * sizeof *lengths->changes);
    }
    lengths->horizon = lengths->newest;
}

void
ha_lengths_free(struct ha_lengths *lengths)
{
    if (lengths != NULL) {
        ha_table_free(&lengths->streams);
        free(lengths->changes);
        free(lengths);
    }
}
