/* SPDX-License-Identifier: MIT */
/* What the functions of a block and of a launch have in common. */
#ifndef HA_CPU_COMPILE_GANG_GANG_KERNEL_STATE_H
#define HA_CPU_COMPILE_GANG_GANG_KERNEL_STATE_H

#include "cpu/compile/gang/gang_emit.h"

/* What @k.block answers. */
enum { BLOCK_DONE = 0, BLOCK_REFUSED = 1, BLOCK_DIVERGED = 2 };

/* The type of a parameter, as text of host IR. */
struct ir_slice gang_param_type(struct gang_emit *emit, uint32_t i);
/* "i32 %v.0, ptr %v.1, " */
void gang_write_params(struct gang_emit *emit, const char *prefix);
/* "@k.whole" or "@k.block", as `emit->whole` says. */
struct ir_slice gang_body_name(struct gang_emit *emit);

#endif
