/* SPDX-License-Identifier: MIT */
#include "cpu/check/race.h"

#include <stdlib.h>

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

/* Fills `other`, if they race. */
static bool
races(const struct ha_race_order *order, ha_race_word word, bool wrote,
      const struct ha_race_access *access, uintptr_t at, struct ha_race_other *other)
{
    if (is_before(order, word, access) || are_atomic(order, word, access)) {
        return false;
    }
    *other = (struct ha_race_other){
        .block = order->owners[row_of(word)],
        .lane = lane_of(word),
        .mark = (uint32_t)(word >> MARK_SHIFT) & (HA_RACE_MARKS - 1),
        .at = at,
        .wrote = wrote,
        .atomic = (word & ATOMIC_BIT) != 0,
    };
    return true;
}

/* Reads that are not ordered before this one stay, those of two lanes at most. */
static void
note_read(const struct ha_race_order *order, struct ha_race_cell *cell,
          const struct ha_race_access *access, ha_race_word own)
{
    for (unsigned i = 0; i < 2; i++) {
        if (is_before(order, cell->reads[i], access)) {
            cell->reads[i] = own;
            if (i == 0 && is_before(order, cell->reads[1], access)) {
                cell->reads[1] = 0;
            }
            return;
        }
    }
}

static bool
look_at(struct ha_race_order *order, struct ha_race_cell *cell,
        const struct ha_race_access *access, uintptr_t at, struct ha_race_other *other)
{
    ha_race_word own = word_of(order, access);
    bool found = races(order, cell->write, true, access, at, other);

    if (!access->writes) {
        note_read(order, cell, access, own);
        return found;
    }
    for (unsigned i = 0; i < 2 && !found; i++) {
        found = races(order, cell->reads[i], false, access, at, other);
    }
    cell->write = own;
    cell->reads[0] = cell->reads[1] = 0;
    return found;
}

static void
acquire(struct ha_race_order *order, const struct ha_race_access *access)
{
    ha_race_order_acquire(order, access->lane, access->at, access->acquire);
    if (order->narrow) {
        ha_race_order_acquire(order, access->lane,
                              ha_race_order_place(order, access->at), access->acquire);
    }
}

static void
release(struct ha_race_order *order, const struct ha_race_access *access)
{
    uint32_t lane = access->lane;
    bool replaces = !access->reads;
    bool own = access->narrow || order->narrow_row[lane] > order->fence_row[lane];

    order->narrow |= own;
    if (!access->narrow) {
        ha_race_order_release_at(order, lane, access->at, access->release, false,
                                 replaces);
    }
    if (own || (order->narrow && replaces)) {
        ha_race_order_release_at(order, lane, ha_race_order_place(order, access->at),
                                 access->release, true, replaces);
    }
}

bool
ha_race_access(struct ha_race *race, const struct ha_race_access *access,
               struct ha_race_other *other)
{
    struct ha_race_order *order = &race->order;
    bool fine = ((access->at | access->bytes) & 3) != 0, found = false;

    if (access->atomic && access->reads) {
        acquire(order, access);
    }
    for (uintptr_t at = access->at, end = at + access->bytes; at < end;) {
        struct ha_race_page *page = ha_race_page_at(&race->pages, at, fine);
        if (page == NULL) {
            race->lost = true;
            break;
        }
        size_t step = page->fine ? 1 : 4;
        uintptr_t last = (page->number + 1) << HA_RACE_PAGE_SHIFT;
        size_t first = (at - (page->number << HA_RACE_PAGE_SHIFT)) / step;
        for (size_t i = first; at < end && at < last; i++, at += step) {
            struct ha_race_other seen;
            if (look_at(order, &page->cells[i], access, at, found ? &seen : other)) {
                found = true;
            }
            if (!access->shared && !ha_race_note(page, i, access, order)) {
                race->lost = true;
            }
        }
    }
    if (access->atomic && access->writes) {
        release(order, access);
    }
    return found;
}

struct ha_race *
ha_race_start(uint32_t lanes, uint32_t warp_size, bool relaxed)
{
    struct ha_race *race = calloc(1, sizeof *race);

    if (race != NULL && !ha_race_order_start(&race->order, lanes, warp_size, relaxed)) {
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
