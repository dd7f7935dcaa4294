/* SPDX-License-Identifier: MIT */
/* Reports of kernels that have no gangs: rows, and the reference form; and of lanes
 * that run in step. */
#ifndef HA_CPU_COMPILE_REWRITE_REPORT_H
#define HA_CPU_COMPILE_REWRITE_REPORT_H

#include <stdint.h>

#include "cpu/compile/report.h"

struct ha_fast;
struct ha_rewriter;

/* `fast` is what the rows assume; NULL: the kernel has the reference form only. */
void ha_rewrite_report(struct ha_rewriter *rewriter, uint32_t number,
                       const struct ha_fast *fast, struct ha_report *report);

/* Whether lanes run in step, and why; for kernels of each form. */
void ha_report_lockstep(const struct ha_rewriter *rewriter, uint32_t number,
                        struct ha_report *report);

#endif
