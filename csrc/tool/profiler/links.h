/* SPDX-License-Identifier: MIT */
/* Arrows from operations of frameworks to the work that they caused.
 *
 * Both name the operation's id.  Work is seen before or after its operation is handed
 * over, so work waits here, as few words, until its operation comes; at most
 * HA_LINKS_WAITING of it.  Operations are kept at the place that their id says, until
 * later ones take it.  One thread at a time. */
#ifndef HA_TOOL_PROFILER_LINKS_H
#define HA_TOOL_PROFILER_LINKS_H

#include <stdint.h>

enum { HA_LINKS_WAITING = 1 << 18, HA_LINKS_OPERATIONS = 1 << 18 };

struct ha_links;

/* Times and rows as the trace has them. */
struct ha_link {
    uint32_t thread; /* of the operation */
    uint64_t start;
    int32_t device; /* of the work */
    uint64_t stream;
    uint64_t work_start;
};

typedef void (*ha_link_told)(void *context, const struct ha_link *link);

/* NULL: no memory. */
struct ha_links *ha_links_new(ha_link_told told, void *context);

/* An operation is shown; its id is not 0. */
void ha_links_operation(struct ha_links *links, uint64_t id, uint32_t thread,
                        uint64_t start);

/* Work of the operation `id` is shown. */
void ha_links_work(struct ha_links *links, uint64_t id, int32_t device, uint64_t stream,
                   uint64_t start);

/* Tells the arrows of work that waited for the operations since the last call. */
void ha_links_join(struct ha_links *links);

/* Work that found no room to wait, and so has no arrow. */
uint64_t ha_links_lost(const struct ha_links *links);

void ha_links_free(struct ha_links *links);

#endif
