/* SPDX-License-Identifier: MIT */
/* Who is told what kernels do that are compiled for checks (HA_KERNEL_CHECKED).  All
 * but `access` and `meeting` only for launches with `checks`. */
#ifndef HA_CPU_EXEC_CHECKS_H
#define HA_CPU_EXEC_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

#include "cpu/base/image.h"

#define HA_SHARED_SLACK 4096u /* around shared memory, where accesses are checked */

struct ha_group;
struct ha_lane_record;
struct ha_launch;

enum ha_meeting_fault {
    HA_MEETING_DIVERGED,        /* `other` waits at another barrier; the launch ends */
    HA_MEETING_LEFT,            /* `other` has left the block before the barrier */
    HA_MEETING_ABSENT,          /* the mask names `other`, which does not come */
    HA_MEETING_SOURCE,          /* reads from `other`, which does not take part */
    HA_MEETING_NOT_COOPERATIVE, /* a barrier of the grid; the launch ends */
};

/* A barrier or a warp call of lanes that are not all there. */
struct ha_meeting {
    enum ha_meeting_fault fault;
    const struct ha_launch *launch;
    const struct ha_lane_record *here;
    const struct ha_lane_record *other; /* NULL: there is no such lane */
    uint32_t lane;                      /* of the warp: that of `other` */
    bool ended;                         /* it is over */
};

struct ha_checks {
    /* In kernel code: as `check` of struct ha_image_runtime. */
    void (*access)(const void *address, uint64_t size, const struct ha_check_site *site,
                   const void *root, uint64_t value);
    /* A block begins, or goes on. */
    void (*block)(struct ha_launch *launch, uint64_t block);
    /* All lanes of it have met. */
    void (*barrier)(struct ha_launch *launch);
    /* Lanes of a warp of it have met by __syncwarp. */
    void (*warp)(struct ha_launch *launch, uint32_t warp, uint64_t lanes);
    /* All lanes of the grid have met. */
    void (*grid)(struct ha_launch *launch);
    /* In kernel code, before the launch goes on or ends. */
    void (*meeting)(const struct ha_meeting *meeting);
    /* malloc of a kernel has given memory; free is going to take it.  In busy sections;
     * for all launches that are checked. */
    void (*gave)(struct ha_launch *launch, void *at, uint64_t bytes);
    void (*takes)(struct ha_launch *launch, void *at);
    /* Only for launches that are `shadowed`, the first three in kernel code: as in
     * struct ha_image_runtime.  A block begins.  Lanes of a warp are going to be
     * served.  A kernel got memory from the heap. */
    struct ha_shadow_calls *(*shadow_calls)(void);
    struct ha_image_shadow (*shadow)(const void *address, uint64_t size,
                                     uint32_t write);
    uint64_t (*shadow_do)(uint32_t op, void *to, const void *from, uint64_t size,
                          uint64_t value);
    void (*shadow_block)(struct ha_group *group);
    void (*shadow_warp)(struct ha_group *group, uint32_t warp, uint64_t lanes);
    void (*shadow_heap)(void *address, uint64_t size);
};

extern const struct ha_checks *ha_exec_checks;

/* Constant; must be set before the first launch. */
void ha_exec_set_checks(const struct ha_checks *checks);

#endif
