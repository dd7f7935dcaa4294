/* SPDX-License-Identifier: MIT */
/* Whether a row of lanes may be declared free of dependences. */
#ifndef HA_CPU_COMPILE_REWRITE_HAZARD_H
#define HA_CPU_COMPILE_REWRITE_HAZARD_H

#include <stdbool.h>
#include <stdint.h>

struct ha_rewriter;
struct ir_values;

/* Whether the vectoriser might move accesses of one lane past each other, if the lanes
 * of the kernel are declared independent. */
bool ha_hazard_reorders(struct ha_rewriter *rewriter, uint32_t number,
                        const struct ir_values *values);

/* Whether the kernel writes neighbouring elements with lanes that differ in y, and none
 * with lanes that differ in x: then lanes are better run column by column. */
bool ha_hazard_columns(struct ha_rewriter *rewriter, uint32_t number,
                       const struct ir_values *values);

#endif
