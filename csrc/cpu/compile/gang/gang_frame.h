/* SPDX-License-Identifier: MIT */
/* Where slots lie: on the stack, and in the frame of the gang. */
#ifndef HA_CPU_COMPILE_GANG_GANG_FRAME_H
#define HA_CPU_COMPILE_GANG_GANG_FRAME_H

#include "cpu/compile/gang/gang_emit.h"

/* From the frame to the stack at the begin of a run, and back at its end. */
void gang_copy_slots(struct gang_emit *emit, bool in);
/* The memory of arrays of this gang. */
void gang_name_arrays(struct gang_emit *emit);
/* Variables on the stack; arrays are in the frame. */
void gang_write_slots(struct gang_emit *emit);
/* Each slot that is read must be one that something was written to. */
void gang_check_slots(struct gang_emit *emit);
/* Which slots more than one run uses, and where they lie. */
void gang_place_slots(struct gang_emit *emit);

#endif
