/* SPDX-License-Identifier: MIT */
#include "cpu/compile/gang/gang_launch.h"

#include "cpu/compile/gang/gang_kernel_state.h"
#include "cpu/compile/gang/gang_place.h"
#include "cpu/compile/gang/gang_span.h"
#include "cpu/compile/ir_type.h"
#include "cpu/compile/rewrite_body.h"
#include "cpu/compile/rewrite_state.h"
#include "cpu/compile/rewrite_text.h"

static void
write_arguments(struct gang_emit *emit)
{
    struct ir_out *out = emit->out;

    for (uint32_t i = 0; i < emit->function->source->param_count; i++) {
        const struct ir_param *param = &emit->function->source->params[i];
        struct ir_slice type = gang_param_type(emit, i);
        bool record = param->byval.size > 0;
        ir_print(out,
                 "  %%q%u = getelementptr ptr, ptr %%args, i64 %u\n"
                 "  %%%s%u = load ptr, ptr %%q%u\n",
                 i, i, record ? "v." : "p", i, i);
        if (record) {
            continue;
        }
        if (ir_is(type, "i1")) {
            ir_print(out,
                     "  %%u%u = load i8, ptr %%p%u\n  %%v.%u = icmp ne i8 %%u%u, 0\n",
                     i, i, i, i);
        } else {
            ir_print(out, "  %%v.%u = load %.*s, ptr %%p%u, align 1\n", i,
                     IR_ARGS(type), i);
        }
    }
}

static void
write_call(struct gang_emit *emit, bool whole, const char *name)
{
    emit->whole = whole;
    ir_print(emit->out, "  %%%s = call i32 %.*s(", name, IR_ARGS(gang_body_name(emit)));
    gang_write_params(emit, "v");
    ir_print(emit->out,
             "i32 %%bx, i32 %%by, i32 %%bz, i32 %%dim0, i32 %%dim1, i32 %%dim2, "
             "i32 %%dim3, i32 %%dim4, i32 %%dim5, %sptr %%shared, ptr %%gangs)\n",
             emit->span > 0 ? "i32 %count, " : "");
}

static void
write_calls(struct gang_emit *emit)
{
    struct ir_out *out = emit->out;

    ir_print(out, "  br i1 %%whole, label %%of_gangs, label %%of_lanes\nof_gangs:\n");
    write_call(emit, true, "what0");
    ir_print(out, "  br label %%did\nof_lanes:\n");
    write_call(emit, false, "what1");
    ir_print(out, "  br label %%did\ndid:\n"
                  "  %%what = phi i32 [ %%what0, %%of_gangs ], [ %%what1, %%of_lanes "
                  "]\n");
}

void
gang_write_launch(struct gang_emit *emit)
{
    struct gang_function *function = emit->function;
    struct ir_out *out = emit->out;

    ir_print(out,
             "define hidden i64 %.*s(ptr %%args, ptr %%grid, i64 %%first, i64 %%last, "
             "ptr %%shared, ptr %%frame) nounwind " HA_PROBED " {\nentry:\n",
             IR_ARGS(ha_suffixed(function->arena, function->source->name, "fast")));
    write_arguments(emit);
    for (unsigned i = 0; i < 6; i++) {
        ir_print(out,
                 "  %%at%u = getelementptr i8, ptr %%grid, i64 %u\n"
                 "  %%dim%u = load i32, ptr %%at%u\n",
                 i, 4 * i, i, i);
    }
    gang_place_launch(emit);
    if (emit->span > 0) {
        gang_span_launch(emit);
    }
    ir_print(out,
             "  %%w3 = zext i32 %%dim3 to i64\n  %%w4 = zext i32 %%dim4 to i64\n"
             "  %%part = urem i32 %%dim0, %u\n  %%whole = icmp eq i32 %%part, 0\n"
             "  %%x64 = urem i64 %%first, %%w3\n"
             "  %%row64 = udiv i64 %%first, %%w3\n"
             "  %%y64 = urem i64 %%row64, %%w4\n"
             "  %%z64 = udiv i64 %%row64, %%w4\n"
             "  %%x.first = trunc i64 %%x64 to i32\n"
             "  %%y.first = trunc i64 %%y64 to i32\n"
             "  %%z.first = trunc i64 %%z64 to i32\n"
             "  br label %%next\n"
             "next:\n"
             "  %%b = phi i64 [ %%first, %%entry ], [ %%b1, %%done ]\n"
             "  %%bx = phi i32 [ %%x.first, %%entry ], [ %%bx1, %%done ]\n"
             "  %%by = phi i32 [ %%y.first, %%entry ], [ %%by1, %%done ]\n"
             "  %%bz = phi i32 [ %%z.first, %%entry ], [ %%bz1, %%done ]\n"
             "  %%more = icmp ult i64 %%b, %%last\n"
             "  br i1 %%more, label %%block, label %%end\n"
             "block:\n",
             emit->width);
    gang_place_block(emit, "%b");
    if (emit->span > 0) {
        gang_span_count(emit);
    }
    write_calls(emit);
    ir_print(out,
             "  br label %%done\ndone:\n"
             "  %%b1 = add i64 %%b, %s\n"
             "  %%x.more = add i32 %%bx, %s\n"
             "  %%x.end = icmp eq i32 %%x.more, %%dim3\n"
             "  %%bx1 = select i1 %%x.end, i32 0, i32 %%x.more\n"
             "  %%x.over = zext i1 %%x.end to i32\n"
             "  %%y.more = add i32 %%by, %%x.over\n"
             "  %%y.end = icmp eq i32 %%y.more, %%dim4\n"
             "  %%by1 = select i1 %%y.end, i32 0, i32 %%y.more\n"
             "  %%y.over = zext i1 %%y.end to i32\n"
             "  %%bz1 = add i32 %%bz, %%y.over\n"
             "  %%fine = icmp eq i32 %%what, 0\n"
             "  br i1 %%fine, label %%next, label %%stop\n"
             "stop:\n"
             "  %%what64 = zext i32 %%what to i64\n"
             "  %%high = shl i64 %%what64, 62\n"
             "  %%answer = or i64 %%b, %%high\n"
             "  ret i64 %%answer\n"
             "end:\n  ret i64 %%last\n}\n\n",
             emit->span > 0 ? "%count64" : "1", emit->span > 0 ? "%count" : "1");
}
