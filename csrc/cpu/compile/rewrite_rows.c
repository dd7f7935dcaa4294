/* SPDX-License-Identifier: MIT */
/* The loops of a fast kernel: blocks, planes, rows, pieces of a row, lanes.
 *
 * A *row* is the lanes that differ in x only.  Where the kernel uses its index in x for
 * nothing but the index of the lane, a row goes on through the neighbouring blocks that
 * the call was given: a *span*.  A row is run in *pieces*; a piece in which all leaves
 * agree is run by body a, others by body b.  The whole row is tried first.  If its
 * leaves differ, the guard of a border is the likely cause: then a span is tried
 * without a few lanes at each end, then without the first and the last block, and else
 * is run block by block.
 *
 *   for b in blocks, step `run`           %b, %run blocks side by side, %lanes wide
 *     for tz, for ty                      planes and rows of the block
 *       for from = 0; from < lanes; from = to
 *         for t = from; t < to            body a or body b
 *
 * The blocks of the IR function @halve.fast have these names, the outer loops first:
 *
 *     entry -> block [-> blocks.far [-> blocks.cut]] -> blocks.near -> plane -> row
 *     row [-> row.probe [-> row.wide]] -> row.pieces
 *     row.pieces -> piece -> piecea -> lanea ... -> piece.end -> row.end -> plane.end
 *                        \-> pieceb -> laneb ...                 -> block.end -> end
 *     blocks.cut -> slow.block -> slow.plane -> slow.row -> slow.lane ... -> block.end
 *
 * Where neighbours in y write neighbouring elements, and neighbours in x do not, the
 * lanes of a plane are run column by column, if their leaves are all the same:
 *
 *     plane [-> col.ask -> col.same -> col.more] -> cols -> column -> cell ... ->
 * plane.end
 *           \-> row.first -> row
 *
 * A row is *near* if no index of its lanes can wrap.  Other rows ask before they rely
 * on their arithmetic, and a block in which an index does wrap runs the reference form.
 */
#include "cpu/compile/rewrite_rows.h"

#include <stdio.h>

#include "cpu/base/image.h"
#include "cpu/compile/rewrite_body.h"
#include "cpu/compile/rewrite_fast.h"
#include "cpu/compile/rewrite_known.h"
#include "cpu/compile/rewrite_leaves.h"
#include "cpu/compile/rewrite_state.h"
#include "cpu/compile/rewrite_text.h"

/* Lanes at the ends of a span that are tried as borders. */
#define END_LANES "16"
/* Lanes of a column, at least. */
#define COLUMN_LANES "4"
/* Blocks of a span: so that their lanes fit 32 bits. */
#define SPAN_BLOCKS (HA_INDEX_END / 2 / HA_BLOCK_MOST)

struct rows {
    struct ha_rewriter *rewriter;
    const struct ir_function *function;
    const struct ha_fast *fast;
    struct ir_out *out;
    uint32_t metadata; /* first of the numbers that the loops use */
    const char *y;     /* the lane's index in y, where the writing stands */
};

static void
write_coordinates(const struct rows *rows, const char *thread)
{
    ir_print(rows->out, "%s", thread);
    for (unsigned i = HA_KNOWN_BLOCK_X; i < HA_KNOWN_COORDINATES; i++) {
        ir_print(rows->out, ", i32 %%%s", ha_coordinate_names[i]);
    }
}

/* A call of one of the kernel's own functions for the lane `thread`, without the
 * closing bracket. */
static void
write_call_at(const struct rows *rows, const char *result, const char *suffix,
              const char *thread)
{
    ir_print(rows->out, "%s %.*s(", result,
             IR_ARGS(ha_suffixed(rows->rewriter->arena, rows->function->name, suffix)));
    for (uint32_t i = 0; i < rows->function->param_count; i++) {
        struct ir_slice type =
            ha_host_text(rows->rewriter, rows->function->params[i].type, false);
        ir_print(rows->out, "%.*s %%v%u, ", IR_ARGS(type), i);
    }
    write_coordinates(rows, thread);
}

/* The same for a lane of the row. */
static void
write_call(const struct rows *rows, const char *result, const char *suffix,
           const char *thread_x)
{
    struct ir_arena *arena = rows->rewriter->arena;

    write_call_at(rows, result, suffix,
                  ir_format(arena, "i32 %s, i32 %s, i32 %%tz", thread_x, rows->y).at);
}

static void
write_arguments(const struct rows *rows)
{
    for (uint32_t i = 0; i < rows->function->param_count; i++) {
        const struct ir_param *param = &rows->function->params[i];
        struct ir_slice type = ha_host_text(rows->rewriter, param->type, false);
        bool record = param->byval.size > 0;
        ir_print(rows->out,
                 "  %%q%u = getelementptr ptr, ptr %%args, i64 %u\n"
                 "  %%%s%u = load ptr, ptr %%q%u\n",
                 i, i, record ? "v" : "p", i, i);
        if (record) {
            continue;
        }
        if (ir_is(type, "i1")) {
            ir_print(rows->out,
                     "  %%u%u = load i8, ptr %%p%u\n  %%v%u = icmp ne i8 %%u%u, 0\n", i,
                     i, i, i);
        } else {
            ir_print(rows->out, "  %%v%u = load %.*s, ptr %%p%u, align 1\n", i,
                     IR_ARGS(type), i);
        }
    }
}

/* %calm: what lanes of a row share is small enough for ha_fast_study's ranges. */
static void
write_calm(const struct rows *rows)
{
    ir_print(rows->out,
             "  %%total1 = mul i64 %%w1, %%w4\n  %%total2 = mul i64 %%w2, %%w5\n"
             "  %%fits0 = icmp ule i64 %%w3, %lld\n"
             "  %%fits1 = icmp ule i64 %%total1, %lld\n"
             "  %%fits2 = icmp ule i64 %%total2, %lld\n"
             "  %%s1 = and i1 %%fits0, %%fits1\n  %%calm = and i1 %%s1, %%fits2\n"
             "  br label %%block\n",
             (long long)HA_INDEX_END, (long long)HA_INDEX_END, (long long)HA_INDEX_END);
}

static void
write_entry(const struct rows *rows)
{
    ir_print(rows->out,
             "define hidden i64 %.*s(ptr %%args, ptr %%grid, i64 %%first, i64 %%last, "
             "ptr %%shared, ptr %%frame) nounwind " HA_PROBED " {\nentry:\n"
             "  %%lane = alloca [%zu x i8], align 8\n",
             IR_ARGS(ha_suffixed(rows->rewriter->arena, rows->function->name, "fast")),
             sizeof(struct ha_lane));
    ir_print(rows->out, "  %%place.blocks = getelementptr i8, ptr %%frame, i64 %zu\n",
             offsetof(struct ha_place, blocks));
    write_arguments(rows);
    for (unsigned i = 0; i < 6; i++) {
        const char *name = ha_coordinate_names[HA_KNOWN_BLOCK_DIM_X + i];
        ir_print(rows->out,
                 "  %%d%u = getelementptr i32, ptr %%grid, i64 %u\n"
                 "  %%%s = load i32, ptr %%d%u\n  %%w%u = zext i32 %%%s to i64\n",
                 i, i, name, i, i, name);
    }
    write_calm(rows);
}

/* The index of block %b in the grid. */
static void
write_block_index(const struct rows *rows)
{
    ir_print(rows->out, "  %%b.x = urem i64 %%b, %%w3\n  %%b.q = udiv i64 %%b, %%w3\n"
                        "  %%b.y = urem i64 %%b.q, %%w4\n"
                        "  %%b.z = udiv i64 %%b.q, %%w4\n"
                        "  %%block_x = trunc i64 %%b.x to i32\n"
                        "  %%block_y = trunc i64 %%b.y to i32\n"
                        "  %%block_z = trunc i64 %%b.z to i32\n");
}

/* ---- a row ---- */

/* %<result>: all leaves agree from lane `from` to before lane `to`; %<result>.lo has
 * them.  Goes on in the block %<result>.done. */
static void
write_agreement(const struct rows *rows, const char *result, const char *from,
                const char *to)
{
    struct ir_arena *arena = rows->rewriter->arena;
    const char *r = result;

    write_call(rows, ir_format(arena, "  %%%s.lo = call i32", r).at, "leaf", from);
    ir_print(rows->out, ")\n  %%%s.last = sub i32 %s, 1\n", r, to);
    write_call(rows, ir_format(arena, "  %%%s.hi = call i32", r).at, "leaf",
               ir_format(arena, "%%%s.last", r).at);
    ir_print(rows->out,
             ")\n  %%%s.same = icmp eq i32 %%%s.lo, %%%s.hi\n"
             "  %%%s.ask = xor i1 %%near, true\n"
             "  %%%s.doubt = and i1 %%%s.same, %%%s.ask\n"
             "  br i1 %%%s.doubt, label %%%s.far, label %%%s.known\n%s.far:\n",
             r, r, r, r, r, r, r, r, r, r, r);
    write_call(rows, ir_format(arena, "  %%%s.exact = call i1", r).at, "exact", from);
    ir_print(rows->out,
             ", i32 %%%s.last)\n  br label %%%s.done\n"
             "%s.known:\n  br label %%%s.done\n"
             "%s.done:\n"
             "  %%%s = phi i1 [ %%%s.same, %%%s.known ], [ %%%s.exact, %%%s.far ]\n",
             r, r, r, r, r, r, r, r, r, r);
}

/* Lanes %from to %to in one loop.  `number` is that of the loop's metadata. */
static void
write_lanes(const struct rows *rows, const char *suffix, bool leaves, uint32_t number)
{
    struct ir_arena *arena = rows->rewriter->arena;
    const char *s = suffix;

    ir_print(rows->out,
             "piece%s:\n  br label %%lane%s\nlane%s:\n"
             "  %%t%s = phi i32 [ %%from, %%piece%s ], [ %%t%s.next, %%lane%s ]\n",
             s, s, s, s, s, s, s);
    write_call(rows, "  call void", suffix, ir_format(arena, "%%t%s", s).at);
    for (uint32_t i = 0; leaves && i < rows->fast->leaf_count; i++) {
        ir_print(rows->out, ", i1 %%leaf.%u", i);
    }
    ir_print(rows->out,
             ")\n  %%t%s.next = add nuw nsw i32 %%t%s, 1\n"
             "  %%more%s = icmp ult i32 %%t%s.next, %%to\n"
             "  br i1 %%more%s, label %%lane%s, label %%piece.end",
             s, s, s, s, s, s);
    if (rows->fast->parallel) {
        ir_print(rows->out, ", !llvm.loop !%u", number);
    }
    ir_print(rows->out, "\n");
}

/* Where a piece ends that begins at %from, and how it is run. */
static void
write_piece(const struct rows *rows)
{
    bool spans = rows->fast->spans;

    if (rows->fast->leaf_count == 0) {
        ir_print(rows->out,
                 "  %%to = add nuw nsw i32 %%lanes, 0\n  br label %%pieceb\n");
        return;
    }
    if (spans) {
        ir_print(rows->out, "  %%begins = icmp eq i32 %%from, 0\n"
                            "  %%all = and i1 %%begins, %%whole\n"
                            "  %%follows = icmp eq i32 %%from, %%width\n"
                            "  %%between = and i1 %%follows, %%middle\n"
                            "  %%edge = sub i32 %%lanes, %%width\n"
                            "  %%one = add nuw nsw i32 %%from, %%width\n"
                            "  %%some = select i1 %%between, i32 %%edge, i32 %%one\n"
                            "  %%to = select i1 %%all, i32 %%lanes, i32 %%some\n");
    } else {
        ir_print(rows->out, "  %%to = add nuw nsw i32 %%lanes, 0\n");
    }
    write_agreement(rows, "same", "%from", "%to");
    for (uint32_t i = 0; i < rows->fast->leaf_count; i++) {
        ir_print(rows->out,
                 "  %%lx.%u = lshr i32 %%same.lo, %u\n"
                 "  %%leaf.%u = trunc i32 %%lx.%u to i1\n",
                 i, i, i, i);
    }
    ir_print(rows->out, "  br i1 %%same, label %%piecea, label %%pieceb\n");
}

/* %<name>: there are lanes between the first and the last `width` of the row, and their
 * leaves agree. */
static void
write_inside(const struct rows *rows, const char *name, const char *width)
{
    struct ir_arena *arena = rows->rewriter->arena;

    ir_print(rows->out, "  %%%s.end = sub i32 %%lanes, %s\n", name, width);
    write_agreement(rows, ir_format(arena, "%s.agree", name).at, width,
                    ir_format(arena, "%%%s.end", name).at);
    ir_print(rows->out,
             "  %%%s.twice = shl i32 %s, 1\n"
             "  %%%s.room = icmp ugt i32 %%lanes, %%%s.twice\n"
             "  %%%s = and i1 %%%s.agree, %%%s.room\n",
             name, width, name, name, name, name, name);
}

static void
write_row(const struct rows *rows)
{
    bool probes = rows->fast->spans && rows->fast->leaf_count > 0;

    ir_print(rows->out,
             "row:\n  %%ty = phi i32 [ 0, %%row.first ], [ %%ty.next, %%row.end ]\n");
    if (probes) {
        /* %middle: what lies between two ends of %width lanes agrees. */
        write_agreement(rows, "whole", "0", "%lanes");
        ir_print(rows->out, "  br i1 %%whole, label %%row.pieces, label %%row.probe\n"
                            "row.probe:\n");
        write_inside(rows, "few", END_LANES);
        ir_print(rows->out, "  br i1 %%few, label %%row.pieces, label %%row.wide\n"
                            "row.wide:\n");
        write_inside(rows, "blocks", "%block_dim_x");
        ir_print(rows->out,
                 "  br label %%row.pieces\n"
                 "row.pieces:\n"
                 "  %%middle = phi i1 [ false, %%whole.done ], "
                 "[ true, %%few.agree.done ], [ %%blocks, %%blocks.agree.done ]\n"
                 "  %%width = phi i32 [ %%block_dim_x, %%whole.done ], "
                 "[ " END_LANES ", %%few.agree.done ], "
                 "[ %%block_dim_x, %%blocks.agree.done ]\n");
    } else {
        ir_print(rows->out, "  br label %%row.pieces\nrow.pieces:\n");
    }
    ir_print(rows->out,
             "  br label %%piece\npiece:\n"
             "  %%from = phi i32 [ 0, %%row.pieces ], [ %%to, %%piece.end ]\n");
    write_piece(rows);
    if (rows->fast->leaf_count > 0) {
        write_lanes(rows, "a", true, rows->metadata + 1);
    }
    write_lanes(rows, "b", false, rows->metadata + 4);
    ir_print(rows->out, "piece.end:\n  %%more = icmp ult i32 %%to, %%lanes\n"
                        "  br i1 %%more, label %%piece, label %%row.end\n");
}

/* ---- columns ---- */

/* %kept: the leaves of the plane's first lane.  Goes on at cols where those of all its
 * lanes are the same, else at row.first. */
static void
write_plane_agreement(const struct rows *rows)
{
    struct ir_out *out = rows->out;

    ir_print(out, "col.ask:\n"
                  "  %%ay = phi i32 [ 0, %%plane ], [ %%ay.next, %%col.more ]\n"
                  "  %%kept.old = phi i32 [ 0, %%plane ], [ %%kept, %%col.more ]\n");
    write_agreement(rows, "level", "0", "%lanes");
    ir_print(out, "  br i1 %%level, label %%col.same, label %%row.first\n"
                  "col.same:\n"
                  "  %%ay.first = icmp eq i32 %%ay, 0\n"
                  "  %%kept = select i1 %%ay.first, i32 %%level.lo, i32 %%kept.old\n"
                  "  %%kept.same = icmp eq i32 %%kept, %%level.lo\n"
                  "  br i1 %%kept.same, label %%col.more, label %%row.first\n"
                  "col.more:\n"
                  "  %%ay.next = add nuw nsw i32 %%ay, 1\n"
                  "  %%ay.less = icmp ult i32 %%ay.next, %%block_dim_y\n"
                  "  br i1 %%ay.less, label %%col.ask, label %%cols\n"
                  "cols:\n");
    for (uint32_t i = 0; i < rows->fast->leaf_count; i++) {
        ir_print(out,
                 "  %%kx.%u = lshr i32 %%kept, %u\n"
                 "  %%kept.%u = trunc i32 %%kx.%u to i1\n",
                 i, i, i, i);
    }
}

/* The lanes of a plane column by column, where it is high enough to be worth it. */
static void
write_columns(struct rows *rows)
{
    bool leaves = rows->fast->leaf_count > 0;

    ir_print(rows->out,
             "  %%tall = icmp uge i32 %%block_dim_y, " COLUMN_LANES "\n"
             "  br i1 %%tall, label %%%s, label %%row.first\n",
             leaves ? "col.ask" : "cols");
    if (leaves) {
        rows->y = "%ay";
        write_plane_agreement(rows);
    } else {
        ir_print(rows->out, "cols:\n");
    }
    rows->y = "%cy";
    ir_print(rows->out,
             "  br label %%column\n"
             "column:\n  %%cx = phi i32 [ 0, %%cols ], [ %%cx.next, %%column.end ]\n"
             "  br label %%cell\n"
             "cell:\n  %%cy = phi i32 [ 0, %%column ], [ %%cy.next, %%cell ]\n");
    write_call(rows, "  call void", leaves ? "a" : "b", "%cx");
    for (uint32_t i = 0; i < rows->fast->leaf_count; i++) {
        ir_print(rows->out, ", i1 %%kept.%u", i);
    }
    ir_print(rows->out, ")\n  %%cy.next = add nuw nsw i32 %%cy, 1\n"
                        "  %%cy.more = icmp ult i32 %%cy.next, %%block_dim_y\n"
                        "  br i1 %%cy.more, label %%cell, label %%column.end\n"
                        "column.end:\n  %%cx.next = add nuw nsw i32 %%cx, 1\n"
                        "  %%cx.more = icmp ult i32 %%cx.next, %%lanes\n"
                        "  br i1 %%cx.more, label %%column, label %%plane.end\n"
                        "row.first:\n  br label %%row\n");
    rows->y = "%ty";
}

/* ---- blocks ---- */

/* %many: how many blocks side by side, up to the end of the grid's row and of the call.
 */
static void
write_many(const struct rows *rows)
{
    if (rows->fast->spans) {
        ir_print(rows->out,
                 "  %%left = sub i64 %%last, %%b\n  %%right = sub i64 %%w3, %%b.x\n"
                 "  %%less = icmp ult i64 %%left, %%right\n"
                 "  %%most = select i1 %%less, i64 %%left, i64 %%right\n"
                 "  %%huge = icmp ugt i64 %%most, %lld\n"
                 "  %%many = select i1 %%huge, i64 %lld, i64 %%most\n",
                 (long long)SPAN_BLOCKS, (long long)SPAN_BLOCKS);
    } else {
        ir_print(rows->out, "  %%many = add i64 1, 0\n");
    }
}

/* The call of @k.fits for `run` blocks from %b on. */
static void
write_fits(const struct rows *rows, const char *name, const char *run)
{
    struct ir_arena *arena = rows->rewriter->arena;

    ir_print(
        rows->out,
        "  %%%s.wide = mul i64 %s, %%w0\n  %%%s.lanes = trunc i64 %%%s.wide to i32\n"
        "  %%%s.last = sub i32 %%%s.lanes, 1\n",
        name, run, name, name, name, name);
    write_call_at(rows, ir_format(arena, "  %%%s = call i1", name).at, "fits",
                  "i32 0, i32 0, i32 0");
    ir_print(rows->out, ", i32 %%%s.last)\n", name);
}

/* %near: the indices of the row's lanes stay below HA_INDEX_END; for constant block
 * widths their product counts.  %run: blocks of the row.  A row elsewhere may not pass
 * a power of two where its indices wrap: there it is one block, and if that passes it
 * itself, its lanes run the reference form. */
static void
write_run(const struct rows *rows)
{
    ir_print(rows->out,
             "  %%b.end = add i64 %%b.x, %%many\n  %%i.end = mul i64 %%b.end, %%w0\n"
             "  %%c.end = mul i64 %%b.end, %u\n"
             "  %%i.below = icmp ule i64 %%i.end, %lld\n"
             "  %%c.below = icmp ult i64 %%c.end, %lld\n"
             "  %%below = and i1 %%i.below, %%c.below\n"
             "  %%near = and i1 %%below, %%calm\n"
             "  br i1 %%near, label %%blocks.near, label %%blocks.far\n"
             "blocks.far:\n",
             rows->fast->most_const, (long long)HA_INDEX_END,
             (long long)(HA_INDEX_END - HA_BLOCK_MOST));
    write_fits(rows, "fits.many", "%many");
    ir_print(rows->out, "  br i1 %%fits.many, label %%blocks.near, label %%blocks.cut\n"
                        "blocks.cut:\n");
    write_fits(rows, "fits.one", "1");
    ir_print(rows->out,
             "  br i1 %%fits.one, label %%blocks.near, label %%slow.block\n"
             "blocks.near:\n"
             "  %%run = phi i64 [ %%many, %%block ], [ %%many, %%blocks.far ], "
             "[ 1, %%blocks.cut ]\n"
             "  store volatile i64 %%b, ptr %%frame\n"
             "  %%run.count = trunc i64 %%run to i32\n"
             "  store volatile i32 %%run.count, ptr %%place.blocks\n"
             "  %%wide.lanes = mul nuw nsw i64 %%run, %%w0\n"
             "  %%lanes = trunc i64 %%wide.lanes to i32\n");
}

static void
write_blocks(struct rows *rows)
{
    ir_print(rows->out, "block:\n  %%b = phi i64 [ %%first, %%entry ], "
                        "[ %%b.next, %%block.end ]\n");
    write_block_index(rows);
    write_many(rows);
    write_run(rows);
    ir_print(
        rows->out,
        "  br label %%plane\n"
        "plane:\n  %%tz = phi i32 [ 0, %%blocks.near ], [ %%tz.next, %%plane.end ]\n");
    if (rows->fast->columns) {
        write_columns(rows);
    } else {
        ir_print(rows->out, "  br label %%row.first\nrow.first:\n  br label %%row\n");
    }
    write_row(rows);
    ir_print(rows->out, "row.end:\n  %%ty.next = add nuw nsw i32 %%ty, 1\n"
                        "  %%more_y = icmp ult i32 %%ty.next, %%block_dim_y\n"
                        "  br i1 %%more_y, label %%row, label %%plane.end\n"
                        "plane.end:\n  %%tz.next = add nuw nsw i32 %%tz, 1\n"
                        "  %%more_z = icmp ult i32 %%tz.next, %%block_dim_z\n"
                        "  br i1 %%more_z, label %%plane, label %%block.end\n"
                        "block.end:\n"
                        "  %%ran = phi i64 [ %%run, %%plane.end ], [ 1, %%sz.end ]\n"
                        "  %%b.next = add nuw i64 %%b, %%ran\n"
                        "  %%more_b = icmp ult i64 %%b.next, %%last\n"
                        "  br i1 %%more_b, label %%block, label %%end\n"
                        "end:\n  ret i64 %%last\n");
}

/* The reference form of every lane of a block; a fast kernel has no barriers to wait
 * at. */
static void
write_slow_block(const struct rows *rows)
{
    static const char *const names[] = {"%sx",      "%sy",      "%sz",
                                        "%block_x", "%block_y", "%block_z"};
    struct ir_out *out = rows->out;

    ir_print(
        out,
        "slow.block:\n  store volatile i64 %%b, ptr %%frame\n"
        "  store volatile i32 1, ptr %%place.blocks\n  br label %%slow.plane\n"
        "slow.plane:\n  %%sz = phi i32 [ 0, %%slow.block ], [ %%sz.next, %%sz.end ]\n"
        "  br label %%slow.row\n"
        "slow.row:\n  %%sy = phi i32 [ 0, %%slow.plane ], [ %%sy.next, %%sy.end ]\n"
        "  br label %%slow.lane\n"
        "slow.lane:\n"
        "  %%sx = phi i32 [ 0, %%slow.row ], [ %%sx.next, %%slow.lane ]\n");
    for (unsigned i = 0; i < 6; i++) {
        ir_print(out,
                 "  %%sat.%u = getelementptr i8, ptr %%lane, i64 %u\n"
                 "  store i32 %s, ptr %%sat.%u\n",
                 i, 4 * i, names[i], i);
    }
    ir_print(out,
             "  %%sat.grid = getelementptr i8, ptr %%lane, i64 %zu\n"
             "  store ptr %%grid, ptr %%sat.grid\n"
             "  %%sat.shared = getelementptr i8, ptr %%lane, i64 %zu\n"
             "  store ptr %%shared, ptr %%sat.shared\n"
             "  call void %.*s(ptr %%args, ptr %%lane) noinline\n",
             offsetof(struct ha_lane, grid), offsetof(struct ha_lane, shared),
             IR_ARGS(ha_suffixed(rows->rewriter->arena, rows->function->name, "ref")));
    ir_print(out, "  %%sx.next = add nuw i32 %%sx, 1\n"
                  "  %%sx.more = icmp ult i32 %%sx.next, %%block_dim_x\n"
                  "  br i1 %%sx.more, label %%slow.lane, label %%sy.end\n"
                  "sy.end:\n  %%sy.next = add nuw i32 %%sy, 1\n"
                  "  %%sy.more = icmp ult i32 %%sy.next, %%block_dim_y\n"
                  "  br i1 %%sy.more, label %%slow.row, label %%sz.end\n"
                  "sz.end:\n  %%sz.next = add nuw i32 %%sz, 1\n"
                  "  %%sz.more = icmp ult i32 %%sz.next, %%block_dim_z\n"
                  "  br i1 %%sz.more, label %%slow.plane, label %%block.end\n}\n\n");
}

void
ha_fast_write(struct ha_rewriter *rewriter, uint32_t number, const struct ha_fast *fast)
{
    struct rows rows = {rewriter,
                        &rewriter->module.functions[number],
                        fast,
                        &rewriter->out,
                        rewriter->metadata,
                        "%ty"};
    uint32_t group = rewriter->metadata;

    if (fast->leaf_count > 0) {
        struct ha_body body = {HA_FORM_BODY, fast, "a", true, true};
        ha_body_write(rewriter, number, &body);
    }
    ha_leaves_write(rewriter, number, fast);
    struct ha_body body = {HA_FORM_BODY, fast, "b", false, true};
    ha_body_write(rewriter, number, &body);
    write_entry(&rows);
    write_blocks(&rows);
    write_slow_block(&rows);
    /* The access group of the bodies, and an identity for each of the two loops. */
    ir_print(&rewriter->tail,
             "!%u = distinct !{}\n!%u = distinct !{!%u, !%u, !%u}\n"
             "!%u = !{!\"llvm.loop.parallel_accesses\", !%u}\n"
             "!%u = !{!\"llvm.loop.vectorize.enable\", i1 true}\n"
             "!%u = distinct !{!%u, !%u, !%u}\n",
             group, group + 1, group + 1, group + 2, group + 3, group + 2, group,
             group + 3, group + 4, group + 4, group + 2, group + 3);
    rewriter->metadata += 5;
}
