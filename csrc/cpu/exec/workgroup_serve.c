/* SPDX-License-Identifier: MIT */
/* Which warp calls of a block are served, and when. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "cpu/exec/workgroup.h"

#include "cpu/exec/checks.h"
#include "cpu/exec/workgroup_state.h"

/* Under check: lanes that the call of `present` names, or reads from, and that do not
 * take part in it.  Lanes that the block does not have may be named. */
static __attribute__((noinline, cold)) void
tell_call(const struct ha_group *group, uint32_t warp, uint64_t present)
{
    const struct ha_lane_record *lanes =
        group->lanes + ((size_t)warp << group->warp_shift);
    uint32_t reader = (uint32_t)__builtin_ctzll(present);
    uint64_t there = lanes_of(group, warp);
    uint64_t missing = lanes[reader].call.mask & there & ~present;
    struct ha_meeting meeting = {.fault = HA_MEETING_ABSENT, .launch = group->launch};
    if (missing) {
        meeting.lane = (uint32_t)__builtin_ctzll(missing);
        meeting.here = &lanes[reader];
        meeting.other = &lanes[meeting.lane];
        meeting.ended = !(group->warps[warp].live >> meeting.lane & 1);
        ha_exec_checks->meeting(&meeting);
    }
    if (ha_warp_reads_absent(lanes, present, group->warp_size, &reader,
                             &meeting.lane)) {
        meeting.fault = HA_MEETING_SOURCE;
        meeting.here = &lanes[reader];
        meeting.other = there >> meeting.lane & 1 ? &lanes[meeting.lane] : NULL;
        meeting.ended = !(group->warps[warp].live >> meeting.lane & 1);
        ha_exec_checks->meeting(&meeting);
    }
}

static void
serve(struct ha_group *group, uint32_t warp, uint64_t lanes)
{
    struct ha_warp_state *state = &group->warps[warp];
    const struct ha_lane_record *first =
        group->lanes + ((size_t)warp << group->warp_shift) + __builtin_ctzll(lanes);
    if (group->launch->checked) {
        tell_call(group, warp, lanes);
    }
    if (group->launch->checks != NULL && first->call.op == HA_WARP_SYNC &&
        first->call.operand == HA_SYNC_ORDERS) {
        ha_exec_checks->warp(group->launch, warp, lanes);
    }
    if (group->launch->shadowed) {
        ha_exec_checks->shadow_warp(group, warp, lanes);
    }
    ha_warp_serve(group->lanes + ((size_t)warp << group->warp_shift), lanes,
                  group->warp_size);
    state->at_warp &= ~lanes;
    state->masked &= ~lanes;
    set_ready(group, warp, lanes);
}

void
ha_group_serve_unmasked(struct ha_group *group, uint32_t warp)
{
    struct ha_warp_state *state = &group->warps[warp];
    serve(group, warp,
          ha_warp_converged(group->lanes + ((size_t)warp << group->warp_shift),
                            state->at_warp & ~state->masked));
}

bool
ha_group_serve_masked(struct ha_group *group, uint32_t warp, uint32_t leader,
                      bool force)
{
    struct ha_warp_state *state = &group->warps[warp];
    struct ha_lane_record *lanes = group->lanes + ((size_t)warp << group->warp_shift);
    uint64_t named = lanes[leader].call.mask & state->live;
    if (!force && (named & ~state->masked)) {
        return false;
    }
    uint64_t present = ha_warp_named(lanes, state->masked, leader);
    if (!force && (named & ~present)) {
        return false;
    }
    serve(group, warp, present);
    return true;
}

void
ha_group_serve_completed(struct ha_group *group, uint32_t warp)
{
    uint64_t rest = group->warps[warp].masked;
    while (rest) {
        uint32_t leader = (uint32_t)__builtin_ctzll(rest);
        ha_group_serve_masked(group, warp, leader, false);
        rest &= group->warps[warp].masked;
        rest &= ~((uint64_t)1 << leader);
    }
}

bool
ha_group_serve_forced(struct ha_group *group)
{
    for (uint32_t warp = 0; warp < group->warp_count; warp++) {
        struct ha_warp_state *state = &group->warps[warp];
        if (!state->at_warp) {
            continue;
        }
        if (state->at_warp & ~state->masked) {
            ha_group_serve_unmasked(group, warp);
            return true;
        }
        uint64_t first = ha_warp_converged(
            group->lanes + ((size_t)warp << group->warp_shift), state->masked);
        return ha_group_serve_masked(group, warp, (uint32_t)__builtin_ctzll(first),
                                     true);
    }
    return false;
}
