/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/memory/shadow.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cpu/base/image.h"

#define ALIGN_BYTES ((uint64_t)64)
#define PAGE_BYTES ((uintptr_t)4096)
#define GRANULE ((uint64_t)4) /* bytes of an origin */

struct range {
    struct ha_shadow shadow;
    void *map; /* owned mapping */
    size_t map_bytes;
};

static struct {
    pthread_mutex_t lock;
    struct range *ranges; /* owned, sorted by base */
    size_t count, capacity;
    _Atomic uint64_t known; /* `count`; written under the lock, as is the next one */
    _Atomic uint64_t changes;
} shadows = {.lock = PTHREAD_MUTEX_INITIALIZER, .changes = 1};

bool
ha_shadow_any(void)
{
    return atomic_load_explicit(&shadows.known, memory_order_acquire) != 0;
}

uint64_t
ha_shadow_changes(void)
{
    return atomic_load_explicit(&shadows.changes, memory_order_acquire);
}

/* ---- ranges; lock held ---- */

/* The number of ranges that begin at `at` or below. */
static size_t
count_to(uintptr_t at)
{
    size_t low = 0, high = shadows.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (shadows.ranges[middle].shadow.base <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The range that holds the byte, or NULL; *next: where the next one begins then. */
static const struct range *
range_at(uintptr_t at, uintptr_t *next)
{
    size_t count = count_to(at);
    const struct range *range = count > 0 ? &shadows.ranges[count - 1] : NULL;

    *next = count < shadows.count ? shadows.ranges[count].shadow.base : UINTPTR_MAX;
    return range != NULL && at - range->shadow.base < range->shadow.bytes ? range
                                                                          : NULL;
}

static void
note_change(void)
{
    atomic_store_explicit(&shadows.known, shadows.count, memory_order_release);
    atomic_fetch_add_explicit(&shadows.changes, 1, memory_order_release);
}

static void
remove_at(size_t index)
{
    struct range *range = &shadows.ranges[index];

    (void)munmap(range->map, range->map_bytes);
    memmove(range, range + 1, (shadows.count - index - 1) * sizeof *range);
    shadows.count--;
    note_change();
}

static bool
make_room(void)
{
    if (shadows.count < shadows.capacity) {
        return true;
    }
    size_t capacity = 2 * shadows.capacity + 64;
    struct range *grown = realloc(shadows.ranges, capacity * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    shadows.ranges = grown;
    shadows.capacity = capacity;
    return true;
}

/* ---- bits and origins ---- */

static uint32_t *
origin_at(const struct ha_shadow *shadow, uintptr_t at)
{
    return (uint32_t *)(void *)(shadow->origins +
                                ((at - shadow->base) & ~(GRANULE - 1)));
}

static uint8_t *
bits_at(const struct ha_shadow *shadow, uintptr_t at)
{
    return shadow->bits + (at - shadow->base);
}

void
ha_shadow_fill(const struct ha_shadow *to, uintptr_t at, uint64_t bytes,
               uint32_t origin)
{
    memset(bits_at(to, at), origin != 0 ? 0xff : 0, bytes);
    if (origin == 0 || bytes == 0) {
        return;
    }
    uint32_t *last = origin_at(to, at + bytes - 1);
    for (uint32_t *granule = origin_at(to, at); granule <= last; granule++) {
        *granule = origin;
    }
}

static bool
has_bits(const uint8_t *bits, uint64_t bytes)
{
    return bytes > 0 && (bits[0] != 0 || memcmp(bits, bits + 1, bytes - 1) != 0);
}

/* Origins for what of the bytes has no value.  Those of the source may be overwritten
 * on the way, so they go in the order in which memmove would copy. */
static void
move_origins(const struct ha_shadow *to, uintptr_t at, const struct ha_shadow *from,
             uintptr_t from_at, uint64_t bytes)
{
    bool back = (uintptr_t)bits_at(to, at) > (uintptr_t)bits_at(from, from_at);

    for (uint64_t i = 0; i < bytes; i++) {
        uint64_t offset = back ? bytes - 1 - i : i;
        if (*bits_at(to, at + offset) != 0) {
            *origin_at(to, at + offset) = *origin_at(from, from_at + offset);
        }
    }
}

void
ha_shadow_move(const struct ha_shadow *to, uintptr_t at, const struct ha_shadow *from,
               uintptr_t from_at, uint64_t bytes)
{
    memmove(bits_at(to, at), bits_at(from, from_at), bytes);
    if (has_bits(bits_at(to, at), bytes)) {
        move_origins(to, at, from, from_at, bytes);
    }
}

void
ha_shadow_mark(const struct ha_shadow *to, uintptr_t at, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++) {
        if (*bits_at(to, at + i) != 0) {
            *origin_at(to, at + i) |= HA_SHADOW_COMPUTED_BIT;
        }
    }
}

/* ---- what there is ---- */

static bool
map_range(struct range *range, uintptr_t base, uint64_t bytes)
{
    /* As the memory lies in its page, so that what is aligned there is here. */
    uint64_t lead = base % PAGE_BYTES;
    uint64_t room = (bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
    uint64_t total = lead + 2 * room;
    void *map = mmap(NULL, total, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        return false;
    }
    uint8_t *bits = (uint8_t *)map + lead;
    *range = (struct range){
        .shadow = {.base = base, .bytes = bytes, .bits = bits, .origins = bits + room},
        .map = map,
        .map_bytes = total};
    return true;
}

void
ha_shadow_add(uintptr_t base, uint64_t bytes, uint32_t origin)
{
    struct range range;

    if (bytes == 0 || bytes > UINT64_MAX / 4 || !map_range(&range, base, bytes)) {
        ha_shadow_remove(base);
        return;
    }
    if (origin != 0) {
        ha_shadow_fill(&range.shadow, base, bytes, origin);
    }
    pthread_mutex_lock(&shadows.lock);
    for (size_t count; (count = count_to(base + (bytes - 1))) > 0 &&
                       shadows.ranges[count - 1].shadow.base +
                               shadows.ranges[count - 1].shadow.bytes >
                           base;) {
        remove_at(count - 1);
    }
    bool there = make_room();
    if (there) {
        size_t at = count_to(base);
        memmove(&shadows.ranges[at + 1], &shadows.ranges[at],
                (shadows.count - at) * sizeof range);
        shadows.ranges[at] = range;
        shadows.count++;
    }
    note_change();
    pthread_mutex_unlock(&shadows.lock);
    if (!there) {
        (void)munmap(range.map, range.map_bytes);
    }
}

void
ha_shadow_remove(uintptr_t base)
{
    if (!ha_shadow_any()) {
        return;
    }
    pthread_mutex_lock(&shadows.lock);
    size_t count = count_to(base);
    if (count > 0 && shadows.ranges[count - 1].shadow.base == base) {
        remove_at(count - 1);
    }
    pthread_mutex_unlock(&shadows.lock);
}

void
ha_shadow_forget(void)
{
    if (!ha_shadow_any()) {
        return;
    }
    pthread_mutex_lock(&shadows.lock);
    for (size_t i = 0; i < shadows.count; i++) {
        const struct range *range = &shadows.ranges[i];
        if (madvise(range->map, range->map_bytes, MADV_DONTNEED) != 0) {
            ha_shadow_fill(&range->shadow, range->shadow.base, range->shadow.bytes, 0);
        }
    }
    pthread_mutex_unlock(&shadows.lock);
}

void
ha_shadow_after_fork_child(void)
{
    pthread_mutex_init(&shadows.lock, NULL);
    while (shadows.count > 0) {
        remove_at(shadows.count - 1);
    }
}

bool
ha_shadow_find(uintptr_t at, struct ha_shadow *shadow)
{
    uintptr_t next;

    pthread_mutex_lock(&shadows.lock);
    const struct range *range = range_at(at, &next);
    if (range != NULL) {
        *shadow = range->shadow;
    }
    pthread_mutex_unlock(&shadows.lock);
    return range != NULL;
}

/* ---- what calls of the host do ---- */

/* How many of the bytes from `at` on are in `range`, or before `next` if there is none.
 */
static uint64_t
run_of(const struct range *range, uintptr_t next, uintptr_t at, uint64_t bytes)
{
    uint64_t run =
        range != NULL ? range->shadow.bytes - (at - range->shadow.base) : next - at;
    return run < bytes ? run : bytes;
}

/* The origin for all bytes, or 0 for a value. */
static void
set(uintptr_t at, uint64_t bytes, uint32_t origin)
{
    uintptr_t next;

    if (!ha_shadow_any()) {
        return;
    }
    pthread_mutex_lock(&shadows.lock);
    while (bytes > 0) {
        const struct range *range = range_at(at, &next);
        uint64_t run = run_of(range, next, at, bytes);
        if (range != NULL) {
            ha_shadow_fill(&range->shadow, at, run, origin);
        }
        at += run;
        bytes -= run;
    }
    pthread_mutex_unlock(&shadows.lock);
}

void
ha_shadow_written(uintptr_t at, uint64_t bytes)
{
    set(at, bytes, 0);
}

void
ha_shadow_lost(uintptr_t at, uint64_t bytes, uint32_t origin)
{
    set(at, bytes, origin);
}

/* Lock held.  Bytes that overlap are of one allocation and go in one piece. */
static void
copy_run(const struct range *range, uintptr_t to, uintptr_t from, uint64_t bytes)
{
    uintptr_t next;

    while (bytes > 0) {
        const struct range *source = range_at(from, &next);
        uint64_t run = run_of(source, next, from, bytes);
        if (source == NULL) {
            ha_shadow_fill(&range->shadow, to, run, 0);
        } else {
            ha_shadow_move(&range->shadow, to, &source->shadow, from, run);
        }
        to += run;
        from += run;
        bytes -= run;
    }
}

void
ha_shadow_copied(uintptr_t to, uintptr_t from, uint64_t bytes)
{
    uintptr_t next;

    if (!ha_shadow_any()) {
        return;
    }
    pthread_mutex_lock(&shadows.lock);
    while (bytes > 0) {
        const struct range *range = range_at(to, &next);
        uint64_t run = run_of(range, next, to, bytes);
        if (range != NULL) {
            copy_run(range, to, from, run);
        }
        to += run;
        from += run;
        bytes -= run;
    }
    pthread_mutex_unlock(&shadows.lock);
}

/* Whether a byte of the run was computed. */
static bool
computed_in(const struct range *range, uintptr_t at, uint64_t run, uint32_t *origin)
{
    const uint8_t *bits = bits_at(&range->shadow, at);

    if (!has_bits(bits, run)) {
        return false;
    }
    for (uint64_t i = 0; i < run; i++) {
        uint32_t told = bits[i] != 0 ? *origin_at(&range->shadow, at + i) : 0;
        if ((told & HA_SHADOW_COMPUTED_BIT) != 0) {
            *origin = told;
            return true;
        }
    }
    return false;
}

bool
ha_shadow_computed(uintptr_t at, uint64_t bytes, uint32_t *origin)
{
    uintptr_t next;
    bool found = false;

    if (!ha_shadow_any()) {
        return false;
    }
    pthread_mutex_lock(&shadows.lock);
    for (uint64_t done = 0; done < bytes && !found;) {
        const struct range *range = range_at(at + done, &next);
        uint64_t run = run_of(range, next, at + done, bytes - done);
        found = range != NULL && computed_in(range, at + done, run, origin);
        done += run;
    }
    pthread_mutex_unlock(&shadows.lock);
    return found;
}
