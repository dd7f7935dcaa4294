/* SPDX-License-Identifier: MIT */
/* Which checked kernels can be proved right when they are launched, and have a twin
 * without questions for that (cpu/compile/check_plain.h). */
#ifndef HA_CPU_COMPILE_REWRITE_PLAIN_H
#define HA_CPU_COMPILE_REWRITE_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

struct ha_rewriter;

/* Fills `proofs` and `plains`; needs the scanned module. */
void ha_plain_choose(struct ha_rewriter *rewriter);

/* Whether a function is the twin of a kernel. */
bool ha_plain_is_twin(const struct ha_rewriter *rewriter, uint32_t number);

/* Whether a function is to be written: all but twins that nobody launches. */
bool ha_plain_is_wanted(const struct ha_rewriter *rewriter, uint32_t number);

#endif
