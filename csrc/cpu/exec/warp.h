/* SPDX-License-Identifier: MIT */
/* Warp calls of the reference executor: which of the waiting lanes are served together,
 * and what each of them gets.  Pure functions over lane records: no scheduling here.
 *
 * A *group* is a set of lanes of one warp, as bits, that are served by one call.
 * Without a mask these are the lanes that wait at the same site in the same iteration
 * of all loops around it: what the hardware would have converged there.  Among several
 * such groups the one that comes first in program order goes first, so that lanes which
 * left a loop early wait for the lanes that are still in it.  With a mask the program
 * itself names the group; such calls meet by mask and operation, wherever they stand.
 *
 * What a lane reads from a lane outside the group is its own value.  So is what it
 * reads from outside its segment, with the exception that HIP makes: xor may reach into
 * earlier segments of the warp.  Records belong to the thread that runs the block. */
#ifndef HA_CPU_EXEC_WARP_H
#define HA_CPU_EXEC_WARP_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/base/image.h"

enum { HA_WARP_SIZE_MAX = 64 };

struct ha_warp_call {
    const struct ha_warp_site *site; /* borrowed from the image */
    uint64_t mask;                   /* 0: none given */
    uint64_t value; /* of the lane; its result after the call is served */
    uint32_t op;    /* enum ha_warp_op */
    uint32_t operand;
    uint32_t width;
};

/* A lane and what it waits for.  `lane` must be first: images hold pointers to it. */
struct ha_lane_record {
    _Alignas(64) struct ha_lane lane;
    struct ha_warp_call call;         /* valid while the lane waits at a warp call */
    const struct ha_check_site *site; /* under check: of the barrier or warp call that
                                         the lane has come to last, or NULL */
};

/* Of the lanes `waiting` (not 0) of the warp whose lane 0 is lanes[0]: the lanes that
 * come first without a mask.  All of `waiting` must wait at calls; masks are not looked
 * at. */
uint64_t ha_warp_converged(const struct ha_lane_record *lanes, uint64_t waiting);

/* Of `waiting`: the lanes whose mask and operation are those of lane `leader`. */
uint64_t ha_warp_named(const struct ha_lane_record *lanes, uint64_t waiting,
                       uint32_t leader);

/* Whether a lane of `group`, which waits at one call, reads from a lane that is not in
 * it: the first one, and the lane of the warp that it reads from.  Where the width is 0
 * it may. */
bool ha_warp_reads_absent(const struct ha_lane_record *lanes, uint64_t group,
                          uint32_t warp_size, uint32_t *reader, uint32_t *source);

/* Performs the call for the lanes of `group`, which wait at it: results are in
 * call.value afterwards. */
void ha_warp_serve(struct ha_lane_record *lanes, uint64_t group, uint32_t warp_size);

/* The lane that lane `self` of the warp reads in the shuffle `call`; `self` where there
 * is none.  It need not take part. */
uint32_t ha_warp_source(const struct ha_warp_call *call, uint32_t self,
                        uint32_t warp_size);

#endif
