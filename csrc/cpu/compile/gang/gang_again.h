/* SPDX-License-Identifier: MIT */
/* Values that are computed again in each run that reads them.
 *
 * What lives across a barrier is kept in the gang's frame, memory that each gang reads
 * and writes at each barrier.  An address or an index that a few instructions make out
 * of coordinates, parameters and what the whole block has in common is cheaper to make
 * again than to keep. */
#ifndef HA_CPU_COMPILE_GANG_AGAIN_H
#define HA_CPU_COMPILE_GANG_AGAIN_H

#include "cpu/compile/gang/gang_emit.h"

/* Fills `emit->again`, and notes in `used_elsewhere` what is read in order to make
 * values again.  The plan must be made. */
void gang_again_find(struct gang_emit *emit);

#endif
