/* SPDX-License-Identifier: MIT */
/* What a launch has accessed, for races with other operations: see cpu/check/deed.h. */
#include <stdlib.h>

#include "cpu/check/race_state.h"

/* A word is 0 where there is nothing: no site is where its kernel is, so its mark is
 * not 0. */
#define WAY_SHIFT 62
#define MARK_SHIFT 39
#define THREAD_MASK (((uint64_t)1 << MARK_SHIFT) - 1)
#define PAGE_BYTES ((size_t)1 << HA_RACE_PAGE_SHIFT)

static enum ha_way
way_of(const struct ha_race_access *access)
{
    bool atomic = access->atomic && !access->narrow; /* for other operations */

    if (access->writes) {
        return atomic ? HA_WAY_ATOMIC : HA_WAY_WRITE;
    }
    return atomic ? HA_WAY_ATOMIC_READ : HA_WAY_READ;
}

static enum ha_way
way_at(const uint64_t *words, size_t cell)
{
    return words == NULL ? HA_WAY_READ : (enum ha_way)(words[cell] >> WAY_SHIFT);
}

bool
ha_race_note(struct ha_race_page *page, size_t cell,
             const struct ha_race_access *access, const struct ha_race_order *order)
{
    enum ha_way way = way_of(access);
    uint64_t **words = way == HA_WAY_READ ? &page->reads : &page->rest;
    uint64_t thread = order->block * order->lanes + access->lane;

    if (*words == NULL) {
        size_t count = page->fine ? PAGE_BYTES : PAGE_BYTES / 4;
        *words = calloc(count, sizeof **words);
        if (*words == NULL) {
            return false;
        }
    }
    uint64_t word = (uint64_t)way << WAY_SHIFT | (uint64_t)access->mark << MARK_SHIFT |
                    (thread & THREAD_MASK);
    if (way != HA_WAY_READ) {
        if (way > way_at(*words, cell)) {
            (*words)[cell] = word;
        }
    } else if ((*words)[cell] == 0 && way_at(page->rest, cell) != HA_WAY_WRITE) {
        (*words)[cell] = word;
    }
    return true;
}

/* ---- telling ---- */

static int
by_number(const void *left, const void *right)
{
    uintptr_t a = (*(struct ha_race_page *const *)left)->number;
    uintptr_t b = (*(struct ha_race_page *const *)right)->number;

    return (a > b) - (a < b);
}

static void
each_of(const struct ha_race_page *page, const uint64_t *words, bool reads,
        void (*each)(void *context, const struct ha_stretch *cell), void *context)
{
    size_t step = page->fine ? 1 : 4;

    for (size_t i = 0; words != NULL && i < PAGE_BYTES / step; i++) {
        uintptr_t at = (page->number << HA_RACE_PAGE_SHIFT) + i * step;
        if (words[i] == 0 || (reads && way_at(page->rest, i) == HA_WAY_WRITE)) {
            continue;
        }
        const struct ha_stretch cell = {
            .begin = at,
            .end = at + step,
            .thread = words[i] & THREAD_MASK,
            .site = (uint32_t)(words[i] >> MARK_SHIFT) & (HA_RACE_MARKS - 1),
            .way = (uint32_t)(words[i] >> WAY_SHIFT) & 3,
        };
        each(context, &cell);
    }
}

void
ha_race_each(struct ha_race *race,
             void (*each)(void *context, const struct ha_stretch *cell), void *context)
{
    struct ha_race_pages *pages = &race->pages;
    struct ha_race_page **sorted = malloc(pages->count * sizeof(struct ha_race_page *));
    size_t count = 0;

    if (sorted == NULL) {
        return;
    }
    for (size_t i = 0; i < pages->capacity; i++) {
        if (pages->table[i] != NULL) {
            sorted[count++] = pages->table[i];
        }
    }
    qsort(sorted, count, sizeof sorted[0], by_number);
    for (size_t i = 0; i < count; i++) {
        each_of(sorted[i], sorted[i]->reads, true, each, context);
        each_of(sorted[i], sorted[i]->rest, false, each, context);
    }
    free(sorted);
}
