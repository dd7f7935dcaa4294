/* SPDX-License-Identifier: MIT */
#include "cpu/exec/warp.h"

/* Takes the lowest bit out of *bits and returns its number. */
static uint32_t
take_lowest(uint64_t *bits)
{
    uint32_t index = (uint32_t)__builtin_ctzll(*bits);
    *bits &= *bits - 1;
    return index;
}

static uint32_t
depth_of(const struct ha_warp_site *site)
{
    return site->depth < HA_LOOP_DEPTH_MAX ? site->depth : HA_LOOP_DEPTH_MAX;
}

/* Program order of two waiting lanes: negative if `a` comes first, 0 if they are
 * converged. Loops are compared from the outermost, as long as they are the same loops.
 */
static int
compare(const struct ha_lane_record *a, const struct ha_lane_record *b)
{
    const struct ha_warp_site *sa = a->call.site;
    const struct ha_warp_site *sb = b->call.site;
    uint32_t depth = depth_of(sa) < depth_of(sb) ? depth_of(sa) : depth_of(sb);
    for (uint32_t i = 0; i < depth && sa->loop[i] == sb->loop[i]; i++) {
        if (a->lane.trip[i] != b->lane.trip[i]) {
            return a->lane.trip[i] < b->lane.trip[i] ? -1 : 1;
        }
    }
    if (sa->order != sb->order) {
        return sa->order < sb->order ? -1 : 1;
    }
    /* The order numbers of one image are distinct; addresses decide for foreign ones.
     */
    return sa == sb ? 0 : (uintptr_t)sa < (uintptr_t)sb ? -1 : 1;
}

static inline bool
same_trips(const uint32_t *a, const uint32_t *b, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++) {
        if (a[i] != b[i]) {
            return false;
        }
    }
    return true;
}

/* Whether all of `rest` wait where lane `leader` does, in the same iteration. */
static bool
all_wait_with(const struct ha_lane_record *lanes, uint64_t rest, uint32_t leader)
{
    const struct ha_warp_site *site = lanes[leader].call.site;
    const uint32_t *trip = lanes[leader].lane.trip;
    uint32_t depth = depth_of(site);
    while (rest) {
        const struct ha_lane_record *record = &lanes[take_lowest(&rest)];
        if (record->call.site != site || !same_trips(record->lane.trip, trip, depth)) {
            return false;
        }
    }
    return true;
}

uint64_t
ha_warp_converged(const struct ha_lane_record *lanes, uint64_t waiting)
{
    uint64_t rest = waiting;
    uint32_t leader = take_lowest(&rest);
    uint64_t group = (uint64_t)1 << leader;
    if (all_wait_with(lanes, rest, leader)) {
        return waiting;
    }
    while (rest) {
        uint32_t index = take_lowest(&rest);
        int order = compare(&lanes[index], &lanes[leader]);
        if (order < 0) {
            leader = index;
            group = 0;
        }
        if (order <= 0) {
            group |= (uint64_t)1 << index;
        }
    }
    return group;
}

uint64_t
ha_warp_named(const struct ha_lane_record *lanes, uint64_t waiting, uint32_t leader)
{
    const struct ha_warp_call *first = &lanes[leader].call;
    uint64_t group = 0;
    while (waiting) {
        uint32_t index = take_lowest(&waiting);
        const struct ha_warp_call *call = &lanes[index].call;
        if (call->mask == first->mask && call->op == first->op) {
            group |= (uint64_t)1 << index;
        }
    }
    return group;
}

/* The lane that lane `self` reads in a shuffle; `self` where there is none. */
static inline __attribute__((always_inline)) uint32_t
shuffle_source(uint32_t op, const struct ha_warp_call *call, uint32_t self,
               uint32_t warp_size)
{
    uint32_t width = call->width;
    if (width == 0 || width > warp_size || (width & (width - 1)) != 0) {
        width = warp_size;
    }
    uint32_t begin = self & ~(width - 1);
    uint32_t end = begin + width;
    int64_t operand = (int32_t)call->operand;
    int64_t source;
    switch (op) {
    case HA_WARP_SHFL:
        return begin + (call->operand & (width - 1));
    case HA_WARP_SHFL_UP:
        source = self - operand;
        return source >= begin && source < end ? (uint32_t)source : self;
    case HA_WARP_SHFL_DOWN:
        source = self + operand;
        return source >= begin && source < end ? (uint32_t)source : self;
    default:
        source = self ^ call->operand;
        return source < end ? (uint32_t)source : self;
    }
}

bool
ha_warp_reads_absent(const struct ha_lane_record *lanes, uint64_t group,
                     uint32_t warp_size, uint32_t *reader, uint32_t *source)
{
    for (uint64_t rest = group; rest;) {
        uint32_t index = take_lowest(&rest);
        const struct ha_warp_call *call = &lanes[index].call;
        if (call->op > HA_WARP_SHFL_XOR || call->width == 0) {
            continue;
        }
        uint32_t from = shuffle_source(call->op, call, index, warp_size);
        if (!(group >> from & 1)) {
            *reader = index;
            *source = from;
            return true;
        }
    }
    return false;
}

/* Inlined for each operation, so that the lanes of a warp do not ask for it. */
static inline __attribute__((always_inline)) void
serve_shuffle(struct ha_lane_record *lanes, uint64_t group, uint32_t warp_size,
              uint32_t op)
{
    uint64_t values[HA_WARP_SIZE_MAX];
    for (uint64_t rest = group; rest;) {
        uint32_t index = take_lowest(&rest);
        values[index] = lanes[index].call.value;
    }
    for (uint64_t rest = group; rest;) {
        uint32_t index = take_lowest(&rest);
        uint32_t source = shuffle_source(op, &lanes[index].call, index, warp_size);
        if (group >> source & 1) {
            lanes[index].call.value = values[source];
        }
    }
}

static void
serve_match_any(struct ha_lane_record *lanes, uint64_t group)
{
    uint64_t matches[HA_WARP_SIZE_MAX];
    for (uint64_t rest = group; rest;) {
        uint32_t index = take_lowest(&rest);
        matches[index] = 0;
        for (uint64_t others = group; others;) {
            uint32_t other = take_lowest(&others);
            if (lanes[other].call.value == lanes[index].call.value) {
                matches[index] |= (uint64_t)1 << other;
            }
        }
    }
    for (uint64_t rest = group; rest;) {
        uint32_t index = take_lowest(&rest);
        lanes[index].call.value = matches[index];
    }
}

/* Operations whose result is the same for the whole group. */
static uint64_t
common_result(const struct ha_lane_record *lanes, uint64_t group, uint32_t op)
{
    uint64_t ballot = 0;
    bool equal = true;
    uint64_t first = lanes[__builtin_ctzll(group)].call.value;
    for (uint64_t rest = group; rest;) {
        uint32_t index = take_lowest(&rest);
        uint64_t value = lanes[index].call.value;
        ballot |= (uint64_t)(value != 0) << index;
        equal = equal && value == first;
    }
    switch (op) {
    case HA_WARP_BALLOT:
        return ballot;
    case HA_WARP_ANY:
        return ballot != 0;
    case HA_WARP_ALL:
        return ballot == group;
    case HA_WARP_ACTIVE:
        return group;
    case HA_WARP_MATCH_ALL:
        return equal ? group : 0;
    default: /* HA_WARP_SYNC */
        return 0;
    }
}

uint32_t
ha_warp_source(const struct ha_warp_call *call, uint32_t self, uint32_t warp_size)
{
    return shuffle_source(call->op, call, self, warp_size);
}

void
ha_warp_serve(struct ha_lane_record *lanes, uint64_t group, uint32_t warp_size)
{
    uint32_t op = lanes[__builtin_ctzll(group)].call.op;
    switch (op) {
    case HA_WARP_SHFL:
        serve_shuffle(lanes, group, warp_size, HA_WARP_SHFL);
        return;
    case HA_WARP_SHFL_UP:
        serve_shuffle(lanes, group, warp_size, HA_WARP_SHFL_UP);
        return;
    case HA_WARP_SHFL_DOWN:
        serve_shuffle(lanes, group, warp_size, HA_WARP_SHFL_DOWN);
        return;
    case HA_WARP_SHFL_XOR:
        serve_shuffle(lanes, group, warp_size, HA_WARP_SHFL_XOR);
        return;
    case HA_WARP_MATCH_ANY:
        serve_match_any(lanes, group);
        return;
    default:
        break;
    }
    uint64_t result = common_result(lanes, group, op);
    while (group) {
        uint32_t index = take_lowest(&group);
        lanes[index].call.value = result;
    }
}
