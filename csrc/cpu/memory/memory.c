/* SPDX-License-Identifier: MIT */
#include "cpu/memory/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/clock.h"
#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/gone.h"
#include "cpu/base/shared_file.h"
#include "cpu/base/span.h"
#include "cpu/memory/check_found.h"
#include "cpu/memory/check_memory.h"
#include "cpu/memory/check_tree.h"
#include "cpu/memory/managed.h"
#include "cpu/memory/virtual.h"
#include "cpu/memory/shadow.h"
#include "cpu/queue/pool.h"
#include "cpu/queue/ticket.h"

/* Those with heaps: device, managed, host, graph, array, pool. */
#define OWN_KIND_COUNT 6

static struct {
    pthread_mutex_t lock;
    struct ha_heap heaps[HA_DEVICE_MAX][OWN_KIND_COUNT];
    struct ha_range *foreign; /* owned, sorted by base, disjoint */
    size_t foreign_count;
    size_t foreign_capacity;
    uint64_t next_id;
    _Atomic uint64_t changes; /* written under the lock */
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const kind_names[HA_MEMORY_KIND_COUNT] = {
    "device memory",
    "managed memory",
    "pinned host memory",
    "graph memory",
    "an array",
    "memory of a pool",
    "registered host memory",
    "a device variable",
    "memory of another process",
    "memory of an imported pool",
    "external memory",
    "mapped memory",
    "reserved addresses",
};

hipError_t
ha_memory_init(bool guard)
{
    pthread_mutex_lock(&memory.lock);
    ha_span_guard(guard);
    for (int device = 0; device < HA_DEVICE_MAX; device++) {
        for (int kind = 0; kind < OWN_KIND_COUNT; kind++) {
            memory.heaps[device][kind].device = device;
            memory.heaps[device][kind].kind = kind;
        }
    }
    pthread_mutex_unlock(&memory.lock);
    return hipSuccess;
}

uint64_t
ha_memory_changes(void)
{
    return atomic_load_explicit(&memory.changes, memory_order_acquire) + 1;
}

/* Lock held. */
static void
note_change(void)
{
    atomic_fetch_add_explicit(&memory.changes, 1, memory_order_release);
}

bool
ha_memory_account_add(struct ha_device *device, size_t bytes)
{
    size_t used = atomic_load_explicit(&device->memory_used, memory_order_relaxed);
    do {
        if (bytes > device->memory_bytes || used > device->memory_bytes - bytes) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&device->memory_used, &used, used + bytes));
    return true;
}

void
ha_memory_account_remove(struct ha_device *device, size_t bytes)
{
    atomic_fetch_sub(&device->memory_used, bytes);
}

/* What it takes is not the program's any more; nor is it, if it is kept. */
static void
account_remove(const struct ha_span *span, uint32_t index)
{
    const struct ha_slot *slot = &span->slots[index];
    if (span->heap->kind != HA_MEMORY_HOST && slot->state != HA_SLOT_KEPT) {
        ha_memory_account_remove(ha_device_get(span->heap->device),
                                 slot->apart ? ha_span_footprint(span->heap, slot->size)
                                             : span->slot_bytes);
    }
}

static void range_of_slot(const struct ha_span *span, uint32_t index,
                          struct ha_range *range);

/* Lock held. */
static bool
slot_new(struct ha_heap *heap, size_t size, struct ha_span **span, uint32_t *slot,
         size_t *footprint, bool apart)
{
    return apart ? ha_span_alloc_apart(heap, size, span, slot, footprint)
                 : ha_span_alloc(heap, size, span, slot, footprint);
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

/* Gives the oldest of what is kept back, until no more than `limit` bytes are left. */
static void
drain(uint64_t limit)
{
    for (bool more = true; more;) {
        struct ha_span *span;
        uint32_t index;
        size_t footprint;
        bool told;
        const void *damage = NULL;
        pthread_mutex_lock(&memory.lock);
        void *ptr = ha_checked_oldest(limit, &told);
        more = ptr != NULL;
        const struct ha_slot *slot = more ? slot_at(ptr, &span, &index) : NULL;
        if (slot != NULL && slot->state == HA_SLOT_KEPT) {
            damage = told ? NULL : ha_span_damage(span, index);
            (void)ha_span_free(span, index, &footprint);
        }
        pthread_mutex_unlock(&memory.lock);
        if (damage != NULL) {
            ha_found_damage(damage, ptr);
        }
    }
}

hipError_t
ha_memory_alloc_in(struct ha_heap *heap, struct ha_device *device,
                   enum ha_memory_kind kind, uint32_t flags, size_t size, void *owner,
                   void **ptr)
{
    struct ha_span *span;
    uint32_t slot;
    size_t footprint;
    bool limited = kind != HA_MEMORY_HOST;
    bool apart = ha_checked();
    void *address = NULL;
    if (limited && size > device->memory_bytes) {
        return hipErrorOutOfMemory;
    }
    heap = heap != NULL ? heap : &memory.heaps[device->id][kind];
    pthread_mutex_lock(&memory.lock);
    bool there = slot_new(heap, size, &span, &slot, &footprint, apart);
    if (!there && ha_checked_kept_bytes() > 0) {
        pthread_mutex_unlock(&memory.lock);
        drain(0);
        pthread_mutex_lock(&memory.lock);
        there = slot_new(heap, size, &span, &slot, &footprint, apart);
    }
    if (there) {
        if (!limited || ha_memory_account_add(device, footprint)) {
            span->slots[slot].flags = flags;
            span->slots[slot].id = ++memory.next_id;
            span->slots[slot].owner = owner;
            address = ha_span_address(span, slot);
            if (apart) {
                struct ha_range range;
                range_of_slot(span, slot, &range);
                ha_checked_add(&range);
            }
        } else {
            ha_span_free(span, slot, &footprint);
        }
    }
    pthread_mutex_unlock(&memory.lock);
    if (address == NULL) {
        return hipErrorOutOfMemory;
    }
    *ptr = address;
    return hipSuccess;
}

hipError_t
ha_memory_full(const struct ha_device *device, enum ha_memory_kind kind, size_t size)
{
    return ha_cpu_fail(
        hipErrorOutOfMemory,
        "no room for %zu bytes of %s (device %d: %zu of %zu bytes in use)", size,
        kind_names[kind], device->id, atomic_load(&device->memory_used),
        device->memory_bytes);
}

hipError_t
ha_memory_alloc(struct ha_device *device, enum ha_memory_kind kind, uint32_t flags,
                size_t size, void **ptr)
{
    hipError_t code = ha_memory_alloc_in(NULL, device, kind, flags, size, NULL, ptr);
    return code == hipSuccess ? code : ha_memory_full(device, kind, size);
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
        .access = HA_ACCESS_WRITE,
        .owned = true,
        .sync = slot->sync,
        .owner = slot->owner,
    };
}

/* Managed memory that a reset of the device has ended is no memory of HIP any more, but
 * its addresses stay until the program frees them: views of the host look at them. */
static bool
is_left(const struct ha_span *span, uint32_t index)
{
    return span->heap->kind == HA_MEMORY_MANAGED &&
           span->slots[index].state == HA_SLOT_CACHED;
}

static void
leave(struct ha_span *span, uint32_t index)
{
    struct ha_slot *slot = &span->slots[index];
    void *address = ha_span_address(span, index);
    slot->state = HA_SLOT_CACHED;
    /* The pages of large ones go back to the machine, and read as zeros. */
    if (span->class != HA_CLASS_COUNT || span->guarded ||
        madvise(address, span->slot_bytes, MADV_DONTNEED) != 0) {
        memset(address, 0, slot->size);
    } else {
        ha_span_resize(span, index, slot->size, false);
    }
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
    } else if (slot != NULL && is_left(span, index)) {
        size_t footprint;
        ha_span_free(span, index, &footprint); /* nobody looks at it any more */
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
        ha_checked_unpending(ptr);
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
    bool managed = false;
    bool kept = false;
    const void *damage = NULL;
    pthread_mutex_lock(&memory.lock);
    /* A device reset may have freed it meanwhile. */
    struct ha_slot *slot = slot_at(ptr, &span, &index);
    if (slot != NULL &&
        (slot->state == HA_SLOT_FREEING || slot->state == HA_SLOT_CACHED)) {
        managed = span->heap->kind == HA_MEMORY_MANAGED;
        note_change();
        account_remove(span, index);
        if (slot->apart) {
            damage = ha_span_damage(span, index);
            ha_span_recall(span, index);
            ha_checked_freed(ptr, ha_span_keep(span, index));
            intact = damage == NULL;
            kept = true;
        } else {
            ha_checked_freed(ptr, 0);
            intact = ha_span_free(span, index, &footprint);
        }
    }
    pthread_mutex_unlock(&memory.lock);
    if (damage != NULL) {
        ha_found_damage(damage, ptr);
    }
    if (kept) {
        drain(ha_checked_quarantine_bytes());
    }
    if (managed) {
        ha_managed_forget_freed();
    }
    return intact;
}

bool
ha_memory_is_apart(void *ptr)
{
    struct ha_span *span;
    uint32_t index;
    pthread_mutex_lock(&memory.lock);
    const struct ha_slot *slot = slot_at(ptr, &span, &index);
    bool apart = slot != NULL && slot->apart;
    pthread_mutex_unlock(&memory.lock);
    return apart;
}

bool
ha_memory_near(const void *ptr, struct ha_range *range)
{
    struct ha_span *span;
    uint32_t index;
    pthread_mutex_lock(&memory.lock);
    bool found = ha_span_near(ptr, &span, &index) &&
                 (span->slots[index].state == HA_SLOT_LIVE ||
                  span->slots[index].state == HA_SLOT_FREEING);
    if (found) {
        range_of_slot(span, index, range);
    }
    pthread_mutex_unlock(&memory.lock);
    return found;
}

bool
ha_memory_owns(const void *ptr, size_t size)
{
    pthread_mutex_lock(&memory.lock);
    bool owned = ha_span_owns(ptr, size);
    pthread_mutex_unlock(&memory.lock);
    return owned;
}

static void
look_at(const struct ha_record *record)
{
    struct ha_span *span;
    uint32_t index;
    pthread_mutex_lock(&memory.lock);
    const struct ha_slot *slot = slot_at((void *)record->base, &span, &index);
    const void *damage =
        slot != NULL && slot->apart && slot->state == HA_SLOT_LIVE && !record->told
            ? ha_span_damage(span, index)
            : NULL;
    pthread_mutex_unlock(&memory.lock);
    if (damage != NULL) {
        ha_found_damage(damage, (const void *)record->base);
    }
}

void
ha_memory_look_for_damage(void)
{
    ha_checked_each_alive(look_at);
    drain(0);
}

bool
ha_memory_cache(void *ptr)
{
    struct ha_span *span;
    uint32_t index;
    bool intact = true;
    pthread_mutex_lock(&memory.lock);
    struct ha_slot *slot = slot_at(ptr, &span, &index);
    if (slot != NULL && slot->state == HA_SLOT_FREEING) {
        intact = ha_span_intact(span, index);
        ha_span_recall(span, index);
        slot->state = HA_SLOT_CACHED;
        note_change();
    }
    pthread_mutex_unlock(&memory.lock);
    return intact;
}

void
ha_memory_reuse(void *ptr, size_t size)
{
    struct ha_span *span;
    uint32_t index;
    pthread_mutex_lock(&memory.lock);
    struct ha_slot *slot = slot_at(ptr, &span, &index);
    if (slot != NULL) {
        ha_span_resize(span, index, size, slot->state == HA_SLOT_FREEING);
        note_change();
        ha_span_recall(span, index);
        slot->state = HA_SLOT_LIVE;
        slot->sync = false;
        slot->id = ++memory.next_id;
    }
    pthread_mutex_unlock(&memory.lock);
}

int
ha_memory_share(const void *ptr, int *file, struct ha_shared_part *part)
{
    struct ha_span *span;
    uint32_t index;
    int error = EINVAL;
    pthread_mutex_lock(&memory.lock);
    if (ha_span_find(ptr, &span, &index) && span->slots[index].state == HA_SLOT_LIVE &&
        (span->heap->kind == HA_MEMORY_DEVICE || span->heap->shared)) {
        error = ha_span_share(span);
    }
    if (error == 0) {
        error = ha_span_announce(span, index, &part->place);
    }
    if (error == 0) {
        *file = span->file;
        part->offset = span->file_offset + (uint64_t)index * span->slot_bytes;
        part->size = span->slots[index].size;
        part->serial = span->slots[index].id;
        /* Others write it without a call of this process. */
        ha_shadow_remove((uintptr_t)ha_span_address(span, index));
    }
    pthread_mutex_unlock(&memory.lock);
    return error;
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
        ha_virtual_overlaps(range->base, range->size) ||
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
                           "%p with %zu bytes is not a range of memory", ptr, size);
    }
    pthread_mutex_lock(&memory.lock);
    struct ha_range range = {.base = ptr,
                             .size = size,
                             .id = ++memory.next_id,
                             .flags = flags,
                             .kind = kind,
                             .device = device,
                             .access = HA_ACCESS_WRITE};
    hipError_t code = foreign_insert(&range);
    if (code == hipSuccess && ha_checked()) {
        ha_checked_add(&range);
    }
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
        note_change();
        ha_checked_freed(ptr, 0);
    }
    pthread_mutex_unlock(&memory.lock);
    return removed;
}

/* ---- questions ---- */

/* The foreign range that holds the address, or NULL. Lock held. */
static struct ha_range *
foreign_find(const void *ptr)
{
    size_t at = foreign_search((uintptr_t)ptr);
    return at < memory.foreign_count &&
                   (uintptr_t)memory.foreign[at].base <= (uintptr_t)ptr
               ? &memory.foreign[at]
               : NULL;
}

bool
ha_memory_find(const void *ptr, struct ha_range *range)
{
    struct ha_span *span;
    uint32_t index;
    const struct ha_range *foreign;
    bool found = false;
    pthread_mutex_lock(&memory.lock);
    if (ha_span_find(ptr, &span, &index)) {
        found = span->slots[index].state != HA_SLOT_CACHED &&
                span->slots[index].state != HA_SLOT_KEPT;
        if (found) {
            range_of_slot(span, index, range);
        }
    } else if (memory.foreign_count > 0 && (foreign = foreign_find(ptr)) != NULL) {
        *range = *foreign;
        found = true;
    }
    pthread_mutex_unlock(&memory.lock);
    return found || ha_virtual_find(ptr, range);
}

bool
ha_memory_set_sync(const void *ptr, bool sync)
{
    struct ha_span *span;
    uint32_t index;
    struct ha_range *foreign;
    bool found = false;
    pthread_mutex_lock(&memory.lock);
    if (ha_span_find(ptr, &span, &index)) {
        found = span->slots[index].state == HA_SLOT_LIVE;
        if (found) {
            span->slots[index].sync = sync;
        }
    } else if ((foreign = foreign_find(ptr)) != NULL) {
        foreign->sync = sync;
        found = true;
    }
    pthread_mutex_unlock(&memory.lock);
    return found || ha_virtual_set_sync(ptr, sync);
}

static hipError_t
too_long(const char *argument, size_t size, size_t offset, const struct ha_range *range)
{
    return ha_cpu_fail(hipErrorInvalidValue,
                       "%zu bytes at argument '%s' run past its allocation, which has "
                       "%zu bytes from there (%s, %zu bytes at %p)",
                       size, argument, range->size - offset, kind_names[range->kind],
                       range->size, range->base);
}

/* Whether the address is the device's, but in no allocation. */
static bool
is_freed(const void *ptr)
{
    pthread_mutex_lock(&memory.lock);
    bool overlaps = ha_span_overlaps(ptr, 1);
    pthread_mutex_unlock(&memory.lock);
    return overlaps;
}

/* Under check, a finding about bytes that this call can't have. */
static void
note_bad(const void *ptr, size_t size, enum ha_access access, bool forbidden)
{
    if (ha_checked()) {
        ha_found_bad_access(ptr, size,
                            access == HA_ACCESS_READ ? HA_CHECK_READS : HA_CHECK_WRITES,
                            forbidden);
    }
}

static hipError_t
check(const char *argument, const void *ptr, size_t size, bool required, bool *known,
      enum ha_access access)
{
    struct ha_range range;
    bool found = ha_memory_find(ptr, &range);
    if (known != NULL) {
        *known = found;
    }
    if (!found && (required || is_freed(ptr))) {
        note_bad(ptr, size, access, false);
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument '%s' (%p) is not memory that HIP allocated or "
                           "knows%s",
                           argument, ptr, is_freed(ptr) ? " (any more)" : "");
    }
    if (!found) { /* memory of the program's own, or nobody's */
        hipError_t code = size > 0 ? ha_gone_check(argument, ptr, size) : hipSuccess;
        if (code != hipSuccess) {
            note_bad(ptr, size, access, false);
        }
        return code;
    }
    /* Mapped allocations that lie side by side are one piece of memory. */
    const char *at = ptr;
    size_t left = size;
    for (;;) {
        size_t offset = (size_t)(at - (const char *)range.base);
        if ((range.access & access) != access) {
            note_bad(ptr, size, access, range.kind != HA_MEMORY_RESERVED);
            return ha_cpu_fail(
                hipErrorInvalidValue,
                "argument '%s' (%p): the %zu bytes at %p are %s that the "
                "device may not %s",
                argument, ptr, range.size, range.base, kind_names[range.kind],
                access == HA_ACCESS_READ ? "read" : "write to");
        }
        if (left <= range.size - offset) {
            return hipSuccess;
        }
        at += range.size - offset;
        left -= range.size - offset;
        if (range.kind != HA_MEMORY_MAPPED || !ha_virtual_find(at, &range) ||
            range.kind != HA_MEMORY_MAPPED) {
            break;
        }
    }
    note_bad(ptr, size, access, false);
    if (!ha_memory_find(ptr, &range)) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument '%s' (%p) was freed",
                           argument, ptr);
    }
    return too_long(argument, size,
                    (size_t)((const char *)ptr - (const char *)range.base), &range);
}

hipError_t
ha_memory_check(const char *argument, const void *ptr, size_t size, bool required,
                bool *known)
{
    return check(argument, ptr, size, required, known, HA_ACCESS_READ);
}

hipError_t
ha_memory_check_write(const char *argument, const void *ptr, size_t size, bool required,
                      bool *known)
{
    return check(argument, ptr, size, required, known, HA_ACCESS_WRITE);
}

/* Pool lock held. */
static void
heap_reset(struct ha_heap *heap)
{
    struct ha_span *span = heap->all;
    note_change();
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
            if (is_left(span, slot)) {
                continue;
            }
            if (span->slots[slot].state ==
                HA_SLOT_LIVE) { /* else another call frees it */
                ha_activity_memory_defer(HA_ACTIVITY_FREE, heap->device,
                                         ha_span_address(span, slot), 0, ha_clock_ns());
            }
            account_remove(span, slot);
            ha_checked_freed(ha_span_address(span, slot), 0);
            if (heap->kind == HA_MEMORY_MANAGED &&
                span->slots[slot].state != HA_SLOT_KEPT) {
                leave(span, slot);
            } else {
                ha_span_free(span, slot, &footprint);
            }
        }
        span = next;
    }
}

void
ha_memory_reset(struct ha_device *device)
{
    ha_pool_lock();
    pthread_mutex_lock(&memory.lock);
    heap_reset(&memory.heaps[device->id][HA_MEMORY_DEVICE]);
    heap_reset(&memory.heaps[device->id][HA_MEMORY_MANAGED]);
    heap_reset(&memory.heaps[device->id][HA_MEMORY_POOL]);
    pthread_mutex_unlock(&memory.lock);
    ha_pool_unlock();
    ha_managed_forget_freed();
}

void
ha_memory_empty(struct ha_heap *heap)
{
    pthread_mutex_lock(&memory.lock);
    heap_reset(heap);
    /* One span without allocations stays with a heap. */
    ha_span_trim(heap);
    pthread_mutex_unlock(&memory.lock);
}

void
ha_memory_after_fork_child(void)
{
    memset(&memory, 0, sizeof memory);
    pthread_mutex_init(&memory.lock, NULL);
    ha_span_after_fork_child();
    ha_checked_after_fork_child();
}
