/* SPDX-License-Identifier: MIT */
/* Operations: their memory, what they depend on, and the lists that they are on while
 * they run; cpu/queue/pool.h has the words. */
#include "cpu/queue/pool.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/queue/order.h"
#include "cpu/queue/pool_state.h"
#include "cpu/queue/ticket.h"

#ifdef HA_STRESS
#define OP_SLAB_COUNT 1
#else
#define OP_SLAB_COUNT 32
#endif

struct ha_op *
ha_op_new(const struct ha_op_class *class)
{
    struct ha_op *op = ha_pool.free_ops;
    if (op == NULL) {
        struct ha_op *slab = aligned_alloc(64, OP_SLAB_COUNT * sizeof *slab);
        if (slab == NULL) {
            return NULL;
        }
        for (size_t i = 0; i < OP_SLAB_COUNT; i++) {
            slab[i].next = i + 1 < OP_SLAB_COUNT ? &slab[i + 1] : NULL;
        }
        op = slab;
    }
    ha_pool.free_ops = op->next;
    memset(op, 0, offsetof(struct ha_op, dependencies_inline));
    op->class = class;
    op->dependencies = op->dependencies_inline;
    op->dependency_capacity = HA_OP_INLINE_DEPENDENCIES;
    return op;
}

void
ha_op_free(struct ha_op *op)
{
    if (op->dependencies != op->dependencies_inline) {
        free(op->dependencies);
    }
    op->next = ha_pool.free_ops;
    ha_pool.free_ops = op;
}

void
ha_op_discard(struct ha_op *op)
{
    ha_ticket_end(op->ticket, 0, 0, HA_ACTIVITY_CANCELLED);
    if (op->deed != NULL || op->past != NULL) {
        ha_order_end(op);
    }
    while (op->dependency_count > 0) {
        ha_queue_release(op->dependencies[--op->dependency_count].queue);
    }
    ha_op_free(op);
}

bool
ha_op_reserve(struct ha_op *op, uint32_t count)
{
    uint32_t needed = op->dependency_count + count;
    if (needed <= op->dependency_capacity) {
        return true;
    }
    uint32_t capacity = op->dependency_capacity * 2;
    if (capacity < needed) {
        capacity = needed;
    }
    struct ha_dependency *grown = malloc(capacity * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    memcpy(grown, op->dependencies, op->dependency_count * sizeof *grown);
    if (op->dependencies != op->dependencies_inline) {
        free(op->dependencies);
    }
    op->dependencies = grown;
    op->dependency_capacity = capacity;
    return true;
}

bool
ha_op_depend(struct ha_op *op, struct ha_queue *queue, uint64_t number)
{
    if (ha_queue_is_done(queue, number)) {
        return true;
    }
    if (!ha_op_reserve(op, 1)) {
        return false;
    }
    ha_queue_retain(queue);
    op->dependencies[op->dependency_count++] =
        (struct ha_dependency){.queue = queue, .number = number};
    return true;
}

void
ha_op_offer(struct ha_op *op)
{
    op->offered = true;
    op->offer_previous = NULL;
    op->offer_next = ha_pool.offers;
    if (ha_pool.offers != NULL) {
        ha_pool.offers->offer_previous = op;
    }
    ha_pool.offers = op;
}

void
ha_op_withdraw(struct ha_op *op)
{
    if (!op->offered) {
        return;
    }
    op->offered = false;
    if (op->offer_previous != NULL) {
        op->offer_previous->offer_next = op->offer_next;
    } else {
        ha_pool.offers = op->offer_next;
    }
    if (op->offer_next != NULL) {
        op->offer_next->offer_previous = op->offer_previous;
    }
}

void
ha_op_watch(struct ha_op *op)
{
    op->running = true;
    op->running_previous = NULL;
    op->running_next = ha_pool.running;
    if (ha_pool.running != NULL) {
        ha_pool.running->running_previous = op;
    }
    ha_pool.running = op;
    if ((op->class->flags & HA_OP_TIMED) != 0) {
        ha_pool_want_timer();
    }
}

void
ha_op_unwatch(struct ha_op *op)
{
    if (!op->running) {
        return;
    }
    op->running = false;
    if (op->running_previous != NULL) {
        op->running_previous->running_next = op->running_next;
    } else {
        ha_pool.running = op->running_next;
    }
    if (op->running_next != NULL) {
        op->running_next->running_previous = op->running_previous;
    }
}
