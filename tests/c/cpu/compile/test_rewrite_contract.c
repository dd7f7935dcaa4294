/* SPDX-License-Identifier: MIT */
/* Which products and sums the rewriter makes one operation, on processors that have an
 * instruction for it and on those that have none. */
/* sources: core cpu/compile/ir_* cpu/compile/re[pw]* cpu/compile/gang
            cpu/compile/check_plain* cpu/compile/proof cpu/machine */
#include "check.h"
#include "cpu/compile/rewrite.h"

#define KERNEL(parameters, lines)                                                      \
    "define ptx_kernel void @k(" parameters ") {\n" lines "  ret void\n}\n"            \
    "declare float @llvm.fmuladd.f32(float, float, float)\n"                           \
    "declare half @llvm.fmuladd.f16(half, half, half)\n"                               \
    "declare <2 x double> @llvm.fmuladd.v2f64(<2 x double>, <2 x double>, "            \
    "<2 x double>)\n"
#define FLOATS(lines) KERNEL("ptr %p, float %a, float %b, float %c", lines)
#define STORE "  store float %s, ptr %p\n"

static struct ha_rewrite_result result;

static void
rewrite(const char *ir, bool fuses)
{
    const struct ha_rewrite_request request = {
        .ir = ir, .ir_size = strlen(ir), .warp_size = 32, .fuses = fuses};

    ha_rewrite_release(&result);
    if (ha_rewrite(&request, &result) != HA_OK) {
        fprintf(stderr, "failed: %s\n", ha_error_text());
        exit(1);
    }
}

/* The line that defines %s in the reference form, without its name. */
static const char *
sum(void)
{
    static char line[200];
    const char *form = strstr(result.parts[0].ir, "@k.ref(");
    CHECK(form != NULL);
    const char *at = strstr(form, "%s = ");
    CHECK(at != NULL);
    (void)snprintf(line, sizeof line, "%.*s", (int)strcspn(at + 5, "\n"), at + 5);
    return line;
}

static bool
has(const char *part)
{
    return strstr(result.parts[0].ir, part) != NULL;
}

static void
test_product_goes_into_its_sum(void)
{
    rewrite(FLOATS("  %m = fmul contract float %a, %b\n"
                   "  %s = fadd contract float %m, %c\n" STORE),
            true);
    CHECK_TEXT(sum(), "call float @llvm.fma.f32(float %a, float %b, float %c)");
    CHECK(!has("%m = ") && !has("contract"));
    CHECK(has("declare float @llvm.fma.f32(float, float, float)"));

    rewrite(FLOATS("  %m = fmul contract float %a, %b\n"
                   "  %s = fadd contract float %c, %m\n" STORE),
            true);
    CHECK_TEXT(sum(), "call float @llvm.fma.f32(float %a, float %b, float %c)");
}

static void
test_differences_negate_an_operand(void)
{
    rewrite(FLOATS("  %m = fmul contract float %a, %b\n"
                   "  %s = fsub contract float %m, %c\n" STORE),
            true);
    CHECK(has("%ha.negated.0 = fneg float %c\n"));
    CHECK_TEXT(sum(),
               "call float @llvm.fma.f32(float %a, float %b, float %ha.negated.0)");

    rewrite(FLOATS("  %m = fmul contract float %a, %b\n"
                   "  %s = fsub contract float %c, %m\n" STORE),
            true);
    CHECK(has("%ha.negated.0 = fneg float %a\n"));
    CHECK_TEXT(sum(),
               "call float @llvm.fma.f32(float %ha.negated.0, float %b, float %c)");
}

static void
test_first_of_two_products_is_taken(void)
{
    rewrite(FLOATS("  %m = fmul contract float %a, %b\n"
                   "  %n = fmul contract float %a, %c\n"
                   "  %s = fadd contract float %m, %n\n" STORE),
            true);
    CHECK(has("%n = fmul float %a, %c\n") && !has("%m = "));
    CHECK_TEXT(sum(), "call float @llvm.fma.f32(float %a, float %b, float %n)");
}

static void
test_product_of_several_uses_stays(void)
{
    rewrite(FLOATS("  %m = fmul contract float %a, %b\n"
                   "  store float %m, ptr %p\n"
                   "  %s = fadd contract float %m, %c\n" STORE),
            true);
    CHECK(has("%m = fmul float %a, %b\n"));
    CHECK_TEXT(sum(), "fadd float %m, %c");

    rewrite(FLOATS("  %m = fmul contract float %a, %b\n"
                   "  %s = fadd contract float %m, %m\n" STORE),
            true);
    CHECK_TEXT(sum(), "fadd float %m, %m");
}

static void
test_both_operations_must_allow_it(void)
{
    rewrite(FLOATS("  %m = fmul float %a, %b\n"
                   "  %s = fadd contract float %m, %c\n" STORE),
            true);
    CHECK_TEXT(sum(), "fadd float %m, %c");

    rewrite(FLOATS("  %m = fmul contract float %a, %b\n"
                   "  %s = fadd float %m, %c\n" STORE),
            true);
    CHECK(has("%m = fmul float %a, %b\n"));
    CHECK_TEXT(sum(), "fadd float %m, %c");
}

static void
test_promises_of_both_stay(void)
{
    rewrite(FLOATS("  %m = fmul nnan ninf contract float %a, %b, !fpmath !1\n"
                   "  %s = fadd nnan nsz contract float %m, %c, !fpmath !2\n" STORE),
            true);
    CHECK_TEXT(sum(), "call nnan float @llvm.fma.f32(float %a, float %b, float %c)");
}

static void
test_other_orders_are_left_to_the_back_end(void)
{
    rewrite(FLOATS("  %m = fmul fast float %a, %b\n"
                   "  %s = fadd reassoc nsz contract float %m, %c\n" STORE),
            true);
    CHECK(has("%m = fmul fast float %a, %b\n"));
    CHECK_TEXT(sum(), "fadd reassoc nsz contract float %m, %c");

    rewrite(FLOATS("  %s = call fast float @llvm.fmuladd.f32(float %a, float %b, "
                   "float %c)\n" STORE),
            true);
    CHECK(has("call fast float @llvm.fmuladd.f32("));
}

static void
test_flag_goes_from_every_line(void)
{
    rewrite(FLOATS("  %x = fpext contract float %a to double\n"
                   "  %y = fptrunc nsz contract double %x to float\n"
                   "  %d = fcmp nnan contract olt float %y, %b\n"
                   "  %s = select contract i1 %d, float %y, float %c\n" STORE),
            true);
    CHECK(!has("contract"));
    CHECK(has("fptrunc nsz double %x to float"));
    CHECK(has("fcmp nnan olt float %y, %b"));
    CHECK_TEXT(sum(), "select i1 %d, float %y, float %c");
}

static void
test_vectors_are_fused_and_halves_are_not(void)
{
    rewrite(KERNEL("ptr %p, <2 x double> %a, <2 x double> %b",
                   "  %m = fmul contract <2 x double> %a, <double 1.0, double 3.0>\n"
                   "  %s = fsub contract <2 x double> %b, %m\n"
                   "  store <2 x double> %s, ptr %p\n"),
            true);
    CHECK_TEXT(sum(), "call <2 x double> @llvm.fma.v2f64(<2 x double> %ha.negated.0, "
                      "<2 x double> <double 1.0, double 3.0>, <2 x double> %b)");

    rewrite(KERNEL("ptr %p, half %a, half %b", "  %m = fmul contract half %a, %b\n"
                                               "  %s = fadd contract half %m, %b\n"
                                               "  store half %s, ptr %p\n"),
            true);
    CHECK_TEXT(sum(), "fadd half %m, %b");

    rewrite(KERNEL("ptr %p, half %a, half %b",
                   "  %s = call half @llvm.fmuladd.f16(half %a, half %b, half %b)\n"
                   "  store half %s, ptr %p\n"),
            true);
    CHECK(has("%ha.product.0 = fmul half %a, %b\n"));
    CHECK_TEXT(sum(), "fadd half %ha.product.0, %b");
}

#define MULADD                                                                             \
    FLOATS(                                                                                \
        "  %s = tail call nsz contract noundef float @llvm.fmuladd.f32(float noundef %a, " \
        "float 2.0, float %c) #7\n" STORE)

static void
test_muladd_is_one_or_two_operations(void)
{
    rewrite(MULADD, true);
    CHECK_TEXT(sum(), "call nsz float @llvm.fma.f32(float %a, float 2.0, float %c)");

    rewrite(MULADD, false);
    CHECK(has("%ha.product.0 = fmul nsz float %a, 2.0\n"));
    CHECK_TEXT(sum(), "fadd nsz float %ha.product.0, %c");

    rewrite(KERNEL("ptr %p, <2 x double> %a",
                   "  %s = call <2 x double> @llvm.fmuladd.v2f64(<2 x double> %a, "
                   "<2 x double> <double 1.0, double 3.0>, <2 x double> %a)\n"
                   "  store <2 x double> %s, ptr %p\n"),
            false);
    CHECK(has("%ha.product.0 = fmul <2 x double> %a, <double 1.0, double 3.0>\n"));
}

static void
test_nothing_is_fused_without_the_instruction(void)
{
    rewrite(FLOATS("  %m = fmul contract float %a, %b\n"
                   "  %s = fadd contract float %m, %c\n" STORE),
            false);
    CHECK(has("%m = fmul float %a, %b\n") && !has("@llvm.fma."));
    CHECK_TEXT(sum(), "fadd float %m, %c");
}

int
main(void)
{
    RUN(test_product_goes_into_its_sum);
    RUN(test_differences_negate_an_operand);
    RUN(test_first_of_two_products_is_taken);
    RUN(test_product_of_several_uses_stays);
    RUN(test_both_operations_must_allow_it);
    RUN(test_promises_of_both_stay);
    RUN(test_other_orders_are_left_to_the_back_end);
    RUN(test_flag_goes_from_every_line);
    RUN(test_vectors_are_fused_and_halves_are_not);
    RUN(test_muladd_is_one_or_two_operations);
    RUN(test_nothing_is_fused_without_the_instruction);
    ha_rewrite_release(&result);
    return 0;
}
