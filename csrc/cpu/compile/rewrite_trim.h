/* SPDX-License-Identifier: MIT */
/* The text of a part with what it needs and nothing else, and with numbers of its own:
 *
 *     ... !tbaa !41, !llvm.loop !57        ... !tbaa !0, !llvm.loop !1
 *     load i8, ptr @.str.7                 load i8, ptr @.private.0
 *     load i8, ptr %ha.sh.5                load i8, ptr %ha.sh.0
 *
 * The numbers of the front end go on from kernel to kernel.  Without them the text of a
 * part is the same after an edit elsewhere, and so is the object that it becomes. */
#ifndef HA_CPU_COMPILE_REWRITE_TRIM_H
#define HA_CPU_COMPILE_REWRITE_TRIM_H

#include "cpu/compile/ir_text.h"

/* Appends to `out`, whose text is in the arena. */
void ha_part_trim(struct ir_arena *arena, struct ir_slice text, struct ir_out *out);

#endif
