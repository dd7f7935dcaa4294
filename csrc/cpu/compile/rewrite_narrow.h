/* SPDX-License-Identifier: MIT */
/* Which programs a defect of LLVM's run-time checks could break. */
#ifndef HA_CPU_COMPILE_REWRITE_NARROW_H
#define HA_CPU_COMPILE_REWRITE_NARROW_H

#include <stdbool.h>

struct ha_rewriter;

/* Whether a value that goes in steps other than one, from lane to lane or from round to
 * round, is cut to few bits: then the back end must not take it for going on in these
 * steps. */
bool ha_rewrite_narrow_steps(struct ha_rewriter *rewriter);

#endif
