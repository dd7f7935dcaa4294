/* SPDX-License-Identifier: MIT */
/* How lanes leave their code and come back to it: the calls that images make, and the
 * end of a lane, in the processor's own language.
 *
 * A processor guesses where a return goes from the calls before it.  A switch that ends
 * with a return goes back to the other lane's place, not to that of the last call, so
 * in a kernel with two barriers each guess would be wrong, and that was half of what a
 * switch cost.  So here the frame is this room's: ha_group_call_block, _warp and _pause
 * (cpu/exec/workgroup.h) save the registers, call a *step* (cpu/exec/lane_call.h),
 * which is C and decides who is next, and end in a jump to the place where that lane
 * waits. Jumps are guessed from history, and lanes do wait in turn.  Before the jump
 * stands a call whose return address is the end of a lane, because that is where the
 * next return of kernel code goes.
 *
 * Steps are called by name, because a call through a pointer would be one more guess.
 * The names are weak: programs without exec, as some tests are, have none of them.
 *
 * A suspended lane has its registers on its stack and no control words: lanes run with
 * the same ones, unless the kernel says that it changes them (HA_KERNEL_CONTROL).
 * Shadow stacks are not supported, as in cpu/machine/context.h. */
#ifndef HA_CPU_MACHINE_LANES_H
#define HA_CPU_MACHINE_LANES_H

#include <stdint.h>

#include "cpu/base/image.h"

/* What a lane begins with: function(args, lane). */
struct ha_lane_start {
    ha_kernel_reference_fn *function;
    void *const *args;
    struct ha_lane *lane;
};

enum { HA_LANE_CONTEXT_BYTES = 192 };

/* Where the thread goes on, and what the call that waits there returns. */
struct ha_lane_next {
    void *context;
    uint64_t value;
};

/* A context on the stack that ends at `high`: a lane that begins with
 * function(args, lane), under the default control words.  ha_context_switch may resume
 * it too.  Writes at most HA_LANE_CONTEXT_BYTES, below `high`. */
void *ha_lane_context(void *high, ha_kernel_reference_fn *function, void *const *args,
                      struct ha_lane *lane);

/* For kernels with HA_KERNEL_CONTROL: keeps the control words in a context, and takes
 * them from one. */
void ha_lane_keep_control(void *context);
void ha_lane_take_control(const void *context);

#endif
