/* SPDX-License-Identifier: MIT */
/* What gangs do with a kernel, and what they found out about it, for people. */
#ifndef HA_CPU_COMPILE_GANG_REPORT_H
#define HA_CPU_COMPILE_GANG_REPORT_H

#include "cpu/compile/gang/gang_emit.h"
#include "cpu/compile/report.h"

/* The addresses that lanes read and write, atomics, branches and loops in which they
 * come apart.  That holds for every form; `gangs` tells what gangs do about it, too.
 * Needs shapes. */
void gang_report_lanes(const struct gang_emit *emit, bool gangs,
                       struct ha_report *report);

/* Regions, what is kept between them, and barriers.  Needs the written kernel. */
void gang_report_regions(const struct gang_emit *emit, struct ha_report *report);

#endif
