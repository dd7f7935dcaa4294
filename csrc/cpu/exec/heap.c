/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/exec/heap.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu/base/config.h"
#include "cpu/exec/checks.h"
#include "cpu/exec/fault.h"
#include "cpu/exec/workgroup.h"

/* A block of order k is UNIT_BYTES << k long and aligned to its size within the range.
 */
#define UNIT_BYTES ((uint64_t)64)
#define ORDER_COUNT 31u
#define NO_UNIT UINT32_MAX

/* State of the first unit of a block: order, and whether it is free; 0 for other units.
 */
#define STATE_FREE 0x40u
#define STATE_USED 0x80u
#define STATE_ORDER 0x1fu

#define HEAP_STACK_BYTES ((size_t)8 << 10)

struct link {
    uint32_t next;
    uint32_t prev;
};

struct heap {
    char *range; /* owned mapping, NULL before the first use */
    uint64_t range_bytes;
    uint8_t *states;             /* owned mapping, one per unit */
    struct link *links;          /* owned mapping, one per unit; of free blocks */
    uint32_t heads[ORDER_COUNT]; /* free blocks by order */
    uint32_t top_order;
    uint64_t limit_bytes; /* 0: HA_HEAP_LIMIT_BYTES */
};

static struct heap heaps[HA_DEVICE_MAX];                      /* one a device */
static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER; /* guards all of them */

static uint64_t
limit_of(const struct heap *heap)
{
    return heap->limit_bytes != 0 ? heap->limit_bytes : HA_HEAP_LIMIT_BYTES;
}

static void
push(struct heap *heap, uint32_t unit, uint32_t order)
{
    heap->states[unit] = (uint8_t)(STATE_FREE | order);
    heap->links[unit] = (struct link){heap->heads[order], NO_UNIT};
    if (heap->heads[order] != NO_UNIT) {
        heap->links[heap->heads[order]].prev = unit;
    }
    heap->heads[order] = unit;
}

static void
unlink_free(struct heap *heap, uint32_t unit, uint32_t order)
{
    struct link link = heap->links[unit];
    if (link.prev == NO_UNIT) {
        heap->heads[order] = link.next;
    } else {
        heap->links[link.prev].next = link.next;
    }
    if (link.next != NO_UNIT) {
        heap->links[link.next].prev = link.prev;
    }
    heap->states[unit] = 0;
}

static void *
reserve(uint64_t bytes)
{
    void *map = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

static void
unmap_all(struct heap *heap)
{
    uint64_t units = heap->range_bytes / UNIT_BYTES;
    if (heap->range) {
        munmap(heap->range, (size_t)heap->range_bytes);
    }
    if (heap->states) {
        munmap(heap->states, (size_t)units);
    }
    if (heap->links) {
        munmap(heap->links, (size_t)(units * sizeof *heap->links));
    }
    heap->range = NULL;
    heap->states = NULL;
    heap->links = NULL;
    heap->range_bytes = 0;
}

static bool
map_all(struct heap *heap)
{
    uint64_t limit = limit_of(heap);
    uint32_t order = 0;
    if (heap->range) {
        return true;
    }
    while (order + 1 < ORDER_COUNT && UNIT_BYTES << order < limit) {
        order++;
    }
    heap->top_order = order;
    heap->range_bytes = UNIT_BYTES << order;
    uint64_t units = heap->range_bytes / UNIT_BYTES;
    heap->range = reserve(heap->range_bytes);
    heap->states = reserve(units);
    heap->links = reserve(units * sizeof *heap->links);
    if (!heap->range || !heap->states || !heap->links) {
        unmap_all(heap);
        return false;
    }
    memset(heap->heads, 0xff, sizeof heap->heads);
    push(heap, 0, order);
    return true;
}

static void *
alloc_locked(struct heap *heap, uint64_t size)
{
    uint32_t order = 0;
    if (!map_all(heap) || size > heap->range_bytes) {
        return NULL;
    }
    while (UNIT_BYTES << order < size) {
        order++;
    }
    uint32_t from = order;
    while (from <= heap->top_order && heap->heads[from] == NO_UNIT) {
        from++;
    }
    if (from > heap->top_order) {
        return NULL;
    }
    uint32_t unit = heap->heads[from];
    unlink_free(heap, unit, from);
    while (from > order) {
        from--;
        push(heap, unit + ((uint32_t)1 << from), from);
    }
    heap->states[unit] = (uint8_t)(STATE_USED | order);
    return heap->range + unit * UNIT_BYTES;
}

static bool
release_locked(struct heap *heap, const void *ptr)
{
    uint64_t offset = (uint64_t)((uintptr_t)ptr - (uintptr_t)heap->range);
    if (!heap->range || offset >= heap->range_bytes || offset % UNIT_BYTES != 0) {
        return false;
    }
    uint32_t unit = (uint32_t)(offset / UNIT_BYTES);
    if (!(heap->states[unit] & STATE_USED)) {
        return false;
    }
    uint32_t order = heap->states[unit] & STATE_ORDER;
    heap->states[unit] = 0;
    while (order < heap->top_order) {
        uint32_t buddy = unit ^ (uint32_t)1 << order;
        if (heap->states[buddy] != (STATE_FREE | order)) {
            break;
        }
        unlink_free(heap, buddy, order);
        unit &= ~((uint32_t)1 << order);
        order++;
    }
    push(heap, unit, order);
    return true;
}

void *
ha_heap_alloc(uint32_t device, uint64_t size)
{
    (void)pthread_mutex_lock(&heap_lock);
    void *ptr = alloc_locked(&heaps[device], size);
    (void)pthread_mutex_unlock(&heap_lock);
    return ptr;
}

bool
ha_heap_release(uint32_t device, void *ptr)
{
    if (!ptr) {
        return true;
    }
    (void)pthread_mutex_lock(&heap_lock);
    bool known = release_locked(&heaps[device], ptr);
    (void)pthread_mutex_unlock(&heap_lock);
    return known;
}

static void
begin_call(struct ha_runner *runner)
{
    if (ha_runner_stack_short(runner, HEAP_STACK_BYTES)) {
        runner->fault.kind = HA_FAULT_STACK;
        ha_runner_quit(runner);
    }
    ha_runner_busy(runner);
}

void *
ha_heap_call_alloc(uint64_t size)
{
    struct ha_runner *runner = ha_runner_self;
    struct ha_launch *launch = runner->group->launch;
    uint64_t gap = launch->checked ? UNIT_BYTES : 0; /* so that blocks stand apart */
    begin_call(runner);
    void *ptr =
        size > UINT64_MAX - gap ? NULL : ha_heap_alloc(launch->device, size + gap);
    if (ptr != NULL && launch->checked) {
        ha_exec_checks->gave(launch, ptr, size);
    }
    ha_runner_idle(runner);
    return ptr;
}

void
ha_heap_call_release(void *ptr)
{
    struct ha_runner *runner = ha_runner_self;
    struct ha_launch *launch = runner->group->launch;
    begin_call(runner);
    if (ptr != NULL && launch->checked) {
        ha_exec_checks->takes(launch, ptr);
    }
    bool known = ha_heap_release(launch->device, ptr);
    ha_runner_idle(runner);
    if (known) {
        return;
    }
    runner->fault.kind = HA_FAULT_ADDRESS;
    runner->fault.address = (uintptr_t)ptr;
    runner->fault.text = "free of an address that malloc did not give";
    ha_runner_quit(runner);
}

bool
ha_heap_holds(uint32_t device, const void *address, uint64_t size)
{
    (void)pthread_mutex_lock(&heap_lock);
    const struct heap *heap = &heaps[device];
    uint64_t offset = (uintptr_t)address - (uintptr_t)heap->range;
    bool holds = heap->range != NULL && offset <= heap->range_bytes &&
                 size <= heap->range_bytes - offset;
    (void)pthread_mutex_unlock(&heap_lock);
    return holds;
}

void *
ha_heap_range(uint32_t device, uint64_t *bytes)
{
    (void)pthread_mutex_lock(&heap_lock);
    void *range = heaps[device].range;
    *bytes = heaps[device].range_bytes;
    (void)pthread_mutex_unlock(&heap_lock);
    return range;
}

bool
ha_heap_set_limit(uint32_t device, uint64_t bytes)
{
    (void)pthread_mutex_lock(&heap_lock);
    bool unused = heaps[device].range == NULL;
    if (unused) {
        heaps[device].limit_bytes = bytes > UNIT_BYTES ? bytes : UNIT_BYTES;
    }
    (void)pthread_mutex_unlock(&heap_lock);
    return unused;
}

uint64_t
ha_heap_limit(uint32_t device)
{
    (void)pthread_mutex_lock(&heap_lock);
    uint64_t bytes = limit_of(&heaps[device]);
    (void)pthread_mutex_unlock(&heap_lock);
    return bytes;
}

void
ha_heap_reset(uint32_t device)
{
    (void)pthread_mutex_lock(&heap_lock);
    unmap_all(&heaps[device]);
    heaps[device].limit_bytes = 0;
    (void)pthread_mutex_unlock(&heap_lock);
}

void
ha_heap_after_fork_child(void)
{
    (void)pthread_mutex_init(&heap_lock, NULL);
    for (uint32_t device = 0; device < HA_DEVICE_MAX; device++) {
        unmap_all(&heaps[device]);
        heaps[device].limit_bytes = 0;
    }
}
