/* SPDX-License-Identifier: MIT */
/* Whether two lanes can meet at an address.
 *
 * The distance of the addresses of two lanes is a sum: for each variable the factor,
 * times how far the lanes are apart in it; and a rest.  With factors in order, a factor
 * that is greater than all that smaller ones can make up for, and the rest, and the
 * bytes of the accesses, keeps lanes apart that differ in its variable:
 *
 *     4 * x + 4 * pitch * row,  x < width <= pitch     4 * pitch > 4 * (width - 1)
 *
 * Variables that occur together, as in x = 32 * block_x + thread_x, count as one where
 * that is another number for each of them: so a condition on x is of use. */
#include <string.h>

#include "cpu/check/proof_state.h"

__extension__ typedef __int128 wide;

struct item {
    wide factor; /* not negative */
    wide far;    /* two lanes differ by so much at most */
    bool lane;   /* lanes that differ in nothing else may differ in it */
};

struct meeting {
    struct proof *proof;
    const struct proof_address *a, *b;
    int64_t factor[PROOF_LANES]; /* of both */
    bool open[PROOF_LANES];      /* lanes may differ in it, and no item has it */
    struct item items[PROOF_VARIABLES];
    uint32_t count;
};

static wide
absolute(wide value)
{
    return value < 0 ? -value : value;
}

static void
add_item(struct meeting *meeting, wide factor, wide far, bool lane)
{
    uint32_t at = meeting->count++;

    factor = absolute(factor);
    for (; at > 0 && meeting->items[at - 1].factor > factor; at--) {
        meeting->items[at] = meeting->items[at - 1];
    }
    meeting->items[at] = (struct item){.factor = factor, .far = far, .lane = lane};
}

/* Whether lanes that differ are at least `room` apart. */
static bool
keeps_apart(const struct item *items, uint32_t count, wide room)
{
    wide reach = 0;
    bool lanes = false;

    for (uint32_t i = 0; i < count; i++) {
        const struct item *item = &items[i];
        lanes |= item->lane;
        if (lanes && item->factor - reach < room) {
            return false;
        }
        reach += item->factor * item->far;
        if (reach > (wide)1 << 100) {
            return false;
        }
    }
    return true;
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
            add_item(&inner, part->factor[v], size_of(meeting->proof, v), true);
        }
    }
    return keeps_apart(inner.items, inner.count, 1);
}

/* How far two lanes can be apart in a part, and what that is better than without. */
static wide
part_far(struct meeting *meeting, const struct proof_form *part, wide *gain)
{
    wide low[2], high[2], without = 0;

    part_range(meeting, meeting->a, part, &low[0], &high[0]);
    part_range(meeting, meeting->b, part, &low[1], &high[1]);
    for (unsigned v = 0; v < PROOF_LANES; v++) {
        if (meeting->open[v]) {
            without += absolute((wide)part->factor[v] * size_of(meeting->proof, v));
        }
    }
    wide far = high[0] - low[1], other = high[1] - low[0];
    far = far > other ? far : other;
    far = far > 0 ? far : 0;
    *gain = without - far;
    return far;
}

/* Takes the part that says most; false: no part says anything. */
static bool
take_part(struct meeting *meeting)
{
    const struct proof_address *from[2] = {meeting->a, meeting->b};
    const struct proof_form *best = NULL;
    wide most = 0, best_far = 0;
    int64_t times = 0, best_times = 0;

    for (unsigned side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < from[side]->part_count; i++) {
            const struct proof_form *part = &from[side]->parts[i].form;
            wide gain, far;
            if (!part_times(meeting, part, &times)) {
                continue;
            }
            far = part_far(meeting, part, &gain);
            if (gain * (times != 0 ? absolute(times) : 1) > most &&
                (times != 0 || far == 0) && tells_lanes(meeting, part)) {
                most = gain * (times != 0 ? absolute(times) : 1);
                best = part;
                best_far = far;
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
    if (best_far > 0) {
        add_item(meeting, best_times, best_far, true);
    }
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
            add_item(meeting, a->factor[v], rounds, false);
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
        if (several && a->form.factor[v] != b->form.factor[v]) {
            return false;
        }
        meeting.factor[v] = a->form.factor[v];
        meeting.open[v] = several && !(block && v >= HA_PROOF_BLOCK);
    }
    while (take_part(&meeting)) {
    }
    for (unsigned v = 0; v < PROOF_LANES; v++) {
        if (meeting.open[v]) {
            add_item(&meeting, meeting.factor[v], size_of(proof, v), true);
        }
    }
    if (!add_rest(&meeting, loop, &low, &high)) {
        return false;
    }
    wide before = a->access->bytes + high, behind = b->access->bytes - low;
    return keeps_apart(meeting.items, meeting.count, before > behind ? before : behind);
}
