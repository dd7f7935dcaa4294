/* SPDX-License-Identifier: MIT */
#include "tool/profiler/timeline.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 256 };

static struct ha_moment *
item(const struct ha_timeline *timeline, size_t at)
{
    return (struct ha_moment *)(void *)(timeline->items + at * timeline->size);
}

bool
ha_timeline_add(struct ha_timeline *timeline, const struct ha_moment *moment)
{
    if (timeline->count == timeline->room) {
        size_t room = timeline->room > 0 ? 2 * timeline->room : FIRST_ROOM;
        char *more = realloc(timeline->items, room * timeline->size);
        if (more == NULL) {
            return false;
        }
        timeline->items = more;
        timeline->room = room;
    }
    struct ha_moment *kept = item(timeline, timeline->count++);
    memcpy(kept, moment, timeline->size);
    kept->number = timeline->number++;
    timeline->newest = kept->at > timeline->newest ? kept->at : timeline->newest;
    return true;
}

static int
earlier_first(const void *a, const void *b)
{
    const struct ha_moment *left = a, *right = b;

    if (left->at != right->at) {
        return left->at < right->at ? -1 : 1;
    }
    return left->number < right->number ? -1 : 1;
}

void
ha_timeline_tell(struct ha_timeline *timeline, bool all, ha_moment_told told,
                 void *context)
{
    size_t done = 0;

    if (timeline->count == 0) {
        return;
    }
    qsort(timeline->items, timeline->count, timeline->size, earlier_first);
    while (done < timeline->count &&
           (all || item(timeline, done)->at <= timeline->horizon)) {
        told(context, item(timeline, done++));
    }
    timeline->count -= done;
    memmove(timeline->items, timeline->items + done * timeline->size,
            timeline->count * timeline->size);
    timeline->horizon = timeline->newest;
}

void
ha_timeline_free(struct ha_timeline *timeline)
{
    free(timeline->items);
    timeline->items = NULL;
}
