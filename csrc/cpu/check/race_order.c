/* SPDX-License-Identifier: MIT */
/* Which accesses are ordered before which: see cpu/check/race.h. */
#include <stdlib.h>
#include <string.h>

#include "cpu/check/race_state.h"

#define DEPTH_MOST 8u /* of hands that something went through */

/* Room for one more item; false: no memory. */
static bool
have_room(void **items, size_t size, uint32_t count, uint32_t *capacity)
{
    if (count < *capacity) {
        return true;
    }
    uint32_t more = *capacity > 0 ? 2 * *capacity : 16;
    void *grown = realloc(*items, more * size);
    if (grown == NULL) {
        return false;
    }
    *items = grown;
    *capacity = more;
    return true;
}

bool
ha_race_order_start(struct ha_race_order *order, uint32_t lanes, uint32_t warp_size,
                    bool relaxed)
{
    *order = (struct ha_race_order){
        .lanes = lanes, .warp_size = warp_size, .relaxed = relaxed};
    order->stamps = calloc(lanes, sizeof *order->stamps);
    return order->stamps != NULL;
}

void
ha_race_order_release(struct ha_race_order *order)
{
    for (uint32_t i = 0; i < order->sync_count; i++) {
        free(order->syncs[i].entries);
    }
    free(order->syncs);
    free(order->owners);
    free(order->stamps);
    free(order->known);
    free(order->pending);
    free(order->views);
    free(order->kept);
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

/* ---- what a lane knows ---- */

static bool
view_has(const struct ha_race_order *order, const struct ha_race_view *view,
         uint64_t block, uint32_t lane, uint32_t row, unsigned depth)
{
    const struct ha_race_sync *sync = &order->syncs[view->sync];

    for (uint32_t i = view->end; i-- > view->begin;) {
        const struct ha_race_entry *entry = &sync->entries[i];
        if (entry->block == block &&
            (row < entry->base || (lane == entry->lane && row < entry->row))) {
            return true;
        }
        for (uint32_t k = 0; depth < DEPTH_MOST && k < entry->knows_count; k++) {
            if (view_has(order, &order->kept[entry->knows + k], block, lane, row,
                         depth + 1)) {
                return true;
            }
        }
    }
    return false;
}

static bool
was_handed_over(const struct ha_race_order *order, uint32_t lane, uint64_t block,
                uint32_t other, uint32_t row)
{
    for (uint32_t i = 0; i < order->view_count; i++) {
        if (view_has(order, &order->views[i], block, other, row, 0)) {
            return true;
        }
    }
    for (uint32_t i = 0; i < order->pending_count; i++) {
        const struct ha_race_pending *pending = &order->pending[i];
        if (pending->known && pending->lane == lane &&
            view_has(order, &pending->view, block, other, row, 0)) {
            return true;
        }
    }
    return false;
}

bool
ha_race_order_knows(const struct ha_race_order *order, uint32_t lane, uint32_t other,
                    uint32_t row)
{
    uint64_t block = order->owners[row];

    if (row < order->grid) {
        return true;
    }
    if (block == order->block) {
        if (other == lane || row < order->base ||
            (order->relaxed && other / order->warp_size == lane / order->warp_size)) {
            return true;
        }
        if (order->stamps[lane] == order->base + 1 &&
            order->known[(size_t)lane * order->lanes + other] > row) {
            return true;
        }
    }
    return (order->view_count > 0 || order->pending_count > 0) &&
           was_handed_over(order, lane, block, other, row);
}

/* ---- lanes that meet ---- */

void
ha_race_block(struct ha_race *race, uint64_t block)
{
    struct ha_race_order *order = &race->order;

    order->block = block;
    order->pending_count = 0;
    order->view_count = 0;
    memset(order->fence_row, 0, order->lanes * sizeof order->fence_row[0]);
    memset(order->narrow_row, 0, order->lanes * sizeof order->narrow_row[0]);
    ha_race_order_row(order);
    order->base = order->row;
}

static void
learn(struct ha_race_order *order, struct ha_race_view view)
{
    for (uint32_t i = 0; i < order->view_count; i++) {
        struct ha_race_view *known = &order->views[i];
        if (known->sync == view.sync && known->begin == view.begin) {
            known->end = view.end > known->end ? view.end : known->end;
            return;
        }
    }
    if (have_room((void **)&order->views, sizeof view, order->view_count,
                  &order->view_capacity)) {
        order->views[order->view_count++] = view;
    } else {
        order->lost = true;
    }
}

void
ha_race_barrier(struct ha_race *race)
{
    struct ha_race_order *order = &race->order;

    for (uint32_t i = 0; i < order->pending_count; i++) {
        learn(order, order->pending[i].view);
    }
    order->pending_count = 0;
    ha_race_order_row(order);
    order->base = order->row;
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
    uint32_t *row = order->known + (size_t)lane * order->lanes;

    if (order->stamps[lane] != order->base + 1) {
        memset(row, 0, order->lanes * sizeof *row);
        order->stamps[lane] = order->base + 1;
    }
    return row;
}

/* What one of the lanes has been handed over is known to all of them. */
static void
share_pending(struct ha_race_order *order, uint32_t first, uint64_t lanes)
{
    uint32_t count = order->pending_count;

    for (uint32_t i = 0; i < count; i++) {
        struct ha_race_pending pending = order->pending[i];
        uint32_t place = pending.lane - first;
        if (pending.lane < first || place >= order->warp_size ||
            (lanes >> place & 1) == 0) {
            continue;
        }
        for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
            pending.lane = first + (uint32_t)__builtin_ctzll(rest);
            pending.known = true;
            if (!have_room((void **)&order->pending, sizeof pending,
                           order->pending_count, &order->pending_capacity)) {
                order->lost = true;
                return;
            }
            order->pending[order->pending_count++] = pending;
        }
    }
}

void
ha_race_warp(struct ha_race *race, uint32_t warp, uint64_t lanes)
{
    struct ha_race_order *order = &race->order;
    uint32_t first = warp * order->warp_size;
    uint32_t all[HA_RACE_LANES_MAX];

    if (order->known == NULL) {
        order->known =
            calloc((size_t)order->lanes * order->lanes, sizeof *order->known);
        if (order->known == NULL) {
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
    share_pending(order, first, lanes);
}

/* ---- what goes from hand to hand ---- */

void
ha_race_fence(struct ha_race *race, uint32_t lane, bool narrow)
{
    struct ha_race_order *order = &race->order;

    ha_race_order_row(order);
    if (!narrow) {
        order->fence_base[lane] = order->base;
        order->fence_row[lane] = order->row;
    }
    order->narrow_base[lane] = order->base;
    order->narrow_row[lane] = order->row;
    for (uint32_t i = 0; i < order->pending_count; i++) {
        order->pending[i].known |= order->pending[i].lane == lane;
    }
}

/* IR_NONE-like: UINT32_MAX where lanes have not handed anything over there. */
static uint32_t
find_sync(const struct ha_race_order *order, uintptr_t at)
{
    for (uint32_t i = order->sync_count; i-- > 0;) {
        if (order->syncs[i].at == at) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* No address of a program has the upper bits. */
uintptr_t
ha_race_order_place(const struct ha_race_order *order, uintptr_t at)
{
    return at ^ (uintptr_t)(order->block % UINT16_MAX + 1) << 48;
}

void
ha_race_order_acquire(struct ha_race_order *order, uint32_t lane, uintptr_t at,
                      bool acquires)
{
    uint32_t number = order->sync_count > 0 ? find_sync(order, at) : UINT32_MAX;

    if (number == UINT32_MAX) {
        return;
    }
    const struct ha_race_sync *sync = &order->syncs[number];
    struct ha_race_pending pending = {
        .view = {.sync = number, .begin = sync->begin, .end = sync->count},
        .lane = lane,
        .known = acquires};
    if (sync->begin == sync->count) {
        return;
    }
    for (uint32_t i = 0; i < order->pending_count; i++) {
        struct ha_race_pending *old = &order->pending[i];
        if (old->lane == lane && old->view.sync == number &&
            old->view.begin == sync->begin && old->known == acquires) {
            old->view.end = sync->count;
            return;
        }
    }
    if (have_room((void **)&order->pending, sizeof pending, order->pending_count,
                  &order->pending_capacity)) {
        order->pending[order->pending_count++] = pending;
    } else {
        order->lost = true;
    }
}

static void
keep_view(struct ha_race_order *order, struct ha_race_entry *entry,
          struct ha_race_view view)
{
    if (have_room((void **)&order->kept, sizeof view, order->kept_count,
                  &order->kept_capacity)) {
        order->kept[order->kept_count++] = view;
        entry->knows_count++;
    } else {
        order->lost = true;
    }
}

/* What the lane knows by other addresses goes with the entry. */
static void
keep_known(struct ha_race_order *order, uint32_t lane, uint32_t sync,
           struct ha_race_entry *entry)
{
    entry->knows = order->kept_count;
    for (uint32_t i = 0; i < order->view_count; i++) {
        if (order->views[i].sync != sync) {
            keep_view(order, entry, order->views[i]);
        }
    }
    for (uint32_t i = 0; i < order->pending_count; i++) {
        if (order->pending[i].known && order->pending[i].lane == lane &&
            order->pending[i].view.sync != sync) {
            keep_view(order, entry, order->pending[i].view);
        }
    }
}

void
ha_race_order_release_at(struct ha_race_order *order, uint32_t lane, uintptr_t at,
                         bool releases, bool narrow, bool replaces)
{
    uint32_t number = order->sync_count > 0 ? find_sync(order, at) : UINT32_MAX;
    bool fenced = narrow ? order->narrow_row[lane] != 0 : order->fence_row[lane] != 0;

    if (number != UINT32_MAX && replaces) {
        order->syncs[number].begin = order->syncs[number].count;
    }
    if (!releases && !fenced) {
        return;
    }
    if (number == UINT32_MAX) {
        if (!have_room((void **)&order->syncs, sizeof *order->syncs, order->sync_count,
                       &order->sync_capacity)) {
            order->lost = true;
            return;
        }
        number = order->sync_count++;
        order->syncs[number] = (struct ha_race_sync){.at = at};
    }
    struct ha_race_entry entry = {.block = order->block, .lane = lane};
    if (releases) {
        ha_race_order_row(order);
        entry.base = order->base;
        entry.row = order->row;
    } else {
        entry.base = narrow ? order->narrow_base[lane] : order->fence_base[lane];
        entry.row = narrow ? order->narrow_row[lane] : order->fence_row[lane];
    }
    keep_known(order, lane, number, &entry);
    struct ha_race_sync *sync = &order->syncs[number];
    if (have_room((void **)&sync->entries, sizeof entry, sync->count,
                  &sync->capacity)) {
        sync->entries[sync->count++] = entry;
    } else {
        order->lost = true;
    }
}
