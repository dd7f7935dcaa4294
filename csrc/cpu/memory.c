/* SPDX-License-Identifier: MIT */
#include "cpu/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/device.h"
#include "cpu/error.h"
#include "cpu/span.h"

#define OWN_KIND_COUNT 3 /* device, managed, host: those with heaps */

static struct {
    pthread_mutex_t lock;
    struct ha_heap heaps[HA_DEVICE_MAX][OWN_KIND_COUNT];
    struct ha_range *foreign; /* owned, sorted by base, disjoint */
    size_t foreign_count;
    size_t foreign_capacity;
    uint64_t next_id;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const kind_names[HA_MEMORY_KIND_COUNT] = {
    "device memory",          "managed memory",    "pinned host memory",
    "registered host memory", "a device variable",
};

hipError_t
ha_memory_init(void)
{
    pthread_mutex_lock(&memory.lock);
    for (int device = 0; device < HA_DEVICE_MAX; device++) {
        for (int kind = 0; kind < OWN_KIND_COUNT; kind++) {
            memory.heaps[device][kind].device = device;
            memory.heaps[device][kind].kind = kind;
        }
    }
    pthread_mutex_unlock(&memory.lock);
    return hipSuccess;
}

/* Adds to the device's account; false if that would pass its limit. */
static bool
account_add(struct ha_device *device, size_t bytes)
{
    size_t used = atomic_load_explicit(&device->memory_used, memory_order_relaxed);
    do {
        if (bytes > device->memory_bytes || used > device->memory_bytes - bytes) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&device->memory_used, &used, used + bytes));
    return true;
}

static void
account_remove(const struct ha_span *span, size_t bytes)
{
    struct ha_device *device = ha_device_get(span->heap->device);
    if (span->heap->kind != HA_MEMORY_HOST) {
        atomic_fetch_sub(&device->memory_used, bytes);
    }
}

hipError_t
ha_memory_alloc(struct ha_device *device, enum ha_memory_kind kind, uint32_t flags,
                size_t size, void **ptr)
{
    struct ha_span *span;
    uint32_t slot;
    size_t footprint;
    bool limited = kind != HA_MEMORY_HOST;
    void *address = NULL;
    if (limited && size > device->memory_bytes) {
        goto full;
    }
    pthread_mutex_lock(&memory.lock);
    if (ha_span_alloc(&memory.heaps[device->id][kind], size, &span, &slot,
                      &footprint)) {
        if (!limited || account_add(device, footprint)) {
            span->slots[slot].flags = flags;
            span->slots[slot].id = ++memory.next_id;
            address = ha_span_address(span, slot);
        } else {
            ha_span_free(span, slot, &footprint);
        }
    }
    pthread_mutex_unlock(&memory.lock);
    if (address != NULL) {
        *ptr = address;
        return hipSuccess;
    }
full:
    return ha_cpu_fail(
        hipErrorOutOfMemory,
        "no room for %zu bytes of %s (device %d: %zu of %zu bytes in use)", size,
        kind_names[kind], device->id, atomic_load(&device->memory_used),
        device->memory_bytes);
}

/* The slot of the allocation that begins at `ptr`, in any state but FREE. Lock held. */
static struct ha_slot *
slot_at(void *ptr, struct ha_span **span, uint32_t *index)
{
    if (!ha_span_find(ptr, span, index) || ha_span_address(*span, *index) != ptr) {
        return NULL;
    }
    return &(*span)->slots[*index];
}

static void
range_of_slot(const struct ha_span *span, uint32_t index, struct ha_range *range)
{
    const struct ha_slot *slot = &span->slots[index];
    *range = (struct ha_range){
        .base = ha_span_address(span, index),
        .size = slot->size,
        .id = slot->id,
        .flags = slot->flags,
        .kind = (enum ha_memory_kind)span->heap->kind,
        .device = span->heap->device,
    };
}

bool
ha_memory_claim(void *ptr, unsigned kinds, struct ha_range *range)
{
    struct ha_span *span;
    uint32_t index;
    bool claimed = false;
    pthread_mutex_lock(&memory.lock);
    struct ha_slot *slot = slot_at(ptr, &span, &index);
    if (slot != NULL && slot->state == HA_SLOT_LIVE &&
        (kinds >> span->heap->kind & 1u) != 0) {
        slot->state = HA_SLOT_FREEING;
        range_of_slot(span, index, range);
        claimed = true;
    }
    pthread_mutex_unlock(&memory.lock);
    return claimed;
}

void
ha_memory_unclaim(void *ptr)
{
    struct ha_span *span;
    uint32_t index;
    pthread_mutex_lock(&memory.lock);
    struct ha_slot *slot = slot_at(ptr, &span, &index);
    if (slot != NULL) {
        slot->state = HA_SLOT_LIVE;
    }
    pthread_mutex_unlock(&memory.lock);
}

bool
ha_memory_release(void *ptr)
{
    struct ha_span *span;
    uint32_t index;
    size_t footprint;
    bool intact = true;
    pthread_mutex_lock(&memory.lock);
    /* A device reset may have freed it meanwhile. */
    struct ha_slot *slot = slot_at(ptr, &span, &index);
    if (slot != NULL && slot->state == HA_SLOT_FREEING) {
        account_remove(span, span->slot_bytes);
        intact = ha_span_free(span, index, &footprint);
    }
    pthread_mutex_unlock(&memory.lock);
    return intact;
}

/* ---- foreign ranges ---- */

/* Index of the first foreign range that ends behind `address`. Lock held. */
static size_t
foreign_search(uintptr_t address)
{
    size_t low = 0;
    size_t high = memory.foreign_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct ha_range *range = &memory.foreign[middle];
        if ((uintptr_t)range->base + range->size <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static hipError_t
foreign_insert(const struct ha_range *range)
{
    uintptr_t begin = (uintptr_t)range->base;
    size_t at = foreign_search(begin);
    if (ha_span_overlaps(range->base, range->size) ||
        (at < memory.foreign_count &&
         (uintptr_t)memory.foreign[at].base < begin + range->size)) {
        return hipErrorHostMemoryAlreadyRegistered;
    }
    if (memory.foreign_count == memory.foreign_capacity) {
        size_t capacity =
            memory.foreign_capacity != 0 ? memory.foreign_capacity * 2 : 64;
        struct ha_range *grown = realloc(memory.foreign, capacity * sizeof *grown);
        if (grown == NULL) {
            return hipErrorOutOfMemory;
        }
        memory.foreign = grown;
        memory.foreign_capacity = capacity;
    }
    memmove(&memory.foreign[at + 1], &memory.foreign[at],
            (memory.foreign_count - at) * sizeof memory.foreign[0]);
    memory.foreign[at] = *range;
    memory.foreign_count++;
    return hipSuccess;
}

hipError_t
ha_memory_add_foreign(int device, enum ha_memory_kind kind, uint32_t flags, void *ptr,
                      size_t size)
{
    if (size == 0 || (uintptr_t)ptr > UINTPTR_MAX - size) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "%p with %zu bytes is no range of memory", ptr, size);
    }
    pthread_mutex_lock(&memory.lock);
    struct ha_range range = {.base = ptr,
                             .size = size,
                             .id = ++memory.next_id,
                             .flags = flags,
                             .kind = kind,
                             .device = device};
    hipError_t code = foreign_insert(&range);
    pthread_mutex_unlock(&memory.lock);
    if (code == hipErrorHostMemoryAlreadyRegistered) {
        return ha_cpu_fail(code, "part of the %zu bytes at %p is known to HIP already",
                           size, ptr);
    }
    if (code != hipSuccess) {
        return ha_cpu_fail(code, "no memory to remember %p", ptr);
    }
    return hipSuccess;
}

bool
ha_memory_remove_foreign(void *ptr, enum ha_memory_kind kind)
{
    bool removed = false;
    pthread_mutex_lock(&memory.lock);
    size_t at = foreign_search((uintptr_t)ptr);
    if (at < memory.foreign_count && memory.foreign[at].base == ptr &&
        memory.foreign[at].kind == kind) {
        memory.foreign_count--;
        memmove(&memory.foreign[at], &memory.foreign[at + 1],
                (memory.foreign_count - at) * sizeof memory.foreign[0]);
        removed = true;
    }
    pthread_mutex_unlock(&memory.lock);
    return removed;
}

/* ---- questions ---- */

bool
ha_memory_find(const void *ptr, struct ha_range *range)
{
    struct ha_span *span;
    uint32_t index;
    bool found = false;
    pthread_mutex_lock(&memory.lock);
    if (ha_span_find(ptr, &span, &index)) {
        range_of_slot(span, index, range);
        found = true;
    } else if (memory.foreign_count > 0) {
        size_t at = foreign_search((uintptr_t)ptr);
        if (at < memory.foreign_count &&
            (uintptr_t)memory.foreign[at].base <= (uintptr_t)ptr) {
            *range = memory.foreign[at];
            found = true;
        }
    }
    pthread_mutex_unlock(&memory.lock);
    return found;
}

hipError_t
ha_memory_check(const char *argument, const void *ptr, size_t size, bool required,
                bool *known)
{
    struct ha_range range;
    bool found = ha_memory_find(ptr, &range);
    if (known != NULL) {
        *known = found;
    }
    if (!found) {
        if (required) {
            return ha_cpu_fail(hipErrorInvalidValue,
                               "argument '%s' (%p) is not memory that HIP allocated or "
                               "knows",
                               argument, ptr);
        }
        return hipSuccess;
    }
    size_t offset = (size_t)((const char *)ptr - (const char *)range.base);
    if (size > range.size - offset) {
        return ha_cpu_fail(
            hipErrorInvalidValue,
            "%zu bytes at argument '%s' run past its allocation, which has "
            "%zu bytes from there (%s, %zu bytes at %p)",
            size, argument, range.size - offset, kind_names[range.kind], range.size,
            range.base);
    }
    return hipSuccess;
}

static void
heap_reset(struct ha_heap *heap)
{
    struct ha_span *span = heap->all;
    while (span != NULL) {
        struct ha_span *next = span->all_next;
        /* Freeing the last slot may free the span: count first. */
        uint32_t used = span->used_count;
        for (uint32_t slot = 0; used > 0; slot++) {
            size_t footprint;
            if (span->slots[slot].state == HA_SLOT_FREE) {
                continue;
            }
            used--;
            account_remove(span, span->slot_bytes);
            ha_span_free(span, slot, &footprint);
        }
        span = next;
    }
}

void
ha_memory_reset(struct ha_device *device)
{
    pthread_mutex_lock(&memory.lock);
    heap_reset(&memory.heaps[device->id][HA_MEMORY_DEVICE]);
    heap_reset(&memory.heaps[device->id][HA_MEMORY_MANAGED]);
    pthread_mutex_unlock(&memory.lock);
}

void
ha_memory_after_fork_child(void)
{
    memset(&memory, 0, sizeof memory);
    pthread_mutex_init(&memory.lock, NULL);
    ha_span_after_fork_child();
}
