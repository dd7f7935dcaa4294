/* SPDX-License-Identifier: MIT */
/* Masks of blocks, and what edges leave for the blocks that they lead to. */
#ifndef HA_CPU_COMPILE_GANG_GANG_EDGE_H
#define HA_CPU_COMPILE_GANG_GANG_EDGE_H

#include "cpu/compile/gang/gang_emit.h"

/* Where a block stands in the order. */
uint32_t gang_place_of(const struct gang_emit *emit, uint32_t block);
bool gang_is_header(const struct gang_emit *emit, uint32_t block);
/* The place behind the last block of a loop. */
uint32_t gang_loop_end(const struct gang_emit *emit, uint32_t loop);
/* Of a loop that all gangs do together. */
bool gang_is_level_header(const struct gang_emit *emit, uint32_t block);
/* Whether the block has the mask of another one. */
bool gang_is_steady(const struct gang_emit *emit, uint32_t block);
/* The lanes that there are. */
struct ir_slice gang_all_lanes(struct gang_emit *emit);
/* The mask of a block, for code in the block that is written. */
struct ir_slice gang_mask_of(struct gang_emit *emit, uint32_t block);
/* The end of a block: all its edges. */
void gang_write_edges(struct gang_emit *emit, uint32_t block);

#endif
