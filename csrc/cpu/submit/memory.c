/* SPDX-License-Identifier: MIT */
#include "cpu/submit/memory.h"

#include "cpu/base/error.h"
#include "cpu/graph/capture.h"
#include "cpu/graph/graph_memory.h"
#include "cpu/memory/check_deed.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/memory.h"
#include "cpu/memory/memory_pool.h"
#include "cpu/memory/reclaim.h"
#include "cpu/queue/order.h"
#include "cpu/submit/door.h"

/* These calls have a code of their own for what is no stream. */
static hipError_t
door_open(struct ha_door *door)
{
    hipError_t code = ha_door_open(door);
    return code == hipErrorContextIsDestroyed
               ? ha_cpu_fail(hipErrorInvalidHandle,
                             "argument 'stream' (%p) is no stream, or was destroyed",
                             (void *)door->handle)
               : code;
}

hipError_t
ha_submit_alloc(hipMemPool_t handle, hipStream_t stream, struct ha_device *device,
                size_t size, void **ptr)
{
    struct ha_door door = {.handle = stream, .device = device};
    struct ha_memory_pool *pool = NULL;
    ha_checked_call();
    hipError_t code = door_open(&door);
    if (code == hipSuccess) {
        code = ha_memory_pool_giver(handle, door.stream->queue.device, &pool);
    }
    if (code != hipSuccess) {
        return code;
    }
    if (size == 0) {
        ha_pool_unlock();
        *ptr = NULL;
        return hipSuccess;
    }
    if (ha_door_captures(&door)) {
        const struct ha_device *owner = ha_memory_pool_device(pool);
        return ha_capture_alloc(ha_door_front(&door), owner, size, ptr);
    }
    return ha_memory_pool_alloc(pool, door.stream, size, ptr);
}

/* Memory of this device or mapped memory. Lock held on entry; given back. */
static hipError_t
free_in(struct ha_stream *stream, const struct ha_range *range, bool claimed)
{
    struct ha_op *op = ha_reclaim_op(range);
    hipError_t code;
    if (op != NULL) {
        code = ha_stream_run(stream, op, HA_RUN_CHEAP);
    } else {
        ha_pool_unlock();
        code = ha_cpu_fail(hipErrorOutOfMemory, "no memory for another operation");
    }
    if (code == hipErrorOutOfMemory && claimed) {
        ha_memory_unclaim(range->base);
    }
    return code;
}

/* Frees race with work that may still use the memory. Lock held. */
static void
order_free(const struct ha_range *range, struct ha_stream *stream)
{
    if (!ha_order_on()) {
        return;
    }
    struct ha_deed *deed = ha_deed_of_call(range->device);
    const struct ha_deed_rows all = {
        .begin = range->base, .width = range->size, .height = 1, .depth = 1};
    ha_deed_add_rows(deed, HA_CHECK_FREES, &all);
    ha_deed_look(deed, (uintptr_t)range->base);
    ha_order_at_once(&stream->queue, deed);
}

hipError_t
ha_submit_free_async(void *ptr, hipStream_t stream, struct ha_device *device)
{
    struct ha_door door = {.handle = stream, .device = device};
    struct ha_range range;
    const unsigned kinds =
        1u << HA_MEMORY_DEVICE | 1u << HA_MEMORY_MANAGED | 1u << HA_MEMORY_POOL;
    if (ptr == NULL) {
        return ha_cpu_fail_null("dev_ptr");
    }
    if (ha_checked()) {
        ha_checked_call();
    } else {
        ha_order_call();
    }
    hipError_t code = door_open(&door);
    if (code != hipSuccess) {
        return code;
    }
    if (ha_door_captures(&door)) {
        return ha_capture_free(ha_door_front(&door), ptr);
    }
    bool claimed = ha_memory_claim(ptr, kinds, &range);
    if (claimed) {
        ha_checked_pending(ptr, ha_stream_place(door.stream));
        order_free(&range, door.stream);
    }
    if (claimed && range.kind == HA_MEMORY_POOL) {
        return ha_memory_pool_free_async(&range, door.stream);
    }
    if (!claimed && !ha_reclaim_is_mapped(ptr, &range)) {
        ha_pool_unlock();
        return ha_graph_memory_free(ptr, false) ? hipSuccess : ha_reclaim_fail(ptr);
    }
    return free_in(door.stream, &range, claimed);
}

hipError_t
ha_submit_free(void *ptr, unsigned kinds)
{
    struct ha_range range;
    if (ptr == NULL) {
        return hipSuccess;
    }
    ha_checked_call();
    if (ha_memory_claim(ptr, kinds, &range)) {
        return ha_reclaim(&range);
    }
    if ((kinds & 1u << HA_MEMORY_DEVICE) == 0) {
        return ha_reclaim_fail(ptr);
    }
    return ha_graph_memory_free(ptr, true) ? hipSuccess : ha_reclaim_mapped(ptr);
}
