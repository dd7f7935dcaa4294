/* SPDX-License-Identifier: MIT */
/* Which products and sums are one operation. */
#ifndef HA_CPU_COMPILE_REWRITE_CONTRACT_H
#define HA_CPU_COMPILE_REWRITE_CONTRACT_H

struct ha_rewriter;

/* Needs: the parsed module, before anything else has looked at it.  After it no line of
 * the module leaves the question to the back end, but for those that may be computed in
 * another order anyway (-fassociative-math, -ffast-math). */
void ha_rewrite_contract(struct ha_rewriter *rewriter);

#endif
