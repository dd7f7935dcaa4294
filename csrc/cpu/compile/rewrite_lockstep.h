/* SPDX-License-Identifier: MIT */
/* Which kernels' lanes run in step: the lanes of a warp make each access of memory that
 * others can see before one of them goes on to the next.
 *
 * A kernel is *wanted* in step if the program says so (HIPADAPT_LOCKSTEP, or
 * HIPADAPT_CPU_LOCKSTEP=1 for all), and *seen* to need it if its lanes exchange through
 * memory without a barrier.  Such a kernel counts as one with warp calls: its gangs are
 * whole warps, and its reference form meets before each access. */
#ifndef HA_CPU_COMPILE_REWRITE_LOCKSTEP_H
#define HA_CPU_COMPILE_REWRITE_LOCKSTEP_H

#include <stdbool.h>

#include "cpu/compile/ir_text.h"

struct ha_rewriter;

enum ha_lockstep { HA_LOCKSTEP_NONE, HA_LOCKSTEP_SEEN, HA_LOCKSTEP_WANTED };

/* Decides for each live kernel, and marks the accesses.  Needs the scan; must come
 * before a kernel is written.  Fails by ir_fail where a kernel is wanted in step and
 * cannot be. */
void ha_lockstep_choose(struct ha_rewriter *rewriter);

/* A copy that is made in step is read by all lanes before one of them writes: how many
 * bytes it has, and the texts of both pointers with their types.  0: it is none. */
uint64_t ha_lockstep_copy(struct ha_rewriter *rewriter, struct ir_slice line,
                          struct ir_slice *to, struct ir_slice *from);

/* Whether an instruction is a copy of memory. */
bool ha_lockstep_is_copy(const struct ir_inst *inst);

#endif
