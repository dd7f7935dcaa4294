/* SPDX-License-Identifier: MIT */
/* Runs: loops over all gangs of a block of lanes, and loops of the program around them.
 */
#ifndef HA_CPU_COMPILE_GANG_GANG_RUN_H
#define HA_CPU_COMPILE_GANG_GANG_RUN_H

#include "cpu/compile/gang/gang_emit.h"

/* Whether the kernel has many runs, so that some are entered by number. */
bool gang_has_hops(const struct gang_emit *emit);
/* The way to runs that are entered by number. */
void gang_write_hops(struct gang_emit *emit);
/* The blocks at [from, to): runs, and loops that all gangs do together. */
void gang_write_level(struct gang_emit *emit, uint32_t from, uint32_t to,
                      uint32_t inside);
/* What the loops of all runs refer to, once a module. */
void gang_declare_rolled(struct gang_emit *emit);

#endif
