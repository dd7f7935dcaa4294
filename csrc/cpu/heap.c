/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/heap.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu/fault.h"

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

static char *range; /* owned mapping, NULL before the first use */
static uint64_t range_bytes;
static uint8_t *states;             /* owned mapping, one per unit */
static struct link *links;          /* owned mapping, one per unit; of free blocks */
static uint32_t heads[ORDER_COUNT]; /* free blocks by order */
static uint32_t top_order;
static uint64_t limit_bytes = HA_HEAP_LIMIT_BYTES;
static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER; /* guards all of these */

static void
push(uint32_t unit, uint32_t order)
{
    states[unit] = (uint8_t)(STATE_FREE | order);
    links[unit] = (struct link){heads[order], NO_UNIT};
    if (heads[order] != NO_UNIT) {
        links[heads[order]].prev = unit;
    }
    heads[order] = unit;
}

static void
unlink_free(uint32_t unit, uint32_t order)
{
    struct link link = links[unit];
    if (link.prev == NO_UNIT) {
        heads[order] = link.next;
    } else {
        links[link.prev].next = link.next;
    }
    if (link.next != NO_UNIT) {
        links[link.next].prev = link.prev;
    }
    states[unit] = 0;
}

static void *
reserve(uint64_t bytes)
{
    void *map = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

static void
unmap_all(void)
{
    uint64_t units = range_bytes / UNIT_BYTES;
    if (range) {
        munmap(range, (size_t)range_bytes);
    }
    if (states) {
        munmap(states, (size_t)units);
    }
    if (links) {
        munmap(links, (size_t)(units * sizeof *links));
    }
    range = NULL;
    states = NULL;
    links = NULL;
    range_bytes = 0;
}

static bool
map_all(void)
{
    if (range) {
        return true;
    }
    top_order = 0;
    while (top_order + 1 < ORDER_COUNT && UNIT_BYTES << top_order < limit_bytes) {
        top_order++;
    }
    range_bytes = UNIT_BYTES << top_order;
    uint64_t units = range_bytes / UNIT_BYTES;
    range = reserve(range_bytes);
    states = reserve(units);
    links = reserve(units * sizeof *links);
    if (!range || !states || !links) {
        unmap_all();
        return false;
    }
    memset(heads, 0xff, sizeof heads);
    push(0, top_order);
    return true;
}

static void *
alloc_locked(uint64_t size)
{
    uint32_t order = 0;
    if (!map_all() || size > range_bytes) {
        return NULL;
    }
    while (UNIT_BYTES << order < size) {
        order++;
    }
    uint32_t from = order;
    while (from <= top_order && heads[from] == NO_UNIT) {
        from++;
    }
    if (from > top_order) {
        return NULL;
    }
    uint32_t unit = heads[from];
    unlink_free(unit, from);
    while (from > order) {
        from--;
        push(unit + ((uint32_t)1 << from), from);
    }
    states[unit] = (uint8_t)(STATE_USED | order);
    return range + unit * UNIT_BYTES;
}

static bool
release_locked(const void *ptr)
{
    uint64_t offset = (uint64_t)((uintptr_t)ptr - (uintptr_t)range);
    if (!range || offset >= range_bytes || offset % UNIT_BYTES != 0) {
        return false;
    }
    uint32_t unit = (uint32_t)(offset / UNIT_BYTES);
    if (!(states[unit] & STATE_USED)) {
        return false;
    }
    uint32_t order = states[unit] & STATE_ORDER;
    states[unit] = 0;
    while (order < top_order) {
        uint32_t buddy = unit ^ (uint32_t)1 << order;
        if (states[buddy] != (STATE_FREE | order)) {
            break;
        }
        unlink_free(buddy, order);
        unit &= ~((uint32_t)1 << order);
        order++;
    }
    push(unit, order);
    return true;
}

void *
ha_heap_alloc(uint64_t size)
{
    (void)pthread_mutex_lock(&heap_lock);
    void *ptr = alloc_locked(size);
    (void)pthread_mutex_unlock(&heap_lock);
    return ptr;
}

bool
ha_heap_release(void *ptr)
{
    if (!ptr) {
        return true;
    }
    (void)pthread_mutex_lock(&heap_lock);
    bool known = release_locked(ptr);
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
    begin_call(runner);
    void *ptr = ha_heap_alloc(size);
    ha_runner_idle(runner);
    return ptr;
}

void
ha_heap_call_release(void *ptr)
{
    struct ha_runner *runner = ha_runner_self;
    begin_call(runner);
    bool known = ha_heap_release(ptr);
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
ha_heap_set_limit(uint64_t bytes)
{
    (void)pthread_mutex_lock(&heap_lock);
    bool unused = range == NULL;
    if (unused) {
        limit_bytes = bytes;
    }
    (void)pthread_mutex_unlock(&heap_lock);
    return unused;
}

uint64_t
ha_heap_limit(void)
{
    (void)pthread_mutex_lock(&heap_lock);
    uint64_t bytes = limit_bytes;
    (void)pthread_mutex_unlock(&heap_lock);
    return bytes;
}

void
ha_heap_reset(void)
{
    (void)pthread_mutex_lock(&heap_lock);
    unmap_all();
    (void)pthread_mutex_unlock(&heap_lock);
}

void
ha_heap_after_fork_child(void)
{
    (void)pthread_mutex_init(&heap_lock, NULL);
    unmap_all();
}
