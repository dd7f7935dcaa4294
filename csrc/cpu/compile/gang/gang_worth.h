/* SPDX-License-Identifier: MIT */
/* Whether a kernel is better off as gangs than as loops over lanes.
 *
 * The question is open for kernels that have both forms: no barrier, no warp call.  A
 * loop over lanes does a loop of the kernel for one lane after the other, scalar; gangs
 * do its rounds for all lanes at once, and pay for accesses that neighbouring lanes
 * make far apart. */
#ifndef HA_CPU_COMPILE_GANG_WORTH_H
#define HA_CPU_COMPILE_GANG_WORTH_H

#include "cpu/compile/gang/gang_shape.h"

/* Costs are in cycles of one gang, roughly. */
struct gang_worth {
    double gang;
    double lanes;
};

struct gang_worth gang_worth_of(const struct gang_function *function,
                                const struct gang_flow *flow,
                                const struct gang_shapes *shapes);

#endif
