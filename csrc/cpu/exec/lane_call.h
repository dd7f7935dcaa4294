/* SPDX-License-Identifier: MIT */
/* What decides, when a lane comes to a call, which lane goes on: the *steps* of
 * cpu/machine/lanes.h.
 *
 * Instrumented builds have none of this, because the sanitizers must be told of a
 * switch on both sides of it: there the calls are C, and switch by ha_fiber_switch. */
#ifndef HA_CPU_EXEC_LANE_CALL_H
#define HA_CPU_EXEC_LANE_CALL_H

#include <stdint.h>

#include "cpu/base/image.h"
#include "cpu/exec/fiber.h"
#include "cpu/machine/lanes.h"

#define HA_LANE_CALLS (!HA_FIBER_ASAN && !HA_FIBER_TSAN)

#if HA_LANE_CALLS

/* The steps (cpu/exec/workgroup.c); the arguments are those of the call.  `context` is
 * the running lane, suspended.  Only the processor's own file calls them. */
struct ha_lane_next ha_lane_step_block(uint32_t op, uint32_t value, uint32_t line,
                                       uint32_t site, void *context);
struct ha_lane_next ha_lane_step_warp(uint32_t op, const struct ha_warp_site *site,
                                      uint64_t mask, uint64_t value, uint32_t operand,
                                      uint32_t width, void *context);
struct ha_lane_next ha_lane_step_pause(void *context);

/* The running lane has ended.  Without a context the next one begins on its stack:
 * `value` is the address of a struct ha_lane_start then. */
struct ha_lane_next ha_lane_step_end(void);

#endif
#endif
