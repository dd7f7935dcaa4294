/* SPDX-License-Identifier: MIT */
/* Host IR in parts that compilers can work on side by side.
 *
 * A *piece* is one form of one kernel with what only it needs.  A piece is *apart* if
 * it names no function that other code has too: its part then needs declarations and
 * constants besides, which any part can have.  Everything else is the *rest*, and
 * stands in the first part together with the variables and the tables.
 *
 *     part 0   common  variables  half  functions  pieces  tables  tails  metadata
 *     part 1   common  declarations of variables and forms  pieces  tails  metadata
 *
 * What parts name of each other is hidden: the linker finds it, and nothing else does.
 * Everything lies in the rewriter's arena; no lock. */
#ifndef HA_CPU_COMPILE_REWRITE_PARTS_H
#define HA_CPU_COMPILE_REWRITE_PARTS_H

#include "cpu/compile/ir_text.h"

struct ha_rewriter;

struct ha_piece {
    struct ir_slice name;       /* of the form: "@halve.fast" */
    const char *parameters;     /* their types: "ptr, ptr" */
    struct ir_slice text, tail; /* functions; constants and metadata of theirs */
    uint32_t *globals;          /* constants and variables that they name */
    uint32_t global_count;
    uint32_t part;
};

struct ha_pieces {
    struct ha_piece *items;
    uint32_t count;
    struct ir_map names;     /* of forms -> number of the piece */
    struct ir_map globals;   /* name -> number; set by ha_pieces_start */
    struct ir_slice *texts;  /* per global: its definition */
    struct ir_out out, tail; /* of the rest, while a piece is written */
};

/* Needs: the scanned module. */
void ha_pieces_start(struct ha_rewriter *rewriter);

/* What is written between these two is one form of a function.  `parameters` are those
 * of the form, for its declaration. */
void ha_piece_begin(struct ha_rewriter *rewriter);
void ha_piece_end(struct ha_rewriter *rewriter, struct ir_slice name,
                  const char *parameters);

/* The texts, at most `most` of them; the number comes back. */
uint32_t ha_parts_make(struct ha_rewriter *rewriter, struct ir_slice common,
                       struct ir_slice metadata, uint32_t most, struct ir_out *parts);

#endif
