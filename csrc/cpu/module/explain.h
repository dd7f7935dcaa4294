/* SPDX-License-Identifier: MIT */
/* Reports of kernels (cpu/compile/report.h) as lines on standard error, for
 * HIPADAPT_CPU_EXPLAIN=1. */
#ifndef HA_CPU_MODULE_EXPLAIN_H
#define HA_CPU_MODULE_EXPLAIN_H

struct ha_function;

/* Tells what was decided about a function, once for each; any thread. */
void ha_function_explain(struct ha_function *function);

#endif
