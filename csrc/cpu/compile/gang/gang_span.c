/* SPDX-License-Identifier: MIT */
#include "cpu/compile/gang/gang_span.h"

#define GANGS_MOST 1024u /* that go in step: their frames stay in the cache */

void
gang_span_launch(struct gang_emit *emit)
{
    ir_print(emit->out,
             "  %%span.row0 = add i32 %%dim0, %u\n"
             "  %%span.row = udiv i32 %%span.row0, %u\n"
             "  %%span.rows = mul i32 %%dim1, %%dim2\n"
             "  %%span.gangs = mul i32 %%span.row, %%span.rows\n"
             "  %%span.fit = udiv i32 %u, %%span.gangs\n"
             "  %%span.few = call i32 @llvm.umin.i32(i32 %%span.fit, i32 %u)\n"
             "  %%span.most = call i32 @llvm.umax.i32(i32 %%span.few, i32 1)\n"
             "  %%span.most64 = zext i32 %%span.most to i64\n",
             emit->width - 1, emit->width, GANGS_MOST, emit->span);
    gang_declare(emit, ir_slice_of("@llvm.umin.i32"),
                 ir_slice_of("i32 @llvm.umin.i32(i32, i32)"));
    gang_declare(emit, ir_slice_of("@llvm.umax.i32"),
                 ir_slice_of("i32 @llvm.umax.i32(i32, i32)"));
    gang_declare(emit, ir_slice_of("@llvm.umin.i64"),
                 ir_slice_of("i64 @llvm.umin.i64(i64, i64)"));
}

/* A span ends where the launch's part ends, or the row of blocks. */
void
gang_span_count(struct gang_emit *emit)
{
    ir_print(emit->out, "  %%count.left = sub i64 %%last, %%b\n"
                        "  %%count.row0 = sub i32 %%dim3, %%bx\n"
                        "  %%count.row = zext i32 %%count.row0 to i64\n"
                        "  %%count.a = call i64 @llvm.umin.i64(i64 %%count.left, i64 "
                        "%%count.row)\n"
                        "  %%count64 = call i64 @llvm.umin.i64(i64 %%count.a, i64 "
                        "%%span.most64)\n"
                        "  %%count = trunc i64 %%count64 to i32\n");
}

void
gang_span_names(struct gang_emit *emit)
{
    ir_print(emit->out, "  %%span.first = load i64, ptr %%ha.place\n"
                        "  %%span.rows = mul i32 %%ha.block_dim_y, %%ha.block_dim_z\n"
                        "  %%span.gangs = mul i32 %%span.rows, %%ha.row_gangs\n"
                        "  %%span.gangs64 = zext i32 %%span.gangs to i64\n"
                        "  %%span.bytes = mul i64 %%span.gangs64, %%ha.frame_bytes\n");
}

void
gang_span_ask(struct gang_emit *emit)
{
    emit->asking = true;
    ir_print(emit->out, "  br label %%ask\n"
                        "ask:\n"
                        "  %%ask.k = phi i32 [ 0, %%entry ], [ %%ask.k1, %%asked ]\n"
                        "  %%ask.x = add i32 %%ha.block_x, %%ask.k\n");
}

void
gang_span_asked(struct gang_emit *emit)
{
    emit->asking = false;
    emit->time++;
    ir_print(emit->out, "asked:\n"
                        "  %%ask.k1 = add i32 %%ask.k, 1\n"
                        "  %%ask.more = icmp ult i32 %%ask.k1, %%ha.span\n"
                        "  br i1 %%ask.more, label %%ask, label %%begin\n");
}

void
gang_span_begin(struct gang_emit *emit)
{
    uint32_t r = emit->run;

    ir_print(emit->out,
             "run.%u:\n  br label %%k.%u\n"
             "k.%u:\n  %%k0.%u = phi i32 [ 0, %%run.%u ], [ %%k1.%u, %%done.%u ]\n"
             "  %%bx.%u = add i32 %%ha.block_x, %%k0.%u\n"
             "  %%k64.%u = zext i32 %%k0.%u to i64\n"
             "  %%number.%u = add i64 %%span.first, %%k64.%u\n"
             "  store volatile i64 %%number.%u, ptr %%ha.place\n"
             "  %%at0.%u = mul i64 %%k64.%u, %%span.bytes\n"
             "  %%frames.%u = getelementptr i8, ptr %%ha.frame, i64 %%at0.%u\n"
             "  br label %%begin.%u\n",
             r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r, r);
}

void
gang_span_end(struct gang_emit *emit)
{
    uint32_t r = emit->run;

    ir_print(emit->out,
             "  %%k1.%u = add i32 %%k0.%u, 1\n"
             "  %%kmore.%u = icmp ult i32 %%k1.%u, %%ha.span\n"
             "  br i1 %%kmore.%u, label %%k.%u, label %%after.%u\n",
             r, r, r, r, r, r, r);
}

const char *
gang_span_frame(struct gang_emit *emit)
{
    return ir_format(emit->function->arena, "%%frames.%u", emit->run).at;
}
