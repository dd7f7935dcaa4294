/* SPDX-License-Identifier: MIT */
/* Events of a profiler, from the threads where they happen to one reader.
 *
 * A *collector* gathers events of fixed size.  Each thread has a *ring* of its own in
 * each collector: a chain of chunks that the thread writes and one reader empties,
 * without a lock between them.  A ring grows where the reader is slow; beyond the
 * collector's limit events are dropped and counted.  Nobody who writes ever waits.
 *
 * A collector that was given to the profiler's library is never freed, because the
 * library keeps its address.
 *
 * Locks: a collector's `lock` guards its list of rings and its spare chunks; its
 * `reading` is held by the one who reads, and comes first. */
#ifndef HA_TOOL_RING_H
#define HA_TOOL_RING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/event.h"

enum {
    HA_COLLECTORS_MAX = 256,
    HA_CHUNK_EVENTS_MAX = 512,
};

struct ha_chunk;
struct ha_ring;

struct ha_collector {
    unsigned number;
    bool arguments;         /* calls get their arguments as text */
    bool given;             /* the owner's: the profiler's library has its address */
    uint32_t watermark;     /* events that wake the reader */
    _Atomic uint64_t limit; /* events that are kept at most */
    _Atomic uint32_t room;  /* events of a chunk */
    _Atomic uint64_t kept;  /* room in chunks that are in use, in events */
    _Atomic uint64_t full;  /* events in chunks that are full */
    _Atomic uint64_t lost;
    _Atomic int64_t open; /* kernels and copies whose end has not come */
    pthread_mutex_t lock;
    pthread_mutex_t reading;
    struct ha_ring *rings;
    struct ha_chunk *spare;
    unsigned spare_count;
};

/* What a collector is and how it stands. */
struct ha_collector_state {
    bool arguments;
    bool due; /* the watermark is reached */
    uint32_t watermark;
    uint64_t limit;
    uint64_t lost;
    int64_t open;
};

/* A new one of the caller's, or NULL where there is no room or memory; `watermark` and
 * `limit` are not 0. */
struct ha_collector *ha_collector_new(uint32_t watermark, uint64_t limit,
                                      bool arguments);

/* Another limit, not 0.  A thread keeps the room that it has already. */
void ha_collector_limit(struct ha_collector *collector, uint64_t limit);

/* The profiler's library has its address from now on. */
void ha_collector_give(struct ha_collector *collector);

/* The owner needs it no more: frees one that wasn't given; else it stays. */
void ha_collector_drop(struct ha_collector *collector);

void ha_collector_look(struct ha_collector *collector,
                       struct ha_collector_state *state);

/* Room for an event of this thread, whose fields are to be set, and its ring; NULL
 * where there is none: the event is counted as lost. */
struct ha_trace_event *ha_ring_reserve(struct ha_collector *collector,
                                       struct ha_ring **ring);

/* Shows the event to the reader. */
void ha_ring_commit(struct ha_ring *ring);

/* Takes all events that are there, `max` at most: their number, and memory that the
 * caller frees.  NULL: none, or no memory (`count` is the number then). */
struct ha_trace_event *ha_collector_take(struct ha_collector *collector, size_t max,
                                         size_t *count);

/* Fork hook of the child: nothing of the parent's events is there. */
void ha_rings_forked(void);

#endif
