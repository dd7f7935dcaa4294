/* SPDX-License-Identifier: MIT */
/* The sets of lanes of a group, for workgroup.c and workgroup_serve.c, which move lanes
 * between them, and workgroup_block.c, which begins blocks.  What they mean stands in
 * workgroup.h; as there, the group is its thread's own. */
#ifndef HA_CPU_EXEC_WORKGROUP_STATE_H
#define HA_CPU_EXEC_WORKGROUP_STATE_H

#include <string.h>

#include "cpu/exec/workgroup.h"

static inline uint64_t
bit_of(const struct ha_group *group, uint32_t lane)
{
    return (uint64_t)1 << (lane & (group->warp_size - 1));
}

static inline struct ha_warp_state *
warp_of(struct ha_group *group, uint32_t lane)
{
    return &group->warps[lane >> group->warp_shift];
}

static inline uint32_t
index_of(const struct ha_group *group, const struct ha_lane *lane)
{
    return (uint32_t)((const struct ha_lane_record *)(const void *)lane - group->lanes);
}

static inline void
set_ready(struct ha_group *group, uint32_t warp, uint64_t bits)
{
    group->warps[warp].ready |= bits;
    group->ready_warps |= (uint64_t)1 << warp;
}

/* The lanes that a warp of the block began with. */
static inline uint64_t
lanes_of(const struct ha_group *group, uint32_t warp)
{
    uint32_t rest = group->lane_count - (warp << group->warp_shift);
    uint32_t count = rest < group->warp_size ? rest : group->warp_size;
    return ~(uint64_t)0 >> (64 - count);
}

/* Takes the lane out of its warp's ready set. */
static inline uint32_t
take(struct ha_group *group, uint32_t warp, uint32_t bit)
{
    struct ha_warp_state *state = &group->warps[warp];
    state->ready &= ~((uint64_t)1 << bit);
    if (!state->ready) {
        group->ready_warps &= ~((uint64_t)1 << warp);
    }
    return (warp << group->warp_shift) + bit;
}

/* Needs a warp with a ready lane. */
static inline uint32_t
take_first(struct ha_group *group)
{
    uint32_t warp = (uint32_t)__builtin_ctzll(group->ready_warps);
    return take(group, warp, (uint32_t)__builtin_ctzll(group->warps[warp].ready));
}

/* The record of a lane that begins in the block. */
static inline void
ready_lane(const struct ha_group *group, struct ha_lane *lane)
{
    memcpy(lane->block_idx, group->block_idx, sizeof lane->block_idx);
    lane->grid = &group->launch->grid;
    lane->shared = group->shared;
}

/* Serves the lanes of the warp that stand at a call without a mask, those that come
 * first.  Needs one. */
void ha_group_serve_unmasked(struct ha_group *group, uint32_t warp);

/* Serves the masked group of lane `leader` of the warp if all lanes that the mask names
 * are there, or in any case if `force`; true if it did. */
bool ha_group_serve_masked(struct ha_group *group, uint32_t warp, uint32_t leader,
                           bool force);

/* A lane of the warp has ended: masks that waited for it may be complete now. */
void ha_group_serve_completed(struct ha_group *group, uint32_t warp);

/* Nothing in the block can go on unless some lanes are given up: serves one warp call
 * with the lanes that came.  False if no lane waits at one. */
bool ha_group_serve_forced(struct ha_group *group);

/* The sets of a block whose lanes have not begun. */
void ha_group_reset_lanes(struct ha_group *group);

/* Readies lane `index`, the first of the block, on `fiber`; the thread is at home. */
void ha_group_start(struct ha_group *group, struct ha_runner *runner, uint32_t index,
                    struct ha_fiber *fiber);

#endif
