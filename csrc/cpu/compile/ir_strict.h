/* SPDX-License-Identifier: MIT */
/* Arithmetic whose exceptions count, as LLVM writes it: calls that are made where the
 * program makes them and nowhere else.
 *
 *     %s = fadd contract float %a, %b, !dbg !9
 *     %s = call contract float @llvm.experimental.constrained.fadd.f32(float %a, float
 *              %b, metadata !"round.dynamic", metadata !"fpexcept.maytrap") nomerge,
 *              !dbg !9
 *
 * That is what can give a NaN or an infinity: sums, differences, products, quotients,
 * remainders, conversions to narrower types, and the functions that are intrinsics.
 * Comparisons and what only moves values stay as they are.  No state. */
#ifndef HA_CPU_COMPILE_IR_STRICT_H
#define HA_CPU_COMPILE_IR_STRICT_H

#include "cpu/compile/ir_text.h"

/* The line of such a call in place of a line of arithmetic, without indentation; empty
 * where the instruction is none, or has a type that no call is for. */
struct ir_slice ir_strict_write(struct ir_arena *arena, const struct ir_inst *inst);

/* Whether there is such a call in the text of a module. */
bool ir_strict_is_in(const char *text, size_t size);

/* The other way round. */
struct ir_slice ir_strict_read(struct ir_arena *arena, const struct ir_inst *inst);

#endif
