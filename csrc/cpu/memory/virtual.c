/* SPDX-License-Identifier: MIT */
/* Reservations and mappings. */
#include "cpu/memory/virtual.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu/base/config.h"
#include "cpu/base/device.h"
#include "cpu/base/error.h"
#include "cpu/base/gone.h"
#include "cpu/memory/virtual_state.h"
#include "cpu/queue/pool.h"

#define LARGE_PAGE_BYTES ((size_t)2 << 20)
#define ID_BIT                                                                         \
    ((uint64_t)1 << 62) /* makes ids differ from those of cpu/memory/memory.c */

struct reservation {
    unsigned char *base;
    size_t size;
    struct ha_mapping **mappings; /* owned, both; sorted */
    size_t count;
    size_t capacity;
};

static struct {
    pthread_mutex_t lock;
    struct reservation **all; /* owned, both; sorted */
    size_t capacity;
    _Atomic size_t count; /* changed under the lock */
    uint64_t next_id;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

void
ha_virtual_lock(void)
{
    pthread_mutex_lock(&state.lock);
}

void
ha_virtual_unlock(void)
{
    pthread_mutex_unlock(&state.lock);
}

size_t
ha_virtual_granularity(bool recommended)
{
    return recommended ? LARGE_PAGE_BYTES : (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- finding; lock held ---- */

/* Index of the first reservation that ends behind `address`. */
static size_t
search(uintptr_t address)
{
    size_t low = 0;
    size_t high = atomic_load_explicit(&state.count, memory_order_relaxed);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct reservation *found = state.all[middle];
        if ((uintptr_t)found->base + found->size <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct reservation *
reservation_find(const void *ptr)
{
    size_t at = search((uintptr_t)ptr);
    return at < state.count && (uintptr_t)state.all[at]->base <= (uintptr_t)ptr
               ? state.all[at]
               : NULL;
}

/* Index of the first mapping of the reservation that ends behind `address`. */
static size_t
mapping_search(const struct reservation *reservation, uintptr_t address)
{
    size_t low = 0;
    size_t high = reservation->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct ha_mapping *found = reservation->mappings[middle];
        if ((uintptr_t)found->base + found->size <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct ha_mapping *
ha_mapping_find(const void *ptr)
{
    const struct reservation *reservation = reservation_find(ptr);
    if (reservation == NULL) {
        return NULL;
    }
    size_t at = mapping_search(reservation, (uintptr_t)ptr);
    return at < reservation->count &&
                   (uintptr_t)reservation->mappings[at]->base <= (uintptr_t)ptr
               ? reservation->mappings[at]
               : NULL;
}

/* The mappings that fill [ptr, ptr + size) exactly: `*count` of them from index
 * `*first`; false if they don't. */
static bool
mappings_fill(const void *ptr, size_t size, struct reservation **reservation,
              size_t *first, size_t *count)
{
    uintptr_t at = (uintptr_t)ptr;
    uintptr_t end = at + size;
    *reservation = reservation_find(ptr);
    if (*reservation == NULL || size == 0 || end < at) {
        return false;
    }
    *first = mapping_search(*reservation, at);
    *count = 0;
    while (at < end) {
        size_t index = *first + *count;
        if (index >= (*reservation)->count ||
            (uintptr_t)(*reservation)->mappings[index]->base != at) {
            return false;
        }
        at += (*reservation)->mappings[index]->size;
        ++*count;
    }
    return at == end;
}

bool
ha_virtual_find(const void *ptr, struct ha_range *range)
{
    if (atomic_load_explicit(&state.count, memory_order_acquire) == 0) {
        return false;
    }
    ha_virtual_lock();
    const struct reservation *reservation = reservation_find(ptr);
    const struct ha_mapping *mapping = ha_mapping_find(ptr);
    if (mapping != NULL) {
        *range = (struct ha_range){
            .base = mapping->base,
            .size = mapping->size,
            .id = mapping->id,
            .kind = HA_MEMORY_MAPPED,
            .device = mapping->physical->device->id,
            .access = (enum ha_access)mapping->pages,
            .sync = mapping->sync,
        };
    } else if (reservation != NULL) {
        /* The gap ends at the next mapping. */
        size_t next = mapping_search(reservation, (uintptr_t)ptr);
        const unsigned char *begin = next > 0
                                         ? reservation->mappings[next - 1]->base +
                                               reservation->mappings[next - 1]->size
                                         : reservation->base;
        const unsigned char *end = next < reservation->count
                                       ? reservation->mappings[next]->base
                                       : reservation->base + reservation->size;
        *range = (struct ha_range){
            .base = (void *)(uintptr_t)begin,
            .size = (size_t)(end - begin),
            .id = ID_BIT,
            .kind = HA_MEMORY_RESERVED,
            .access = HA_ACCESS_NONE,
        };
    }
    ha_virtual_unlock();
    return reservation != NULL;
}

bool
ha_virtual_set_sync(const void *ptr, bool sync)
{
    ha_virtual_lock();
    struct ha_mapping *mapping = ha_mapping_find(ptr);
    if (mapping != NULL) {
        mapping->sync = sync;
    }
    ha_virtual_unlock();
    return mapping != NULL;
}

bool
ha_virtual_overlaps(const void *ptr, size_t size)
{
    ha_virtual_lock();
    size_t at = search((uintptr_t)ptr);
    bool overlaps =
        at < state.count && (uintptr_t)state.all[at]->base < (uintptr_t)ptr + size;
    ha_virtual_unlock();
    return overlaps;
}

/* ---- reservations ---- */

/* Addresses at a multiple of `alignment`, or NULL. */
static unsigned char *
addresses_new(size_t size, size_t alignment, void *wish)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    unsigned char *base;
    if (wish != NULL && (uintptr_t)wish % alignment == 0) {
        base = mmap(wish, size, PROT_NONE, flags, -1, 0);
        if (base == wish) {
            return base;
        }
        if (base != MAP_FAILED) {
            munmap(base, size);
        }
    }
    size_t total;
    if (__builtin_add_overflow(size, alignment, &total)) {
        return NULL;
    }
    unsigned char *start = mmap(NULL, total, PROT_NONE, flags, -1, 0);
    if (start == MAP_FAILED) {
        return NULL;
    }
    size_t before = (alignment - (uintptr_t)start % alignment) % alignment;
    base = start + before;
    if (before > 0) {
        munmap(start, before);
    }
    if (total - before - size > 0) {
        munmap(base + size, total - before - size);
    }
    return base;
}

/* Lock held; false without memory. */
static bool
reservation_insert(struct reservation *reservation)
{
    size_t count = state.count;
    if (count == state.capacity) {
        size_t capacity = count != 0 ? count * 2 : 16;
        struct reservation **grown = realloc(state.all, capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        state.all = grown;
        state.capacity = capacity;
    }
    size_t at = search((uintptr_t)reservation->base);
    memmove(&state.all[at + 1], &state.all[at], (count - at) * sizeof *state.all);
    state.all[at] = reservation;
    atomic_store_explicit(&state.count, count + 1, memory_order_release);
    return true;
}

hipError_t
ha_virtual_reserve(size_t size, size_t alignment, void *wish, void **ptr)
{
    if (alignment < LARGE_PAGE_BYTES) {
        alignment = LARGE_PAGE_BYTES;
    }
    struct reservation *reservation = calloc(1, sizeof *reservation);
    unsigned char *base =
        reservation != NULL ? addresses_new(size, alignment, wish) : NULL;
    bool inserted = false;
    if (base != NULL) {
        reservation->base = base;
        reservation->size = size;
        ha_virtual_lock();
        inserted = reservation_insert(reservation);
        ha_virtual_unlock();
    }
    if (!inserted) {
        if (base != NULL) {
            munmap(base, size);
        }
        free(reservation);
        return ha_cpu_fail(hipErrorOutOfMemory,
                           "no %zu addresses at a multiple of %zu are free", size,
                           alignment);
    }
    *ptr = base;
    return hipSuccess;
}

hipError_t
ha_virtual_free(void *ptr, size_t size)
{
    hipError_t code = hipSuccess;
    ha_virtual_lock();
    size_t at = search((uintptr_t)ptr);
    struct reservation *reservation = reservation_find(ptr);
    if (reservation == NULL || reservation->base != ptr || reservation->size != size) {
        code = hipErrorInvalidValue;
    } else if (reservation->count > 0) {
        code = hipErrorIllegalState;
    } else {
        ha_gone_add(ptr, size);
        munmap(ptr, size);
        memmove(&state.all[at], &state.all[at + 1],
                (state.count - at - 1) * sizeof *state.all);
        atomic_fetch_sub_explicit(&state.count, 1, memory_order_release);
        free(reservation->mappings);
        free(reservation);
    }
    ha_virtual_unlock();
    if (code == hipErrorInvalidValue) {
        return ha_cpu_fail(code, "%p with %zu bytes is not a reserved range", ptr,
                           size);
    }
    if (code != hipSuccess) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "something is still mapped in the %zu bytes at %p", size,
                           ptr);
    }
    return hipSuccess;
}

/* ---- mappings ---- */

/* Room for one more; false without memory. Lock held. */
static bool
mappings_grow(struct reservation *reservation)
{
    if (reservation->count < reservation->capacity) {
        return true;
    }
    size_t capacity = reservation->capacity != 0 ? reservation->capacity * 2 : 4;
    struct ha_mapping **grown =
        realloc(reservation->mappings, capacity * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    reservation->mappings = grown;
    reservation->capacity = capacity;
    return true;
}

/* Lock held; the mapping is stolen if that succeeds. */
static hipError_t
mapping_insert(struct ha_mapping *mapping, hipMemGenericAllocationHandle_t handle)
{
    struct reservation *reservation = reservation_find(mapping->base);
    struct ha_physical *physical = ha_physical_find(handle);
    if (physical == NULL || mapping->size > physical->size ||
        mapping->offset > physical->size - mapping->size) {
        return hipErrorInvalidHandle;
    }
    if (reservation == NULL ||
        mapping->size >
            reservation->size - (size_t)(mapping->base - reservation->base)) {
        return hipErrorInvalidValue;
    }
    size_t at = mapping_search(reservation, (uintptr_t)mapping->base);
    if (at < reservation->count &&
        reservation->mappings[at]->base < mapping->base + mapping->size) {
        return hipErrorAlreadyMapped;
    }
    if (!mappings_grow(reservation) ||
        mmap(mapping->base, mapping->size, PROT_NONE, MAP_SHARED | MAP_FIXED,
             physical->file, (off_t)mapping->offset) == MAP_FAILED) {
        return hipErrorOutOfMemory;
    }
    memmove(&reservation->mappings[at + 1], &reservation->mappings[at],
            (reservation->count - at) * sizeof *reservation->mappings);
    reservation->mappings[at] = mapping;
    reservation->count++;
    physical->mapping_count++;
    mapping->physical = physical;
    mapping->id = ID_BIT | ++state.next_id;
    return hipSuccess;
}

hipError_t
ha_virtual_map(void *ptr, size_t size, size_t offset,
               hipMemGenericAllocationHandle_t handle)
{
    struct ha_mapping *mapping = calloc(1, sizeof *mapping);
    if (mapping == NULL) {
        return ha_cpu_fail(hipErrorOutOfMemory, "no memory for another mapping");
    }
    mapping->base = ptr;
    mapping->size = size;
    mapping->offset = offset;
    ha_virtual_lock();
    hipError_t code = mapping_insert(mapping, handle);
    ha_virtual_unlock();
    if (code == hipSuccess) {
        return code;
    }
    free(mapping);
    if (code == hipErrorInvalidHandle) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'handle' (%p) is not a living allocation with %zu "
                           "bytes at %zu",
                           (void *)handle, size, offset);
    }
    if (code == hipErrorInvalidValue) {
        return ha_cpu_fail(code, "%p with %zu bytes is not inside a reserved range",
                           ptr, size);
    }
    if (code == hipErrorAlreadyMapped) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "something is mapped in the %zu bytes at %p already", size,
                           ptr);
    }
    return ha_cpu_fail(code, "the %zu bytes at %p can't be mapped", size, ptr);
}

/* Takes one out of the reservation; its addresses stay reserved. Lock held. */
static bool
mapping_remove(struct reservation *reservation, size_t at)
{
    struct ha_mapping *mapping = reservation->mappings[at];
    if (mmap(mapping->base, mapping->size, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == MAP_FAILED) {
        return false;
    }
    reservation->count--;
    memmove(&reservation->mappings[at], &reservation->mappings[at + 1],
            (reservation->count - at) * sizeof *reservation->mappings);
    mapping->physical->mapping_count--;
    ha_physical_drop(mapping->physical);
    free(mapping);
    return true;
}

static hipError_t
not_filled(const void *ptr, size_t size)
{
    return ha_cpu_fail(hipErrorInvalidValue,
                       "the %zu bytes at %p are not one or more whole mappings", size,
                       ptr);
}

hipError_t
ha_virtual_unmap(void *ptr, size_t size)
{
    struct reservation *reservation;
    size_t first;
    size_t count;
    /* Work that was submitted before may still use the pages. */
    hipError_t code = ha_pool_wait_all();
    if (code != hipSuccess) {
        return code;
    }
    ha_virtual_lock();
    bool filled = mappings_fill(ptr, size, &reservation, &first, &count);
    bool removed = filled;
    for (; removed && count > 0; count--) {
        removed = mapping_remove(reservation, first);
    }
    ha_virtual_unlock();
    if (!filled) {
        return not_filled(ptr, size);
    }
    if (!removed) {
        return ha_cpu_fail(hipErrorOutOfMemory, "the kernel has no room for more maps");
    }
    return hipSuccess;
}

/* ---- access ---- */

static uint8_t
sum_of(const struct ha_mapping *mapping)
{
    uint8_t sum = mapping->access_of_host;
    for (int id = 0; id < HA_DEVICE_MAX; id++) {
        sum |= mapping->access[id];
    }
    return sum;
}

/* Protects the pages as the sum says; false if the kernel refuses. Lock held. */
static bool
protect(struct ha_mapping *mapping)
{
    uint8_t sum = sum_of(mapping);
    int protection = sum == HA_ACCESS_NONE   ? PROT_NONE
                     : sum == HA_ACCESS_READ ? PROT_READ
                                             : PROT_READ | PROT_WRITE;
    if (sum != mapping->pages &&
        mprotect(mapping->base, mapping->size, protection) != 0) {
        return false;
    }
    mapping->pages = sum;
    return true;
}

hipError_t
ha_virtual_set_access(void *ptr, size_t size, int accessor, enum ha_access access)
{
    struct reservation *reservation;
    size_t first;
    size_t count;
    bool changed = true;
    hipError_t code = access != HA_ACCESS_WRITE ? ha_pool_wait_all() : hipSuccess;
    if (code != hipSuccess) {
        return code;
    }
    ha_virtual_lock();
    bool filled = mappings_fill(ptr, size, &reservation, &first, &count);
    for (size_t i = 0; filled && i < count && changed; i++) {
        struct ha_mapping *mapping = reservation->mappings[first + i];
        uint8_t *kept = accessor == HA_ACCESS_OF_HOST ? &mapping->access_of_host
                                                      : &mapping->access[accessor];
        uint8_t before = *kept;
        *kept = (uint8_t)access;
        changed = protect(mapping);
        if (!changed) {
            *kept = before;
        }
    }
    ha_virtual_unlock();
    if (!filled) {
        return not_filled(ptr, size);
    }
    if (!changed) {
        return ha_cpu_fail(hipErrorOutOfMemory, "the kernel has no room for more maps");
    }
    return hipSuccess;
}

hipError_t
ha_virtual_get_access(const void *ptr, int accessor, enum ha_access *access)
{
    ha_virtual_lock();
    const struct ha_mapping *mapping = ha_mapping_find(ptr);
    if (mapping != NULL) {
        *access =
            (enum ha_access)(accessor == HA_ACCESS_OF_HOST ? mapping->access_of_host
                                                           : mapping->access[accessor]);
    }
    ha_virtual_unlock();
    if (mapping == NULL) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument 'ptr' (%p): nothing is mapped there", ptr);
    }
    return hipSuccess;
}

/* ---- the end ---- */

void
ha_virtual_reset(struct ha_device *device)
{
    ha_virtual_lock();
    for (size_t i = 0; i < state.count; i++) {
        struct reservation *reservation = state.all[i];
        for (size_t at = reservation->count; at > 0; at--) {
            if (reservation->mappings[at - 1]->physical->device == device) {
                (void)mapping_remove(reservation, at - 1);
            }
        }
    }
    ha_physical_reset(device);
    ha_virtual_unlock();
}

void
ha_virtual_after_fork_child(void)
{
    memset(&state, 0, sizeof state);
    pthread_mutex_init(&state.lock, NULL);
    ha_physical_after_fork_child();
}
