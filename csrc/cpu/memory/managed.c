/* SPDX-License-Identifier: MIT */
#include "cpu/memory/managed.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu/base/error.h"
#include "cpu/base/location.h"
#include "cpu/memory/memory.h"

struct segment {
    uintptr_t begin, end;
    uint64_t id; /* of the allocation */
    struct ha_advice advice;
};

static struct {
    pthread_mutex_t lock;
    struct segment *all; /* owned; sorted, disjoint */
    size_t count;
    size_t capacity;
    _Atomic bool any; /* there may be segments; needs no lock */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct ha_advice nothing = {.preferred = HA_NOWHERE_ID,
                                         .prefetched = HA_NOWHERE_ID};

hipError_t
ha_managed_check(const char *argument, const void *ptr, size_t size)
{
    struct ha_range range;
    if (ptr == NULL || size == 0) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument '%s': %zu bytes at %p are not memory", argument,
                           size, ptr);
    }
    if (!ha_memory_find(ptr, &range) || range.kind != HA_MEMORY_MANAGED) {
        return ha_cpu_fail(hipErrorInvalidValue,
                           "argument '%s' (%p) is not managed memory", argument, ptr);
    }
    return ha_memory_check(argument, ptr, size, true, NULL);
}

/* ---- segments; lock held ---- */

/* Index of the first segment that ends behind `address`. */
static size_t
search(uintptr_t address)
{
    size_t low = 0;
    size_t high = state.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (state.all[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool
reserve(size_t more)
{
    if (state.count + more <= state.capacity) {
        return true;
    }
    size_t capacity = state.capacity * 2 + more + 16;
    struct segment *grown = realloc(state.all, capacity * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    state.all = grown;
    state.capacity = capacity;
    return true;
}

/* Room is reserved. */
static void
insert(size_t at, uintptr_t begin, uintptr_t end, uint64_t id,
       const struct ha_advice *advice)
{
    memmove(&state.all[at + 1], &state.all[at], (state.count - at) * sizeof *state.all);
    state.all[at] =
        (struct segment){.begin = begin, .end = end, .id = id, .advice = *advice};
    state.count++;
    atomic_store(&state.any, true);
}

static void
drop(size_t at)
{
    state.count--;
    memmove(&state.all[at], &state.all[at + 1], (state.count - at) * sizeof *state.all);
}

/* Makes segments of their own of all parts of [begin, end); false without memory. */
static bool
cut(uintptr_t begin, uintptr_t end, uint64_t id)
{
    size_t at = search(begin);
    /* At most two segments are divided, and the gaps between become segments. */
    size_t inside = 0;
    while (at + inside < state.count && state.all[at + inside].begin < end) {
        inside++;
    }
    if (!reserve(inside + 3)) {
        return false;
    }
    while (at < state.count && state.all[at].begin < end) {
        struct segment *segment = &state.all[at];
        if (segment->id != id) {
            drop(at); /* of an allocation that was here before */
        } else if (segment->begin < begin) {
            const struct segment whole = *segment;
            segment->end = begin;
            insert(at + 1, begin, whole.end, id, &whole.advice);
            at++;
        } else if (segment->begin > begin) {
            insert(at, begin, segment->begin, id, &nothing);
            begin = state.all[at].end;
            at++;
        } else if (segment->end > end) {
            const struct segment whole = *segment;
            segment->end = end;
            insert(at + 1, end, whole.end, id, &whole.advice);
            return true;
        } else {
            begin = segment->end;
            at++;
        }
    }
    if (begin < end) {
        insert(at, begin, end, id, &nothing);
    }
    return true;
}

static bool
same(const struct ha_advice *a, const struct ha_advice *b)
{
    return a->read_mostly == b->read_mostly && a->coarse == b->coarse &&
           a->preferred == b->preferred && a->prefetched == b->prefetched &&
           a->accessed_by == b->accessed_by;
}

/* Joins neighbours about which the same is known. */
static void
join(uintptr_t begin, uintptr_t end)
{
    size_t at = search(begin);
    at = at > 0 ? at - 1 : 0;
    while (at < state.count && state.all[at].begin <= end) {
        struct segment *segment = &state.all[at];
        const struct segment *next = segment + 1;
        if (same(&segment->advice, &nothing)) {
            drop(at);
        } else if (at + 1 < state.count && next->begin == segment->end &&
                   next->id == segment->id && same(&next->advice, &segment->advice)) {
            segment->end = next->end;
            drop(at + 1);
        } else {
            at++;
        }
    }
}

/* ---- changes ---- */

static void
change_place(uint32_t *set, int place, bool add)
{
    uint32_t bit = 1u << (place + 1);
    *set = add ? *set | bit : *set & ~bit;
}

static void
change(struct ha_advice *advice, hipMemoryAdvise what, int place)
{
    switch ((int)what) {
    case hipMemAdviseSetReadMostly:
    case hipMemAdviseUnsetReadMostly:
        advice->read_mostly = what == hipMemAdviseSetReadMostly;
        break;
    case hipMemAdviseSetPreferredLocation:
        advice->preferred = place;
        break;
    case hipMemAdviseUnsetPreferredLocation:
        advice->preferred = HA_NOWHERE_ID;
        break;
    case hipMemAdviseSetAccessedBy:
    case hipMemAdviseUnsetAccessedBy:
        change_place(&advice->accessed_by, place, what == hipMemAdviseSetAccessedBy);
        break;
    default:
        advice->coarse = what == hipMemAdviseSetCoarseGrain;
        break;
    }
}

/* The whole pages of the allocation that [ptr, ptr + size) touches. */
static bool
pages_of(const void *ptr, size_t size, uintptr_t *begin, uintptr_t *end, uint64_t *id)
{
    struct ha_range range;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (!ha_memory_find(ptr, &range)) {
        return false;
    }
    uintptr_t first = (uintptr_t)range.base;
    *begin = (uintptr_t)ptr / page * page;
    *end = ((uintptr_t)ptr + size + page - 1) / page * page;
    *begin = *begin < first ? first : *begin;
    *end = *end > first + range.size ? first + range.size : *end;
    *id = range.id;
    return true;
}

/* `what` 0: a prefetch. */
static hipError_t
record(const void *ptr, size_t size, int what, int place)
{
    uintptr_t begin;
    uintptr_t end;
    uint64_t id;
    if (!pages_of(ptr, size, &begin, &end, &id)) {
        return ha_cpu_fail(hipErrorInvalidValue, "argument 'dev_ptr' (%p) was freed",
                           ptr);
    }
    pthread_mutex_lock(&state.lock);
    bool done = cut(begin, end, id);
    for (size_t at = search(begin);
         done && at < state.count && state.all[at].begin < end; at++) {
        struct ha_advice *advice = &state.all[at].advice;
        if (what == 0) {
            advice->prefetched = place;
        } else {
            change(advice, (hipMemoryAdvise)what, place);
        }
    }
    join(begin, end);
    pthread_mutex_unlock(&state.lock);
    return done ? hipSuccess
                : ha_cpu_fail(hipErrorOutOfMemory, "no memory to remember advice");
}

hipError_t
ha_managed_advise(const void *ptr, size_t size, hipMemoryAdvise advice, int place)
{
    return record(ptr, size, (int)advice, place);
}

hipError_t
ha_managed_prefetched(const void *ptr, size_t size, int place)
{
    return record(ptr, size, 0, place);
}

/* ---- questions ---- */

/* `all` becomes what is true of both. */
static void
meet(struct ha_advice *all, const struct ha_advice *more, bool *mixed)
{
    all->read_mostly = all->read_mostly && more->read_mostly;
    *mixed = *mixed || all->coarse != more->coarse;
    all->preferred = all->preferred == more->preferred ? all->preferred : HA_NOWHERE_ID;
    all->prefetched =
        all->prefetched == more->prefetched ? all->prefetched : HA_NOWHERE_ID;
    all->accessed_by &= more->accessed_by;
}

void
ha_managed_read(const void *ptr, size_t size, struct ha_advice *advice, bool *mixed)
{
    uintptr_t at = (uintptr_t)ptr;
    uintptr_t end = at + size;
    struct ha_range range = {.id = 0};
    bool first = true;
    *advice = nothing;
    *mixed = false;
    (void)ha_memory_find(ptr, &range);
    pthread_mutex_lock(&state.lock);
    for (size_t index = search(at); at < end; first = false) {
        const struct segment *segment = &state.all[index];
        bool said = index < state.count && segment->begin <= at;
        const struct ha_advice *here =
            said && segment->id == range.id ? &segment->advice : &nothing;
        if (first) {
            *advice = *here;
        } else {
            meet(advice, here, mixed);
        }
        if (said) {
            at = segment->end;
            index++;
        } else {
            at = index < state.count ? segment->begin : end;
        }
    }
    pthread_mutex_unlock(&state.lock);
}

/* ---- the end of allocations ---- */

void
ha_managed_forget_freed(void)
{
    struct ha_range range;
    if (!atomic_load(&state.any)) {
        return;
    }
    pthread_mutex_lock(&state.lock);
    for (size_t at = state.count; at > 0; at--) {
        const struct segment *segment = &state.all[at - 1];
        if (!ha_memory_find((const void *)segment->begin, &range) ||
            range.id != segment->id) {
            drop(at - 1);
        }
    }
    atomic_store(&state.any, state.count > 0);
    pthread_mutex_unlock(&state.lock);
}

void
ha_managed_after_fork_child(void)
{
    memset(&state, 0, sizeof state);
    pthread_mutex_init(&state.lock, NULL);
}
