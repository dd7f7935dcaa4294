/* SPDX-License-Identifier: MIT */
/* Launches that are proved right before they run: a kernel that is compiled for checks
 * then runs as one without them, in all threads (cpu/check/proof.h).
 *
 * What was proved last is kept with the function, for launches with the same numbers.
 */
#ifndef HA_CPU_WORK_LAUNCH_PROOF_H
#define HA_CPU_WORK_LAUNCH_PROOF_H

#include <stdbool.h>

#include "cpu/check/proof.h"
#include "cpu/exec/launch.h"
#include "cpu/module/module.h"

/* Whether a launch of the function may be proved, as far as its kernel and the kinds
 * that are asked for tell. */
bool ha_launch_may_prove(const struct ha_function *function);

/* When the launch is about to run, and memory is what it will find: whether it is
 * proved for all kinds that are asked for.  If so, and `told` is not NULL, that gets
 * the ranges of global memory that it touches, borrowed for the call. */
typedef void ha_proof_told(void *context, const struct ha_proof_range *ranges,
                           uint32_t count);
bool ha_launch_prove(struct ha_function *function, const struct ha_launch *launch,
                     ha_proof_told *told, void *context);

#endif
