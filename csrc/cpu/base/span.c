/* SPDX-License-Identifier: MIT */
#include "cpu/base/span.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/file_limit.h"
#include "cpu/base/gone.h"
#include "cpu/base/shared_file.h"

#define PAGE_BYTES ((size_t)4096)
#define SMALL_UNITS_MAX                                                                \
    ((size_t)1024) /* 256 KiB: larger ones get a span of their own */
#define EXACT_CLASSES 8u
#define RED_ZONE_BYTE 0xa5
#define RED_ZONE_MAX_BYTES ((size_t)64)
#define APART_LEAST_BYTES ((size_t)256)
#define APART_MOST_BYTES ((size_t)1 << 20)
#define APART_SHARE 4                   /* of the size: a quarter */
#define APART_ZONE_BYTES ((size_t)4096) /* that have the pattern */
#define KEPT_BYTE 0xdb
#define KEPT_BYTES ((size_t)64 << 10) /* the same, of what is freed */

#define ADDRESS_BITS 48
#define SPAN_SHIFT 21
#define LEAF_BITS 14
#define LEAF_COUNT ((size_t)1 << LEAF_BITS)
#define ROOT_COUNT ((size_t)1 << (ADDRESS_BITS - SPAN_SHIFT - LEAF_BITS))

_Static_assert(HA_SPAN_BYTES == (size_t)1 << SPAN_SHIFT, "one entry a span");

/* Leaves are made on demand and kept. */
static struct ha_span **root[ROOT_COUNT];
static bool guard_all;

static size_t
round_up(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

void
ha_span_guard(bool guard)
{
    guard_all = guard;
}

static bool
guards(const struct ha_heap *heap)
{
    return guard_all && !heap->shared;
}

/* ---- from addresses to spans ---- */

static struct ha_span *
table_get(uintptr_t address)
{
    if (address >> ADDRESS_BITS != 0) {
        return NULL;
    }
    struct ha_span **leaf = root[address >> (SPAN_SHIFT + LEAF_BITS)];
    return leaf != NULL ? leaf[address >> SPAN_SHIFT & (LEAF_COUNT - 1)] : NULL;
}

static bool
table_set(const struct ha_span *span, struct ha_span *value)
{
    uintptr_t address = (uintptr_t)span->map;
    uintptr_t end = address + span->mapped_bytes;
    if ((end - 1) >> ADDRESS_BITS != 0) {
        return false;
    }
    for (; address < end; address += HA_SPAN_BYTES) {
        struct ha_span ***leaf = &root[address >> (SPAN_SHIFT + LEAF_BITS)];
        if (*leaf == NULL && value != NULL) {
            *leaf = calloc(LEAF_COUNT, sizeof **leaf);
            if (*leaf == NULL) {
                return false;
            }
        }
        if (*leaf != NULL) {
            (*leaf)[address >> SPAN_SHIFT & (LEAF_COUNT - 1)] = value;
        }
    }
    return true;
}

bool
ha_span_find(const void *address, struct ha_span **span, uint32_t *slot)
{
    struct ha_span *found = table_get((uintptr_t)address);
    if (found == NULL) {
        return false;
    }
    size_t offset = (size_t)((const unsigned char *)address - found->base);
    size_t index = offset / found->slot_bytes;
    if (index >= found->slot_count || found->slots[index].state == HA_SLOT_FREE ||
        offset - index * found->slot_bytes >= found->slots[index].size) {
        return false;
    }
    *span = found;
    *slot = (uint32_t)index;
    return true;
}

bool
ha_span_near(const void *address, struct ha_span **span, uint32_t *slot)
{
    struct ha_span *found = table_get((uintptr_t)address);
    if (found == NULL || (uintptr_t)address < (uintptr_t)found->base) {
        return false;
    }
    size_t offset = (size_t)((const unsigned char *)address - found->base);
    size_t index = offset / found->slot_bytes;
    if (index >= found->slot_count || found->slots[index].state == HA_SLOT_FREE) {
        return false;
    }
    *span = found;
    *slot = (uint32_t)index;
    return true;
}

bool
ha_span_overlaps(const void *address, size_t size)
{
    uintptr_t begin = (uintptr_t)address;
    uintptr_t end = begin + size;
    for (uintptr_t at = begin; at < end; at = (at | (HA_SPAN_BYTES - 1)) + 1) {
        const struct ha_span *span = table_get(at);
        /* The rest of a large span's last entry may belong to other mappings. */
        if (span != NULL && begin < (uintptr_t)span->map + span->mapped_bytes) {
            return true;
        }
    }
    return false;
}

bool
ha_span_owns(const void *address, size_t size)
{
    const struct ha_span *span = table_get((uintptr_t)address);
    if (span == NULL) {
        return false;
    }
    const unsigned char *begin = span->map + (span->guarded ? PAGE_BYTES : 0);
    const unsigned char *end = span->map + span->mapped_bytes;
    if (span->class == HA_CLASS_COUNT) {
        end = span->base + span->slot_bytes;
    }
    uintptr_t at = (uintptr_t)address;
    return at >= (uintptr_t)begin && at <= (uintptr_t)end &&
           size <= (uintptr_t)end - at;
}

/* ---- serials ---- */

static size_t
serials_bytes(size_t slot_count)
{
    return round_up(slot_count * sizeof(uint64_t), PAGE_BYTES);
}

int
ha_span_announce(struct ha_span *span, uint32_t slot, uint64_t *place)
{
    if (span->serials == NULL) {
        void *map = mmap(NULL, serials_bytes(span->slot_count), PROT_READ | PROT_WRITE,
                         MAP_SHARED, span->file, (off_t)span->serials_offset);
        if (map == MAP_FAILED) {
            return errno;
        }
        span->serials = map;
    }
    atomic_store(&span->serials[slot], span->slots[slot].id);
    *place = span->serials_offset + slot * sizeof(uint64_t);
    return 0;
}

void
ha_span_recall(struct ha_span *span, uint32_t slot)
{
    if (span->serials != NULL) {
        atomic_store(&span->serials[slot], 0);
    }
}

/* ---- mappings ---- */

/* `bytes` (a multiple of a page) at a multiple of HA_SPAN_BYTES, or NULL. */
static unsigned char *
map_aligned(size_t bytes)
{
    if (bytes > SIZE_MAX - HA_SPAN_BYTES) {
        return NULL;
    }
    size_t total = bytes + HA_SPAN_BYTES;
    unsigned char *start =
        mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        return NULL;
    }
    unsigned char *base = (unsigned char *)round_up((uintptr_t)start, HA_SPAN_BYTES);
    size_t before = (size_t)(base - start);
    if (before > 0) {
        munmap(start, before);
    }
    if (HA_SPAN_BYTES - before > 0) {
        munmap(base + bytes, HA_SPAN_BYTES - before);
    }
    return base;
}

/* Puts the next part of the heap's file in the place of the span's pages. */
static bool
map_shared(struct ha_heap *heap, struct ha_span *span)
{
    uint64_t serials = heap->file_end + span->mapped_bytes;
    uint64_t end = serials + serials_bytes(span->slot_count);
    if (end > INT64_MAX || ha_shared_file_grow(heap->file, end) != 0 ||
        mmap(span->map, span->mapped_bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, heap->file, (off_t)heap->file_end) == MAP_FAILED) {
        return false;
    }
    span->file = heap->file;
    span->file_offset = heap->file_end + (uint64_t)(span->base - span->map);
    span->serials_offset = serials;
    heap->file_end = end;
    return true;
}

/* The pages around a large span that nobody may touch. */
static bool
make_guards(const struct ha_span *span)
{
    return mprotect(span->base + span->slot_bytes, PAGE_BYTES, PROT_NONE) == 0 &&
           (!span->guarded || mprotect(span->map, PAGE_BYTES, PROT_NONE) == 0);
}

/* The first slot is `lead` bytes behind the beginning; if it is guarded, the first page
 * of them has no access. */
static struct ha_span *
span_new(struct ha_heap *heap, uint32_t class, size_t slot_bytes, size_t mapped_bytes,
         size_t lead)
{
    size_t count = class == HA_CLASS_COUNT ? 1 : (mapped_bytes - lead) / slot_bytes;
    struct ha_span *span = calloc(1, sizeof *span + count * sizeof span->slots[0]);
    if (span == NULL) {
        return NULL;
    }
    span->map = map_aligned(mapped_bytes);
    span->guarded = guards(heap);
    span->mapped_bytes = mapped_bytes;
    span->slot_bytes = slot_bytes;
    span->slot_count = (uint32_t)count;
    span->class = class;
    span->heap = heap;
    span->file = -1;
    if (span->map == NULL) {
        free(span);
        return NULL;
    }
    span->base = span->map + lead;
    if (heap->shared && !map_shared(heap, span)) {
        munmap(span->map, mapped_bytes);
        free(span);
        return NULL;
    }
    bool ready = class != HA_CLASS_COUNT || make_guards(span);
    /* A huge page would make the first small allocation of a class cost 2 MiB. */
    bool huge = class == HA_CLASS_COUNT && !span->guarded;
    (void)madvise(huge ? span->base : span->map, huge ? slot_bytes : mapped_bytes,
                  huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    if (!ready || !table_set(span, span)) {
        table_set(span, NULL);
        munmap(span->map, mapped_bytes);
        free(span);
        return NULL;
    }
    span->all_next = heap->all;
    if (heap->all != NULL) {
        heap->all->all_previous = span;
    }
    heap->all = span;
    return span;
}

static void
span_destroy(struct ha_span *span)
{
    struct ha_heap *heap = span->heap;
    if (span->all_previous != NULL) {
        span->all_previous->all_next = span->all_next;
    } else {
        heap->all = span->all_next;
    }
    if (span->all_next != NULL) {
        span->all_next->all_previous = span->all_previous;
    }
    table_set(span, NULL);
    ha_gone_add(span->map, span->mapped_bytes);
    munmap(span->map, span->mapped_bytes);
    if (span->serials != NULL) {
        munmap(span->serials, serials_bytes(span->slot_count));
    }
    if (heap->shared) {
        (void)fallocate(heap->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        (off_t)span->file_offset - (span->base - span->map),
                        (off_t)(span->mapped_bytes + serials_bytes(span->slot_count)));
    } else if (span->file >= 0) {
        close(span->file);
    }
    free(span);
}

int
ha_span_share(struct ha_span *span)
{
    if (span->file >= 0) {
        return 0;
    }
    /* Pages that nobody may touch stay so. */
    unsigned char *first = span->guarded ? span->map + PAGE_BYTES : span->map;
    size_t lead = (size_t)(span->base - first);
    size_t bytes =
        span->class == HA_CLASS_COUNT ? lead + span->slot_bytes : span->mapped_bytes;
    int file = -1;
    struct ha_file_limit limit;
    int error = ha_shared_file_create(HA_SHARED_MEMORY,
                                      bytes + serials_bytes(span->slot_count), &file);
    /* In pieces, so that there are never two copies of all. Pieces that have moved when
     * one fails stay moved: it is the same memory in other pages. */
    ha_file_limit_hold(&limit);
    for (size_t at = 0; at < bytes && error == 0;) {
        size_t piece = bytes - at < HA_SPAN_BYTES ? bytes - at : HA_SPAN_BYTES;
        for (size_t done = 0; done < piece && error == 0;) {
            ssize_t count =
                pwrite(file, first + at + done, piece - done, (off_t)(at + done));
            error = count < 0 && errno != EINTR ? errno : count == 0 ? ENOSPC : 0;
            done += count > 0 ? (size_t)count : 0;
        }
        if (error == 0 && mmap(first + at, piece, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_FIXED, file, (off_t)at) == MAP_FAILED) {
            error = errno;
        }
        at += piece;
    }
    ha_file_limit_release(&limit);
    if (error != 0) {
        if (file >= 0) {
            close(file);
        }
        return error;
    }
    span->file = file;
    span->file_offset = lead;
    span->serials_offset = bytes;
    return 0;
}

static void
room_add(struct ha_span *span)
{
    struct ha_span **first = &span->heap->room[span->class];
    span->listed = true;
    span->room_previous = NULL;
    span->room_next = *first;
    if (*first != NULL) {
        (*first)->room_previous = span;
    }
    *first = span;
}

static void
room_remove(struct ha_span *span)
{
    span->listed = false;
    if (span->room_previous != NULL) {
        span->room_previous->room_next = span->room_next;
    } else {
        span->heap->room[span->class] = span->room_next;
    }
    if (span->room_next != NULL) {
        span->room_next->room_previous = span->room_previous;
    }
}

/* ---- slots ---- */

/* Up to 8 units each count has a class; above, there are four classes a doubling. */
static uint32_t
class_of(size_t units, size_t *class_units)
{
    if (units <= EXACT_CLASSES) {
        *class_units = units;
        return (uint32_t)units - 1;
    }
    unsigned shift = 63u - (unsigned)__builtin_clzll(units - 1) - 2u;
    size_t quarter = ((units - 1) >> shift) - 4;
    *class_units = (quarter + 5) << shift;
    return EXACT_CLASSES + (shift - 1) * 4 + (uint32_t)quarter;
}

static size_t
red_zone_bytes(const struct ha_span *span, const struct ha_slot *slot)
{
    size_t bytes = span->slot_bytes - slot->zone;
    size_t most = slot->apart ? APART_ZONE_BYTES : RED_ZONE_MAX_BYTES;
    return bytes < most ? bytes : most;
}

/* Of the bytes between the page before a guarded allocation and its beginning. */
static size_t
front_zone_bytes(const struct ha_span *span)
{
    size_t bytes = span->guarded ? (size_t)(span->base - span->map) - PAGE_BYTES : 0;
    return bytes < RED_ZONE_MAX_BYTES ? bytes : RED_ZONE_MAX_BYTES;
}

static uint32_t
slot_take(struct ha_span *span)
{
    uint32_t index;
    if (span->first_free != 0) {
        index = span->first_free - 1;
        span->first_free = span->slots[index].next_free;
    } else {
        index = span->touched_count++;
    }
    span->used_count++;
    if (span->listed && span->used_count == span->slot_count) {
        room_remove(span);
    }
    return index;
}

size_t
ha_span_footprint(const struct ha_heap *heap, size_t size)
{
    size_t class_units;
    if (size > SIZE_MAX / 2) {
        return 0;
    }
    if (guards(heap)) {
        return round_up(size, HA_SLOT_ALIGN);
    }
    size_t units = (size + HA_RED_ZONE_MIN_BYTES + HA_SLOT_ALIGN - 1) / HA_SLOT_ALIGN;
    if (units > SMALL_UNITS_MAX) {
        return round_up(size + HA_RED_ZONE_MIN_BYTES, PAGE_BYTES);
    }
    class_of(units, &class_units);
    return class_units * HA_SLOT_ALIGN;
}

/* With `zone` bytes behind it. */
static bool
alloc(struct ha_heap *heap, size_t size, size_t zone, struct ha_span **span,
      uint32_t *slot, size_t *footprint)
{
    if (size > SIZE_MAX / 2) {
        return false;
    }
    struct ha_span *found;
    bool apart = zone > HA_RED_ZONE_MIN_BYTES;
    size_t units = (size + zone + HA_SLOT_ALIGN - 1) / HA_SLOT_ALIGN;
    if (guards(heap)) {
        size_t bytes = round_up(size, HA_SLOT_ALIGN);
        size_t inner = round_up(bytes, PAGE_BYTES);
        found = span_new(heap, HA_CLASS_COUNT, bytes, inner + 2 * PAGE_BYTES,
                         PAGE_BYTES + inner - bytes);
        if (found == NULL) {
            return false;
        }
        memset(found->base - front_zone_bytes(found), RED_ZONE_BYTE,
               front_zone_bytes(found));
        *footprint = bytes;
    } else if (units <= SMALL_UNITS_MAX) {
        size_t class_units;
        uint32_t class = class_of(units, &class_units);
        found = heap->room[class];
        if (found == NULL) {
            size_t bytes = class_units * HA_SLOT_ALIGN;
            found = span_new(heap, class, bytes, HA_SPAN_BYTES, apart ? bytes : 0);
            if (found == NULL) {
                return false;
            }
            room_add(found);
        }
        *footprint = found->slot_bytes;
    } else {
        size_t bytes = round_up(size + zone, PAGE_BYTES);
        size_t lead = apart ? HA_SPAN_BYTES : 0; /* the same alignment */
        found = span_new(heap, HA_CLASS_COUNT, bytes, lead + bytes + PAGE_BYTES, lead);
        if (found == NULL) {
            return false;
        }
        *footprint = bytes;
    }
    uint32_t index = slot_take(found);
    found->slots[index].state = HA_SLOT_LIVE;
    found->slots[index].owner = NULL;
    found->slots[index].sync = false;
    found->slots[index].apart = apart;
    ha_span_resize(found, index, size, false);
    *span = found;
    *slot = index;
    return true;
}

bool
ha_span_alloc(struct ha_heap *heap, size_t size, struct ha_span **span, uint32_t *slot,
              size_t *footprint)
{
    return alloc(heap, size, HA_RED_ZONE_MIN_BYTES, span, slot, footprint);
}

bool
ha_span_alloc_apart(struct ha_heap *heap, size_t size, struct ha_span **span,
                    uint32_t *slot, size_t *footprint)
{
    size_t zone = size / APART_SHARE;
    zone = zone < APART_LEAST_BYTES  ? APART_LEAST_BYTES
           : zone > APART_MOST_BYTES ? APART_MOST_BYTES
                                     : zone;
    if (!alloc(heap, size, zone, span, slot, footprint)) {
        return false;
    }
    *footprint = ha_span_footprint(heap, size);
    return true;
}

/* Of a slot that is KEPT: the bytes with the pattern. */
static size_t
kept_bytes(const struct ha_slot *slot)
{
    return slot->size < KEPT_BYTES ? slot->size : KEPT_BYTES;
}

size_t
ha_span_keep(struct ha_span *span, uint32_t slot)
{
    struct ha_slot *kept = &span->slots[slot];
    unsigned char *base = ha_span_address(span, slot);
    unsigned char *end = base + span->slot_bytes;
    unsigned char *rest =
        (unsigned char *)round_up((uintptr_t)(base + kept_bytes(kept)), PAGE_BYTES);
    size_t bytes = span->slot_bytes;
    kept->state = HA_SLOT_KEPT;
    memset(base, KEPT_BYTE, kept_bytes(kept));
    if (span->class == HA_CLASS_COUNT && span->file < 0 && rest < end) {
        (void)madvise(rest, (size_t)(end - rest), MADV_DONTNEED);
        bytes = (size_t)(rest - base);
    }
    /* Its mappings are no less: a process may have so many. */
    return span->class == HA_CLASS_COUNT && bytes < KEPT_BYTES ? KEPT_BYTES : bytes;
}

static const unsigned char *
first_other(const unsigned char *begin, size_t bytes, unsigned char byte)
{
    if (bytes == 0 || (begin[0] == byte && memcmp(begin, begin + 1, bytes - 1) == 0)) {
        return NULL;
    }
    while (*begin == byte) {
        begin++;
    }
    return begin;
}

const void *
ha_span_damage(const struct ha_span *span, uint32_t slot)
{
    const struct ha_slot *looked_at = &span->slots[slot];
    const unsigned char *base = ha_span_address(span, slot);
    size_t front = front_zone_bytes(span);
    if (looked_at->state == HA_SLOT_KEPT) {
        return first_other(base, kept_bytes(looked_at), KEPT_BYTE);
    }
    const unsigned char *damage = first_other(
        base + looked_at->zone, red_zone_bytes(span, looked_at), RED_ZONE_BYTE);
    return damage != NULL ? damage : first_other(base - front, front, RED_ZONE_BYTE);
}

void
ha_span_resize(struct ha_span *span, uint32_t slot, size_t size, bool in_use)
{
    struct ha_slot *resized = &span->slots[slot];
    resized->size = size;
    if (!in_use || size > resized->zone) {
        resized->zone = size;
        memset((unsigned char *)ha_span_address(span, slot) + size, RED_ZONE_BYTE,
               red_zone_bytes(span, resized));
    }
}

bool
ha_span_intact(const struct ha_span *span, uint32_t slot)
{
    return ha_span_damage(span, slot) == NULL;
}

bool
ha_span_free(struct ha_span *span, uint32_t slot, size_t *footprint)
{
    struct ha_slot *freed = &span->slots[slot];
    bool intact = ha_span_intact(span, slot);
    ha_span_recall(span, slot);
    *footprint = span->slot_bytes;
    if (span->class == HA_CLASS_COUNT) {
        span_destroy(span);
        return intact;
    }
    freed->state = HA_SLOT_FREE;
    freed->next_free = span->first_free;
    span->first_free = slot + 1;
    span->used_count--;
    if (!span->listed) {
        room_add(span);
    } else if (span->used_count == 0 &&
               (span->room_next != NULL || span->room_previous != NULL)) {
        room_remove(span);
        span_destroy(span);
    }
    return intact;
}

void
ha_span_trim(struct ha_heap *heap)
{
    struct ha_span *span = heap->all;
    while (span != NULL) {
        struct ha_span *next = span->all_next;
        if (span->used_count == 0) {
            if (span->listed) {
                room_remove(span);
            }
            span_destroy(span);
        }
        span = next;
    }
}

void
ha_span_after_fork_child(void)
{
    memset(root, 0, sizeof root);
}
