/* SPDX-License-Identifier: MIT */
#include "cpu/check/race_clock.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct item {
    uint64_t block;
    uint32_t lane;
    uint32_t row;
};

struct ha_race_clock {
    uint32_t users;
    uint32_t count, capacity;
    struct item items[]; /* by block, then by lane */
};

static struct ha_race_clock *
clock_new(uint32_t capacity)
{
    struct ha_race_clock *clock =
        malloc(sizeof *clock + capacity * sizeof(struct item));

    if (clock != NULL) {
        *clock = (struct ha_race_clock){.users = 1, .capacity = capacity};
    }
    return clock;
}

struct ha_race_clock *
ha_race_clock_share(struct ha_race_clock *clock)
{
    if (clock != NULL) {
        clock->users++;
    }
    return clock;
}

void
ha_race_clock_drop(struct ha_race_clock **clock)
{
    if (*clock != NULL && --(*clock)->users == 0) {
        free(*clock);
    }
    *clock = NULL;
}

static int
compare(const struct item *item, uint64_t block, uint32_t lane)
{
    if (item->block != block) {
        return item->block < block ? -1 : 1;
    }
    return (item->lane > lane) - (item->lane < lane);
}

/* The number of the first item that does not come before the lane's. */
static uint32_t
place_of(const struct ha_race_clock *clock, uint64_t block, uint32_t lane)
{
    uint32_t low = 0, high = clock->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare(&clock->items[middle], block, lane) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint32_t
row_of(const struct ha_race_clock *clock, uint64_t block, uint32_t lane)
{
    uint32_t place = place_of(clock, block, lane);

    return place < clock->count && compare(&clock->items[place], block, lane) == 0
               ? clock->items[place].row
               : 0;
}

bool
ha_race_clock_knows(const struct ha_race_clock *clock, uint64_t block, uint32_t lane,
                    uint32_t row)
{
    return clock != NULL && (row_of(clock, block, HA_RACE_ALL) > row ||
                             row_of(clock, block, lane) > row);
}

/* ---- changes ---- */

/* Whether `clock` has all that `other` has. */
static bool
covers(const struct ha_race_clock *clock, const struct ha_race_clock *other)
{
    uint32_t place = 0;

    for (uint32_t i = 0; i < other->count; i++) {
        const struct item *item = &other->items[i];
        while (place < clock->count &&
               compare(&clock->items[place], item->block, item->lane) < 0) {
            place++;
        }
        if (place == clock->count ||
            compare(&clock->items[place], item->block, item->lane) != 0 ||
            clock->items[place].row < item->row) {
            return false;
        }
    }
    return true;
}

static void
merge(struct ha_race_clock *to, const struct ha_race_clock *one,
      const struct ha_race_clock *other)
{
    uint32_t i = 0, k = 0;

    while (i < one->count || k < other->count) {
        const struct item *a = &one->items[i], *b = &other->items[k];
        int order = i == one->count     ? 1
                    : k == other->count ? -1
                                        : compare(a, b->block, b->lane);
        struct item item = order <= 0 ? *a : *b;
        if (order == 0 && b->row > item.row) {
            item.row = b->row;
        }
        i += order <= 0;
        k += order >= 0;
        to->items[to->count++] = item;
    }
}

bool
ha_race_clock_join(struct ha_race_clock **clock, struct ha_race_clock *other)
{
    if (other == NULL || *clock == other || (*clock != NULL && covers(*clock, other))) {
        return true;
    }
    if (*clock == NULL || covers(other, *clock)) {
        ha_race_clock_drop(clock);
        *clock = ha_race_clock_share(other);
        return true;
    }
    struct ha_race_clock *merged = clock_new((*clock)->count + other->count + 4);
    if (merged == NULL) {
        return false;
    }
    merge(merged, *clock, other);
    ha_race_clock_drop(clock);
    *clock = merged;
    return true;
}

/* Makes the clock the user's own, with room for one more item. */
static bool
own(struct ha_race_clock **clock)
{
    uint32_t count = *clock == NULL ? 0 : (*clock)->count;

    if (*clock != NULL && (*clock)->users == 1 && count < (*clock)->capacity) {
        return true;
    }
    struct ha_race_clock *copy = clock_new(count + count / 2 + 4);
    if (copy == NULL) {
        return false;
    }
    if (count > 0) {
        memcpy(copy->items, (*clock)->items, count * sizeof copy->items[0]);
    }
    copy->count = count;
    ha_race_clock_drop(clock);
    *clock = copy;
    return true;
}

bool
ha_race_clock_raise(struct ha_race_clock **clock, uint64_t block, uint32_t lane,
                    uint32_t row)
{
    if (*clock != NULL && row_of(*clock, block, lane) >= row) {
        return true;
    }
    if (!own(clock)) {
        return false;
    }
    uint32_t place = place_of(*clock, block, lane);
    struct item *item = &(*clock)->items[place];
    if (place == (*clock)->count || compare(item, block, lane) != 0) {
        memmove(item + 1, item, ((*clock)->count - place) * sizeof *item);
        (*clock)->count++;
    }
    *item = (struct item){.block = block, .lane = lane, .row = row};
    return true;
}
