/* SPDX-License-Identifier: MIT */
/* Blocks of the program, one after the other, with loops that a gang does by itself. */
#ifndef HA_CPU_COMPILE_GANG_GANG_BLOCK_H
#define HA_CPU_COMPILE_GANG_GANG_BLOCK_H

#include "cpu/compile/gang/gang_emit.h"

/* The blocks at the places [from, to), all in one run. */
void gang_write_blocks(struct gang_emit *emit, uint32_t from, uint32_t to,
                       struct ir_slice next);

#endif
