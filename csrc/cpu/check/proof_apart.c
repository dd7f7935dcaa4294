/* SPDX-License-Identifier: MIT */
/* Whether two lanes can meet at an address.
 *
 * The distance of the addresses of two lanes is a sum: for each variable the factor,
 * times how far the lanes are apart in it; and a rest.  They meet where the sum is less
 * than the bytes of an access.  That is looked for from the greatest factor down, which
 * leaves few numbers to try, since smaller ones can't make up for it:
 *
 *     4 * x + 4 * pitch * row,  x < width <= pitch     4 * pitch > 4 * (width - 1)
 *
 * Variables that occur together, as in x = 32 * block_x + thread_x, count as one where
 * that is another number for each of them: so a condition on x is of use. */
#include <string.h>

#include "cpu/check/proof_state.h"

__extension__ typedef __int128 wide;

#define TRIES_MOST 4096u

/* A difference of two lanes, which is between low and high. */
struct item {
    wide factor; /* greater than 0, but for lanes that differ in nothing else */
    wide low, high;
    bool lane; /* lanes that have another one are others */
};

struct meeting {
    struct proof *proof;
    const struct proof_address *a, *b;
    int64_t factor[PROOF_LANES]; /* of both */
    bool open[PROOF_LANES];      /* lanes may differ in it, and no item has it */
    bool others;                 /* lanes may differ in something that is no item */
    struct item items[PROOF_VARIABLES];
    uint32_t count;
};

/* The search for lanes that meet. */
struct search {
    const struct item *items; /* the least factor first */
    wide reach[PROOF_VARIABLES + 1];
    uint32_t tries;
};

static wide
absolute(wide value)
{
    return value < 0 ? -value : value;
}

static void
add_item(struct meeting *meeting, wide factor, wide low, wide high, bool lane)
{
    uint32_t at = meeting->count++;
    struct item item = {.factor = factor, .low = low, .high = high, .lane = lane};

    if (factor < 0) {
        item =
            (struct item){.factor = -factor, .low = -high, .high = -low, .lane = lane};
    }
    for (; at > 0 && meeting->items[at - 1].factor > item.factor; at--) {
        meeting->items[at] = meeting->items[at - 1];
    }
    meeting->items[at] = item;
}

static wide
down(wide value, wide by)
{
    return value >= 0 ? value / by : -((-value + by - 1) / by);
}

/* Whether the first `count` items may sum up to a number from low to high, for lanes
 * that differ; `differ`: they do already. */
static bool
finds(struct search *search, uint32_t count, wide low, wide high, bool differ)
{
    if (count == 0) {
        return differ && low <= 0 && high >= 0;
    }
    const struct item *item = &search->items[count - 1];
    wide reach = search->reach[count - 1];
    if (search->tries == 0) {
        return true;
    }
    search->tries--;
    if (item->factor == 0) {
        bool other = item->lane && (item->low < 0 || item->high > 0);
        return finds(search, count - 1, low, high, differ || other);
    }
    wide first = -down(-(low - reach), item->factor);
    wide last = down(high + reach, item->factor);
    first = first > item->low ? first : item->low;
    last = last < item->high ? last : item->high;
    if (last - first > TRIES_MOST) {
        return true;
    }
    for (wide at = first; at <= last; at++) {
        if (finds(search, count - 1, low - at * item->factor, high - at * item->factor,
                  differ || (item->lane && at != 0))) {
            return true;
        }
    }
    return false;
}

/* Whether lanes that differ can have a sum from low to high. */
static bool
can_be(const struct meeting *meeting, wide low, wide high)
{
    struct search search = {.items = meeting->items, .tries = TRIES_MOST};

    for (uint32_t i = 0; i < meeting->count; i++) {
        const struct item *item = &meeting->items[i];
        wide far = -item->low > item->high ? -item->low : item->high;
        search.reach[i + 1] = search.reach[i] + item->factor * (far > 0 ? far : 0);
        if (search.reach[i + 1] > (wide)1 << 100) {
            return true;
        }
    }
    return finds(&search, meeting->count, low, high, meeting->others);
}

/* ---- parts ---- */

static wide
size_of(struct proof *proof, unsigned variable)
{
    return proof_variable(proof, variable);
}

/* The part's variables are all open, and in both addresses equally often. */
static bool
part_times(const struct meeting *meeting, const struct proof_form *part, int64_t *times)
{
    bool found = false;

    for (unsigned v = PROOF_LANES; v < PROOF_VARIABLES; v++) {
        if (part->factor[v] != 0) {
            return false;
        }
    }
    for (unsigned v = 0; v < PROOF_LANES; v++) {
        if (part->factor[v] == 0 || size_of(meeting->proof, v) == 0) {
            continue;
        }
        if (!meeting->open[v]) {
            return false; /* lanes do not differ in it, or another part has it */
        }
        if (meeting->factor[v] == INT64_MIN ||
            meeting->factor[v] % part->factor[v] != 0) {
            return false;
        }
        int64_t here = meeting->factor[v] / part->factor[v];
        if (found && here != *times) {
            return false;
        }
        *times = here;
        found = true;
    }
    return found;
}

/* The sum of a part's variables, for each access: by its range, if the access has it.
 */
static void
part_range(struct meeting *meeting, const struct proof_address *address,
           const struct proof_form *part, wide *low, wide *high)
{
    *low = *high = 0;
    for (unsigned v = 0; v < PROOF_LANES; v++) {
        wide far = (wide)part->factor[v] * size_of(meeting->proof, v);
        *low += far < 0 ? far : 0;
        *high += far > 0 ? far : 0;
    }
    for (uint32_t i = 0; i < address->part_count; i++) {
        const struct proof_form *own = &address->parts[i].form;
        if (memcmp(own->factor, part->factor, sizeof own->factor) != 0) {
            continue;
        }
        struct proof_range range = proof_range_of(
            meeting->proof, address->parts[i].node, address->access->context);
        wide from = (wide)range.low - own->constant;
        wide to = (wide)range.high - own->constant;
        *low = from > *low ? from : *low;
        *high = to < *high ? to : *high;
    }
}

/* Whether the part is another number for each value of its variables. */
static bool
tells_lanes(struct meeting *meeting, const struct proof_form *part)
{
    struct meeting inner = {.proof = meeting->proof};

    for (unsigned v = 0; v < PROOF_LANES; v++) {
        if (part->factor[v] != 0 && meeting->open[v]) {
            wide size = size_of(meeting->proof, v);
            add_item(&inner, part->factor[v], -size, size, true);
        }
    }
    return !can_be(&inner, 0, 0);
}

/* What two lanes can differ by in a part, and how much less that is than without. */
static wide
part_gain(struct meeting *meeting, const struct proof_form *part, wide *low, wide *high)
{
    wide from[2], to[2], without = 0;

    part_range(meeting, meeting->a, part, &from[0], &to[0]);
    part_range(meeting, meeting->b, part, &from[1], &to[1]);
    for (unsigned v = 0; v < PROOF_LANES; v++) {
        if (meeting->open[v]) {
            without += 2 * absolute((wide)part->factor[v] * size_of(meeting->proof, v));
        }
    }
    *low = from[0] - to[1];
    *high = to[0] - from[1];
    return without - (*high - *low);
}

/* Takes the part that says most; false: no part says anything. */
static bool
take_part(struct meeting *meeting)
{
    const struct proof_address *sides[2] = {meeting->a, meeting->b};
    const struct proof_form *best = NULL;
    wide most = 0, low = 0, high = 0;
    int64_t times = 0, best_times = 0;

    for (unsigned side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < sides[side]->part_count; i++) {
            const struct proof_form *part = &sides[side]->parts[i].form;
            wide from, to;
            if (!part_times(meeting, part, &times)) {
                continue;
            }
            wide gain = part_gain(meeting, part, &from, &to);
            gain *= times != 0 ? absolute(times) : 1;
            /* Lanes that cannot differ in it are the same in all of its variables. */
            bool same = from == 0 && to == 0;
            if (gain > most && (times != 0 || same) && tells_lanes(meeting, part)) {
                most = gain;
                best = part;
                low = from;
                high = to;
                best_times = times;
            }
        }
    }
    if (best == NULL) {
        return false;
    }
    for (unsigned v = 0; v < PROOF_LANES; v++) {
        meeting->open[v] = meeting->open[v] && best->factor[v] == 0;
    }
    add_item(meeting, best_times, low, high, true);
    return true;
}

/* ---- the whole ---- */

/* What is no variable of lanes: rounds, which both lanes have of their own, and rests.
 */
static bool
add_rest(struct meeting *meeting, uint32_t loop, wide *low, wide *high)
{
    const struct proof_form *a = &meeting->a->form, *b = &meeting->b->form;

    *low = (wide)a->constant - b->constant + a->low - b->high;
    *high = (wide)a->constant - b->constant + a->high - b->low;
    for (unsigned v = 0; v < PROOF_LANES; v++) {
        if (a->factor[v] != b->factor[v]) { /* lanes have each of its values */
            wide far = a->factor[v] * size_of(meeting->proof, v);
            wide near = -(b->factor[v] * size_of(meeting->proof, v));
            *low += (far < 0 ? far : 0) + (near < 0 ? near : 0);
            *high += (far > 0 ? far : 0) + (near > 0 ? near : 0);
        }
    }
    for (unsigned v = PROOF_LANES; v < PROOF_VARIABLES; v++) {
        if (a->factor[v] == 0 && b->factor[v] == 0) {
            continue;
        }
        wide rounds = size_of(meeting->proof, v);
        if (rounds < 0) {
            return false;
        }
        if (v - PROOF_LANES == loop) { /* one round for both */
            wide far = ((wide)a->factor[v] - b->factor[v]) * rounds;
            *low += far < 0 ? far : 0;
            *high += far > 0 ? far : 0;
        } else if (a->factor[v] == b->factor[v]) {
            add_item(meeting, a->factor[v], -rounds, rounds, false);
        } else {
            wide far = a->factor[v] * rounds, near = -(b->factor[v] * rounds);
            *low += (far < 0 ? far : 0) + (near < 0 ? near : 0);
            *high += (far > 0 ? far : 0) + (near > 0 ? near : 0);
        }
    }
    return true;
}

bool
proof_apart(struct proof *proof, const struct proof_address *a,
            const struct proof_address *b, bool block, uint32_t loop)
{
    struct meeting meeting = {.proof = proof, .a = a, .b = b};
    wide low, high;

    for (unsigned v = 0; v < PROOF_LANES; v++) {
        bool several = size_of(proof, v) > 0;
        bool equal = a->form.factor[v] == b->form.factor[v];
        bool one = block && v >= HA_PROOF_BLOCK;
        if (several && !equal && one) {
            return false;
        }
        meeting.factor[v] = a->form.factor[v];
        meeting.open[v] = several && equal && !one;
        meeting.others |= several && !equal;
    }
    while (take_part(&meeting)) {
    }
    for (unsigned v = 0; v < PROOF_LANES; v++) {
        if (meeting.open[v]) {
            add_item(&meeting, meeting.factor[v], -size_of(proof, v), size_of(proof, v),
                     true);
        }
    }
    /* The second begins behind the first, or the other way round. */
    return add_rest(&meeting, loop, &low, &high) &&
           !can_be(&meeting, 1 - (wide)a->access->bytes - high,
                   (wide)b->access->bytes - 1 - low);
}
