/* SPDX-License-Identifier: MIT */
/* Where a launch is, for the message if it faults there: struct ha_place, which the
 * device gives (cpu/base/image.h).  All are plain stores that the back end must keep.
 */
#ifndef HA_CPU_COMPILE_GANG_GANG_PLACE_H
#define HA_CPU_COMPILE_GANG_GANG_PLACE_H

#include "cpu/compile/gang/gang_emit.h"

/* In the function of a launch, at its begin; names %gangs, the memory behind the place.
 */
void gang_place_launch(struct gang_emit *emit);
/* There: block `number` begins. */
void gang_place_block(struct gang_emit *emit, const char *number);
/* In the function of a block: the names that the next ones use. */
void gang_place_names(struct gang_emit *emit);
/* The gang of the run that is written begins. */
void gang_place_gang(struct gang_emit *emit);
/* Lane `lane` of the gang, an i64, does something by itself, until the next call. */
void gang_place_lane(struct gang_emit *emit, struct ir_slice lane);
void gang_place_all(struct gang_emit *emit);

/* Around an access of one address for all lanes that are on: the first of them is the
 * lane that does it.  Says nothing where all of them are on, and in loops, where that
 * would cost time. */
bool gang_place_first(struct gang_emit *emit);

#endif
