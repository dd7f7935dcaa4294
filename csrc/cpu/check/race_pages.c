/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "cpu/check/race_state.h"

#define PAGE_BYTES ((size_t)1 << HA_RACE_PAGE_SHIFT)
#define FIRST_CAPACITY 64u /* a power of two */

static size_t
slot_of(const struct ha_race_pages *pages, uintptr_t number)
{
    uint64_t mixed = (uint64_t)number * UINT64_C(0x9E3779B97F4A7C15);
    size_t slot = (size_t)(mixed >> 32) & (pages->capacity - 1);

    while (pages->table[slot] != NULL && pages->table[slot]->number != number) {
        slot = (slot + 1) & (pages->capacity - 1);
    }
    return slot;
}

static bool
grow(struct ha_race_pages *pages)
{
    struct ha_race_pages grown = {.capacity = pages->capacity > 0 ? 2 * pages->capacity
                                                                  : FIRST_CAPACITY,
                                  .count = pages->count};

    grown.table = calloc(grown.capacity, sizeof(struct ha_race_page *));
    if (grown.table == NULL) {
        return false;
    }
    for (size_t i = 0; i < pages->capacity; i++) {
        if (pages->table[i] != NULL) {
            grown.table[slot_of(&grown, pages->table[i]->number)] = pages->table[i];
        }
    }
    free(pages->table);
    *pages = grown;
    return true;
}

static struct ha_race_page *
new_page(uintptr_t number, bool fine)
{
    size_t count = fine ? PAGE_BYTES : PAGE_BYTES / 4;
    struct ha_race_page *page =
        calloc(1, sizeof *page + count * sizeof(struct ha_race_cell));

    if (page != NULL) {
        page->number = number;
        page->fine = fine;
    }
    return page;
}

bool
ha_race_page_with_atomics(struct ha_race_page *page)
{
    if (page->atomics == NULL) {
        page->atomics =
            calloc(page->fine ? PAGE_BYTES : PAGE_BYTES / 4, sizeof *page->atomics);
    }
    return page->atomics != NULL;
}

static void
free_page(struct ha_race_page *page)
{
    if (page != NULL) {
        free(page->atomics);
        free(page->reads);
        free(page->rest);
        free(page);
    }
}

/* Words by cell for a page that is fine; NULL: none, or no memory. */
static uint64_t *
refine_words(const uint64_t *words)
{
    uint64_t *fine = words == NULL ? NULL : malloc(PAGE_BYTES * sizeof *fine);

    for (size_t i = 0; fine != NULL && i < PAGE_BYTES; i++) {
        fine[i] = words[i / 4];
    }
    return fine;
}

/* Each cell of four bytes becomes four. */
static struct ha_race_page *
refine(const struct ha_race_page *page)
{
    struct ha_race_page *fine = new_page(page->number, true);

    if (fine != NULL && page->atomics != NULL && !ha_race_page_with_atomics(fine)) {
        free_page(fine);
        return NULL;
    }
    for (size_t i = 0; fine != NULL && i < PAGE_BYTES; i++) {
        fine->cells[i] = page->cells[i / 4];
        if (page->atomics != NULL) {
            fine->atomics[i] = page->atomics[i / 4];
        }
    }
    if (fine != NULL) {
        fine->reads = refine_words(page->reads);
        fine->rest = refine_words(page->rest);
    }
    return fine;
}

struct ha_race_page *
ha_race_page_at(struct ha_race_pages *pages, uintptr_t at, bool fine)
{
    uintptr_t number = at >> HA_RACE_PAGE_SHIFT;
    struct ha_race_page *page = pages->last;

    if (page != NULL && page->number == number && page->fine >= fine) {
        return page;
    }
    if (2 * (pages->count + 1) > pages->capacity && !grow(pages)) {
        return NULL;
    }
    size_t slot = slot_of(pages, number);
    page = pages->table[slot];
    if (page == NULL) {
        page = new_page(number, fine);
        pages->count += page != NULL;
        pages->table[slot] = page;
    } else if (fine && !page->fine) {
        struct ha_race_page *finer = refine(page);
        if (finer == NULL) {
            return NULL;
        }
        free_page(page);
        page = pages->table[slot] = finer;
    }
    pages->last = page;
    return page;
}

/* The cells of a page that the bytes [first, last) of it touch. */
static void
forget_in(struct ha_race_page *page, size_t first, size_t last)
{
    size_t step = page->fine ? 1 : 4;

    for (size_t i = first / step; i * step < last; i++) {
        page->cells[i] = (struct ha_race_cell){0};
        if (page->atomics != NULL) {
            page->atomics[i] = (struct ha_race_atomics){0};
        }
    }
}

void
ha_race_pages_forget(struct ha_race_pages *pages, uintptr_t at, uint64_t bytes)
{
    uintptr_t end = at + bytes;

    while (at < end && pages->count > 0) {
        uintptr_t number = at >> HA_RACE_PAGE_SHIFT;
        uintptr_t begin = number << HA_RACE_PAGE_SHIFT;
        uintptr_t next = begin + PAGE_BYTES < end ? begin + PAGE_BYTES : end;
        struct ha_race_page *page = pages->table[slot_of(pages, number)];
        if (page != NULL) {
            forget_in(page, at - begin, next - begin);
        }
        at = next;
    }
}

void
ha_race_pages_release(struct ha_race_pages *pages)
{
    for (size_t i = 0; i < pages->capacity; i++) {
        free_page(pages->table[i]);
    }
    free(pages->table);
    *pages = (struct ha_race_pages){0};
}
