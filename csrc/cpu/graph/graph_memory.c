/* SPDX-License-Identifier: MIT */
#include "cpu/graph/graph_memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/graph/graph.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/memory.h"
#include "cpu/queue/pool.h"

struct ha_graph_memory {
    struct ha_graph_memory *next;
    struct ha_device *device; /* borrowed */
    void *ptr;
    size_t bytes;
    uint64_t id; /* of the range, to know it from a later one at the same address */
    uint32_t references;
    bool used;
};

static struct {
    struct ha_graph_memory *all;
    size_t used_high[HA_DEVICE_MAX];
    size_t reserved_high[HA_DEVICE_MAX];
} state; /* graph lock */

void
ha_graph_memory_after_fork_child(void)
{
    state.all = NULL;
}

static void
sums(const struct ha_device *device, size_t *used, size_t *reserved)
{
    *used = 0;
    *reserved = 0;
    for (const struct ha_graph_memory *memory = state.all; memory != NULL;
         memory = memory->next) {
        if (memory->device == device) {
            *reserved += memory->bytes;
            *used += memory->used ? memory->bytes : 0;
        }
    }
}

static void
highs_update(const struct ha_device *device)
{
    size_t used;
    size_t reserved;
    sums(device, &used, &reserved);
    if (used > state.used_high[device->id]) {
        state.used_high[device->id] = used;
    }
    if (reserved > state.reserved_high[device->id]) {
        state.reserved_high[device->id] = reserved;
    }
}

struct ha_graph_memory *
ha_graph_memory_new(struct ha_device *device, size_t bytes)
{
    struct ha_range range;
    struct ha_graph_memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL) {
        ha_cpu_fail(hipErrorOutOfMemory, "no memory for another node");
        return NULL;
    }
    if (ha_memory_alloc(device, HA_MEMORY_GRAPH, 0, bytes, &memory->ptr) !=
        hipSuccess) {
        free(memory);
        return NULL;
    }
    ha_memory_find(memory->ptr, &range);
    memory->device = device;
    memory->bytes = bytes;
    memory->id = range.id;
    memory->references = 1;
    memory->next = state.all;
    state.all = memory;
    highs_update(device);
    return memory;
}

void
ha_graph_memory_retain(struct ha_graph_memory *memory)
{
    memory->references++;
}

/* Memory that the program still has stays until hipFree, which finds it by `all`. */
static void
memory_end(struct ha_graph_memory *memory)
{
    struct ha_range range;
    struct ha_graph_memory **link = &state.all;
    if (memory->references > 0 || memory->used) {
        return;
    }
    while (*link != memory) {
        link = &(*link)->next;
    }
    *link = memory->next;
    if (ha_memory_find(memory->ptr, &range) && range.id == memory->id &&
        ha_memory_claim(memory->ptr, 1u << HA_MEMORY_GRAPH, &range)) {
        ha_memory_release(memory->ptr);
    }
    free(memory);
}

void
ha_graph_memory_release(struct ha_graph_memory *memory)
{
    memory->references--;
    memory_end(memory);
}

struct ha_graph_memory *
ha_graph_memory_find(const void *ptr)
{
    struct ha_graph_memory *memory = state.all;
    while (memory != NULL && memory->ptr != ptr) {
        memory = memory->next;
    }
    return memory;
}

void *
ha_graph_memory_address(const struct ha_graph_memory *memory)
{
    return memory->ptr;
}

bool
ha_graph_memory_in_use(const struct ha_graph_memory *memory)
{
    return memory->used;
}

void
ha_graph_memory_use(struct ha_graph_memory *memory, bool used)
{
    memory->used = used;
    if (used) {
        ha_checked_again(memory->ptr);
    }
    highs_update(memory->device);
}

bool
ha_graph_memory_free(void *ptr, bool wait)
{
    ha_graph_lock();
    struct ha_graph_memory *memory = ha_graph_memory_find(ptr);
    bool found = memory != NULL && memory->used;
    struct ha_device *device = found ? memory->device : NULL;
    /* Without graphs that have it, the memory itself goes. */
    wait = wait || (found && memory->references == 0);
    ha_graph_unlock();
    if (!found || (wait && ha_pool_wait_device(device, 0) != hipSuccess)) {
        return false;
    }
    ha_graph_lock();
    memory = ha_graph_memory_find(ptr);
    found = memory != NULL && memory->used;
    if (found) {
        memory->used = false;
        if (wait) { /* else work that was launched before may still use it */
            ha_checked_rest(memory->ptr);
        }
        memory_end(memory);
    }
    ha_graph_unlock();
    return found;
}

/* ---- questions and trimming ---- */

hipError_t
ha_graph_memory_attribute(const struct ha_device *device,
                          hipGraphMemAttributeType which, uint64_t *value)
{
    size_t used;
    size_t reserved;
    sums(device, &used, &reserved);
    switch (which) {
    case hipGraphMemAttrUsedMemCurrent:
        *value = used;
        return hipSuccess;
    case hipGraphMemAttrUsedMemHigh:
        *value = state.used_high[device->id];
        return hipSuccess;
    case hipGraphMemAttrReservedMemCurrent:
        *value = reserved;
        return hipSuccess;
    case hipGraphMemAttrReservedMemHigh:
        *value = state.reserved_high[device->id];
        return hipSuccess;
    }
    return ha_cpu_fail(hipErrorInvalidValue, "argument 'attr' is %d", (int)which);
}

hipError_t
ha_graph_memory_reset_high(const struct ha_device *device,
                           hipGraphMemAttributeType which)
{
    if (which == hipGraphMemAttrUsedMemHigh) {
        state.used_high[device->id] = 0;
    } else if (which == hipGraphMemAttrReservedMemHigh) {
        state.reserved_high[device->id] = 0;
    } else {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "argument 'attr' is %d; only the high marks can be set, to 0", (int)which);
    }
    highs_update(device);
    return hipSuccess;
}

void
ha_graph_memory_trim(const struct ha_device *device)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (struct ha_graph_memory *memory = state.all; memory != NULL;
         memory = memory->next) {
        uintptr_t first = ((uintptr_t)memory->ptr + page - 1) / page * page;
        uintptr_t last = ((uintptr_t)memory->ptr + memory->bytes) / page * page;
        if (memory->device == device && !memory->used && first < last) {
            madvise((void *)first, last - first, MADV_DONTNEED);
        }
    }
}
