/* SPDX-License-Identifier: MIT */
/* Reports of kernels (cpu/compile/report.h), and their remarks as lines on standard
 * error for HIPADAPT_CPU_EXPLAIN=1. */
#ifndef HA_CPU_MODULE_EXPLAIN_H
#define HA_CPU_MODULE_EXPLAIN_H

#include <stddef.h>

struct ha_function;

/* The report of a function, with what the back end has told: as much as `room` bytes
 * hold, with a NUL.  Gives the bytes of all of it, with the NUL. */
size_t ha_function_report(const struct ha_function *function, char *text, size_t room);

/* Tells what was decided about a function, once for each; any thread. */
void ha_function_explain(struct ha_function *function);

#endif
