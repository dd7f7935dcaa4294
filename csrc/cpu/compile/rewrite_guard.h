/* SPDX-License-Identifier: MIT */
/* Questions before accesses, where the request asks for a guard: the image asks the
 * device whether the bytes may be touched (cpu/memory/access.h). */
#ifndef HA_CPU_COMPILE_REWRITE_GUARD_H
#define HA_CPU_COMPILE_REWRITE_GUARD_H

#include "cpu/compile/ir_text.h"

struct ha_rewriter;

/* The text of what questions call, and the question before an instruction, if it
 * accesses memory. */
extern const char ha_guard_function[];
void ha_guard_write(struct ha_rewriter *rewriter, const struct ir_inst *inst,
                    struct ir_out *out);

#endif
