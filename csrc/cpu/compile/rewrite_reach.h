/* SPDX-License-Identifier: MIT */
/* What kernels and the host can reach.
 *
 * Device functions stay in the module after they were inlined; nothing of them may
 * count, neither their shared variables nor what they must not do.  So the walk begins
 * at the kernels and at the variables that the host may look up, and follows each name
 * that a line of a reached function or variable has. */
#ifndef HA_CPU_COMPILE_REWRITE_REACH_H
#define HA_CPU_COMPILE_REWRITE_REACH_H

#include <stdbool.h>

#include "cpu/compile/ir_text.h"

struct ha_rewriter;

/* A variable that the host may look up by name. */
bool ha_is_variable(const struct ir_global *global);

/* Fills the three sets of what is needed; needs `functions`. */
void ha_rewrite_reach(struct ha_rewriter *rewriter);

#endif
