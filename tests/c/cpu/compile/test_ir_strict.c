/* SPDX-License-Identifier: MIT */
/* Arithmetic becomes calls and arithmetic again. */
/* sources: core cpu/compile/ir_* */
#include "cpu/compile/ir_strict.h"

#include <string.h>

#include "check.h"

#define CALL "@llvm.experimental.constrained."
#define MODES "metadata !\"round.dynamic\", metadata !\"fpexcept.maytrap\") nomerge"

static const struct {
    const char *plain, *strict;
} rows[] = {
    {"%s = fadd float %a, %b",
     "%s = call float " CALL "fadd.f32(float %a, float %b, " MODES},
    {"%s = fdiv contract double %a, 1.000000e+00, !dbg !9",
     "%s = call contract double " CALL "fdiv.f64(double %a, double 1.000000e+00, " MODES
     ", !dbg !9"},
    {"%s = fmul nnan nsz <2 x float> %a, <float 1.0, float 2.0>",
     "%s = call nnan nsz <2 x float> " CALL
     "fmul.v2f32(<2 x float> %a, <2 x float> <float 1.0, float 2.0>, " MODES},
    {"%s = fptrunc double %a to half, !dbg !3",
     "%s = call half " CALL "fptrunc.f16.f64(double %a, " MODES ", !dbg !3"},
    {"%s = call contract float @llvm.log.f32(float %a), !dbg !3",
     "%s = call contract float " CALL "log.f32(float %a, " MODES ", !dbg !3"},
    {"%s = call float @llvm.fmuladd.f32(float %a, float %b, float %c)",
     "%s = call float " CALL "fmuladd.f32(float %a, float %b, float %c, " MODES},
};

static const char *const others[] = {
    "%s = fneg float %a",
    "%s = fcmp olt float %a, %b",
    "%s = fptosi float %a to i32",
    "%s = fadd fp128 %a, %b",
    "%s = call float @llvm.fabs.f32(float %a)",
    "%s = call float @logf(float %a)",
    "%s = atomicrmw fadd ptr %p, float %a syncscope(\"agent\") monotonic, align 4",
    "store float %a, ptr %p, align 4",
};

static void
test_lines(struct ir_arena *arena)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ir_inst plain = ir_inst_of(ir_slice_of(rows[i].plain));
        struct ir_slice strict = ir_strict_write(arena, &plain);
        CHECK(ir_is(strict, rows[i].strict));
        CHECK(ir_strict_is_in(strict.at, strict.size));
        struct ir_inst call = ir_inst_of(strict);
        CHECK(ir_is(ir_strict_read(arena, &call), rows[i].plain));
        CHECK(ir_strict_write(arena, &call).size == 0);
        CHECK(ir_strict_read(arena, &plain).size == 0);
    }
}

static void
test_other_lines_stay(struct ir_arena *arena)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct ir_inst inst = ir_inst_of(ir_slice_of(others[i]));
        CHECK(ir_strict_write(arena, &inst).size == 0);
        CHECK(ir_strict_read(arena, &inst).size == 0);
    }
}

/* As the optimiser leaves it. */
static void
test_calls_with_attributes(struct ir_arena *arena)
{
    struct ir_inst call = ir_inst_of(
        ir_slice_of("%s = tail call contract noundef float " CALL
                    "sqrt.f32(float noundef %a, metadata !\"round.dynamic\", metadata "
                    "!\"fpexcept.maytrap\") #4"));
    CHECK(ir_is(ir_strict_read(arena, &call),
                "%s = call contract float @llvm.sqrt.f32(float %a)"));
}

int
main(void)
{
    struct ir_arena arena = {0};
    if (setjmp(arena.escape) != 0) {
        return 1;
    }
    test_lines(&arena);
    test_other_lines_stay(&arena);
    test_calls_with_attributes(&arena);
    ir_arena_release(&arena);
    return 0;
}
