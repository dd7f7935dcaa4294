/* SPDX-License-Identifier: MIT */
/* Kernels that are checked for NaN (HA_KERNEL_NUMBERS): what the device needs in order
 * to name the line of an operation that gives one.
 *
 * What cpu/compile/numbers_insert.h made calls is arithmetic again while the module is
 * rewritten, so that the other passes know it, and becomes calls again in host IR: the
 * back end then makes an instruction for each operation where the program has it, which
 * raises an exception only if the program's numbers do.
 *
 * Instructions have line tables.  A file of theirs is named "k.hip\nhalve\na[i] = 1 /
 * n;": file, function and text of the line (cpu/module/lines.h reads that).
 *
 *     call void @__ha_rt_made_float(float %r, float %x, float %x, ptr
 * @__ha_check_site.0)
 *
 * stands behind calls of the C library, in which exceptions do not count: it tells the
 * device if the result %r is no finite number. */
#ifndef HA_CPU_COMPILE_REWRITE_NUMBERS_H
#define HA_CPU_COMPILE_REWRITE_NUMBERS_H

#include "cpu/compile/ir_text.h"

struct ha_rewriter;

/* The text of what the calls call. */
extern const char ha_numbers_functions[];

/* Makes arithmetic of calls, in the module. */
void ha_numbers_restore(struct ha_rewriter *rewriter);

/* A function begins to be written; what stands at the end of its head. */
struct ir_slice ha_numbers_head(struct ha_rewriter *rewriter,
                                const struct ir_function *function);
/* The host line of an instruction as a call, if it is arithmetic. */
struct ir_slice ha_numbers_line(struct ha_rewriter *rewriter, struct ir_slice line);
/* ", !dbg !7": where the instruction stands. */
struct ir_slice ha_numbers_place(struct ha_rewriter *rewriter,
                                 const struct ir_inst *inst);
/* The call behind the instruction, if it calls the C library. */
void ha_numbers_after(struct ha_rewriter *rewriter, const struct ir_inst *inst,
                      struct ir_out *out);
/* The metadata of the module. */
void ha_numbers_end(struct ha_rewriter *rewriter);

#endif
