/* SPDX-License-Identifier: MIT */
/* One block at a time: the lanes of a work group on fibers, and which of them runs
 * next.
 *
 * A *group* is what one thread needs to run blocks: lane records, stacks, shared
 * memory. It is lent to a thread for one ha_exec_run and reused by others later, so
 * that idle threads hold no stacks.  Lanes run in warp order, each until it blocks
 * (block barrier, warp call, pause) or ends; control goes straight from lane to lane.
 * A lane gets a stack when it first runs, and a lane that ends without blocking leaves
 * its stack to the next.  A *plain* block, whose kernel has no call that waits, needs
 * one stack and no sets: its lanes run in a loop, until one waits nevertheless (a
 * pause, or a call that the flags did not promise).
 *
 * States are bits per warp.  A lane that runs is in none of the sets; a lane that has
 * not begun is in `ready`.  Warp calls are served when no lane of the warp can go on;
 * lanes that pause are given PAUSE_ROUNDS turns first.  A mask may name lanes which
 * are not coming: it is served with the lanes that came, once nothing else in the block
 * can go on.
 *
 * No locks: a group has one thread.  Everything here may be left half-way by an
 * interrupt, because the next block starts from nothing; only growing the stacks may
 * not. */
#ifndef HA_CPU_EXEC_WORKGROUP_H
#define HA_CPU_EXEC_WORKGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/base/image.h"
#include "cpu/exec/fault.h"
#include "cpu/exec/fiber.h"
#include "cpu/exec/lane_call.h"
#include "cpu/exec/launch.h"
#include "cpu/exec/warp.h"

enum {
    HA_GROUP_LANES_MAX = HA_FIBER_MAX,
    HA_GROUP_WARPS_MAX = HA_GROUP_LANES_MAX / 32,
};

struct ha_warp_state {
    uint64_t live;    /* not ended */
    uint64_t ready;   /* can run, but do not */
    uint64_t at_warp; /* wait at a warp call ... */
    uint64_t masked;  /* ... of which with a mask */
    uint64_t paused;  /* gave up their turn */
};

/* The block barrier that lanes wait at, while `waiting` is not 0: those that live and
 * are in no set. */
struct ha_barrier_state {
    uint32_t waiting;
    uint32_t op;
    uint32_t true_count; /* lanes whose value was not 0 */
    uint32_t result;     /* of the barrier before; given to lanes as they go on */
    uint32_t site;
    uint32_t line[2]; /* of the first lane, and of one that stands elsewhere */
    uint32_t lane[2];
    bool diverged; /* line[1] and lane[1] are valid */
};

struct ha_group {
    struct ha_launch *launch; /* borrowed for one ha_exec_run, as is the next */
    const struct ha_image_kernel *kernel;
    uint32_t lane_count;
    uint32_t warp_count;
    uint32_t warp_size;
    uint32_t warp_shift; /* log2 of warp_size */

    uint32_t block_idx[3];
    uint32_t live;         /* lanes of the block that have not ended */
    uint64_t ready_warps;  /* bit per warp with a ready lane */
    uint32_t pause_rounds; /* turns in a row in which lanes only paused */
    bool plain;            /* no lane of the block has waited, and none is meant to: the
                              sets are not kept */
    bool controlled;       /* lanes have their own floating point control */
    bool special;          /* one of these two: calls ask once */
    struct ha_barrier_state barrier;
    struct ha_warp_state warps[HA_GROUP_WARPS_MAX];

    struct ha_lane_record *lanes; /* owned, lane_capacity entries */
    struct ha_fiber **fiber_of;   /* owned; of lanes that have begun */
    void **suspended;           /* owned; where each lane goes on (lane_call.h), NULL if
                                   it has not begun */
    struct ha_fiber **recycled; /* owned; stacks of lanes that have ended */
    uint32_t recycled_count;
    uint32_t fresh; /* fibers[0..fresh) of the set were used in this block */
    uint32_t lane_capacity;
    uint32_t lane_dim[3]; /* block shape that the thread indices were made for */

    struct ha_lane_start start; /* of the lane that begins where another has ended */

    struct ha_fiber *stopped;     /* cooperative launches: where the block goes on, */
    struct ha_lane *stopped_lane; /* and as which lane */
    struct ha_fiber_set fibers;
    char *shared_map; /* owned: guard, memory, guard */
    size_t shared_map_bytes;
    char *shared; /* the block's shared memory; ends at the upper guard */
    char *shadow; /* owned mapping: of shared memory (cpu/memory/check_shadow.c) */
    size_t shadow_bytes;
    char *frame; /* owned: struct ha_place, then the gangs of a block; one mapping */
    size_t frame_bytes;

    uint64_t fast_first; /* what the fast function is to run, */
    uint64_t fast_last;
    uint64_t fast_answer; /* and what it returned */

    struct ha_group *next; /* idle list of cpu/exec/idle_group.c */
};

/* Gets the group ready for blocks of `launch`: stacks, records, shared memory.  False
 * if memory or mappings ran out. */
bool ha_group_prepare(struct ha_group *group, struct ha_launch *launch);

/* Runs block `index` with the reference function, lane by lane.  False if it was left
 * half-way: runner->fault and runner->lane say where. */
bool ha_group_run_block(struct ha_group *group, struct ha_runner *runner,
                        uint64_t index);

/* Why a block of a cooperative launch stopped. */
enum ha_group_stop {
    HA_STOP_END,   /* all lanes have ended */
    HA_STOP_GRID,  /* all that have not stand at a grid barrier, barrier.line[0] */
    HA_STOP_MULTI, /* the same, at a multi-grid barrier */
    HA_STOP_YIELD, /* lanes wait for memory to change */
    HA_STOP_FAULT, /* as ha_group_run_block's false */
};

/* Begins block `index`, or goes on with it in the same thread; returns when it stops.
 */
enum ha_group_stop ha_group_begin_block(struct ha_group *group,
                                        struct ha_runner *runner, uint64_t index);
enum ha_group_stop ha_group_resume(struct ha_group *group, struct ha_runner *runner);

/* The same with the fast function, which stops at grid barriers.  At its end,
 * group->fast_answer is what it returned. */
enum ha_group_stop ha_group_begin_fast(struct ha_group *group, struct ha_runner *runner,
                                       uint64_t index);

/* A block that has stopped will not go on. */
void ha_group_abandon(struct ha_group *group, struct ha_runner *runner);

/* Runs the blocks [first, last) with the fast function; false as above.  `answer` is
 * what it returned. */
bool ha_group_run_fast(struct ha_group *group, struct ha_runner *runner, uint64_t first,
                       uint64_t last, uint64_t *answer);

/* Gets a group of a fast launch ready for the reference function as well. */
bool ha_group_prepare_reference(struct ha_group *group);

/* Table entries for images (`block`, `warp` and `pause` of struct ha_image_runtime);
 * only called in kernel code. */
uint32_t ha_group_call_block(uint32_t op, uint32_t value, uint32_t line, uint32_t site);
uint64_t ha_group_call_warp(uint32_t op, const struct ha_warp_site *site, uint64_t mask,
                            uint64_t value, uint32_t operand, uint32_t width);
void ha_group_call_pause(void);

/* From now on lanes of the block have their own floating point control.  Those that
 * wait get what a lane of a watched launch begins with (cpu/exec/numbers.h).  Called in
 * kernel code and in handlers that interrupt it. */
void ha_group_control_lanes(struct ha_group *group, const struct ha_lane *running);

/* Frees what the group owns, not the group itself. */
void ha_group_release(struct ha_group *group);

#endif
