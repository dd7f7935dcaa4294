/* SPDX-License-Identifier: MIT */
/* Barriers: what gangs add when they come, and what is said when all have come. */
#ifndef HA_CPU_COMPILE_GANG_GANG_BARRIER_H
#define HA_CPU_COMPILE_GANG_GANG_BARRIER_H

#include "cpu/compile/gang/gang_emit.h"

/* Adds a gang to what the barrier counts. */
void gang_write_arrival(struct gang_emit *emit, uint32_t block);
/* What the barrier says when all gangs have come. */
void gang_write_meeting(struct gang_emit *emit, uint32_t block);
/* The first block behind a barrier takes what the barrier said. */
void gang_take_result(struct gang_emit *emit, uint32_t block);

#endif
