/* SPDX-License-Identifier: MIT */
#include "cpu/memory/reclaim.h"

#include "core/clock.h"
#include "core/log.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/memory/check_found.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/external_memory.h"
#include "cpu/memory/memory_pool.h"
#include "cpu/queue/pool.h"
#include "cpu/queue/ticket.h"

struct free_later {
    struct ha_range range; /* claimed, or mapped */
};

_Static_assert(sizeof(struct free_later) <= HA_OP_PAYLOAD_BYTES, "fits an operation");

static struct free_later *
later_of(struct ha_op *op)
{
    return (struct free_later *)(void *)op->payload;
}

static bool
is_mapped_kind(enum ha_memory_kind kind)
{
    return kind == HA_MEMORY_IMPORTED || kind == HA_MEMORY_EXTERNAL;
}

bool
ha_reclaim_is_mapped(const void *ptr, struct ha_range *range)
{
    return ha_memory_find(ptr, range) && range->base == ptr &&
           is_mapped_kind(range->kind);
}

static bool
unmap(void *ptr)
{
    return ha_memory_pool_free_imported(ptr) || ha_external_memory_unmap(ptr);
}

hipError_t
ha_reclaim_fail(const void *ptr)
{
    if (ha_checked()) {
        ha_found_bad_free(ptr);
    }
    return ha_cpu_fail(
        hipErrorInvalidValue,
        "%p is not the beginning of an allocation of this kind, or was freed already",
        ptr);
}

hipError_t
ha_reclaim_mapped(void *ptr)
{
    struct ha_range range;
    hipError_t code =
        ha_reclaim_is_mapped(ptr, &range) ? ha_pool_wait_all() : hipSuccess;
    if (code != hipSuccess) {
        return ha_cpu_fail(code, "interrupted; the memory is not freed");
    }
    return unmap(ptr) ? hipSuccess : ha_reclaim_fail(ptr);
}

hipError_t
ha_reclaim(const struct ha_range *range)
{
    struct ha_device *device = ha_device_get(range->device);
    bool intact;
    hipError_t code = range->kind == HA_MEMORY_HOST ? ha_pool_wait_all()
                                                    : ha_pool_wait_device(device, 0);
    if (code != hipSuccess) {
        ha_memory_unclaim(range->base);
        return ha_cpu_fail(code, "interrupted; the memory is not freed");
    }
    if (range->kind == HA_MEMORY_POOL) {
        intact = ha_memory_pool_free(range);
        ha_memory_pools_settle(device, false);
    } else {
        intact = ha_memory_release(range->base);
    }
    if (!intact) {
        return ha_cpu_fail(
            hipErrorIllegalAddress,
            "somebody wrote past the end of the %zu bytes at %p (they are freed now)",
            range->size, range->base);
    }
    return hipSuccess;
}

static bool
later_run(struct ha_op *op)
{
    const struct ha_range *range = &later_of(op)->range;
    uint64_t begin_ns = ha_clock_ns();
    if (is_mapped_kind(range->kind)) {
        (void)unmap(range->base);
        return true;
    }
    if (!ha_memory_release(range->base)) {
        ha_log(1, "hipFreeAsync: somebody wrote past the end of the %zu bytes at %p",
               range->size, range->base);
    }
    ha_activity_memory(HA_ACTIVITY_FREE, range->device, range->base, 0, begin_ns);
    return true;
}

static const struct ha_op_class later_class = {
    .name = "free", .flags = HA_OP_ALWAYS, .run = later_run};

struct ha_op *
ha_reclaim_op(const struct ha_range *range)
{
    struct ha_op *op = ha_op_new(&later_class);
    if (op != NULL) {
        *later_of(op) = (struct free_later){.range = *range};
        op->caller = true;
    }
    return op;
}

hipError_t
ha_reclaim_registered(void *ptr)
{
    hipError_t code = ha_pool_wait_all();
    if (code != hipSuccess) {
        return ha_cpu_fail(code, "interrupted; the memory stays registered");
    }
    if (!ha_memory_remove_foreign(ptr, HA_MEMORY_REGISTERED)) {
        return ha_cpu_fail(hipErrorHostMemoryNotRegistered,
                           "%p is not the beginning of a registered range", ptr);
    }
    return hipSuccess;
}
