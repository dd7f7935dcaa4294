/* SPDX-License-Identifier: MIT */
/* How lanes leave their code and come back to it: the calls that images make, and the
 * end of a lane, in the processor's own language.
 *
 * A processor guesses where a return goes from the calls before it.  A switch that ends
 * with a return goes back to the other lane's place, not to that of the last call, so
 * in a kernel with two barriers each guess would be wrong, and that was half of what a
 * switch cost.  So here the frame is this file's: it saves the registers, calls a
 * *step*, which is C and decides who is next, and ends in a jump to the place where
 * that lane waits.  Jumps are guessed from history, and lanes do wait in turn.  Before
 * the jump stands a call whose return address is the end of a lane, because that is
 * where the next return of kernel code goes.
 *
 * A suspended lane has its registers on its stack and no control words: lanes run with
 * the same ones, unless the kernel says that it changes them (HA_KERNEL_CONTROL).
 * Shadow stacks are not supported, as in cpu/exec/fiber_switch.h.
 *
 * Instrumented builds have none of this, because the sanitizers must be told of a
 * switch on both sides of it: there the calls are C, and switch by ha_fiber_switch. */
#ifndef HA_CPU_EXEC_LANE_CALL_H
#define HA_CPU_EXEC_LANE_CALL_H

#include <stdint.h>

#include "cpu/base/image.h"
#include "cpu/exec/fiber.h"

#define HA_LANE_CALLS (!HA_FIBER_ASAN && !HA_FIBER_TSAN)

/* What a lane begins with: function(args, lane). */
struct ha_lane_start {
    ha_kernel_reference_fn *function;
    void *const *args;
    struct ha_lane *lane;
};

#if HA_LANE_CALLS

enum { HA_LANE_CONTEXT_BYTES = 192 };

/* Where the thread goes on, and what the call that waits there returns. */
struct ha_lane_next {
    void *context;
    uint64_t value;
};

/* The steps (cpu/exec/workgroup.c); the arguments are those of the call.  `context` is
 * the running lane, suspended.  Only this file calls them. */
struct ha_lane_next ha_lane_step_block(uint32_t op, uint32_t value, uint32_t line,
                                       uint32_t site, void *context);
struct ha_lane_next ha_lane_step_warp(uint32_t op, const struct ha_warp_site *site,
                                      uint64_t mask, uint64_t value, uint32_t operand,
                                      uint32_t width, void *context);
struct ha_lane_next ha_lane_step_pause(void *context);

/* The running lane has ended.  Without a context the next one begins on its stack:
 * `value` is the address of a struct ha_lane_start then. */
struct ha_lane_next ha_lane_step_end(void);

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
#endif
