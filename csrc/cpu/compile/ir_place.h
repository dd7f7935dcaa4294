/* SPDX-License-Identifier: MIT */
/* Where in the source an instruction comes from.
 *
 *     %v = load i32, ptr %p, align 4, !dbg !9, !tbaa !4        the line that was
 * written %v = load i32, ptr %p, align 4, !tbaa !4                 as it is read: node
 * 9 !9 = !DILocation(line: 12, scope: !8, inlinedAt: !10)    kept in module->places
 *
 * Only reports read places: the rest of the rewriter sees the text that the front end
 * would have written without them. */
#ifndef HA_CPU_COMPILE_IR_PLACE_H
#define HA_CPU_COMPILE_IR_PLACE_H

#include "cpu/compile/ir_text.h"

/* Names of our own headers begin with it in places (-fdebug-prefix-map). */
#define HA_PLACE_DEVICE "<hipadapt>"

struct ir_place {
    struct ir_slice file; /* as the front end names it */
    uint32_t line;        /* 0: not known, as is the next */
    uint32_t column;
    struct ir_slice function; /* its name in the source, or empty */
};

/* Takes ", !dbg !9" out of a line and gives 9; 0 where there is none. */
uint32_t ir_place_take(struct ir_arena *arena, struct ir_slice *line);

/* Moves the nodes about places out of `metadata`; nodes of loops lose theirs. */
void ir_places_read(struct ir_module *module);

/* The place of a node in the program's own text: for what was inlined from our headers,
 * the call. */
struct ir_place ir_place_of(const struct ir_module *module, uint32_t node);

#endif
