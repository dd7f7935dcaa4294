/* SPDX-License-Identifier: MIT */
/* Which accesses are ordered before which: see cpu/check/race.h. */
#include <stdlib.h>
#include <string.h>

#include "cpu/check/race_state.h"

static void
note(struct ha_race_order *order, bool done)
{
    order->lost |= !done;
}

/* ---- blocks ---- */

static void
forget_hands(const struct ha_race_order *order, struct ha_race_block *block)
{
    for (uint32_t i = 0; i < order->lanes; i++) {
        ha_race_clock_drop(&block->hands[i].known);
        ha_race_clock_drop(&block->hands[i].pending);
        ha_race_clock_drop(&block->hands[i].fence);
        ha_race_clock_drop(&block->hands[i].own_fence);
        block->hands[i].clean = false;
    }
    ha_race_clock_drop(&block->clock);
    ha_race_clock_drop(&block->fence);
    block->handed = block->fenced = false;
}

static void
free_block(const struct ha_race_order *order, struct ha_race_block *block)
{
    if (block != NULL) {
        forget_hands(order, block);
        free(block->stamps);
        free(block->known);
        free(block);
    }
}

static struct ha_race_block *
new_block(const struct ha_race_order *order)
{
    struct ha_race_block *block =
        calloc(1, sizeof *block + order->lanes * sizeof block->hands[0]);

    if (block != NULL) {
        block->stamps = calloc(order->lanes, sizeof *block->stamps);
    }
    if (block != NULL && block->stamps == NULL) {
        free(block);
        return NULL;
    }
    return block;
}

bool
ha_race_order_start(struct ha_race_order *order, uint32_t lanes, uint32_t warp_size,
                    bool relaxed, uint64_t kept)
{
    *order = (struct ha_race_order){.lanes = lanes,
                                    .warp_size = warp_size,
                                    .relaxed = relaxed,
                                    .kept_count = kept > 0 ? kept : 1};
    order->kept = calloc(order->kept_count, sizeof(struct ha_race_block *));
    if (order->kept != NULL) {
        order->kept[0] = order->at = new_block(order);
    }
    return order->at != NULL;
}

void
ha_race_order_release(struct ha_race_order *order)
{
    for (uint64_t i = 0; order->kept != NULL && i < order->kept_count; i++) {
        free_block(order, order->kept[i]);
    }
    ha_race_syncs_release(&order->syncs);
    ha_race_syncs_release(&order->own);
    free(order->kept);
    free(order->owners);
}

void
ha_race_order_row(struct ha_race_order *order)
{
    uint32_t row = order->row + 1;

    if (row >= order->owner_room) {
        size_t room = order->owner_room > 0 ? 2 * order->owner_room : 1024;
        uint64_t *grown = realloc(order->owners, room * sizeof *grown);
        if (grown == NULL || row == HA_RACE_ROW_MOST) {
            order->lost = true;
            order->owners = grown == NULL ? order->owners : grown;
            return;
        }
        order->owners = grown;
        order->owner_room = room;
    }
    order->row = row;
    order->owners[row] = order->block;
}

/* The block begins in what another one used, or what was its own is taken again. */
void
ha_race_block(struct ha_race *race, uint64_t block)
{
    struct ha_race_order *order = &race->order;
    uint64_t place = block % order->kept_count;

    order->block = block;
    ha_race_order_row(order);
    if (order->kept[place] == NULL) {
        order->kept[place] = new_block(order);
    }
    note(order, order->kept[place] != NULL);
    order->at = order->kept[order->kept[place] != NULL ? place : 0];
    if (!order->at->begun || order->at->block != block) {
        forget_hands(order, order->at);
        order->at->block = block;
        order->at->begun = true;
        order->at->base = order->row;
    }
}

/* ---- what a lane knows ---- */

bool
ha_race_order_knows(const struct ha_race_order *order, uint32_t lane, uint32_t other,
                    uint32_t row)
{
    const struct ha_race_block *at = order->at;
    uint64_t block = order->owners[row];

    if (row < order->grid) {
        return true;
    }
    if (block == order->block) {
        if (other == lane || row < at->base ||
            (order->relaxed && other / order->warp_size == lane / order->warp_size) ||
            (at->stamps[lane] == at->base &&
             at->known[(size_t)lane * order->lanes + other] > row)) {
            return true;
        }
    }
    return ha_race_clock_knows(at->clock, block, other, row) ||
           (at->handed &&
            ha_race_clock_knows(at->hands[lane].known, block, other, row));
}

/* All that the lane knows, with its own rows below `row`; NULL: no memory. */
static struct ha_race_clock *
all_known(struct ha_race_order *order, uint32_t lane, uint32_t row)
{
    const struct ha_race_block *at = order->at;
    struct ha_race_clock *clock = ha_race_clock_share(at->clock);

    note(order, ha_race_clock_join(&clock, at->hands[lane].known));
    note(order, ha_race_clock_raise(&clock, order->block, HA_RACE_ALL, at->base));
    note(order, ha_race_clock_raise(&clock, order->block, lane, row));
    if (at->stamps[lane] == at->base) {
        const uint32_t *known = at->known + (size_t)lane * order->lanes;
        for (uint32_t i = 0; i < order->lanes; i++) {
            if (known[i] > at->base) {
                note(order, ha_race_clock_raise(&clock, order->block, i, known[i]));
            }
        }
    }
    return clock;
}

/* ---- lanes that meet ---- */

void
ha_race_barrier(struct ha_race *race)
{
    struct ha_race_order *order = &race->order;
    struct ha_race_block *at = order->at;

    for (uint32_t i = 0; at->fenced && i < order->lanes; i++) {
        note(order, ha_race_clock_join(&at->fence, at->hands[i].fence));
        ha_race_clock_drop(&at->hands[i].fence);
        ha_race_clock_drop(&at->hands[i].own_fence);
    }
    at->fenced = false;
    for (uint32_t i = 0; at->handed && i < order->lanes; i++) {
        struct ha_race_hand *hand = &at->hands[i];
        note(order, ha_race_clock_join(&at->clock, hand->known));
        note(order, ha_race_clock_join(&at->clock, hand->pending));
        ha_race_clock_drop(&hand->known);
        ha_race_clock_drop(&hand->pending);
    }
    at->handed = false;
    ha_race_order_row(order);
    at->base = order->row;
}

void
ha_race_grid(struct ha_race *race)
{
    ha_race_barrier(race);
    race->order.grid = race->order.row;
}

static uint32_t *
known_of(struct ha_race_order *order, uint32_t lane)
{
    struct ha_race_block *at = order->at;
    uint32_t *row = at->known + (size_t)lane * order->lanes;

    if (at->stamps[lane] != at->base) {
        memset(row, 0, order->lanes * sizeof *row);
        at->stamps[lane] = at->base;
    }
    return row;
}

/* What one of the lanes has been handed over is known to all of them, and what one has
 * fenced is fenced. */
static void
share_hands(struct ha_race_order *order, uint32_t first, uint64_t lanes)
{
    struct ha_race_block *at = order->at;
    struct ha_race_clock *all = NULL, *fence = NULL;

    for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
        struct ha_race_hand *hand = &at->hands[first + (uint32_t)__builtin_ctzll(rest)];
        note(order, ha_race_clock_join(&all, hand->known));
        note(order, ha_race_clock_join(&all, hand->pending));
        note(order, ha_race_clock_join(&fence, hand->fence));
        ha_race_clock_drop(&hand->known);
        ha_race_clock_drop(&hand->pending);
        ha_race_clock_drop(&hand->fence);
    }
    for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
        struct ha_race_hand *hand = &at->hands[first + (uint32_t)__builtin_ctzll(rest)];
        hand->known = ha_race_clock_share(all);
        hand->fence = ha_race_clock_share(fence);
    }
    ha_race_clock_drop(&all);
    ha_race_clock_drop(&fence);
}

void
ha_race_warp(struct ha_race *race, uint32_t warp, uint64_t lanes)
{
    struct ha_race_order *order = &race->order;
    struct ha_race_block *at = order->at;
    uint32_t first = warp * order->warp_size;
    uint32_t all[HA_RACE_LANES_MAX];

    if (at->known == NULL) {
        at->known = calloc((size_t)order->lanes * order->lanes, sizeof *at->known);
        if (at->known == NULL) {
            order->lost = true;
            return;
        }
    }
    ha_race_order_row(order);
    memset(all, 0, order->lanes * sizeof all[0]);
    for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
        uint32_t lane = first + (uint32_t)__builtin_ctzll(rest);
        const uint32_t *known = known_of(order, lane);
        for (uint32_t i = 0; i < order->lanes; i++) {
            all[i] = known[i] > all[i] ? known[i] : all[i];
        }
        all[lane] = order->row;
    }
    for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
        uint32_t lane = first + (uint32_t)__builtin_ctzll(rest);
        memcpy(known_of(order, lane), all, order->lanes * sizeof all[0]);
    }
    if (at->handed || at->fenced) {
        share_hands(order, first, lanes);
    }
}

/* ---- what goes from hand to hand ---- */

void
ha_race_fence(struct ha_race *race, uint32_t lane, bool acquires, bool releases,
              bool narrow)
{
    struct ha_race_order *order = &race->order;
    struct ha_race_hand *hand = &order->at->hands[lane];

    if (acquires) {
        note(order, ha_race_clock_join(&hand->known, hand->pending));
        ha_race_clock_drop(&hand->pending);
    }
    if (releases) {
        ha_race_order_row(order);
        struct ha_race_clock *known = all_known(order, lane, order->row);
        ha_race_clock_drop(&hand->own_fence);
        if (narrow) {
            hand->own_fence = known;
        } else {
            ha_race_clock_drop(&hand->fence);
            hand->fence = known;
            hand->clean = true;
        }
        order->at->fenced = true;
    }
}

/* Where lanes of the block find what was left for it alone: no address of a program has
 * the upper bits. */
static uintptr_t
own_place(const struct ha_race_order *order, uintptr_t at)
{
    return at ^ (uintptr_t)(order->block % UINT16_MAX + 1) << 48;
}

static void
take(struct ha_race_order *order, uint32_t lane, struct ha_race_clock *const *left,
     bool acquires)
{
    struct ha_race_hand *hand = &order->at->hands[lane];

    if (left != NULL && *left != NULL) {
        note(order,
             ha_race_clock_join(acquires ? &hand->known : &hand->pending, *left));
        order->at->handed = true;
    }
}

/* What an atomic write that is no release hands over; NULL: nothing.  With it goes the
 * write itself, if the lane has not made other accesses behind its fence. */
static struct ha_race_clock *
fenced_by(struct ha_race_order *order, uint32_t lane)
{
    const struct ha_race_block *at = order->at;
    struct ha_race_clock *known = ha_race_clock_share(at->fence);

    note(order, ha_race_clock_join(&known, at->hands[lane].fence));
    if (known != NULL && at->hands[lane].clean) {
        ha_race_order_row(order);
        note(order, ha_race_clock_raise(&known, order->block, lane, order->row));
    }
    return known;
}

void
ha_race_order_acquire(struct ha_race_order *order, uint32_t lane, uintptr_t at,
                      bool acquires)
{
    take(order, lane, ha_race_syncs_find(&order->syncs, at), acquires);
    take(order, lane, ha_race_syncs_find(&order->own, own_place(order, at)), acquires);
}

/* Leaves what is known at the address; `replaces`: in place of what is there. */
static void
leave(struct ha_race_order *order, struct ha_race_syncs *syncs, uintptr_t at,
      struct ha_race_clock *known, bool replaces)
{
    struct ha_race_clock **left = ha_race_syncs_find(syncs, at);

    if (left == NULL && known != NULL) {
        left = ha_race_syncs_add(syncs, at);
        note(order, left != NULL);
    }
    if (left != NULL) {
        if (replaces) {
            ha_race_clock_drop(left);
        }
        note(order, ha_race_clock_join(left, known));
    }
}

void
ha_race_order_release_at(struct ha_race_order *order,
                         const struct ha_race_access *access)
{
    struct ha_race_clock *own = order->at->hands[access->lane].own_fence, *known;
    bool replaces = !access->reads;

    if (access->release) {
        ha_race_order_row(order);
        known = all_known(order, access->lane, order->row);
        own = access->narrow ? known : NULL;
    } else {
        known = fenced_by(order, access->lane);
        own = access->narrow && own == NULL ? known : own;
    }
    if (!access->narrow) {
        leave(order, &order->syncs, access->at, known, replaces);
    }
    leave(order, &order->own, own_place(order, access->at), own, replaces);
    ha_race_clock_drop(&known);
}

/* Nothing is left in these bytes. */
static void
clear_syncs(struct ha_race_syncs *syncs, uintptr_t at, uintptr_t end)
{
    if (syncs->count == 0 || at > syncs->last || end <= syncs->first) {
        return;
    }
    at = at > syncs->first ? at : syncs->first;
    end = end <= syncs->last ? end : syncs->last + 1;
    for (; at < end; at++) {
        struct ha_race_clock **left = ha_race_syncs_find(syncs, at);
        if (left != NULL) {
            ha_race_clock_drop(left);
        }
    }
}

void
ha_race_order_overwrite(struct ha_race_order *order, uintptr_t at, uint64_t bytes)
{
    clear_syncs(&order->syncs, at, at + bytes);
    clear_syncs(&order->own, own_place(order, at), own_place(order, at) + bytes);
}
