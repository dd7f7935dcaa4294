/* SPDX-License-Identifier: MIT */
#include "tool/debug/queue.h"

#include <stdlib.h>

bool
ha_debug_queue_open(struct ha_debug_queue *queue, uint64_t room, uint64_t bytes_most)
{
    queue->items = calloc(room, sizeof *queue->items); /* its pages come as needed */
    queue->room = room;
    queue->bytes_most = bytes_most;
    return queue->items != NULL;
}

uint64_t
ha_debug_queue_close(struct ha_debug_queue *queue)
{
    struct ha_debug_item item;
    uint64_t count = atomic_load(&queue->waiting);

    do {
        while (ha_debug_queue_take(queue, &item)) {
            free(item.payload);
        }
    } while (ha_debug_queue_move(queue));
    free(queue->items);
    queue->items = NULL;
    queue->room = queue->first = 0;
    return count;
}

bool
ha_debug_queue_put(struct ha_debug_queue *queue, const struct ha_debug_item *item)
{
    uint64_t bytes = atomic_load_explicit(&queue->bytes, memory_order_relaxed);

    if (atomic_load_explicit(&queue->waiting, memory_order_relaxed) >= queue->room ||
        item->bytes > queue->bytes_most - bytes) {
        return false;
    }
    uint64_t last = queue->first + queue->count;
    queue->items[last < queue->room ? last : last - queue->room] = *item;
    queue->count++;
    (void)atomic_fetch_add(&queue->waiting, 1);
    (void)atomic_fetch_add(&queue->bytes, item->bytes);
    return true;
}

bool
ha_debug_queue_move(struct ha_debug_queue *queue)
{
    unsigned count = queue->count < HA_DEBUG_BATCH ? (unsigned)queue->count
                                                   : (unsigned)HA_DEBUG_BATCH;

    for (unsigned i = 0; i < count; i++) {
        queue->batch[i] = queue->items[queue->first];
        queue->first = queue->first + 1 < queue->room ? queue->first + 1 : 0;
    }
    queue->count -= count;
    queue->batch_first = 0;
    queue->batch_end = count;
    return count > 0;
}

bool
ha_debug_queue_take(struct ha_debug_queue *queue, struct ha_debug_item *item)
{
    if (ha_debug_queue_batch_is_empty(queue)) {
        return false;
    }
    *item = queue->batch[queue->batch_first++];
    (void)atomic_fetch_sub(&queue->waiting, 1);
    (void)atomic_fetch_sub(&queue->bytes, item->bytes);
    return true;
}
