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
 * A large piece is a part of its own; small ones are put together by the names of their
 * kernels.  So an edit of one kernel changes the part that has it, and no other:
 * objects of parts are kept (cpu/compile/objects.h).
 *
 * What parts name of each other is hidden: the linker finds it, and nothing else does.
 * Everything lies in the rewriter's arena; no lock. */
#ifndef HA_CPU_COMPILE_REWRITE_PARTS_H
#define HA_CPU_COMPILE_REWRITE_PARTS_H

#include <stdbool.h>

#include "cpu/compile/ir_text.h"

struct ha_rewriter;

/* What sites and loops of the function that is written are counted from.  Kernels count
 * from themselves, so that none changes with another; functions that they call have
 * numbers behind all of theirs. */
struct ha_first_numbers {
    uint32_t block_site, warp_site, loop;
};
#define HA_FUNCTION_NUMBERS ((uint32_t)1 << 20)

struct ha_piece {
    struct ir_slice name;       /* of the form: "@halve.fast" */
    const char *parameters;     /* their types: "ptr, ptr" */
    struct ir_slice text, tail; /* functions; constants and metadata of theirs */
    struct ir_slice lines;      /* declares what ha_piece_line made */
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
    struct ir_out lines;     /* of the piece that is written; all of them */
    struct ir_out all_lines;
    uint32_t line_count; /* of the piece */
    bool several;        /* there may be more than one part */
};

/* Needs: the scanned module.  `most`: parts that there may be. */
void ha_pieces_start(struct ha_rewriter *rewriter, uint32_t most);

/* What is written between these two is one form of a function.  `parameters` are those
 * of the form, for its declaration. */
void ha_piece_begin(struct ha_rewriter *rewriter);
void ha_piece_end(struct ha_rewriter *rewriter, struct ir_slice name,
                  const char *parameters);

/* Where a piece reads the number of a line of the source: "@halve.line.0", which lies
 * with the tables.  So a kernel stays what it is when it moves in the source.  Empty:
 * it is to have the number itself. */
struct ir_slice ha_piece_line(struct ha_rewriter *rewriter, struct ir_slice kernel,
                              struct ir_slice number);

/* The texts, at most `most` of them; the number comes back.  `many_loops`, which is all
 * false, says where the back end is to take HA_NO_UNROLLING. */
uint32_t ha_parts_make(struct ha_rewriter *rewriter, struct ir_slice common,
                       struct ir_slice metadata, uint32_t most, struct ir_out *parts,
                       bool *many_loops);

#endif
