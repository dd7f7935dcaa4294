/* SPDX-License-Identifier: MIT */
#include "cpu/check/stretch.h"

#include <stdlib.h>

/* So many stretches tell each thread exactly, however little memory they are for. */
#define EXACT_LEAST 4096u

/* ---- adding ---- */

static bool
push(struct ha_layer *layer, const struct ha_stretch *stretch)
{
    if (layer->count == layer->room) {
        size_t room = layer->room > 0 ? 2 * layer->room : 4;
        struct ha_stretch *items = realloc(layer->items, room * sizeof *items);
        if (items == NULL) {
            return false;
        }
        layer->items = items;
        layer->room = room;
    }
    layer->items[layer->count++] = *stretch;
    return true;
}

uint64_t
ha_stretch_thread(const struct ha_stretch *stretch, uintptr_t at)
{
    return stretch->unit == 0 ? stretch->thread
                              : stretch->thread + (at - stretch->begin) / stretch->unit;
}

/* Whether the cell, which begins where `last` ends, goes on with its threads. */
static bool
goes_on(struct ha_stretch *last, const struct ha_stretch *cell)
{
    uint64_t so_far = last->end - last->begin;

    if (last->unit > 0) {
        return ha_stretch_thread(last, cell->begin) == cell->thread &&
               ha_stretch_thread(last, cell->end - 1) == cell->thread;
    }
    if (cell->thread == last->thread) {
        return true;
    }
    if (cell->thread == last->thread + 1 && cell->end - cell->begin <= so_far &&
        so_far <= UINT32_MAX) {
        last->unit = (uint32_t)so_far;
        return true;
    }
    return false;
}

static bool
are_many(const struct ha_layer *layer)
{
    return layer->count >= EXACT_LEAST &&
           layer->count * sizeof layer->items[0] > layer->bytes;
}

bool
ha_layer_add(struct ha_layer *layer, const struct ha_stretch *cell)
{
    struct ha_stretch *last = layer->count > 0 ? &layer->items[layer->count - 1] : NULL;

    layer->bytes += cell->end - cell->begin;
    if (last != NULL && last->end == cell->begin && last->site == cell->site &&
        last->way == cell->way) {
        bool exact = goes_on(last, cell);
        if (exact || are_many(layer)) {
            last->unit = exact ? last->unit : 0;
            last->end = cell->end;
            return true;
        }
    }
    struct ha_stretch own = *cell;
    own.unit = 0;
    return push(layer, &own);
}

void
ha_layer_release(struct ha_layer *layer)
{
    free(layer->items);
    *layer = (struct ha_layer){.items = NULL};
}

/* ---- comparing ---- */

bool
ha_ways_race(enum ha_way a, enum ha_way b)
{
    enum ha_way less = a < b ? a : b, more = a < b ? b : a;

    return more == HA_WAY_WRITE || (more == HA_WAY_ATOMIC && less == HA_WAY_READ);
}

void
ha_layers_meet(const struct ha_layer *a, const struct ha_layer *b,
               void (*each)(void *context, const struct ha_stretch *a,
                            const struct ha_stretch *b, uintptr_t at),
               void *context)
{
    size_t i = 0, k = 0;

    while (i < a->count && k < b->count) {
        const struct ha_stretch *one = &a->items[i], *two = &b->items[k];
        uintptr_t begin = one->begin > two->begin ? one->begin : two->begin;
        uintptr_t end = one->end < two->end ? one->end : two->end;
        if (begin < end) {
            each(context, one, two, begin);
        }
        if (one->end <= two->end) {
            i++;
        } else {
            k++;
        }
    }
}

/* ---- covering ---- */

/* Whether who races with the earlier way races with the later one, too. */
static bool
covers(enum ha_way later, enum ha_way earlier)
{
    switch (earlier) {
    case HA_WAY_READ:
        return later == HA_WAY_READ || later == HA_WAY_WRITE;
    case HA_WAY_ATOMIC_READ:
        return true;
    case HA_WAY_ATOMIC:
        return later == HA_WAY_ATOMIC || later == HA_WAY_WRITE;
    case HA_WAY_WRITE:
        break;
    }
    return later == HA_WAY_WRITE;
}

/* The part [begin, end) of a stretch: at most two, as it may begin within a unit. */
static bool
push_part(struct ha_layer *layer, const struct ha_stretch *whole, uintptr_t begin,
          uintptr_t end)
{
    struct ha_stretch part = *whole;
    uintptr_t within =
        whole->unit == 0 ? 0 : (begin - whole->begin) % (uintptr_t)whole->unit;

    if (begin >= end) {
        return true;
    }
    part.begin = begin;
    part.end = end;
    part.thread = ha_stretch_thread(whole, begin);
    if (within != 0) {
        uintptr_t next = begin + (whole->unit - within);
        part.end = next < end ? next : end;
        part.unit = 0;
        return push(layer, &part) && push_part(layer, whole, next, end);
    }
    return push(layer, &part);
}

bool
ha_layer_cover(struct ha_layer *layer, const struct ha_layer *later)
{
    struct ha_layer rest = {.items = NULL};
    bool changed = false;
    size_t k = 0;

    for (size_t i = 0; i < layer->count; i++) {
        const struct ha_stretch *item = &layer->items[i];
        uintptr_t at = item->begin;
        while (k < later->count && later->items[k].end <= at) {
            k++;
        }
        for (size_t j = k; j < later->count && later->items[j].begin < item->end; j++) {
            const struct ha_stretch *cover = &later->items[j];
            if (!covers(cover->way, item->way)) {
                continue;
            }
            uintptr_t begin = cover->begin > at ? cover->begin : at;
            if (!push_part(&rest, item, at, begin)) {
                ha_layer_release(&rest);
                return false;
            }
            changed = true;
            at = cover->end;
        }
        if (!push_part(&rest, item, at, item->end)) {
            ha_layer_release(&rest);
            return false;
        }
    }
    if (!changed) {
        ha_layer_release(&rest);
        return true;
    }
    ha_layer_release(layer);
    *layer = rest;
    return true;
}
