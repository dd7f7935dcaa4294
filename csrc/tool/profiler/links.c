/* SPDX-License-Identifier: MIT */
#include "tool/profiler/links.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

struct operation {
    uint64_t id; /* 0: free */
    uint64_t start;
    uint32_t thread;
};

struct work {
    uint64_t id;
    uint64_t stream;
    uint64_t start;
    int32_t device;
};

struct ha_links {
    ha_link_told told;
    void *context;
    struct operation *operations; /* owned; HA_LINKS_OPERATIONS of them */
    struct work *waiting;         /* owned */
    size_t count;
    size_t room;
    bool news; /* operations have come since the last join */
    uint64_t lost;
};

struct ha_links *
ha_links_new(ha_link_told told, void *context)
{
    struct ha_links *links = calloc(1, sizeof *links);

    if (links == NULL) {
        return NULL;
    }
    links->told = told;
    links->context = context;
    links->operations = calloc(HA_LINKS_OPERATIONS, sizeof *links->operations);
    if (links->operations == NULL) {
        free(links);
        return NULL;
    }
    return links;
}

static struct operation *
place(const struct ha_links *links, uint64_t id)
{
    return &links->operations[id & (HA_LINKS_OPERATIONS - 1)];
}

void
ha_links_operation(struct ha_links *links, uint64_t id, uint32_t thread, uint64_t start)
{
    *place(links, id) = (struct operation){id, start, thread};
    links->news = true;
}

/* False: its operation is not there. */
static bool
join(struct ha_links *links, const struct work *work)
{
    const struct operation *operation = place(links, work->id);

    if (operation->id != work->id) {
        return false;
    }
    const struct ha_link link = {operation->thread, operation->start, work->device,
                                 work->stream, work->start};
    links->told(links->context, &link);
    return true;
}

/* False: no memory, or there are too many. */
static bool
grow(struct ha_links *links)
{
    size_t room = links->room > 0 ? 2 * links->room : 256;
    struct work *more = room <= HA_LINKS_WAITING
                            ? realloc(links->waiting, room * sizeof *links->waiting)
                            : NULL;

    if (more != NULL) {
        links->waiting = more;
        links->room = room;
    }
    return more != NULL;
}

void
ha_links_work(struct ha_links *links, uint64_t id, int32_t device, uint64_t stream,
              uint64_t start)
{
    const struct work work = {id, stream, start, device};

    if (join(links, &work)) {
        return;
    }
    if (links->count == links->room && !grow(links)) {
        links->lost++;
        return;
    }
    links->waiting[links->count++] = work;
}

void
ha_links_join(struct ha_links *links)
{
    size_t left = 0;

    if (!links->news) {
        return;
    }
    for (size_t i = 0; i < links->count; i++) {
        if (!join(links, &links->waiting[i])) {
            links->waiting[left++] = links->waiting[i];
        }
    }
    links->count = left;
    links->news = false;
}

uint64_t
ha_links_lost(const struct ha_links *links)
{
    return links->lost;
}

void
ha_links_free(struct ha_links *links)
{
    if (links != NULL) {
        free(links->operations);
        free(links->waiting);
        free(links);
    }
}
