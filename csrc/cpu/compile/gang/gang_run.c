/* SPDX-License-Identifier: MIT */
#include "cpu/compile/gang/gang_run.h"

#include "cpu/compile/gang/gang_barrier.h"
#include "cpu/compile/gang/gang_block.h"
#include "cpu/compile/gang/gang_edge.h"
#include "cpu/compile/gang/gang_frame.h"
#include "cpu/compile/gang/gang_place.h"
#include "cpu/compile/gang/gang_span.h"
#include "cpu/compile/rewrite_state.h"

/* Loops over rows of gangs are not unrolled: it makes code, and no speed. */
#define ROLLED ", !llvm.loop !1048576"
static const char rolled[] = "!1048576 = distinct !{!1048576, !1048577}\n"
                             "!1048577 = !{!\"llvm.loop.unroll.disable\"}\n";

static void
write_gangs_head(struct gang_emit *emit)
{
    uint32_t r = emit->run;
    unsigned w = emit->width;
    struct ir_out *out = emit->out;

    if (emit->span > 0) {
        gang_span_begin(emit);
    } else {
        ir_print(out, "run.%u:\n  br label %%begin.%u\n", r, r);
    }
    ir_print(out,
             "begin.%u:\n  br label %%z.%u\n"
             "z.%u:\n  %%tz.%u = phi i32 [ 0, %%begin.%u ], [ %%tz1.%u, %%zend.%u ]\n"
             "  br label %%y.%u\n"
             "y.%u:\n  %%ty.%u = phi i32 [ 0, %%z.%u ], [ %%ty1.%u, %%yend.%u ]\n"
             "  %%row0.%u = mul i32 %%tz.%u, %%ha.block_dim_y\n"
             "  %%row.%u = add i32 %%row0.%u, %%ty.%u\n"
             "  br label %%x.%u\n",
             r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r);
    ir_print(out,
             "x.%u:\n  %%x0.%u = phi i32 [ 0, %%y.%u ], [ %%x1.%u, %%end.%u ]\n"
             "  %%rest.%u = sub i32 %%ha.block_dim_x, %%x0.%u\n"
             "  %%rest1.%u = insertelement <%u x i32> poison, i32 %%rest.%u, i64 0\n"
             "  %%rests.%u = shufflevector <%u x i32> %%rest1.%u, <%u x i32> poison, "
             "<%u x i32> zeroinitializer\n"
             "  %%all.%u = icmp ult <%u x i32> <",
             r, r, r, r, r, r, r, r, w, r, r, w, r, w, w, r, w);
    for (unsigned i = 0; i < w; i++) {
        ir_print(out, "%si32 %u", i > 0 ? ", " : "", i);
    }
    ir_print(out,
             ">, %%rests.%u\n"
             "  %%g0.%u = mul i32 %%row.%u, %%ha.row_gangs\n"
             "  %%g1.%u = udiv i32 %%x0.%u, %u\n"
             "  %%g2.%u = add i32 %%g0.%u, %%g1.%u\n"
             "  %%g.%u = zext i32 %%g2.%u to i64\n"
             "  %%own0.%u = mul i64 %%g.%u, %%ha.frame_bytes\n"
             "  %%own.%u = getelementptr i8, ptr %s, i64 %%own0.%u\n",
             r, r, r, r, r, w, r, r, r, r, r, r, r, r,
             emit->span > 0 ? gang_span_frame(emit) : "%ha.frame", r);
    gang_place_gang(emit);
}

static void
write_gangs_end(struct gang_emit *emit)
{
    uint32_t r = emit->run;

    ir_print(emit->out,
             "  %%x1.%u = add i32 %%x0.%u, %u\n"
             "  %%xmore.%u = icmp ult i32 %%x1.%u, %%ha.block_dim_x\n"
             "  br i1 %%xmore.%u, label %%x.%u, label %%yend.%u\n"
             "yend.%u:\n  %%ty1.%u = add i32 %%ty.%u, 1\n"
             "  %%ymore.%u = icmp ult i32 %%ty1.%u, %%ha.block_dim_y\n"
             "  br i1 %%ymore.%u, label %%y.%u, label %%zend.%u" ROLLED "\n"
             "zend.%u:\n  %%tz1.%u = add i32 %%tz.%u, 1\n"
             "  %%zmore.%u = icmp ult i32 %%tz1.%u, %%ha.block_dim_z\n"
             "  br i1 %%zmore.%u, label %%z.%u, label %%done.%u" ROLLED "\n"
             "done.%u:\n",
             r, r, emit->width, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r,
             r, r, r);
    if (emit->span > 0) {
        gang_span_end(emit);
    } else {
        ir_print(emit->out, "  br label %%after.%u\n", r);
    }
    ir_print(emit->out, "after.%u:\n", r);
    emit->label = ir_format(emit->function->arena, "after.%u", r);
}

/* For each loop, the back end looks at the conditions of all loops that came before it,
 * and runs are loops.  In a kernel of many runs, every few runs the way on is a *hop*:
 * through a number in memory, so that nothing is known about what came before. */
#define HOPS_RUNS_LEAST 24u

#define HOPS_RUNS 4u

#define HOPS_ALL_LEAST 64u /* each run is a hop */

bool
gang_has_hops(const struct gang_emit *emit)
{
    return emit->plan.run_count >= HOPS_RUNS_LEAST;
}

static bool
is_hop(const struct gang_emit *emit, uint32_t run)
{
    return emit->plan.run_count >= HOPS_ALL_LEAST ||
           (emit->plan.run_count >= HOPS_RUNS_LEAST && run % HOPS_RUNS == 0);
}

static void
enter_run(struct gang_emit *emit)
{
    if (!is_hop(emit, emit->run)) {
        gang_line(emit, "br label %%run.%u", emit->run);
        return;
    }
    gang_line(emit, "store volatile i32 %u, ptr %%hop", emit->run);
    gang_line(emit, "br label %%hops");
    emit->time++;
}

void
gang_write_hops(struct gang_emit *emit)
{
    if (emit->plan.run_count < HOPS_RUNS_LEAST) {
        return;
    }
    ir_print(emit->out, "hops:\n  %%to = load volatile i32, ptr %%hop\n"
                        "  switch i32 %%to, label %%nowhere [\n");
    for (uint32_t r = 0; r < emit->plan.run_count; r++) {
        if (is_hop(emit, r)) {
            ir_print(emit->out, "    i32 %u, label %%run.%u\n", r, r);
        }
    }
    ir_print(emit->out, "  ]\nnowhere:\n  unreachable\n");
}

/* All gangs do the blocks at [from, to). */
static void
write_run(struct gang_emit *emit, uint32_t from, uint32_t to)
{
    uint32_t last = emit->flow.at[to - 1];
    struct ir_arena *arena = emit->function->arena;

    for (uint32_t place = from; place < to; place++) {
        if (gang_has_barrier(emit->function, emit->flow.at[place])) {
            last = emit->flow.at[place];
        }
    }
    emit->run = emit->plan.run[emit->flow.at[from]];
    if (gang_has_barrier(emit->function, last)) {
        gang_line(emit, "store i1 false, ptr %%came");
        gang_line(emit, "store i1 false, ptr %%missing");
        gang_line(emit, "store i32 0, ptr %%counted");
    }
    enter_run(emit);
    write_gangs_head(emit);
    gang_name_arrays(emit);
    gang_copy_slots(emit, true);
    gang_line(emit, "br label %%at.%u", from);
    gang_write_blocks(emit, from, to, ir_format(arena, "end.%u", emit->run));
    gang_begin_label(emit, ir_format(arena, "end.%u", emit->run));
    gang_copy_slots(emit, false);
    write_gangs_end(emit);
    emit->time++;
    emit->block = last;
    if (gang_has_barrier(emit->function, last)) {
        gang_write_meeting(emit, last);
    }
}

/* Values of phis that all gangs have in common are taken before the first of them
 * brings the next ones. */
static void
take_common_phis(struct gang_emit *emit, uint32_t header)
{
    const struct gang_block *at = &emit->function->blocks[header];

    for (uint32_t i = 0; emit->function->values[at->insts[i]].op == GANG_PHI; i++) {
        uint32_t phi = at->insts[i];
        uint32_t slot = gang_slot(emit, GANG_SLOT_PHI, phi, 0);
        if (emit->slots[slot].block_wide) {
            struct ir_slice value = gang_slot_read(emit, slot);
            gang_slot_write(emit, gang_slot(emit, GANG_SLOT_VALUE, phi, 0), value);
        }
    }
}

void
gang_write_level(struct gang_emit *emit, uint32_t from, uint32_t to, uint32_t inside)
{
    for (uint32_t place = from; place < to;) {
        uint32_t block = emit->flow.at[place];
        uint32_t loop = emit->flow.loops.inner[block];
        if (gang_is_level_header(emit, block) && loop != inside) {
            uint32_t end = gang_loop_end(emit, loop);
            struct ir_slice more = gang_name(emit);
            gang_line(emit, "br label %%ask.%u", loop);
            ir_print(emit->out, "ask.%u:\n", loop);
            gang_line(emit, "%.*s = load i1, ptr %%round.%u", IR_ARGS(more), loop);
            gang_line(emit, "br i1 %.*s, label %%again.%u, label %%left.%u",
                      IR_ARGS(more), loop, loop);
            ir_print(emit->out, "again.%u:\n", loop);
            gang_line(emit, "store i1 false, ptr %%round.%u", loop);
            emit->run = emit->plan.run[block];
            take_common_phis(emit, block);
            gang_write_level(emit, place, end, loop);
            gang_line(emit, "br label %%ask.%u", loop);
            ir_print(emit->out, "left.%u:\n", loop);
            place = end;
            continue;
        }
        uint32_t end = place + 1;
        while (end < to &&
               emit->plan.run[emit->flow.at[end]] == emit->plan.run[block]) {
            end++;
        }
        write_run(emit, place, end);
        place = end;
    }
}

void
gang_declare_rolled(struct gang_emit *emit)
{
    struct ha_rewriter *rewriter = emit->function->rewriter;
    uint32_t found;

    if (!ir_map_get(&rewriter->declared, ir_slice_of(rolled), &found)) {
        ir_map_set(&rewriter->declared, ir_slice_of(rolled), 1);
        ir_print(&rewriter->intrinsics, "%s", rolled);
    }
}
