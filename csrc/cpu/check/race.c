/* SPDX-License-Identifier: MIT */
#include "cpu/check/race.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/check/race_state.h"

#define ATOMIC_BIT 1u
#define NARROW_BIT 2u
#define MARK_SHIFT 2
#define LANE_SHIFT 24
#define ROW_SHIFT 34

static ha_race_word
word_of(const struct ha_race_order *order, const struct ha_race_access *access)
{
    return (ha_race_word)order->row << ROW_SHIFT |
           (ha_race_word)access->lane << LANE_SHIFT |
           (ha_race_word)access->mark << MARK_SHIFT |
           (access->atomic ? ATOMIC_BIT : 0) | (access->narrow ? NARROW_BIT : 0);
}

static uint32_t
row_of(ha_race_word word)
{
    return (uint32_t)(word >> ROW_SHIFT);
}

static uint32_t
lane_of(ha_race_word word)
{
    return (uint32_t)(word >> LANE_SHIFT) & (HA_RACE_LANES_MAX - 1);
}

/* Whether what the word tells is ordered before what the lane does next. */
static bool
is_before(const struct ha_race_order *order, ha_race_word word,
          const struct ha_race_access *access)
{
    return word == 0 ||
           (access->shared && order->owners[row_of(word)] != order->block) ||
           ha_race_order_knows(order, access->lane, lane_of(word), row_of(word));
}

/* Both are atomic, and each for the lane of the other. */
static bool
are_atomic(const struct ha_race_order *order, ha_race_word word,
           const struct ha_race_access *access)
{
    return (word & ATOMIC_BIT) != 0 && access->atomic &&
           ((!access->narrow && (word & NARROW_BIT) == 0) ||
            order->owners[row_of(word)] == order->block);
}

/* How far lanes are from one another: 1 in a warp, 2 in a block. */
static unsigned
distance(const struct ha_race_order *order, ha_race_word one, ha_race_word other)
{
    return order->owners[row_of(one)] != order->owners[row_of(other)]             ? 3
           : lane_of(one) / order->warp_size != lane_of(other) / order->warp_size ? 2
                                                                                  : 1;
}

/* ---- what an access races with ---- */

/* An access at one cell, and the races of the whole access. */
struct look {
    const struct ha_race_order *order;
    const struct ha_race_access *access;
    struct ha_race_other *others;
    unsigned count;
    uintptr_t at;
    size_t bytes;
    ha_race_word own;
    bool changed; /* what is there was written by atomics */
};

/* What is there already is what is going to be written. */
static bool
stores_same(const struct look *look)
{
    const unsigned char *value = look->access->value;

    return value != NULL &&
           memcmp((const void *)look->at, value + (look->at - look->access->at),
                  look->bytes) == 0;
}

static void
look_at(struct look *look, ha_race_word word, bool wrote)
{
    if (is_before(look->order, word, look->access) ||
        are_atomic(look->order, word, look->access)) {
        return;
    }
    struct ha_race_other other = {
        .block = look->order->owners[row_of(word)],
        .lane = lane_of(word),
        .mark = (uint32_t)(word >> MARK_SHIFT) & (HA_RACE_MARKS - 1),
        .at = look->at,
        .wrote = wrote,
        .atomic = (word & ATOMIC_BIT) != 0,
        .equal = wrote && !look->changed && stores_same(look),
    };
    for (unsigned i = 0; i < look->count; i++) {
        struct ha_race_other *told = &look->others[i];
        if (told->mark == other.mark) {
            *told = told->equal ? other : *told;
            return;
        }
    }
    if (look->count < HA_RACE_OTHERS) {
        look->others[look->count++] = other;
    }
}

static void
look_at_pair(struct look *look, const ha_race_word *words, bool wrote)
{
    look_at(look, words[0], wrote);
    look_at(look, words[1], wrote);
}

static void
look_at_cell(struct look *look, const struct ha_race_cell *cell,
             const struct ha_race_atomics *atomics)
{
    bool writes = look->access->writes;
    bool atomic = look->access->atomic && !look->order->narrow;

    look->changed = atomics != NULL && atomics->writes[0] != 0;
    look_at(look, cell->write, true);
    if (writes) {
        look_at_pair(look, cell->reads, false);
    }
    if (atomics != NULL && !atomic) {
        look_at_pair(look, atomics->writes, true);
    }
    if (atomics != NULL && !atomic && writes) {
        look_at_pair(look, atomics->reads, false);
    }
}

/* ---- what stays ---- */

/* Of accesses that are not ordered, those of two lanes stay, which are as far from one
 * another as any two are. */
static void
note_one(const struct look *look, ha_race_word *words)
{
    for (unsigned i = 0; i < 2; i++) {
        if (is_before(look->order, words[i], look->access)) {
            words[i] = look->own;
            if (i == 0 && is_before(look->order, words[1], look->access)) {
                words[1] = 0;
            }
            return;
        }
    }
    if (distance(look->order, words[0], look->own) >=
        distance(look->order, words[0], words[1])) {
        words[1] = look->own;
    }
}

static void
note_cell(const struct look *look, struct ha_race_cell *cell,
          struct ha_race_atomics *atomics)
{
    if (look->access->atomic) {
        note_one(look, look->access->writes ? atomics->writes : atomics->reads);
    } else if (!look->access->writes) {
        note_one(look, cell->reads);
    } else {
        *cell = (struct ha_race_cell){.write = look->own};
        if (atomics != NULL) {
            *atomics = (struct ha_race_atomics){0};
        }
    }
}

/* The part of the access that lies in one page; false: no memory. */
static bool
look_at_page(struct ha_race *race, struct look *look, uintptr_t end)
{
    const struct ha_race_access *access = look->access;
    bool fine = ((access->at | access->bytes) & 3) != 0;
    struct ha_race_page *page = ha_race_page_at(&race->pages, look->at, fine);

    if (page == NULL || (access->atomic && !ha_race_page_with_atomics(page))) {
        return false;
    }
    look->bytes = page->fine ? 1 : 4;
    uintptr_t begin = page->number << HA_RACE_PAGE_SHIFT;
    uintptr_t last = begin + ((uintptr_t)1 << HA_RACE_PAGE_SHIFT);
    for (; look->at < end && look->at < last; look->at += look->bytes) {
        size_t cell = (look->at - begin) / look->bytes;
        struct ha_race_atomics *atomics =
            page->atomics == NULL ? NULL : &page->atomics[cell];
        look_at_cell(look, &page->cells[cell], atomics);
        note_cell(look, &page->cells[cell], atomics);
        if (!access->shared && !ha_race_note(page, cell, access, look->order)) {
            race->lost = true;
        }
    }
    return true;
}

unsigned
ha_race_access(struct ha_race *race, const struct ha_race_access *access,
               struct ha_race_other others[HA_RACE_OTHERS])
{
    struct ha_race_order *order = &race->order;
    struct look look = {
        .order = order, .access = access, .others = others, .at = access->at};

    order->at->hands[access->lane].clean &= access->atomic;
    if (access->atomic && access->reads) {
        ha_race_order_acquire(order, access->lane, access->at, access->acquire);
    }
    order->narrow |= access->atomic && access->narrow;
    look.own = word_of(order, access);
    while (look.at < access->at + access->bytes) {
        if (!look_at_page(race, &look, access->at + access->bytes)) {
            race->lost = true;
            break;
        }
    }
    if (access->atomic && access->writes) {
        ha_race_order_release_at(order, access);
    } else if (access->writes) {
        ha_race_order_overwrite(order, access->at, access->bytes);
    }
    return look.count;
}

void
ha_race_forget(struct ha_race *race, uintptr_t at, uint64_t bytes)
{
    ha_race_pages_forget(&race->pages, at, bytes);
    ha_race_order_overwrite(&race->order, at, bytes);
}

struct ha_race *
ha_race_start(uint32_t lanes, uint32_t warp_size, bool relaxed, uint64_t kept)
{
    struct ha_race *race = calloc(1, sizeof *race);

    if (race != NULL &&
        !ha_race_order_start(&race->order, lanes, warp_size, relaxed, kept)) {
        ha_race_order_release(&race->order);
        free(race);
        return NULL;
    }
    return race;
}

void
ha_race_end(struct ha_race *race)
{
    if (race != NULL) {
        ha_race_order_release(&race->order);
        ha_race_pages_release(&race->pages);
        free(race);
    }
}

bool
ha_race_has_lost(const struct ha_race *race)
{
    return race->lost || race->order.lost;
}
