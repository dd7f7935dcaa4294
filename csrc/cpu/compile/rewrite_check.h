/* SPDX-License-Identifier: MIT */
/* The calls that cpu/compile/check_insert.h has put before accesses, as host IR:
 *
 *     call void @__ha_check(ptr %arrayidx, i64 4, i32 135170, i64 %v), !dbg !35
 *     call void @__ha_rt_check(ptr %arrayidx, i64 4, ptr @__ha_check_site.0, ptr %a,
 * i64 %v)
 *
 *     @__ha_check_site.0 = { "k.hip", "halve", "a[i] = ...", "", 0, 4, 21, 135170, 1 }
 *
 * The site is a struct ha_check_site of cpu/base/image.h.  The fourth operand is what
 * the address is computed from: a parameter, a variable, or what was read from memory.
 */
#ifndef HA_CPU_COMPILE_REWRITE_CHECK_H
#define HA_CPU_COMPILE_REWRITE_CHECK_H

#include "cpu/compile/ir_place.h"
#include "cpu/compile/ir_text.h"
#include "cpu/compile/ir_values.h"

struct ha_rewriter;

/* The text of what the calls call. */
extern const char ha_check_function[];
/* The same for programs with shadow memory (cpu/compile/shadow_insert.h). */
extern const char ha_shadow_functions[];

/* The line for such a call; its site is written to the rewriter's tail.  Shared
 * variables keep their names. */
struct ir_slice ha_check_line(struct ha_rewriter *rewriter,
                              const struct ir_function *function,
                              const struct ir_values *values,
                              const struct ir_inst *inst);

/* The site of an instruction that accesses nothing, in the rewriter's tail; its number.
 */
uint32_t ha_check_site_write(struct ha_rewriter *rewriter, const struct ir_inst *inst);

/* The line of the program's own text, cut at its end if it is long; empty: not known.
 */
struct ir_slice ha_check_line_of(const struct ha_rewriter *rewriter,
                                 const struct ir_place *place);
/* As it stands between quotes. */
void ha_check_put_text(struct ir_out *out, struct ir_slice text);

#endif
