/* SPDX-License-Identifier: MIT */
/* Functions of the compiler's run-time library that an image brings along. */
#ifndef HA_CPU_COMPILE_REWRITE_HALF_H
#define HA_CPU_COMPILE_REWRITE_HALF_H

struct ha_rewriter;

/* Writes the functions that the back end calls for half, bfloat16 and powers of
 * integers where the processor has no instruction, if the program may need them. */
void ha_rewrite_half(struct ha_rewriter *rewriter);

#endif
