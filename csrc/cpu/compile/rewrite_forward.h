/* SPDX-License-Identifier: MIT */
/* Which programs a defect of LLVM's loop load elimination could break. */
#ifndef HA_CPU_COMPILE_REWRITE_FORWARD_H
#define HA_CPU_COMPILE_REWRITE_FORWARD_H

#include <stdbool.h>

struct ha_rewriter;

/* Whether a loop of a kernel, or a function that kernels call, loads and stores more
 * than once a round: then the back end must not carry values from round to round. */
bool ha_rewrite_loops_store(struct ha_rewriter *rewriter);

#endif
