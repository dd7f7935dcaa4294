/* SPDX-License-Identifier: MIT */
/* Blocks that go in step.
 *
 * A kernel with a loop over strides and without anything that a block has of its own
 * does its rounds for a *span* of blocks, neighbours in x: what they read in a round
 * lies side by side.  The loop over the blocks of a span, `k`, stands around those over
 * the gangs of a block; each block has frames of its own. */
#ifndef HA_CPU_COMPILE_GANG_GANG_SPAN_H
#define HA_CPU_COMPILE_GANG_GANG_SPAN_H

#include "cpu/compile/gang/gang_emit.h"

/* In the function of a launch: how many blocks go in step at most; and now. */
void gang_span_launch(struct gang_emit *emit);
void gang_span_count(struct gang_emit *emit);

/* In the function of a span: names; the loop around what is asked first; the loop
 * around the gangs of a run, from the label run.N to the end of the loop. */
void gang_span_names(struct gang_emit *emit);
void gang_span_ask(struct gang_emit *emit);
void gang_span_asked(struct gang_emit *emit);
void gang_span_begin(struct gang_emit *emit);
void gang_span_end(struct gang_emit *emit);
/* The frames of the block that the run is at. */
const char *gang_span_frame(struct gang_emit *emit);

#endif
