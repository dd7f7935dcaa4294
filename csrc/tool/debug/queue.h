/* SPDX-License-Identifier: MIT */
/* Events that wait for the client of a debug stream: bounded by number and by bytes.
 *
 * Payloads are blocks of malloc, which go from the sender to the client as they are.
 * Senders have a lock, readers another one, so that both seldom meet: a reader moves
 * events to its *batch*, under both locks, and takes them from there under its own. */
#ifndef HA_TOOL_DEBUG_QUEUE_H
#define HA_TOOL_DEBUG_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ha_debug_item {
    void *payload; /* owned */
    uint64_t bytes;
    uint32_t type;
};

enum { HA_DEBUG_BATCH = 64 };

struct ha_debug_queue {
    /* The senders' part. */
    struct ha_debug_item *items; /* owned; `room` of them, a ring */
    uint64_t room;
    uint64_t bytes_most;
    uint64_t first;
    uint64_t count;
    /* Of both parts. */
    _Atomic uint64_t waiting;
    _Atomic uint64_t bytes;
    /* The readers' part. */
    struct ha_debug_item batch[HA_DEBUG_BATCH];
    unsigned batch_first;
    unsigned batch_end;
};

/* False: no memory.  Both locks. */
bool ha_debug_queue_open(struct ha_debug_queue *queue, uint64_t room,
                         uint64_t bytes_most);

/* Frees what waits and returns how many that were; the queue can be opened again.  Both
 * locks. */
uint64_t ha_debug_queue_close(struct ha_debug_queue *queue);

/* Takes the payload over; false: there is no room, and it is the caller's.  Senders'
 * lock. */
bool ha_debug_queue_put(struct ha_debug_queue *queue, const struct ha_debug_item *item);

/* Moves events to the empty batch; false: there are none.  Both locks. */
bool ha_debug_queue_move(struct ha_debug_queue *queue);

/* The oldest event of the batch; its payload is the caller's now.  False: the batch is
 * empty.  Readers' lock. */
bool ha_debug_queue_take(struct ha_debug_queue *queue, struct ha_debug_item *item);

static inline bool
ha_debug_queue_batch_is_empty(const struct ha_debug_queue *queue)
{
    return queue->batch_first == queue->batch_end;
}

#endif
