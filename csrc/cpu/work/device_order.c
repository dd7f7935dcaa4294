/* SPDX-License-Identifier: MIT */
#include "cpu/work/device_order.h"

#include <stdatomic.h>

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/memory/memory.h"
#include "cpu/queue/order.h"

/* What later work of the other device waits for: it follows the operation. */
static const struct ha_op_class barrier_class = {.name = "barrier",
                                                 .flags = HA_OP_ALWAYS};

static bool
is_of_device(enum ha_memory_kind kind)
{
    return kind != HA_MEMORY_HOST && kind != HA_MEMORY_REGISTERED &&
           kind != HA_MEMORY_MANAGED && kind != HA_MEMORY_RESERVED;
}

void
ha_device_order_add(struct ha_device_order *order, const struct ha_stream *stream,
                    const void *ptr)
{
    const struct ha_queue *queue = &stream->queue;
    struct ha_range range;
    if (ha_config()->device_count < 2 || queue != queue->device->legacy ||
        ptr == NULL || !ha_memory_find(ptr, &range) || !is_of_device(range.kind)) {
        return;
    }
    struct ha_device *other = ha_device_get(range.device);
    if (other == NULL || other == queue->device || other->capturing > 0 ||
        (order->count > 0 && order->others[0] == other)) {
        return;
    }
    order->others[order->count++] = other;
}

/* Makes the operation wait for all that the device's default stream would wait for. */
static bool
follow(struct ha_op *op, struct ha_device *device)
{
    struct ha_queue *legacy = device->legacy;
    return ha_stream_order(legacy, op) &&
           ha_op_depend(op, legacy,
                        atomic_load_explicit(&legacy->submitted, memory_order_relaxed));
}

static hipError_t
no_memory(struct ha_op *op)
{
    if (op->class->finish != NULL) {
        op->class->finish(op);
    }
    ha_op_discard(op);
    ha_pool_unlock();
    return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another operation");
}

/* An operation that can be made to follow another one without fail, or NULL. */
static struct ha_op *
barrier_new(void)
{
    struct ha_op *barrier = ha_op_new(&barrier_class);
    if (barrier != NULL && !ha_op_reserve(barrier, 1)) {
        ha_op_discard(barrier);
        barrier = NULL;
    }
    return barrier;
}

hipError_t
ha_device_order_run(const struct ha_device_order *order, struct ha_stream *stream,
                    struct ha_op *op, enum ha_run how)
{
    struct ha_queue *queue = &stream->queue;
    bool ordered = true;
    for (unsigned i = 0; i < order->count; i++) {
        if (!follow(op, order->others[i])) {
            return no_memory(op);
        }
        ha_order_behind(queue, order->others[i]->legacy);
    }
    if (order->count == 0 || how == HA_RUN_SYNC) {
        /* A caller that waits gives the other devices nothing before the end. */
        return ha_stream_run(stream, op, how);
    }
    ha_queue_retain(queue);
    uint64_t number = ha_stream_submit(
        stream, op, how == HA_RUN_CHEAP ? HA_SUBMIT_RUN : HA_SUBMIT_WAKE);
    for (unsigned i = 0; i < order->count && number != 0; i++) {
        struct ha_stream *legacy = (struct ha_stream *)order->others[i]->legacy;
        struct ha_op *barrier = barrier_new();
        ha_order_behind(&legacy->queue, queue);
        ordered = barrier != NULL && ha_op_depend(barrier, queue, number) &&
                  ha_stream_submit(legacy, barrier, HA_SUBMIT_WAKE) != 0 && ordered;
    }
    if (number != 0 && !ordered) {
        /* Without memory for the barriers, waiting has the same effect. */
        (void)ha_queue_wait(queue, number, 0);
    } else if (number != 0) {
        ha_queue_throttle(queue);
    }
    ha_queue_release(queue);
    ha_pool_unlock();
    return number != 0
               ? hipSuccess
               : ha_cpu_fail(hipErrorOutOfMemory, "no memory for another operation");
}
